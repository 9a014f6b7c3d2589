/*
 * `matins call`: one tools/call, or many in one session.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/cli/ask_args.h"
#include "core/cli/call.h"
#include "core/cli/command.h"
#include "core/cli/confirm.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"
#include "core/cli/tool_text.h"
#include "core/client/audited.h"
#include "core/client/tool_check.h"
#include "core/run/approve.h"
#include "core/run/pinned.h"
#include "core/run/tool_policy.h"

const struct option options_call[] = {
	{"args", 0, "JSON|@FILE|-", "all arguments as one JSON object"},
	{"batch", 0, "FILE",
	 "call each line {\"tool\":…,\"arguments\":{…}}; - is standard input"},
	{"jobs", 'j', "N", "with --batch: calls in flight (1)"},
	{"ask", 0, NULL, "ask for required arguments that are missing"},
	{"strict", 0, NULL, "refuse arguments and results that break a schema"},
	{"no-list", 0, NULL, "do not ask for the list of tools first"},
	{"no-check", 0, NULL, "call even if a required argument is missing"},
	{"yes", 'y', NULL, "agree to tools that `confirm` names"},
	{"ignore-tool-error", 0, NULL,
	 "exit with status 0 even if the tool fails"},
	{"data", 0, NULL,
	 "print the structured result, or the JSON in its text"},
	{"raw", 0, NULL, "pass control characters to a terminal unchanged"},
	{"save", 0, "DIR", "write images and other bytes to files there"},
	{.letter = OPTIONS_TARGET},
};

/* Most calls in flight of a batch. */
#define JOBS_MAX 1024

/* ---- findings of a check ---- */

enum rigour {
	NO_CHECK, /* everything is a warning */
	CHECK,	  /* so is everything but a missing argument */
	STRICT,
};

/*
 * Print the findings: every violation is one warning; with `strict` they are
 * errors. A required argument that is missing is an error always, unless the
 * caller takes note of it. A schema that cannot be used checks nothing, which
 * is a warning once, and with `strict` an error like any violation.
 *
 * errors  ERR_SYNTAX  the first violation that is no warning; the others were
 *		       printed
 */
static int say_findings(const struct tool_findings *f, enum rigour rigour,
			struct err *err)
{
	const struct strlist *v = &f->violations;
	const char *first = NULL;

	if (rigour == CHECK)
		first = f->missing;
	else if (rigour == STRICT)
		first = v->n ? v->item[0] : f->unusable;
	if (f->unusable && first != f->unusable && !f->is_told)
		log_warning("%s", f->unusable);
	for (size_t i = 0; i < f->hints.n; i++)
		log_warning("%s", f->hints.item[i]);
	for (size_t i = 0; i < v->n; i++) {
		if (!first)
			log_warning("%s", v->item[i]);
		else if (v->item[i] != first)
			log_error("%s", v->item[i]);
	}
	if (f->n_more)
		log_warning("and %zu more", f->n_more);
	if (!first)
		return 0;
	return err_set(err, ERR_SYNTAX, "%s%s", first,
		       rigour == CHECK ? "; the tool was not called "
					 "(--no-check calls it anyway)"
				       : "");
}

static int check_result(const struct target *t, struct tool_check *check,
			struct str result, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct tool_findings found;

	(void)!tool_check_result(check, result, &arena, &found);
	return say_findings(&found, t->strict ? STRICT : NO_CHECK, err);
}

/* Keep the first text of a CallToolResult that speaks of a refusal. */
static void hint_content(struct target *t, struct str content)
{
	struct scan_iter it;
	struct str v;

	scan_iter_init(&it, content);
	while (!t->said.n && scan_next(&it)) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (scan_type(it.value) == SCAN_OBJECT &&
		    scan_get(it.value, "text", &v) && scan_string(v, &text))
			target_hint(t, buf_str(&text));
	}
}

/* errors  ERR_PIN  the server is pinned, and the tool is another */
static int check_pin(const struct target *t, const struct listing_item *item,
		     struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *why = NULL;

	if (t->keys.pin)
		why = pinned_refusal(t->config, &t->keys, item, &arena);
	return why ? err_set(err, ERR_PIN, "%s", why) : 0;
}

