#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/mcp/session_talk.h"

static void lost(struct talk *t, const char *id, enum session_failure failure)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_PEER, "it is gone");
	session_lost(t->s, id ? str_of(id) : (struct str){NULL, 0}, failure,
		     &err, t->now);
	collect(t);
}

static void lost__one_request__the_others_go_on(void **state)
{
	struct talk t;

	(void)state;
	begin_legacy(&t, &(struct session_options){0});
	calls(&t, "a");
	calls(&t, "b");
	lost(&t, "2", SESSION_FAIL_TRANSPORT);
	happened(&t, "failed 2 transport call\n");
	calls(&t, "c");
	lost(&t, "4", SESSION_FAIL_AUTH);
	happened(&t, "failed 4 auth call\n");
	lost(&t, "99", SESSION_FAIL_LEASH);
	happened(&t, "");
	says(&t, ANSWER("3", RESULT));
	happened(&t, "result 3 " RESULT "\n");
	assert_int_equal(session_state(t.s), SESSION_READY);
	end(&t);
}

static void lost__before_ready__is_the_end(void **state)
{
	static const enum session_failure failures[] = {
		SESSION_FAIL_TRANSPORT, SESSION_FAIL_AUTH, SESSION_FAIL_LEASH};
	static const char *const events[] = {
		"failed 0 transport initialize\n",
		"failed 0 auth initialize\n",
		"failed 0 leash initialize\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		struct talk t;

		begin(&t, &(struct session_options){0});
		lost(&t, "1", failures[i]);
		happened(&t, events[i]);
		assert_int_equal(session_state(t.s), SESSION_FAILED);
		end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost__one_request__the_others_go_on),
		cmocka_unit_test(lost__before_ready__is_the_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
