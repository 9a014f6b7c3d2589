/*
 * From a name to opened, judged files. Rows are in
 * values/resolve.transcript:
 *
 *	shebang TEXT		interpreter and argument of a first line
 *	env ARGUMENT		the program that env(1) is told to start
 *	judge MODE UID GID	may user 1000 of group 1000 trust such a file?
 */
#include "tests/unit/test.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/path/resolve.h"
#include "tests/unit/temp_dir.h"
#include "tests/unit/values.h"

/* ---- rows ---- */

static int do_shebang(struct value_row *r)
{
	struct str interpreter, argument;

	if (!resolve_shebang(value_bytes(r, r->part[0]), &interpreter,
			     &argument))
		buf_adds(&r->out, "none");
	else if (argument.p)
		buf_addf(&r->out, "%.*s, %.*s", STR_ARG(interpreter),
			 STR_ARG(argument));
	else
		buf_add_str(&r->out, interpreter);
	return 0;
}

static int do_env(struct value_row *r)
{
	buf_add_str(&r->out, resolve_env_target(str_of(r->part[0])));
	return 0;
}

static int do_judge(struct value_row *r)
{
	char *rest;
	struct stat st = {.st_mode = (mode_t)strtoul(r->part[0], &rest, 8)};

	st.st_uid = (uid_t)strtoul(rest, &rest, 10);
	st.st_gid = (gid_t)strtoul(rest, &rest, 10);
	return value_is(r, resolve_judge(&st, 1000, 1000) == NULL);
}

static const struct value_reader READERS[] = {
	{"shebang", do_shebang}, {"env", do_env}, {"judge", do_judge}};

TEST_VALUES(READERS, "tests/unit/gate/values/resolve.transcript");

TEST(shebang, longer_than_the_kernel_reads, is_cut)
{
	char text[600];
	struct str i, a;

	memset(text, 'x', sizeof(text));
	memcpy(text, "#!/", 3);
	assert_true(resolve_shebang((struct str){text, sizeof(text)}, &i, &a));
	assert_int_equal(i.n, LIMIT_SHEBANG - 2);
}

/* ---- whole programs ---- */

static void put(const char *dir, const char *name, const char *text,
		mode_t mode)
{
	char *path = mem_printf("%s/%s", dir, name);
	struct err err;

	assert_int_equal(fd_replace_file(path, str_of(text), mode, false, &err),
			 0);
	assert_int_equal(chmod(path, mode), 0);
	free(path);
}

struct fixture {
	char *dir;
	struct arena arena;
	struct resolved r;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	*state = f;
	return temp_dir_make((void **)&f->dir);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	void *dir = f->dir;

	resolved_release(&f->r);
	arena_release(&f->arena);
	free(f);
	return temp_dir_remove(&dir);
}

FIXTURE(programs, setup, teardown);

static const char *at(struct fixture *f, const char *name)
{
	return arena_printf(&f->arena, "%s/%s", f->dir, name);
}

static int resolve(struct fixture *f, const char *name, const char *path)
{
	resolved_release(&f->r);
	return resolve_program(name, path, &f->arena, &f->r, &f->err);
}

static void fails(struct fixture *f, const char *name, enum err_kind kind)
{
	assert_int_equal(resolve(f, name, NULL), -1);
	assert_int_equal(f->err.kind, kind);
}

TEST_IN(programs, resolve, a_program, comes_with_its_loader)
{
	struct fixture *f = *state;

	assert_int_equal(resolve(f, "sh", "/bin:/usr/bin"), 0);
	assert_int_equal(f->r.exec, 0);
	assert_true(f->r.file[0].is_bare);
	assert_int_equal(f->r.prefix.n, 0);
	assert_int_equal(f->r.n, 2);
	assert_true(f->r.file[1].is_loader);
}

TEST_IN(programs, resolved, a_name, holds_until_its_file_changes)
{
	struct fixture *f = *state;
	struct resolved r;
	char *path;

	put(f->dir, "s", "#!/bin/sh\n", 0755);
	assert_int_equal(resolve(f, at(f, "s"), NULL), 0);
	path = mem_strdup(at(f, "s"));
	assert_true(resolved_holds(&f->r, path));
	r = f->r;
	r.is_borrowed = true;
	resolved_release(&r); /* closes nothing */
	assert_true(fcntl(f->r.file[0].fd, F_GETFD) >= 0);
	chmod(path, 0777); /* nobody may be trusted with it any more */
	assert_false(resolved_holds(&f->r, path));
	put(f->dir, "s", "#!/bin/sh\n", 0755);
	assert_false(resolved_holds(&f->r, path));
	unlink(path);
	assert_false(resolved_holds(&f->r, path));
	free(path);
}

TEST_IN(programs, resolved, a_bare_name, is_looked_for_again)
{
	struct fixture *f = *state;
	char *before = mem_strdup(getenv("PATH"));

	put(f->dir, "s", "#!/bin/sh\n", 0755);
	setenv("PATH", f->dir, 1);
	assert_int_equal(resolve(f, "s", NULL), 0);
	assert_true(resolved_holds(&f->r, "s"));
	setenv("PATH", "/usr/bin", 1);
	assert_false(resolved_holds(&f->r, "s"));
	setenv("PATH", before, 1);
	free(before);
}

