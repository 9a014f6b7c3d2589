#include "core/config/params.h"

#include <string.h>

#include "core/base/jw.h"

/* Of one routine. */
#define PARAMS_MAX 500

/* ---- one ---- */

static int compile(const struct toml_member *m, struct schema **ret,
		   struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *required = toml_get(&m->value, "required");
	struct err why = ERR_INIT;

	if (required && required->type == TOML_BOOLEAN)
		return err_at(err, ERR_CONFIG, required->line, required->col,
			      "parameter \"%s\": `required` lists members of "
			      "an object; " PARAMS_REQUIRED,
			      m->key);
	toml_to_json(&m->value, &text);
	if (schema_compile(buf_str(&text), NULL, ret, &why) == 0)
		return 0;
	return err_at(err, ERR_CONFIG, m->line, m->col,
		      "parameter \"%s\" is a JSON Schema, such as { type = "
		      "\"string\" }: %s",
		      m->key, why.msg);
}

/* `-p NAME=TEXT` and `-p NAME:=JSON` must be able to name it. */
static bool is_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || strchr("=:\x7f", *c))
			return false;
	return *name;
}

static void check_default(const struct toml_member *m, const struct schema *s,
			  struct findings *findings)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *v = toml_get(&m->value, "default");
	struct schema_result found = {.n = 0};
	struct err err = ERR_INIT;
	int rc;

	if (!v)
		return;
	toml_to_json(v, &text);
	rc = schema_validate(s, buf_str(&text), &arena, &found, &err);
	if (rc < 0)
		findings_addf(findings, false, v->line, v->col,
			      "default of parameter \"%s\": %s", m->key,
			      err.msg);
	for (size_t i = 0; i < found.n; i++) {
		buf_clear(&text);
		schema_violation_print(&found.item[i], &text);
		findings_addf(findings, false, v->line, v->col,
			      "default of parameter \"%s\": %s", m->key,
			      buf_cstr(&text));
	}
}

static void check_one(const struct toml_member *m, struct findings *findings)
{
	AUTO(schema_freep) struct schema *s = NULL;
	struct err err = ERR_INIT;

	if (!is_name(m->key))
		findings_addf(findings, false, m->line, m->col,
			      "the name of a parameter is not empty and has no "
			      "\"=\", \":\" or control character, so that -p "
			      "NAME=VALUE can say it");
	else if (compile(m, &s, &err) < 0)
		findings_add(findings, false, &err);
	else
		check_default(m, s, findings);
}

void params_check(const struct routine *r, struct findings *findings)
{
	if (r->params && r->params->table.n > PARAMS_MAX)
		findings_addf(findings, false, r->params->line, r->params->col,
			      "more than %d parameters", PARAMS_MAX);
	for (size_t i = 0; r->params && i < r->params->table.n; i++)
		check_one(&r->params->table.member[i], findings);
}

/* ---- all ---- */

/*
 * Write the schema of an object of them. Each stays a document of its own, so
 * that "#" in a reference of one means that one.
 */
static int write_all(const struct toml_value *table, struct schema_docs *docs,
		     struct buf *out, struct err *err)
{
	struct jw w = jw_begin(out);

	jw_kv_object(&w, "properties");
	for (size_t i = 0; i < table->table.n; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		const struct toml_member *m = &table->table.member[i];
		const char *uri =
			arena_printf(docs->arena, "matins:param-%zu", i);

		toml_to_json(&m->value, &text);
		if (schema_add(docs, str_of(uri), buf_str(&text), err) < 0)
			return -1;
		jw_key(&w, m->key);
		jw_object(&w);
		jw_kv_cstr(&w, "$ref", uri);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	return 0;
}

int params_read(const struct routine *r, struct arena *arena,
		struct params *ret, struct err *err)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct schema_docs docs = {.arena = &own};
	const struct schema_options options = {.docs = &docs};

	*ret = (struct params){.n = 0};
	if (!r->params)
		return 0;
	for (size_t i = 0; i < r->params->table.n; i++) {
		AUTO(schema_freep) struct schema *one = NULL;

		/* has the place */
		if (compile(&r->params->table.member[i], &one, err) < 0)
			return -1;
	}
	if (write_all(r->params, &docs, &text, err) < 0 ||
	    schema_compile(buf_str(&text), &options, &ret->schema, err) < 0) {
		err->kind = ERR_CONFIG;
		return err_wrap(err, "parameters of routine %s", r->name);
	}
	ret->n = schema_properties(ret->schema, arena, &ret->item);
	return 0;
}

