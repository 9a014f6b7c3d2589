#include "gate/prepare/facts.h"

#include <stdarg.h>

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

/* A writable grant on which the loader could still run what is written. */
static bool has_loadable_writes(const struct prepared *p)
{
	return (p->policy.write.n || p->policy.write_only.n ||
		p->policy.tmp_shared) &&
	       p->policy.profile != PROFILE_STRICT;
}

static struct judgement judge_exec_listed(struct prepared *p)
{
	const char *by = landlock_text(p);

	if (p->gate->landlock_abi < 1)
		return judged(p, GATE_ABSENT, NO_LANDLOCK);
	if (p->open_programs)
		return judged(p, GATE_PARTIAL,
			      "%s; a read grant covers a folder of "
			      "programs, and the loader can run what "
			      "can be read",
			      by);
	if (!p->own_view)
		return judged(p, GATE_PARTIAL,
			      "%s; the loader could run what the "
			      "program has written (no noexec view: "
			      "%s)",
			      by, p->why_no_view);
	if (has_loadable_writes(p))
		return judged(p, GATE_PARTIAL,
			      "%s; the loader could run what is "
			      "written to a grant; profile = "
			      "\"strict\" prevents that",
			      by);
	return judged(p, GATE_ENFORCED, "%s, noexec private places", by);
}

static struct judgement judge_fs_read(struct prepared *p)
{
	if (p->gate->landlock_abi < 1)
		return judged(p, GATE_ABSENT, NO_LANDLOCK);
	return judged(p, GATE_ENFORCED,
		      "%s, as user %s%s%s%s; names outside can be seen",
		      landlock_text(p), p->id.name,
		      p->id.is_mapped ? ", id-mapped grants" : "",
		      p->id.why ? " without capabilities: " : "",
		      p->id.why ? p->id.why : "");
}

static struct judgement judge_fs_write(struct prepared *p)
{
	const char *missing = NULL;

	if (p->own_view && p->gate->landlock_abi < 1 && !p->id.uid)
		return judged(p, GATE_PARTIAL,
			      "read-only view; root's device files "
			      "can be written without Landlock");
	if (p->own_view)
		return judged(p, GATE_ENFORCED, "read-only view%s%s",
			      p->gate->landlock_abi ? ", " : "",
			      p->gate->landlock_abi ? landlock_text(p) : "");
	if (!p->id.uid)
		missing = p->keep_attributes
				  ? "it stays root; the filter refuses to "
				    "change modes, owners, times and attributes"
				  : "it stays root: modes, times and "
				    "attributes of all of root's files, the "
				    "system's among them, can be changed";
	else if (p->git_unprotected)
		missing = "hooks and configuration (git, editors, agents) in "
			  "a granted folder are writable";
	else if (p->write_holes)
		missing = "new files cannot be made beside protected ones";
	else if (!p->id.change)
		missing = "modes, times and attributes of the user's other "
			  "files can be changed";
	else
		missing = "times and attributes of files that everybody may "
			  "write can be changed";
	return judged(p, GATE_PARTIAL, "%s; %s%s", landlock_text(p), missing,
		      p->gate->landlock_abi < 3
			      ? ", and writable ones truncated (Landlock "
				"ABI 3 stops that)"
			      : "");
}

static struct judgement judge_net_off(struct prepared *p)
{
	switch (p->policy.net) {
	case POLICY_NET_NONE:
		return judged(p, GATE_ENFORCED, "the filter refuses socket()");
	case POLICY_NET_LOOPBACK:
		return judged(p, GATE_ENFORCED, "an own network namespace");
	case POLICY_NET_PROXY:
		return judged(p, GATE_ABSENT,
			      "net is granted; nothing is reached past "
			      "the proxy");
	default:
		return judged(p, GATE_ABSENT, "net is granted");
	}
}

static struct judgement judge_net_ports(struct prepared *p)
{
	if (p->policy.net == POLICY_NET_ALL)
		return judged(p, GATE_ABSENT, "net = \"all\"");
	if (p->policy.net == POLICY_NET_PROXY)
		return judged(p, GATE_ENFORCED,
			      "own network namespace, proxy: %zu row%s",
			      p->policy.n_endpoints,
			      p->policy.n_endpoints == 1 ? "" : "s");
	if (p->policy.net != POLICY_NET_PORTS)
		return judge_net_off(p);
	return judged(p, GATE_PARTIAL,
		      "%s: any host on these ports, this machine and "
		      "private networks too%s (%s)",
		      landlock_text(p),
		      p->policy.net_udp ? "; UDP goes to any port, "
					  "since port 53 is granted"
					: "",
		      p->why_no_view);
}

