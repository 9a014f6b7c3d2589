/*
 * `matins add` installs a server into a folder of its own and writes its table;
 * `matins remove` takes both away.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/foreign.h"
#include "core/cli/install.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/rewrite.h"
#include "core/client/catalogue.h"
#include "core/config/edit.h"
#include "core/config/paths.h"
#include "core/config/server_url.h"
#include "core/import/tree.h"
#include "core/import/words.h"
#include "core/install/bundle.h"
#include "core/install/kinds.h"
#include "core/install/depot.h"
#include "core/install/files.h"
#include "core/secret/literal.h"

const struct option options_add[] = {
	{"name", 0, "NAME", "name of the server in the configuration"},
	{"print", 0, NULL,
	 "install, and print the table instead of writing it"},
	{"grant", 0, NULL,
	 "grant all that it reaches for at its first start, your files and the "
	 "network, too"},
	{"allow-scripts", 0, NULL,
	 "let programs of packages run while they are installed"},
	{"find-links", 0, "DIR",
	 "python: take wheels from this folder, and none of the index"},
	{"runtime", 0, "bundled",
	 "npm: install Node, too, as the package that carries it"},
	{"set", 0, "KEY=VALUE", "bundle: a value of its user_config"},
	{0},
};
const struct option options_remove[] = {{0}};
const struct option options_upgrade[] = {
	{"allow-scripts", 0, NULL, "let programs of packages run meanwhile"},
	{"find-links", 0, "DIR", "as of add"},
	{"runtime", 0, "bundled", "as of add"},
	{"set", 0, "KEY=VALUE", "as of add"},
	{0},
};

#define MANIFEST_BYTES (256 * 1024)
/* Status of an installed server that did not start. */
#define STATUS_NOT_STARTED 2

struct adding {
	const struct args *args;
	struct foreign f;
	enum install_kind kind;
	const char *source, *name;
	const char *tree;  /* where its files will be */
	struct rewrite to; /* the configuration */
	struct draft draft;
	struct installed_server about;
	struct import_server s; /* rows of its table */
	struct buf wanted;	/* comments: rows that nobody granted */
	bool has_failed;	/* the first start failed; said */
	struct err why;		/* of that */
	int signal;		/* that ended a program of it; 0: none */
};

/* ---- rows ---- */

static struct toml_value text_of(const char *text)
{
	return (struct toml_value){.type = TOML_STRING, .string = str_of(text)};
}

static void add_text(struct adding *a, const char *key, const char *text)
{
	*tree_table(&a->s.table, key, &a->f.arena) = text_of(text);
}

/* Replace a list of a table; an empty one stays away. */
static void add_list(struct adding *a, struct toml_value *table,
		     const char *key, const struct strlist *list)
{
	struct toml_value all = {.type = TOML_ARRAY};

	for (size_t i = 0; i < list->n; i++)
		tree_append(&all, text_of(list->item[i]), &a->f.arena);
	if (list->n)
		*tree_table(table, key, &a->f.arena) = all;
}

/* The program and its arguments. */
static void add_words(struct adding *a, const struct strlist *words)
{
	const struct strlist args = {words->item + 1, words->n - 1};

	add_text(a, "command", words->item[0]);
	add_list(a, &a->s.table, "args", &args);
}

/* ---- kinds ---- */

static bool is_in_folder(void *arg, const char *path)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct stat st;

	return stat(arena_printf(&arena, "%s/%s", (const char *)arg, path),
		    &st) == 0 &&
	       S_ISREG(st.st_mode);
}

/* A kind that has packages. */
static int make_packages(struct adding *a,
			 int (*make)(struct install *i, struct err *err),
			 struct err *err)
{
	struct install i = {
		.arena = &a->f.arena,
		.source = a->source,
		.draft = a->draft.path,
		.tree = a->draft.tree,
		.place = a->tree,
		.allow_scripts = args_has(a->args, "allow-scripts"),
		.runtime = args_get(a->args, "runtime"),
		.find_links = args_get(a->args, "find-links"),
	};

