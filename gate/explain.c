/*
 * Grants of a request, for people: read from the prepared request, so that
 * nothing can be granted and not be shown.
 */
#include "gate/prepare/own_paths.h"
#include "gate/prepare/prepare.h"
#include "gate/prepare/parts.h"

/* ---- grants ---- */

static const char *const REASONS[N_GRANT_REASONS] = {
#define GRANT_REASON(ID, text) [GRANTED_##ID] = (text),
#include "gate/prepare/grant_reasons.def"
#undef GRANT_REASON
};

static unsigned access_of(unsigned what)
{
	return (what & (GRANT_READ | GRANT_WRITE | GRANT_EXEC | GRANT_DEVICE)
			? GATE_ACCESS_READ
			: 0U) |
	       (what & (GRANT_WRITE | GRANT_WRITE_ONLY | GRANT_DEVICE)
			? GATE_ACCESS_WRITE
			: 0U) |
	       (what & GRANT_EXEC ? GATE_ACCESS_RUN : 0U);
}

static const char *reasons_of(unsigned what, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (unsigned i = 0; i < N_GRANT_REASONS; i++)
		if (what & (1U << (8U + i)))
			buf_addf(&out, "%s%s", out.n ? ", " : "", REASONS[i]);
	return arena_strdup(arena, out.n ? buf_cstr(&out) : "base");
}

static struct gate_grant *copy_grants(const struct gate *gate,
				      const struct grants *from,
				      struct arena *arena, size_t *ret_n)
{
	struct gate_grant *to =
		ARENA_ARRAY(arena, struct gate_grant, from->n + 1);
	const unsigned named = GRANT_BY(READ) | GRANT_BY(WRITE);
	const struct closed closed = places_closed(gate);
	size_t n = 0;

	for (size_t i = 0; i < from->n; i++) {
		const struct grant *g = &from->grant[i];

		/* nothing may be left of one that was split or dropped */
		if (!access_of(g->what))
			continue;
		to[n++] = (struct gate_grant){
			.path = arena_strdup(arena, g->path),
			.access = access_of(g->what),
			.is_folder = S_ISDIR(g->st.st_mode),
			/* and no folder that a policy names */
			.is_argument = g->what & GRANT_BY(ARGUMENT) &&
				       !grants_cover(from, g->path, named),
			.why = reasons_of(g->what, arena),
			.secret = closed_secret_row(&closed, g->path),
		};
	}
	*ret_n = n;
	return to;
}

/* ---- the rest ---- */

static void add(struct strlist *list, struct arena *arena, const char *text)
{
	if (!list_has(list, text))
		list_add(list, arena, arena_strdup(arena, text));
}

static void copy_view(const struct prepared *p, struct arena *arena,
		      struct gate_explained *to)
{
	const unsigned writes = GRANT_BY(WRITE) | GRANT_BY(TMP);

	for (size_t i = 0; i < p->view.n_places; i++)
		if (!p->view.places[i].is_readonly)
			add(&to->private_places, arena, p->view.places[i].path);
	if (!p->own_view && !p->policy.tmp_shared)
		add(&to->private_places, arena, "TMPDIR");
	if (!p->own_view)
		add(&to->private_places, arena, "HOME");
	/* without a view only what splits a grant is kept from being written */
	for (size_t i = 0; i < p->view.n_protect; i++) {
		const char *path = p->view.protect[i].path;

		if (grants_cover(&p->grants, path, writes) &&
		    (p->own_view || list_has(own_paths_protect(p->gate), path)))
			add(&to->protect, arena, path);
	}
}

static void copy_net(const struct policy *p, struct arena *arena,
		     struct strlist *to)
{
	static const char *const words[] = {
		[POLICY_NET_NONE] = "none",
		[POLICY_NET_LOOPBACK] = "loopback",
		[POLICY_NET_ALL] = "all",
	};

	if (p->net != POLICY_NET_PORTS && p->net != POLICY_NET_PROXY) {
		add(to, arena, words[p->net]);
		return;
	}
	for (size_t i = 0; i < p->n_endpoints; i++) {
		AUTO(buf_release)
		struct buf text = BUF_INIT(2 * ENDPOINT_TEXT_BYTES);

		endpoint_text(&p->endpoints[i], &text);
		add(to, arena, buf_cstr(&text));
	}
}

static void copy_sockets(const struct prepared *p, struct arena *arena,
			 struct strlist *to)
{
	bool is_none = p->policy.unix_own == POLICY_UNIX_NONE;

	add(to, arena, is_none ? "none" : "private");
	for (size_t i = 0; i < p->grants.n; i++)
		if (p->grants.grant[i].what & GRANT_SOCKET)
			add(to, arena, p->grants.grant[i].path);
}

static void copy_program(const struct prepared *p, struct arena *arena,
			 struct gate_explained *to)
{
	const struct resolved *r = &p->program;

	to->program = arena_strdup(arena, r->file[0].path);
	if (r->file[0].is_script)
		to->interpreter = arena_strdup(arena, r->file[r->exec].path);
	to->script = arena_strdup(arena, p->script);
	to->missing_script = arena_strdup(arena, p->missing_script);
	to->runs = arena_strdup(arena, p->direct.says);
	to->installation = arena_strdup(arena, p->installation);
	/* without a view its HOME is made when it starts */
	if (p->home || strcmp(p->launch.cwd, "/") != 0)
		to->cwd = arena_strdup(arena, p->launch.cwd);
	to->user = arena_strdup(arena, p->id.name);
	to->profile = PROFILES[p->policy.profile].name;
}

static void copy_recipes(struct prepared *p, struct arena *arena,
			 struct gate_explained *to)
{
	const struct strlist projects = recipes_projects(p);
	const struct strlist recipes = recipes_say(p);

	to->projects = arena_strlist(arena, &projects);
	to->recipes = arena_strlist(arena, &recipes);
}

int gate_explain(struct gate *gate, const struct gate_request *request,
		 struct arena *arena, struct gate_explained *ret,
		 struct err *err)
{
	struct gate_explained e = {.program = NULL};
	struct prepared p;
	int r = prepare_by(gate, request, false, prepare_until(request), &p,
			   err);

	if (r == 0) {
		e.own_view = p.own_view;
		e.grant = copy_grants(gate, &p.grants, arena, &e.n_grants);
		r = gate_open_base(gate, err);
		e.base = copy_grants(gate, &gate->base, arena, &e.n_base);
		e.dropped = arena_strlist(arena, &p.policy.capped);
		copy_program(&p, arena, &e);
		copy_recipes(&p, arena, &e);
		copy_view(&p, arena, &e);
		e.hidden = arena_strlist(arena, &p.hidden);
		copy_net(&p.policy, arena, &e.net);
		copy_sockets(&p, arena, &e.sockets);
		e.bounds = p.bounds;
		e.facts = gate_keep_facts(gate, p.facts);
		e.n_facts = N_GUARANTEES;
		*ret = e;
	}
	prepared_release(&p);
	return r;
}
