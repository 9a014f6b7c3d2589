#include "gate/child/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/user.h"
#include "gate/child/launch.h"
#include "gate/child/sys.h"

/* Text of a kept result. */
#define KEPT_BYTES 1024
/* Settings are numbers, and labels are short. */
#define SETTING_BYTES 128
#define SYSCTL_USERNS_MAX "/proc/sys/user/max_user_namespaces"
#define SYSCTL_USERNS "/proc/sys/kernel/unprivileged_userns_clone"
#define SYSCTL_APPARMOR "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
/* The highest id of an id map: (uid_t)-1 is none. */
#define LAST_ID 4294967294U
/* Any value will do: below 301 the kernel refuses. */
#define TRIAL_PID_MAX 1024
/* A trial that is not over by then is a failed one. */
#define TRIAL_MS 20000
/* Time that a helper waits at most to be looked at, seconds. */
#define HELPER_S 5

uint64_t ns_clone_flags(const struct ns_caps *caps, bool network)
{
	return CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
	       CLONE_NEWCGROUP | (caps->as_user ? CLONE_NEWUSER : 0) |
	       (network ? CLONE_NEWNET : 0);
}

static bool is_mount_root(const char *path)
{
	struct statx stx;

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, 0, &stx) < 0)
		return false;
	return stx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* ---- the trial ---- */

/* As a view with what `caps` says of this machine; v->places are set. */
static int try_view(const struct ns_caps *caps, struct setup_view *v,
		    struct arena *arena, struct launch *l, struct err *err)
{
	struct clock *clock = clock_system();
	struct child_state state = {0};
	struct launched done = LAUNCHED_INIT;

	v->memfd_noexec = caps->memfd_noexec;
	v->pid_max = caps->pid_max ? TRIAL_PID_MAX : 0;
	*l = (struct launch){
		.state = &state,
		.own_pids = true,
		.is_trial = true,
		.until_ns = clock->now_ns(clock) + TRIAL_MS * NS_PER_MS,
		.fd = LAUNCH_NO_FDS,
	};
	if (caps->as_user) {
		l->uid_map = arena_printf(arena, "%u %u 1", v->uid, v->uid);
		l->gid_map = arena_printf(arena, "%u %u 1", v->gid, v->gid);
	}
	setup_build(v, arena, &l->setup);
	l->slots = ARENA_ARRAY(arena, int, l->setup.slots + 1);
	if (launch_start(l, ns_clone_flags(caps, false), &done, err) < 0)
		return -1;
	launched_release(&done);
	return 0;
}

static bool try_caps(struct ns_caps *caps, struct setup_view *v)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct launch l;

	caps->memfd_noexec = caps->pid_max = true;
	while (try_view(caps, v, &arena, &l, &err) < 0) {
		const struct setup_op *op = l.stage == STAGE_SETUP
						    ? &l.setup.op[l.setup_step]
						    : NULL;

		/* the sysctls are extras; without one of them the view still
		   stands */
		if (op && op->kind == SETUP_WRITE) {
			if (strstr(op->path, "memfd"))
				caps->memfd_noexec = false;
			else
				caps->pid_max = false;
			continue;
		}
		snprintf(caps->why, sizeof(caps->why), "%.*s",
			 (int)sizeof(caps->why) - 1, err.msg);
		caps->sys = err.sys;
		caps->at_clone = l.stage < STAGE_SETUP;
		caps->at_proc = op && op->kind == SETUP_PROC;
		return false;
	}
	caps->available = true;
	return true;
}

/* ---- keeping the result ---- */

/* Text of a setting, which comes in one piece; "" when there is none. Borrows
   `text`. */
static struct str read_setting(const char *path, struct buf *text)
{
	AUTO(fd_closep) int fd = fd_open(path, O_RDONLY, 0);
	char bytes[SETTING_BYTES];
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));

	buf_add(text, bytes, n < 0 ? 0 : (size_t)n);
	return str_trim(buf_str(text));
}

/*
 * Everything that a result depends on: boot, user, capabilities, namespaces,
 * root directory, security label, and the settings that are changed at run
 * time.
 */
