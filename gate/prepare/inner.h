/*
 * What the files of the gate share and the rest of the program does not see:
 * the gate itself, a child, and a request made ready to start.
 */
#ifndef GATE_PREPARE_INNER_H
#define GATE_PREPARE_INNER_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/sha256.h"
#include "gate/cgroup/cgroup.h"
#include "gate/child/child.h"
#include "gate/policy/closed.h"
#include "gate/gate.h"
#include "gate/prepare/grants.h"
#include "gate/policy/hit.h"
#include "gate/child/launch.h"
#include "gate/watch/notify.h"
#include "gate/child/ns.h"
#include "gate/policy/policy.h"
#include "gate/path/private.h"
#include "gate/policy/programs.h"
#include "gate/proxy/proxy.h"
#include "gate/path/resolve.h"
#include "gate/build/seccomp.h"
#include "gate/build/setup.h"
#include "gate/watch/watch.h"

/* Private places: /tmp, /var/tmp, /dev/shm, HOME. */
#define GATE_PLACES 4
/* A filter that was built; built once for each want. */
struct gate_filter {
	struct gate_filter *next;
	struct seccomp_want want;     /* .syscalls owned by the gate's arena */
	struct seccomp_filter filter; /* empty where there is no listener */
	struct seccomp_filter without_listener;
};

/* The sum of a file as it was; another time or number is another file. */
struct gate_hash {
	struct gate_hash *next;
	struct stat st;
	char hex[SHA256_HEX_BYTES];
};

struct gate_idmap {
	uid_t uid, to_uid;
	gid_t gid, to_gid;
	int fd; /* user namespace; -1: there can be none */
};

/* Who the child is. */
struct identity {
	const char *name;
	const char *home; /* of the passwd entry; NULL without one */
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
/* Our own home by /etc/passwd, whatever $HOME says; NULL without an entry. */
const char *identity_home(struct gate *g) MUST_USE;
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
	/* Both it and that of the passwd entry, without links: what may be
	   anybody's keys, whatever $HOME says. */
	struct strlist homes;
	struct setup_place place[GATE_PLACES];
	size_t n_places;
	bool probed;
	struct ns_caps ns; /* after gate_probe() */
	struct gate_idmap idmap[SETUP_IDMAPS];
	size_t n_idmaps;
	struct gate_filter *filters;
	struct gate_hash *hashes; /* in the arena */
	struct identity self;	  /* who we are; name NULL until asked */
	struct identity nobody;	  /* and whom the child becomes by default */
	struct private_dirs private_dirs;
	struct cgroups cgroups;
	bool swept;		     /* what crashed runs have left */
	struct gate_child *children; /* those that are not freed */
	struct strlist texts;	     /* what reports say; each only once */
	struct gate_fact facts[N_GUARANTEES];
	bool has_facts;
	enum { GATE_HANG_UNKNOWN, GATE_HANG_NEVER, GATE_HANG_MAY } hang;
	bool view_failed; /* of the last start: what was kept may be wrong */
};

/* A folder of `exec`: what it leads to is found once, and kept. */
struct exec_folder {
	const char *asked;
	struct walk found; /* empty when it was granted */
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
	struct exec_folder *exec_folder; /* of the `exec` rows */
	size_t n_exec_folders;
	struct programs programs; /* rules; .n = 0: none */
	struct grants grants;	  /* without the base */
	bool own_view;
	const char *why_no_view;
	struct cgroup *group;		      /* the pool's; NULL = none */
	bool group_has[N_CGROUP_CONTROLLERS]; /* or would have, when judged */
	struct gate_policy bounds;	      /* policy_bounds() */
	struct identity id;
	struct setup_view view;
	struct landlock_rules rules;
	const char *home, *tmp; /* as the child names them */
	char *private_dir;	/* owned; NULL with an own view */
	bool cwd_shown;		/* an argument lies beneath it */
	bool git_unprotected;	/* a row of protected.def is writable */
	bool write_holes;	/* protected paths inside a grant, no view */
	struct strlist hidden;	/* folders inside grants that it does not see */
	bool open_programs;	/* a grant reads a folder of programs */
	struct strlist env, argv;
	struct launch launch;
	uint64_t clone_flags;
	struct gate_fact facts[N_GUARANTEES];
	unsigned asked_records;	  /* GATE_RECORD_ bits */
	unsigned watches;	  /* of the filter; 0 where it cannot watch */
	const char *installation; /* for people, or NULL */
	const char *script; /* a file that its interpreter is told to run */
};

