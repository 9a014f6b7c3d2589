/*
 * From records, made by hand, to the rows of a policy: on real files in a
 * folder of the test, which holds its HOME.
 */
#include <sys/stat.h>

#include "tests/unit/test.h"
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/needs/private_files.h"
#include "gate/policy/allow.h"
#include "gate/policy/closed.h"
#include "gate/path/resolve.h"
#include "gate/prepare/state.h"
#include "tests/unit/temp_dir.h"

#define RECORDS_MAX 16

struct fixture {
	char *top;
	struct arena arena;
	struct gate *gate;
	struct gate_record record[RECORDS_MAX];
	struct gate_denial denial[2];
	struct gate_verdict verdict;
	struct gate_policy traced;
	const char *granted[1];
	struct gate_needs needs;
};

static const char *at(struct fixture *f, const char *path)
{
	return path[0] == '/' ? path
			      : arena_printf(&f->arena, "%s/%s", f->top, path);
}

static void put_file(struct fixture *f, const char *path)
{
	const char *full = at(f, path);
	struct err err = ERR_INIT;
	const char *dir = resolve_dirname(full, &f->arena);

	assert_int_equal(fd_mkdirs(dir, 0755), 0);
	assert_int_equal(fd_replace_file(full, STR("x"), 0644, false, &err), 0);
}

static int setup(void **state)
{
	struct gate_config config = {.leash = {.fs_read = {.all = true},
					       .fs_write = {.all = true},
					       .exec = {.all = true},
					       .net = {.all = true},
					       .calls_unlimited = true,
					       .generations = {.all = true},
					       .interpreters = true}};
	struct fixture *f = mem_zalloc(sizeof(*f));
	struct err err = ERR_INIT;

	if (temp_dir_make((void **)&f->top) < 0)
		return -1;
	f->granted[0] = f->top;
	f->traced.read = (struct strlist){f->granted, 1};
	f->traced.write = (struct strlist){f->granted, 1};
	f->verdict = (struct gate_verdict){
		.exited = true, .records = f->record, .denials = f->denial};
	put_file(f, "home/a.txt");
	put_file(f, "home/b.txt");
	put_file(f, "home/.ssh/key");
	put_file(f, "home/.cache/x");
	put_file(f, "data/a");
	put_file(f, "data/b");
	put_file(f, "one/file");
	setenv("HOME", at(f, "home"), 1);
	*state = f;
	return gate_new(&config, &f->gate, &err);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	void *top = f->top;

	gate_free(f->gate);
	arena_release(&f->arena);
	free(f);
	return temp_dir_remove(&top);
}

FIXTURE(fixture, setup, teardown);

static void did(struct fixture *f, unsigned what, const char *path,
		unsigned access)
{
	assert_true(f->verdict.n_records < RECORDS_MAX);
	f->record[f->verdict.n_records++] =
		(struct gate_record){.what = what,
				     .path = path,
				     .access = access,
				     .program = "prog",
				     .count = 2};
}

static void did_read(struct fixture *f, const char *path)
{
	did(f, GATE_RECORD_FILES, at(f, path), GATE_ACCESS_READ);
}

static void did_make(struct fixture *f, const char *path)
{
	did(f, GATE_RECORD_FILES, at(f, path),
	    GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY);
}

static void find(struct fixture *f)
{
	static const char *const argv[] = {"true", NULL};
	const struct gate_policy plain = {.profile = NULL};
	struct gate_request request = {
		.program = "true", .argv = argv, .policy = &plain};
	struct err err = ERR_INIT;

	if (gate_needs(f->gate, &request, &f->traced, &f->verdict, &f->arena,
		       &f->needs, &err) < 0)
		fail_msg("%s", err.msg);
}

/* The only need is this row, granted or not. */
static void only_is(struct fixture *f, const char *key, const char *value,
		    bool granted)
{
	find(f);
	assert_int_equal(f->needs.n, 1);
	assert_string_equal(f->needs.need[0].key, key);
	assert_string_equal(f->needs.need[0].value, at(f, value));
	assert_int_equal(!f->needs.need[0].why_not, granted);
}

/* ---- files ---- */

TEST_IN(fixture, read, one_file, is_that_file)
{
	did_read(*state, "one/file");
	did_read(*state, "one/file");
	only_is(*state, "read", "one/file", true);
	assert_int_equal(((struct fixture *)*state)->needs.need[0].count, 4);
}

TEST_IN(fixture, read, two_files_of_a_folder, are_the_folder)
{
	did_read(*state, "data/b");
	did_read(*state, "data/a");
	only_is(*state, "read", "data", true);
}

TEST_IN(fixture, read, two_files_of_home, are_never_home)
{
	struct fixture *f = *state;

	did_read(f, "home/b.txt");
	did_read(f, "home/a.txt");
	find(f);
	assert_int_equal(f->needs.n, 2);
	assert_string_equal(f->needs.need[0].value, at(f, "home/a.txt"));
	assert_string_equal(f->needs.need[1].value, at(f, "home/b.txt"));
}

TEST_IN(fixture, read, key, is_not_granted)
{
	did_read(*state, "home/.ssh/key");
	only_is(*state, "read", "home/.ssh/key", false);
}

