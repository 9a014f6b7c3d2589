#include "gate/build/variants.h"

#include <assert.h>

/* Single ports come without datagrams, everything else with them. */
static const struct {
	enum policy_net net;
	bool udp, named;
} NETS[N_VARIANT_NETS] = {
	{POLICY_NET_NONE, false, false}, {POLICY_NET_PORTS, false, false},
	{POLICY_NET_ALL, true, false},	 {POLICY_NET_PORTS, false, true},
	{POLICY_NET_ALL, true, true},
};

/* The sysctl comes with an own view, whose mounts are read-only. */
static const struct {
	bool ipc, keeps_attributes, noexec;
} VIEWS[N_VARIANT_VIEWS] = {
	{false, false, false},
	{false, true, false},
	{true, false, false},
	{true, false, true},
};

void variant_want(int variant, struct seccomp_want *ret)
{
	int view = variant % N_VARIANT_VIEWS, rest = variant / N_VARIANT_VIEWS;
	int net = rest % N_VARIANT_NETS;

	assert(variant >= 0 && variant < (int)N_VARIANTS);
	*ret = (struct seccomp_want){
		.profile = (enum policy_profile)(rest / N_VARIANT_NETS),
		.net = NETS[net].net,
		.net_udp = NETS[net].udp,
		.net_unix = NETS[net].named,
		.ipc_namespace = VIEWS[view].ipc,
		.keep_attributes = VIEWS[view].keeps_attributes,
		.memfd_noexec_sysctl = VIEWS[view].noexec,
		.deny = SECCOMP_DENY_NOTIFY,
	};
}

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
	for (int i = 0; !want->syscalls.n && i < (int)N_VARIANTS; i++) {
		struct seccomp_want known;

		variant_want(i, &known);
		if (is_same(want, &known))
			return i;
	}
	return -1;
}
