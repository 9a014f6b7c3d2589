/*
 * Watched calls: what a waiting task's memory and /proc tell of one, whether
 * it may go on, what is written down.
 */
#include "gate/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "gate/build/compact.h"
#include "gate/build/seccomp.h"
#include "gate/watch/task.h"

/* ---- the table ---- */

/* Effect of a call on the file or address that it names. */
enum watch_how {
	WATCH_OPEN,
	WATCH_CHANGE,
	WATCH_ENTRY,
	WATCH_MAKE,
	WATCH_REMOVE,
	WATCH_READ,
	WATCH_LOOK,
	WATCH_LIST,
	WATCH_RUN,
	WATCH_CONNECT,
	WATCH_BIND,
	WATCH_SEND,
};

/* A row of watch.def; dir, path and more are numbers of arguments. */
struct watch_row {
	int nr;
	unsigned what;
	enum watch_how how;
	int8_t dir, path, more;
};

static const struct watch_row ROWS[] = {
#define WATCH(call, what, how, dir, path, more) \
	{SYS_##call, GATE_RECORD_##what, WATCH_##how, dir, path, more},
#include "gate/watch/watch.def"
#undef WATCH
};

/* ---- the filter ---- */

static struct sock_filter insn(uint16_t code, size_t jt, size_t jf, uint32_t k)
{
	return (struct sock_filter){code, (uint8_t)jt, (uint8_t)jf, k};
}

/* Choose between a watched half and what stands behind it; the number is
   loaded. */
static size_t put_choice(struct sock_filter *out, unsigned what, size_t skip)
{
	int nr[ARRAY_LEN(ROWS)];
	size_t n = 0, k = 0;

	/* rows of one call stand together */
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (ROWS[i].what & what && (!n || nr[n - 1] != ROWS[i].nr))
			nr[n++] = ROWS[i].nr;
	for (size_t i = 0; i < n; i++)
		out[k++] = insn(BPF_JMP | BPF_JEQ | BPF_K, n - i, 0,
				(uint32_t)nr[i]);
	out[k++] = insn(BPF_JMP | BPF_JA, 0, 0, (uint32_t)skip);
	return k;
}

static void put_watched(const struct sock_fprog *plain, struct sock_filter *out)
{
	for (size_t i = 0; i < plain->len; i++) {
		out[i] = plain->filter[i];
		if (out[i].code != (BPF_RET | BPF_K))
			continue;
		if (out[i].k == SECCOMP_RET_ALLOW)
			out[i].k = SECCOMP_RET_USER_NOTIF;
		else if (out[i].k == SECCOMP_RET_USER_NOTIF)
			out[i].k = SECCOMP_RET_ERRNO | EPERM;
	}
}

/*
 * Every profile allows exec with all arguments (test_watch.c), so the watched
 * half of a filter for execs alone is short: every child has this filter. The
 * half words of an argument stand as in memory, the low one first.
 */
#define EXECS_INSNS 6
static size_t put_execs(uint64_t cookie, struct sock_filter out[EXECS_INSNS])
{
	const uint32_t half = offsetof(struct seccomp_data, args[5]);
	const uint16_t load = BPF_LD | BPF_W | BPF_ABS;
	const uint16_t equal = BPF_JMP | BPF_JEQ | BPF_K;
	size_t n = 0;

	if (cookie) {
		out[n++] = insn(load, 0, 0, half);
		out[n++] = insn(equal, 0, 3, (uint32_t)cookie);
		out[n++] = insn(load, 0, 0, half + 4);
		out[n++] = insn(equal, 0, 1, (uint32_t)(cookie >> 32));
		out[n++] = insn(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	}
	out[n++] = insn(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF);
	return n;
}

/* Calls up to here, and one above, are looked at in front of a filter. */
#define LOOKED_AT_LOW                                                       \
	(SYS_execve > SYS_socketpair && SYS_execve > SYS_connect &&         \
			 SYS_execve > SYS_listen && SYS_execve > SYS_socket \
		 ? SYS_execve                                               \
		 : -1)

/*
 * Watch execs alone. Most numbers go straight to the plain filter: the kernel
 * runs every one of them through a filter that is installed.
 */
static size_t put_only_execs(uint64_t cookie, enum sockets_held held,
			     struct sock_filter *out)
{
	const uint16_t equal = BPF_JMP | BPF_JEQ | BPF_K;
	struct sock_filter execs[EXECS_INSNS];
	size_t n_execs = put_execs(cookie, execs);
	size_t n = 1 + sockets_filter(held, SECCOMP_RET_USER_NOTIF, out + 1);

	_Static_assert(LOOKED_AT_LOW > 0 && SYS_execveat > LOOKED_AT_LOW,
		       "the order of the numbers on this machine");
	out[0] = insn(BPF_JMP | BPF_JGT | BPF_K, n + 1, 0, LOOKED_AT_LOW);
	out[n++] = insn(equal, 2, 0, SYS_execve);
	out[n++] = insn(BPF_JMP | BPF_JA, 0, 0, (uint32_t)n_execs + 1);
	out[n++] = insn(equal, 0, n_execs, SYS_execveat);
	memcpy(out + n, execs, n_execs * sizeof(*out));
	return n + n_execs;
}

/* Watch other calls, too: by a half that is a copy of the filter. Jumps are
   relative and forward, so a copy works anywhere. */
static size_t put_halves(const struct sock_fprog *plain, unsigned what,
			 enum sockets_held held, struct sock_filter *out)
{
	size_t n = sockets_filter(held, SECCOMP_RET_USER_NOTIF, out);

	n += put_choice(out + n, what, plain->len);
	put_watched(plain, out + n);
	return n + plain->len;
}

bool watch_filter(const struct sock_fprog *plain, unsigned what,
		  uint64_t cookie, enum sockets_held held, struct arena *arena,
		  struct sock_fprog *ret)
{
	/* numbers fit: the table is shorter than a jump is far */
	_Static_assert(ARRAY_LEN(ROWS) < 250, "8 bits of a jump");
	bool only_execs = what == GATE_RECORD_EXEC;
	struct sock_filter *front =
		ARENA_ARRAY(arena, struct sock_filter,
			    SOCKETS_INSNS + (only_execs ? EXECS_INSNS + 4
							: ARRAY_LEN(ROWS) + 1 +
								  plain->len));
	size_t n = only_execs ? put_only_execs(cookie, held, front)
			      : put_halves(plain, what, held, front);
	struct sock_filter *out = ARENA_ARRAY(arena, struct sock_filter,
					      COMPACT_HEAD + n + plain->len);

	n = compact_prepend(front, n, SECCOMP_ARCH, plain, out);
	if (n > BPF_MAXINSNS)
		return false;
	*ret = (struct sock_fprog){(unsigned short)n, out};
	return true;
}

/* ---- records ---- */

/* Rows of the first allocation; each further one doubles them. */
#define RECORDS_FIRST 512

static uint32_t hash_text(uint32_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT32_C(16777619);
	return h * UINT32_C(16777619);
}

static uint32_t hash_record(const struct gate_record *a)
{
	uint32_t h = UINT32_C(2166136261);

	h = hash_text(h, a->path);
	h = hash_text(h, a->program);
	return h ^ (a->what << 8) ^ (a->access << 4) ^ a->refused ^
	       ((uint32_t)a->unlisted << 1);
}

static bool is_same(const struct gate_record *a, const struct gate_record *b)
{
	return a->what == b->what && a->access == b->access &&
	       a->refused == b->refused && a->unlisted == b->unlisted &&
	       strcmp(a->path, b->path) == 0 &&
	       strcmp(a->program, b->program) == 0;
}

/* The slot of the row that equals `what`, or the empty one where it belongs. */
static uint32_t *slot_of(const struct records *r,
			 const struct gate_record *what)
{
	size_t slots = 2 * r->cap, at = hash_record(what) % slots;

	while (r->slot[at] && !is_same(&r->row[r->slot[at] - 1], what))
		at = (at + 1) % slots;
	return &r->slot[at];
}

static void grow_rows(struct records *r)
{
	r->cap = r->cap ? 2 * r->cap : RECORDS_FIRST;
	r->row = mem_realloc(r->row, r->cap * sizeof(*r->row));
	free(r->slot);
	r->slot = mem_zalloc(2 * r->cap * sizeof(*r->slot));
	for (size_t i = 0; i < r->n; i++)
		*slot_of(r, &r->row[i]) = (uint32_t)i + 1;
}

void records_add(struct records *r, const struct gate_record *what)
{
	size_t n_args = what->args.n < WATCH_ARGS ? what->args.n : WATCH_ARGS;
	struct gate_record *row;
	uint32_t *slot;

	if (!r->cap)
		grow_rows(r);
	slot = slot_of(r, what);
	if (*slot) {
		r->row[*slot - 1].count++;
		return;
	}
	if (r->n == (r->max ? r->max : WATCH_RECORDS)) {
		r->dropped++;
		return;
	}
	if (r->n == r->cap) {
		grow_rows(r);
		slot = slot_of(r, what);
	}
	row = &r->row[r->n++];
	*slot = (uint32_t)r->n;
	*row = *what;
	row->path = arena_strdup(&r->arena, what->path);
	row->program = arena_strdup(&r->arena, what->program);
	row->why = what->why ? arena_strdup(&r->arena, what->why) : NULL;
	row->args = (struct strlist){
		ARENA_ARRAY(&r->arena, const char *, n_args + 1), n_args};
	for (size_t i = 0; i < n_args; i++)
		row->args.item[i] = arena_strndup(
			&r->arena, what->args.item[i],
			strnlen(what->args.item[i], WATCH_ARG_BYTES - 1));
	row->count = 1;
}

struct strlist records_list_execs(struct records *r)
{
	struct strlist list = {NULL, 0};

	list.item = ARENA_ARRAY(&r->arena, const char *, r->n + 1);
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].what == GATE_RECORD_EXEC && !r->row[i].refused &&
		    !r->row[i].unlisted)
			list.item[list.n++] = r->row[i].path;
	return list;
}