/*
 * Judge the name of a tool by the table of the server.
 *
 * is_asked  a person who is here is asked before the call: agree()
 * errors    ERR_TOOL_POLICY
 */
static int check_name(const struct target *t, const char *tool, bool is_asked,
		      struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const bool is_confirmed = args_has(t->args, "yes") ||
				  (is_asked && approve_person_is_here());
	const char *why;

	if (!t->server)
		return 0;
	why = tool_policy_names(&t->keys, tool, target_grants(t), is_confirmed,
				&arena);
	return why ? err_set(err, ERR_TOOL_POLICY, "%s", why) : 0;
}

/*
 * Ask for a tool that `confirm` names, last of all, with its arguments in view.
 *
 * errors  ERR_TOOL_POLICY  no person agrees; ERR_PEER  a signal came
 */
static int agree(struct target *t, struct str params, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf question = BUF_INIT(BUF_UNBOUNDED);
	bool is_confirmed;
	const char *why;

	if (!t->server || args_has(t->args, "yes") ||
	    !tool_policy_asks(&t->keys, t->tool, target_grants(t)))
		return 0;
	buf_addf(&question, "call %s of the server %s", t->tool, t->name);
	text_given(t->scrub, params, &question);
	buf_adds(&question, "?");
	live_clear(&t->live);
	target_hold_questions(t, true);
	is_confirmed = approve_person_is_here() &&
		       confirm_in_loop(&t->loop, buf_cstr(&question));
	target_hold_questions(t, false);
	if (t->loop.signal)
		return target_interrupted(t, err);
	why = tool_policy_names(&t->keys, t->tool, target_grants(t),
				is_confirmed, &arena);
	return why ? err_set(err, ERR_TOOL_POLICY, "%s", why) : 0;
}

/* By what the server says of it; errors  ERR_TOOL_POLICY */
static int check_hints(const struct target *t, const struct listing_item *item,
		       struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *why = tool_policy_hints(&t->keys, item->json, &arena);

	return why ? err_set(err, ERR_TOOL_POLICY, "%s", why) : 0;
}

/* Put a call that was denied into the audit of its server. */
static void note_denied(const struct target *t, const char *tool,
			struct str params, const struct err *err)
{
	const struct client_call call = {.tool = tool, .params = params};

	if (err->kind == ERR_TOOL_POLICY || err->kind == ERR_PIN ||
	    err->kind == ERR_DISABLED)
		audited_denied(t->keys.audit, &call, t->name, clock_system());
}

static enum rigour rigour_of(const struct target *t)
{
	return args_has(t->args, "no-check") ? NO_CHECK
	       : t->strict		     ? STRICT
					     : CHECK;
}

/*
 * ---- --batch: many calls in one session ----
 *
 * Lines {"tool":…,"arguments":{…}} in, one line out for each, in their order: a
 * CallToolResult or {"error":{…}}. A wrong line gets an error line with its
 * number, and the rest goes on. An answer is printed as soon as it is its turn;
 * a few answers more than calls in flight are kept. Tools are listed again when
 * the server says that they have changed, or a call shows it.
 */

/* Memory of answers beyond this is given back when they are printed. */
#define KEEP_BYTES (1024 * 1024)
/* Answers that are kept until it is their turn, beside those in flight. */
#define AHEAD 64
/* Bytes of one read or print. */
#define PORTION_BYTES 65536
/* Ceiling of one line of the file. */
#define LINE_BYTES (16 * 1024 * 1024)

/*
 * Tools of a server as they were when some calls were checked: the list may
 * change before their answers have come.
 */
struct tool_set {
	struct listing list;	   /* owned */
	struct tool_check *checks; /* one of each tool; owned */
	size_t users;		   /* calls whose answer is to come */
};

/* A line of the file, until its answer is printed. */
struct slot {
	struct batch *batch;
	struct slot *next;
	uint64_t number;	  /* number of the line */
	struct tool_set *set;	  /* NULL with: */
	struct tool_check *check; /* NULL: the tool is not known */
	bool done;
	struct buf out; /* the answer, while it is not its turn; owned */
};

