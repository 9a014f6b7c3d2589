/* Requests of a command, their answers, and what is shown and saved of them. */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/cli/put.h"
#include "core/client/said.h"
#include "core/cli/target.h"
#include "core/cli/tool_text.h"
#include "core/client/catalogue.h"
#include "core/client/tool_check.h"
#include "core/config/paths.h"
#include "core/mcp/wire/content.h"
#include "core/mcp/wire/rpc.h"

/* ---- showing ---- */

void target_show(const struct target *t, struct str text, bool keep_newlines,
		 struct buf *out)
{
	text_show(t->scrub, text, keep_newlines, out);
}

int target_write(struct target *t, struct str bytes, struct err *err)
{
	live_clear(&t->live);
	if (fd_write_all(STDOUT_FILENO, bytes.p, bytes.n) < 0)
		return err_sys(err, errno, "write stdout");
	return 0;
}

/* Callback of scrub_set_patience(). */
static bool is_not_interrupted(UNUSED void *arg)
{
	return !loop_signal_waits();
}

/* Scrubbing may take a while; an interrupted text is not printed. */
int target_put(struct target *t, struct str text, enum put_form form,
	       struct err *err)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	live_clear(&t->live);
	if (!scrub_is_empty(t->scrub)) {
		scrub_set_patience(t->scrub, is_not_interrupted, NULL);
		(void)(form == PUT_JSON ? scrub_json
					: scrub_apply)(t->scrub, text, &clean);
		scrub_set_patience(t->scrub, NULL, NULL);
		if (loop_signal_waits()) {
			if (loop_turn(&t->loop, err) < 0)
				return -1;
			return err_set(err, ERR_PEER,
				       "interrupted before the result was "
				       "printed");
		}
		text = buf_str(&clean);
	}
	if (put(text, form, err) < 0)
		return -1;
	if (form == PUT_JSON)
		return put(STR("\n"), PUT_JSON, err);
	return text.n && !str_ends(text, "\n") ? target_write(t, STR("\n"), err)
					       : 0;
}

int target_put_content(struct target *t, struct str content, bool raw,
		       struct err *err)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	report_mcp_output(&body, content);
	if (!raw)
		return target_put(t, buf_str(&body), PUT_TEXT, err);
	scrub_apply(t->scrub, buf_str(&body), &clean);
	return target_write(t, buf_str(&clean), err);
}

int target_read_value(const char *text, struct buf *out, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	int r;

	if (text[0] != '@') {
		buf_adds(out, text);
		return 0;
	}
	if (strcmp(text, "@-") == 0)
		r = fd_read_all(STDIN_FILENO, out, err);
	else
		r = fd_read_file(path_home(text + 1, &arena), out, err);
	if (r < 0)
		err->kind = ERR_USAGE;
	return r;
}

/* ---- files of --save ---- */

/* A file is written whole or not at all, and over nothing that is there. */
static int save_bytes(struct saved_files *f, struct str base64, struct err *err)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	char name[CONTENT_NAME_BYTES];
	struct fd_text text;
	struct str s;

	if (content_bytes(base64, f->max, &bytes, err) < 0)
		return -1;
	s = buf_str(&bytes);
	text = fd_text_of(&s);
	content_name(s, name);
	if (!outfolder_holds(&f->folder, name, s) &&
	    outfolder_put(
		    &f->folder,
		    &(struct outfolder_file){name, name, 0600, OUTFILE_NEW},
		    &text, err) < 0)
		return -1;
	buf_addf(&f->said, "%s/%s\n", f->dir, name);
	return 0;
}

void target_save(struct target *t, struct str json, bool item)
{
	struct content_block b;
	struct err err = ERR_INIT;

	if (!t->files.dir)
		return;
	if (item)
		content_read_item(json, &b);
	else
		content_read(json, &b);
	if (b.is_odd)
		log_warning("a resource must have either text or blob");
	if (!b.data.p || save_bytes(&t->files, b.data, &err) == 0)
		return;
	log_error("a block cannot be saved: %s", err.msg);
	t->files.failed = true;
}

void target_save_all(struct target *t, struct str blocks)
{
	if (!t->files.dir)
		return;
	for (struct scan_iter it = scan_over(blocks); scan_next(&it);)
		target_save(t, it.value, false);
}

