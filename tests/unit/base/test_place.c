/* Places: what a folder covers. */

#include "core/base/place.h"
#include "tests/unit/test.h"

static const struct cover_case {
	const char *row, *path;
	bool ok;
} COVERS[] = {
	{"/srv/a", "/srv/a", true},
	{"/srv/a", "/srv/a/b/c", true},
	{"/srv/a/", "/srv/a", true},
	{"/srv/a", "/srv//a/./b/", true},
	{"/", "/etc/passwd", true},
	{"/", "/", true},
	{"/srv/a", "/srv/ab", false},
	{"/srv/a", "/srv", false},
	{"/srv/a", "/", false},
	{"/srv/a", "/srv/a/../b", false},
	{"/srv/a", "/srv/a/b/../../c", false},
	{"/srv/../a", "/srv/../a", false},
	{"/", "/..", false},
	{"/srv/a", "srv/a", false},
	{"srv", "/srv", false},
	{"", "/", false},
	{"/srv", "", false},
	/* names that only look like it */
	{"/srv/a", "/srv/a/..b", true},
	{"/srv/a", "/srv/a/...", true},
	{"/srv/.a", "/srv/.a/b", true},
	{"/./srv/./a/.", "/srv/a/b/.", true},
	{"/srv/a", "/srv/a/b/..", false},
	{"/srv/a/..", "/srv", false},
};

TEST(covers, each_case, by_whole_components)
{
	for (size_t i = 0; i < ARRAY_LEN(COVERS); i++)
		if (place_covers(COVERS[i].row, COVERS[i].path) != COVERS[i].ok)
			fail_msg("row \"%s\", path \"%s\"", COVERS[i].row,
				 COVERS[i].path);
}

TEST(covers, whole_parts, and_the_root_covers_all)
{
	assert_true(place_covers("/a", "/a"));
	assert_true(place_covers("/a", "/a/b"));
	assert_true(place_covers("/", "/a/b"));
	assert_true(place_covers("/", "/"));
	assert_false(place_covers("/a", "/ab"));
	assert_false(place_covers("/a/b", "/a"));
}

TEST(lines, to_paste, hold_no_more_than_the_path)
{
	static const char *const plain[] = {"/", "/srv/a-b_c.d/@2:x,y+z~=%",
					    "~/notes", "/srv/m\xc3\xbcll"};
	static const char *const others[] = {
		"/a\"b",    "/a\\b",	      "/a'b",	"/a\nb",
		"/a\tb",    "/a\x7f",	      "/a b",	"/${HOME}",
		"/$(id)",   "/`id`",	      "/a;id",	"/a&id",
		"/a|id",    "/a>b",	      "/a<b",	"/*",
		"/?",	    "/[a]",	      "/{a,b}", "/a\xffz",
		"/a\x1b[m", "/\xe2\x80\xae/a"};

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (!place_can_be_pasted(plain[i]))
			fail_msg("\"%s\" is plain", plain[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (place_can_be_pasted(others[i]))
			fail_msg("\"%s\" is more than a path", others[i]);
	assert_string_equal(place_to_paste("/a", "PATH"), "/a");
	assert_string_equal(place_to_paste("/a b", "PATH"), "PATH");
}
