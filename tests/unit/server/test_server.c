#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/server/server.h"
#include "tests/unit/server/echo_server.h"

#define INITIALIZE(date)                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","          \
	"\"params\":{\"protocolVersion\":\"" date "\",\"capabilities\":{}," \
	"\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n"
#define INITIALIZED \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define REQUEST(id, method, params)                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"," \
	"\"params\":" params "}\n"
#define ERROR(id, code) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ","

static void assert_starts(const char *text, const char *prefix)
{
	if (strncmp(text, prefix, strlen(prefix)) != 0)
		fail_msg("%s\ndoes not start with\n%s", text, prefix);
}

TEST(message, too_long, error_and_the_session_goes_on)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
	AUTO(mem_freep) char *out = NULL;
	char *room = buf_room(&in, LIMIT_SERVER_BYTES + 1);

	memset(room, ' ', LIMIT_SERVER_BYTES + 1);
	room[0] = '1';
	in.n += LIMIT_SERVER_BYTES + 1;
	buf_adds(&in, "\n" REQUEST("3", "ping", "{}"));
	out = converse(buf_cstr(&in), 65536);
	assert_starts(out, ERROR("null", "-32600"));
	assert_string_equal(strchr(out, '\n') + 1,
			    "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n");
}

TEST(feed, cut_anywhere, same_answers)
{
	static const char in[] = INITIALIZE("2025-11-25") INITIALIZED
		"garbage\r\n" REQUEST("2", "tools/list", "{}")
			REQUEST("3", "tools/call",
				"{\"name\":\"echo\",\"arguments\":{\"text\":"
				"\"x\"}}") "{\"jsonrpc\":\"2.0\",\"id\":4,"
					   "\"method\":\"ping\"}";
	AUTO(mem_freep) char *whole = converse(in, sizeof(in));

	assert_non_null(strstr(whole, "\"id\":4,\"result\":{}"));
	for (size_t step = 1; step < 200; step++) {
		AUTO(mem_freep) char *out = converse(in, step);

		assert_string_equal(out, whole);
	}
}