int target_say_saved(struct target *t, bool on_stderr, struct err *err)
{
	const struct buf *said = &t->files.said;

	if (!on_stderr)
		return target_write(t, buf_str(said), err);
	if (said->n)
		log_note("saved %.*s", (int)said->n - 1, buf_cstr(said));
	return 0;
}

/* ---- words of a failure ---- */

void target_hint(struct target *t, struct str said)
{
	if (!t->said.n && said_refusal(said).kind)
		t->said = arena_str(&t->arena, str_first(said, SAID_BYTES));
}

/* ---- one request ---- */

int target_interrupted(const struct target *t, struct err *err)
{
	return err_set(err, ERR_PEER, "ended by SIG%s",
		       sigabbrev_np(t->loop.signal));
}

/* The answer of CLIENT_ERROR or CLIENT_FAILED; borrows from the event. */
static struct target_answer failure_of(const struct client_event *e)
{
	if (e->type == CLIENT_ERROR)
		return (struct target_answer){
			.outcome = TARGET_ERROR,
			.kind = "rpc_error",
			.code = e->of->code,
			.message = e->of->message,
			.data = e->of->data,
		};
	return (struct target_answer){
		.outcome = TARGET_FAILED,
		.kind = report_reason_name(e->reason),
		.message = str_of(e->sentence),
	};
}

struct waiting {
	struct target *t;
	const char *what;
	struct listing *list; /* NULL: a request */
	struct target_answer *answer;
	uint64_t ticket; /* of a request */
	bool done;
};

/* Show the progress that a server reports: "40 % reading". */
static void note_progress(struct live *l, const char *text, struct str note)
{
	buf_clear(&l->text);
	buf_addf(&l->text, "%s  ", text);
	buf_add_str(&l->text, note);
}

static void show_progress(struct waiting *w, const struct client_event *e)
{
	AUTO(buf_release) struct buf note = BUF_INIT(BUF_UNBOUNDED);
	struct target *t = w->t;

	client_say_progress(t->client, e, &note);
	if (t->live.on)
		note_progress(&t->live, w->what, buf_str(&note));
	else
		log_debug("%s: %s", w->what, buf_cstr(&note));
}

static void on_answer(void *arg, const struct client_event *e)
{
	struct waiting *w = arg;
	struct arena *arena = &w->t->arena;
	struct target_answer *a = w->answer;

	switch (e->type) {
	case CLIENT_PROGRESS:
		show_progress(w, e);
		return;
	case CLIENT_TASK:
		log_debug("%s: a task: %.*s", w->t->name,
			  STR_ARG(e->of->params));
		return;
	case CLIENT_RESULT:
		a->outcome = TARGET_RESULT;
		a->result = client_keep(w->t->client, e, arena)
				    ? e->of->result
				    : arena_str(arena, e->of->result);
		break;
	case CLIENT_ERROR:
	case CLIENT_FAILED:
		*a = failure_of(e);
		a->message = arena_str(arena, a->message);
		if (a->data.p)
			a->data = arena_str(arena, a->data);
		break;
	default:
		return;
	}
	w->done = true;
}

static int wait_for(struct waiting *w, struct err *err)
{
	struct target *t = w->t;

	while (!w->done)
		if (loop_turn(&t->loop, err) < 0)
			return -1;
	live_begin(&t->live, "");
	return t->loop.signal ? target_interrupted(t, err) : 0;
}

/* A call that has no turn for as long says so. */
#define TURN_MS 1000

static void say_turn(void *arg)
{
	AUTO(buf_release) struct buf bound = BUF_INIT(BUF_UNBOUNDED);
	const struct waiting *w = arg;

	if (!client_say_turn(w->t->client, w->ticket, &bound))
		return;
	live_clear(&w->t->live);
	log_note("%s waits for its turn, by %s", w->what, buf_cstr(&bound));
}

int target_ask(struct target *t, struct client_call *call, const char *what,
	       struct target_answer *ret, struct err *err)
{
	struct waiting w = {.t = t, .what = what, .answer = ret};
	struct loop_timer turn = {.fire = say_turn, .arg = &w};
	int r;

