#include "core/run/condition.h"

#include "core/base/buf.h"
#include "core/run/values.h"
#include "core/schema/schema.h"

static void add_violations(const struct schema_result *found, bool lists_all,
			   struct buf *out)
{
	for (size_t i = 0; i < (lists_all ? found->n : 1); i++) {
		buf_adds(out, i ? "; " : "");
		schema_violation_print(&found->item[i], out);
	}
	if (lists_all && found->n_more)
		buf_addf(out, "; and %zu more", found->n_more);
}

/* NULL: the value fits. */
static const char *violation(const struct toml_value *condition,
			     struct str value, bool lists_all,
			     bool *ret_is_open, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(schema_freep) struct schema *schema = NULL;
	struct schema_result found;
	struct err err = ERR_INIT;
	int rc;

	toml_to_json(condition, &text);
	*ret_is_open = true;
	if (schema_compile(buf_str(&text), NULL, &schema, &err) < 0)
		return arena_strdup(arena, err.msg);
	rc = schema_validate(schema, value, arena, &found, &err);
	*ret_is_open = rc != SCHEMA_VALID && rc != SCHEMA_VIOLATED;
	if (rc == SCHEMA_VALID)
		return NULL;
	buf_clear(&text);
	if (rc == SCHEMA_VIOLATED)
		add_violations(&found, lists_all, &text);
	else
		buf_adds(&text, err.msg);
	return arena_strdup(arena, buf_cstr(&text));
}

const char *condition_broken(const struct toml_value *condition,
			     struct str value, const char *missing,
			     bool lists_all, bool *ret_is_open,
			     struct arena *arena)
{
	*ret_is_open = false;
	if (condition->type == TOML_BOOLEAN &&
	    condition->boolean == (value.p != NULL))
		return NULL;
	if (!value.p)
		return arena_strdup(arena, missing);
	if (condition->type == TOML_BOOLEAN)
		return "it is there";
	return violation(condition, value, lists_all, ret_is_open, arena);
}

const char *condition_unexpected(const struct step *step,
				 const struct report_step *result,
				 struct arena *arena)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *expect = step->expect;

	for (size_t i = 0; expect && i < expect->table.n; i++) {
		const struct toml_member *m = &expect->table.member[i];
		struct str value = {NULL, 0};
		struct err err = ERR_INIT;
		const char *why;
		struct ref ref;
		bool is_open;

		if (ref_read_self(str_of(m->key), &ref, &err) < 0 ||
		    values_of_result(result, &ref, arena, &value, &err) < 0)
			value.p = NULL;
		why = condition_broken(&m->value, value, err.msg, true,
				       &is_open, arena);
		if (why)
			buf_addf(&all, "%s%s: %s", all.n ? "; " : "expect ",
				 m->key, why);
	}
	return all.n ? arena_strdup(arena, buf_cstr(&all)) : NULL;
}
