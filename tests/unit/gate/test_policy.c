/* Policies: defaults, merging, checking, meeting the leash. */

#include "tests/unit/test.h"

#include "gate/policy/policy.h"

#define LIST(...) STRLIST(__VA_ARGS__)
#define ONLY(...)                         \
	{                                 \
		.only = LIST(__VA_ARGS__) \
	}
#define ALL          \
	{            \
		true \
	}

static void assert_list(const struct strlist *list, const char *joined)
{
	char text[512] = "";
	size_t at = 0;

	for (size_t i = 0; i < list->n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
				       i ? " " : "", list->item[i]);
	assert_string_equal(text, joined);
}

static void resolve(const struct gate_policy *asked,
		    const struct gate_leash *leash, struct arena *arena,
		    struct policy *p)
{
	struct err err = ERR_INIT;

	if (policy_resolve(asked, leash, arena, p, &err) < 0)
		fail_msg("%s", err.msg);
}

/* ---- defaults and merging ---- */

TEST(resolve, empty, gives_the_default_policy)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy asked = {.cpu_seconds = 0};
	struct policy p;

	resolve(&asked, NULL, &arena, &p);
	assert_int_equal(p.profile, PROFILE_DEFAULT);
	assert_int_equal(p.net, POLICY_NET_NONE);
	assert_false(p.net_udp);
	assert_int_equal(p.memory_bytes, 2147483648);
	assert_int_equal(p.file_size_bytes, 1073741824);
	assert_int_equal(p.processes, 256);
	assert_int_equal(p.files, 1024);
	assert_int_equal(p.cpu_seconds, 0);
	assert_int_equal(p.isolate, GATE_ISOLATE_AUTO);
	assert_int_equal(p.read.n + p.write.n + p.write_only.n + p.exec.n +
				 p.capped.n + p.n_ports + p.syscalls.n,
			 0);
	assert_int_equal(p.guarantees_required | p.mechanisms_required, 0);
	assert_false(p.tmp_shared);
	assert_null(p.user);
}

TEST(resolve, values_given, are_kept)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy asked = {
		.read = LIST("/srv"),
		.exec = LIST("git", "/bin/sh"),
		.profile = "strict",
		.memory_bytes = 5,
		.file_size_bytes = 6,
		.processes = 7,
		.files = 8,
		.cpu_seconds = 9,
		.tmp_shared = true,
		.isolate = GATE_ISOLATE_OFF,
		.require = LIST("fs-read", "landlock", "tree-kill"),
		.syscalls = LIST("mount"),
		.user = "daemon",
	};
	struct policy p;

	resolve(&asked, NULL, &arena, &p);
	assert_list(&p.read, "/srv");
	assert_list(&p.exec, "git /bin/sh");
	assert_int_equal(p.profile, PROFILE_STRICT);
	assert_int_equal(p.memory_bytes, 5);
	assert_int_equal(p.file_size_bytes, 6);
	assert_int_equal(p.processes, 7);
	assert_int_equal(p.files, 8);
	assert_int_equal(p.cpu_seconds, 9);
	assert_true(p.tmp_shared);
	assert_int_equal(p.isolate, GATE_ISOLATE_OFF);
	assert_int_equal(p.guarantees_required,
			 POLICY_BIT(GUARANTEE_FS_READ) |
				 POLICY_BIT(GUARANTEE_TREE_KILL));
	assert_int_equal(p.mechanisms_required, POLICY_BIT(MECHANISM_LANDLOCK));
	assert_list(&p.syscalls, "mount");
	assert_string_equal(p.user, "daemon");
}

TEST(merge, lists, are_joined_without_repeats)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy base = {.read = LIST("/a", "/b"),
				   .net = LIST(":443"),
				   .require = LIST("fs-read")};
	struct gate_policy more = {.read = LIST("/b", "/c"),
				   .write = LIST("/w"),
				   .exec = LIST("git"),
				   .net = LIST("all"),
				   .syscalls = LIST("mount")};
	struct gate_policy m;

	gate_policy_merge(&base, &more, &arena, &m);
	assert_list(&m.read, "/a /b /c");
	assert_list(&m.write, "/w");
	assert_list(&m.exec, "git");
	assert_list(&m.net, ":443 all");
	assert_list(&m.require, "fs-read");
	assert_list(&m.syscalls, "mount");
}

