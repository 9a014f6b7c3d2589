#include "core/cli/call_batch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/cli/list_show.h"
#include "core/cli/tool_check.h"

#define PORTION_BYTES 65536
/* One line of the file. */
#define LINE_BYTES (16 * 1024 * 1024)
/* Answers that are kept until it is their turn, beside those in flight. */
#define AHEAD 64

/* One line, from when it is read to when its answer is printed. */
struct slot {
	struct batch *batch;
	struct slot *next;
	uint64_t number; /* of the line */
	const struct listing_item *tool;
	bool done;
	struct buf out; /* the answer, without newline; owned */
};

struct batch {
	struct target *t;
	const struct batch_options *o;
	struct batch_counts counts;
	int fd;
	bool is_file;  /* reading it never waits */
	bool ended;    /* all of it was read */
	bool too_long; /* the line is over LINE_BYTES: skip to its end */
	struct loop_watch in;
	struct buf text; /* read and not yet used */
	size_t at;	 /* of it, where the next line begins */
	uint64_t number;
	struct slot *first, **last; /* in order; owned */
	size_t n_slots, n_open;
	struct tool_check *checks; /* of each tool; owned */
};

/* ---- answers ---- */

static void finish(struct slot *s)
{
	s->done = true;
	s->batch->n_open--;
}

static void write_error(struct slot *s, const char *kind, const char *message)
{
	struct jw w;

	s->batch->counts.errors++;
	jw_init(&w, &s->out, false);
	jw_object(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_kv_cstr(&w, "kind", kind);
	jw_kv_cstr(&w, "message", message);
	jw_kv_int(&w, "line", (int64_t)s->number);
	jw_end(&w);
	jw_end(&w);
}

static void write_result(struct slot *s, struct str result)
{
	struct batch *b = s->batch;
	struct mcp_tool_result r = {0};
	struct err err = ERR_INIT;
	bool known = s->tool != NULL;

	if (mcp_read_tool_result(result, client_server(b->t->client)->revision,
				 &r, &err) < 0) {
		write_error(s, "not_call_tool_result", err.msg);
	} else if (known &&
		   tool_check_result(&b->checks[s->tool - b->o->tools->item],
				     result, &err) < 0) {
		write_error(s, err_word(err.kind), err.msg);
	} else {
		b->counts.tool_errors += r.is_error;
		scrub_json(b->t->scrub, result, &s->out);
		content_save_all(b->o->files, r.content, false);
	}
	mcp_tool_result_release(&r);
}

static void write_answer(struct slot *s, const struct client_event *e)
{
	struct target_answer a = {
		.outcome =
			e->type == CLIENT_ERROR ? TARGET_ERROR : TARGET_FAILED,
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
	target_write_error(s->batch->t, &a, &s->out);
}

static void on_answer(void *arg, const struct client_event *e)
{
	struct slot *s = arg;

	switch (e->type) {
	case CLIENT_RESULT:
		/* one line, as it came but for white space between */
		if (memchr(e->of->result.p, '\n', e->of->result.n)) {
			AUTO(buf_release)
			struct buf line = BUF_INIT(BUF_UNBOUNDED);

			scan_compact(e->of->result, &line);
			write_result(s, buf_str(&line));
		} else {
			write_result(s, e->of->result);
		}
		finish(s);
		break;
	case CLIENT_ERROR:
	case CLIENT_FAILED:
		write_answer(s, e);
		finish(s);
		break;
	default:
		break;
	}
}

/* What is due is printed, and forgotten. */
static int print_due(struct batch *b, struct err *err)
{
	while (b->first && b->first->done) {
		struct slot *s = b->first;
		int r;

		buf_addc(&s->out, '\n');
		live_clear(&b->t->live);
		r = target_write(buf_str(&s->out), err);
		b->first = s->next;
		if (!b->first)
			b->last = &b->first;
		b->n_slots--;
		buf_release(&s->out);
		free(s);
		if (r < 0)
			return -1;
	}
	return 0;
}

/* ---- one line ---- */

static int read_members(struct str line, struct str *tool,
			struct str *arguments, struct err *err)
{
	static const char *const names[] = {"tool", "arguments"};
	struct scan_iter it;

	*tool = *arguments = (struct str){NULL, 0};
	if (scan_type(line) != SCAN_OBJECT)
		return err_set(
			err, ERR_SYNTAX,
			"it is no object {\"tool\":…,\"arguments\":{…}}");
	scan_iter_init(&it, line);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
		const char *near;

		scan_string(it.key, &key);
		if (str_is(buf_str(&key), "tool")) {
			*tool = it.value;
			continue;
		}
		if (str_is(buf_str(&key), "arguments")) {
			*arguments = it.value;
			continue;
		}
		near = str_nearest(buf_str(&key), names, ARRAY_LEN(names));
		return err_set(err, ERR_SYNTAX,
			       "it has a member \"%s\"; %s%s%s", buf_cstr(&key),
			       near ? "did you mean \"" : "there are ",
			       near ? near : "\"tool\" and \"arguments",
			       near ? "\"?" : "\"");
	}
	if (!tool->p || scan_type(*tool) != SCAN_STRING)
		return err_set(err, ERR_SYNTAX,
			       "\"tool\" is missing, or no string");
	if (arguments->p && scan_type(*arguments) == SCAN_NULL)
		*arguments = (struct str){NULL, 0};
	if (arguments->p && scan_type(*arguments) != SCAN_OBJECT)
		return err_set(err, ERR_SYNTAX, "\"arguments\" is no object");
	return 0;
}

/* tool  ends in NUL */
static int check_line(struct slot *s, struct str tool, struct str arguments,
		      struct err *err)
{
	struct batch *b = s->batch;
	char what[40];

	if (!b->o->tools)
		return 0;
	s->tool = listing_find(b->o->tools, tool);
	if (!s->tool)
		return list_unknown(b->t, b->o->tools, "tool", tool.p, err);
	snprintf(what, sizeof(what), "line %llu",
		 (unsigned long long)s->number);
	return tool_check_arguments(&b->checks[s->tool - b->o->tools->item],
				    arguments, what, err);
}

/* The line is known, and is not the first one that the text speaks of. */
static int not_json(struct err *err)
{
	return err_set(err, ERR_SYNTAX, "it is no JSON from column %u on",
		       (unsigned)err->col);
}

static int send_line(struct slot *s, struct str line, struct err *err)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct client_call call = {.on_event = on_answer, .arg = s};
	struct str value, tool;

	if (scan_document(line, NULL, &value, err) < 0)
		return err->kind == ERR_SYNTAX ? not_json(err) : -1;
	if (read_members(value, &tool, &call.params, err) < 0)
		return -1;
	scan_string(tool, &name);
	if (check_line(s, buf_str(&name), call.params, err) < 0)
		return -1;
	call.tool = buf_cstr(&name);
	call.as_task = s->tool && tool_needs_task(s->tool->json);
	return client_call(s->batch->t->client, &call, NULL, err);
}

