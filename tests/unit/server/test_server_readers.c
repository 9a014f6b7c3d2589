/* Whom messages of a server go to, where each request has a reader of its own
   (HTTP), and readers leave. */
#include "tests/unit/test.h"

#include "core/server/server.h"

struct readers {
	struct server_session s;
	struct server_call *open; /* waits for its answer */
	struct buf log;		  /* "READER: message" each; "-": no reader */
};

static void on_wait(struct server_call *c)
{
	struct readers *r = c->s->arg;

	r->open = c;
}

static const struct server_method wait_methods[] = {
	{"wait", SERVER_ALWAYS, on_wait},
	{0},
};

static const struct server_info waiting = {.name = "test",
					   .version = "1",
					   .instructions = "",
					   .capabilities = "{}",
					   .methods = wait_methods};

static void note(void *arg, const struct server_call *c, struct str message,
		 UNUSED enum server_kind kind)
{
	struct readers *r = arg;

	buf_addf(&r->log, "%s: %.*s\n", c && c->to ? (const char *)c->to : "-",
		 STR_ARG(str_trim(message)));
}

static void open_readers(struct readers *r)
{
	*r = (struct readers){.log = BUF_INIT(BUF_UNBOUNDED)};
	server_init(&r->s, &waiting, r, note, r);
	server_message(&r->s,
		       STR("{\"jsonrpc\":\"2.0\",\"id\":0,"
			   "\"method\":\"initialize\",\"params\":{"
			   "\"protocolVersion\":\"2025-03-26\","
			   "\"capabilities\":{},\"clientInfo\":{"
			   "\"name\":\"c\",\"version\":\"1\"}}}"),
		       NULL);
	buf_clear(&r->log);
}

static void tell(struct readers *r, const char *reader, struct str message)
{
	server_message(&r->s, message, (void *)reader);
}

static void answer(struct readers *r)
{
	(void)!server_begin(r->open);
	server_finish(r->open, false);
}

static void ends(struct readers *r, const char *want)
{
	assert_string_equal(buf_cstr(&r->log), want);
	server_release(&r->s);
	buf_release(&r->log);
}

#define WAIT "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"wait\"}"
#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}"
#define CANCEL                                                         \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"," \
	"\"params\":{\"requestId\":7}}"

TEST(readers, a_batch_without_requests, ends_without_an_answer)
{
	struct readers r;

	open_readers(&r);
	tell(&r, "one", STR("[" NOTE "," NOTE "]"));
	ends(&r, "one: \n");
}

TEST(readers, a_batch, is_answered_where_it_was_asked)
{
	struct readers r;

	open_readers(&r);
	tell(&r, "one", STR("[" WAIT "," NOTE "]"));
	tell(&r, "two", STR("[" NOTE "]"));
	answer(&r);
	ends(&r,
	     "two: \none: [{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}]\n");
}

TEST(readers, a_batch_whose_reader_left, is_answered_nowhere)
{
	struct readers r;

	open_readers(&r);
	tell(&r, "one", STR("[" WAIT "]"));
	server_drop(&r.s, "one");
	answer(&r);
	ends(&r, "-: [{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}]\n");
}

TEST(readers, a_call_that_another_request_cancels, ends_for_its_reader)
{
	struct readers r;

	open_readers(&r);
	tell(&r, "one", STR(WAIT));
	tell(&r, "two", STR(CANCEL));
	ends(&r, "one: \n");
}

TEST(readers, a_batch_that_is_cancelled, ends_for_its_reader)
{
	struct readers r;

	open_readers(&r);
	tell(&r, "one", STR("[" WAIT "]"));
	tell(&r, "two", STR(CANCEL));
	ends(&r, "one: \n");
}

/* ---- questions ---- */

static void on_reply(UNUSED void *arg, UNUSED const struct server_reply *r)
{
}