TEST(merge, single_values, are_of_the_specific_one)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy base = {.profile = "strict",
				   .memory_bytes = 1,
				   .files = 2,
				   .processes = 3,
				   .isolate = GATE_ISOLATE_REQUIRE,
				   .user = "daemon"};
	struct gate_policy more = {.profile = "open",
				   .memory_bytes = 10,
				   .cpu_seconds = 4,
				   .file_size_bytes = 5,
				   .tmp_shared = true};
	struct gate_policy m;

	gate_policy_merge(&base, &more, &arena, &m);
	assert_string_equal(m.profile, "open");
	assert_int_equal(m.memory_bytes, 10);
	assert_int_equal(m.files, 2);
	assert_int_equal(m.processes, 3);
	assert_int_equal(m.cpu_seconds, 4);
	assert_int_equal(m.file_size_bytes, 5);
	assert_int_equal(m.isolate, GATE_ISOLATE_REQUIRE);
	assert_true(m.tmp_shared);
	assert_string_equal(m.user, "daemon");
	/* the result may be one of the two */
	gate_policy_merge(&base, &more, &arena, &base);
	assert_string_equal(base.profile, "open");
}

/* Everything that is copied is written over afterwards. */
TEST(copy, original_changes, keeps_what_it_was)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	char path[] = "/srv", name[] = "git", word[] = "-c", user[] = "daemon";
	const char *item[] = {path}, *deny[] = {word};
	struct gate_program_rule rule = {
		.name = name, .has_args = true, .deny = {deny, 1}};
	struct gate_policy from = {.read = {item, 1},
				   .write = {item, 1},
				   .exec = {item, 1},
				   .net = {item, 1},
				   .require = {item, 1},
				   .syscalls = {item, 1},
				   .user = user,
				   .files = 7,
				   .programs = {&rule, 1}};
	struct gate_policy p = gate_policy_copy(&from, &arena);

	path[0] = name[0] = word[0] = user[0] = '!';
	item[0] = deny[0] = NULL;
	rule = (struct gate_program_rule){.name = NULL};
	assert_list(&p.read, "/srv");
	assert_list(&p.write, "/srv");
	assert_list(&p.exec, "/srv");
	assert_list(&p.net, "/srv");
	assert_list(&p.require, "/srv");
	assert_list(&p.syscalls, "/srv");
	assert_string_equal(p.user, "daemon");
	assert_null(p.profile);
	assert_int_equal(p.files, 7);
	assert_int_equal(p.programs.n, 1);
	assert_string_equal(p.programs.item[0].name, "git");
	assert_true(p.programs.item[0].has_args);
	assert_list(&p.programs.item[0].deny, "-c");
	assert_null(p.programs.item[0].package);
}

/* ---- network ---- */

static const struct word_case {
	struct strlist net;
	enum policy_net want;
	bool udp;
} WORDS[] = {
	{LIST("none"), POLICY_NET_NONE, false},
	{LIST("all"), POLICY_NET_ALL, true},
	{LIST("none", "all"), POLICY_NET_ALL, true},
	{LIST("loopback"), POLICY_NET_LOOPBACK, true},
	{LIST(":443"), POLICY_NET_PORTS, false},
	{LIST(":443", ":53"), POLICY_NET_PORTS, true},
	{LIST(":443", "all"), POLICY_NET_ALL, true},
	{LIST("loopback", "all", ":1"), POLICY_NET_ALL, true},
	{LIST("example.com"), POLICY_NET_PROXY, true},
	{LIST("*.example.com", ":443"), POLICY_NET_PROXY, true},
	{LIST("10.0.0.5:8080"), POLICY_NET_PROXY, true},
	{LIST("127.0.0.1:5432"), POLICY_NET_PROXY, true},
	{LIST("loopback", "example.com"), POLICY_NET_PROXY, true},
	{LIST("all", "example.com"), POLICY_NET_ALL, true},
};

