/*
 * A file of tokens: whatever is parsed is made of the bytes that were given,
 * nothing is opened that was not sealed, and what is opened can be sealed
 * again. The first byte says whether the bytes are a file, or Base64 of which
 * there is one form only.
 */
#include <stdint.h>

#include "core/auth/store.h"
#include "core/base/text.h"
#include "core/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The key of the seeds. */
static const unsigned char key[CRYPTO_KEY_BYTES];

static bool is_within(struct str part, struct str whole)
{
	return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

static void seal_again(const struct seal *s, struct str text)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct seal again;

	if (seal_write(s, key, text, &out, &err) < 0 ||
	    seal_parse(buf_str(&out), &again, &err) < 0 ||
	    !str_eq(again.server, s->server) ||
	    !str_eq(again.issuer, s->issuer) || again.sealed.n != s->sealed.n)
		abort();
}

static void read_file(struct str file)
{
	AUTO(mem_freep) char *text = NULL;
	struct err err = ERR_INIT;
	struct seal s;

	if (seal_parse(file, &s, &err) < 0)
		return;
	if (!is_within(s.server, file) || !is_within(s.issuer, file) ||
	    s.bound.n + s.sealed.n != file.n || !is_within(s.sealed, file) ||
	    s.text_bytes > SEAL_TEXT_MAX)
		abort();
	text = mem_alloc(s.text_bytes);
	if (seal_open(&s, key, text, &err) == 0)
		seal_again(&s, (struct str){text, s.text_bytes});
}

static void read_base64(enum base64 kind, struct str text)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	if (base64_decode(kind, text, &bytes, &err) < 0)
		return;
	base64_encode(kind, buf_str(&bytes), &again);
	if (!str_eq(buf_str(&again), text))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in;

	if (size < 1)
		return 0;
	in = (struct str){(const char *)data + 1, size - 1};
	if (data[0] == 'f')
		read_file(in);
	else
		read_base64(data[0] & 1 ? BASE64_URL : BASE64_STANDARD, in);
	return 0;
}
