/*
 * Policy of a trace: everything may be read but what is closed, so the
 * folders on the way to what is closed are granted entry by entry.
 */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "gate/prepare/own_paths.h"
#include "gate/prepare/parts.h"
#include "gate/prepare/private_files.h"
#include "core/base/place.h"
#include "gate/policy/allow.h"

/* Entries that are granted one by one: each takes a descriptor. */
#define TRACE_ENTRIES 700
/* Entries that are looked at for private files, all together. */
#define TRACE_LOOKED_AT 400000
/* And of one folder; /tmp of a busy machine has thousands. */
#define TRACE_FOLDER_ENTRIES 400

struct opener {
	struct gate *gate;
	struct closed closed;
	struct arena *arena;
	struct gate_policy *policy;
	struct strlist *says;
	const char *cwd;     /* as it really lies; NULL without */
	const char *project; /* .cwd, where it is narrow enough for one */
	size_t n;
	size_t budget; /* entries that may still be looked at */
};

/* Of a private place: others' files there come and go. */
static bool is_wanted(const struct opener *o, const char *path)
{
	const char *dir = resolve_dirname(path, o->arena);

	for (size_t i = 0; i < o->gate->n_places; i++) {
		const char *place = o->gate->place[i].path;

		if (strcmp(place, dir) == 0 &&
		    (!o->closed.home || strcmp(place, o->closed.home) != 0))
			return (o->cwd && place_covers(path, o->cwd)) ||
			       closed_is_beneath(&o->closed, path);
	}
	return true;
}

static void PRINTF(2, 3) say(struct opener *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	list_add(o->says, o->arena, arena_vprintf(o->arena, fmt, ap));
	va_end(ap);
}

/* A folder whose programs may run, as far as the leash goes. */
static void add_exec(struct opener *o, const char *path)
{
	if (allow_exec(&o->gate->config.leash, path, path, ERR_IGNORED) == 0)
		list_add_new(&o->policy->exec, o->arena,
			     arena_strdup(o->arena, path));
}

static void open_folder(struct opener *o, const char *path);

/* Files that the system installs are none of these, and are many. */
static const struct strlist system_dirs =
	STRLIST("/usr", "/sys", "/nix", "/snap");

/* Files that only their user may read are opened by nobody's leave. */
static void open_entry(struct opener *o, const char *path)
{
	bool in_project = o->project && place_covers(o->project, path);
	bool is_dir;
	struct stat st;

	if (closed_kind_of(&o->closed, path) != CLOSED_NOT ||
	    lstat(path, &st) < 0 ||
	    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) ||
	    (file_is_private(&st) && !in_project))
		return;
	is_dir = S_ISDIR(st.st_mode);
	if (is_dir && (closed_is_beneath(&o->closed, path) ||
		       (!in_project && !place_around(&system_dirs, path) &&
			folder_holds_private(path, o->project, &o->budget)))) {
		open_folder(o, path);
		return;
	}
	/* files that we cannot read are closed to the child */
	if (access(path, is_dir ? R_OK | X_OK : R_OK) < 0 ||
	    o->n >= TRACE_ENTRIES)
		return;
	o->n++;
	list_add_new(&o->policy->read, o->arena, arena_strdup(o->arena, path));
	/* compilers and servers start what lies beside them */
	if (is_dir)
		add_exec(o, path);
}

static void open_folder(struct opener *o, const char *path)
{
	struct strlist names = {NULL, 0};
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir)) && names.n <= TRACE_FOLDER_ENTRIES)
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0 &&
		    is_wanted(o,
			      arena_printf(o->arena, "%s/%s", path, e->d_name)))
			list_add(&names, o->arena,
				 arena_strdup(o->arena, e->d_name));
	if (dir)
		closedir(dir);
	if (names.n > TRACE_FOLDER_ENTRIES) {
		say(o,
		    "%s: not opened, it has more than %d entries; --read what "
		    "is needed of it",
		    path, TRACE_FOLDER_ENTRIES);
		return;
	}
	if (!o->budget) {
		say(o,
		    "%s: not opened, there is too much to look through for "
		    "files that only you may read (mode 0600); --read what is "
		    "needed of it",
		    path);
		return;
	}
	list_sort(&names);
	for (size_t i = 0; i < names.n; i++)
		open_entry(o, arena_printf(o->arena, "%s/%s",
					   strcmp(path, "/") ? path : "",
					   names.item[i]));
}

/* ---- programs ---- */

static void add_programs(struct opener *o, const char *dir)
{
	char real[PATH_MAX];

	/* "/" and the folders in it hold more than programs */
	if (realpath(dir, real) && strchr(real + 1, '/'))
		add_exec(o, real);
}

