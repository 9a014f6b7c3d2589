/*
 * Bytes of a program, scrubbed in one piece, in pieces, and as JSON; in one
 * piece the slow and plain scrubber has to give the same.
 */
#include <stdlib.h>

#include "core/base/scan.h"
#include "core/secret/scrub.h"
#include "tests/unit/secret/scrub_naive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the plain scrubber takes: it is slow. */
#define NAIVE_BYTES 2048

static const struct str value_list[] = {
	STR("token-1/2"),  STR("nabcab\"\\c"), STR("a%41 \xc3\xa9\n\xff\x01"),
	STR("123456"),	   STR("{\"k\":1}"),   STR("aaaaaa"),
	STR("<a&amp;b>;"),
};

static struct scrub *values(void)
{
	static struct scrub *s;

	if (s)
		return s;
	s = scrub_new();
	for (size_t i = 0; i < ARRAY_LEN(value_list); i++)
		scrub_add(s, value_list[i]);
	return s;
}

static void as_plainly(struct str in, bool cut)
{
	AUTO(buf_release) struct buf due = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t hits = naive_scrub(values(), value_list, ARRAY_LEN(value_list),
				  in, false, cut, &due);

	if ((cut ? scrub_cut(values(), in, &out)
		 : scrub_apply(values(), in, &out)) != hits ||
	    !str_eq(buf_str(&out), buf_str(&due)))
		abort();
}

/* Cut where the first byte says. */
static void in_pieces(struct str in, const struct buf *whole, size_t hits)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t cut = in.n ? 1 + (unsigned char)in.p[0] % 16 : 1;
	struct scrub_stream st;

	scrub_stream_init(&st, values());
	while (in.n) {
		struct str piece = {in.p, in.n < cut ? in.n : cut};

		scrub_stream_feed(&st, piece, &out);
		in = (struct str){in.p + piece.n, in.n - piece.n};
	}
	scrub_stream_end(&st, &out);
	if (st.hits != hits || !str_eq(buf_str(&out), buf_str(whole)))
		abort();
}

static void as_json(struct str in)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str value;

	if (scan_document(in, NULL, &value, &err) < 0)
		return;
	scrub_json(values(), in, &out);
	if (scan_document(buf_str(&out), NULL, &value, &err) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	struct str in = {(const char *)data, size};
	size_t hits = scrub_apply(values(), in, &whole);

	if ((hits > 0) != scrub_finds(values(), in))
		abort();
	in_pieces(in, &whole, hits);
	if (in.n <= NAIVE_BYTES) {
		as_plainly(in, false);
		as_plainly(in, true);
	}
	as_json(in);
	return 0;
}
