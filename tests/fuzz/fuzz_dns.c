/*
 * Packets of a hostile program to its resolver. Whatever the bytes are, an
 * answer repeats the question, has an address for granted names only, the same
 * for each packet, and names in denials are hosts or "?".
 */
#include "core/base/mem.h"
#include "gate/proxy/proxy_resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answer(struct proxy_known *k, struct str in,
			 const struct buf *out)
{
	const uint8_t *at = (const uint8_t *)out->p;
	struct dns_question q;
	struct endpoint_target t;

	if (out->n < 12 || out->n > DNS_ANSWER_BYTES || out->p[0] != in.p[0] ||
	    out->p[1] != in.p[1] || !(at[2] & 0x80))
		abort();
	if (!at[7])
		return;
	if (dns_read(in, &q) != DNS_ASKED || q.type != DNS_TYPE_A ||
	    memcmp(out->p + 12, in.p + 12, q.bytes - 12) != 0 ||
	    endpoint_target((struct str){q.name, q.name_bytes}, 1, &t) < 0)
		abort();
	if (!endpoint_names(k->rows, k->n_rows, &t) &&
	    memcmp(at + out->n - 4, "\x7f\0\0\1", 4) != 0)
		abort();
}

static void check_denials(const struct proxy_share *s)
{
	struct endpoint_target t;

	for (size_t i = 0; i < s->n_denials; i++)
		if (strcmp(s->denials[i].name, "?") != 0 &&
		    endpoint_target_authority(str_of(s->denials[i].name), 1,
					      &t) < 0)
			abort();
}

/* Packets stand behind their length, one byte. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const rows[] = {"*.granted.example", "api.example"};
	struct proxy_known *k = mem_zalloc(sizeof(*k));
	struct err err = ERR_INIT;

	k->share = mem_zalloc(sizeof(*k->share));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (endpoint_parse(rows[i], &k->rows[k->n_rows++], &err) < 0)
			abort();
	snprintf(k->search[k->n_search++], sizeof(k->search[0]), "lan");
	while (size) {
		AUTO(buf_release) struct buf out = BUF_INIT(DNS_ANSWER_BYTES);
		AUTO(buf_release) struct buf again = BUF_INIT(DNS_ANSWER_BYTES);
		size_t n = data[0] < size - 1 ? data[0] : size - 1;
		struct str in = {(const char *)data + 1, n};

		proxy_resolve(k, in, &out);
		proxy_resolve(k, in, &again);
		if (!str_eq(buf_str(&out), buf_str(&again)))
			abort();
		if (out.n)
			check_answer(k, in, &out);
		data += 1 + n;
		size -= 1 + n;
	}
	check_denials(k->share);
	free(k->share);
	free(k);
	return 0;
}
