#include "tests/unit/test.h"
#include <pwd.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/config/leash.h"

#define OPEN                                                        \
	"\"fs_read\":\"all\",\"fs_write\":\"all\",\"net\":\"all\"," \
	"\"max_calls\":\"unlimited\",\"valid_for_generation\":\"all\""

struct fixture {
	struct arena arena;
	struct config config;
	struct gate_leash leash;
	struct err err;
};

static const struct strlist none = {NULL, 0};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.arena = ARENA_INIT, .err = ERR_INIT};
	f.config.path = "/etc/x.toml";
	f.config.dir = "/etc";
	unsetenv("MATINS_CAVEATS");
	unsetenv("MODULEX_CAVEATS");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static bool has(const struct strlist *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->item[i], name))
			return true;
	return false;
}

/* Paths that no child may write. */
static struct strlist protected(struct fixture *f, const struct config *c,
				const char *state_dir)
{
	struct gate_config config = {.state_dir = NULL};

	leash_guard(c, state_dir, NULL, &f->arena, &config);
	config.find_protected(config.find_protected_arg, &config);
	return config.protect;
}

static int find(struct fixture *f)
{
	return leash_find(&f->config, &none, &f->arena, &f->leash, &f->err);
}

TEST_IN(fixture, environment, relative_and_home, makes_paths_absolute)
{
	struct fixture *f = *state;

	assert_int_equal(chdir("/usr"), 0);
	setenv("HOME", "/home/me", 1);
	setenv("MATINS_CAVEATS",
	       "{\"fs_read\":{\"only\":[\"~/a\",\"./b//../c\",\"/d/\"]},"
	       "\"fs_write\":{\"only\":[\"~\",\"~b\"]},"
	       "\"exec\":{\"only\":[\"git\",\"bin/x\",\"~/bin/y\"]},"
	       "\"net\":\"all\",\"max_calls\":\"unlimited\","
	       "\"valid_for_generation\":\"all\"}",
	       1);
	assert_int_equal(find(f), 0);
	assert_string_equal(f->leash.fs_read.only.item[0], "/home/me/a");
	assert_string_equal(f->leash.fs_read.only.item[1], "/usr/c");
	assert_string_equal(f->leash.fs_read.only.item[2], "/d");
	assert_string_equal(f->leash.fs_write.only.item[0], "/home/me");
	assert_string_equal(f->leash.fs_write.only.item[1], "/usr/~b");
	assert_string_equal(f->leash.exec.only.item[0], "git");
	assert_string_equal(f->leash.exec.only.item[1], "/usr/bin/x");
	assert_string_equal(f->leash.exec.only.item[2], "/home/me/bin/y");
}

TEST_IN(fixture, declared, default, is_exactly_what_is_named)
{
	struct fixture *f = *state;
	const char *exec[] = {"git"}, *given[] = {"/bin/sh", "git"};
	struct env_ref ref = {"T", SECRET_CMD, "pass show 'a b'", 0, 0};
	struct env_ref variable = {"U", SECRET_ENV, "NAME", 0, 0};
	struct server server = {.name = "s", .command = "node"};
	struct step step = {.name = "a", .command = "date"};
	struct routine routine = {.name = "r", .steps = &step, .n_steps = 1};
	const struct strlist named = {given, 2};

	server.env = (struct env_refs){.item = &ref, .n = 1};
	step.env = (struct env_refs){.item = &variable, .n = 1};
	step.sandbox.exec = (struct strlist){exec, 1};
	f->config.servers = &server;
	f->config.n_servers = 1;
	f->config.routines = &routine;
	f->config.n_routines = 1;
	assert_int_equal(
		leash_find(&f->config, &named, &f->arena, &f->leash, &f->err),
		0);
	assert_false(f->leash.exec.all);
	assert_int_equal(f->leash.exec.only.n, 5);
	assert_true(has(&f->leash.exec.only, "git"));
	assert_true(has(&f->leash.exec.only, "/bin/sh"));
	assert_true(has(&f->leash.exec.only, "node"));
	assert_true(has(&f->leash.exec.only, "date"));
	assert_true(has(&f->leash.exec.only, "pass"));
	assert_false(has(&f->leash.exec.only, "NAME"));
	assert_true(f->leash.interpreters);
	assert_true(f->leash.fs_read.all && f->leash.fs_write.all &&
		    f->leash.net.all && f->leash.generations.all &&
		    f->leash.calls_unlimited);
}

TEST_IN(fixture, declared, without_configuration, is_what_was_given)
{
	struct fixture *f = *state;
	const char *given[] = {"true"};
	const struct strlist named = {given, 1};

	assert_int_equal(
		leash_find(NULL, &named, &f->arena, &f->leash, &f->err), 0);
	assert_int_equal(f->leash.exec.only.n, 1);
	assert_false(f->leash.exec.all);
}

