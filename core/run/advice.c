#include "core/run/advice.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/place.h"
#include "core/base/text.h"
#include "core/client/facts.h"
#include "core/client/said.h"
#include "core/config/edit.h"
#include "core/config/keys.h"
#include "core/config/paths.h"
#include "core/run/advice_command.h"
#include "core/run/refused_file.h"

/*
 * ---- advice piece ----
 *
 * Pieces of advice while they are collected, and how their settings are
 * written: the refusals of one key are one piece, with one line.
 */

/* A piece before its setting is written: values of a key, or no key. */
struct piece {
	const char *text, *key;
	struct strlist values;
};

struct pieces {
	const struct advice_known *known;
	struct arena *arena;
	struct piece *item;
	size_t n;
};

/* Would a configuration take a name of the program's for a variable? */
static bool is_replaced(const struct strlist *values)
{
	for (size_t i = 0; i < values->n; i++)
		if (strstr(values->item[i], "${"))
			return true;
	return false;
}

/* Does a value stand alone, in place of a list? */
static bool is_alone(const char *key, const char *value)
{
	return (strcmp(key, "net") == 0 && gate_net_is_word(value)) ||
	       (strcmp(key, "unix") == 0 && gate_unix_is_word(value));
}

/* Values of a key in the table that a setting is for. */
static struct strlist values_there(const struct pieces *all, const char *key)
{
	const struct gate_policy *own = all->known->own;
	const struct key *k = NULL;

	do
		k = own ? key_next(SECTION_sandbox, k) : NULL;
	while (k && strcmp(k->name, key) != 0);
	return k ? key_values(k, own, all->arena) : (struct strlist){NULL, 0};
}

static const char *as_written(const struct pieces *all, const char *value)
{
	const struct expansion *e =
		all->known->config ? all->known->config->expansions : NULL;

	while (e && *e->slot != value)
		e = e->next;
	return e ? e->written : value;
}

/* The line holds the values of one that is there, too: a key stands once. */
static void add_toml(const struct pieces *all, const struct piece *p,
		     struct buf *out)
{
	const struct strlist there = values_there(all, p->key);
	const char *inside = all->known->inside;
	struct edit_row row = {.is_word = p->values.n == 1 &&
					  is_alone(p->key, p->values.item[0])};

	for (size_t i = 0; i < there.n && !row.is_word; i++)
		if (!is_alone(p->key, there.item[i]))
			list_add_new(&row.values, all->arena,
				     as_written(all, there.item[i]));
	for (size_t i = 0; i < p->values.n; i++)
		list_add_new(&row.values, all->arena, p->values.item[i]);
	buf_addf(out, "%s%s = ", all->known->is_bare ? "" : "sandbox.", p->key);
	edit_add_value(out, &row);
	if (inside)
		buf_addf(out, " # in %s", inside);
	if (there.n)
		buf_adds(out, inside ? ", in place of the row that is there"
				     : " # in place of the row that is there");
}

static const char *setting_of(const struct pieces *all, const struct piece *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (all->known->form == ADVICE_TOML)
		add_toml(all, p, &out);
	for (size_t i = 0; all->known->form == ADVICE_OPTION && i < p->values.n;
	     i++) {
		buf_addf(&out, "%s--%s ", i ? " " : "", p->key);
		text_add_word(&out, p->values.item[i]);
	}
	return arena_strdup(all->arena, buf_cstr(&out));
}

/* NULL: there is none of this key. */
static struct piece *piece_find(const struct pieces *all, const char *key)
{
	for (size_t i = 0; key && i < all->n; i++)
		if (all->item[i].key && strcmp(all->item[i].key, key) == 0)
			return &all->item[i];
	return NULL;
}

/*
 * Add a piece, or join it to the one of its key: a line stands once.
 *
 * key, values  NULL: no setting allows it
 */
