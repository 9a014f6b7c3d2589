#include "gate/prepare/parts.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/policy/path_words.h"

/* Files that are watched for: each costs a comparison at every look-up. */
#define UNSEEN_MAX 16
/* Words of all texts that are looked at: a start waits for them. */
#define UNSEEN_WORDS 512
/* A larger file is no script that a person wrote. */
#define UNSEEN_SCRIPT_BYTES (64 * 1024)

struct search {
	struct prepared *p;
	unsigned words;
	bool has_python, lists;
	bool watches_writes; /* the texts are arguments and variables */
};

/* ---- files ---- */

static const char *joined(struct prepared *p, const char *dir, struct str path)
{
	return arena_printf(&p->arena, "%s/%.*s", dir, STR_ARG(path));
}

static bool is_here(const struct search *s, struct str path)
{
	struct str first = str_cut(&path, '/');
	const char *name = joined(s->p, s->p->hidden_cwd, first);

	return !list_has(&s->p->missing, name) &&
	       faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Is it, or something beneath it, granted, or none of a program's business? */
static bool is_left_out(const struct prepared *p, const char *real)
{
	const struct closed closed = places_closed(p->gate);

	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what &&
		    place_covers(real, p->grants.grant[i].path))
			return true;
	return grants_cover(&p->grants, real, GRANT_ACCESS) ||
	       closed_kind_of(&closed, real) != CLOSED_NOT ||
	       closed_is_beneath(&closed, real) ||
	       place_around(&p->gate->config.hide, real);
}

static void put_name(struct prepared *p, const struct watch_name *name)
{
	for (size_t i = 0; i < p->n_unseen; i++)
		if (strcmp(p->unseen[i].seen, name->seen) == 0)
			return;
	p->unseen = arena_grow(&p->arena, p->unseen, p->n_unseen,
			       sizeof(*p->unseen));
	p->unseen[p->n_unseen++] = *name;
}

/* Add a file or folder that may be read alone, or a file that may be written
   and not replaced. */
static void add_read(struct prepared *p, const char *path)
{
	const char *real;
	char to[PATH_MAX];
	bool is_written;
	struct stat st;

	/* a script is not its own data */
	if (p->n_unseen == UNSEEN_MAX || !realpath(path, to) ||
	    (p->script && strcmp(to, p->script) == 0) ||
	    !grants_cover(&p->grants, to, GRANT_READ | GRANT_WRITES))
		return;
	is_written = grants_cover(&p->grants, to, GRANT_WRITES);
	if (is_written &&
	    (stat(to, &st) < 0 || !S_ISREG(st.st_mode) ||
	     grants_cover(&p->grants, resolve_dirname(to, &p->arena),
			  GRANT_WRITES)))
		return;
	real = arena_strdup(&p->arena, to);
	put_name(p, &(struct watch_name){.seen = real,
					 .real = real,
					 .is_read = !is_written,
					 .is_file = is_written});
}

static void add_name(struct prepared *p, const char *seen, const char *path)
{
	bool is_new = access(path, F_OK) < 0;
	char real[PATH_MAX];

	/* one to be made: a folder that is no private place lacks it, and
	   words alone may be no relative path */
	if (p->n_unseen == UNSEEN_MAX ||
	    !realpath(is_new ? resolve_dirname(path, &p->arena) : path, real) ||
	    is_left_out(p, real) ||
	    (is_new && (places_has(p->gate, real) ||
			(p->hidden_cwd && place_covers(p->hidden_cwd, path)))))
		return;
	put_name(p, &(struct watch_name){
			    .seen = seen, .real = path, .is_new = is_new});
}

/* ---- files that go with a private place ---- */

/* Is the path one that only the program can make, and that goes with it? */
static bool is_fleeting(const struct prepared *p, const char *path)
{
	const char *home = p->gate->home_path;
	size_t n = home ? strlen(home) : 0;

	/* caches and settings are meant to go; what ".." means, links say */
	if (strstr(path, "..") || !view_hides(p, path) ||
	    (n && strncmp(path, home, n) == 0 &&
	     (!path[n] || strncmp(path + n, "/.", 2) == 0)) ||
	    places_has(p->gate, path))
		return false;
	/* counted already */
	if (p->launch.counted && place_covers(p->launch.counted, path))
		return false;
	for (size_t i = 0; i < p->grants.n; i++)
		if (place_covers(path, p->grants.grant[i].path))
			return false;
	return true;
}

/* Note a file of a private place that the program is told to make. */
static void note_fleeting(struct prepared *p, const char *path)
{
	for (size_t i = 0; i < p->n_named; i++)
		if (strcmp(p->named[i], path) == 0)
			return;
	if (p->own_view && p->n_named < LEFT_NAMED && is_fleeting(p, path))
		p->named[p->n_named++] = path;
}

/* "/tmp/a.tgz", "--out=/tmp/b" */
static void note_arguments(struct prepared *p)
{
	const char *const *argv = p->request->argv;

	for (size_t i = 1; argv[0] && argv[i]; i++) {
		const char *value = strstr(argv[i], "=/");

		if (argv[i][0] == '/')
			note_fleeting(p, argv[i]);
		else if (value)
			note_fleeting(p, value + 1);
	}
}

/* Note a name that is meant in HOME, where HOME is also where the program
   starts. */
