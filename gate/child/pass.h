/*
 * Messages of one byte over a socket of AF_UNIX, with descriptors.
 */
#ifndef GATE_CHILD_PASS_H
#define GATE_CHILD_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/attr.h"

/* Descriptors of one message; below SCM_MAX_FD, the kernel's bound. */
#define PASS_MAX 64

struct passed {
	char byte;
	int fd[PASS_MAX]; /* owned by the caller */
	size_t n;
	pid_t sender; /* as seen from here, with SO_PASSCRED; 0: unknown */
};

/*
 * Send a message; a raw system call, also for the child before exec. While the
 * user has too many descriptors in flight it waits, up to three seconds.
 *
 * fd       borrowed
 * returns  negative: an errno
 */
long pass_send(int sock, char byte, const int *fd, size_t n, unsigned flags)
	MUST_USE;

/*
 * Take the descriptors of a message; wait until it is there. A raw system
 * call, for the child before exec.
 *
 * ret_fd   close-on-exec
 * flags    0; MSG_PEEK: copies, the message stays for others
 * returns  how many there are; negative: an errno; EPIPE: nobody will ever
 *          send it
 */
long pass_take(int sock, int ret_fd[PASS_MAX], int flags) MUST_USE;

/*
 * Receive a message; its descriptors are close-on-exec.
 * returns  false: there is none, or it was cut short
 */
bool pass_receive(int sock, int flags, struct passed *ret) MUST_USE;

#endif
