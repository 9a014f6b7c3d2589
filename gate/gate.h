/*
 * The gate makes processes. Nothing else in the program forks or executes.
 *
 * Every program is asked for with a struct gate_request: which program, its
 * arguments, what it may touch. The gate judges the request against the leash
 * and the policy, opens the program once, confines a child by a system-call
 * filter, Landlock and namespaces, executes the opened file, and owns the
 * whole process tree until it has ended.
 *
 *	gate_new(&config, &gate, err);
 *	gate_check(gate, &request, err);              when planning
 *	gate_spawn(gate, &request, &child, err);      when it is due
 *	... poll gate_child_fds(child); on .notify: gate_child_serve();
 *	... on .pidfd readable: gate_child_wait(child, &verdict)
 *	gate_child_free(child);                       ends what is left
 *	gate_free(gate);
 *
 * What is promised, and what is not, stands in gate/README.md.
 */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct gate;
struct gate_child;

/* ---- the leash: what a whole run may do at most ---- */

struct gate_axis {
	bool all; /* "all"; else only what is listed */
	struct strlist only;
};

struct gate_leash {
	struct gate_axis fs_read, fs_write, exec, net;
	bool calls_unlimited;
	uint64_t max_calls;	      /* spawns of a run, when not unlimited */
	struct gate_axis generations; /* decimal numbers as text */
	bool interpreters;  /* those of a listed script may run as well (the
			       declared default); else they must be listed */
	const char *source; /* for people: "$MATINS_CAVEATS", "[caveats]", … */
};

/*
 * Read the JSON form of a leash; all six members must be present.
 *
 * text    borrowed for the call
 * arena   what the leash points to lives here
 * errors  ERR_CONFIG, the message names the member
 */
struct arena;
int gate_leash_parse(struct str text, struct arena *arena,
		     struct gate_leash *ret_leash, struct err *err) MUST_USE;

/* ---- the policy: what one program may do ---- */

enum gate_isolate { GATE_ISOLATE_AUTO, GATE_ISOLATE_REQUIRE, GATE_ISOLATE_OFF };

/*
 * The keys of `sandbox`, already merged (gate_policy_merge) and with absolute
 * paths. Everything is borrowed. A zeroed policy is the default policy.
 */
struct gate_policy {
	struct strlist read, write; /* absolute paths */
	struct strlist exec;	    /* bare names or absolute paths */
	struct strlist net;  /* empty = none; "loopback", "all", or endpoints */
	const char *profile; /* NULL = "default"; "strict", "open" */
	uint64_t memory_bytes;	  /* 0 = 2 GiB */
	uint64_t file_size_bytes; /* 0 = 1 GiB */
	uint32_t processes;	  /* 0 = 256 */
	uint32_t files;		  /* 0 = 1024 */
	uint32_t cpu_seconds;	  /* 0 = no limit */
	bool tmp_shared;	  /* the host's /tmp instead of an own one */
	enum gate_isolate isolate;
	struct strlist require;	 /* guarantees or mechanisms */
	struct strlist syscalls; /* added by name */
	const char *user; /* as root: whom the child becomes; NULL = nobody */
};

/*
 * Add `more` (the specific one) to `base`: lists are joined without repeats,
 * single values of `more` win where they are set. The result lives in `arena`
 * and borrows the strings of both.
 */
void gate_policy_merge(const struct gate_policy *base,
		       const struct gate_policy *more, struct arena *arena,
		       struct gate_policy *ret);

/*
 * Names and values of a policy are known: profile, system calls, guarantees,
 * endpoints.
 * errors  ERR_POLICY with the nearest name
 */
int gate_policy_check(const struct gate_policy *p, struct err *err) MUST_USE;

/* ---- the gate itself ---- */

struct gate_config {
	struct gate_leash leash; /* borrowed until gate_free() */
	struct strlist protect;	 /* absolute paths that no child may write,
				    whatever is granted: state, configuration */
	const char *state_dir; /* where trials are cached; NULL = not cached */
	uint64_t generation;   /* of this run, 0 when there is none */
};

/*
 * errors  ERR_PROTECTION  this kernel is below the floor: no seccomp filter,
 *			   or neither Landlock nor namespaces
 */
int gate_new(const struct gate_config *config, struct gate **ret_gate,
	     struct err *err) MUST_USE;
/* Children that still live are ended. Takes NULL. */
void gate_free(struct gate *gate);

/* ---- a request ---- */

