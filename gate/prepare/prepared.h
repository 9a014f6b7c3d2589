/*
 * A request made ready: everything that a child needs, nothing started.
 *
 * prepare.h fills it, part by part; facts, explain, needs and spawn read it.
 */
#ifndef GATE_PREPARE_PREPARED_H
#define GATE_PREPARE_PREPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "gate/build/landlock.h"
#include "gate/build/setup.h"
#include "gate/child/child.h"
#include "gate/path/project.h"
#include "gate/path/resolve.h"
#include "gate/policy/policy.h"
#include "gate/policy/programs.h"
#include "gate/prepare/grants.h"
#include "gate/prepare/state.h"
#include "gate/watch/watch.h"

struct recipe;
struct recipe_used;

/* Where a tree looks for programs of the system. */
#define PREPARED_PATH "/usr/local/bin:/usr/bin:/bin"

/* A folder of `exec`, found once and then granted. */
struct exec_folder {
	const char *asked;
	const struct recipe_used *of; /* NULL: a row of `exec` */
	struct walk found;	      /* empty when it was granted */
};

/* A recipe of the request, and what it adds: the leash is asked later. */
struct recipe_used {
	const struct recipe *recipe;
	bool is_named;		/* else it applies by itself */
	struct project project; /* .path NULL: none is granted */
	struct strlist exec;	/* programs by their names, and folders */
	struct strlist words;	/* programs of the system's folders */
	struct strlist read;	/* files and folders */
	struct strlist env;	/* variables that it sets */
	struct strlist started; /* programs that are granted */
	struct strlist refused; /* programs that the leash refuses */
};

/* A launcher whose place its program took. */
struct direct_start {
	const struct gate_request *written; /* NULL: there is none */
	const char *path;    /* the launcher's file, where it is installed */
	const char *says;    /* for people: "npx x: runs node …" */
	const char *modules; /* node_modules with a link to the package, which
				lies elsewhere; or NULL */
};

struct prepared {
	struct gate *gate;
	const struct gate_request *request;
	struct direct_start direct;
	bool for_start; /* else only judged */
	struct arena arena;
	struct policy policy;
	struct resolved program;
	struct recipe_used *recipes;
	size_t n_recipes;
	struct resolved *execs;	  /* of the `exec` rows, then of recipes */
	size_t n_execs, n_listed; /* the first n_listed are rows */
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
	const char *left_cwd;	/* without links; an argument leads out of it */
	const char *hidden_cwd; /* asked for; .launch.cwd is a private place */
	struct strlist missing; /* arguments that lead to no file */
	const char *named[LEFT_NAMED]; /* arguments: paths in private places */
	size_t n_named;
	struct strlist home_names; /* of HOME, that words mean there */
	const char *counted_home;  /* private HOME, where another folder is
				      counted first; or NULL */
	struct watch_name *unseen; /* files that it may look for or make */
	size_t n_unseen;
	bool git_unprotected;  /* a row of protected.def is writable */
	bool write_holes;      /* protected paths inside a grant, no view */
	bool keep_attributes;  /* the filter refuses chmod and the like */
	struct strlist hidden; /* folders inside grants that it does not see */
	bool open_programs;    /* a grant reads a folder of programs */
	struct strlist env, argv;
	struct strlist recipe_env; /* "NAME=VALUE" of recipes */
	struct launch launch;
	uint64_t clone_flags;
	struct gate_fact facts[N_GUARANTEES];
	unsigned asked_records;	   /* GATE_RECORD_ bits */
	unsigned watches;	   /* of the filter; 0 where it cannot watch */
	enum sockets_held sockets; /* as of the filter */
	const char *installation;  /* for people, or NULL */
	const char *script; /* a file that its interpreter is told to run */
	const char *missing_script; /* one that is not there */
};

/* Remember a sentence about what the leash, or another rule, took away. */
void prepared_cap(struct prepared *p, const char *fmt, ...) PRINTF(2, 3);

/* Note an argument that is granted and, as ../file does, leads out of the
   folder of the start: relative names count there only if the child starts in
   it. */
void prepared_leave(struct prepared *p, const char *arg);

enum writers { BY_ITSELF, BY_ANY_PROGRAM };

/*
 * May the program, or any program of the configuration, write this path? Links
 * are followed. Asked are rows that do not cover `beside` as well; NULL: all.
 */
bool prepared_writes(struct prepared *p, const char *path, const char *beside,
		     enum writers who) MUST_USE;

/* Close the doors of its control group. */
void prepared_close_doors(struct prepared *p);
/* Give everything back that was not moved into a child. */
void prepared_release(struct prepared *p);

#endif
