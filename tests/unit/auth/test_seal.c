#include "tests/unit/test.h"

#include "core/auth/store.h"
#include "core/base/mem.h"

static const unsigned char key[CRYPTO_KEY_BYTES] =
	"thirty-two bytes make one key..";

struct fixture {
	struct seal head;
	struct buf file;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	f->head.place = STORE_KEY_KEYRING;
	f->head.server = STR("https://mcp.example/mcp");
	f->head.issuer = STR("https://as.example");
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

FIXTURE(sealed, setup, teardown);

TEST_IN(sealed, write, then_read, is_the_same)
{
	struct fixture *f = *state;
	char text[64] = "";
	struct seal s;

	assert_int_equal(seal_parse(buf_str(&f->file), &s, &f->err), 0);
	assert_int_equal(s.place, STORE_KEY_KEYRING);
	assert_true(str_is(s.server, "https://mcp.example/mcp"));
	assert_true(str_is(s.issuer, "https://as.example"));
	assert_int_equal(s.text_bytes, 13);
	assert_int_equal(seal_open(&s, key, text, &f->err), 0);
	assert_string_equal(text, "{\"t\":\"value\"}");
	assert_null(memmem(f->file.p, f->file.n, "value", 5));
	assert_null(memmem(f->file.p, f->file.n, key, 8));
}

TEST_IN(sealed, write, twice, has_another_nonce)
{
	struct fixture *f = *state;
	struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct seal a, b;

	assert_int_equal(seal_write(&f->head, key, STR("{\"t\":\"value\"}"),
				    &again, &f->err),
			 0);
	assert_int_equal(seal_parse(buf_str(&f->file), &a, &f->err), 0);
	assert_int_equal(seal_parse(buf_str(&again), &b, &f->err), 0);
	assert_memory_equal(a.key_id, b.key_id, SEAL_ID_BYTES);
	assert_memory_not_equal(a.nonce, b.nonce, CRYPTO_NONCE_BYTES);
	assert_memory_not_equal(a.sealed.p, b.sealed.p, a.sealed.n);
	buf_release(&again);
}

/* Head and text alike: what cannot be parsed is told, the rest not opened. */
TEST_IN(sealed, read, any_bit_changed, is_never_opened)
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

TEST_IN(sealed, read, another_length, is_refused)
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

TEST_IN(sealed, read, later_version, is_said)
{
	struct fixture *f = *state;
	struct seal s;

	f->file.p[8] = 2;
	assert_int_equal(seal_parse(buf_str(&f->file), &s, &f->err), -1);
	assert_non_null(strstr(f->err.msg, "newer matins"));
}

TEST_IN(sealed, read, no_such_place, is_damage)
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

TEST_IN(sealed, write, too_long, is_a_limit)
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
