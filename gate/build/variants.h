/*
 * The wants whose filters are made when the program is built, numbered.
 *
 * Every policy without added system calls has a number; members that make no
 * difference to the filter (AF_UNIX without a network, what refuses) make none
 * to the number. gate/gen/filters.c writes one program for each number,
 * filters_build() picks it.
 *
 * Pure.
 */
#ifndef GATE_BUILD_VARIANTS_H
#define GATE_BUILD_VARIANTS_H

#include "core/base/attr.h"
#include "gate/build/seccomp.h"

enum variant_net {
	VARIANT_NET_NONE,
	VARIANT_NET_TCP, /* to single ports */
	VARIANT_NET_UDP, /* and TCP, as server too */
	VARIANT_NET_TCP_UNIX,
	VARIANT_NET_UDP_UNIX,
	N_VARIANT_NETS,
};

enum variant_view {
	VARIANT_VIEW_HOST,
	VARIANT_VIEW_HOST_AS_ROOT, /* attributes of files are kept */
	VARIANT_VIEW_OWN,	   /* an IPC namespace */
	VARIANT_VIEW_OWN_NOEXEC,   /* and vm.memfd_noexec */
	N_VARIANT_VIEWS,
};

#define N_VARIANTS (N_PROFILES * N_VARIANT_NETS * N_VARIANT_VIEWS)

/* The number of a want, or -1: it has none and is built when it is due. */
int variant_of(const struct seccomp_want *want) MUST_USE;
/* The want of a number below N_VARIANTS, with SECCOMP_DENY_NOTIFY. */
void variant_want(int variant, struct seccomp_want *ret_want);

#endif
