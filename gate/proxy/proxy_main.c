/*
 * Process of the proxy: its start and its confinement. What a flaw could reach
 * is the granted network anyway.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <ifaddrs.h>
#include <linux/securebits.h>
#include <poll.h>
#include <resolv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "gate/build/landlock.h"
#include "gate/build/seccomp.h"
#include "gate/proxy/proxy_packets.h"
#include "gate/proxy/proxy_serve.h"

enum { STATUS_USAGE = 64 };

/* ---- confinement ---- */

#define NOBODY 65534

/* Files that the resolver of the C library opens, where they exist;
   resolv.conf leads into /run, and is replaced there. */
static const char *const READABLE[] = {"/etc/hosts",
				       "/etc/resolv.conf",
				       "/etc/nsswitch.conf",
				       "/etc/gai.conf",
				       "/etc/host.conf",
				       "/etc/services",
				       "/etc/protocols",
				       "/etc/ld.so.cache",
				       "/lib",
				       "/lib64",
				       "/usr/lib",
				       "/usr/lib64",
				       "/run/resolvconf",
				       "/run/systemd/resolve",
				       "/run/NetworkManager"};

static int set_limits(rlim_t most, struct err *err)
{
	struct rlimit none = {0, 0}, files;

	if (setrlimit(RLIMIT_CORE, &none) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &none) < 0 ||
	    getrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_sys(err, errno, "limits");
	files.rlim_cur = files.rlim_max < most ? files.rlim_max : most;
	files.rlim_max = files.rlim_cur;
	return setrlimit(RLIMIT_NOFILE, &files) < 0
		       ? err_sys(err, errno, "limits")
		       : 0;
}

/*
 * In a user namespace without such a user root stays what it is there, as
 * little as that may be; the capabilities go in either case.
 */
static int drop_privileges(struct err *err)
{
	const struct __user_cap_data_struct none[2] = {{.effective = 0}};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, errno, "no_new_privs");
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
	if (geteuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	     setresuid(NOBODY, NOBODY, NOBODY) < 0) &&
	    errno != EINVAL && errno != EPERM)
		return err_sys(err, errno, "identity");
	if (kernel_capset(none) < 0)
		return err_sys(err, errno, "capabilities");
	/* a change of identity has cleared the one and set the other */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(err, errno, "end with the runner");
	return 0;
}

static int restrict_files(struct err *err)
{
	int abi = landlock_abi(), ruleset = -1, r = 0;
	int fd[ARRAY_LEN(READABLE)];
	struct landlock_rules rules;

	if (abi < 1)
		return 0; /* the facts of the child say so */
	landlock_rules_init(&rules, abi);
	landlock_rules_net_open(&rules);
	for (size_t i = 0; i < ARRAY_LEN(READABLE); i++) {
		fd[i] = fd_open(READABLE[i], O_PATH, 0);
		if (fd[i] >= 0 && r == 0)
			r = landlock_add_path(&rules, fd[i], LL_READ, err);
	}
	if (r == 0)
		r = landlock_create(&rules, &ruleset, err);
	landlock_rules_release(&rules);
	for (size_t i = 0; i < ARRAY_LEN(READABLE); i++)
		fd_closep(&fd[i]);
	if (r == 0 && kernel_landlock_restrict_self(ruleset) < 0)
		r = err_sys(err, errno, "Landlock");
	fd_closep(&ruleset);
	return r;
}