static void PRINTF(4, 5)
	piece_add(struct pieces *all, const char *key,
		  const struct strlist *values, const char *fmt, ...)
{
	struct piece *p = piece_find(all, key);
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(all->arena, fmt, ap);
	va_end(ap);
	if (p) {
		p->text = arena_printf(all->arena, "%s; %s", p->text, text);
	} else {
		all->item = arena_grow(all->arena, all->item, all->n,
				       sizeof(*all->item));
		p = &all->item[all->n++];
		*p = (struct piece){.text = text, .key = key};
	}
	for (size_t i = 0; key && i < values->n; i++)
		list_add_new(&p->values, all->arena, values->item[i]);
}

/*
 * Is a folder of the piece one that no line should open, because keys or HOME
 * lie in it? A program chooses what it lists, and what it says was missing.
 */
static bool opens_too_much(const struct pieces *all, const struct piece *p)
{
	const struct advice_known *known = all->known;
	const char *from =
		known->verdict ? known->verdict->dropped.folder : NULL;

	if (!known->gate || !p->key ||
	    (strcmp(p->key, "read") != 0 && strcmp(p->key, "write") != 0))
		return false;
	for (size_t i = 0; i < p->values.n; i++)
		if (file_holds_secrets(
			    known->gate,
			    path_resolve(p->values.item[i], from, all->arena),
			    all->arena))
			return true;
	return false;
}

/* A value of a server may have named what the row would start or reach; rows of
   files are the person's words. */
static bool may_be_data(const struct pieces *all, const struct piece *p)
{
	return p->key && advice_is_of_data(all->known) &&
	       strcmp(p->key, "read") != 0 && strcmp(p->key, "write") != 0;
}

/* Write the settings; none for a folder with HOME or keys in it. */
static struct advice_list pieces_written(const struct pieces *all)
{
	struct advice_list list = {.n = all->n};

	list.item = ARENA_ARRAY(all->arena, struct advice, all->n);
	for (size_t i = 0; i < all->n; i++) {
		const struct piece *p = &all->item[i];

		list.item[i].text = p->text;
		if (opens_too_much(all, p)) {
			list.item[i].text = arena_printf(
				all->arena,
				"%s; HOME or keys lie in there, so %s", p->text,
				strcmp(p->key, "write") == 0
					? "let it write into a folder of its "
					  "own (move the file there), and "
					  "grant that folder"
					: "grant what it needs of it, not all");
			continue;
		}
		list.item[i].setting =
			p->key && !may_be_data(all, p) &&
					(all->known->form != ADVICE_TOML ||
					 !is_replaced(&p->values))
				? setting_of(all, p)
				: NULL;
	}
	return list;
}

/*
 * ---- places not seen ----
 *
 * Advice about private, empty places that a program met: the folder that it
 * should have started in, HOME, and files that it looked for there or left
 * there.
 */

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

/* A path in the folder, as it is written from there; "/" shortens none. It may
   be the folder itself. */
static const char *from_folder(const char *path, const char *folder)
{
	const size_t n = strlen(folder);

	return strcmp(folder, "/") == 0 ? path : path[n] ? path + n + 1 : ".";
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
				 is_dot ? from_folder(all->item[i], folder)
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
	AUTO(dir_closep) DIR *dir = opendir(folder);
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
		piece_add(f->pieces, "read",
			  is_listed ? &(struct strlist){&shown, 1} : &looked,
			  "%s", text);
		return;
	}
	if (!names)
		named = find_named(f, folder, is_dot);
	if (named.read.n)
		piece_add(f->pieces, "read", &named.read, "%s", text);
	if (named.write.n)
		piece_add(f->pieces, "write", &named.write, "%s",
			  named.read.n ? "a file that an argument names is "
					 "missing"
				       : text);
	if (named.read.n || named.write.n || (!names && !is_sure))
		return;
	why = names && f->known->gate ? file_refusal(f->files, "write", folder)
				      : NULL;
	if (why)
		piece_add(f->pieces, NULL, NULL, "%s; it %s", text, why);
	else
		piece_add(f->pieces, names ? "write" : "read",
			  &(struct strlist){&shown, 1}, "%s", text);
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
	piece_add(f->pieces, folders.n ? "write" : NULL,
		  folders.n ? &folders : NULL,
		  "%s; %slet it write into a folder that is granted", names,
		  missing);
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
	piece_add(f->pieces, NULL, NULL, "%s",
		  f->known->form == ADVICE_TOML
			  ? "listed a private, empty HOME; grant what it needs "
			    "there, as in sandbox.read = [\"~/NAME\"]"
			  : "listed a private, empty HOME; grant what it needs "
			    "there, as in --read ~/NAME");
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
		piece_add(f->pieces, file.key, &(struct strlist){&value, 1},
			  "%s",
			  file.key ? arena_printf(f->arena,
						  "denied: write %s, which "
						  "lies in no folder granted "
						  "for it",
						  file.path)
				   : arena_printf(f->arena, "%s %s", file.path,
						  file.why));
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
		piece_add(f->pieces, "read", &values,
			  "%s, which no row of read grants", text);
}