static struct judgement judge_proc_hidden(struct prepared *p)
{
	if (p->own_view)
		return judged(p, GATE_ENFORCED,
			      "pid namespace with an own /proc");
	return judged(p, GATE_ABSENT, "%s", p->why_no_view);
}

static struct judgement judge_ipc(struct prepared *p)
{
	bool scoped = p->gate->landlock_abi >= 6;
	bool no_abstract = p->policy.net == POLICY_NET_NONE ||
			   policy_has_own_net(&p->policy) || scoped;

	if (p->own_view && no_abstract)
		return judged(p, GATE_ENFORCED, "ipc and pid namespaces");
	if (scoped)
		return judged(p, GATE_ENFORCED,
			      "Landlock scopes; the filter refuses "
			      "shared memory and queues");
	if (p->own_view)
		return judged(p, GATE_PARTIAL,
			      "namespaces; abstract sockets can be "
			      "reached (Landlock ABI 6 stops that)");
	return judged(p, GATE_PARTIAL,
		      "the filter refuses shared memory and queues; "
		      "signals reach the user's other programs");
}

static bool has_group(const struct prepared *p)
{
	return p->group_has[CGROUP_MEMORY] || p->group_has[CGROUP_PIDS];
}

static struct judgement judge_tree_kill(struct prepared *p)
{
	if (p->own_view)
		return judged(p, GATE_ENFORCED, "pid namespace");
	if (!has_group(p))
		return judged(p, GATE_PARTIAL,
			      "a subreaper ends the tree; not when it "
			      "is killed itself");
	if (p->gate->landlock_abi < 6 && !p->id.change)
		return judged(
			p, GATE_PARTIAL,
			"a subreaper and a control group end the tree; the "
			"program can signal the runner (Landlock ABI 6 stops "
			"that)");
	return judged(p, GATE_ENFORCED, "a subreaper, and the tree's %s",
		      group_text(p));
}

static struct judgement judge_limits_pids(struct prepared *p)
{
	if (p->group_has[CGROUP_PIDS])
		return judged(p, GATE_ENFORCED, "pids.max of a %s",
			      group_text(p));
	if (p->own_view && p->gate->ns.as_user)
		return judged(p, GATE_ENFORCED,
			      "RLIMIT_NPROC in an own user namespace");
	if (p->own_view && p->gate->ns.pid_max)
		return judged(p, GATE_ENFORCED, "pid_max of the pid namespace");
	return judged(p, GATE_PARTIAL,
		      "RLIMIT_NPROC, which counts the user's other "
		      "processes as well");
}

static struct judgement judge_limits_mem(struct prepared *p)
{
	if (p->group_has[CGROUP_MEMORY])
		return judged(p, GATE_ENFORCED,
			      "a %s counts all memory of the tree",
			      group_text(p));
	return judged(p, GATE_PARTIAL,
		      "RLIMIT_DATA for the private memory of each "
		      "process, not for shared memory and not for the "
		      "tree (no control group: %s)",
		      why_no_group(p));
}

static struct judgement judge_no_tty(struct prepared *p)
{
	if (p->gate->landlock_abi < 1)
		return judged(p, GATE_PARTIAL,
			      "own session, no terminal handed on, "
			      "TIOCSTI refused; without Landlock "
			      "terminals of the same user can be "
			      "opened");
	return judged(p, GATE_ENFORCED,
		      "own session, no terminal handed on, TIOCSTI refused");
}

static struct judgement judge_env_clean(struct prepared *p)
{
	return judged(p, GATE_ENFORCED, "built from nothing");
}

static struct judgement judge_syscalls(struct prepared *p)
{
	return judged(p, GATE_ENFORCED, "seccomp, profile %s%s",
		      profile_name(p->policy.profile),
		      p->launch.filter.len ? "" : ", unnamed");
}

/* One row for each of guarantees.def, in that order. */
static struct judgement (*const judges[N_GUARANTEES])(struct prepared *) = {
	[GUARANTEE_EXEC_LISTED] = judge_exec_listed,
	[GUARANTEE_FS_READ] = judge_fs_read,
	[GUARANTEE_FS_WRITE] = judge_fs_write,
	[GUARANTEE_NET_OFF] = judge_net_off,
	[GUARANTEE_NET_PORTS] = judge_net_ports,
	[GUARANTEE_PROC_HIDDEN] = judge_proc_hidden,
	[GUARANTEE_IPC] = judge_ipc,
	[GUARANTEE_TREE_KILL] = judge_tree_kill,
	[GUARANTEE_LIMITS_PIDS] = judge_limits_pids,
	[GUARANTEE_LIMITS_MEM] = judge_limits_mem,
	[GUARANTEE_NO_TTY] = judge_no_tty,
	[GUARANTEE_ENV_CLEAN] = judge_env_clean,
	[GUARANTEE_SYSCALLS] = judge_syscalls,
};

