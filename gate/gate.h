/*
 * The gate makes processes. Nothing else in the program forks or executes.
 *
 * A struct gate_request asks for a program: its name, its arguments, and the
 * policy that bounds it. The gate judges the request against the leash
 * and the policy, opens the program once, confines a child by a system-call
 * filter, Landlock, namespaces and a control group, executes the opened file,
 * and owns the whole process tree until it has ended.
 *
 *	gate_new(&config, &gate, err);
 *	gate_check(gate, &request, err);              when planning
 *	gate_spawn(gate, &request, &child, err);      when it is due
 *	... poll gate_child_fds(child); on .notify: gate_child_serve();
 *	... on .pidfd readable: gate_child_wait(child, &verdict)
 *	gate_child_free(child);                       ends what is left
 *	gate_free(gate);
 *
 * gate/README.md says what is promised, and what is not.
 */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"

struct arena;
struct buf;
struct sha256;
struct gate;
struct gate_child;
struct gate_fact;

/* ---- the leash: bounds of a whole run ---- */

struct gate_axis {
	bool all; /* "all"; else only what is listed */
	struct strlist only;
};

struct gate_leash {
	struct gate_axis fs_read, fs_write, exec, net;
	bool calls_unlimited;
	uint64_t max_calls;	      /* spawns of a run, when not unlimited */
	struct gate_axis generations; /* decimal numbers as text */
	bool interpreters;  /* interpreters of a listed script may run, too (the
			       declared default); else they must be listed */
	const char *source; /* for people: "$MATINS_CAVEATS", "[caveats]", … */
};

/*
 * Read the JSON form of a leash; all six members must be present. Paths stay
 * as they are written: the caller makes them absolute (path_resolve()).
 *
 * text    borrowed for the call
 * arena   holds the strings and lists of the leash
 * errors  ERR_CONFIG, the message names the member
 */
int gate_leash_parse(struct str text, struct arena *arena,
		     struct gate_leash *ret_leash, struct err *err) MUST_USE;

/* ---- the policy: bounds of one program ---- */

/* Places of the words of `isolate` in sandbox.def; tmp_shared is one, too. */
enum gate_isolate { GATE_ISOLATE_AUTO, GATE_ISOLATE_REQUIRE, GATE_ISOLATE_OFF };

/* The C type of each type of key in sandbox.def. */
#define GATE_TYPE_READ_PATHS struct strlist
#define GATE_TYPE_WRITE_PATHS struct strlist
#define GATE_TYPE_PROGRAMS struct strlist
#define GATE_TYPE_NET struct strlist
#define GATE_TYPE_UNIX struct strlist
#define GATE_TYPE_STRINGS struct strlist
#define GATE_TYPE_WORDS struct strlist
#define GATE_TYPE_WORD const char *
#define GATE_TYPE_STRING const char *
#define GATE_TYPE_SIZE_BYTES uint64_t
#define GATE_TYPE_COUNT uint64_t
#define GATE_TYPE_SECONDS uint64_t
#define GATE_TYPE_CHOICE unsigned
#define GATE_TYPE_BOOL bool
#define GATE_TYPE_PROGRAM_RULES struct gate_program_rules

/*
 * Rules for one program of the tree: [sandbox.programs.NAME]. The program
 * that is started is held to them before it starts; one that the tree starts
 * is looked at as well, which keeps honest programs honest and no others: the
 * kernel enforces the rest of the policy. gate/policy/programs.h has the rest.
 */
struct gate_program_rule {
	const char *name;   /* bare name or absolute path, as in `exec` */
	bool has_args;	    /* .args are all arguments, be they none */
	uint32_t line, col; /* place in a configuration; 0 without */
#define PROGRAM_RULE(key, field, type, help) GATE_TYPE_##type field;
#include "gate/sandbox.def"
};

struct gate_program_rules {
	const struct gate_program_rule *item;
	size_t n;
};

/*
 * The keys of `sandbox`, with absolute paths; gate/sandbox.def has a row for
 * each. Everything is borrowed. A zeroed policy is the default policy.
 */
struct gate_policy {
#define SANDBOX(key, option, field, type, ...) GATE_TYPE_##type field;
#define SANDBOX_TABLE(key, field, type, ...) GATE_TYPE_##type field;
#define SANDBOX_FIELD(field, type) GATE_TYPE_##type field;
#include "gate/sandbox.def"
};

