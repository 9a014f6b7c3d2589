#include "tests/unit/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "gate/gate.h"

/* What comes of a tool of the system, with some input. */
struct trial {
	struct arena arena;
	struct buf out;
	struct gate_said said;
	struct err err;
};

static int try_tool(struct trial *t, const char *const argv[],
		    const char *input, size_t max)
{
	t->arena = (struct arena)ARENA_INIT;
	t->out = (struct buf)BUF_INIT(max);
	t->said = (struct gate_said){.out = &t->out, .arena = &t->arena};
	t->err = (struct err)ERR_INIT;
	return gate_run_tool(argv, str_of(input), &t->said, &t->err);
}

static void end_trial(struct trial *t)
{
	arena_release(&t->arena);
	buf_release(&t->out);
}

TEST(tool, input_and_outputs, are_passed)
{
	static const char script[] =
		"read line; echo \"got $line\"; echo why >&2; ls /proc/$$/fd "
		"| tr '\\n' ' '; exit 3";
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct trial t;

	assert_int_equal(try_tool(&t, argv, "one\ntwo\n", 1000), 0);
	assert_int_equal(t.said.status, 3);
	assert_memory_equal(t.out.p, "got one\n0 1 2 ", 14);
	assert_true(str_is(t.said.error, "why"));
	end_trial(&t);
}

TEST(tool, more_output_than_fits, is_a_limit)
{
	const char *const argv[] = {"cat", NULL};
	struct trial t;

	assert_int_equal(try_tool(&t, argv, "0123456789", 10), 0);
	assert_string_equal(buf_cstr(&t.out), "0123456789");
	end_trial(&t);
	assert_int_equal(try_tool(&t, argv, "0123456789a", 10), -1);
	assert_int_equal(t.err.kind, ERR_LIMIT);
	end_trial(&t);
}

TEST(tool, not_of_the_system, is_unknown)
{
	static const char *const names[] = {"no-such-tool", "../../bin/sh/x"};
	struct trial t;

	setenv("PATH", "/tmp", 1);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *const argv[] = {names[i], NULL};

		assert_int_equal(try_tool(&t, argv, "", 10), -1);
		assert_int_equal(t.err.kind, ERR_UNKNOWN);
		end_trial(&t);
	}
}

TEST(tool, a_signal, is_its_number_and_128)
{
	const char *const argv[] = {"sh", "-c", "kill -9 $$", NULL};
	struct trial t;

	assert_int_equal(try_tool(&t, argv, "", 10), 0);
	assert_int_equal(t.said.status, 128 + 9);
	end_trial(&t);
}
