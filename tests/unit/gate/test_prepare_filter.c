/* Filters of requests: one for each want, and none for another's. */
#include "tests/unit/test.h"

#include <errno.h>
#include <linux/audit.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "gate/build/seccomp.h"
#include "gate/prepare/parts.h"
#include "tests/unit/gate/bpf.h"

struct fixture {
	struct gate *gate;
	struct prepared p;
};

/* A request as prepare.c leaves it: a child without a view that stays root. */
static void begin(struct fixture *f, bool writes)
{
	static const struct gate_request nothing;
	static const struct gate_policy none;
	static const char *item[] = {"/srv"};
	struct err err = ERR_INIT;

	f->p = (struct prepared){.gate = f->gate,
				 .request = &nothing,
				 .arena = ARENA_INIT,
				 .launch = {.fd = LAUNCH_NO_FDS}};
	assert_int_equal(
		policy_resolve(&none, NULL, &f->p.arena, &f->p.policy, &err),
		0);
	if (writes)
		f->p.policy.write = (struct strlist){item, 1};
	assert_int_equal(prepare_filter(&f->p, &err), 0);
}

static const struct sock_filter *filter_of(struct fixture *f, bool writes)
{
	const struct sock_filter *insn;

	begin(f, writes);
	insn = f->p.launch.filter_errno.filter;
	prepared_release(&f->p);
	return insn;
}

static int setup(void **state)
{
	static const struct gate_config config;
	static struct fixture f;
	struct err err = ERR_INIT;

	*state = &f;
	return gate_new(&config, &f.gate, &err);
}

static int teardown(void **state)
{
	gate_free(((struct fixture *)*state)->gate);
	return 0;
}

FIXTURE(gate, setup, teardown);

TEST_IN(gate, filter, of_the_same_want, is_built_once)
{
	assert_ptr_equal(filter_of(*state, false), filter_of(*state, false));
}

TEST_IN(gate, filter, that_keeps_attributes, is_not_one_that_does_not)
{
	const struct sock_filter *writes = filter_of(*state, true);

	assert_ptr_not_equal(filter_of(*state, false), writes);
}

/* ---- sockets of AF_UNIX, by what the kernel can hold ---- */

enum { ABI_BEFORE = 8, ABI_UNIX = 9 };

/* Verdicts of the filter with and without a listener for one call. */
struct verdicts {
	uint32_t with, without;
};

static struct verdicts verdicts_of(const struct prepared *p, int nr, uint64_t a,
				   uint64_t b)
{
	const struct launch *l = &p->launch;
	struct seccomp_filter with = {l->filter.filter, l->filter.len};
	struct seccomp_filter without = {l->filter_errno.filter,
					 l->filter_errno.len};
	struct seccomp_data d = {
		.arch = SECCOMP_ARCH, .nr = nr, .args = {a, b}};

	return (struct verdicts){bpf_run(&with, &d), bpf_run(&without, &d)};
}

/* A child with this Landlock, network and `unix`. */
static void ask(struct fixture *f, int abi, enum policy_net net,
		enum policy_unix own)
{
	static const struct gate_request nothing;
	static const struct gate_policy none;
	struct err err = ERR_INIT;

	f->gate->landlock_abi = abi;
	f->p = (struct prepared){.gate = f->gate,
				 .request = &nothing,
				 .arena = ARENA_INIT,
				 .launch = {.fd = LAUNCH_NO_FDS}};
	assert_int_equal(
		policy_resolve(&none, NULL, &f->p.arena, &f->p.policy, &err),
		0);
	f->p.policy.net = net;
	f->p.policy.net_udp = net == POLICY_NET_ALL;
	f->p.policy.unix_own = own;
	assert_int_equal(prepare_filter(&f->p, &err), 0);
}

static const uint32_t allow = SECCOMP_RET_ALLOW;
static const uint32_t notify = SECCOMP_RET_USER_NOTIF;
static const uint32_t eperm = SECCOMP_RET_ERRNO | EPERM;

#define VERDICTS(p, w, wo, ...)                                   \
	do {                                                      \
		struct verdicts v_ = verdicts_of(p, __VA_ARGS__); \
		assert_int_equal(v_.with, w);                     \
		assert_int_equal(v_.without, wo);                 \
	} while (0)

TEST_IN(gate, sockets, before_the_kernels_right, are_judged_or_refused)
{
	struct fixture *f = *state;

	ask(f, ABI_BEFORE, POLICY_NET_NONE, POLICY_UNIX_PRIVATE);
	assert_int_equal(f->p.sockets, SOCKETS_JUDGED);
	VERDICTS(&f->p, allow, eperm, SYS_socket, AF_UNIX, SOCK_STREAM);
	VERDICTS(&f->p, notify, eperm, SYS_socket, AF_UNIX, SOCK_DGRAM);
	VERDICTS(&f->p, notify, eperm, SYS_socketpair, AF_UNIX, SOCK_DGRAM);
	assert_int_equal(verdicts_of(&f->p, SYS_connect, 3, 0).with, notify);
	assert_int_equal(verdicts_of(&f->p, SYS_listen, 3, 0).with, notify);
	prepared_release(&f->p);
	/* Landlock must see who connects */
	ask(f, ABI_BEFORE, POLICY_NET_PORTS, POLICY_UNIX_PRIVATE);
	assert_int_equal(f->p.sockets, SOCKETS_PLAIN);
	VERDICTS(&f->p, notify, eperm, SYS_socket, AF_UNIX, SOCK_STREAM);
	VERDICTS(&f->p, allow, allow, SYS_connect, 3, 0);
	prepared_release(&f->p);
}

TEST_IN(gate, sockets, with_the_kernels_right, are_the_kernels_matter)
{
	struct fixture *f = *state;

	for (int net = 0; net < 2; net++) {
		ask(f, ABI_UNIX, net ? POLICY_NET_ALL : POLICY_NET_NONE,
		    POLICY_UNIX_PRIVATE);
		assert_int_equal(f->p.sockets, SOCKETS_PLAIN);
		VERDICTS(&f->p, allow, allow, SYS_socket, AF_UNIX, SOCK_STREAM);
		VERDICTS(&f->p, allow, allow, SYS_socket, AF_UNIX, SOCK_DGRAM);
		VERDICTS(&f->p, allow, allow, SYS_connect, 3, 0);
		prepared_release(&f->p);
	}
}

TEST_IN(gate, sockets, none, are_not_paired_with_any_kernel)
{
	struct fixture *f = *state;

	for (int abi = ABI_BEFORE; abi <= ABI_UNIX; abi++) {
		ask(f, abi, POLICY_NET_ALL, POLICY_UNIX_NONE);
		VERDICTS(&f->p, notify, eperm, SYS_socketpair, AF_UNIX,
			 SOCK_STREAM);
		VERDICTS(&f->p, notify, eperm, SYS_socket, AF_UNIX,
			 SOCK_STREAM);
		VERDICTS(&f->p, allow, allow, SYS_socket, AF_INET, SOCK_STREAM);
		prepared_release(&f->p);
	}
}
