/*
 * The filter with watching against the one without, call by call; the rows of
 * a record; addresses as text.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "tests/unit/test.h"
#include <linux/audit.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "gate/build/seccomp.h"
#include "gate/watch/watch.h"
#include "tests/unit/gate/bpf.h"

#define COOKIE UINT64_C(0x1122334455667788)

static const uint64_t some_args[][6] = {
	{0, 0, 0, 0, 0, COOKIE & 0xffffffff},
	{0, 0, 0, 0, 0, COOKIE & ~UINT64_C(0xffffffff)},
	{0},
	{1, 1, 1, 1, 1, 1},
	{AF_INET, SOCK_STREAM, 0},
	{~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0),
	 ~UINT64_C(0)},
	{0, 0, 0, 06000},
	{0, 0100, 06000},
	{3, 4, 5, 0x20000000, 7, 8},
};

static uint32_t expected(const struct watch *w, const struct seccomp_data *d,
			 uint32_t plain)
{
	if (d->arch != SECCOMP_ARCH || !watch_covers(w, d->nr))
		return plain;
	if (plain == SECCOMP_RET_ALLOW)
		return SECCOMP_RET_USER_NOTIF;
	if (plain == SECCOMP_RET_USER_NOTIF)
		return SECCOMP_RET_ERRNO | EPERM;
	return plain;
}

/* How many verdicts were changed by watching. */
static size_t compare_call(const struct seccomp_filter *plain,
			   const struct seccomp_filter *watched,
			   const struct watch *w, uint32_t arch, int nr)
{
	size_t changed = 0;

	for (size_t i = 0; i < ARRAY_LEN(some_args); i++) {
		struct seccomp_data d = {.nr = nr, .arch = arch};
		uint32_t before, after;

		memcpy(d.args, some_args[i], sizeof(d.args));
		before = bpf_run(plain, &d);
		after = bpf_run(watched, &d);
		if (after != expected(w, &d, before))
			fail_msg("call %d(%zu): %#x, but watched %#x (%u)", nr,
				 i, before, after, w->what);
		changed += after != before;
	}
	return changed;
}

static void compare_filters(const struct seccomp_want *want, unsigned what)
{
	AUTO_FILTER(plain);
	struct arena arena = ARENA_INIT;
	struct watch w = WATCH_INIT;
	struct sock_fprog in, out;
	struct seccomp_filter watched;
	struct err err = ERR_INIT;
	size_t changed = 0;

	assert_int_equal(filters_build(want, &plain, &err), 0);
	w.what = what;
	in = (struct sock_fprog){plain.n, plain.insn};
	assert_true(
		watch_filter(&in, what, COOKIE, SOCKETS_PLAIN, &arena, &out));
	watched = (struct seccomp_filter){out.filter, out.len};
	for (int nr = 0; nr < seccomp_newest() + 8; nr++)
		changed += compare_call(&plain, &watched, &w, SECCOMP_ARCH, nr);
	assert_true(changed > 0);
	for (int nr = 0; nr < 400; nr += 7) {
		(void)compare_call(&plain, &watched, &w, AUDIT_ARCH_I386, nr);
		(void)compare_call(&plain, &watched, &w, SECCOMP_ARCH,
				   0x40000000 | nr);
	}
	arena_release(&arena);
}

TEST(filter, each_call, keeps_its_verdict_but_for_the_watched)
{
	static const unsigned whats[] = {GATE_RECORD_EXEC, GATE_RECORD_FILES,
					 GATE_RECORD_NET, 7};

	for (unsigned profile = 0; profile < N_PROFILES; profile++)
		for (unsigned net = 0; net < 4; net++) {
			struct seccomp_want want = {
				.profile = (enum policy_profile)profile,
				.net = (enum policy_net)net,
				.ipc_namespace = net & 1,
				.deny = SECCOMP_DENY_NOTIFY,
			};

			for (size_t i = 0; i < 4; i++)
				compare_filters(&want, whats[i]);
		}
}

