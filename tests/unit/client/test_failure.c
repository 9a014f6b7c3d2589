
#include "tests/unit/test.h"

#include "core/base/mem.h"
#include "core/client/failure.h"

static const char *reason_of(enum session_failure failure, bool is_call,
			     const char *method)
{
	const struct session_event e = {
		.failure = failure,
		.phase =
			is_call ? SESSION_PHASE_CALL : SESSION_PHASE_INITIALIZE,
	};

	return report_reason_name(failure_of_event(&e, method));
}

TEST(failure, of_each_kind, has_its_reason)
{
	static const struct {
		enum session_failure failure;
		const char *reason;
	} rows[] = {
		{SESSION_FAIL_BAD_MESSAGE, "bad_message"},
		{SESSION_FAIL_FRAMING, "bad_message"},
		{SESSION_FAIL_BAD_RESULT, "not_call_tool_result"},
		{SESSION_FAIL_HANDSHAKE, "handshake"},
		{SESSION_FAIL_LIMIT, "output_limit"},
		{SESSION_FAIL_EOF, "server_exit"},
		{SESSION_FAIL_QUEUE, "transport"},
		{SESSION_FAIL_TRANSPORT, "transport"},
		{SESSION_FAIL_AUTH, "auth"},
		{SESSION_FAIL_LEASH, "leash"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(
			reason_of(rows[i].failure, true, "tools/call"),
			rows[i].reason);
}

TEST(failure, by_time, is_that_of_its_phase)
{
	assert_string_equal(reason_of(SESSION_FAIL_TIMEOUT, false, NULL),
			    "deadline_initialize");
	assert_string_equal(reason_of(SESSION_FAIL_TIMEOUT, true, "tools/list"),
			    "deadline_list");
	assert_string_equal(reason_of(SESSION_FAIL_TIMEOUT, true, "tools/call"),
			    "deadline_call");
	assert_string_equal(reason_of(SESSION_FAIL_TIMEOUT, true, NULL),
			    "deadline_call");
}

/* A broken promise of ours is none of the others. */
TEST(failure, that_is_no_row, is_internal)
{
	assert_string_equal(reason_of((enum session_failure)99, true, NULL),
			    "internal");
}

TEST(spawn, error_of_each_kind, has_its_reason)
{
	static const struct {
		enum err_kind kind;
		const char *reason;
	} rows[] = {
		{ERR_NOT_FOUND, "no_command"},
		{ERR_LEASH, "leash"},
		{ERR_POLICY, "policy"},
		{ERR_PROTECTION, "protection"},
		{ERR_PIN, "pin"},
		{ERR_DEADLINE, "deadline_spawn"},
		{ERR_SYS, "transport"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct err err = {.kind = rows[i].kind};

		assert_string_equal(report_reason_name(failure_of_spawn(&err)),
				    rows[i].reason);
	}
}
