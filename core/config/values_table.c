/* Readers of tables whose keys are free: headers, credentials. */
#include "core/base/text.h"
#include "core/config/load.h"

/* Values of headers are never shown: they may be credentials. */
void read_HEADERS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct headers *headers = load_field(k, object);
	const struct toml_value *v = &m->value;

	if (!load_is_table(l, k, v))
		return;
	headers->item = ARENA_ARRAY(l->arena, struct header, v->table.n);
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *from = &v->table.member[i];
		struct header *h = &headers->item[headers->n];

		if (!http_is_token(str_of(from->key))) {
			load_error(l, from->line, from->col,
				   "a key of \"headers\" is not a name of an "
				   "HTTP header");
		} else if (from->value.type != TOML_STRING ||
			   str_find(from->value.string, '\0') <
				   from->value.string.n) {
			load_error(l, from->value.line, from->value.col,
				   "header %s takes a string without NUL, in "
				   "which \"${NAME}\" is a variable",
				   from->key);
		} else {
			h->name = from->key;
			h->value = load_cstr(l, &from->value);
			h->is_reference = strstr(h->value, "${") != NULL;
			load_expand(l, k, EXPAND_HEADER, &from->value,
				    &h->value);
			headers->n++;
		}
	}
}

static bool is_variable(const char *s)
{
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == '=' || *p == 0x7f)
			return false;
	return *s;
}

/* Read exactly one of the three keys; false after an error. */
static bool load_reference(struct loader *l, const struct toml_member *m,
			   struct env_ref *ref)
{
	ref->name = m->key;
	ref->line = m->line;
	ref->col = m->col;
	if (m->value.type != TOML_TABLE) {
		load_error(l, m->value.line, m->value.col,
			   "credentials do not stand in the file; write "
			   "%s = { env = \"NAME\" }, { file = \"~/path\" } or "
			   "{ cmd = \"line\" }",
			   m->key);
		return false;
	}
	load_table(l, &m->value, SECTION_reference, SECTION_reference, ref);
	if (m->value.table.n != 1) {
		load_error(l, m->value.line, m->value.col,
			   "%s takes exactly one of \"env\", \"file\" and "
			   "\"cmd\"",
			   m->key);
		return false;
	}
	return ref->from != NULL;
}

void read_REFERENCE(struct loader *l, const struct key *k,
		    const struct toml_member *m, void *object)
{
	struct env_ref *ref = load_field(k, object);

	if (!load_reference(l, m, ref))
		ref->from = NULL;
}

static void read_variable(struct loader *l, const struct toml_member *m,
			  struct env_refs *refs)
{
	if (!is_variable(m->key))
		load_error(l, m->line, m->col,
			   "a key of \"env\" is not a name of a variable");
	else if (load_reference(l, m, &refs->item[refs->n]))
		refs->n++;
}

void read_ENV(struct loader *l, const struct key *k,
	      const struct toml_member *m, void *object)
{
	struct env_refs *refs = load_field(k, object);

	if (m->value.type != TOML_TABLE) {
		load_error(l, m->value.line, m->value.col, "\"env\" must be %s",
			   key_type_text(k->type));
		return;
	}
	refs->item = ARENA_ARRAY(l->arena, struct env_ref, m->value.table.n);
	for (size_t i = 0; i < m->value.table.n; i++)
		read_variable(l, &m->value.table.member[i], refs);
}

static void set_reference(struct loader *l, const struct key *k,
			  const struct toml_member *m, struct env_ref *ref,
			  enum secret_source source)
{
	if (!load_is_filled(l, k, &m->value))
		return;
	ref->source = source;
	ref->from = load_cstr(l, &m->value);
}

void read_REF_ENV(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	struct env_ref *ref = object;

	set_reference(l, k, m, ref, SECRET_ENV);
	if (ref->from && !is_variable(ref->from)) {
		load_error(l, m->value.line, m->value.col,
			   "\"env\" must be a name of a variable");
		ref->from = NULL;
	}
}

void read_REF_FILE(struct loader *l, const struct key *k,
		   const struct toml_member *m, void *object)
{
	struct env_ref *ref = object;

	set_reference(l, k, m, ref, SECRET_FILE);
	if (ref->from)
		load_expand(l, k, EXPAND_PATH, &m->value, &ref->from);
}

void read_REF_CMD(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	set_reference(l, k, m, object, SECRET_CMD);
}
