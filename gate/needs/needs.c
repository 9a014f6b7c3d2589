/*
 * From the records of a tree to the rows of a policy that grants what it
 * needs: programs, files, network, system calls.
 */
#include <ctype.h>
#include <limits.h>
#include <unistd.h>

#include "core/base/place.h"
#include "gate/prepare/own_paths.h"
#include "gate/prepare/private_files.h"
#include "gate/policy/allow.h"
#include "gate/prepare/prepare.h"
#include "gate/prepare/parts.h"
#include "gate/proxy/proxy.h"

struct finder {
	struct gate *gate;
	struct arena *arena;
	const struct gate_request *plain;
	const struct gate_policy *traced;
	const struct gate_verdict *v;
	const struct prepared *p; /* the policy that holds anyway */
	struct closed closed;
	bool ended_well;
	bool has_names; /* the trace refused by name what it did not grant */
	struct strlist brought; /* interpreters that come with scripts */
	struct strlist with_private, no_private; /* folders looked through */
	struct strlist looked_up; /* files that a plain view would hide */
	size_t n_looked_up;	  /* rows of these */
	struct gate_needs *out;
	size_t fold_at; /* rows at which folders are taken for files next */
};

/* ---- rows ---- */

/* Rows of files, or of folders, in one folder that become that folder. */
#define COLLAPSE_FILES 2
#define COLLAPSE_FOLDERS 8
/* Entries of a folder that are looked at for private files. */
#define WIDEN_LOOKED_AT 20000

static const char went_on[] = "the trace refused it, and the program went on";

static struct gate_need *find_need(struct finder *f, const char *key,
				   const char *value)
{
	for (size_t i = 0; i < f->out->n; i++) {
		struct gate_need *n = &f->out->need[i];

		if (strcmp(n->key, key) == 0 && strcmp(n->value, value) == 0)
			return n;
	}
	return NULL;
}

/*
 * Add a row, or count one that is there; value and program are copied.
 *
 * key      static
 * r        .program and .count are used
 * why_not  static or in the arena; NULL: the row is granted
 */
static struct gate_need *add_need(struct finder *f, const char *key,
				  const char *value,
				  const struct gate_record *r,
				  const char *why_not)
{
	struct gate_need *n = find_need(f, key, value);

	/* "${A:-..}" is a legal name, and not what the row would mean */
	if (strstr(value, "${"))
		why_not = "a configuration would replace the ${ in it";
	if (n) {
		n->count += r->count;
		/* needed in two ways, of which one can be granted */
		if (!why_not)
			n->why_not = NULL;
		return n;
	}
	f->out->need = arena_grow(f->arena, f->out->need, f->out->n,
				  sizeof(*f->out->need));
	n = &f->out->need[f->out->n++];
	*n = (struct gate_need){
		.key = key,
		.value = arena_strdup(f->arena, value),
		.program = arena_strdup(f->arena, r->program),
		.count = r->count,
		.why_not = why_not,
	};
	return n;
}

/* Has the row this key, and is it granted? */
static bool is_row(const struct gate_need *n, const char *key)
{
	return !n->why_not && strcmp(n->key, key) == 0;
}

/* ---- fewer rows ---- */

/* Count the rows directly in `dir`: folders, or files. */
static size_t count_in(struct finder *f, const char *dir, bool folders)
{
	size_t n = 0;

	for (size_t i = 0; i < f->out->n; i++) {
		const struct gate_need *row = &f->out->need[i];
		struct stat st;

		if (is_row(row, "read") &&
		    strcmp(resolve_dirname(row->value, f->arena), dir) == 0 &&
		    stat(row->value, &st) == 0 &&
		    S_ISDIR(st.st_mode) == folders)
			n++;
	}
	return n;
}

static void remove_row(struct finder *f, size_t i)
{
	f->out->n--;
	memmove(&f->out->need[i], &f->out->need[i + 1],
		(f->out->n - i) * sizeof(f->out->need[i]));
}

/* Replace the rows beneath `dir` by one. */
static void widen(struct finder *f, const char *dir)
{
	struct gate_record sum = {.program = NULL};

	for (size_t i = 0; i < f->out->n;) {
		struct gate_need *row = &f->out->need[i];

		if (!is_row(row, "read") || !place_covers(dir, row->value)) {
			i++;
			continue;
		}
		if (!sum.program)
			sum.program = row->program;
		sum.count += row->count;
		remove_row(f, i);
	}
	add_need(f, "read", dir, &sum, NULL);
}

