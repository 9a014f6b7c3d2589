/*
 * connect(2) and listen(2) carried out in place of a tree, where the kernel
 * has no right for socket files (Landlock ABI 9).
 *
 * A filter does not see which address a call names, and the kernel would read
 * the address and the descriptor once more if the call were told to go on,
 * when another thread may have changed them. So neither call ever goes on: a
 * copy of the child's socket is taken, its address is read once, a path is
 * opened once as the child sees it, what was opened is judged, and the copy is
 * connected to just that. What cannot be done so is refused.
 *
 * Reached are sockets that the tree itself listens on, sockets that the policy
 * names, abstract names in a network of its own, and whatever the filter
 * and the network allow of other families. Nothing here waits: a call that
 * would is tried again later, and its task waits meanwhile.
 *
 * In a network of the tree's own its loopback is not the machine's. A service
 * of the machine that a row forwards to and that is down is refused as outside.
 * Where nobody listened in there, the place is handed on, to be looked up
 * later: how long an answer takes tells nothing of services that are not
 * granted.
 */
#ifndef GATE_WATCH_SOCKETS_H
#define GATE_WATCH_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "gate/watch/own_sockets.h"

/* Calls of one tree that wait to be tried again. */
#define SOCKETS_WAITING 1024
/* Instructions of sockets_filter(). */
#define SOCKETS_INSNS 16

/* How a tree has sockets of AF_UNIX. */
enum sockets_held {
	SOCKETS_PLAIN,	/* as the filter alone allows them */
	SOCKETS_NONE,	/* refused, pairs as well */
	SOCKETS_JUDGED, /* connections and listening come here */
};

/* A socket of the host that the policy names. */
struct sockets_grant {
	const char *path; /* as it really lies */
	struct stat st;	  /* when the tree was started */
	/* The tree could put another file there: only that one is meant. */
	bool is_pinned;
};

struct sockets_waiting;

/* Row "127.0.0.1:5432": in the tree's network it leads to the machine's. */
struct sockets_forward {
	struct address address;
	uint16_t port;
	bool is_down;	  /* the last look-up found no server */
	uint64_t look_ns; /* when the next one is due (monotonic) */
};

struct sockets {
	enum sockets_held held;
	bool own_net;	/* a network namespace of its own */
	bool change_id; /* act as .uid and .gid, without groups */
	uid_t uid;
	gid_t gid;
	bool only_cached;		   /* as of struct task_root */
	const struct sockets_grant *grant; /* borrowed */
	size_t n_grants;
	struct sockets_forward *forward; /* borrowed */
	size_t n_forwards;
	struct own_sockets own;
	struct sockets_waiting *waiting; /* owned */
	size_t n_waiting;
	/* A connection was made to block by another thread: no more of them. */
	bool has_cheated;
};

#define SOCKETS_INIT                 \
	{                            \
		.own = {.diag = -1 } \
	}

/* Longest name of a refused address and its NUL. */
#define SOCKETS_NAME_BYTES 4128

struct sockets_answer {
	bool waits; /* for sockets_retry(); no answer yet */
	int error;  /* an errno, or 0: it is done */
	/* Name that was refused, "unix:/run/x"; "": not worth a word. */
	char refused[SOCKETS_NAME_BYTES];
	const char *why; /* reason of the refusal; static */
	/* Key that would allow it, and its row in .refused; NULL: none. */
	const char *key, *row;
	/* Place in an own network where nobody listened; port 0: none. */
	struct address missed;
	uint16_t missed_port;
};

/*
 * Instructions for compact_prepend() to a filter with a listener: they notify
 * of the calls above and allow to make the sockets, or refuse all of AF_UNIX. A
 * datagram names an address that no filter sees, so there are none.
 *
 * deny     SECCOMP_RET_... of what is refused
 * returns  their number, at most SOCKETS_INSNS
 */
size_t sockets_filter(enum sockets_held held, uint32_t deny,
		      struct sock_filter ret[SOCKETS_INSNS]) MUST_USE;

/*
 * Carry out the call that waits.
 * listener  of the child
 */
void sockets_serve(struct sockets *s, int listener,
		   const struct seccomp_notif *req, struct sockets_answer *ret);

/* Milliseconds until sockets_retry() is due; 0: nothing waits. */
unsigned sockets_due_ms(const struct sockets *s) MUST_USE;
/*
 * Try the next call that waits; its request is *ret_req.
 * returns  false: none is left to try now
 */
bool sockets_retry(struct sockets *s, int listener,
		   struct seccomp_notif *ret_req, struct sockets_answer *ret)
	MUST_USE;
void sockets_release(struct sockets *s);

#endif
