/*
 * Filters as tables of call -> verdict.
 *
 * What libseccomp made is run by a small interpreter of classic BPF and
 * compared with the tables that it was made from (every row, every argument
 * rule, in every kind of policy), and with lists that stand here by hand.
 */
#include <errno.h>

#include "tests/unit/test.h"
#include <linux/audit.h>
#include <seccomp.h>

#include "gate/build/seccomp.h"
#include "gate/gate.h"
#include "gate/build/syscall_args.h"
#include "tests/unit/gate/bpf.h"

#define ALLOW SECCOMP_RET_ALLOW
#define KILL SECCOMP_RET_KILL_PROCESS
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define REFUSE_EPERM (SECCOMP_RET_ERRNO | EPERM)
#define REFUSE_ENOSYS (SECCOMP_RET_ERRNO | ENOSYS)

typedef unsigned long long ull; /* of messages */

static struct seccomp_data data_of(const char *call)
{
	return (struct seccomp_data){.nr = seccomp_call_number(call),
				     .arch = seccomp_arch_native()};
}

static uint32_t verdict(const struct seccomp_filter *f, int nr,
			const uint64_t args[6])
{
	struct seccomp_data d = {.nr = nr, .arch = seccomp_arch_native()};

	if (args)
		memcpy(d.args, args, sizeof(d.args));
	return bpf_run(f, &d);
}

/* ---- the tables, read a second time ---- */

enum group {
#define GROUP(id, needs_ipc_namespace, help) GROUP_##id,
#include "gate/build/syscalls.def"
	N_GROUPS,
};

enum how { HOW_ALLOW, HOW_ARGS, HOW_FIXED, HOW_NEVER };

