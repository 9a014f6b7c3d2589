/*
 * Listening sockets of a tree itself, known by the kernel's word.
 *
 * A path says nothing about who serves it: a program can rename a socket file
 * of the host to the name of its own. So each socket that the tree listens on
 * is remembered by its cookie, and the kernel is asked (sock_diag(7)) which
 * file it was bound to, and whether it is still there.
 *
 * The answer has half of the number of the file, and the device of the file
 * system. That is not enough where numbers are longer, or where a device has
 * several trees of files (btrfs). Who may administer the network of the socket
 * gets the file itself (SIOCUNIXFILE): root, and who owns the namespace.
 */
#ifndef GATE_WATCH_OWN_SOCKETS_H
#define GATE_WATCH_OWN_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/attr.h"

/* Sockets of one tree that listen at a time. */
#define OWN_SOCKETS_MAX 1024

/* A socket, and the file that it was bound to as the kernel has it. */
struct own_socket {
	uint32_t cookie[2];
	uint32_t ino; /* of the socket itself */
	uint32_t file_ino, file_dev;
	bool is_exact; /* .file is it */
	struct stat file;
};

enum own_answer {
	OWN_NOT,     /* no socket of the tree */
	OWN_SERVED,  /* one of the tree */
	OWN_UNKNOWN, /* maybe one, which cannot be told from others */
};

struct own_sockets {
	/* NETLINK_SOCK_DIAG in the network of the tree; owned; -1: none */
	int diag;
	struct own_socket *one; /* owned */
	size_t n, cap;
};

/*
 * Remember a socket. One whose file the kernel cannot name is left out.
 * returns  false: there are too many
 */
bool own_sockets_add(struct own_sockets *o, int sock) MUST_USE;
/* Does a socket that was added, and is still there, serve this file? */
enum own_answer own_sockets_serve(struct own_sockets *o,
				  const struct stat *file) MUST_USE;
void own_sockets_release(struct own_sockets *o);

#endif