static void note_home(struct prepared *p, struct str path)
{
	struct str first = str_cut(&path, '/');

	if (p->launch.left == LEFT_IN_HOME && p->hidden_cwd)
		list_add_new(&p->home_names, &p->arena,
			     arena_strndup(&p->arena, first.p, first.n));
}

/* ---- words ---- */

/* Look a word up as a path; seen, as the program will name it. */
static void look_up(struct search *s, const struct path_word *w)
{
	struct prepared *p = s->p;
	const char *home = p->gate->homes.n ? p->gate->homes.item[0] : NULL;
	const char *seen = NULL, *path;

	if (w->from == PATH_FROM_CWD) {
		if (!p->hidden_cwd || !is_here(s, w->path))
			return;
		seen = joined(p, p->launch.cwd, w->path);
		path = joined(p, p->hidden_cwd, w->path);
	} else if (w->from == PATH_FROM_ROOT) {
		seen = path = arena_strndup(&p->arena, w->path.p, w->path.n);
		note_fleeting(p, seen);
		if (home && place_covers(home, seen) &&
		    strlen(seen) > strlen(home))
			note_home(p, str_of(seen + strlen(home) + 1));
	} else if (home && p->home) {
		note_home(p, w->path);
		seen = joined(p, p->home, w->path);
		path = joined(p, home, w->path);
	}
	if (seen && view_hides(p, seen))
		add_name(p, seen, path);
}

/* Note the files and folders of a word that are granted for reading alone. */
static void look_up_read(struct search *s, const struct path_word *w)
{
	struct prepared *p = s->p;
	const char *cwd = p->launch.cwd;

	if (!s->watches_writes || w->is_pattern)
		return;
	if (w->from == PATH_FROM_ROOT)
		add_read(p, arena_strndup(&p->arena, w->path.p, w->path.n));
	else if (w->from == PATH_FROM_CWD && cwd && !p->hidden_cwd)
		add_read(p, joined(p, cwd, w->path));
}

static bool is_python(const char *path)
{
	return programs_is_one("python python3", path);
}

/* Credentials are words, too: only such a word is copied. */
static bool names_python(struct search *s, struct str word)
{
	return memmem(word.p, word.n, "python", 6) &&
	       is_python(arena_strndup(&s->p->arena, word.p, word.n));
}

/* Words of shells and calls of Python that list a folder. */
static bool is_listing(struct str word)
{
	static const char words[] = "ls dir find tree du tar rsync listdir "
				    "scandir iterdir glob iglob rglob walk";

	for (size_t i = word.n; i-- > 0;)
		if (word.p[i] == '.' || word.p[i] == '/') {
			word = str_skip(word, i + 1);
			break;
		}
	return str_has_word(words, word);
}

static void look_through(struct search *s, struct str text)
{
	struct path_word w;

	while (s->words < UNSEEN_WORDS && path_word_next(&text, &w)) {
		s->words++;
		s->has_python |= names_python(s, w.path);
		s->lists |= w.is_pattern || is_listing(w.path);
		look_up(s, &w);
		look_up_read(s, &w);
	}
}

/* ---- texts ---- */

/* The script that is the program, or that an interpreter runs; or NULL. */
static const char *script_of(const struct prepared *p)
{
	const struct resolved_file *f = &p->program.file[0];

	return f->is_script ? f->path : p->script;
}

static void look_through_script(struct search *s)
{
	AUTO(buf_release) struct buf text = BUF_INIT(UNSEEN_SCRIPT_BYTES);
	const char *path = script_of(s->p);

	/* programs of the system name no file of the user's */
	if (!path || place_covers("/usr", path) ||
	    strstr(path, "/node_modules/") || strstr(path, "/site-packages/"))
		return;
	if (fd_read_regular(path, &text, ERR_IGNORED) == 0)
		look_through(s, buf_str(&text));
}

/*
 * Python lists the folder that it starts in before each import; of a script
 * the script's own folder. A script of a shell may start it, too.
 */
static bool lists_for_imports(const struct search *s)
{
	const struct prepared *p = s->p;
	const char *script = script_of(p);
	bool is_elsewhere =
		script && strcmp(resolve_dirname(script, &s->p->arena),
				 p->hidden_cwd) != 0;

	for (size_t i = 0; i < p->program.n; i++)
		if (is_python(p->program.file[i].path))
			return !is_elsewhere && !s->lists;
	return s->has_python && !s->lists;
}

int prepare_unseen(struct prepared *p, UNUSED struct err *err)
{
	const char *const *argv = p->request->argv;
	const char *const *env = p->request->env;
	struct search s = {.p = p,
			   .watches_writes = p->request->watches_writes};

	note_arguments(p);
	/* a trace shows them */
	if (!p->for_start || p->request->record & GATE_RECORD_FILES)
		return 0;
	for (size_t i = 1; argv[0] && argv[i]; i++)
		if (!data_is(p->request, i))
			look_through(&s, str_of(argv[i]));
	for (size_t i = 0; env && env[i]; i++)
		look_through(&s, str_of(env[i]));
	s.watches_writes = false;
	look_through_script(&s);
	p->launch.marks_counted =
		p->launch.counted && !(p->hidden_cwd && lists_for_imports(&s));
	return 0;
}