/* A file, or a folder of files, that a tree may execute. */
struct may_run {
	struct programs_file file;
	bool is_folder;
	const char *path;
};

struct gate_child {
	struct gate *gate;
	struct gate_child *prev, *next;
	struct launched run;
	struct proxy proxy; /* of POLICY_NET_PROXY */
	struct child_state state;
	int fd[3]; /* our ends; -1 */
	bool own_pids;
	bool ended;
	struct gate_verdict verdict;
	struct denials denials;
	struct watch watch;
	struct arena arena;	  /* of the rules */
	struct programs programs; /* rules that its tree is held to */
	struct may_run *may_run;  /* NULL: no telling, nothing enforces it */
	size_t n_may_run;
	const char *path; /* this and the facts: texts of the gate */
	const char *cwd;  /* this too */
	const char *exec_row[1];
	struct gate_fact facts[N_GUARANTEES];
	char *private_dir;
	struct cgroups *cgroups;   /* the gate's, as long as .group is there */
	struct cgroup *group;	   /* the pool's; NULL = none */
	struct gate_policy bounds; /* policy_bounds() */
	struct gate_seen_bounds seen_bounds;
	struct hits hits;
	bool killed; /* by us */
};

/* Find out once what namespaces there are. */
void gate_probe(struct gate *gate);
/* Once more, without what was kept of an earlier trial. */
void gate_probe_again(struct gate *gate);

/*
 * Judge and make ready. Release it, whatever comes back.
 * for_start  also what is needed only to start: private folders, rulesets
 */
int prepare(struct gate *gate, const struct gate_request *request,
	    bool for_start, struct prepared *p, struct err *err) MUST_USE;
/* When a start that begins now is over, monotonic. */
uint64_t prepare_until(const struct gate_request *request) MUST_USE;
/* The same as prepare(), with files that are slow or do not answer. */
int prepare_by(struct gate *gate, const struct gate_request *request,
	       bool for_start, uint64_t until_ns, struct prepared *p,
	       struct err *err) MUST_USE;
void prepared_release(struct prepared *p);
/* The default policy without a program, for its facts alone. */
void prepare_default(struct gate *gate, struct prepared *p);

/* End the tree, reap it, close everything; the struct stays. */
void gate_child_end(struct gate_child *c);

/* For watch.judge, `child` is a struct gate_child. Refused is what a rule of
   [sandbox.programs] forbids; named, too, what nothing lists. */
enum watch_answer programs_watch(void *child, const struct watch_exec *x,
				 struct err *why) MUST_USE;
/* Keep which files the kernel will let this child execute. */
void programs_note_listed(struct gate_child *c, const struct prepared *p);

/* Name in the denials which execs were refused to a tree that has ended. */
void programs_add_denials(struct gate_child *c);

/* The parts of prepare(); each in its own file. */
void prepare_group(struct prepared *p);
int prepare_programs(struct prepared *p, struct err *err) MUST_USE;
int prepare_grants(struct prepared *p, struct err *err) MUST_USE;
int prepare_identity(struct prepared *p, struct err *err) MUST_USE;
/* For facts: what kind of group it is, and why there is none. */
const char *prepared_group_text(struct prepared *p) MUST_USE;
const char *prepared_no_group(struct prepared *p) MUST_USE;
/* It stays root after all, without capabilities. */
void prepared_stay_root(struct prepared *p, const char *why);
int prepare_view(struct prepared *p, struct err *err) MUST_USE;
/*
 * What stays read-only inside of writable grants; a part of prepare_view().
 *
 * errors  ERR_POLICY  one that must not appear could not be kept from it
 */
