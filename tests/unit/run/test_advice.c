/* Which refusals are worth a line, and how the setting is written. */
#include "tests/unit/test.h"

#include "core/run/advice.h"

#define ALLOW_ALL            \
	{                    \
		"net", "all" \
	}

static const struct gate_denial
	connection = {"syscall", "socket",
		      "node",	 "socket(AF_INET, SOCK_DGRAM, 0)",
		      ALLOW_ALL, 2},
	question = {"syscall", "socket",
		    "python3", "socket(AF_INET6, SOCK_STREAM, 0)",
		    ALLOW_ALL, 1},
	host = {"net",
		"example.com:443",
		"the program",
		"example.com:443",
		{"net", "example.com"},
		1},
	rule = {"exec",	      "/usr/bin/git",
		"sh",	      "git: @eval is denied",
		{NULL, NULL}, 1},
	probe = {"syscall",
		 "set_mempolicy",
		 "top",
		 "set_mempolicy(0, 0)",
		 {"syscalls", "set_mempolicy"},
		 1},
	call = {"syscall",
		"ptrace",
		"strace",
		"ptrace(0)",
		{"syscalls", "ptrace"},
		1},
	plain = {"syscall", "socket", "id", "socket(AF_UNIX)", {NULL, NULL}, 3};

/* line  NULL: none */
static const struct row {
	const struct gate_denial *denial;
	bool failed;
	enum advice_form form;
	const char *line;
} rows[] = {
	/* a connection that was tried is said of success, too */
	{&connection, false, ADVICE_OPTION,
	 "denied: socket(AF_INET, SOCK_DGRAM, 0) by node, 2 times; to allow "
	 "it: --net HOST, or all of it: --net all"},
	{&connection, false, ADVICE_TOML,
	 "denied: socket(AF_INET, SOCK_DGRAM, 0) by node, 2 times; to allow "
	 "it: sandbox = { net = [\"HOST\"] }, or all of it: sandbox = { net = "
	 "\"all\" }"},
	{&host, false, ADVICE_OPTION,
	 "denied: example.com:443, 1 time; to allow it: --net example.com"},
	{&host, false, ADVICE_TOML,
	 "denied: example.com:443, 1 time; to allow it: sandbox = { net = "
	 "[\"example.com\"] }"},
	{&question, false, ADVICE_OPTION, NULL},
	/* likewise a rule of the user */
	{&rule, false, ADVICE_OPTION,
	 "denied: git: @eval is denied by sh, 1 time"},
	/* a probe is never the reason of a failure */
	{&probe, true, ADVICE_OPTION, NULL},
	{&plain, true, ADVICE_OPTION, NULL},
	/* another call is said of failure only */
	{&call, false, ADVICE_OPTION, NULL},
	{&call, true, ADVICE_OPTION,
	 "denied: ptrace(0) by strace, 1 time; to allow it: --syscalls ptrace"},
};

TEST(denials, each, is_said_where_it_is_worth_a_line)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const struct gate_verdict v = {.n_denials = 1, .denials = &probe};
	const struct advice_how all = {.failed = true, .all = true};

	for (const struct row *r = rows; r < rows + ARRAY_LEN(rows); r++) {
		const struct gate_verdict one = {.n_denials = 1,
						 .denials = r->denial};
		const struct advice_how how = {.failed = r->failed,
					       .form = r->form};
		struct strlist lines = advice_denials(&one, &how, &a);

		assert_int_equal(lines.n, r->line != NULL);
		if (r->line)
			assert_string_equal(lines.item[0], r->line);
	}
	assert_int_equal(advice_denials(&v, &all, &a).n, 1);
}

TEST(proxy, that_nothing_asked, is_said_of_a_failure)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	struct gate_verdict v = {.proxy_unasked = true};
	struct advice_how how = {.failed = true, .form = ADVICE_TOML};
	struct strlist lines = advice_denials(&v, &how, &a);

	assert_int_equal(lines.n, 1);
	assert_non_null(strstr(lines.item[0], "HTTPS_PROXY"));
	assert_non_null(strstr(lines.item[0], "net = \"all\""));
	how.form = ADVICE_OPTION;
	assert_non_null(
		strstr(advice_denials(&v, &how, &a).item[0], "--net all"));
	how.failed = false;
	assert_int_equal(advice_denials(&v, &how, &a).n, 0);
	how.failed = true;
	v.proxy_unasked = false;
	assert_int_equal(advice_denials(&v, &how, &a).n, 0);
}
