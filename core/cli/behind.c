#include "core/cli/behind.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/rewrite.h"
#include "core/config/paths.h"

void behind_init(struct behind *b, struct foreign *f, const char *folder)
{
	*b = (struct behind){
		.f = f,
		.folder = folder,
		.path = arena_printf(&f->arena, "%s/matins.toml", folder),
		.set = {.arena = &f->arena},
		.text = BUF_INIT(BUF_UNBOUNDED),
	};
}

void behind_release(struct behind *b)
{
	buf_release(&b->text);
}

/* Does its table have another server of that name? Clients take the last. */
static bool is_twice(const struct wrap *w, const struct wrap_server *s)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->server[i].within == s->within &&
		     strcmp(w->server[i].name, s->name) == 0;
	return n > 1;
}

const char *behind_why_not(const struct behind *b, const struct wrap *w,
			   const struct wrap_server *s,
			   const struct import_server *as)
{
	const struct toml_member *program = server_member(s->table, false);
	const struct toml_member *args = server_member(s->table, true);

	if (w->format != TREE_JSON)
		return "stands in a file that is not JSON";
	if (!s->within)
		return "stands in a list of servers";
	if (is_twice(w, s))
		return "stands there twice";
	if (!program || program->value.type == TOML_TABLE ||
	    (args && args->value.type != TOML_ARRAY))
		return "has its program in a form of its own";
	if (foreign_is_off(as))
		return "is disabled";
	if (as->env_file)
		return "has a file of variables that its client reads";
	if (toml_get(&as->table, ""))
		return "has a credential in an argument";
	return as->lost.n ? arena_printf(b->set.arena,
					 "has what only its client knows (%s)",
					 as->lost.item[0])
			  : NULL;
}

/* Write relative paths of the sandbox as the configuration needs them, which
   lies elsewhere. */
static void move_rows(struct behind *b, const struct wrap_server *s,
		      struct import_server *as)
{
	const struct toml_value *sandbox = toml_get(&as->table, "sandbox");

	for (size_t i = 0; sandbox && i < sandbox->table.n; i++) {
		struct toml_value *rows = &sandbox->table.member[i].value;

		for (size_t k = 0;
		     rows->type == TOML_ARRAY && k < rows->array.n; k++) {
			struct str *row = &rows->array.item[k].string;

			if (str_starts(*row, "."))
				*row = str_of(path_resolve(row->p, s->folder,
							   b->set.arena));
		}
	}
}

static void put_text(struct import_server *as, const char *key,
		     const char *text, struct arena *arena)
{
	*tree_table(&as->table, key, arena) = (struct toml_value){
		.type = TOML_STRING, .string = str_of(text)};
}

static void drop_key(struct toml_value *table, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < table->table.n; i++)
		if (strcmp(table->table.member[i].key, key) != 0)
			table->table.member[n++] = table->table.member[i];
	table->table.n = n;
}

void behind_add(struct behind *b, struct wrap_server *s,
		struct import_server *as)
{
	struct arena *arena = b->set.arena;
	const struct toml_value *cwd = toml_get(&as->table, "cwd");
	const char *folder = path_resolve(cwd		  ? cwd->string.p
					  : as->starts_in ? as->starts_in
							  : ".",
					  s->folder, arena);
	AUTO(mem_freep) char *real = realpath(folder, NULL);
	struct gate_explained start = {.cwd = NULL};