	if (install_is_file(a->source))
		a->about.source = path_resolve(a->source, NULL, &a->f.arena);
	if (make(&i, err) < 0) {
		a->signal = i.signal;
		return -1;
	}
	a->about.version = i.version;
	for (char **word = a->args->after; word && *word; word++)
		list_add(&i.words, &a->f.arena, *word);
	add_words(a, &i.words);
	return 0;
}

static int make_npm(struct adding *a, struct err *err)
{
	return make_packages(a, install_npm, err);
}

static int make_python(struct adding *a, struct err *err)
{
	return make_packages(a, install_python, err);
}

/*
 * Look for the program in the folder, before anything is copied: for the file
 * that an interpreter is to run, and the package that a launcher names.
 */
static int find_program(struct adding *a, const char *folder, struct err *err)
{
	struct import_server s = {.name = a->name,
				  .table = {.type = TOML_TABLE}};
	struct toml_value args = {.type = TOML_ARRAY};
	struct gate_explained e = {.program = NULL};
	struct err why = ERR_INIT;

	for (char **word = a->args->after + 1; *word; word++)
		tree_append(&args, text_of(*word), &a->f.arena);
	*tree_table(&s.table, "command", &a->f.arena) =
		text_of(*a->args->after);
	*tree_table(&s.table, "args", &a->f.arena) = args;
	if (foreign_explain(&a->f, &s, folder, &e, &why) < 0 &&
	    why.kind == ERR_NOT_FOUND) {
		*err = why;
		return -1;
	}
	return e.missing_script
		       ? err_set(err, ERR_NOT_FOUND, "%s has no file %s",
				 folder, e.missing_script)
		       : 0;
}

/* Variables of a bundle; of a credential the file that a person fills. */
static void add_env(struct adding *a, const struct bundle *b)
{
	struct toml_value *env = tree_table(&a->s.table, "env", &a->f.arena);

	for (size_t i = 0; i < b->n_env; i++) {
		const struct bundle_variable *v = &b->env[i];
		const char *file = arena_printf(&a->f.arena, "keys/%s-%s",
						a->name, v->key ? v->key : "");
		struct toml_value *to = tree_table(env, v->name, &a->f.arena);

		if (!v->key) {
			*to = text_of(v->value);
			continue;
		}
		*tree_table(to, "file", &a->f.arena) = text_of(file);
		list_addf(&a->s.notes, &a->f.arena,
			  "write its credential %s into %s/%s, which only you "
			  "may read",
			  v->key, a->to.dir, file);
	}
}

/* Let the program of a bundle run, which an archive of another system may not
   say. */
static int allow_program(struct adding *a, const struct bundle *b,
			 struct err *err)
{
	const char *program = b->words.item[0];
	const size_t n = strlen(a->tree);
	AUTO(mem_freep) char *tree = realpath(a->draft.tree, NULL);
	AUTO(fd_closep) int fd = -1;
	struct stat st;

