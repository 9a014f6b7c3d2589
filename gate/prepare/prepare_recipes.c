#include "gate/prepare/parts.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "core/base/user.h"
#include "gate/policy/recipes.h"
#include "gate/policy/shell_words.h"
#include "gate/prepare/private_files.h"

/* ---- what was started ---- */

static struct strlist arguments(struct prepared *p)
{
	struct strlist argv = {NULL, 0};

	/* an argument from data names nothing */
	while (p->request->argv[argv.n])
		list_add(&argv, &p->arena,
			 data_is(p->request, argv.n)
				 ? DATA_WORD
				 : p->request->argv[argv.n]);
	assert(argv.item); /* at least the program's own name */
	return argv;
}

/* The file of the program that the row is for: itself, or an interpreter. */
static const struct resolved_file *find_file(const struct prepared *p,
					     const struct recipe *r)
{
	for (size_t i = 0; i < p->program.n; i++) {
		const struct resolved_file *f = &p->program.file[i];

		if (!f->is_loader && (programs_is_one(r->programs, f->asked) ||
				      programs_is_one(r->programs, f->path)))
			return f;
	}
	return NULL;
}

/* An argument --executable-path=/usr/bin/chromium asks for chromium. */
static bool is_argument(const struct prepared *p, const struct recipe *r)
{
	for (size_t i = 1; p->request->argv[0] && p->request->argv[i]; i++) {
		const char *arg = p->request->argv[i];
		const char *value = *arg == '-' ? strchr(arg, '=') : NULL;
		const char *path = value ? value + 1 : arg;

		if (!data_is(p->request, i) &&
		    (str_starts(str_of(path), "/usr/") ||
		     str_starts(str_of(path), "/opt/")) &&
		    programs_is_one(r->programs, path))
			return true;
	}
	return false;
}

/* Does a script, or a program such as timeout, name one of these? */
static bool is_word(const struct prepared *p, const struct recipe *r)
{
	for (size_t i = 0; i < p->n_recipes; i++)
		for (size_t k = 0; k < p->recipes[i].words.n; k++)
			if (programs_is_one(r->programs,
					    p->recipes[i].words.item[k]))
				return true;
	return false;
}

/* ---- projects ---- */

/* The first link on the way that is another user's, or that an earlier run
   could have left to lead out of what it may write. */
static const char *foreign_link(struct prepared *p, const struct walk *w)
{
	for (size_t i = 0; i < w->n_links; i++) {
		const struct walk_link *l = &w->link[i];

		if (!resolve_is_trusted(l->st.st_uid) ||
		    prepared_writes(p, l->at, w->path, BY_ANY_PROGRAM))
			return l->at;
	}
	return NULL;
}

/*
 * Find the folder that the program works in, without links; *ret is NULL where
 * there is none. False where only a link that is not to be trusted leads there,
 * which is said.
 */
static bool starting_folder(struct prepared *p, const struct recipe *r,
			    const char **ret)
{
	const struct strlist argv = arguments(p);
	const char *cwd = p->request->cwd, *at = recipe_place(r, &argv);
	const char *path = at ? at : cwd, *link;
	struct walk w = WALK_INIT;

	*ret = NULL;
	if (at && *at != '/')
		path = cwd ? arena_printf(&p->arena, "%s/%s", cwd, at) : NULL;
	if (!path || *path != '/' || walk_open(path, &p->arena, &w) < 0)
		return true;
	walk_release(&w);
	*ret = w.path;
	link = w.path ? foreign_link(p, &w) : NULL;
	if (link)
		prepared_cap(p,
			     "recipe \"%s\": %s leads to %s by the link %s, "
			     "which another user or an earlier run could have "
			     "left; if that is meant, name %s itself",
			     r->name, at ? at : path, w.path, link, w.path);
	return !link;
}

static struct project find_project(struct prepared *p, const char *markers,
				   const char *from)
{
	const struct strlist *const written[] = {
		&p->policy.write, &p->policy.write_only,
		&p->gate->config.written, NULL};
	const struct project_search search = {
		.from = from,
		.markers = markers,
		.homes = &p->gate->homes,
		.written = written,
	};

	return project_find(&search, &p->arena);
}

