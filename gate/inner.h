/*
 * What the files of the gate share and the rest of the program does not see:
 * the gate itself, a child, and a request made ready to start.
 */
#ifndef GATE_INNER_H
#define GATE_INNER_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "gate/child.h"
#include "gate/gate.h"
#include "gate/grants.h"
#include "gate/launch.h"
#include "gate/notify.h"
#include "gate/ns.h"
#include "gate/policy.h"
#include "gate/private.h"
#include "gate/resolve.h"
#include "gate/seccomp.h"
#include "gate/setup.h"

/* Private places: /tmp, /var/tmp, /dev/shm, HOME. */
#define GATE_PLACES 4
/* A filter that was built; built once for each want. */
struct gate_filter {
	struct gate_filter *next;
	struct seccomp_want want;     /* .syscalls owned by the gate's arena */
	struct seccomp_filter filter; /* empty where there is no listener */
	struct seccomp_filter without_listener;
};

struct gate_idmap {
	uid_t uid, to_uid;
	gid_t gid, to_gid;
	int fd; /* user namespace; -1: there can be none */
};

/* Who the child is. */
struct identity {
	const char *name;
	uid_t uid;
	gid_t gid;
	bool change;	 /* from root to these ids */
	bool is_mapped;	 /* some grants are id-mapped for them */
	const char *why; /* it stays root, or NULL */
};

/* May this identity do that, by the bits of the mode? want: 4 r, 2 w, 1 x. */
bool identity_can(const struct identity *id, const struct stat *st,
		  unsigned want) MUST_USE;
/*
 * The topmost folder above a path that the identity may not pass; NULL when
 * it may pass all of them. In the arena.
 */
const char *identity_wall(const struct identity *id, const char *path,
			  struct arena *arena) MUST_USE;
/* What identity_can() is asked for a grant. */
unsigned identity_want(const struct grant *g) MUST_USE;

struct gate {
	struct gate_config config;
	struct arena arena;
	int landlock_abi;
	bool is_root;
	uint64_t spawned;   /* programs started so far */
	struct grants base; /* what every child may open */
	/* HOME as the caller names it, and without links; both NULL when
	   there is none that can be made private. */
	const char *home, *home_path;
	struct setup_place place[GATE_PLACES];
	size_t n_places;
	bool probed;
	struct ns_caps ns; /* after gate_probe() */
	struct gate_idmap idmap[SETUP_IDMAPS];
	size_t n_idmaps;
	struct gate_filter *filters;
	struct identity self;	/* who we are; name NULL until asked */
	struct identity nobody; /* and whom the child becomes by default */
	struct private_dirs private_dirs;
	struct gate_child *children; /* those that are not freed */
	struct strlist texts;	     /* what reports say; each only once */
	struct gate_fact facts[N_GUARANTEES];
	bool has_facts;
};

/* A request made ready: everything that a child needs, nothing started. */
struct prepared {
	struct gate *gate;
	const struct gate_request *request;
	bool for_start; /* else only judged */
	struct arena arena;
	struct policy policy;
	struct resolved program;
	struct resolved *execs; /* of the `exec` rows */
	size_t n_execs;
	struct grants grants; /* without the base */
	bool own_view;
	const char *why_no_view;
	struct identity id;
	struct setup_view view;
	struct landlock_rules rules;
	const char *home, *tmp; /* as the child names them */
	char *private_dir;	/* owned; NULL with an own view */
	bool cwd_shown;		/* an argument lies beneath it */
	bool git_unprotected;	/* writable hooks of a working tree */
	bool write_holes;	/* protected paths inside a grant, no view */
	bool open_programs;	/* a grant reads a folder of programs */
	struct strlist env, argv;
	struct launch launch;
	uint64_t clone_flags;
	struct gate_fact facts[N_GUARANTEES];
	const char *installation; /* for people, or NULL */
};

struct gate_child {
	struct gate *gate;
	struct gate_child *prev, *next;
	struct launched run;
	struct child_state state;
	int fd[3]; /* our ends; -1 */
	bool own_pids;
	bool ended;
	struct gate_verdict verdict;
	struct denials denials;
	const char *path; /* this and the facts: texts of the gate */
	const char *exec_row[1];
	struct gate_fact facts[N_GUARANTEES];
	char *private_dir;
};

/* Find out once what namespaces there are. */
void gate_probe(struct gate *gate);

/*
 * Judge and make ready. Release it, whatever comes back.
 * for_start  also what is needed only to start: private folders, rulesets
 */
int prepare(struct gate *gate, const struct gate_request *request,
	    bool for_start, struct prepared *p, struct err *err) MUST_USE;
void prepared_release(struct prepared *p);
/* The default policy without a program, for its facts alone. */
void prepare_default(struct gate *gate, struct prepared *p);

/* End the tree, reap it, close everything; the struct stays. */
void gate_child_end(struct gate_child *c);

/* The parts of prepare(); each in its own file. */
int prepare_grants(struct prepared *p, struct err *err) MUST_USE;
int prepare_identity(struct prepared *p, struct err *err) MUST_USE;
/* It stays root after all, without capabilities. */
void prepared_stay_root(struct prepared *p, const char *why);
int prepare_view(struct prepared *p, struct err *err) MUST_USE;
int prepare_env(struct prepared *p, struct err *err) MUST_USE;
int prepare_filter(struct prepared *p, struct err *err) MUST_USE;
/* Facts, and ERR_PROTECTION for what `require` names and does not hold. */
int prepare_facts(struct prepared *p, struct err *err) MUST_USE;

/*
 * The links that are followed on the way to a path, each by where it lies
 * itself, until one is answered with false. True: all of them.
 */
bool prepared_each_link(struct prepared *p, const char *path,
			bool (*fn)(struct prepared *p, const char *link,
				   const struct stat *st, const void *arg),
			const void *arg);

/* Is this path beneath one of the private places of the view? */
bool prepared_is_replaced(const struct prepared *p, const char *path) MUST_USE;
/* The filter for this want, from the gate's store. */
int gate_filter(struct gate *gate, const struct seccomp_want *want,
		const struct gate_filter **ret, struct err *err) MUST_USE;
/*
 * The same text, living as long as the gate. A thousand children of one
 * policy say the same, so each text is kept once.
 */
const char *gate_text(struct gate *gate, const char *text) MUST_USE;
/* Append to a list that lives in an arena. */
void list_add(struct strlist *list, struct arena *arena, const char *s);

#endif
