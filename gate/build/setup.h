/*
 * The setup list: how the view of a child is made.
 *
 * The parent describes the view (what is private, what is granted, what is
 * protected) and setup_build() writes it down as a list of single steps, in
 * an order in which nothing that is taken is hidden yet and nothing that is
 * put has its place missing. The child, still as pid 1 of its namespaces and
 * before any untrusted code, walks the list with setup_run().
 *
 *	struct setup_view v = { ... };
 *	setup_build(&v, &arena, &list);
 *	... in the child: failed = setup_run(&list, slots, &sys)
 *
 * The light view: no new root. Everything becomes read-only, nosuid and
 * nodev; private places are new, empty, noexec file systems; what is granted
 * is put back at its own path where a private place hides it or where it must
 * be writable. Landlock decides which files may be opened.
 *
 * setup_build() is pure. setup_run() makes raw system calls only.
 */
#ifndef GATE_BUILD_SETUP_H
#define GATE_BUILD_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

/* User namespaces of id-mapped mounts in one view: owners of grants. */
#define SETUP_IDMAPS 8

enum setup_kind {
#define SETUP_OP(name, text) SETUP_##name,
#include "gate/build/setup_ops.def"
#undef SETUP_OP
};

struct setup_op {
	enum setup_kind kind;
	bool is_dir;	   /* the mount point, when it must be made */
	bool is_link;	   /* of HERE: the link itself, not where it leads */
	bool is_recursive; /* for mounts beneath, too: of ATTR the attributes,
			      of PUT the id map */
	bool is_optional;  /* a failure does not end the setup */
	bool is_v6;	   /* of CATCH */
	int slot;	   /* of TAKE, ENTER and PUT; -1 */
	const char *path;
	const char *data;    /* of WRITE, TMPFS and LINK */
	uint64_t set, clear; /* mount attributes of ATTR, HERE and PUT */
	int idmap;	     /* of PUT: index of its id map; -1 = none */
	dev_t dev;	     /* of TAKE: must be what the parent judged */
	ino_t ino;	     /* 0 = not compared */
};

struct setup_list {
	struct setup_op *op;
	size_t n;
	size_t slots; /* descriptors that the child needs room for */
};

/* A granted path in the view. */
struct setup_grant {
	const char *path; /* absolute, without symbolic links */
	bool is_dir;
	bool is_link; /* protected itself; only its last part is a link */
	bool is_write;
	bool is_noexec;
	bool is_hidden;	    /* must be mounted, although no place hides it */
	bool is_optional;   /* left out where it is another file by then */
	int idmap;	    /* index of its id map, or -1 */
	bool is_idmap_deep; /* mounts beneath take the id map, too */
	dev_t dev;
	ino_t ino;
};

/* An empty, private directory. */
struct setup_place {
	const char *path;
	unsigned mode;
	uint64_t bytes;	  /* 0 = the kernel's default */
	bool is_readonly; /* only there to hold mount points */
};

struct setup_link {
	const char *path;
	const char *target;
};

struct setup_view {
	bool root_is_mount; /* else "/" is a folder (chroot) */
	bool dev_is_mount;
	bool memfd_noexec; /* write the sysctl of the namespace */
	unsigned pid_max;  /* of the namespace; 0 = leave it */
	bool loopback;	   /* an own network: bring up its lo */
	bool catches;	   /* every address leads to itself there */
	uid_t uid;	   /* owner of the private places */
	gid_t gid;
	/* All three in any order. */
	const struct setup_place *places;
	size_t n_places;
	const struct setup_grant *grants;
	size_t n_grants;
	const struct setup_link *links;
	size_t n_links;
	/* Existing files that stay shut, also beneath a grant. */
	struct strlist shut;
	/* Existing paths that stay read-only inside a writable grant. */
	const struct setup_grant *protect;
	size_t n_protect;
};

/* The list, its strings and steps live in the arena. */
void setup_build(const struct setup_view *v, struct arena *arena,
		 struct setup_list *ret);

/* "attach /srv/data"; for the error. In the arena. */
const char *setup_describe(const struct setup_op *op, struct arena *arena)
	MUST_USE;

#endif
