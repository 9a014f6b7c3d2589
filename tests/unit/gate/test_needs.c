/*
 * From records, made by hand, to the rows of a policy: on real files in a
 * folder of the test, which holds its HOME. Rows are in
 * values/needs.transcript; paths without a slash before them lie in the folder:
 *
 *	needs ACT; ACT ...	what a run that did this needs: key, value, how
 *				often; and whether it is not granted
 *	widen PATH		may a grant be widened to this folder?
 *	closed PATH		its kind, and its row of closed.def
 *	key NAME		is it one of a file with keys of a project?
 *
 * ACT is "read PATH", "look PATH", "list PATH", "make PATH", "write PATH", "run
 *PATH", "refused PATH", "serve ADDRESS", "connect ADDRESS", "call NAME", which
 *is denied; or "fails", "grants nothing", "reads alone", "starts PATH" of the
 *run itself.
 */
#include <sys/stat.h>

#include "tests/unit/test.h"
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/prepare/private_files.h"
#include "gate/policy/allow.h"
#include "gate/policy/closed.h"
#include "gate/path/resolve.h"
#include "gate/prepare/state.h"
#include "tests/unit/temp_dir.h"
#include "tests/unit/values.h"

#define RECORDS_MAX 16

/* For all tests of the file. */
static char *top;
static struct arena arena;
static struct gate *gate;

static const char *at(const char *path)
{
	return path[0] == '/' ? path : arena_printf(&arena, "%s/%s", top, path);
}

static int setup(void **state)
{
	static const char *const files[] = {
		"home/a.txt", "home/b.txt", "home/.ssh/key", "home/.cache/x",
		"data/a",     "data/b",	    "one/file",
	};
	struct gate_config config = {.leash = {.fs_read = {.all = true},
					       .fs_write = {.all = true},
					       .exec = {.all = true},
					       .net = {.all = true},
					       .calls_unlimited = true,
					       .generations = {.all = true},
					       .interpreters = true}};
	struct err err = ERR_INIT;

	(void)state;
	if (temp_dir_make((void **)&top) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const char *path = at(files[i]);

		if (fd_mkdirs(resolve_dirname(path, &arena), 0755) < 0 ||
		    fd_replace_file(path, STR("x"), 0644, false, &err) < 0)
			return -1;
	}
	setenv("HOME", at("home"), 1);
	return gate_new(&config, &gate, &err);
}

static int teardown(void **state)
{
	void *dir = top;

	(void)state;
	gate_free(gate);
	arena_release(&arena);
	return temp_dir_remove(&dir);
}

TEST_FILE(setup, teardown);

/* ---- rows ---- */

/* A run: what it was granted, what it did. */
struct done {
	struct gate_record record[RECORDS_MAX];
	struct gate_denial denial;
	struct gate_verdict verdict;
	struct gate_policy traced;
	const char *cwd;
};

static void add_act(struct done *d, struct str act)
{
	static const struct {
		const char *verb;
		unsigned what, access;
		bool refused;
	} verbs[] = {
		{"read", GATE_RECORD_FILES, GATE_ACCESS_READ, false},
		{"look", GATE_RECORD_LOOKS, GATE_ACCESS_READ, false},
		{"list", GATE_RECORD_FILES, GATE_ACCESS_LIST, false},
		{"make", GATE_RECORD_FILES,
		 GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY, false},
		{"write", GATE_RECORD_FILES, GATE_ACCESS_WRITE, false},
		{"run", GATE_RECORD_EXEC, GATE_ACCESS_RUN, false},
		{"refused", GATE_RECORD_EXEC, GATE_ACCESS_RUN, true},
		{"serve", GATE_RECORD_NET, GATE_ACCESS_SERVE, false},
		{"connect", GATE_RECORD_NET, 0, false},
	};
	struct str verb = str_cut(&act, ' ');
	const char *name = arena_str(&arena, act).p;
	size_t i = 0;

	if (str_is(verb, "fails")) {
		d->verdict.exit_status = 1;
	} else if (str_is(verb, "grants")) {
		d->traced.read.n = d->traced.write.n = 0;
	} else if (str_is(verb, "reads")) {
		d->traced.write.n = 0;
	} else if (str_is(verb, "starts")) {
		d->cwd = at(name);
	} else if (str_is(verb, "call")) {
		d->denial = (struct gate_denial){.kind = "syscall",
						 .name = name,
						 .program = "prog",
						 .detail = "",
						 .allow = {"syscalls", name},
						 .count = 1};
		d->verdict.n_denials = 1;
	} else {
		while (!str_is(verb, verbs[i].verb))
			assert_true(++i < ARRAY_LEN(verbs));
		assert_true(d->verdict.n_records < RECORDS_MAX);
		d->record[d->verdict.n_records++] = (struct gate_record){
			.what = verbs[i].what,
			.path = verbs[i].what & (GATE_RECORD_FILES |
						 GATE_RECORD_LOOKS)
					? at(name)
					: name,
			.access = verbs[i].access,
			.refused = verbs[i].refused,
			.program = "prog",
			.count = 2};
	}
}

