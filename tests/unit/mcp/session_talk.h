/*
 * One conversation with a session, for tests: what the server says, what
 * happens and what is sent. What the server says comes whole or byte by byte.
 */
#ifndef TESTS_UNIT_SESSION_TALK_H
#define TESTS_UNIT_SESSION_TALK_H

#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/mcp/session/session.h"
#include "tests/unit/mcp/session_log.h"

#define SECOND NS_PER_S
#define START (100 * SECOND)
#define META "io.modelcontextprotocol/"
#define ARGS "{\"a\":1}"
#define RESULT "{\"content\":[]}"

#define ANSWER(id, result) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}\n"
#define DISCOVERED                                                            \
	"{\"supportedVersions\":[\"2025-11-25\",\"2026-07-28\"],"             \
	"\"capabilities\":{\"tools\":{},\"resources\":{\"subscribe\":true}}," \
	"\"resultType\":\"complete\",\"_meta\":{\"" META                      \
	"serverInfo\":{\"name\":\"new\",\"version\":\"9\"}}}"
#define INITIALIZED                                                  \
	"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{"     \
	"\"tools\":{},\"tasks\":{\"requests\":{\"tools\":{\"call\":" \
	"{}}}}},\"serverInfo\":{\"name\":\"old\",\"version\":\"1\"}}"

/* One conversation: what is said, and what comes of it. */
struct talk {
	struct session *s;
	struct buf events, sent;
	uint64_t now;
};

static UNUSED void collect(struct talk *t)
{
	struct str out;

	drain(t->s, &t->events);
	out = session_output(t->s);
	buf_add_str(&t->sent, out);
	session_wrote(t->s, out.n);
}

static UNUSED void begin(struct talk *t, const struct session_options *options)
{
	*t = (struct talk){
		.s = session_new(options),
		.events = BUF_INIT(BUF_UNBOUNDED),
		.sent = BUF_INIT(BUF_UNBOUNDED),
		.now = START,
	};
	session_start(t->s, t->now);
	collect(t);
}

static UNUSED void end(struct talk *t)
{
	session_free(t->s);
	buf_release(&t->events);
	buf_release(&t->sent);
}

/* Bytes of a portion in which the server's words come. */
static size_t talk_portion = 1;

static UNUSED int talk_whole(void **state)
{
	(void)state;
	talk_portion = SIZE_MAX;
	return 0;
}

static UNUSED int talk_chopped(void **state)
{
	(void)state;
	talk_portion = 1;
	return 0;
}

/* Each test twice, to show that portions make no difference. */
static const struct test_fixture talk_in_bytes UNUSED = {talk_chopped, NULL,
							 "chopped", NULL};
static const struct test_fixture talk UNUSED = {talk_whole, NULL, "whole",
						&talk_in_bytes};

static UNUSED void says(struct talk *t, const char *bytes)
{
	struct str left = str_of(bytes);

	while (left.n) {
		size_t n = left.n < talk_portion ? left.n : talk_portion;

		session_feed(t->s, (struct str){left.p, n}, t->now);
		collect(t);
		left.p += n;
		left.n -= n;
	}
}

static UNUSED void passes(struct talk *t, uint64_t ms)
{
	t->now += ms * NS_PER_MS;
	session_tick(t->s, t->now);
	collect(t);
}

static UNUSED uint64_t calls(struct talk *t, const char *tool)
{
	struct err err = ERR_INIT;
	uint64_t ticket = 0;

	assert_int_equal(session_call_tool(t->s, tool, STR(ARGS), false, t->now,
					   &ticket, &err),
			 0);
	collect(t);
	return ticket;
}

/* What happened since the last look. */
static UNUSED void happened(struct talk *t, const char *events)
{
	assert_string_equal(buf_cstr(&t->events), events);
	buf_clear(&t->events);
}

static UNUSED void begin_modern(struct talk *t,
				const struct session_options *options)
{
	struct session_options o = *options;

	o.era = SESSION_ERA_PER_REQUEST;
	begin(t, &o);
	says(t, ANSWER("1", DISCOVERED));
	buf_clear(&t->sent);
	buf_clear(&t->events);
}

static UNUSED void begin_legacy(struct talk *t,
				const struct session_options *options)
{
	struct session_options o = *options;

	o.era = SESSION_ERA_INITIALIZE;
	begin(t, &o);
	says(t, ANSWER("1", INITIALIZED));
	buf_clear(&t->sent);
	buf_clear(&t->events);
}

#endif