static const struct row {
	const char *name;
	enum group group;
	enum how how;
	int number;
} ROWS[] = {
#define SYSCALL(name, group, how, number, kinds) \
	{#name, GROUP_##group, HOW_##how, number},
#include "gate/build/syscalls.def"
};

#define G(id) (1ULL << GROUP_##id)
static const uint64_t GROUPS_OF[] = {
#define PROFILE(id, name, groups, help) groups,
#include "gate/policy/profiles.def"
#undef PROFILE
};

static bool rule_applies(const struct arg_rule *r, const struct seccomp_want *w)
{
	bool net = w->net != POLICY_NET_NONE, unix_ok = w->net_unix;
	bool seal = w->profile == PROFILE_STRICT || !w->memfd_noexec_sysctl;
	const bool on[] = {
		[WHEN_ALWAYS] = true,
		[WHEN_NET] = net,
		[WHEN_UDP] = net && w->net_udp,
		[WHEN_NOT_PORTS] = w->net != POLICY_NET_PORTS,
		[WHEN_UNIX] = unix_ok,
		[WHEN_NO_UNIX] = !unix_ok,
		[WHEN_SEAL] = seal,
		[WHEN_NO_SEAL] = !seal,
		[WHEN_OPEN] = w->profile == PROFILE_OPEN,
		[WHEN_NOT_OPEN] = w->profile != PROFILE_OPEN,
	};

	return on[r->when];
}

static bool rule_holds(const struct arg_rule *r, const uint64_t args[6])
{
	for (int i = 0; i < ARG_CMP_MAX && r->cmp[i].mask; i++) {
		const struct arg_cmp *c = &r->cmp[i];

		if (((uint32_t)args[c->arg] & c->mask) != c->value)
			return false;
	}
	return true;
}

static uint32_t deny_action(const struct seccomp_want *w)
{
	return w->deny == SECCOMP_DENY_NOTIFY ? NOTIFY : REFUSE_EPERM;
}

static uint32_t expected(const struct row *row, const struct seccomp_want *w,
			 const uint64_t args[6])
{
	bool ipc = row->group == GROUP_IPC || row->group == GROUP_QUEUE;

	if (row->group == GROUP_HIDDEN)
		return REFUSE_ENOSYS;
	if (!(GROUPS_OF[w->profile] & 1ULL << row->group) ||
	    (ipc && !w->ipc_namespace))
		return deny_action(w);
	if (row->how == HOW_ALLOW)
		return ALLOW;
	for (size_t i = 0; i < ARRAY_LEN(ARG_RULES); i++)
		if (strcmp(ARG_RULES[i].call, row->name) == 0 &&
		    rule_applies(&ARG_RULES[i], w) &&
		    rule_holds(&ARG_RULES[i], args))
			return ALLOW;
	return deny_action(w);
}

/* ---- policies to try ---- */

/* Numbers 0 .. VARIANTS-1 to all combinations that make a difference. */
#define VARIANTS (N_PROFILES * 4 * 4 * 2)

static struct seccomp_want variant(unsigned i)
{
	struct seccomp_want w = {.profile = i % N_PROFILES};

	i /= N_PROFILES;
	w.net = i % 4; /* none, loopback, ports, all */
	i /= 4;
	w.net_udp = i & 1;
	w.net_unix = i & 1;
	w.ipc_namespace = i & 2;
	w.memfd_noexec_sysctl = i & 2;
	i /= 4;
	w.deny = i % 2 ? SECCOMP_DENY_ERRNO : SECCOMP_DENY_NOTIFY;
	return w;
}

static void check_args(const struct seccomp_filter *f, const struct row *row,
		       const struct seccomp_want *w, const uint64_t args[6])
{
	uint32_t want = expected(row, w, args);
	uint32_t got = verdict(f, seccomp_call_number(row->name), args);

	if (got != want)
		fail_msg("%s(%#llx, %#llx, %#llx, %#llx) profile %s net %d: "
			 "%#x, expected %#x",
			 row->name, (ull)args[0], (ull)args[1], (ull)args[2],
			 (ull)args[3], PROFILES[w->profile].name, w->net, got,
			 want);
}

/*
 * Arguments that meet a rule, each comparison broken in turn, each bit of its
 * mask flipped, and with rubbish in the high halves.
 */
static void check_near_rule(const struct seccomp_filter *f,
			    const struct row *row, const struct arg_rule *rule,
			    const struct seccomp_want *w)
{
	uint64_t args[6] = {0};

	for (int i = 0; i < ARG_CMP_MAX && rule->cmp[i].mask; i++)
		args[rule->cmp[i].arg] = rule->cmp[i].value;
	check_args(f, row, w, args);
	for (int i = 0; i < 6; i++)
		args[i] |= next_random() << 32;
	check_args(f, row, w, args);
	for (int i = 0; i < ARG_CMP_MAX && rule->cmp[i].mask; i++) {
		uint64_t *arg = &args[rule->cmp[i].arg];

		for (int bit = 0; bit < 32; bit++) {
			*arg ^= 1ULL << bit;
			check_args(f, row, w, args);
			*arg ^= 1ULL << bit;
		}
	}
}

static void check_row(const struct seccomp_filter *f, const struct row *row,
		      const struct seccomp_want *w)
{
	uint64_t args[6] = {0};

	check_args(f, row, w, args);
	for (int n = 0; n < 4; n++) {
		for (int i = 0; i < 6; i++)
			args[i] = next_random() & next_random();
		check_args(f, row, w, args);
	}
	for (size_t i = 0; i < ARRAY_LEN(ARG_RULES); i++)
		if (strcmp(ARG_RULES[i].call, row->name) == 0)
			check_near_rule(f, row, &ARG_RULES[i], w);
}

/* ---- the tables themselves ---- */

TEST(rows, all, have_a_number_of_their_own)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		int nr = seccomp_call_number(ROWS[i].name);

		if (nr < 0)
			fail_msg("%s has no number", ROWS[i].name);
		assert_string_equal(seccomp_call_name(nr), ROWS[i].name);
		if (ROWS[i].number)
			assert_int_equal(nr, ROWS[i].number);
	}
}

