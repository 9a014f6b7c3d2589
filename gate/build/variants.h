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

/* Networks: none, TCP to single ports, TCP and UDP; the last two also with
   named AF_UNIX sockets. */
#define N_VARIANT_NETS 5
/* Views: the host's, the host's where attributes of files are kept, an IPC
   namespace, one with vm.memfd_noexec. */
#define N_VARIANT_VIEWS 4
#define N_VARIANTS (N_PROFILES * N_VARIANT_NETS * N_VARIANT_VIEWS)

/* The number of a want; -1: none, the filter is built when it is due. */
int variant_of(const struct seccomp_want *want) MUST_USE;
/* The want of a number below N_VARIANTS, with SECCOMP_DENY_NOTIFY. */
void variant_want(int variant, struct seccomp_want *ret_want);

#endif
