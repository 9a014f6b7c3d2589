/*
 * A string of a routine and a JSON text behind its first line: what a
 * reference finds lies in the text, and its text in JSON is a JSON string.
 */
#include "core/config/ref.h"

#include <stdlib.h>

#include "core/base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow(const struct ref *ref, struct str json, struct buf *text)
{
	struct str value;

	if (ref_follow(ref, json, &value, ERR_IGNORED) < 0)
		return;
	if (value.p < json.p || value.p + value.n > json.p + json.n)
		abort();
	ref_add_text(value, text);
	buf_clear(text);
	buf_addc(text, '"');
	ref_add_quoted(value, text);
	buf_addc(text, '"');
	if (scan_document(buf_str(text), NULL, &value, ERR_IGNORED) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = {(const char *)data, size};
	struct str first = str_cut(&rest, '\n'), json = STR("null");
	struct ref_string s;
	struct ref self;

	if (rest.p)
		(void)!scan_document(rest, NULL, &json, ERR_IGNORED);
	if (ref_read_self(first, &self, ERR_IGNORED) == 0)
		follow(&self, json, &text);
	if (ref_read(first, &arena, &s, ERR_IGNORED) < 0)
		return 0;
	if (s.is_whole && s.n != 1)
		abort();
	for (size_t i = 0; i < s.n; i++)
		if (!s.part[i].text.p)
			follow(&s.part[i].ref, json, &text);
	return 0;
}
