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

/* The lines of one refusal; NULL: none. */
static const char *line(struct arena *arena, const struct gate_denial *d,
			bool failed, enum advice_form form)
{
	struct gate_verdict v = {.n_denials = 1, .denials = d};
	struct advice_how how = {.failed = failed, .form = form};
	struct strlist lines = advice_denials(&v, &how, arena);

	return lines.n ? lines.item[0] : NULL;
}

TEST(denials, a_connection_that_was_tried, is_said_of_success)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;

	assert_string_equal(
		line(&a, &connection, false, ADVICE_OPTION),
		"denied: socket(AF_INET, SOCK_DGRAM, 0) by node, 2 times; to "
		"allow it: --net HOST, or all of it: --net all");
	assert_string_equal(
		line(&a, &connection, false, ADVICE_TOML),
		"denied: socket(AF_INET, SOCK_DGRAM, 0) by node, 2 times; to "
		"allow it: sandbox = { net = [\"HOST\"] }, or all of it: "
		"sandbox = { net = \"all\" }");
	assert_string_equal(line(&a, &host, false, ADVICE_OPTION),
			    "denied: example.com:443, 1 time; to allow it: "
			    "--net example.com");
	assert_string_equal(line(&a, &host, false, ADVICE_TOML),
			    "denied: example.com:443, 1 time; to allow it: "
			    "sandbox = { net = [\"example.com\"] }");
	assert_null(line(&a, &question, false, ADVICE_OPTION));
}

TEST(denials, a_rule_of_the_user, is_said_of_success)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;

	assert_string_equal(line(&a, &rule, false, ADVICE_OPTION),
			    "denied: git: @eval is denied by sh, 1 time");
}

TEST(denials, a_probe, is_never_the_reason_of_a_failure)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	struct gate_verdict v = {.n_denials = 1, .denials = &probe};
	struct advice_how all = {.failed = true, .all = true};

	assert_null(line(&a, &probe, true, ADVICE_OPTION));
	assert_null(line(&a, &plain, true, ADVICE_OPTION));
	assert_int_equal(advice_denials(&v, &all, &a).n, 1);
}

TEST(denials, another_call, is_said_of_failure_only)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;

	assert_null(line(&a, &call, false, ADVICE_OPTION));
	assert_string_equal(line(&a, &call, true, ADVICE_OPTION),
			    "denied: ptrace(0) by strace, 1 time; to allow "
			    "it: --syscalls ptrace");
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