/* ---- a look at a waiting task ---- */

unsigned watch_wants(const struct watch *w)
{
	return w->what | (w->judge ? GATE_RECORD_EXEC : 0U) |
	       (w->n_names ? GATE_RECORD_LOOKS : 0U);
}

bool watch_covers(const struct watch *w, int nr)
{
	unsigned wants = watch_wants(w);

	for (size_t i = 0; wants && i < ARRAY_LEN(ROWS); i++)
		if (ROWS[i].nr == nr && ROWS[i].what & wants)
			return true;
	return false;
}

/* Read a text, cut where there is no room, page by page: the next one may not
   be there. False: nothing can be read. */
static bool read_text(pid_t pid, uint64_t at, char *to, size_t n)
{
	size_t got = 0;

	to[0] = '\0';
	while (got + 1 < n) {
		size_t page = 4096 - (size_t)((at + got) % 4096);
		size_t want = n - 1 - got < page ? n - 1 - got : page;
		ssize_t r = task_read(pid, at + got, to + got, want);

		if (r <= 0)
			return false;
		to[got + (size_t)r] = '\0';
		if (strlen(to + got) < (size_t)r)
			return true;
		got += (size_t)r;
	}
	return true;
}

/* Demands of the call that waits; it may have two rows. */
struct watch_seen {
	unsigned n;
	struct watch_name *name; /* names to look for; NULL: none */
	bool changes;		 /* a call that changes the file of .name */
	struct watch_exec exec;
	char file[PATH_MAX];
	struct err why; /* of what is refused */
	struct gate_record record[2];
	char path[2][PATH_MAX + PATH_MAX];
	char text[WATCH_JUDGED_BYTES]; /* of the arguments */
	const char *arg[WATCH_JUDGED_ARGS];
};

