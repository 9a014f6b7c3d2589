#include "core/import/set.h"

#include <ctype.h>

#include "core/base/sha256.h"
#include "core/import/tree.h"

static bool is_equal(const struct toml_value *a, const struct toml_value *b)
{
	AUTO(buf_wipe) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf y = BUF_INIT(BUF_UNBOUNDED);

	toml_to_json(a, &x);
	toml_to_json(b, &y);
	return a->type == b->type && str_eq(buf_str(&x), buf_str(&y));
}

size_t set_add(struct import_set *set, const struct import_server *s)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct import_server *other = &set->item[i].s;

		if (strcmp(other->name, s->name) != 0 ||
		    !is_equal(&other->table, &s->table))
			continue;
		list_add_new(&set->notes, set->arena,
			     arena_printf(set->arena,
					  "%s of %s is that of %s: one server",
					  s->name, s->from, other->from));
		return i;
	}
	set->item =
		arena_grow(set->arena, set->item, set->n, sizeof(*set->item));
	set->item[set->n] = (struct import_named){.s = *s};
	return set->n++;
}

/* ---- names ---- */

struct naming {
	struct import_set *set;
	const struct toml_value *servers[2]; /* of the configuration */
	bool (*may_be)(void *arg, const char *file, struct str content);
	void *arg;
	struct toml_value files; /* their texts, by path */
};

/* Has the configuration all that there is to be? Of a credential, its file. */
static bool is_within(const struct toml_value *a, const struct toml_value *b)
{
	if (a->type != TOML_TABLE || b->type != TOML_TABLE)
		return is_equal(a, b);
	for (size_t i = 0; i < a->table.n; i++) {
		const struct toml_member *m = &a->table.member[i];
		const struct toml_value *v = toml_get(b, m->key);

		if (*m->key && strcmp(m->key, "secret") != 0 &&
		    (!v || !is_within(&m->value, v)))
			return false;
	}
	return true;
}

/* May the file have that content, for all that is known of it? */
static bool is_free(const struct naming *n, const char *file,
		    const struct str *text)
{
	const struct toml_value *other = toml_get(
		&n->files, arena_printf(n->set->arena, "keys/%s", file));

	return (!other || str_eq(other->string, *text)) &&
	       n->may_be(n->arg, file, *text);
}

/* A name of its own for one of many keys whose files would have one name. */
static const char *by_digest(struct arena *arena, const char *file,
			     const char *key)
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex(str_of(key), hex);
	return arena_printf(arena, "%s-%.16s", file, hex);
}

static void name_file(struct naming *n, const char *name, const char *key,
		      struct toml_value *secret)
{
	struct arena *arena = n->set->arena;
	char *file =
		arena_printf(arena, "%s-%s", name, *key ? key : "argument");
	const struct str text = toml_get(secret, "secret")->string;
	const char *try = file;

	for (char *p = file; *p; p++)
		if (!isascii(*p) ||
		    (!isalnum((unsigned char)*p) && !strchr("-_.", *p)))
			*p = '_';
	file[strnlen(file, 200)] = '\0';
	for (unsigned i = 2; !is_free(n, try, &text); i++)
		try = i == 3 ? by_digest(arena, file, key)
			     : arena_printf(arena, "%s-%u", file, i);
	try = arena_printf(arena, "keys/%s", try);
	*tree_table(secret, "file", arena) =
		(struct toml_value){.type = TOML_STRING, .string = str_of(try)};
	*tree_table(&n->files, try, arena) = *toml_get(secret, "secret");
}

/* Is the name free, or of this very server? The files are named by it. */
static bool fits(struct naming *n, size_t at, const char *name)
{
	struct import_named *item = &n->set->item[at];
	const struct toml_value *there = toml_get(n->servers[0], name);
	struct toml_value *secret;
	const char *key;

	for (size_t i = 0; i < at; i++)
		if (n->set->item[i].name &&
		    strcmp(n->set->item[i].name, name) == 0)
			return false;
	there = there ? there : toml_get(n->servers[1], name);
	for (size_t i = 0; (secret = server_secret(&item->s, i, &key)); i++)
		name_file(n, name, key, secret);
	item->is_known = there && is_within(&item->s.table, there);
	return !there || item->is_known;
}

void set_name(struct import_set *set, const struct toml_value *config,
	      bool (*may_be)(void *arg, const char *file, struct str content),
	      void *arg)
{
	struct naming n = {
		.set = set,
		.servers = {toml_get(config, "servers"),
			    toml_get(config, "mcp_servers")},
		.may_be = may_be,
		.arg = arg,
		.files = {.type = TOML_TABLE},
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
