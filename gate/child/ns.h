/*
 * Namespaces: what this machine really gives, and id maps.
 *
 * Nothing is read from settings: a throw-away child makes a whole view, once
 * per process and once per boot where a state directory keeps the result.
 * The trial tells what works, also where a distribution, a container or a
 * security module has turned something off.
 */
#ifndef GATE_CHILD_NS_H
#define GATE_CHILD_NS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/build/setup.h"

struct ns_caps {
	bool available;
	bool as_user;	   /* by a user namespace; else by privilege */
	bool memfd_noexec; /* the sysctl can be set in the pid namespace */
	bool pid_max;	   /* so can this one (Linux 6.14) */
	bool root_is_mount;
	bool dev_is_mount;
	bool is_kept;  /* not tried now: read from the state directory */
	char why[160]; /* why not available; for reports */
	/* and what that was: the errno, of clone() itself or of a new /proc */
	int sys;
	bool at_clone, at_proc;
};

/*
 * Find out by trial.
 *
 * A result is kept only for what it was made for: boot, user, namespaces,
 * security label, settings. Inside the filter of another sandbox nothing is
 * kept or read, for nothing tells one such filter from another.
 *
 * places     the private places to try with
 * state_dir  where the result is kept for this boot; NULL = nowhere
 */
void ns_probe(const struct setup_place *places, size_t n_places,
	      const char *state_dir, struct ns_caps *ret);

/*
 * Forget what was kept: a start has failed although the trial had not. Then
 * try again.
 */
void ns_forget(const char *state_dir);

/* Advice that would make namespaces available; "" when there is none. */
const char *ns_remedy(const struct ns_caps *caps);

/* Flags for clone() of an init with these capabilities. */
uint64_t ns_clone_flags(const struct ns_caps *caps, bool network) MUST_USE;

/*
 * A user namespace that swaps `uid` with `to_uid` and `gid` with `to_gid`,
 * for id-mapped mounts: what belongs to one appears to belong to the other.
 * The descriptor is the caller's.
 *
 * errors  ERR_SYS  not privileged, or ids that we do not have ourselves
 */
int ns_swap_ids(uid_t uid, uid_t to_uid, gid_t gid, gid_t to_gid, int *ret_fd,
		struct err *err) MUST_USE;

/*
 * The lines of an id map that swaps two ids and keeps all others, for
 * /proc/PID/uid_map; in the arena. Pure.
 */
const char *ns_swap_map(uint32_t a, uint32_t b, struct arena *arena) MUST_USE;

/*
 * Can a mount of this path be id-mapped? Tried on a detached copy.
 *
 * deep     also with all mounts beneath it
 * returns  0 or -1 and errno
 */
int ns_try_idmap(const char *path, int userns_fd, bool deep) MUST_USE;

#endif
