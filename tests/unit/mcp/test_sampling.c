#include <string.h>

#include "tests/unit/test.h"

#include "core/base/scan.h"
#include "core/mcp/wire/sampling.h"

#define TEXT "{\"type\":\"text\",\"text\":\"hi\"}"
#define USER(content) "{\"role\":\"user\",\"content\":" content "}"
#define ASKS(messages) "{\"maxTokens\":1,\"messages\":[" messages "]}"
#define SAYS(content) \
	"{\"role\":\"assistant\",\"model\":\"m\",\"content\":" content "}"

static struct str proved(const char *json)
{
	struct err err = ERR_INIT;
	struct str v;

	assert_int_equal(scan_document(str_of(json), NULL, &v, &err), 0);
	return v;
}

/* part: of the reason; NULL: it is right */
static void asks(const char *params, const char *part)
{
	struct err err = ERR_INIT;
	int r = sampling_check_request(proved(params), &err);

	assert_int_equal(r, part ? -1 : 0);
	if (part) {
		assert_int_equal(err.kind, ERR_PEER);
		assert_non_null(strstr(err.msg, part));
	}
}

static void says(const char *result, const char *date, const char *part)
{
	struct err err = ERR_INIT;
	int r = sampling_check_result(proved(result),
				      mcp_revision_find(str_of(date)), &err);

	assert_int_equal(r, part ? -1 : 0);
	if (part) {
		assert_int_equal(err.kind, ERR_SYNTAX);
		assert_non_null(strstr(err.msg, part));
	}
}

TEST(SA_2, max_tokens, is_required_and_positive)
{
	asks(ASKS(USER(TEXT)), NULL);
	asks("{\"messages\":[]}", "maxTokens");
	asks("{\"messages\":[],\"maxTokens\":0}", "maxTokens");
	asks("{\"messages\":[],\"maxTokens\":1.5}", "maxTokens");
	asks("{\"messages\":[],\"maxTokens\":\"9\"}", "maxTokens");
	asks("[]", "maxTokens");
}

TEST(SA_2, messages, have_role_and_content)
{
	asks("{\"maxTokens\":1}", "messages");
	asks("{\"maxTokens\":1,\"messages\":{}}", "messages");
	asks(ASKS("1"), "role");
	asks(ASKS("{\"role\":\"system\",\"content\":" TEXT "}"), "role");
	asks(ASKS("{\"role\":\"user\"}"), "content is missing");
	asks(ASKS(USER("\"hi\"")), "text, image or");
	asks(ASKS(USER("{\"type\":\"text\"}")), "needs text");
	asks(ASKS(USER("{\"type\":\"image\",\"data\":\"\"}")),
	     "needs mimeType");
	asks(ASKS(USER("[" TEXT "," TEXT "]") "," USER(TEXT)), NULL);
}

TEST(SA_5, tools, were_not_declared)
{
	asks("{\"maxTokens\":1,\"messages\":[],\"tools\":[]}", "tools");
	asks("{\"maxTokens\":1,\"messages\":[],\"toolChoice\":{}}", "tools");
	asks("{\"maxTokens\":1,\"messages\":[],\"tools\":null}", NULL);
}

TEST(SA_6, messages_of_tools, were_not_declared)
{
	asks(ASKS(USER("[" TEXT ",{\"type\":\"tool_result\",\"toolUseId\":"
		       "\"1\",\"content\":[]}]")),
	     "tools");
	asks(ASKS(USER("{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"n\","
		       "\"input\":{}}")),
	     "tools");
}

TEST(SA_3, a_result, has_role_content_and_model)
{
	says(SAYS(TEXT), "2025-11-25", NULL);
	says("[]", "2025-11-25", "an object");
	says("{\"role\":\"assistant\",\"content\":" TEXT "}", "2025-11-25",
	     "model");
	says("{\"model\":\"m\",\"content\":" TEXT "}", "2025-11-25", "role");
	says("{\"role\":\"user\",\"model\":\"m\"}", "2025-11-25",
	     "content is missing");
	says("{\"role\":\"user\",\"model\":\"m\",\"stopReason\":1,"
	     "\"content\":" TEXT "}",
	     "2025-11-25", "stopReason");
	says(SAYS("{\"type\":\"tool_use\",\"id\":\"1\"}"), "2025-11-25",
	     "tools");
}

TEST(SA_4, content, is_what_the_revision_knows)
{
	static const char audio[] = SAYS("{\"type\":\"audio\",\"data\":\"\","
					 "\"mimeType\":\"audio/wav\"}");

	says(audio, "2024-11-05", "text, image or, since");
	says(audio, "2025-03-26", NULL);
	says(SAYS("[" TEXT "]"), "2025-06-18", "not a list");
	says(SAYS("[" TEXT "]"), "2025-11-25", NULL);
	says(SAYS("[" TEXT ",1]"), "2026-07-28", "text, image or");
}
