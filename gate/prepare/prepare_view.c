#include "gate/prepare/prepare_view.h"

#include <errno.h>

#include "core/base/place.h"
#include "gate/prepare/prepare_hidden.h"
#include "gate/prepare/prepare_protected.h"

bool view_replaces(const struct prepared *p, const char *path)
{
	for (size_t i = 0; p->own_view && i < p->gate->n_places; i++)
		if (place_covers(p->gate->place[i].path, path))
			return true;
	return false;
}

/* ---- id maps ---- */

/* Index of the id map that gives the owner's files to the child; -1 = none. */
static int find_idmap(struct gate *g, const struct stat *owner,
		      const struct identity *id)
{
	struct gate_idmap new = {.uid = owner->st_uid,
				 .to_uid = id->uid,
				 .gid = owner->st_gid,
				 .to_gid = id->gid,
				 .fd = -1};
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < g->n_idmaps; i++)
		if (g->idmap[i].uid == new.uid && g->idmap[i].gid == new.gid &&
		    g->idmap[i].to_uid == new.to_uid &&
		    g->idmap[i].to_gid == new.to_gid)
			return g->idmap[i].fd < 0 ? -1 : (int)i;
	if (g->n_idmaps == SETUP_IDMAPS)
		return -1;
	if (ns_swap_ids(new.uid, new.to_uid, new.gid, new.to_gid, &new.fd,
			&ignored) < 0)
		new.fd = -1;
	g->idmap[g->n_idmaps++] = new;
	return new.fd < 0 ? -1 : (int)g->n_idmaps - 1;
}

static bool is_sticky_dir(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX;
}

/*
 * As root: what was asked for must work for the user that the child becomes,
 * also deep inside. Others need the map only where the modes shut them out.
 */
static bool wants_idmap(const struct prepared *p, const struct grant *g)
{
	if (!p->id.change || g->st.st_uid == p->id.uid || is_sticky_dir(&g->st))
		return false;
	return g->what & GRANT_ASKED || !identity_may_use(&p->id, g);
}

/* False: the grant will not work for this identity. */
static bool map_grant(struct prepared *p, const struct grant *g,
		      struct setup_grant *s)
{
	if (!wants_idmap(p, g))
		return true;
	s->idmap = find_idmap(p->gate, &g->st, &p->id);
	if (s->idmap >= 0) {
		int fd = p->gate->idmap[s->idmap].fd;

		s->is_idmap_deep = ns_try_idmap(g->path, fd, true) == 0;
		if (!s->is_idmap_deep && ns_try_idmap(g->path, fd, false) < 0)
			s->idmap = -1;
	}
	if (s->idmap >= 0) {
		p->launch.fd[FD_MAPS + s->idmap] = p->gate->idmap[s->idmap].fd;
		s->is_hidden = true;
		p->id.is_mapped = true;
		return true;
	}
	return !(g->what & GRANT_WRITES) && identity_may_use(&p->id, g);
}

/* ---- the parts of a view ---- */

/* HOME gives way to a grant that covers it; the others to one of just them. */
static bool gives_way(const struct prepared *p, const struct setup_place *place)
{
	bool is_home = p->gate->home_path &&
		       strcmp(place->path, p->gate->home_path) == 0;

	if (p->policy.tmp_shared && strcmp(place->path, "/tmp") == 0)
		return true;
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (!(g->what & GRANT_ASKED))
			continue;
		if (strcmp(g->path, place->path) == 0 ||
		    (is_home && place_covers(g->path, place->path)))
			return true;
	}
	return false;
}

/* Bound a private place by `memory`, since its files are memory. */
static struct setup_place bounded_place(const struct prepared *p,
					const struct setup_place *place)
{
	struct setup_place bounded = *place;

	if (bounded.bytes > p->policy.memory_bytes)
		bounded.bytes = p->policy.memory_bytes;
	return bounded;
}

