/*
 * The gate of one run: its configuration, what was found out about this
 * machine, what is made once for all children, and the children themselves.
 *
 * Parts that only one file knows are filled there: prepare.c, prepare_filter.c,
 * prepare_view.c.
 */
#ifndef GATE_PREPARE_STATE_H
#define GATE_PREPARE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/arena.h"
#include "gate/build/setup.h"
#include "gate/cgroup/cgroup.h"
#include "gate/child/ns.h"
#include "gate/gate.h"
#include "gate/path/private.h"
#include "gate/policy/closed.h"
#include "gate/policy/policy.h"
#include "gate/prepare/grants.h"

struct prepared;

/* The user that a child becomes. */
struct identity {
	const char *name;
	const char *home; /* of the passwd entry; NULL without one */
	uid_t uid;
	gid_t gid;
	bool change;	 /* from root to these ids */
	bool is_mapped;	 /* some grants are id-mapped for them */
	const char *why; /* why it stays root, or NULL */
};

/* Private places: /tmp, /var/tmp, /dev/shm, HOME. */
#define GATE_PLACES 4

/* Starts that are under way at once; one where so many children are alive that
   all processors are busy anyway. */
#define GATE_STARTING 3
#define GATE_BUSY 16

/* A user namespace that gives the files of one owner to another user. */
struct gate_idmap {
	uid_t uid, to_uid;
	gid_t gid, to_gid;
	int fd; /* owned; -1: the kernel refused to make it */
};

/* Folders passed and not open to all that are kept. */
#define SEEN_PASSED 32

/*
 * Folders as they were when a step was judged, so that its start, moments
 * later, need not look again. A program may change them: kept until one ends.
 * No right follows from them: the child goes through the folders itself.
 */
struct gate_seen {
	const char *cwd, *real; /* asked for, and the same without links */
	uid_t uid;		/* the user of .passed */
	gid_t gid;
	const char *passed[SEEN_PASSED]; /* folders that the user may pass */
	size_t n_passed;
};

struct gate {
	struct gate_config config;
	struct arena arena;
	int landlock_abi;
	bool is_root;
	uint64_t spawned; /* programs started so far */
	/* Files that every child may open, see gate_open_base(). With Landlock
	   each child waits for a message with all of them; with many children
	   one message stays for all, and the gate has no descriptors left. */
	struct grants base;
	bool base_is_whole, base_is_parked;
	int base_fd, base_to;	     /* where it waits, and is sent; owned */
	const uint64_t *base_access; /* rights on each; NULL: not known yet */
	/* HOME as the caller names it, and without links; both NULL when
	   there is none that can be made private. */
	const char *home, *home_path;
	/* HOME and the home of the passwd entry, without links: keys lie in
	   both, whatever $HOME says. */
	struct strlist homes;
	struct setup_place place[GATE_PLACES];
	size_t n_places;
	bool probed;
	struct ns_caps ns;     /* after gate_probe() */
	const char *ns_remedy; /* of .ns, once asked for: it reads settings */
	struct gate_idmap idmap[SETUP_IDMAPS];
	size_t n_idmaps;
	struct gate_filter *filters;   /* owned */
	struct gate_hash *hashes;      /* in the arena */
	struct gate_program *programs; /* likewise: resolved before */
	size_t n_programs;
	bool own_is_resolved;	/* .config.protect, .absent, .sealed */
	struct identity self;	/* our own user; name NULL until asked */
	struct identity nobody; /* default user of children, likewise */
	struct private_dirs private_dirs;
	struct cgroups cgroups;
	struct gate_seen seen;
	const struct real_path *real_paths; /* of own_paths_real() */
	bool swept;		     /* folders of crashed runs are removed */
	struct gate_child *children; /* not freed yet */
	size_t n_alive;		     /* of them, as far as is known */
	/* Starts that are not waited for, in their order. */
	struct gate_child *starting[GATE_STARTING];
	size_t n_starting;
	bool has_started[2];	  /* the last without a view, with one */
	struct strlist texts;	  /* of gate_keep_text() */
	struct gate_facts *facts; /* of gate_keep_facts() */
	const struct gate_fact *own_facts; /* of gate_protections(), or NULL */
	enum { GATE_HANG_UNKNOWN, GATE_HANG_NEVER, GATE_HANG_MAY } hang;
	bool view_failed; /* in the last start; the kept trial may be wrong */
};

/*
 * Keep a text as long as the gate. A thousand children of one policy say the
 * same, so each text is kept once.
 */
const char *gate_keep_text(struct gate *gate, const char *text) MUST_USE;

/* Keep all facts of a request as long as the gate, equal ones once. */
const struct gate_fact *gate_keep_facts(struct gate *gate,
					const struct gate_fact *facts) MUST_USE;

/* ---- what every program may open ---- */

/*
 * Open the rest of the base, unless that was done before.
 * errors  ERR_SYS
 */
int gate_open_base(struct gate *gate, struct err *err) MUST_USE;
/* grants_cover() of the whole base. */
bool gate_base_covers(struct gate *gate, const char *path, unsigned what)
	MUST_USE;
/*
 * Let the child of the request have the base: FD_BASE, or what is done beside
 * it. Needs .rules of the request.
 * errors  ERR_SYS
 */
int prepare_base(struct prepared *p, struct err *err) MUST_USE;

/* ---- the user of children ---- */

/*
 * Choose the user of the child: .id of the request.
 * errors  ERR_POLICY  `user` names one that does not exist here
 */
int prepare_identity(struct prepared *p, struct err *err) MUST_USE;
/* Let the child stay root after all, without capabilities. */
void identity_stay_root(struct prepared *p, const char *why);

/* ---- private places of this machine, the homes of the user, and keys ---- */

/* Fill .place, .home, .home_path and .homes; needs the base grants. */
void places_find(struct gate *gate);

/* Compare a path with the private places that a view may have. */
bool places_has(const struct gate *gate, const char *path) MUST_USE;

/* Rows of closed.def for this machine: its homes, our state directory. */
struct closed places_closed(const struct gate *gate) MUST_USE;

/* ---- namespaces of this machine: tried once, when first asked for ---- */

/* Fill gate->ns, unless that was done before. */
void gate_probe(struct gate *gate);
/* Try again, without the result that was kept for this boot. */
void gate_probe_again(struct gate *gate);

#endif
