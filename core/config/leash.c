#include "core/config/leash.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"
#include "core/config/config_allow.h"
#include "core/config/paths.h"

/* Names collected so far, without repeats. */
struct names {
	struct arena *arena;
	struct strlist list;
};

static void add(struct names *n, const char *name)
{
	if (!name)
		return;
	for (size_t i = 0; i < n->list.n; i++)
		if (strcmp(n->list.item[i], name) == 0)
			return;
	list_add(&n->list, n->arena, name);
}

static void add_list(struct names *n, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		add(n, l->item[i]);
}

/* ---- the leash ---- */

/* The program of a {cmd="…"} reference. */
static void add_ref(struct names *n, const struct env_ref *ref,
		    const char *folder)
{
	struct strlist words;

	if (ref->from && ref->source == SECRET_CMD &&
	    path_words(ref->from, folder, n->arena, &words, ERR_IGNORED) == 0)
		add(n, words.item[0]);
}

static struct strlist declared(const struct config *c,
			       const struct strlist *named, struct arena *arena)
{
	struct names n = {.arena = arena};

	add_list(&n, named);
	for (struct config_part p = {0}; c && config_next(c, &p);) {
		const struct server *s = p.server;

		add(&n, p.command);
		add_list(&n, &p.sandbox->exec);
		for (const struct env_ref *r; (r = config_next_ref(&p));)
			add_ref(&n, r, c->dir);
		if (s && s->sampling.n)
			add(&n, s->sampling.item[0]);
		if (s)
			add(&n, s->auth.browser);
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

/* ---- what the gate keeps children from ---- */

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

/*
 * State directories of this run, and those that a run with other variables
 * would use: what is planted there would count then.
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

/* Configurations that a later run would read unasked, and golden files. */
static void add_configs(struct names *n, const struct config *c)
{
	AUTO(mem_freep) char *cwd = realpath(".", NULL);

	if (cwd) {
		add(n, arena_printf(n->arena, "%s/matins.toml", cwd));
		add(n, arena_printf(n->arena, "%s/modulex.toml", cwd));
	}
	add_own_configs(n);
	if (!c || !c->path || !c->dir)
		return;
	add(n, arena_printf(n->arena, "%s/%s", c->dir, place_name(c->path)));
	add(n, arena_printf(n->arena, "%s/golden", c->dir));
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

/* Arguments of find_protected(). */
struct looked_up {
	const struct config *config;
	struct strlist states;
	struct arena *arena;
};

/* Here is all that is looked up: the folder, allowances of each state. */
static void find_protected(void *arg, struct gate_config *ret)
{
	const struct looked_up *l = arg;
	struct names protect = {.arena = l->arena}, sealed = protect;

	add_list(&protect, &ret->protect);
	add_list(&protect, &l->states);
	add(&protect, state_dir_servers(l->arena));
	add_configs(&protect, l->config);
	for (size_t i = 0; i < l->states.n; i++)
		add_allowed(l->states.item[i], &protect, &sealed);
	for (struct config_part p = {0};
	     l->config && config_next(l->config, &p);)
		if (p.server)
			add(&protect, p.server->auth.token_store);
	ret->protect = protect.list;
	ret->sealed = sealed.list;
}

void leash_guard(const struct config *config, const char *state_dir,
		 const char *more, struct arena *arena, struct gate_config *ret)
{
	struct looked_up *later = ARENA_NEW(arena, struct looked_up);
	struct names absent = {.arena = arena}, hide = absent, written = absent;
	const struct strlist tmp = STRLIST("/tmp", "/var/tmp");

	later->config = config;
	later->arena = arena;
	later->states = state_folders(state_dir, arena);
	for (size_t i = 0; i < later->states.n; i++) {
		const char *state = later->states.item[i];

		add(&hide, state_dir_tokens(state, arena));
		add(&hide, arena_printf(arena, "%s/allowed", state));
	}
	add(&hide, more);
	for (struct config_part p = {0}; config && config_next(config, &p);) {
		/* kept tools are not made by a program that is judged by them
		 */
		if (!absent.list.n &&
		    ((p.server && p.server->pin) || (p.step && p.step->pin)))
			add(&absent, arena_printf(arena, "%s/golden/tools",
						  config->dir));
		add_list(&written, &p.sandbox->write);
		for (size_t i = 0; p.sandbox->tmp_shared && i < tmp.n; i++)
			add(&written, tmp.item[i]);
		if (p.server)
			add(&hide, p.server->auth.token_store);
	}
	add_own_configs(&absent);
	ret->find_protected = find_protected;
	ret->find_protected_arg = later;
	ret->absent = absent.list;
	ret->hide = hide.list;
	ret->written = written.list;
}