	move_rows(b, s, as);
	put_text(as, "command",
		 path_program(toml_get(&as->table, "command")->string.p,
			      s->folder, arena),
		 arena);
	put_text(as, "cwd", folder, arena);
	/* As of `exec`, a folder that it does not see is no reason to refuse
	   the start, which a key would be. */
	if (foreign_explain(b->f, as, s->folder, &start, ERR_IGNORED) < 0 ||
	    !start.cwd || !real || strcmp(start.cwd, real) != 0)
		drop_key(&as->table, "cwd");
	*tree_table(&as->table, "audit", arena) =
		(struct toml_value){.type = TOML_BOOLEAN, .boolean = true};
	for (size_t i = 0; i < as->notes.n; i++)
		log_note("wrap: %s: %s", s->name, as->notes.item[i]);
	b->server = arena_grow(arena, b->server, b->n, sizeof(*b->server));
	b->server[b->n++] =
		(struct behind_server){.s = s, .at = set_add(&b->set, as)};
	s->goes = true;
}

/* A credential has a file of its own in a folder that nothing else is in. */
static bool may_be(void *arg, const char *file, struct str content)
{
	(void)arg;
	(void)file;
	(void)content;
	return true;
}

/* Names, with commas, of the servers that stood in that table. */
static const char *names_of(const struct behind *b,
			    const struct toml_value *within)
{
	struct strlist names = {NULL, 0};

	for (size_t i = 0; i < b->n; i++)
		if (b->server[i].s->within == within)
			list_add_new(&names, b->set.arena,
				     b->set.item[b->server[i].at].name);
	return list_join(&names, ",", b->set.arena);
}

/* Is it the first of those that go from its table? */
static bool is_first(const struct behind *b, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (b->server[i].s->within == b->server[at].s->within)
			return false;
	return true;
}

void behind_close(struct behind *b, struct wrap *w, const char *self)
{
	const struct toml_value none = {.type = TOML_TABLE};
	struct arena *arena = b->set.arena;

	set_name(&b->set, &none, may_be, NULL);
	for (size_t i = 0; i < b->set.notes.n; i++)
		log_note("wrap: %s", b->set.notes.item[i]);
	buf_addf(&b->text,
		 "# Servers of %s, as `matins wrap --serve` wrote them.\n",
		 w->src->path);
	for (size_t i = 0; i < b->set.n; i++) {
		buf_adds(&b->text, "\n");
		server_print(&b->set.item[i].s, b->set.item[i].name, &b->text);
	}
	for (size_t i = 0; i < b->n; i++) {
		struct wrap_server *s = b->server[i].s;

		const struct strlist words =
			STRLIST(self, "serve", "--config", b->path, "--servers",
				names_of(b, s->within));

		if (is_first(b, i))
			s->before = arena_strlist(arena, &words);
	}
}

bool behind_is_start(const struct strlist *words, const char *state)
{
	const char *path = words->n == 6 ? words->item[3] : "";

	return state && words->n == 6 && strcmp(words->item[1], "serve") == 0 &&
	       strcmp(words->item[2], "--config") == 0 &&
	       strcmp(words->item[4], "--servers") == 0 &&
	       str_starts(str_of(path), state) &&
	       str_fits(str_skip(str_of(path), strlen(state)),
			"/wrap/*.serve/matins.toml") &&
	       !strstr(path, "..");
}

int behind_write(const struct behind *b, struct err *err)
{
	const char *keys = arena_printf(b->set.arena, "%s/keys", b->folder);
	const struct toml_value *secret;
	const char *key;

	if (rewrite_check(b->path, buf_str(&b->text), err) < 0)
		return -1;
	if (fd_mkdirs(keys, 0700) < 0)
		return err_sys(err, errno, "%s", keys);
	for (size_t i = 0; i < b->set.n; i++)
		for (size_t k = 0;
		     (secret = server_secret(&b->set.item[i].s, k, &key)); k++)
			if (fd_replace_file(
				    arena_printf(
					    b->set.arena, "%s/%s", b->folder,
					    toml_get(secret, "file")->string.p),
				    toml_get(secret, "secret")->string, 0600,
				    true, err) < 0)
				return -1;
	if (fd_replace_file(b->path, buf_str(&b->text), 0600, true, err) < 0)
		return -1;
	(void)rewrite_allow_new(b->path, buf_str(&b->text));
	return 0;
}