/* Would the folder grant files that only the user may read? */
static bool holds_private(struct finder *f, const char *dir)
{
	const char *cwd = f->plain->cwd;
	size_t budget = WIDEN_LOOKED_AT;
	bool is_private;

	if (place_covers("/usr", dir) || (cwd && place_covers(cwd, dir)) ||
	    list_has(&f->no_private, dir))
		return false;
	if (list_has(&f->with_private, dir))
		return true;
	is_private = folder_holds_private(dir, cwd, &budget);
	list_add(is_private ? &f->with_private : &f->no_private, f->arena, dir);
	return is_private;
}

/* Widen to one folder; false: there is none left. */
static bool widen_one(struct finder *f)
{
	for (size_t i = 0; i < f->out->n; i++) {
		const struct gate_need *row = &f->out->need[i];
		const char *dir;

		if (!is_row(row, "read"))
			continue;
		dir = resolve_dirname(row->value, f->arena);
		if (!closed_may_widen(&f->closed, dir) ||
		    (count_in(f, dir, false) < COLLAPSE_FILES &&
		     count_in(f, dir, true) < COLLAPSE_FOLDERS) ||
		    holds_private(f, dir))
			continue;
		widen(f, dir);
		return true;
	}
	return false;
}

static void drop_covered(struct finder *f)
{
	for (size_t i = 0; i < f->out->n;) {
		const struct gate_need *a = &f->out->need[i];
		bool is_covered = false, is_file = a->value[0] == '/';

		for (size_t k = 0; is_file && k < f->out->n; k++) {
			const struct gate_need *b = &f->out->need[k];

			if (k == i || b->why_not || b->value[0] != '/' ||
			    strcmp(b->key, "exec") == 0 ||
			    strcmp(a->key, "exec") == 0)
				continue;
			is_covered |= (strcmp(a->key, b->key) == 0 ||
				       strcmp(b->key, "write") == 0) &&
				      place_covers(b->value, a->value);
		}
		if (is_covered)
			remove_row(f, i);
		else
			i++;
	}
}

static const char too_wide[] = "too wide to be granted as a whole; nothing is "
			       "missing where the program only passes through "
			       "it, else name what is needed of it";
static const char is_secret[] = "keys, tokens or sessions; grant it by hand if "
				"that is meant";
static const char only_yours[] = "a file that only you may read; grant it by "
				 "hand if that is meant";
/* New rows after which folders are taken for files, so that rows stay few. */
#define FOLD_EVERY 64

static const char hidden[] = "the trace hid it, and the program went on";

/* ---- grants of the plain policy ---- */

static bool holds(const struct finder *f, const char *path, unsigned what)
{
	return grants_cover(&f->p->grants, path, what) ||
	       gate_base_covers(f->gate, path, what);
}

static bool list_covers(const struct strlist *list, const char *path)
{
	char real[PATH_MAX];

	for (size_t i = 0; i < list->n; i++)
		if (place_covers(list->item[i], path) ||
		    (realpath(list->item[i], real) && place_covers(real, path)))
			return true;
	return false;
}

/*
 * In a private place the program saw its own file, not that of the machine,
 * unless the trace had put that there; and so it will be without a grant.
 */
static bool is_private(const struct finder *f, const char *path)
{
	return view_replaces(f->p, path) &&
	       !list_covers(&f->traced->read, path) &&
	       !list_covers(&f->traced->write, path);
}

/* Of the kernel, and devices; runtimes ask for their control group. */
static const struct strlist system_dirs =
	STRLIST("/proc", "/dev", "/sys/fs/cgroup");

/* Reason why a trace grants no row for the path; NULL: it may. */
static const char *refusal(const struct finder *f, const char *path)
{
	enum closed_kind kind = closed_kind_of(&f->closed, path);

	return kind == CLOSED_SECRET || kind == CLOSED_OTHERS ? is_secret
							      : NULL;
}

/* ---- programs ---- */

/*
 * Reason why the gate would not start the program, in the arena; NULL: it
 * would, with the interpreters of its first line.
 */
static const char *unrunnable(struct finder *f, const char *row)
{
	struct resolved r = RESOLVED_INIT;
	struct err err = ERR_INIT;
	int result = resolve_program(row, NULL, f->arena, &r, &err);

	for (size_t i = 1; result == 0 && i < r.n; i++)
		if (!r.file[i].is_loader)
			list_add(&f->brought, f->arena, r.file[i].path);
	resolved_release(&r);
	return result == 0 ? NULL : arena_strdup(f->arena, err.msg);
}

