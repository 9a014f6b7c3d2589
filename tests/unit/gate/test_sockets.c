/* Sockets of a tree: the instructions that stand before its filter, and whose
   socket a file is. */
#include <errno.h>

#include "tests/unit/test.h"
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/build/compact.h"
#include "gate/build/seccomp.h"
#include "gate/watch/watch.h"
#include "tests/unit/gate/bpf.h"

/* ---- the filter ---- */

/* Verdict behind the instructions. */
#define PLAIN_VERDICT SECCOMP_RET_TRAP

static uint32_t verdict(enum sockets_held held, uint32_t arch, int nr,
			uint64_t a, uint64_t b)
{
	struct sock_filter plain = BPF_STMT(BPF_RET | BPF_K, PLAIN_VERDICT);
	struct sock_filter front[SOCKETS_INSNS];
	struct sock_filter insn[COMPACT_HEAD + SOCKETS_INSNS + 1];
	size_t n = sockets_filter(held, SECCOMP_RET_ERRNO | EPERM, front);
	struct seccomp_filter f = {
		insn, (uint16_t)compact_prepend(front, n, SECCOMP_ARCH,
						&(struct sock_fprog){1, &plain},
						insn)};
	struct seccomp_data d = {.arch = arch, .nr = nr, .args = {a, b}};

	return bpf_run(&f, &d);
}

#define HELD(held, want, ...) \
	assert_int_equal(verdict(held, SECCOMP_ARCH, __VA_ARGS__), want)

TEST(sockets, judged, are_notified_or_made)
{
	const uint64_t high = UINT64_C(0xabcd) << 32;

	HELD(SOCKETS_JUDGED, SECCOMP_RET_USER_NOTIF, SYS_connect, 3, 0);
	HELD(SOCKETS_JUDGED, SECCOMP_RET_USER_NOTIF, SYS_listen, 3, 0);
	HELD(SOCKETS_JUDGED, SECCOMP_RET_ALLOW, SYS_socket, AF_UNIX,
	     SOCK_STREAM);
	HELD(SOCKETS_JUDGED, SECCOMP_RET_ALLOW, SYS_socket, AF_UNIX | high,
	     SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK | high);
	/* what is made of each other type the plain filter says */
	for (unsigned type = 0; type < 16; type++)
		if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
			HELD(SOCKETS_JUDGED, PLAIN_VERDICT, SYS_socket, AF_UNIX,
			     type);
	for (unsigned family = 0; family < 64; family++)
		if (family != AF_UNIX)
			HELD(SOCKETS_JUDGED, PLAIN_VERDICT, SYS_socket, family,
			     SOCK_STREAM);
}

TEST(sockets, none, are_not_paired)
{
	HELD(SOCKETS_NONE, SECCOMP_RET_ERRNO | EPERM, SYS_socketpair, AF_UNIX,
	     SOCK_STREAM);
	HELD(SOCKETS_NONE, PLAIN_VERDICT, SYS_socket, AF_UNIX, SOCK_STREAM);
}

TEST(sockets, other_calls_and_machines, are_the_filters)
{
	for (int nr = 0; nr < 600; nr++) {
		bool is_judged = nr == SYS_connect || nr == SYS_listen ||
				 nr == SYS_socket;

		if (!is_judged)
			HELD(SOCKETS_JUDGED, PLAIN_VERDICT, nr, AF_UNIX,
			     SOCK_STREAM);
		if (nr != SYS_socketpair)
			HELD(SOCKETS_NONE, PLAIN_VERDICT, nr, AF_UNIX,
			     SOCK_STREAM);
		HELD(SOCKETS_PLAIN, PLAIN_VERDICT, nr, AF_UNIX, SOCK_STREAM);
		assert_int_equal(verdict(SOCKETS_JUDGED, AUDIT_ARCH_I386, nr,
					 AF_UNIX, SOCK_STREAM),
				 PLAIN_VERDICT);
	}
}

/* ---- whose socket ---- */

static int serve(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 3), 0);
	return fd;
}

static bool is_served(struct own_sockets *o, const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return own_sockets_serve(o, &st) == OWN_SERVED;
}

TEST(own_sockets, renamed_over_another, are_known_by_the_kernels_word)
{
	char dir[] = "/tmp/matins-unit-XXXXXX", own[64], other[64], third[64];
	struct own_sockets o = {.diag = -1};
	AUTO(fd_closep) int fd = -1;
	AUTO(fd_closep) int foreign = -1;

	assert_non_null(mkdtemp(dir));
	snprintf(own, sizeof(own), "%s/own", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(third, sizeof(third), "%s/third", dir);
	fd = serve(own);
	foreign = serve(other);
	assert_true(own_sockets_add(&o, fd));
	assert_true(own_sockets_add(&o, fd));
	assert_int_equal(o.n, 1);
	assert_true(is_served(&o, own));
	assert_false(is_served(&o, other));
	assert_int_equal(rename(own, third), 0);
	assert_int_equal(rename(other, own), 0);
	assert_false(is_served(&o, own));
	assert_true(is_served(&o, third));
	/* a file whose socket is closed is nobody's */
	fd_closep(&fd);
	assert_false(is_served(&o, third));
	unlink(own);
	unlink(third);
	rmdir(dir);
	own_sockets_release(&o);
}

TEST(own_sockets, full, forget_those_that_ended)
{
	char dir[] = "/tmp/matins-unit-XXXXXX", path[64];
	struct own_sockets o = {.diag = -1};
	AUTO(fd_closep) int last = -1;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	for (size_t i = 0; i < OWN_SOCKETS_MAX; i++) {
		int fd = serve(path);

		assert_true(own_sockets_add(&o, fd));
		close(fd);
		unlink(path);
	}
	last = serve(path);
	assert_true(own_sockets_add(&o, last));
	assert_int_equal(o.n, 1);
	assert_true(is_served(&o, path));
	unlink(path);
	rmdir(dir);
	own_sockets_release(&o);
}

TEST(own_sockets, known_by_half_a_number, are_not_told_from_others)
{
	char dir[] = "/tmp/matins-unit-XXXXXX", path[64];
	struct own_sockets o = {.diag = -1};
	AUTO(fd_closep) int fd = -1;
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	fd = serve(path);
	assert_true(own_sockets_add(&o, fd));
	assert_int_equal(lstat(path, &st), 0);
	for (int exact = o.one[0].is_exact; exact >= 0; exact--) {
		struct stat other = st;

		o.one[0].is_exact = exact;
		assert_int_equal(own_sockets_serve(&o, &st), OWN_SERVED);
		other.st_ino += UINT64_C(1) << 32;
		assert_int_equal(own_sockets_serve(&o, &other),
				 exact ? OWN_NOT : OWN_UNKNOWN);
		other = st;
		other.st_dev++;
		assert_int_equal(own_sockets_serve(&o, &other),
				 exact ? OWN_NOT : OWN_UNKNOWN);
		other = st;
		other.st_ino++;
		assert_int_equal(own_sockets_serve(&o, &other), OWN_NOT);
	}
	unlink(path);
	rmdir(dir);
	own_sockets_release(&o);
}