struct batch {
	struct target *t;
	const char *path; /* "-" is stdin */
	unsigned jobs;	  /* calls in flight, at least 1 */
	uint64_t n_lines, n_tool_errors, n_errors;
	int fd;
	bool is_file;  /* reading it never waits */
	bool ended;    /* the whole file was read */
	bool too_long; /* the line is over LINE_BYTES: skip to its end */
	struct loop_watch in;
	struct buf text; /* read and not yet used */
	size_t at;	 /* begin of the next line in text */
	uint64_t number;
	struct slot *first, **last; /* in order; owned */
	struct slot *spare;	    /* slot to use again, or NULL; owned */
	struct buf tool;	    /* the name in the line; owned */
	struct buf out;		    /* answers that are due; owned */
	size_t n_slots, n_open;
	struct tool_set *set; /* owned; NULL: tools are not known */
	bool is_list_lost;    /* asking again for the tools failed */
	struct backoff pause; /* before the server is started again */
	bool is_lost;	      /* no server is there any more */
	bool is_due;	      /* a line waits for that */
	bool is_tried;	      /* a start was tried for this line */
};

static struct tool_set *make_set(struct listing *list)
{
	struct tool_set *set = mem_zalloc(sizeof(*set));

	set->list = *list;
	listing_init(list, LISTING_TOOLS);
	set->checks = mem_zalloc((set->list.n + 1) * sizeof(*set->checks));
	for (size_t i = 0; i < set->list.n; i++)
		tool_check_init(&set->checks[i], set->list.item[i].json);
	return set;
}

static void free_set(struct tool_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->list.n; i++)
		tool_check_release(&set->checks[i]);
	free(set->checks);
	listing_release(&set->list);
	free(set);
}

/* A set that is out of date is freed with the last call that uses it. */
static void leave_set(struct slot *s)
{
	if (s->set && !--s->set->users && s->set != s->batch->set)
		free_set(s->set);
	s->set = NULL;
	s->check = NULL;
}

static struct slot *new_slot(struct batch *b)
{
	struct slot *s = b->spare ? b->spare : mem_alloc(sizeof(*s));

	b->spare = NULL;
	*s = (struct slot){
		.batch = b,
		.number = b->number,
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	*b->last = s;
	b->last = &s->next;
	b->n_slots++;
	b->n_open++;
	return s;
}

static void drop_first(struct batch *b)
{
	struct slot *s = b->first;

	b->first = s->next;
	if (!b->first)
		b->last = &b->first;
	b->n_slots--;
	buf_release(&s->out);
	free(b->spare);
	b->spare = s;
}

/* ---- answers of a batch ---- */

/* Buffer for the answer: the first slot writes straight to the output. */
static struct buf *out_of(struct slot *s)
{
	return s == s->batch->first ? &s->batch->out : &s->out;
}

static void finish_slot(struct slot *s)
{
	buf_addc(out_of(s), '\n');
	leave_set(s);
	s->done = true;
	s->batch->n_open--;
}

static void write_error(struct slot *s, const struct err *err)
{
	struct jw w;

	s->batch->n_errors++;
	w = jw_begin(out_of(s));
	jw_kv_object(&w, "error");
	jw_kv_cstr(&w, "kind", err_word(err->kind));
	jw_kv_cstr(&w, "message", err->msg);
	jw_kv_int(&w, "line", (int64_t)s->number);
	jw_end(&w);
	jw_end(&w);
}

static void write_result(struct slot *s, struct str result)
{
	struct batch *b = s->batch;
	struct mcp_tool_result r = {0};
	struct err err;

	err_clear(&err);
	if (mcp_read_tool_result(result, client_server(b->t->client)->revision,
				 &r, &err) < 0 ||
	    (s->check && check_result(b->t, s->check, result, &err) < 0)) {
		write_error(s, &err);
	} else {
		b->n_tool_errors += r.is_error;
		scrub_json(b->t->scrub, result, out_of(s));
		target_save_all(b->t, r.content);
		if (r.is_error)
			hint_content(b->t, r.content);
	}
	mcp_tool_result_release(&r);
}

static void on_answer(void *arg, const struct client_event *e)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct slot *s = arg;

