#include "core/cli/ask_person.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/elicit.h"
#include "core/mcp/wire/rpc.h"

#define PORTION_BYTES 4096
/* Ceiling of a typed line. */
#define LINE_BYTES (64 * 1024)

struct question {
	struct question *next;
	uint64_t ask;
	struct arena arena;
	struct elicit what;
	size_t at;	    /* field that is asked; n_fields: the review */
	struct buf *values; /* one JSON value for each field; empty: none */
	bool begun;
};

bool ask_person_is_there(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* ---- writing ---- */

static void put(const struct buf *out)
{
	if (fd_write_all(STDERR_FILENO, out->p, out->n) < 0) {
		/* the end of typing will be noticed */
	}
}

/* A text of the server: its further lines are set in. */
static void show(const struct ask_person *p, struct str s, struct buf *out)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;

	scrub_apply(p->scrub, s, &clean);
	rest = buf_str(&clean);
	while (rest.p) {
		log_visible(out, str_cut(&rest, '\n'), false);
		buf_adds(out, rest.p ? "\n    " : "");
	}
}

static bool is_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return !no || !*no;
}

/* ---- one question ---- */

static void question_free(struct question *q)
{
	for (size_t i = 0; q->values && i < q->what.n_fields; i++)
		buf_release(&q->values[i]);
	free(q->values);
	arena_release(&q->arena);
	free(q);
}

static void begin_next(struct ask_person *p);

static void answer(struct ask_person *p, enum elicit_action action)
{
	AUTO(buf_release) struct buf values = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;
	struct str why;
	struct jw w;

	jw_init(&w, &values, false);
	jw_object(&w);
	for (size_t i = 0; i < q->what.n_fields; i++) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (!q->values[i].n)
			continue;
		scan_string(q->what.fields[i].key, &key);
		jw_key_str(&w, buf_str(&key));
		jw_raw(&w, buf_str(&q->values[i]));
	}
	jw_end(&w);
	elicit_answer(&q->what, action, buf_str(&values), &q->arena, &out,
		      &why);
	if (why.p)
		log_warning("the answer is not sent unchanged: %.*s",
			    STR_ARG(why));
	p->first = q->next;
	client_answer(p->client, q->ask, buf_str(&out));
	question_free(q);
	begin_next(p);
}

/* "string, required" and what else is known of a field. */
static void describe(const struct ask_person *p, const struct elicit_field *f,
		     struct buf *out)
{
	static const char *const types[] = {
		[ELICIT_STRING] = "text",
		[ELICIT_NUMBER] = "number",
		[ELICIT_INTEGER] = "whole number",
		[ELICIT_BOOLEAN] = "yes or no",
		[ELICIT_CHOICE] = "one of",
		[ELICIT_CHOICES] = "some of, with commas between",
	};

	buf_addf(out, " (%s", types[f->type]);
	for (size_t i = 0; i < f->n_choices; i++) {
		buf_adds(out, i ? ", " : ": ");
		show(p, f->choices[i].title, out);
	}
	if (f->format.n) {
		buf_adds(out, ", ");
		show(p, f->format, out);
	}
	if (f->least.p)
		buf_addf(out, ", at least %.*s", STR_ARG(f->least));
	if (f->most.p)
		buf_addf(out, ", at most %.*s", STR_ARG(f->most));
	buf_adds(out, f->required ? ")" : "; may be left out)");
}

static void ask_field(struct ask_person *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;
	const struct elicit_field *f = &q->what.fields[q->at];

	if (f->description.n) {
		buf_adds(&out, "    ");
		show(p, f->description, &out);
		buf_addc(&out, '\n');
	}
	buf_adds(&out, "  ");
	show(p, f->title.n ? f->title : f->name, &out);
	describe(p, f, &out);
	if (f->def.p) {
		buf_adds(&out, " [");
		show(p, f->def, &out);
		buf_addc(&out, ']');
	}
	buf_adds(&out, ": ");
	put(&out);
}

