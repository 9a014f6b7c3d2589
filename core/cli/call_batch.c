#include "core/cli/call_batch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/cli/put.h"
#include "core/cli/tool_say.h"

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

static int check_result(struct slot *s, struct str result, struct err *err)
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
	} else if (s->check && check_result(s, result, &err) < 0) {
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

		if (b->out.n + kept->n > PORTION_BYTES && flush(b, err) < 0)
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
	if (flush(b, err) < 0)
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

static int fill(struct batch *b, struct err *err)
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

static int run(struct batch *b, struct err *err)
{
	for (;;) {
		if (fill(b, err) < 0 || take_due(b, err) < 0)
			return -1;
		if (is_over(b))
			return 0;
		/* printing made room for more calls */
		if (can_go_on(b) || answered_at_once(b))
			continue;
		if (flush(b, err) < 0 || loop_turn(&b->t->loop, err) < 0)
			return -1;
	}
}

int call_batch(struct target *t, const struct batch_options *o,
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
		r = run(&b, err);
	if (flush(&b, r < 0 ? &second : err) < 0)
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
