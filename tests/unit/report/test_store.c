#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/report/store.h"
#include "tests/unit/temp_dir.h"

#define A "/home/u/a.toml"
#define B "/home/u/b.toml"

/* Where the reports of A lie. */
static char *in_folder(const char *dir, const char *name)
{
	char sum[SHA256_HEX_BYTES];

	sha256_hex(STR(A), sum);
	return mem_printf("%s/reports/%.32s/%s", dir, sum, name);
}

static bool kept(const char *dir, uint64_t generation)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	int r = store_get(dir, A, generation, &out, &err);

	buf_release(&out);
	if (r < 0)
		assert_int_equal(err.kind, ERR_UNKNOWN);
	return r == 0;
}

static int store(const char *dir, uint64_t generation, struct str report,
		 uint64_t keep, struct err *err)
{
	const struct fd_text text = fd_text_of(&report);
	char sum[SHA256_HEX_BYTES], wanted[SHA256_HEX_BYTES];
	int r = store_put(&(struct store_place){dir, A, generation, keep, NULL},
			  &text, sum, err);

	sha256_hex(report, wanted);
	if (r == 0)
		assert_string_equal(sum, wanted);
	return r;
}

static void put(const char *dir, uint64_t generation, uint64_t keep)
{
	struct err err = ERR_INIT;

	if (store(dir, generation, STR("{}\n"), keep, &err) < 0)
		fail_msg("%s", err.msg);
}

TEST_IN(temp_dir, store, room, is_made_once_and_looked_at_again)
{
	const char *dir = *state;
	const struct str report = STR("{}\n");
	const struct fd_text text = fd_text_of(&report);
	struct err err = ERR_INIT;
	struct timespec room;
	char sum[SHA256_HEX_BYTES];

	assert_false(store_make_room(dir, A, 3, &room));
	for (uint64_t g = 1; g <= 3; g++)
		put(dir, g, 3);
	assert_false(store_make_room(dir, A, 1, &room));
	assert_true(kept(dir, 1));
	assert_true(store_make_room(dir, A, 3, &room));
	assert_false(kept(dir, 1));
	assert_true(kept(dir, 2) && kept(dir, 3));
	assert_int_equal(store_put(&(struct store_place){dir, A, 4, 3, &room},
				   &text, sum, &err),
			 0);
	assert_true(kept(dir, 2) && kept(dir, 3) && kept(dir, 4));
	/* another run was faster: the folder is another one since */
	room.tv_nsec ^= 1;
	assert_int_equal(store_put(&(struct store_place){dir, A, 5, 3, &room},
				   &text, sum, &err),
			 0);
	assert_false(kept(dir, 2));
	assert_true(kept(dir, 3) && kept(dir, 4) && kept(dir, 5));
}

TEST_IN(temp_dir, store, replace, brings_back_no_report_that_is_gone)
{
	const char *dir = *state;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	put(dir, 1, 2);
	put(dir, 2, 2);
	assert_int_equal(store_replace(dir, A, 2, STR("[]"), &err), 0);
	assert_int_equal(store_get(dir, A, 2, &out, &err), 0);
	assert_string_equal(buf_cstr(&out), "[]");
	buf_release(&out);
	put(dir, 3, 2);
	assert_int_equal(store_replace(dir, A, 1, STR("[]"), &err), 0);
	assert_false(kept(dir, 1));
}

TEST_IN(temp_dir, store, put, is_read_back_private)
{
	const char *dir = *state;
	AUTO(mem_freep) char *path = in_folder(dir, "7.json");
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct stat st;

	assert_int_equal(store(dir, 7, STR("a\0b"), 100, &err), 0);
	assert_int_equal(store_get(dir, A, 7, &out, &err), 0);
	assert_int_equal(out.n, 3);
	assert_memory_equal(out.p, "a\0b", 3);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	buf_release(&out);
}

TEST_IN(temp_dir, store, more_than_kept, loses_the_oldest)
{
	const char *dir = *state;

	for (uint64_t g = 1; g <= 12; g++)
		put(dir, g, 3);
	for (uint64_t g = 1; g <= 12; g++)
		assert_int_equal(kept(dir, g), g > 9);
}

