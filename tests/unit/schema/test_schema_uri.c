#include "tests/unit/test.h"

#include "core/base/url.h"

/* RFC 3986, section 5.4, without the fragments, which are cut */
TEST(resolve, examples_of_the_rfc, as_written)
{
	static const char *const rows[][2] = {
		{"g:h", "g:h"},
		{"g", "http://a/b/c/g"},
		{"./g", "http://a/b/c/g"},
		{"g/", "http://a/b/c/g/"},
		{"/g", "http://a/g"},
		{"//g", "http://g"},
		{"?y", "http://a/b/c/d;p?y"},
		{"g?y", "http://a/b/c/g?y"},
		{"#s", "http://a/b/c/d;p?q"},
		{"g#s", "http://a/b/c/g"},
		{";x", "http://a/b/c/;x"},
		{"", "http://a/b/c/d;p?q"},
		{".", "http://a/b/c/"},
		{"./", "http://a/b/c/"},
		{"..", "http://a/b/"},
		{"../", "http://a/b/"},
		{"../g", "http://a/b/g"},
		{"../..", "http://a/"},
		{"../../g", "http://a/g"},
		{"../../../g", "http://a/g"},
		{"/./g", "http://a/g"},
		{"/../g", "http://a/g"},
		{"g.", "http://a/b/c/g."},
		{"..g", "http://a/b/c/..g"},
		{"./g/.", "http://a/b/c/g/"},
		{"g/../h", "http://a/b/c/h"},
		{"g;x=1/../y", "http://a/b/c/y"},
		{"g?y/../x", "http://a/b/c/g?y/../x"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str got = uri_resolve(STR("http://a/b/c/d;p?q"),
					     str_of(rows[i][0]), &arena);

		if (!str_is(got, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], got.p);
	}
	arena_release(&arena);
}

TEST(resolve, other_bases, no_surprise)
{
	static const char *const rows[][3] = {
		{"", "tree.json", "tree.json"},
		{"", "", ""},
		{"http://a", "b", "http://a/b"},
		{"urn:uuid:1", "", "urn:uuid:1"},
		{"urn:uuid:1", "urn:x:y?+a=b", "urn:x:y?+a=b"},
		{"dir/a", "b", "dir/b"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(uri_resolve(str_of(rows[i][0]),
						str_of(rows[i][1]), &arena)
					    .p,
				    rows[i][2]);
	arena_release(&arena);
}

TEST(fragment, escapes, decoded)
{
	static const char *const rows[][2] = {
		{"a", ""},
		{"a#", ""},
		{"#/a%20b", "/a b"},
		{"#/a%2", "/a%2"},
		{"#/%zz", "/%zz"},
		{"x#y#z", "y#z"},
		{"#/%C3%A9", "/\u00e9"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_true(str_is(uri_fragment(str_of(rows[i][0]), &arena),
				   rows[i][1]));
	arena_release(&arena);
}
