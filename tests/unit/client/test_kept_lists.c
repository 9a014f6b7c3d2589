#include "tests/unit/test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/client/kept_lists.h"
#include "tests/unit/temp_dir.h"

#define MINUTE_MS (UINT64_C(60) * 1000)
#define PAGES "[{\"tools\":[]}]"

static uint64_t mono;
static int64_t wall;

static uint64_t mono_now(UNUSED struct clock *c)
{
	return mono;
}

static int64_t wall_now(UNUSED struct clock *c)
{
	return wall;
}

static struct clock at = {mono_now, wall_now};

static const char *const secret_a[] = {"TOKEN=aaaaaa", NULL};
static const char *const secret_b[] = {"TOKEN=bbbbbb", NULL};

static struct kept_key key_of(const char *what, const char *const *secrets)
{
	struct kept_key key = {.version = 7, .secrets = secrets};

	sha256_hex(str_of(what), key.hex);
	return key;
}

static void set_time(uint64_t seconds)
{
	mono = seconds * NS_PER_S;
	wall = (int64_t)((seconds + 1000000) * NS_PER_S);
}

static void put(const char *dir, const struct kept_key *key, uint64_t ttl_ms)
{
	struct kept_lists *k = kept_lists_open(dir);

	kept_lists_put(k, key, &at, ttl_ms, STR(PAGES));
	kept_lists_free(k);
}

/* What is left of it; 0: there is none. */
static uint64_t found(const char *dir, const struct kept_key *key)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct kept_lists *k = kept_lists_open(dir);
	uint64_t left = 0;
	struct str pages;

	if (kept_lists_find(k, key, &at, &text, &pages, &left))
		assert_true(str_is(pages, PAGES));
	else
		left = 0;
	kept_lists_free(k);
	return left;
}

TEST_IN(temp_dir, CH_3, kept, for_its_time_and_not_longer)
{
	const struct kept_key key = key_of("a", NULL);

	set_time(100);
	assert_int_equal(found(*state, &key), 0);
	put(*state, &key, MINUTE_MS);
	assert_int_equal(found(*state, &key), MINUTE_MS);
	set_time(130);
	assert_int_equal(found(*state, &key), MINUTE_MS / 2);
	set_time(160);
	assert_int_equal(found(*state, &key), 0);
}

TEST_IN(temp_dir, CH_3, one_clock_moved, the_other_counts)
{
	const struct kept_key key = key_of("a", NULL);

	set_time(1000);
	put(*state, &key, MINUTE_MS);
	/* before it was kept */
	wall -= (int64_t)NS_PER_S;
	assert_int_equal(found(*state, &key), 0);
	/* set back, though not that far: the time that has passed counts */
	set_time(1050);
	wall -= 40 * (int64_t)NS_PER_S;
	assert_int_equal(found(*state, &key), MINUTE_MS / 6);
	/* set forward */
	set_time(1010);
	wall += 3600 * (int64_t)NS_PER_S;
	assert_int_equal(found(*state, &key), 0);
}

TEST_IN(temp_dir, CH_3, too_long, is_a_day)
{
	const struct kept_key key = key_of("a", NULL);

	set_time(100);
	put(*state, &key, UINT64_MAX);
	assert_int_equal(found(*state, &key), 24 * 60 * MINUTE_MS);
}

TEST_IN(temp_dir, CH_4, another_server_or_caller, has_none)
{
	const struct kept_key a = key_of("a", secret_a);
	const struct kept_key other = key_of("b", secret_a);
	const struct kept_key token = key_of("a", secret_b);
	const struct kept_key nobody = key_of("a", NULL);
	struct kept_key version = a;

	version.version = 8;
	set_time(100);
	put(*state, &a, MINUTE_MS);
	assert_true(found(*state, &a));
	assert_false(found(*state, &other));
	assert_false(found(*state, &token));
	assert_false(found(*state, &nobody));
	assert_false(found(*state, &version));
	put(*state, &token, MINUTE_MS);
	assert_false(found(*state, &a));
}

TEST_IN(temp_dir, CH_9, file, is_private_and_holds_no_secret)
{
	const struct kept_key key = key_of("a", secret_a);
	AUTO(mem_freep) char *state_dir = mem_printf("%s/new", (char *)*state);
	AUTO(mem_freep)
	char *path = mem_printf("%s/lists/%s.json", state_dir, key.hex);
	AUTO(mem_freep) char *dir = mem_printf("%s/lists", state_dir);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct stat st;

	set_time(100);
	put(state_dir, &key, MINUTE_MS);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(fd_read_file(path, &text, &err), 0);
	assert_null(strstr(buf_cstr(&text), "aaaaaa"));
}

TEST_IN(temp_dir, kept, forgotten, is_gone)
{
	const struct kept_key key = key_of("a", NULL);
	struct kept_lists *k = kept_lists_open(*state);

	set_time(100);
	put(*state, &key, MINUTE_MS);
	kept_lists_forget(k, &key);
	kept_lists_forget(k, &key);
	assert_false(found(*state, &key));
	put(*state, &key, MINUTE_MS);
	put(*state, &key, 0);
	assert_false(found(*state, &key));
	kept_lists_free(k);
}

TEST_IN(temp_dir, kept, too_large, is_not)
{
	AUTO(buf_release) struct buf pages = BUF_INIT(BUF_UNBOUNDED);
	const struct kept_key key = key_of("a", NULL);
	struct kept_lists *k = kept_lists_open(*state);

	set_time(100);
	put(*state, &key, MINUTE_MS);
	buf_adds(&pages, "[\"");
	for (size_t i = 0; i < KEPT_LIST_BYTES / 16; i++)
		buf_adds(&pages, "0123456789abcdef");
	buf_adds(&pages, "\"]");
	kept_lists_put(k, &key, &at, MINUTE_MS, buf_str(&pages));
	assert_false(found(*state, &key));
	kept_lists_free(k);
}

static size_t count(const char *state_dir)
{
	AUTO(mem_freep) char *path = mem_printf("%s/lists", state_dir);
	DIR *dir = opendir(path);
	const struct dirent *d;
	size_t n = 0;

	assert_non_null(dir);
	while ((d = readdir(dir)))
		n += d->d_name[0] != '.';
	closedir(dir);
	return n;
}

TEST_IN(temp_dir, kept, more_than_the_bound, one_goes)
{
	struct kept_key key = key_of("first", NULL);
	char name[16];

	set_time(100);
	put(*state, &key, MINUTE_MS);
	for (int i = 0; i < KEPT_LISTS_MAX + 3; i++) {
		snprintf(name, sizeof(name), "%d", i);
		key = key_of(name, NULL);
		put(*state, &key, MINUTE_MS);
	}
	assert_int_equal(count(*state), KEPT_LISTS_MAX);
	assert_true(found(*state, &key));
	/* one that is there already takes no room */
	put(*state, &key, MINUTE_MS);
	assert_int_equal(count(*state), KEPT_LISTS_MAX);
}

TEST_IN(temp_dir, kept, nowhere, is_no_error)
{
	const struct kept_key key = key_of("a", NULL);

	set_time(100);
	put(NULL, &key, MINUTE_MS);
	assert_false(found(NULL, &key));
	kept_lists_put(NULL, &key, &at, MINUTE_MS, STR(PAGES));
	kept_lists_forget(NULL, &key);
	put("/dev/null", &key, MINUTE_MS);
	assert_false(found("/dev/null", &key));
}