	switch (e->type) {
	case CLIENT_RESULT:
		/* an answer takes one line: newlines between the tokens go */
		if (memchr(e->of->result.p, '\n', e->of->result.n)) {
			scan_compact(e->of->result, &line);
			write_result(s, buf_str(&line));
		} else {
			write_result(s, e->of->result);
		}
		finish_slot(s);
		break;
	case CLIENT_ERROR:
	case CLIENT_FAILED:
		s->batch->n_errors++;
		target_write_failure(s->batch->t, e, s->number, out_of(s));
		finish_slot(s);
		break;
	default:
		break;
	}
}

static int flush(struct batch *b, struct err *err)
{
	int r;

	if (!b->out.n)
		return 0;
	live_clear(&b->t->live);
	r = put(buf_str(&b->out), PUT_JSON, err);
	buf_clear(&b->out);
	if (b->out.cap > KEEP_BYTES)
		buf_release(&b->out);
	return r;
}

/* Append finished answers to the output; a long one is moved, not copied. */
static int take_due(struct batch *b, struct err *err)
{
	while (b->first && b->first->done) {
		struct buf *kept = &b->first->out, empty;

		if (b->out.n + kept->n > PORTION_BYTES && flush(b, err) < 0)
			return -1;
		empty = b->out;
		if (b->out.n) {
			buf_add_str(&b->out, buf_str(kept));
		} else if (kept->n) {
			b->out = *kept;
			*kept = empty;
		}
		drop_first(b);
	}
	return 0;
}

/* List the tools again where something shows that they have changed. */
static int refresh_tools(struct batch *b, struct err *err)
{
	struct tool_set *old = b->set;
	struct listing list;
	int r;

	if (!old || b->is_list_lost || b->at == b->text.n ||
	    !client_list_is_stale(b->t->client, LISTING_TOOLS))
		return 0;
	if (flush(b, err) < 0)
		return -1;
	r = target_list(b->t, LISTING_TOOLS, false, &list, err);
	if (r) {
		listing_release(&list);
		b->is_list_lost = true;
		return r < 0 ? -1 : 0;
	}
	b->set = make_set(&list);
	if (!old->users)
		free_set(old);
	return 0;
}

/* ---- one line of a batch ---- */

static int unknown_member(struct str json, struct err *err)
{
	static const char *const names[] = {"tool", "arguments"};
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	const char *near;

	scan_string(json, &key);
	near = str_nearest(buf_str(&key), names, ARRAY_LEN(names));
	return err_set(err, ERR_SYNTAX, "unknown member \"%s\"; %s%s%s",
		       buf_cstr(&key), near ? "did you mean \"" : "a line has ",
		       near ? near : "\"tool\" and \"arguments",
		       near ? "\"?" : "\"");
}

static int read_members(struct str line, const struct scan_members *members,
			struct str *tool, struct str *arguments,
			struct err *err)
{
	struct scan_iter it;

	*tool = *arguments = (struct str){NULL, 0};
	if (scan_type(line) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX,
			       "the line must be an object "
			       "{\"tool\":…,\"arguments\":{…}}");
	scan_iter_noted(&it, line, members);
	while (scan_next(&it)) {
		if (scan_is(it.key, "tool"))
			*tool = it.value;
		else if (scan_is(it.key, "arguments"))
			*arguments = it.value;
		else
			return unknown_member(it.key, err);
	}
	if (!tool->p || scan_type(*tool) != SCAN_STRING)
		return err_set(err, ERR_SYNTAX, "\"tool\" must be a string");
	if (arguments->p && scan_type(*arguments) == SCAN_NULL)
		*arguments = (struct str){NULL, 0};
	if (arguments->p && scan_type(*arguments) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX,
			       "\"arguments\" must be an object");
	return 0;
}

/* tool  ends in NUL */
static int check_line(struct slot *s, struct str tool, struct str arguments,
		      struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct tool_set *set = s->batch->set;
	const struct listing_item *item;
	struct tool_findings found;
	char what[40];

	if (check_name(s->batch->t, tool.p, false, err) < 0)
		return -1;
	if (!set)
		return 0;
	item = listing_find(&set->list, tool);
	if (!item)
		return target_unknown(s->batch->t, &set->list, tool.p, err);
	if (check_hints(s->batch->t, item, err) < 0 ||
	    check_pin(s->batch->t, item, err) < 0)
		return -1;
	s->check = &set->checks[item - set->list.item];
	s->set = set;
	set->users++;
	snprintf(what, sizeof(what), "line %llu",
		 (unsigned long long)s->number);
	(void)!tool_check_arguments(s->check, arguments, what, &arena, &found);
	return say_findings(&found, rigour_of(s->batch->t), err);
}