	if (strncmp(program, a->tree, n) != 0 || program[n] != '/')
		return 0;
	program = arena_printf(&a->f.arena, "%s%s", tree ? tree : "",
			       program + n);
	fd = fd_open_plain(program, 0);
	if (fd >= 0) { /* no link of the bundle leads there, and no ".." */
		fd_closep(&fd);
		fd = fd_open(program, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	}
	return fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
			       fchmod(fd, 0755) < 0
		       ? err_sys(err, errno, "the program of the bundle, %s",
				 b->words.item[0])
		       : 0;
}

static int read_manifest(struct adding *a, struct bundle *b, struct err *err)
{
	const struct strlist values = args_all(a->args, "set", &a->f.arena);
	const char *path =
		arena_printf(&a->f.arena, "%s/manifest.json", a->draft.tree);
	AUTO(buf_release) struct buf text = BUF_INIT(MANIFEST_BYTES);
	AUTO(fd_closep) int fd = fd_open(path, O_RDONLY | O_NOFOLLOW, 0);

	if (fd < 0)
		return err_set(err, ERR_SYNTAX,
			       "%s: no manifest.json in it, so it is no bundle",
			       a->source);
	if (fd_read_all(fd, &text, err) < 0 ||
	    bundle_read(buf_str(&text), a->tree, path_own_home(0), &values,
			&a->f.arena, b, err) < 0)
		return err_wrap(err, "%s", a->source);
	return 0;
}

static int make_bundle(struct adding *a, struct err *err)
{
	struct install i = {
		.arena = &a->f.arena,
		.source = a->source,
		.draft = a->draft.path,
		.tree = a->draft.tree,
		.place = a->tree,
	};
	struct bundle b;

	a->about.source = path_resolve(a->source, NULL, &a->f.arena);
	if (install_unpack(&i, err) < 0) {
		a->signal = i.signal;
		return -1;
	}
	if (read_manifest(a, &b, err) < 0 || allow_program(a, &b, err) < 0)
		return -1;
	a->about.version = b.version;
	add_words(a, &b.words);
	/* relative words mean files of the tree */
	add_text(a, "cwd", a->tree);
	if (b.n_env)
		add_env(a, &b);
	list_add_all(&a->s.notes, &a->f.arena, &b.notes);
	return 0;
}

static int make_custom(struct adding *a, struct err *err)
{
	const char *folder = path_resolve(a->source, NULL, &a->f.arena);
	struct stat st;
	struct strlist words =
		install_words((const char *const *)a->args->after, a->tree,
			      is_in_folder, (void *)folder, &a->f.arena);

	if (!words.n && !a->draft.is_upgrade)
		return err_set(err, ERR_USAGE,
			       "add custom: name its program, as it would be "
			       "started in the folder: matins add custom "
			       "FOLDER -- PROGRAM ARGS…");
	if (stat(folder, &st) < 0)
		return err_sys(err, errno, "%s", folder);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE,
			       "add custom: %s is not a folder; unpack it, and "
			       "name the folder with the program%s",
			       folder,
			       install_is_file(folder)
				       ? ", or name its kind: add npm, add "
					 "python"
				       : "");
	if (words.n && find_program(a, folder, err) < 0)
		return -1;
	a->about.source = folder;
	if (words.n) {
		add_words(a, &words);
		add_text(a, "cwd", a->tree);
	}
	return files_copy(folder, a->draft.tree, err);
}

static int make_url(struct adding *a, struct err *err)
{
	const struct plain_http plain = {.is_allowed = false};
	struct word w;
	struct url url;

	a->f.src.folder = a->to.dir;
	w = words_read(&a->f.src, a->source);
	if (w.why)
		return err_set(err, ERR_USAGE, "add url: the url %s", w.why);
	if (!w.now)
		return err_set(err, ERR_CREDENTIAL,
			       "add url: the url needs the variable %s, which "
			       "is not set",
			       w.missing);
	if (server_url_read(w.now, &plain, &a->f.arena, &url, err) < 0)
		return -1;
	add_text(a, "url", w.text);
	return 0;
}

/* Fills the tree, and adds rows. */
static int (*const makers[])(struct adding *a, struct err *err) = {
	[INSTALL_NPM] = make_npm,	[INSTALL_PYTHON] = make_python,
	[INSTALL_BUNDLE] = make_bundle, [INSTALL_CUSTOM] = make_custom,
	[INSTALL_URL] = make_url,
};

/* ---- the table ---- */

static int refuse_known(struct adding *a, struct err *err)
{
	if (!config_server(&a->to.file.config, a->name))
		return 0;
	return err_set(err, ERR_CONFIG,
		       "%s has a server %s; --name gives this one another "
		       "name, `matins remove %s` takes that one out",
		       a->to.path, a->name, a->name);
}

/* Programs and files of the system are no secret, and no choice of the package
   reaches a file of the user or the network by them. */
static bool is_granted_unasked(struct adding *a, const char *key,
			       const char *value)
{
	if (args_has(a->args, "grant"))
		return true;
	if (strcmp(key, "exec") == 0 && !strchr(value, '/'))
		return true;
	return (strcmp(key, "exec") == 0 || strcmp(key, "read") == 0) &&
	       place_is_system(value);
}

