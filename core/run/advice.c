#include "core/run/advice.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/place.h"
#include "core/client/facts.h"
#include "core/client/said.h"
#include "core/config/edit.h"
#include "core/config/keys.h"
#include "core/config/paths.h"

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
	for (size_t i = 0; i < ARRAY_LEN(probes); i++)
		if (strcmp(probes[i], call) == 0)
			return true;
	return false;
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

/* A piece before its setting is written: values of a key, or no key. */
struct piece {
	const char *text, *key;
	struct strlist values;
};

struct finder {
	const struct advice_known *known;
	struct arena *arena;
	struct strlist named; /* files and folders of arguments, resolved */
	struct piece *piece;
	size_t n;
	bool is_refused;
	bool has_unnamed; /* words of a refusal name no file */
	bool is_absent;	  /* the file that was asked for */
};

/* ---- files that words name ---- */

/* A file that was refused, and the key that grants it. */
struct refused_file {
	const char *path;  /* resolved; "": the words name none */
	const char *key;   /* "read", "write"; NULL: no grant is advised */
	const char *value; /* the path, or the folder to write in */
	const char *why;   /* without a key: the reason, behind the path */
};

/* Folders above a missing file in which one that is there is looked for. */
#define ABOVE_MAX 32

/*
 * Resolve a path; of a missing file resolve the nearest folder above and append
 * the rest. "" when the path is too long.
 */
static const char *real_of(const struct finder *f, struct str path)
{
	const char *cwd = f->known->request->cwd;
	/* some programs know `~` */
	const char *given =
		path_home(arena_strndup(f->arena, path.p, path.n), f->arena);
	char *all = given[0] == '/' ? arena_strdup(f->arena, given)
				    : arena_printf(f->arena, "%s/%s",
						   cwd ? cwd : "/", given);
	char *end = all + strlen(all), real[PATH_MAX];

	if (end - all >= PATH_MAX)
		return "";
	for (size_t n = 0; end > all && n < ABOVE_MAX; n++) {
		char c = *end;
		bool is_there;

		*end = '\0';
		is_there = realpath(all, real);
		*end = c;
		if (is_there)
			return arena_printf(f->arena, "%s%s", real, end);
		while (end > all && *--end != '/')
			;
	}
	return all;
}

/* The files and folders that arguments name, there or not. */
static const struct strlist *named(struct finder *f)
{
	const char *const *argv = f->known->request->argv;

	if (f->named.n)
		return &f->named;
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		const char *real =
			argv[i][0] == '-' ? "" : real_of(f, str_of(argv[i]));

		list_add(&f->named, f->arena, real);
	}
	return &f->named;
}

static bool is_at(const char *folder, const char *path)
{
	return path_is_beneath(path, &(struct strlist){&folder, 1});
}

/* Are these words of `matins brief`, which names what its caller named? */
static bool is_brief(const struct advice_known *known)
{
	const char *const *argv = known->request->argv;

	return strcmp(known->request->program, "matins") == 0 && argv[0] &&
	       argv[1] && strcmp(argv[1], "brief") == 0;
}

/* Argument that is a folder, and this path or above it; NULL: none. */
static const char *folder_named(struct finder *f, const char *path)
{
	const struct strlist *list = named(f);
	struct stat st;

	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->item[i], "/") != 0 &&
		    is_at(list->item[i], path) &&
		    stat(list->item[i], &st) == 0 && S_ISDIR(st.st_mode))
			return list->item[i];
	return NULL;
}

static bool is_meant(struct finder *f, const char *path)
{
	if (gate_is_secret(f->known->gate, path))
		return false;
	if (is_brief(f->known) || !f->known->is_server)
		return true;
	return !strstr(path, "/.") &&
	       (list_has(named(f), path) || folder_named(f, path) ||
		is_at(path_resolve(".", NULL, f->arena), path));
}

/*
 * Shells begin with the name of the script: "./run: 2: cat: Permission
 * denied". It is granted, and no clue.
 */
static bool is_own_file(struct finder *f, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (list_has(named(f), path) ||
		is_at(f->known->request->program, path));
}

/*
 * Reason why a grant cannot be had: the gate would refuse it, or the program
 * could change its own code, that of its script or of an installed package.
 * NULL: it can.
 */