TEST(rows, judged_by_argument, alone_have_rules)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		bool by_args =
			ROWS[i].how == HOW_ARGS || ROWS[i].how == HOW_FIXED;
		bool has = false;

		for (size_t k = 0; k < ARRAY_LEN(ARG_RULES); k++)
			has |= !strcmp(ARG_RULES[k].call, ROWS[i].name);
		if (has != by_args)
			fail_msg("%s: row and rules differ", ROWS[i].name);
	}
}

static bool has_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (strcmp(ROWS[i].name, name) == 0)
			return true;
	return false;
}

TEST(rules, all, belong_to_a_row)
{
	for (size_t k = 0; k < ARRAY_LEN(ARG_RULES); k++)
		if (!has_row(ARG_RULES[k].call))
			fail_msg("%s has no row", ARG_RULES[k].call);
}

TEST(rows, hold_every_call, libseccomp_knows)
{
	for (int nr = 0; nr < 512; nr++) {
		char *name =
			seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);

		if (name && !has_row(name))
			fail_msg("%s (%d) has no row", name, nr);
		free(name);
	}
}

/* ---- the verdicts, written down a second time ---- */

enum word { WORD_ALLOW, WORD_ARGS, WORD_IPC, WORD_DENY, WORD_ENOSYS };

static const struct verdict_row {
	const char *call;
	enum word word[N_PROFILES];
} VERDICTS[] = {
#define VERDICT(call, strict, fallback, open) \
	{#call, {WORD_##strict, WORD_##fallback, WORD_##open}},
#include "tests/unit/gate/verdicts.def"
#undef VERDICT
};

static const struct verdict_row *find_verdict(const char *call)
{
	for (size_t i = 0; i < ARRAY_LEN(VERDICTS); i++)
		if (strcmp(VERDICTS[i].call, call) == 0)
			return &VERDICTS[i];
	return NULL;
}

TEST(verdicts, of_each_row, are_written_down_twice)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (!find_verdict(ROWS[i].name))
			fail_msg(
				"%s has no row in tests/unit/gate/verdicts.def",
				ROWS[i].name);
	for (size_t i = 0; i < ARRAY_LEN(VERDICTS); i++)
		if (!has_row(VERDICTS[i].call) ||
		    find_verdict(VERDICTS[i].call) != &VERDICTS[i])
			fail_msg("%s in tests/unit/gate/verdicts.def: no such "
				 "call, "
				 "or twice",
				 VERDICTS[i].call);
}

static void check_word(const struct seccomp_filter *f,
		       const struct verdict_row *row,
		       const struct seccomp_want *w)
{
	uint32_t deny = deny_action(w), want = ALLOW;
	enum word word = row->word[w->profile];

	if (word == WORD_DENY || (word == WORD_IPC && !w->ipc_namespace))
		want = deny;
	else if (word == WORD_ENOSYS)
		want = REFUSE_ENOSYS;
	for (int n = 0; n < 8; n++) {
		uint64_t args[6];
		uint32_t got;

		for (int i = 0; i < 6; i++)
			args[i] = n ? next_random() : 0;
		got = verdict(f, seccomp_call_number(row->call), args);
		/* some of these may hold the rules, others not */
		if (word == WORD_ARGS ? got != ALLOW && got != deny
				      : got != want)
			fail_msg("%s in %s: %#x", row->call,
				 PROFILES[w->profile].name, got);
	}
}

TEST(filter, each_call_in_each_policy, has_the_verdict_of_all_tables)
{
	for (unsigned v = 0; v < VARIANTS; v++) {
		struct seccomp_want w = variant(v);
		AUTO_FILTER(f);

		bpf_build(&w, &f);
		for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
			check_row(&f, &ROWS[i], &w);
		for (size_t i = 0; i < ARRAY_LEN(VERDICTS); i++)
			check_word(&f, &VERDICTS[i], &w);
	}
}

/* ---- by hand ---- */