static void find_program(struct finder *f, const struct gate_record *r)
{
	struct err err = ERR_INIT;
	char real[PATH_MAX];
	const char *row, *why_not;
	struct stat st;

	/* /proc/self is another one here, and the program's own is granted */
	if (r->refused || place_around(&system_dirs, r->path) ||
	    !realpath(r->path, real) || stat(real, &st) < 0 ||
	    !S_ISREG(st.st_mode) || access(real, X_OK) < 0 ||
	    holds(f, real, GRANT_EXEC) || is_private(f, real) ||
	    list_has(&f->brought, real))
		return;
	row = resolve_in_path(r->path, real, f->arena)
		      ? resolve_basename(r->path)
		      : real;
	why_not = refusal(f, real);
	if (!why_not && allow_exec(&f->gate->config.leash, row, real, &err) < 0)
		why_not = arena_strdup(f->arena, err.msg);
	if (!why_not)
		why_not = unrunnable(f, row);
	/* did the trace grant the program, by its folder or by its name? */
	add_need(f, "exec", row, r, why_not)->was_refused |=
		!list_covers(&f->traced->exec, real) &&
		!list_has(&f->traced->exec, row);
}

/* Did the tree write the file itself, at this name? */
static bool is_made(const struct finder *f, const char *path)
{
	for (size_t i = 0; i < f->v->n_records; i++) {
		const struct gate_record *r = &f->v->records[i];

		if (r->what == GATE_RECORD_FILES &&
		    r->access & (GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY) &&
		    strcmp(r->path, path) == 0)
			return true;
	}
	return false;
}

/*
 * A program that the tree has built is another file the next time: its folder
 * is granted, as that of what it builds.
 */
static void widen_built(struct finder *f)
{
	for (size_t i = 0; i < f->out->n;) {
		struct gate_need *n = &f->out->need[i];
		const char *dir;

		if (!is_row(n, "exec") || n->value[0] != '/' ||
		    !is_made(f, n->value)) {
			i++;
			continue;
		}
		dir = resolve_dirname(n->value, f->arena);
		if (!closed_may_widen(&f->closed, dir)) {
			i++;
			continue;
		}
		if (find_need(f, "exec", dir)) {
			remove_row(f, i);
			continue;
		}
		n->value = dir;
		i++;
	}
}

/* ---- files ---- */

/* Find a granted row of this key that covers the path; NULL: none does. */
static struct gate_need *covering(const struct finder *f, const char *key,
				  const char *path)
{
	for (size_t i = 0; i < f->out->n; i++)
		if (is_row(&f->out->need[i], key) &&
		    place_covers(f->out->need[i].value, path))
			return &f->out->need[i];
	return NULL;
}

/* No writable grant may lie above such a configuration. */
static const char *refusal_of_sealed(const struct finder *f, const char *path)
{
	const char *sealed = place_beneath(own_paths_sealed(f->gate), path);

	return sealed ? arena_printf(f->arena, "it %s",
				     grants_why_sealed(sealed, f->arena))
		      : NULL;
}

/* The trace hid it, or it is a folder that is too wide. */
static const char *refusal_of_folder(const struct finder *f, const char *path,
				     const struct stat *st)
{
	if (is_private(f, path) && f->ended_well)
		return hidden;
	return S_ISDIR(st->st_mode) && !closed_may_widen(&f->closed, path)
		       ? too_wide
		       : NULL;
}

/* Python keeps what it compiled beside the code, and goes on where it may not;
   no program should write there. */
static bool is_compiled(const char *path)
{
	return strstr(path, "/__pycache__") != NULL;
}

static const char made_in_home[] =
	"it was made in the private HOME and went with it; "
	"make that folder, and trace again";

/* A new entry of the private HOME: only what is there can be granted. */
static bool is_lost_entry(const struct finder *f, const char *path)
{
	const char *home = f->closed.home;

	return home && f->p->own_view && view_replaces(f->p, home) &&
	       place_covers(home, path) && strlen(path) > strlen(home) + 1 &&
	       !strchr(path + strlen(home) + 1, '/') &&
	       path[strlen(home) + 1] != '.' && access(path, F_OK) < 0;
}