/* Stands for a path or an address that cannot be read. */
static const char UNKNOWN[] = "?";

/* ---- paths and arguments ---- */

/* Absolute, as the task names it. False: it cannot be read. */
static bool read_path(const struct seccomp_notif *req,
		      const struct watch_row *row, char *to, size_t n)
{
	pid_t pid = (pid_t)req->pid;
	int dir = row->dir < 0 ? AT_FDCWD : (int)req->data.args[row->dir];
	char path[PATH_MAX];

	return req->data.args[row->path] &&
	       read_text(pid, req->data.args[row->path], path, sizeof(path)) &&
	       task_absolute(pid, dir, path, to, n);
}

/*
 * The arguments of an exec, into the record that is next in `seen`.
 * all  as many as rules look at, else as many as a record keeps
 */
static void read_args(const struct seccomp_notif *req,
		      const struct watch_row *row, bool all,
		      struct watch_seen *seen)
{
	size_t n = all ? WATCH_JUDGED_ARGS : WATCH_ARGS, used = 0;
	uint64_t at = req->data.args[row->more], p;
	pid_t pid = (pid_t)req->pid;
	struct strlist *args = &seen->record[seen->n].args;

	args->item = seen->arg;
	seen->exec.is_cut = at != 0;
	for (args->n = 0; args->n < n; args->n++, at += sizeof(p)) {
		size_t room = sizeof(seen->text) - used;

		if (!all && room > WATCH_ARG_BYTES)
			room = WATCH_ARG_BYTES;
		if (task_read(pid, at, &p, sizeof(p)) != sizeof(p))
			return;
		if (!p) {
			/* a text that fills the room may have gone on */
			seen->exec.is_cut = room < 1;
			return;
		}
		if (room < 2 || !read_text(pid, p, seen->text + used, room))
			return;
		seen->arg[args->n] = seen->text + used;
		used += strlen(seen->text + used) + 1;
	}
}

/* ---- the file of an exec ---- */

/* The part behind /proc/self/ when it is "exe" or "fd/N"; else NULL. */
static const char *own_name(const char *path)
{
	static const char *const begin[] = {"/proc/self/", "/proc/thread-self/",
					    "/dev/"};

	for (size_t i = 0; i < ARRAY_LEN(begin); i++) {
		size_t n = strlen(begin[i]);
		const char *name = path + n;

		if (strncmp(path, begin[i], n) != 0)
			continue;
		if (strcmp(name, "exe") == 0 && path[1] == 'p')
			return name;
		if (strncmp(name, "fd/", 3) == 0 && name[3] &&
		    strlen(name) < 16 &&
		    !name[3 + strspn(name + 3, "0123456789")])
			return name;
	}
	return NULL;
}

/*
 * A link leads nowhere as seen from outside, but is there: /proc/self
 * leads nowhere in the /proc of a tree.
 */
static bool is_astray(const struct task_root *root, const char *path)
{
	char part[PATH_MAX];

	for (size_t n = strlen(path); n && n < sizeof(part); n--) {
		AUTO(fd_closep) int link = -1;
		AUTO(fd_closep) int folder = -1;

		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		link = task_walk(root, part, O_NOFOLLOW);
		if (link >= 0)
			return true;
		while (n > 1 && path[n - 1] != '/')
			n--;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		folder = task_walk(root, part, 0);
		if (folder >= 0)
			return false;
	}
	return false;
}