/* Refused in every profile, whatever tables say. */
static const char NEVER_ALLOWED[] =
	"ptrace process_vm_writev pidfd_getfd perf_event_open bpf userfaultfd "
	"mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig "
	"fsmount fspick mount_setattr open_by_handle_at unshare setns add_key "
	"request_key keyctl init_module finit_module delete_module kexec_load "
	"kexec_file_load reboot swapon swapoff acct syslog sethostname "
	"setdomainname iopl ioperm modify_ldt settimeofday clock_settime "
	"adjtimex clock_adjtime quotactl vhangup uselib lookup_dcookie";

/* What programs die without. */
static const char ALWAYS_ALLOWED[] =
	"read write close mmap munmap mprotect brk futex execve execveat "
	"exit_group exit rt_sigaction rt_sigprocmask rt_sigreturn wait4 getpid "
	"openat newfstatat getdents64 pipe2 poll epoll_wait clock_nanosleep "
	"getrandom set_robust_list rseq prlimit64 statx unlink rename kill "
	"tgkill sched_getaffinity eventfd2 restart_syscall";

#define X(name) #name " "
static const char UNTIL_EXEC[] = SECCOMP_CHILD_CALLS(X);
#undef X

static const char HIDDEN[] =
	"clone3 openat2 io_uring_setup io_uring_enter io_uring_register";

/* Each of these names, called with zeroes. */
static void check_names(const struct seccomp_filter *f, const char *names,
			uint32_t want)
{
	char name[32];

	for (int n; sscanf(names, "%31s%n", name, &n) == 1; names += n)
		if (verdict(f, seccomp_call_number(name), NULL) != want)
			fail_msg("%s is not %#x", name, want);
}

/* Numbers 0 .. EACH-1 to each profile that is granted all, and each .deny. */
#define EACH (N_PROFILES * 2)

static struct seccomp_want granted(int i)
{
	return (struct seccomp_want){
		.profile = i / 2,
		.net = POLICY_NET_ALL,
		.net_udp = true,
		.net_unix = true,
		.ipc_namespace = true,
		.memfd_noexec_sysctl = true,
		.deny = i % 2,
	};
}

TEST(filter, calls_by_name, are_allowed_refused_or_hidden_in_each_profile)
{
	for (int i = 0; i < EACH; i++) {
		struct seccomp_want w = granted(i);
		AUTO_FILTER(f);

		bpf_build(&w, &f);
		check_names(&f, NEVER_ALLOWED, deny_action(&w));
		check_names(&f, ALWAYS_ALLOWED, ALLOW);
		check_names(&f, UNTIL_EXEC, ALLOW);
		check_names(&f, HIDDEN, REFUSE_ENOSYS);
	}
}

/* Numbers from..to, called with zeroes, of this architecture. */
static void check_numbers(const struct seccomp_filter *f, uint32_t arch,
			  int64_t from, int64_t to, uint32_t want)
{
	for (; from <= to; from++) {
		struct seccomp_data d = {.nr = (int)from, .arch = arch};

		if (bpf_run(f, &d) != want)
			fail_msg("%#x of %#x is not %#x", d.nr, arch, want);
	}
}

TEST(filter, calls_by_number, of_others_are_killed_and_newer_ones_hidden)
{
	static const uint32_t FOREIGN[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM,
					   AUDIT_ARCH_PPC64LE, 0};
	uint32_t native = seccomp_arch_native();
	int newest = seccomp_newest();

	for (int i = 0; i < EACH; i++) {
		struct seccomp_want w = granted(i);
		AUTO_FILTER(f);

		bpf_build(&w, &f);
		for (size_t k = 0; k < ARRAY_LEN(FOREIGN); k++)
			check_numbers(&f, FOREIGN[k], 0, 599, KILL);
#ifdef __x86_64__
		/* x32 */
		check_numbers(&f, native, 0x40000000, 0x40000000 + 599, KILL);
		check_numbers(&f, native, 0x7fffffff, 0x80000000, KILL);
		check_numbers(&f, native, -2, -2, KILL);
		/* -1 is how a tracer skips a call; it must not be allowed */
		assert_int_not_equal(verdict(&f, -1, NULL), ALLOW);
#endif
		check_numbers(&f, native, newest + 1, newest + 199,
			      REFUSE_ENOSYS);
		check_numbers(&f, native, 0x3fffffff, 0x3fffffff,
			      REFUSE_ENOSYS);
	}
	/* its neighbour below has a row: not swallowed by the comparison */
	assert_non_null(seccomp_call_name(newest));
	assert_null(seccomp_call_name(newest + 1));
}

