#include <string.h>

#include "tests/unit/test.h"

#include "core/mcp/wire/listing.h"

#define A "{\"name\":\"a\",\"inputSchema\":{\"x-y\":1.0}}"
#define B "{ \"name\" : \"b\" }"

static int add(struct listing *l, const char *result)
{
	struct err err = ERR_INIT;

	return listing_add(l, str_of(result), &err);
}

static void is_written(const struct listing *l, const char *text)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&out, "{\"%s\":[", listing_member(l->kind));
	for (size_t i = 0; i < l->n; i++)
		buf_addf(&out, "%s%.*s", i ? "," : "",
			 STR_ARG(l->item[i].json));
	buf_adds(&out, "]}");
	assert_string_equal(buf_cstr(&out), text);
	buf_release(&out);
}

TEST(pages, two, are_one_list_as_received)
{
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	assert_null(listing_params(&l).p);
	assert_int_equal(add(&l, "{\"tools\":[" A "],\"nextCursor\":\"\"}"),
			 LISTING_MORE);
	/* an empty string is a cursor (PAG-4) */
	assert_true(str_is(listing_params(&l), "{\"cursor\":\"\"}"));
	assert_int_equal(add(&l, "{\"tools\":[" B "],\"nextCursor\":null}"),
			 LISTING_DONE);
	is_written(&l, "{\"tools\":[" A "," B "]}");
	assert_non_null(listing_find(&l, STR("b")));
	assert_null(listing_find(&l, STR("c")));
	assert_int_equal(l.warnings.n, 0);
	listing_release(&l);
}

TEST(PAG_5, empty_page_with_a_cursor, is_not_the_end)
{
	struct listing l;

	listing_init(&l, LISTING_PROMPTS);
	assert_int_equal(add(&l, "{\"prompts\":[],\"nextCursor\":\"2\"}"),
			 LISTING_MORE);
	listing_release(&l);
}

TEST(RW_71, repeated_cursor, ends_with_a_warning)
{
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	assert_int_equal(add(&l, "{\"tools\":[" A "],\"nextCursor\":\"x\"}"),
			 LISTING_MORE);
	assert_int_equal(add(&l, "{\"tools\":[" A "],\"nextCursor\":\"x\"}"),
			 LISTING_DONE);
	assert_int_equal(l.n, 1);
	assert_true(l.warnings.n >= 1);
	listing_release(&l);
}

TEST(RW_72, two_of_one_name, the_first_counts)
{
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	assert_int_equal(
		add(&l, "{\"tools\":[" A ",{\"name\":\"\\u0061\",\"z\":1}]}"),
		LISTING_DONE);
	is_written(&l, "{\"tools\":[" A "]}");
	assert_int_equal(l.warnings.n, 1);
	listing_release(&l);
}

TEST(TL_2, entry_without_a_name, is_left_out)
{
	struct listing l;

	listing_init(&l, LISTING_RESOURCES);
	assert_int_equal(add(&l, "{\"resources\":[1,{},{\"uri\":null},"
				 "{\"uri\":\"a:b\"},{\"uri\":\"\"}]}"),
			 LISTING_DONE);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.warnings.n, 4);
	listing_release(&l);
}

TEST(result, of_another_shape, is_an_error)
{
	struct listing l;

	listing_init(&l, LISTING_TEMPLATES);
	assert_int_equal(add(&l, "{\"resourceTemplates\":{}}"), -1);
	assert_int_equal(add(&l, "7"), -1);
	/* an empty array where an object is due (RW-57) */
	assert_int_equal(add(&l, "[]"), LISTING_DONE);
	listing_release(&l);
}

TEST(PAG_8, refused_cursor, begins_again_once)
{
	struct listing l;

	listing_init(&l, LISTING_TOOLS);
	assert_false(listing_restart(&l));
	assert_int_equal(add(&l, "{\"tools\":[" A "],\"nextCursor\":\"x\"}"),
			 LISTING_MORE);
	assert_true(listing_restart(&l));
	assert_int_equal(l.n, 0);
	assert_int_equal(add(&l, "{\"tools\":[" A "],\"nextCursor\":\"x\"}"),
			 LISTING_MORE);
	assert_false(listing_restart(&l));
	listing_release(&l);
}

