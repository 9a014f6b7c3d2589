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

/* Add the violations as lines; -1 without a verdict. */
static UNUSED int judge(struct str schema, struct str value, struct buf *out,
			struct err *err)
{
	AUTO(schema_freep) struct schema *s = NULL;
	struct schema_result result;
	int rc;

	if (schema_compile(schema, NULL, &s, err) < 0)
		fail_msg("%.*s: %s", STR_ARG(schema), err->msg);
	rc = schema_validate(s, value, &fixture_arena, &result, err);
	for (size_t i = 0; rc == SCHEMA_VIOLATED && i < result.n; i++) {
		buf_adds(out, i ? "\n" : "");
		schema_violation_print(&result.item[i], out);
	}
	return rc < 0 ? -1 : 0;
}

/* The kind of the error that compiling ends in. */
static UNUSED enum err_kind refusal(const char *text)
{
	struct err err = ERR_INIT;
	struct schema *s = NULL;

	if (schema_compile(json(text), NULL, &s, &err) == 0) {
		schema_free(s);
		fail_msg("compiled: %s", text);
	}
	return err.kind;
}

#endif