/* Keys that lie in a folder are no part of a project. */
static bool holds_keys(struct prepared *p, const char *path)
{
	const struct closed closed = places_closed(p->gate);

	return closed_secret_row(&closed, path) ||
	       gate_secrets_in(p->gate, path, &p->arena);
}

/* A folder of another user's must be named. */
static bool is_of_user(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && resolve_is_trusted(st.st_uid);
}

static void choose_project(struct prepared *p, struct recipe_used *u)
{
	const struct recipe *r = u->recipe;
	const struct strlist argv = arguments(p);
	struct project found;
	const char *from, *at;

	if ((r->finds != RECIPE_PROJECT &&
	     !(r->finds == RECIPE_NAMED && u->is_named)) ||
	    !starting_folder(p, r, &from))
		return;
	found = find_project(p, r->markers, from);
	if (!found.path && u->is_named)
		prepared_cap(p,
			     "preset \"%s\" grants a project, and the starting "
			     "folder is too wide for one; go into the project, "
			     "or name it in `read` (--read PATH)",
			     r->name);
	if (!found.path ||
	    (!u->is_named &&
	     ((!found.marker &&
	       !prepared_writes(p, found.path, NULL, BY_ANY_PROGRAM)) ||
	      !is_of_user(found.path) || holds_keys(p, found.path))))
		return;
	u->project = found;
	at = recipe_place(r, &argv);
	if (at)
		prepared_leave(p, at);
}

/* ---- scripts ---- */

/* A larger file is no script that a person wrote. */
#define SCRIPT_BYTES (256 * 1024)

/* Folders of what package managers fetched. */
static const char *const fetched[] = {"/node_modules/", "/site-packages/",
				      "/.cache/"};

/* Has nobody but the user and root written the file? */
static bool is_users(struct prepared *p, const char *path,
		     const struct stat *st)
{
	struct stat readable = *st;

	/* a shell runs what it can read */
	readable.st_mode |= S_IXUSR;
	return S_ISREG(st->st_mode) && st->st_size <= SCRIPT_BYTES &&
	       resolve_is_trusted(st->st_uid) &&
	       !resolve_judge(&readable, user_self(), user_self_group()) &&
	       !prepared_writes(p, path, NULL, BY_ANY_PROGRAM);
}

static bool is_own(struct prepared *p, const char *path, const struct stat *st)
{
	for (size_t i = 0; i < ARRAY_LEN(fetched); i++)
		if (strstr(path, fetched[i]))
			return false;
	return is_users(p, path, st);
}

/* ---- which apply by themselves ---- */

/*
 * Does the row apply to what was started, or only to the interpreter of its
 * first line, which nobody named? A launcher's program is chosen by a package.
 */
static bool is_started(const struct prepared *p, const struct recipe *r,
		       const struct resolved_file *f)
{
	return (f == &p->program.file[0] && !p->direct.written) ||
	       r->finds == RECIPE_NAMED || r->finds == RECIPE_SCRIPT;
}

/* A first line is believed in the user's own script, in its own project. */
static bool is_own_tool(struct prepared *p, const struct recipe *r)
{
	const struct resolved_file *f = &p->program.file[0];
	struct project found;
	const char *from;

	if (!f->is_script || !is_own(p, f->path, &f->st))
		return false;
	if (r->finds != RECIPE_PROJECT)
		return true;
	if (!starting_folder(p, r, &from))
		return false;
	found = find_project(p, r->markers, from);
	return found.path && place_covers(found.path, f->path);
}

static bool applies(struct prepared *p, const struct recipe *r)
{
	const struct resolved_file *f = find_file(p, r);
	struct strlist argv;
	const char *operand;

	if (list_has(&p->policy.preset, RECIPE_NONE))
		return false;
	if (!f)
		return (r->finds == RECIPE_ARGUMENT && is_argument(p, r)) ||
		       (r->finds == RECIPE_WORD && is_word(p, r));
	if (!is_started(p, r, f) && !is_own_tool(p, r))
		return false;
	if (!*r->subcommands)
		return true;
	argv = arguments(p);
	operand = recipe_operand(&argv);
	return operand && programs_is_one(r->subcommands, operand);
}

/* ---- programs that a script names ---- */

