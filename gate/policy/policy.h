/*
 * Decision on what one program may do.
 *
 * The keys of `sandbox` arrive as a struct gate_policy (gate/gate.h) with
 * holes in it. policy_resolve() fills the defaults in, reads the endpoint list
 * and meets the result with the leash: a grant is never widened, and what the
 * leash takes away is written down for the report.
 *
 *	struct policy p;
 *	if (policy_resolve(request->policy, &leash, &arena, &p, err) < 0)
 *		return -1;
 *
 * Pure: it opens nothing. Paths are compared as text, so whoever opens a
 * grant judges the path that it really opened again (place_covers()).
 * The programs in `exec` are not met here, because only the resolver knows
 * which file a bare name means: it asks allow_exec() for each row and leaves
 * out what is refused.
 */
#ifndef GATE_POLICY_POLICY_H
#define GATE_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "gate/policy/endpoint.h"
#include "gate/gate.h"

enum policy_profile {
#define PROFILE(id, name, groups, help) PROFILE_##id,
#include "gate/policy/profiles.def"
#undef PROFILE
	N_PROFILES,
};

enum guarantee {
#define GUARANTEE(id, name, help, lost) GUARANTEE_##id,
#include "gate/policy/guarantees.def"
#undef GUARANTEE
	N_GUARANTEES,
};

enum mechanism {
#define MECHANISM(id, name, help, remedy) MECHANISM_##id,
#include "gate/policy/mechanisms.def"
#undef MECHANISM
	N_MECHANISMS,
};

/* One bit of policy.guarantees_required or .mechanisms_required. */
#define POLICY_BIT(n) (UINT32_C(1) << (n))

/* Rows of `net` that are not words; and those among them to loopback. */
#define POLICY_ENDPOINTS_MAX 256
#define POLICY_FORWARDS_MAX 32

enum policy_net {
	POLICY_NET_NONE,     /* no socket() at all */
	POLICY_NET_LOOPBACK, /* an own, private one: a network namespace */
	POLICY_NET_PORTS,    /* ports alone; see policy_use_proxy() */
	POLICY_NET_PROXY,    /* as loopback, and a proxy to .endpoints */
	POLICY_NET_ALL,
};

enum policy_unix {
	POLICY_UNIX_PRIVATE, /* servers of its own tree, and .unix_files */
	POLICY_UNIX_NONE,    /* not even pairs */
};

/*
 * Resolved policy: the keys of sandbox.def with defaults, and what was read
 * from those that have another form. Borrows from the gate_policy and the
 * leash; the rest is in the arena.
 */
struct policy {
#define SANDBOX_READ(...)
#define SANDBOX(key, option, field, type, ...) GATE_TYPE_##type field;
#include "gate/sandbox.def"
	/* Grants of `write` that fs_read of the leash does not cover: changed
	   beneath, not read. Empty unless a leash limits fs_read. */
	struct strlist write_only;
	enum policy_net net;
	const uint16_t
		*ports; /* of POLICY_NET_PORTS, for Landlock; ascending */
	size_t n_ports;
	const struct endpoint *endpoints; /* of PROXY and PORTS */
	size_t n_endpoints;
	/* UDP sockets: in a network of its own, with `all`, and when port 53 is
	   listed beside ports. No mechanism bounds UDP by port, so net-ports
	   is partial then. */
	bool net_udp;
	enum policy_unix unix_own;
	struct strlist unix_files; /* sockets of the host */
	enum policy_profile profile;
	uint32_t guarantees_required; /* POLICY_BIT(GUARANTEE_...) */
	uint32_t mechanisms_required; /* POLICY_BIT(MECHANISM_...) */
	/* Sentences on what the leash took away, for the report. */
	struct strlist capped;
};

/*
 * Fill in the defaults and meet the policy with the leash.
 *
 * leash   NULL = everything is allowed
 * errors  ERR_POLICY as gate_policy_check(), but names of system calls are
 *	   looked up by seccomp_check_names()
 */
int policy_resolve(const struct gate_policy *asked,
		   const struct gate_leash *leash, struct arena *arena,
		   struct policy *ret_policy, struct err *err) MUST_USE;

/* The numbers of a policy, which bound a program; 0 = no bound. */
struct gate_policy policy_bounds(const struct policy *p) MUST_USE;

/*
 * Ports alone, where there is a network namespace: through the proxy as rows
 * with hosts are, which alone tells public hosts from others. Landlock knows
 * ports only. Nothing else is changed.
 */
void policy_use_proxy(struct policy *p);
/* A network namespace with nothing but a loopback interface. */
bool policy_has_own_net(const struct policy *p) MUST_USE;

/* A row of one of the tables, by its enum. */
struct policy_word {
	const char *name, *help;
	const char *then; /* lost without it; remedy; NULL for a profile */
};

extern const struct policy_word PROFILES[N_PROFILES];
extern const struct policy_word GUARANTEES[N_GUARANTEES];
extern const struct policy_word MECHANISMS[N_MECHANISMS];

#endif