static int send_line(struct slot *s, struct str line, struct err *err)
{
	struct client_call call = {.on_event = on_answer, .arg = s};
	struct buf *name = &s->batch->tool;
	struct scan_members members;
	struct str value, tool;

	if (scan_members(line, &value, &members, err) < 0)
		return err->kind != ERR_SYNTAX
			       ? -1
			       : err_set(err, ERR_SYNTAX,
					 "line %llu is not JSON (column %u)",
					 (unsigned long long)s->number,
					 (unsigned)err->col);
	if (read_members(value, &members, &tool, &call.params, err) < 0)
		return -1;
	buf_clear(name);
	scan_string(tool, name);
	if (check_line(s, buf_str(name), call.params, err) < 0) {
		note_denied(s->batch->t, buf_cstr(name), call.params, err);
		return -1;
	}
	call.tool = buf_cstr(name);
	call.as_task = s->check && tool_needs_task(s->check->tool);
	return client_call(s->batch->t->client, &call, NULL, err);
}

static void take_line(struct batch *b, struct str line)
{
	struct slot *s;
	struct err err;

	b->number++;
	if (!str_trim(line).n && !b->too_long)
		return;
	s = new_slot(b);
	b->n_lines++;
	err_clear(&err);
	if (b->too_long)
		err_set(&err, ERR_LIMIT, "the line exceeds %d bytes",
			LINE_BYTES);
	else if (send_line(s, line, &err) == 0)
		return;
	write_error(s, &err);
	finish_slot(s);
}

/* ---- input of a batch ---- */

static bool has_room(const struct batch *b)
{
	return b->n_open < b->jobs && b->n_slots < b->jobs + AHEAD &&
	       !b->t->loop.signal;
}

/* Take one line; false: the buffer holds no whole line. */
static bool next_line(struct batch *b)
{
	struct str rest = {buf_cstr(&b->text) + b->at, b->text.n - b->at};
	size_t end = str_find(rest, '\n');

	if (end == rest.n && (!b->ended || (!rest.n && !b->too_long))) {
		buf_drop(&b->text, b->at);
		b->at = 0;
		if (rest.n < LINE_BYTES)
			return false;
		b->too_long = true;
		buf_clear(&b->text);
		return false;
	}
	b->is_due =
		!client_is_open(b->t->client) && !b->is_lost && !b->is_tried;
	if (b->is_due)
		return false;
	b->is_tried = false;
	take_line(b, (struct str){rest.p, end});
	b->too_long = false;
	b->at += end + (end < rest.n);
	return true;
}

