#include "core/run/unseen.h"

#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/place.h"
#include "core/client/facts.h"
#include "core/config/paths.h"

struct search {
	const struct advice_known *known;
	struct arena *arena;
	struct file_finder *files;
	struct pieces *pieces;
	bool is_home; /* an argument names HOME as shells do */
	bool is_refused;
	struct strlist written; /* files that a piece grants for writing */
};

/* Paths of arguments in the folder that a program should have started in. */
struct named {
	const char *folder;
	bool is_dot; /* written from there */
	struct strlist read, write;
};

/*
 * A folder is read, as files that arguments name can be. A missing file beside
 * others is written; one without a folder may be no path at all.
 */
static void add_named(struct search *f, struct named *n, const char *word)
{
	struct str parent = str_of(word);
	bool is_there;
	const char *path, *real;
	struct stat st;

	is_there = stat(path_resolve(word, n->folder, f->arena), &st) == 0;
	while (!is_there && parent.n && parent.p[parent.n - 1] != '/')
		parent.n--;
	while (parent.n && parent.p[parent.n - 1] == '/')
		parent.n--;
	if (!parent.n || (is_there && !S_ISDIR(st.st_mode)))
		return;
	path = arena_strndup(f->arena, parent.p, parent.n);
	real = file_real(f->files, parent);
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    strcmp(real, n->folder) == 0 ||
	    !path_is_beneath(real, &(struct strlist){&n->folder, 1}) ||
	    gate_is_secret(f->known->gate, real) ||
	    gate_secrets_in(f->known->gate, real, f->arena))
		return;
	list_add_new(is_there ? &n->read : &n->write, f->arena,
		     n->is_dot ? path : real);
}

/* Does a piece grant the path for writing? */
static bool is_written(const struct search *f, const char *path)
{
	const struct piece *p = piece_find(f->pieces, "write");

	return list_has(&f->written, path) ||
	       (p && place_around(&p->values, path));
}

/* Does a piece grant the path? What may be written may be read. */
static bool is_advised(const struct search *f, const char *path)
{
	const struct piece *read = piece_find(f->pieces, "read");

	return is_written(f, path) ||
	       (read && place_around(&read->values, path));
}

/* Files of the folder that the program looked for, as they are written. */
static struct strlist looked_for(struct search *f, const char *folder,
				 bool is_dot)
{
	const struct strlist *all = &f->known->verdict->unseen.paths;
	struct strlist list = {NULL, 0};

	for (size_t i = 0; i < all->n; i++)
		if (place_covers(folder, all->item[i]) &&
		    !is_advised(f, all->item[i]))
			list_add(&list, f->arena,
				 is_dot ? all->item[i] + strlen(folder) + 1
					: all->item[i]);
	return list;
}