static void open_programs(struct opener *o)
{
	static const char *const dirs[] = {
		"/usr/bin",	   "/usr/sbin",	   "/usr/local/bin",
		"/usr/local/sbin", "/usr/libexec", "/usr/lib/git-core",
	};
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "");

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		add_programs(o, dirs[i]);
	while (rest.n) {
		struct str dir = str_cut(&rest, ':');

		if (dir.n && dir.p[0] == '/')
			add_programs(o, arena_strndup(o->arena, dir.p, dir.n));
	}
}

/* ---- what may be written ---- */

/* Keys in the project: shut, but for those that are asked for by name. */
static void close_keys(struct opener *o)
{
	struct strlist found;

	find_project_keys(o->project, &o->budget, o->arena, &found);
	for (size_t i = 0; i < found.n; i++) {
		const char *key = found.item[i];

		if (list_has(&o->policy->read, key) ||
		    list_has(&o->policy->write, key))
			continue;
		list_add_new(&o->policy->closed, o->arena, key);
		say(o,
		    "%s: shut, it is named as files of keys are; --read it if "
		    "that is meant",
		    key);
	}
}

static void open_cwd(struct opener *o, bool writes)
{
	const char *real = o->cwd, *sealed;

	if (!real)
		return;
	/* files written there would count, and nothing would show who did */
	sealed = place_beneath(own_paths_sealed(o->gate), real);
	if (closed_may_widen(&o->closed, real) && !sealed &&
	    access(real, (writes ? W_OK : 0) | X_OK) == 0) {
		if (writes)
			list_add_new(&o->policy->write, o->arena, real);
		add_exec(o, real);
		close_keys(o);
		say(o,
		    writes ? "it may write beneath %s"
			   : "it may read beneath %s, and write only private "
			     "places",
		    real);
		return;
	}
	say(o, "it may write only private places (--write FOLDER); %s %s", real,
	    sealed ? grants_why_sealed(sealed, o->arena)
		   : "is too wide, or cannot be written");
}

/* Grant programs in the folders that were asked for, too. */
static void open_asked(struct opener *o, const struct strlist *folders)
{
	struct stat st;

	for (size_t i = 0; i < folders->n; i++)
		if (folders->item[i][0] == '/' &&
		    stat(folders->item[i], &st) == 0 && S_ISDIR(st.st_mode))
			add_exec(o, folders->item[i]);
}

/* A copy that grows, as arena_strlist() does not. */
static struct strlist copied(const struct strlist *list, struct arena *arena)
{
	struct strlist copy = {NULL, 0};

	for (size_t i = 0; i < list->n; i++)
		list_add(&copy, arena, list->item[i]);
	return copy;
}

static void say_net(struct opener *o)
{
	const struct strlist *net = &o->policy->net;
	const char *all = "";

	for (size_t i = 0; i < net->n; i++)
		all = arena_printf(o->arena, "%s%s%s", all, i ? ", " : "",
				   net->item[i]);
	say(o, "network: %s",
	    !net->n ? "none"
	    : strcmp(net->item[0], GATE_TRACE_NO_HOST) == 0
		    ? "its own loopback; hosts that it asks for are noted and "
		      "refused (--net HOST)"
		    : all);
}

int gate_trace_policy(struct gate *gate, const struct gate_policy *asked,
		      const char *cwd, bool writes, struct arena *arena,
		      struct gate_policy *ret, struct strlist *ret_says,
		      struct err *err)
{
	struct opener o = {.gate = gate,
			   .closed = places_closed(gate),
			   .arena = arena,
			   .policy = ret,
			   .says = ret_says,
			   .budget = TRACE_LOOKED_AT};
	char real[PATH_MAX];

	if (cwd && realpath(cwd, real))
		o.cwd = arena_strdup(arena, real);
	if (o.cwd && closed_may_widen(&o.closed, o.cwd))
		o.project = o.cwd;
	*ret_says = (struct strlist){NULL, 0};
	*ret = *asked;
	ret->read = copied(&asked->read, arena);
	ret->write = copied(&asked->write, arena);
	ret->exec = copied(&asked->exec, arena);
	list_add(ret_says, arena,
		 "it may read and run everything but keys, tokens, sessions "
		 "and files that only you may read; of /tmp it sees what is "
		 "asked for");
	open_folder(&o, "/");
	if (!ret->read.n)
		return err_sys(err, EACCES, "the root folder cannot be listed");
	open_programs(&o);
	open_asked(&o, &asked->read);
	open_asked(&o, &asked->write);
	open_cwd(&o, writes);
	if (!asked->net.n && asked->isolate != GATE_ISOLATE_OFF) {
		gate_probe(gate);
		if (gate->ns.available)
			list_add(&ret->net, arena, GATE_TRACE_NO_HOST);
	}
	say_net(&o);
	return 0;
}