static const char *refusal_of(const struct finder *f, const char *key,
			      const char *value)
{
	const struct advice_known *known = f->known;
	struct gate_policy more = {.profile = NULL};
	struct gate_request request = *known->request;
	struct gate_explained own;
	struct err err = ERR_INIT;
	bool write = strcmp(key, "write") == 0;
	const char *why = NULL;

	/* as it is started: the grant could hide its package */
	if (write && gate_explain(known->gate, &request, f->arena, &own,
				  ERR_IGNORED) == 0)
		why = gate_code_refusal(&own, request.cwd, value);
	if (why)
		return why;
	list_add(write ? &more.write : &more.read, f->arena, value);
	gate_policy_merge(request.policy, &more, f->arena, &more);
	request.policy = &more;
	if (gate_explain(known->gate, &request, f->arena, &own, &err) < 0)
		return arena_printf(f->arena, "cannot be granted: %s", err.msg);
	return NULL;
}

static void judge_file(struct finder *f, enum said_kind kind,
		       struct refused_file *file)
{
	const struct gate_policy *p = f->known->request->policy;
	bool is_there = access(file->path, F_OK) == 0;
	/* a file that is not there can only have been made */
	bool write = kind == SAID_WRITE ||
		     path_is_beneath(file->path, &p->read) ||
		     (kind == SAID_ACCESS && !is_there);
	const char *key = write ? "write" : "read", *folder;
	struct stat st;

	file->value = file->path;
	/* the folder that the program was told to work on */
	folder = write ? NULL : folder_named(f, file->path);
	if (folder && !gate_secrets_in(f->known->gate, folder, f->arena))
		file->value = folder;
	/* a folder for writing: programs mostly write more than one file */
	if (write && (stat(file->path, &st) < 0 || !S_ISDIR(st.st_mode)))
		file->value = dirname(arena_strdup(f->arena, file->path));
	if (path_is_beneath(file->path, &p->write))
		file->why = "is granted, but its permissions or file system "
			    "refuse it";
	else if (!is_meant(f, file->path))
		file->why = "is not granted";
	else
		file->why = refusal_of(f, key, file->value);
	file->key = file->why ? NULL : key;
}

/* Find the file that words of a failed program name. False: there is none. */
static bool find_file(struct finder *f, struct refused_file *ret)
{
	struct said_refusal r = said_refusal(f->known->said);
	const struct gate_policy *p = f->known->request->policy;
	struct refused_file file = {.path = ""};
	bool is_there;

	if (!r.kind || r.kind == SAID_DOWNLOAD)
		return false;
	if (r.path.p)
		file.path = real_of(f, r.path);
	is_there = access(file.path, F_OK) == 0;
	if (r.kind == SAID_MISSING && file.path[0] == '/' && !is_there &&
	    is_brief(f->known)) {
		*ret = (struct refused_file){.path = file.path,
					     .why = "is not there"};
		f->is_absent = true;
		return true;
	}
	/* words that look like a path are none, unless its folder is there */
	if ((r.kind == SAID_ACCESS && is_own_file(f, file.path)) ||
	    (!is_there &&
	     access(dirname(arena_strdup(f->arena, file.path)), F_OK) < 0))
		file.path = "";
	/* a file that does not exist, or is granted, needs no grant */
	if (r.kind == SAID_MISSING &&
	    (!*file.path || !is_there || path_is_beneath(file.path, &p->read) ||
	     path_is_beneath(file.path, &p->write)))
		return false;
	if (*file.path)
		judge_file(f, r.kind, &file);
	*ret = file;
	return true;
}

/* ---- settings ---- */

/* Would a configuration take a name of the program's for a variable? */
static bool is_replaced(const struct strlist *values)
{
	for (size_t i = 0; i < values->n; i++)
		if (strstr(values->item[i], "${"))
			return true;
	return false;
}

/* Characters that a shell reads otherwise. */
static const char shell_marks[] = " \t\n'\"\\$`*?[]{}()<>|&;~#!";

/* Append a word of a command line, quoted where a shell would split it. */
static void add_word(struct buf *out, const char *s)
{
	if (*s && !strpbrk(s, shell_marks)) {
		buf_adds(out, s);
		return;
	}
	buf_addc(out, '\'');
	for (; *s; s++)
		buf_adds(out, *s == '\'' ? "'\\''" : (char[]){*s, 0});
	buf_addc(out, '\'');
}