/*
 * Open what an exec names, O_PATH, as the kernel will: in the root of the
 * task, its links followed there. Magic links of /proc are followed for the
 * task's own program and descriptors only: seen from outside they lead to
 * other processes.
 *
 * path     from read_path()
 * cached   -EAGAIN for what a file server would have to be asked
 * returns  a descriptor, or -errno
 */
static int open_exec(const struct seccomp_notif *req,
		     const struct watch_row *row, const char *path, bool cached)
{
	AUTO(fd_closep) int top = -1;
	struct task_root root;
	pid_t pid = (pid_t)req->pid;
	const char *own = own_name(path);
	char text[2], name[32];
	int fd;

	if (row->dir >= 0 &&
	    read_text(pid, req->data.args[row->path], text, sizeof(text)) &&
	    !text[0]) {
		snprintf(name, sizeof(name), "fd/%d",
			 (int)req->data.args[row->dir]);
		own = name; /* AT_EMPTY_PATH */
	}
	if (strcmp(path, UNKNOWN) == 0)
		return -EACCES;
	if (own) {
		fd = task_open(pid, own);
		return fd < 0 ? -errno : fd;
	}
	top = task_open(pid, "root");
	if (top < 0)
		return -EACCES;
	root = (struct task_root){top, cached};
	fd = task_walk(&root, path, 0);
	if (fd != -ENOENT)
		return fd;
	return is_astray(&root, path) ? -ELOOP : -ENOENT;
}

/* ---- addresses ---- */

bool watch_address(const void *address, size_t size, char *ret, size_t n)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} a;
	char host[ADDRESS_TEXT_BYTES];
	struct address ip;

	memset(&a, 0, sizeof(a));
	memcpy(&a, address, size < sizeof(a) ? size : sizeof(a));
	if (size >= (a.any.sa_family == AF_INET
			     ? sizeof(a.in)
			     : offsetof(struct sockaddr_in6, sin6_scope_id)) &&
	    address_of(&a.any, &ip)) {
		address_text(&ip, host);
		snprintf(ret, n, ip.is_v6 ? "[%s]:%u" : "%s:%u", host,
			 ntohs(ip.is_v6 ? a.in6.sin6_port : a.in.sin_port));
		return true;
	}
	if (size <= offsetof(struct sockaddr_un, sun_path) ||
	    a.any.sa_family != AF_UNIX)
		return false;
	size -= offsetof(struct sockaddr_un, sun_path);
	if (size > sizeof(a.un.sun_path))
		size = sizeof(a.un.sun_path);
	if (a.un.sun_path[0])
		snprintf(ret, n, "unix:%.*s", (int)strnlen(a.un.sun_path, size),
			 a.un.sun_path);
	else
		snprintf(ret, n, "unix:@%.*s",
			 (int)strnlen(a.un.sun_path + 1, size - 1),
			 a.un.sun_path + 1);
	return true;
}

/* False: nothing that is worth a row. */
static bool read_address(const struct seccomp_notif *req,
			 const struct watch_row *row, char *to, size_t n)
{
	unsigned char bytes[sizeof(struct sockaddr_un)];
	uint64_t at = req->data.args[row->path];
	size_t size = (uint32_t)req->data.args[row->more];

	if (!at || !size)
		return false; /* send on a connection */
	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (task_read((pid_t)req->pid, at, bytes, size) != (ssize_t)size) {
		snprintf(to, n, "%s", UNKNOWN);
		return true;
	}
	return watch_address(bytes, size, to, n);
}

/* ---- what a call asks for ---- */

