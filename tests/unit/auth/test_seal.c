#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/auth/seal.h"
#include "core/base/mem.h"

static const unsigned char key[CRYPTO_KEY_BYTES] =
	"thirty-two bytes make one key..";

struct fixture {
	struct seal_head head;
	struct buf file;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	f->head.key = STORE_KEY_KEYRING;
	f->head.server = STR("https://mcp.example/mcp");
	f->head.issuer = STR("https://as.example");
	seal_key_id(key, f->head.key_id);
	f->file = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	if (seal_write(&f->head, key, STR("{\"t\":\"value\"}"), &f->file,
		       &f->err) < 0)
		fail_msg("%s", f->err.msg);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	buf_release(&f->file);
	free(f);
	return 0;
}

static void write__then_read__is_the_same(void **state)
{
	struct fixture *f = *state;
	char text[64] = "";
	struct seal s;

	assert_int_equal(seal_parse(buf_str(&f->file), &s, &f->err), 0);
	assert_int_equal(s.head.key, STORE_KEY_KEYRING);
	assert_memory_equal(s.head.key_id, f->head.key_id, SEAL_ID_BYTES);
	assert_true(str_is(s.head.server, "https://mcp.example/mcp"));
	assert_true(str_is(s.head.issuer, "https://as.example"));
	assert_int_equal(seal_text_bytes(&s), 13);
	assert_int_equal(seal_open(&s, key, text, &f->err), 0);
	assert_string_equal(text, "{\"t\":\"value\"}");
	assert_null(memmem(f->file.p, f->file.n, "value", 5));
	assert_null(memmem(f->file.p, f->file.n, key, 8));
}

static void write__twice__has_another_nonce(void **state)
{
	struct fixture *f = *state;
	struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct seal a, b;

	assert_int_equal(seal_write(&f->head, key, STR("{\"t\":\"value\"}"),
				    &again, &f->err),
			 0);
	assert_int_equal(seal_parse(buf_str(&f->file), &a, &f->err), 0);
	assert_int_equal(seal_parse(buf_str(&again), &b, &f->err), 0);
	assert_memory_not_equal(a.nonce, b.nonce, CRYPTO_NONCE_BYTES);
	assert_memory_not_equal(a.sealed.p, b.sealed.p, a.sealed.n);
	buf_release(&again);
}

/* Head and text alike: what cannot be parsed is told, the rest not opened. */
static void read__any_bit_changed__is_never_opened(void **state)
{
	struct fixture *f = *state;
	char text[64];
	struct seal s;

	for (size_t i = 0; i < 8 * f->file.n; i++) {
		f->file.p[i / 8] ^= (char)(1 << i % 8);
		if (seal_parse(buf_str(&f->file), &s, &f->err) == 0)
			assert_int_equal(seal_open(&s, key, text, &f->err), 1);
		f->file.p[i / 8] ^= (char)(1 << i % 8);
	}
}

static void read__another_length__is_refused(void **state)
{
	struct fixture *f = *state;
	struct seal s;

	for (size_t n = 0; n < f->file.n; n++)
		assert_int_equal(
			seal_parse((struct str){f->file.p, n}, &s, &f->err),
			-1);
	buf_addc(&f->file, 'x');
	assert_int_equal(seal_parse(buf_str(&f->file), &s, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_SYNTAX);
}

static void read__later_version__is_said(void **state)
{
	struct fixture *f = *state;
	struct seal s;

	f->file.p[8] = 2;
	assert_int_equal(seal_parse(buf_str(&f->file), &s, &f->err), -1);
	assert_non_null(strstr(f->err.msg, "newer matins"));
}

static void read__no_such_place__is_damage(void **state)
{
	static const char places[] = {STORE_KEY_AUTO, STORE_KEY_COUNT,
				      (char)200};
	struct fixture *f = *state;
	struct seal s;

	for (size_t i = 0; i < sizeof(places); i++) {
		f->file.p[9] = places[i];
		assert_int_equal(seal_parse(buf_str(&f->file), &s, &f->err),
				 -1);
		assert_non_null(strstr(f->err.msg, "damaged"));
	}
}

static void write__too_long__is_a_limit(void **state)
{
	struct fixture *f = *state;
	AUTO(mem_freep) char *text = mem_zalloc(SEAL_TEXT_MAX + 1);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	assert_int_equal(seal_write(&f->head, key,
				    (struct str){text, SEAL_TEXT_MAX}, &out,
				    &f->err),
			 0);
	assert_true(out.n <= SEAL_FILE_MAX);
	assert_int_equal(seal_write(&f->head, key,
				    (struct str){text, SEAL_TEXT_MAX + 1}, &out,
				    &f->err),
			 -1);
	assert_int_equal(f->err.kind, ERR_LIMIT);
	f->head.server = (struct str){text, SEAL_NAME_MAX + 1};
	assert_int_equal(seal_write(&f->head, key, STR(""), &out, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_LIMIT);
	buf_release(&out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(write__then_read__is_the_same),
		TEST(write__twice__has_another_nonce),
		TEST(read__any_bit_changed__is_never_opened),
		TEST(read__another_length__is_refused),
		TEST(read__later_version__is_said),
		TEST(read__no_such_place__is_damage),
		TEST(write__too_long__is_a_limit),
	};
#undef TEST

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