/*
 * Add `more` (the specific one) to `base`: lists are joined without repeats,
 * single values of `more` win where they are set, and the rules of both hold,
 * since rules restrict. The result lives in `arena`, borrows the strings of
 * both, and may be written over one of the two.
 */
void gate_policy_merge(const struct gate_policy *base,
		       const struct gate_policy *more, struct arena *arena,
		       struct gate_policy *ret);

/* A copy with all strings and rules, that lives as long as the arena. */
struct gate_policy gate_policy_copy(const struct gate_policy *p,
				    struct arena *arena) MUST_USE;

/* Add every field to a sum. */
void gate_policy_digest(const struct gate_policy *p, struct sha256 *sum);

/*
 * Names and values of a policy are known: paths, profile, system calls,
 * guarantees, endpoints, rules of programs.
 * errors  ERR_POLICY  the message says what to write instead
 */
int gate_policy_check(const struct gate_policy *p, struct err *err) MUST_USE;

/* Is this row of `unix` a word: "private", "none"? */
bool gate_unix_is_word(const char *row) MUST_USE;

/* Is this row of `net` a word: "none", "loopback", "all"? */
bool gate_net_is_word(const char *row) MUST_USE;

/* ---- the gate itself ---- */

struct gate_config {
	struct gate_leash leash; /* borrowed until gate_free() */
	struct strlist protect;	 /* absolute paths that no child may write,
				    whatever is granted: state, configuration */
	struct strlist absent;	 /* paths of `protect` that must not appear
				    either, where a grant could be written: the
				    folder is made and protected instead */
	struct strlist hide;	 /* absolute paths of folders that no child may
				    see, whatever is granted: kept tokens */
	struct strlist sealed;	 /* absolute paths that may lie in no writable
				    grant: what is written there would count,
				    and nothing would show who wrote it */
	struct strlist written;	 /* absolute paths that some program of this
				    configuration may write: a link in there
				    is led nowhere else */
	/* Adds to `protect` and `sealed` what has to be looked up: called once,
	   when something may be written; NULL: they are whole. */
	void (*find_protected)(void *arg, struct gate_config *config);
	void *find_protected_arg; /* borrowed until gate_free() */
	const char *state_dir; /* where trials are cached; NULL = not cached */
	uint64_t generation;   /* of this run, 0 when there is none */
	/* Asked before a note about what the leash takes away, which is left
	   out when the answer is false; NULL: always say it. */
	bool (*has_news)(void *arg, const char *sentence);
	void *has_news_arg;
	/* Called for each start while the child makes itself ready: its
	   program is executed when this has returned 0, and never when it
	   fails. NULL: at once. */
	int (*before_exec)(void *arg, struct err *err);
	void *before_exec_arg;
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
	 * Of each argument: a server or a program has made it, or a part of
	 * it. It grants no file; where it would say what runs, the request is
	 * refused (ERR_POLICY). NULL: the person wrote them all.
	 */
	const bool *from_data;
	bool input_from_data; /* likewise standard input */
	bool data_may_start;  /* data is passed to programs that start others,
				 or run their arguments, as far as it is seen to
				 name none */
	/*
	 * Absolute; relative arguments start there. The child does too where
	 * the policy shows it, else in its HOME (NULL: always HOME).
	 */
	const char *cwd;
	bool cwd_required; /* refuse (ERR_POLICY) where it is not shown */
	/* Name of .cwd in a note on stderr, before the start, that the program
	   starts in a private folder instead; NULL: no note. */
	const char *cwd_said;
	const char *const *env; /* declared "NAME=VALUE", ends in NULL; may
				   be NULL. Copied only into the child. */
	const struct gate_policy *policy;
	/* Descriptors for stdin, stdout, stderr of the child, or GATE_PIPE;
	   of stderr also GATE_AS_OUT: what stdout is. */
	int stdio[3];
	unsigned record;   /* GATE_RECORD_ bits; record_exec adds one */
	uint64_t start_ms; /* until it is executed; 0 and at most: 20 s */
	/* `exec`: where stdout or stderr is a file of the caller's, no size of
	   files is the default, since it would cut that one short. */
	bool output_may_be_large;
	/* Watch for writes to files and folders that arguments and variables
	   name and that are granted for reading alone: see gate_child_lost().
	 */
	bool watches_writes;
	/*
	 * gate_spawn() may return before the program is executed, so that the
	 * caller works on beside: see gate_child_fds.start. The request is
	 * then borrowed until gate_child_started() has told.
	 */
	bool may_follow;
};

