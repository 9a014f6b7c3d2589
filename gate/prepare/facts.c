/*
 * What holds for one child, guarantee by guarantee: enforced and by what,
 * partly and what is missing, or not at all and why.
 */
#include "gate/prepare/inner.h"

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

static const char *landlock_text(const struct prepared *p)
{
	return arena_printf((struct arena *)&p->arena, "Landlock ABI %d",
			    p->gate->landlock_abi);
}

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
		return (struct judgement){GATE_ABSENT, NO_LANDLOCK};
	if (p->open_programs)
		return (struct judgement){
			GATE_PARTIAL,
			arena_printf(&p->arena,
				     "%s; a read grant covers a folder of "
				     "programs, and the loader can run what "
				     "can be read",
				     by)};
	if (!p->own_view)
		return (struct judgement){
			GATE_PARTIAL,
			arena_printf(&p->arena,
				     "%s; the loader could run what the "
				     "program has written (no noexec view: "
				     "%s)",
				     by, p->why_no_view)};
	if (has_loadable_writes(p))
		return (struct judgement){
			GATE_PARTIAL,
			arena_printf(&p->arena,
				     "%s; the loader could run what is "
				     "written to a grant; profile = "
				     "\"strict\" prevents that",
				     by)};
	return (struct judgement){
		GATE_ENFORCED,
		arena_printf(&p->arena, "%s, noexec private places", by)};
}

static struct judgement judge_fs_read(struct prepared *p)
{
	if (p->gate->landlock_abi < 1)
		return (struct judgement){GATE_ABSENT, NO_LANDLOCK};
	return (struct judgement){
		GATE_ENFORCED,
		arena_printf(&p->arena,
			     "%s, as user %s%s%s%s; names outside can be seen",
			     landlock_text(p), p->id.name,
			     p->id.is_mapped ? ", id-mapped grants" : "",
			     p->id.why ? " without capabilities: " : "",
			     p->id.why ? p->id.why : "")};
}

static struct judgement judge_fs_write(struct prepared *p)
{
	const char *missing = NULL;

	if (p->own_view && p->gate->landlock_abi < 1 && !p->id.uid)
		return (struct judgement){GATE_PARTIAL,
					  "read-only view; root's device files "
					  "can be written without Landlock"};
	if (p->own_view)
		return (struct judgement){
			GATE_ENFORCED,
			arena_printf(&p->arena, "read-only view%s%s",
				     p->gate->landlock_abi ? ", " : "",
				     p->gate->landlock_abi ? landlock_text(p)
							   : "")};
	if (!p->id.uid)
		missing = prepared_keeps_attributes(p)
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
	return (struct judgement){
		GATE_PARTIAL,
		arena_printf(
			&p->arena, "%s; %s%s", landlock_text(p), missing,
			p->gate->landlock_abi < 3
				? ", and writable ones truncated (Landlock "
				  "ABI 3 stops that)"
				: "")};
}

static struct judgement judge_net_off(struct prepared *p)
{
	switch (p->policy.net) {
	case POLICY_NET_NONE:
		return (struct judgement){GATE_ENFORCED,
					  "the filter refuses socket()"};
	case POLICY_NET_LOOPBACK:
		return (struct judgement){GATE_ENFORCED,
					  "an own network namespace"};
	case POLICY_NET_PROXY:
		return (struct judgement){
			GATE_ABSENT, "net is granted; nothing is reached past "
				     "the proxy"};
	default:
		return (struct judgement){GATE_ABSENT, "net is granted"};
	}
}

static struct judgement judge_net_ports(struct prepared *p)
{
	if (p->policy.net == POLICY_NET_ALL)
		return (struct judgement){GATE_ABSENT, "net = \"all\""};
	if (p->policy.net == POLICY_NET_PROXY)
		return (struct judgement){
			GATE_ENFORCED,
			arena_printf(&p->arena,
				     "own network namespace, proxy: %zu row%s",
				     p->policy.n_endpoints,
				     p->policy.n_endpoints == 1 ? "" : "s")};
	if (p->policy.net != POLICY_NET_PORTS)
		return judge_net_off(p);
	return (struct judgement){
		GATE_PARTIAL,
		arena_printf(&p->arena,
			     "%s: any host on these ports, this machine and "
			     "private networks too%s (%s)",
			     landlock_text(p),
			     p->policy.net_udp ? "; UDP goes to any port, "
						 "since port 53 is granted"
					       : "",
			     p->why_no_view)};
}

static struct judgement judge_proc_hidden(struct prepared *p)
{
	if (p->own_view)
		return (struct judgement){GATE_ENFORCED,
					  "pid namespace with an own /proc"};
	return (struct judgement){GATE_ABSENT, p->why_no_view};
}