static int read_more(struct batch *b, struct err *err)
{
	char *room = buf_room(&b->text, PORTION_BYTES);
	ssize_t r = read(b->fd, room, PORTION_BYTES);

	if (r < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (r < 0)
		return err_sys(err, errno, "--batch: read %s", b->path);
	b->text.n += (size_t)r;
	b->ended = r == 0;
	return 0;
}

static void on_input(void *arg, UNUSED uint32_t events)
{
	struct batch *b = arg;
	struct err err = ERR_INIT;

	if (read_more(b, &err) < 0) {
		log_error("%s", err.msg);
		b->n_errors++;
		b->ended = true;
	}
}

/*
 * Start a server again that ended, for the line that waits. Where it does not
 * start the line fails, and the next one tries again, unless the pause would be
 * longer than the time for an answer.
 */
static int revive(struct batch *b, struct err *err)
{
	const struct target *t = b->t;
	struct err why = ERR_INIT;

	b->is_due = false;
	b->is_tried = true;
	b->is_lost =
		!t->keys.reconnect || b->pause.pause_ms > t->keys.timeout_ms;
	if (b->is_lost)
		return 0;
	if (flush(b, err) < 0)
		return -1;
	if (target_again(b->t, &b->pause, &why) < 0)
		log_warning("%s is not started again: %s", t->name, why.msg);
	return 0;
}

static int fill(struct batch *b, struct err *err)
{
	while (has_room(b)) {
		if (refresh_tools(b, err) < 0)
			return -1;
		if (next_line(b))
			continue;
		if (b->is_due) {
			if (b->n_open)
				break;
			if (revive(b, err) < 0)
				return -1;
			continue;
		}
		if (b->ended || !b->is_file)
			break;
		if (read_more(b, err) < 0)
			return -1;
	}
	if (!b->is_file)
		loop_rewatch(&b->t->loop, &b->in,
			     has_room(b) && !b->ended ? EPOLLIN : 0);
	return 0;
}

static bool can_go_on(const struct batch *b)
{
	if (!has_room(b) || b->is_due)
		return false;
	if (b->is_file && !b->ended)
		return true;
	return b->at < b->text.n &&
	       (b->ended || memchr(b->text.p + b->at, '\n', b->text.n - b->at));
}

static int open_input(struct batch *b, struct err *err)
{
	struct stat st;

	b->fd = strcmp(b->path, "-") ? fd_open(b->path, O_RDONLY, 0)
				     : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (b->fd < 0 || fstat(b->fd, &st) < 0) {
		err_sys(err, errno, "--batch: open %s", b->path);
		err->kind = ERR_USAGE;
		return -1;
	}
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE, "--batch: %s is a folder",
			       b->path);
	/* epoll takes neither plain files nor /dev/null: they never wait */
	b->is_file = S_ISREG(st.st_mode) ||
		     loop_watch(&b->t->loop, &b->in, b->fd, EPOLLIN, on_input,
				b, err) < 0;
	return 0;
}

/* ---- the loop of a batch ---- */

static int run_batch(struct batch *b, struct err *err)
{
	for (;;) {
		if (fill(b, err) < 0 || take_due(b, err) < 0)
			return -1;
		if (!b->n_slots &&
		    (b->t->loop.signal ||
		     (b->ended && b->at == b->text.n && !b->too_long)))
			return 0;
		/* printing made room for more calls */
		if (can_go_on(b) ||
		    (b->n_open && client_look_ahead(b->t->client)))
			continue;
		if (flush(b, err) < 0 || loop_turn(&b->t->loop, err) < 0)
			return -1;
	}
}

static void release_batch(struct batch *b)
{
	if (b->in.fd >= 0)
		loop_unwatch(&b->t->loop, &b->in);
	while (b->first) {
		leave_set(b->first);
		drop_first(b);
	}
	free(b->spare);
	free_set(b->set);
	buf_release(&b->text);
	buf_release(&b->tool);
	buf_release(&b->out);
	fd_closep(&b->fd);
}

static int batch_status(const struct batch *b, struct err *err)
{
	struct target *t = b->t;

	if (target_say_saved(t, true, err) < 0)
		return -1;
	log_debug("%llu calls, %llu tool errors, %llu errors",
		  (unsigned long long)b->n_lines,
		  (unsigned long long)b->n_tool_errors,
		  (unsigned long long)b->n_errors);
	if (b->n_errors || t->files.failed)
		return 1;
	if (!b->n_lines && !t->loop.signal) {
		log_error("%s holds no calls: nothing was called",
			  strcmp(b->path, "-") ? b->path : "standard input");
		return 2;
	}
	return b->n_tool_errors && !args_has(t->args, "ignore-tool-error") ? 2
									   : 0;
}

