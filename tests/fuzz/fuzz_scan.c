/*
 * The JSON scanner. What it proves can be walked, decoded, compacted and
 * proved again, and an independent library (cJSON) reads it, too.
 */
#include <cjson/cJSON.h>
#include <stdint.h>

#include "core/base/mem.h"
#include "core/base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void decode(struct str string)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);

	expect(scan_string(string, &text));
	expect(str_is_utf8(buf_str(&text)));
	expect(text.n <= string.n - 2);
	expect(scan_string_cut(string, string.n / 2, &cut));
	expect(str_is_utf8(buf_str(&cut)));
	/* all of it, or its beginning and a mark */
	if (string.n - 2 > string.n / 2) {
		expect(str_ends(buf_str(&cut), "…"));
		cut.n -= strlen("…");
	}
	expect(cut.n <= text.n &&
	       (!cut.n || memcmp(text.p, cut.p, cut.n) == 0));
}

/* The depth is bounded by the scanner, so this may call itself. */
static void walk(struct str value)
{
	struct err err = ERR_INIT;
	struct scan_iter it;
	struct str again;
	int64_t number;
	size_t n = 0;

	switch (scan_type(value)) {
	case SCAN_STRING:
		decode(value);
		return;
	case SCAN_ARRAY:
	case SCAN_OBJECT:
		break;
	default:
		expect(value.n < 6 || scan_type(value) == SCAN_NUMBER);
		if (scan_int64(value, &number))
			expect(scan_type(value) == SCAN_NUMBER);
		return;
	}
	scan_iter_init(&it, value);
	while (scan_next(&it)) {
		expect(it.value.p > value.p &&
		       it.value.p + it.value.n < value.p + value.n);
		if (n < 8)
			expect(scan_value(it.value, NULL, &again, &err) == 0 &&
			       str_eq(again, it.value));
		if (it.is_object)
			decode(it.key);
		walk(it.value);
		n++;
	}
	expect(n == scan_count(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* of exactly this size, so that reading beyond it is seen */
	AUTO(mem_freep) char *copy = mem_alloc(size);
	AUTO(buf_release) struct buf compact = BUF_INIT(BUF_UNBOUNDED);
	cJSON *doc;
	struct err err = ERR_INIT;
	struct str value, again;

	if (size)
		memcpy(copy, data, size);
	if (scan_document((struct str){copy, size}, NULL, &value, &err) < 0) {
		expect(err.kind == ERR_SYNTAX || err.kind == ERR_LIMIT);
		return 0;
	}
	walk(value);
	scan_compact(value, &compact);
	expect(scan_document(buf_str(&compact), NULL, &again, &err) == 0);
	expect(again.n == compact.n && compact.n <= value.n);
	expect(scan_type(again) == scan_type(value));
	/* lone surrogates are text to us and an error to the library */
	doc = cJSON_ParseWithLength(value.p, value.n);
	if (!doc)
		expect(memmem(value.p, value.n, "\\u", 2) != NULL);
	cJSON_Delete(doc);
	return 0;
}