/* A person decides about this row. */
static void leave_row(struct adding *a, const char *key, const char *value)
{
	AUTO(buf_release) struct buf row = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&row, "sandbox.%s = [", key);
	edit_add_string(&row, value);
	buf_addc(&row, ']');
	buf_adds(&a->wanted, "# wanted at its first start, not granted: ");
	log_visible(&a->wanted, buf_str(&row), false);
	buf_addc(&a->wanted, '\n');
	log_warning("add: wanted at its first start, not granted: %s; write it "
		    "into the table if you mean it (--grant writes all)",
		    buf_cstr(&row));
}

/* Drop rows of a trace that the tree covers, which is granted whole; it stays
   as it is. Rows that a person has to grant become comments. */
static void grant_tree(struct adding *a)
{
	struct toml_value *sandbox =
		tree_table(&a->s.table, "sandbox", &a->f.arena);
	struct strlist reads = {NULL, 0};

	list_add(&reads, &a->f.arena, a->tree);
	for (size_t i = 0; i < sandbox->table.n; i++) {
		struct toml_member *m = &sandbox->table.member[i];
		struct strlist kept = {NULL, 0};
		const bool is_list = m->value.type == TOML_ARRAY;

		for (size_t k = 0; is_list && k < m->value.array.n; k++) {
			const char *value = m->value.array.item[k].string.p;

			if (place_covers(a->tree, path_resolve(value, a->to.dir,
							       &a->f.arena)))
				continue;
			if (!is_granted_unasked(a, m->key, value))
				leave_row(a, m->key, value);
			else
				list_add(strcmp(m->key, "read") == 0 ? &reads
								     : &kept,
					 &a->f.arena, value);
		}
		if (!is_list && is_granted_unasked(a, m->key, ""))
			continue;
		if (!is_list)
			leave_row(a, m->key, m->value.string.p);
		if (kept.n)
			add_list(a, sandbox, m->key, &kept);
		else
			*m = sandbox->table.member[--sandbox->table.n], i--;
	}
	add_list(a, sandbox, "read", &reads);
}

/* Start it once where it will lie; what it needs becomes rows. */
static int trace(struct adding *a, struct err *err)
{
	int r;

	log_note("add: %s starts once, and lists its tools", a->name);
	r = foreign_trace(&a->f, &a->s, rewrite_config(&a->to), a->to.dir,
			  &a->why);
	if (r > 0) {
		a->signal = r;
		return err_set(err, ERR_PEER,
			       "ended by a signal; nothing was installed");
	}
	a->has_failed = r < 0;
	if (r < 0)
		log_warning("add: %s is installed, and did not start, so its "
			    "needs are not all known: %s; `matins servers test "
			    "%s` tries it again",
			    a->name, a->why.msg, a->name);
	grant_tree(a);
	return 0;
}

/* For the state that `matins servers` lists. */
static void note_start(struct adding *a)
{
	struct clock *clock = clock_system();
	char now[CLOCK_TEXT_BYTES];

	clock_format(clock->wall_ns(clock), now);
	(void)catalogue_note(state_dir_find(&a->f.arena),
			     path_resolve(a->to.path, NULL, &a->f.arena),
			     a->name, a->has_failed ? &a->why : NULL, now);
}

static int put_table(struct adding *a, struct err *err)
{
	AUTO(buf_release) struct buf table = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < a->s.notes.n; i++)
		log_note("add: %s", a->s.notes.item[i]);
	for (size_t i = 0; i < a->s.lost.n; i++)
		log_warning("add: not granted: %s", a->s.lost.item[i]);
	server_print(&a->s, a->name, &table);
	buf_add_str(&table, buf_str(&a->wanted));
	if (!args_has(a->args, "print") &&
	    rewrite_lock(&a->to, a->args, err) < 0)
		return -1;
	rewrite_appended(&a->to, buf_str(&table), &text);
	if (args_has(a->args, "print"))
		return rewrite_check(a->to.path, buf_str(&text), err) < 0
			       ? -1
			       : put(buf_str(&table), PUT_JSON, err);
	return refuse_known(a, err) < 0
		       ? -1
		       : rewrite_write(&a->to, buf_str(&text), err);
}

