/* What was hit, in words: only what is known, and only once. */

#include "tests/unit/test.h"
#include <signal.h>

#include "gate/policy/hit.h"

static const struct gate_policy bounds = {.memory_bytes = 64 << 20,
					  .file_size_bytes = 1500,
					  .processes = 20,
					  .cpu_seconds = 2};

static void one(const struct gate_policy *b, const struct hit_end *end,
		const char *text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct strlist hits = hits_find(b, end, &arena);

	assert_int_equal(hits.n, text ? 1 : 0);
	if (text)
		assert_string_equal(hits.item[0], text);
}

TEST(memory, killed_for_it, is_said)
{
	one(&bounds, &(struct hit_end){.oom_kills = 1, .signal = SIGKILL},
	    "memory: the tree wanted more than 64MiB, 1 process was killed; "
	    "raise sandbox.memory (--memory)");
	one(&bounds, &(struct hit_end){.oom_kills = 3},
	    "memory: the tree wanted more than 64MiB, 3 processes were "
	    "killed; raise sandbox.memory (--memory)");
}

TEST(processes, refused, are_counted)
{
	one(&bounds, &(struct hit_end){.forks_refused = 1},
	    "processes: the tree wanted more than 20, 1 start was refused; "
	    "raise sandbox.processes (--processes)");
	one(&bounds, &(struct hit_end){.forks_refused = 2},
	    "processes: the tree wanted more than 20, 2 starts were refused; "
	    "raise sandbox.processes (--processes)");
}

TEST(cpu, killed_at_its_time, is_said)
{
	const char *text = "cpu: the program used up 2s of processor time; "
			   "raise sandbox.cpu (--cpu)";
	const struct gate_policy none = {.cpu_seconds = 0};
	struct hit_end end = {.signal = SIGKILL, .cpu_us = 1990000};

	one(&bounds, &end, text);
	one(&none, &end, NULL);
	end.cpu_us = 990000;
	one(&bounds, &end, NULL);
	end.cpu_us = 2000000;
	end.ended_by_us = true;
	one(&bounds, &end, NULL);
	end.ended_by_us = false;
	end.signal = SIGTERM;
	one(&bounds, &end, NULL);
	end.signal = SIGXCPU;
	one(&bounds, &end, text);
}

TEST(cpu, and_memory, is_memory)
{
	const struct hit_end end = {
		.signal = SIGKILL, .cpu_us = 2000000, .oom_kills = 1};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct strlist hits = hits_find(&bounds, &end, &arena);

	assert_int_equal(hits.n, 1);
	assert_int_equal(strncmp(hits.item[0], "memory:", 7), 0);
}

TEST(file_size, by_its_signal, is_said)
{
	const struct gate_policy none = {.memory_bytes = 1};
	const struct hit_end end = {.signal = SIGXFSZ};

	one(&bounds, &end,
	    "file_size: the program wrote a file beyond 1500B; raise "
	    "sandbox.file_size (--file-size)");
	one(&none, &end, NULL);
}

TEST(hit, of_nothing, is_nothing)
{
	one(&bounds, &(struct hit_end){.cpu_us = 9000000}, NULL);
}