static bool make_key(struct buf *key)
{
	static const char *const settings[] = {"/proc/self/attr/current",
					       SYSCTL_USERNS_MAX, SYSCTL_USERNS,
					       SYSCTL_APPARMOR};
	struct __user_cap_data_struct caps[2] = {{.effective = 0}};
	struct stat user, mnt, root;

	proc_boot_id(key);
	if (!key->n || prctl(PR_GET_SECCOMP) != 0 ||
	    stat("/proc/self/ns/user", &user) < 0 ||
	    stat("/proc/self/ns/mnt", &mnt) < 0 || stat("/", &root) < 0 ||
	    kernel_capget(caps) < 0)
		return false;
	buf_addf(key, " %u %u %x%08x %llu %llu %llu %s", user_self(),
		 user_self_group(), caps[1].effective, caps[0].effective,
		 (unsigned long long)user.st_ino,
		 (unsigned long long)mnt.st_ino,
		 (unsigned long long)root.st_ino, MATINS_VERSION);
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(SETTING_BYTES);

		buf_addc(key, ' ');
		buf_add_str(key, read_setting(settings[i], &text));
	}
	return true;
}

static char *kept_path(const char *state_dir, struct arena *arena)
{
	return arena_printf(arena, "%s/isolation-%u", state_dir, user_self());
}

/* Read a file of this user; others may write where the folder is shared. */
static bool read_own(const char *path, struct buf *text)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	AUTO(fd_closep) int fd = fd_open(path, flags, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_uid == user_self() &&
	       fd_read_sized(fd, st.st_size, text, ERR_IGNORED) == 0;
}

static bool read_kept(const char *state_dir, struct ns_caps *caps)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(KEPT_BYTES);
	AUTO(buf_release) struct buf key = BUF_INIT(KEPT_BYTES);
	struct str rest;

	if (!state_dir || !make_key(&key) ||
	    !read_own(kept_path(state_dir, &arena), &text))
		return false;
	rest = buf_str(&text);
	if (!str_eq(str_cut(&rest, '\n'), buf_str(&key)))
		return false;
	for (rest = str_trim(rest); rest.n;) {
		struct str word = str_cut(&rest, ' ');

		caps->available |= str_is(word, "available");
		caps->as_user |= str_is(word, "as_user");
		caps->memfd_noexec |= str_is(word, "memfd_noexec");
		caps->pid_max |= str_is(word, "pid_max");
	}
	caps->is_kept = caps->available;
	return caps->available;
}

/* Keep a success only: a setting that is put right counts at once. */
static void keep_result(const char *state_dir, const struct ns_caps *caps)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(KEPT_BYTES);
	struct err ignored;

	if (!state_dir || !caps->available || !make_key(&text))
		return;
	buf_addf(&text, "\navailable%s%s%s\n", caps->as_user ? " as_user" : "",
		 caps->memfd_noexec ? " memfd_noexec" : "",
		 caps->pid_max ? " pid_max" : "");
	(void)!fd_replace_file(kept_path(state_dir, &arena), buf_str(&text),
			       0600, false, &ignored);
}

void ns_forget(const char *state_dir)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	if (state_dir)
		unlink(kept_path(state_dir, &arena));
}

void ns_probe(const struct setup_place *places, size_t n_places,
	      const char *state_dir, struct ns_caps *ret)
{
	struct setup_view v = {
		.uid = user_self(),
		.gid = user_self_group(),
		.places = places,
		.n_places = n_places,
	};
	struct ns_caps caps = {
		.root_is_mount = is_mount_root("/"),
		.dev_is_mount = is_mount_root("/dev"),
	};

	if (!read_kept(state_dir, &caps)) {
		v.root_is_mount = caps.root_is_mount;
		v.dev_is_mount = caps.dev_is_mount;
		if (user_self() != 0 || !try_caps(&caps, &v)) {
			caps.as_user = true;
			try_caps(&caps, &v);
		}
		keep_result(state_dir, &caps);
	}
	*ret = caps;
}

/* ---- what to do ---- */

static bool setting_is(const char *path, const char *value)
{
	AUTO(buf_release) struct buf text = BUF_INIT(SETTING_BYTES);

	return str_is(read_setting(path, &text), value);
}

