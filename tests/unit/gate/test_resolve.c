/* From a name to opened, judged files. */

#include "tests/unit/test.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/path/resolve.h"
#include "tests/unit/temp_dir.h"

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

/* ---- the first line of a script ---- */

static void check_shebang(const char *text, const char *interpreter,
			  const char *argument)
{
	struct str i, a;

	assert_true(resolve_shebang(str_of(text), &i, &a));
	assert_true(str_is(i, interpreter));
	if (argument)
		assert_true(str_is(a, argument));
	else
		assert_null(a.p);
}

TEST(shebang, with_and_without_argument, is_split)
{
	check_shebang("#!/bin/sh\n", "/bin/sh", NULL);
	check_shebang("#!/bin/sh", "/bin/sh", NULL);
	check_shebang("#!  /bin/sh -e  \nfoo", "/bin/sh", "-e");
	check_shebang("#!/usr/bin/env -S a b c\n", "/usr/bin/env", "-S a b c");
	check_shebang("#!/bin/sh\t-x\r\n", "/bin/sh", "-x");
}

TEST(shebang, none, is_refused)
{
	struct str i, a;

	assert_false(resolve_shebang(STR(""), &i, &a));
	assert_false(resolve_shebang(STR("#"), &i, &a));
	assert_false(resolve_shebang(STR("#!"), &i, &a));
	assert_false(resolve_shebang(STR("#!\n/bin/sh"), &i, &a));
	assert_false(resolve_shebang(STR(" #!/bin/sh"), &i, &a));
}

TEST(shebang, longer_than_the_kernel_reads, is_cut)
{
	char text[600];
	struct str i, a;

	memset(text, 'x', sizeof(text));
	memcpy(text, "#!/", 3);
	assert_true(resolve_shebang((struct str){text, sizeof(text)}, &i, &a));
	assert_int_equal(i.n, LIMIT_SHEBANG - 2);
}

TEST(env, options_and_assignments, are_passed_over)
{
	assert_true(str_is(resolve_env_target(STR("node")), "node"));
	assert_true(str_is(resolve_env_target(STR("-S node --x")), "node"));
	assert_true(str_is(resolve_env_target(STR("-Snode")), "node"));
	assert_true(str_is(resolve_env_target(STR("-i A=b  perl")), "perl"));
	assert_int_equal(resolve_env_target(STR("-i")).n, 0);
	assert_int_equal(resolve_env_target(STR("")).n, 0);
}

/* ---- judging ---- */

TEST(judge, who_may_change_the_file, decides)
{
	static const struct {
		mode_t mode;
		uid_t uid;
		gid_t gid;
		bool is_good;
	} rows[] = {
		{S_IFREG | 0755, 0, 0, true},
		{S_IFREG | 0755, 1000, 1000, true},
		{S_IFREG | 0755, 1001, 1000, false},
		{S_IFREG | 0644, 0, 0, false},
		{S_IFREG | 0757, 0, 0, false},
		{S_IFREG | 0775, 0, 0, true},
		{S_IFREG | 0775, 1000, 1000, true},
		{S_IFREG | 0775, 1000, 20, false},
		{S_IFREG | 0711, 0, 0, true},
		{S_IFDIR | 0755, 0, 0, false},
		{S_IFIFO | 0755, 0, 0, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct stat st = {.st_mode = rows[i].mode,
				  .st_uid = rows[i].uid,
				  .st_gid = rows[i].gid};

		assert_int_equal(resolve_judge(&st, 1000, 1000) == NULL,
				 rows[i].is_good);
	}
}

/* ---- whole programs ---- */

static int resolve(const char *name, const char *path, struct arena *arena,
		   struct resolved *r, struct err *err)
{
	return resolve_program(name, path, arena, r, err);
}

TEST(resolve, a_program, comes_with_its_loader)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;

	assert_int_equal(resolve("sh", "/bin:/usr/bin", &arena, &r, &err), 0);
	assert_int_equal(r.exec, 0);
	assert_true(r.file[0].is_bare);
	assert_int_equal(r.prefix.n, 0);
	assert_int_equal(r.n, 2);
	assert_true(r.file[1].is_loader);
	resolved_release(&r);
	arena_release(&arena);
}

TEST_IN(temp_dir, resolve, a_script, comes_with_its_interpreter)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;
	char *name = mem_printf("%s/script", (char *)*state);

	put(*state, "script", "#!/bin/sh -e\n", 0755);
	assert_int_equal(resolve(name, NULL, &arena, &r, &err), 0);
	assert_true(r.file[0].is_script);
	assert_int_equal(r.exec, 1);
	assert_int_equal(r.prefix.n, 3);
	assert_string_equal(r.prefix.item[0], "/bin/sh");
	assert_string_equal(r.prefix.item[1], "-e");
	assert_string_equal(r.prefix.item[2], name);
	resolved_release(&r);
	arena_release(&arena);
	free(name);
}

