/*
 * The start of the proxy's process, from its first line to the loop.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "gate/child/pass.h"
#include "gate/gate.h"
#include "gate/proxy/proxy_inner.h"

enum { STATUS_USAGE = 64 };

/* Somebody may have given the program this name by hand. */
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

static void tell(const char *text, size_t n)
{
	/* a gate that is gone needs no answer */
	if (send(PROXY_FD_GATE, text, n, MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILURE);
}

static NORETURN void fail(const struct err *err)
{
	tell(err->msg, strlen(err->msg));
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
		fail(&err);
	if (!has_runner())
		_exit(EXIT_FAILURE);
	if (receive_sockets(&sockets, &err) < 0)
		fail(&err);
	tell(&ready, 1);
	proxy_serve(&sockets, rows, n_rows, own, n_own, share);
	_exit(EXIT_SUCCESS);
}
