#include "gate/prepare/parts.h"

#define NO_LANDLOCK "this kernel has no Landlock, or it is not enabled at boot"

struct judgement {
	enum gate_level level;
	const char *how;
};

const char *gate_level_name(enum gate_level level)
{
	static const char *const names[] = {"enforced", "partial", "absent"};

	return names[level];
}

/* A judgement; its text lives in the arena of the request. */
static struct judgement PRINTF(3, 4)
	judged(struct prepared *p, enum gate_level level, const char *fmt, ...)
{
	struct judgement j = {.level = level};
	va_list ap;

	va_start(ap, fmt);
	j.how = arena_vprintf(&p->arena, fmt, ap);
	va_end(ap);
	return j;
}

#define ENFORCED(...) judged(p, GATE_ENFORCED, __VA_ARGS__)
#define PARTIAL(...) judged(p, GATE_PARTIAL, __VA_ARGS__)
#define ABSENT(...) judged(p, GATE_ABSENT, __VA_ARGS__)

static const char *landlock_text(struct prepared *p)
{
	return arena_printf(&p->arena, "Landlock ABI %d",
			    p->gate->landlock_abi);
}

static const char *group_text(const struct prepared *p)
{
	return p->gate->cgroups.is_unified ? "control group (version 2)"
					   : "control group (version 1)";
}

static const char *why_no_group(const struct prepared *p)
{
	return *p->gate->cgroups.why ? p->gate->cgroups.why
				     : "none could be made";
}

/* ---- guarantees ---- */

static struct judgement judge_exec_listed(struct prepared *p)
{
	const struct policy *o = &p->policy;
	const char *by = landlock_text(p);

	if (p->gate->landlock_abi < 1)
		return ABSENT(NO_LANDLOCK);
	if (p->open_programs)
		return PARTIAL("%s; a read grant covers a folder of programs, "
			       "and the loader can run what can be read",
			       by);
	if (!p->own_view)
		return PARTIAL("%s; the loader could run what the program has "
			       "written (no noexec view: %s)",
			       by, p->why_no_view);
	/* the loader can run what is written to a grant */
	if (o->profile != PROFILE_STRICT &&
	    (o->write.n || o->write_only.n || o->tmp_shared))
		return PARTIAL("%s; a program that it writes to a granted "
			       "folder could be run by ld.so; "
			       "sandbox.profile = \"strict\" prevents that",
			       by);
	return ENFORCED("%s, noexec private places", by);
}

/* Files that a child without a view can still change. */
static const char *open_to_writes(const struct prepared *p)
{
	if (!p->id.uid)
		return p->keep_attributes
			       ? "it stays root; the filter refuses to change "
				 "modes, owners, times and attributes"
			       : "it stays root: modes, times and attributes "
				 "of all of root's files, the system's among "
				 "them, can be changed";
	if (p->git_unprotected)
		return "hooks and configuration (git, editors, agents) in a "
		       "granted folder are writable";
	if (p->write_holes)
		return "new files cannot be made beside protected ones";
	return p->id.change ? "times and attributes of files that everybody "
			      "may write can be changed"
			    : "modes, times and attributes of the user's "
			      "other files can be changed";
}

static struct judgement judge_fs_write(struct prepared *p)
{
	int abi = p->gate->landlock_abi;

	if (p->own_view && abi < 1)
		return PARTIAL("read-only view; device files that the user may "
			       "write can be written without Landlock");
	if (p->own_view)
		return ENFORCED("read-only view%s%s", abi ? ", " : "",
				abi ? landlock_text(p) : "");
	return PARTIAL("%s; %s%s", landlock_text(p), open_to_writes(p),
		       abi < 3 ? ", and writable ones truncated (Landlock ABI "
				 "3 stops that)"
			       : "");
}