/* Does a value stand alone, in place of a list? */
static bool is_alone(const char *key, const char *value)
{
	return (strcmp(key, "net") == 0 && gate_net_is_word(value)) ||
	       (strcmp(key, "unix") == 0 && gate_unix_is_word(value));
}

/* Values of a key in the table that a setting is for. */
static struct strlist values_there(const struct finder *f, const char *key)
{
	const struct gate_policy *own = f->known->own;
	const struct key *k = NULL;

	do
		k = own ? key_next(SECTION_sandbox, k) : NULL;
	while (k && strcmp(k->name, key) != 0);
	return k ? key_values(k, own, f->arena) : (struct strlist){NULL, 0};
}

static const char *as_written(const struct finder *f, const char *value)
{
	const struct expansion *e =
		f->known->config ? f->known->config->expansions : NULL;

	while (e && *e->slot != value)
		e = e->next;
	return e ? e->written : value;
}

/* The line holds the values of one that is there, too: a key stands once. */
static void add_toml(const struct finder *f, const struct piece *p,
		     struct buf *out)
{
	const struct strlist there = values_there(f, p->key);
	struct edit_row row = {.is_word = p->values.n == 1 &&
					  is_alone(p->key, p->values.item[0])};

	for (size_t i = 0; i < there.n && !row.is_word; i++)
		if (!is_alone(p->key, there.item[i]))
			list_add_new(&row.values, f->arena,
				     as_written(f, there.item[i]));
	for (size_t i = 0; i < p->values.n; i++)
		list_add_new(&row.values, f->arena, p->values.item[i]);
	buf_addf(out, "sandbox.%s = ", p->key);
	edit_add_value(out, &row);
	buf_adds(out, there.n ? " # in place of the row that is there" : "");
}

static const char *setting_of(const struct finder *f, const struct piece *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (f->known->form == ADVICE_TOML)
		add_toml(f, p, &out);
	for (size_t i = 0; f->known->form == ADVICE_OPTION && i < p->values.n;
	     i++) {
		buf_addf(&out, "%s--%s ", i ? " " : "", p->key);
		add_word(&out, p->values.item[i]);
	}
	return arena_strdup(f->arena, buf_cstr(&out));
}

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

static struct piece *find_piece(struct finder *f, const char *key)
{
	for (size_t i = 0; key && i < f->n; i++)
		if (f->piece[i].key && strcmp(f->piece[i].key, key) == 0)
			return &f->piece[i];
	return NULL;
}

/* Add a piece, or join it to the one of its key: a line stands once. */
static void add_piece(struct finder *f, const char *text, const char *key,
		      const struct strlist *values)
{
	struct piece *p = find_piece(f, key);

	if (p) {
		p->text = arena_printf(f->arena, "%s; %s", p->text, text);
	} else {
		f->piece =
			arena_grow(f->arena, f->piece, f->n, sizeof(*f->piece));
		p = &f->piece[f->n++];
		*p = (struct piece){.text = text, .key = key};
	}
	for (size_t i = 0; key && i < values->n; i++)
		list_add_new(&p->values, f->arena, values->item[i]);
}

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
	add_piece(f, arena_strdup(f->arena, buf_cstr(&text)), key, &values);
}