TEST_IN(programs, resolve, a_script, comes_with_its_interpreter)
{
	struct fixture *f = *state;

	put(f->dir, "script", "#!/bin/sh -e\n", 0755);
	assert_int_equal(resolve(f, at(f, "script"), NULL), 0);
	assert_true(f->r.file[0].is_script);
	assert_int_equal(f->r.exec, 1);
	assert_int_equal(f->r.prefix.n, 3);
	assert_string_equal(f->r.prefix.item[0], "/bin/sh");
	assert_string_equal(f->r.prefix.item[1], "-e");
	assert_string_equal(f->r.prefix.item[2], at(f, "script"));
}

TEST_IN(programs, resolve, env, names_a_further_program)
{
	struct fixture *f = *state;
	struct resolved *r = &f->r;
	bool has_sh = false;

	put(f->dir, "script", "#!/usr/bin/env sh\n", 0755);
	assert_int_equal(resolve(f, at(f, "script"), NULL), 0);
	assert_string_equal(resolve_basename(r->file[r->exec].path), "env");
	for (size_t i = 0; i < r->n; i++)
		has_sh |= r->file[i].is_bare &&
			  strcmp(resolve_basename(r->file[i].asked), "sh") == 0;
	assert_true(has_sh);
	put(f->dir, "script", "#!/usr/bin/env no-such-program\n", 0755);
	fails(f, at(f, "script"), ERR_NOT_FOUND);
}

TEST_IN(programs, resolve, scripts_of_scripts, end_at_the_ceiling)
{
	struct fixture *f = *state;
	char file[8];

	for (int i = 0; i < 8; i++) {
		snprintf(file, sizeof(file), "s%d", i);
		put(f->dir, file,
		    arena_printf(&f->arena, "#!%s/s%d\n", f->dir, i + 1), 0755);
	}
	fails(f, at(f, "s0"), ERR_LIMIT);
}

TEST_IN(programs, resolve, bare_name, is_found_in_absolute_parts_only)
{
	struct fixture *f = *state;

	put(f->dir, "mine", "#!/bin/sh\n", 0755);
	assert_int_equal(
		resolve(f, "mine",
			arena_printf(&f->arena, ":.:relative::%s", f->dir)),
		0);
	assert_int_equal(chdir(f->dir), 0);
	assert_int_equal(resolve(f, "mine", ":.:relative"), -1);
	assert_int_equal(f->err.kind, ERR_NOT_FOUND);
	assert_int_equal(chdir("/"), 0);
}

TEST_IN(programs, resolve, what_is_no_program, says_why)
{
	static const struct {
		const char *text;
		mode_t mode;
		enum err_kind kind;
	} rows[] = {
		{"#!/bin/sh\n", 0644, ERR_POLICY},
		{"#!/bin/sh\n", 0777, ERR_POLICY},
		{"echo hello\n", 0755, ERR_POLICY},
		{"", 0755, ERR_POLICY},
		{"#!sh\n", 0755, ERR_POLICY},
		{"#!/no/such/interpreter\n", 0755, ERR_NOT_FOUND},
		{"\177ELF", 0755, ERR_POLICY},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		put(f->dir, "x", rows[i].text, rows[i].mode);
		fails(f, at(f, "x"), rows[i].kind);
	}
}

TEST_IN(programs, resolve, a_folder_or_nothing, is_refused)
{
	struct fixture *f = *state;

	fails(f, f->dir, ERR_POLICY);
	fails(f, "", ERR_NOT_FOUND);
	fails(f, "/no/such/file", ERR_NOT_FOUND);
}

TEST_IN(programs, resolve, a_shim_of_a_version_manager, is_looked_through)
{
	struct fixture *f = *state;
	const char *bin = at(f, "versions/1.2/bin"), *shims = at(f, "shims");
	const char *path = arena_printf(&f->arena, "%s:/usr/bin:/bin", shims);
	const char *want = at(f, "versions/1.2/bin/sh");

	assert_int_equal(fd_mkdirs(bin, 0755), 0);
	assert_int_equal(fd_mkdirs(shims, 0755), 0);
	put(shims, "sh", "#!/usr/bin/env bash\nexec x\n", 0755);
	put(bin, "sh", "#!/bin/sh\n", 0755);
	put(f->dir, "version", "1.2\n", 0644);
	assert_int_equal(resolve(f, "sh", path), 0);
	assert_string_equal(f->r.file[0].asked, want);
	put(f->dir, "version", "system\n", 0644);
	assert_int_equal(resolve(f, "sh", path), 0);
	assert_string_not_equal(f->r.file[0].asked, want);
	assert_false(f->r.file[0].is_script);
}

TEST_IN(programs, resolve, our_own_name, is_the_running_program)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(resolve(f, "matins", "/nowhere"), 0);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(f->r.file[0].st.st_ino, st.st_ino);
}
