#include "gate/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/mem.h"

/* ---- the table ---- */

enum how { OPEN, CHANGE, ENTRY, MAKE, REMOVE, READ, RUN, CONNECT, BIND, SEND };

static const struct row {
	int nr;
	unsigned what;
	enum how how;
	int8_t dir, path, more;
} rows[] = {
#define WATCH(call, what, how, dir, path, more) \
	{SYS_##call, GATE_RECORD_##what, how, dir, path, more},
#include "gate/watch.def"
#undef WATCH
};

#define N_ROWS ARRAY_LEN(rows)

unsigned watch_wants(const struct watch *w)
{
	return w->what | (w->forbids ? GATE_RECORD_EXEC : 0U);
}

static bool is_first_row(size_t i)
{
	return i == 0 || rows[i - 1].nr != rows[i].nr;
}

bool watch_covers(const struct watch *w, int nr)
{
	unsigned wants = watch_wants(w);

	for (size_t i = 0; wants && i < N_ROWS; i++)
		if (rows[i].nr == nr && rows[i].what & wants)
			return true;
	return false;
}

/* ---- the filter ---- */

#if defined(__x86_64__)
#define NATIVE_ARCH UINT32_C(0xc000003e) /* AUDIT_ARCH_X86_64 */
#elif defined(__aarch64__)
#define NATIVE_ARCH UINT32_C(0xc00000b7) /* AUDIT_ARCH_AARCH64 */
#elif defined(__riscv) && __riscv_xlen == 64
#define NATIVE_ARCH UINT32_C(0xc00000f3) /* AUDIT_ARCH_RISCV64 */
#else
#error "the number of this architecture: linux/audit.h"
#endif

static struct sock_filter insn(uint16_t code, size_t jt, size_t jf, uint32_t k)
{
	return (struct sock_filter){code, (uint8_t)jt, (uint8_t)jf, k};
}

/*
 * Jumps are relative and forward, so a copy of a program works anywhere; each
 * copy loads what it looks at itself.
 */
static size_t put_choice(struct sock_filter *out, unsigned what, size_t skip)
{
	int nr[N_ROWS];
	size_t n = 0, k = 0;

	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].what & what && is_first_row(i))
			nr[n++] = rows[i].nr;
	out[k++] = insn(BPF_LD | BPF_W | BPF_ABS, 0, 0,
			offsetof(struct seccomp_data, arch));
	out[k++] = insn(BPF_JMP | BPF_JEQ | BPF_K, 0, n + 1, NATIVE_ARCH);
	out[k++] = insn(BPF_LD | BPF_W | BPF_ABS, 0, 0,
			offsetof(struct seccomp_data, nr));
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

bool watch_filter(const struct sock_fprog *plain, unsigned what,
		  struct arena *arena, struct sock_fprog *ret)
{
	/* numbers fit: the table is shorter than a jump is far */
	_Static_assert(N_ROWS < 250, "8 bits of a jump");
	struct sock_filter *out = ARENA_ARRAY(
		arena, struct sock_filter, N_ROWS + 4 + 2 * (size_t)plain->len);
	size_t n = put_choice(out, what, plain->len);

	put_watched(plain, out + n);
	n += plain->len;
	memcpy(out + n, plain->filter, plain->len * sizeof(*out));
	n += plain->len;
	if (n > WATCH_INSNS)
		return false;
	*ret = (struct sock_fprog){(unsigned short)n, out};
	return true;
}

/* ---- records ---- */

#define SLOTS (2 * WATCH_RECORDS)
static uint32_t hash_text(uint32_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT32_C(16777619);
	return h * UINT32_C(16777619);
}

static uint32_t hash(const struct gate_record *a)
{
	uint32_t h = UINT32_C(2166136261);

	h = hash_text(h, a->path);
	h = hash_text(h, a->program);
	return h ^ (a->what << 8) ^ (a->access << 4) ^ a->refused;
}

static bool is_same(const struct gate_record *a, const struct gate_record *b)
{
	return a->what == b->what && a->access == b->access &&
	       a->refused == b->refused && strcmp(a->path, b->path) == 0 &&
	       strcmp(a->program, b->program) == 0;
}

static struct strlist copy_args(struct arena *arena, const struct strlist *args)
{
	size_t n = args->n < WATCH_ARGS ? args->n : WATCH_ARGS;
	struct strlist list = {ARENA_ARRAY(arena, const char *, n + 1), 0};

	for (; list.n < n; list.n++) {
		const char *arg = args->item[list.n];

		list.item[list.n] = arena_strndup(
			arena, arg, strnlen(arg, WATCH_ARG_BYTES - 1));
	}
	return list;
}

