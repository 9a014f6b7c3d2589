/*
 * Filters that need no building: those of the named profiles.
 *
 * libseccomp takes a millisecond or two for a filter, which is as long as
 * everything else that a run does. So the filter of each variant is generated
 * by libseccomp when the program is built, and kept in it as bytes. A policy
 * that adds system calls by name is built when it is due, by seccomp_build();
 * so is one that this kernel cannot hold as asked, so that the reason is said
 * in one place.
 */
#include <errno.h>

#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "gate/build/seccomp.h"

/* A program of the table: where it begins among the instructions. */
struct stored {
	uint32_t at;
	uint16_t n;
};

/* Written by gate/gen/filters.c: INSTRUCTIONS[], and STORED[] by variant. */
#include "gen/filters.inc"

_Static_assert(ARRAY_LEN(STORED) == N_VARIANTS, "one program for each variant");

/* Members that make no difference to the filter are not compared. */
static bool is_same(const struct seccomp_want *a, const struct seccomp_want *b)
{
	bool net = a->net != POLICY_NET_NONE;

	return a->profile == b->profile &&
	       (a->net == POLICY_NET_PORTS) == (b->net == POLICY_NET_PORTS) &&
	       net == (b->net != POLICY_NET_NONE) &&
	       (!net ||
		(a->net_udp == b->net_udp && a->net_unix == b->net_unix)) &&
	       a->ipc_namespace == b->ipc_namespace &&
	       a->keep_attributes == b->keep_attributes &&
	       a->memfd_noexec_sysctl == b->memfd_noexec_sysctl;
}

int variant_of(const struct seccomp_want *want)
{
	for (int i = 0; !want->syscalls.n && i < N_VARIANTS; i++) {
		struct seccomp_want known;

		variant_want(i, &known);
		if (is_same(want, &known))
			return i;
	}
	return -1;
}

/*
 * Make refused calls wait for a listener. Filters of the table refuse with
 * EPERM, which no rule gives by itself; nothing else differs.
 */
static void refuse_by_listener(struct seccomp_filter *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->insn[i].code == (BPF_RET | BPF_K) &&
		    f->insn[i].k == (SECCOMP_RET_ERRNO | EPERM))
			f->insn[i].k = SECCOMP_RET_USER_NOTIF;
}

bool filters_find(const struct seccomp_want *want,
		  struct seccomp_filter *ret_filter)
{
	int variant = variant_of(want);
	const struct stored *s;

	if (variant < 0)
		return false;
	s = &STORED[variant];
	ret_filter->n = s->n;
	ret_filter->insn = mem_alloc(s->n * sizeof(*ret_filter->insn));
	memcpy(ret_filter->insn, INSTRUCTIONS + s->at,
	       s->n * sizeof(*ret_filter->insn));
	if (want->deny == SECCOMP_DENY_NOTIFY)
		refuse_by_listener(ret_filter);
	return true;
}

/* The kernel knows the actions of the filter. */
static bool is_possible(const struct seccomp_want *want)
{
	uint32_t notify = SECCOMP_RET_USER_NOTIF;

	return want->deny != SECCOMP_DENY_NOTIFY ||
	       kernel_seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &notify) == 0;
}

int filters_build(const struct seccomp_want *want,
		  struct seccomp_filter *ret_filter, struct err *err)
{
	if (is_possible(want) && filters_find(want, ret_filter))
		return 0;
	return seccomp_build(want, ret_filter, err);
}
