#include "gate/build/variants.h"

#include <assert.h>

static enum variant_net net_of(const struct seccomp_want *w)
{
	if (w->net == POLICY_NET_NONE)
		return VARIANT_NET_NONE;
	if (w->net_unix)
		return w->net_udp ? VARIANT_NET_UDP_UNIX : VARIANT_NET_TCP_UNIX;
	return w->net_udp ? VARIANT_NET_UDP : VARIANT_NET_TCP;
}

static enum variant_view view_of(const struct seccomp_want *w)
{
	if (!w->ipc_namespace)
		return w->keep_attributes ? VARIANT_VIEW_HOST_AS_ROOT
					  : VARIANT_VIEW_HOST;
	return w->memfd_noexec_sysctl ? VARIANT_VIEW_OWN_NOEXEC
				      : VARIANT_VIEW_OWN;
}

/* Single ports come without datagrams, everything else with them. */
static enum policy_net net_wanted(enum variant_net net)
{
	if (net == VARIANT_NET_NONE)
		return POLICY_NET_NONE;
	return net == VARIANT_NET_TCP || net == VARIANT_NET_TCP_UNIX
		       ? POLICY_NET_PORTS
		       : POLICY_NET_ALL;
}

int variant_of(const struct seccomp_want *w)
{
	if (w->syscalls.n)
		return -1;
	/* port 53 alone, or none of the datagrams that all others have */
	if (w->net != POLICY_NET_NONE &&
	    w->net_udp == (w->net == POLICY_NET_PORTS))
		return -1;
	if (w->memfd_noexec_sysctl && !w->ipc_namespace)
		return -1; /* the sysctl comes with an own view */
	if (w->keep_attributes && w->ipc_namespace)
		return -1; /* there the mounts are read-only */
	return (int)(((unsigned)w->profile * N_VARIANT_NETS + net_of(w)) *
			     N_VARIANT_VIEWS +
		     view_of(w));
}

void variant_want(int variant, struct seccomp_want *ret)
{
	enum variant_view view = (enum variant_view)(variant % N_VARIANT_VIEWS);
	int rest = variant / N_VARIANT_VIEWS;
	enum variant_net net = (enum variant_net)(rest % N_VARIANT_NETS);

	assert(variant >= 0 && variant < (int)N_VARIANTS);
	*ret = (struct seccomp_want){
		.profile = (enum policy_profile)(rest / N_VARIANT_NETS),
		.net = net_wanted(net),
		.net_udp =
			net == VARIANT_NET_UDP || net == VARIANT_NET_UDP_UNIX,
		.net_unix = net == VARIANT_NET_TCP_UNIX ||
			    net == VARIANT_NET_UDP_UNIX,
		.ipc_namespace = view == VARIANT_VIEW_OWN ||
				 view == VARIANT_VIEW_OWN_NOEXEC,
		.keep_attributes = view == VARIANT_VIEW_HOST_AS_ROOT,
		.memfd_noexec_sysctl = view == VARIANT_VIEW_OWN_NOEXEC,
		.deny = SECCOMP_DENY_NOTIFY,
	};
}
