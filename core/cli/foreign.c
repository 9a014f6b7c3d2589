#include "core/cli/foreign.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/server_trace.h"
#include "core/config/paths.h"
#include "core/import/tree.h"
#include "core/secret/secret.h"

/* Bytes of a file of variables. */
#define ENV_BYTES_MAX (64 * 1024)

/* ---- files ---- */

static const char *variable(void *arg, const char *name)
{
	(void)arg;
	return getenv(name);
}

static struct str read_text(void *arg, const char *path)
{
	struct foreign *f = arg;
	AUTO(buf_wipe) struct buf text = BUF_INIT(ENV_BYTES_MAX);

	return fd_read_regular(path, &text, ERR_IGNORED) < 0
		       ? (struct str){NULL, 0}
		       : arena_str(&f->arena, buf_str(&text));
}

void foreign_init(struct foreign *f)
{
	const char *home = path_own_home(0);

	*f = (struct foreign){
		.arena = ARENA_INIT,
		.src = {.home = home ? home : "",
			.variable = variable,
			.read = read_text},
	};
	f->src.arena = &f->arena;
	f->src.arg = f;
}

void foreign_release(struct foreign *f)
{
	arena_wipe(&f->arena);
}

/* Folder of the project that a file belongs to: above .vscode and its like. */
static const char *project_of(struct foreign *f, const char *path)
{
	static const char names[] =
		".vscode .cursor .zed .gemini .codex config";
	char *folder =
		arena_strdup(&f->arena, path_resolve(path, NULL, &f->arena));
	char *above;

	*strrchr(folder, '/') = '\0';
	above = strrchr(folder, '/');
	if (above && str_has_word(names, str_of(above + 1)))
		*above = '\0';
	return *folder ? folder : "/";
}

int foreign_read(struct foreign *f, const char *path, struct buf *text,
		 struct toml_value *ret, struct err *err)
{
	const char *log;
	struct stat st;

	if (fd_read_regular(path, text, err) < 0)
		return -1;
	log = arena_printf(&f->arena, "%s-wal", path);
	if (stat(log, &st) == 0 && st.st_size)
		log_warning("%s has writes that are not in %s yet; end the "
			    "program that uses it, and begin again",
			    log, path);
	if (tree_read(buf_str(text), tree_format_of(path), &f->arena, ret,
		      err) < 0)
		return err_wrap(err, "%s", path);
	f->src.path = arena_strdup(&f->arena, path);
	f->src.folder = project_of(f, path);
	return 0;
}

/* ---- traces ---- */

struct tracing {
	struct foreign *f;
	struct import_server *s;
	const char *dir;
	struct scrub *scrub;
};

/* One row of a list, or a note for a need that no trace grants. */
static void add_need(void *arg, const char *key, const char *value,
		     const char *why_not)
{
	struct tracing *t = arg;
	struct arena *arena = &t->f->arena;
	const struct toml_value text = {.type = TOML_STRING,
					.string = str_of(value)};
	struct toml_value *rows;

	if (why_not) {
		list_add(&t->s->lost, arena,
			 arena_printf(arena, "sandbox.%s of %s: %s", key, value,
				      why_not));
		return;
	}
	rows = tree_table(tree_table(&t->s->table, "sandbox", arena), key,
			  arena);
	if (strcmp(key, "net") == 0 && gate_net_is_word(value))
		*rows = text;
	if (rows->type == TOML_TABLE)
		*rows = (struct toml_value){.type = TOML_ARRAY};
	for (size_t i = 0; rows->type == TOML_ARRAY && i < rows->array.n; i++)
		if (str_is(rows->array.item[i].string, value))
			return;
	if (rows->type == TOML_ARRAY)
		tree_append(rows, text, arena);
}

/* Text of a value of `env`; those of credentials go to the scrubber. */
static int read_value(struct tracing *t, const struct toml_value *v,
		      struct buf *ret, struct err *err)
{
	const struct toml_value *secret = toml_get(v, "secret"),
				*name = toml_get(v, "env"),
				*file = toml_get(v, "file");
	int r = 0;

	if (secret || v->type == TOML_STRING)
		buf_add_str(ret, secret ? secret->string : v->string);
	else
		r = secret_resolve(name ? SECRET_ENV : SECRET_FILE,
				   name ? name->string.p
					: path_resolve(file->string.p, t->dir,
						       &t->f->arena),
				   NULL, ret, err);
	if (r == 0 && v->type != TOML_STRING)
		scrub_add(t->scrub, buf_str(ret));
	return r;
}

static int read_env(struct tracing *t, struct strlist *lines, struct err *err)
{
	const struct toml_value *env = toml_get(&t->s->table, "env");

	for (size_t i = 0; env && i < env->table.n; i++) {
		const struct toml_member *m = &env->table.member[i];
		AUTO(buf_wipe) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (read_value(t, &m->value, &value, err) < 0)
			return err_wrap(err, "%s", m->key);
		list_add(lines, &t->f->arena,
			 arena_printf(&t->f->arena, "%s=%s", m->key,
				      buf_cstr(&value)));
	}
	return 0;
}

/* config, dir  NULL: nothing is started */
static int start(struct foreign *f, struct import_server *s,
		 const struct config *config, const char *dir, struct err *err)
{
	struct tracing t = {f, s, dir, scrub_new()};
	const struct toml_value *args = toml_get(&s->table, "args");
	const struct toml_value *cwd = toml_get(&s->table, "cwd");
	const char *command = toml_get(&s->table, "command")->string.p;
	struct strlist words = {NULL, 0}, env = {NULL, 0};
	struct server_trace trace = {
		.name = s->name,
		.dir = dir,
		.config = config,
		.scrub = t.scrub,
		.only_finds = !dir,
		.need = add_need,
		.arg = &t,
		.request = {.program = path_program(command, dir, &f->arena),
			    .cwd = path_resolve(cwd ? cwd->string.p : ".", dir,
						&f->arena)},
	};
	int r = dir ? read_env(&t, &env, err) : 0;

	list_add(&words, &f->arena, trace.request.program);
	for (size_t i = 0; args && i < args->array.n; i++)
		list_add(&words, &f->arena, args->array.item[i].string.p);
	list_add(&words, &f->arena, NULL);
	list_add(&env, &f->arena, NULL);
	trace.request.argv = words.item;
	trace.request.env = env.item;
	if (r == 0)
		r = server_trace(&trace, &f->arena, err);
	scrub_free(t.scrub);
	return r;
}

int foreign_trace(struct foreign *f, struct import_server *s,
		  const struct config *config, const char *dir, struct err *err)
{
	return start(f, s, config, dir, err);
}

int foreign_find(struct foreign *f, struct import_server *s, struct err *err)
{
	return start(f, s, NULL, NULL, err);
}