void records_add(struct records *r, const struct gate_record *what)
{
	struct gate_record *row;
	size_t at;

	if (!r->row) {
		r->row = mem_zalloc(WATCH_RECORDS * sizeof(*r->row));
		r->slot = mem_zalloc(SLOTS * sizeof(*r->slot));
	}
	for (at = hash(what) % SLOTS; r->slot[at]; at = (at + 1) % SLOTS) {
		row = &r->row[r->slot[at] - 1];
		if (is_same(row, what)) {
			row->count++;
			return;
		}
	}
	if (r->n == WATCH_RECORDS) {
		r->dropped++;
		return;
	}
	row = &r->row[r->n++];
	r->slot[at] = (uint16_t)r->n;
	*row = *what;
	row->path = arena_strdup(&r->arena, what->path);
	row->program = arena_strdup(&r->arena, what->program);
	row->args = copy_args(&r->arena, &what->args);
	row->count = 1;
}

struct strlist records_execs(struct records *r)
{
	struct strlist list = {NULL, 0};

	list.item = ARENA_ARRAY(&r->arena, const char *, r->n + 1);
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].what == GATE_RECORD_EXEC && !r->row[i].refused)
			list.item[list.n++] = r->row[i].path;
	return list;
}

/* ---- what the waiting task asks for ---- */

struct watch_seen {
	unsigned n;
	bool is_cut; /* there are arguments, or parts, that were not read */
	struct gate_record record[2];
	char path[2][PATH_MAX + PATH_MAX];
	char text[WATCH_JUDGED_BYTES]; /* of the arguments */
	const char *arg[WATCH_JUDGED_ARGS];
};

static const char unknown[] = "?";

