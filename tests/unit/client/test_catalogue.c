#include "tests/unit/test.h"

#include <dirent.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/client/catalogue.h"
#include "tests/unit/temp_dir.h"

#define TOOL(name, text)                                       \
	"{\"name\":\"" name "\",\"description\":\"" text "\"," \
	"\"inputSchema\":{\"type\":\"object\"}}"

/* Merge a list into the file of a server, as `sync` does. */
static struct catalogue_changes sync_tools(const char *dir, const char *now,
					   const char *tools,
					   const struct scrub *scrub,
					   struct arena *arena)
{
	const char *result = arena_printf(arena, "{\"tools\":[%s]}", tools);
	struct catalogue_changes changes = {NULL, 0}, kept;
	struct err err = ERR_INIT;
	struct catalogue c;
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	assert_int_equal(listing_add(&l, str_of(result), &err), LISTING_DONE);
	(void)catalogue_read(dir, "/p/m.toml", "s", &c);
	catalogue_merge(&c, &l, scrub, now, true, &changes);
	c.synced = now;
	assert_true(catalogue_write(dir, "/p/m.toml", "s", &c));
	kept = changes;
	kept.item = ARENA_ARRAY(arena, struct catalogue_change, changes.n + 1);
	for (size_t i = 0; i < changes.n; i++) {
		kept.item[i] = changes.item[i];
		kept.item[i].name = arena_str(arena, changes.item[i].name);
		kept.item[i].renamed_to =
			arena_strdup(arena, changes.item[i].renamed_to);
	}
	catalogue_release(&c);
	listing_release(&l);
	return kept;
}

static const struct catalogue_entry *entry(const struct catalogue *c,
					   const char *name)
{
	return catalogue_find(c, LISTING_TOOLS, str_of(name));
}

TEST_IN(temp_dir, sync, first_list, is_added_and_found_of_that_server_and_file)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(catalogue_release) struct catalogue c;
	AUTO(catalogue_release) struct catalogue other;
	struct catalogue_changes changes = sync_tools(
		*state, "T1", TOOL("b", "two") "," TOOL("a/b", "one"), NULL,
		&arena);

	assert_int_equal(changes.n, 2);
	assert_int_equal(changes.item[0].what, CATALOGUE_ADDED);
	assert_true(catalogue_read(*state, "/p/m.toml", "s", &c));
	assert_string_equal(c.synced, "T1");
	assert_int_equal(catalogue_count(&c, LISTING_TOOLS), 2);
	assert_string_equal(entry(&c, "a/b")->first_seen, "T1");
	assert_true(str_is(entry(&c, "b")->item, TOOL("b", "two")));
	assert_false(catalogue_read(*state, "/p/m.toml", "t", &other));
	assert_int_equal(catalogue_count(&other, LISTING_TOOLS), 0);
	assert_int_equal(catalogue_tools(*state, "/q.toml", "s", &arena).n, 0);
	assert_int_equal(catalogue_tools(NULL, "/p/m.toml", "s", &arena).n, 0);
	assert_int_equal(catalogue_tools(*state, "/p/m.toml", "s", &arena).n,
			 2);
}

TEST_IN(temp_dir, sync, changed_gone_and_new, are_told_and_dated)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(catalogue_release) struct catalogue c;
	struct catalogue_changes changes;

	(void)sync_tools(*state, "T1",
			 TOOL("same", "s") "," TOOL("other", "o") "," TOOL(
				 "gone", "g") "," TOOL("old", "a long text"),
			 NULL, &arena);
	changes = sync_tools(
		*state, "T2",
		"{\"inputSchema\" : {\"type\":\"object\"},\"description\":"
		"\"s\",\"name\":\"same\"}," TOOL("other", "changed") "," TOOL(
			"new", "a long text"),
		NULL, &arena);
	assert_int_equal(changes.n, 4);
	assert_int_equal(changes.item[0].what, CATALOGUE_UPDATED);
	assert_true(str_is(changes.item[0].name, "other"));
	assert_int_equal(changes.item[1].what, CATALOGUE_ADDED);
	assert_int_equal(changes.item[2].what, CATALOGUE_DEPRECATED);
	assert_null(changes.item[2].renamed_to);
	assert_string_equal(changes.item[3].renamed_to, "new");
	assert_true(catalogue_read(*state, "/p/m.toml", "s", &c));
	assert_null(entry(&c, "same")->updated);
	assert_string_equal(entry(&c, "same")->last_seen, "T2");
	assert_string_equal(entry(&c, "other")->updated, "T2");
	assert_string_equal(entry(&c, "gone")->deprecated, "T2");
	assert_string_equal(entry(&c, "gone")->last_seen, "T1");
	assert_string_equal(entry(&c, "old")->renamed_to, "new");
	assert_int_equal(catalogue_count(&c, LISTING_TOOLS), 3);
}

/* A list of tools x0, x1, … whose descriptions differ. */
static const char *many_tools(char x, size_t n, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < n; i++)
		buf_addf(&out,
			 "%s{\"name\":\"%c%zu\",\"description\":\"%zu\","
			 "\"inputSchema\":{\"type\":\"object\"}}",
			 i ? "," : "", x, i, i);
	return arena_strdup(arena, buf_cstr(&out));
}

