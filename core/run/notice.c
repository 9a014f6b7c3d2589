#include "core/run/notice.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/jw.h"
#include "core/report/escape.h"

/* Bytes of the sentence and of the last words of a step. */
#define SENTENCE_BYTES 1000
/* Bytes of differences. */
#define CHANGES_BYTES (16 * 1024)
/* Steps that failed and are named. */
#define STEPS_MAX 20

/* ---- the decision ---- */

bool notice_is_wanted(const struct notify_rules *rules, const char *kind)
{
	/* a change is told where it is asked for */
	return rules->on.item ? list_has(&rules->on, kind)
			      : strcmp(kind, "change") != 0;
}

static const char *wanted(const struct notify_rules *rules, const char *kind)
{
	return notice_is_wanted(rules, kind) ? kind : NULL;
}

const char *notice_choose(const struct notify_rules *rules, const char *was,
			  const char *now, bool changed)
{
	bool is_same = strcmp(was, now) == 0;
	const char *kind = NULL;

	if (strcmp(now, NOTICE_OK) != 0)
		return is_same && !rules->every ? NULL
		       : strcmp(now, NOTICE_LOST) == 0
			       ? wanted(rules, "lost")
			       : wanted(rules, "failure");
	if (!is_same)
		kind = wanted(rules, "recovered");
	return !kind && changed ? wanted(rules, "change") : kind;
}

/* ---- the words ---- */

void notice_title(const struct notice *n, struct buf *out)
{
	if (!n->generation) {
		buf_addf(out, "%s%s", n->routine,
			 strcmp(n->kind, "test") == 0
				 ? ": a test of its notices"
				 : " could not start");
		return;
	}
	buf_adds(out, n->routine);
	buf_adds(out, n->lacking		      ? " is incomplete"
		      : !strcmp(n->kind, "failure")   ? " failed"
		      : !strcmp(n->kind, "lost")      ? " was lost"
		      : !strcmp(n->kind, "recovered") ? " is ok again"
						      : " has changed");
	buf_addf(out, " (run %llu", (unsigned long long)n->generation);
	if (n->more)
		buf_addf(out, " and %zu before it", n->more);
	buf_addc(out, ')');
}

static bool is_shown(const struct report_step *s)
{
	return !report_step_success(s);
}

/* Words of others: no line of them begins as one of ours. */
static void add_words(struct buf *out, const char *before, struct str words)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);

	buf_add_cut(&cut, str_trim(words), SENTENCE_BYTES);
	escape_lines(out, before, buf_str(&cut));
}

static void add_step(struct buf *out, const struct report_step *s)
{
	escape_line(out, "", str_of(s->name));
	buf_addf(out, ": %s: ", REPORT_STATES[s->state].says);
	add_words(out, "", s->error);
	if (s->said.n)
		add_words(out, "  ", s->said);
}

static void add_steps(struct buf *out, const struct report *r)
{
	size_t left = STEPS_MAX;

	for (size_t i = 0; r && i < r->n_steps; i++)
		if (is_shown(&r->steps[i]) && left && left--)
			add_step(out, &r->steps[i]);
}

void notice_text(const struct notice *n, struct buf *out)
{
	notice_title(n, out);
	buf_addf(out, "\n\n%s%s", n->summary, *n->summary ? "\n" : "");
	if (strcmp(n->kind, "lost") == 0)
		buf_adds(out,
			 "It began and never said how it ended: its "
			 "process was killed, or the machine went down.\n");
	if (n->lacking) {
		escape_line(out, "", str_of(n->lacking->name));
		buf_adds(out, " ran before, and is skipped: ");
		add_words(out, "", n->lacking->error);
	}
	add_steps(out, n->report);
	if (n->changes.n) {
		buf_adds(out, "Changed since it was ok before:\n");
		buf_add_cut(out, str_trim(n->changes), CHANGES_BYTES);
		buf_addc(out, '\n');
	}
	buf_addf(out, "%sHost: %s\nConfiguration: %s\n",
		 *n->summary ? "\n" : "", n->host, n->file);
	if (n->report && n->generation)
		buf_addf(out, "Report: matins show %llu\n",
			 (unsigned long long)n->generation);
}

static void add_json_steps(struct jw *w, const struct report *r)
{
	size_t left = STEPS_MAX;

	jw_kv_array(w, "steps");
	for (size_t i = 0; r && i < r->n_steps; i++) {
		const struct report_step *s = &r->steps[i];

		if (!is_shown(s) || !left || !left--)
			continue;
		jw_object(w);
		jw_kv_cstr(w, "step_name", s->name);
		jw_kv_cstr(w, "state", REPORT_STATES[s->state].word);
		jw_kv_cstr(w, "reason", report_reason_name(s->reason));
		jw_kv_str(w, "error", str_first(s->error, SENTENCE_BYTES));
		jw_end(w);
	}
	jw_end(w);
}

void notice_json(const struct notice *n, struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	char at[CLOCK_TEXT_BYTES];
	struct jw w = jw_begin(out);

	notice_title(n, &title);
	notice_text(n, &text);
	clock_format(n->wall_ns, at);
	jw_kv_cstr(&w, "schema", "matins-notice/1");
	jw_kv_cstr(&w, "notice", n->kind);
	jw_kv_str(&w, "title", buf_str(&title));
	jw_kv_str(&w, "text", buf_str(&text));
	jw_kv_cstr(&w, "routine", n->routine);
	jw_kv_uint(&w, "generation", n->generation);
	jw_kv_cstr(&w, "was", n->was);
	jw_kv_cstr(&w, "state", n->state);
	jw_kv_cstr(&w, "summary", n->summary);
	add_json_steps(&w, n->report);
	if (n->changes.n)
		jw_kv_str(&w, "changes", str_first(n->changes, CHANGES_BYTES));
	jw_kv_cstr(&w, "file", n->file);
	jw_kv_cstr(&w, "host", n->host);
	jw_kv_cstr(&w, "at", at);
	jw_end(&w);
	buf_addc(out, '\n');
}
