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
	 "denied: network (socket) by node, 2 times; without a grant nothing "
	 "connects; name the host that it needs in place of HOST; to allow it: "
	 "--net HOST"},
	{&connection, false, ADVICE_TOML,
	 "denied: network (socket) by node, 2 times; without a grant nothing "
	 "connects; name the host that it needs: sandbox.net = [\"HOST\"]"},
	{&host, false, ADVICE_OPTION,
	 "denied: example.com:443, 1 time; without a grant nothing connects; "
	 "to allow it: --net example.com"},
	{&host, false, ADVICE_TOML,
	 "denied: example.com:443, 1 time; without a grant nothing connects; "
	 "to allow it: sandbox.net = [\"example.com\"]"},
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
	const struct advice_known all = {
		.verdict = &v, .failed = true, .all = true};

	for (const struct row *r = rows; r < rows + ARRAY_LEN(rows); r++) {
		const struct gate_verdict one = {.n_denials = 1,
						 .denials = r->denial};
		const struct advice_known known = {
			.verdict = &one,
			.failed = r->failed,
			.form = r->form,
			.trace = "matins trace r s",
		};
		struct advice_list list = advice_find(&known, &a);

		assert_int_equal(list.n, r->line ? 2 : 0);
		if (!r->line)
			continue;
		assert_string_equal(advice_line(&list.item[0], &a), r->line);
		/* the last one finds the rest, and grants nothing itself */
		assert_non_null(strstr(list.item[1].text, "matins trace r s"));
		assert_null(list.item[1].setting);
	}
	assert_int_equal(advice_find(&all, &a).n, 1);
}

TEST(denials, of_one_key, are_one_piece)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	static const char *const args[] = {"sh", "-c", "A=1 ls | no-such-one"};
	const struct gate_denial denials[] = {
		call,
		{"exec",
		 "/usr/bin/dash",
		 "tar",
		 "start /usr/bin/dash",
		 {"exec", "sh"},
		 1},
		host,
		{"exec",
		 "/usr/bin/a b",
		 "tar",
		 "start /usr/bin/a b",
		 {"exec", "/usr/bin/a \"b"},
		 1},
	};
	const struct gate_record record = {
		.path = "/usr/bin/dash",
		.unlisted = true,
		.args = {(const char **)args, 3},
	};
	const struct gate_verdict v = {.denials = denials,
				       .n_denials = ARRAY_LEN(denials),
				       .records = &record,
				       .n_records = 1};
	struct advice_known known = {.verdict = &v, .failed = true};
	struct advice_list list = advice_find(&known, &a);

	assert_int_equal(list.n, 3);
	/* programs of the command line that the shell did not get to run */
	assert_string_equal(
		list.item[0].setting,
		"sandbox.exec = [\"sh\", \"ls\", \"/usr/bin/a \\\"b\"]");
	assert_string_equal(list.item[1].setting,
			    "sandbox.net = [\"example.com\"]");
	assert_string_equal(list.item[2].setting,
			    "sandbox.syscalls = [\"ptrace\"]");
	known.form = ADVICE_OPTION;
	assert_string_equal(advice_find(&known, &a).item[0].setting,
			    "--exec sh --exec ls --exec '/usr/bin/a \"b'");
}

TEST(setting, of_a_key_that_is_there, keeps_its_values_but_no_word)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	static const char *const hosts[] = {"a.example", "loopback"};
	const struct gate_policy own = {.net = {(const char **)hosts, 2}};
	const struct gate_verdict v = {.denials = &host, .n_denials = 1};
	struct advice_known known = {.verdict = &v, .own = &own};

	assert_string_equal(advice_find(&known, &a).item[0].setting,
			    "sandbox.net = [\"a.example\", \"example.com\"] "
			    "# in place of the row that is there");
	known.form = ADVICE_OPTION;
	assert_string_equal(advice_find(&known, &a).item[0].setting,
			    "--net example.com");
}

/* Every request has one. */
static const struct gate_policy nothing;

TEST(host, of_arguments, goes_before_words)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	const char *argv[] = {"curl", "-s", "https://api.example.com/x", NULL};
	const struct gate_request request = {
		.policy = &nothing, .program = "curl", .argv = argv};
	const struct gate_verdict v = {.n_denials = 1, .denials = &connection};
	struct advice_known known = {
		.verdict = &v,
		.failed = true,
		.said = STR("getaddrinfo EAI_AGAIN other.example.com"),
		.request = &request,
	};

	assert_string_equal(advice_find(&known, &a).item[0].setting,
			    "sandbox.net = [\"api.example.com\"]");
	argv[2] = NULL;
	assert_string_equal(advice_find(&known, &a).item[0].setting,
			    "sandbox.net = [\"other.example.com\"]");
}

