#include "gate/proxy/proxy_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "gate/build/landlock.h"
#include "gate/build/seccomp.h"

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

int proxy_confine(unsigned files, struct err *err)
{
	return set_limits(files, err) < 0 || drop_privileges(err) < 0 ||
			       restrict_files(err) < 0 ||
			       restrict_calls(err) < 0
		       ? -1
		       : 0;
}
