#include <ctype.h>

#include "core/base/log.h"
#include "core/config/edit.h"
#include "core/import/server.h"

static void add_key(struct buf *out, const char *key)
{
	bool is_bare = *key;

	for (const char *p = key; *p; p++)
		is_bare &= isascii(*p) && (isalnum((unsigned char)*p) ||
					   *p == '_' || *p == '-');
	if (is_bare)
		buf_adds(out, key);
	else
		edit_add_string(out, key);
}

/* A comment is one line, and a terminal obeys nothing of it. */
static void add_comment(struct buf *out, const char *before, const char *text)
{
	buf_addf(out, "# %s", before);
	log_visible(out, str_of(text), false);
	buf_addc(out, '\n');
}

static void add_reference(struct buf *out, const char *kind, const char *text)
{
	buf_addf(out, "{ %s = ", kind);
	edit_add_string(out, text);
	buf_adds(out, " }");
}

static void add_value(struct buf *out, const struct import_row *row,
		      bool in_clear)
{
	const struct edit_row list = {.values = row->list};

	switch (row->kind) {
	case IMPORT_LIST:
		edit_add_value(out, &list);
		break;
	case IMPORT_VARIABLE:
		add_reference(out, "env", row->text);
		break;
	case IMPORT_FILE:
		add_reference(out, "file", row->text);
		break;
	case IMPORT_SECRET:
		add_reference(out, in_clear ? "secret" : "file",
			      in_clear ? row->text : row->file);
		break;
	default:
		edit_add_string(out, row->text);
	}
}

static void add_row(struct buf *out, const struct import_row *row,
		    bool in_clear)
{
	if (row->kind == IMPORT_ASIDE && !in_clear) {
		if (!*row->key)
			return;
		buf_addf(out, "# set the variable %s to the content of ",
			 row->key);
		log_visible(out, str_of(row->file), false);
		buf_addc(out, '\n');
		return;
	}
	if (*row->table)
		buf_addf(out, "%s.", row->table);
	add_key(out, row->key);
	buf_adds(out, " = ");
	add_value(out, row, in_clear);
	buf_addc(out, '\n');
}

void server_print(const struct import_server *s, const char *name,
		  struct buf *out)
{
	if (name) {
		add_comment(out, "from ", s->from);
		if (s->about)
			add_comment(out, "", s->about);
		buf_adds(out, "[servers.");
		add_key(out, name);
		buf_adds(out, "]\n");
	}
	for (unsigned in_table = 0; in_table < 2; in_table++)
		for (size_t i = 0; i < s->n; i++)
			if (!*s->row[i].table == !in_table)
				add_row(out, &s->row[i], !name);
	for (size_t i = 0; name && i < s->lost.n; i++)
		add_comment(out, "not carried: ", s->lost.item[i]);
}