/* tools  taken; NULL: not known */
static int call_many(struct target *t, struct listing *tools, struct err *err)
{
	struct batch b = {
		.t = t,
		.path = args_get(t->args, "batch"),
		.jobs = 1,
		.fd = -1,
		.in = {.fd = -1},
		.text = BUF_INIT(BUF_UNBOUNDED),
		.tool = BUF_INIT(BUF_UNBOUNDED),
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	struct err second = ERR_INIT;
	int r;

	if (args_count(t->args, "jobs", JOBS_MAX, &b.jobs, err) < 0)
		return -1;
	b.last = &b.first;
	if (tools)
		b.set = make_set(tools);
	r = open_input(&b, err);
	if (r == 0)
		r = run_batch(&b, err);
	if (flush(&b, r < 0 ? &second : err) < 0)
		r = -1;
	/* calls that are open must not call back any more */
	if (r < 0)
		client_kill(t->client);
	release_batch(&b);
	return r < 0 ? -1 : batch_status(&b, err);
}

/* ---- one call ---- */

/* The JSON in the only text of a result, decoded into the arena. */
static bool text_json(struct str content, struct arena *arena, struct str *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	struct str v;

	scan_iter_init(&it, content);
	if (scan_count(content) != 1 || !scan_next(&it) ||
	    !scan_get(it.value, "text", &v) || !scan_string(v, &text))
		return false;
	return scan_document(arena_str(arena, buf_str(&text)), NULL, ret,
			     ERR_IGNORED) == 0;
}

static int print_data(struct target *t, const struct mcp_tool_result *r,
		      struct err *err)
{
	struct str json = r->structured;

	if (!json.p && !text_json(r->content, &t->arena, &json))
		return err_set(err, ERR_PEER,
			       "the result has no structured content, and its "
			       "text is not JSON");
	return target_put(t, json, PUT_JSON, err);
}

static int print_result(struct target *t, struct str result,
			const struct mcp_tool_result *r, struct err *err)
{
	int got;

	target_save_all(t, r->content);
	if (t->json)
		got = target_put(t, result, PUT_JSON, err);
	else if (args_has(t->args, "data") && !r->is_error)
		got = print_data(t, r, err);
	else if (!scan_count(r->content) && r->structured.p)
		got = target_put(t, r->structured, PUT_JSON, err);
	else
		got = target_put_content(t, r->content,
					 args_has(t->args, "raw"), err);
	return got < 0 ? -1 : target_say_saved(t, t->json, err);
}

/* Hand the result, without secrets, to whoever asked for it. */
static int keep_result(const struct target *t, const struct mcp_tool_result *r,
		       struct call_outcome *o)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	report_mcp_output(&text, r->content);
	scrub_apply(t->scrub, buf_str(&text), &o->output);
	if (r->structured.p)
		scrub_json(t->scrub, r->structured, &o->structured);
	return 0;
}

static int finish_one(struct target *t, struct tool_check *check,
		      struct str result, struct call_outcome *o,
		      struct err *err)
{
	struct mcp_tool_result r = {0};
	int status;

	if (mcp_read_tool_result(result, client_server(t->client)->revision, &r,
				 err) < 0 ||
	    (t->catches ? keep_result(t, &r, o)
			: print_result(t, result, &r, err)) < 0 ||
	    check_result(t, check, result, err) < 0)
		status = -1;
	else if (r.is_error && !args_has(t->args, "ignore-tool-error"))
		status = 2;
	else
		status = t->files.failed;
	if (status == 2)
		log_note("the tool reported an error");
	else if (status == 0 && report_answer_is_empty(r.content, r.structured))
		log_note("%s answered without content", t->tool);
	if (status >= 0 && r.is_error)
		hint_content(t, r.content);
	/* stdout already holds the result: no second document behind it */
	if (status < 0 && t->json && err->kind == ERR_SYNTAX)
		cli_json_errors = false;
	mcp_tool_result_release(&r);
	return status;
}

/* returns  -1: its tool may not be called */
static int deny_one(struct target *t, const struct err *err)
{
	struct str params = {NULL, 0};

	if (t->keys.audit && tool_args_read(t->args, NULL, params, &t->arena,
					    &params, ERR_IGNORED) < 0)
		params = (struct str){NULL, 0};
	note_denied(t, t->tool, params, err);
	return -1;
}

/*
 * Call with arguments of the command line, checked by the schema of the tool.
 *
 * tools  NULL: not known
 */
static int call_one(struct target *t, const struct listing *tools,
		    struct tool_check *check, struct call_outcome *o,
		    struct err *err)
{
	const char *name = t->tool;
	const struct listing_item *item =
		tools ? listing_find(tools, str_of(name)) : NULL;
	struct str tool = item ? item->json : (struct str){NULL, 0}, result;
	struct client_call call = {.tool = name};
	struct tool_findings found;
	const char *why;

