#include "core/base/log.h"
#include "core/config/edit.h"
#include "core/import/server.h"

/* A comment is one line, and a terminal obeys nothing of it. */
static void add_comment(struct buf *out, const char *before, const char *text)
{
	buf_addf(out, "# %s", before);
	log_visible(out, str_of(text), false);
	buf_addc(out, '\n');
}

/* Append a text, false, a list of texts, or a reference. */
static void add_value(struct buf *out, const struct toml_value *v)
{
	if (v->type == TOML_STRING) {
		edit_add_string(out, v->string.p);
	} else if (v->type == TOML_BOOLEAN) {
		buf_adds(out, v->boolean ? "true" : "false");
	} else if (v->type == TOML_ARRAY) {
		for (size_t i = 0; i < v->array.n; i++) {
			buf_adds(out, i ? ", " : "[");
			add_value(out, &v->array.item[i]);
		}
		buf_addc(out, ']');
	} else {
		const struct toml_member *m = &v->table.member[v->table.n - 1];

		buf_addf(out, "{ %s = ", m->key);
		add_value(out, &m->value);
		buf_adds(out, " }");
	}
}

static bool is_section(const struct toml_member *m)
{
	return str_has_word("env headers auth sandbox", str_of(m->key));
}

static void add_members(struct buf *out, const char *before,
			const struct toml_value *table)
{
	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];

		if (!*m->key || (!*before && is_section(m)))
			continue;
		buf_adds(out, before);
		edit_add_key(out, m->key);
		buf_adds(out, " = ");
		add_value(out, &m->value);
		buf_addc(out, '\n');
	}
}

void server_print(const struct import_server *s, const char *name,
		  struct buf *out)
{
	const struct toml_value *aside = toml_get(&s->table, "");

	add_comment(out, "from ", s->from);
	if (s->about)
		add_comment(out, "", s->about);
	buf_adds(out, "[servers.");
	edit_add_key(out, name);
	buf_adds(out, "]\n");
	add_members(out, "", &s->table);
	for (size_t i = 0; i < s->table.table.n; i++) {
		const struct toml_member *m = &s->table.table.member[i];
		char before[16];

		snprintf(before, sizeof(before), "%.10s.", m->key);
		if (is_section(m))
			add_members(out, before, &m->value);
	}
	for (size_t i = 0; aside && i < aside->table.n; i++) {
		const struct toml_member *m = &aside->table.member[i];
		const struct toml_value *file = toml_get(&m->value, "file");

		if (!*m->key || !file)
			continue;
		buf_addf(out, "# set the variable %s to the content of ",
			 m->key);
		log_visible(out, file->string, false);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < s->lost.n; i++)
		add_comment(out, "not carried: ", s->lost.item[i]);
}
