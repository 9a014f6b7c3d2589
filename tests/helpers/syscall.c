/*
 * Makes one system call with arguments that the kernel itself refuses, so
 * that it does no harm where it arrives:
 *
 *	syscall NAME	"blocked: ..." when it was answered EPERM or ENOSYS,
 *			"escaped: ..." when the kernel looked at its arguments
 *	syscall list	the names
 *
 * Exit status 1, 2 in that order; 64 for a name that it does not know. What
 * needs a capability says EPERM by itself to an ordinary user: such calls
 * tell something as root only.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#ifndef TIOCL_GETSHIFTSTATE
#define TIOCL_GETSHIFTSTATE 6
#endif

#define HIGH 0x100000000L /* must not make another number of it */

static char shift_state = TIOCL_GETSHIFTSTATE;

static const struct call {
	const char *name;
	long nr;
	long arg[6];
} calls[] = {
	/* descriptor -1: a filter looks at the request first */
	{"ioctl-tioclinux", SYS_ioctl, {-1, TIOCLINUX, (long)&shift_state}},
	{"ioctl-tioclinux-high", SYS_ioctl, {-1, HIGH | TIOCLINUX, 0}},
	{"ioctl-tiocsetd", SYS_ioctl, {-1, TIOCSETD, 0}},
	{"ioctl-tioccons", SYS_ioctl, {-1, TIOCCONS, 0}},
	{"ioctl-tiocsctty", SYS_ioctl, {-1, TIOCSCTTY, 0}},
	/* mounts: no such target, flag or descriptor */
	{"mount", SYS_mount, {0, 0, 0, 0, 0}},
	{"umount", SYS_umount2, {0, -1}},
	{"pivot_root", SYS_pivot_root, {0, 0}},
	{"chroot", SYS_chroot, {0}},
	{"open_tree", 428, {-1, 0, -1}},
	{"move_mount", 429, {-1, 0, -1, 0, -1}},
	{"fsopen", 430, {0, -1}},
	{"fsconfig", 431, {-1, -1, 0, 0, 0}},
	{"fsmount", 432, {-1, -1, -1}},
	{"fspick", 433, {-1, 0, -1}},
	{"mount_setattr", 442, {-1, 0, -1, 0, 0}},
	{"statmount", 457, {0, 0, 0, -1}},
	{"listmount", 458, {0, 0, 0, -1}},
	{"open_tree_attr", 467, {-1, 0, -1, 0, 0}},
	{"quotactl_fd", 443, {-1, -1, 0, 0}},
	/* namespaces */
	{"unshare", SYS_unshare, {CLONE_NEWUSER | 1}},
	{"setns", SYS_setns, {-1, 0}},
	{"clone3", 435, {0, 0}},
	{"clone-newuser", SYS_clone, {CLONE_NEWUSER | CLONE_FS, 0}},
	/* other processes: none has the number -1 */
	{"ptrace", SYS_ptrace, {PTRACE_PEEKDATA, -1, 0, 0}},
	{"process_vm_readv", SYS_process_vm_readv, {-1, 0, 0, 0, 0, 0}},
	{"process_vm_writev", SYS_process_vm_writev, {-1, 0, 0, 0, 0, 0}},
	{"pidfd_getfd", 438, {-1, -1, 0}},
	{"process_madvise", 440, {-1, 0, 0, -1, -1}},
	{"process_mrelease", 448, {-1, 0}},
	{"kcmp", SYS_kcmp, {-1, -1, 0, 0, 0}},
	{"migrate_pages", SYS_migrate_pages, {-1, 1, 0, 0}},
	{"move_pages", SYS_move_pages, {-1, 0, 0, 0, 0, -1}},
	/* the ring: calls that no filter sees */
	{"io_uring_setup", 425, {0, 0}},
	{"io_uring_enter", 426, {-1, 0, 0, 0, 0, 0}},
	{"io_uring_register", 427, {-1, 0, 0, 0}},
	/* the kernel's larger attack surface */
	{"bpf", SYS_bpf, {-1, 0, 0}},
	{"perf_event_open", SYS_perf_event_open, {0, -1, -1, -1, -1}},
	{"userfaultfd", SYS_userfaultfd, {-1}},
	{"keyctl", SYS_keyctl, {-1, 0, 0, 0, 0}},
	{"add_key", SYS_add_key, {0, 0, 0, 0, 0}},
	{"request_key", SYS_request_key, {0, 0, 0, 0}},
	{"open_by_handle_at", SYS_open_by_handle_at, {-1, 0, 0}},
	{"fanotify_init", SYS_fanotify_init, {-1, -1}},
	{"fanotify_mark", SYS_fanotify_mark, {-1, -1, 0, -1, 0}},
	{"vmsplice", SYS_vmsplice, {-1, 0, 0, 0}},
	{"memfd_secret", 447, {-1}},
	{"remap_file_pages", SYS_remap_file_pages, {1, 0, 1, 0, 0}},
	{"lsm_set_self_attr", 460, {-1, 0, 0, -1}},
	{"mbind", SYS_mbind, {1, 0, -1, 0, 0, -1}},
#if defined(__x86_64__)
	{"modify_ldt", SYS_modify_ldt, {1, 0, 0}},
	{"iopl", SYS_iopl, {9}},
	{"ioperm", SYS_ioperm, {-1, -1, 1}},
#endif
	/* the machine */
	{"kexec_load", SYS_kexec_load, {0, -1, 0, -1}},
	{"kexec_file_load", SYS_kexec_file_load, {-1, -1, 0, 0, -1}},
	{"init_module", SYS_init_module, {0, 0, 0}},
	{"finit_module", SYS_finit_module, {-1, 0, -1}},
	{"delete_module", SYS_delete_module, {0, 0}},
	{"swapon", SYS_swapon, {0, -1}},
	{"swapoff", SYS_swapoff, {0}},
	{"acct", SYS_acct, {1}},
	{"reboot", SYS_reboot, {0, 0, 0, 0}},
	{"settimeofday", SYS_settimeofday, {1, 1}},
	{"clock_settime", SYS_clock_settime, {-1, 0}},
	{"clock_adjtime", SYS_clock_adjtime, {-1, 0}},
	{"adjtimex", SYS_adjtimex, {0}},
	{"sethostname", SYS_sethostname, {0, -1}},
	{"setdomainname", SYS_setdomainname, {0, -1}},
	{"quotactl", SYS_quotactl, {-1, 0, 0, 0}},
	{"syslog", SYS_syslog, {-1, 0, 0}},
	{"lookup_dcookie", SYS_lookup_dcookie, {0, 0, 0}},
	/* what a process may do to itself and should not */
	{"personality", SYS_personality, {0x0400000}},
	{"personality-aslr", SYS_personality, {0x0040000}},
	{"prctl-set-mm", SYS_prctl, {PR_SET_MM, -1, 0, 0, 1}},
	{"prctl-set-mm-high", SYS_prctl, {HIGH | PR_SET_MM, -1, 0, 0, 1}},
	{"prctl-set-ptracer", SYS_prctl, {0x59616d61, 0x7fffffff, 0, 0, 0}},
	{"prctl-securebits", SYS_prctl, {PR_SET_SECUREBITS, 0, 0, 0, 0}},
	{"seccomp-listener", SYS_seccomp, {1, 8, 0}},
	{"seccomp-listener-high", SYS_seccomp, {1, HIGH | 8, 0}},
	{"sched_setattr", SYS_sched_setattr, {0, 0, 0}},
	{"sched_setscheduler-rr", SYS_sched_setscheduler, {-1, SCHED_RR, 0}},
	{"ioprio_set", SYS_ioprio_set, {1, -1, 1 << 13}},
	{"mq_open", SYS_mq_open, {0, 0, 0, 0}},
	/* numbers that no kernel has: a filter has to say ENOSYS */
	{"unknown", 9999, {0}},
	{"unknown-high", 0x10000L, {0}},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const struct call *c = &calls[i];
		const long *a = c->arg;
		long r;

		if (strcmp(name, "list") == 0)
			puts(c->name);
		if (strcmp(name, c->name) != 0)
			continue;
		r = syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (r < 0 && (errno == EPERM || errno == ENOSYS)) {
			printf("blocked: %s: %s\n", name, strerror(errno));
			return 1;
		}
		printf("escaped: %s reached the kernel: %s\n", name,
		       r < 0 ? strerror(errno) : "it worked");
		return 2;
	}
	return strcmp(name, "list") == 0 ? 0 : 64;
}