/* What a twin is asked in. */
enum world {
	IN_NET,	  /* net = "all" */
	IN_UNIX,  /* and named AF_UNIX sockets */
	IN_PORTS, /* single ports */
	IN_USER,  /* memory files can be executed: no sysctl */
	IN_OPEN,  /* profile "open" */
	N_WORLDS,
};

static struct seccomp_want world_want(enum world world)
{
	return (struct seccomp_want){
		.profile = world == IN_OPEN ? PROFILE_OPEN : PROFILE_DEFAULT,
		.net = world == IN_PORTS ? POLICY_NET_PORTS : POLICY_NET_ALL,
		.net_udp = world != IN_PORTS,
		.net_unix = world == IN_UNIX,
		.memfd_noexec_sysctl = world != IN_USER,
	};
}

/* The answer is ALLOW or DENY of twins.def. */
static const struct twins {
	const char *call;
	enum world world;
	bool ok;
	const uint64_t (*args)[6];
	size_t n;
} TWINS[] = {
#define HIGH 0xffffffff00000000
#define TWINS_ALLOW true
#define TWINS_DENY false
#define TWINS(call, world, verdict, ...)     \
	{#call, IN_##world, TWINS_##verdict, \
	 (const uint64_t[][6]){__VA_ARGS__}, \
	 ARRAY_LEN(((const uint64_t[][6]){__VA_ARGS__}))},
#include "tests/unit/gate/twins.def"
#undef TWINS
};

static void check_twin(const struct seccomp_filter *f, const struct twins *t,
		       const uint64_t args[6], uint32_t refuse)
{
	uint32_t got = verdict(f, seccomp_call_number(t->call), args);

	if (got != (t->ok ? ALLOW : refuse))
		fail_msg("%s(%#llx, %#llx, %#llx) in world %d: %#x", t->call,
			 (ull)args[0], (ull)args[1], (ull)args[2], t->world,
			 got);
}

static void check_twins(const struct seccomp_filter *f, const struct twins *t,
			uint32_t refuse)
{
	for (size_t i = 0; i < t->n; i++) {
		uint64_t args[6];

		check_twin(f, t, t->args[i], refuse);
		for (int turn = 0; turn < 3; turn++) {
			for (int k = 0; k < 6; k++)
				args[k] = (uint32_t)t->args[i][k] |
					  (turn ? next_random() << 32 : HIGH);
			check_twin(f, t, args, refuse);
		}
	}
}

static void check_world(enum world world, enum seccomp_deny deny)
{
	struct seccomp_want w = world_want(world);
	AUTO_FILTER(f);

	w.deny = deny;
	bpf_build(&w, &f);
	for (size_t i = 0; i < ARRAY_LEN(TWINS); i++)
		if (TWINS[i].world == world)
			check_twins(&f, &TWINS[i], deny_action(&w));
}

TEST(filter, twins_by_argument, are_judged_as_listed)
{
	for (int world = 0; world < N_WORLDS; world++) {
		check_world((enum world)world, SECCOMP_DENY_NOTIFY);
		check_world((enum world)world, SECCOMP_DENY_ERRNO);
	}
}

static bool is_allowed_by(const struct twins *t, const struct arg_rule *rule)
{
	struct seccomp_want w = world_want(t->world);
	bool has = false;

	if (!t->ok || strcmp(t->call, rule->call) != 0 ||
	    !rule_applies(rule, &w))
		return false;
	for (size_t i = 0; i < t->n; i++)
		has |= rule_holds(rule, t->args[i]);
	return has;
}

