#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/outfile.h"
#include "core/base/place.h"

/* Each test runs in an empty folder of its own. */
static char dir[64];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "%s", "/tmp/test_outfile.XXXXXX");
	umask(027);
	return !mkdtemp(dir) || chdir(dir) < 0 || mkdir("w", 0755) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"a",      "link", "w/a",   "w/b",
					    "w/link", "w",    "old/a", "old"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		(void)!remove(files[i]);
	(void)!chdir("/");
	return rmdir(dir); /* also fails when something was left behind */
}

FIXTURE(fixture, setup, teardown);

static void put(const char *path, const char *text)
{
	struct err err = ERR_INIT;

	assert_int_equal(fd_replace_file(path, str_of(text), 0604, false, &err),
			 0);
}

static void assert_content(const char *path, const char *want)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(fd_read_file(path, &text, &err), 0);
	assert_string_equal(buf_cstr(&text), want);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

static void open_it(struct outfile *f, const char *path, enum outfile_how how)
{
	struct err err = ERR_INIT;

	assert_int_equal(outfile_open(f, path, how, &err), 0);
}

static void assert_written(struct outfile *f)
{
	struct err err = ERR_INIT;

	assert_int_equal(outfile_write_str(f, STR("new"), &err), 0);
	outfile_release(f);
}

static void assert_refused(struct outfile *f, const char *why)
{
	struct err err = ERR_INIT;

	assert_int_equal(outfile_write_str(f, STR("new"), &err), -1);
	assert_int_equal(err.kind, ERR_OUTPUT);
	assert_non_null(strstr(err.msg, why));
	outfile_release(f);
}

TEST_IN(fixture, write, new_or_old, keeps_umask_or_mode)
{
	struct outfile f;

	open_it(&f, "a", OUTFILE_REPLACE);
	assert_int_equal(access("a", F_OK), -1);
	assert_written(&f);
	assert_content("a", "new");
	assert_int_equal(mode_of("a") & 07777, 0640);
	put("a", "old");
	open_it(&f, "a", OUTFILE_DURABLE);
	assert_written(&f);
	assert_content("a", "new");
	assert_int_equal(mode_of("a") & 07777, 0604);
}

TEST_IN(fixture, write, setuid_before, is_not_kept)
{
	struct outfile f;

	put("a", "old");
	assert_int_equal(chmod("a", 06755), 0);
	open_it(&f, "a", OUTFILE_REPLACE);
	assert_written(&f);
	assert_int_equal(mode_of("a") & 07777, 0755);
}

TEST_IN(fixture, write, link_of_before, is_followed)
{
	struct outfile f;

	assert_int_equal(symlink("w/a", "link"), 0);
	open_it(&f, "link", OUTFILE_REPLACE);
	assert_written(&f);
	assert_content("w/a", "new");
	put("w/a", "old");
	open_it(&f, "./w/../link", OUTFILE_REPLACE);
	assert_int_equal(f.folder.links.n, 1);
	assert_written(&f);
	assert_content("w/a", "new");
	assert_true(S_ISLNK(mode_of("link")));
}

TEST_IN(fixture, write, entry_of_another_kind_since, is_refused)
{
	struct outfile f;

	put("a", "mine");
	open_it(&f, "w/a", OUTFILE_REPLACE);
	assert_int_equal(symlink("../a", "w/a"), 0);
	assert_refused(&f, "w/a was replaced by a symbolic link");
	assert_int_equal(unlink("w/a"), 0);
	open_it(&f, "w/a", OUTFILE_REPLACE);
	assert_int_equal(mkfifo("w/a", 0600), 0);
	assert_refused(&f, "w/a was replaced by a FIFO");
	assert_content("a", "mine");
}

TEST_IN(fixture, write, file_that_came_since, is_replaced)
{
	struct outfile f;

	put("a", "mine");
	open_it(&f, "w/a", OUTFILE_REPLACE);
	assert_int_equal(link("a", "w/a"), 0);
	assert_written(&f);
	assert_content("w/a", "new");
	assert_content("a", "mine");
}

