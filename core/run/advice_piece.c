#include "core/run/advice_piece.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/text.h"
#include "core/config/edit.h"
#include "core/config/keys.h"
#include "core/config/paths.h"
#include "core/run/refused_file.h"

/* Would a configuration take a name of the program's for a variable? */
static bool is_replaced(const struct strlist *values)
{
	for (size_t i = 0; i < values->n; i++)
		if (strstr(values->item[i], "${"))
			return true;
	return false;
}

/* Does a value stand alone, in place of a list? */
static bool is_alone(const char *key, const char *value)
{
	return (strcmp(key, "net") == 0 && gate_net_is_word(value)) ||
	       (strcmp(key, "unix") == 0 && gate_unix_is_word(value));
}

/* Values of a key in the table that a setting is for. */
static struct strlist values_there(const struct pieces *all, const char *key)
{
	const struct gate_policy *own = all->known->own;
	const struct key *k = NULL;

	do
		k = own ? key_next(SECTION_sandbox, k) : NULL;
	while (k && strcmp(k->name, key) != 0);
	return k ? key_values(k, own, all->arena) : (struct strlist){NULL, 0};
}

static const char *as_written(const struct pieces *all, const char *value)
{
	const struct expansion *e =
		all->known->config ? all->known->config->expansions : NULL;

	while (e && *e->slot != value)
		e = e->next;
	return e ? e->written : value;
}

/* The line holds the values of one that is there, too: a key stands once. */
static void add_toml(const struct pieces *all, const struct piece *p,
		     struct buf *out)
{
	const struct strlist there = values_there(all, p->key);
	const char *inside = all->known->inside;
	struct edit_row row = {.is_word = p->values.n == 1 &&
					  is_alone(p->key, p->values.item[0])};

	for (size_t i = 0; i < there.n && !row.is_word; i++)
		if (!is_alone(p->key, there.item[i]))
			list_add_new(&row.values, all->arena,
				     as_written(all, there.item[i]));
	for (size_t i = 0; i < p->values.n; i++)
		list_add_new(&row.values, all->arena, p->values.item[i]);
	buf_addf(out, "%s%s = ", all->known->is_bare ? "" : "sandbox.", p->key);
	edit_add_value(out, &row);
	if (inside)
		buf_addf(out, " # in %s", inside);
	if (there.n)
		buf_adds(out, inside ? ", in place of the row that is there"
				     : " # in place of the row that is there");
}

static const char *setting_of(const struct pieces *all, const struct piece *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (all->known->form == ADVICE_TOML)
		add_toml(all, p, &out);
	for (size_t i = 0; all->known->form == ADVICE_OPTION && i < p->values.n;
	     i++) {
		buf_addf(&out, "%s--%s ", i ? " " : "", p->key);
		text_add_word(&out, p->values.item[i]);
	}
	return arena_strdup(all->arena, buf_cstr(&out));
}

struct piece *piece_find(const struct pieces *all, const char *key)
{
	for (size_t i = 0; key && i < all->n; i++)
		if (all->item[i].key && strcmp(all->item[i].key, key) == 0)
			return &all->item[i];
	return NULL;
}

void piece_add(struct pieces *all, const char *text, const char *key,
	       const struct strlist *values)
{
	struct piece *p = piece_find(all, key);

	if (p) {
		p->text = arena_printf(all->arena, "%s; %s", p->text, text);
	} else {
		all->item = arena_grow(all->arena, all->item, all->n,
				       sizeof(*all->item));
		p = &all->item[all->n++];
		*p = (struct piece){.text = text, .key = key};
	}
	for (size_t i = 0; key && i < values->n; i++)
		list_add_new(&p->values, all->arena, values->item[i]);
}

/*
 * Is a folder of the piece one that no line should open, because keys or HOME
 * lie in it? A program chooses what it lists, and what it says was missing.
 */
static bool opens_too_much(const struct pieces *all, const struct piece *p)
{
	const struct advice_known *known = all->known;
	const char *from =
		known->verdict ? known->verdict->dropped.folder : NULL;

	if (!known->gate || !p->key ||
	    (strcmp(p->key, "read") != 0 && strcmp(p->key, "write") != 0))
		return false;
	for (size_t i = 0; i < p->values.n; i++)
		if (file_holds_secrets(
			    known->gate,
			    path_resolve(p->values.item[i], from, all->arena),
			    all->arena))
			return true;
	return false;
}

/* A value of a server may have named what the row would start or reach; rows of
   files are the person's words. */
static bool may_be_data(const struct pieces *all, const struct piece *p)
{
	return p->key && advice_is_of_data(all->known) &&
	       strcmp(p->key, "read") != 0 && strcmp(p->key, "write") != 0;
}

struct advice_list pieces_written(const struct pieces *all)
{
	struct advice_list list = {.n = all->n};

	list.item = ARENA_ARRAY(all->arena, struct advice, all->n);
	for (size_t i = 0; i < all->n; i++) {
		const struct piece *p = &all->item[i];

		list.item[i].text = p->text;
		if (opens_too_much(all, p)) {
			list.item[i].text = arena_printf(
				all->arena,
				"%s; HOME or keys lie in there, so %s", p->text,
				strcmp(p->key, "write") == 0
					? "let it write into a folder of its "
					  "own (move the file there), and "
					  "grant that folder"
					: "grant what it needs of it, not all");
			continue;
		}
		list.item[i].setting =
			p->key && !may_be_data(all, p) &&
					(all->known->form != ADVICE_TOML ||
					 !is_replaced(&p->values))
				? setting_of(all, p)
				: NULL;
	}
	return list;
}