TEST(twins, each_rule, has_an_allowed_case)
{
	for (size_t i = 0; i < ARRAY_LEN(ARG_RULES); i++) {
		bool has = false;

		for (size_t k = 0; k < ARRAY_LEN(TWINS); k++)
			has |= is_allowed_by(&TWINS[k], &ARG_RULES[i]);
		if (!has)
			fail_msg("rule %zu, of %s: no twin that it allows", i,
				 ARG_RULES[i].call);
	}
}

TEST(twins, each_call_by_argument, has_a_refused_case)
{
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		bool has = ROWS[i].how != HOW_ARGS && ROWS[i].how != HOW_FIXED;

		for (size_t k = 0; k < ARRAY_LEN(TWINS); k++)
			has |= !TWINS[k].ok &&
			       strcmp(TWINS[k].call, ROWS[i].name) == 0;
		if (!has)
			fail_msg("%s: no twin that is refused", ROWS[i].name);
	}
}

static void ask(struct seccomp_want w, const char *call, const uint64_t args[6],
		uint32_t want)
{
	AUTO_FILTER(f);

	bpf_build(&w, &f);
	if (verdict(&f, seccomp_call_number(call), args) != want)
		fail_msg("%s(%#llx, %#llx) is not %#x", call, (ull)args[0],
			 (ull)args[1], want);
}
#define ALLOWS(w, call, ...) \
	ask(w, call, (const uint64_t[6]){__VA_ARGS__}, ALLOW)
#define REFUSES(w, call, ...) \
	ask(w, call, (const uint64_t[6]){__VA_ARGS__}, NOTIFY)

static void ask_names(struct seccomp_want w, const char *names, uint32_t want)
{
	AUTO_FILTER(f);

	bpf_build(&w, &f);
	check_names(&f, names, want);
}

TEST(sockets, of_each_network, are_only_what_is_granted)
{
	struct seccomp_want none = {.profile = PROFILE_OPEN, .net_udp = true};
	struct seccomp_want files = {.profile = PROFILE_STRICT,
				     .net_unix = true};
	struct seccomp_want ports = {.net = POLICY_NET_PORTS};
	struct seccomp_want own = {
		.net = POLICY_NET_LOOPBACK, .net_udp = true, .net_unix = true};

	for (uint64_t family = 0; family < 46; family++)
		for (uint64_t type = 0; type < 11; type++)
			REFUSES(none, "socket", family, type);
	REFUSES(none, "socketpair", AF_UNIX, SOCK_DGRAM);
	ALLOWS(none, "socketpair", AF_UNIX, SOCK_STREAM);
	ALLOWS(files, "socket", AF_UNIX, SOCK_STREAM);
	ALLOWS(files, "socketpair", AF_UNIX, SOCK_DGRAM);
	REFUSES(files, "socket", AF_INET, SOCK_STREAM);
	ALLOWS(ports, "socket", AF_INET, SOCK_STREAM);
	REFUSES(ports, "socket", AF_INET, SOCK_DGRAM);
	REFUSES(ports, "socket", AF_UNIX, SOCK_STREAM);
	ALLOWS(own, "socket", AF_INET6, SOCK_DGRAM);
	ALLOWS(own, "socket", AF_UNIX, SOCK_STREAM);
	ALLOWS(own, "socketpair", AF_UNIX, SOCK_DGRAM);
}

TEST(memfd, without_the_sysctl_or_strict, must_be_sealed)
{
	struct seccomp_want user = {.profile = PROFILE_DEFAULT};
	struct seccomp_want strict = {.profile = PROFILE_STRICT,
				      .memfd_noexec_sysctl = true};

	REFUSES(user, "memfd_create", 0, 1);
	ALLOWS(user, "memfd_create", 0, 9);
	REFUSES(strict, "memfd_create", 0, 1);
	ALLOWS(strict, "memfd_create", 0, 8);
	REFUSES(strict, "memfd_create", 0, 0x18);
}

