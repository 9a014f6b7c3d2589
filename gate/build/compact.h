/*
 * Shorter form of a filter, quicker to install.
 *
 * When a filter is installed, the kernel runs it once for each system-call
 * number, to remember those that are allowed with all arguments, and
 * compiles it. So the path to a verdict and the length are what a start pays
 * for. libseccomp compares numbers one by one; here neighbours with the same
 * verdict are one range, found by halving, a number alone among others is
 * compared, and equal ends are shared; so are neighbours among the values of an
 * argument, and a half of it that is masked away is not looked at: less than
 * half the instructions, half the path (gate/README.md, Costs).
 *
 *	struct sock_filter *out;
 *	size_t n = compact_filter(in, n_in, arch, newest, &out);
 *
 * Nothing is decided here: the verdict of each range is found by running the
 * program, and the parts that look at arguments are copied as they are. The
 * tests compare both for every number and every argument rule. Pure.
 */
#ifndef GATE_BUILD_COMPACT_H
#define GATE_BUILD_COMPACT_H

#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>

#include "core/base/attr.h"

/*
 * in      looks at the architecture, then at the number, then at arguments,
 *	   and kills another architecture; what libseccomp makes is such
 * arch    AUDIT_ARCH_... that the numbers belong to
 * newest  numbers from here to the x32 bit have one verdict
 * ret     owned by the caller (free), when there is a shorter one
 * returns instructions in *ret; 0 when there is none, for an instruction
 *	   that is not known here or a program that is short already
 */
size_t compact_filter(const struct sock_filter *in, size_t n, uint32_t arch,
		      uint32_t newest, struct sock_filter **ret) MUST_USE;

/* Instructions that compact_prepend() adds to both. */
#define COMPACT_HEAD 4

/*
 * Put instructions before a filter. They run for calls of the architecture,
 * with the number loaded, and leave it loaded where they fall through or jump
 * behind their end: both are the filter.
 *
 * ret      room for COMPACT_HEAD + n + plain->len
 * returns  instructions in it
 */
size_t compact_prepend(const struct sock_filter *front, size_t n, uint32_t arch,
		       const struct sock_fprog *plain, struct sock_filter *ret)
	MUST_USE;

#endif
