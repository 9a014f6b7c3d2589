#include "core/cli/golden_tools.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/cli/candidate.h"
#include "core/cli/compare.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/report/pins.h"
#include "core/run/advice_command.h"
#include "core/run/pinned.h"

static const struct verb {
	const char *name;
	/* A server must be named; other verbs may take a routine. */
	bool takes_server;
	const char *done; /* refused in CI: nothing is done; it writes */
} verbs[] = {
	{"record", false, "recorded"},
	{"check", false, NULL},
	{"accept", true, NULL},
};

/* State of one invocation, and of the server that is asked. */
struct asked {
	const struct args *args;
	const struct verb *verb;
	struct arena arena;
	struct config_file file;
	const struct server *server;
	const char *path; /* of its file */
	bool is_there;	  /* the file */
	struct str kept;  /* text of that file */
	struct buf now;	  /* text that it would get */
};

static int list_tools(struct target *t, void *arg, struct err *err)
{
	struct asked *a = arg;
	struct listing tools;
	int r;

	listing_init(&tools, LISTING_TOOLS);
	r = target_list(t, LISTING_TOOLS, true, &tools, err);
	if (r == 0)
		r = pinned_text(&a->file.config, a->server, &tools, &a->now,
				err);
	if (r == 0 && scrub_finds(t->scrub, buf_str(&a->now)))
		r = err_set(err, ERR_CREDENTIAL,
			    "%s: its tools hold a secret, and are not kept",
			    a->server->name);
	listing_release(&tools);
	return r;
}

/* Start the server as `matins tools --server` does. */
static int ask(struct asked *a, struct err *err)
{
	struct args_option given[] = {
		{"server", a->server->name},
		{"config", args_get(a->args, "config")},
		{"lax", args_get(a->args, "lax")},
	};
	char *none = NULL;
	struct args words = {.given = given, .positional = &none};

	/* the last of a name counts, and one without a value is not given */
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		if (given[i].value)
			given[words.n_given++] = given[i];
	return target_run(&words, TARGET_START, list_tools, a, err);
}

/* Append what differs from a text. */
static int find_difference(struct asked *a, struct str text, struct buf *diff,
			   struct err *err)
{
	const struct str all = {NULL, 0};

	return pins_diff(text, buf_str(&a->now), all, diff, err) < 0
		       ? err_wrap(err, "%s", a->path)
		       : 0;
}

/* Show what differs, and keep it for `accept`. returns  1: it does */
static int show(struct asked *a, struct err *err)
{
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);
	struct err why = ERR_INIT;

	if (find_difference(a, a->kept, &diff, err) < 0)
		return -1;
	if (!diff.n) {
		candidate_drop(a->path);
		log_note("%s: its tools are those of %s", a->server->name,
			 a->path);
		return 0;
	}
	if (candidate_keep(a->path, a->kept, buf_str(&a->now), &why) < 0)
		log_warning("`golden accept` cannot accept this later: %s",
			    why.msg);
	buf_addf(&diff, "to accept%s: matins golden accept --tools %s%s\n",
		 a->verb->takes_server ? " this, once more" : "",
		 a->server->name, advice_config(&a->file.config, &a->arena));
	return put(buf_str(&diff), PUT_TEXT, err) < 0 ? -1 : 1;
}

/* returns  1: what the server says was shown before, and is kept in a->now */
static int was_shown(struct asked *a, struct err *err)
{
	AUTO(buf_release) struct buf since = BUF_INIT(BUF_UNBOUNDED);
	struct str seen;

	if (candidate_take(a->path, a->kept, &a->arena, &seen, err) < 0) {
		if (err->kind != ERR_UNKNOWN && err->kind != ERR_DIFFERS)
			return -1;
		err_clear(err);
		return 0;
	}
	if (find_difference(a, seen, &since, err) < 0)
		return -1;
	if (since.n)
		return 0;
	buf_clear(&a->now);
	buf_addf(&a->now, "%.*s\n", STR_ARG(seen));
	return 1;
}

static int write_now(struct asked *a, struct outfile *file, struct err *err)
{
	if (outfile_write_str(file, buf_str(&a->now), err) < 0)
		return -1;
	log_note("%s: %s", a->is_there ? "accepted" : "recorded", a->path);
	candidate_drop(a->path);
	return 0;
}

static int accept_shown(struct asked *a, struct outfile *file, struct err *err)
{
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);
	int r = was_shown(a, err);

	if (r <= 0)
		return r < 0 ? -1 : show(a, err);
	return find_difference(a, a->kept, &diff, err) < 0 ||
			       put(buf_str(&diff), PUT_TEXT, err) < 0
		       ? -1
		       : write_now(a, file, err);
}