/* ---- remedies: the machine's come from gate/child/ns.c and mechanisms.def
 * ---- */

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static const char *view_remedy(const struct prepared *p)
{
	if (p->own_view)
		return NULL;
	if (p->policy.isolate == GATE_ISOLATE_OFF)
		return "isolate = \"auto\"";
	return or_null(ns_remedy(&p->gate->ns));
}

static const char *exec_listed_remedy(const struct prepared *p)
{
	if (p->gate->landlock_abi < 1)
		return mechanism_remedy(MECHANISM_LANDLOCK);
	if (p->open_programs)
		return "grant what is needed instead of a whole folder of "
		       "programs";
	if (!p->own_view)
		return view_remedy(p);
	return "profile = \"strict\"";
}

static const char *net_remedy(const struct prepared *p)
{
	if (p->policy.net == POLICY_NET_NONE)
		return NULL;
	if (p->policy.net == POLICY_NET_PORTS)
		return view_remedy(p);
	return "leave `net` out, or name what is needed instead of \"all\"";
}

static const char *fact_remedy(const struct prepared *p, enum guarantee g)
{
	switch (g) {
	case GUARANTEE_EXEC_LISTED:
		return exec_listed_remedy(p);
	case GUARANTEE_FS_READ:
	case GUARANTEE_NO_TTY:
		return mechanism_remedy(MECHANISM_LANDLOCK);
	case GUARANTEE_FS_WRITE:
		return p->own_view ? mechanism_remedy(MECHANISM_LANDLOCK)
				   : view_remedy(p);
	case GUARANTEE_NET_OFF:
	case GUARANTEE_NET_PORTS:
		return net_remedy(p);
	case GUARANTEE_IPC:
		return p->own_view ? mechanism_remedy(MECHANISM_LANDLOCK_SCOPE)
				   : view_remedy(p);
	case GUARANTEE_PROC_HIDDEN:
	case GUARANTEE_TREE_KILL:
		return view_remedy(p);
	case GUARANTEE_LIMITS_PIDS:
		if (!p->own_view)
			return view_remedy(p);
		return mechanism_remedy(MECHANISM_CGROUP);
	case GUARANTEE_LIMITS_MEM:
		return mechanism_remedy(MECHANISM_CGROUP);
	default:
		return NULL;
	}
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
		return or_null(mechanism_remedy(m));
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

static int refuse_mechanism(struct prepared *p, enum mechanism m,
			    struct err *err)
{
	const char *remedy = mechanism_remedy_here(p, m);
	const char *why = why_no_mechanism(p, m);

	return err_set(err, ERR_PROTECTION,
		       "require: %s (%s) is not in use here%s%s%s%s",
		       mechanism_name(m), mechanism_help(m), why ? ": " : "",
		       why ? why : "", remedy ? "; to have it: " : "",
		       remedy ? remedy : "");
}

static int check_required(struct prepared *p, struct err *err)
{
	for (int i = 0; i < N_GUARANTEES; i++)
		if (p->policy.guarantees_required & POLICY_BIT(i) &&
		    p->facts[i].level != GATE_ENFORCED)
			return err_set(
				err, ERR_PROTECTION,
				"require: %s is %s here: %s%s%s",
				p->facts[i].guarantee,
				gate_level_name(p->facts[i].level),
				p->facts[i].how,
				p->facts[i].remedy ? "; to have it: " : "",
				p->facts[i].remedy ? p->facts[i].remedy : "");
	for (int i = 0; i < N_MECHANISMS; i++)
		if (p->policy.mechanisms_required & POLICY_BIT(i) &&
		    !has_mechanism(p, (enum mechanism)i))
			return refuse_mechanism(p, (enum mechanism)i, err);
	return 0;
}

int prepare_facts(struct prepared *p, struct err *err)
{
	for (int i = 0; i < N_GUARANTEES; i++) {
		struct judgement j = judges[i](p);

		p->facts[i] = (struct gate_fact){
			.guarantee = guarantee_name((enum guarantee)i),
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
