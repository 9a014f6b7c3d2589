/*
 * What to do where something does not hold. The machine's remedies come from
 * gate/child/ns.c and mechanisms.def, the policy's stand here.
 */
#include "gate/prepare/inner.h"

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

const char *fact_remedy(const struct prepared *p, enum guarantee g)
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

bool mechanism_is_view(enum mechanism m)
{
	return m == MECHANISM_USERNS || m == MECHANISM_MNTNS ||
	       m == MECHANISM_PIDNS || m == MECHANISM_IPCNS ||
	       m == MECHANISM_UTSNS || m == MECHANISM_NETNS;
}

const char *mechanism_remedy_here(const struct prepared *p, enum mechanism m)
{
	if (!mechanism_is_view(m))
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