/* The file is found before the server starts, which might write there. */
static int keep(struct asked *a, struct err *err)
{
	AUTO(outfile_release) struct outfile file = OUTFILE_INIT;
	const bool writes = a->verb->done || a->verb->takes_server;

	buf_clear(&a->now);
	if ((writes &&
	     compare_open(&file, a->path, &a->file.config, err) < 0) ||
	    ask(a, err) < 0)
		return -1;
	if (!a->is_there)
		return write_now(a, &file, err);
	return writes ? accept_shown(a, &file, err) : show(a, err);
}

static int keep_one(struct asked *a, const char *name, struct err *err)
{
	const struct config *config = &a->file.config;

	if (find_server(config, name, &a->server, err) < 0)
		return -1;
	a->path = pins_path(config->dir, name, &a->arena);
	a->is_there = compare_read(a->path, config->dir, config, &a->arena,
				   &a->kept, err) == 0;
	if (a->is_there ? pinned_check_owner(config, a->server, a->path,
					     a->kept, err) < 0
			: err->sys != ENOENT)
		return -1;
	if (a->is_there && a->verb->done) {
		log_warning("%s is there already, and is not overwritten; "
			    "`matins golden accept --tools %s` accepts what "
			    "has changed",
			    a->path, name);
		return 1;
	}
	if (!a->is_there && !a->verb->done && !a->verb->takes_server)
		return err_set(err, ERR_COMPARE,
			       "%s does not exist yet; `matins golden record "
			       "--tools` creates it",
			       a->path);
	return keep(a, err);
}

/* Names of the servers that a routine calls; NULL: of all routines, and those
   that are pinned for `call` and actions alone. */
static struct strlist servers_of(const struct config *c, const char *routine,
				 struct arena *arena)
{
	struct strlist names = {NULL, 0};

	for (size_t i = 0; i < c->n_routines; i++) {
		const struct routine *r = &c->routines[i];

		for (size_t k = 0; k < r->n_steps; k++)
			if ((!routine || strcmp(r->name, routine) == 0) &&
			    r->steps[k].server && r->steps[k].tool)
				list_add_new(&names, arena,
					     r->steps[k].server->name);
	}
	for (size_t i = 0; !routine && i < c->n_servers; i++)
		if (c->servers[i].pin && c->servers[i].enabled)
			list_add_new(&names, arena, c->servers[i].name);
	return names;
}

static int keep_all(struct asked *a, struct err *err)
{
	const char *name = a->args->positional[1];
	struct strlist servers = {&name, 1};
	const struct routine *routine;
	/* one that was recorded is enough */
	const bool is_any = a->verb->done;
	int status = is_any;

	if (open_config(a->args, (struct config_options){.names_only = true},
			&a->file, err) < 0)
		return -1;
	if (!a->verb->takes_server) {
		if (name &&
		    find_routine(&a->file.config, name, &routine, err) < 0)
			return -1;
		servers = servers_of(&a->file.config, name, &a->arena);
	}
	if (!servers.n)
		return err_set(err, ERR_CONFIG,
			       "no step calls a tool of a [servers.NAME], and "
			       "none has pin = true: there is nothing to keep");
	for (size_t i = 0; i < servers.n; i++) {
		int r = keep_one(a, servers.item[i], err);

		if (r < 0)
			return -1;
		status = is_any ? status & r : status | r;
	}
	return status;
}

static const struct verb *find_verb(const struct args *args)
{
	for (size_t i = 0; args->n_positional && i < ARRAY_LEN(verbs); i++)
		if (strcmp(verbs[i].name, args->positional[0]) == 0 &&
		    (verbs[i].takes_server ? args->n_positional == 2
					   : args->n_positional <= 2))
			return &verbs[i];
	return NULL;
}

int golden_tools(const struct args *args, struct err *err)
{
	struct asked a = {
		.args = args,
		.verb = find_verb(args),
		.now = BUF_INIT(BUF_UNBOUNDED),
	};
	int status;

	if (!a.verb)
		return err_set(err, ERR_USAGE,
			       "golden --tools: write record [ROUTINE], check "
			       "[ROUTINE] or accept SERVER");
	if (args_has(args, "dir") || args_has(args, "report"))
		return err_set(err, ERR_USAGE,
			       "golden --tools: the files lie in golden/tools "
			       "beside the configuration, and servers are "
			       "asked; --dir and --report are for reports");
	if (compare_in_ci(a.verb->done, a.verb->name, "golden/tools", err) < 0)
		return -1;
	status = keep_all(&a, err);
	buf_release(&a.now);
	config_release(&a.file);
	arena_release(&a.arena);
	return status;
}