/* at  the file, O_PATH */
static struct strlist commands_of(struct prepared *p, int at, const char *path,
				  const struct stat *st)
{
	AUTO(buf_release) struct buf text = BUF_INIT(SCRIPT_BYTES);
	AUTO(fd_closep) int fd = -1;
	struct strlist none = {NULL, 0};
	char link[64];
	ssize_t n = 1;

	if (!is_own(p, path, st))
		return none;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	fd = fd_open(link, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	while (fd >= 0 && n > 0 && text.n < SCRIPT_BYTES) {
		n = read(fd, buf_room(&text, SCRIPT_BYTES - text.n),
			 SCRIPT_BYTES - text.n);
		text.n += n > 0 ? (size_t)n : 0;
	}
	return shell_words(buf_str(&text), &p->arena);
}

static struct strlist commands_at(struct prepared *p, const char *arg)
{
	const char *cwd = p->request->cwd;
	struct walk w = WALK_INIT;
	struct strlist words = {NULL, 0};

	if (arg[0] != '/')
		arg = cwd ? arena_printf(&p->arena, "%s/%s", cwd, arg) : NULL;
	if (arg && walk_open(arg, &p->arena, &w) == 0 && w.path)
		words = commands_of(p, w.fd, w.path, &w.st);
	walk_release(&w);
	return words;
}

/*
 * Programs that the script of a shell names: of a file that is the program
 * itself or its argument, or of the text behind -c. None where the script is
 * not surely the user's own or root's: where another user, or a program of the
 * configuration, could have written it, or it came with a package.
 */
static struct strlist script_commands(struct prepared *p)
{
	const struct resolved_file *f = &p->program.file[0];
	struct strlist argv;
	size_t at;

	if (f->is_script)
		return commands_of(p, f->fd, f->path, &f->st);
	argv = arguments(p);
	at = programs_commands(f->asked, f->path, &argv);
	if (at)
		return shell_words(str_of(argv.item[at]), &p->arena);
	at = programs_script(f->asked, f->path, &argv);
	if (at)
		return commands_at(p, argv.item[at]);
	return (struct strlist){NULL, 0};
}

/* Likewise of a program that starts what its arguments name: timeout 5 date. */
static struct strlist started(struct prepared *p)
{
	return p->program.file[0].is_script ? (struct strlist){NULL, 0}
					    : data_started(p);
}

/* ---- what they add ---- */

/* The file of the program that words of the row speak of. */
static const struct resolved_file *file_of(const struct prepared *p,
					   const struct recipe *r)
{
	const struct resolved_file *f = find_file(p, r);

	for (size_t i = p->program.n; !f && i-- > 0;)
		if (!p->program.file[i].is_loader)
			f = &p->program.file[i];
	return f;
}

/* Fill in {file}, {prefix} and {venv}, all of them. */
static const char *fill(struct prepared *p, const struct recipe *r,
			const char *text)
{
	const struct resolved_file *f = file_of(p, r);
	const char *hole;

	while ((hole = strchr(text, '{'))) {
		bool is_file = hole[1] == 'f';
		const char *end = strchr(hole, '}');
		const char *from = hole[1] == 'v' ? f->asked : f->path;

		if (!end)
			return text;
		text = arena_printf(
			&p->arena, "%.*s%s%s", (int)(hole - text), text,
			is_file ? resolve_basename(from)
				: resolve_dirname(
					  resolve_dirname(from, &p->arena),
					  &p->arena),
			end + 1);
	}
	return text;
}

/* A word of a row: a name, or a path with its ~ and {} filled in. */
static const char *expand(struct prepared *p, const struct recipe *r,
			  struct str word)
{
	const struct strlist *homes = &p->gate->homes;
	const char *text = arena_strndup(&p->arena, word.p, word.n);

	if (*text == '~' && !homes->n)
		return NULL;
	if (*text == '~')
		text = arena_printf(&p->arena, "%s%s", homes->item[0],
				    text + 1);
	return strchr(text, '{') ? fill(p, r, text) : text;
}

/* ---- folders that files .pth name ---- */

/* Bounds of a folder: such files, their lines, entries of what they name. */
#define PTH_FILES 64
#define PTH_LINES 64
#define PTH_ENTRIES 40000

/* How many may still be looked at. */
struct pth {
	size_t files, lines, entries;
};

/* Files of projects from which packages are installed. */
static const char sources[] = "pyproject.toml setup.py setup.cfg";

/* Name what makes a folder one to be granted by a person only; NULL: nothing.
 */
static const char *private_part(struct prepared *p, const char *dir,
				size_t *entries)
{
	struct strlist keys;

	find_project_keys(dir, entries, &p->arena, &keys);
	if (keys.n)
		return keys.item[0];
	if (folder_holds_private(dir, NULL, entries))
		return *entries ? "a file that only you may read (mode 0600)"
				: "more files than are looked at";
	return NULL;
}

/* Add a folder of the user's own project. */
static void add_sources(struct prepared *p, const char *path, struct pth *left,
			struct strlist *list)
{
	const char *part;
	struct walk w = WALK_INIT;

	if (path[0] != '/' || walk_open(path, &p->arena, &w) < 0)
		return;
	walk_release(&w);
	if (!w.path || !S_ISDIR(w.st.st_mode) || list_has(list, w.path) ||
	    foreign_link(p, &w) || !is_of_user(w.path) ||
	    holds_keys(p, w.path) || !find_project(p, sources, w.path).marker)
		return;
	part = private_part(p, w.path, &left->entries);
	if (!part)
		list_add(list, &p->arena, w.path);
	else
		prepared_cap(p,
			     "folder \"%s\" of a file .pth: not readable, it "
			     "holds %s; if it is meant, add it to `read`",
			     w.path, part);
}

static void read_pth(struct prepared *p, const char *path, struct pth *left,
		     struct strlist *list)
{
	AUTO(buf_release) struct buf text = BUF_INIT(SCRIPT_BYTES);
	struct stat st;
	struct str rest;

	if (lstat(path, &st) < 0 || !is_users(p, path, &st) ||
	    fd_read_regular(path, &text, ERR_IGNORED) < 0)
		return;
	rest = buf_str(&text);
	while (rest.n && left->lines) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		left->lines--;
		add_sources(p, arena_strndup(&p->arena, line.p, line.n), left,
			    list);
	}
}

