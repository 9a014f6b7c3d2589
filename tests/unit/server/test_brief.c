#include "tests/unit/server/brief_fixture.h"

#include "core/base/limits.h"

TEST(brief_find, each_row, is_complete)
{
	size_t n = 0;

	for (const struct tool *t = brief_tools; t->name; t++, n++) {
		assert_ptr_equal(brief_find(str_of(t->name)), t);
		assert_true(*t->title && *t->description);
		assert_non_null(t->call);
		for (const struct field *f = t->input; f->name; f++)
			assert_true(*f->help);
		for (const struct field *f = t->output; f->name; f++)
			assert_true(*f->help);
	}
	assert_int_equal(n, 4);
	assert_null(brief_find(STR("hos")));
}

TEST(brief_nearest, slip, is_offered)
{
	assert_string_equal(brief_nearest(STR("repo")), "repos");
	assert_string_equal(brief_nearest(STR("deadline")), "deadlines");
	assert_null(brief_nearest(STR("weather")));
}

TEST(tool_call, wrong_arguments, error_without_structure)
{
	for (const struct tool *t = brief_tools; t->name; t++) {
		call(t->name, "{\"nonsense\":1}");
		assert_true(result.is_error);
		assert_string_equal(STRUCTURED(), "");
		assert_has(TEXT(), "argument /nonsense: unknown property");
	}
}

TEST(tool_result_write, old_revision, no_structure)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	call("deadlines", "{\"items\":[],\"today\":\"2026-01-31\"}");
	jw_init(&w, &out, false);
	jw_object(&w);
	tool_result_write(&result, false, &w);
	jw_end(&w);
	assert_string_equal(buf_cstr(&out),
			    "{\"content\":[{\"type\":\"text\",\"text\":"
			    "\"no deadlines\"}],\"isError\":false}");
	buf_clear(&out);
	jw_init(&w, &out, false);
	jw_object(&w);
	tool_result_write(&result, true, &w);
	jw_end(&w);
	assert_has(buf_cstr(&out), ",\"structuredContent\":{\"today\":"
				   "\"2026-01-31\",");
}

TEST(brief_read, kinds_of_files, outcomes)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_BRIEF_FILE_BYTES);
	AUTO(buf_release) struct buf fifo = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	WRITE("bom", "\xef\xbb\xbfx");
	assert_int_equal(brief_read("~/bom", &env, &text, &err), 0);
	assert_string_equal(buf_cstr(&text), "x");
	assert_int_equal(brief_read("~/none", &env, &text, &err),
			 BRIEF_MISSING);
	assert_int_equal(brief_read("~/bom/under", &env, &text, &err),
			 BRIEF_MISSING);
	assert_int_equal(brief_read("~", &env, &text, &err), -1);
	assert_has(err.msg, "is not a regular file");
	buf_addf(&fifo, "%s/fifo", scratch);
	assert_int_equal(mkfifo(buf_cstr(&fifo), 0600), 0);
	/* does not wait for a writer either */
	assert_int_equal(brief_read(buf_cstr(&fifo), &env, &text, &err), -1);
	assert_has(err.msg, "is not a regular file");
}

TEST(brief_read, over_the_ceiling, says_so)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_BRIEF_FILE_BYTES);
	AUTO(buf_release) struct buf big = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	char *room = buf_room(&big, LIMIT_BRIEF_FILE_BYTES + 1);

	memset(room, 'x', LIMIT_BRIEF_FILE_BYTES + 1);
	write_file("big", room, LIMIT_BRIEF_FILE_BYTES);
	assert_int_equal(brief_read("~/big", &env, &text, &err), 0);
	buf_clear(&text);
	write_file("big", room, LIMIT_BRIEF_FILE_BYTES + 1);
	assert_int_equal(brief_read("~/big", &env, &text, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_has(err.msg, "~/big is longer than 1048576 bytes");
}

TEST(brief_when, days, words)
{
	static const struct {
		int32_t days;
		const char *words;
	} cases[] = {{0, "today"},
		     {1, "in 1 day"},
		     {2, "in 2 days"},
		     {-1, "1 day ago"},
		     {-30, "30 days ago"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		brief_when(&out, cases[i].days);
		assert_string_equal(buf_cstr(&out), cases[i].words);
	}
}

TEST(brief_size, bytes, one_decimal)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {{0, "0.0 KiB"},
		     {1023, "0.9 KiB"},
		     {1024, "1.0 KiB"},
		     {UINT64_C(1048575), "1023.9 KiB"},
		     {UINT64_C(1) << 20, "1.0 MiB"},
		     {UINT64_C(3) << 29, "1.5 GiB"},
		     {UINT64_C(5) << 40, "5.0 TiB"},
		     {UINT64_MAX, "16383.9 PiB"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		brief_size(&out, cases[i].bytes);
		assert_string_equal(buf_cstr(&out), cases[i].text);
	}
}

TEST_FILE(fixture_set_up, fixture_tear_down);
