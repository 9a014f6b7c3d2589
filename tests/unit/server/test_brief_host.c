#include "tests/unit/server/brief_fixture.h"

static void write_proc(void)
{
	WRITE("uptime", "270303.42 500000.00\n");
	WRITE("loadavg", "0.42 1.00 12.30 1/123 4567\n");
	WRITE("meminfo", "MemTotal:       16384 kB\n"
			 "MemFree:            1 kB\n"
			 "MemAvailable:    8192 kB\n"
			 "SwapTotal:       2048 kB\n"
			 "SwapFree:        1024 kB\n");
}

TEST(host, nothing_in_proc, notes_and_no_failure)
{
	env.proc = "/nonexistent";
	call("host", "{}");
	env.proc = scratch;
	assert_false(result.is_error);
	assert_has_not(STRUCTURED(), "\"load\"");
	assert_has_not(STRUCTURED(), "\"memory\"");
	assert_has_not(STRUCTURED(), "\"uptime_seconds\"");
	assert_has(STRUCTURED(), "\"notes\":[\"the uptime is not visible\","
				 "\"the load is not visible\","
				 "\"memory and swap are not visible\"]}");
	assert_has(TEXT(), "\n(the load is not visible)\n");
}

TEST(host, garbage_in_proc, notes_and_no_failure)
{
	static const char *const loads[] = {"",
					    "a b c",
					    "1 2 3",
					    "0.1 0.2",
					    "00.1 0.2 0.3 x",
					    "1e5 0.2 0.3 x",
					    "-1.0 0.2 0.3 x"};

	write_proc();
	WRITE("uptime", "x");
	WRITE("meminfo", "MemTotal: 99999999999999999999 kB\n"
			 "SwapTotal: 0 kB\nSwapFree: 0 kB");
	for (size_t i = 0; i < ARRAY_LEN(loads); i++) {
		write_file("loadavg", loads[i], strlen(loads[i]));
		call("host", "{}");
		assert_false(result.is_error);
		assert_has(STRUCTURED(),
			   "\"notes\":[\"the uptime is not visible\","
			   "\"the load is not visible\","
			   "\"memory is not visible\"]}");
		assert_has(TEXT(), "swap none");
	}
}

TEST(host, no_home, only_the_root)
{
	write_proc();
	env.home = NULL;
	call("host", "{}");
	env.home = scratch;
	assert_false(result.is_error);
	assert_has(STRUCTURED(), "\"disks\":[{\"path\":\"/\",");
}

TEST_FILE(fixture_set_up, fixture_tear_down);