static unsigned open_access(uint64_t flags)
{
	unsigned access = 0;

	if (flags & O_PATH)
		return 0;
	if ((flags & O_ACCMODE) != O_WRONLY)
		access |= GATE_ACCESS_READ;
	if ((flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC)
		access |= GATE_ACCESS_WRITE;
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		access |= GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY;
	return access;
}

static unsigned access_of(const struct watch_row *row,
			  const struct seccomp_notif *req)
{
	static const unsigned access[] = {
		[WATCH_READ] = GATE_ACCESS_READ,
		[WATCH_LOOK] = GATE_ACCESS_READ,
		[WATCH_LIST] = GATE_ACCESS_LIST,
		[WATCH_CHANGE] = GATE_ACCESS_WRITE,
		[WATCH_ENTRY] = GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY,
		[WATCH_MAKE] = GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY,
		[WATCH_REMOVE] = GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY,
		[WATCH_RUN] = GATE_ACCESS_RUN,
		[WATCH_BIND] = GATE_ACCESS_SERVE,
		[WATCH_CONNECT] = 0,
		[WATCH_SEND] = 0,
	};

	return row->how == WATCH_OPEN ? open_access(req->data.args[row->more])
				      : access[row->how];
}

/* `mkdir -p` of what is there, the removal and the look-up of what is not, in
   the view of the task. A path that we may not look at counts as there. */
static bool is_futile(const struct seccomp_notif *req,
		      const struct watch_row *row, const char *path)
{
	char at[64 + 2 * PATH_MAX];
	bool there;

	if (row->how != WATCH_MAKE && row->how != WATCH_REMOVE &&
	    row->how != WATCH_LOOK)
		return false;
	snprintf(at, sizeof(at), "/proc/%d/root%s", (pid_t)req->pid, path);
	there = faccessat(AT_FDCWD, at, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		(errno != ENOENT && errno != ENOTDIR);
	return there == (row->how == WATCH_MAKE);
}

/* Find out which file it is, under any name, as far as that is known here. */
static void see_exec(const struct watch *w, const struct seccomp_notif *req,
		     const struct watch_row *row)
{
	struct watch_seen *seen = w->seen;
	struct gate_record *r = &seen->record[seen->n];
	struct watch_exec *x = &seen->exec;
	struct statx st = {.stx_mask = 0};
	AUTO(fd_closep) int fd = -1;
	char link[64];
	ssize_t n = -1;

	*x = (struct watch_exec){.path = r->path, .file = seen->file};
	read_args(req, row, w->reads_all, seen);
	x->argv = r->args;
	fd = open_exec(req, row, x->path, w->only_cached);
	if (fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			     STATX_BASIC_STATS, &st) == 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, seen->file, sizeof(seen->file) - 1);
	}
	seen->file[n < 0 ? 0 : n] = '\0';
	x->error = fd < 0 ? -fd : n < 0 ? EACCES : 0;
	if (x->error)
		return;
	x->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	x->ino = st.stx_ino;
	x->is_program = S_ISREG(st.stx_mode) && st.stx_mode & 0111;
}

static struct watch_name *find_name(const struct watch *w, const char *path)
{
	for (size_t i = 0; i < w->n_names; i++)
		if (place_covers(w->names[i].seen, path) ||
		    place_covers(w->names[i].real, path))
			return &w->names[i];
	return NULL;
}

/* Would the call change the file, and not only look for it? Programs open for
   both what they then only read. */
static bool is_change(const struct watch_row *row,
		      const struct seccomp_notif *req,
		      const struct watch_name *name)
{
	uint64_t flags = row->more < 0 ? 0 : req->data.args[row->more];

	if (name->is_file)
		return row->how != WATCH_LOOK;
	return row->how != WATCH_LOOK || (flags & O_ACCMODE) == O_WRONLY ||
	       (name->is_new && flags & O_CREAT);
}

/* Python keeps what it compiled beside the code, where it can. */
static bool is_by_the_way(const char *path)
{
	return strstr(path, "/__pycache__") != NULL;
}

/* Is it a look-up that no other row tells of? Its path is read then. */
static bool is_look(const struct watch *w, const struct seccomp_notif *req,
		    const struct watch_row *row, char *path, size_t size)
{
	bool is_other = row->more >= 0 && w->what & GATE_RECORD_FILES &&
			open_access(req->data.args[row->more]);
	struct watch_name *name;
	char first = '\0';

	/* times of a descriptor have no path */
	if (is_other ||
	    task_read((pid_t)req->pid, req->data.args[row->path], &first, 1) !=
		    1 ||
	    !first || !read_path(req, row, path, size))
		return false;
	name = find_name(w, path);
	if (name && !(name->is_read && is_by_the_way(path))) {
		w->seen->name = name;
		w->seen->changes = is_change(row, req, name);
	}
	/* a call that changes a file is a row of FILES */
	return w->what & GATE_RECORD_LOOKS && row->how == WATCH_LOOK &&
	       !is_futile(req, row, path);
}

/* Is "." opened to be read? find(1) does so only to come back; a listing is a
   row of its own, and so is what is opened beneath. */
static bool is_start(const struct seccomp_notif *req,
		     const struct watch_row *row, unsigned access)
{
	char path[3];

	return row->how == WATCH_OPEN && access == GATE_ACCESS_READ &&
	       (row->dir < 0 || (int)req->data.args[row->dir] == AT_FDCWD) &&
	       task_read((pid_t)req->pid, req->data.args[row->path], path, 2) ==
		       2 &&
	       memcmp(path, ".", 2) == 0;
}

/* Returns false for what is not worth a row. */
static bool see_row(const struct watch *w, const struct seccomp_notif *req,
		    const struct watch_row *row)
{
	struct watch_seen *seen = w->seen;
	char *path = seen->path[seen->n];
	size_t size = sizeof(seen->path[0]);
	struct gate_record *r = &seen->record[seen->n];

	*r = (struct gate_record){
		.what = row->what, .path = path, .access = access_of(row, req)};
	if (row->what == GATE_RECORD_NET)
		return read_address(req, row, path, size);
	if (row->what == GATE_RECORD_LOOKS)
		return is_look(w, req, row, path, size);
	if (row->how == WATCH_LIST)
		return task_absolute((pid_t)req->pid,
				     (int)req->data.args[row->dir], "", path,
				     size);
	if (row->what == GATE_RECORD_FILES &&
	    (!r->access || !req->data.args[row->path] ||
	     is_start(req, row, r->access)))
		return false; /* O_PATH opens nothing; times of a descriptor */
	if (!read_path(req, row, path, size))
		snprintf(path, size, "%s", UNKNOWN);
	else if (is_futile(req, row, path))
		return false;
	if (row->how == WATCH_RUN)
		see_exec(w, req, row);
	return true;
}

