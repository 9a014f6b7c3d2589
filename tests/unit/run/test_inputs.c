/*
 * Declared parameters as rows of data.
 *
 *	check TABLE			mistakes of the declaration, with places
 *	given TABLE | WORDS | OBJECT	"$input" of `-p` words and an object
 *	absent TABLE | WORDS | OBJECT	the same for `doctor`
 *
 * TABLE is what stands behind "params = "; '' is none. A word has "_" for a
 * blank.
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/config/params.h"
#include "core/run/inputs.h"

static struct routine routine_of(struct value_row *r)
{
	struct toml_value *root = ARENA_NEW(&r->arena, struct toml_value);
	const char *table = r->part[0];

	if (!*table)
		return (struct routine){.name = "r"};
	assert_int_equal(toml_parse(&r->arena,
				    str_of(arena_printf(&r->arena,
							"params = %s", table)),
				    root, &r->err),
			 0);
	return (struct routine){.name = "r",
				.params = toml_get(root, "params")};
}

static int check(struct value_row *r)
{
	const struct routine routine = routine_of(r);
	struct findings findings = {.n = 0};

	params_check(&routine, &findings);
	for (size_t i = 0; i < findings.n; i++)
		buf_addf(&r->out, "%s%u: %s", i ? "; " : "",
			 findings.item[i].err.col, findings.item[i].err.msg);
	findings_release(&findings);
	return 0;
}

static int read_inputs(struct value_row *r, bool is_optional)
{
	const struct config config = {.path = "matins.toml"};
	const struct routine routine = routine_of(r);
	struct inputs_given given = {.is_optional = is_optional,
				     .object = str_of(r->part[2])};
	struct values v = {.is_optional = is_optional};
	struct ref_string all;
	struct str json;

	given.params = value_words(r->part[1], &r->arena);
	for (size_t i = 0; i < given.params.n; i++)
		for (char *c = (char *)(uintptr_t)given.params.item[i]; *c; c++)
			*c = *c == '_' ? ' ' : *c;
	if (inputs_read(&config, &routine, &given, &r->arena, &v, &r->err) <
	    0) {
		/* rows are lines */
		for (char *c = r->err.msg; *c; c++)
			*c = *c == '\n' ? '~' : *c;
		return -1;
	}
	if (ref_read(STR("$input"), &r->arena, &all, &r->err) < 0 ||
	    values_find(&v, &all.part[0].ref, &r->arena, &json, &r->err) < 0)
		return -1;
	buf_add_str(&r->out, json);
	return 0;
}

static int given(struct value_row *r)
{
	return read_inputs(r, false);
}

static int absent(struct value_row *r)
{
	return read_inputs(r, true);
}

static const struct value_reader READERS[] = {
	{"check", check},
	{"given", given},
	{"absent", absent},
};

TEST_VALUES(READERS, "tests/unit/run/values/inputs.transcript");
