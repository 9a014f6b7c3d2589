/*
 * Process of the proxy: its start, whom it lets in, its wait. One thread;
 * every number and size is bounded, and a child that is slow, floods or
 * vanishes harms itself only.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <ifaddrs.h>
#include <linux/securebits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/mem.h"
#include "gate/build/landlock.h"
#include "gate/build/seccomp.h"
#include "gate/child/pass.h"
#include "gate/gate.h"
#include "gate/policy/endpoint.h"
#include "gate/proxy/proxy_request.h"
#include "gate/proxy/proxy_share.h"

/* Addresses of one name that are tried. */
#define LOOKUP_ADDRESSES 16
/* Sent to the process when some lookup has ended; blocked, for a signalfd. */
#define LOOKUP_SIGNAL SIGUSR1

struct lookup;

enum lookup_state { LOOKUP_PENDING, LOOKUP_FOUND, LOOKUP_NOTHING };

/* Served at once; what comes beyond waits in the queue of the kernel. */
#define PROXY_CONNECTIONS 256

enum conn_state {
	CONN_FREE,
	CONN_REQUEST, /* the head is being read */
	CONN_LOOKUP,
	CONN_CONNECT,
	CONN_OPEN,  /* bytes go both ways */
	CONN_ANSWER /* a refusal is being written; then the end is awaited */
};

struct conn {
	enum conn_state state;
	int client, server;
	bool is_forward;
	bool greeted;
	enum proxy_speaks speaks;
	struct endpoint_target target;
	enum endpoint_grant grant;
	struct lookup *lookup;
	struct address address[LOOKUP_ADDRESSES];
	size_t n_addresses, at;
	enum proxy_outcome outcome; /* of the last address that was tried */
	uint64_t deadline_ns;	    /* 0 = none */
	struct pipe *up, *down;	    /* to the server, to the client; owned */
	short client_is, server_is; /* events that poll() found */
};

struct proxy_loop {
	const struct passed *sockets;
	const struct endpoint *rows;
	size_t n_rows;
	const struct address *own;
	size_t n_own;
	struct proxy_share *share;
	struct clock *clock;
	uint64_t now_ns, pause_ns;
	int signals;
	size_t n_conns;
	struct conn conn[PROXY_CONNECTIONS];
};

/* ---- confinement ---- */

#define NOBODY 65534
/* Two for each connection, and those of name lookups. */
#define FILES 1024

/* Files that the resolver of the C library opens, where they exist. */
static const char *const READABLE[] = {
	"/etc/hosts",
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
	/* resolv.conf leads there, and is replaced there */
	"/run/systemd/resolve",
	"/run/resolvconf",
	"/run/NetworkManager",
};