/* The system's own python has no virtual environment, and a folder of HOME
   stands in the list already where it is there. */
static void add_pth(struct prepared *p, const char *folder, bool is_home,
		    struct strlist *list)
{
	bool is_none = is_home ? !list_has(list, folder)
			       : str_starts(str_of(folder), "/usr/");
	DIR *dir = is_none ? NULL : opendir(folder);
	struct dirent *e;
	struct pth left = {PTH_FILES, PTH_LINES, PTH_ENTRIES};

	while (dir && left.files && left.lines && (e = readdir(dir)))
		if (str_ends(str_of(e->d_name), ".pth")) {
			left.files--;
			read_pth(p,
				 arena_printf(&p->arena, "%s/%s", folder,
					      e->d_name),
				 &left, list);
		}
	if (dir)
		closedir(dir);
}

/* ---- words of a row ---- */

/* Add the words; paths where there is something. */
static void add_words(struct prepared *p, const struct recipe *r,
		      const char *words, struct strlist *list)
{
	struct str rest = str_of(words);

	while (rest.n) {
		struct str one = str_cut(&rest, ' ');
		const char *word = expand(p, r, one);

		if (word && str_ends(str_of(word), "/*.pth"))
			add_pth(p, resolve_dirname(word, &p->arena),
				*one.p == '~', list);
		else if (word && (*word != '/' || access(word, F_OK) == 0))
			list_add_new(list, &p->arena, word);
	}
}

static void add_folders(struct prepared *p, struct recipe_used *u)
{
	struct str rest = str_of(u->recipe->folders);

	while (rest.n) {
		struct str name = str_cut(&rest, ' ');
		const char *path = arena_printf(&p->arena, "%s/%.*s",
						u->project.path, STR_ARG(name));

		if (access(path, F_OK) == 0)
			list_add_new(&u->exec, &p->arena, path);
	}
}