void params_release(struct params *p)
{
	schema_free(p->schema);
	*p = (struct params){.n = 0};
}

struct strlist params_names(const struct params *p, struct arena *arena)
{
	struct strlist names = {NULL, 0};

	for (size_t i = 0; i < p->n; i++)
		list_add(&names, arena,
			 arena_strndup(arena, p->item[i].name.p,
				       p->item[i].name.n));
	return names;
}

struct strlist params_judge(const struct params *p, struct str name,
			    struct str json, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result found = {.n = 0};
	struct strlist sentences = {NULL, 0};
	struct err err = ERR_INIT;
	struct jw w = jw_begin(&text);

	jw_key_str(&w, name);
	jw_raw(&w, json);
	jw_end(&w);
	if (schema_validate(p->schema, buf_str(&text), arena, &found, &err) < 0)
		list_add(&sentences, arena, arena_strdup(arena, err.msg));
	for (size_t i = 0; i < found.n; i++) {
		struct schema_violation *v = &found.item[i];

		/* from "/NAME/a" to "/a" */
		v->instance = str_skip(v->instance, 1);
		v->instance = str_skip(v->instance, str_find(v->instance, '/'));
		buf_clear(&text);
		schema_violation_print(v, &text);
		list_add(&sentences, arena,
			 arena_strdup(arena, buf_cstr(&text)));
	}
	return sentences;
}

/* ---- a step that runs the routine ---- */

/* A value without a reference, and without what only looks like one. */
static bool is_constant(const struct toml_value *v)
{
	bool is = true;

	if (v->type == TOML_STRING)
		return !str_starts(v->string, "$") &&
		       (!v->string.n ||
			!memmem(v->string.p, v->string.n, "{{", 2));
	for (size_t i = 0; v->type == TOML_ARRAY && i < v->array.n; i++)
		is &= is_constant(&v->array.item[i]);
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		is &= is_constant(&v->table.member[i].value);
	return is;
}

static void check_value(const struct params *p, const struct toml_member *m,
			struct arena *arena, struct findings *findings)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	struct strlist wrong;

	if (!is_constant(&m->value))
		return;
	toml_to_json(&m->value, &json);
	wrong = params_judge(p, str_of(m->key), buf_str(&json), arena);
	for (size_t i = 0; i < wrong.n; i++)
		findings_addf(findings, false, m->value.line, m->value.col,
			      "parameter \"%s\": %s", m->key, wrong.item[i]);
}

static void check_values(const struct routine *r, const struct params *p,
			 const struct toml_value *table, struct arena *arena,
			 struct findings *findings)
{
	const struct strlist names = params_names(p, arena);

	for (size_t i = 0; table && i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const char *near =
			str_nearest(str_of(m->key), names.item, names.n);

		if (list_has(&names, m->key))
			check_value(p, m, arena, findings);
		else
			findings_addf(
				findings, false, m->line, m->col,
				"routine %s has no parameter \"%s\"%s%s%s",
				r->name, m->key,
				near ? "; did you mean \"" : "",
				near ? near : "", near ? "\"?" : "");
	}
}

void params_check_step(const struct routine *r, const struct step *step,
		       struct findings *findings)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(params_release) struct params p;
	struct strlist names;

	/* params_check() says why it cannot be read */
	if (params_read(r, &arena, &p, ERR_IGNORED) < 0 || !p.schema)
		return;
	check_values(r, &p, step->params, &arena, findings);
	check_values(r, &p, step->with, &arena, findings);
	names = params_names(&p, &arena);
	for (size_t i = 0; i < p.n; i++)
		if (!p.item[i].fallback.p &&
		    !toml_get(step->params, names.item[i]) &&
		    !toml_get(step->with, names.item[i]))
			findings_addf(findings, false, step->line, step->col,
				      "routine %s needs the parameter \"%s\": "
				      "add it to `params` of step \"%s\"",
				      r->name, names.item[i], step->name);
}
