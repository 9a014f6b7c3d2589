/*
 * A client and a server that is a transcript, in tests/unit/client/transcripts:
 *
 *	> {"method":...		a message that is sent; its method counts
 *	< {"jsonrpc":...	a line of the server, behind all before it
 *	WORDS			a row of `commands`, carried out in order
 *	! WORDS			an event, or how a command went
 */
#include "tests/unit/test.h"

#include "core/base/mem.h"
#include "core/client/client.h"
#include "tests/unit/client/replay.h"
#include "tests/unit/transcript.h"

struct world {
	struct loop loop;
	struct client_context ctx;
	struct transport *transport;
	struct client *client;
	struct buf sides;	/* the lines of both sides */
	struct buf got;		/* lines of the transcript, as it went */
	uint64_t call, list[2]; /* tickets given last */
	unsigned lists;		/* that were told */
};

static void on_event(void *arg, const struct client_event *e)
{
	static const char *const words[] = {
#define CLIENT_EVENT(name, word) word,
		CLIENT_EVENTS(CLIENT_EVENT)
#undef CLIENT_EVENT
	};
	struct world *w = arg;

	buf_addf(&w->got, "! %s", words[e->type]);
	if (e->type == CLIENT_RESULT)
		buf_addf(&w->got, " %.*s", STR_ARG(e->of->result));
	if (e->type == CLIENT_FAILED)
		buf_addf(&w->got, " %s: %s", report_reason_name(e->reason),
			 e->sentence);
	buf_addc(&w->got, '\n');
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct world *w = arg;

	w->lists++;
	if (l->type == CLIENT_RESULT)
		buf_addf(&w->got, "! list of %zu%s\n", l->list->n,
			 l->is_known ? ", known" : "");
	else if (l->type == CLIENT_ERROR)
		buf_addf(&w->got, "! list: error %lld\n",
			 (long long)l->event->of->code);
	else
		buf_addf(&w->got, "! list: %s\n",
			 report_reason_name(l->event->reason));
}

static void end(struct world *w)
{
	if (!w->client)
		return;
	/* it ends with the server */
	if (!client_is_over(w->client))
		assert_string_equal(transport_replay_difference(w->transport),
				    "");
	client_free(w->client);
	loop_release(&w->loop);
}

/* new 2025-11-25 sampling: another client, which offers that */
static void run_new(struct world *w, const char *arg)
{
	const struct client_options o = {
		.name = "t",
		.session = {.protocol = strstr(arg, "2026-07-28")
						? "2026-07-28"
						: "2025-11-25",
			    .declared.sampling = strstr(arg, "sampling")},
		.watches_lists = true,
		.on_event = on_event,
		.arg = w,
	};
	struct err err = ERR_INIT;

	end(w);
	w->lists = 0;
	assert_int_equal(loop_init(&w->loop, clock_system(), &err), 0);
	w->ctx.loop = &w->loop;
	assert_int_equal(
		transport_replay(buf_str(&w->sides), &w->transport, &err), 0);
	w->client = client_new_over(&w->ctx, &o, w->transport);
	assert_int_equal(client_start(w->client, &err), 0);
}

/* until WHAT: ready, answered (no call is open), finished, over, stale; until
   so many calls are open, or "N lists" told */
static void run_until(struct world *w, const char *arg)
{
	struct err err = ERR_INIT;
	int r = 0;

	if (!strcmp(arg, "ready"))
		r = client_wait_ready(w->client, &err);
	else if (!strcmp(arg, "answered"))
		r = client_wait(w->client, &err);
	else if (!strcmp(arg, "finished"))
		r = client_finish(w->client, &err);
	else if (!strcmp(arg, "stale"))
		while (!client_list_is_stale(w->client, LISTING_TOOLS))
			client_look(w->client);
	else if (!strcmp(arg, "over"))
		while (!client_is_over(w->client))
			r |= loop_turn(&w->loop, &err);
	else if (str_ends(str_of(arg), " lists"))
		while (w->lists < strtoul(arg, NULL, 10))
			r |= loop_turn(&w->loop, &err);
	else
		while (client_open_calls(w->client) > strtoul(arg, NULL, 10))
			r |= loop_turn(&w->loop, &err);
	assert_int_equal(r, 0);
}

