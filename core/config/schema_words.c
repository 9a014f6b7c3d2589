#include "core/config/schema_words.h"

#include "core/schema/describe.h"

/* Where findings go, and whether they are warnings. */
struct walk {
	struct findings *findings;
	bool is_warning;
};

static void check_below(const struct walk *w, const struct toml_value *v,
			enum schema_below below);

static void check_member(const struct walk *w, const struct toml_member *m)
{
	struct str name = str_of(m->key);
	enum schema_below below;
	const char *near;

	if (schema_keyword(name, &below, &near))
		check_below(w, &m->value, below);
	else if (!str_starts(name, "x-"))
		findings_addf(w->findings, w->is_warning, m->line, m->col,
			      "JSON Schema has no keyword \"%s\", so it would "
			      "say nothing; %s%s%s",
			      m->key, near ? "did you mean \"" : "",
			      near ? near
				   : "a note of your own begins with \"x-\"",
			      near ? "\"?" : "");
}

static void check_below(const struct walk *w, const struct toml_value *v,
			enum schema_below below)
{
	bool is_each = below == SCHEMA_BELOW_EACH;

	if (below == SCHEMA_BELOW_NONE)
		return;
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		if (is_each)
			check_below(w, &v->table.member[i].value,
				    SCHEMA_BELOW_ONE);
		else
			check_member(w, &v->table.member[i]);
	for (size_t i = 0; !is_each && v->type == TOML_ARRAY && i < v->array.n;
	     i++)
		check_below(w, &v->array.item[i], below);
}

void schema_words_check(const struct toml_value *schemas, bool is_warning,
			struct findings *findings)
{
	check_below(&(struct walk){findings, is_warning}, schemas,
		    SCHEMA_BELOW_EACH);
}
