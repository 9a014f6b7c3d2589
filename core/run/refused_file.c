#include "core/run/refused_file.h"

#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"
#include "core/config/paths.h"

/* Bytes of a script that a person wrote: more is none. */
#define SCRIPT_BYTES (64 * 1024)
/* Folders above a missing file in which one that is there is looked for. */
#define ABOVE_MAX 32

const char *file_real(const struct file_finder *f, struct str path)
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

const struct strlist *file_named(struct file_finder *f)
{
	const char *const *argv = f->known->request->argv;

	if (f->named.n)
		return &f->named;
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		const char *real =
			argv[i][0] == '-' ? "" : file_real(f, str_of(argv[i]));

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
static const char *folder_named(struct file_finder *f, const char *path)
{
	const struct strlist *list = file_named(f);
	struct stat st;

	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->item[i], "/") != 0 &&
		    is_at(list->item[i], path) &&
		    stat(list->item[i], &st) == 0 && S_ISDIR(st.st_mode))
			return list->item[i];
	return NULL;
}

bool file_holds_secrets(const struct gate *gate, const char *path,
			struct arena *arena)
{
	if (gate_is_secret(gate, path) || gate_secrets_in(gate, path, arena))
		return true;
	for (unsigned i = 0; i < PATH_HOMES; i++) {
		const char *home = path_own_home(i);

		if (home && place_covers(path, home))
			return true;
	}
	return false;
}

/* Is it below a working folder of a project: none such as /tmp or HOME? */
static bool is_in_project(const struct file_finder *f, const char *path)
{
	const char *folder[] = {path_resolve(".", NULL, f->arena),
				f->known->request->cwd};

	for (size_t i = 0; i < ARRAY_LEN(folder); i++)
		if (folder[i] && strrchr(folder[i], '/') != folder[i] &&
		    is_at(folder[i], path) &&
		    !file_holds_secrets(f->known->gate, folder[i], f->arena))
			return true;
	return false;
}

bool file_is_start(const struct file_finder *f, const char *folder)
{
	return f->known->form == ADVICE_TOML
		       ? !f->known->request->cwd_required
		       : !strcmp(folder, path_resolve(".", NULL, f->arena));
}

size_t file_of_data(const struct file_finder *f)
{
	const bool *from_data = f->known->request->from_data;
	const char *const *argv = f->known->given;

	for (size_t i = 1; from_data && argv && argv[i]; i++) {
		size_t n = strcspn(argv[i], "\n");

		if (from_data[i] && n &&
		    memmem(f->known->said.p, f->known->said.n, argv[i], n))
			return i;
	}
	return 0;
}

/* Add the paths that words of the person name. */
static void add_said(struct file_finder *f, struct str text)
{
	struct strlist paths = gate_path_words(text, f->arena);

	for (size_t i = 0; i < paths.n; i++)
		list_add(&f->said, f->arena,
			 file_real(f, str_of(paths.item[i])));
}

/* The script of a step is the person's; that of a server is not. */
static void add_script(struct file_finder *f)
{
	AUTO(buf_release) struct buf text = BUF_INIT(SCRIPT_BYTES);
	struct gate_explained own;
	const char *script;

	if (f->known->is_server ||
	    gate_explain(f->known->gate, f->known->request, f->arena, &own,
			 ERR_IGNORED) < 0)
		return;
	script = own.script	   ? file_real(f, str_of(own.script))
		 : own.interpreter ? own.program
				   : NULL;
	if (script && fd_read_regular(script, &text, ERR_IGNORED) == 0)
		add_said(f, buf_str(&text));
}

/* Paths in words of the person: of arguments, params, variables and the script
   of a step; resolved, the last one empty. */
static const struct strlist *file_said(struct file_finder *f)
{
	const struct gate_request *r = f->known->request;

	if (f->said.n)
		return &f->said;
	for (size_t i = 1; r->argv[0] && r->argv[i]; i++)
		add_said(f, str_of(r->argv[i]));
	for (size_t i = 0; r->env && r->env[i]; i++)
		add_said(f, str_of(r->env[i]));
	add_said(f, f->known->asked);
	add_script(f);
	list_add(&f->said, f->arena, "");
	return &f->said;
}

/* Digits of the names that libraries make up: more than those of a date. */
#define DRAFT_DIGITS 9