TEST(readers, an_answer_with_an_open_question, is_the_last_message)
{
	struct readers r;

	open_readers(&r);
	r.s.can.sampling = true;
	tell(&r, "one", STR(WAIT));
	assert_non_null(server_ask(r.open, "sampling/createMessage", STR("{}"),
				   on_reply, NULL));
	buf_clear(&r.log);
	answer(&r);
	ends(&r, "one: {\"jsonrpc\":\"2.0\",\"method\":"
		 "\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
		 "one: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
}

TEST(readers, a_cancelled_call_with_an_open_question, ends_for_its_reader)
{
	struct readers r;

	open_readers(&r);
	r.s.can.sampling = true;
	tell(&r, "one", STR(WAIT));
	assert_non_null(server_ask(r.open, "sampling/createMessage", STR("{}"),
				   on_reply, NULL));
	buf_clear(&r.log);
	tell(&r, "two", STR(CANCEL));
	ends(&r, "one: {\"jsonrpc\":\"2.0\",\"method\":"
		 "\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
		 "one: \n");
}

#define ALONE                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"wait\",\"params\":{"  \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"         \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{" \
	"\"sampling\":{}}}}}"

/* Ask within a call that is open, which waits for input from then on. */
static struct server_question *park(struct server_call *c)
{
	struct server_question *q = server_ask(c, "sampling/createMessage",
					       STR("{}"), on_reply, NULL);

	server_put(c);
	return q;
}

TEST(readers, the_oldest_call_asks_last, keeps_its_question)
{
	struct server_call *first;
	struct readers r;

	open_readers(&r);
	r.s.is_shared = true;
	tell(&r, "one", STR(ALONE));
	first = r.open;
	for (size_t i = 0; i < SERVER_PARKED_MAX; i++) {
		tell(&r, "two", STR(ALONE));
		assert_non_null(park(r.open));
	}
	assert_int_equal(r.s.n_calls, SERVER_PARKED_MAX + 1);
	buf_clear(&r.log);
	assert_non_null(park(first));
	assert_non_null(first->questions);
	assert_int_equal(r.s.n_calls, SERVER_PARKED_MAX);
	assert_non_null(strstr(buf_cstr(&r.log), first->state));
	server_release(&r.s);
	buf_release(&r.log);
}

TEST(readers, a_call_whose_input_nobody_brings, is_given_up)
{
	struct readers r;

	open_readers(&r);
	r.s.is_shared = true;
	tell(&r, "one", STR(ALONE));
	assert_non_null(park(r.open));
	tell(&r, "two", STR(ALONE));
	server_forget(&r.s, 100, 50);
	server_forget(&r.s, 150, 50);
	assert_int_equal(r.s.n_calls, 2);
	server_forget(&r.s, 151, 50);
	assert_int_equal(r.s.n_calls, 1);
	/* the other has only just begun to wait */
	assert_non_null(park(r.open));
	server_forget(&r.s, 190, 50);
	assert_int_equal(r.s.n_calls, 1);
	server_release(&r.s);
	buf_release(&r.log);
}

/* Answer a call of the newer era, which declares nothing, as a server did. */
static void pass(struct readers *r, const char *result, bool is_read)
{
	buf_clear(&r->log);
	tell(r, "a",
	     STR("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"wait\","
		 "\"params\":{\"_meta\":{"
		 "\"io.modelcontextprotocol/protocolVersion\":"
		 "\"2026-07-28\","
		 "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"c\","
		 "\"version\":\"1\"},"
		 "\"io.modelcontextprotocol/clientCapabilities\":{}}}}"));
	assert_non_null(r->open);
	server_pass(r->open, str_of(result), is_read);
	r->open = NULL;
}

TEST(readers, result_of_an_older_server, says_how_long_it_is_good_if_read)
{
	struct readers r;

	open_readers(&r);
	pass(&r, "{\"contents\":[]}", true);
	assert_non_null(strstr(buf_cstr(&r.log), "\"ttlMs\":0,\"cacheScope\":"
						 "\"private\""));
	pass(&r, "{\"content\":[]}", false);
	assert_null(strstr(buf_cstr(&r.log), "ttlMs"));
	pass(&r, "{\"contents\":[],\"ttlMs\":5}", true);
	assert_null(strstr(buf_cstr(&r.log), "\"ttlMs\":0"));
	server_release(&r.s);
	buf_release(&r.log);
}

TEST(readers, questions_of_a_server, that_are_none_end_nothing)
{
	static const char *const passed[] = {
		"{\"resultType\":\"input_required\",\"requestState\":\"x\"}",
		"{\"resultType\":\"input_required\",\"inputRequests\":null}",
		"{\"resultType\":\"input_required\",\"inputRequests\":{}}",
	};
	static const char *const refused[] = {
		"{\"resultType\":\"input_required\",\"inputRequests\":["
		"{\"method\":\"roots/list\"}]}",
		"{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{}"
		"}}",
		"{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
		"\"method\":\"roots/list\"}}}",
	};
	struct readers r;

	open_readers(&r);
	for (size_t i = 0; i < ARRAY_LEN(passed); i++) {
		pass(&r, passed[i], false);
		assert_non_null(strstr(buf_cstr(&r.log), "input_required"));
	}
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		pass(&r, refused[i], false);
		assert_non_null(strstr(buf_cstr(&r.log), "not declare"));
	}
	server_release(&r.s);
	buf_release(&r.log);
}