/* Does node look there for packages of the file? */
static bool is_package_of(const char *file, const char *path)
{
	const char *at = strstr(path, "/node_modules");
	size_t n = at ? (size_t)(at - path) : 0;

	return at && file && strncmp(file, path, n) == 0 && file[n] == '/';
}

const char *gate_code_refusal(const struct gate_explained *own, const char *cwd,
			      const char *path)
{
	const char *package = own->installation;
	bool is_own = (own->program && place_covers(path, own->program)) ||
		      (own->script && place_covers(path, own->script));
	bool is_part = package && place_covers(package, path);
	char real[PATH_MAX];
	bool is_work = cwd && realpath(cwd, real) && strcmp(path, real) == 0 &&
		       (!is_part || strcmp(path, package) == 0);

	return (is_own && !is_work) || strstr(path, "/site-packages") ||
			       is_package_of(own->program, path) ||
			       is_package_of(own->script, path)
		       ? "lies beside the code of the program, which a grant "
			 "would let it change; let it write elsewhere"
		       : NULL;
}

/* Reason why the gate grants no such row, or should not; NULL: it may. */
static const char *refusal_of_write(const struct finder *f, const char *path,
				    const struct stat *st)
{
	const struct gate_explained own = {
		.program = f->p->program.file[0].path,
		.script = f->p->script,
		.installation = f->p->installation,
	};
	const char *why_not = refusal(f, path);

	if (!why_not)
		why_not = refusal_of_sealed(f, path);
	if (!why_not)
		why_not = gate_code_refusal(&own, f->plain->cwd, path);
	return why_not ? why_not : refusal_of_folder(f, path, st);
}

/* Does it lie in HOME, and is it no setting or cache there? A script that
   could not save its file does not always fail. */
static bool is_of_user(const struct finder *f, const char *path)
{
	const char *home = f->closed.home;

	return home && place_covers(home, path) &&
	       strlen(path) > strlen(home) &&
	       !strstr(path + strlen(home), "/.");
}

/* A file that is there, which a program would open for both and then only
   reads, as SQLite does with a database. */
static bool is_only_read(const struct finder *f, const struct gate_record *r)
{
	struct stat st;

	for (size_t i = 0; r->access & GATE_ACCESS_READ && i < f->v->n_records;
	     i++) {
		const struct gate_record *one = &f->v->records[i];

		if (one->what == r->what && one->access == GATE_ACCESS_READ &&
		    strcmp(one->path, r->path) == 0 &&
		    strcmp(one->program, r->program) == 0)
			return stat(r->path, &st) == 0 && S_ISREG(st.st_mode);
	}
	return false;
}

static void find_written(struct finder *f, const struct gate_record *r)
{
	bool is_entry = r->access & GATE_ACCESS_ENTRY, is_refused;
	const char *why_not;
	char real[PATH_MAX];
	struct stat st;

	if (is_entry && is_lost_entry(f, r->path))
		add_need(f, "write", r->path, r, made_in_home);
	if (is_compiled(r->path) ||
	    !realpath(is_entry ? resolve_dirname(r->path, f->arena) : r->path,
		      real))
		return;
	if (place_around(&system_dirs, real) ||
	    holds(f, real, GRANT_WRITE | GRANT_DEVICE) ||
	    (f->p->own_view && places_has(f->gate, real)) ||
	    stat(real, &st) < 0 ||
	    closed_kind_of(&f->closed, real) == CLOSED_CACHE ||
	    access(real, W_OK) < 0)
		return;
	why_not = refusal_of_write(f, real, &st);
	is_refused = !why_not && !list_covers(&f->traced->write, real);
	if (is_refused && f->ended_well &&
	    (!is_of_user(f, real) || is_only_read(f, r)))
		why_not = went_on;
	add_need(f, "write", real, r, why_not)->was_refused |=
		is_refused && !why_not;
}

/*
 * A name in a private place is there again only when it is asked for itself,
 * so a link in one is asked for by its name.
 */
static const char *read_row(const struct finder *f, const char *path,
			    const char *real)
{
	return view_replaces(f->p, path) && !strstr(path, "/..") ? path : real;
}

/*
 * git looks at whose the folder around its `.git` is, which no record shows;
 * with the folder granted it is its own.
 */
