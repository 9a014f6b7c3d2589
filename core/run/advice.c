#include "core/run/advice.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/client/said.h"
#include "core/config/paths.h"
#include "core/run/advice_command.h"
#include "core/run/advice_piece.h"
#include "core/run/refused_file.h"
#include "core/run/unseen.h"

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
	piece_add(&f->pieces, arena_strdup(f->arena, buf_cstr(&text)), key,
		  &values);
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
	    !file_find(&f->files, &file))
		return;
	f->is_final = file.is_final;
	/* words of one that succeeded count where we may do it ourselves */
	is_refused = *file.path && file.counts &&
		     (known->failed ||
		      access(file.value, file.write ? W_OK : R_OK) == 0);
	f->is_refused |= is_refused;
	f->has_unnamed = known->failed && !*file.path;
	if (is_refused && file.key)
		piece_add(&f->pieces,
			  arena_printf(f->arena,
				       "denied: %s %s, which lies in no folder "
				       "granted for it",
				       file.key, file.path),
			  file.key, &(struct strlist){&file.value, 1});
	else if (is_refused || (known->failed && *file.path))
		piece_add(&f->pieces,
			  arena_printf(f->arena, "%s %s", file.path, file.why),
			  NULL, NULL);
}

/* Name the folder of a module, as far as a grant of it can be advised. */
static void add_module_folder(struct finder *f, const struct missing_module *m)
{
	struct refused_file file = {.path = m->folder};
	const char *value = m->folder, *cwd = f->known->request->cwd;

	file_judge(&f->files, SAID_MISSING, &file);
	if (cwd && strcmp(value, cwd) == 0 && file_is_start(&f->files, value))
		value = ".";
	piece_add(&f->pieces,
		  arena_printf(f->arena,
			       "module %s lies in %s, which is not granted%s%s",
			       m->name, m->folder,
			       m->is_unsearched
				       ? ", and where python looks only with "
					 "PYTHONPATH="
				       : "",
			       m->is_unsearched ? m->folder : ""),
		  file.key, &(struct strlist){&value, 1});
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
		piece_add(&f->pieces,
			  arena_printf(f->arena,
				       "module %s is installed for %s: start "
				       "that one",
				       m.name, m.python),
			  NULL, NULL);
	else
		piece_add(&f->pieces,
			  arena_printf(f->arena,
				       "module %s is not installed: pip "
				       "install %s, if its package has that "
				       "name",
				       m.name, m.name),
			  NULL, NULL);
}

/* Services that are down: no fault of the policy, and no row helps. */
static void add_unreached(struct finder *f)
{
	const struct strlist *names = &f->known->verdict->unreached;

	for (size_t i = 0; i < names->n; i++)
		piece_add(&f->pieces, arena_strdup(f->arena, names->item[i]),
			  NULL, NULL);
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
	piece_add(&f->pieces,
		  arena_printf(f->arena,
			       "%s was passed on as it is, since no shell "
			       "reads it: %s",
			       word, what),
		  NULL, NULL);
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
		piece_add(
			&f->pieces,
			arena_printf(f->arena,
				     "argument %zu is the value of a "
				     "reference, and the program takes it for "
				     "the name of a file",
				     nth),
			NULL, NULL);
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
	piece_add(&f->pieces,
		  arena_printf(f->arena,
			       "a refused program was to read %s%s, which lies "
			       "in no folder granted for it",
			       values.item[0],
			       values.n > 1 ? " and other files" : ""),
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
		piece_add(&f->pieces,
			  "the program says that it was refused a file, and "
			  "does not name it",
			  NULL, NULL);
	if ((k->trace || k->trace_of) && !f->is_final &&
	    (f->pieces.n > n_unreached || lacks_file(f)))
		piece_add(
			&f->pieces,
			advice_trace(k->trace ? k->trace
					      : advice_about(k->config, "trace",
							     k->trace_of,
							     f->arena),
				     f->arena),
			NULL, NULL);
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
		piece_add(&f.pieces, advice_download, NULL, NULL);
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

const char *advice_line(const struct advice *a, struct arena *arena)
{
	return a->setting ? arena_printf(arena, "%s; to allow it: %s", a->text,
					 a->setting)
			  : a->text;
}
