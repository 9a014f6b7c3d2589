/*
 * Header fields made of a tool's schema and of arguments: whatever a server
 * and a caller write, a field's name is a token, and its value one line of
 * visible characters. One JSON value: [tool, arguments].
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/mcp/wire/http_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(struct str value)
{
	if (!value.n || value.p[0] == ' ' || value.p[value.n - 1] == ' ')
		abort();
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] < ' ' || value.p[i] > '~')
			abort();
}

static void check_params(const struct http_params *params, struct str arguments)
{
	for (size_t i = 0; i < params->n; i++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (!http_is_token(params->item[i].header))
			abort();
		if (http_param_value(&params->item[i], arguments, &value))
			check_value(buf_str(&value));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const methods[] = {"tools/call", "prompts/get",
					      "resources/read", "tasks/get"};
	struct str text = {(const char *)data, size}, v;
	struct arena arena = ARENA_INIT;
	struct http_params params;
	struct err err = ERR_INIT;
	struct scan_iter it;

	if (scan_document(text, NULL, &v, &err) < 0)
		return 0;
	scan_iter_init(&it, v);
	if (it.is_object || !scan_next(&it))
		return 0;
	if (http_params_read(it.value, &arena, &params, &err) == 0 &&
	    scan_next(&it))
		check_params(&params, it.value);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

		if (http_name_value(methods[i], v, &name) ||
		    http_name_value(methods[i], it.value, &name))
			check_value(buf_str(&name));
	}
	arena_release(&arena);
	return 0;
}