static int set_limits(struct err *err)
{
	struct rlimit none = {0, 0}, files;

	if (setrlimit(RLIMIT_CORE, &none) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &none) < 0 ||
	    getrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_sys(err, errno, "limits");
	files.rlim_cur = files.rlim_max < FILES ? files.rlim_max : FILES;
	files.rlim_max = files.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_sys(err, errno, "limits");
	return 0;
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

static int install_filter(struct sock_fprog *program, struct err *err)
{
	if (kernel_seccomp(SECCOMP_SET_MODE_FILTER, 0, program) < 0)
		return err_sys(err, errno, "system-call filter");
	return 0;
}

/*
 * On top of the filter of the profile "strict": nothing is executed, no process
 * is signalled or served. Other architectures are the other filter's.
 */
static int refuse_more(struct err *err)
{
#define REFUSE(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, LAST, 0)
#define LAST 0
	struct sock_filter insn[] = {
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
	struct sock_fprog program = {ARRAY_LEN(insn), insn};

	for (size_t i = 0; i < ARRAY_LEN(insn); i++)
		if (insn[i].code == (BPF_JMP | BPF_JEQ | BPF_K))
			insn[i].jt = (uint8_t)(ARRAY_LEN(insn) - 2 - i);
	return install_filter(&program, err);
}

static int restrict_calls(struct err *err)
{
	const struct seccomp_want want = {.profile = PROFILE_STRICT,
					  .net = POLICY_NET_ALL,
					  .net_udp = true,
					  .deny = SECCOMP_DENY_ERRNO};
	struct seccomp_filter filter = SECCOMP_FILTER_INIT;
	struct sock_fprog program;
	int r;

	if (filters_build(&want, &filter, err) < 0)
		return -1;
	program = (struct sock_fprog){filter.n, filter.insn};
	r = refuse_more(err);
	if (r == 0)
		r = install_filter(&program, err);
	seccomp_filter_release(&filter);
	return r;
}

/*
 * Give everything up that a proxy does not need: identity, privileges, files,
 * system calls. Signals are blocked, sockets still to be received.
 */
static int proxy_confine(struct err *err)
{
	if (set_limits(err) < 0 || drop_privileges(err) < 0)
		return -1;
	/* a change of identity has cleared the one and set the other */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(err, errno, "end with the runner");
	if (restrict_files(err) < 0 || restrict_calls(err) < 0)
		return -1;
	return 0;
}

/* ---- names ---- */

struct lookup {
	struct lookup *next; /* among the abandoned ones */
	struct gaicb request;
	struct addrinfo hints;
	char name[ENDPOINT_HOST_BYTES];
};

static struct lookup *abandoned;

static void free_lookup(struct lookup *l)
{
	if (l->request.ar_result)
		freeaddrinfo(l->request.ar_result);
	free(l);
}

/*
 * Start to look a name up. It goes on beside the caller.
 * returns  NULL when it cannot be started
 */
static struct lookup *lookup_start(const char *name)
{
	struct lookup *l = mem_zalloc(sizeof(*l));
	struct gaicb *list[1] = {&l->request};
	struct sigevent tell = {.sigev_notify = SIGEV_SIGNAL,
				.sigev_signo = LOOKUP_SIGNAL};

	snprintf(l->name, sizeof(l->name), "%s", name);
	l->hints.ai_family = AF_UNSPEC;
	l->hints.ai_socktype = SOCK_STREAM;
	l->request.ar_name = l->name;
	l->request.ar_request = &l->hints;
	if (getaddrinfo_a(GAI_NOWAIT, list, 1, &tell) == 0)
		return l;
	free(l);
	return NULL;
}

/* ret  room for LOOKUP_ADDRESSES; written when found */
static enum lookup_state lookup_state(const struct lookup *l,
				      struct address *ret, size_t *ret_n)
{
	int r = gai_error((struct gaicb *)&l->request);
	size_t n = 0;

	if (r == EAI_INPROGRESS)
		return LOOKUP_PENDING;
	if (r != 0)
		return LOOKUP_NOTHING;
	for (const struct addrinfo *ai = l->request.ar_result;
	     ai && n < LOOKUP_ADDRESSES; ai = ai->ai_next)
		n += address_of(ai->ai_addr, &ret[n]);
	*ret_n = n;
	return n ? LOOKUP_FOUND : LOOKUP_NOTHING;
}

/* Give up on a result, or give it back. Takes NULL. */
static void lookup_end(struct lookup *l)
{
	if (!l)
		return;
	/* one that is being worked on cannot be taken back */
	if (gai_error(&l->request) != EAI_INPROGRESS ||
	    gai_cancel(&l->request) == EAI_CANCELED) {
		free_lookup(l);
		return;
	}
	l->next = abandoned;
	abandoned = l;
}

/* Free look-ups that have ended after lookup_end(). */
static void lookup_sweep(void)
{
	struct lookup **at = &abandoned;

	while (*at) {
		struct lookup *l = *at;

		if (gai_error(&l->request) == EAI_INPROGRESS) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		free_lookup(l);
	}
}

/* ---- a connection ---- */

#define REQUEST_NS (10 * NS_PER_S) /* until the head has come */
#define LOOKUP_NS (20 * NS_PER_S)
#define CONNECT_NS (10 * NS_PER_S) /* for each address */
#define ANSWER_NS (5 * NS_PER_S)   /* to take a refusal */
/* One side has ended and the other says nothing. */
#define HALF_NS (600 * NS_PER_S)

/*
 * Bytes on their way in one direction, between two sockets that never wait:
 * pipe_fill() reads from the one, pipe_flush() writes to the other, and shuts
 * it down when the one has ended and everything is written.
 */

/* A head and what it grows by. */
#define PIPE_BYTES (PROXY_HEAD_BYTES + PROXY_HEAD_MORE)

struct pipe {
	char bytes[PIPE_BYTES];
	size_t from, to;
	bool eof;  /* nothing more comes in */
	bool shut; /* and the other end was told */
};

/* Bytes that can still be added; makes room. */
static size_t pipe_room(struct pipe *p)
{
	if (p->from == p->to)
		p->from = p->to = 0;
	if (p->to == PIPE_BYTES && p->from) {
		memmove(p->bytes, p->bytes + p->from, p->to - p->from);
		p->to -= p->from;
		p->from = 0;
	}
	return PIPE_BYTES - p->to;
}

/* Bytes on their way; borrowed until the pipe changes. */
static struct str pipe_str(const struct pipe *p)
{
	return (struct str){p->bytes + p->from, p->to - p->from};
}

/* Was the last errno that of a socket which has nothing for us yet? */
static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/*
 * Both return 0, also when nothing can be done now, and -1 when the
 * connection is broken.
 *
 * max  no more bytes than these are kept
 */
static int pipe_fill(struct pipe *p, int fd, size_t max)
{
	size_t room = pipe_room(p);
	ssize_t n;

	if (p->eof || p->to >= max)
		return 0;
	room = room < max - p->to ? room : max - p->to;
	n = recv(fd, p->bytes + p->to, room, 0);
	if (n < 0)
		return would_block() ? 0 : -1;
	if (n == 0)
		p->eof = true;
	p->to += (size_t)n;
	return 0;
}

static int pipe_flush(struct pipe *p, int fd)
{
	while (p->from < p->to) {
		ssize_t n = send(fd, p->bytes + p->from, p->to - p->from,
				 MSG_NOSIGNAL);

		if (n < 0)
			return would_block() ? 0 : -1;
		p->from += (size_t)n;
	}
	if (p->eof && !p->shut) {
		p->shut = true;
		/* ENOTCONN: the other side was quicker */
		if (shutdown(fd, SHUT_WR) < 0 && errno != ENOTCONN)
			return -1;
	}
	return 0;
}

/* Add bytes of our own; none when there is no room for all of them. */
static void pipe_put(struct pipe *p, struct str bytes)
{
	if (bytes.n > pipe_room(p))
		return;
	memcpy(p->bytes + p->to, bytes.p, bytes.n);
	p->to += bytes.n;
}

/* ---- the life of a connection ---- */

static void conn_enter(struct proxy_loop *l, struct conn *c,
		       enum conn_state state, uint64_t within_ns)
{
	c->state = state;
	c->deadline_ns = within_ns ? l->now_ns + within_ns : 0;
}

static void conn_close(struct proxy_loop *l, struct conn *c)
{
	fd_closep(&c->client);
	fd_closep(&c->server);
	lookup_end(c->lookup);
	free(c->up);
	free(c->down);
	*c = (struct conn){.state = CONN_FREE, .client = -1, .server = -1};
	l->n_conns--;
}

/* Written before the child can read its answer, so it is there when it ends. */
static void record_denial(struct proxy_loop *l, const struct conn *c,
			  enum proxy_outcome outcome)
{
	struct proxy_share *s = l->share;
	char name[ENDPOINT_TEXT_BYTES] = "?";
	size_t i = 0;

	if (c->target.port)
		endpoint_target_text(&c->target, name);
	while (i < s->n_denials && (s->denials[i].outcome != outcome ||
				    strcmp(s->denials[i].name, name) != 0))
		i++;
	if (i == PROXY_DENIALS_MAX) {
		s->denials_dropped++;
		return;
	}
	if (i == s->n_denials) {
		s->denials[i].outcome = outcome;
		memcpy(s->denials[i].name, name, sizeof(name));
		s->n_denials++;
	}
	s->denials[i].count++;
}

static void give_answer(struct proxy_loop *l, struct conn *c,
			enum proxy_outcome outcome)
{
	AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);

	if (proxy_is_denial(outcome))
		record_denial(l, c, outcome);
	if (c->is_forward) {
		conn_close(l, c);
		return;
	}
	proxy_answer(c->speaks, outcome, c->target.port ? &c->target : NULL,
		     &out);
	pipe_put(c->down, buf_str(&out));
	c->down->eof = true;
	fd_closep(&c->server);
	conn_enter(l, c, CONN_ANSWER, ANSWER_NS);
}

static void start_relay(struct proxy_loop *l, struct conn *c)
{
	AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);
	const int on = 1;

	/* neither matters so much that the connection should end for it */
	(void)setsockopt(c->server, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(c->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!c->is_forward)
		proxy_answer(c->speaks, PROXY_CONNECTED, NULL, &out);
	pipe_put(c->down, buf_str(&out));
	conn_enter(l, c, CONN_OPEN, 0);
}

/* ---- connecting ---- */

static enum proxy_outcome outcome_of_errno(int sys)
{
	switch (sys) {
	case ECONNREFUSED:
		return PROXY_NOT_THERE;
	case ETIMEDOUT:
		return PROXY_TOO_SLOW;
	default:
		return PROXY_UNREACHABLE;
	}
}

/* Connect to the very address that was judged; the name is not looked up
   again. */
static int connect_to(struct conn *c, const struct address *a)
{
	struct address_socket to = address_socket(a, c->target.port);

	c->server = socket(to.any.sa_family,
			   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->server < 0)
		return errno;
	if (connect(c->server, &to.any, to.bytes) == 0 || errno == EINPROGRESS)
		return 0;
	return errno;
}

static void try_next(struct proxy_loop *l, struct conn *c)
{
	fd_closep(&c->server);
	while (c->at < c->n_addresses) {
		int sys = connect_to(c, &c->address[c->at++]);

		if (sys == 0) {
			conn_enter(l, c, CONN_CONNECT, CONNECT_NS);
			return;
		}
		fd_closep(&c->server);
		c->outcome = outcome_of_errno(sys);
	}
	give_answer(l, c, c->outcome);
}

static void finish_connect(struct proxy_loop *l, struct conn *c)
{
	socklen_t n = sizeof(int);
	int sys = 0;

	if (getsockopt(c->server, SOL_SOCKET, SO_ERROR, &sys, &n) < 0)
		sys = errno;
	if (sys) {
		c->outcome = outcome_of_errno(sys);
		try_next(l, c);
		return;
	}
	start_relay(l, c);
}

/* ---- judging ---- */

static bool is_own(const struct proxy_loop *l, const struct address *a)
{
	for (size_t i = 0; i < l->n_own; i++)
		if (address_same_peer(&l->own[i], a))
			return true;
	return false;
}

static bool may_reach(const struct proxy_loop *l, const struct conn *c,
		      const struct address *a)
{
	if (c->grant == ENDPOINT_PUBLIC && is_own(l, a))
		return false;
	return endpoint_reaches(c->grant, a);
}

/* Only what may be reached is left; the reason when that is nothing. */
static bool judge_addresses(struct proxy_loop *l, struct conn *c)
{
	size_t n = 0;

	c->outcome = PROXY_LOCAL;
	for (size_t i = 0; i < c->n_addresses; i++) {
		if (may_reach(l, c, &c->address[i]))
			c->address[n++] = c->address[i];
		else if (address_class_of(&c->address[i]) <= ADDRESS_PRIVATE)
			c->outcome = PROXY_PRIVATE;
	}
	c->n_addresses = n;
	return n > 0;
}

static void try_addresses(struct proxy_loop *l, struct conn *c)
{
	c->at = 0;
	if (!judge_addresses(l, c))
		give_answer(l, c, c->outcome);
	else
		try_next(l, c);
}

static void check_lookup(struct proxy_loop *l, struct conn *c)
{
	enum lookup_state is =
		lookup_state(c->lookup, c->address, &c->n_addresses);

	if (is == LOOKUP_PENDING)
		return;
	lookup_end(c->lookup);
	c->lookup = NULL;
	if (is == LOOKUP_NOTHING)
		give_answer(l, c, PROXY_NO_HOST);
	else
		try_addresses(l, c);
}

static void judge_target(struct proxy_loop *l, struct conn *c)
{
	c->grant = endpoint_judge(l->rows, l->n_rows, &c->target);
	if (c->grant == ENDPOINT_REFUSED) {
		give_answer(l, c, PROXY_UNLISTED);
		return;
	}
	if (c->target.is_address) {
		c->address[0] = c->target.address;
		c->n_addresses = 1;
		try_addresses(l, c);
		return;
	}
	c->lookup = lookup_start(c->target.host);
	if (!c->lookup)
		give_answer(l, c, PROXY_NO_HOST);
	else
		conn_enter(l, c, CONN_LOOKUP, LOOKUP_NS);
}

/* ---- reading a request ---- */

/* Put the new head before what is left of the input, for the server. */
static void put_head(struct pipe *p, size_t used, struct str head)
{
	size_t rest;

	p->from += used;
	rest = p->to - p->from;
	memmove(p->bytes + head.n, p->bytes + p->from, rest);
	if (head.n)
		memcpy(p->bytes, head.p, head.n);
	p->from = 0;
	p->to = head.n + rest;
}

static void read_request(struct proxy_loop *l, struct conn *c)
{
	for (;;) {
		AUTO(buf_release) struct buf head = BUF_INIT(PIPE_BYTES);
		AUTO(buf_release) struct buf out = BUF_INIT(PIPE_BYTES);
		struct proxy_request r;

		switch (proxy_read(pipe_str(c->up), c->greeted, &head, &r)) {
		case PROXY_MORE:
			if (c->up->eof)
				conn_close(l, c);
			return;
		case PROXY_GREETED:
			c->greeted = true;
			c->up->from += r.used;
			proxy_greet(&out);
			pipe_put(c->down, buf_str(&out));
			if (pipe_flush(c->down, c->client) == 0)
				continue;
			conn_close(l, c);
			return;
		case PROXY_ASKED:
			c->speaks = r.speaks;
			c->target = r.target;
			put_head(c->up, r.used, buf_str(&head));
			judge_target(l, c);
			return;
		case PROXY_WRONG:
			c->speaks = r.speaks;
			give_answer(l, c, r.outcome);
			return;
		}
	}
}

/* ---- one round ---- */

static void step_open(struct proxy_loop *l, struct conn *c)
{
	size_t before = c->up->to + c->down->to;

	if ((c->client_is && pipe_fill(c->up, c->client, PIPE_BYTES) < 0) ||
	    (c->server_is && pipe_fill(c->down, c->server, PIPE_BYTES) < 0) ||
	    pipe_flush(c->up, c->server) < 0 ||
	    pipe_flush(c->down, c->client) < 0 ||
	    (c->up->shut && c->down->shut)) {
		conn_close(l, c);
		return;
	}
	if ((c->up->eof || c->down->eof) &&
	    (!c->deadline_ns || before != c->up->to + c->down->to))
		conn_enter(l, c, CONN_OPEN, HALF_NS);
}

/*
 * A socket that is closed with bytes unread takes the answer back, so what
 * the client still says is read and forgotten.
 */
static void step_answer(struct proxy_loop *l, struct conn *c)
{
	char ignored[4096];

	if (pipe_flush(c->down, c->client) < 0) {
		conn_close(l, c);
		return;
	}
	if (c->client_is && recv(c->client, ignored, sizeof(ignored), 0) <= 0 &&
	    !would_block())
		conn_close(l, c);
}

/* Go on with what .client_is and .server_is say. */
static void conn_step(struct proxy_loop *l, struct conn *c)
{
	switch (c->state) {
	case CONN_FREE:
		break;
	case CONN_REQUEST:
		if (!c->client_is)
			break;
		/* a rewritten head is longer and needs the room */
		if (pipe_fill(c->up, c->client, PROXY_HEAD_BYTES) < 0)
			conn_close(l, c);
		else
			read_request(l, c);
		break;
	case CONN_LOOKUP:
		check_lookup(l, c);
		break;
	case CONN_CONNECT:
		if (c->server_is)
			finish_connect(l, c);
		break;
	case CONN_OPEN:
		step_open(l, c);
		break;
	case CONN_ANSWER:
		step_answer(l, c);
		break;
	}
}

static void conn_expire(struct proxy_loop *l, struct conn *c)
{
	switch (c->state) {
	case CONN_LOOKUP:
		lookup_end(c->lookup);
		c->lookup = NULL;
		give_answer(l, c, PROXY_TOO_SLOW);
		break;
	case CONN_CONNECT:
		c->outcome = PROXY_TOO_SLOW;
		try_next(l, c);
		break;
	default:
		conn_close(l, c);
		break;
	}
}

/* ---- its beginning, and what it waits for ---- */

/* The address of the n-th FORWARD row. */
static const struct endpoint *forward_row(const struct proxy_loop *l, size_t n)
{
	for (size_t i = 0; i < l->n_rows; i++)
		if (l->rows[i].kind == ENDPOINT_FORWARD && n-- == 0)
			return &l->rows[i];
	return NULL;
}

static void start_forward(struct proxy_loop *l, struct conn *c, size_t listener)
{
	const struct endpoint *row = forward_row(l, listener - 1);

	if (!row) {
		conn_close(l, c);
		return;
	}
	c->is_forward = true;
	c->target.port = row->port;
	c->address[0] = row->address;
	c->n_addresses = 1;
	try_next(l, c);
}

/*
 * Begin with a client.
 *
 * c         one that is CONN_FREE
 * client    taken
 * listener  0: the proxy's own; n: that of the n-th FORWARD row
 */
static void conn_open(struct proxy_loop *l, struct conn *c, int client,
		      size_t listener)
{
	*c = (struct conn){.client = client,
			   .server = -1,
			   .up = mem_alloc(sizeof(*c->up)),
			   .down = mem_alloc(sizeof(*c->down))};
	*c->up = *c->down = (struct pipe){.from = 0};
	l->n_conns++;
	conn_enter(l, c, CONN_REQUEST, REQUEST_NS);
	if (listener > 0)
		start_forward(l, c, listener);
}

static short open_events(struct pipe *in, const struct pipe *out)
{
	short events = 0;

	if (!in->eof && pipe_room(in))
		events |= POLLIN;
	if (out->from < out->to)
		events |= POLLOUT;
	return events;
}

/* Events of poll() for its two sockets; 0: leave that one out. */
static void conn_events(const struct conn *c, short *ret_client,
			short *ret_server)
{
	*ret_client = *ret_server = 0;
	switch (c->state) {
	case CONN_FREE:
	case CONN_LOOKUP:
		break;
	case CONN_REQUEST:
		*ret_client = POLLIN;
		break;
	case CONN_CONNECT:
		*ret_server = POLLOUT;
		break;
	case CONN_OPEN:
		*ret_client = open_events(c->up, c->down);
		*ret_server = open_events(c->down, c->up);
		break;
	case CONN_ANSWER:
		*ret_client = POLLIN;
		if (c->down->from < c->down->to)
			*ret_client |= POLLOUT;
		break;
	}
}

/* ---- the loop ---- */

/* After accept() lacked descriptors or memory. */
#define PAUSE_NS (NS_PER_S / 10)

enum { STATUS_USAGE = 64 };

/* ---- new connections ---- */

static struct conn *free_conn(struct proxy_loop *l)
{
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		if (l->conn[i].state == CONN_FREE)
			return &l->conn[i];
	return NULL;
}

static void accept_from(struct proxy_loop *l, size_t listener)
{
	while (l->n_conns < PROXY_CONNECTIONS) {
		struct conn *c = free_conn(l);
		int fd = accept4(l->sockets->fd[listener], NULL, NULL,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE ||
			    errno == ENOBUFS || errno == ENOMEM)
				l->pause_ns = l->now_ns + PAUSE_NS;
			return;
		}
		l->share->is_asked = true;
		conn_open(l, c, fd, listener);
	}
}