TEST(pages, without_end, are_bounded)
{
	struct listing l;
	char page[64];
	int got = LISTING_MORE, n = 0;

	listing_init(&l, LISTING_TOOLS);
	while (got == LISTING_MORE && n < 2000) {
		snprintf(page, sizeof(page),
			 "{\"tools\":[],\"nextCursor\":\"%d\"}", n++);
		got = add(&l, page);
	}
	assert_int_equal(n, LISTING_PAGES_MAX);
	assert_int_equal(l.warnings.n, 1);
	listing_release(&l);
}

TEST(items, beyond_the_bound, keep_what_fits)
{
	struct buf page = BUF_INIT(BUF_UNBOUNDED);
	struct listing l;

	buf_adds(&page, "{\"tools\":[");
	for (int i = 0; i <= LISTING_ITEMS_MAX; i++)
		buf_addf(&page, "%s{\"name\":\"t%d\"}", i ? "," : "", i);
	buf_adds(&page, "]}");
	listing_init(&l, LISTING_TOOLS);
	assert_int_equal(add(&l, buf_cstr(&page)), -1);
	assert_int_equal(l.n, LISTING_ITEMS_MAX);
	assert_non_null(listing_find(&l, STR("t99999")));
	listing_release(&l);
	buf_release(&page);
}

TEST(PAG_2, cursor_that_is_no_string, ends_with_a_warning)
{
	struct listing l;

	for (int kind = 0; kind < 4; kind++) {
		AUTO(buf_release) struct buf page = BUF_INIT(BUF_UNBOUNDED);

		listing_init(&l, (enum listing_kind)kind);
		assert_non_null(strstr(listing_method(l.kind), "/list"));
		buf_addf(&page, "{\"%s\":[],\"nextCursor\":7}",
			 listing_member(l.kind));
		assert_int_equal(add(&l, buf_cstr(&page)), LISTING_DONE);
		assert_int_equal(l.warnings.n, 1);
		listing_release(&l);
	}
}

TEST(warnings, without_end, are_counted)
{
	AUTO(buf_release) struct buf page = BUF_INIT(BUF_UNBOUNDED);
	struct listing l;

	buf_adds(&page, "{\"tools\":[0");
	for (int i = 1; i < 100; i++)
		buf_adds(&page, ",0");
	buf_adds(&page, "]}");
	listing_init(&l, LISTING_TOOLS);
	assert_int_equal(add(&l, buf_cstr(&page)), LISTING_DONE);
	assert_int_equal(l.warnings.n + l.warnings_dropped, 100);
	assert_true(l.warnings.n <= 65);
	listing_release(&l);
}

#define MARKED(name, type)                                                \
	"{\"name\":\"" name "\",\"inputSchema\":{\"properties\":{\"s\":{" \
	"\"type\":\"" type "\",\"x-mcp-header\":\"S\"}}}}"

static void list(bool checks, struct listing *l)
{
	static const char tools[] = "{\"tools\":[" MARKED(
		"good", "string") "," MARKED("bad", "number") "]}";
	struct err err = ERR_INIT;

	listing_init(l, LISTING_TOOLS);
	l->checks_headers = checks;
	assert_int_equal(listing_add(l, str_of(tools), &err), LISTING_DONE);
}

TEST(XH_3, bad_tool, is_left_out_with_a_warning)
{
	struct listing l;

	list(true, &l);
	assert_int_equal(l.n, 1);
	assert_non_null(listing_find(&l, STR("good")));
	assert_int_equal(l.warnings.n, 1);
	assert_string_equal(l.warnings.item[0],
			    "bad is left out: its x-mcp-header \"S\" is for a "
			    "type that is neither string, integer nor boolean");
	listing_release(&l);
}

TEST(XH_10, over_stdio, it_is_kept)
{
	struct listing l;

	list(false, &l);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.warnings.n, 0);
	listing_release(&l);
}