	if (!item && tools)
		return target_unknown(t, tools, name, err);
	if (item &&
	    (check_hints(t, item, err) < 0 || check_pin(t, item, err) < 0))
		return deny_one(t, err);
	why = item && o
		      ? pinned_action_refusal(o->action, item->json, &t->arena)
		      : NULL;
	if (why) {
		(void)err_set(err, ERR_PIN, "%s", why);
		return deny_one(t, err);
	}
	tool_check_init(check, tool);
	if (tool_args_read(t->args, NULL,
			   tool.p ? tool_input_schema(tool) : tool, &t->arena,
			   &call.params, err) < 0)
		return -1;
	if (args_has(t->args, "ask") && tool.p &&
	    ask_args(t, tool_input_schema(tool), &call.params, err) < 0)
		return -1;
	t->asked = call.params;
	(void)!tool_check_arguments(check, call.params, "arguments", &t->arena,
				    &found);
	call.as_task = tool.p && tool_needs_task(tool);
	if (say_findings(&found, rigour_of(t), err) < 0)
		return -1;
	if (agree(t, call.params, err) < 0) {
		note_denied(t, name, call.params, err);
		return -1;
	}
	if (target_result(t, &call, name, &result, err) < 0)
		return -1;
	return finish_one(t, check, result, o, err);
}

/* ---- the command ---- */

static int check_usage(const struct args *args, struct err *err)
{
	bool batch = args_has(args, "batch");
	unsigned jobs;

	if (batch && (args->n_positional || args_has(args, "args")))
		return err_set(err, ERR_USAGE,
			       "call: with --batch, the file names the tools "
			       "and their arguments");
	if (batch && (args_has(args, "data") || args_has(args, "raw")))
		return err_set(err, ERR_USAGE,
			       "call: --data and --raw do not go with --batch, "
			       "which prints whole results; jq -c "
			       ".structuredContent extracts the data");
	if (!batch && !args->n_positional)
		return err_set(err, ERR_USAGE,
			       "call: name a tool: matins call TOOL NAME=VALUE "
			       "--server NAME; `matins tools` lists them");
	if (args_has(args, "ask") && (batch || args_has(args, "no-list")))
		return err_set(err, ERR_USAGE,
			       "call: --ask goes neither with --batch nor with "
			       "--no-list: it reads the schema of one tool");
	if (args_has(args, "jobs") && !batch)
		return err_set(err, ERR_USAGE, "call: -j needs --batch");
	if (args_has(args, "strict") && args_has(args, "no-check"))
		return err_set(err, ERR_USAGE,
			       "call: use --strict or --no-check, not both");
	if (args_has(args, "json") + args_has(args, "data") +
		    args_has(args, "raw") >
	    1)
		return err_set(
			err, ERR_USAGE,
			"call: use only one of --json, --data and --raw");
	return args_count(args, "jobs", JOBS_MAX, &jobs, err);
}

/* arg  struct call_outcome, or NULL */
static int call(struct target *t, void *arg, struct err *err)
{
	const struct call_outcome *o = arg;
	const bool needs_list = t->keys.pin || tool_policy_bound(&t->keys) ||
				(o && o->action && o->action->pin);
	struct tool_check check = {0};
	struct listing tools;
	int r = 1;

	if (t->is_off)
		return t->tool ? deny_one(t, err) : -1;
	if (t->session.message_max)
		t->files.max = t->session.message_max;
	else
		t->files.max = LIMIT_MESSAGE_BYTES;
	listing_init(&tools, LISTING_TOOLS);
	if (!args_has(t->args, "batch") &&
	    check_name(t, t->tool, true, err) < 0)
		r = deny_one(t, err);
	else if (!args_has(t->args, "no-list") || needs_list)
		r = target_list(t, LISTING_TOOLS, needs_list, &tools, err);
	if (r >= 0)
		r = args_has(t->args, "batch")
			    ? call_many(t, r ? NULL : &tools, err)
			    : call_one(t, r ? NULL : &tools, &check, arg, err);
	listing_release(&tools);
	tool_check_release(&check);
	return r;
}

int call_tool(const struct args *args, struct call_outcome *o, struct err *err)
{
	return target_run(
		args,
		(args_has(args, "json") ? TARGET_CATCH : TARGET_START) |
			TARGET_CALLS,
		call, o, err);
}

int cmd_call(const struct args *args, struct err *err)
{
	if (check_usage(args, err) < 0)
		return -1;
	return target_run(args, TARGET_TOOL | TARGET_CALLS, call, NULL, err);
}
