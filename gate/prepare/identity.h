/*
 * The user that a child becomes, and what that user may do by the modes of
 * files alone.
 */
#ifndef GATE_PREPARE_IDENTITY_H
#define GATE_PREPARE_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"

struct gate;
struct grant;
struct prepared;

struct identity {
	const char *name;
	const char *home; /* of the passwd entry; NULL without one */
	uid_t uid;
	gid_t gid;
	bool change;	 /* from root to these ids */
	bool is_mapped;	 /* some grants are id-mapped for them */
	const char *why; /* why it stays root, or NULL */
};

/* Our own home by /etc/passwd, whatever $HOME says; NULL without an entry. */
const char *identity_home(struct gate *gate) MUST_USE;

/*
 * Choose the user of the child: .id of the request.
 * errors  ERR_POLICY  `user` names one that does not exist here
 */
int prepare_identity(struct prepared *p, struct err *err) MUST_USE;

/* Let the child stay root after all, without capabilities. */
void identity_stay_root(struct prepared *p, const char *why);

/* May the user do with the file what the grant says, by its mode? */
bool identity_may_use(const struct identity *id, const struct grant *g)
	MUST_USE;

/*
 * Find the topmost folder above a path that the user may not pass; NULL when
 * there is none. In the arena.
 */
const char *identity_wall(const struct identity *id, const char *path,
			  struct arena *arena) MUST_USE;

#endif