/*
 * Read from the waiting task what it asks for. The caller then makes sure
 * that the request is still valid: else what was read is another task's.
 */
static void look_at(struct watch *w, const struct seccomp_notif *req)
{
	unsigned wants = watch_wants(w);

	if (!w->has_begun)
		return; /* our own exec: known, and not to be read */
	if (!w->seen)
		w->seen = mem_zalloc(sizeof(*w->seen));
	w->seen->n = 0;
	w->seen->name = NULL;
	for (size_t i = 0; i < ARRAY_LEN(ROWS) && w->seen->n < 2; i++)
		if (ROWS[i].nr == req->data.nr && ROWS[i].what & wants &&
		    see_row(w, req, &ROWS[i]))
			w->seen->n++;
}

/* Most look-ups are of no interest: they cost no more than they must. */
static bool has_seen(const struct watch *w)
{
	return !w->has_begun || w->seen->n || w->seen->name;
}

/* ---- may it go on? ---- */

static int note_one(struct watch *w, struct gate_record *r, const char *comm)
{
	const struct watch_exec *x = &w->seen->exec;
	enum watch_answer answer = WATCH_GOES_ON;
	bool is_exec = r->what == GATE_RECORD_EXEC;

	w->seen->why = (struct err)ERR_INIT;
	if (is_exec && w->judge)
		answer = w->judge(w->judge_arg, x, &w->seen->why);
	if (answer == WATCH_NOT_THERE)
		return x->error;
	/* a program looked for along PATH */
	if (answer == WATCH_GOES_ON && is_exec &&
	    (x->error == ENOENT || x->error == ENOTDIR))
		return 0;
	r->program = comm;
	r->refused = answer == WATCH_FORBIDDEN;
	r->unlisted = answer == WATCH_UNLISTED;
	r->why = r->refused || r->unlisted ? w->seen->why.msg : NULL;
	if (r->what & w->what || r->why)
		records_add(&w->records, r);
	return r->refused ? EACCES : 0;
}

/*
 * Write down what was seen last.
 * comm     name of the task
 * returns  0: it may go on; else the errno that a rule refuses it with
 */
static int note_seen(struct watch *w, const char *comm)
{
	int refusal = 0;

	if (w->has_begun && w->seen->name) {
		w->seen->name->is_asked = true;
		w->seen->name->is_changed |= w->seen->changes;
	}
	for (unsigned i = 0; w->has_begun && i < w->seen->n; i++) {
		int r = note_one(w, &w->seen->record[i], comm);

		refusal = r ? r : refusal;
	}
	w->has_begun = true;
	return refusal;
}

void watch_release(struct watch *w)
{
	free(w->seen);
	free(w->records.row);
	free(w->records.slot);
	arena_release(&w->records.arena);
	*w = (struct watch)WATCH_INIT;
}

/* Bytes of a task's name with the NUL: TASK_COMM_LEN of the kernel. */
#define COMM_BYTES 16

/* ---- what was refused ---- */

/* Append an empty row; most children never have one. */
static struct gate_denial *new_row(struct denials *log, int nr)
{
	log->row = arena_grow(&log->arena, log->row, log->n, sizeof(*log->row));
	log->nr = arena_grow(&log->arena, log->nr, log->n, sizeof(*log->nr));
	log->nr[log->n] = nr;
	return &log->row[log->n++];
}

/* The row of a call and a program, made when it is new; NULL: no room. */
static struct gate_denial *row_of(struct denials *log, int nr, const char *comm)
{
	const char *name = seccomp_call_name(nr);
	struct gate_denial *row;

	for (size_t i = 0; i < log->n; i++)
		if (log->nr[i] == nr && strcmp(log->row[i].program, comm) == 0)
			return &log->row[i];
	if (log->n >= DENIALS_MAX)
		return NULL;
	row = new_row(log, nr);
	*row = (struct gate_denial){
		.kind = "syscall",
		.name = name ? name
			     : arena_printf(&log->arena, "syscall %d", nr),
		.program = arena_strdup(&log->arena, comm),
		.detail = "",
	};
	return row;
}

void denials_add(struct denials *log, const struct seccomp_data *data,
		 const char *comm)
{
	AUTO(buf_release) struct buf detail = BUF_INIT(DENIALS_DETAIL_BYTES);
	struct gate_denial *row = row_of(log, data->nr, comm);
	const char *text;
	size_t n;

	if (!row) {
		log->dropped++;
		return;
	}
	if (row->count++ >= DENIALS_DETAILED)
		return;
	seccomp_describe(data, &detail);
	text = buf_cstr(&detail);
	n = strlen(row->detail);
	/* behind the others, unless it is there or there is no room */
	if (!strstr(row->detail, text) &&
	    n + (n ? 2 : 0) + strlen(text) <= DENIALS_DETAIL_BYTES)
		row->detail = arena_printf(&log->arena, "%s%s%s", row->detail,
					   n ? "; " : "", text);
	if (!row->allow.key)
		seccomp_allow(data, &row->allow.key, &row->allow.value);
	/* the kernel keeps 15 bytes; the mark is for who scrubs half values */
	log_debug("%s%s: refused %s", comm,
		  strlen(comm) == COMM_BYTES - 1 ? "…" : "", text);
}