static void ask_review(struct ask_person *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;

	buf_addf(&out, "This would be sent to %s:\n", p->server);
	for (size_t i = 0; i < q->what.n_fields; i++) {
		const struct elicit_field *f = &q->what.fields[i];

		buf_adds(&out, "  ");
		show(p, f->name, &out);
		buf_adds(&out, " = ");
		if (q->values[i].n)
			show(p, buf_str(&q->values[i]), &out);
		else if (f->def.p)
			show(p, f->def, &out);
		else
			buf_adds(&out, "(left out)");
		buf_addc(&out, '\n');
	}
	buf_adds(&out, "Send it? y: yes, a: again, d: decline, c: cancel: ");
	put(&out);
}

static void ask_now(struct ask_person *p)
{
	struct question *q = p->first;

	if (q->what.url.p || q->at == q->what.n_fields) {
		if (!q->what.url.p)
			ask_review(p);
		return;
	}
	ask_field(p);
}

/* Show a URL with its host in bold, and warn of Punycode and of an @. */
static void show_url(const struct ask_person *p, struct str url,
		     struct buf *out)
{
	size_t at = str_starts(url, "https://") ? 8 : 7, n = at;

	while (n < url.n && !strchr("/?#", url.p[n]))
		n++;
	buf_adds(out, "\n    ");
	show(p, (struct str){url.p, at}, out);
	buf_adds(out, is_colour() ? "\033[1m" : "");
	show(p, (struct str){url.p + at, n - at}, out);
	buf_adds(out, is_colour() ? "\033[0m" : "");
	show(p, (struct str){url.p + n, url.n - n}, out);
	buf_adds(out, "\n\n");
	for (size_t i = at; i < n; i++) {
		if (n - i < 4 || strncasecmp(url.p + i, "xn--", 4) ||
		    (i > at && url.p[i - 1] != '.'))
			continue;
		buf_adds(out, "  The host name is in Punycode: it may look "
			      "like another name.\n");
		break;
	}
	if (memchr(url.p + at, '@', n - at))
		buf_adds(out,
			 "  The text before the @ is not part of the host.\n");
}

static void begin_next(struct ask_person *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct question *q = p->first;

	if (!q) {
		if (p->typed.fd >= 0)
			loop_unwatch(p->loop, &p->typed);
		return;
	}
	if (q->begun)
		return;
	q->begun = true;
	if (p->ended) {
		answer(p, ELICIT_CANCEL);
		return;
	}
	live_clear(p->live);
	buf_addf(&out, "\nThe server %s %s:\n  ", p->server,
		 q->what.url.p ? "asks you to visit a page" : "asks");
	show(p, q->what.message, &out);
	buf_addc(&out, '\n');
	if (q->what.url.p) {
		show_url(p, q->what.url, &out);
		buf_adds(&out, "matins does not open it. y: I agree and open "
			       "it myself, d: decline, c: cancel: ");
	} else {
		buf_adds(&out, "Enter takes the value in brackets; :d "
			       "declines, :c cancels, :a begins again.\n");
	}
	put(&out);
	ask_now(p);
}

/* ---- typed lines ---- */

static bool is_word(struct str line, char letter, const char *word)
{
	return (line.n == 1 && (line.p[0] | 0x20) == letter) ||
	       (line.n == strlen(word) &&
		strncasecmp(line.p, word, line.n) == 0);
}

static void again(struct ask_person *p)
{
	struct question *q = p->first;

	for (size_t i = 0; i < q->what.n_fields; i++)
		buf_clear(&q->values[i]);
	q->at = 0;
	ask_now(p);
}

/* False: it is none of the three. */
static bool is_way_out(struct ask_person *p, struct str line)
{
	if (is_word(line, 'd', "decline"))
		answer(p, ELICIT_DECLINE);
	else if (is_word(line, 'c', "cancel"))
		answer(p, ELICIT_CANCEL);
	else if (!p->first->what.url.p && is_word(line, 'a', "again"))
		again(p);
	else
		return false;
	return true;
}