	*ret = (struct target_answer){0};
	call->on_event = on_answer;
	call->arg = &w;
	live_begin(&t->live, what);
	if (client_call(t->client, call, &w.ticket, err) < 0)
		return -1;
	loop_timer_in(&t->loop, &turn, TURN_MS);
	r = wait_for(&w, err);
	loop_timer_clear(&t->loop, &turn);
	return r;
}

/* ---- errors ---- */

/* The end of it, from the beginning of a line where there is one. */
static void write_stderr(const struct target *t, struct jw *w)
{
	enum { BYTES = 4096 };
	struct str text = t->client ? client_stderr(t->client) : STR("");
	size_t at;

	text = str_trim(text);
	if (text.n > BYTES) {
		text = (struct str){text.p + text.n - BYTES, BYTES};
		at = str_find(text, '\n') + 1;
		if (at <= text.n)
			text = str_skip(text, at);
	}
	if (text.n)
		jw_kv_str(w, "stderr", text);
}

static void write_error(const struct target *t, const struct target_answer *a,
			struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	scrub_cut(t->scrub, a->message, &text);
	w = jw_begin(out);
	jw_kv_object(&w, "error");
	jw_kv_cstr(&w, "kind", a->kind);
	jw_kv_str(&w, "message", buf_str(&text));
	if (a->outcome == TARGET_ERROR)
		jw_kv_int(&w, "code", a->code);
	if (a->data.p) {
		scrub_json(t->scrub, a->data, &data);
		jw_kv_raw(&w, "data", buf_str(&data));
	}
	if (a->line)
		jw_kv_int(&w, "line", (int64_t)a->line);
	/* a server that was stopped has not failed */
	if (a->outcome == TARGET_FAILED && !t->loop.signal)
		write_stderr(t, &w);
	jw_end(&w);
	jw_end(&w);
}

void target_write_failure(struct target *t, const struct client_event *e,
			  uint64_t line, struct buf *out)
{
	struct target_answer a = failure_of(e);

	a.line = line;
	write_error(t, &a, out);
	if (e->type == CLIENT_ERROR)
		target_hint(t, a.message);
}

/* One sentence about an answer; appended. */
static void say_error(const struct target *t, const struct target_answer *a,
		      struct buf *out)
{
	if (a->outcome == TARGET_ERROR)
		buf_addf(out, "%s answered error %lld: ", t->name,
			 (long long)a->code);
	buf_add_str(out, a->message);
	if (a->data.p) {
		buf_adds(out, "; ");
		buf_add_cut(out, a->data, 500);
	}
}

void target_print_error(struct target *t, const struct target_answer *a)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;

	live_clear(&t->live);
	say_error(t, a, &says);
	t->has_failed = true;
	if (t->catches) {
		t->failure = arena_strdup(&t->arena, buf_cstr(&says));
		return;
	}
	log_error("%s", buf_cstr(&says));
	if (!cli_json_errors)
		return;
	write_error(t, a, &out);
	buf_addc(&out, '\n');
	if (put(buf_str(&out), PUT_JSON, &ignored) < 0)
		log_error("%s", ignored.msg);
}

int target_result(struct target *t, struct client_call *call, const char *what,
		  struct str *ret, struct err *err)
{
	struct target_answer answer;

	if (target_ask(t, call, what, &answer, err) < 0)
		return -1;
	if (answer.outcome == TARGET_RESULT) {
		*ret = answer.result;
		return 0;
	}
	target_print_error(t, &answer);
	if (answer.outcome == TARGET_ERROR)
		target_hint(t, answer.message);
	return err_set(err, ERR_PEER, "%s did not answer the request", t->name);
}

/* ---- listings of several pages ---- */

static void on_list(void *arg, const struct client_listed *l)
{
	struct waiting *w = arg;

	w->done = true;
	if (l->type == CLIENT_RESULT)
		client_take_list(w->t->client, l->list->kind, w->list);
	else
		on_answer(w, l->event);
}

const char *target_now(struct target *t)
{
	struct clock *clock = clock_system();
	char now[CLOCK_TEXT_BYTES];

	clock_format(clock->wall_ns(clock), now);
	return arena_strdup(&t->arena, now);
}

/* ret  empty where the answer is no result */
static int list_all(struct target *t, enum listing_kind kind,
		    struct listing *ret, struct target_answer *answer,
		    struct err *err)
{
	struct waiting w = {.t = t, .list = ret, .answer = answer};
	const struct client_list list = {
		.kind = kind, .done = on_list, .arg = &w};
	uint64_t ticket;