TEST(net, each_word, is_resolved)
{
	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct gate_policy asked = {.net = WORDS[i].net};
		struct policy p;

		resolve(&asked, NULL, &arena, &p);
		assert_int_equal(p.net, WORDS[i].want);
		assert_int_equal(p.net_udp, WORDS[i].udp);
		if (p.net != POLICY_NET_PORTS)
			assert_int_equal(p.n_ports, 0);
	}
}

TEST(net, ports, are_sorted_and_once)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy asked = {
		.net = LIST(":8080", ":1", ":443", ":8080", ":65535", ":443")};
	struct policy p;

	resolve(&asked, NULL, &arena, &p);
	assert_int_equal(p.n_ports, 4);
	assert_int_equal(p.ports[0], 1);
	assert_int_equal(p.ports[1], 443);
	assert_int_equal(p.ports[2], 8080);
	assert_int_equal(p.ports[3], 65535);
}

/* ---- what is refused ---- */

static const struct bad_case {
	struct gate_policy p;
	enum err_kind kind;
	const char *say;
} BAD[] = {
	{{.profile = "stirct"}, ERR_POLICY, "did you mean \"strict\""},
	{{.profile = "xyzzy"}, ERR_POLICY, "one of strict, default, open"},
	{{.profile = ""}, ERR_POLICY, "profile"},
	{{.require = LIST("fs-raed")}, ERR_POLICY, "\"fs-read\""},
	{{.require = LIST("landlok")}, ERR_POLICY, "\"landlock\""},
	{{.require = LIST("qwertyuiop")}, ERR_POLICY, "one of exec-listed"},
	{{.syscalls = LIST("mout")}, ERR_POLICY, "\"mount\""},
	{{.syscalls = LIST("mount", "clone3")}, ERR_POLICY, "clone3"},
	{{.syscalls = LIST("ioctl")}, ERR_POLICY, "by its arguments"},
	{{.net = LIST("al")}, ERR_POLICY, "\"all\""},
	{{.net = LIST("loopbak")}, ERR_POLICY, "\"loopback\""},
	{{.net = LIST("loop")}, ERR_POLICY, "did you mean \"loopback\""},
	{{.net = LIST("everything")}, ERR_POLICY, "did you mean \"all\""},
	{{.net = LIST("off")}, ERR_POLICY, "did you mean \"none\""},
	{{.net = LIST("")}, ERR_POLICY, "port"},
	{{.net = LIST(":")}, ERR_POLICY, "1 to 65535"},
	{{.net = LIST(":0")}, ERR_POLICY, "1 to 65535"},
	{{.net = LIST(":65536")}, ERR_POLICY, "1 to 65535"},
	{{.net = LIST(":44x")}, ERR_POLICY, "1 to 65535"},
	{{.net = LIST(":-1")}, ERR_POLICY, "1 to 65535"},
	{{.net = LIST("loopback", ":80")}, ERR_POLICY, "combined"},
	{{.net = LIST("none", "example..com")}, ERR_POLICY, "neither a host"},
	{{.net = LIST("all", "0x7f.1:80")}, ERR_POLICY, "neither a host"},
	{{.net = LIST("https://example.com")}, ERR_POLICY, "not a URL"},
	{{.net = LIST("127.0.0.1")}, ERR_POLICY, "\"127.0.0.1:8080\""},
	{{.read = LIST("srv")}, ERR_POLICY, "read: \"srv\" is not an absolute"},
	{{.write = LIST("./w")}, ERR_POLICY, "write: \"./w\" is not"},
	{{.write = LIST("")}, ERR_POLICY, "write: \"\" is not"},
	{{.exec = LIST("./tool")}, ERR_POLICY, "exec: \"./tool\""},
	{{.exec = LIST("")}, ERR_POLICY, "exec: \"\""},
	{{.user = ""}, ERR_POLICY, "user"},
};