TEST_IN(fixture, read, root_folder, is_not_granted)
{
	did_read(*state, "/");
	only_is(*state, "read", "/", false);
}

TEST_IN(fixture, read, cache_and_missing_and_base, are_no_needs)
{
	struct fixture *f = *state;

	f->traced.read.n = f->traced.write.n = 0; /* as it does with caches */
	did_read(f, "home/.cache/x");
	did_read(f, "data/is-not-there");
	did_read(f, "/etc/passwd");
	did_read(f, "/proc/self/status");
	did_read(f, "/dev/null");
	find(f);
	assert_int_equal(f->needs.n, 0);
}

TEST_IN(fixture, write, made_file, is_its_folder)
{
	did_make(*state, "data/new");
	did_read(*state, "data/a");
	only_is(*state, "write", "data", true);
}

TEST_IN(fixture, write, changed_file, is_that_file)
{
	struct fixture *f = *state;

	did(f, GATE_RECORD_FILES, at(f, "data/a"), GATE_ACCESS_WRITE);
	only_is(f, "write", "data/a", true);
}

TEST_IN(fixture, write, what_the_trace_refused, counts_when_it_failed)
{
	struct fixture *f = *state;

	/* a place that is not private, for those are the child's anyway */
	f->traced.write.n = 0;
	did_make(f, "data/new");
	f->verdict.exit_status = 1;
	only_is(f, "write", "data", true);
	f->verdict.exit_status = 0;
	only_is(f, "write", "data", false);
}

/* ---- programs, network, calls ---- */

TEST_IN(fixture, exec, in_path, is_a_bare_name)
{
	struct fixture *f = *state;

	did(f, GATE_RECORD_EXEC, "/usr/bin/env", GATE_ACCESS_RUN);
	find(f);
	assert_int_equal(f->needs.n, 1);
	assert_string_equal(f->needs.need[0].value, "env");
}

TEST_IN(fixture, exec, refused_by_a_rule, is_no_need)
{
	struct fixture *f = *state;

	did(f, GATE_RECORD_EXEC, "/usr/bin/env", GATE_ACCESS_RUN);
	f->record[0].refused = true;
	find(f);
	assert_int_equal(f->needs.n, 0);
}

TEST_IN(fixture, net, own_service, is_loopback)
{
	struct fixture *f = *state;

	did(f, GATE_RECORD_NET, "127.0.0.1:8080", GATE_ACCESS_SERVE);
	did(f, GATE_RECORD_NET, "127.0.0.1:8080", 0);
	find(f);
	assert_int_equal(f->needs.n, 1);
	assert_string_equal(f->needs.need[0].value, "loopback");
}

TEST_IN(fixture, net, own_service_and_others, is_all)
{
	struct fixture *f = *state;
	size_t granted = 0;

	did(f, GATE_RECORD_NET, "0.0.0.0:8080", GATE_ACCESS_SERVE);
	did(f, GATE_RECORD_NET, "192.0.2.7:443", 0);
	find(f);
	for (size_t i = 0; i < f->needs.n; i++)
		if (!f->needs.need[i].why_not) {
			granted++;
			assert_string_equal(f->needs.need[i].value, "all");
		}
	assert_int_equal(granted, 1);
}

TEST_IN(fixture, net, port_0_and_lost_socket_files, are_no_needs)
{
	struct fixture *f = *state;

	did(f, GATE_RECORD_NET, "192.0.2.7:0", 0);
	did(f, GATE_RECORD_NET, "unix:/run/no/such/socket", 0);
	find(f);
	assert_int_equal(f->needs.n, 0);
}

TEST_IN(fixture, calls, refused, are_needed_when_it_failed)
{
	struct fixture *f = *state;

	f->denial[0] = (struct gate_denial){.kind = "syscall",
					    .name = "ptrace",
					    .program = "prog",
					    .detail = "",
					    .allow = {"syscalls", "ptrace"},
					    .count = 1};
	f->verdict.n_denials = 1;
	f->verdict.exit_status = 1;
	find(f);
	assert_int_equal(f->needs.n, 1);
	assert_string_equal(f->needs.need[0].value, "ptrace");
	assert_null(f->needs.need[0].why_not);
	f->verdict.exit_status = 0;
	find(f);
	assert_non_null(f->needs.need[0].why_not);
}

TEST_IN(fixture, policy, needs_not_granted, are_left_out)
{
	struct fixture *f = *state;
	const struct gate_policy base = {.profile = "strict"};
	struct gate_policy p;

	did_read(f, "home/.ssh/key");
	did_read(f, "one/file");
	find(f);
	gate_needs_policy(&base, &f->needs, &f->arena, &p);
	assert_int_equal(p.read.n, 1);
	assert_string_equal(p.read.item[0], at(f, "one/file"));
	assert_string_equal(p.profile, "strict");
}

/* ---- what is never widened to, what a trace opens ---- */

