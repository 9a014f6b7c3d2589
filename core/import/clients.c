#include "core/import/clients.h"

#include "core/import/words.h"

#define IMPORT_CLIENT(name, title, ...) \
	{name, title, (const char *const[]){__VA_ARGS__, NULL}},
#define IMPORT_CONTAINER(...)
const struct import_client import_clients[] = {
#include "core/import/clients.def"
	{0},
};
#undef IMPORT_CLIENT
#undef IMPORT_CONTAINER

/* Places of servers in a file, of any client. */
#define IMPORT_CLIENT(...)
#define IMPORT_CONTAINER(path, format) {path, format},
static const struct {
	const char *path;
	int format; /* the only one; -1: any */
} containers[] = {
#include "core/import/clients.def"
};

/* ---- places of files ---- */

static const char *from_home(const struct import_source *src, struct str path)
{
	const bool is_home = str_starts(path, "~");

	return arena_printf(src->arena, "%s%.*s", is_home ? src->home : "",
			    STR_ARG(str_skip(path, is_home)));
}

const char *client_place(const struct import_source *src, const char *place)
{
	struct str fallback, name, rest = str_of(place);
	const char *value;

	if (!str_starts(rest, "${"))
		return from_home(src,
				 str_skip(rest, str_starts(rest, "./") * 2U));
	rest = str_skip(rest, 2);
	fallback = str_cut(&rest, '}');
	name = str_cut(&fallback, ':');
	value = src->variable(src->arg,
			      arena_strndup(src->arena, name.p, name.n));
	if ((!value || !*value) && !fallback.n)
		return NULL;
	if (!value || !*value)
		value = from_home(src, str_skip(fallback, 1));
	return arena_printf(src->arena, "%s%.*s", value, STR_ARG(rest));
}

/* ---- servers of a file ---- */

struct visiting {
	struct import_source *src;
	void (*visit)(void *arg, const char *name,
		      const struct toml_value *table);
	void *arg;
	size_t n;
};

/* A key << of YAML may bring servers: it is visited as if it were one, which
   server_read() does not read. */
static void visit_merge(struct visiting *v, const struct toml_value *table)
{
	const struct toml_value *merged = toml_get(table, "<<");

	if (!merged)
		return;
	v->src->within = NULL;
	v->visit(v->arg, "<<", merged);
	v->n++;
}

/* A table of servers by name, or a list of those that say their names. */
static void visit_all(struct visiting *v, const struct toml_value *servers)
{
	const bool is_table = servers->type == TOML_TABLE;
	const size_t n = is_table		       ? servers->table.n
			 : servers->type == TOML_ARRAY ? servers->array.n
						       : 0;

	for (size_t i = 0; i < n; i++) {
		const struct toml_value *s =
			is_table ? &servers->table.member[i].value
				 : &servers->array.item[i];
		const struct toml_value *said = toml_get(s, "name");
		const char *name = is_table ? servers->table.member[i].key
				   : said   ? words_text(said, v->src->arena)
					    : NULL;

		if (!name)
			continue;
		v->src->within = is_table ? servers : NULL;
		v->visit(v->arg, name, s);
		v->n++;
	}
}

/* Follow a path, in which * stands for any key: the folder of a project. */
static void follow(struct visiting *v, const struct toml_value *at,
		   struct str path)
{
	const struct str name = str_cut(&path, '.');

	if (!name.n)
		visit_all(v, at);
	for (size_t i = 0; name.n && at->type == TOML_TABLE && i < at->table.n;
	     i++) {
		const struct toml_member *m = &at->table.member[i];
		const bool is_any = str_is(name, "*");

		if (!is_any && !str_is(name, m->key))
			continue;
		if (is_any && *m->key == '/') {
			v->src->folder = m->key;
			v->src->is_project = true;
		}
		if (path.n)
			visit_merge(v, &m->value);
		follow(v, &m->value, path);
	}
}

/* A file that is the object of servers itself. */
static bool is_bare(const struct toml_value *root)
{
	for (size_t i = 0; root->type == TOML_TABLE && i < root->table.n; i++) {
		const struct toml_value *v = &root->table.member[i].value;

		if (strcmp(root->table.member[i].key, "<<") != 0 &&
		    !toml_get(v, "command") && !toml_get(v, "url"))
			return false;
	}
	return root->type == TOML_TABLE || root->type == TOML_ARRAY;
}

size_t client_servers(struct import_source *src, const struct toml_value *root,
		      enum tree_format format,
		      void (*visit)(void *arg, const char *name,
				    const struct toml_value *table),
		      void *arg)
{
	struct visiting v = {src, visit, arg, 0};
	const struct toml_value *inputs =
		toml_get(toml_get(root, "mcp"), "inputs");

	src->in_seconds = format != TREE_JSON;
	src->inputs = inputs ? inputs : toml_get(root, "inputs");
	for (size_t i = 0; i < ARRAY_LEN(containers); i++)
		if (containers[i].format < 0 ||
		    containers[i].format == (int)format)
			follow(&v, root, str_of(containers[i].path));
	/* << of a bare one is visited with the servers beside it */
	if (!v.n && is_bare(root))
		visit_all(&v, root);
	else
		visit_merge(&v, root);
	return v.n;
}