void denials_add_row(struct denials *log, const struct gate_denial *row)
{
	const char *allow = row->allow.value;
	/* a configuration would replace it: no row to give away */
	bool is_replaced = allow && strstr(allow, "${");

	if (log->n == DENIALS_ROWS) {
		log->dropped += row->count;
		return;
	}
	*new_row(log, -1) = (struct gate_denial){
		.kind = row->kind,
		.name = arena_strdup(&log->arena, row->name),
		.program = arena_strdup(&log->arena, row->program),
		.detail = arena_strdup(&log->arena, row->detail),
		.allow = {is_replaced ? NULL : row->allow.key,
			  arena_strdup(&log->arena, allow)},
		.count = row->count,
	};
}

void denials_add_missed(struct denials *log)
{
	struct clock *clock = clock_system();
	uint64_t now = log->missed.n ? clock->now_ns(clock) : 0;

	for (size_t i = 0; i < log->missed.n; i++) {
		const struct service *s = &log->missed.row[i];
		struct address inner, at = s->address;
		char name[ENDPOINT_TEXT_BYTES];
		struct endpoint_target t;
		AUTO(buf_release) struct buf detail = BUF_INIT(BUF_UNBOUNDED);

		if (address_inner(&s->address, &inner))
			at = inner;
		if (services_find(&s->address, s->port, now) != SERVICE_IS_UP ||
		    endpoint_target_bytes(at.bytes, at.is_v6, s->port, &t) < 0)
			continue;
		endpoint_target_text(&t, name);
		buf_addf(&detail,
			 "connect to %s: a service of this machine that no row "
			 "of net names",
			 name);
		denials_add_row(log, &(struct gate_denial){
					     .kind = "net",
					     .name = name,
					     .program = s->program,
					     .detail = buf_cstr(&detail),
					     .allow = {"net", name},
					     .count = s->count,
				     });
		log_debug("%s: refused to %s", s->program, buf_cstr(&detail));
	}
}

void denials_release(struct denials *log)
{
	arena_release(&log->arena);
	*log = (struct denials)DENIALS_INIT;
}

/* ---- the listener ---- */

static void read_comm(uint32_t pid, char out[COMM_BYTES])
{
	char path[64];
	AUTO(fd_closep) int fd = -1;
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = fd_open(path, O_RDONLY, 0);
	if (fd >= 0)
		n = read(fd, out, COMM_BYTES - 1);
	if (n > 0 && out[n - 1] == '\n')
		n--;
	if (n <= 0) {
		out[0] = '?';
		n = 1;
	}
	out[n] = '\0';
}

/* ioctl(2) repeated on EINTR; 0 or errno. */
static int do_ioctl(int fd, unsigned long request, void *arg)
{
	int r;

	do
		r = ioctl(fd, request, arg);
	while (r < 0 && errno == EINTR);
	return r < 0 ? errno : 0;
}

struct listener {
	int fd;
	struct seccomp_notif *req;
	struct seccomp_notif_resp *resp;
	size_t req_bytes, resp_bytes; /* in this kernel: may be larger */
	struct denials *log;
	struct watch *watch;
};

/* 0: the request stands. ENOENT: its task is gone, and the id may be another's.
   Else an errno. */
