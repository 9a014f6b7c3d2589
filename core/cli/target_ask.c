/* Requests of a command, their answers, and listings of several pages. */
#include <signal.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/client/known_tools.h"
#include "core/client/tool_check.h"

/* Bytes of a server's stderr in an error. */
#define STDERR_BYTES 4096

const char *target_signal_name(int signal)
{
	return signal == SIGINT	   ? "SIGINT"
	       : signal == SIGTERM ? "SIGTERM"
				   : "SIGHUP";
}

int target_interrupted(const struct target *t, struct err *err)
{
	return err_set(err, ERR_PEER, "ended by %s",
		       target_signal_name(t->loop.signal));
}

/* ---- one request ---- */

struct waiting {
	struct target *t;
	const char *what;
	struct arena *arena;
	struct target_answer *answer;
	bool done;
};

static void show_progress(struct waiting *w, const struct session_event *e)
{
	AUTO(buf_release) struct buf note = BUF_INIT(BUF_UNBOUNDED);
	struct target *t = w->t;

	buf_add_str(&note, e->progress);
	if (e->total.p)
		buf_addf(&note, "/%.*s", STR_ARG(e->total));
	buf_adds(&note, e->message.n ? "  " : "");
	scrub_apply(t->scrub, e->message, &note);
	if (t->live.on)
		live_note(&t->live, w->what, buf_str(&note));
	else
		log_debug("%s: %s", w->what, buf_cstr(&note));
}

static void keep_result(struct waiting *w, const struct client_event *e)
{
	bool kept = client_keep(w->t->client, e, w->arena);

	w->answer->outcome = TARGET_RESULT;
	w->answer->result =
		kept ? e->of->result : arena_str(w->arena, e->of->result);
}

static void on_answer(void *arg, const struct client_event *e)
{
	struct waiting *w = arg;
	struct target_answer *a = w->answer;

	switch (e->type) {
	case CLIENT_PROGRESS:
		show_progress(w, e->of);
		return;
	case CLIENT_TASK:
		log_debug("%s: a task: %.*s", w->t->name,
			  STR_ARG(e->of->params));
		return;
	case CLIENT_RESULT:
		keep_result(w, e);
		break;
	case CLIENT_ERROR:
		a->outcome = TARGET_ERROR;
		a->kind = "rpc_error";
		a->code = e->of->code;
		a->message = arena_str(w->arena, e->of->message);
		if (e->of->data.p)
			a->data = arena_str(w->arena, e->of->data);
		break;
	case CLIENT_FAILED:
		a->outcome = TARGET_FAILED;
		a->kind = report_reason_name(e->reason);
		a->message = str_of(arena_strdup(w->arena, e->sentence));
		break;
	default:
		return;
	}
	w->done = true;
}

static int wait_for(struct target *t, const bool *done, struct err *err)
{
	while (!*done)
		if (loop_turn(&t->loop, err) < 0)
			return -1;
	live_begin(&t->live, "", loop_now(&t->loop));
	return t->loop.signal ? target_interrupted(t, err) : 0;
}

int target_ask(struct target *t, struct client_call *call, const char *what,
	       struct arena *arena, struct target_answer *ret, struct err *err)
{
	struct waiting w = {t, what, arena, ret, false};

	*ret = (struct target_answer){0};
	call->on_event = on_answer;
	call->arg = &w;
	live_begin(&t->live, what, loop_now(&t->loop));
	if (client_call(t->client, call, NULL, err) < 0)
		return -1;
	return wait_for(t, &w.done, err);
}

/* ---- errors ---- */

/* The end of it, from the beginning of a line where there is one. */
static void write_stderr(const struct target *t, struct jw *w)
{
	struct str text = t->client ? client_stderr(t->client) : STR("");
	size_t at;

	text = str_trim(text);
	if (text.n > STDERR_BYTES) {
		text.p += text.n - STDERR_BYTES;
		text.n = STDERR_BYTES;
		at = str_find(text, '\n');
		if (at < text.n) {
			text.p += at + 1;
			text.n -= at + 1;
		}
	}
	if (text.n)
		jw_kv_str(w, "stderr", text);
}

