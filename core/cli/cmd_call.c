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
#include "core/cli/command.h"
#include "core/cli/content_show.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"
#include "core/client/tool_check.h"

/* ---- findings of a check ---- */

enum tool_rigour {
	TOOL_NO_CHECK, /* everything is a warning */
	TOOL_CHECK,    /* so is everything but a missing argument */
	TOOL_STRICT,
};

/*
 * errors  ERR_SYNTAX  the first violation that is no warning; the others were
 *		       printed
 */
static int tool_say(const struct tool_findings *f, enum tool_rigour rigour,
		    struct err *err)
{
	const struct strlist *v = &f->violations;
	const char *first = NULL;

	if (rigour == TOOL_CHECK)
		first = f->missing;
	else if (rigour == TOOL_STRICT && v->n)
		first = v->item[0];
	else if (rigour == TOOL_STRICT)
		first = f->unusable;
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
		       rigour == TOOL_CHECK ? "; the tool was not called "
					      "(--no-check calls it anyway)"
					    : "");
}

/* ---- --batch: many calls in one session ---- */

struct batch_options {
	const char *path;	     /* "-" is stdin */
	unsigned jobs;		     /* calls in flight, at least 1 */
	enum tool_rigour rigour;     /* for arguments */
	struct listing *tools;	     /* taken; NULL: not known */
	struct content_files *files; /* files of --save */
};

/* Outcomes of all lines. */
struct batch_counts {
	uint64_t lines, tool_errors, errors;
};

/* Memory of answers beyond this is given back when they are printed. */
#define KEEP_BYTES (1024 * 1024)
/* Answers that are kept until it is their turn, beside those in flight. */
#define AHEAD 64
/* Looks for an answer without a wait, and waits after one in vain. */
#define LOOKS 64
#define WAITS 16
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
	const struct batch_options *o;
	struct batch_counts counts;
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
	unsigned looks;	      /* left before the next wait */
	unsigned waits;	      /* left before the next look */
	struct tool_set *set; /* owned; NULL: tools are not known */
	bool is_list_lost;    /* asking again for the tools failed */
};

/* ---- tools ---- */

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

static struct tool_check *find_check(struct tool_set *set, struct str name)
{
	const struct listing_item *item = listing_find(&set->list, name);

	return item ? &set->checks[item - set->list.item] : NULL;
}

/* A set that is out of date is freed with the last call that uses it. */
static void leave_set(struct slot *s)
{
	if (s->set && !--s->set->users && s->set != s->batch->set)
		free_set(s->set);
	s->set = NULL;
	s->check = NULL;
}

/* ---- slots ---- */

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

/* ---- answers ---- */

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

static void write_error(struct slot *s, const char *kind, const char *message)
{
	struct jw w;

	s->batch->counts.errors++;
	jw_init(&w, out_of(s), false);
	jw_object(&w);
	jw_kv_object(&w, "error");
	jw_kv_cstr(&w, "kind", kind);
	jw_kv_cstr(&w, "message", message);
	jw_kv_int(&w, "line", (int64_t)s->number);
	jw_end(&w);
	jw_end(&w);
}

static int check_line_result(struct slot *s, struct str result, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct tool_findings found;

	(void)!tool_check_result(s->check, result, &arena, &found);
	return tool_say(&found,
			s->batch->t->strict ? TOOL_STRICT : TOOL_NO_CHECK, err);
}

static void write_result(struct slot *s, struct str result)
{
	struct batch *b = s->batch;
	struct mcp_tool_result r = {0};
	struct err err;

	err_clear(&err);
	if (mcp_read_tool_result(result, client_server(b->t->client)->revision,
				 &r, &err) < 0) {
		write_error(s, err_word(err.kind), err.msg);
	} else if (s->check && check_line_result(s, result, &err) < 0) {
		write_error(s, err_word(err.kind), err.msg);
	} else {
		b->counts.tool_errors += r.is_error;
		scrub_json(b->t->scrub, result, out_of(s));
		content_save_all(b->o->files, r.content, false);
		if (r.is_error)
			target_hint_content(b->t, r.content);
	}
	mcp_tool_result_release(&r);
}