static void add_denials(struct finder *f)
{
	/* rules of a person's own have no key */
	static const char *const keys[] = {NULL,  "exec", "preset",
					   "net", "unix", "syscalls"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		add_key(f, keys[i]);
}

static void add_file(struct finder *f)
{
	const struct advice_known *known = f->known;
	struct refused_file file;
	bool is_refused;

	if (!known->gate || (!known->failed && known->is_server) ||
	    !find_file(f, &file))
		return;
	/* words of one that succeeded count where we may do it ourselves */
	is_refused =
		*file.path && file.key &&
		(known->failed ||
		 access(file.value,
			strcmp(file.key, "write") == 0 ? W_OK : R_OK) == 0);
	f->is_refused |= is_refused;
	f->has_unnamed = known->failed && !*file.path;
	if (is_refused)
		add_piece(f,
			  arena_printf(f->arena,
				       "denied: %s %s, which lies in no folder "
				       "granted for it",
				       file.key, file.path),
			  file.key, &(struct strlist){&file.value, 1});
	else if (known->failed && *file.path)
		add_piece(f,
			  arena_printf(f->arena, "%s %s", file.path, file.why),
			  NULL, NULL);
}

/* Services that are down: no fault of the policy, and no row helps. */
static void add_unreached(struct finder *f)
{
	const struct strlist *names = &f->known->verdict->unreached;

	for (size_t i = 0; i < names->n; i++)
		add_piece(f, arena_strdup(f->arena, names->item[i]), NULL,
			  NULL);
}

/* Name an argument that only a shell would have read as a path. */
static void add_tilde(struct finder *f)
{
	const struct gate_request *r = f->known->request;

	for (size_t i = 1;
	     f->known->failed && r && r->argv && r->argv[0] && r->argv[i];
	     i++) {
		const char *word = r->argv[i];

		if (word[0] != '~' || (word[1] && word[1] != '/'))
			continue;
		add_piece(f,
			  arena_printf(f->arena,
				       "%s was passed on as it is, since no "
				       "shell reads it: write the whole path",
				       word),
			  NULL, NULL);
		return;
	}
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
			judge_file(f, SAID_MISSING, &file);
			if (file.key && strcmp(file.key, "read") == 0)
				list_add_new(&values, f->arena, file.path);
		}
	}
	if (!values.n)
		return;
	add_piece(f,
		  arena_printf(f->arena,
			       "a refused program was to read %s%s, which lies "
			       "in no folder granted for it",
			       values.item[0],
			       values.n > 1 ? " and other files" : ""),
		  "read", &values);
}

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
static void add_named(struct finder *f, struct named *n, const char *word)
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
	real = real_of(f, parent);
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    strcmp(real, n->folder) == 0 || !is_at(n->folder, real) ||
	    gate_is_secret(f->known->gate, real) ||
	    gate_secrets_in(f->known->gate, real, f->arena))
		return;
	list_add_new(is_there ? &n->read : &n->write, f->arena,
		     n->is_dot ? path : real);
}

/* Files of the folder that the program looked for, as they are written. */
static struct strlist looked_for(struct finder *f, const char *folder,
				 bool is_dot)
{
	const struct strlist *all = &f->known->verdict->unseen.paths;
	const struct piece *read = find_piece(f, "read");
	struct strlist list = {NULL, 0};

	for (size_t i = 0; i < all->n; i++)
		if (place_covers(folder, all->item[i]) &&
		    !(read && list_has(&read->values, all->item[i])))
			list_add(&list, f->arena,
				 is_dot ? all->item[i] + strlen(folder) + 1
					: all->item[i]);
	return list;
}

/* Does the folder have an entry that the program would have listed? */
static bool has_unseen(struct finder *f, const char *folder)
{
	const struct gate_policy *p = f->known->request->policy;
	DIR *dir = opendir(folder);
	const struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		const char *path =
			arena_printf(f->arena, "%s/%s", folder, e->d_name);

		found = strcmp(e->d_name, ".") != 0 &&
			strcmp(e->d_name, "..") != 0 &&
			!(p && (path_is_beneath(path, &p->read) ||
				path_is_beneath(path, &p->write)));
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Paths that arguments name: where nothing else tells what is missing. */
static struct named find_named(struct finder *f, const char *folder,
			       bool is_dot)
{
	const struct gate_request *r = f->known->request;
	struct named named = {.folder = folder, .is_dot = is_dot};

	for (size_t i = 1; f->known->gate && r->argv[0] && r->argv[i]; i++)
		if (r->argv[i][0] != '/' && r->argv[i][0] != '-')
			add_named(f, &named, r->argv[i]);
	return named;
}

/*
 * Name the private folder, and what was missed there: single files, or the
 * whole folder where it was listed or written into.
 *
 * names  what was written into it; NULL: nothing
 */
static void add_folder(struct finder *f, const char *folder, bool is_dot,
		       const char *names, bool is_listed)
{
	const char *shown = is_dot ? "." : folder;
	struct strlist looked = looked_for(f, folder, is_dot);
	struct named named = {.folder = folder};
	const char *text = arena_printf(
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
		add_piece(f, text, "read",
			  is_listed ? &(struct strlist){&shown, 1} : &looked);
		return;
	}
	if (!names)
		named = find_named(f, folder, is_dot);
	if (named.read.n)
		add_piece(f, text, "read", &named.read);
	if (named.write.n)
		add_piece(f,
			  named.read.n ? "a file that an argument names is "
					 "missing"
				       : text,
			  "write", &named.write);
	if (!named.read.n && !named.write.n)
		add_piece(f, text, names ? "write" : "read",
			  &(struct strlist){&shown, 1});
}

/* Name what went with a private HOME. Its folders can be granted once they are
   there; a file of HOME itself cannot. */
static void add_lost(struct finder *f, const char *names)
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
	add_piece(f,
		  arena_printf(f->arena,
			       "%s; %slet it write into a folder that is "
			       "granted",
			       names, missing),
		  folders.n ? "write" : NULL, folders.n ? &folders : NULL);
}