void target_write_error(const struct target *t, const struct target_answer *a,
			struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	scrub_cut(t->scrub, a->message, &text);
	jw_init(&w, out, false);
	jw_object(&w);
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

void target_say_error(const struct target *t, const struct target_answer *a,
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
	target_say_error(t, a, &says);
	log_error("%s", buf_cstr(&says));
	t->has_failed = true;
	if (!cli_json_errors)
		return;
	target_write_error(t, a, &out);
	buf_addc(&out, '\n');
	if (put(buf_str(&out), PUT_JSON, &ignored) < 0)
		log_error("%s", ignored.msg);
}

int target_result(struct target *t, struct client_call *call, const char *what,
		  struct arena *arena, struct str *ret, struct err *err)
{
	struct target_answer answer;

	if (target_ask(t, call, what, arena, &answer, err) < 0)
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

/* ---- listings ---- */

static void say_warnings(const struct target *t, const struct listing *l)
{
	for (size_t i = 0; i < l->warnings.n; i++)
		log_warning("%s: %s", t->name, l->warnings.item[i]);
	if (l->warnings_dropped)
		log_warning("%s: %zu more warnings", t->name,
			    l->warnings_dropped);
}

struct listing_wait {
	struct target *t;
	struct listing *list;
	struct target_answer *answer;
	bool done;
};

static void on_list(void *arg, const struct client_listed *l)
{
	struct listing_wait *w = arg;
	struct waiting failed = {
		.t = w->t, .arena = &w->t->arena, .answer = w->answer};

	w->done = true;
	if (l->type == CLIENT_RESULT)
		client_take_list(w->t->client, l->list->kind, w->list);
	else
		on_answer(&failed, l->event);
}

/* ret  empty where the answer is no result */
static int list_all(struct target *t, enum listing_kind kind,
		    struct listing *ret, struct target_answer *answer,
		    struct err *err)
{
	struct listing_wait w = {.t = t, .list = ret, .answer = answer};
	const struct client_list list = {
		.kind = kind, .done = on_list, .arg = &w};
	uint64_t ticket;

	listing_init(ret, kind);
	*answer = (struct target_answer){0};
	live_begin(&t->live, listing_method(kind), loop_now(&t->loop));
	if (client_list(t->client, &list, &ticket, err) < 0)
		return -1;
	if (wait_for(t, &w.done, err) < 0)
		return -1;
	say_warnings(t, ret);
	if (kind == LISTING_TOOLS && t->server &&
	    answer->outcome == TARGET_RESULT)
		known_tools_keep(state_dir_find(&t->arena), t->config->path,
				 t->server, ret, t->scrub);
	return 0;
}

int target_list(struct target *t, enum listing_kind kind, struct listing *ret,
		struct err *err)
{
	struct target_answer answer;

	if (list_all(t, kind, ret, &answer, err) < 0)
		return -1;
	if (answer.outcome == TARGET_RESULT)
		return 0;
	target_print_error(t, &answer);
	return err_set(err, ERR_PEER, "%s does not give this list", t->name);
}

int target_try_list(struct target *t, enum listing_kind kind,
		    struct listing *ret, struct err *err)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);
	struct target_answer answer;
	int r = list_all(t, kind, ret, &answer, err);

	if (t->loop.signal ||
	    (r < 0 && err->kind != ERR_PEER && err->kind != ERR_LIMIT))
		return -1;
	if (r == 0 && answer.outcome == TARGET_RESULT)
		return 0;
	if (r == 0)
		target_say_error(t, &answer, &says);
	log_warning("%s: %s", listing_method(kind),
		    r < 0 ? err->msg : buf_cstr(&says));
	return 1;
}

/* Tools may depend on the answers that a client declares. */
static void undeclared(const struct target *t, struct buf *out)
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

int target_unknown(const struct target *t, const struct listing *l,
		   const char *name, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf more = BUF_INIT(BUF_UNBOUNDED);
	bool is_tool = l->kind == LISTING_TOOLS;

	if (is_tool)
		undeclared(t, &more);
	return err_set(err, is_tool ? ERR_UNKNOWN_TOOL : ERR_UNKNOWN_PROMPT,
		       "%s has %s", t->name,
		       tool_unknown(l, is_tool ? "tool" : "prompt", name,
				    buf_cstr(&more), &arena));
}