static struct judgement judge_net_off(struct prepared *p)
{
	switch (p->policy.net) {
	case POLICY_NET_NONE:
		return ENFORCED("the filter refuses sockets of the network");
	case POLICY_NET_LOOPBACK:
		return ENFORCED("an own network namespace");
	case POLICY_NET_PROXY:
		return ABSENT("net is granted; nothing is reached past the "
			      "proxy");
	default:
		return ABSENT("net is granted");
	}
}

static struct judgement judge_net_ports(struct prepared *p)
{
	const struct policy *o = &p->policy;

	if (o->net == POLICY_NET_ALL)
		return ABSENT("net = \"all\"");
	if (o->net == POLICY_NET_PROXY)
		return ENFORCED("own network namespace, proxy: %zu row%s",
				o->n_endpoints, o->n_endpoints == 1 ? "" : "s");
	if (o->net != POLICY_NET_PORTS)
		return judge_net_off(p);
	return PARTIAL("%s: any host on these ports, this machine and private "
		       "networks too%s (%s)",
		       landlock_text(p),
		       o->net_udp ? "; UDP goes to any port, since port 53 is "
				    "granted"
				  : "",
		       p->why_no_view);
}

static struct judgement judge_ipc(struct prepared *p)
{
	bool scoped = p->gate->landlock_abi >= 6;

	if (p->own_view && (scoped || p->policy.net == POLICY_NET_NONE ||
			    policy_has_own_net(&p->policy)))
		return ENFORCED("ipc and pid namespaces");
	if (scoped)
		return ENFORCED("Landlock scopes; the filter refuses shared "
				"memory and queues");
	if (p->own_view)
		return PARTIAL("namespaces; abstract sockets can be reached "
			       "(Landlock ABI 6 stops that)");
	return PARTIAL("the filter refuses shared memory and queues; signals "
		       "reach the user's other programs");
}

static struct judgement judge_tree_kill(struct prepared *p)
{
	if (p->own_view)
		return ENFORCED("pid namespace");
	if (!p->group_has[CGROUP_MEMORY] && !p->group_has[CGROUP_PIDS])
		return PARTIAL("a subreaper ends the tree; not when it is "
			       "killed itself");
	if (p->gate->landlock_abi < 6 && !p->id.change)
		return PARTIAL("a subreaper and a control group end the tree; "
			       "the program can signal the runner (Landlock "
			       "ABI 6 stops that)");
	return ENFORCED("a subreaper, and the tree's %s", group_text(p));
}

static struct judgement judge_limits_pids(struct prepared *p)
{
	if (p->group_has[CGROUP_PIDS])
		return ENFORCED("pids.max of a %s", group_text(p));
	if (p->own_view && p->gate->ns.as_user)
		return ENFORCED("RLIMIT_NPROC in an own user namespace");
	if (p->own_view && p->gate->ns.pid_max)
		return ENFORCED("pid_max of the pid namespace");
	return PARTIAL("RLIMIT_NPROC, which counts the user's other processes "
		       "as well");
}

static struct judgement judge(struct prepared *p, enum guarantee g)
{
	bool landlock = p->gate->landlock_abi >= 1;