enum { GATE_PIPE = -1, GATE_AS_OUT = -2 };

/* Kinds of records, written while a tree runs; see gate_record. */
enum {
	GATE_RECORD_EXEC = 1,
	GATE_RECORD_FILES = 2,
	GATE_RECORD_NET = 4,
	GATE_RECORD_LOOKS = 8, /* files that are there and only looked up */
};

/* Uses of the file or address that a record names. */
enum {
	GATE_ACCESS_RUN = 1,
	GATE_ACCESS_WRITE = 2,
	GATE_ACCESS_READ = 4,
	GATE_ACCESS_ENTRY = 8,	/* name made, removed or replaced */
	GATE_ACCESS_SERVE = 16, /* an address of its own: bind */
	GATE_ACCESS_LIST = 32,	/* entries of a folder, once it is open */
};

/*
 * Judge a request without starting anything.
 *
 * errors  ERR_NOT_FOUND  no such program (bare name not in PATH, no file)
 *	   ERR_LEASH      the leash does not name it; nearest row in the text
 *	   ERR_POLICY     not a regular executable file, writable by others,
 *			  an interpreter that is not allowed, unknown names
 *	   ERR_PIN	  not the file that a rule pins
 *	   ERR_PROTECTION something in `require` cannot be enforced here
 *	   ERR_DEADLINE   a file system that it needs does not answer, or
 *			  a file is held by a lease, for .start_ms
 */
int gate_check(struct gate *gate, const struct gate_request *request,
	       struct err *err) MUST_USE;

/*
 * Start the program. The caller owns *ret_child and frees it with
 * gate_child_free(). Pipe ends that we keep are non-blocking.
 *
 * errors  as gate_check(), and
 *	   ERR_SYS	 a call of the child before exec ("chdir /x: No such
 *			 file or directory")
 *	   ERR_DEADLINE  the child has been killed; a file system that does
 *			 not answer may hold on to it until it does
 */
int gate_spawn(struct gate *gate, const struct gate_request *request,
	       struct gate_child **ret_child, struct err *err) MUST_USE;

/* Facts of a child from its start to its end; borrowed from it. */
struct gate_child_info {
	pid_t pid;	  /* of the program as the host sees it; for reports */
	const char *path; /* resolved, executed */
	const char *runs; /* of a launcher in whose place its program was
			     started: "npx x: runs node … (x 1.2.3)"; or NULL */
	const char *cwd;  /* where it started: `cwd` where that is shown */
	struct strlist recipes; /* with a grant, as explained */
	const struct gate_fact *facts;
	size_t n_facts;
	/* Bounds whose hits are seen and named in the verdict: those that a
	   control group counts. Of the others only the program sees an
	   error. */
	bool sees_memory, sees_processes;
};

const struct gate_child_info *gate_child_info(const struct gate_child *c)
	MUST_USE;

struct gate_child_fds {
	int in, out, err; /* our ends; -1 where passed through or closed */
	int pidfd;	  /* readable when the whole tree has ended */
	int notify;	  /* readable when a refused call waits; -1 if none */
	/* Hung up when gate_child_started() need not wait; .notify is there
	   only after that. -1: the program is executed, or another start has
	   waited for this one: gate_child_on_settled(). */
	int start;
};

struct gate_child_fds gate_child_fds(const struct gate_child *c) MUST_USE;
/*
 * Wait until the program is executed, or has failed; closes .start. Called once
 * where that is there, within gate_request.start_ms.
 *
 * errors  as gate_spawn(); the child is to be freed
 */
int gate_child_started(struct gate_child *c, struct err *err) MUST_USE;
/*
 * Call that once when gate_spawn() of another request has waited for this
 * start, before .start is closed: gate_child_started() need not wait then. No
 * function of the gate may be called meanwhile.
 */
void gate_child_on_settled(struct gate_child *c, void (*settled)(void *arg),
			   void *arg);