static const char *working_tree(const struct finder *f, const char *path)
{
	const char *at = strstr(path, "/.git");
	const char *tree;

	if (!at || at == path || (at[5] && at[5] != '/'))
		return path;
	tree = arena_strndup(f->arena, path, (size_t)(at - path));
	return closed_may_widen(&f->closed, tree) ? tree : path;
}

/* Files that the trace left shut for what they are. */
static const char *refusal_of_file(const struct finder *f, const char *path,
				   const struct stat *st)
{
	const char *cwd = f->plain->cwd;
	char real[PATH_MAX];

	if (list_covers(&f->traced->closed, path))
		return is_secret;
	if (!file_is_private(st) || list_covers(&f->traced->read, path) ||
	    list_covers(&f->traced->write, path) ||
	    (cwd && realpath(cwd, real) && place_covers(real, path)))
		return NULL;
	return only_yours;
}

static void find_read(struct finder *f, const struct gate_record *r)
{
	struct gate_need *need;
	char real[PATH_MAX];
	const char *why_not;
	struct stat st;

	if (!realpath(r->path, real) || place_around(&system_dirs, real) ||
	    stat(real, &st) < 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) ||
	    access(real, R_OK) < 0)
		return;
	if (holds(f, real,
		  GRANT_READ | GRANT_WRITE | GRANT_EXEC | GRANT_DEVICE) ||
	    covering(f, "write", real))
		return;
	need = covering(f, "read", real);
	if (need) {
		/* a listing is counted by the name that it was opened by */
		need->count += r->access & GATE_ACCESS_LIST ? 0 : r->count;
		return;
	}
	why_not = refusal(f, real);
	if (closed_kind_of(&f->closed, real) == CLOSED_CACHE)
		return;
	if (!why_not)
		why_not = refusal_of_file(f, real, &st);
	/* the program may have looked for its own file of that name */
	if (!why_not)
		why_not = refusal_of_folder(f, real, &st);
	add_need(f, "read", working_tree(f, read_row(f, r->path, real)), r,
		 why_not);
	if (f->out->n < f->fold_at)
		return;
	while (widen_one(f))
		;
	f->fold_at = f->out->n + FOLD_EVERY;
}

/* ---- files that were looked up ---- */

#define LOOKED_UP_MAX 64
static const char more_looked_up[] =
	"one of more files than a trace takes rows of; grant their folder if "
	"the program needs them";

/* The folder of the start, HOME, and those above them; settings in HOME: every
   program asks for these, and it means nothing. */
static bool is_usual(const struct finder *f, const char *path)
{
	const char *home = f->closed.home, *cwd = f->plain->cwd;
	char real[PATH_MAX];

	if (cwd && realpath(cwd, real) && place_covers(path, real))
		return true;
	return home &&
	       (place_covers(path, home) ||
		(place_covers(home, path) && path[strlen(home) + 1] == '.'));
}

/* Does the plain policy hide it, or start the program elsewhere? */
static bool is_out_of_sight(const struct finder *f, const char *path)
{
	const char *cwd = f->plain->cwd;

	return !strstr(path, "/..") && !is_private(f, path) &&
	       (view_replaces(f->p, path) || (cwd && place_covers(cwd, path)));
}

/*
 * A program that only asks whether a file is there finds it in the trace, and
 * never in a view that hides it.
 */
static void find_looked_up(struct finder *f, const struct gate_record *r)
{
	char real[PATH_MAX];

	if (!is_out_of_sight(f, r->path) || !realpath(r->path, real) ||
	    is_usual(f, real) || place_around(&system_dirs, real) ||
	    closed_kind_of(&f->closed, real) != CLOSED_NOT ||
	    closed_is_beneath(&f->closed, real) || is_made(f, r->path) ||
	    holds(f, real, GRANT_ACCESS | GRANT_DEVICE) ||
	    covering(f, "write", real) || covering(f, "read", real))
		return;
	list_add_new(&f->looked_up, f->arena, r->path);
}

/* Does the path lie above one that is granted, a row or looked up? It is only
   the way there. */
static bool is_above(const struct finder *f, const char *path)
{
	for (size_t i = 0; i < f->p->grants.n; i++)
		if (place_covers(path, f->p->grants.grant[i].path))
			return true;
	for (size_t i = 0; i < f->out->n; i++)
		if (place_covers(path, f->out->need[i].value))
			return true;
	for (size_t i = 0; i < f->looked_up.n; i++)
		if (strcmp(path, f->looked_up.item[i]) != 0 &&
		    place_covers(path, f->looked_up.item[i]))
			return true;
	return false;
}

