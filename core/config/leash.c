#include "core/config/leash.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/config/config_allow.h"
#include "core/config/paths.h"

/* Names collected so far, without repeats. */
struct names {
	struct arena *arena;
	const char *folder; /* of the configuration */
	struct strlist list;
	size_t cap;
};

static void add(struct names *n, const char *name)
{
	if (!name)
		return;
	for (size_t i = 0; i < n->list.n; i++)
		if (strcmp(n->list.item[i], name) == 0)
			return;
	if (n->list.n == n->cap) {
		size_t cap = n->cap ? n->cap * 2 : 16;
		const char **grown = ARENA_ARRAY(n->arena, const char *, cap);

		if (n->list.n)
			memcpy(grown, n->list.item, n->list.n * sizeof(*grown));
		n->list.item = grown;
		n->cap = cap;
	}
	n->list.item[n->list.n++] = name;
}

static void add_list(struct names *n, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		add(n, l->item[i]);
}

/* The program of a {cmd="…"} reference. */
static void add_ref(struct names *n, const struct env_ref *ref)
{
	struct err ignored = ERR_INIT;
	struct strlist words;

	if (ref->from && ref->source == SECRET_CMD &&
	    path_words(ref->from, n->folder, n->arena, &words, &ignored) == 0)
		add(n, words.item[0]);
}

static void add_refs(struct names *n, const struct env_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++)
		add_ref(n, &refs->item[i]);
}

static void add_server(struct names *n, const struct server *s)
{
	add(n, s->command);
	add_list(n, &s->sandbox.exec);
	add_refs(n, &s->env);
	if (s->sampling.n)
		add(n, s->sampling.item[0]);
	add(n, s->auth.browser);
	for (size_t i = 0; i < SERVER_REFERENCES; i++)
		add_ref(n, server_reference(s, i));
}

static struct strlist declared(const struct config *c,
			       const struct strlist *named, struct arena *arena)
{
	struct names n = {.arena = arena, .folder = c ? c->dir : NULL};

	add_list(&n, named);
	if (!c)
		return n.list;
	add_list(&n, &c->sandbox.exec);
	for (size_t i = 0; i < c->n_servers; i++)
		add_server(&n, &c->servers[i]);
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t k = 0; k < c->routines[i].n_steps; k++) {
			const struct step *s = &c->routines[i].steps[k];

			add(&n, s->command);
			add_list(&n, &s->sandbox.exec);
			add_refs(&n, &s->env);
		}
	}
	return n.list;
}

/* Relative entries begin in the caller's folder, as on the command line. */
static void resolve_axis(struct gate_axis *a, bool is_exec, struct arena *arena)
{
	for (size_t i = 0; i < a->only.n; i++)
		a->only.item[i] =
			is_exec ? path_program(a->only.item[i], NULL, arena)
				: path_resolve(a->only.item[i], NULL, arena);
}

static int from_environment(const char *name, struct arena *arena,
			    struct gate_leash *ret, struct err *err)
{
	const char *text = getenv(name);

	if (!text)
		return 1;
	if (gate_leash_parse(str_of(text), arena, ret, err) < 0)
		return err_wrap(err, "$%s", name);
	resolve_axis(&ret->fs_read, false, arena);
	resolve_axis(&ret->fs_write, false, arena);
	resolve_axis(&ret->exec, true, arena);
	ret->source = arena_printf(arena, "$%s", name);
	return 0;
}

int leash_find(const struct config *config, const struct strlist *named,
	       struct arena *arena, struct gate_leash *ret, struct err *err)
{
	const struct gate_leash *c = config ? &config->caveats : NULL;
	const struct gate_axis open = {.all = true};
	int r;

	r = from_environment("MATINS_CAVEATS", arena, ret, err);
	if (r > 0)
		r = from_environment("MODULEX_CAVEATS", arena, ret, err);
	if (r <= 0)
		return r;
	if (c && c->source) {
		*ret = *c;
		ret->source =
			arena_printf(arena, "[caveats] of %s", config->path);
		return 0;
	}
	*ret = (struct gate_leash){
		.fs_read = open,
		.fs_write = open,
		.exec = {.all = false, .only = declared(config, named, arena)},
		.net = open,
		.calls_unlimited = true,
		.generations = open,
		.interpreters = true,
		.source = "the programs that are declared",
	};
	return 0;
}

void leash_open_for_trace(struct gate_leash *leash)
{
	leash->exec.all |= leash->interpreters;
}