	switch (g) {
	case GUARANTEE_EXEC_LISTED:
		return judge_exec_listed(p);
	case GUARANTEE_FS_READ:
		if (!landlock)
			return ABSENT(NO_LANDLOCK);
		return ENFORCED("%s, as user %s%s%s%s; names outside can be "
				"seen",
				landlock_text(p), p->id.name,
				p->id.is_mapped ? ", id-mapped grants" : "",
				p->id.why ? " without capabilities: " : "",
				p->id.why ? p->id.why : "");
	case GUARANTEE_FS_WRITE:
		return judge_fs_write(p);
	case GUARANTEE_NET_OFF:
		return judge_net_off(p);
	case GUARANTEE_NET_PORTS:
		return judge_net_ports(p);
	case GUARANTEE_PROC_HIDDEN:
		return p->own_view ? ENFORCED("pid namespace with an own /proc")
				   : ABSENT("%s", p->why_no_view);
	case GUARANTEE_IPC:
		return judge_ipc(p);
	case GUARANTEE_TREE_KILL:
		return judge_tree_kill(p);
	case GUARANTEE_LIMITS_PIDS:
		return judge_limits_pids(p);
	case GUARANTEE_LIMITS_MEM:
		if (p->group_has[CGROUP_MEMORY])
			return ENFORCED("a %s counts all memory of the tree",
					group_text(p));
		return PARTIAL("RLIMIT_DATA for the private memory of each "
			       "process, not for shared memory and not for "
			       "the tree (no control group: %s)",
			       why_no_group(p));
	case GUARANTEE_NO_TTY:
		if (landlock)
			return ENFORCED("own session, no terminal handed on, "
					"TIOCSTI refused");
		return PARTIAL("own session, no terminal handed on, TIOCSTI "
			       "refused; without Landlock terminals of the "
			       "same user can be opened");
	case GUARANTEE_ENV_CLEAN:
		return ENFORCED("built from nothing");
	case GUARANTEE_SYSCALLS:
		return ENFORCED("seccomp, profile %s%s",
				PROFILES[p->policy.profile].name,
				p->launch.filter.len ? "" : ", unnamed");
	case N_GUARANTEES:
		break;
	}
	return ABSENT("unknown");
}

/* ---- remedies: the machine's come from ns.c and mechanisms.def ---- */

static const char *view_remedy(const struct prepared *p)
{
	struct gate *g = p->gate;

	if (p->own_view)
		return NULL;
	if (p->policy.isolate == GATE_ISOLATE_OFF)
		return "isolate = \"auto\"";
	if (!g->ns_remedy)
		g->ns_remedy = ns_remedy(&g->ns);
	return *g->ns_remedy ? g->ns_remedy : NULL;
}

static const char *fact_remedy(const struct prepared *p, enum guarantee g)
{
	enum mechanism m = MECHANISM_LANDLOCK;

	switch (g) {
	case GUARANTEE_EXEC_LISTED:
		if (p->gate->landlock_abi < 1)
			break;
		if (p->open_programs)
			return "grant what is needed instead of a whole folder "
			       "of programs";
		return p->own_view ? "sandbox.profile = \"strict\""
				   : view_remedy(p);
	case GUARANTEE_NET_OFF:
	case GUARANTEE_NET_PORTS:
		if (p->policy.net == POLICY_NET_NONE)
			return NULL;
		if (p->policy.net == POLICY_NET_PORTS)
			return view_remedy(p);
		return "leave `net` out, or name what is needed instead of "
		       "\"all\"";
	case GUARANTEE_FS_READ:
	case GUARANTEE_NO_TTY:
		break;
	case GUARANTEE_LIMITS_MEM:
		m = MECHANISM_CGROUP;
		break;
	case GUARANTEE_FS_WRITE:
	case GUARANTEE_IPC:
	case GUARANTEE_LIMITS_PIDS:
		if (!p->own_view)
			return view_remedy(p);
		if (g != GUARANTEE_FS_WRITE)
			m = g == GUARANTEE_IPC ? MECHANISM_LANDLOCK_SCOPE
					       : MECHANISM_CGROUP;
		break;
	case GUARANTEE_PROC_HIDDEN:
	case GUARANTEE_TREE_KILL:
		return view_remedy(p);
	default:
		return NULL;
	}
	return MECHANISMS[m].then;
}

static bool is_view_mechanism(enum mechanism m)
{
	return m == MECHANISM_USERNS || m == MECHANISM_MNTNS ||
	       m == MECHANISM_PIDNS || m == MECHANISM_IPCNS ||
	       m == MECHANISM_UTSNS || m == MECHANISM_NETNS;
}

const char *mechanism_remedy_here(const struct prepared *p, enum mechanism m)
{
	if (!is_view_mechanism(m))
		return *MECHANISMS[m].then ? MECHANISMS[m].then : NULL;
	if (!p->own_view)
		return view_remedy(p);
	if (m == MECHANISM_USERNS)
		return "start matins as an ordinary user: as root namespaces "
		       "need none";
	if (m == MECHANISM_NETNS)
		return "net = \"loopback\"";
	return NULL;
}