static void make_call(struct world *w, struct client_call call)
{
	struct err err = ERR_INIT;

	call.on_event = on_event;
	call.arg = w;
	if (client_call(w->client, &call, &w->call, &err) == 0)
		return;
	assert_int_equal(err.kind, ERR_SYNTAX);
	buf_addf(&w->got, "! %s\n", err.msg);
}

static void run_call(struct world *w, const char *arg)
{
	make_call(w, (struct client_call){.tool = arg});
}

static void run_task(struct world *w, const char *arg)
{
	make_call(w, (struct client_call){.tool = arg, .as_task = true});
}

/* request [PARAMS]: of tools/list; without params in 20 ms */
static void run_request(struct world *w, const char *arg)
{
	make_call(w, (struct client_call){.method = "tools/list",
					  .params = str_of(arg),
					  .timeout_ms = *arg ? 0 : 20});
}

static void run_list(struct world *w, const char *arg)
{
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.anew = !strcmp(arg, "anew"),
		.done = on_list,
		.arg = w,
	};
	struct err err = ERR_INIT;

	w->list[0] = w->list[1];
	assert_int_equal(client_list(w->client, &list, &w->list[1], &err), 0);
}

/* unlist 0: the list before the last; 1: the last */
static void run_unlist(struct world *w, const char *arg)
{
	client_unlist(w->client, w->list[*arg - '0']);
}

static void run_take(struct world *w, UNUSED const char *arg)
{
	struct listing mine;

	client_take_list(w->client, LISTING_TOOLS, &mine);
	buf_addf(&w->got, "! took %zu\n", mine.n);
	listing_release(&mine);
}

static void run_cancel(struct world *w, const char *arg)
{
	client_cancel(w->client, w->call, REASON_CANCELLED, arg);
}

static void run_stop(struct world *w, const char *arg)
{
	client_stop(w->client, arg, CLIENT_GRACE_STOPPED_MS);
}

static void run_kill(struct world *w, UNUSED const char *arg)
{
	client_kill(w->client);
}

static void run_terminate(struct world *w, UNUSED const char *arg)
{
	client_terminate(w->client);
}

/* state: a line of what can be asked of a client */
static void run_state(struct world *w, UNUSED const char *arg)
{
	const struct client *c = w->client;

	buf_addf(&w->got, "!%s%s%s, %zu calls%s%s%s%s\n",
		 client_is_ready(c) ? " ready" : "",
		 client_is_open(c) ? " open" : "",
		 client_is_over(c) ? " over" : "", client_open_calls(c),
		 client_list_is_stale(c, LISTING_TOOLS) ? ", stale" : "",
		 client_offers(c, "tools") ? ", has tools" : "",
		 client_failure(c) ? ", failed by " : "",
		 report_reason_name(client_failure(c)));
}

static const struct transcript_command commands[] = {
	{"new", run_new},	  {"until", run_until},
	{"call", run_call},	  {"task", run_task},
	{"request", run_request}, {"list", run_list},
	{"unlist", run_unlist},	  {"take", run_take},
	{"cancel", run_cancel},	  {"stop", run_stop},
	{"kill", run_kill},	  {"terminate", run_terminate},
	{"state", run_state},
};

