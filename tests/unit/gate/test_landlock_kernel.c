/*
 * Landlock in the kernel: a child enters a ruleset and tries each right where
 * it was granted, and beside that where it was not.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "core/base/arena.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "gate/build/landlock.h"
#include "tests/unit/gate/tries.h"
#include "tests/unit/temp_dir.h"

/* ---- a folder with a tree for each class ---- */

static char base[] = "/tmp/matins-landlock-XXXXXX";
static int abi;

static const char *const TREES[] = {"read", "write", "only", "exec", "none"};

static const char *at(const char *path)
{
	static char full[8][256];
	static unsigned i;
	char *out = full[i++ % ARRAY_LEN(full)];

	snprintf(out, sizeof(full[0]), "%s/%s", base, path);
	return out;
}

static void copy_program(const char *to)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(fd_read_file("/bin/true", &bytes, &err), 0);
	assert_int_equal(fd_write_all(fd, bytes.p, bytes.n), 0);
	close(fd);
}

static int make_trees(void **state)
{
	(void)state;
	abi = landlock_abi();
	if (!mkdtemp(base))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(TREES); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		const char *tree = at(TREES[i]);

		if (fd_mkdirs(arena_printf(&arena, "%s/sub", tree), 0755) < 0)
			return -1;
		copy_program(arena_printf(&arena, "%s/file", tree));
	}
	return 0;
}