TEST(network, that_nothing_tried, is_not_advised)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	struct gate_verdict v = {.exited = true};
	struct advice_known known = {.verdict = &v, .failed = true};

	assert_int_equal(advice_find(&known, &a).n, 0);
}

TEST(dropped, files, are_named_with_their_folder)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	static const char *names[] = {"b", "x\n/"};
	static const char *const argv[] = {"cp", NULL};
	struct gate_request request = {
		.policy = &nothing, .program = "cp", .argv = argv};
	struct gate_verdict v = {.dropped = {.folder = "/srv/p",
					     .names = {names, 2},
					     .files = 12}};
	const struct advice_known known = {.verdict = &v, .request = &request};
	struct advice_list list = advice_find(&known, &a);

	/* the folder of the configuration */
	assert_int_equal(list.n, 1);
	assert_string_equal(advice_line(&list.item[0], &a),
			    "started in a private, empty folder, because . is "
			    "not granted; dropped with it: b, x\\x0a/ (12 "
			    "files); to allow it: sandbox.write = [\".\"]");
	assert_true(list.is_refused);
	request.cwd_required = true;
	assert_string_equal(advice_find(&known, &a).item[0].setting,
			    "sandbox.write = [\"/srv/p\"]");
	/* exec says it itself */
	request.cwd_said = ".";
	assert_int_equal(advice_find(&known, &a).n, 0);
}

TEST(dropped, nothing, is_worth_a_line_where_a_file_was_missed)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	static const char *const argv[] = {"cat", NULL};
	const struct gate_request request = {
		.policy = &nothing, .program = "cat", .argv = argv};
	const struct gate_verdict v = {.dropped = {.folder = "/srv/p"}};
	struct advice_known known = {.verdict = &v, .request = &request};

	assert_int_equal(advice_find(&known, &a).n, 0);
	known.failed = true;
	assert_int_equal(advice_find(&known, &a).n, 0);
	known.said = STR("cat: a.txt: No such file or directory");
	assert_int_equal(advice_find(&known, &a).n, 1);
	known.is_server = true;
	assert_int_equal(advice_find(&known, &a).n, 0);
}

TEST(unseen, files, are_named_with_what_shows_them)
{
	AUTO(arena_release) struct arena a = ARENA_INIT;
	static const char *const argv[] = {"sh", NULL};
	static const char *paths[] = {"/srv/p/a", "/srv/p/b/c", "/srv/q"};
	const struct gate_request request = {
		.policy = &nothing, .program = "sh", .argv = argv};
	struct gate_verdict v = {.exited = true,
				 .dropped = {.folder = "/srv/p"},
				 .unseen = {.paths = {paths, 3}}};
	const struct advice_known known = {.verdict = &v, .request = &request};
	struct advice_list list = advice_find(&known, &a);

	/* two keys that are one make one line */
	assert_int_equal(list.n, 1);
	assert_true(list.is_refused);
	assert_string_equal(list.item[0].text,
			    "denied: read /srv/q, which no row of read grants; "
			    "started in a private, empty folder, because . is "
			    "not granted; not seen there: a, b/c");
	assert_string_equal(list.item[0].setting,
			    "sandbox.read = [\"/srv/q\", \"a\", \"b/c\"]");
	/* a listing of a folder that is not there missed nothing */
	v.unseen = (struct gate_unseen){.is_listed = true};
	v.dropped.folder = "/nonexistent/p";
	assert_int_equal(advice_find(&known, &a).n, 0);
	v.dropped.folder = "/usr";
	assert_string_equal(advice_find(&known, &a).item[0].setting,
			    "sandbox.read = [\".\"]");
}

TEST(refusals, that_no_program_takes_lightly, count)
{
	static const struct {
		const struct gate_denial *denial;
		bool counts;
	} cases[] = {
		{&connection, true}, {&question, false}, {&host, true},
		{&rule, true},	     {&probe, false},	 {&call, false},
		{&plain, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena_release) struct arena a = ARENA_INIT;
		const struct gate_verdict v = {.n_denials = 1,
					       .denials = cases[i].denial};
		const struct advice_known known = {.verdict = &v};

		assert_int_equal(advice_find(&known, &a).is_refused,
				 cases[i].counts);
	}
}
