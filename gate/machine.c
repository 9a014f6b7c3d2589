/*
 * Means of this machine, for `matins doctor`: each of the kernel's tried here
 * and now, the user and the view of children.
 */
#include <errno.h>

#include "core/base/fd.h"
#include "gate/child/launch.h"
#include "gate/prepare/parts.h"
#include "gate/prepare/prepare.h"

/* Rows at most: one for each mechanism, and two. */
#define ROWS (N_MECHANISMS + 2)

struct machine {
	struct gate *gate;
	const struct prepared *p; /* of the default policy */
	struct gate_fact *row;
	size_t n;
};

static void add(struct machine *m, const char *name, bool is_there,
		const char *how, const char *remedy)
{
	struct gate *g = m->gate;

	m->row[m->n++] = (struct gate_fact){
		.guarantee = name,
		.level = is_there ? GATE_ENFORCED : GATE_ABSENT,
		.how = gate_keep_text(g, how),
		.remedy = is_there || !remedy || !*remedy
				  ? NULL
				  : gate_keep_text(g, remedy),
	};
}

static void add_mechanism(struct machine *m, enum mechanism id, bool is_there,
			  const char *how)
{
	add(m, MECHANISMS[id].name, is_there, how,
	    mechanism_remedy_here(m->p, id));
}

static const char *landlock_text(struct machine *m)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf missing = BUF_INIT(BUF_UNBOUNDED);
	uint32_t errata;
	int abi = m->gate->landlock_abi;

	if (abi < 1)
		return errno == EOPNOTSUPP ? "built in, and not enabled at boot"
					   : "this kernel has none";
	errata = landlock_errata();
	buf_addf(&text, "ABI %d", abi);
	if (errata)
		buf_adds(&text, "; corrected errata");
	for (unsigned i = 0; i < 32; i++)
		if (errata >> i & 1)
			buf_addf(&text, " %u", i + 1);
	landlock_missing(abi, &missing);
	if (missing.n)
		buf_addf(&text, "; it cannot restrict: %s", buf_cstr(&missing));
	return arena_strdup(&m->gate->arena, buf_cstr(&text));
}

static void add_landlock(struct machine *m)
{
	/* asks again, so that errno says why not */
	int abi = landlock_abi();

	add_mechanism(m, MECHANISM_LANDLOCK, abi >= 1, landlock_text(m));
	add_mechanism(m, MECHANISM_LANDLOCK_NET, abi >= 4,
		      abi >= 4 ? "TCP ports"
			       : "without namespaces net cannot be limited to "
				 "ports");
	add_mechanism(m, MECHANISM_LANDLOCK_SCOPE, abi >= 6,
		      abi >= 6 ? "signals and abstract sockets"
			       : "signals and abstract sockets are left to "
				 "namespaces and the filter");
}

static void add_namespaces(struct machine *m)
{
	const struct ns_caps *ns = &m->gate->ns;

	add(m, "namespaces", ns->available,
	    !ns->available ? ns->why
	    : ns->as_user  ? "mount, pid, ipc, uts and cgroup, in an own user "
			     "namespace; a whole view was made to try it"
			   : "mount, pid, ipc, uts and cgroup, by privilege; "
			     "a whole view was made to try it",
	    ns_remedy(ns));
	if (!ns->available)
		return;
	add_mechanism(m, MECHANISM_MEMFD_NOEXEC, true,
		      ns->memfd_noexec
			      ? "vm.memfd_noexec in the pid namespace"
			      : "by the filter: memory files must be sealed "
				"against execution");
}

static void add_idmap(struct machine *m)
{
	struct gate *g = m->gate;
	struct err err = ERR_INIT;
	int fd = -1;
	bool works;

	if (!g->is_root || !g->ns.available)
		return;
	works = ns_swap_ids(0, m->p->id.uid, 0, m->p->id.gid, &fd, &err) == 0;
	if (works && ns_try_idmap("/", fd, false) < 0) {
		err_sys(&err, errno, "id-mapped mount of /");
		works = false;
	}
	fd_closep(&fd);
	add_mechanism(m, MECHANISM_IDMAP, works,
		      works ? "granted files keep their owner inside the "
			      "sandbox (id-mapped mounts)"
			    : arena_printf(&g->arena,
					   "%s; where a grant needs one the "
					   "child stays root without "
					   "capabilities",
					   err.msg));
}

/* Where the kernel has no right for socket files, the listener stands in. */
static const char *listener_text(const struct gate *g, bool has_listener)
{
	bool is_needed = g->landlock_abi < LANDLOCK_ABI_UNIX;

	if (has_listener)
		return is_needed ? "refused calls are named in reports, and "
				   "sockets of a tree told from the host's"
				 : "refused calls are named in reports";
	return is_needed ? "no listener available: refused calls are not "
			   "named, and a tree has no sockets (unix) but pairs"
			 : "no listener available: refused calls are not named";
}

const struct gate_fact *gate_machine(struct gate *g, size_t *ret_n)
{
	const bool *group = g->cgroups.has;
	bool memory, pids, has_listener;
	struct prepared p;
	struct machine m = {
		.gate = g,
		.p = &p,
		.row = ARENA_ARRAY(&g->arena, struct gate_fact, ROWS),
	};

	prepare_default(g, &p);
	has_listener = launch_try_listener();
	add_mechanism(&m, MECHANISM_SECCOMP, true,
		      "filters can be installed; one is always");
	add_mechanism(&m, MECHANISM_NOTIFY, has_listener,
		      listener_text(g, has_listener));
	add_landlock(&m);
	add_namespaces(&m);
	add_idmap(&m);
	memory = group[CGROUP_MEMORY];
	pids = group[CGROUP_PIDS];
	add_mechanism(&m, MECHANISM_CGROUP, memory || pids,
		      memory || pids
			      ? arena_printf(&g->arena,
					     "version %d: %s%s%s of a tree",
					     g->cgroups.is_unified ? 2 : 1,
					     memory ? "memory" : "",
					     memory && pids ? " and " : "",
					     pids ? "processes" : "")
		      : *g->cgroups.why ? g->cgroups.why
					: "no controllers");
	add(&m, "identity", true,
	    arena_printf(&g->arena, "children are %s (uid %u)%s", p.id.name,
			 p.id.uid, p.id.change ? "; `user` names another" : ""),
	    NULL);
	add(&m, "view", p.own_view,
	    p.own_view ? "the system read-only, an own /proc, private /tmp, "
			 "/dev/shm and HOME; no new root, which would cost "
			 "more and hide names only"
		       : "the host's; private folders stand for /tmp and "
			 "HOME, and /dev/shm is shut: POSIX semaphores do "
			 "not work (python's multiprocessing)",
	    ns_remedy(&g->ns));
	prepared_release(&p);
	*ret_n = m.n;
	return m.row;
}

const char *gate_lost(const char *guarantee)
{
	for (int i = 0; i < N_GUARANTEES; i++)
		if (strcmp(GUARANTEES[i].name, guarantee) == 0)
			return GUARANTEES[i].then;
	return "";
}