static struct judgement judge_ipc(struct prepared *p)
{
	bool scoped = p->gate->landlock_abi >= 6;
	bool no_abstract = p->policy.net == POLICY_NET_NONE ||
			   policy_has_own_net(&p->policy) || scoped;

	if (p->own_view && no_abstract)
		return (struct judgement){GATE_ENFORCED,
					  "ipc and pid namespaces"};
	if (scoped)
		return (struct judgement){GATE_ENFORCED,
					  "Landlock scopes; the filter refuses "
					  "shared memory and queues"};
	if (p->own_view)
		return (struct judgement){
			GATE_PARTIAL, "namespaces; abstract sockets can be "
				      "reached (Landlock ABI 6 stops that)"};
	return (struct judgement){
		GATE_PARTIAL, "the filter refuses shared memory and queues; "
			      "signals reach the user's other programs"};
}

static bool has_group(const struct prepared *p)
{
	return p->group_has[CGROUP_MEMORY] || p->group_has[CGROUP_PIDS];
}

static struct judgement judge_tree_kill(struct prepared *p)
{
	if (p->own_view)
		return (struct judgement){GATE_ENFORCED, "pid namespace"};
	if (!has_group(p))
		return (struct judgement){
			GATE_PARTIAL, "a subreaper ends the tree; not when it "
				      "is killed itself"};
	if (p->gate->landlock_abi < 6 && !p->id.change)
		return (struct judgement){
			GATE_PARTIAL,
			"a subreaper and a control group end the tree; the "
			"program can signal the runner (Landlock ABI 6 stops "
			"that)"};
	return (struct judgement){GATE_ENFORCED,
				  arena_printf(&p->arena,
					       "a subreaper, and the tree's %s",
					       prepared_group_text(p))};
}

static struct judgement judge_limits_pids(struct prepared *p)
{
	if (p->group_has[CGROUP_PIDS])
		return (struct judgement){GATE_ENFORCED,
					  arena_printf(&p->arena,
						       "pids.max of a %s",
						       prepared_group_text(p))};
	if (p->own_view && p->gate->ns.as_user)
		return (struct judgement){
			GATE_ENFORCED, "RLIMIT_NPROC in an own user namespace"};
	if (p->own_view && p->gate->ns.pid_max)
		return (struct judgement){GATE_ENFORCED,
					  "pid_max of the pid namespace"};
	return (struct judgement){GATE_PARTIAL,
				  "RLIMIT_NPROC, which counts the user's other "
				  "processes as well"};
}

static struct judgement judge_limits_mem(struct prepared *p)
{
	if (p->group_has[CGROUP_MEMORY])
		return (struct judgement){
			GATE_ENFORCED,
			arena_printf(&p->arena,
				     "a %s counts all memory of the tree",
				     prepared_group_text(p))};
	return (struct judgement){
		GATE_PARTIAL,
		arena_printf(&p->arena,
			     "RLIMIT_DATA for the private memory of each "
			     "process, not for shared memory and not for the "
			     "tree (no control group: %s)",
			     prepared_no_group(p))};
}

static struct judgement judge_no_tty(struct prepared *p)
{
	if (p->gate->landlock_abi < 1)
		return (struct judgement){GATE_PARTIAL,
					  "own session, no terminal handed on, "
					  "TIOCSTI refused; without Landlock "
					  "terminals of the same user can be "
					  "opened"};
	return (struct judgement){
		GATE_ENFORCED,
		"own session, no terminal handed on, TIOCSTI refused"};
}

static struct judgement judge_env_clean(UNUSED struct prepared *p)
{
	return (struct judgement){GATE_ENFORCED, "built from nothing"};
}

static struct judgement judge_syscalls(struct prepared *p)
{
	return (struct judgement){
		GATE_ENFORCED,
		arena_printf(&p->arena, "seccomp, profile %s%s",
			     profile_name(p->policy.profile),
			     p->launch.filter.len ? "" : ", unnamed")};
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

/* Its own reason, where one is known. */
static const char *why_no_mechanism(struct prepared *p, enum mechanism m)
{
	if (m == MECHANISM_CGROUP)
		return prepared_no_group(p);
	if (m == MECHANISM_LANDLOCK || m == MECHANISM_LANDLOCK_NET ||
	    m == MECHANISM_LANDLOCK_SCOPE)
		return p->gate->landlock_abi < 1 ? NO_LANDLOCK
						 : landlock_text(p);
	return mechanism_is_view(m) ? p->why_no_view : NULL;
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