	listing_init(ret, kind);
	*answer = (struct target_answer){0};
	live_begin(&t->live, listing_method(kind));
	if (client_list(t->client, &list, &ticket, err) < 0 ||
	    wait_for(&w, err) < 0)
		return -1;
	for (size_t i = 0; i < ret->warnings.n; i++)
		log_warning("%s: %s", t->name, ret->warnings.item[i]);
	if (ret->warnings_dropped)
		log_warning("%s: %zu more warnings", t->name,
			    ret->warnings_dropped);
	if (t->server && !t->is_survey && answer->outcome == TARGET_RESULT)
		catalogue_keep(state_dir_find(&t->arena), t->config->path,
			       t->server, ret, t->scrub, target_now(t));
	return 0;
}

int target_list(struct target *t, enum listing_kind kind, bool is_needed,
		struct listing *ret, struct err *err)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	struct target_answer answer;
	int r = list_all(t, kind, ret, &answer, err);

	if (r < 0 && (is_needed || t->loop.signal ||
		      (err->kind != ERR_PEER && err->kind != ERR_LIMIT)))
		return -1;
	if (r == 0 && answer.outcome == TARGET_RESULT)
		return 0;
	/* prompts that are no list cannot be got, either */
	if (!t->json && r == 0 && answer.outcome == TARGET_ERROR &&
	    answer.code == RPC_METHOD_NOT_FOUND &&
	    (is_needed || kind == LISTING_PROMPTS) &&
	    !client_offers(t->client, listing_member(kind)))
		return err_set(err, ERR_PEER, "%s offers no %s", t->name,
			       listing_member(kind));
	if (is_needed) {
		target_print_error(t, &answer);
		return err_set(err, ERR_PEER, "%s does not give this list",
			       t->name);
	}
	if (r == 0)
		say_error(t, &answer, &says);
	log_warning("%s: %s", listing_method(kind),
		    r < 0 ? err->msg : buf_cstr(&says));
	return 1;
}

/* Tools may depend on the answers that a client declares. */
static void add_undeclared(const struct target *t, struct buf *out)
{
	const struct mcp_declared *d = &t->session.declared;
	const struct {
		bool is_declared;
		const char *option;
	} rows[] = {
		{d->elicit_form, "--elicit accept|decline|cancel"},
		{d->roots, "--root DIR"},
		{d->sampling, "--sampling COMMAND"},
	};
	const char *before = " (some servers offer more of them with ";

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].is_declared)
			continue;
		buf_addf(out, "%s%s", before, rows[i].option);
		before = ", ";
	}
	buf_adds(out, out->n ? ")" : "");
}

/* Say since when a tool is gone, and what it is called now; false: neither is
   known. */
static bool add_gone(const struct target *t, const char *tool, struct buf *out)
{
	AUTO(catalogue_release) struct catalogue c = {.synced = NULL};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct catalogue_entry *e = NULL;

	if (t->server && catalogue_read_heads(state_dir_find(&arena),
					      t->config->path, t->server, &c))
		e = catalogue_find(&c, LISTING_TOOLS, str_of(tool));
	if (!e || !e->deprecated)
		return false;
	buf_addf(out, "%.10s", e->deprecated);
	if (e->renamed_to) {
		buf_adds(out, "; it seems to be ");
		target_show(t, str_of(e->renamed_to), false, out);
	} else {
		add_undeclared(t, out);
	}
	return true;
}

int target_unknown(const struct target *t, const struct listing *l,
		   const char *name, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf more = BUF_INIT(BUF_UNBOUNDED);
	bool is_tool = l->kind == LISTING_TOOLS;

	if (is_tool && add_gone(t, name, &more))
		return err_set(err, ERR_UNKNOWN_TOOL,
			       "%s has no tool %s since %s", t->name, name,
			       buf_cstr(&more));
	if (is_tool)
		add_undeclared(t, &more);
	return err_set(err, is_tool ? ERR_UNKNOWN_TOOL : ERR_UNKNOWN_PROMPT,
		       "%s has %s", t->name,
		       tool_unknown(l, is_tool ? "tool" : "prompt", name,
				    buf_cstr(&more), &arena));
}