/* Up to n bytes, less at a page that is not there; -1: nothing. */
static ssize_t read_memory(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct iovec local = {to, n};
	struct iovec remote = {(void *)(uintptr_t)at, n};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

/*
 * A text, cut where there is no room; page by page, for the next one may not
 * be there. False: it cannot be read.
 */
static bool read_text(pid_t pid, uint64_t at, char *to, size_t n)
{
	size_t got = 0;

	to[0] = '\0';
	while (got + 1 < n) {
		size_t page = 4096 - (size_t)((at + got) % 4096);
		size_t want = n - 1 - got < page ? n - 1 - got : page;
		ssize_t r = read_memory(pid, at + got, to + got, want);

		if (r <= 0)
			return false;
		to[got + (size_t)r] = '\0';
		if (strlen(to + got) < (size_t)r)
			return true;
		got += (size_t)r;
	}
	return true;
}

/* Where a descriptor of the task leads; its working directory for AT_FDCWD. */
static bool folder_of(pid_t pid, int fd, char *to, size_t n)
{
	char link[64];
	ssize_t r;

	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	r = readlink(link, to, n - 1);
	if (r < 0)
		return false;
	to[r] = '\0';
	return true;
}

/* "/a" and "./b//c" as "/a/b/c". What "..", too, comes to only links tell. */
static void append_plain(char *to, size_t n, const char *path)
{
	size_t len = strlen(to);

	while (len > 1 && to[len - 1] == '/')
		to[--len] = '\0';
	for (const char *s = path; *s;) {
		size_t part = strcspn(s, "/");

		if (part && !(part == 1 && s[0] == '.') && len + part + 2 < n) {
			if (!len || to[len - 1] != '/')
				to[len++] = '/';
			memcpy(to + len, s, part);
			len += part;
		}
		s += part;
		s += *s == '/';
	}
	if (!len)
		to[len++] = '/';
	to[len] = '\0';
}

/* Absolute, as the task names it. False: it cannot be told. */
static bool read_path(const struct seccomp_notif *req, const struct row *row,
		      char *to, size_t n)
{
	pid_t pid = (pid_t)req->pid;
	int dir = row->dir < 0 ? AT_FDCWD : (int)req->data.args[row->dir];
	char path[PATH_MAX];

	to[0] = '\0';
	if (!req->data.args[row->path] ||
	    !read_text(pid, req->data.args[row->path], path, sizeof(path)))
		return false;
	if (path[0] != '/' && !folder_of(pid, dir, to, n))
		return false;
	append_plain(to, n, path);
	return true;
}

static void read_args(const struct seccomp_notif *req, const struct row *row,
		      bool all, struct watch_seen *seen)
{
	size_t n = all ? WATCH_JUDGED_ARGS : WATCH_ARGS, used = 0;
	uint64_t at = req->data.args[row->more], p;
	pid_t pid = (pid_t)req->pid;
	struct strlist *args = &seen->record[seen->n].args;

	args->item = seen->arg;
	seen->is_cut = at != 0;
	for (args->n = 0; args->n < n; args->n++, at += sizeof(p)) {
		size_t room = sizeof(seen->text) - used;

		if (!all && room > WATCH_ARG_BYTES)
			room = WATCH_ARG_BYTES;
		if (read_memory(pid, at, &p, sizeof(p)) != sizeof(p))
			return;
		if (!p) {
			/* what fills the room to its end may have gone on */
			seen->is_cut = room < 1;
			return;
		}
		if (room < 2 || !read_text(pid, p, seen->text + used, room))
			return;
		seen->arg[args->n] = seen->text + used;
		used += strlen(seen->text + used) + 1;
	}
}

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

static unsigned access_of(const struct row *row,
			  const struct seccomp_notif *req)
{
	switch (row->how) {
	case OPEN:
		return open_access(req->data.args[row->more]);
	case READ:
		return GATE_ACCESS_READ;
	case CHANGE:
		return GATE_ACCESS_WRITE;
	case ENTRY:
	case MAKE:
	case REMOVE:
		return GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY;
	case RUN:
		return GATE_ACCESS_RUN;
	case BIND:
		return GATE_ACCESS_SERVE;
	case CONNECT:
	case SEND:
		break;
	}
	return 0;
}

static bool port_text(int family, const void *address, uint16_t port, char *ret,
		      size_t n)
{
	char host[INET6_ADDRSTRLEN];

	if (!inet_ntop(family, address, host, sizeof(host)))
		return false;
	snprintf(ret, n, family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
		 ntohs(port));
	return true;
}

bool watch_address(const void *address, size_t size, char *ret, size_t n)
{
	union {
		sa_family_t family;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} a;

	memset(&a, 0, sizeof(a));
	memcpy(&a, address, size < sizeof(a) ? size : sizeof(a));
	if (size >= sizeof(a.in) && a.family == AF_INET)
		return port_text(AF_INET, &a.in.sin_addr, a.in.sin_port, ret,
				 n);
	if (size >= offsetof(struct sockaddr_in6, sin6_scope_id) &&
	    a.family == AF_INET6)
		return port_text(AF_INET6, &a.in6.sin6_addr, a.in6.sin6_port,
				 ret, n);
	if (size <= offsetof(struct sockaddr_un, sun_path) ||
	    a.family != AF_UNIX)
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
static bool see_address(const struct seccomp_notif *req, const struct row *row,
			char *to, size_t n)
{
	unsigned char bytes[sizeof(struct sockaddr_un)];
	uint64_t at = req->data.args[row->path];
	size_t size = (uint32_t)req->data.args[row->more];

	if (!at || !size)
		return false; /* send on a connection */
	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (read_memory((pid_t)req->pid, at, bytes, size) != (ssize_t)size) {
		snprintf(to, n, "%s", unknown);
		return true;
	}
	return watch_address(bytes, size, to, n);
}

/* In the view of the task. What we may not look at counts as there. */
static bool is_there(pid_t pid, const char *path)
{
	char at[64 + 2 * PATH_MAX];

	snprintf(at, sizeof(at), "/proc/%d/root%s", pid, path);
	return faccessat(AT_FDCWD, at, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

/* A program looked for along PATH, `mkdir -p` of what is there. */
static bool is_futile(const struct seccomp_notif *req, const struct row *row,
		      const char *path)
{
	bool there;

	if (row->how != RUN && row->how != MAKE && row->how != REMOVE)
		return false;
	there = is_there((pid_t)req->pid, path);
	return row->how == MAKE ? there : !there;
}

static bool see_row(const struct seccomp_notif *req, const struct row *row,
		    bool is_judged, struct watch_seen *seen)
{
	char *path = seen->path[seen->n];
	size_t size = sizeof(seen->path[0]);
	struct gate_record *r = &seen->record[seen->n];

	*r = (struct gate_record){
		.what = row->what, .path = path, .access = access_of(row, req)};
	if (row->what == GATE_RECORD_NET)
		return see_address(req, row, path, size);
	if (row->what == GATE_RECORD_FILES &&
	    (!r->access || !req->data.args[row->path]))
		return false; /* it is not opened; times of a descriptor */
	if (!read_path(req, row, path, size))
		snprintf(path, size, "%s", unknown);
	else if (is_futile(req, row, path))
		return false;
	if (row->how == RUN)
		read_args(req, row, is_judged, seen);
	return true;
}

void watch_see(struct watch *w, const struct seccomp_notif *req)
{
	unsigned wants = watch_wants(w);

	if (!w->seen)
		w->seen = mem_zalloc(sizeof(*w->seen));
	w->seen->n = 0;
	if (!w->has_begun)
		return; /* what is executed is known, and cannot be read */
	for (size_t i = 0; i < N_ROWS && w->seen->n < 2; i++)
		if (rows[i].nr == req->data.nr && rows[i].what & wants &&
		    see_row(req, &rows[i], w->forbids != NULL, w->seen))
			w->seen->n++;
}

/* What cannot be read cannot be judged, so it does not go on either. */
static bool is_forbidden(const struct watch *w, const struct gate_record *r)
{
	if (r->what != GATE_RECORD_EXEC || !w->forbids)
		return false;
	return strcmp(r->path, unknown) == 0 ||
	       w->forbids(w->forbids_arg, r->path, &r->args, w->seen->is_cut);
}

static int note_one(struct watch *w, struct gate_record *r, const char *comm)
{
	r->program = comm;
	r->refused = is_forbidden(w, r);
	if (r->what & w->what || r->refused)
		records_add(&w->records, r);
	return r->refused ? EACCES : 0;
}

int watch_note(struct watch *w, const char *comm)
{
	int refusal = 0;

	w->has_begun = true;
	for (unsigned i = 0; i < w->seen->n; i++) {
		int r = note_one(w, &w->seen->record[i], comm);

		refusal = r ? r : refusal;
	}
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