static int remove_trees(void **state)
{
	(void)state;
	return nftw(base, temp_dir_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- a confined child ---- */

static void add(struct landlock_rules *r, const char *path, uint64_t access)
{
	struct err err = ERR_INIT;
	int fd = fd_open(path, O_PATH, 0); /* closed by the exit of the child */

	if (fd >= 0 && landlock_add_path(r, fd, access, &err) < 0)
		_exit(201);
}

static void add_all(struct landlock_rules *r)
{
	add(r, at("read"), LL_READ);
	add(r, at("write"), LL_WRITE);
	add(r, at("only"), LL_WRITE_ONLY);
	add(r, at("exec/file"), LL_EXEC);
	add(r, "/dev/null", LL_DEVICE);
	/* what a started program needs */
	add(r, "/lib", LL_READ | LL_EXEC);
	add(r, "/lib64", LL_READ | LL_EXEC);
	add(r, "/usr/lib", LL_READ | LL_EXEC);
}

static int enter(int with_abi, void (*more)(struct landlock_rules *r))
{
	AUTO(landlock_rules_release) struct landlock_rules r;
	struct err err = ERR_INIT;
	int fd;

	landlock_rules_init(&r, with_abi);
	add_all(&r);
	if (more)
		more(&r);
	if (landlock_create(&r, &fd, &err) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return kernel_landlock_restrict_self(fd);
}

/* A child enters the rules, and `act` returns 0 there. */
static void check(int with_abi, void (*more)(struct landlock_rules *r),
		  int (*act)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(enter(with_abi, more) < 0 ? 202 : act());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (status)
		fail_msg("ABI %d: step %d", with_abi, WEXITSTATUS(status));
}

/* ---- files ---- */

static int try_read(void)
{
	WORKS(1, open(at("read/file"), O_RDONLY));
	WORKS(2, open(at("read/sub"), O_RDONLY | O_DIRECTORY));
	EXPECT(3, open(at("none/file"), O_RDONLY), EACCES);
	EXPECT(4, open(at("none"), O_RDONLY | O_DIRECTORY), EACCES);
	EXPECT(5, open(at("read/file"), O_WRONLY), EACCES);
	EXPECT(6, open(at("read/new"), O_WRONLY | O_CREAT, 0600), EACCES);
	EXPECT(7, unlink(at("read/file")), EACCES);
	EXPECT(8, mkdir(at("read/new"), 0700), EACCES);
	EXPECT(9, open("/etc/hostname", O_RDONLY), EACCES);
	EXPECT(10, open(base, O_RDONLY | O_DIRECTORY), EACCES);
	EXPECT(11, open(at("read/../none/file"), O_RDONLY), EACCES);
	return 0;
}

static int try_write(void)
{
	int fd = open(at("write/new"), O_RDWR | O_CREAT | O_EXCL, 0600);

	WORKS(1, fd);
	WORKS(2, write(fd, "x", 1));
	WORKS(3, mkdir(at("write/dir"), 0700));
	WORKS(4, rename(at("write/new"), at("write/dir/moved")));
	WORKS(5, symlink("x", at("write/link")));
	WORKS(6, mkfifo(at("write/fifo"), 0600));
	WORKS(7, truncate(at("write/dir/moved"), 0));
	WORKS(8, unlink(at("write/dir/moved")));
	WORKS(9, rmdir(at("write/dir")));
	WORKS(10, unlink(at("write/link")));
	WORKS(11, unlink(at("write/fifo")));
	EXPECT(12, open(at("none/new"), O_WRONLY | O_CREAT, 0600), EACCES);
	EXPECT(13, symlink("x", at("none/link")), EACCES);
	EXPECT(14, mkfifo(at("none/fifo"), 0600), EACCES);
	EXPECT(15, truncate(at("read/file"), 0), EACCES);
	EXPECT(16, rename(at("write/file"), at("none/moved")), EACCES);
	/* nothing gets readable by moving it into a granted tree */
	EXPECT(17, link(at("none/file"), at("write/linked")), EXDEV);
	EXPECT(18, rename(at("exec/file"), at("write/moved")), EACCES);
	return 0;
}

static int try_write_only(void)
{
	WORKS(1, open(at("only/new"), O_WRONLY | O_CREAT, 0600));
	EXPECT(2, open(at("only/new"), O_RDONLY), EACCES);
	EXPECT(3, open(at("only/file"), O_RDWR), EACCES);
	EXPECT(4, open(at("only"), O_RDONLY | O_DIRECTORY), EACCES);
	WORKS(5, unlink(at("only/new")));
	return 0;
}

/* 0 when the program ran and succeeded, else -1 and the errno of execve. */
static int start(const char *path)
{
	char *argv[] = {(char *)path, NULL};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execv(path, argv);
		_exit(errno);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

static int try_exec(void)
{
	WORKS(1, start(at("exec/file")));
	EXPECT(2, start(at("none/file")), EACCES);
	/* readable is not executable */
	EXPECT(3, start(at("read/file")), EACCES);
	EXPECT(4, start(at("write/file")), EACCES);
	EXPECT(5, start("/bin/true"), EACCES);
	WORKS(6, open("/dev/null", O_RDWR));
	EXPECT(7, open("/dev/zero", O_RDONLY), EACCES);
	return 0;
}

/* In a granted tree, by a user who could make them elsewhere. */
static int try_device(void)
{
	EXPECT(1, mknod(at("write/dev"), S_IFCHR | 0600, 0x103), EACCES);
	EXPECT(2, mknod(at("write/dev"), S_IFBLK | 0600, 0x103), EACCES);
	return 0;
}

/* Skip below this ABI; no Landlock at all is a failure. */
static void need_abi(int least, const char *of)
{
	if (abi < 1)
		fail_msg("this kernel has no Landlock, or not at boot");
	if (abi < least) {
		print_message("# SKIP %s need ABI %d, this is %d\n", of, least,
			      abi);
		skip();
	}
}

TEST(kernel, files, opens_files_only_as_granted)
{
	need_abi(1, "files");
	check(abi, NULL, try_read);
	check(abi, NULL, try_write);
	check(abi, NULL, try_write_only);
	check(abi, NULL, try_exec);
}

TEST(kernel, devices, never)
{
	need_abi(1, "rules");
	if (mknod(at("none/dev"), S_IFCHR | 0600, 0x103) < 0) {
		print_message("# SKIP this user cannot make devices at all\n");
		skip();
	}
	check(abi, NULL, try_device);
}

/* A newer kernel must keep the promise of an older ABI. */
TEST(kernel, each_older_abi, still_holds)
{
	need_abi(1, "rules");
	for (int older = 1; older <= abi; older++) {
		check(older, NULL, try_read);
		check(older, NULL, try_exec);
		check(older, NULL, try_write_only);
	}
}

/* ---- network ---- */

static uint16_t port_open, port_shut;

static const struct sockaddr *loopback(uint16_t port)
{
	static struct sockaddr_in to = {.sin_family = AF_INET};

	to.sin_port = htons(port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return (const struct sockaddr *)&to;
}

/* A listening socket on a port that the kernel chose. */
static int listen_any(uint16_t *ret_port)
{
	struct sockaddr_in to;
	socklen_t n = sizeof(to);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, loopback(0), n), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &n), 0);
	*ret_port = ntohs(to.sin_port);
	return fd;
}

static int reach(uint16_t port)
{
	AUTO(fd_closep) int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(fd, loopback(port), sizeof(struct sockaddr_in));
}

static int try_ports(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	WORKS(1, reach(port_open));
	EXPECT(2, reach(port_shut), EACCES);
	EXPECT(3, bind(fd, (struct sockaddr *)&any, sizeof(any)), EACCES);
	return 0;
}

static int try_ports_open(void)
{
	WORKS(1, reach(port_open));
	WORKS(2, reach(port_shut));
	return 0;
}

static void grant_port(struct landlock_rules *r)
{
	landlock_add_port(r, port_open, LL_CONNECT);
}

TEST(kernel, ports, opens_only_ports_granted)
{
	AUTO(fd_closep) int a = listen_any(&port_open);
	AUTO(fd_closep) int b = listen_any(&port_shut);

	need_abi(4, "ports");
	check(abi, grant_port, try_ports);
	check(abi, landlock_rules_net_open, try_ports_open);
}

/* ---- scopes ---- */

static struct sockaddr_un outside = {.sun_family = AF_UNIX};
static socklen_t outside_bytes;

static int reach_outside(void)
{
	AUTO(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&outside, outside_bytes);
}

static int try_abstract(void)
{
	EXPECT(1, reach_outside(), EPERM);
	return 0;
}

static int try_abstract_open(void)
{
	WORKS(1, reach_outside());
	return 0;
}

static int try_signal(void)
{
	int status;
	pid_t own = fork();

	if (own == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	EXPECT(1, kill(getppid(), 0), EPERM);
	WORKS(2, kill(own, SIGKILL));
	WORKS(3, waitpid(own, &status, 0));
	return 0;
}

TEST(kernel, abstract_sockets_outside, refuses_abstract_sockets_outside)
{
	AUTO(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	need_abi(6, "scopes");
	snprintf(outside.sun_path + 1, sizeof(outside.sun_path) - 1,
		 "matins-test-%d", getpid());
	outside_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				    strlen(outside.sun_path + 1));
	assert_int_equal(bind(fd, (struct sockaddr *)&outside, outside_bytes),
			 0);
	assert_int_equal(listen(fd, 4), 0);
	check(abi, NULL, try_abstract);
	check(5, NULL, try_abstract_open);
}

TEST(kernel, signals_to_others, refuses_signals_to_others)
{
	need_abi(6, "scopes");
	check(abi, NULL, try_signal);
}

/* ---- asking ---- */

TEST(kernel, bad_descriptor_in_a_rule, returns_an_error)
{
	AUTO(landlock_rules_release) struct landlock_rules r;
	struct err err = ERR_INIT;
	int fd = fd_open("/", O_PATH, 0), ruleset = -1;

	need_abi(1, "rules");
	landlock_rules_init(&r, abi);
	assert_int_equal(landlock_add_path(&r, fd, LL_READ, &err), 0);
	close(fd);
	assert_int_equal(landlock_create(&r, &ruleset, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_int_equal(ruleset, -1);
}

TEST(kernel, ruleset, is_close_on_exec)
{
	struct landlock_rules r;
	struct err err = ERR_INIT;
	AUTO(fd_closep) int fd = -1;

	need_abi(1, "rules");
	landlock_rules_init(&r, abi);
	assert_int_equal(landlock_create(&r, &fd, &err), 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	print_message("# Landlock ABI %d, errata %#x\n", abi,
		      landlock_errata());
}

TEST_FILE(make_trees, remove_trees);