TEST(ipc, without_namespace, is_refused)
{
	struct seccomp_want w = {.profile = PROFILE_OPEN};

	ask_names(w, "shmget mq_open", NOTIFY);
	w.ipc_namespace = true;
	ask_names(w, "shmget mq_open", ALLOW);
	w.profile = PROFILE_DEFAULT;
	ask_names(w, "mq_open", NOTIFY);
}

TEST(attributes, to_be_kept, are_refused)
{
	static const char CHANGES[] =
		"chmod fchmod fchmodat fchmodat2 utimensat setxattr chown "
		"fchownat removexattr";
	struct seccomp_want w = {.profile = PROFILE_OPEN};

	ask_names(w, CHANGES, ALLOW);
	w.keep_attributes = true;
	ask_names(w, CHANGES, NOTIFY);
	ask_names(w, "getxattr openat", ALLOW);
}

TEST(open, beside_a_profile, adds_and_does_not_lift)
{
	struct seccomp_want w = {.profile = PROFILE_OPEN};

	ALLOWS(w, "personality", 0x0040000);
	ask_names(w, "io_setup process_vm_readv", ALLOW);
	REFUSES(w, "ioctl", 0, 0x5412);
	REFUSES(w, "clone", 0x10000000);
}

TEST(strict, beside_default, has_fewer_calls)
{
	static const char LESS[] =
		"inotify_init1 setuid chown sched_setparam seccomp";

	ask_names((struct seccomp_want){.profile = PROFILE_STRICT}, LESS,
		  NOTIFY);
	ask_names((struct seccomp_want){.profile = PROFILE_DEFAULT}, LESS,
		  ALLOW);
}

/* ---- names in `syscalls` ---- */

TEST(added_names, listed, are_allowed_without_their_neighbours)
{
	struct seccomp_want w = {
		.profile = PROFILE_DEFAULT,
		.syscalls =
			STRLIST("ptrace", "openat2", "personality", "shmget"),
	};

	ALLOWS(w, "ptrace", 16, 1);
	ALLOWS(w, "personality", 0x0040000);
	ask_names(w, "openat2 shmget", ALLOW);
	ask_names(w, "shmat mount", NOTIFY);
}

TEST(added_names, unknown_or_never, are_refused_with_a_reason)
{
	static const char *const REASONS[][2] = {
		{"ptarce", "did you mean \"ptrace\""},
		{"frobnicate_everything", "no \"frobnicate_everything\""},
		{"", "no \"\""},
		{"socketcall", "socketcall"}, /* i386's */
		{"clone3", "cannot be allowed"},
		{"io_uring_setup", "cannot be allowed"},
		{"ioctl", "by its arguments"},
		{"socket", "use `net`"},
		{"socketpair", "by its arguments"},
	};
	const struct strlist mount = STRLIST("mount");
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(REASONS); i++) {
		const char *name = REASONS[i][0];
		struct seccomp_want w = {.syscalls = {&name, 1}};
		AUTO_FILTER(f);

		err = (struct err)ERR_INIT;
		assert_int_equal(seccomp_check_names(&w.syscalls, &err), -1);
		assert_int_equal(err.kind, ERR_POLICY);
		if (!strstr(err.msg, REASONS[i][1]))
			fail_msg("\"%s\" lacks \"%s\"", err.msg, REASONS[i][1]);
		assert_int_equal(seccomp_build(&w, &f, &err), -1);
		assert_null(f.insn);
	}
	err = (struct err)ERR_INIT;
	assert_int_equal(seccomp_check_names(&mount, &err), 0);
}

/* ---- text ---- */

#define NET_ALL "sandbox = { net = \"all\" }"
#define SYSCALLS(name) "sandbox = { syscalls = [\"" name "\"] }"