/* ---- the order of it all ---- */

/* Put the tree in its place, unless an equal one is there, as of another
   configuration. */
static int place(struct adding *a, bool *ret_is_new, struct err *err)
{
	AUTO(buf_release) struct buf written = BUF_INIT(BUF_UNBOUNDED);
	const char *config =
		args_has(a->args, "print")
			? NULL
			: path_resolve(a->to.path, NULL, &a->f.arena);

	if (draft_finish(&a->draft, &a->about, err) < 0)
		return -1;
	*ret_is_new = !draft_is_installed(&a->draft, &a->about);
	if (!*ret_is_new) {
		log_note("add: %s is installed from there already", a->name);
		return 0;
	}
	edit_add_string(&written, a->tree);
	return draft_place(&a->draft, config, buf_cstr(&written), err);
}

/* The comment above its table, behind "# from ". */
static const char *from_of(struct adding *a)
{
	return arena_printf(&a->f.arena, "matins add %s %s%s%s", a->about.kind,
			    a->source, *a->about.version ? ", version " : "",
			    a->about.version);
}

static int install(struct adding *a, struct err *err)
{
	const bool has_tree = a->kind != INSTALL_URL;
	bool is_new = false;

	a->about.kind = install_kind_name(a->kind);
	a->about.source = a->source;
	a->about.version = "";
	if (has_tree && draft_open(a->name, &a->draft, err) < 0)
		return -1;
	if (makers[a->kind](a, err) < 0)
		return -1;
	a->s.from = from_of(a);
	if (has_tree && place(a, &is_new, err) < 0)
		return -1;
	if (has_tree && trace(a, err) < 0)
		return -1;
	if (put_table(a, err) < 0)
		return -1;
	if (has_tree && !args_has(a->args, "print"))
		note_start(a);
	return is_new ? draft_keep(&a->draft, err) : 0;
}

static int read_words(struct adding *a, struct err *err)
{
	const char *name = args_get(a->args, "name");

	if (install_kind_find(a->args->positional[0], &a->kind, err) < 0)
		return -1;
	a->source = a->args->positional[1];
	a->name = name ? name : install_name(a->kind, a->source, &a->f.arena);
	if (*a->name == '-' || *a->name == '.' || !*a->name ||
	    strpbrk(a->name, "/,"))
		return args_bad("name", a->name, "a name of a server", err);
	a->s.name = a->name;
	a->tree = depot_tree(a->name, &a->f.arena);
	if (rewrite_open(&a->to, a->args, "add", err) < 0)
		return -1;
	return args_has(a->args, "print") ? 0 : refuse_known(a, err);
}

/* The table, its comment and the record of the files would have the words of
   the command line in clear. */
static int refuse_credentials(struct adding *a, struct err *err)
{
	const struct strlist sets = args_all(a->args, "set", &a->f.arena);
	const char *what = NULL, *before = "";
	struct str ignored;

	if (strstr(a->source, "://"))
		what = literal_find(str_of(a->source), &ignored);
	if (what)
		return err_set(err, ERR_USAGE,
			       "add: the url has what looks like %s, and would "
			       "be written in clear; set a variable to that, "
			       "and write ${NAME} in its place",
			       what);
	for (size_t i = 0; i < sets.n && !what; i++)
		what = literal_find(str_of(sets.item[i]), &ignored);
	if (what)
		return err_set(err, ERR_USAGE,
			       "add: a value of --set looks like %s, and would "
			       "be written in clear; leave it out, and add "
			       "env.NAME = { file = \"PATH\" } to the table",
			       what);
	for (size_t i = 0; a->args->after && a->args->after[i]; i++) {
		what = literal_argument(str_of(before),
					str_of(a->args->after[i]));
		if (what)
			return err_set(
				err, ERR_USAGE,
				"add: argument %zu looks like %s, and would be "
				"written in clear; leave it out, and add "
				"env.NAME = { file = \"PATH\" } to the table, "
				"with the NAME that the server reads",
				i + 1 - (a->kind == INSTALL_CUSTOM), what);
		before = a->args->after[i];
	}
	return 0;
}