/*
 * Add the pieces; those that are there already are not repeated. The verdict
 * and the request are known.
 *
 * is_home  an argument names HOME as shells do, which explains a missing file
 * returns  whether something was refused that no program takes lightly
 */
static bool unseen_add(struct file_finder *files, struct pieces *pieces,
		       bool is_home)
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

/* ---- refusals that count ---- */

static const char *const probes[] = {
#define PROBE(call) #call,
#define REASON(key, text)
#include "core/run/advice.def"
#undef PROBE
#undef REASON
};

static bool is_probe(const char *call)
{
	return str_index(str_of(call), probes, ARRAY_LEN(probes)) <
	       ARRAY_LEN(probes);
}

static bool is_key(const struct gate_denial *d, const char *key)
{
	return d->allow.key && strcmp(d->allow.key, key) == 0;
}

/*
 * Libraries make one socket of IPv6 to learn whether the machine has it; a
 * program that connects by name asks a name server by IPv4 as well.
 */
static bool is_connection(const struct gate_denial *d)
{
	return !d->detail || strstr(d->detail, "AF_INET,") != NULL;
}

/* Does it count even though the program succeeded? */
static bool counts(const struct gate_denial *d)
{
	return strcmp(d->kind, "exec") == 0 || strcmp(d->kind, "net") == 0 ||
	       (is_key(d, "net") && is_connection(d));
}

static bool is_worth_a_line(const struct gate_denial *d,
			    const struct advice_known *known)
{
	return known->all || counts(d) ||
	       (known->failed && d->allow.key && !is_probe(d->name));
}

/* ---- the search ---- */

struct finder {
	const struct advice_known *known;
	struct arena *arena;
	struct file_finder files;
	struct pieces pieces;
	enum said_kind said;
	bool is_refused;
	bool is_home;	  /* an argument names HOME as shells do */
	bool has_unnamed; /* words of a refusal name no file */
	bool is_final;	  /* no trace finds more */
};

/* ---- refused programs of a shell's command line ---- */

static bool is_program(const char *name, struct arena *arena)
{
	static const char *const dirs[] = {"/usr/local/bin", "/usr/bin",
					   "/bin"};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (!strchr(name, '/') &&
		    access(arena_printf(arena, "%s/%s", dirs[i], name), X_OK) ==
			    0)
			return true;
	return false;
}

/* "sh -c gzip" that was refused needs gzip as well. */
static void add_commands(const struct finder *f, const struct gate_denial *d,
			 struct strlist *values)
{
	const struct gate_verdict *v = f->known->verdict;

	for (size_t i = 0; str_ends(str_of(d->name), "sh") && i < v->n_records;
	     i++) {
		const struct gate_record *r = &v->records[i];
		struct strlist words;

		if (!r->unlisted || strcmp(r->path, d->name) != 0 ||
		    r->args.n < 3 || strcmp(r->args.item[1], "-c") != 0)
			continue;
		words = gate_shell_words(str_of(r->args.item[2]), f->arena);
		for (size_t k = 0; k < words.n; k++)
			if (is_program(words.item[k], f->arena))
				list_add_new(values, f->arena, words.item[k]);
	}
}