/* Name files that went with a private folder, and those that were looked for
   in it; without any, the folder alone where a program says that it missed a
   file. */
static void add_dropped(struct finder *f)
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
	/* exec has said so before the start */
	if (!folder || !r || r->cwd_said)
		return;
	is_listed = known->verdict->unseen.is_listed && has_unseen(f, folder);
	if (!(names || is_listed || looked_for(f, folder, false).n ||
	      known->all ||
	      (known->failed && !known->is_server && said.kind &&
	       !is_absolute)))
		return;
	/* a path of the configuration begins in its folder */
	add_folder(f, folder,
		   known->form == ADVICE_TOML
			   ? !r->cwd_required
			   : !strcmp(folder, path_resolve(".", NULL, f->arena)),
		   names, is_listed);
}

/* Name files outside of that folder that were looked for. */
static void add_looked_for(struct finder *f)
{
	const struct gate_verdict *v = f->known->verdict;
	const struct piece *read = find_piece(f, "read");
	struct strlist values = {NULL, 0};
	const char *text = "denied: read ";

	for (size_t i = 0; i < v->unseen.paths.n; i++) {
		const char *path = v->unseen.paths.item[i];

		if ((v->dropped.folder &&
		     place_covers(v->dropped.folder, path)) ||
		    (read && list_has(&read->values, path)))
			continue;
		text = arena_printf(f->arena, "%s%s%s", text,
				    values.n ? ", " : "", path);
		list_add(&values, f->arena, path);
	}
	if (!values.n && v->unseen.home && has_unseen(f, v->unseen.home)) {
		f->is_refused = true;
		add_piece(f,
			  "listed a private, empty HOME; grant what it needs "
			  "there, as in sandbox.read = [\"~/NAME\"]",
			  NULL, NULL);
	}
	f->is_refused |= values.n != 0;
	if (values.n)
		add_piece(f,
			  arena_printf(f->arena,
				       "%s, which no row of read grants", text),
			  "read", &values);
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

	if (!known->failed || !known->gate || r.kind != SAID_MISSING)
		return false;
	if (!r.path.p)
		return true;
	path = real_of(f, r.path);
	return !list_has(named(f), path) &&
	       !path_is_beneath(path, &known->request->policy->read) &&
	       !path_is_beneath(path, &known->request->policy->write);
}

/* The whole table at once: a refused program hides what it would need. */
static void add_trace(struct finder *f)
{
	const struct gate_verdict *v = f->known->verdict;
	size_t n_unreached = v ? v->unreached.n : 0;

	if (f->has_unnamed && !f->n)
		add_piece(f,
			  "the program says that it was refused a file, and "
			  "does not name it",
			  NULL, NULL);
	if (f->known->trace && !f->is_absent &&
	    (f->n > n_unreached || lacks_file(f)))
		add_piece(f, advice_trace(f->known->trace, f->arena), NULL,
			  NULL);
}

/*
 * Is a folder of the piece one that no line should open, because keys or HOME
 * lie in it? A program chooses what it lists, and what it says was missing.
 */
static bool opens_too_much(const struct finder *f, const struct piece *p)
{
	const struct advice_known *known = f->known;
	const char *from =
		known->verdict ? known->verdict->dropped.folder : NULL;

	if (!known->gate || !p->key ||
	    (strcmp(p->key, "read") != 0 && strcmp(p->key, "write") != 0))
		return false;
	for (size_t i = 0; i < p->values.n; i++) {
		const char *path =
			path_resolve(p->values.item[i], from, f->arena);
		const char *home;

		if (gate_is_secret(known->gate, path) ||
		    gate_secrets_in(known->gate, path, f->arena))
			return true;
		for (unsigned k = 0; k < PATH_HOMES; k++) {
			home = path_own_home(k);
			if (home && place_covers(path, home))
				return true;
		}
	}
	return false;
}