static int add(struct adding *a, struct err *err)
{
	if (read_words(a, err) < 0 || refuse_credentials(a, err) < 0 ||
	    install(a, err) < 0)
		return -1;
	return a->has_failed ? STATUS_NOT_STARTED : 0;
}

/* Add or upgrade a server, with what both need. */
static int adding(const struct args *args,
		  int (*work)(struct adding *a, struct err *err),
		  struct err *err)
{
	struct adding a = {
		.args = args,
		.to = REWRITE_INIT,
		.draft = DRAFT_INIT,
		.s = {.is_usable = true, .table = {.type = TOML_TABLE}},
		.wanted = BUF_INIT(BUF_UNBOUNDED),
		.why = ERR_INIT,
	};
	int r;

	foreign_init(&a.f);
	r = work(&a, err);
	/* the status of a program that a signal ended */
	if (r < 0 && a.signal) {
		log_error("%s", err->msg);
		r = 128 + a.signal;
	}
	draft_release(&a.draft);
	buf_release(&a.wanted);
	rewrite_release(&a.to);
	foreign_release(&a.f);
	return r;
}

int cmd_add(const struct args *args, struct err *err)
{
	return adding(args, add, err);
}

/* ---- remove ---- */

/* The installed server that a table starts; without one, that of the name. */
static const char *installed_of(const struct server *s, const char *name,
				struct arena *arena)
{
	struct strlist argv = {NULL, 0};
	struct gate_request request = {.program = s ? s->command : NULL,
				       .cwd = s ? s->cwd : NULL};

	if (!s)
		return name;
	list_add(&argv, arena, s->command);
	list_add_all(&argv, arena, &s->args);
	list_add(&argv, arena, NULL);
	request.argv = argv.item;
	return depot_server_of(&request, arena);
}

/* Name the key files that only the removed table named: `import` made them. */
static void say_keys(const struct rewrite *to, struct str now)
{
	static const char begin[] = "\"keys/";
	struct str rest = buf_str(&to->old);

	for (;;) {
		const char *at = memmem(rest.p, rest.n, begin, strlen(begin));
		struct str name;

		if (!at)
			return;
		rest = str_skip(rest, (size_t)(at - rest.p) + 1);
		name = str_cut(&rest, '"');
		if (!memmem(now.p, now.n, name.p - 1, name.n + 2))
			log_note("remove: %s/%.*s stays, and nothing else "
				 "here names it",
				 to->dir, STR_ARG(name));
	}
}

/* errors  ERR_CONFIG  a step or an action names the server */
static int check_unnamed(const struct rewrite *to, const char *name,
			 struct err *err)
{
	const struct config *c = &to->file.config;

	for (size_t k = 0; k < c->n_routines; k++)
		for (size_t i = 0; i < c->routines[k].n_steps; i++) {
			const struct step *s = &c->routines[k].steps[i];

			if ((s->server_name &&
			     strcmp(s->server_name, name) == 0) ||
			    list_has(&s->servers, name))
				return err_set(err, ERR_CONFIG,
					       "%s:%u: step %s/%s names the "
					       "server %s; take the step out "
					       "before the server",
					       to->path, s->line,
					       c->routines[k].name, s->name,
					       name);
		}
	for (size_t i = 0; i < c->n_actions; i++)
		if (c->actions[i].server_name &&
		    strcmp(c->actions[i].server_name, name) == 0)
			return err_set(err, ERR_CONFIG,
				       "%s:%u: action %s names the server %s; "
				       "take the action out before the server",
				       to->path, c->actions[i].line,
				       c->actions[i].name, name);
	return 0;
}