static void take_line(struct batch *b, struct str line)
{
	struct slot *s;
	struct err err = ERR_INIT;

	b->number++;
	if (!str_trim(line).n && !b->too_long)
		return;
	s = mem_zalloc(sizeof(*s));
	s->batch = b;
	s->number = b->number;
	s->out = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	*b->last = s;
	b->last = &s->next;
	b->counts.lines++;
	b->n_slots++;
	b->n_open++;
	if (b->too_long)
		err_set(&err, ERR_LIMIT, "it is over %d bytes", LINE_BYTES);
	else if (send_line(s, line, &err) == 0)
		return;
	write_error(s, err_word(err.kind), err.msg);
	finish(s);
}

/* ---- reading ---- */

static bool has_room(const struct batch *b)
{
	return b->n_open < b->o->jobs && b->n_slots < b->o->jobs + AHEAD &&
	       !b->t->loop.signal;
}

/* False: there is no whole line. */
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

/* Lines become calls while there is room. */
static int fill(struct batch *b, struct err *err)
{
	while (has_room(b)) {
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

/* There is something to do that needs no event. */
static bool can_go_on(const struct batch *b)
{
	if (!has_room(b))
		return false;
	if (b->is_file && !b->ended)
		return true;
	return b->at < b->text.n &&
	       (b->ended || memchr(b->text.p + b->at, '\n', b->text.n - b->at));
}

static int run(struct batch *b, struct err *err)
{
	for (;;) {
		if (fill(b, err) < 0 || print_due(b, err) < 0)
			return -1;
		if (is_over(b))
			return 0;
		/* printing made room */
		if (can_go_on(b))
			continue;
		if (loop_turn(&b->t->loop, err) < 0)
			return -1;
	}
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

int call_batch(struct target *t, const struct batch_options *o,
	       struct batch_counts *ret, struct err *err)
{
	struct batch b = {
		.t = t,
		.o = o,
		.fd = -1,
		.in = {.fd = -1},
		.text = BUF_INIT(BUF_UNBOUNDED),
	};
	int r;

	b.last = &b.first;
	if (o->tools) {
		b.checks = mem_zalloc((o->tools->n + 1) * sizeof(*b.checks));
		for (size_t i = 0; i < o->tools->n; i++)
			tool_check_init(&b.checks[i], o->tools->item[i].json,
					o->strict);
	}
	r = open_input(&b, err);
	if (r == 0)
		r = run(&b, err);
	/* calls that are open must not call back any more */
	if (r < 0)
		client_kill(t->client);
	if (b.in.fd >= 0)
		loop_unwatch(&t->loop, &b.in);
	while (b.first) {
		struct slot *s = b.first;

		b.first = s->next;
		buf_release(&s->out);
		free(s);
	}
	for (size_t i = 0; b.checks && i < o->tools->n; i++)
		tool_check_release(&b.checks[i]);
	free(b.checks);
	buf_release(&b.text);
	fd_closep(&b.fd);
	*ret = b.counts;
	return r;
}