/* Close our end of stdin, stdout or stderr (0, 1, 2); harmless twice. */
void gate_child_close(struct gate_child *c, int which);
/*
 * Answer the calls that wait and write them down: refused ones with EPERM,
 * those that are only watched by letting them go on; connections are carried
 * out. Never blocks.
 */
void gate_child_serve(struct gate_child *c);
/*
 * Milliseconds after which calls that wait for somebody else must be served,
 * though .notify may not be readable: after a start and after each
 * gate_child_serve(). 0: none.
 */
unsigned gate_child_due_ms(const struct gate_child *c) MUST_USE;
enum gate_lost {
	GATE_LOST_DROPPED,  /* in a private place, gone at the end */
	GATE_LOST_REFUSED,  /* granted for reading alone */
	GATE_LOST_REPLACED, /* granted for writing, and not its folder */
};
/*
 * Take the next file or folder that arguments or variables name and that the
 * tree tried to change without a grant, as far as it has been served; each is
 * told once. NULL: there is none. Owned by the child.
 */
const char *gate_child_lost(struct gate_child *c, enum gate_lost *ret_how)
	MUST_USE;
/* SIGTERM and others go to the program; SIGKILL ends the whole tree. */
void gate_child_signal(struct gate_child *c, int signal);

/* ---- verdicts ---- */

enum gate_level { GATE_ENFORCED, GATE_PARTIAL, GATE_ABSENT };

struct gate_fact {
	const char *guarantee; /* a row of guarantees.def: "exec-listed" */
	enum gate_level level;
	const char *how;    /* the mechanism, what is missing, or why not */
	const char *remedy; /* advice how to make it hold; NULL when enforced,
			       or when nothing would */
};

/* Row of a policy: `sandbox = { KEY = ["VALUE"] }`. */
struct gate_allow {
	const char *key; /* static; NULL: no row can allow it */
	const char *value;
};

/* Write the row as a person would; nothing where there is none. */
void gate_allow_line(const struct gate_allow *row, struct buf *out);

struct gate_denial {
	const char *kind;	 /* "syscall", "net", "unix", "exec" */
	const char *name;	 /* "mount"; "host:port"; "unix:/run/x"; the
				    path */
	const char *program;	 /* comm of the task that asked */
	const char *detail;	 /* arguments as text */
	struct gate_allow allow; /* row that would allow it */
	uint64_t count;
};

/* One act of the tree, done or tried; when records were asked for. */
struct gate_record {
	unsigned what;	     /* one GATE_RECORD_ bit */
	const char *program; /* comm of the task */
	const char *path;    /* a file; "host:port" of a connection */
	unsigned access;     /* GATE_ACCESS_ bits; 0 of a connection made */
	struct strlist args; /* of an exec, the first of them */
	uint64_t count;
	bool refused;	 /* by a rule of [sandbox.programs.NAME] */
	bool unlisted;	 /* an exec that nothing granted */
	const char *why; /* of these two, a sentence; else NULL */
};

/* Files that went with a private working directory; owned by the child. */
struct gate_dropped {
	/* The folder that was asked for, where it was not granted and a
	   private, empty one took its place; else NULL. */
	const char *folder;
	/* Another private place, as HOME, that .names are in; else NULL. */
	const char *place;
	/* The first entries, sorted: "b", "x/", of a place "/home/ann/b"; then
	   files of private places that arguments name: "/tmp/a.tgz". */
	struct strlist names;
	uint64_t files; /* in it and beneath; 0 with empty folders */
	bool is_more;	/* there were more names */
	bool is_cut;	/* there may have been more files */
};

/* Files that a tree looked for and did not see, though they are there; owned by
   the child. */
struct gate_unseen {
	/* Entries of the private working directory were read, in the place of
	   those of gate_dropped.folder. */
	bool is_listed;
	const char *home; /* HOME, where the private one was listed; or NULL */
	/* Real paths that are not granted, of those that arguments, variables
	   and scripts name. */
	struct strlist paths;
	/* Files that were to be made, written, replaced or removed; of some
	   only the folder is there. */
	struct strlist changed;
};