/* Does the folder have an entry that the program would have listed? */
static bool has_unseen(struct search *f, const char *folder)
{
	const struct gate_policy *p = f->known->request->policy;
	/* "/" covers a private place, and opens none */
	bool is_covered = p && (path_is_beneath(folder, &p->read) ||
				path_is_beneath(folder, &p->write));
	DIR *dir = opendir(folder);
	const struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		const char *path =
			arena_printf(f->arena, "%s/%s", folder, e->d_name);

		found = strcmp(e->d_name, ".") != 0 &&
			strcmp(e->d_name, "..") != 0 &&
			!(p && !is_covered &&
			  (path_is_beneath(path, &p->read) ||
			   path_is_beneath(path, &p->write)));
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Paths that arguments name: where nothing else tells what is missing. */
static struct named find_named(struct search *f, const char *folder,
			       bool is_dot)
{
	const struct gate_request *r = f->known->request;
	struct named named = {.folder = folder, .is_dot = is_dot};

	for (size_t i = 1; f->known->gate && r->argv[0] && r->argv[i]; i++)
		/* a folder to start in is not made: one that is missing is
		   told by the program */
		if (r->argv[i][0] != '/' && r->argv[i][0] != '-' &&
		    (strcmp(r->argv[i - 1], "-C") != 0 ||
		     access(path_resolve(r->argv[i], folder, f->arena), F_OK) ==
			     0))
			add_named(f, &named, r->argv[i]);
	return named;
}

/*
 * Name the private folder, and what was missed there: single files, or the
 * whole folder where it was listed or written into.
 *
 * names    what was written into it; NULL: nothing
 * is_sure  false: the folder alone does not help
 */
static void add_folder(struct search *f, const char *folder, bool is_dot,
		       const char *names, bool is_listed, bool is_sure)
{
	const char *shown = is_dot ? "." : folder;
	struct strlist looked = looked_for(f, folder, is_dot);
	struct named named = {.folder = folder};
	const char *why, *text;

	text = arena_printf(
		f->arena,
		"started in a private, empty folder, because %s is not "
		"granted%s%s",
		shown, names ? "; " : "", names ? names : "");
	for (size_t i = 0; i < looked.n; i++)
		text = arena_printf(
			f->arena, "%s%s%s", text,
			i ? ", " : "; not seen there: ", looked.item[i]);
	f->is_refused |= names || is_listed || looked.n;
	if (!names && (is_listed || looked.n)) {
		piece_add(f->pieces, text, "read",
			  is_listed ? &(struct strlist){&shown, 1} : &looked);
		return;
	}
	if (!names)
		named = find_named(f, folder, is_dot);
	if (named.read.n)
		piece_add(f->pieces, text, "read", &named.read);
	if (named.write.n)
		piece_add(f->pieces,
			  named.read.n ? "a file that an argument names is "
					 "missing"
				       : text,
			  "write", &named.write);
	if (named.read.n || named.write.n || (!names && !is_sure))
		return;
	why = names && f->known->gate ? file_refusal(f->files, "write", folder)
				      : NULL;
	if (why)
		piece_add(f->pieces,
			  arena_printf(f->arena, "%s; it %s", text, why), NULL,
			  NULL);
	else
		piece_add(f->pieces, text, names ? "write" : "read",
			  &(struct strlist){&shown, 1});
}

/* Name what went with a private HOME. Its folders can be granted once they are
   there; a file of HOME itself cannot. */
static void add_lost(struct search *f, const char *names)
{
	const struct gate_dropped *d = &f->known->verdict->dropped;
	struct strlist folders = {NULL, 0};
	const char *missing = "";

	for (size_t i = 0; d->place && i < d->names.n; i++) {
		size_t n = strlen(d->names.item[i]);
		const char *path;

		if (!place_covers(d->place, d->names.item[i]) ||
		    !str_ends(str_of(d->names.item[i]), "/"))
			continue;
		path = arena_strndup(f->arena, d->names.item[i], n - 1);
		if (access(path, F_OK) < 0)
			missing = "make the folder, and ";
		list_add(&folders, f->arena, path);
	}
	f->is_refused = true;
	piece_add(f->pieces,
		  arena_printf(f->arena,
			       "%s; %slet it write into a folder that is "
			       "granted",
			       names, missing),
		  folders.n ? "write" : NULL, folders.n ? &folders : NULL);
}

/* May a grant of the folder mend what the words say? Not where a file is not
   in it, an argument is a text, or what they name no file of was refused. */
static bool is_in_folder(struct search *f, struct said_refusal said,
			 const char *folder)
{
	const struct gate_request *r = f->known->request;
	bool is_named = false;
	const char *path;

	if (!said.path.p && said.kind != SAID_MISSING)
		return false;
	if (file_of_data(f->files))
		return false;
	for (size_t i = 1; !said.path.p && r->argv[0] && r->argv[i]; i++) {
		if (!memmem(f->known->said.p, f->known->said.n, r->argv[i],
			    strlen(r->argv[i])))
			continue;
		is_named = true;
		path = path_resolve(r->argv[i], folder, f->arena);
		if (access(path, F_OK) == 0)
			return true;
	}
	if (is_named)
		return false;
	if (!said.path.p || said.kind != SAID_MISSING || said.makes)
		return true;
	path = arena_printf(f->arena, "%s/%.*s", folder, STR_ARG(said.path));
	return access(path, F_OK) == 0;
}

/* Is there a name of HOME, and not of something in it? */
static bool has_home(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *at = text;

	while ((at = strstr(at, name))) {
		at += n;
		if (!isalnum((unsigned char)at[*at == '/']) &&
		    !strchr("._-*?[$", at[*at == '/'] ? at[*at == '/'] : ' '))
			return true;
	}
	return false;
}

static bool names_home(const struct gate_request *r)
{
	const char *names[] = {"~",
			       "$HOME",
			       "${HOME}",
			       "home().iterdir",
			       "home().glob",
			       "home().rglob",
			       path_own_home(0)};

	for (size_t i = 1; r->argv[0] && r->argv[i]; i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (names[k] && has_home(r->argv[i], names[k]))
				return true;
	return false;
}

static void add_home(struct search *f)
{
	f->is_refused = true;
	piece_add(f->pieces,
		  f->known->form == ADVICE_TOML
			  ? "listed a private, empty HOME; grant what it needs "
			    "there, as in sandbox.read = [\"~/NAME\"]"
			  : "listed a private, empty HOME; grant what it needs "
			    "there, as in --read ~/NAME",
		  NULL, NULL);
}

/* Name files that went with a private folder, and those that were looked for
   in it; without any, the folder alone where a program says that it missed a
   file. */
static void add_dropped(struct search *f)
{
	const struct advice_known *known = f->known;
	const struct gate_request *r = known->request;
	const char *folder = known->verdict->dropped.folder;
	struct cleaner clean = {known->scrub, 0};
	struct said_refusal said = said_refusal(known->said);
	bool is_absolute = said.path.n && said.path.p[0] == '/';
	const char *names = facts_say_dropped(&clean, known->verdict, f->arena);
	bool is_listed;

	if ((!folder || known->verdict->dropped.place) && names && r &&
	    !r->cwd_said) {
		add_lost(f, names);
		names = NULL;
	}
	if (!folder || !r)
		return;
	is_listed = known->verdict->unseen.is_listed && has_unseen(f, folder);
	/* without its own folder a program starts in HOME */
	if (is_listed && !names && names_home(r)) {
		add_home(f);
		return;
	}
	/* exec has said so before the start */
	if (r->cwd_said)
		return;
	if (!(names || is_listed || looked_for(f, folder, false).n ||
	      known->all ||
	      (known->failed && !known->is_server && said.kind &&
	       said.kind != SAID_MODULE && !is_absolute && !f->is_home)))
		return;
	add_folder(f, folder, file_is_start(f->files, folder), names, is_listed,
		   known->all || is_in_folder(f, said, folder));
}

/* Name files that were to be made, replaced or removed: their folder does. */
static void add_changed(struct search *f)
{
	const struct gate_unseen *u = &f->known->verdict->unseen;
	const char *folder = f->known->verdict->dropped.folder;

	for (size_t i = 0; f->known->gate && i < u->changed.n; i++) {
		struct refused_file file = {.path = u->changed.item[i]};
		const char *value;

		/* of a failure in there the folder itself is said */
		if (is_written(f, file.path) ||
		    (folder && f->known->failed &&
		     place_covers(folder, file.path)))
			continue;
		file_judge(f->files, SAID_WRITE, &file);
		f->is_refused = true;
		list_add(&f->written, f->arena, file.path);
		value = file.value;
		if (folder && strcmp(value, folder) == 0 &&
		    file_is_start(f->files, value))
			value = ".";
		piece_add(f->pieces,
			  file.key ? arena_printf(f->arena,
						  "denied: write %s, which "
						  "lies in no folder granted "
						  "for it",
						  file.path)
				   : arena_printf(f->arena, "%s %s", file.path,
						  file.why),
			  file.key, &(struct strlist){&value, 1});
	}
}

/* Name files outside of that folder that were looked for. */
static void add_looked_for(struct search *f)
{
	const struct gate_verdict *v = f->known->verdict;
	struct strlist values = {NULL, 0};
	const char *text = "denied: read ";

	for (size_t i = 0; i < v->unseen.paths.n; i++) {
		const char *path = v->unseen.paths.item[i];

		if ((v->dropped.folder &&
		     place_covers(v->dropped.folder, path)) ||
		    is_advised(f, path))
			continue;
		text = arena_printf(f->arena, "%s%s%s", text,
				    values.n ? ", " : "", path);
		list_add(&values, f->arena, path);
	}
	if (!values.n && v->unseen.home && has_unseen(f, v->unseen.home))
		add_home(f);
	f->is_refused |= values.n != 0;
	if (values.n)
		piece_add(f->pieces,
			  arena_printf(f->arena,
				       "%s, which no row of read grants", text),
			  "read", &values);
}

bool unseen_add(struct file_finder *files, struct pieces *pieces, bool is_home)
{
	struct search s = {
		.known = pieces->known,
		.arena = pieces->arena,
		.files = files,
		.pieces = pieces,
		.is_home = is_home,
	};

	add_changed(&s);
	add_looked_for(&s);
	add_dropped(&s);
	return s.is_refused;
}