/*
 * Is it a draft of a file that the person names: "a.json.x1.tmp",
 * "a.json.1234567890"? A program makes it and puts it in the place of the file,
 * so where it is missing it could not be made.
 */
static bool is_draft(struct file_finder *f, const char *path)
{
	const struct strlist *list = file_said(f);

	for (size_t i = 0; i < list->n; i++) {
		size_t n = strlen(list->item[i]);
		const char *more = path + n;

		if (n > 1 && strncmp(path, list->item[i], n) == 0 &&
		    !strchr(more, '/') &&
		    (strstr(more, "tmp") ||
		     (more[0] == '.' &&
		      strspn(more + 1, "0123456789") >= DRAFT_DIGITS)))
			return true;
	}
	return false;
}

/* Does the person name the path, or a folder above it? A program may say what
   it likes. */
static bool is_meant(struct file_finder *f, const char *path)
{
	return is_brief(f->known) || list_has(file_named(f), path) ||
	       folder_named(f, path) || place_around(file_said(f), path) ||
	       is_draft(f, path) ||
	       (!advice_is_of_data(f->known) && is_in_project(f, path));
}

/* Is it a key, or a hidden file that a server would like to have? */
static bool is_closed(const struct file_finder *f, const char *path)
{
	return gate_is_secret(f->known->gate, path) ||
	       (f->known->is_server && !is_brief(f->known) &&
		strstr(path, "/."));
}

/*
 * Shells begin with the name of the script: "./run: 2: cat: Permission
 * denied". It is granted, and no clue.
 */
static bool is_own_file(struct file_finder *f, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (list_has(file_named(f), path) ||
		is_at(f->known->request->program, path));
}

/* Explain the request with one more grant; key NULL: with none. */
static int explain_with(const struct file_finder *f, const char *key,
			const char *value, struct gate_explained *ret,
			struct err *err)
{
	struct gate_policy more = {.profile = NULL};
	struct gate_request request = *f->known->request;

	if (key)
		list_add(strcmp(key, "write") == 0 ? &more.write : &more.read,
			 f->arena, value);
	gate_policy_merge(request.policy, &more, f->arena, &more);
	request.policy = &more;
	return gate_explain(f->known->gate, &request, f->arena, ret, err);
}

const char *file_refusal(const struct file_finder *f, const char *key,
			 const char *value)
{
	struct gate_explained own;
	struct err err = ERR_INIT;
	const char *why = NULL;

	/* as it is started: the grant could hide its package */
	if (strcmp(key, "write") == 0 &&
	    explain_with(f, NULL, NULL, &own, ERR_IGNORED) == 0)
		why = gate_code_refusal(&own, f->known->request->cwd, value);
	if (why)
		return why;
	if (explain_with(f, key, value, &own, &err) < 0)
		return arena_printf(f->arena, "cannot be granted: %s", err.msg);
	return NULL;
}

/* Reason why a file of a writable grant stays as it is; NULL: it does not. */
static const char *protection_of(const struct file_finder *f, const char *path)
{
	struct gate_explained own;

	if (explain_with(f, NULL, NULL, &own, ERR_IGNORED) < 0 ||
	    !place_around(&own.protect, path))
		return NULL;
	return explain_with(f, "write", path, &own, ERR_IGNORED) < 0 ||
			       place_around(&own.protect, path)
		       ? "is never writable for a program, because matins "
			 "starts what it says; let it write another file"
		       : "stays as it is in a folder that is granted, because "
			 "other programs start what it says; where that is "
			 "meant, add the file itself to sandbox.write";
}

/* Does it lie with the files of installed servers, which a program may never
   write? */
static bool is_installed(const struct file_finder *f, const char *path)
{
	const char *servers = state_dir_servers(f->arena);

	return servers && place_covers(file_real(f, str_of(servers)), path);
}

void file_judge(struct file_finder *f, enum said_kind kind,
		struct refused_file *file)
{
	const struct gate_policy *p = f->known->request->policy;
	bool is_there = access(file->path, F_OK) == 0;
	/* a file that is not there can only have been made */
	bool write = kind == SAID_WRITE || kind == SAID_BUSY ||
		     path_is_beneath(file->path, &p->read) ||
		     (kind == SAID_ACCESS && !is_there);
	const char *key = write ? "write" : "read", *folder;
	bool is_row = is_meant(f, file->path);
	struct stat st;

