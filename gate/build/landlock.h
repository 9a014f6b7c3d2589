/*
 * Landlock: which files and ports, decided by the kernel on what is opened.
 *
 * The rules are gathered in the parent from O_PATH descriptors that were
 * checked before; a ruleset descriptor is made of them (in the parent, or in
 * the child when mounts of its own must be added) and entered by the child,
 * which calls kernel_landlock_restrict_self() on it after no_new_privs.
 *
 *	struct landlock_rules r;
 *	landlock_rules_init(&r, landlock_abi());
 *	landlock_add_path(&r, fd, LL_READ);        fd stays the caller's
 *	landlock_add_port(&r, 443, LL_CONNECT);
 *	landlock_create(&r, &ruleset, err);
 *	landlock_rules_release(&r);
 *
 * Every right of landlock.def that the running ABI has is handled, so
 * everything that no rule grants is refused. Not covered: chmod, chown, times,
 * extended attributes, stat, UDP. No rule takes away what another grants.
 */
#ifndef GATE_BUILD_LANDLOCK_H
#define GATE_BUILD_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"

enum {
#define LANDLOCK_FS(name, bit, abi, help) LL_FS_##name = 1 << (bit),
#define LANDLOCK_NET(name, bit, abi, help) LL_NET_##name = 1 << (bit),
#define LANDLOCK_SCOPE(name, bit, abi, help) LL_SCOPE_##name = 1 << (bit),
#include "gate/build/landlock.def"
};

/* Classes of rights, for landlock_add_path(). May be joined with |. */
#define LL_EXEC (UINT64_C(0) | LL_FS_EXECUTE | LL_FS_READ_FILE)
#define LL_READ_FILE (UINT64_C(0) | LL_FS_READ_FILE)
#define LL_LIST (UINT64_C(0) | LL_FS_READ_DIR)
#define LL_READ (LL_READ_FILE | LL_LIST)
/* Changing without reading, for grants that the leash keeps unread. */
#define LL_WRITE_ONLY                                                       \
	(UINT64_C(0) | LL_FS_WRITE_FILE | LL_FS_REMOVE_DIR |                \
	 LL_FS_REMOVE_FILE | LL_FS_MAKE_DIR | LL_FS_MAKE_REG |              \
	 LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO | LL_FS_MAKE_SYM | LL_FS_REFER | \
	 LL_FS_TRUNCATE)
/* Everything but EXECUTE and devices. */
#define LL_WRITE (LL_READ | LL_WRITE_ONLY)
/* Connecting to one socket of the host; those of the tree need no right. */
#define LL_SOCKET (UINT64_C(0) | LL_FS_RESOLVE_UNIX)
/* One device such as /dev/null, or a tty that was granted. */
#define LL_DEVICE (LL_READ_FILE | LL_FS_WRITE_FILE | LL_FS_IOCTL_DEV)

/* The first ABI that has it. */
#define LANDLOCK_ABI_UNIX 9

/* Rights of ports, for landlock_add_port(). */
#define LL_CONNECT LL_NET_CONNECT_TCP

/* Types of rules for kernel_landlock_add_rule(). */
#define LANDLOCK_RULE_TYPE_PATH 1
#define LANDLOCK_RULE_TYPE_PORT 2

/* Kernel layouts, for a child that adds rules of its own. */
struct landlock_ruleset_attr_v6 {
	uint64_t fs;	/* handled_access_fs */
	uint64_t net;	/* handled_access_net, ABI 4 */
	uint64_t scope; /* scoped, ABI 6 */
};
struct landlock_path_attr {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));
struct landlock_port_attr {
	uint64_t access;
	uint64_t port; /* host byte order */
};

/*
 * The ABI of the running kernel, 1 and up; 0 when Landlock is not there or
 * not enabled at boot. errno tells which: ENOSYS or EOPNOTSUPP.
 */
int landlock_abi(void) MUST_USE;
/* Bits of corrected errors (bit n-1 = erratum n); 0 when it cannot be told. */
uint32_t landlock_errata(void) MUST_USE;

/*
 * Append what the ABI lacks, for facts: "truncate a file by its path
 * (ABI 3); ...". Nothing is appended when it has all that we know of.
 */
void landlock_missing(int abi, struct buf *out);

struct landlock_rule {
	bool is_port;
	int fd; /* O_PATH, borrowed; not of a port */
	uint16_t port;
	uint64_t access;
};

struct landlock_rules {
	int abi;
	struct landlock_ruleset_attr_v6 handled;
	size_t attr_bytes;	    /* of `handled` that this ABI knows */
	struct landlock_rule *rule; /* owned; the descriptors are not */
	size_t n, cap;
};

/* Handles every right of the ABI, and both scopes from ABI 6. abi >= 1. */
void landlock_rules_init(struct landlock_rules *r, int abi);
void landlock_rules_release(struct landlock_rules *r);
/* Do not restrict TCP: for net = "all" and "loopback". */
void landlock_rules_net_open(struct landlock_rules *r);

/*
 * Rights as the kernel takes them: of this ABI, and only those that make
 * sense for a file that is not a directory. For rules added by the child.
 */
uint64_t landlock_access(const struct landlock_rules *r, uint64_t access,
			 bool is_dir) MUST_USE;

/*
 * Grant rights on a file, or beneath a directory. Which of the two the
 * descriptor is decides what is left of the rights.
 *
 * o_path_fd  borrowed until landlock_rules_release()
 * errors     ERR_SYS  the descriptor cannot be looked at
 */
int landlock_add_path(struct landlock_rules *r, int o_path_fd, uint64_t access,
		      struct err *err) MUST_USE;
/* Grant rights on a descriptor that was looked at before. */
void landlock_add_known(struct landlock_rules *r, int o_path_fd, bool is_dir,
			uint64_t access);
/* Grant rights on a TCP port; below ABI 4 nothing happens, and net-ports is
   absent. */
void landlock_add_port(struct landlock_rules *r, uint16_t port,
		       uint64_t access);

/*
 * Make the ruleset. The descriptor is close-on-exec and the caller's.
 * errors  ERR_SYS
 */
int landlock_create(const struct landlock_rules *r, int *ret_fd,
		    struct err *err) MUST_USE;

#endif
