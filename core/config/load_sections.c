/*
 * Readers of tables that have rows of their own in keys.def: sandbox and its
 * programs, auth, golden, caveats.
 */
#include "core/config/load.h"

void read_SANDBOX(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct sandbox *s = load_field(k, object);

	if (!load_is_table(l, k, &m->value))
		return;
	s->line = m->line;
	s->col = m->col;
	load_table(l, &m->value, SECTION_sandbox, SECTION_sandbox, s);
}

static void load_program(struct loader *l, const struct toml_member *m,
			 const struct key *k, struct sandbox_program *p)
{
	p->name = m->key;
	p->line = m->line;
	p->col = m->col;
	load_table(l, &m->value, SECTION_sandbox_program,
		   SECTION_sandbox_program, p);
	p->has_args = toml_get(&m->value, "args");
	load_expand_program(l, k, m, &p->name);
}

void read_PROGRAM_RULES(struct loader *l, const struct key *k,
			const struct toml_member *m, void *object)
{
	struct sandbox *s = object;
	const struct toml_value *v = &m->value;

	if (!load_is_table(l, k, v))
		return;
	s->programs = ARENA_ARRAY(l->arena, struct sandbox_program, v->table.n);
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];

		if (!load_is_table(l, k, &from->value))
			continue;
		if (!*from->key)
			load_error(l, from->line, from->col,
				   "a program without a name");
		else
			load_program(l, from, k, &s->programs[s->n_programs++]);
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
	struct caveats *caveats = load_field(k, object);
	size_t n;
	const struct key *keys = keys_all(&n);

	if (!load_is_table(l, k, &m->value))
		return;
	caveats->present = true;
	load_table(l, &m->value, SECTION_caveats, SECTION_caveats, caveats);
	for (size_t i = 0; i < n; i++)
		if (keys[i].section == SECTION_caveats &&
		    !toml_get(&m->value, keys[i].name))
			load_error(l, m->line, m->col,
				   "[caveats] lacks \"%s\" (%s); all six must "
				   "be there",
				   keys[i].name, keys[i].help);
}