/* ---- the wait ---- */

enum { AT_GATE, AT_SIGNALS, AT_LISTENERS };

#define POLLS (AT_LISTENERS + POLICY_FORWARDS_MAX + 1 + 2 * PROXY_CONNECTIONS)

struct polls {
	struct pollfd fd[POLLS];
	size_t n;
};

static void add_poll(struct polls *p, int fd, short events)
{
	p->fd[p->n++] = (struct pollfd){.fd = fd, .events = events};
}

/* Without events a descriptor is left out: its POLLHUP would keep us awake. */
static void add_conn(struct polls *p, const struct conn *c)
{
	short client, server;

	conn_events(c, &client, &server);
	add_poll(p, client ? c->client : -1, client);
	add_poll(p, server ? c->server : -1, server);
}

static int wait_ms(const struct proxy_loop *l)
{
	uint64_t next = l->pause_ns;

	for (size_t i = 0; i < PROXY_CONNECTIONS; i++) {
		uint64_t at = l->conn[i].deadline_ns;

		if (at && (!next || at < next))
			next = at;
	}
	if (!next)
		return -1;
	if (next <= l->now_ns)
		return 0;
	return (int)((next - l->now_ns) / NS_PER_MS) + 1;
}

/* False: the gate is gone. */
static bool wait_all(struct proxy_loop *l, struct polls *p)
{
	bool accepts = l->n_conns < PROXY_CONNECTIONS && !l->pause_ns;

	p->n = 0;
	add_poll(p, PROXY_FD_GATE, 0);
	add_poll(p, l->signals, POLLIN);
	for (size_t i = 0; i < l->sockets->n; i++)
		add_poll(p, accepts ? l->sockets->fd[i] : -1, POLLIN);
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		add_conn(p, &l->conn[i]);
	while (poll(p->fd, p->n, wait_ms(l)) < 0)
		if (errno != EINTR)
			return false;
	l->now_ns = l->clock->now_ns(l->clock);
	if (l->pause_ns && l->pause_ns <= l->now_ns)
		l->pause_ns = 0;
	return !p->fd[AT_GATE].revents;
}