/* The call is the word before the parenthesis. */
static const struct text_case {
	uint64_t args[6];
	const char *text;
	const char *allow;
} TEXTS[] = {
	{{AF_INET, SOCK_STREAM}, "socket(AF_INET, SOCK_STREAM, 0)", NET_ALL},
	{{AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 17},
	 "socket(AF_INET6, SOCK_DGRAM|SOCK_CLOEXEC, 17)",
	 NET_ALL},
	{{AF_INET, SOCK_RAW, 1}, "socket(AF_INET, SOCK_RAW, 1)", ""},
	{{AF_NETLINK, SOCK_RAW}, "socket(AF_NETLINK, SOCK_RAW, 0)", ""},
	{{0xffffff0000000063, 0x77}, "socket(0x63, 0x77, 0)", ""},
	{{16, 12, 0x7ffe0000},
	 "ptrace(PTRACE_ATTACH, 12, ..., ...)",
	 SYSCALLS("ptrace")},
	{{0x7fff1, 0x7fff2, 0x7fff3, 0x1000, 0},
	 "mount(..., ..., ..., 0x1000, ...)",
	 SYSCALLS("mount")},
	{{0x10000011}, "clone(CLONE_NEWUSER)", ""},
	{{0x30000100}, "clone(CLONE_NEWUSER|CLONE_NEWPID|CLONE_VM)", ""},
	{{0x10020000},
	 "unshare(CLONE_NEWNS|CLONE_NEWUSER)",
	 SYSCALLS("unshare")},
	{{0, 0x5412, 0x1234}, "ioctl(0, TIOCSTI, ...)", ""},
	{{5, 0xabcd, 0x1234}, "ioctl(5, 0xabcd, ...)", ""},
	{{35, 8, 0, 0, 0}, "prctl(PR_SET_MM, 0x8, 0, 0, 0)", ""},
	{{0x1234, 04755}, "chmod(..., 04755)", ""},
	{{0xffffff9c, 0x1234, 0x41, 04755},
	 "openat(-100, ..., 0x41, 04755)",
	 ""},
	{{0x40000}, "personality(0x40000)", SYSCALLS("personality")},
	/* no row of its own: raw, without the zeroes at the end */
	{{1, 0, 2}, "lookup_dcookie(0x1, 0, 0x2)", SYSCALLS("lookup_dcookie")},
	{{0x1234, 88}, "clone3(0x1234, 0x58)", ""},
	/* a number that nobody knows */
	{{0}, "syscall_5000()", ""},
};

static void put_allow_line(const struct seccomp_data *d, struct buf *out)
{
	struct gate_allow row = {NULL, NULL};

	seccomp_allow(d, &row.key, &row.value);
	gate_allow_line(&row, out);
}

TEST(text, of_refused_calls, is_readable)
{
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
		const struct text_case *t = &TEXTS[i];
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf allow = BUF_INIT(BUF_UNBOUNDED);
		struct seccomp_data d;
		char call[32];

		assert_int_equal(sscanf(t->text, "%31[^(]", call), 1);
		d = data_of(call);
		if (strcmp(call, "syscall_5000") == 0)
			d.nr = 5000;
		memcpy(d.args, t->args, sizeof(d.args));
		seccomp_describe(&d, &text);
		assert_string_equal(buf_cstr(&text), t->text);
		put_allow_line(&d, &allow);
		assert_string_equal(buf_cstr(&allow), t->allow);
	}
	assert_null(seccomp_call_name(-1));
	assert_int_equal(seccomp_call_number("nothing"), -1);
}

/* Whatever line is offered must be accepted, and must allow the call. */
TEST(allow_line, when_followed, allows_the_call)
{
	static const char PREFIX[] = "sandbox = { syscalls = [\"";

	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct seccomp_data d = data_of(ROWS[i].name);
		AUTO(buf_release) struct buf allow = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		const struct strlist names = STRLIST(ROWS[i].name);

		put_allow_line(&d, &allow);
		if (!str_starts(buf_str(&allow), PREFIX))
			continue;
		assert_int_equal(seccomp_check_names(&names, &err), 0);
		assert_true(ROWS[i].how != HOW_FIXED &&
			    ROWS[i].how != HOW_NEVER);
	}
}