TEST(check, wrong_names, say_what_is_right)
{
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT, again = ERR_INIT;
		struct policy p;

		if (gate_policy_check(&BAD[i].p, &err) == 0)
			fail_msg("row %zu (%s) was accepted", i, BAD[i].say);
		assert_int_equal(err.kind, BAD[i].kind);
		if (!strstr(err.msg, BAD[i].say))
			fail_msg("\"%s\" lacks \"%s\"", err.msg, BAD[i].say);
		/* the gate looks names of system calls up by itself */
		if (BAD[i].p.syscalls.n)
			continue;
		assert_int_equal(
			policy_resolve(&BAD[i].p, NULL, &arena, &p, &again),
			-1);
		assert_string_equal(err.msg, again.msg);
	}
}

TEST(check, every_name_of_the_tables, is_accepted)
{
	struct err err = ERR_INIT;

	for (int i = 0; i < N_GUARANTEES; i++) {
		struct gate_policy p = {.require = LIST(GUARANTEES[i].name)};

		assert_int_equal(gate_policy_check(&p, &err), 0);
		assert_true(GUARANTEES[i].help[0] && GUARANTEES[i].then[0]);
	}
	for (int i = 0; i < N_MECHANISMS; i++) {
		struct gate_policy p = {.require = LIST(MECHANISMS[i].name)};

		assert_int_equal(gate_policy_check(&p, &err), 0);
		assert_true(MECHANISMS[i].help[0]);
	}
	for (int i = 0; i < N_PROFILES; i++) {
		struct gate_policy p = {.profile = PROFILES[i].name};

		assert_int_equal(gate_policy_check(&p, &err), 0);
	}
}

/* ---- meeting the leash ---- */

TEST(leash, open, changes_nothing)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy asked = {.read = LIST("/r"),
				    .write = LIST("/w/../x"),
				    .net = LIST("all")};
	struct gate_leash leash = {
		.fs_read = ALL, .fs_write = ALL, .exec = ALL, .net = ALL};
	struct policy p;

	resolve(&asked, &leash, &arena, &p);
	assert_list(&p.read, "/r");
	assert_list(&p.write, "/w/../x");
	assert_list(&p.write_only, "");
	assert_int_equal(p.net, POLICY_NET_ALL);
	assert_int_equal(p.capped.n, 0);
}

TEST(leash, read, is_dropped_narrowed_or_kept)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy asked = {.read = LIST("/srv/a/x", "/srv", "/etc",
						 "/srv/ab", "/srv/a/../b")};
	struct gate_leash leash = {.fs_read = ONLY("/srv/a", "/srv/b"),
				   .fs_write = ALL,
				   .net = ALL};
	struct policy p;

	resolve(&asked, &leash, &arena, &p);
	assert_list(&p.read, "/srv/a/x /srv/a /srv/b");
	assert_int_equal(p.capped.n, 4);
	assert_string_equal(p.capped.item[0],
			    "read \"/srv\": narrowed to what the leash allows "
			    "(fs_read)");
	assert_string_equal(p.capped.item[1],
			    "read \"/etc\": dropped, the leash does not allow "
			    "it (fs_read)");
}

TEST(leash, write_unreadable, is_only_written)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy asked = {.write = LIST("/out", "/data", "/no")};
	struct gate_leash leash = {
		.fs_read = ONLY("/data", "/out/readable"),
		.fs_write = ONLY("/out", "/data/part"),
		.net = ALL,
	};
	struct policy p;

	resolve(&asked, &leash, &arena, &p);
	assert_list(&p.write, "/out/readable /data/part");
	assert_list(&p.write_only, "/out");
	assert_list(&p.read, "");
	assert_int_equal(p.capped.n, 3);
}