/* What stands before a filter changes the calls that it names, and no other. */
TEST(filter, sockets_and_execs_before_it, leave_all_others)
{
	static const int named[] = {SYS_execve, SYS_execveat, SYS_socket,
				    SYS_connect, SYS_listen};
	AUTO_FILTER(plain);
	struct seccomp_want want = {.deny = SECCOMP_DENY_NOTIFY};
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct sock_fprog in, out;
	struct seccomp_filter f;

	assert_int_equal(filters_build(&want, &plain, &err), 0);
	in = (struct sock_fprog){plain.n, plain.insn};
	assert_true(watch_filter(&in, GATE_RECORD_EXEC, COOKIE, SOCKETS_JUDGED,
				 &arena, &out));
	f = (struct seccomp_filter){out.filter, out.len};
	for (int64_t nr = -1; nr < 700; nr++) {
		struct seccomp_data d = {.nr = (int)nr, .arch = SECCOMP_ARCH};
		bool is_named = false;

		for (size_t i = 0; i < ARRAY_LEN(named); i++)
			is_named |= named[i] == nr;
		if (!is_named)
			assert_int_equal(bpf_run(&f, &d), bpf_run(&plain, &d));
		d.arch = AUDIT_ARCH_I386;
		assert_int_equal(bpf_run(&f, &d), bpf_run(&plain, &d));
	}
	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		struct seccomp_data d = {.nr = named[i], .arch = SECCOMP_ARCH};

		if (named[i] == SYS_socket)
			d.args[0] = AF_UNIX, d.args[1] = SOCK_STREAM;
		assert_int_equal(bpf_run(&f, &d),
				 named[i] == SYS_socket
					 ? SECCOMP_RET_ALLOW
					 : SECCOMP_RET_USER_NOTIF);
	}
	arena_release(&arena);
}

TEST(filter, longer_than_the_kernel_takes, is_none)
{
	static struct sock_filter many[BPF_MAXINSNS];
	struct sock_fprog in = {BPF_MAXINSNS / 2 + 1, many}, out;
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < BPF_MAXINSNS; i++)
		many[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						       SECCOMP_RET_ALLOW);
	assert_false(watch_filter(&in, 7, 0, SOCKETS_PLAIN, &arena, &out));
	in.len = BPF_MAXINSNS / 4;
	assert_true(watch_filter(&in, 7, 0, SOCKETS_PLAIN, &arena, &out));
	arena_release(&arena);
}

/* The gate's own exec goes on unseen, by a number that nobody can guess. */
TEST(filter, exec_with_the_cookie, is_not_watched)
{
	AUTO_FILTER(plain);
	struct seccomp_want want = {.deny = SECCOMP_DENY_NOTIFY};
	struct seccomp_data d = {.nr = SYS_execveat, .arch = SECCOMP_ARCH};
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct sock_fprog in, out;

	assert_int_equal(filters_build(&want, &plain, &err), 0);
	in = (struct sock_fprog){plain.n, plain.insn};
	for (int has = 0; has < 2; has++) {
		struct seccomp_filter f;

		assert_true(watch_filter(&in, GATE_RECORD_EXEC,
					 has ? COOKIE : 0, SOCKETS_PLAIN,
					 &arena, &out));
		f = (struct seccomp_filter){out.filter, out.len};
		d.args[5] = COOKIE;
		assert_int_equal(bpf_run(&f, &d), has ? SECCOMP_RET_ALLOW
						      : SECCOMP_RET_USER_NOTIF);
		d.args[5] = 0;
		assert_int_equal(bpf_run(&f, &d), SECCOMP_RET_USER_NOTIF);
	}
	arena_release(&arena);
}