static int remove_server(struct rewrite *to, const char *name, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct server *s = config_server(&to->file.config, name);
	const char *installed = installed_of(s, name, &to->arena);
	int r = 1;

	if (s && check_unnamed(to, name, err) < 0)
		return -1;
	if (s && (edit_drop_server(buf_str(&to->old), name, &text, err) < 0 ||
		  rewrite_write(to, buf_str(&text), err) < 0))
		return -1;
	if (s)
		say_keys(to, buf_str(&text));
	if (installed && depot_read(installed, &to->arena,
				    &(struct installed_server){0}, err) <= 0)
		r = depot_remove(installed, err);
	if (r < 0)
		return -1;
	if (r == 0)
		log_note("remove: removed the files of %s", installed);
	if (r > 0 && !s)
		return err_set(err, ERR_UNKNOWN_SERVER,
			       "%s has no server %s, and none is installed",
			       to->path, name);
	return 0;
}

int cmd_remove(const struct args *args, struct err *err)
{
	struct rewrite to;
	int r = rewrite_open(&to, args, "remove", err);

	if (r == 0)
		r = rewrite_lock(&to, args, err);
	if (r == 0)
		r = remove_server(&to, args->positional[0], err);
	rewrite_release(&to);
	return r;
}

/* ---- upgrade ---- */

static int find_installed(struct adding *a, struct err *err)
{
	const char *name = a->args->positional[0];
	const struct server *s;
	int r;

	if (rewrite_open(&a->to, a->args, "upgrade", err) < 0)
		return -1;
	s = config_server(&a->to.file.config, name);
	a->s.name = name;
	a->name = installed_of(s, name, &a->f.arena);
	r = a->name ? depot_read(a->name, &a->f.arena, &a->about, err) : 1;
	if (r > 0)
		return err_set(err, ERR_UNKNOWN_SERVER,
			       "%s is no server that `matins add` installed",
			       name);
	if (r < 0 || install_kind_find(a->about.kind, &a->kind, err) < 0)
		return -1;
	a->source = a->args->positional[1];
	if (!a->source)
		a->source = install_newest(a->about.source, &a->f.arena);
	a->tree = depot_tree(a->name, &a->f.arena);
	a->draft.is_upgrade = true;
	return 0;
}

/* The table of the server, as it is written; an empty one without. */
static int read_table(struct adding *a, struct toml_value *ret, struct err *err)
{
	const struct toml_value *found;
	struct toml_value root;

	if (toml_parse(&a->f.arena, buf_str(&a->to.old), &root, err) < 0)
		return -1;
	found = toml_get(toml_get(&root, "servers"), a->s.name);
	if (!found)
		found = toml_get(toml_get(&root, "mcp_servers"), a->s.name);
	*ret = found && found->type == TOML_TABLE
		       ? *found
		       : (struct toml_value){.type = TOML_TABLE};
	return 0;
}

static bool is_granted(struct adding *a, const struct toml_value *rows,
		       const char *value)
{
	const char *path = path_resolve(value, a->to.dir, &a->f.arena);

	for (size_t i = 0;
	     rows && rows->type == TOML_ARRAY && i < rows->array.n; i++)
		if (place_covers(path_resolve(rows->array.item[i].string.p,
					      a->to.dir, &a->f.arena),
				 path))
			return true;
	return place_covers(a->tree, path);
}

/* Needs of the new version that the table does not grant are for a person. */
static void say_needs(struct adding *a, const struct toml_value *before)
{
	const struct toml_value *now = toml_get(&a->s.table, "sandbox");

	for (size_t i = 0; now && i < now->table.n; i++) {
		const struct toml_member *m = &now->table.member[i];

		for (size_t k = 0;
		     m->value.type == TOML_ARRAY && k < m->value.array.n; k++) {
			const char *value = m->value.array.item[k].string.p;

			if (!is_granted(a,
					toml_get(toml_get(before, "sandbox"),
						 m->key),
					value))
				log_warning("upgrade: %s needs sandbox.%s = "
					    "[\"%s\"], which its table does "
					    "not grant",
					    a->s.name, m->key, value);
		}
	}
}

