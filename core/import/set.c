#include "core/import/set.h"

#include <ctype.h>

void set_add(struct import_set *set, const struct import_server *s)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	server_print(s, NULL, &text);
	for (size_t i = 0; i < set->n; i++) {
		const struct import_named *other = &set->item[i];

		if (strcmp(other->s.name, s->name) != 0 ||
		    strcmp(other->identity, buf_cstr(&text)) != 0)
			continue;
		list_add_new(&set->notes, set->arena,
			     arena_printf(set->arena,
					  "%s of %s is that of %s: one server",
					  s->name, s->from, other->s.from));
		return;
	}
	set->item =
		arena_grow(set->arena, set->item, set->n, sizeof(*set->item));
	set->item[set->n++] = (struct import_named){
		.s = *s, .identity = arena_strdup(set->arena, buf_cstr(&text))};
}

/* ---- names ---- */

struct naming {
	struct import_set *set;
	const struct toml_value *servers[2]; /* of the configuration */
	bool (*may_be)(void *arg, const char *file, struct str content);
	void *arg;
};

static bool is_same_value(const struct toml_value *a,
			  const struct toml_value *b)
{
	AUTO(buf_release) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf y = BUF_INIT(BUF_UNBOUNDED);

	if (a->type != TOML_TABLE || b->type != TOML_TABLE) {
		toml_to_json(a, &x);
		toml_to_json(b, &y);
		return a->type == b->type && str_eq(buf_str(&x), buf_str(&y));
	}
	for (size_t i = 0; i < a->table.n; i++) {
		const struct toml_member *m = &a->table.member[i];
		const struct toml_value *v = toml_get(b, m->key);

		if (!v || !is_same_value(&m->value, v))
			return false;
	}
	return true;
}

/* Does the server of the configuration have all that this one would have? */
static bool is_same(const struct naming *n, const struct import_server *s,
		    const char *name, const struct toml_value *there)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct toml_value root;

	server_print(s, name, &text);
	return toml_parse(n->set->arena, buf_str(&text), &root, ERR_IGNORED) ==
		       0 &&
	       is_same_value(toml_get(toml_get(&root, "servers"), name), there);
}

/* Is the file, of another credential, in the set already? */
static bool is_taken(const struct import_set *set, size_t n, const char *file,
		     const char *text)
{
	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k < set->item[i].s.n; k++) {
			const struct import_row *row = &set->item[i].s.row[k];

			if (row->file && strcmp(row->file, file) == 0 &&
			    strcmp(row->text, text) != 0)
				return true;
		}
	return false;
}

static void name_file(const struct naming *n, size_t at, const char *name,
		      struct import_row *row)
{
	struct arena *arena = n->set->arena;
	char *file = arena_printf(arena, "%s-%s", name,
				  *row->key ? row->key : "argument");
	const char *try;

	for (char *p = file; *p; p++)
		if (!isascii(*p) ||
		    (!isalnum((unsigned char)*p) && !strchr("-_.", *p)))
			*p = '_';
	file[strnlen(file, 200)] = '\0';
	try = file;
	row->file = NULL;
	for (unsigned i = 2;
	     is_taken(n->set, at, arena_printf(arena, "keys/%s", try),
		      row->text) ||
	     !n->may_be(n->arg, try, str_of(row->text));
	     i++)
		try = arena_printf(arena, "%s-%u", file, i);
	row->file = arena_printf(arena, "keys/%s", try);
}

static const struct toml_value *find(const struct naming *n, const char *name)
{
	const struct toml_value *v = toml_get(n->servers[0], name);

	return v ? v : toml_get(n->servers[1], name);
}

/* Is the name free, or of this very server? The files are named by it. */
static bool fits(const struct naming *n, size_t at, const char *name)
{
	struct import_named *item = &n->set->item[at];
	const struct toml_value *there = find(n, name);

	for (size_t i = 0; i < at; i++)
		if (n->set->item[i].name &&
		    strcmp(n->set->item[i].name, name) == 0)
			return false;
	for (size_t i = 0; i < item->s.n; i++)
		if (item->s.row[i].kind == IMPORT_SECRET ||
		    item->s.row[i].kind == IMPORT_ASIDE)
			name_file(n, at, name, &item->s.row[i]);
	item->is_known = there && is_same(n, &item->s, name, there);
	return !there || item->is_known;
}

void set_name(struct import_set *set, const struct toml_value *config,
	      bool (*may_be)(void *arg, const char *file, struct str content),
	      void *arg)
{
	const struct naming n = {
		.set = set,
		.servers = {toml_get(config, "servers"),
			    toml_get(config, "mcp_servers")},
		.may_be = may_be,
		.arg = arg,
	};

	for (size_t at = 0; at < set->n; at++) {
		struct import_named *item = &set->item[at];
		const char *name = item->s.name;

		if (!item->s.is_usable)
			continue;
		for (unsigned i = 2; !fits(&n, at, name); i++)
			name = arena_printf(set->arena, "%s-%u", item->s.name,
					    i);
		item->name = name;
		if (strcmp(name, item->s.name) != 0)
			list_add(&set->notes, set->arena,
				 arena_printf(set->arena,
					      "%s of %s is another server than "
					      "the first of that name: it "
					      "becomes %s",
					      item->s.name, item->s.from,
					      name));
	}
}
