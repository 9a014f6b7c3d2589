/*
 * What a server sends as content, and its URI templates. A proved JSON value
 * is read as a block: its Base64 either fails and leaves nothing, or gives
 * no more bytes than its text can hold, and those have a name. The bytes are
 * a template, too: what it expands to holds nothing that a URI may not.
 */
#include <stdint.h>

#include "core/base/scan.h"
#include "core/mcp/wire/content.h"
#include "core/mcp/wire/uri_template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void read_block(struct str json)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct content_block b;
	char name[CONTENT_NAME_BYTES];

	content_read(json, &b);
	if (b.data.p && content_bytes(b.data, 4096, &out, &err) == 0) {
		expect(out.n <= 4096 && out.n * 4 <= b.data.n * 3);
		content_name(buf_str(&out), name);
		expect(strlen(name) > 65 && name[64] == '.');
	} else {
		expect(out.n == 0);
	}
	buf_release(&out);
}

static void expand(struct str text)
{
	static const char values[] =
		"{\"a\":\"x y/\\u00e9\",\"b\":[\"1\",2,null],"
		"\"c\":{\"k\":\"v\",\"l\":\"\"},\"d\":\"\"}";
	struct arena arena = ARENA_INIT;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct strlist names = uri_template_names(text, &arena);

	for (size_t i = 0; i < names.n; i++)
		expect(*names.item[i]);
	if (uri_template_expand(text, str_of(values), &out, &err) == 0)
		for (size_t i = 0; i < out.n; i++)
			expect(out.p[i] > ' ' && out.p[i] < 0x7f &&
			       !strchr("{}<>\"\\^`|", out.p[i]));
	else
		expect(out.n == 0);
	buf_release(&out);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = {(const char *)data, size}, json;
	struct err err = ERR_INIT;

	expand(in);
	if (scan_document(in, NULL, &json, &err) == 0)
		read_block(json);
	return 0;
}