/* ---- what `require` names ---- */

static bool has_mechanism(const struct prepared *p, enum mechanism m)
{
	int abi = p->gate->landlock_abi;

	switch (m) {
	case MECHANISM_SECCOMP:
	case MECHANISM_MEMFD_NOEXEC: /* by sysctl, or asked of each call */
		return true;
	case MECHANISM_NOTIFY:
		return p->launch.filter.len;
	case MECHANISM_LANDLOCK:
		return abi >= 1;
	case MECHANISM_LANDLOCK_NET:
		return abi >= 4;
	case MECHANISM_LANDLOCK_SCOPE:
		return abi >= 6;
	case MECHANISM_USERNS:
		return p->own_view && p->gate->ns.as_user;
	case MECHANISM_MNTNS:
	case MECHANISM_PIDNS:
	case MECHANISM_IPCNS:
	case MECHANISM_UTSNS:
		return p->own_view;
	case MECHANISM_NETNS:
		return p->own_view && policy_has_own_net(&p->policy);
	case MECHANISM_IDMAP:
		return p->id.is_mapped;
	case MECHANISM_CGROUP:
		return p->group_has[CGROUP_MEMORY] && p->group_has[CGROUP_PIDS];
	case N_MECHANISMS:
		break;
	}
	return false;
}

/* Reason of its own for one mechanism; NULL: none is known. */
static const char *why_no_mechanism(struct prepared *p, enum mechanism m)
{
	if (m == MECHANISM_CGROUP)
		return why_no_group(p);
	if (m == MECHANISM_LANDLOCK || m == MECHANISM_LANDLOCK_NET ||
	    m == MECHANISM_LANDLOCK_SCOPE)
		return p->gate->landlock_abi < 1 ? NO_LANDLOCK
						 : landlock_text(p);
	return is_view_mechanism(m) ? p->why_no_view : NULL;
}

static int check_required(struct prepared *p, struct err *err)
{
	for (int i = 0; i < N_GUARANTEES; i++) {
		const struct gate_fact *f = &p->facts[i];

		if (p->policy.guarantees_required & POLICY_BIT(i) &&
		    f->level != GATE_ENFORCED)
			return err_set(err, ERR_PROTECTION,
				       "require: %s is %s here: %s%s%s",
				       f->guarantee, gate_level_name(f->level),
				       f->how,
				       f->remedy ? "; to have it: " : "",
				       f->remedy ? f->remedy : "");
	}
	for (enum mechanism m = 0; m < N_MECHANISMS; m++) {
		const char *remedy, *why;

		if (!(p->policy.mechanisms_required & POLICY_BIT(m)) ||
		    has_mechanism(p, m))
			continue;
		remedy = mechanism_remedy_here(p, m);
		why = why_no_mechanism(p, m);
		return err_set(err, ERR_PROTECTION,
			       "require: %s (%s) is not in use here%s%s%s%s",
			       MECHANISMS[m].name, MECHANISMS[m].help,
			       why ? ": " : "", why ? why : "",
			       remedy ? "; to have it: " : "",
			       remedy ? remedy : "");
	}
	return 0;
}

int prepare_facts(struct prepared *p, struct err *err)
{
	for (int i = 0; i < N_GUARANTEES; i++) {
		struct judgement j = judge(p, (enum guarantee)i);

		p->facts[i] = (struct gate_fact){
			.guarantee = GUARANTEES[i].name,
			.level = j.level,
			.how = j.how,
		};
		if (j.level != GATE_ENFORCED)
			p->facts[i].remedy = fact_remedy(p, (enum guarantee)i);
	}
	if (p->gate->landlock_abi < 1 && !p->own_view)
		return err_set(err, ERR_PROTECTION,
			       "neither Landlock nor namespaces: nothing "
			       "would keep the program from the user's files "
			       "(%s)",
			       p->why_no_view);
	return check_required(p, err);
}
