#include "core/config/golden_rules.h"

#include "core/base/jw.h"
#include "core/toml/toml.h"

struct loading {
	struct rules *rules;
	struct arena *arena;
	struct findings *findings;
};

/* One rule, as {"ignore": ["$.a"]} or {"match": {"$.a": "uuid"}}. */
static void load(const struct loading *l, enum rule_kind kind,
		 const struct toml_value *at, const char *path)
{
	AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&text);
	struct err err = ERR_INIT;
	struct jdoc *object;

	toml_to_json(at, &value);
	jw_key(&w, rule_name(kind));
	if (path)
		jw_object(&w);
	else if (at->type != TOML_BOOLEAN)
		jw_array(&w);
	if (path)
		jw_key(&w, path);
	jw_raw(&w, buf_str(&value));
	if (path || at->type != TOML_BOOLEAN)
		jw_end(&w);
	jw_end(&w);
	if ((jdoc_parse(arena_str(l->arena, buf_str(&text)), l->arena, &object,
			&err) < 0 ||
	     rules_load(l->rules, object, l->arena, &err) < 0) &&
	    l->findings)
		findings_addf(l->findings, false, at->line, at->col,
			      "\"%s\" of [golden]: %s", rule_name(kind),
			      err.msg);
	else if (l->findings && kind == RULE_IGNORE && !path &&
		 str_is(at->string, "$.success"))
		findings_addf(l->findings, true, at->line, at->col,
			      "\"ignore\" of [golden]: $.success is compared "
			      "all the same; take it out");
}

void golden_rules_load(const struct golden_rules *g, struct rules *rules,
		       struct arena *arena, struct findings *findings)
{
	const struct loading l = {rules, arena, findings};
	const struct toml_value *const written[N_RULE_KINDS] = {
		[RULE_ARRAYS] = g->arrays,	 [RULE_EMBEDDED] = g->embedded,
		[RULE_IGNORE] = g->ignore,	 [RULE_MATCH] = g->match,
		[RULE_TOLERANCE] = g->tolerance,
	};

	for (size_t k = 0; k < N_RULE_KINDS; k++) {
		const struct toml_value *v = written[k];

		if (v && v->type == TOML_BOOLEAN)
			load(&l, (enum rule_kind)k, v, NULL);
		for (size_t i = 0; v && v->type == TOML_ARRAY && i < v->array.n;
		     i++)
			/* of others the loader of the file has said it */
			if (v->array.item[i].type == TOML_STRING)
				load(&l, (enum rule_kind)k, &v->array.item[i],
				     NULL);
		for (size_t i = 0; v && v->type == TOML_TABLE && i < v->table.n;
		     i++)
			load(&l, (enum rule_kind)k, &v->table.member[i].value,
			     v->table.member[i].key);
	}
}

void golden_rules_of(const struct config *config, const struct routine *routine,
		     struct rules *rules, struct arena *arena)
{
	if (routine)
		golden_rules_load(&routine->golden, rules, arena, NULL);
	golden_rules_load(&config->golden, rules, arena, NULL);
}
