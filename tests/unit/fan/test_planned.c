#include "tests/unit/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/fan/planned.h"
#include "tests/unit/temp_dir.h"

#define KEPT STR("as it was planned")
#define OTHER STR("of another program")

/* Is a plan with that head refused there? */
static bool refuses(const char *dir, struct str head)
{
	struct err err = ERR_INIT;

	return planned_check(dir, head, &err) < 0;
}

TEST_IN(temp_dir, plan, that_a_link_leads_away_from, is_refused)
{
	AUTO(mem_freep)
	char *state_dir = mem_printf("%s/state", (const char *)*state);

	setenv("XDG_STATE_HOME", state_dir, 1);
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(mkdir("in", 0700) | mkdir("in/plan", 0700) |
				 mkdir("evil", 0700) | mkdir("evil/plan", 0700),
			 0);
	planned_keep("in/plan", KEPT);
	assert_false(refuses("in/plan", KEPT));
	assert_true(refuses("in/plan", OTHER));
	assert_false(refuses("evil/plan", OTHER));

	assert_int_equal(rename("in/plan", "kept"), 0);
	assert_false(refuses("kept", OTHER));
	assert_int_equal(symlink("../evil/plan", "in/plan"), 0);
	assert_true(refuses("in/plan", OTHER));
	assert_true(refuses("./in//plan/", OTHER));
	assert_false(refuses("in/plan", KEPT));

	assert_int_equal(rename("in", "moved"), 0);
	assert_int_equal(symlink("evil", "in"), 0);
	assert_true(refuses("in/plan", OTHER));
	unsetenv("XDG_STATE_HOME");
	assert_int_equal(chdir("/"), 0);
}