struct gate_verdict {
	bool exited;	 /* else ended by `signal` */
	int exit_status; /* 0..255 */
	int signal;
	uint64_t cpu_us;	/* user and system time of the tree */
	uint64_t max_rss_bytes; /* of the largest process */
	const struct gate_denial *denials; /* owned by the child */
	size_t n_denials;
	uint64_t denials_dropped;    /* rows beyond the bound */
	struct gate_dropped dropped; /* no names: nothing, or not known */
	/* Endpoints that are granted and were not reached when they were tried
	   last, with the reason: "127.0.0.1:8765: connection refused". */
	struct strlist unreached;
	struct gate_unseen unseen;
	struct strlist execs;  /* when recorded */
	struct strlist limits; /* limits that were hit, in words: "memory: …";
				  owned by the child */
	const struct gate_record *records; /* owned by the child */
	size_t n_records;
	uint64_t records_dropped;
};

/*
 * Read the verdict after .pidfd became readable. 0: nothing of the tree runs
 * any more; 1: the tree has not ended yet.
 */
int gate_child_wait(struct gate_child *c, struct gate_verdict *ret) MUST_USE;
/* End what is left of the tree, reap it, close everything. Takes NULL. */
void gate_child_free(struct gate_child *c);

/*
 * Keys, tokens and sessions in HOME that a grant of `folder` would open as
 * well, for a warning: "~/.aws, ~/.ssh and 2 more". NULL when there are none,
 * or when it is one of them and so is meant. In `arena`.
 */
const char *gate_secrets_in(const struct gate *gate, const char *folder,
			    struct arena *arena) MUST_USE;

/* The row of keys, tokens or sessions, in one of these homes or of the system,
   that an absolute path lies in: "~/.ssh". NULL: none. Static; pure. */
const char *gate_secret_row(const char *path, const struct strlist *homes)
	MUST_USE;

/* Is the path, links resolved, a file of keys, tokens or sessions, or one of
   another user's homes? */
bool gate_is_secret(const struct gate *gate, const char *path) MUST_USE;

/* Name of the recipe of tool chains (build, cc) that has this program among
   those that it applies to by itself; NULL: none. Static. */
const char *gate_recipe_of(const char *program) MUST_USE;

/* Programs that the text of a shell names, each once; a guess, without those
   of expansions. In `arena`. */
struct strlist gate_shell_words(struct str text, struct arena *arena) MUST_USE;

/* Paths that a text names, as it does: "/srv/a", "~/a", "docs/a"; a guess, of
   the first 512 words. In `arena`. */
struct strlist gate_path_words(struct str text, struct arena *arena) MUST_USE;

/* ---- requests, explained ---- */

/* One path that a program gets. */
struct gate_grant {
	const char *path;   /* as it really lies */
	unsigned access;    /* GATE_ACCESS_ RUN, WRITE, READ */
	bool is_folder;	    /* and all beneath it */
	bool is_argument;   /* only because an argument names it */
	const char *why;    /* "argument", "read, exec", … */
	const char *secret; /* "~/.aws": it lies among keys; or NULL */
};

/*
 * Result of preparing a request, which spawning reads as well. Strings and
 * lists live in the arena of gate_explain().
 */
struct gate_explained {
	const char *program;	 /* resolved */
	const char *interpreter; /* of a script, else NULL */
	const char *script; /* an argument that the program runs, or NULL */
	const char *missing_script; /* argument to run that is not there */
	const char *runs;	    /* as in gate_child_info, or NULL */
	const char *installation; /* readable for it beside the file; or NULL */
	const char *cwd;  /* where it starts; NULL: in its private HOME */
	const char *user; /* user that the child becomes */
	/* Found for recipes: "/srv/p, for its package.json". */
	struct strlist projects;
	/* Grants of recipes: "git: starts git; reads /srv/p, for its .git". */
	struct strlist recipes;
	const struct gate_grant *grant;
	size_t n_grants;
	const struct gate_grant *base; /* grants of every program */
	size_t n_base;
	bool own_view; /* else private places have other names each time */
	struct strlist private_places; /* writable, empty, its own */
	struct strlist protect; /* read-only inside of what is writable */
	struct strlist hidden;	/* inside of what is granted, and not seen */
	struct strlist net;	/* "none", "all", …, or rows */
	struct strlist sockets; /* "private" and files, or "none" */
	struct strlist
		dropped; /* grants that the leash took away, in sentences */
	const char *profile;
	struct gate_policy bounds; /* numbers alone; 0 = no bound */
	const struct gate_fact *facts;
	size_t n_facts;
};