static void choose_places(struct prepared *p)
{
	struct gate *g = p->gate;

	for (size_t i = 0; i < g->n_places; i++)
		if (!gives_way(p, &g->place[i]))
			*prepared_add_place(p, g->place[i].path) =
				bounded_place(p, &g->place[i]);
	p->tmp = "/tmp";
	p->home = g->home;
	if (p->home)
		return;
	p->home = p->policy.tmp_shared ? "/tmp" : "/tmp/home";
	if (!p->policy.tmp_shared)
		*prepared_add_place(p, p->home) = bounded_place(
			p, &(struct setup_place){.path = p->home,
						 .mode = 0700,
						 .bytes = 64 << 20});
}

/* A folder that the child may not pass is replaced by one that it may. */
static void open_walls(struct prepared *p)
{
	for (size_t i = 0; p->id.change && i < p->grants.n; i++) {
		const char *path = p->grants.grant[i].path;
		const char *wall =
			place_covers("/usr", path)
				? NULL
				: identity_wall(&p->id, path, &p->arena);
		bool is_there = !wall;

		for (size_t k = 0; !is_there && k < p->view.n_places; k++)
			is_there = place_covers(p->view.places[k].path, wall);
		if (is_there)
			continue;
		*prepared_add_place(p, wall) = (struct setup_place){
			.path = wall, .mode = 0755, .is_readonly = true};
	}
}

/*
 * Beneath a private place everything can be read, for no Landlock rule takes
 * away what that of the place gives.
 */
static bool is_enforceable(struct prepared *p, const struct grant *g)
{
	if (g->what & GRANT_READ || g->what & GRANT_WRITE ||
	    !(g->what & GRANT_WRITE_ONLY))
		return true;
	for (size_t i = 0; i < p->view.n_places; i++)
		if (place_covers(p->view.places[i].path, g->path))
			return false;
	return true;
}

static void drop_write_only(struct prepared *p)
{
	for (size_t i = 0; i < p->grants.n; i++) {
		struct grant *g = &p->grants.grant[i];

		if (is_enforceable(p, g))
			continue;
		prepared_cap(p,
			     "write \"%s\": dropped; the leash does not allow "
			     "it to be read (fs_read), and in a private place "
			     "what is written can be read",
			     g->path);
		g->what &= GRANT_EXEC;
	}
}

/* Returns false when the child must stay root for all of them to work. */
static bool place_grants(struct prepared *p)
{
	struct setup_grant *s =
		ARENA_ARRAY(&p->arena, struct setup_grant, p->grants.n + 1);
	bool works = true;
	size_t n = 0;

	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (!g->what)
			continue;
		s[n] = (struct setup_grant){
			.path = g->path,
			.is_dir = S_ISDIR(g->st.st_mode),
			.is_write = g->what & GRANT_WRITES,
			.idmap = -1,
			.dev = g->st.st_dev,
			.ino = g->st.st_ino,
		};
		s[n].is_noexec =
			s[n].is_write && p->policy.profile == PROFILE_STRICT;
		works &= map_grant(p, g, &s[n++]);
	}
	p->view.grants = s;
	p->view.n_grants = n;
	return works;
}

/* A path with ".." depends on links, so nothing can be put there. */
static bool goes_up(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strstr(path, "/../") || (slash && strcmp(slash, "/..") == 0);
}

/* Names that led to a grant through a link are there again. */
static void choose_links(struct prepared *p)
{
	struct setup_link *link = ARENA_ARRAY(&p->arena, struct setup_link,
					      p->grants.n_links + 1);
	size_t n = 0;

	for (size_t i = 0; i < p->grants.n_links; i++) {
		const struct grant_link *l = &p->grants.link[i];
		bool is_seen = goes_up(l->path);

		for (size_t k = 0; k < p->grants.n; k++)
			is_seen |=
				S_ISDIR(p->grants.grant[k].st.st_mode) &&
				place_covers(p->grants.grant[k].path, l->path);
		if (!is_seen && view_replaces(p, l->path))
			link[n++] = (struct setup_link){l->path, l->target};
	}
	p->view.links = link;
	p->view.n_links = n;
}

/* ---- without namespaces ---- */

static bool works_for(const struct prepared *p, const struct identity *id)
{
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];
		AUTO(arena_release) struct arena scratch = ARENA_INIT;

		if (identity_wall(id, g->path, &scratch) ||
		    !identity_may_use(id, g))
			return false;
	}
	return true;
}

