/*
 * Policies: defaults, merging, checking, meeting the leash. Rows are in
 * values/policies.transcript:
 *
 *	check POLICY			is it one?
 *	resolve POLICY | LEASH		what it grants; LEASH may be missing
 *
 * POLICY is "KEY VALUE ...; KEY VALUE ...", with %20 in a value. LEASH is, too;
 * "open" is an axis that allows all.
 */
#include "tests/unit/test.h"

#include "gate/policy/policy.h"
#include "tests/unit/values.h"

#define LIST(...) STRLIST(__VA_ARGS__)

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

/* ---- rows ---- */

/* Of a policy or a leash: where its value goes. */
struct field {
	const char *key;
	struct strlist *list;
	const char **word; /* the value is one word */
	bool *open;	   /* "open" is no row */
};

static void read_fields(struct value_row *r, const char *text,
			const struct field *field, size_t n)
{
	struct str rest = str_of(text);

	while (rest.n) {
		struct str value = str_trim(str_cut(&rest, ';'));
		struct str key = str_cut(&value, ' ');
		struct strlist words =
			value_words(arena_str(&r->arena, value).p, &r->arena);
		size_t i = 0;

		for (size_t k = 0; k < words.n; k++)
			words.item[k] = value_bytes(r, words.item[k]).p;
		while (!str_is(key, field[i].key))
			assert_true(++i < n);
		if (field[i].word)
			*field[i].word = words.item[0];
		else if (field[i].open && words.n &&
			 !strcmp(words.item[0], "open"))
			*field[i].open = true;
		else
			*field[i].list = words;
	}
}

static struct gate_policy read_policy(struct value_row *r)
{
	struct gate_policy p = {.profile = NULL};
	const struct field fields[] = {
		{"read", .list = &p.read},
		{"write", .list = &p.write},
		{"exec", .list = &p.exec},
		{"net", .list = &p.net},
		{"require", .list = &p.require},
		{"syscalls", .list = &p.syscalls},
		{"profile", .word = &p.profile},
		{"user", .word = &p.user},
	};

	read_fields(r, r->part[0], fields, ARRAY_LEN(fields));
	return p;
}

static int do_check(struct value_row *r)
{
	struct gate_policy asked = read_policy(r);
	struct err again = ERR_INIT;
	struct policy p;
	int rc = gate_policy_check(&asked, &r->err);

	/* the gate looks names of system calls up by itself */
	if (asked.syscalls.n)
		return rc;
	assert_int_equal(policy_resolve(&asked, NULL, &r->arena, &p, &again),
			 rc);
	if (rc < 0)
		assert_string_equal(r->err.msg, again.msg);
	return rc;
}

static void add_list(struct buf *out, const char *key,
		     const struct strlist *list, const char *between)
{
	buf_adds(out, list->n ? key : "");
	for (size_t i = 0; i < list->n; i++)
		buf_addf(out, "%s%s", i ? between : " ", list->item[i]);
	buf_adds(out, list->n ? "; " : "");
}

static int do_resolve(struct value_row *r)
{
	static const char *const nets[] = {[POLICY_NET_NONE] = "none",
					   [POLICY_NET_LOOPBACK] = "loopback",
					   [POLICY_NET_PORTS] = "ports",
					   [POLICY_NET_PROXY] = "proxy",
					   [POLICY_NET_ALL] = "all"};
	struct gate_leash l = {.max_calls = 0};
	const struct field axes[] = {
		{"fs_read", .list = &l.fs_read.only, .open = &l.fs_read.all},
		{"fs_write", .list = &l.fs_write.only, .open = &l.fs_write.all},
		{"exec", .list = &l.exec.only, .open = &l.exec.all},
		{"net", .list = &l.net.only, .open = &l.net.all},
	};
	struct gate_policy asked = read_policy(r);
	struct policy p;

	read_fields(r, r->part[1], axes, ARRAY_LEN(axes));
	if (policy_resolve(&asked, *r->part[1] ? &l : NULL, &r->arena, &p,
			   &r->err) < 0)
		return -1;
	add_list(&r->out, "read", &p.read, " ");
	add_list(&r->out, "write", &p.write, " ");
	add_list(&r->out, "only written", &p.write_only, " ");
	add_list(&r->out, "capped", &p.capped, ", ");
	buf_addf(&r->out, "net %s", nets[p.net]);
	for (size_t i = 0; i < p.n_ports; i++)
		buf_addf(&r->out, " %u", p.ports[i]);
	buf_adds(&r->out, p.net_udp ? ", UDP" : "");
	return 0;
}

static const struct value_reader READERS[] = {{"check", do_check},
					      {"resolve", do_resolve}};

TEST_VALUES(READERS, "tests/unit/gate/values/policies.transcript");

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
