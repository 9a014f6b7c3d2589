#include "core/import/clients.h"

#include "core/import/words.h"

#define IMPORT_CLIENT(name, title, ...) \
	{name, title, (const char *const[]){__VA_ARGS__, NULL}},
const struct import_client import_clients[] = {
#include "core/import/clients.def"
	{0},
};

const struct import_client *client_find(const char *name)
{
	const struct import_client *c = import_clients;

	while (c->name && strcmp(c->name, name) != 0)
		c++;
	return c->name ? c : NULL;
}

/* ---- places ---- */

static const char *from_home(const struct import_source *src, const char *path)
{
	if (strncmp(path, "~", 1) != 0)
		return path;
	return arena_printf(src->arena, "%s%s", src->home, path + 1);
}

const char *client_place(const struct import_source *src, const char *place)
{
	struct str fallback, name, rest = str_of(place);
	const char *value, *folder;

	if (!str_starts(rest, "${"))
		return from_home(src, place + (str_starts(rest, "./") ? 2 : 0));
	rest = str_skip(rest, 2);
	fallback = str_cut(&rest, '}');
	name = str_cut(&fallback, ':');
	value = src->variable(src->arg,
			      arena_strndup(src->arena, name.p, name.n));
	if (!value || !*value) {
		if (!fallback.n)
			return NULL;
		folder = arena_strndup(src->arena, fallback.p + 1,
				       fallback.n - 1);
		value = from_home(src, folder);
	}
	return arena_printf(src->arena, "%s%.*s", value, STR_ARG(rest));
}

/* ---- servers of a file ---- */

struct visiting {
	void (*visit)(void *arg, const char *name,
		      const struct toml_value *table);
	void *arg;
	struct arena *arena;
	size_t n;
};

static void visit_table(struct visiting *v, const struct toml_value *table)
{
	for (size_t i = 0;
	     table && table->type == TOML_TABLE && i < table->table.n; i++) {
		v->visit(v->arg, table->table.member[i].key,
			 &table->table.member[i].value);
		v->n++;
	}
}

/* Rows of a registry: [{ "name": …, "command": … }] */
static void visit_array(struct visiting *v, const struct toml_value *array)
{
	for (size_t i = 0;
	     array && array->type == TOML_ARRAY && i < array->array.n; i++) {
		const struct toml_value *name =
			toml_get(&array->array.item[i], "name");
		const char *text = name ? words_text(name, v->arena) : NULL;

		if (!text)
			continue;
		v->visit(v->arg, text, &array->array.item[i]);
		v->n++;
	}
}

/* A file that is the object of servers itself. */
static bool is_bare(const struct toml_value *root)
{
	for (size_t i = 0; root->type == TOML_TABLE && i < root->table.n; i++) {
		const struct toml_value *v = &root->table.member[i].value;

		if (!toml_get(v, "command") && !toml_get(v, "url"))
			return false;
	}
	return root->type == TOML_TABLE;
}

size_t client_servers(struct import_source *src, const struct toml_value *root,
		      enum tree_format format,
		      void (*visit)(void *arg, const char *name,
				    const struct toml_value *table),
		      void *arg)
{
	static const char *const names[] = {"mcpServers", "context_servers",
					    "mcp_servers", "servers"};
	const struct toml_value *mcp = toml_get(root, "mcp");
	const struct toml_value *projects = toml_get(root, "projects");
	struct visiting v = {visit, arg, src->arena, 0};

	src->in_seconds = format != TREE_JSON;
	src->inputs = toml_get(toml_get(mcp, "servers") ? mcp : root, "inputs");
	for (size_t i = 0; root->type == TOML_TABLE && i < root->table.n; i++) {
		const struct toml_member *m = &root->table.member[i];
		const bool is_servers =
			str_index(str_of(m->key), names, ARRAY_LEN(names)) <
				ARRAY_LEN(names) ||
			(format == TREE_YAML &&
			 strcmp(m->key, "extensions") == 0);

		if (is_servers) {
			visit_table(&v, &m->value);
			visit_array(&v, &m->value);
		}
	}
	visit_table(&v, toml_get(mcp, "servers"));
	for (size_t i = 0;
	     projects && projects->type == TOML_TABLE && i < projects->table.n;
	     i++) {
		const struct toml_member *m = &projects->table.member[i];

		if (*m->key == '/')
			src->folder = m->key;
		visit_table(&v, toml_get(&m->value, "mcpServers"));
	}
	visit_array(&v, root);
	if (!v.n && is_bare(root))
		visit_table(&v, root);
	return v.n;
}