static int install_filter(struct sock_filter *insn, size_t n, struct err *err)
{
	struct sock_fprog program = {(unsigned short)n, insn};

	if (kernel_seccomp(SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return err_sys(err, errno, "system-call filter");
	return 0;
}

/*
 * The filter of the profile "strict", and on top of it: nothing is executed, no
 * process is signalled or served. Other architectures are the first filter's.
 */
static int restrict_calls(struct err *err)
{
#define REFUSE(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, LAST, 0)
#define LAST 0
	struct sock_filter more[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		REFUSE(execve),
		REFUSE(execveat),
		REFUSE(kill),
		REFUSE(pidfd_open),
		REFUSE(pidfd_send_signal),
		REFUSE(bind),
		REFUSE(listen),
		REFUSE(memfd_create),
		REFUSE(mkdirat),
		REFUSE(unlinkat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
#undef LAST
#undef REFUSE
	const struct seccomp_want want = {.profile = PROFILE_STRICT,
					  .net = POLICY_NET_ALL,
					  .net_udp = true,
					  .deny = SECCOMP_DENY_ERRNO};
	struct seccomp_filter strict = SECCOMP_FILTER_INIT;
	int r;

	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		if (more[i].code == (BPF_JMP | BPF_JEQ | BPF_K))
			more[i].jt = (uint8_t)(ARRAY_LEN(more) - 2 - i);
	if (filters_build(&want, &strict, err) < 0)
		return -1;
	r = install_filter(more, ARRAY_LEN(more), err);
	if (r == 0)
		r = install_filter(strict.insn, strict.n, err);
	seccomp_filter_release(&strict);
	return r;
}

/*
 * Keep what connecting and the resolver of the C library need, for good: no
 * identity, no capability, no file but those that a resolver reads, no exec,
 * no signal, nothing served.
 *
 * files  descriptors that it may have; less where the limit is lower
 */
static int confine(unsigned files, struct err *err)
{
	return set_limits(files, err) < 0 || drop_privileges(err) < 0 ||
			       restrict_files(err) < 0 ||
			       restrict_calls(err) < 0
		       ? -1
		       : 0;
}

/* ---- the start ---- */

/* NULL: the program was given this name by hand, and has no such memory. */
static struct proxy_share *map_share(void)
{
	struct stat st;
	void *p;

	if (fstat(PROXY_FD_SHARE, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size != sizeof(struct proxy_share))
		return NULL;
	p = mmap(NULL, sizeof(struct proxy_share), PROT_READ | PROT_WRITE,
		 MAP_SHARED, PROXY_FD_SHARE, 0);
	return p == MAP_FAILED ? NULL : p;
}

/*
 * A service that listens on all addresses is reached by the public one, too,
 * so all of them must be known. Kept until the process ends.
 */
static int find_own(struct proxy_served *l, struct err *err)
{
	struct ifaddrs *list = NULL;
	size_t n = 0;

	if (getifaddrs(&list) < 0)
		return err_sys(err, errno, "addresses of this machine");
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		n++;
	l->own = mem_alloc((n + 1) * sizeof(*l->own));
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		l->n_own += i->ifa_addr &&
			    address_of(i->ifa_addr, &l->own[l->n_own]);
	freeifaddrs(list);
	return 0;
}

/* Domains that the resolver of a child puts behind names: it reads the same
   file. Without one there are none. */
static void find_search(struct proxy_known *k)
{
	struct __res_state state = {.options = 0};
	struct endpoint_target t;

	if (res_ninit(&state) < 0)
		return;
	for (size_t i = 0; i < PROXY_SEARCH_MAX && state.dnsrch[i]; i++)
		if (endpoint_target(str_of(state.dnsrch[i]), 1, &t) == 0)
			memcpy(k->search[k->n_search++], t.host,
			       sizeof(t.host));
	res_nclose(&state);
}

/* PROXY_READY, or the text of an error; a gate that is gone needs no answer. */
static void tell_gate(const char *text, size_t n)
{
	if (send(PROXY_FD_GATE, text, n, MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILURE);
}

static int take_sockets(struct proxy_served *l, struct err *err)
{
	if (!pass_receive(PROXY_FD_GATE, 0, &l->sockets) || !l->sockets.n)
		return err_set(err, ERR_INTERNAL, "no sockets came");
	for (size_t i = 0; i < l->sockets.n; i++) {
		int family = 0, fd = l->sockets.fd[i];
		socklen_t n = sizeof(int);

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &l->type[i], &n) < 0 ||
		    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n) < 0)
			return err_sys(err, errno, "sockets");
		if (l->type[i] != SOCK_STREAM &&
		    packets_prepare(fd, l->type[i], family == AF_INET6, err) <
			    0)
			return -1;
		l->sees_first |= l->type[i] == SOCK_RAW && family == AF_INET;
	}
	return 0;
}

/* Two descriptors for each connection. */
static int bound_conns(struct proxy_served *l, struct err *err)
{
	struct rlimit files;
	size_t most = PROXY_CONNECTIONS;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_sys(err, errno, "limits");
	if (files.rlim_cur < 2 * PROXY_CONNECTIONS + PROXY_FILES_MORE)
		most = files.rlim_cur > PROXY_FILES_MORE + 1
			       ? (size_t)(files.rlim_cur - PROXY_FILES_MORE) / 2
			       : 1;
	l->max_conns = most;
	return 0;
}

/* Become what serves only; the runner may have ended before the signal of its
   death was asked for. */
static int begin(struct proxy_served *l, struct err *err)
{
	struct pollfd gate = {.fd = PROXY_FD_GATE};

	find_search(&l->known);
	if (find_own(l, err) < 0 ||
	    confine(2 * PROXY_CONNECTIONS + PROXY_FILES_MORE, err) < 0 ||
	    bound_conns(l, err) < 0)
		return -1;
	if (poll(&gate, 1, 0) < 0 ||
	    gate.revents & (POLLHUP | POLLERR | POLLNVAL))
		_exit(EXIT_FAILURE);
	return take_sockets(l, err);
}

static void take_rows(struct proxy_known *k)
{
	k->n_rows = k->share->n_rows < ARRAY_LEN(k->rows) ? k->share->n_rows
							  : ARRAY_LEN(k->rows);
	memcpy(k->rows, k->share->rows, k->n_rows * sizeof(k->rows[0]));
}

int gate_proxy_main(void)
{
	static const char ready = PROXY_READY;
	struct proxy_served *l = mem_zalloc(sizeof(*l));
	struct err err = ERR_INIT;
	sigset_t signals;

	l->known.share = map_share();
	if (!l->known.share) {
		fprintf(stderr, "matins: " GATE_PROXY_NAME
				" is started by the gate only\n");
		free(l);
		return STATUS_USAGE;
	}
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	prctl(PR_SET_NAME, GATE_PROXY_NAME);
	take_rows(&l->known);
	if (begin(l, &err) < 0) {
		tell_gate(err.msg, strlen(err.msg));
		_exit(EXIT_FAILURE);
	}
	tell_gate(&ready, 1);
	proxy_serve(l);
	_exit(EXIT_SUCCESS);
}
