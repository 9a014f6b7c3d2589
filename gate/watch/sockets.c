#include "gate/watch/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "gate/build/seccomp.h"
#include "gate/watch/services.h"
#include "gate/watch/task.h"

/* ---- the filter ---- */

#define TYPE_MASK (~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK))

static const uint32_t at_nr = offsetof(struct seccomp_data, nr);
/* The low half of an argument stands first. */
static const uint32_t at_family = offsetof(struct seccomp_data, args[0]);
static const uint32_t at_type = offsetof(struct seccomp_data, args[1]);

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define EQUAL(k, jt, jf) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, jt, jf)
#define RETURN(k) BPF_STMT(BPF_RET | BPF_K, k)

size_t sockets_filter(enum sockets_held held, uint32_t deny,
		      struct sock_filter ret[SOCKETS_INSNS])
{
	const struct sock_filter none[] = {
		EQUAL(SYS_socketpair, 0, 1),
		RETURN(deny),
	};
	const struct sock_filter judged[] = {
		EQUAL(SYS_connect, 1, 0),
		EQUAL(SYS_listen, 0, 1),
		RETURN(SECCOMP_RET_USER_NOTIF),
		EQUAL(SYS_socket, 0, 8),
		LOAD(at_family),
		EQUAL(AF_UNIX, 0, 5),
		LOAD(at_type),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TYPE_MASK),
		EQUAL(SOCK_STREAM, 1, 0),
		EQUAL(SOCK_SEQPACKET, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		LOAD(at_nr),
	};
	const bool is_none = held == SOCKETS_NONE;

	_Static_assert(sizeof(judged) <= SOCKETS_INSNS * sizeof(*ret), "room");
	if (held == SOCKETS_PLAIN)
		return 0;
	memcpy(ret, is_none ? none : judged,
	       is_none ? sizeof(none) : sizeof(judged));
	return is_none ? ARRAY_LEN(none) : ARRAY_LEN(judged);
}

/* ---- the call ---- */

struct call {
	const struct seccomp_notif *req;
	pid_t pid;
	int listener;
	int sock;   /* copy of the child's; owned */
	int domain; /* of it */
	int type;
	int target; /* O_PATH of a socket file; owned; -1: none */
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_storage room;
	} to;
	socklen_t size;
	struct sockets_answer *answer;
};

static void call_end(struct call *c)
{
	fd_closep(&c->sock);
	fd_closep(&c->target);
}