TEST_IN(temp_dir, store, keep_lowered, loses_all_surplus)
{
	const char *dir = *state;

	for (uint64_t g = 1; g <= 9; g++)
		put(dir, g, 100);
	put(dir, 10, 2);
	for (uint64_t g = 1; g <= 10; g++)
		assert_int_equal(kept(dir, g), g > 8);
}

TEST_IN(temp_dir, store, keep_none, writes_nothing)
{
	const char *dir = *state;

	put(dir, 1, 5);
	put(dir, 2, 0);
	assert_false(kept(dir, 1));
	assert_false(kept(dir, 2));
}

TEST_IN(temp_dir, store, counter_begun_anew, keeps_the_newest)
{
	const char *dir = *state;

	put(dir, 500, 2);
	put(dir, 501, 2);
	put(dir, 1, 2);
	assert_true(kept(dir, 1));
}

TEST_IN(temp_dir, store, foreign_files, leaves_them_alone)
{
	const char *dir = *state;
	AUTO(mem_freep) char *note = in_folder(dir, "notes.txt");
	struct err err = ERR_INIT;

	put(dir, 1, 1);
	assert_int_equal(fd_replace_file(note, STR("x"), 0600, false, &err), 0);
	put(dir, 2, 1);
	assert_int_equal(access(note, F_OK), 0);
}

TEST_IN(temp_dir, store, old_temporary_file, is_removed)
{
	const char *dir = *state;
	AUTO(mem_freep) char *old = in_folder(dir, "1.json.a");
	AUTO(mem_freep) char *young = in_folder(dir, "2.json.b");
	const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct err err = ERR_INIT;

	put(dir, 1, 1);
	assert_int_equal(fd_replace_file(old, STR("x"), 0600, false, &err), 0);
	assert_int_equal(fd_replace_file(young, STR("x"), 0600, false, &err),
			 0);
	assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
	put(dir, 3, 1);
	assert_int_equal(access(old, F_OK), -1);
	/* somebody may be writing it */
	assert_int_equal(access(young, F_OK), 0);
}

TEST_IN(temp_dir, store, two_files, keeps_each_apart)
{
	const char *dir = *state;
	const struct fd_text text = fd_text_of(&(struct str){"{}", 2});
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	char sum[SHA256_HEX_BYTES];
	struct err err = ERR_INIT;

	for (uint64_t g = 1; g <= 3; g++)
		put(dir, g, 100);
	for (uint64_t g = 4; g <= 9; g++)
		assert_int_equal(
			store_put(&(struct store_place){dir, B, g, 2, NULL},
				  &text, sum, &err),
			0);
	for (uint64_t g = 1; g <= 3; g++)
		assert_true(kept(dir, g));
	assert_int_equal(store_get(dir, B, 7, &out, &err), -1);
	assert_int_equal(err.kind, ERR_UNKNOWN);
	assert_int_equal(store_get(dir, B, 8, &out, &err), 0);
	assert_int_equal(store_get(dir, B, 9, &out, &err), 0);
	assert_int_equal(store_get(dir, B, 1, &out, &err), -1);
	buf_release(&out);
}

TEST_IN(temp_dir, store, of_an_earlier_version, is_read_and_left)
{
	const char *dir = *state;
	AUTO(mem_freep) char *reports = mem_printf("%s/reports", dir);
	AUTO(mem_freep) char *old = mem_printf("%s/5.json", reports);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(mkdir(reports, 0700), 0);
	assert_int_equal(fd_replace_file(old, STR("old"), 0600, false, &err),
			 0);
	put(dir, 6, 1);
	put(dir, 7, 1);
	assert_int_equal(store_get(dir, "", 5, &out, &err), 0);
	assert_string_equal(buf_cstr(&out), "old");
	buf_release(&out);
}

TEST_IN(temp_dir, store, no_folder, is_a_system_error)
{
	AUTO(mem_freep) char *dir = mem_printf("%s/a/b", (char *)*state);
	struct err err = ERR_INIT;

	assert_int_equal(store(dir, 1, STR("{}"), 1, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
}