static int use_folders(struct prepared *p, struct err *err)
{
	struct gate *g = p->gate;

	if (prepare_protected(p, err) < 0)
		return -1;
	if (p->id.change && !works_for(p, &p->id))
		identity_stay_root(p, "without id-mapped mounts another user "
				      "could not use what is granted");
	if (protected_split(p, err) < 0 || prepare_hidden(p, err) < 0)
		return -1;
	if (!p->for_start)
		return 0;
	if (private_open(&g->private_dirs, err) < 0 ||
	    private_make(&g->private_dirs, p->id.uid, p->id.gid,
			 &p->private_dir, err) < 0)
		return -1;
	p->home = arena_printf(&p->arena, "%s/home", p->private_dir);
	p->tmp = p->policy.tmp_shared
			 ? "/tmp"
			 : arena_printf(&p->arena, "%s/tmp", p->private_dir);
	return 0;
}

/* ---- all together ---- */

static int use_view(struct prepared *p, struct err *err)
{
	const struct ns_caps *ns = &p->gate->ns;
	struct setup_view *v = &p->view;

	choose_places(p);
	drop_write_only(p);
	if (prepare_hidden(p, err) < 0)
		return -1;
	if (!place_grants(p)) {
		identity_stay_root(p, "a grant lies on a file system without "
				      "id-mapped mounts");
		(void)place_grants(p);
	}
	open_walls(p);
	if (prepare_protected(p, err) < 0)
		return -1;
	choose_links(p);
	v->root_is_mount = ns->root_is_mount;
	v->dev_is_mount = ns->dev_is_mount;
	v->memfd_noexec = ns->memfd_noexec;
	/* ids below 300 are used once only; the others are left */
	v->pid_max = ns->pid_max && !p->group_has[CGROUP_PIDS]
			     ? 300 + p->policy.processes
			     : 0;
	v->loopback = policy_has_own_net(&p->policy);
	v->uid = p->id.uid;
	v->gid = p->id.gid;
	setup_build(v, &p->arena, &p->launch.setup);
	p->launch.slots =
		ARENA_ARRAY(&p->arena, int, p->launch.setup.slots + 1);
	return 0;
}

static void add_late(struct prepared *p, const char *path, uint64_t rights)
{
	struct launch *l = &p->launch;
	struct late_rule *more =
		arena_grow(&p->arena, l->late, l->n_late, sizeof(*more));

	more[l->n_late++] = (struct late_rule){
		path, landlock_access(&p->rules, rights, true)};
	l->late = more;
}

static void add_late_rules(struct prepared *p)
{
	add_late(p, "/proc", LL_READ);
	for (size_t i = 0; i < p->view.n_places; i++)
		if (!p->view.places[i].is_readonly)
			add_late(p, p->view.places[i].path, LL_WRITE);
	if (!p->private_dir)
		return;
	add_late(p, p->home, LL_WRITE);
	if (!p->policy.tmp_shared)
		add_late(p, p->tmp, LL_WRITE);
}

static void add_rules(struct prepared *p, const struct grants *g)
{
	for (size_t i = 0; i < g->n; i++)
		landlock_add_known(&p->rules, g->grant[i].fd,
				   S_ISDIR(g->grant[i].st.st_mode),
				   grant_rights(g->grant[i].what));
}

static int make_rules(struct prepared *p, struct err *err)
{
	if (p->gate->landlock_abi < 1)
		return 0;
	landlock_rules_init(&p->rules, p->gate->landlock_abi);
	if (p->policy.net == POLICY_NET_ALL || policy_has_own_net(&p->policy))
		landlock_rules_net_open(&p->rules);
	for (size_t i = 0; i < p->policy.n_ports; i++)
		landlock_add_port(&p->rules, p->policy.ports[i], LL_CONNECT);
	add_rules(p, &p->gate->base);
	add_rules(p, &p->grants);
	add_late_rules(p);
	if (!p->for_start)
		return 0;
	return landlock_create(&p->rules, &p->launch.fd[FD_RULESET], err);
}

int prepare_view(struct prepared *p, struct err *err)
{
	if (protected_check_links(p, err) < 0 ||
	    (p->own_view ? use_view(p, err) : use_folders(p, err)) < 0)
		return -1;
	return make_rules(p, err);
}