static void find(const char *acts, struct gate_needs *ret)
{
	static const char *const argv[] = {"true", NULL};
	const struct gate_policy plain = {.profile = NULL};
	struct gate_request request = {
		.program = "true", .argv = argv, .policy = &plain};
	const char *granted[] = {top};
	struct done d = {
		.traced = {.read = {granted, 1}, .write = {granted, 1}}};
	struct str rest = str_of(acts);
	struct err err = ERR_INIT;

	d.verdict = (struct gate_verdict){
		.exited = true, .records = d.record, .denials = &d.denial};
	while (rest.n)
		add_act(&d, str_trim(str_cut(&rest, ';')));
	request.cwd = d.cwd;
	if (gate_needs(gate, &request, &d.traced, &d.verdict,
		       d.verdict.exited && !d.verdict.exit_status, &arena, ret,
		       &err) < 0)
		fail_msg("%s", err.msg);
}

static int do_needs(struct value_row *r)
{
	struct gate_needs needs;

	find(r->part[0], &needs);
	for (size_t i = 0; i < needs.n; i++) {
		const struct gate_need *n = &needs.need[i];
		size_t in_top =
			str_starts(str_of(n->value), top) ? strlen(top) + 1 : 0;

		buf_addf(&r->out, "%s%s %s (%u)%s", i ? "; " : "", n->key,
			 n->value + in_top, (unsigned)n->count,
			 n->why_not	   ? ", not granted"
			 : n->is_looked_up ? ", looked up"
					   : "");
	}
	return 0;
}

static struct closed closed_things(void)
{
	static const char *homes[] = {"/home/me", "/srv/me"};

	return (struct closed){
		.home = homes[0], .homes = {homes, 2}, .state = "/var/own"};
}

static int do_widen(struct value_row *r)
{
	const struct closed c = closed_things();

	return value_is(r, closed_may_widen(&c, r->part[0]));
}

static int do_closed(struct value_row *r)
{
	static const char *const kinds[] = {[CLOSED_NOT] = "not",
					    [CLOSED_SECRET] = "secret",
					    [CLOSED_OTHERS] = "others",
					    [CLOSED_CACHE] = "cache",
					    [CLOSED_SYSTEM] = "system"};
	const struct closed c = closed_things();
	const char *row = closed_secret_row(&c, r->part[0]);

	buf_addf(&r->out, "%s%s%s", kinds[closed_kind_of(&c, r->part[0])],
		 row ? " " : "", row ? row : "");
	return 0;
}

static int do_key(struct value_row *r)
{
	return value_is(r, file_is_project_key(r->part[0]));
}

static const struct value_reader READERS[] = {{"needs", do_needs},
					      {"widen", do_widen},
					      {"closed", do_closed},
					      {"key", do_key}};

TEST_VALUES(READERS, "tests/unit/gate/values/needs.transcript");

TEST(policy, needs_not_granted, are_left_out)
{
	const struct gate_policy base = {.profile = "strict"};
	struct gate_needs needs;
	struct gate_policy p;

	find("read home/.ssh/key; read one/file", &needs);
	gate_needs_policy(&base, &needs, &arena, &p);
	assert_int_equal(p.read.n, 1);
	assert_string_equal(p.read.item[0], at("one/file"));
	assert_string_equal(p.profile, "strict");
}

/* ---- folders on disk ---- */

static bool any_covers(const struct strlist *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (place_covers(list->item[i], path))
			return true;
	return false;
}

TEST(trace, policy, reads_all_but_what_is_closed)
{
	const struct gate_policy base = {.profile = NULL};
	struct err err = ERR_INIT;
	struct gate_policy p;
	struct strlist says;

	assert_int_equal(gate_trace_policy(gate, &base, at("data"), true,
					   &arena, &p, &says, &err),
			 0);
	assert_true(any_covers(&p.read, at("home/a.txt")));
	assert_true(any_covers(&p.read, "/usr/share"));
	assert_false(any_covers(&p.read, at("home/.ssh/key")));
	assert_false(any_covers(&p.read, "/etc/shadow"));
	assert_false(any_covers(&p.write, at("home")));
	assert_true(any_covers(&p.write, at("data")));
	assert_true(says.n > 0);
	assert_int_equal(gate_trace_policy(gate, &base, at("data"), false,
					   &arena, &p, &says, &err),
			 0);
	assert_true(any_covers(&p.read, at("data")));
	assert_int_equal(p.write.n, 0);
	assert_int_equal(gate_trace_policy(gate, &base, at("home"), true,
					   &arena, &p, &says, &err),
			 0);
	assert_int_equal(p.write.n, 0);
}

TEST(private, folders, are_looked_through)
{
	const char *dir = at("look"), *deep = at("look/deep");
	size_t budget = 100;
	int fd;

	assert_int_equal(fd_mkdirs(at("look/deep/er"), 0755), 0);
	fd = fd_open(at("look/deep/open"), O_WRONLY | O_CREAT, 0644);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_false(folder_holds_private(dir, NULL, &budget));
	assert_int_equal(budget, 97);
	fd = fd_open(at("look/deep/er/key"), O_WRONLY | O_CREAT, 0600);
	assert_false(folder_holds_private(dir, NULL, &budget)); /* empty */
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_true(folder_holds_private(dir, NULL, &budget));
	assert_false(folder_holds_private(dir, deep, &budget));
	budget = 1;
	assert_true(
		folder_holds_private(at("look"), at("look/deep/er"), &budget));
}