/* ---- pieces ---- */

static bool is_whole_net(const struct gate_denial *d)
{
	return is_key(d, "net") && strcmp(d->allow.value, "all") == 0;
}

static void add_denial(struct buf *out, const struct gate_denial *d,
		       const struct scrub *scrub)
{
	/* which kinds of sockets a library tries is no news */
	if (is_whole_net(d))
		buf_addf(out, "network (%s)", d->name);
	else
		buf_adds(out, d->detail && *d->detail ? d->detail : d->name);
	/* a proxy cannot tell which program of the tree asked */
	if (strcmp(d->kind, "net") != 0) {
		buf_adds(out, " by ");
		/* the kernel keeps the first bytes of a program's name */
		scrub_cut(scrub, str_of(d->program ? d->program : "?"), out);
	}
	buf_addf(out, ", %llu time%s", (unsigned long long)d->count,
		 d->count == 1 ? "" : "s");
}

/* Refusals that one piece names; more are counted. */
#define ROWS_SHOWN 4

static const char *reason_of(const char *key)
{
	static const struct {
		const char *key, *text;
	} rows[] = {
#define PROBE(call)
#define REASON(key, text) {#key, text},
#include "core/run/advice.def"
#undef PROBE
#undef REASON
	};

	for (size_t i = 0; key && i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return rows[i].text;
	return "";
}

static const char no_host[] = "HOST";

/* Host of the first URL in a list that ends in NULL; .p is NULL without. */
static struct str host_in(const char *const *lines)
{
	struct str host = {NULL, 0};

	for (; lines && *lines && !host.p; lines++)
		if (strstr(*lines, "://"))
			host = said_host(str_of(*lines));
	return host;
}

/* Host that arguments, variables or, failing these, words of the program name.
 */
static const char *host_of(struct finder *f)
{
	const struct gate_request *r = f->known->request;
	struct str host = {NULL, 0};

	if (r && r->argv[0])
		host = host_in(r->argv + 1);
	if (r && !host.p)
		host = host_in(r->env);
	if (!host.p)
		host = said_host(f->known->said);
	return host.p ? arena_strndup(f->arena, host.p, host.n) : no_host;
}

/* A tool chain is one recipe, and many programs; NULL where none is asked for.
 */
static const char *recipe_of(const struct finder *f,
			     const struct gate_denial *d)
{
	const struct gate_request *r = f->known->request;
	const char *recipe =
		is_key(d, "exec") ? gate_recipe_of(d->allow.value) : NULL;

	return recipe && r && r->policy &&
			       !list_has(&r->policy->preset, recipe) &&
			       !list_has(&r->policy->preset, "none")
		       ? recipe
		       : NULL;
}

/* Key of the row that a piece advises. */
static const char *key_of(const struct finder *f, const struct gate_denial *d)
{
	return recipe_of(f, d) ? "preset" : d->allow.key;
}

static void add_value(struct finder *f, const struct gate_denial *d,
		      struct strlist *values)
{
	const char *recipe = recipe_of(f, d);

	/* name a host: the whole network is seldom what a person needs */
	list_add_new(values, f->arena,
		     recipe	       ? recipe
		     : is_whole_net(d) ? host_of(f)
				       : d->allow.value);
	if (!recipe && is_key(d, "exec"))
		add_commands(f, d, values);
}

/* Join the refusals that rows of one key allow; NULL: those without a key. */
static void add_key(struct finder *f, const char *key)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct gate_verdict *v = f->known->verdict;
	bool is_toml = f->known->form == ADVICE_TOML;
	struct strlist values = {NULL, 0};
	size_t n = 0;

	for (size_t i = 0; i < v->n_denials; i++) {
		const struct gate_denial *d = &v->denials[i];
		const char *its = key_of(f, d);

		if (!is_worth_a_line(d, f->known) || !its != !key ||
		    (key && strcmp(its, key) != 0))
			continue;
		f->is_refused |= counts(d);
		if (n++ < ROWS_SHOWN) {
			buf_adds(&text, n > 1 ? "; " : "denied: ");
			add_denial(&text, d, f->known->scrub);
		}
		if (key)
			add_value(f, d, &values);
	}
	if (!n)
		return;
	if (n > ROWS_SHOWN)
		buf_addf(&text, "; and %zu more", n - ROWS_SHOWN);
	buf_adds(&text, reason_of(key));
	if (list_has(&values, no_host))
		buf_addf(&text, "; name the host that it needs%s",
			 is_toml ? ": sandbox.net = [\"HOST\"]"
				 : " in place of HOST");
	/* a line with a gap is none to paste */
	if (is_toml && values.n == 1 && list_has(&values, no_host))
		key = NULL;
	piece_add(&f->pieces, key, &values, "%s", buf_cstr(&text));
}