/* The new version starts once, as the table says; else the old one stays. */
static int try_upgrade(struct adding *a, struct err *err)
{
	const struct server *s = config_server(&a->to.file.config, a->s.name);
	struct toml_value before, written;
	int r;

	if (read_table(a, &before, err) < 0 || read_table(a, &written, err) < 0)
		return -1;
	for (size_t i = 0; s && i < s->env.n; i++)
		if (s->env.item[i].source == SECRET_CMD) {
			log_note("upgrade: %s is not started, since a command "
				 "gives it a credential",
				 a->s.name);
			return 0;
		}
	if (written.table.n)
		a->s.table = written;
	log_note("upgrade: %s starts once, and lists its tools", a->s.name);
	r = foreign_trace(&a->f, &a->s, rewrite_config(&a->to), a->to.dir, err);
	if (r > 0) {
		a->signal = r;
		return err_set(err, ERR_PEER,
			       "ended by a signal; the old version stays");
	}
	if (r < 0)
		return err_wrap(err, "the old version stays, since the new one "
				     "did not start");
	say_needs(a, &before);
	return 0;
}

/* Name the new version in the comment above the table, where that is as `add`
   wrote it. */
static int renew_comment(struct adding *a, const char *old, struct err *err)
{
	AUTO(buf_release) struct buf table = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *begin = arena_printf(&a->f.arena, "# from matins add %s ",
					 a->about.kind),
		   *end = arena_printf(&a->f.arena, "%s%s",
				       *old ? ", version " : "", old),
		   *at;
	struct str before, line;

	buf_adds(&table, "\n[servers.");
	edit_add_key(&table, a->s.name);
	buf_adds(&table, "]\n");
	if (rewrite_lock(&a->to, a->args, err) < 0)
		return -1;
	before = buf_str(&a->to.old);
	at = memmem(before.p, before.n, table.p, table.n);
	if (!at)
		return 0;
	line = (struct str){before.p, (size_t)(at - before.p)};
	at = memrchr(line.p, '\n', line.n);
	before.n = at ? (size_t)(at + 1 - before.p) : 0;
	line = str_skip(line, before.n);
	if (!str_starts(line, begin) || !str_ends(line, end))
		return 0;
	buf_add_str(&text, before);
	buf_adds(&text, "# from ");
	log_visible(&text, str_of(from_of(a)), false);
	buf_add_str(&text, str_skip(buf_str(&a->to.old), before.n + line.n));
	return rewrite_write(&a->to, buf_str(&text), err);
}

static int upgrade(struct adding *a, struct err *err)
{
	struct err why = ERR_INIT;
	const char *old;

	if (find_installed(a, err) < 0)
		return -1;
	old = a->about.version;
	a->about.source = a->source;
	if (config_server(&a->to.file.config, a->s.name) &&
	    a->to.file.not_allowed)
		return err_set(err, ERR_NOT_ALLOWED, "%s",
			       a->to.file.not_allowed);
	if (draft_open(a->name, &a->draft, err) < 0 ||
	    makers[a->kind](a, err) < 0 ||
	    draft_finish(&a->draft, &a->about, err) < 0 ||
	    draft_place(&a->draft, NULL, NULL, err) < 0 ||
	    try_upgrade(a, err) < 0 || draft_keep(&a->draft, err) < 0)
		return -1;
	if (*old && strcmp(old, a->about.version) == 0)
		log_note("upgrade: %s is of %s, version %s, as before; its "
			 "files are new",
			 a->s.name, a->source, old);
	else
		log_note("upgrade: %s is now of %s%s%s%s%s", a->s.name,
			 a->source, *a->about.version ? ", version " : "",
			 a->about.version, *old ? ", before " : "", old);
	if (config_server(&a->to.file.config, a->s.name) &&
	    (a->args->positional[1] || strcmp(old, a->about.version) != 0) &&
	    renew_comment(a, old, &why) < 0)
		log_warning("upgrade: the comment of %s stays as it was: %s",
			    a->s.name, why.msg);
	return 0;
}

int cmd_upgrade(const struct args *args, struct err *err)
{
	return adding(args, upgrade, err);
}
