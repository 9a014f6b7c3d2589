#include "tests/unit/test.h"

#include "core/base/mem.h"
#include "core/report/lines.h"

static void expect(const char *old, const char *new, const char *want)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	lines_diff(&out, str_of(old), str_of(new));
	assert_string_equal(buf_cstr(&out), want);
	buf_release(&out);
}

TEST(diff, a_line_came_or_went, is_shown_with_its_place)
{
	expect("a\nb\nc\nd\ne\nf", "a\nb\nc\nX\ne\nf",
	       "  @@ -2 +2 @@\n    b\n    c\n  - d\n  + X\n    e\n    f\n");
	expect("a\nb", "a\nx\nb", "  @@ -1 +1 @@\n    a\n  + x\n    b\n");
	expect("a\nx\nb", "a\nb", "  @@ -1 +1 @@\n    a\n  - x\n    b\n");
	expect("one", "one\ntwo", "  @@ -1 +1 @@\n    one\n  + two\n");
	expect("", "x\n", "  @@ -1 +1 @@\n  + x\n\n");
}

TEST(diff, changes_far_apart, are_two_places)
{
	expect("a\n1\n2\n3\n4\n5\n6\nb", "A\n1\n2\n3\n4\n5\n6\nB",
	       "  @@ -1 +1 @@\n  - a\n  + A\n    1\n    2\n"
	       "  @@ -6 +6 @@\n    5\n    6\n  - b\n  + B\n");
}

TEST(diff, control_characters, are_visible)
{
	expect("a\nb", "a\n\x1b[2J",
	       "  @@ -1 +1 @@\n    a\n  - b\n  + "
	       "\\x1b[2J\n");
}

TEST(diff, equal_texts, nothing)
{
	expect("a\nb\n", "a\nb\n", "");
	expect("", "", "");
}

/* How many lines of `out` begin with that sign. */
static size_t count(const char *out, const char *sign)
{
	size_t n = 0;

	for (const char *p = out; (p = strstr(p, sign)); p++)
		n++;
	return n;
}

TEST(diff, nothing_in_common, is_bounded)
{
	struct buf old = BUF_INIT(BUF_UNBOUNDED), new = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 5000; i++) {
		buf_addf(&old, "old %d\n", i);
		buf_addf(&new, "new %d\n", i);
	}
	lines_diff(&out, buf_str(&old), buf_str(&new));
	assert_int_equal(count(buf_cstr(&out), "\n  - "), 100);
	assert_non_null(strstr(out.p, "… 9900 more lines\n"));
	buf_clear(&out);
	lines_add_all(&out, '+', buf_str(&new));
	assert_non_null(strstr(out.p, "  + new 99\n  … 4901 more lines\n"));
	buf_release(&out);
	buf_release(&old);
	buf_release(&new);
}

TEST(line, long, is_cut_between_characters)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_addc(&text, 'x');
	for (int i = 0; i < 200; i++)
		buf_adds(&text, "é");
	lines_add(&out, '-', buf_str(&text), 0);
	assert_non_null(strstr(out.p, "é… (401 bytes)\n"));
	buf_release(&text);
	buf_release(&out);
}