static void make_folder(struct prepared *p, const struct recipe_used *u)
{
	const char *name = u->recipe->made;
	AUTO(fd_closep) int fd = -1;

	if (!p->for_start || !*name ||
	    !prepared_writes(p, u->project.path, NULL, BY_ITSELF))
		return;
	fd = fd_open(u->project.path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	/* one that cannot be made is missing, as it was */
	(void)!mkdirat(fd, name, 0755);
}

static bool is_set(const struct prepared *p, const char *entry)
{
	const char *const *env = p->request->env;
	size_t n = strcspn(entry, "=") + 1;

	for (size_t i = 0; env && env[i]; i++)
		if (strncmp(env[i], entry, n) == 0)
			return true;
	for (size_t i = 0; i < p->recipe_env.n; i++)
		if (strncmp(p->recipe_env.item[i], entry, n) == 0)
			return true;
	return false;
}

/* Set the variables that nothing has set. */
static void add_env(struct prepared *p, struct recipe_used *u)
{
	struct str rest = str_of(u->recipe->env);

	while (rest.n) {
		struct str where =
			str_of(expand(p, u->recipe, str_cut(&rest, ' ')));
		struct str set = str_cut(&where, '?');
		const char *entry = arena_strndup(&p->arena, set.p, set.n);

		if (is_set(p, entry) || (where.n && access(where.p, F_OK) < 0))
			continue;
		list_add(&p->recipe_env, &p->arena, entry);
		list_add(&u->env, &p->arena, entry);
	}
	if (*u->recipe->says && u->env.n)
		prepared_cap(p, "%s", u->recipe->says);
}

static void use(struct prepared *p, const struct recipe *r, bool is_named)
{
	struct recipe_used *u;

	u = arena_grow(&p->arena, p->recipes, p->n_recipes, sizeof(*u));
	p->recipes = u;
	u += p->n_recipes++;
	*u = (struct recipe_used){.recipe = r, .is_named = is_named};
	choose_project(p, u);
	add_words(p, r, r->exec, &u->exec);
	add_words(p, r, r->read, &u->read);
	add_env(p, u);
	if (r->finds == RECIPE_SCRIPT)
		u->words = script_commands(p);
	if (r->finds == RECIPE_STARTED)
		u->words = started(p);
	if (!u->project.path)
		return;
	make_folder(p, u);
	add_folders(p, u);
}

int prepare_recipes(struct prepared *p, UNUSED struct err *err)
{
	for (const struct recipe *r = RECIPES; r->name; r++) {
		bool is_named = list_has(&p->policy.preset, r->name);

		if (is_named || applies(p, r))
			use(p, r, is_named);
	}
	return 0;
}

/* ---- for people ---- */

static const char *say_project(struct prepared *p, const struct project *found)
{
	return arena_printf(&p->arena, "%s, %s%s", found->path,
			    found->marker ? "for its " : "the starting folder",
			    found->marker ? found->marker : "");
}

struct strlist recipes_projects(struct prepared *p)
{
	struct strlist list = {NULL, 0};

	for (size_t i = 0; i < p->n_recipes; i++)
		if (p->recipes[i].project.path)
			list_add_new(&list, &p->arena,
				     say_project(p, &p->recipes[i].project));
	return list;
}

static void add_part(struct buf *out, const char *verb, const char *text,
		     bool *is_first)
{
	buf_addf(out, "%s%s%s", *is_first ? (out->n ? "; " : "") : ", ",
		 *is_first ? verb : "", text);
	*is_first = false;
}

static void say_one(struct prepared *p, const struct recipe_used *u,
		    struct buf *out)
{
	bool is_first = true;

	for (size_t i = 0; i < u->started.n; i++)
		add_part(out, "starts ", u->started.item[i], &is_first);
	is_first = true;
	if (u->project.path &&
	    grants_cover(&p->grants, u->project.path, GRANT_BY(RECIPE)))
		add_part(out, "reads ", say_project(p, &u->project), &is_first);
	for (size_t i = 0; i < u->read.n; i++)
		if (grants_cover(&p->grants, u->read.item[i], GRANT_BY(RECIPE)))
			add_part(out, "reads ", u->read.item[i], &is_first);
	is_first = true;
	for (size_t i = 0; i < u->env.n; i++)
		add_part(out, "sets ", u->env.item[i], &is_first);
}

struct strlist recipes_say(struct prepared *p)
{
	struct strlist list = {NULL, 0};

	for (size_t i = 0; i < p->n_recipes; i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		say_one(p, &p->recipes[i], &out);
		if (out.n)
			list_add(&list, &p->arena,
				 arena_printf(&p->arena, "%s: %s",
					      p->recipes[i].recipe->name,
					      buf_cstr(&out)));
	}
	return list;
}