const char *ns_remedy(const struct ns_caps *caps)
{
	if (caps->available)
		return "";
	if (caps->sys == ENOSYS || caps->sys == EINVAL)
		return "use Linux 5.12 or newer, with namespaces built in";
	if (setting_is(SYSCTL_USERNS_MAX, "0") || caps->sys == ENOSPC)
		return "sysctl user.max_user_namespaces=15000";
	if (setting_is(SYSCTL_USERNS, "0"))
		return "sysctl kernel.unprivileged_userns_clone=1";
	if (!caps->at_clone && setting_is(SYSCTL_APPARMOR, "1"))
		return "give matins an AppArmor profile with `userns,`, or "
		       "sysctl kernel.apparmor_restrict_unprivileged_userns=0";
	if (caps->at_proc)
		return "in a container, show the whole /proc: docker run "
		       "--security-opt systempaths=unconfined";
	if (access("/.dockerenv", F_OK) == 0 ||
	    access("/run/.containerenv", F_OK) == 0 ||
	    prctl(PR_GET_SECCOMP) > 0)
		return "in a container, allow namespaces and mounts: docker "
		       "run --security-opt seccomp=FILE --security-opt "
		       "apparmor=unconfined, where FILE allows clone, mount "
		       "and mount_setattr";
	return "see what forbids namespaces here: a security module, a "
	       "container, or missing capabilities";
}

/* ---- id maps ---- */

const char *ns_swap_map(uint32_t a, uint32_t b, struct arena *arena)
{
	AUTO(buf_release) struct buf map = BUF_INIT(BUF_UNBOUNDED);
	uint32_t low = a < b ? a : b, high = a < b ? b : a;

	if (low == high)
		return arena_printf(arena, "0 0 %u\n", LAST_ID);
	if (low > 0)
		buf_addf(&map, "0 0 %u\n", low);
	buf_addf(&map, "%u %u 1\n", low, high);
	if (high - low > 1)
		buf_addf(&map, "%u %u %u\n", low + 1, low + 1, high - low - 1);
	buf_addf(&map, "%u %u 1\n", high, low);
	if (high < LAST_ID)
		buf_addf(&map, "%u %u %u\n", high + 1, high + 1,
			 LAST_ID - high);
	return arena_strdup(arena, buf_cstr(&map));
}

/* Wait to be killed, by the end of the runner, too; where that fails, end. */
static int helper_main(void *runner)
{
	struct timespec left = {.tv_sec = HELPER_S};

	sys_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (__atomic_load_n((const int *)runner, __ATOMIC_ACQUIRE) &&
	       sys_call(SYS_ppoll, NULL, 0, &left, NULL, 0) < 0)
		;
	return 0;
}

int ns_swap_ids(uid_t uid, uid_t to_uid, gid_t gid, gid_t to_gid, int *ret_fd,
		struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct {
		const char *file, *map;
	} maps[] = {
		{"uid_map", ns_swap_map(uid, to_uid, &arena)},
		{"gid_map", ns_swap_map(gid, to_gid, &arena)},
	};
	struct process helper;
	const char *path;
	int r = 0;

	if (process_share(helper_main,
			  (void *)(uintptr_t)process_word_of_life(),
			  CLONE_NEWUSER, &helper) < 0)
		return err_sys(err, errno, "user namespace for id maps");
	for (size_t i = 0; i < ARRAY_LEN(maps) && r == 0; i++) {
		AUTO(fd_closep) int fd = -1;

		path = arena_printf(&arena, "/proc/%d/%s", helper.pid,
				    maps[i].file);
		fd = fd_open(path, O_WRONLY, 0);
		if (fd < 0 ||
		    fd_write_all(fd, maps[i].map, strlen(maps[i].map)) < 0)
			r = err_sys(err, errno, "%s", path);
	}
	path = arena_printf(&arena, "/proc/%d/ns/user", helper.pid);
	if (r == 0) {
		*ret_fd = fd_open(path, O_RDONLY, 0);
		if (*ret_fd < 0)
			r = err_sys(err, errno, "%s", path);
	}
	process_end(&helper);
	return r;
}

int ns_try_idmap(const char *path, int userns_fd, bool deep)
{
	struct kernel_mount_attr map = {.attr_set = KERNEL_MOUNT_IDMAP,
					.userns_fd = (uint64_t)userns_fd};
	AUTO(fd_closep) int fd = kernel_open_tree(path);

	if (fd < 0)
		return -1;
	return kernel_mount_setattr(fd, deep ? KERNEL_AT_RECURSIVE : 0, &map);
}