TEST_IN(fixture, closed, folders, as_the_table_says)
{
	static const char *const never[] = {
		"/",
		"/home",
		"/etc",
		"/usr",
		"/usr/bin",
		"/usr/local",
		"/var",
		"/tmp",
		"/home/me",
		"/home/me/.ssh",
		"/home/me/.ssh/deep",
		"/home/me/.config",
		"/home/other",
		"/home/other/x",
		"/root",
		"/run/user/0",
		"/srv/me",
		"/srv/me/.aws",
	};
	static const char *const may[] = {
		"/home/me/work", "/home/me/.config/app", "/srv/data",
		"/tmp/x",	 "/usr/share",		 "/etc/app.d",
	};
	const char *homes[] = {"/home/me", "/srv/me"};
	const struct closed c = {
		.home = homes[0], .homes = {homes, 2}, .state = "/var/own"};

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (closed_may_widen(&c, never[i]))
			fail_msg("%s may be granted", never[i]);
	for (size_t i = 0; i < ARRAY_LEN(may); i++)
		if (!closed_may_widen(&c, may[i]))
			fail_msg("%s may not be granted", may[i]);
	assert_int_equal(closed_kind_of(&c, "/var/own/tokens"), CLOSED_SECRET);
	assert_int_equal(closed_kind_of(&c, "/home/me/x"), CLOSED_NOT);
	assert_string_equal(closed_secret_row(&c, "/home/me/.aws/config"),
			    "~/.aws");
	assert_string_equal(closed_secret_row(&c, "/home/me/.config/pip/p"),
			    "~/.config/pip");
	assert_string_equal(closed_secret_row(&c, "/home/me/.s3cfg"),
			    "~/.s3cfg");
	assert_string_equal(closed_secret_row(&c, "/home/me/.ksh_history"),
			    "~/.ksh_history");
	/* what $HOME does not name, and the passwd entry does */
	assert_string_equal(closed_secret_row(&c, "/srv/me/.aws/config"),
			    "~/.aws");
	assert_string_equal(closed_secret_row(&c, "/etc/shadow"),
			    "/etc/shadow");
	assert_null(closed_secret_row(&c, "/home/me/x"));
	assert_null(closed_secret_row(&c, "/home/me/.npm/x"));
	/* another's file, a log: shut in a trace, and no key */
	assert_int_equal(closed_kind_of(&c, "/home/you/x"), CLOSED_OTHERS);
	assert_null(closed_secret_row(&c, "/home/you/x"));
	assert_null(closed_secret_row(&c, "/var/log/syslog"));
	assert_int_equal(closed_kind_of(&c, "/home/me/.npm/x"), CLOSED_CACHE);
}

static bool any_covers(const struct strlist *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (place_covers(list->item[i], path))
			return true;
	return false;
}

TEST_IN(fixture, trace, policy, reads_all_but_what_is_closed)
{
	struct fixture *f = *state;
	const struct gate_policy none = {.profile = NULL};
	struct err err = ERR_INIT;
	struct gate_policy p;
	struct strlist says;

	assert_int_equal(gate_trace_policy(f->gate, &none, at(f, "data"),
					   &f->arena, &p, &says, &err),
			 0);
	assert_true(any_covers(&p.read, at(f, "home/a.txt")));
	assert_true(any_covers(&p.read, "/usr/share"));
	assert_false(any_covers(&p.read, at(f, "home/.ssh/key")));
	assert_false(any_covers(&p.read, "/etc/shadow"));
	assert_false(any_covers(&p.write, at(f, "home")));
	assert_true(any_covers(&p.write, at(f, "data")));
	assert_true(says.n > 0);
	assert_int_equal(gate_trace_policy(f->gate, &none, at(f, "home"),
					   &f->arena, &p, &says, &err),
			 0);
	assert_int_equal(p.write.n, 0);
}

TEST_IN(fixture, project_key, names, as_the_table_says)
{
	static const char *const keys[] = {".env",	 ".env.local",
					   "server.key", "cert.pem",
					   ".envrc",	 "id_ed25519"};
	static const char *const others[] = {
		".env.example", "env",	     "environment", "key.c",
		"id_rsa.pub",	".env.dist", "package.json"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!file_is_project_key(keys[i]))
			fail_msg("%s would be opened", keys[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (file_is_project_key(others[i]))
			fail_msg("%s would be shut", others[i]);
}

TEST_IN(fixture, private, folders, are_looked_through)
{
	struct fixture *f = *state;
	const char *dir = at(f, "look"), *deep = at(f, "look/deep");
	size_t budget = 100;
	int fd;

	assert_int_equal(fd_mkdirs(at(f, "look/deep/er"), 0755), 0);
	fd = fd_open(at(f, "look/deep/open"), O_WRONLY | O_CREAT, 0644);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_false(folder_holds_private(dir, NULL, &budget));
	assert_int_equal(budget, 97);
	fd = fd_open(at(f, "look/deep/er/key"), O_WRONLY | O_CREAT, 0600);
	assert_false(folder_holds_private(dir, NULL, &budget)); /* empty */
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_true(folder_holds_private(dir, NULL, &budget));
	assert_false(folder_holds_private(dir, deep, &budget));
	budget = 1;
	assert_true(folder_holds_private(at(f, "look"), at(f, "look/deep/er"),
					 &budget));
}
