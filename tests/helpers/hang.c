/*
 * A file that does not answer: what the kernel then does to those who open it
 * is what a dead file server does to them.
 *
 *	hang lease FILE
 *		holds a write lease: whoever opens FILE waits, until it is
 *		given back or /proc/sys/fs/lease-break-time is over (fcntl(2))
 *	hang fuse DIR PROGRAM WHEN
 *		a file system at DIR with one file, `program`, that has the
 *		bytes of PROGRAM; needs CAP_SYS_ADMIN and /dev/fuse (fuse(4)).
 *		From WHEN on nothing is answered any more:
 *		lookup  the search for a name
 *		open    the opening of the file, by whomever
 *		exec    its opening for execve(2)
 *
 * Prints `ready`, and stays until standard input ends. A file system is taken
 * away then, which fails whatever still waits for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define REQUEST_BYTES (1 << 17)
/* Of execve(2), as the kernel hands it on (FMODE_EXEC, linux/fs.h). */
#define FOR_EXEC 040
#define PROGRAM_ID 2
#define FOREVER 3600

struct served {
	int dev;    /* /dev/fuse */
	int file;   /* the program's bytes */
	off_t size; /* of them */
	const char *when;
	bool is_dead;
};

static void die(const char *what)
{
	fprintf(stderr, "hang: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void say_ready(void)
{
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		die("stdout");
}

static void reply(const struct served *s, const struct fuse_in_header *in,
		  int error, const void *body, size_t n)
{
	static char out[REQUEST_BYTES + 4096];
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + (error ? 0 : n)),
		.error = -error,
		.unique = in->unique,
	};

	memcpy(out, &head, sizeof(head));
	if (!error && n)
		memcpy(out + sizeof(head), body, n);
	/* ENOENT: who asked no longer waits */
	if (write(s->dev, out, head.len) < 0 && errno != ENOENT)
		die("/dev/fuse");
}

static struct fuse_attr attr_of(const struct served *s, uint64_t id)
{
	bool is_root = id == FUSE_ROOT_ID;

	return (struct fuse_attr){
		.ino = id,
		.size = is_root ? 0 : (uint64_t)s->size,
		.mode = is_root ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void on_init(const struct served *s, const struct fuse_in_header *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_readahead = 65536,
		.max_background = 16,
		.congestion_threshold = 16,
		.max_write = 65536,
	};

	reply(s, in, 0, &out, sizeof(out));
}

static void on_lookup(const struct served *s, const struct fuse_in_header *in,
		      const char *name)
{
	struct fuse_entry_out out = {
		.nodeid = PROGRAM_ID,
		.entry_valid = FOREVER,
		.attr_valid = FOREVER,
		.attr = attr_of(s, PROGRAM_ID),
	};

	reply(s, in, strcmp(name, "program") == 0 ? 0 : ENOENT, &out,
	      sizeof(out));
}

static void on_getattr(const struct served *s, const struct fuse_in_header *in)
{
	struct fuse_attr_out out = {
		.attr_valid = FOREVER,
		.attr = attr_of(s, in->nodeid),
	};

	reply(s, in, 0, &out, sizeof(out));
}

static void on_open(const struct served *s, const struct fuse_in_header *in)
{
	struct fuse_open_out out = {.open_flags = FOPEN_KEEP_CACHE};

	reply(s, in, 0, &out, sizeof(out));
}

static void on_read(const struct served *s, const struct fuse_in_header *in,
		    const struct fuse_read_in *want)
{
	static char bytes[REQUEST_BYTES];
	size_t most = want->size < sizeof(bytes) ? want->size : sizeof(bytes);
	ssize_t n = pread(s->file, bytes, most, (off_t)want->offset);

	reply(s, in, n < 0 ? EIO : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void on_statfs(const struct served *s, const struct fuse_in_header *in)
{
	struct fuse_statfs_out out = {.st = {.bsize = 4096, .namelen = 255}};

	reply(s, in, 0, &out, sizeof(out));
}

static bool is_the_end(const struct served *s, const struct fuse_in_header *in,
		       const void *body)
{
	const struct fuse_open_in *open = body;

	if (in->opcode == FUSE_LOOKUP)
		return strcmp(s->when, "lookup") == 0;
	if (in->opcode != FUSE_OPEN)
		return false;
	return strcmp(s->when, "open") == 0 ||
	       (strcmp(s->when, "exec") == 0 && open->flags & FOR_EXEC);
}

static void answer(struct served *s, const struct fuse_in_header *in,
		   const void *body)
{
	s->is_dead = s->is_dead || is_the_end(s, in, body);
	if (s->is_dead)
		return;
	switch (in->opcode) {
	case FUSE_INIT:
		on_init(s, in);
		break;
	case FUSE_LOOKUP:
		on_lookup(s, in, body);
		break;
	case FUSE_GETATTR:
		on_getattr(s, in);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		on_open(s, in);
		break;
	case FUSE_READ:
		on_read(s, in, body);
		break;
	case FUSE_STATFS:
		on_statfs(s, in);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_READDIR:
		reply(s, in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* these have no answer */
	default:
		reply(s, in, ENOSYS, NULL, 0);
		break;
	}
}

static void serve(struct served *s)
{
	static char request[REQUEST_BYTES];
	struct pollfd p[2] = {{.fd = s->dev, .events = POLLIN},
			      {.fd = STDIN_FILENO, .events = POLLIN}};

	while (poll(p, 2, -1) > 0) {
		char byte;
		ssize_t n;

		if (p[1].revents && read(STDIN_FILENO, &byte, 1) <= 0)
			return;
		if (!p[0].revents)
			continue;
		n = read(s->dev, request, sizeof(request));
		if (n < 0 && errno == ENODEV)
			return; /* somebody else took it away */
		if (n < (ssize_t)sizeof(struct fuse_in_header))
			continue;
		answer(s, (const struct fuse_in_header *)request,
		       request + sizeof(struct fuse_in_header));
	}
}

static int hang_fuse(const char *dir, const char *program, const char *when)
{
	struct served s = {.when = when};
	struct stat st;
	char options[128];

	s.file = open(program, O_RDONLY | O_CLOEXEC);
	if (s.file < 0 || fstat(s.file, &st) < 0)
		die(program);
	s.size = st.st_size;
	s.dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (s.dev < 0)
		die("/dev/fuse");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other",
		 s.dev);
	if (mount("hang", dir, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		die(dir);
	say_ready();
	serve(&s);
	umount2(dir, MNT_DETACH);
	return 0;
}

static int hang_lease(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte;

	if (fd < 0)
		die(path);
	/* the kernel asks for it back by this signal */
	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		die("F_SETLEASE");
	say_ready();
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "lease") == 0)
		return hang_lease(argv[2]);
	if (argc == 5 && strcmp(argv[1], "fuse") == 0)
		return hang_fuse(argv[2], argv[3], argv[4]);
	fprintf(stderr, "usage: hang lease FILE | fuse DIR PROGRAM WHEN\n");
	return 64;
}