static struct advice_list written(const struct finder *f)
{
	struct advice_list list = {.n = f->n, .is_refused = f->is_refused};

	list.item = ARENA_ARRAY(f->arena, struct advice, f->n);
	for (size_t i = 0; i < f->n; i++) {
		const struct piece *p = &f->piece[i];

		list.item[i].text = p->text;
		if (opens_too_much(f, p)) {
			list.item[i].text = arena_printf(
				f->arena,
				"%s; HOME or keys lie in there, so grant what "
				"it needs of it, not all",
				p->text);
			continue;
		}
		list.item[i].setting =
			p->key && (f->known->form != ADVICE_TOML ||
				   !is_replaced(&p->values))
				? setting_of(f, p)
				: NULL;
	}
	return list;
}

struct advice_list advice_find(const struct advice_known *known,
			       struct arena *arena)
{
	struct finder f = {.known = known, .arena = arena};

	if (known->failed && said_refusal(known->said).kind == SAID_DOWNLOAD) {
		add_piece(&f, advice_download, NULL, NULL);
		return written(&f);
	}
	if (known->form == ADVICE_TOML)
		add_tilde(&f);
	if (known->verdict)
		add_denials(&f);
	if (known->verdict)
		add_unreached(&f);
	add_file(&f);
	if (known->verdict && known->gate && !known->is_server)
		add_arguments(&f);
	if (known->verdict) {
		add_looked_for(&f);
		add_dropped(&f);
	}
	add_trace(&f);
	return written(&f);
}

const char *advice_line(const struct advice *a, struct arena *arena)
{
	return a->setting ? arena_printf(arena, "%s; to allow it: %s", a->text,
					 a->setting)
			  : a->text;
}

/* ---- commands ---- */

/* Longest command in a hint. */
#define COMMAND_BYTES 60
/* Longest word of one that is written out: a script is none to paste. */
#define WORD_BYTES 256

const char advice_download[] =
	"npm has no network, and found no package that it needs in what it may "
	"read; where it is installed, grant its folder: --read PATH; to "
	"install "
	"it, with the host that `npm config get registry` prints: matins exec "
	"--preset npm --write . --net HOST -- npm install PACKAGE";

const char *advice_command(const struct gate_request *request,
			   struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t from;

	buf_adds(&out, "matins trace -- ");
	from = out.n;
	for (size_t i = 0; request->argv[i]; i++) {
		const char *word = request->argv[i];

		if (i && (out.n - from + strlen(word) > COMMAND_BYTES ||
			  strpbrk(word, shell_marks))) {
			buf_adds(&out, " …");
			break;
		}
		buf_addf(&out, "%s%s", i ? " " : "", word);
	}
	return arena_strdup(arena, buf_cstr(&out));
}

const char *advice_words(const struct gate_request *request,
			 struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, " --");
	for (size_t i = 0; request->argv[i]; i++) {
		if (strlen(request->argv[i]) > WORD_BYTES ||
		    strchr(request->argv[i], '\n')) {
			buf_adds(&out, " …");
			break;
		}
		buf_addc(&out, ' ');
		add_word(&out, request->argv[i]);
	}
	return arena_strdup(arena, buf_cstr(&out));
}

const char *advice_about(const struct config *config, const char *verb,
			 const char *words, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *home = path_own_home(0), *file = config->named;
	char real[PATH_MAX];

	buf_addf(&out, "matins %s ", verb);
	if (file)
		buf_adds(&out, "-c ");
	/* a shell expands no `~` in quotes */
	if (file && home && realpath(home, real) && strcmp(real, "/") != 0 &&
	    place_covers(real, file)) {
		buf_addc(&out, '~');
		file += strlen(real);
	}
	if (file)
		add_word(&out, file);
	buf_addf(&out, "%s%s", file ? " " : "", words);
	return arena_strdup(arena, buf_cstr(&out));
}

const char *advice_trace(const char *command, struct arena *arena)
{
	return arena_printf(arena, "to find everything that it needs: %s",
			    command);
}