/* Behind the bound one more row says so, in a comment. */
static void add_looked_up(struct finder *f, const struct gate_record *r)
{
	struct gate_need *row = find_need(f, "read", r->path);

	if (row && row->is_looked_up)
		row->count += r->count;
	if (row || f->n_looked_up > LOOKED_UP_MAX ||
	    !list_has(&f->looked_up, r->path) || is_above(f, r->path))
		return;
	add_need(f, "read", r->path, r,
		 ++f->n_looked_up > LOOKED_UP_MAX ? more_looked_up : NULL)
		->is_looked_up = true;
}

/* ---- records ---- */

static void each(struct finder *f, unsigned what, unsigned access,
		 void (*fn)(struct finder *f, const struct gate_record *r))
{
	for (size_t i = 0; i < f->v->n_records; i++) {
		const struct gate_record *r = &f->v->records[i];

		if (r->what == what && r->access & access && r->path[0] == '/')
			fn(f, r);
	}
}

static void find_programs(struct finder *f)
{
	each(f, GATE_RECORD_EXEC, GATE_ACCESS_RUN, find_program);
}

/* A folder to start in that the program never opened. */
static void find_cwd(struct finder *f)
{
	const struct gate_record cwd = {
		.program = resolve_basename(f->plain->program),
		.path = f->plain->cwd,
		.count = 1,
	};

	if (f->plain->cwd_required && cwd.path)
		find_read(f, &cwd);
}

static void find_files(struct finder *f)
{
	each(f, GATE_RECORD_FILES, GATE_ACCESS_WRITE, find_written);
	drop_covered(f);
	each(f, GATE_RECORD_FILES, GATE_ACCESS_READ, find_read);
	each(f, GATE_RECORD_FILES, GATE_ACCESS_LIST, find_read);
	find_cwd(f);
	while (widen_one(f))
		;
	drop_covered(f);
	each(f, GATE_RECORD_LOOKS, GATE_ACCESS_READ, find_looked_up);
	each(f, GATE_RECORD_LOOKS, GATE_ACCESS_READ, add_looked_up);
}

/* ---- the network ---- */

static const char is_lookup[] = "a name was looked up; grant the host by its "
				"name, and trace again with --net HOST";

/* "[::1]:80" into the host and the port. */
static bool split_address(const char *text, struct str *ret_host,
			  const char **ret_port)
{
	const char *colon = strrchr(text, ':');

	if (strncmp(text, "unix:", 5) == 0 || !colon || !colon[1])
		return false;
	*ret_host = (struct str){text, (size_t)(colon - text)};
	*ret_port = colon + 1;
	return true;
}

static bool is_loopback(struct str host)
{
	return str_eq(host, STR("[::1]")) ||
	       (host.n > 4 && memcmp(host.p, "127.", 4) == 0);
}

/* The tree itself serves this port. */
static bool is_served(const struct finder *f, const char *port)
{
	for (size_t i = 0; i < f->v->n_records; i++) {
		const struct gate_record *r = &f->v->records[i];
		const char *own;
		struct str host;

		if (r->what == GATE_RECORD_NET &&
		    r->access & GATE_ACCESS_SERVE &&
		    split_address(r->path, &host, &own) &&
		    /* 0: any free port */
		    (strcmp(own, port) == 0 || strcmp(own, "0") == 0))
			return true;
	}
	return false;
}

/* Row for an address; for its port where a policy cannot name it. */
static const char *net_row(const struct finder *f, const char *address,
			   const char *port)
{
	const char *only_port = arena_printf(f->arena, ":%s", port);
	struct gate_policy p = {.net = {&address, 1}};

	return gate_policy_check(&p, ERR_IGNORED) == 0 ? address : only_port;
}

/* The policy of the trace as its network really was. */
static bool find_net_policy(struct finder *f, struct policy *ret)
{
	if (policy_resolve(f->traced, NULL, f->arena, ret, ERR_IGNORED) < 0)
		return false;
	policy_use_proxy(ret);
	return ret->net == POLICY_NET_PROXY;
}

/* An address of the gate's own, behind which names are: the proxy, or one
   that its resolver gave. */
static bool is_gate_address(struct finder *f, struct str host, const char *port)
{
	struct policy p;
	uint64_t n;

	if (str_starts(host, "198.18.") || str_starts(host, "198.19."))
		return true;
	return is_loopback(host) && find_net_policy(f, &p) &&
	       str_uint64(str_of(port), &n) && n == proxy_port(&p);
}

