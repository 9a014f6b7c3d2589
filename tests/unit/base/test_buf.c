#include <string.h>

#include "tests/unit/test.h"

#include "core/base/buf.h"

TEST(add, bytes, end_in_a_nul_that_is_not_counted)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);

	assert_string_equal(buf_cstr(&b), "");
	assert_int_equal(buf_str(&b).n, 0);
	assert_int_equal(buf_add(&b, "a\0b", 3), BUF_OK);
	assert_int_equal(buf_addc(&b, 'c'), BUF_OK);
	assert_int_equal(buf_adds(&b, "de"), BUF_OK);
	assert_int_equal(buf_add_str(&b, STR("f")), BUF_OK);
	assert_int_equal(buf_addf(&b, "%d-%s", 7, "x"), BUF_OK);
	assert_int_equal(b.n, 10);
	assert_memory_equal(b.p, "a\0bcdef7-x", 11);
	buf_release(&b);
	assert_null(b.p);
	assert_int_equal(buf_adds(&b, "again"), BUF_OK);
	buf_release(&b);
}

TEST(ceiling, passed, refuses_whole_and_keeps)
{
	struct buf b = BUF_INIT(5);

	assert_int_equal(buf_adds(&b, "abc"), BUF_OK);
	assert_int_equal(buf_adds(&b, "def"), BUF_FULL);
	assert_int_equal(buf_addf(&b, "%s", "def"), BUF_FULL);
	assert_null(buf_room(&b, 3));
	assert_string_equal(buf_cstr(&b), "abc");
	assert_int_equal(buf_adds(&b, "de"), BUF_OK);
	assert_int_equal(buf_adds(&b, ""), BUF_OK);
	assert_int_equal(buf_addc(&b, 'f'), BUF_FULL);
	assert_string_equal(buf_cstr(&b), "abcde");
	buf_release(&b);
}

TEST(ceiling, of_zero, takes_nothing)
{
	struct buf b = BUF_INIT(0);

	assert_int_equal(buf_addc(&b, 'a'), BUF_FULL);
	assert_int_equal(buf_adds(&b, ""), BUF_OK);
	assert_string_equal(buf_cstr(&b), "");
	buf_release(&b);
}

TEST(memory, of_a_bounded_buffer, stays_near_its_ceiling)
{
	struct buf b = BUF_INIT(100000);

	while (buf_adds(&b, "0123456789") == BUF_OK)
		;
	assert_int_equal(b.n, 100000);
	assert_true(b.cap <= 100001);
	buf_release(&b);
}

TEST(room, nothing_added, is_still_a_string)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);
	char *room = buf_room(&b, 1000);

	assert_non_null(room);
	assert_string_equal(buf_cstr(&b), "");
	memcpy(room, "abc", 4);
	b.n += 3;
	room = buf_room(&b, 100000);
	assert_ptr_equal(room, b.p + 3);
	assert_string_equal(buf_cstr(&b), "abc");
	buf_release(&b);
}

TEST(drop, front, goes)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);

	buf_drop(&b, 0);
	buf_adds(&b, "abcdef");
	buf_drop(&b, 0);
	buf_drop(&b, 2);
	assert_string_equal(buf_cstr(&b), "cdef");
	buf_drop(&b, 4);
	assert_string_equal(buf_cstr(&b), "");
	buf_release(&b);
}

TEST(clear, content, goes_and_memory_stays)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);
	size_t cap;

	buf_clear(&b);
	buf_adds(&b, "abcdef");
	cap = b.cap;
	buf_clear(&b);
	assert_string_equal(buf_cstr(&b), "");
	assert_int_equal(b.cap, cap);
	buf_release(&b);
}

TEST(steal, memory, belongs_to_the_caller)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);
	char *p;

	p = buf_steal(&b);
	assert_string_equal(p, "");
	free(p);
	buf_adds(&b, "abc");
	p = buf_steal(&b);
	assert_string_equal(p, "abc");
	assert_null(b.p);
	assert_int_equal(b.n, 0);
	free(p);
}

TEST(wipe, empty_and_full, releases)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);

	buf_wipe(&b);
	buf_adds(&b, "secret");
	buf_wipe(&b);
	assert_null(b.p);
	assert_int_equal(b.n, 0);
}

TEST(addc_and_addu, at_the_ceiling, refuse)
{
	struct buf b = BUF_INIT(3);

	assert_int_equal(buf_addc(&b, 'a'), BUF_OK);
	assert_int_equal(buf_addu(&b, 123), BUF_FULL);
	assert_int_equal(buf_addu(&b, 12), BUF_OK);
	assert_int_equal(buf_addc(&b, 'b'), BUF_FULL);
	assert_string_equal(buf_cstr(&b), "a12");
	buf_release(&b);
}

TEST(addu, smallest_and_largest, are_decimal)
{
	struct buf b = BUF_INIT(BUF_UNBOUNDED);

	buf_addu(&b, 0);
	buf_addc(&b, ' ');
	buf_addu(&b, UINT64_MAX);
	assert_string_equal(buf_cstr(&b), "0 18446744073709551615");
	buf_release(&b);
}