TEST_IN(fixture, write, other_folder_since, is_refused)
{
	struct outfile f;

	open_it(&f, "w/a", OUTFILE_REPLACE);
	assert_int_equal(rename("w", "old"), 0);
	assert_refused(&f, "was moved or replaced");
	open_it(&f, "old/a", OUTFILE_REPLACE);
	assert_int_equal(rename("old", "w"), 0);
	assert_int_equal(symlink("/tmp", "old"), 0);
	assert_refused(&f, "was moved or replaced");
	assert_int_equal(access("w/a", F_OK), -1);
	assert_int_equal(unlink("old"), 0);
}

TEST_IN(fixture, write, fifo_without_reader, does_not_wait)
{
	struct outfile f;
	char got[4] = "";
	int reader;

	assert_int_equal(mkfifo("a", 0600), 0);
	open_it(&f, "a", OUTFILE_REPLACE);
	assert_refused(&f, "a FIFO that no program reads");
	open_it(&f, "a", OUTFILE_REPLACE);
	reader = fd_open("a", O_RDONLY | O_NONBLOCK, 0);
	assert_written(&f);
	assert_int_equal(read(reader, got, 3), 3);
	assert_string_equal(got, "new");
	fd_closep(&reader);
}

TEST_IN(fixture, write, descriptor, goes_on_where_it_stands)
{
	int fd = fd_open("a", O_RDWR | O_CREAT, 0600);
	int closed = dup(fd);
	struct err err = ERR_INIT;
	struct outfile f;
	char path[32];

	assert_int_equal(fd_write_all(fd, "old ", 4), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	open_it(&f, path, OUTFILE_REPLACE);
	assert_written(&f);
	assert_content("a", "old new");
	fd_closep(&fd);
	snprintf(path, sizeof(path), "/dev/fd/%d", closed);
	close(closed);
	assert_int_equal(outfile_open(&f, path, OUTFILE_REPLACE, &err), -1);
	assert_int_equal(err.sys, EBADF);
}

TEST_IN(fixture, open, no_place, is_an_error)
{
	static const struct {
		const char *path;
		int sys;
	} rows[] = {
		{"none/a", ENOENT}, {"w", EISDIR},    {"new/", EISDIR},
		{"/", EISDIR},	    {"a/b", ENOTDIR}, {"link", ELOOP},
		{"", ENOENT},
	};
	struct err err = ERR_INIT;
	struct outfile f;

	put("a", "x");
	assert_int_equal(symlink("link", "link"), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(
			outfile_open(&f, rows[i].path, OUTFILE_REPLACE, &err),
			-1);
		assert_int_equal(err.sys, rows[i].sys);
	}
}

TEST_IN(fixture, open, new_and_there, is_refused)
{
	struct err err = ERR_INIT;
	struct outfile f;

	assert_int_equal(symlink("none", "link"), 0);
	assert_int_equal(outfile_open(&f, "link", OUTFILE_NEW, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	open_it(&f, "a", OUTFILE_NEW);
	put("a", "other");
	assert_int_equal(outfile_write_str(&f, STR("new"), &err), -1);
	assert_int_equal(err.sys, EEXIST);
	outfile_release(&f);
	assert_content("a", "other");
}

TEST_IN(fixture, put, folder, has_any_name_once)
{
	const struct str content = STR("x");
	const struct fd_text text = fd_text_of(&content);
	const struct outfolder_file b = {"b", "w/b", 0600, OUTFILE_NEW};
	struct err err = ERR_INIT;
	struct outfolder d;

	assert_int_equal(outfolder_open(&d, "w", &err), 0);
	assert_int_equal(outfolder_put(&d, &b, &text, &err), 0);
	assert_content("w/b", "x");
	assert_int_equal(outfolder_put(&d, &b, &text, &err), -1);
	assert_int_equal(err.sys, EEXIST);
	outfolder_release(&d);
	assert_int_equal(outfolder_open(&d, "w/b", &err), -1);
}

TEST_IN(fixture, find, links_on_the_way, gives_the_real_folder_and_its_links)
{
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct place place;

	assert_int_equal(symlink("..", "w/link"), 0);
	assert_int_equal(
		place_find("w/link//./w/link/none", &arena, &place, &err), 0);
	assert_string_equal(place.folder, dir);
	assert_string_equal(place.name, "none");
	assert_int_equal(place.links.n, 2);
	assert_string_equal(place.links.item[0],
			    arena_printf(&arena, "%s/w", dir));
	assert_int_equal(place_find("/", &arena, &place, &err), 0);
	assert_string_equal(place.folder, "/");
	assert_string_equal(place.name, "");
	arena_release(&arena);
}
