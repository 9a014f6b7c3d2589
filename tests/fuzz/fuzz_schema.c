/*
 * A schema and a value, one line feed between them.
 *
 * Beside not crashing: judging gives the same each time, a violation is told
 * in at least one sentence, and sentences are text for a terminal.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/schema/describe.h"
#include "core/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void describe(const struct schema *s, struct arena *arena)
{
	struct schema_property *list;
	size_t n = schema_properties(s, arena, &list);

	for (size_t i = 0; i < n && i < 20; i++)
		must(schema_property_type(s, list[i].name) <=
		     SCHEMA_TYPE_OBJECT);
}

static void print(const struct schema_result *result)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	must(result->n >= 1 && result->n <= LIMIT_SCHEMA_VIOLATIONS);
	for (size_t i = 0; i < result->n; i++)
		schema_violation_print(&result->item[i], &out);
	must(str_is_utf8(buf_str(&out)));
	for (size_t i = 0; i < out.n; i++)
		must((unsigned char)out.p[i] >= 0x20);
	buf_release(&out);
}

static void judge(const struct schema *s, struct str value, struct arena *arena)
{
	struct schema_result first, second;
	struct err err = ERR_INIT;
	int rc = schema_validate(s, value, arena, &first, &err);

	must(rc == schema_validate(s, value, arena, &second, &err));
	if (rc < 0)
		must(err.msg[0]);
	if (rc != SCHEMA_VIOLATED)
		return;
	must(first.n == second.n && first.n_more == second.n_more);
	print(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str value = {(const char *)data, size};
	struct str text = str_cut(&value, '\n');
	struct arena arena = ARENA_INIT;
	struct schema *s = NULL;

	for (int draft = SCHEMA_2020_12; draft <= SCHEMA_DRAFT_7; draft++) {
		const struct schema_options options = {
			.draft = (enum schema_draft)draft,
			.assert_formats = true,
		};
		struct err err = ERR_INIT;

		if (schema_compile(text, &options, &s, &err) < 0) {
			must(err.msg[0]);
			continue;
		}
		describe(s, &arena);
		if (value.p)
			judge(s, value, &arena);
		schema_free(s);
	}
	arena_release(&arena);
	return 0;
}
