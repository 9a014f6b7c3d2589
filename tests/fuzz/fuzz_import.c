/*
 * Settings of other clients; the first byte picks the format. What comes out is
 * TOML with a server of each name, and no credential of it in clear.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/base/limits.h"
#include "core/import/clients.h"
#include "core/import/set.h"
#include "core/import/wrap.h"
#include "core/secret/literal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *variable(void *arg, const char *name)
{
	(void)arg;
	return *name == 'A' ? "value of A" : NULL;
}

static struct str read_text(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return STR("A=1\nexport B='2'\n=\nTOKEN=abcdefgh12345678\n");
}

struct reading {
	struct import_source src;
	struct import_set set;
};

static void add(void *arg, const char *name, const struct toml_value *table)
{
	struct reading *r = arg;
	struct import_server s;

	server_read(&r->src, name, table, &s);
	(void)set_add(&r->set, &s);
}

static bool may_be(void *arg, const char *file, struct str content)
{
	(void)arg;
	(void)content;
	return !strchr(file, '/') && file[0] != '.';
}

static void check(struct arena *arena, const struct import_named *item)
{
	const struct toml_value *env = toml_get(&item->s.table, "env");
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct toml_value root;

	server_print(&item->s, item->name, &text);
	if (text.n > LIMIT_CONFIG_BYTES / 2)
		return;
	if (toml_parse(arena, buf_str(&text), &root, &err) < 0 &&
	    err.kind != ERR_LIMIT)
		abort();
	if (err.kind != ERR_LIMIT &&
	    !toml_get(toml_get(&root, "servers"), item->name))
		abort();
	for (size_t i = 0; env && i < env->table.n; i++) {
		const struct toml_member *m = &env->table.member[i];

		if (m->value.type == TOML_STRING &&
		    literal_looks_like(m->key, m->value.string))
			abort();
	}
}

/* Of every table of JSON the servers go, but for one entry. */
static void serve_all(struct wrap *w)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct strlist serve = STRLIST("m", "serve");
	struct err err = ERR_INIT;

	for (size_t i = 0; w->format == TREE_JSON && i < w->n && i < 200; i++) {
		struct wrap_server *s = &w->server[i];
		bool is_first = true;

		s->before.n = 0;
		if (!s->within || !server_member(s->table, false))
			continue;
		for (size_t k = 0; k < i; k++)
			is_first &= !w->server[k].goes ||
				    w->server[k].within != s->within;
		s->goes = true;
		if (is_first)
			s->before = serve;
	}
	if (wrap_text(w, &out, &err) < 0 && err.kind != ERR_CONFIG)
		abort();
}

/* Every server starts by another program; the edit proves itself. */
static void wrap_all(struct import_source *src, enum tree_format format,
		     struct str text, const struct toml_value *root)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct strlist before = STRLIST("m", "exec", "--");
	struct wrap w = {src, format, text, *root, NULL, 0};
	struct err err = ERR_INIT;

	wrap_open(&w);
	for (size_t i = 0; i < w.n && i < 200; i++)
		if (w.server[i].words.n)
			w.server[i].before = before;
	if (wrap_text(&w, &out, &err) < 0 && err.kind != ERR_CONFIG)
		abort();
	serve_all(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct reading r = {
		.src = {.arena = &arena,
			.path = "x.json",
			.folder = "/p",
			.home = "/h",
			.variable = variable,
			.read = read_text},
		.set = {.arena = &arena},
	};
	const struct toml_value none = {.type = TOML_TABLE};
	enum tree_format format;
	struct err err = ERR_INIT;
	struct toml_value root;
	struct str text;

	if (!size)
		return 0;
	format = data[0] == 'y'	  ? TREE_YAML
		 : data[0] == 't' ? TREE_TOML
				  : TREE_JSON;
	text = (struct str){(const char *)data + 1, size - 1};
	if (tree_read(text, format, &arena, &root, &err) < 0)
		return 0;
	wrap_all(&r.src, format, text, &root);
	(void)client_servers(&r.src, &root, format, add, &r);
	if (r.set.n > 200)
		return 0;
	set_name(&r.set, &none, may_be, NULL);
	for (size_t i = 0; i < r.set.n; i++)
		if (r.set.item[i].name)
			check(&arena, &r.set.item[i]);
	return 0;
}
