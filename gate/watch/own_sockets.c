#include "gate/watch/own_sockets.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/unix_diag.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

/* ---- the file of a socket, by the kernel ---- */

/* Room for the answer about one socket. */
#define ANSWER_BYTES 1024

/* Find the file in an answer; false: there is none. */
static bool read_file(const char *answer, size_t n, struct own_socket *s)
{
	const struct nlmsghdr *h = (const void *)answer;
	const size_t head = NLMSG_LENGTH(sizeof(struct unix_diag_msg));
	const struct rtattr *a = (const void *)(answer + head);
	size_t left;

	if (n < head || h->nlmsg_len > n || h->nlmsg_len < head ||
	    h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	for (left = h->nlmsg_len - head; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == UNIX_DIAG_VFS &&
		    RTA_PAYLOAD(a) >= sizeof(struct unix_diag_vfs)) {
			const struct unix_diag_vfs *file = RTA_DATA(a);

			s->file_ino = file->udiag_vfs_ino;
			s->file_dev = file->udiag_vfs_dev;
			return true;
		}
	return false;
}

/* Ask which file a socket is bound to; false: it is gone, or has none. */
static bool ask_file(const struct own_sockets *o, struct own_socket *s)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} ask = {
		.head = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = AF_UNIX,
			 .udiag_states = UINT32_MAX,
			 .udiag_ino = s->ino,
			 .udiag_show = UDIAG_SHOW_VFS,
			 .udiag_cookie = {s->cookie[0], s->cookie[1]}},
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
	ssize_t n;

	if (send(o->diag, &ask, sizeof(ask), 0) != sizeof(ask))
		return false;
	/* the kernel has answered when send() returns */
	n = recv(o->diag, answer, sizeof(answer), MSG_DONTWAIT);
	return n > 0 && read_file(answer, (size_t)n, s);
}

/* include/uapi/linux/un.h: SIOCUNIXFILE */
#define SOCKET_FILE (SIOCPROTOPRIVATE + 0)

/* Take the file itself, where that is allowed. */
static void take_file(int sock, struct own_socket *s)
{
	AUTO(fd_closep) int fd = ioctl(sock, SOCKET_FILE, 0);

	s->is_exact = fd >= 0 && fstat(fd, &s->file) == 0;
}

/* ---- sockets of the tree ---- */

static bool still_serves(const struct own_sockets *o, struct own_socket *s)
{
	struct own_socket now = *s;

	return ask_file(o, &now) && now.file_ino == s->file_ino &&
	       now.file_dev == s->file_dev;
}

static void drop_ended(struct own_sockets *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		if (still_serves(o, &o->one[i]))
			o->one[n++] = o->one[i];
	o->n = n;
}

static bool is_there(const struct own_sockets *o, const struct own_socket *s)
{
	for (size_t i = 0; i < o->n; i++)
		if (memcmp(o->one[i].cookie, s->cookie, sizeof(s->cookie)) == 0)
			return true;
	return false;
}

bool own_sockets_add(struct own_sockets *o, int sock)
{
	struct own_socket s = {.ino = 0};
	socklen_t n = sizeof(s.cookie);
	struct stat st;

	if (o->diag < 0)
		o->diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
				 NETLINK_SOCK_DIAG);
	if (o->diag < 0 || fstat(sock, &st) < 0 ||
	    getsockopt(sock, SOL_SOCKET, SO_COOKIE, s.cookie, &n) < 0)
		return true;
	s.ino = (uint32_t)st.st_ino;
	if (is_there(o, &s) || !ask_file(o, &s))
		return true;
	take_file(sock, &s);
	if (o->n == OWN_SOCKETS_MAX)
		drop_ended(o);
	if (o->n == OWN_SOCKETS_MAX)
		return false;
	if (o->n == o->cap) {
		o->cap = o->cap ? 2 * o->cap : 8;
		o->one = mem_realloc(o->one, o->cap * sizeof(*o->one));
	}
	o->one[o->n++] = s;
	return true;
}

/* The kernel's number of a device, as sock_diag(7) tells it. */
static uint32_t kernel_dev(dev_t dev)
{
	return (uint32_t)major(dev) << 20 | (uint32_t)minor(dev);
}

/* Is this the file of the socket, as far as can be told? */
static enum own_answer is_file(const struct own_socket *s,
			       const struct stat *file)
{
	if (s->is_exact)
		return s->file.st_dev == file->st_dev &&
				       s->file.st_ino == file->st_ino
			       ? OWN_SERVED
			       : OWN_NOT;
	if (s->file_ino != (uint32_t)file->st_ino)
		return OWN_NOT;
	return file->st_ino == s->file_ino &&
			       s->file_dev == kernel_dev(file->st_dev)
		       ? OWN_SERVED
		       : OWN_UNKNOWN;
}

enum own_answer own_sockets_serve(struct own_sockets *o,
				  const struct stat *file)
{
	enum own_answer all = OWN_NOT;

	for (size_t i = 0; i < o->n; i++) {
		enum own_answer one = is_file(&o->one[i], file);

		if (one == OWN_NOT || !still_serves(o, &o->one[i]))
			continue;
		all = one;
		if (one == OWN_SERVED)
			break;
	}
	return all;
}

void own_sockets_release(struct own_sockets *o)
{
	free(o->one);
	fd_closep(&o->diag);
	*o = (struct own_sockets){.diag = -1};
}