static void write_answer(struct slot *s, const struct client_event *e)
{
	struct target_answer a = {
		.outcome =
			e->type == CLIENT_ERROR ? TARGET_ERROR : TARGET_FAILED,
		.line = s->number,
	};

	if (e->type == CLIENT_ERROR) {
		a.kind = "rpc_error";
		a.code = e->of->code;
		a.message = e->of->message;
		a.data = e->of->data;
	} else {
		a.kind = report_reason_name(e->reason);
		a.message = str_of(e->sentence);
	}
	s->batch->counts.errors++;
	target_write_error(s->batch->t, &a, out_of(s));
	if (e->type == CLIENT_ERROR)
		target_hint(s->batch->t, a.message);
}

static void on_answer(void *arg, const struct client_event *e)
{
	struct slot *s = arg;

	switch (e->type) {
	case CLIENT_RESULT:
		/* an answer takes one line: newlines between the tokens go */
		if (memchr(e->of->result.p, '\n', e->of->result.n)) {
			AUTO(buf_release)
			struct buf line = BUF_INIT(BUF_UNBOUNDED);

			scan_compact(e->of->result, &line);
			write_result(s, buf_str(&line));
		} else {
			write_result(s, e->of->result);
		}
		finish_slot(s);
		break;
	case CLIENT_ERROR:
	case CLIENT_FAILED:
		write_answer(s, e);
		finish_slot(s);
		break;
	default:
		break;
	}
}

/* ---- output ---- */

static int flush_out(struct batch *b, struct err *err)
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

/* Append a finished answer to the output; a long one is moved, not copied. */
static void gather(struct batch *b, struct buf *kept)
{
	struct buf empty = b->out;

	if (b->out.n) {
		buf_add_str(&b->out, buf_str(kept));
	} else if (kept->n) {
		b->out = *kept;
		*kept = empty;
	}
}