/*
 * Judge a request as gate_check() does, and explain the result.
 * errors  as gate_check()
 */
int gate_explain(struct gate *gate, const struct gate_request *request,
		 struct arena *arena, struct gate_explained *ret,
		 struct err *err) MUST_USE;

/* ---- for trace: needs of a program ---- */

/* Row of a network that grants no host, and in which hosts have names. */
#define GATE_TRACE_NO_HOST "no-host.invalid"

/*
 * Make the policy of a trace: open enough that a program can go on and show
 * its needs, and shut where that would be dangerous.
 *
 * Read and execute: everything but keys, tokens and sessions (closed.def), as
 * far as the leash goes. Write: private places, and with `writes` the folder
 * `cwd`, unless it is HOME or holds more than a project. Network: an own,
 * private loopback where there are namespaces, else none. What `asked` grants
 * is added.
 *
 * ret       lists live in `arena`
 * ret_says  sentences for people about what is open and what is left out
 * errors    ERR_SYS
 */
int gate_trace_policy(struct gate *gate, const struct gate_policy *asked,
		      const char *cwd, bool writes, struct arena *arena,
		      struct gate_policy *ret, struct strlist *ret_says,
		      struct err *err) MUST_USE;

/*
 * Reason why a program should not write there: it could change its own code, or
 * lose its package, which no writable folder may hold in part. Code is a
 * package that it finds, and a folder with its program or script; the folder
 * that it starts in is a person's work, and may hold a script.
 *
 * own      .program, .script and .installation are read
 * cwd      folder of the start, or NULL
 * returns  static, behind a path; NULL: there is none
 */
const char *gate_code_refusal(const struct gate_explained *own, const char *cwd,
			      const char *path) MUST_USE;

/* One row that a policy needs. */
struct gate_need {
	const char *key; /* "read", "write", "exec", "net", "unix",
			    "syscalls" */
	const char *value;
	const char *program; /* the first that needed it */
	uint64_t count;
	const char *why_not; /* reason why it is not granted; NULL: it is */
	/* The trace refused this program, write or connection, so that needs
	   behind it are missing. */
	bool was_refused;
	bool is_looked_up; /* asked for and never opened */
};

struct gate_needs {
	struct gate_need *need; /* by key, then by value */
	size_t n;
};

/*
 * Find what the records show and the policy of `plain` does not grant. Folders
 * are taken for several files in them, but never "/", a folder directly in it,
 * HOME, a folder of programs, or one that holds keys.
 *
 * plain    the request with the policy that holds anyway
 * traced   the policy that the records were made under
 * went_well  the program did its work: what was refused to it is no need
 * ret      in `arena`
 * errors   as gate_check()
 */
int gate_needs(struct gate *gate, const struct gate_request *plain,
	       const struct gate_policy *traced, const struct gate_verdict *v,
	       bool went_well, struct arena *arena, struct gate_needs *ret,
	       struct err *err) MUST_USE;
/* `base` with the needs that are granted; lists in `arena`. */
void gate_needs_policy(const struct gate_policy *base,
		       const struct gate_needs *needs, struct arena *arena,
		       struct gate_policy *ret);

/* ---- the process of a proxy ---- */

/*
 * The gate executes this program anew for a network of single hosts, under
 * this name; main() then hands over to gate_proxy_main() before anything else.
 * See gate/proxy.h. Returns a status only when somebody else has called.
 */
#define GATE_PROXY_NAME "matins-proxy"
int gate_proxy_main(void);

/* ---- acts of the runner itself, for routines and remote servers ---- */

struct sockaddr;

/*
 * May the runner speak to this host? The `net` of the leash caps it.
 *
 * host     a name or an address, without brackets
 * address  of the host; NULL: not resolved yet, the name alone is judged
 * errors   ERR_LEASH  the message says what to add
 */
int gate_may_connect(const struct gate *gate, struct str host, uint16_t port,
		     const struct sockaddr *address, struct err *err) MUST_USE;

/*
 * May the runner itself put a file there, as a routine asks for? The `fs_write`
 * of the leash caps it; paths of matins, what a child may not see or write,
 * keys, and files that make a folder run code are refused.
 *
 * path    absolute; its folder without links
 * errors  ERR_LEASH, ERR_POLICY
 */