static void clear_signals(int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		;
}

static void serve_round(struct proxy_loop *l, const struct polls *p)
{
	const struct pollfd *at = &p->fd[AT_LISTENERS + l->sockets->n];

	if (p->fd[AT_SIGNALS].revents)
		clear_signals(l->signals);
	lookup_sweep();
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++) {
		struct conn *c = &l->conn[i];

		c->client_is = at[2 * i].revents;
		c->server_is = at[2 * i + 1].revents;
		conn_step(l, c);
		if (c->state != CONN_FREE && c->deadline_ns &&
		    c->deadline_ns <= l->now_ns)
			conn_expire(l, c);
	}
	for (size_t i = 0; i < l->sockets->n; i++)
		if (p->fd[AT_LISTENERS + i].revents)
			accept_from(l, i);
}

/*
 * Serve until the gate's end of the socket is closed.
 *
 * sockets  listening; the first one is the proxy's own
 * own      addresses of this machine, as private as a private network
 * share    rows are read from `rows`, a copy; denials are written
 */
static void serve(const struct passed *sockets, const struct endpoint *rows,
		  size_t n_rows, const struct address *own, size_t n_own,
		  struct proxy_share *share)
{
	static struct proxy_loop l;
	static struct polls p;
	sigset_t signals;

	l = (struct proxy_loop){.sockets = sockets,
				.rows = rows,
				.n_rows = n_rows,
				.own = own,
				.n_own = n_own,
				.share = share,
				.clock = clock_system()};
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		l.conn[i].client = l.conn[i].server = -1;
	sigemptyset(&signals);
	sigaddset(&signals, LOOKUP_SIGNAL);
	l.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l.signals < 0)
		return;
	l.now_ns = l.clock->now_ns(l.clock);
	while (wait_all(&l, &p))
		serve_round(&l, &p);
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

