/*
 * Programs that shell scripts name. Rows are in
 * values/shell_words.transcript:
 *
 *	script TEXT		its programs; %0A is a line's end, %7C a bar
 */
#include "tests/unit/test.h"

#include "gate/policy/shell_words.h"
#include "tests/unit/values.h"

static int do_script(struct value_row *r)
{
	struct strlist words =
		shell_words(value_bytes(r, r->part[0]), &r->arena);

	for (size_t i = 0; i < words.n; i++)
		buf_addf(&r->out, "%s%s", i ? " " : "", words.item[i]);
	return 0;
}

static const struct value_reader READERS[] = {{"script", do_script}};

TEST_VALUES(READERS, "tests/unit/gate/values/shell_words.transcript");

TEST(script, of_many_words, is_bounded)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 2 * SHELL_WORDS_MAX; i++)
		buf_addf(&text, "w%d\n", i);
	assert_int_equal(shell_words(buf_str(&text), &arena).n,
			 SHELL_WORDS_MAX);
}

TEST(script, nested_deeply, ends)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i < 100000; i++)
		buf_adds(&text, i % 3 ? "$(" : "${");
	buf_adds(&text, "date");
	assert_int_equal(shell_words(buf_str(&text), &arena).n, 0);
}