static int take_due(struct batch *b, struct err *err)
{
	while (b->first && b->first->done) {
		struct buf *kept = &b->first->out;

		if (b->out.n + kept->n > PORTION_BYTES && flush_out(b, err) < 0)
			return -1;
		gather(b, kept);
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
	if (flush_out(b, err) < 0)
		return -1;
	r = target_try_list(b->t, LISTING_TOOLS, &list, err);
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

/* ---- one line ---- */

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
	struct batch *b = s->batch;
	struct tool_findings found;
	char what[40];

	if (!b->set)
		return 0;
	s->check = find_check(b->set, tool);
	if (!s->check)
		return target_unknown(b->t, &b->set->list, tool.p, err);
	s->set = b->set;
	s->set->users++;
	snprintf(what, sizeof(what), "line %llu",
		 (unsigned long long)s->number);
	(void)!tool_check_arguments(s->check, arguments, what, &arena, &found);
	return tool_say(&found, b->o->rigour, err);
}

static int not_json(const struct slot *s, struct err *err)
{
	return err_set(err, ERR_SYNTAX, "line %llu is not JSON (column %u)",
		       (unsigned long long)s->number, (unsigned)err->col);
}

static int send_line(struct slot *s, struct str line, struct err *err)
{
	struct client_call call = {.on_event = on_answer, .arg = s};
	struct buf *name = &s->batch->tool;
	struct scan_members members;
	struct str value, tool;

	if (scan_members(line, &value, &members, err) < 0)
		return err->kind == ERR_SYNTAX ? not_json(s, err) : -1;
	if (read_members(value, &members, &tool, &call.params, err) < 0)
		return -1;
	buf_clear(name);
	scan_string(tool, name);
	if (check_line(s, buf_str(name), call.params, err) < 0)
		return -1;
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
	b->counts.lines++;
	err_clear(&err);
	if (b->too_long)
		err_set(&err, ERR_LIMIT, "the line exceeds %d bytes",
			LINE_BYTES);
	else if (send_line(s, line, &err) == 0)
		return;
	write_error(s, err_word(err.kind), err.msg);
	finish_slot(s);
}

/* ---- input ---- */

static bool has_room(const struct batch *b)
{
	return b->n_open < b->o->jobs && b->n_slots < b->o->jobs + AHEAD &&
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
		return err_sys(err, errno, "--batch: read %s", b->o->path);
	b->text.n += (size_t)r;
	b->ended = r == 0;
	return 0;
}

static void on_input(void *arg, uint32_t events)
{
	struct batch *b = arg;
	struct err err = ERR_INIT;

	(void)events;
	if (read_more(b, &err) < 0) {
		log_error("%s", err.msg);
		b->counts.errors++;
		b->ended = true;
	}
}

static int fill_slots(struct batch *b, struct err *err)
{
	while (has_room(b)) {
		if (refresh_tools(b, err) < 0)
			return -1;
		if (next_line(b))
			continue;
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

static bool is_over(const struct batch *b)
{
	if (b->n_slots)
		return false;
	return b->t->loop.signal ||
	       (b->ended && b->at == b->text.n && !b->too_long);
}

static bool can_go_on(const struct batch *b)
{
	if (!has_room(b))
		return false;
	if (b->is_file && !b->ended)
		return true;
	return b->at < b->text.n &&
	       (b->ended || memchr(b->text.p + b->at, '\n', b->text.n - b->at));
}

static int open_input(struct batch *b, struct err *err)
{
	struct stat st;

	b->fd = strcmp(b->o->path, "-")
			? fd_open(b->o->path, O_RDONLY, 0)
			: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (b->fd < 0 || fstat(b->fd, &st) < 0) {
		err_sys(err, errno, "--batch: open %s", b->o->path);
		err->kind = ERR_USAGE;
		return -1;
	}
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE, "--batch: %s is a folder",
			       b->o->path);
	/* epoll takes neither plain files nor /dev/null: they never wait */
	b->is_file = S_ISREG(st.st_mode) ||
		     loop_watch(&b->t->loop, &b->in, b->fd, EPOLLIN, on_input,
				b, err) < 0;
	return 0;
}

/* ---- the loop ---- */

/*
 * Look for an answer without waiting: on one processor a server has often
 * answered when the request is written. WAITS waits follow a look in vain;
 * LOOKS answers give all else its turn.
 */
static bool answered_at_once(struct batch *b)
{
	size_t open = b->n_open;

	if (b->waits) {
		b->waits--;
		return false;
	}
	if (!open || !b->looks) {
		b->looks = LOOKS;
		return false;
	}
	b->looks--;
	client_look(b->t->client);
	if (b->n_open == open)
		b->waits = WAITS;
	return b->n_open < open;
}

static int run_batch(struct batch *b, struct err *err)
{
	for (;;) {
		if (fill_slots(b, err) < 0 || take_due(b, err) < 0)
			return -1;
		if (is_over(b))
			return 0;
		/* printing made room for more calls */
		if (can_go_on(b) || answered_at_once(b))
			continue;
		if (flush_out(b, err) < 0 || loop_turn(&b->t->loop, err) < 0)
			return -1;
	}
}

/*
 * returns  0 when every line of the file has its answer
 * errors   ERR_USAGE, ERR_SYS  the file cannot be read, stdout not written
 */
static int call_batch(struct target *t, const struct batch_options *o,
		      struct batch_counts *ret, struct err *err)
{
	struct batch b = {
		.t = t,
		.o = o,
		.fd = -1,
		.in = {.fd = -1},
		.text = BUF_INIT(BUF_UNBOUNDED),
		.tool = BUF_INIT(BUF_UNBOUNDED),
		.out = BUF_INIT(BUF_UNBOUNDED),
	};
	struct err second = ERR_INIT;
	int r;

	b.last = &b.first;
	if (o->tools)
		b.set = make_set(o->tools);
	r = open_input(&b, err);
	if (r == 0)
		r = run_batch(&b, err);
	if (flush_out(&b, r < 0 ? &second : err) < 0)
		r = -1;
	/* calls that are open must not call back any more */
	if (r < 0)
		client_kill(t->client);
	if (b.in.fd >= 0)
		loop_unwatch(&t->loop, &b.in);
	while (b.first) {
		leave_set(b.first);
		drop_first(&b);
	}
	free(b.spare);
	free_set(b.set);
	buf_release(&b.text);
	buf_release(&b.tool);
	buf_release(&b.out);
	fd_closep(&b.fd);
	*ret = b.counts;
	return r;
}

/* ---- one call ---- */

const struct option options_call[] = {
	{"args", 0, "JSON|@FILE|-", "all arguments as one JSON object"},
	{"batch", 0, "FILE",
	 "call each line {\"tool\":…,\"arguments\":{…}}; - is standard input"},
	{"jobs", 'j', "N", "with --batch: calls in flight (1)"},
	{"strict", 0, NULL, "refuse arguments and results that break a schema"},
	{"no-list", 0, NULL, "do not ask for the list of tools first"},
	{"no-check", 0, NULL, "call even if a required argument is missing"},
	{"ignore-tool-error", 0, NULL,
	 "exit with status 0 even if the tool fails"},
	{"data", 0, NULL,
	 "print the structured result, or the JSON in its text"},
	{"raw", 0, NULL, "pass control characters to a terminal unchanged"},
	{"save", 0, "DIR", "write images and other bytes to files there"},
#include "core/cli/target_options.def"
	{0},
};

/* Most calls in flight of a batch. */
#define JOBS_MAX 1024

struct call {
	const struct args *args;
	struct target *t;
	enum tool_rigour rigour; /* for arguments */
	struct listing tools;
	bool has_tools; /* the list is whole */
	struct content_files files;
	struct tool_check check;
};

/* ---- before the call ---- */

static int list_tools(struct call *c, struct err *err)
{
	int r;

	if (args_has(c->args, "no-list"))
		return 0;
	r = target_try_list(c->t, LISTING_TOOLS, &c->tools, err);
	c->has_tools = r == 0;
	return r < 0 ? -1 : 0;
}

/* The tool's entry of tools/list; {NULL, 0} when tools are not listed. */
static int find_tool(struct call *c, const char *name, struct str *ret,
		     struct err *err)
{
	const struct listing_item *item = listing_find(&c->tools, str_of(name));

	*ret = item ? item->json : (struct str){NULL, 0};
	if (!item && c->has_tools)
		return target_unknown(c->t, &c->tools, name, err);
	return 0;
}

/* ---- the answer ---- */

/* The JSON in the only text of a result, decoded into the arena. */
static bool text_json(struct str content, struct arena *arena, struct str *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;
	struct scan_iter it;
	struct str v;

	scan_iter_init(&it, content);
	if (scan_count(content) != 1 || !scan_next(&it) ||
	    !scan_get(it.value, "text", &v) || !scan_string(v, &text))
		return false;
	return scan_document(arena_str(arena, buf_str(&text)), NULL, ret,
			     &ignored) == 0;
}

static int print_data(struct call *c, const struct mcp_tool_result *r,
		      struct err *err)
{
	struct str json;

	if (r->structured.p)
		json = r->structured;
	else if (!text_json(r->content, &c->t->arena, &json))
		return err_set(err, ERR_PEER,
			       "the result has no structured content, and its "
			       "text is not JSON");
	return target_put_json(c->t, json, err);
}

static int print_text(struct call *c, const struct mcp_tool_result *r,
		      struct err *err)
{
	bool raw = args_has(c->args, "raw");

	if (!scan_count(r->content) && r->structured.p)
		return target_put_json(c->t, r->structured, err);
	return content_print(c->t, r->content, raw, err);
}

static int print_result(struct call *c, struct str result,
			const struct mcp_tool_result *r, struct err *err)
{
	bool json = c->t->json;
	int got;

	content_save_all(&c->files, r->content, false);
	if (json)
		got = target_put_json(c->t, result, err);
	else if (args_has(c->args, "data") && !r->is_error)
		got = print_data(c, r, err);
	else
		got = print_text(c, r, err);
	if (got < 0)
		return -1;
	return content_files_report(&c->files, json, err);
}

static int check_result(struct call *c, struct str result, struct err *err)
{
	struct tool_findings found;

	(void)!tool_check_result(&c->check, result, &c->t->arena, &found);
	return tool_say(&found, c->t->strict ? TOOL_STRICT : TOOL_NO_CHECK,
			err);
}

static int finish_one(struct call *c, struct str result, struct err *err)
{
	struct mcp_tool_result r = {0};
	int status;

	if (mcp_read_tool_result(result, client_server(c->t->client)->revision,
				 &r, err) < 0)
		status = -1;
	else if (print_result(c, result, &r, err) < 0)
		status = -1;
	else if (check_result(c, result, err) < 0)
		status = -1;
	else if (r.is_error && !args_has(c->args, "ignore-tool-error"))
		status = 2;
	else
		status = c->files.failed;
	if (status == 2)
		log_note("the tool reported an error");
	if (status >= 0 && r.is_error)
		target_hint_content(c->t, r.content);
	/* stdout already holds the result: no second document behind it */
	if (status < 0 && c->t->json && err->kind == ERR_SYNTAX)
		cli_json_errors = false;
	mcp_tool_result_release(&r);
	return status;
}

/* Arguments from the command line, checked by the schema of the tool. */
static int prepare_call(struct call *c, struct client_call *ret_call,
			struct err *err)
{
	char **words = c->args->positional;
	struct tool_findings found;
	struct str tool;

	if (find_tool(c, words[0], &tool, err) < 0)
		return -1;
	tool_check_init(&c->check, tool);
	if (tool_args_read(words + 1, c->args->n_positional - 1,
			   args_get(c->args, "args"),
			   tool.p ? tool_input_schema(tool) : tool,
			   &c->t->arena, &ret_call->params, err) < 0)
		return -1;
	(void)!tool_check_arguments(&c->check, ret_call->params, "arguments",
				    &c->t->arena, &found);
	ret_call->as_task = tool.p && tool_needs_task(tool);
	return tool_say(&found, c->rigour, err);
}

static int call_one(struct call *c, struct err *err)
{
	char **words = c->args->positional;
	struct client_call call = {.tool = words[0]};
	struct str result;

	if (prepare_call(c, &call, err) < 0)
		return -1;
	if (target_result(c->t, &call, words[0], &c->t->arena, &result, err) <
	    0)
		return -1;
	return finish_one(c, result, err);
}

/* ---- many ---- */

static int call_many(struct call *c, struct err *err)
{
	struct batch_options o = {
		.path = args_get(c->args, "batch"),
		.jobs = 1,
		.rigour = c->rigour,
		.tools = c->has_tools ? &c->tools : NULL,
		.files = &c->files,
	};
	struct batch_counts counts;

	if (args_count(c->args, "jobs", JOBS_MAX, &o.jobs, err) < 0 ||
	    call_batch(c->t, &o, &counts, err) < 0)
		return -1;
	if (content_files_report(&c->files, true, err) < 0)
		return -1;
	log_debug("%llu calls, %llu tool errors, %llu errors",
		  (unsigned long long)counts.lines,
		  (unsigned long long)counts.tool_errors,
		  (unsigned long long)counts.errors);
	if (!counts.lines && !counts.errors)
		log_note("%s holds no calls",
			 strcmp(o.path, "-") ? o.path : "standard input");
	if (counts.errors || c->files.failed)
		return 1;
	return counts.tool_errors && !args_has(c->args, "ignore-tool-error")
		       ? 2
		       : 0;
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

static enum tool_rigour rigour_of(const struct call *c)
{
	if (args_has(c->args, "no-check"))
		return TOOL_NO_CHECK;
	return c->t->strict ? TOOL_STRICT : TOOL_CHECK;
}

static int work(struct call *c, struct err *err)
{
	c->rigour = rigour_of(c);
	c->files.max = c->t->session.message_max ? c->t->session.message_max
						 : LIMIT_MESSAGE_BYTES;
	if (list_tools(c, err) < 0)
		return -1;
	return args_has(c->args, "batch") ? call_many(c, err)
					  : call_one(c, err);
}

int cmd_call(const struct args *args, struct err *err)
{
	struct target t;
	struct call c = {.args = args, .t = &t, .files = CONTENT_FILES_INIT};
	int status;

	if (check_usage(args, err) < 0 ||
	    content_files_open(&c.files, args_get(args, "save"), err) < 0)
		return -1;
	listing_init(&c.tools, LISTING_TOOLS);
	status = target_open(&t, args, err);
	if (status == 0)
		status = content_files_check(&c.files, &t, err);
	if (status == 0)
		status = work(&c, err);
	listing_release(&c.tools);
	tool_check_release(&c.check);
	content_files_release(&c.files);
	return target_close(&t, status, err);
}
