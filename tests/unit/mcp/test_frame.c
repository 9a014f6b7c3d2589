#include <string.h>

#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/mcp/wire/frame.h"

/* What a frame gives for bytes in portions: lines in (), OVER as !. */
static char *lines(const char *bytes, size_t portion, size_t line_max)
{
	struct buf log = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_of(bytes), line;
	enum frame_result got;
	struct frame f;

	frame_init(&f, line_max);
	while (rest.n) {
		size_t n = rest.n < portion ? rest.n : portion;

		frame_add(&f, (struct str){rest.p, n});
		rest.p += n;
		rest.n -= n;
		while ((got = frame_next(&f, &line)) != FRAME_NONE)
			if (got == FRAME_LINE)
				buf_addf(&log, "(%.*s)", STR_ARG(line));
			else
				buf_addc(&log, '!');
	}
	got = frame_rest(&f, &line);
	if (got == FRAME_LINE)
		buf_addf(&log, "[%.*s]", STR_ARG(line));
	else if (got == FRAME_OVER)
		buf_addc(&log, '!');
	frame_release(&f);
	return buf_steal(&log);
}

static void check(const char *bytes, size_t line_max, const char *expected)
{
	for (size_t portion = 1; portion <= strlen(bytes) + 1; portion++) {
		AUTO(mem_freep) char *got = lines(bytes, portion, line_max);

		assert_string_equal(got, expected);
	}
}

TEST(lines, any_portions, are_the_same)
{
	check("a\nbc\n\nd", 100, "(a)(bc)[d]");
	check("", 100, "");
	check("\n\n\n", 100, "");
	check("one", 100, "[one]");
}

TEST(lines, white_space_only, are_left_out)
{
	check(" \t\n\r\n \v\f\r\n x \n  ", 100, "( x )");
}

TEST(lines, carriage_return, one_is_stripped)
{
	check("a\r\nb\r\r\nc\rd\ne\r", 100, "(a)(b\r)(c\rd)[e]");
}

TEST(lines, byte_order_mark, is_stripped)
{
	check("\xef\xbb\xbf{}\n\xef\xbb\xbf\n\xef\xbb{}\n\xef\xbb\xbf[]", 100,
	      "({})(\xef\xbb{})[[]]");
}

TEST(lines, over_the_ceiling, are_told_once)
{
	check("ab\n123456789012345678901234567890\ncd\n", 5, "(ab)!(cd)");
	check("123456\n", 5, "!");
	check("12345\n", 5, "(12345)");
	check("12345", 5, "[12345]");
	check("123456", 5, "!");
	check("1234567890\n1234567890\n", 5, "!!");
}

TEST(lines, endless, costs_no_memory)
{
	char chunk[4096];
	struct str line;
	struct frame f;
	int over = 0;

	memset(chunk, 'x', sizeof(chunk));
	frame_init(&f, 100000);
	for (int i = 0; i < 10000; i++) {
		frame_add(&f, (struct str){chunk, sizeof(chunk)});
		over += frame_next(&f, &line) == FRAME_OVER;
		assert_true(f.in.cap < 300000);
	}
	assert_int_equal(over, 1);
	assert_int_equal(f.in.cap, 0);
	frame_add(&f, STR("tail\nnext\n"));
	assert_int_equal(frame_next(&f, &line), FRAME_LINE);
	assert_true(str_is(line, "next"));
	assert_int_equal(frame_rest(&f, &line), FRAME_NONE);
	frame_release(&f);
}

TEST(lines, nul_bytes, are_kept)
{
	struct str line;
	struct frame f;

	frame_init(&f, 0);
	assert_int_equal(f.line_max, LIMIT_MESSAGE_BYTES);
	frame_add(&f, STR("a\0b\n"));
	assert_int_equal(frame_next(&f, &line), FRAME_LINE);
	assert_int_equal(line.n, 3);
	assert_memory_equal(line.p, "a\0b", 3);
	frame_release(&f);
}

TEST(buffer, after_a_long_line, is_given_back)
{
	size_t n = 4 * 1024 * 1024;
	AUTO(mem_freep) char *big = mem_alloc(n);
	struct str line;
	struct frame f;

	memset(big, 'x', n);
	big[n - 1] = '\n';
	frame_init(&f, 0);
	frame_add(&f, (struct str){big, n});
	assert_int_equal(frame_next(&f, &line), FRAME_LINE);
	assert_int_equal(line.n, n - 1);
	frame_add(&f, STR("y"));
	assert_true(f.in.cap < 4096);
	frame_release(&f);
}

TEST(buffer, many_short_lines_in_portions, stays_small)
{
	struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct str rest, line;
	struct frame f;
	int n = 0;

	for (int i = 0; i < 20000; i++)
		buf_addf(&bytes, "line %d\n", i);
	frame_init(&f, 0);
	for (rest = buf_str(&bytes); rest.n;) {
		size_t take = rest.n < 1000 ? rest.n : 1000;

		frame_add(&f, (struct str){rest.p, take});
		rest.p += take;
		rest.n -= take;
		while (frame_next(&f, &line) == FRAME_LINE)
			n++;
		assert_true(f.in.cap < 4096);
	}
	assert_int_equal(n, 20000);
	frame_release(&f);
	buf_release(&bytes);
}