static void play(const char *file, const char *name, const char *text)
{
	struct world w = {.sides = BUF_INIT(BUF_UNBOUNDED),
			  .got = BUF_INIT(BUF_UNBOUNDED)};
	AUTO(mem_freep) char *lines = mem_strdup(text);
	char *left = NULL;

	for (char *line = strtok_r(lines, "\n", &left); line;
	     line = strtok_r(NULL, "\n", &left)) {
		if (*line == '!')
			continue;
		buf_addf(&w.got, "%s\n", line);
		if (*line == '<' || *line == '>')
			buf_addf(&w.sides, "%s\n", line);
		else if (*line != '#')
			transcript_run(commands, ARRAY_LEN(commands), &w, line);
		if (!strncmp(line, "new ", 4))
			buf_clear(&w.sides);
	}
	end(&w);
	if (strstr(text, "\n\n"))
		buf_addc(&w.got, '\n');
	transcript_accept(file, name, buf_cstr(&w.got));
	transcript_compare(text, buf_cstr(&w.got));
	buf_release(&w.sides);
	buf_release(&w.got);
}

/* ---- a transport of whole messages that loses them ---- */

struct lossy {
	struct transport base; /* first */
	const struct transport_item *item;
	size_t n;
	int readable; /* eventfd; owned */
	bool is_held; /* the items behind the first wait */
};

static int lossy_in_fd(const struct transport *t)
{
	return ((const struct lossy *)t)->readable;
}

static ssize_t lossy_send(UNUSED struct transport *t, struct str bytes)
{
	return (ssize_t)bytes.n;
}

static void lossy_end(UNUSED struct transport *t)
{
}

static void lossy_free(struct transport *t)
{
	fd_closep(&((struct lossy *)t)->readable);
}

static void lossy_next(struct transport *t, struct transport_item *ret)
{
	struct lossy *l = (struct lossy *)t;

	*ret = (struct transport_item){.type = TRANSPORT_NONE};
	if (!l->n || l->is_held)
		return;
	*ret = *l->item++;
	l->is_held = --l->n == 2;
}

static void note_unsent(void *arg, const struct client_event *e)
{
	if (e->type == CLIENT_FAILED)
		buf_adds(arg, e->is_unsent ? "unsent;" : "sent;");
}

FIXTURE(none, NULL, NULL);

/* A loss says nothing of requests that are lost later, for another reason. */
TEST(client, loss, is_of_one_request)
{
	static const struct transport_type type = {
		.name = "lossy",
		.in_fd = lossy_in_fd,
		.send = lossy_send,
		.end_output = lossy_end,
		.next = lossy_next,
		.free = lossy_free,
	};
	const struct transport_item items[] = {
		{.type = TRANSPORT_MESSAGE,
		 .message = STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
				"\"protocolVersion\":\"2025-11-25\","
				"\"capabilities\":{\"tools\":{}},"
				"\"serverInfo\":{\"name\":\"s\","
				"\"version\":\"1\"}}}")},
		{.type = TRANSPORT_LOST, .id = STR("2"), .err = {.msg = "no"}},
		{.type = TRANSPORT_OVER},
	};
	AUTO(buf_release) struct buf got = BUF_INIT(BUF_UNBOUNDED);
	struct lossy l = {{&type}, items, ARRAY_LEN(items), eventfd(1, 0), 0};
	struct client_call call = {
		.tool = "t", .on_event = note_unsent, .arg = &got};
	const struct client_options o = {.name = "t",
					 .session.protocol = "2025-11-25"};
	struct client_context ctx = {.loop = NULL};
	struct err err = ERR_INIT;
	struct loop loop;
	struct client *c;

	assert_int_equal(loop_init(&loop, clock_system(), &err), 0);
	ctx.loop = &loop;
	c = client_new_over(&ctx, &o, &l.base);
	assert_int_equal(client_start(c, &err), 0);
	assert_int_equal(client_wait_ready(c, &err), 0);
	assert_int_equal(client_call(c, &call, NULL, &err), 0);
	assert_int_equal(client_call(c, &call, NULL, &err), 0);
	l.is_held = false;
	assert_int_equal(client_wait(c, &err), 0);
	assert_string_equal(buf_cstr(&got), "unsent;sent;");
	client_free(c);
	loop_release(&loop);
}

TEST_SCRIPTS(none, play, "tests/unit/client/transcripts/*.transcript");