struct gate_request {
	const char *program;	 /* bare name, or a path */
	const char *const *argv; /* with argv[0], ends in NULL */
	/*
	 * Absolute; relative arguments start there. The child does too where
	 * the policy shows it, else in its HOME (NULL: always HOME).
	 */
	const char *cwd;
	bool cwd_required;	/* refuse (ERR_POLICY) where it is not shown */
	const char *const *env; /* declared "NAME=VALUE", ends in NULL; may
				   be NULL. Copied only into the child. */
	const struct gate_policy *policy;
	/* Descriptors for stdin, stdout, stderr of the child, or GATE_PIPE. */
	int stdio[3];
	bool record_exec; /* every exec of the tree goes into the verdict */
	bool no_deadline_limits; /* `exec`: no ceiling on output files etc. */
};

enum { GATE_PIPE = -1 };

/*
 * Judge a request without starting anything.
 *
 * errors  ERR_NOT_FOUND  no such program (bare name not in PATH, no file)
 *	   ERR_LEASH      the leash does not name it; nearest row in the text
 *	   ERR_POLICY     not a regular executable file, writable by others,
 *			  an interpreter that is not allowed, unknown names
 *	   ERR_PROTECTION something in `require` cannot be enforced here
 */
int gate_check(struct gate *gate, const struct gate_request *request,
	       struct err *err) MUST_USE;

/*
 * Start the program. The caller owns *ret_child and frees it with
 * gate_child_free(). Pipe ends that we keep are non-blocking.
 *
 * errors  as gate_check(), and ERR_SYS with what failed in the child before
 *	   exec ("chdir /x: No such file or directory")
 */
int gate_spawn(struct gate *gate, const struct gate_request *request,
	       struct gate_child **ret_child, struct err *err) MUST_USE;

struct gate_child_fds {
	int in, out, err; /* our ends; -1 where passed through or closed */
	int pidfd;	  /* readable when the whole tree has ended */
	int notify;	  /* readable when a refused call waits; -1 if none */
};

struct gate_child_fds gate_child_fds(const struct gate_child *c) MUST_USE;
/* Close our end of stdin, stdout or stderr (0, 1, 2); harmless twice. */
void gate_child_close(struct gate_child *c, int which);
/* The program's process id as the host sees it; for reports. */
pid_t gate_child_pid(const struct gate_child *c) MUST_USE;
/* Answer waiting refused calls with EPERM and record them. Never blocks. */
void gate_child_serve(struct gate_child *c);
/* SIGTERM and others go to the program; SIGKILL ends the whole tree. */
void gate_child_signal(struct gate_child *c, int signal);

/* ---- what came of it ---- */

enum gate_level { GATE_ENFORCED, GATE_PARTIAL, GATE_ABSENT };

struct gate_fact {
	const char *guarantee; /* a row of guarantees.def: "exec-listed" */
	enum gate_level level;
	const char *how; /* the mechanism, what is missing, or why not */
};

struct gate_denial {
	const char *kind;    /* "syscall" */
	const char *name;    /* "mount" */
	const char *program; /* comm of the task that asked */
	const char *detail;  /* arguments as text */
	const char *allow;   /* the `sandbox` line that would allow it; or "" */
	uint64_t count;
};

struct gate_verdict {
	bool exited;	 /* else ended by `signal` */
	int exit_status; /* 0..255 */
	int signal;
	uint64_t cpu_us;	/* user and system time of the tree */
	uint64_t max_rss_bytes; /* of the largest process */
	const struct gate_denial *denials; /* owned by the child */
	size_t n_denials;
	uint64_t denials_dropped; /* rows beyond the bound */
	struct strlist execs;	  /* when recorded */
};

/*
 * After .pidfd became readable: what became of the tree. Nothing of it runs
 * any more when this returns 0. 1: it has not ended yet.
 */
int gate_child_wait(struct gate_child *c, struct gate_verdict *ret) MUST_USE;
/* What was enforced for this child; borrowed from it. */
const struct gate_fact *gate_child_facts(const struct gate_child *c,
					 size_t *ret_n) MUST_USE;
/* The resolved path that was executed; borrowed. */
const char *gate_child_path(const struct gate_child *c) MUST_USE;
/* End what is left of the tree, reap it, close everything. Takes NULL. */
void gate_child_free(struct gate_child *c);

/* ---- for doctor and help ---- */

/* What this kernel can enforce under the default policy; static or gate's. */
const struct gate_fact *gate_protections(struct gate *gate, size_t *ret_n)
	MUST_USE;
const char *gate_level_name(enum gate_level level) MUST_USE;

struct gate_program {
	char *path;	    /* resolved; owned by the struct */
	char *interpreter;  /* of a script, else NULL */
	char *installation; /* readable for it beside the file; or NULL */
};

/* Resolve as a spawn would; errors as gate_check(). */
int gate_resolve(struct gate *gate, const struct gate_request *request,
		 struct gate_program *ret, struct err *err) MUST_USE;
void gate_program_release(struct gate_program *p);

#endif