/* Each pair compared would take longer than a test has. */
TEST_IN(temp_dir, sync, thousands_of_new_names, are_found)
{
	enum { N = 6000 };

	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct catalogue_changes changes;

	(void)sync_tools(*state, "T1", many_tools('a', N, &arena), NULL,
			 &arena);
	changes = sync_tools(*state, "T2", many_tools('b', N, &arena), NULL,
			     &arena);
	assert_int_equal(changes.n, 2 * N);
	for (size_t i = N; i < changes.n; i++)
		assert_string_equal(changes.item[i].renamed_to,
				    arena_printf(&arena, "b%zu", i - N));
}

TEST_IN(temp_dir, sync, new_names, are_those_of_what_says_the_same)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct catalogue_changes changes;

	(void)sync_tools(
		*state, "T1",
		TOOL("a", "x\\u0061") "," TOOL(
			"b", "other") ","
				      "{\"name\":\"bare\",\"inputSchema\":{}}",
		NULL, &arena);
	changes = sync_tools(
		*state, "T2",
		"{\"inputSchema\":{\"type\":\"object\"},\"title\":\"new\","
		"\"name\":\"z\",\"description\":\"xa\"}," TOOL(
			"y", "xa") "," TOOL("w", "else") ",{\"name\":\"v\","
							 "\"inputSchema\":{}}",
		NULL, &arena);
	assert_int_equal(changes.n, 7);
	assert_string_equal(changes.item[4].renamed_to, "z");
	assert_null(changes.item[5].renamed_to);
	assert_null(changes.item[6].renamed_to);
}

TEST_IN(temp_dir, sync, tool_that_comes_back, keeps_its_first_day)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(catalogue_release) struct catalogue c;

	(void)sync_tools(*state, "T1", TOOL("a", "x"), NULL, &arena);
	(void)sync_tools(*state, "T2", "", NULL, &arena);
	assert_int_equal(
		sync_tools(*state, "T3", TOOL("a", "x"), NULL, &arena).n, 1);
	assert_true(catalogue_read(*state, "/p/m.toml", "s", &c));
	assert_string_equal(entry(&c, "a")->first_seen, "T1");
	assert_null(entry(&c, "a")->deprecated);
}

TEST_IN(temp_dir, sync, secrets, are_not_kept)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(catalogue_release) struct catalogue c;
	struct scrub *scrub = scrub_new();

	scrub_add(scrub, STR("s3cret-token"));
	(void)sync_tools(*state, "T1",
			 TOOL("x-s3cret-token",
			      "a") "," TOOL("good", "use s3cret-token"),
			 scrub, &arena);
	scrub_free(scrub);
	assert_true(catalogue_read(*state, "/p/m.toml", "s", &c));
	assert_int_equal(catalogue_count(&c, LISTING_TOOLS), 1);
	assert_true(str_is(entry(&c, "good")->item, TOOL("good", "use ***")));
}

TEST_IN(temp_dir, keep, list_of_a_command, adds_and_is_news_of_the_next_sync)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(catalogue_release) struct catalogue c;
	struct catalogue_changes changes;
	struct err err = ERR_INIT;
	struct listing l;

	(void)sync_tools(*state, "T1", TOOL("a", "x"), NULL, &arena);
	listing_init(&l, LISTING_TOOLS);
	assert_int_equal(listing_add(&l,
				     STR("{\"tools\":[" TOOL("a", "z") "," TOOL(
					     "b", "y") "," TOOL("c", "w") "]}"),
				     &err),
			 LISTING_DONE);
	catalogue_keep(*state, "/p/m.toml", "s", &l, NULL, "T2");
	listing_release(&l);
	assert_true(catalogue_read(*state, "/p/m.toml", "s", &c));
	assert_int_equal(catalogue_count(&c, LISTING_TOOLS), 3);
	assert_string_equal(c.synced, "T1");
	changes = sync_tools(*state, "T3", TOOL("a", "z") "," TOOL("b", "y"),
			     NULL, &arena);
	assert_int_equal(changes.n, 3);
	assert_int_equal(changes.item[0].what, CATALOGUE_UPDATED);
	assert_int_equal(changes.item[1].what, CATALOGUE_ADDED);
	assert_int_equal(changes.item[2].what, CATALOGUE_DEPRECATED);
	assert_null(changes.item[2].renamed_to);
	changes = sync_tools(*state, "T4", TOOL("a", "z") "," TOOL("b", "y"),
			     NULL, &arena);
	assert_int_equal(changes.n, 0);
}

/* The only file of the folder, to be broken. */
static const char *file_of(const char *dir, struct arena *arena)
{
	const char *folder = arena_printf(arena, "%s/catalogue", dir);
	const char *path = NULL;
	DIR *d = opendir(folder);
	const struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			path = arena_printf(arena, "%s/%s", folder, e->d_name);
	closedir(d);
	return path;
}

