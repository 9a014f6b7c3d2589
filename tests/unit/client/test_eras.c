#include "tests/unit/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/client/eras.h"
#include "tests/unit/temp_dir.h"

static const char *const argv_a[] = {"srv", "a", NULL};
static const char *const argv_b[] = {"srv", "b", NULL};

static struct era_key key_of(const char *program, const char *const *argv,
			     const char *cwd)
{
	struct era_key key;

	eras_key(&key, program, argv, cwd);
	return key;
}

static enum session_era found(const char *dir, const struct era_key *key)
{
	struct eras *e = eras_open(dir);
	enum session_era era = eras_find(e, key);

	eras_free(e);
	return era;
}

static void learn(const char *dir, const struct era_key *key,
		  enum session_era era)
{
	struct eras *e = eras_open(dir);

	eras_learn(e, key, era);
	eras_free(e);
}

TEST(eras_key, whatever_differs, is_another)
{
	struct era_key k = key_of("/bin/sh", argv_a, "/tmp");
	struct era_key same = key_of("/bin/sh", argv_a, "/tmp");
	struct era_key args = key_of("/bin/sh", argv_b, "/tmp");
	struct era_key cwd = key_of("/bin/sh", argv_a, "/");
	struct era_key program = key_of("/bin/cat", argv_a, "/tmp");

	assert_string_equal(k.hex, same.hex);
	assert_string_not_equal(k.hex, args.hex);
	assert_string_not_equal(k.hex, cwd.hex);
	assert_string_not_equal(k.hex, program.hex);
}

TEST_IN(temp_dir, eras_key, program_replaced, is_another)
{
	AUTO(mem_freep) char *path = mem_printf("%s/prog", (char *)*state);
	struct err err = ERR_INIT;
	struct era_key before, after;

	assert_int_equal(fd_replace_file(path, STR("1"), 0700, false, &err), 0);
	before = key_of(path, argv_a, NULL);
	assert_int_equal(fd_replace_file(path, STR("2"), 0700, false, &err), 0);
	after = key_of(path, argv_a, NULL);
	assert_string_not_equal(before.hex, after.hex);
}

TEST_IN(temp_dir, eras, learned, are_found_by_another_process)
{
	AUTO(mem_freep) char *dir = mem_printf("%s/new", (char *)*state);
	AUTO(mem_freep) char *path = mem_printf("%s/eras.json", dir);
	struct era_key a = key_of("/bin/sh", argv_a, NULL);
	struct era_key b = key_of("/bin/sh", argv_b, NULL);
	struct stat st;

	assert_int_equal(found(dir, &a), SESSION_ERA_PROBE);
	learn(dir, &a, SESSION_ERA_INITIALIZE);
	learn(dir, &b, SESSION_ERA_PER_REQUEST);
	assert_int_equal(found(dir, &a), SESSION_ERA_INITIALIZE);
	assert_int_equal(found(dir, &b), SESSION_ERA_PER_REQUEST);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

TEST_IN(temp_dir, eras, learned_side_by_side, are_all_kept)
{
	struct era_key a = key_of("/bin/sh", argv_a, NULL);
	struct era_key b = key_of("/bin/sh", argv_b, NULL);
	struct eras *one = eras_open(*state), *other = eras_open(*state);

	eras_learn(one, &a, SESSION_ERA_INITIALIZE);
	eras_learn(other, &b, SESSION_ERA_PER_REQUEST);
	eras_free(one);
	eras_free(other);
	assert_int_equal(found(*state, &a), SESSION_ERA_INITIALIZE);
	assert_int_equal(found(*state, &b), SESSION_ERA_PER_REQUEST);
}

TEST_IN(temp_dir, eras, proved_wrong, are_forgotten)
{
	struct era_key a = key_of("/bin/sh", argv_a, NULL);
	struct era_key b = key_of("/bin/sh", argv_b, NULL);

	learn(*state, &a, SESSION_ERA_INITIALIZE);
	learn(*state, &b, SESSION_ERA_INITIALIZE);
	learn(*state, &a, SESSION_ERA_PROBE);
	assert_int_equal(found(*state, &a), SESSION_ERA_PROBE);
	assert_int_equal(found(*state, &b), SESSION_ERA_INITIALIZE);
}

TEST_IN(temp_dir, eras, file_is_no_such_file, are_written_anew)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"schema\":\"matins-eras/2\",\"servers\":[]}",
		"{\"schema\":\"matins-eras/2\",\"servers\":\"short\"}",
		"{\"schema\":\"matins-eras/1\",\"servers\":[{\"key\":\"x\","
		"\"era\":\"initialize\"}]}"};
	AUTO(mem_freep) char *path = mem_printf("%s/eras.json", (char *)*state);
	struct era_key a = key_of("/bin/sh", argv_a, NULL);
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(fd_replace_file(path, str_of(texts[i]), 0600,
						 false, &err),
				 0);
		assert_int_equal(found(*state, &a), SESSION_ERA_PROBE);
		learn(*state, &a, SESSION_ERA_INITIALIZE);
		assert_int_equal(found(*state, &a), SESSION_ERA_INITIALIZE);
	}
}

TEST_IN(temp_dir, eras, folder_cannot_be_made, are_remembered_in_memory)
{
	AUTO(mem_freep) char *file = mem_printf("%s/file", (char *)*state);
	AUTO(mem_freep) char *dir = mem_printf("%s/below", file);
	struct era_key a = key_of("/bin/sh", argv_a, NULL);
	struct err err = ERR_INIT;
	struct eras *e;

	assert_int_equal(fd_replace_file(file, STR(""), 0600, false, &err), 0);
	e = eras_open(dir);
	eras_learn(e, &a, SESSION_ERA_INITIALIZE);
	assert_int_equal(eras_find(e, &a), SESSION_ERA_INITIALIZE);
	eras_free(e);
	assert_int_equal(found(dir, &a), SESSION_ERA_PROBE);
}

TEST(eras, more_than_the_bound, lose_the_oldest)
{
	struct eras *e = eras_open(NULL);
	struct era_key key[ERAS_MAX + 1];

	for (size_t i = 0; i < ARRAY_LEN(key); i++) {
		snprintf(key[i].hex, sizeof(key[i].hex), "%032zu", i);
		eras_learn(e, &key[i], SESSION_ERA_INITIALIZE);
	}
	assert_int_equal(eras_find(e, &key[0]), SESSION_ERA_PROBE);
	assert_int_equal(eras_find(e, &key[1]), SESSION_ERA_INITIALIZE);
	assert_int_equal(eras_find(e, &key[ERAS_MAX]), SESSION_ERA_INITIALIZE);
	eras_free(e);
}