TEST_IN(fixture, table, present, is_taken_as_it_is)
{
	struct fixture *f = *state;
	const char *exec[] = {"true"};

	f->config.caveats = (struct gate_leash){
		.source = "[caveats]",
		.exec = {.only = {exec, 1}},
		.net = {.all = true},
		.max_calls = 3,
	};
	assert_int_equal(find(f), 0);
	assert_int_equal(f->leash.exec.only.n, 1);
	assert_false(f->leash.fs_read.all);
	assert_true(f->leash.net.all);
	assert_int_equal(f->leash.max_calls, 3);
	assert_false(f->leash.calls_unlimited);
	assert_false(f->leash.interpreters);
	assert_non_null(strstr(f->leash.source, "/etc/x.toml"));
}

TEST_IN(fixture, variable, either, stands_before_the_table)
{
	struct fixture *f = *state;

	f->config.caveats = (struct gate_leash){.source = "[caveats]"};
	setenv("MODULEX_CAVEATS", "{\"exec\":{\"only\":[\"b\"]}," OPEN "}", 1);
	assert_int_equal(find(f), 0);
	assert_string_equal(f->leash.source, "$MODULEX_CAVEATS");
	assert_true(has(&f->leash.exec.only, "b"));
	setenv("MATINS_CAVEATS", "{\"exec\":\"all\"," OPEN "}", 1);
	assert_int_equal(find(f), 0);
	assert_string_equal(f->leash.source, "$MATINS_CAVEATS");
	assert_true(f->leash.exec.all);
}

TEST_IN(fixture, variable, broken_or_empty, is_never_passed_over)
{
	static const char *const broken[] = {"", "{", "{}",
					     "{\"exec\":\"all\"}", "null"};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		setenv("MATINS_CAVEATS", broken[i], 1);
		f->err = (struct err)ERR_INIT;
		assert_int_equal(find(f), -1);
		assert_non_null(strstr(f->err.msg, "$MATINS_CAVEATS"));
	}
}

TEST_IN(fixture, protected, always, are_state_configuration_golden)
{
	struct fixture *f = *state;
	struct strlist p;

	setenv("HOME", "/home/u", 1);
	unsetenv("XDG_CONFIG_HOME");
	f->config.path = "sub/x.toml";
	p = protected(f, &f->config, "/state");
	assert_true(has(&p, "/state"));
	assert_true(has(&p, "/etc/x.toml"));
	assert_true(has(&p, "/etc/golden"));
	assert_true(has(&p, "/home/u/.config/matins/config.toml"));
	assert_true(has(&p, "/home/u/.modulex/config.toml"));
	setenv("XDG_CONFIG_HOME", "/xdg", 1);
	p = protected(f, NULL, NULL);
	assert_true(has(&p, "/xdg/matins/config.toml"));
	assert_false(has(&p, "/etc/golden"));
}

TEST_IN(fixture, protected, folder_of_tokens, is_protected_too)
{
	struct fixture *f = *state;
	struct server servers[2] = {{.name = "a"}, {.name = "b"}};
	struct strlist p;

	servers[1].auth.token_store = "/elsewhere/tokens";
	f->config.servers = servers;
	f->config.n_servers = ARRAY_LEN(servers);
	p = protected(f, &f->config, "/state");
	assert_true(has(&p, "/elsewhere/tokens"));
	f->config.n_servers = 1;
	p = protected(f, &f->config, "/state");
	assert_false(has(&p, "/elsewhere/tokens"));
	f->config.n_servers = 0;
}

TEST_IN(fixture, hidden, tokens, are_hidden_wherever_they_lie)
{
	struct fixture *f = *state;
	const struct passwd *pw = getpwuid(geteuid());
	struct gate_config config = {.state_dir = NULL};
	struct strlist p;

	setenv("HOME", "/home/u", 1);
	setenv("XDG_STATE_HOME", "/xdg", 1);
	leash_guard(&f->config, "/state", NULL, &f->arena, &config);
	p = config.hide;
	unsetenv("XDG_STATE_HOME");
	assert_true(has(&p, "/state/tokens"));
	assert_true(has(&p, "/xdg/matins/tokens"));
	assert_true(has(&p, "/home/u/.local/state/matins/tokens"));
	if (pw && pw->pw_dir[0] == '/' && pw->pw_dir[1])
		assert_true(
			has(&p, arena_printf(&f->arena,
					     "%s/.local/state/matins/tokens",
					     pw->pw_dir)));
}

TEST_IN(fixture, written, all_that_is_granted, is_told_to_the_gate)
{
	struct fixture *f = *state;
	const char *out[] = {"/srv/out"}, *all[] = {"/srv/all"};
	struct server servers[1] = {{.name = "a"}};
	struct gate_config config = {.state_dir = NULL};

	servers[0].sandbox.write = (struct strlist){out, 1};
	f->config.servers = servers;
	f->config.n_servers = 1;
	f->config.sandbox.write = (struct strlist){all, 1};
	leash_guard(&f->config, NULL, NULL, &f->arena, &config);
	assert_int_equal(config.written.n, 2);
	assert_true(has(&config.written, "/srv/out"));
	assert_true(has(&config.written, "/srv/all"));
	f->config.n_servers = 0;
	f->config.sandbox.write.n = 0;
}