/* Rows that the trace granted: records do not tell them apart. */
static void need_granted(struct finder *f, const struct gate_record *r)
{
	for (size_t i = 0; i < f->traced->net.n; i++)
		if (strcmp(f->traced->net.item[i], GATE_TRACE_NO_HOST) != 0)
			add_need(f, "net", f->traced->net.item[i], r, NULL);
}

/* "api.example.com:443" */
static void need_name(struct finder *f, const struct gate_record *r,
		      struct str host, const char *port)
{
	bool is_usual = strcmp(port, "443") == 0 || strcmp(port, "80") == 0;

	add_need(f, "net",
		 is_usual ? arena_strndup(f->arena, host.p, host.n) : r->path,
		 r, NULL);
}

static bool is_name(struct str host)
{
	for (size_t i = 0; i < host.n; i++)
		if (isalpha((unsigned char)host.p[i]))
			return host.p[0] != '[';
	return false;
}

static void need_address(struct finder *f, const struct gate_record *r)
{
	const char *port;
	struct str host;

	if (!split_address(r->path, &host, &port)) {
		if (strncmp(r->path, "unix:/", 6) == 0 &&
		    access(r->path + 5, F_OK) == 0)
			add_need(f, "net", r->path, r,
				 "a socket file; no row grants it");
		return;
	}
	/* getaddrinfo() connects to port 0 to learn its own address */
	if (!(r->access & GATE_ACCESS_SERVE) && strcmp(port, "0") == 0)
		return;
	if (r->access & GATE_ACCESS_SERVE ||
	    (is_loopback(host) && is_served(f, port)))
		add_need(f, "net", "loopback", r, NULL);
	else if (f->has_names && is_name(host))
		need_name(f, r, host, port);
	else if (f->has_names && is_gate_address(f, host, port))
		need_granted(f, r);
	/* a port of the machine that the own loopback does not have */
	else if (f->has_names && is_loopback(host))
		add_need(f, "net", r->path, r, NULL)->was_refused =
			!f->ended_well && !list_has(&f->traced->net, r->path);
	/* a refusal of another host stands among the denials */
	else if (!f->has_names)
		add_need(f, "net", net_row(f, r->path, port), r,
			 /* a row would be TCP; with a proxy no program asks */
			 strcmp(port, "53") == 0 ? is_lookup : NULL)
			->was_refused = !f->ended_well;
}

/* Join "loopback" and other rows to "all": it cannot stand beside them. */
static void join_net(struct finder *f)
{
	struct gate_need *own = find_need(f, "net", "loopback");
	size_t n = 0;

	for (size_t i = 0; i < f->out->n; i++)
		n += is_row(&f->out->need[i], "net");
	if (!own || n < 2)
		return;
	/* a network with names has its own loopback */
	if (f->has_names) {
		remove_row(f, (size_t)(own - f->out->need));
		return;
	}
	for (size_t i = 0; i < f->out->n; i++)
		if (is_row(&f->out->need[i], "net"))
			f->out->need[i].why_not =
				"part of \"all\": it serves, and connects to "
				"others";
	add_need(f, "net", "all",
		 &(struct gate_record){.program = own->program,
				       .count = own->count},
		 NULL);
}

static void find_net(struct finder *f)
{
	struct policy p;

	f->has_names = find_net_policy(f, &p);
	for (size_t i = 0; i < f->v->n_records; i++)
		if (f->v->records[i].what == GATE_RECORD_NET)
			need_address(f, &f->v->records[i]);
}

/* ---- system calls ---- */

/* A connection to the own loopback is a record, too. */
static bool is_recorded(struct finder *f, const struct gate_denial *d)
{
	return strcmp(d->kind, "net") == 0 && d->allow.key &&
	       find_need(f, d->allow.key, d->allow.value);
}

static void need_calls(struct finder *f)
{
	for (size_t i = 0; i < f->v->n_denials; i++) {
		const struct gate_denial *d = &f->v->denials[i];
		const struct gate_record r = {
			.program = d->program,
			.count = is_recorded(f, d) ? 0 : d->count};
		const char *why_not = f->ended_well ? went_on : NULL;
		const char *key = d->allow.key;

		if (key &&
		    (strcmp(key, "syscalls") == 0 || strcmp(key, "net") == 0 ||
		     strcmp(key, "unix") == 0))
			add_need(f, key, d->allow.value, &r, why_not)
				->was_refused |=
				!why_not && strcmp(d->kind, "net") == 0;
	}
}

