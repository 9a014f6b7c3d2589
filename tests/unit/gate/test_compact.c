/*
 * The short form of a filter says the same as the long one.
 */

#include "tests/unit/test.h"
#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>

#include "gate/build/compact.h"
#include "gate/build/seccomp.h"
#include "tests/unit/gate/bpf.h"

/* Tries of arguments for each number. */
#define TRIES 24

/* A value that the filter compares with, one near it, or any other. */
static uint64_t interesting(const struct seccomp_filter *f)
{
	uint64_t r = next_random(), k = f->insn[r % f->n].k;

	switch (r >> 32 & 3) {
	case 0:
		return k + (r >> 40) % 3 - 1;
	case 1:
		return k ^ (UINT64_C(1) << (r >> 40 & 31));
	case 2:
		return k | r << 32;
	}
	return next_random() & next_random();
}

static void check_call(const struct seccomp_filter *plain,
		       const struct seccomp_filter *shorter, uint32_t arch,
		       int nr)
{
	for (int i = 0; i < TRIES; i++) {
		struct seccomp_data d = {.nr = nr, .arch = arch};

		for (int a = 0; a < 6; a++)
			d.args[a] = interesting(plain);
		if (bpf_run(plain, &d) != bpf_run(shorter, &d))
			fail_msg("%#x(%#llx, %#llx, %#llx) of %#x differs", nr,
				 (unsigned long long)d.args[0],
				 (unsigned long long)d.args[1],
				 (unsigned long long)d.args[2], arch);
	}
}

static void check_filter(const struct seccomp_want *want)
{
	static const int odd[] = {-1,	      -2,	  0x40000000,
				  0x3fffffff, 0x40000001, 0x7fffffff};
	static const uint32_t foreign[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, 0,
					   0xffffffff};
	AUTO_FILTER(plain);
	AUTO_FILTER(made);
	struct err err = ERR_INIT;
	uint32_t native;

	assert_int_equal(seccomp_build_plain(want, &plain, &err), 0);
	assert_int_equal(seccomp_build(want, &made, &err), 0);
	assert_true(made.n < plain.n);
	/* without the calls that change attributes there is less to save */
	if (!want->keep_attributes)
		assert_true(made.n * 4 < plain.n * 3);
	/* the second instruction compares with it */
	native = plain.insn[1].k;
	for (int nr = 0; nr < seccomp_newest() + 100; nr++)
		check_call(&plain, &made, native, nr);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		check_call(&plain, &made, native, odd[i]);
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		for (int nr = 0; nr < 600; nr += 7)
			check_call(&plain, &made, foreign[i], nr);
}

TEST(compact, each_variant, says_the_same_in_less)
{
	for (int v = 0; v < N_VARIANTS; v++) {
		struct seccomp_want want;

		variant_want(v, &want);
		check_filter(&want);
	}
}

TEST(compact, added_names, says_the_same_in_less)
{
	const struct seccomp_want want = {
		.profile = PROFILE_OPEN,
		.net = POLICY_NET_ALL,
		.net_udp = true,
		.syscalls = STRLIST("ptrace", "unshare", "personality"),
		.deny = SECCOMP_DENY_ERRNO,
	};

	check_filter(&want);
}

/* ---- small programs ---- */

enum { NATIVE = 0x1234, ENOUGH = 40 };

/* Number i of the first ENOUGH is allowed when i % 3 != 0, one by one. */
static size_t long_program(struct sock_filter *out, struct sock_filter last)
{
	static const struct sock_filter begin[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	size_t n = ARRAY_LEN(begin);

	memcpy(out, begin, sizeof(begin));
	for (uint32_t i = 0; i < ENOUGH; i++) {
		out[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1);
		out[n++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K,
			i % 3 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
	}
	out[n++] = last;
	return n;
}

TEST(compact, one_by_one, becomes_a_tree)
{
	const struct sock_filter last =
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	struct sock_filter in[2 * ENOUGH + 8], *out = NULL;
	size_t n = long_program(in, last);
	size_t short_n = compact_filter(in, n, NATIVE, ENOUGH, &out);

	assert_true(short_n > 0 && short_n < n);
	for (uint32_t arch = NATIVE - 1; arch <= NATIVE + 1; arch++) {
		for (int nr = -3; nr < ENOUGH + 20; nr++) {
			const struct seccomp_filter a = {in, (uint16_t)n};
			const struct seccomp_filter b = {out,
							 (uint16_t)short_n};
			struct seccomp_data d = {.nr = nr, .arch = arch};

			assert_int_equal(bpf_run(&a, &d), bpf_run(&b, &d));
		}
	}
	free(out);
}

TEST(compact, not_for_it, leaves_it)
{
	const struct sock_filter unknown = BPF_STMT(BPF_MISC | BPF_TAX, 0);
	const struct sock_filter beyond = BPF_STMT(BPF_JMP | BPF_JA, 7);
	const struct sock_filter allow =
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_filter in[2 * ENOUGH + 8], *out = NULL;
	size_t n = long_program(in, unknown);

	assert_int_equal(compact_filter(in, n, NATIVE, ENOUGH, &out), 0);
	/* runs over its end */
	n = long_program(in, beyond);
	assert_int_equal(compact_filter(in, n, NATIVE, ENOUGH, &out), 0);
	/* too short */
	assert_int_equal(compact_filter(&allow, 1, NATIVE, ENOUGH, &out), 0);
	assert_int_equal(compact_filter(&allow, 0, NATIVE, ENOUGH, &out), 0);
	assert_null(out);
}