	file->write = write;
	file->value = file->path;
	/* the folder that the program was told to work on */
	folder = write ? NULL : folder_named(f, file->path);
	if (folder && !gate_secrets_in(f->known->gate, folder, f->arena))
		file->value = folder;
	/* a folder for writing: programs mostly write more than one file */
	if (write && (stat(file->path, &st) < 0 || !S_ISDIR(st.st_mode)))
		file->value = dirname(arena_strdup(f->arena, file->path));
	/* the folder may hold what no line opens: HOME, keys, the code */
	if (write && is_there && is_row &&
	    (file_refusal(f, key, file->value) ||
	     file_holds_secrets(f->known->gate, file->value, f->arena)))
		file->value = file->path;
	/* in the folder, a name can be replaced: not that of a single grant */
	if (path_is_beneath(kind == SAID_BUSY ? file->value : file->path,
			    &p->write)) {
		file->why = protection_of(f, file->path);
		file->is_final = file->why != NULL;
		if (!file->why)
			file->why = "is granted, but its permissions or file "
				    "system refuse it";
	} else if (write && is_installed(f, file->path)) {
		file->is_final = true;
		file->why = "lies with the files of an installed server, which "
			    "are never written: give it another place (its env "
			    "or args, and sandbox.write)";
	} else if (is_closed(f, file->path) || (f->known->is_server && !is_row))
		file->why = "is not granted";
	else
		file->why = file_refusal(f, key, file->value);
	file->counts = !file->why;
	if (!is_row && !file->why)
		file->why = "is not granted";
	file->key = file->why ? NULL : key;
}

/* Files that a list of a sentence names. */
#define KEPT_SHOWN 4

/* The file of an argument that a program replaces by another one beside it. */
static const char *beside_named(struct file_finder *f, const char *path)
{
	const struct strlist *list = file_named(f);
	size_t n = (size_t)(strrchr(path, '/') - path) + 1;

	for (size_t i = 0; i < list->n; i++)
		if (strncmp(list->item[i], path, n) == 0 &&
		    !strchr(list->item[i] + n, '/'))
			return list->item[i];
	return path;
}