static void decided(struct ask_person *p, struct str line)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (is_word(line, 'y', "yes"))
		answer(p, ELICIT_ACCEPT);
	else if (!is_way_out(p, line)) {
		buf_adds(&out, p->first->what.url.p ? "  y, d or c: "
						    : "  y, a, d or c: ");
		put(&out);
	}
}

static void complain(const char *text)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, "  ");
	log_visible(&out, str_of(text), false);
	buf_addc(&out, '\n');
	put(&out);
}

static void filled_in(struct ask_person *p, struct str line)
{
	struct question *q = p->first;
	const struct elicit_field *f = &q->what.fields[q->at];
	struct err err = ERR_INIT;

	buf_clear(&q->values[q->at]);
	if (line.n && line.p[0] == ':' &&
	    is_way_out(p, (struct str){line.p + 1, line.n - 1}))
		return;
	if (!line.n && f->required && !f->def.p)
		complain("an answer is required");
	else if (line.n && elicit_typed(f, line, &q->values[q->at], &err) < 0)
		complain(err.msg);
	else
		q->at++;
	ask_now(p);
}

static void on_line(struct ask_person *p, struct str line)
{
	struct question *q = p->first;

	if (q->what.url.p || q->at == q->what.n_fields)
		decided(p, str_trim(line));
	else
		filled_in(p, str_trim(line));
}

static void on_typed(void *arg, uint32_t events)
{
	struct ask_person *p = arg;
	char *room = buf_room(&p->line, PORTION_BYTES);
	ssize_t r = room ? read(STDIN_FILENO, room, PORTION_BYTES) : 0;
	size_t end;

	(void)events;
	if (r < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (r <= 0) {
		/* the end of the input cancels all questions */
		p->ended = true;
		while (p->first)
			answer(p, ELICIT_CANCEL);
		return;
	}
	p->line.n += (size_t)r;
	while (p->first &&
	       (end = str_find(buf_str(&p->line), '\n')) < p->line.n) {
		struct str line = {p->line.p, end};

		on_line(p, line);
		buf_drop(&p->line, end + 1);
	}
}

/* ---- from outside ---- */

static bool watch(struct ask_person *p)
{
	struct err err = ERR_INIT;

	if (p->first->next)
		return true;
	if (!p->line.max)
		p->line = (struct buf)BUF_INIT(LINE_BYTES);
	return loop_watch(p->loop, &p->typed, STDIN_FILENO, EPOLLIN, on_typed,
			  p, &err) == 0;
}

void ask_person(struct ask_person *p, const struct client_event *e)
{
	struct question *q = mem_zalloc(sizeof(*q));
	struct question **last = &p->first;
	struct err err = ERR_INIT;

	q->ask = e->of->ask;
	if (elicit_read(arena_str(&q->arena, e->of->params), &q->arena,
			&q->what, &err) < 0) {
		live_clear(p->live);
		log_warning("%s asks for a form that cannot be shown: %s",
			    p->server, err.msg);
		client_answer_error(p->client, q->ask, RPC_INVALID_PARAMS,
				    err.msg);
		question_free(q);
		return;
	}
	q->values = mem_zalloc((q->what.n_fields + 1) * sizeof(*q->values));
	for (size_t i = 0; i < q->what.n_fields; i++)
		q->values[i] = (struct buf)BUF_INIT(LINE_BYTES * 8);
	while (*last)
		last = &(*last)->next;
	*last = q;
	if (!watch(p))
		p->ended = true;
	begin_next(p);
}

void ask_person_forget(struct ask_person *p, uint64_t ask)
{
	for (struct question **at = &p->first; *at; at = &(*at)->next) {
		struct question *q = *at;

		if (q->ask != ask)
			continue;
		*at = q->next;
		if (q->begun)
			complain("The server no longer asks.");
		question_free(q);
		break;
	}
	begin_next(p);
}

void ask_person_release(struct ask_person *p)
{
	while (p->first) {
		struct question *q = p->first;

		p->first = q->next;
		question_free(q);
	}
	if (p->loop && p->typed.ready && p->typed.fd >= 0)
		loop_unwatch(p->loop, &p->typed);
	buf_release(&p->line);
}
