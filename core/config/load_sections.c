/*
 * Readers of tables that have rows of their own in keys.def: sandbox and its
 * programs, auth, golden, caveats.
 */
#include <string.h>

#include "core/config/load.h"

/* ---- sandbox ---- */

/* Have the gate check the value of one key, all others being unset. */
static void check_value(struct loader *l, const struct key *k,
			const struct toml_value *v, const struct gate_policy *p)
{
	size_t bytes = k->type == KEY_STRINGS  ? sizeof(struct strlist)
		       : k->type == KEY_STRING ? sizeof(const char *)
					       : 0;
	struct gate_policy one = {0};
	struct err err = ERR_INIT;

	memcpy((char *)&one + k->offset, (const char *)p + k->offset, bytes);
	if (gate_policy_check(&one, &err) < 0)
		load_error(l, v->line, v->col, "%s", err.msg);
}

void load_sandbox(struct loader *l, const struct toml_value *table,
		  struct gate_policy *p)
{
	load_table(l, table, SECTION_sandbox, SECTION_sandbox, p);
	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct key *k = key_find(SECTION_sandbox, m->key);

		if (k)
			check_value(l, k, &m->value, p);
	}
}

void read_SANDBOX(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	if (load_is_table(l, k, &m->value))
		load_sandbox(l, &m->value, load_field(k, object));
}

/* The name may hold variables; the last part of it is enough. */
static void check_rule(struct loader *l, const struct gate_program_rule *rule)
{
	const char *slash = strrchr(rule->name, '/');
	struct gate_program_rule named = *rule;
	const struct gate_policy p = {.programs = {&named, 1}};
	struct err err = ERR_INIT;

	named.name = slash && slash[1] ? slash + 1 : rule->name;
	if (gate_policy_check(&p, &err) < 0)
		load_error(l, rule->line, rule->col, "%s", err.msg);
}

static void load_program(struct loader *l, const struct toml_member *m,
			 const struct key *k, struct gate_program_rule *p)
{
	p->name = m->key;
	p->line = m->line;
	p->col = m->col;
	load_table(l, &m->value, SECTION_sandbox_program,
		   SECTION_sandbox_program, p);
	p->has_args = toml_get(&m->value, "args");
	check_rule(l, p);
	load_expand_program(l, k, m, &p->name);
}

void read_PROGRAM_RULES(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	struct gate_program_rules *rules = load_field(k, object);
	struct gate_program_rule *rule;
	const struct toml_value *v = &m->value;

	if (!load_is_table(l, k, v))
		return;
	rule = ARENA_ARRAY(l->arena, struct gate_program_rule, v->table.n);
	rules->item = rule;
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];

		if (!load_is_table(l, k, &from->value))
			continue;
		if (!*from->key)
			load_error(l, from->line, from->col,
				   "a program without a name");
		else
			load_program(l, from, k, &rule[rules->n++]);
	}
}

void read_AUTH(struct loader *l, const struct key *k,
	       const struct toml_member *m, void *object)
{
	struct server_auth *a = load_field(k, object);

	if (!load_is_table(l, k, &m->value))
		return;
	a->line = m->line;
	a->col = m->col;
	load_table(l, &m->value, SECTION_auth, SECTION_auth, a);
}

void read_GOLDEN(struct loader *l, const struct key *k,
		 const struct toml_member *m, void *object)
{
	if (load_is_table(l, k, &m->value))
		load_table(l, &m->value, SECTION_golden, SECTION_golden,
			   load_field(k, object));
}

void read_CAVEATS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct gate_leash *caveats = load_field(k, object);
	size_t n;
	const struct key *keys = keys_all(&n);

	if (!load_is_table(l, k, &m->value))
		return;
	caveats->source = "[caveats]";
	load_table(l, &m->value, SECTION_caveats, SECTION_caveats, caveats);
	for (size_t i = 0; i < n; i++)
		if (keys[i].section == SECTION_caveats &&
		    !toml_get(&m->value, keys[i].name))
			load_error(l, m->line, m->col,
				   "[caveats] lacks \"%s\" (%s); all six must "
				   "be there",
				   keys[i].name, keys[i].help);
}
