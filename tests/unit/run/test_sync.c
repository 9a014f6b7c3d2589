#include "tests/unit/test.h"

#include "core/run/step_sync.h"

static void judged(const char *said, int status, enum step_reason reason,
		   const char *part)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct judgement j = sync_judge(str_of(said), status, &arena);
	struct str text = j.reason == REASON_NONE ? j.output : j.error;

	assert_int_equal(j.reason, reason);
	if (!memmem(text.p, text.n, part, strlen(part)))
		fail_msg("no \"%s\" in: %.*s", part, STR_ARG(text));
}

TEST(sync, what_the_command_says, is_the_result)
{
	judged("{\"servers\":[{\"name\":\"a\",\"ok\":true,\"tools\":2,"
	       "\"updated\":[{\"kind\":\"prompt\",\"name\":\"p\\n\"}]}]}\n",
	       0, REASON_NONE, "a: 2 tools\n  ~ prompt p");
	judged("{\"servers\":[]}", 0, REASON_NONE, "");
	judged("{\"servers\":[{\"name\":\"a\",\"ok\":false,\"error\":{"
	       "\"kind\":\"peer\",\"message\":\"gone\"}},{\"name\":\"b\","
	       "\"ok\":false}]}",
	       1, REASON_EXIT_STATUS, "a: gone; b: ");
	judged("{\"error\":{\"kind\":\"configuration\",\"message\":\"no "
	       "HOME\"}}",
	       1, REASON_EXIT_STATUS, "no HOME");
}

TEST(sync, half_an_answer_or_none, is_no_success)
{
	judged("", 0, REASON_EXIT_STATUS, "status 0");
	judged("{\"servers\":[", 143, REASON_EXIT_STATUS, "status 143");
	judged("{\"servers\":[]}", 143, REASON_EXIT_STATUS, "status 143");
	judged("[]", 0, REASON_EXIT_STATUS, "no answer");
	judged("{}", 0, REASON_EXIT_STATUS, "no answer");
}
