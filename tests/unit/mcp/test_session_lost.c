
#include "tests/unit/test.h"

#include "tests/unit/mcp/session_talk.h"

static void lost(struct talk *t, const char *id, enum session_failure failure)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_PEER, "it is gone");
	session_lost(t->s, id ? str_of(id) : (struct str){NULL, 0}, failure,
		     &err, t->now);
	collect(t);
}

TEST(lost, one_request, the_others_go_on)
{
	struct talk t;

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

TEST(lost, before_ready, is_the_end)
{
	static const enum session_failure failures[] = {
		SESSION_FAIL_TRANSPORT, SESSION_FAIL_AUTH, SESSION_FAIL_LEASH};
	static const char *const events[] = {
		"failed 0 transport initialize\n",
		"failed 0 auth initialize\n",
		"failed 0 leash initialize\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		struct talk t;

		begin(&t, &(struct session_options){0});
		lost(&t, "1", failures[i]);
		happened(&t, events[i]);
		assert_int_equal(session_state(t.s), SESSION_FAILED);
		end(&t);
	}
}