/* The user's own, which a later run would use without an allowance. */
static void add_own_configs(struct names *n)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	if (xdg && *xdg == '/')
		add(n, arena_printf(n->arena, "%s/matins/config.toml", xdg));
	for (unsigned i = 0; i < PATH_HOMES; i++) {
		const char *home = path_own_home(i);

		if (!home)
			continue;
		add(n, arena_printf(n->arena, "%s/.config/matins/config.toml",
				    home));
		add(n, arena_printf(n->arena, "%s/.modulex/config.toml", home));
	}
}

/* Files that a later run would read unasked. */
static void add_default_configs(struct names *n)
{
	char *cwd = realpath(".", NULL);

	if (cwd) {
		add(n, arena_printf(n->arena, "%s/matins.toml", cwd));
		add(n, arena_printf(n->arena, "%s/modulex.toml", cwd));
	}
	free(cwd);
	add_own_configs(n);
}

/*
 * Of this run, and those that a run with other variables would use: what is
 * planted there would count then.
 */
static struct strlist state_folders(const char *state_dir, struct arena *arena)
{
	const char *xdg = getenv("XDG_STATE_HOME");
	struct names n = {.arena = arena};

	add(&n, state_dir);
	if (xdg && *xdg == '/')
		add(&n, arena_printf(arena, "%s/matins", xdg));
	for (unsigned i = 0; i < PATH_HOMES; i++)
		if (path_own_home(i))
			add(&n, arena_printf(arena, "%s/.local/state/matins",
					     path_own_home(i)));
	return n.list;
}

struct strlist leash_protected(const struct config *config,
			       const char *state_dir, struct arena *arena)
{
	const struct strlist states = state_folders(state_dir, arena);
	struct names n = {.arena = arena};

	add_list(&n, &states);
	add_default_configs(&n);
	for (size_t i = 0; config && i < config->n_servers; i++)
		add(&n, config->servers[i].auth.token_store);
	if (config && config->path && config->dir) {
		const char *slash = strrchr(config->path, '/');

		add(&n, arena_printf(arena, "%s/%s", config->dir,
				     slash ? slash + 1 : config->path));
		add(&n, arena_printf(arena, "%s/golden", config->dir));
	}
	return n.list;
}

struct strlist leash_hidden(const struct config *config, const char *state_dir,
			    const char *more, struct arena *arena)
{
	const struct strlist states = state_folders(state_dir, arena);
	struct names n = {.arena = arena};

	for (size_t i = 0; i < states.n; i++) {
		add(&n, state_dir_tokens(states.item[i], arena));
		add(&n, arena_printf(arena, "%s/allowed", states.item[i]));
	}
	add(&n, more);
	for (size_t i = 0; config && i < config->n_servers; i++)
		add(&n, config->servers[i].auth.token_store);
	return n.list;
}

/* Folders that some program of the configuration may write. */
static struct strlist written(const struct config *config, struct arena *arena)
{
	struct names n = {.arena = arena};

	if (!config)
		return n.list;
	add_list(&n, &config->sandbox.write);
	for (size_t i = 0; i < config->n_servers; i++)
		add_list(&n, &config->servers[i].sandbox.write);
	for (size_t i = 0; i < config->n_routines; i++)
		for (size_t k = 0; k < config->routines[i].n_steps; k++)
			add_list(&n,
				 &config->routines[i].steps[k].sandbox.write);
	return n.list;
}

/* One state directory's allowances. */
static void add_allowed(const char *state_dir, struct names *protect,
			struct names *sealed)
{
	struct err err = ERR_INIT;
	struct allowance *a = NULL;
	size_t n = 0;

	if (allowed_list(state_dir, protect->arena, &a, &n, &err) < 0)
		log_warning("%s", err.msg);
	for (size_t i = 0; i < n; i++) {
		const char *target = a[i].target ? a[i].target : a[i].path;

		add(protect, a[i].path);
		add(protect, target);
		if (!a[i].edits)
			continue;
		add(sealed, a[i].path);
		add(sealed, target);
	}
}

void leash_guard(const struct config *config, const char *state_dir,
		 const char *more, struct arena *arena, struct gate_config *ret)
{
	const struct strlist states = state_folders(state_dir, arena);
	const struct strlist own = leash_protected(config, state_dir, arena);
	struct names protect = {.arena = arena}, sealed = {.arena = arena};
	struct names absent = {.arena = arena};

	add_list(&protect, &own);
	for (size_t i = 0; i < states.n; i++)
		add_allowed(states.item[i], &protect, &sealed);
	add_own_configs(&absent);
	ret->protect = protect.list;
	ret->sealed = sealed.list;
	ret->absent = absent.list;
	ret->hide = leash_hidden(config, state_dir, more, arena);
	ret->written = written(config, arena);
}
