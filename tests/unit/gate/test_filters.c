/*
 * The filters that the build made against those that libseccomp makes now.
 */

#include "tests/unit/test.h"
#include <linux/seccomp.h>

#include "gate/build/seccomp.h"
#include "tests/unit/gate/bpf.h"

static bool is_equal(const struct seccomp_filter *a,
		     const struct seccomp_filter *b)
{
	return a->n == b->n &&
	       memcmp(a->insn, b->insn, a->n * sizeof(*a->insn)) == 0;
}

/* Every member of a want that counts, one combination for each number. */
enum {
	COMBINATIONS = N_PROFILES * 4 /* net */ * 2 /* udp */ * 2 /* unix */ *
		       2 /* ipc */ * 2 /* sysctl */ * 2 /* deny */ *
		       2 /* keep */
};

static struct seccomp_want combination(unsigned i)
{
	struct seccomp_want w = {.syscalls = {NULL, 0}};

	w.profile = (enum policy_profile)(i % N_PROFILES);
	i /= N_PROFILES;
	w.net = (enum policy_net)(i % 4);
	i /= 4;
	w.net_udp = i & 1;
	w.net_unix = i & 2;
	w.ipc_namespace = i & 4;
	w.memfd_noexec_sysctl = i & 8;
	w.deny = i & 16 ? SECCOMP_DENY_ERRNO : SECCOMP_DENY_NOTIFY;
	w.keep_attributes = i & 32;
	return w;
}

TEST(filters, every_want, equals_what_libseccomp_makes)
{
	size_t n_found = 0;

	for (unsigned i = 0; i < COMBINATIONS; i++) {
		AUTO_FILTER(found);
		AUTO_FILTER(built);
		struct seccomp_want want = combination(i);

		if (!filters_find(&want, &found))
			continue;
		n_found++;
		bpf_build(&want, &built);
		if (!is_equal(&found, &built))
			fail_msg("combination %u differs: %u instructions "
				 "stored, %u built",
				 i, found.n, built.n);
	}
	/* all but the sysctl without an own view, attributes kept with one,
	   single ports with datagrams and other networks without */
	assert_int_equal(n_found, COMBINATIONS / 8 * 4 * 5 / 8);
}

TEST(filters, wants_of_different_effect, differ)
{
	struct seccomp_want want = {.profile = PROFILE_DEFAULT};
	AUTO_FILTER(none);
	AUTO_FILTER(net);
	AUTO_FILTER(strict);

	assert_true(filters_find(&want, &none));
	want.net = POLICY_NET_ALL;
	want.net_udp = true;
	assert_true(filters_find(&want, &net));
	want.profile = PROFILE_STRICT;
	assert_true(filters_find(&want, &strict));
	assert_false(is_equal(&none, &net));
	assert_false(is_equal(&net, &strict));
}

TEST(filters, added_names, are_built_and_not_in_the_table)
{
	struct seccomp_want want = {.profile = PROFILE_DEFAULT,
				    .syscalls = STRLIST("ptrace")};
	struct err err = ERR_INIT;
	AUTO_FILTER(found);
	AUTO_FILTER(plain);
	AUTO_FILTER(more);
	AUTO_FILTER(built);

	assert_false(filters_find(&want, &found));
	want.syscalls.n = 0;
	assert_true(filters_find(&want, &found));
	want.deny = SECCOMP_DENY_ERRNO;
	assert_int_equal(filters_build(&want, &plain, &err), 0);
	want.syscalls.n = 1;
	assert_int_equal(filters_build(&want, &more, &err), 0);
	bpf_build(&want, &built);
	assert_true(is_equal(&more, &built));
	assert_false(is_equal(&more, &plain));
}

TEST(filters, unknown_added_name, is_refused)
{
	const struct seccomp_want want = {.profile = PROFILE_DEFAULT,
					  .syscalls = STRLIST("ptracee"),
					  .deny = SECCOMP_DENY_ERRNO};
	struct err err = ERR_INIT;
	AUTO_FILTER(f);

	assert_int_equal(filters_build(&want, &f, &err), -1);
	assert_int_equal(err.kind, ERR_POLICY);
	assert_null(f.insn);
}

TEST(variants, number_and_want, name_each_other)
{
	for (int v = 0; v < N_VARIANTS; v++) {
		struct seccomp_want want;

		variant_want(v, &want);
		assert_int_equal(variant_of(&want), v);
	}
}

TEST(variants, members_without_effect, do_not_count)
{
	struct seccomp_want want = {.profile = PROFILE_DEFAULT};
	int plain = variant_of(&want), all;

	want.net_udp = true;
	want.deny = SECCOMP_DENY_ERRNO;
	assert_int_equal(variant_of(&want), plain);
	want.net_unix = true;
	assert_int_not_equal(variant_of(&want), plain);
	want.net = POLICY_NET_ALL;
	all = variant_of(&want);
	assert_int_not_equal(all, plain);
	want.net = POLICY_NET_LOOPBACK;
	assert_int_equal(variant_of(&want), all);
	want.net = POLICY_NET_PROXY;
	assert_int_equal(variant_of(&want), all);
	want.net_unix = false;
	assert_int_not_equal(variant_of(&want), all);
	want.net = POLICY_NET_PORTS;
	assert_int_equal(variant_of(&want), -1); /* with port 53 */
	want.net_udp = false;
	assert_int_not_equal(variant_of(&want), -1);
}

TEST(variants, sysctl_without_own_view, has_no_number)
{
	struct seccomp_want want = {.memfd_noexec_sysctl = true};

	assert_int_equal(variant_of(&want), -1);
	want.ipc_namespace = true;
	assert_true(variant_of(&want) >= 0);
}