/* The one file that arguments name, where words about a write name none. */
static const char *only_file(struct file_finder *f)
{
	const struct strlist *list = file_named(f);
	const char *path = "";
	struct stat st;

	for (size_t i = 0; i < list->n; i++) {
		if (!*list->item[i] || stat(list->item[i], &st) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (*path)
			return "";
		path = list->item[i];
	}
	return path;
}

/* Find what a program could not replace: a file that stays as it is, or, where
   it names another one, the files that do. */
static bool find_busy(struct file_finder *f, struct refused_file *file)
{
	const struct gate_policy *p = f->known->request->policy;
	struct gate_explained own;
	struct strlist kept = {NULL, 0};
	const char *all = "", *folder;

	file->is_final = true;
	file->why = *file->path ? protection_of(f, file->path) : NULL;
	if (file->why)
		return true;
	/* a file that is granted by itself stays where it is */
	folder = dirname(arena_strdup(f->arena, file->path));
	if (*file->path && !path_is_beneath(folder, &p->write)) {
		file->path = beside_named(f, file->path);
		file->is_final = false;
		file_judge(f, SAID_BUSY, file);
		return true;
	}
	if (explain_with(f, NULL, NULL, &own, ERR_IGNORED) < 0)
		return false;
	for (size_t i = 0; i < own.protect.n && kept.n < KEPT_SHOWN; i++)
		if (path_is_beneath(own.protect.item[i], &p->write))
			list_add(&kept, f->arena, own.protect.item[i]);
	for (size_t i = 0; i < kept.n; i++)
		all = arena_printf(f->arena, "%s%s%s", all, i ? ", " : "",
				   kept.item[i]);
	file->path = all;
	file->why = "cannot be replaced by a program, because what it says is "
		    "run later";
	return kept.n;
}

/* Does the program only write the files that arguments name? */
static bool is_writer(const struct file_finder *f)
{
	return !strcmp(place_name(f->known->request->program), "tee");
}

/* ---- repositories ---- */

#define GITDIR "gitdir: "

/* Text of a small file without its last newline; NULL: it cannot be read. */
static const char *line_of(const struct file_finder *f, const char *path)
{
	AUTO(buf_release) struct buf text = BUF_INIT(PATH_MAX);
	struct str line;

	if (fd_read_regular(path, &text, ERR_IGNORED) < 0)
		return NULL;
	line = str_trim(buf_str(&text));
	return arena_strndup(f->arena, line.p, line.n);
}

static const char *beneath(const struct file_finder *f, const char *folder,
			   const char *path)
{
	char real[PATH_MAX];

	return realpath(path_resolve(path, folder, f->arena), real)
		       ? arena_strdup(f->arena, real)
		       : NULL;
}

/* The repository that a .git in a folder, or in one above it, leads to. */
static const char *repository_of(const struct file_finder *f, const char *start)
{
	char *folder = arena_strdup(f->arena, start);

	for (size_t n = 0; strlen(folder) > 1 && n < ABOVE_MAX; n++) {
		const char *git = arena_printf(f->arena, "%s/.git", folder);
		const char *text = line_of(f, git), *common;

		if (text && strncmp(text, GITDIR, strlen(GITDIR)) == 0) {
			git = beneath(f, folder, text + strlen(GITDIR));
			common = git ? line_of(f, arena_printf(f->arena,
							       "%s/commondir",
							       git))
				     : NULL;
			return common ? beneath(f, git, common) : git;
		}
		if (access(git, F_OK) == 0)
			return NULL;
		folder = dirname(folder);
	}
	return NULL;
}

const char *file_repository(struct file_finder *f)
{
	const char *cwd = f->known->request->cwd;
	const char *found = cwd ? repository_of(f, cwd) : NULL;
	const struct strlist *list = file_named(f);

	for (size_t i = 0; i < list->n && !found; i++)
		found = repository_of(f, list->item[i]);
	return found && !file_holds_secrets(f->known->gate, found, f->arena)
		       ? found
		       : NULL;
}

bool file_find(struct file_finder *f, struct refused_file *ret)
{
	struct said_refusal r = said_refusal(f->known->said);
	const struct gate_policy *p = f->known->request->policy;
	struct refused_file file = {.path = ""};
	bool is_there, is_granted;

	if (!r.kind || r.kind == SAID_DOWNLOAD || r.kind == SAID_MODULE)
		return false;
	if (r.path.p)
		file.path = file_real(f, r.path);
	else if (r.kind == SAID_WRITE && !f->known->is_server)
		file.path = only_file(f);
	is_there = access(file.path, F_OK) == 0;
	if (r.kind == SAID_MISSING && file.path[0] == '/' && !is_there &&
	    is_brief(f->known)) {
		*ret = (struct refused_file){.path = file.path,
					     .why = "is not there",
					     .is_final = true};
		return true;
	}
	/* words that look like a path are none, unless its folder is there */
	if ((r.kind == SAID_ACCESS && is_own_file(f, file.path)) ||
	    (!is_there &&
	     access(dirname(arena_strdup(f->arena, file.path)), F_OK) < 0))
		file.path = "";
	/* "sedQWERTY": with -i the draft of the file that is edited */
	if (r.kind == SAID_ACCESS && !is_there && strstr(file.path, "/sed")) {
		file.path = beside_named(f, file.path);
		r.kind = SAID_WRITE;
	}
	is_granted = path_is_beneath(file.path, &p->read) ||
		     path_is_beneath(file.path, &p->write);
	if (r.kind == SAID_MISSING && *file.path && !is_granted &&
	    (r.makes ||
	     (!is_there && (is_writer(f) || is_draft(f, file.path)))))
		r.kind = SAID_WRITE;
	/* a file that does not exist, or is granted, needs no grant */
	if (r.kind == SAID_MISSING && (!*file.path || !is_there || is_granted))
		return false;
	if (r.kind == SAID_BUSY && !find_busy(f, &file))
		return false;
	if (r.kind != SAID_BUSY && *file.path)
		file_judge(f, r.kind, &file);
	*ret = file;
	return true;
}

/* ---- modules of Python ---- */

/* Bytes of a script that may say where modules are. */
#define SCRIPT_BYTES (64 * 1024)

struct search {
	struct file_finder *f;
	struct gate_explained own;
	struct missing_module *ret;
};

static bool holds(const struct search *s, const char *folder)
{
	struct arena *arena = s->f->arena;
	const char *name = s->ret->name;

	return access(arena_printf(arena, "%s/%s.py", folder, name), F_OK) ==
		       0 ||
	       access(arena_printf(arena, "%s/%s/__init__.py", folder, name),
		      F_OK) == 0;
}

static bool is_granted(const struct search *s, const char *folder)
{
	for (size_t i = 0; i < s->own.n_grants; i++)
		if (s->own.grant[i].is_folder &&
		    place_covers(s->own.grant[i].path, folder))
			return true;
	return false;
}

/* Look into a folder: true where the search ends. */
static bool look_in(struct search *s, struct str path)
{
	const char *folder = path.n ? file_real(s->f, path) : "";

	if (!*folder || !holds(s, folder))
		return false;
	if (is_granted(s, folder))
		s->ret->is_elsewhere = true;
	else
		s->ret->folder = folder;
	return true;
}

static bool look_in_pythonpath(struct search *s)
{
	const char *const *env = s->f->known->request->env;
	static const char name[] = "PYTHONPATH=";

	for (; env && *env; env++) {
		struct str rest = str_of(*env);

		if (!str_starts(rest, name))
			continue;
		rest = str_skip(rest, strlen(name));
		while (rest.n)
			if (look_in(s, str_cut(&rest, ':')))
				return true;
	}
	return false;
}

static bool look_in_said(struct search *s)
{
	const struct strlist *said = file_said(s->f);

	for (size_t i = 0; i < said->n; i++)
		if (look_in(s, str_of(said->item[i])))
			return true;
	return false;
}

/* Look into the sites of an environment or of the user. */
static const char *site_of(struct search *s, const char *prefix)
{
	const char *found = NULL;
	glob_t g;

	if (glob(arena_printf(s->f->arena, "%s/lib/python3*/site-packages",
			      prefix),
		 0, NULL, &g) != 0)
		return NULL;
	for (size_t i = 0; i < g.gl_pathc && !found; i++)
		if (holds(s, g.gl_pathv[i]))
			found = arena_strdup(s->f->arena, g.gl_pathv[i]);
	globfree(&g);
	return found;
}

/* Look for another python, in the places where environments are made. */
static void look_in_environments(struct search *s)
{
	static const char *const names[] = {".venv", "venv", "env"};
	struct arena *arena = s->f->arena;
	const char *cwd = s->f->known->request->cwd;

	for (size_t i = 0; i < ARRAY_LEN(names) && cwd; i++) {
		const char *python =
			arena_printf(arena, "%s/%s/bin/python", cwd, names[i]);

		if (access(python, X_OK) < 0 ||
		    !site_of(s, arena_printf(arena, "%s/%s", cwd, names[i])))
			continue;
		s->ret->python = python;
		return;
	}
}

static bool has(struct str text, const char *words)
{
	return text.n && memmem(text.p, text.n, words, strlen(words));
}

/* Does the program change by itself where modules are looked for? */
static bool sets_path(struct search *s)
{
	AUTO(buf_release) struct buf text = BUF_INIT(SCRIPT_BYTES);
	const char *const *argv = s->f->known->request->argv;
	bool found = s->own.script &&
		     fd_read_regular(s->own.script, &text, ERR_IGNORED) == 0 &&
		     has(buf_str(&text), "sys.path");

	for (size_t i = 1; argv[0] && argv[i]; i++)
		found |= has(str_of(argv[i]), "sys.path");
	return found;
}

bool module_find(struct file_finder *f, struct missing_module *ret)
{
	const struct gate_request *r = f->known->request;
	struct search s = {.f = f, .ret = ret};
	struct str name = said_module(f->known->said);
	const char *home = path_own_home(0), *site;

	if (!name.p ||
	    gate_explain(f->known->gate, r, f->arena, &s.own, ERR_IGNORED) < 0)
		return false;
	*ret = (struct missing_module){
		.name = arena_strndup(f->arena, name.p, name.n)};
	if (look_in_pythonpath(&s) || look_in_said(&s))
		return true;
	if (r->cwd && look_in(&s, str_of(r->cwd))) {
		/* of a script its own folder is looked into instead */
		ret->is_unsearched = s.own.script;
		return true;
	}
	site = home ? site_of(&s, arena_printf(f->arena, "%s/.local", home))
		    : NULL;
	if (site && look_in(&s, str_of(site)))
		return true;
	look_in_environments(&s);
	ret->is_elsewhere = !ret->python && sets_path(&s);
	return true;
}