TEST(leash, nothing, leaves_nothing)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct gate_policy asked = {.read = LIST("/r", "/"),
				    .write = LIST("/w"),
				    .net = LIST("all")};
	struct gate_leash leash = {.max_calls = 0};
	struct policy p;

	resolve(&asked, &leash, &arena, &p);
	assert_int_equal(p.read.n + p.write.n + p.write_only.n, 0);
	assert_int_equal(p.net, POLICY_NET_NONE);
	assert_false(p.net_udp);
	assert_int_equal(p.capped.n, 4);
}

static const struct net_case {
	struct strlist asked, leash;
	enum policy_net want;
	size_t ports, capped;
} NETS[] = {
	{LIST("all"), LIST(":443"), POLICY_NET_PORTS, 1, 1},
	{LIST("all"), LIST("api.example.com:443"), POLICY_NET_PROXY, 0, 1},
	{LIST("all"), LIST("not a host"), POLICY_NET_NONE, 0, 1},
	{LIST("a.example:443"), LIST("a.example"), POLICY_NET_PROXY, 0, 0},
	{LIST("a.example"), LIST("a.example:443"), POLICY_NET_PROXY, 0, 1},
	{LIST("a.example"), LIST("b.example"), POLICY_NET_NONE, 0, 1},
	{LIST("a.example"), LIST("*.example"), POLICY_NET_PROXY, 0, 1},
	{LIST("*.example"), LIST("a.example"), POLICY_NET_PROXY, 0, 1},
	{LIST("a.example", "b.example"), LIST("a.example"), POLICY_NET_PROXY, 0,
	 1},
	{LIST(":443"), LIST("a.example"), POLICY_NET_PROXY, 0, 1},
	{LIST("a.example:443"), LIST(":443"), POLICY_NET_PROXY, 0, 0},
	{LIST("127.0.0.1:5"), LIST("127.0.0.1:5"), POLICY_NET_PROXY, 0, 0},
	{LIST("127.0.0.1:5"), LIST("127.0.0.1:6"), POLICY_NET_NONE, 0, 1},
	{LIST("all"), LIST("all"), POLICY_NET_ALL, 0, 0},
	{LIST(":443"), LIST(":443", ":80"), POLICY_NET_PORTS, 1, 0},
	{LIST(":443", ":22"), LIST(":443"), POLICY_NET_PORTS, 1, 1},
	{LIST(":22"), LIST(":443"), POLICY_NET_NONE, 0, 1},
	{LIST("loopback"), LIST(":443"), POLICY_NET_NONE, 0, 1},
	{LIST("loopback"), LIST("loopback"), POLICY_NET_LOOPBACK, 0, 0},
	{LIST("none"), LIST(":443"), POLICY_NET_NONE, 0, 0},
};

TEST(leash, net, is_met_and_never_joined)
{
	for (size_t i = 0; i < ARRAY_LEN(NETS); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct gate_policy asked = {.net = NETS[i].asked};
		struct gate_leash leash = {.net = {.only = NETS[i].leash}};
		struct policy p;

		resolve(&asked, &leash, &arena, &p);
		if (p.net != NETS[i].want || p.n_ports != NETS[i].ports ||
		    p.capped.n != NETS[i].capped)
			fail_msg("row %zu: net %d ports %zu capped %zu", i,
				 p.net, p.n_ports, p.capped.n);
	}
}

/* More rows than any first allocation. */
TEST(leash, many_rows, all_are_kept)
{
	enum { MANY = 100 };
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *rows[MANY];
	struct gate_policy asked = {.read = LIST("/")};
	struct gate_leash leash = {.fs_read = {.only = {rows, MANY}}};
	struct policy p;

	for (int i = 0; i < MANY; i++)
		rows[i] = arena_printf(&arena, "/srv/%d", i);
	resolve(&asked, &leash, &arena, &p);
	assert_int_equal(p.read.n, MANY);
	for (int i = 0; i < MANY; i++)
		assert_string_equal(p.read.item[i], rows[i]);
}