/* The child makes these before anybody could answer. */
TEST(table, calls_between_filter_and_exec, are_not_watched)
{
	struct watch w = WATCH_INIT;

	w.what = 7;
#define CHECK(name)                                                         \
	if (strcmp(#name, "execve") != 0 && strcmp(#name, "execveat") != 0) \
		assert_false(watch_covers(&w, seccomp_call_number(#name)));
	SECCOMP_CHILD_CALLS(CHECK)
#undef CHECK
	assert_true(watch_covers(&w, SYS_execve));
	assert_true(watch_covers(&w, SYS_execveat));
}

static enum watch_answer forbid_all(UNUSED void *arg,
				    UNUSED const struct watch_exec *x,
				    UNUSED struct err *why)
{
	return WATCH_FORBIDDEN;
}

TEST(covers, each_kind_and_rules, only_what_is_asked)
{
	static const struct {
		struct watch w;
		bool exec, open, connect;
	} cases[] = {
		{WATCH_INIT, false, false, false},
		{{.what = GATE_RECORD_EXEC}, true, false, false},
		{{.what = GATE_RECORD_FILES}, false, true, false},
		{{.judge = forbid_all}, true, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct watch *w = &cases[i].w;

		if (watch_covers(w, SYS_execve) != cases[i].exec ||
		    watch_covers(w, SYS_openat) != cases[i].open ||
		    watch_covers(w, SYS_connect) != cases[i].connect)
			fail_msg("row %zu", i);
	}
	assert_int_equal(watch_wants(&cases[3].w), GATE_RECORD_EXEC);
}

/* ---- records ---- */

static void add(struct watch *w, const char *path, unsigned access,
		const char *program)
{
	struct gate_record r = {.what = GATE_RECORD_FILES,
				.path = path,
				.access = access,
				.program = program};

	records_add(&w->records, &r);
}

TEST(records, same_again, is_counted)
{
	struct watch w = WATCH_INIT;

	add(&w, "/a", GATE_ACCESS_READ, "cat");
	add(&w, "/a", GATE_ACCESS_WRITE, "cat");
	add(&w, "/a", GATE_ACCESS_READ, "dog");
	add(&w, "/a", GATE_ACCESS_READ, "cat");
	assert_int_equal(w.records.n, 3);
	assert_int_equal(w.records.row[0].count, 2);
	assert_int_equal(w.records.row[1].count, 1);
	assert_string_equal(w.records.row[2].program, "dog");
	watch_release(&w);
}

TEST(records, more_than_there_is_room_for, are_counted)
{
	struct watch w = WATCH_INIT;
	char path[32];

	for (int i = 0; i < WATCH_RECORDS + 10; i++) {
		snprintf(path, sizeof(path), "/f/%d", i);
		add(&w, path, GATE_ACCESS_READ, "x");
	}
	add(&w, "/f/0", GATE_ACCESS_READ, "x");
	assert_int_equal(w.records.n, WATCH_RECORDS);
	assert_int_equal(w.records.dropped, 10);
	assert_int_equal(w.records.row[0].count, 2);
	watch_release(&w);
}

TEST(records, arguments, are_cut)
{
	struct watch w = WATCH_INIT;
	const char *args[WATCH_ARGS + 4];
	char longer[2 * WATCH_ARG_BYTES];
	struct gate_record r = {.what = GATE_RECORD_EXEC,
				.path = "/bin/x",
				.program = "sh",
				.args = {args, WATCH_ARGS + 4}};

	memset(longer, 'y', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	for (size_t i = 0; i < WATCH_ARGS + 4; i++)
		args[i] = longer;
	records_add(&w.records, &r);
	assert_int_equal(w.records.row[0].args.n, WATCH_ARGS);
	assert_int_equal(strlen(w.records.row[0].args.item[0]),
			 WATCH_ARG_BYTES - 1);
	watch_release(&w);
}

TEST(execs, refused_and_files, are_left_out)
{
	struct gate_record r = {.what = GATE_RECORD_EXEC, .program = "sh"};
	struct watch w = WATCH_INIT;
	struct strlist list;

	add(&w, "/etc/x", GATE_ACCESS_READ, "sh");
	r.path = "/bin/b";
	records_add(&w.records, &r);
	r.path = "/bin/a";
	records_add(&w.records, &r);
	r.refused = true;
	r.path = "/bin/c";
	records_add(&w.records, &r);
	list = records_list_execs(&w.records);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.item[0], "/bin/b");
	assert_string_equal(list.item[1], "/bin/a");
	watch_release(&w);
}

/* ---- addresses ---- */

TEST(address, of_each_family, is_text)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
				   .sin6_port = htons(443),
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
	struct sockaddr_un hidden = {.sun_family = AF_UNIX,
				     .sun_path = "\0name"};
	struct sockaddr_un full = {.sun_family = AF_UNIX};
	struct sockaddr_in netlink = {.sin_family = AF_NETLINK};
	const struct {
		const void *from;
		size_t size;
		const char *text; /* NULL: cut, or of others */
	} cases[] = {
		{&in, sizeof(in), "127.0.0.1:80"},
		{&in6, sizeof(in6), "[::1]:443"},
		{&un, sizeof(un), "unix:/run/x"},
		{&hidden, offsetof(struct sockaddr_un, sun_path) + 5,
		 "unix:@name"},
		{&in, 7, NULL},
		{&in, 0, NULL},
		{&netlink, sizeof(netlink), NULL},
		{&un, 2, NULL},
	};
	char text[256];

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool is = watch_address(cases[i].from, cases[i].size, text,
					sizeof(text));

		if (is != !!cases[i].text ||
		    (is && strcmp(text, cases[i].text) != 0))
			fail_msg("row %zu: %s", i, is ? text : "none");
	}
	memset(full.sun_path, 'z', sizeof(full.sun_path));
	assert_true(watch_address(&full, sizeof(full), text, sizeof(text)));
	assert_int_equal(strlen(text), 5 + sizeof(full.sun_path));
}