static void add_denials(struct finder *f)
{
	/* rules of a person's own have no key */
	static const char *const keys[] = {NULL,  "exec", "preset",
					   "net", "unix", "syscalls"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		add_key(f, keys[i]);
}

/* Clients name the socket that they could not reach: its own line opens it. */
static bool is_refused_socket(const struct gate_verdict *v, const char *path)
{
	for (size_t i = 0; v && i < v->n_denials; i++)
		if (strcmp(v->denials[i].kind, "unix") == 0 &&
		    strcmp(v->denials[i].name + strlen("unix:"), path) == 0)
			return true;
	return false;
}

static void add_file(struct finder *f)
{
	const struct advice_known *known = f->known;
	struct refused_file file;
	bool is_refused;

	if (!known->gate || (!known->failed && known->is_server) ||
	    !file_find(&f->files, &file) ||
	    is_refused_socket(known->verdict, file.path))
		return;
	f->is_final = file.is_final;
	/* words of one that succeeded count where we may do it ourselves */
	is_refused = *file.path && file.counts &&
		     (known->failed ||
		      access(file.value, file.write ? W_OK : R_OK) == 0);
	f->is_refused |= is_refused;
	f->has_unnamed = known->failed && !*file.path;
	if (is_refused && file.key)
		piece_add(&f->pieces, file.key,
			  &(struct strlist){&file.value, 1},
			  "denied: %s %s, which lies in no folder "
			  "granted for it",
			  file.key, file.path);
	else if (is_refused || (known->failed && *file.path))
		piece_add(&f->pieces, NULL, NULL, "%s %s", file.path, file.why);
}

static bool says(struct str said, const char *words)
{
	return said.n && memmem(said.p, said.n, words, strlen(words));
}

/* Name the repository of a linked working tree: git finds none, or may not
   write there. */
static bool add_repository(struct finder *f)
{
	const struct advice_known *known = f->known;
	struct str said = known->said;
	const bool is_blind = says(said, "not a git repository: ");
	const char *at;

	if (!known->failed || !known->gate ||
	    !(is_blind || (f->said == SAID_WRITE && says(said, "/.git/"))))
		return false;
	at = file_repository(&f->files);
	if (!at ||
	    path_is_beneath(at, is_blind ? &known->request->policy->read
					 : &known->request->policy->write))
		return false;
	piece_add(&f->pieces, is_blind ? "read" : "write",
		  &(struct strlist){&at, 1},
		  "this working tree of git belongs to the "
		  "repository %s, which is not granted%s",
		  at, is_blind ? "" : " for writing");
	return true;
}

/* Name the folder of a module, as far as a grant of it can be advised. */
static void add_module_folder(struct finder *f, const struct missing_module *m)
{
	struct refused_file file = {.path = m->folder};
	const char *value = m->folder, *cwd = f->known->request->cwd;

	file_judge(&f->files, SAID_MISSING, &file);
	if (cwd && strcmp(value, cwd) == 0 && file_is_start(&f->files, value))
		value = ".";
	piece_add(&f->pieces, file.key, &(struct strlist){&value, 1},
		  "module %s lies in %s, which is not granted%s%s", m->name,
		  m->folder,
		  m->is_unsearched ? ", and where python looks only with "
				     "PYTHONPATH="
				   : "",
		  m->is_unsearched ? m->folder : "");
}

/* Say where a module of Python is, or that no folder has it. */
static void add_module(struct finder *f)
{
	struct missing_module m;

	if (!f->known->gate || !f->known->failed || f->said != SAID_MODULE ||
	    !module_find(&f->files, &m) || m.is_elsewhere)
		return;
	f->is_final = !m.folder;
	if (m.folder)
		add_module_folder(f, &m);
	else if (m.python)
		piece_add(&f->pieces, NULL, NULL,
			  "module %s is installed for %s: start that one",
			  m.name, m.python);
	else
		piece_add(&f->pieces, NULL, NULL,
			  "module %s is not installed: pip install %s, if its "
			  "package has that name",
			  m.name, m.name);
}

/* Services that are down: no fault of the policy, and no row helps. */
static void add_unreached(struct finder *f)
{
	const struct strlist *names = &f->known->verdict->unreached;

	for (size_t i = 0; i < names->n; i++)
		piece_add(&f->pieces, NULL, NULL, "%s", names->item[i]);
}

/* Words of an argument that only a shell would have read; NULL: others. */
static const char *shell_word(struct finder *f, const char *word)
{
	struct str said = f->known->said;

	if (path_needs_shell(str_of(word)))
		return "write the whole path";
	/* many programs read patterns themselves */
	return strpbrk(word, "*?") && f->said == SAID_MISSING && said.n &&
			       memmem(said.p, said.n, word, strlen(word))
		       ? "name the files, or leave that to `sh -c`"
		       : NULL;
}

static void add_passed_on(struct finder *f, const char *word, const char *what)
{
	piece_add(&f->pieces, NULL, NULL,
		  "%s was passed on as it is, since no shell reads it: %s",
		  word, what);
}

/* Name a variable whose value only a shell would have read as a path. */
static void add_shell_value(struct finder *f)
{
	const struct gate_request *r = f->known->request;
	const char *const *env = r && f->known->failed ? r->env : NULL;

	for (; env && *env; env++) {
		const char *value = strchr(*env, '=');

		if (value && path_needs_shell(str_of(value + 1)))
			add_passed_on(f, *env, "write the whole path");
	}
}

/* Name an argument that only a shell would have read as a path. */
static void add_shell_word(struct finder *f)
{
	const struct gate_request *r = f->known->request;
	const char *const *argv = r ? r->argv : NULL, *what;

	for (size_t i = 1; f->known->failed && argv && argv[0] && argv[i]; i++)
		if (strcmp(argv[i - 1], "-c") != 0 &&
		    (what = shell_word(f, argv[i]))) {
			f->is_home = path_needs_shell(str_of(argv[i]));
			add_passed_on(f, argv[i], what);
			return;
		}
}

/* Name a value of another step that the program took for a file. */
static void add_value_taken(struct finder *f)
{
	size_t nth =
		f->known->failed && f->said == SAID_MISSING && f->known->request
			? file_of_data(&f->files)
			: 0;

	if (nth)
		piece_add(&f->pieces, NULL, NULL,
			  "argument %zu is the value of a reference, and the "
			  "program takes it for the name of a file",
			  nth);
	/* a text is no file that a trace could find */
	f->is_final |= nth && !strchr(f->known->given[nth], '/');
}

/* Files that a refused program would have read next. */
static void add_arguments(struct finder *f)
{
	const struct advice_known *known = f->known;
	const struct gate_verdict *v = known->verdict;
	struct strlist values = {NULL, 0};

	for (size_t i = 0; i < v->n_records; i++) {
		const struct gate_record *r = &v->records[i];

		for (size_t k = 1; r->unlisted && k < r->args.n; k++) {
			struct refused_file file = {.path = r->args.item[k]};
			struct stat st;

			if (file.path[0] != '/' || stat(file.path, &st) < 0 ||
			    !S_ISREG(st.st_mode) || access(file.path, R_OK) < 0)
				continue;
			file_judge(&f->files, SAID_MISSING, &file);
			if (file.key && strcmp(file.key, "read") == 0)
				list_add_new(&values, f->arena, file.path);
		}
	}
	if (!values.n)
		return;
	piece_add(&f->pieces, "read", &values,
		  "a refused program was to read %s%s, which lies "
		  "in no folder granted for it",
		  values.item[0], values.n > 1 ? " and other files" : "");
}

/*
 * Do the words of a failed program miss a file or a module that no piece is
 * about? One that is missing from a granted folder is missing outside as well,
 * and one that an argument names is the fault of the caller.
 */
static bool lacks_file(struct finder *f)
{
	const struct advice_known *known = f->known;
	struct said_refusal r = said_refusal(known->said);
	const char *path;

	if (!known->failed || !known->gate ||
	    (r.kind != SAID_MISSING && r.kind != SAID_MODULE))
		return false;
	if (!r.path.p)
		return true;
	path = file_real(&f->files, r.path);
	return !list_has(file_named(&f->files), path) &&
	       !path_is_beneath(path, &known->request->policy->read) &&
	       !path_is_beneath(path, &known->request->policy->write);
}

/* The whole table at once: a refused program hides what it would need. */
static void add_trace(struct finder *f)
{
	const struct advice_known *k = f->known;
	const struct gate_verdict *v = k->verdict;
	size_t n_unreached = v ? v->unreached.n : 0;

	if (f->has_unnamed && !f->pieces.n)
		piece_add(&f->pieces, NULL, NULL,
			  "the program says that it was refused a file, and "
			  "does not name it");
	if ((k->trace || k->trace_of) && !f->is_final &&
	    (f->pieces.n > n_unreached || lacks_file(f)))
		piece_add(
			&f->pieces, NULL, NULL, "%s",
			advice_trace(k->trace ? k->trace
					      : advice_about(k->config, "trace",
							     k->trace_of,
							     f->arena),
				     f->arena));
}

struct advice_list advice_find(const struct advice_known *known,
			       struct arena *arena)
{
	struct finder f = {
		.known = known,
		.arena = arena,
		.files = {.known = known, .arena = arena},
		.pieces = {.known = known, .arena = arena},
	};
	struct advice_list list;

	f.said = said_refusal(known->said).kind;
	if (known->failed && f.said == SAID_DOWNLOAD) {
		piece_add(&f.pieces, NULL, NULL, "%s", advice_download);
		return pieces_written(&f.pieces);
	}
	if (known->form == ADVICE_TOML) {
		add_shell_word(&f);
		add_shell_value(&f);
	}
	add_value_taken(&f);
	if (known->verdict)
		add_denials(&f);
	if (known->verdict)
		add_unreached(&f);
	if (!add_repository(&f))
		add_file(&f);
	add_module(&f);
	if (known->verdict && known->gate && !known->is_server)
		add_arguments(&f);
	if (known->verdict)
		f.is_refused |= unseen_add(&f.files, &f.pieces, f.is_home);
	add_trace(&f);
	list = pieces_written(&f.pieces);
	list.is_refused = f.is_refused;
	return list;
}

void advice_in_server(struct advice_known *known, const struct server *server,
		      struct arena *arena)
{
	const enum sandbox_form form = server->sandbox_form;

	known->form = ADVICE_TOML;
	known->own = &server->sandbox;
	known->is_bare = form == SANDBOX_TABLE || form == SANDBOX_INLINE;
	known->inside = arena_printf(
		arena, "%s[servers.%s%s]",
		form == SANDBOX_INLINE ? "sandbox = { } of " : "", server->name,
		form == SANDBOX_TABLE ? ".sandbox" : "");
}

const char *advice_line(const struct advice *a, struct arena *arena)
{
	return a->setting ? arena_printf(arena, "%s; to allow it: %s", a->text,
					 a->setting)
			  : a->text;
}
