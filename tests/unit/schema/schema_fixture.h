/* Short words for tests of schemas; include behind test.h. */
#ifndef TESTS_UNIT_SCHEMA_FIXTURE_H
#define TESTS_UNIT_SCHEMA_FIXTURE_H

#include "core/schema/schema.h"

static struct arena fixture_arena;

static UNUSED int release_fixture(UNUSED void **state)
{
	arena_release(&fixture_arena);
	return 0;
}

/* JSON as it is written here: with ' for ". */
static UNUSED struct str json(const char *text)
{
	char *copy = arena_strdup(&fixture_arena, text);

	for (char *c = strchr(copy, '\''); c; c = strchr(c, '\''))
		*c = '"';
	return str_of(copy);
}

static UNUSED struct schema *compiled(const char *text)
{
	struct err err = ERR_INIT;
	struct schema *s = NULL;

	if (schema_compile(json(text), NULL, &s, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return s;
}

/* The violations as lines; "" when there are none, "! …" for an error. */
static UNUSED const char *verdict(const char *schema, const char *value)
{
	AUTO(schema_freep) struct schema *s = compiled(schema);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result result;
	struct err err = ERR_INIT;
	const char *copy;
	int rc = schema_validate(s, json(value), &fixture_arena, &result, &err);

	if (rc < 0)
		return arena_printf(&fixture_arena, "! %s", err.msg);
	for (size_t i = 0; rc == SCHEMA_VIOLATED && i < result.n; i++) {
		buf_adds(&out, i ? "\n" : "");
		schema_violation_print(&result.item[i], &out);
	}
	copy = arena_strndup(&fixture_arena, buf_cstr(&out), out.n);
	buf_release(&out);
	return copy;
}

/* The text of the error that compiling ends in, and its kind. */
static UNUSED const char *refusal(const char *text, enum err_kind *ret_kind)
{
	struct err err = ERR_INIT;
	struct schema *s = NULL;

	if (schema_compile(json(text), NULL, &s, &err) == 0) {
		schema_free(s);
		fail_msg("compiled: %s", text);
	}
	*ret_kind = err.kind;
	return arena_strdup(&fixture_arena, err.msg);
}

#endif