int gate_may_write(struct gate *gate, const char *path, struct err *err)
	MUST_USE;

struct gate_page {
	char *path; /* of the program; owned by the struct */
	pid_t pid;
};

/*
 * Open a page in the user's own browser: judged by the leash, not confined,
 * with the user's environment and the URL as its only argument, and not ended
 * by us. No shell sees the URL.
 *
 * url     http or https
 * errors  as gate_check(), ERR_POLICY another scheme, ERR_SYS
 * source  RFC 8252 section 8.12
 */
int gate_open_page(struct gate *gate, const char *program, const char *url,
		   struct gate_page *ret, struct err *err) MUST_USE;

/*
 * Open a page of ours in a program of the user, as gate_open_page() does; wait
 * up to two seconds whether it ends with a failure.
 *
 * program  of the user's command line or environment, never of a configuration
 * path     absolute; given to the program as a URL
 * errors   as gate_check(), ERR_SYS also for a failure
 */
int gate_open_file(struct gate *gate, const char *program, const char *path,
		   struct err *err) MUST_USE;

/* Output of a tool. */
struct gate_said {
	int status;	     /* of its exit; 128+n ended by signal n */
	struct buf *out;     /* appended; bounded by its ceiling */
	struct str error;    /* standard error, without white space around it;
				in `arena` */
	struct arena *arena; /* borrowed */
};

/*
 * Run a tool of the system to its end, for the person and at a command of
 * theirs: crontab, systemctl, sbatch; no configuration leads here. It lies in a
 * folder of the system, or in one of PATH that nobody else can write, as that
 * of a cluster's scheduler; it is not confined (crontab has its rights by its
 * group), and has the person's environment.
 *
 * argv     with argv[0], the name; ends in NULL
 * input    standard input
 * errors   ERR_UNKNOWN  it is not installed; ERR_DEADLINE after 30 s;
 *	    ERR_LIMIT  more output than `out` takes; ERR_SYS
 */
int gate_run_tool(const char *const argv[], struct str input,
		  struct gate_said *ret, struct err *err) MUST_USE;

/* A process of this program, or of a tool, unconfined. */
struct gate_again {
	pid_t pid;
	int pidfd; /* readable at its end; owned, -1 without */
};

/*
 * Start this very program once more, beside this one: not confined, in a
 * session of its own, with the person's environment. SIGTERM reaches it when
 * this process ends, however that comes.
 *
 * argv    ends in NULL; the words of a command behind argv[0], which is a name
 * fd      for its 0 to 3; borrowed
 * errors  ERR_SYS
 */
int gate_again_start(const char *const argv[], const int fd[4],
		     struct gate_again *ret, struct err *err) MUST_USE;
/*
 * Start a tool of the system beside this one, as gate_run_tool() runs it: ssh.
 *
 * fd      for its 0 to 2; borrowed
 * errors  ERR_UNKNOWN  it is not installed; ERR_SYS
 */
int gate_start_tool(const char *const argv[], const int fd[3],
		    struct gate_again *ret, struct err *err) MUST_USE;
void gate_again_signal(const struct gate_again *a, int signal);
/* Reap it, however long its end takes, and give everything back. Returns the
   status as a shell has it; -1: none runs. */
int gate_again_wait(struct gate_again *a);

/* ---- for doctor and help ---- */

/* Facts of the default policy on this kernel; borrowed from the gate. */
const struct gate_fact *gate_protections(struct gate *gate, size_t *ret_n)
	MUST_USE;
const char *gate_level_name(enum gate_level level) MUST_USE;
/* The names that `require` takes, by turns; NULL at the end. Static. */
const char *gate_require_name(size_t turn) MUST_USE;
/* The recipes that `preset` names, by turns; NULL at the end. Static. */
const char *gate_recipe(size_t turn, const char **ret_help) MUST_USE;
/* Danger where this guarantee does not hold, in words; static, "" of none. */
const char *gate_lost(const char *guarantee) MUST_USE;

/*
 * The means behind them, tried now: a row for each that there is or is not,
 * .guarantee being its name, and rows for the user and the view of children.
 */
const struct gate_fact *gate_machine(struct gate *gate, size_t *ret_n) MUST_USE;

#endif
