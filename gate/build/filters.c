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

/* As variant_want() counts them. Single ports come without datagrams, all other
   networks with them, the sysctl with an IPC namespace. */
int variant_of(const struct seccomp_want *want)
{
	bool ports = want->net == POLICY_NET_PORTS;
	int net = want->net == POLICY_NET_NONE ? 0 : 1 + !ports;
	int view = want->ipc_namespace ? 2 + want->memfd_noexec_sysctl
				       : want->keep_attributes;

	if (want->syscalls.n || (net && want->net_udp == ports) ||
	    (want->ipc_namespace ? want->keep_attributes
				 : want->memfd_noexec_sysctl))
		return -1;
	return ((int)want->profile * N_VARIANT_NETS + net +
		(want->net_unix ? N_VARIANT_NETS / 2 : 0)) *
		       N_VARIANT_VIEWS +
	       view;
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