static int check_valid(const struct listener *l)
{
	uint64_t id = l->req->id;

	return do_ioctl(l->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

/* Outcome of a call that waits. */
struct answer {
	enum { GOES_ON, IS_DONE, WAITS_ON, IS_REFUSED } kind;
	int error; /* errno that it ends with */
};

/* Name a socket that was refused, and the row that would allow it. */
static void deny_socket(struct denials *log, const char *comm,
			const struct sockets_answer *a)
{
	struct gate_denial row = {
		.kind = "unix",
		.name = a->refused,
		.program = comm,
		.detail = a->why,
		.allow = {a->key, a->row},
		.count = 1,
	};

	for (size_t i = 0; i < log->n; i++)
		if (log->nr[i] < 0 && strcmp(log->row[i].name, row.name) == 0 &&
		    strcmp(log->row[i].program, comm) == 0) {
			log->row[i].count++;
			return;
		}
	denials_add_row(log, &row);
	log_debug("%s: refused to connect to %s: %s", comm, row.name, a->why);
}

static struct answer answer_socket(struct listener *l, const char *comm,
				   const struct sockets_answer *a)
{
	if (a->refused[0])
		deny_socket(l->log, comm, a);
	if (a->missed_port)
		services_note(&l->log->missed, &l->log->arena, &a->missed,
			      a->missed_port, comm);
	return (struct answer){a->waits ? WAITS_ON : IS_DONE, a->error};
}

/* Is a notification of this call one for sockets_serve()? */
static bool sockets_cover(const struct sockets *s, int nr)
{
	return s->held == SOCKETS_JUDGED &&
	       (nr == SYS_connect || nr == SYS_listen);
}

/*
 * Find the answer to the call that waits. Names and memory are read while the
 * task waits for it; if the request is no longer valid after that, the pid may
 * be another's.
 *
 * returns  0, or why there is none
 */
static int find_answer(struct listener *l, struct answer *ret)
{
	struct sockets *sockets = l->watch ? l->watch->sockets : NULL;
	char comm[COMM_BYTES];
	int r;

	if (l->watch && watch_covers(l->watch, l->req->data.nr)) {
		/* the filter has allowed it, or it would not be here */
		look_at(l->watch, l->req);
		ret->kind = GOES_ON;
	}
	if (ret->kind == GOES_ON && has_seen(l->watch)) {
		read_comm(l->req->pid, comm);
		r = check_valid(l);
		if (r)
			return r;
		ret->error = note_seen(l->watch, comm);
		ret->kind = ret->error ? IS_REFUSED : GOES_ON;
	}
	if (sockets && sockets_cover(sockets, l->req->data.nr)) {
		struct sockets_answer a;

		read_comm(l->req->pid, comm);
		sockets_serve(sockets, l->fd, l->req, &a);
		*ret = answer_socket(l, comm, &a);
	}
	if (ret->kind != IS_REFUSED || ret->error)
		return 0;
	read_comm(l->req->pid, comm);
	if (check_valid(l))
		memcpy(comm, "?", 2);
	denials_add(l->log, &l->req->data, comm);
	ret->error = EPERM;
	return 0;
}

static int send_answer(struct listener *l, uint64_t id,
		       const struct answer *answer)
{
	int r;

	memset(l->resp, 0, l->resp_bytes);
	l->resp->id = id;
	l->resp->error = -answer->error;
	if (answer->kind == GOES_ON)
		l->resp->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	r = do_ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SEND, l->resp);
	return r == ENOENT ? 0 : r;
}

/* Serve one call. 0, or an errno when it still waits; a task that was killed
   meanwhile waits no more. */
static int serve_one(struct listener *l)
{
	struct answer answer = {.kind = IS_REFUSED};
	int r;

	memset(l->req, 0, l->req_bytes); /* the kernel insists on zeroes */
	r = do_ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, l->req);
	if (r == 0)
		r = find_answer(l, &answer);
	if (r == 0 && answer.kind != WAITS_ON)
		r = send_answer(l, l->req->id, &answer);
	return r == ENOENT ? 0 : r;
}

static int serve_waiting(struct listener *l)
{
	for (int i = 0; i < DENIALS_MAX; i++) {
		struct pollfd p = {.fd = l->fd, .events = POLLIN};
		int r;

		do
			r = poll(&p, 1, 0);
		while (r < 0 && errno == EINTR);
		/* no task has the filter any more */
		if (r < 0 || (r > 0 && !(p.revents & POLLIN) &&
			      p.revents & (POLLHUP | POLLERR | POLLNVAL)))
			return NOTIFY_ENDED;
		if (r == 0 || !(p.revents & POLLIN))
			return NOTIFY_OK;
		if (serve_one(l))
			return NOTIFY_BROKEN;
	}
	return NOTIFY_OK;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Calls that waited for somebody else, tried again. */
static int serve_again(struct listener *l)
{
	struct sockets_answer a;
	char comm[COMM_BYTES];

	for (int i = 0; i < DENIALS_MAX &&
			sockets_retry(l->watch->sockets, l->fd, l->req, &a);
	     i++) {
		struct answer answer;

		read_comm(l->req->pid, comm);
		answer = answer_socket(l, comm, &a);
		if (answer.kind != WAITS_ON &&
		    send_answer(l, l->req->id, &answer))
			return NOTIFY_BROKEN;
	}
	return NOTIFY_OK;
}

static int serve(int fd, struct denials *log, struct watch *watch,
		 int (*work)(struct listener *l))
{
	struct listener l = {.fd = fd, .log = log, .watch = watch};
	struct seccomp_notif_sizes sizes;
	int r;

	if (kernel_seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return NOTIFY_BROKEN;
	l.req_bytes = larger(sizes.seccomp_notif, sizeof(*l.req));
	l.resp_bytes = larger(sizes.seccomp_notif_resp, sizeof(*l.resp));
	l.req = mem_alloc(l.req_bytes);
	l.resp = mem_alloc(l.resp_bytes);
	r = work(&l);
	free(l.req);
	free(l.resp);
	return r;
}

int notify_serve(int fd, struct denials *log, struct watch *watch)
{
	return serve(fd, log, watch, serve_waiting);
}

int notify_again(int fd, struct denials *log, struct watch *watch)
{
	return watch->sockets ? serve(fd, log, watch, serve_again) : NOTIFY_OK;
}