TEST_IN(temp_dir, file, cut_at_each_byte, is_no_trouble)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	const char *path;

	(void)sync_tools(*state, "T1", TOOL("a", "x") "," TOOL("b", "y"), NULL,
			 &arena);
	path = file_of(*state, &arena);
	assert_int_equal(fd_read_file(path, &whole, &err), 0);
	for (size_t n = 0; n < whole.n; n++) {
		AUTO(catalogue_release) struct catalogue c;

		assert_int_equal(fd_replace_file(path, (struct str){whole.p, n},
						 0600, false, &err),
				 0);
		(void)catalogue_read(*state, "/p/m.toml", "s", &c);
		assert_true(catalogue_count(&c, LISTING_TOOLS) <= 2);
	}
}

TEST_IN(temp_dir, two_who_write, at_once, wait_for_each_other)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	int held = catalogue_hold(*state);

	assert_true(held >= 0);
	/* what a command happens to see is left out, and nothing is lost */
	(void)sync_tools(*state, "T1", TOOL("a", "x"), NULL, &arena);
	assert_int_equal(catalogue_hold(*state), -1);
	fd_closep(&held);
	held = catalogue_hold(*state);
	assert_true(held >= 0);
	fd_closep(&held);
	assert_int_equal(catalogue_hold("/proc/none"), -1);
}

TEST(search, words, fit_all_or_nothing_and_names_best)
{
	struct catalogue_entry e = {
		.name = STR("list_issues"),
		.item = STR("{\"name\":\"list_issues\",\"title\":\"Show them\","
			    "\"description\":\"Open and closed ISSUES\"}")};
	struct catalogue_entry named = {.name = STR("issues"),
					.item = STR("{\"name\":\"issues\"}")};
	const struct str s = STR("github");

	assert_true(catalogue_prove(&e) && catalogue_prove(&named));
	assert_int_equal(catalogue_score(s, &e, STR("merge")), 0);
	assert_int_equal(catalogue_score(s, &e, STR("issues merge")), 0);
	assert_true(catalogue_score(s, &e, STR("GitHub  closed show")) > 0);
	assert_true(catalogue_score(s, &named, STR("issues")) >
		    catalogue_score(s, &e, STR("issues")));
	assert_true(catalogue_score(s, &e, STR("issues")) >
		    catalogue_score(s, &e, STR("closed")));
	assert_true(catalogue_may_fit(s, &e, STR("github closed")));
	assert_true(catalogue_may_fit(s, &e, STR("oPEN isSUES\"} SHOW L")));
	assert_false(catalogue_may_fit(s, &e, STR("closer")));
	assert_false(catalogue_may_fit(s, &e, STR("merge")));
}

TEST(search, words_that_have_escapes, are_found)
{
	struct catalogue_entry e = {
		.name = STR("x"),
		.item = STR("{\"name\":\"x\",\"title\":\"caf\\u00e9\","
			    "\"description\":\"a\\/b \\u0067rep\"}")};
	struct catalogue_entry plain = {
		.name = STR("y"),
		.item = STR("{\"name\":\"y\",\"description\":\"a\\nb\"}")};
	static const char *const words[] = {"caf\xc3\xa9", "a/b", "grep",
					    "a/b GREP"};

	assert_true(catalogue_prove(&e) && catalogue_prove(&plain));
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const struct str word = str_of(words[i]);

		assert_true(catalogue_may_fit(STR("s"), &e, word));
		assert_true(catalogue_score(STR("s"), &e, word) > 0);
		assert_int_equal(catalogue_score(STR("s"), &plain, word), 0);
	}
	/* an escape is no word */
	assert_int_equal(catalogue_score(STR("s"), &e, STR("u00e9")), 0);
	assert_int_equal(catalogue_score(STR("s"), &plain, STR("nb")), 0);
}

static bool is_text(struct str found, const char *text)
{
	return text ? str_is(found, text) : !found.p;
}

TEST(proved, items, tell_title_and_description_of_the_last_member)
{
	static const struct {
		const char *item, *title, *description;
	} rows[] = {
		{"{\"title\":\"a\",\"description\":\"b\"}", "\"a\"", "\"b\""},
		{"{\"title\":\"a\",\"title\":\"c\"}", "\"c\"", NULL},
		{"{\"title\":\"a\",\"title\":1}", NULL, NULL},
		{"{\"annotations\":{\"title\":\"h\"}}", "\"h\"", NULL},
		{"{\"annotations\":{\"title\":\"h\"},\"title\":\"a\"}", "\"a\"",
		 NULL},
		{"{\"annotations\":null,\"description\":[]}", NULL, NULL},
		/* more members than are noted on the way */
		{"{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,"
		 "\"h\":1,\"title\":\"i\",\"description\":\"j\"}",
		 "\"i\"", "\"j\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct catalogue_entry e = {.item = str_of(rows[i].item)};

		assert_true(catalogue_prove(&e));
		if (!is_text(e.title, rows[i].title) ||
		    !is_text(e.description, rows[i].description))
			fail_msg("row %zu: %s", i, rows[i].item);
	}
}