/* The runner may have ended before the signal of its death was asked for. */
static bool has_runner(void)
{
	struct pollfd p = {.fd = PROXY_FD_GATE};

	return poll(&p, 1, 0) >= 0 &&
	       !(p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/*
 * A service that listens on all addresses is reached by the public one, too,
 * so all of them must be known. Kept until the process ends.
 */
static int own_addresses(struct address **ret, size_t *ret_n, struct err *err)
{
	struct ifaddrs *list = NULL;
	struct address *all;
	size_t n = 0;

	if (getifaddrs(&list) < 0)
		return err_sys(err, errno, "addresses of this machine");
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		n++;
	all = mem_alloc((n + 1) * sizeof(*all));
	n = 0;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		n += i->ifa_addr && address_of(i->ifa_addr, &all[n]);
	freeifaddrs(list);
	*ret = all;
	*ret_n = n;
	return 0;
}

static int receive_sockets(struct passed *ret, struct err *err)
{
	if (!pass_receive(PROXY_FD_GATE, 0, ret) || !ret->n ||
	    ret->n > POLICY_FORWARDS_MAX + 1)
		return err_set(err, ERR_INTERNAL, "no sockets came");
	return 0;
}

static void tell_gate(const char *text, size_t n)
{
	/* a gate that is gone needs no answer */
	if (send(PROXY_FD_GATE, text, n, MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILURE);
}

static NORETURN void fail_start(const struct err *err)
{
	tell_gate(err->msg, strlen(err->msg));
	_exit(EXIT_FAILURE);
}

int gate_proxy_main(void)
{
	static struct endpoint rows[POLICY_ENDPOINTS_MAX];
	static const char ready = PROXY_READY;
	struct proxy_share *share = map_share();
	struct passed sockets;
	struct address *own = NULL;
	struct err err = ERR_INIT;
	size_t n_own = 0, n_rows;
	sigset_t all;

	if (!share) {
		fprintf(stderr, "matins: " GATE_PROXY_NAME
				" is started by the gate only\n");
		return STATUS_USAGE;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, GATE_PROXY_NAME);
	n_rows = share->n_rows < ARRAY_LEN(rows) ? share->n_rows
						 : ARRAY_LEN(rows);
	memcpy(rows, share->rows, n_rows * sizeof(rows[0]));
	if (own_addresses(&own, &n_own, &err) < 0 || proxy_confine(&err) < 0)
		fail_start(&err);
	if (!has_runner())
		_exit(EXIT_FAILURE);
	if (receive_sockets(&sockets, &err) < 0)
		fail_start(&err);
	tell_gate(&ready, 1);
	serve(&sockets, rows, n_rows, own, n_own, share);
	_exit(EXIT_SUCCESS);
}