int prepare_protected(struct prepared *p, struct err *err) MUST_USE;
/*
 * Before the view, where there is one.
 *
 * errors  ERR_POLICY  what must not appear could, by a link that leads nowhere
 */
int prepared_check_links(struct prepared *p, struct err *err) MUST_USE;
/*
 * Make a folder that is to be mounted upon, so that no program can make it;
 * nothing where nothing is started.
 *
 * errors  ERR_POLICY  it is not there, and a program could make it
 */
int prepared_make_folder(const struct prepared *p, const char *folder,
			 struct err *err) MUST_USE;

/* ---- prepare_sealed.c ---- */

/* errors  ERR_POLICY  a writable grant would hold a sealed path */
int prepare_sealed(struct prepared *p, struct err *err) MUST_USE;

/* ---- prepare_judge.c ---- */

/*
 * Every grant of a request but its programs' own files comes through here.
 * Follow a path once, judge what it led to (by the leash, by whose the links
 * on the way are and where they lead, by what is protected), and grant that.
 *
 * what     GRANT_..., and one GRANT_BY() that says where it comes from
 * returns  0; 1: there is nothing, or the leash does not allow it, which is
 *	    said in .policy.capped
 * errors   ERR_LEASH   a path of `read` or `write` leads out of the leash
 *	    ERR_POLICY  a link that is not to be trusted, our own files
 *	    ERR_SYS
 */
int prepared_grant(struct prepared *p, const char *path, unsigned what,
		   struct err *err) MUST_USE;
/* Grant what was found already; `found` is empty when it is granted. */
int prepared_grant_found(struct prepared *p, const char *path,
			 struct walk *found, unsigned what, struct err *err)
	MUST_USE;

/* ---- prepare_hidden.c ---- */

/*
 * After all grants are known, and after those of a view were chosen.
 * errors  ERR_POLICY  what is hidden is itself asked for
 *	   ERR_LIMIT   without a view: a folder with too many entries
 */
int prepare_hidden(struct prepared *p, struct err *err) MUST_USE;
/* An empty folder of the view; to be filled in. */
struct setup_place *prepared_add_place(struct prepared *p, const char *path)
	MUST_USE;
int prepare_env(struct prepared *p, struct err *err) MUST_USE;
int prepare_filter(struct prepared *p, struct err *err) MUST_USE;
/* Does the filter refuse to change modes, owners, times and attributes? */
bool prepared_keeps_attributes(const struct prepared *p) MUST_USE;
/* Facts, and ERR_PROTECTION for what `require` names and does not hold. */
int prepare_facts(struct prepared *p, struct err *err) MUST_USE;

/* What would make it hold, as far as that can be told; NULL: nothing. */
const char *fact_remedy(const struct prepared *p, enum guarantee g) MUST_USE;
const char *mechanism_remedy_here(const struct prepared *p, enum mechanism m)
	MUST_USE;
/* A part of the view, which is there as a whole or not. */
bool mechanism_is_view(enum mechanism m) MUST_USE;

/*
 * The links that are followed on the way to a path, each by where it lies
 * itself, until one is answered with false. True: all of them.
 */
bool prepared_each_link(struct prepared *p, const char *path,
			bool (*fn)(struct prepared *p, const char *link,
				   const struct stat *st, const void *arg),
			const void *arg);

/* What traces leave shut on this machine. */
struct closed gate_closed(const struct gate *g) MUST_USE;

/* Is this path one of the private places that this machine may have? */
bool gate_is_place(const struct gate *g, const char *path) MUST_USE;
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

#endif