TEST_IN(temp_dir, resolve, env, names_a_further_program)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;
	char *name = mem_printf("%s/script", (char *)*state);
	bool has_sh = false;

	put(*state, "script", "#!/usr/bin/env sh\n", 0755);
	assert_int_equal(resolve(name, NULL, &arena, &r, &err), 0);
	assert_string_equal(resolve_basename(r.file[r.exec].path), "env");
	for (size_t i = 0; i < r.n; i++)
		has_sh |= r.file[i].is_bare &&
			  strcmp(resolve_basename(r.file[i].asked), "sh") == 0;
	assert_true(has_sh);
	resolved_release(&r);
	put(*state, "script", "#!/usr/bin/env no-such-program\n", 0755);
	assert_int_equal(resolve(name, NULL, &arena, &r, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	arena_release(&arena);
	free(name);
}

TEST_IN(temp_dir, resolve, scripts_of_scripts, end_at_the_ceiling)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;
	char *name = mem_printf("%s/s0", (char *)*state);

	for (int i = 0; i < 8; i++) {
		char file[8];
		char *text = mem_printf("#!%s/s%d\n", (char *)*state, i + 1);

		snprintf(file, sizeof(file), "s%d", i);
		put(*state, file, text, 0755);
		free(text);
	}
	assert_int_equal(resolve(name, NULL, &arena, &r, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	arena_release(&arena);
	free(name);
}

TEST_IN(temp_dir, resolve, bare_name, is_found_in_absolute_parts_only)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;
	char *path = mem_printf(":.:relative::%s", (char *)*state);

	put(*state, "mine", "#!/bin/sh\n", 0755);
	assert_int_equal(resolve("mine", path, &arena, &r, &err), 0);
	resolved_release(&r);
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(resolve("mine", ":.:relative", &arena, &r, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_int_equal(chdir("/"), 0);
	arena_release(&arena);
	free(path);
}

TEST_IN(temp_dir, resolve, what_is_no_program, says_why)
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
	char *name = mem_printf("%s/x", (char *)*state);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena arena = ARENA_INIT;
		struct resolved r;
		struct err err = ERR_INIT;

		put(*state, "x", rows[i].text, rows[i].mode);
		assert_int_equal(resolve(name, NULL, &arena, &r, &err), -1);
		assert_int_equal(err.kind, rows[i].kind);
		arena_release(&arena);
	}
	free(name);
}

TEST_IN(temp_dir, resolve, a_folder_or_nothing, is_refused)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;

	assert_int_equal(resolve(*state, NULL, &arena, &r, &err), -1);
	assert_int_equal(err.kind, ERR_POLICY);
	assert_int_equal(resolve("", NULL, &arena, &r, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_int_equal(resolve("/no/such/file", NULL, &arena, &r, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	arena_release(&arena);
}

TEST_IN(temp_dir, resolve, a_shim_of_a_version_manager, is_looked_through)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;
	const char *root = *state;
	char *bin = mem_printf("%s/versions/1.2/bin", root);
	char *shims = mem_printf("%s/shims", root);
	char *path = mem_printf("%s:/usr/bin:/bin", shims);
	char *want = mem_printf("%s/sh", bin);

	assert_int_equal(fd_mkdirs(bin, 0755), 0);
	assert_int_equal(fd_mkdirs(shims, 0755), 0);
	put(shims, "sh", "#!/usr/bin/env bash\nexec x\n", 0755);
	put(bin, "sh", "#!/bin/sh\n", 0755);
	put(root, "version", "1.2\n", 0644);
	assert_int_equal(resolve("sh", path, &arena, &r, &err), 0);
	assert_string_equal(r.file[0].asked, want);
	resolved_release(&r);
	put(root, "version", "system\n", 0644);
	assert_int_equal(resolve("sh", path, &arena, &r, &err), 0);
	assert_string_not_equal(r.file[0].asked, want);
	assert_false(r.file[0].is_script);
	resolved_release(&r);
	arena_release(&arena);
	free(bin);
	free(shims);
	free(path);
	free(want);
}

TEST(resolve, our_own_name, is_the_running_program)
{
	struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err err = ERR_INIT;
	struct stat st;

	assert_int_equal(resolve("matins", "/nowhere", &arena, &r, &err), 0);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(r.file[0].st.st_ino, st.st_ino);
	resolved_release(&r);
	arena_release(&arena);
}
