#include "gate/proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "gate/proxy/proxy_plan.h"
#include "gate/proxy/proxy_share.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* A process that has not confined itself by then never will. */
#define READY_MS 20000

/* A process that serves nobody any more ends by then, or is ended. */
#define STOP_MS 2000
/* Longer ones are lists of names that are blocked. */
#define HOSTS_BYTES (1024 * 1024)

uint16_t proxy_port(const struct policy *p)
{
	return proxy_plan_port(p->endpoints, p->n_endpoints);
}

/* ---- the start ---- */

/* Names that are known before the child asks for any. */
static void add_names(const struct policy *p, struct proxy_names *names)
{
	AUTO(buf_release) struct buf hosts = BUF_INIT(HOSTS_BYTES);
	struct err ignored;

	for (size_t i = 0; i < p->n_endpoints; i++)
		if (p->endpoints[i].kind == ENDPOINT_HOST)
			(void)!proxy_names_add(names, p->endpoints[i].host,
					       p->endpoints, p->n_endpoints);
	if (fd_read_file("/etc/hosts", &hosts, &ignored) == 0)
		proxy_names_read(names, buf_str(&hosts), p->endpoints,
				 p->n_endpoints);
}

/* Seal the size of the memory, so that no process pulls it away under us. */
static int make_share(const struct policy *policy, struct proxy *p, int *ret_fd,
		      struct err *err)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	AUTO(fd_closep) int fd = memfd_create("proxy", flags | MFD_NOEXEC_SEAL);
	void *at;

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("proxy", flags);
	if (fd < 0 || ftruncate(fd, sizeof(struct proxy_share)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) <
		    0)
		return err_sys(err, errno, "proxy: memory");
	at = mmap(NULL, sizeof(struct proxy_share), PROT_READ | PROT_WRITE,
		  MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return err_sys(err, errno, "proxy: memory");
	p->share = at;
	p->share->n_rows = (uint32_t)policy->n_endpoints;
	memcpy(p->share->rows, policy->endpoints,
	       policy->n_endpoints * sizeof(*policy->endpoints));
	add_names(policy, &p->share->names);
	*ret_fd = fd_steal(&fd);
	return 0;
}

int proxy_start(const struct policy *policy, struct arena *arena,
		struct launch *l, struct proxy *ret, struct err *err)
{
	struct child_socket *on =
		ARENA_ARRAY(arena, struct child_socket, PROXY_SOCKETS_MAX);
	const char *const argv[] = {GATE_PROXY_NAME, NULL};
	const char *const envp[] = {NULL};
	struct proxy p = PROXY_INIT;
	int theirs[2] = {-1, -1}, pair[2], r;

	if (make_share(policy, &p, &theirs[1], err) < 0)
		return -1;
	r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	if (r < 0) {
		err_sys(err, errno, "proxy: socket pair");
	} else {
		p.sock = pair[0];
		theirs[0] = pair[1];
		r = process_execute("/proc/self/exe", argv, envp, theirs,
				    ARRAY_LEN(theirs), 3, &p.process);
		if (r)
			r = err_sys(err, r, "proxy: start");
	}
	fd_closep(&theirs[0]);
	fd_closep(&theirs[1]);
	if (r < 0) {
		proxy_release(&p);
		return -1;
	}
	l->n_listen = proxy_plan(policy->endpoints, policy->n_endpoints,
				 &p.share->names, on);
	l->listen = on;
	*ret = p;
	return 0;
}

/* ---- the sockets ---- */

int proxy_hand_over(struct proxy *p, const int *fds, size_t n, struct err *err)
{
	struct pollfd ready = {.fd = p->sock, .events = POLLIN};
	char text[LIMIT_ERR_MSG / 2];
	ssize_t got = -1;
	long sent;
	int r;

	if (!n || n > PROXY_SOCKETS_MAX)
		return err_set(err, ERR_INTERNAL,
			       "proxy: the child has sent %zu sockets", n);
	/* a process that failed has still said why */
	sent = pass_send(p->sock, 0, fds, n, MSG_NOSIGNAL);
	if (sent < 0 && sent != -EPIPE)
		return err_sys(err, (int)-sent, "proxy: sockets");
	do
		r = poll(&ready, 1, READY_MS);
	while (r < 0 && errno == EINTR);
	if (r > 0)
		got = recv(p->sock, text, sizeof(text), MSG_DONTWAIT);
	if (got == 1 && text[0] == PROXY_READY)
		return 0;
	return got > 0 ? err_set(err, ERR_SYS, "proxy: %.*s", (int)got, text)
		       : err_set(err, ERR_SYS,
				 "proxy: the process ended, or did not begin "
				 "to serve in time");
}

/* ---- the end ---- */

void proxy_stop(struct proxy *p)
{
	struct clock *clock = clock_system();

	/* the end of the socket tells the process to look at the rest and end
	 */
	fd_closep(&p->sock);
	if (p->process.pid > 0)
		(void)!process_has_ended(&p->process,
					 clock->now_ns(clock) +
						 STOP_MS * NS_PER_MS);
	process_end(&p->process);
}

void proxy_release(struct proxy *p)
{
	proxy_stop(p);
	if (p->share)
		munmap(p->share, sizeof(*p->share));
	*p = (struct proxy)PROXY_INIT;
}

/* ---- denials ---- */

bool proxy_denial(const struct proxy *p, size_t i, struct proxy_denial *ret)
{
	struct endpoint_target ignored;

	if (!p->share || i >= PROXY_DENIALS_MAX || i >= p->share->n_denials)
		return false;
	*ret = p->share->denials[i];
	if ((unsigned)ret->outcome >= N_PROXY_OUTCOMES)
		ret->outcome = PROXY_UNLISTED;
	ret->name[sizeof(ret->name) - 1] = '\0';
	/* a name that was looked up has no port */
	if (endpoint_target_authority(str_of(ret->name), 1, &ignored) < 0)
		memcpy(ret->name, "?", 2);
	return true;
}

/* Names that the process added came from a hostile program, too. */
bool proxy_name_of(const struct proxy *p, const char *address,
		   char ret[ENDPOINT_TEXT_BYTES])
{
	struct endpoint_target at, name;
	char host[ENDPOINT_HOST_BYTES];

	if (!p->share ||
	    endpoint_target_authority(str_of(address), 0, &at) < 0 ||
	    !at.is_address)
		return false;
	for (size_t i = 0; i < PROXY_NAMES_MAX && i < p->share->names.n; i++) {
		const struct proxy_name *row = &p->share->names.row[i];

		if (!address_equal(&row->address, &at.address))
			continue;
		memcpy(host, row->host, sizeof(host));
		host[sizeof(host) - 1] = '\0';
		if (endpoint_target(str_of(host), at.port, &name) < 0)
			return false;
		endpoint_target_text(&name, ret);
		return true;
	}
	return false;
}

uint64_t proxy_denials_dropped(const struct proxy *p)
{
	return p->share ? p->share->denials_dropped : 0;
}