/* ---- the whole ---- */

static const char *const keys[] = {"exec", "read", "write",
				   "net",  "unix", "syscalls"};

static int compare(const void *a, const void *b)
{
	const struct gate_need *x = a, *y = b;
	size_t i = 0;

	if (strcmp(x->key, y->key) != 0) {
		while (strcmp(keys[i], x->key) != 0 &&
		       strcmp(keys[i], y->key) != 0)
			i++;
		return strcmp(keys[i], x->key) == 0 ? -1 : 1;
	}
	return strcmp(x->value, y->value);
}

/* Folders of HOME, one for each that a walk comes through, that are rows. */
#define WALKED_MAX 6

static const char walked[] = "one of many folders of HOME that the program "
			     "went through; grant those that it needs";

static bool is_in_home(const struct finder *f, const struct gate_need *n)
{
	const char *home = f->closed.home;
	struct stat st;

	return is_row(n, "read") && place_covers(home, n->value) &&
	       n->value[strlen(home)] == '/' &&
	       !strchr(n->value + strlen(home) + 1, '/') &&
	       stat(n->value, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A program that lists HOME and goes through it needs not all that is there. */
static void leave_walked(struct finder *f)
{
	bool is_listed = false;
	size_t n = 0;

	for (size_t i = 0; f->closed.home && i < f->out->n; i++) {
		const struct gate_need *need = &f->out->need[i];

		is_listed |= need->why_not && !strcmp(need->key, "read") &&
			     !strcmp(need->value, f->closed.home);
		n += is_in_home(f, need);
	}
	for (size_t i = 0; is_listed && n > WALKED_MAX && i < f->out->n; i++)
		if (is_in_home(f, &f->out->need[i]))
			f->out->need[i].why_not = walked;
}

static void find_all_files(struct finder *f)
{
	find_files(f);
	find_net(f);
	need_calls(f);
	join_net(f);
	leave_walked(f);
}

/* Programs, then what else is needed, then programs that this has hidden. */
#define FILES_PASS 1
#define N_PASSES 3

int gate_needs(struct gate *gate, const struct gate_request *plain,
	       const struct gate_policy *traced, const struct gate_verdict *v,
	       bool went_well, struct arena *arena, struct gate_needs *ret,
	       struct err *err)
{
	static const struct gate_policy none;
	struct gate_request asked = *plain;
	struct gate_policy policy;
	struct prepared p;
	struct finder f = {
		.gate = gate,
		.arena = arena,
		.plain = plain,
		.traced = traced,
		.v = v,
		.p = &p,
		.closed = places_closed(gate),
		.ended_well = went_well,
		.out = ret,
	};
	int r;

	/* a folder that is missing is what is looked for */
	asked.cwd_required = false;
	*ret = (struct gate_needs){NULL, 0};
	/* a script that may be written names no programs any more */
	for (unsigned pass = 0; pass < N_PASSES; pass++) {
		r = prepare_by(gate, &asked, false, prepare_until(&asked), &p,
			       err);
		if (r == 0 && pass == FILES_PASS)
			find_all_files(&f);
		else if (r == 0) {
			find_programs(&f);
			widen_built(&f);
		}
		prepared_release(&p);
		if (r < 0)
			return -1;
		gate_needs_policy(plain->policy ? plain->policy : &none, ret,
				  arena, &policy);
		asked.policy = &policy;
	}
	if (ret->n)
		qsort(ret->need, ret->n, sizeof(*ret->need), compare);
	return 0;
}

void gate_needs_policy(const struct gate_policy *base,
		       const struct gate_needs *needs, struct arena *arena,
		       struct gate_policy *ret)
{
	struct gate_policy more = {.profile = NULL};
	struct {
		const char *key;
		struct strlist *list;
	} lists[] = {
		{"read", &more.read},	      {"write", &more.write},
		{"exec", &more.exec},	      {"net", &more.net},
		{"unix", &more.unix_sockets}, {"syscalls", &more.syscalls},
	};

	for (size_t i = 0; i < needs->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(lists); k++)
			if (is_row(&needs->need[i], lists[k].key))
				list_add(lists[k].list, arena,
					 needs->need[i].value);
	gate_policy_merge(base, &more, arena, ret);
}