/* Does the task still wait, so that its number is its own? */
static bool is_valid(const struct call *c)
{
	uint64_t id = c->req->id;

	return ioctl(c->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* Read proc_pid_status(5) of a task; empty where it is gone. */
static void read_status(pid_t tid, struct buf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (fd_read_file(path, out, ERR_IGNORED) < 0)
		buf_clear(out);
}

/* A number in there; 0 where it is missing. */
static uint64_t status_number(struct buf *status, const char *name, int base)
{
	const char *line = strstr(buf_cstr(status), name);

	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

/* Linux before 6.9 opens processes only, not threads. */
static int open_process(pid_t tid)
{
	AUTO(buf_release) struct buf status = BUF_INIT(BUF_UNBOUNDED);

	read_status(tid, &status);
	return kernel_pidfd_open((pid_t)status_number(&status, "\nTgid:", 10));
}

/* Does a signal wait that the program has a handler for? The kernel lets none
   but deadly ones end the wait for an answer. */
static bool is_signalled(pid_t tid)
{
	AUTO(buf_release) struct buf status = BUF_INIT(BUF_UNBOUNDED);

	read_status(tid, &status);
	return (status_number(&status, "\nSigPnd:", 16) |
		status_number(&status, "\nShdPnd:", 16)) &
	       ~status_number(&status, "\nSigBlk:", 16) &
	       status_number(&status, "\nSigCgt:", 16);
}

/* Take a copy of the socket that the call names; 0 or an errno. */
static int take_socket(struct call *c)
{
	AUTO(fd_closep) int pidfd = kernel_pidfd_open_task(c->pid);
	socklen_t n = sizeof(int);

	if (pidfd < 0)
		pidfd = open_process(c->pid);
	if (pidfd < 0 || !is_valid(c))
		return EACCES;
	c->sock = kernel_pidfd_getfd(pidfd, (int)c->req->data.args[0]);
	if (c->sock < 0 && errno == EBADF)
		return EBADF;
	if (c->sock < 0) {
		c->answer->why = "the socket cannot be taken from the program";
		snprintf(c->answer->refused, SOCKETS_NAME_BYTES, "unix:?");
		return EACCES;
	}
	if (getsockopt(c->sock, SOL_SOCKET, SO_DOMAIN, &c->domain, &n) < 0 ||
	    getsockopt(c->sock, SOL_SOCKET, SO_TYPE, &c->type, &n) < 0)
		return errno;
	return 0;
}

static int read_address(struct call *c)
{
	int size = (int)c->req->data.args[2];

	if (size < 0 || (size_t)size > sizeof(c->to))
		return EINVAL;
	c->size = (socklen_t)size;
	if (size && task_read(c->pid, c->req->data.args[1], &c->to,
			      (size_t)size) != size)
		return EFAULT;
	return 0;
}

/* ---- the identity of the child ---- */

/* Groups of the runner that can be given up and taken again. */
#define SELF_GROUPS 1024

struct self {
	gid_t groups[SELF_GROUPS];
	int n_groups;
};

/*
 * As root the file must let the child in, and the peer must see the child's
 * user: the kernel asks and notes who connects. Capabilities are not in effect
 * under another effective user.
 */
static bool become_child(const struct sockets *s, struct self *ret_self)
{
	if (!s->change_id)
		return true;
	ret_self->n_groups = getgroups(SELF_GROUPS, ret_self->groups);
	return ret_self->n_groups >= 0 && setgroups(0, NULL) == 0 &&
	       setresgid((gid_t)-1, s->gid, (gid_t)-1) == 0 &&
	       setresuid((uid_t)-1, s->uid, (uid_t)-1) == 0;
}

static void become_self(const struct sockets *s, const struct self *self)
{
	if (!s->change_id || self->n_groups < 0)
		return;
	/* nothing may go on under a user that is not ours */
	if (setresuid((uid_t)-1, getuid(), (uid_t)-1) < 0 ||
	    setresgid((gid_t)-1, getgid(), (gid_t)-1) < 0 ||
	    setgroups((size_t)self->n_groups, self->groups) < 0)
		abort();
}

/* ---- whether it may ---- */

static const char not_own[] = "a socket that the program does not serve itself";
static const char not_told[] =
	"a socket that this file system does not tell from others; serve it in "
	"/tmp or HOME";

/* Sockets that libraries look for in every program: no word is worth it. */
static const char *const quiet[] = {"/run/nscd/", "/run/systemd/userdb/"};

static void name_refused(struct call *c, const char *name, const char *why)
{
	for (size_t i = 0; i < ARRAY_LEN(quiet); i++)
		if (strncmp(name, quiet[i], strlen(quiet[i])) == 0)
			return;
	snprintf(c->answer->refused, sizeof(c->answer->refused), "unix:%s",
		 name);
	c->answer->why = why;
	if (name[0] == '/' && why != not_told) {
		c->answer->key = "unix";
		c->answer->row = c->answer->refused + strlen("unix:");
	}
}

static int refuse(struct call *c, const char *name, const char *why)
{
	name_refused(c, name, why);
	return EACCES;
}

static bool is_granted(const struct sockets *s, const struct stat *st)
{
	for (size_t i = 0; i < s->n_grants; i++) {
		const struct sockets_grant *g = &s->grant[i];
		struct stat now;

		if (stat_is_same(&g->st, st))
			return true;
		/* another start of its server */
		if (!g->is_pinned && !s->only_cached &&
		    lstat(g->path, &now) == 0 && stat_is_same(&now, st))
			return true;
	}
	return false;
}

/* Open the socket file that the call names, as the child would; 0 or errno. */
static int open_target(const struct sockets *s, struct call *c)
{
	char path[sizeof(c->to.un.sun_path) + 1], whole[2 * PATH_MAX];
	AUTO(fd_closep) int top = -1;
	struct task_root root;
	struct stat st;
	struct self self;
	size_t n = c->size - offsetof(struct sockaddr_un, sun_path);
	int r = -EACCES;

	memcpy(path, c->to.un.sun_path, n);
	path[n] = '\0';
	if (!task_absolute(c->pid, AT_FDCWD, path, whole, sizeof(whole)))
		return ENOENT;
	top = task_open(c->pid, "root");
	if (top < 0 || !is_valid(c))
		return EACCES;
	root = (struct task_root){top, s->only_cached};
	if (become_child(s, &self))
		r = task_walk(&root, whole, 0);
	become_self(s, &self);
	if (r == -ENOENT && !s->only_cached && lstat(whole, &st) == 0 &&
	    S_ISSOCK(st.st_mode))
		name_refused(c, whole,
			     "a socket that the program does not see");
	if (r < 0)
		/* the file of a socket that is served is in memory */
		return r == -EAGAIN ? ENOENT : -r;
	c->target = r;
	return 0;
}

static int judge_path(struct sockets *s, struct call *c)
{
	enum own_answer own;
	char link[64], path[PATH_MAX];
	struct stat st;
	ssize_t n;
	int r = open_target(s, c);

	if (r)
		return r;
	if (fstat(c->target, &st) < 0 || !S_ISSOCK(st.st_mode))
		return ECONNREFUSED;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", c->target);
	own = is_granted(s, &st) ? OWN_SERVED : own_sockets_serve(&s->own, &st);
	if (own != OWN_SERVED) {
		n = readlink(link, path, sizeof(path) - 1);
		path[n < 0 ? 0 : n] = '\0';
		return refuse(c, path, own == OWN_NOT ? not_own : not_told);
	}
	c->to.un = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(c->to.un.sun_path, link, strlen(link) + 1);
	c->size = sizeof(c->to.un);
	return 0;
}

static int judge_unix(struct sockets *s, struct call *c)
{
	const char *name = c->to.un.sun_path;
	char text[sizeof(c->to.un.sun_path) + 2];

	/* one that came from somebody else */
	if (c->type != SOCK_STREAM && c->type != SOCK_SEQPACKET)
		return EACCES;
	if (c->size <= offsetof(struct sockaddr_un, sun_path) ||
	    c->size > sizeof(c->to.un) || c->to.any.sa_family != AF_UNIX)
		return EINVAL;
	if (*name)
		return judge_path(s, c);
	if (s->own_net)
		return 0;
	snprintf(text, sizeof(text), "@%.*s",
		 (int)(c->size - offsetof(struct sockaddr_un, sun_path) - 1),
		 name + 1);
	return refuse(c, text, "an abstract name of this machine");
}

/* ---- connections ---- */

/* A connection to a socket that is told not to wait returns at once. */
#define GUARD_US 20000

static void on_guard(int signal)
{
	(void)signal;
}

/*
 * The flag that keeps connect() from waiting is shared with the child, which
 * may take it away in between. Then a signal ends the wait: EINTR.
 */
static int connect_guarded(const struct call *c)
{
	const struct itimerval on = {{0, GUARD_US}, {0, GUARD_US}}, off = {0};
	struct sigaction guard = {.sa_handler = on_guard}, before;
	sigset_t alarm, mask;
	int r;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigaction(SIGALRM, &guard, &before);
	sigprocmask(SIG_UNBLOCK, &alarm, &mask);
	setitimer(ITIMER_REAL, &on, NULL);
	r = connect(c->sock, &c->to.any, c->size) < 0 ? errno : 0;
	setitimer(ITIMER_REAL, &off, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGALRM, &before, NULL);
	return r;
}

/* Connect without waiting; 0 or errno. */
static int connect_now(const struct sockets *s, const struct call *c,
		       bool *ret_blocks)
{
	int flags = fcntl(c->sock, F_GETFL), r = EACCES;
	struct self self;

	*ret_blocks = !(flags & O_NONBLOCK);
	if (flags < 0 ||
	    (*ret_blocks && fcntl(c->sock, F_SETFL, flags | O_NONBLOCK) < 0))
		return EACCES;
	if (become_child(s, &self))
		r = connect_guarded(c);
	/* one to this machine is made by now */
	if (r == EINPROGRESS && *ret_blocks)
		r = connect_guarded(c);
	become_self(s, &self);
	if (*ret_blocks)
		(void)fcntl(c->sock, F_SETFL, flags);
	return r;
}

/* Has the time passed that the program gave the call (SO_SNDTIMEO)? */
static bool is_late(const struct call *c, uint64_t age_ns)
{
	struct timeval t = {0};
	socklen_t n = sizeof(t);

	return getsockopt(c->sock, SOL_SOCKET, SO_SNDTIMEO, &t, &n) == 0 &&
	       (t.tv_sec || t.tv_usec) &&
	       age_ns >= (uint64_t)t.tv_sec * NS_PER_S +
				 (uint64_t)t.tv_usec * (NS_PER_MS / 1000);
}

/* ---- the loopback of an own network ---- */

static uint64_t now_ns(void)
{
	return clock_system()->now_ns(clock_system());
}

static struct sockets_forward *find_forward(const struct sockets *s,
					    const struct address *a,
					    uint16_t port)
{
	for (size_t i = 0; i < s->n_forwards; i++)
		if (s->forward[i].port == port &&
		    address_same_peer(&s->forward[i].address, a))
			return &s->forward[i];
	return NULL;
}

/* Time for which a look-up is good: a program that asks again and again would
   hold the others up. */
#define LOOK_NS NS_PER_S

/* Would it find nobody behind the row, who is known to the kernel? */
static bool is_down(struct sockets_forward *f)
{
	uint64_t now = now_ns();

	if (now >= f->look_ns) {
		f->is_down = services_find(&f->address, f->port, now) ==
			     SERVICE_IS_DOWN;
		f->look_ns = now + LOOK_NS;
	}
	return f->is_down;
}

/* Was it refused, be it behind the back of a socket that does not wait? */
static bool is_refused(const struct call *c, int r)
{
	struct tcp_info info;
	socklen_t n = sizeof(info);

	return r == ECONNREFUSED ||
	       (r == EINPROGRESS &&
		getsockopt(c->sock, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 &&
		info.tcpi_state == TCP_CLOSE);
}

/* Connect as connect_now(); others than TCP to an own loopback just so. */
static int connect_inet(const struct sockets *s, struct call *c,
			bool *ret_blocks)
{
	uint16_t port = ntohs(((const struct sockaddr_in *)&c->to)->sin_port);
	struct sockets_forward *f;
	struct address a;
	int r;

	if (!s->own_net || c->type != SOCK_STREAM ||
	    !address_of(&c->to.any, &a) ||
	    address_class_of(&a) != ADDRESS_LOOPBACK)
		return connect_now(s, c, ret_blocks);
	f = find_forward(s, &a, port);
	if (f && is_down(f))
		return ECONNREFUSED;
	r = connect_now(s, c, ret_blocks);
	if (!f && is_refused(c, r)) {
		c->answer->missed = a;
		c->answer->missed_port = port;
	}
	return r;
}

/* age_ns  time that the call has waited already */
static int serve_connect(struct sockets *s, struct call *c, uint64_t age_ns)
{
	bool blocks = false, is_unix = c->domain == AF_UNIX;
	int r = s->has_cheated ? EACCES : read_address(c);

	if (r == 0 && is_unix)
		r = judge_unix(s, c);
	/* memory and links were the child's only if it still waits */
	if (r == 0 && !is_valid(c))
		r = EINTR;
	if (r)
		return r;
	r = is_unix ? connect_now(s, c, &blocks) : connect_inet(s, c, &blocks);
	s->has_cheated |= r == EINTR;
	if (!blocks ||
	    (is_unix ? r != EAGAIN : r != EINPROGRESS && r != EALREADY))
		return r;
	if (is_late(c, age_ns))
		return is_unix ? EAGAIN : EINPROGRESS;
	c->answer->waits = !is_signalled(c->pid);
	return EINTR;
}

/* ---- servers ---- */

/*
 * A name without a file, in the network of this machine, could be that of
 * another program there, which its clients would then talk to. A name never
 * changes, so one without a name is refused as by the kernel, before another
 * thread gives it one.
 */
static int judge_server(const struct sockets *s, struct call *c)
{
	struct sockaddr_un own = {.sun_family = AF_UNSPEC};
	socklen_t n = sizeof(own);

	if (getsockname(c->sock, (struct sockaddr *)&own, &n) < 0)
		return errno;
	if (n <= offsetof(struct sockaddr_un, sun_path))
		return EINVAL;
	if (own.sun_path[0] || s->own_net)
		return 0;
	return refuse(c, "@", "an abstract name of this machine");
}

static int serve_listen(struct sockets *s, struct call *c)
{
	bool is_unix = c->domain == AF_UNIX;
	int r = is_unix ? judge_server(s, c) : 0;
	struct self self;

	if (r)
		return r;
	r = EACCES;
	/* clients see who listens */
	if (become_child(s, &self))
		r = listen(c->sock, (int)c->req->data.args[1]) < 0 ? errno : 0;
	become_self(s, &self);
	if (r == 0 && is_unix && !own_sockets_add(&s->own, c->sock))
		return ENOBUFS;
	return r;
}

/* ---- calls that wait ---- */

struct sockets_waiting {
	struct seccomp_notif req;
	uint64_t since_ns, tried_ns;
};

/* A quarter of its age, between these bounds. */
#define RETRY_MIN_NS NS_PER_MS
#define RETRY_MAX_NS (50 * NS_PER_MS)

static uint64_t due_ns(const struct sockets_waiting *w)
{
	uint64_t step = (w->tried_ns - w->since_ns) / 4;

	if (step < RETRY_MIN_NS)
		step = RETRY_MIN_NS;
	return w->tried_ns + (step > RETRY_MAX_NS ? RETRY_MAX_NS : step);
}

static bool add_waiting(struct sockets *s, const struct seccomp_notif *req)
{
	uint64_t now = now_ns();

	if (s->n_waiting == SOCKETS_WAITING)
		return false;
	s->waiting = mem_realloc(s->waiting,
				 (s->n_waiting + 1) * sizeof(*s->waiting));
	s->waiting[s->n_waiting++] = (struct sockets_waiting){*req, now, now};
	return true;
}

unsigned sockets_due_ms(const struct sockets *s)
{
	uint64_t first = UINT64_MAX, now;

	if (!s->n_waiting)
		return 0;
	for (size_t i = 0; i < s->n_waiting; i++)
		if (due_ns(&s->waiting[i]) < first)
			first = due_ns(&s->waiting[i]);
	now = now_ns();
	return first <= now ? 1 : (unsigned)((first - now) / NS_PER_MS + 1);
}

/* ---- the whole ---- */

static void carry_out(struct sockets *s, int listener,
		      const struct seccomp_notif *req, uint64_t age_ns,
		      struct sockets_answer *ret)
{
	struct call c = {.req = req,
			 .pid = (pid_t)req->pid,
			 .listener = listener,
			 .sock = -1,
			 .target = -1,
			 .answer = ret};

	ret->waits = false;
	ret->refused[0] = '\0';
	ret->why = NULL;
	ret->key = ret->row = NULL;
	ret->missed_port = 0;
	ret->error = take_socket(&c);
	if (ret->error == 0)
		ret->error = req->data.nr == SYS_connect
				     ? serve_connect(s, &c, age_ns)
				     : serve_listen(s, &c);
	call_end(&c);
}

void sockets_serve(struct sockets *s, int listener,
		   const struct seccomp_notif *req, struct sockets_answer *ret)
{
	carry_out(s, listener, req, 0, ret);
	if (ret->waits && !add_waiting(s, req)) {
		ret->waits = false;
		ret->error = ENOBUFS;
	}
}

bool sockets_retry(struct sockets *s, int listener,
		   struct seccomp_notif *ret_req, struct sockets_answer *ret)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < s->n_waiting; i++) {
		struct sockets_waiting *w = &s->waiting[i];

		if (due_ns(w) > now)
			continue;
		*ret_req = w->req;
		w->tried_ns = now;
		carry_out(s, listener, &w->req, now - w->since_ns, ret);
		if (!ret->waits)
			*w = s->waiting[--s->n_waiting];
		return true;
	}
	return false;
}

void sockets_release(struct sockets *s)
{
	own_sockets_release(&s->own);
	free(s->waiting);
	*s = (struct sockets)SOCKETS_INIT;
}
