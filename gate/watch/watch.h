/*
 * Record of what a tree does, written while it runs.
 *
 * With watching, the calls of watch.def that the filter allows go to the
 * listener first, which records them and lets them go on. It never allows
 * anything: the filter's argument rules have been passed before, and what the
 * call may reach is decided by the kernel (Landlock, the view) afterwards.
 * Another thread can change the arguments in between, so the record is what
 * honest programs do. An exec that a rule of [sandbox.programs] forbids is
 * refused here, which binds honest programs only, too; one that the kernel will
 * refuse, because no list names the program, goes on and is written down.
 *
 *	struct watch w = WATCH_INIT;
 *	w.what = GATE_RECORD_EXEC;
 *	watch_filter(&filter, w.what, &arena, &prog)	into the launch
 *	notify_serve(fd, &log, &w);			when it is readable
 *	rows = w.records.row
 *	watch_release(&w);
 */
#ifndef GATE_WATCH_WATCH_H
#define GATE_WATCH_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/gate.h"
#include "gate/watch/services.h"
#include "gate/watch/sockets.h"

/* Rows of one tree; the events that find no row are counted. */
#define WATCH_RECORDS 4096
/*
 * Rows of a trace, which a person started and waits for: `npm install` opens
 * some twenty thousand files. Some 50 MiB at most.
 */
#define WATCH_RECORDS_TRACE (1U << 18)
/* Arguments of an exec that are kept, and bytes of each with the NUL. */
#define WATCH_ARGS 16
#define WATCH_ARG_BYTES 256
/* Arguments of an exec that rules judge, and bytes of all of them. */
#define WATCH_JUDGED_ARGS 512
#define WATCH_JUDGED_BYTES (128 * 1024)

struct records {
	struct arena arena;	 /* of the strings */
	struct gate_record *row; /* owned */
	uint32_t *slot;		 /* hash table of row numbers + 1; owned */
	size_t n, cap;
	size_t max; /* rows that are kept; 0 = WATCH_RECORDS */
	uint64_t dropped;
};

struct watch_seen;

/* A path that is not in the view of a tree, and is watched for. */
struct watch_name {
	const char *seen; /* as the tree names it */
	const char *real; /* where it lies */
	bool is_asked;	  /* for itself, or something beneath it */
	bool is_new;	  /* only its folder is there */
	bool is_read;	  /* granted for reading: changes alone count */
	bool is_file;	  /* granted, and not its folder: it is not replaced */
	bool is_changed;  /* to be made, written, replaced or removed */
	bool is_told;	  /* by gate_child_lost() */
};

/* An exec that a task asks for, looked at from outside. */
struct watch_exec {
	const char *path; /* as the task names it; "?": it cannot be read */
	/* Place in the view of the task, all links followed; "" when `error`
	   says why the file could not be opened there. */
	const char *file;
	uint64_t dev, ino;
	bool is_program; /* a regular file that may be executed */
	int error;
	struct strlist argv; /* as far as it was read */
	bool is_cut; /* there is more: WATCH_JUDGED_ARGS and _BYTES, memory that
			cannot be read */
};

enum watch_answer {
	WATCH_GOES_ON,
	WATCH_NOT_THERE, /* refuse it with its `error`, which is not written
			    down */
	WATCH_FORBIDDEN, /* by a rule: refuse it, write it down */
	WATCH_UNLISTED,	 /* by the kernel: it goes on, write it down */
};

struct watch {
	unsigned what; /* GATE_RECORD_ bits that are recorded */
	/* Asked for each exec, recorded or not; `why` says what is forbidden or
	   unlisted. NULL: every exec goes on. */
	enum watch_answer (*judge)(void *arg, const struct watch_exec *x,
				   struct err *why);
	void *judge_arg;
	bool reads_all; /* all arguments, not only those that are kept */
	/* Files are looked at only as far as that needs no answer of a file
	   server, which could hold us up: what needs one has an `error`. */
	bool only_cached;
	bool has_begun; /* the gate's own exec comes no more */
	/* Carries connections out; NULL: they are no concern of ours. Borrowed.
	 */
	struct sockets *sockets;
	struct watch_name *names; /* marked when the tree asks; borrowed */
	size_t n_names;
	struct records records;
	struct watch_seen *seen; /* owned */
};

#define WATCH_INIT        \
	{                 \
		.what = 0 \
	}

/* The GATE_RECORD_ bits that the filter must watch; 0 = none. */
unsigned watch_wants(const struct watch *w) MUST_USE;

/*
 * The filter with watching. It is two copies of `plain`: numbers that are
 * watched run the one in which what is allowed is notified and what is
 * refused is EPERM at once, so a watched call that comes to the listener is
 * an allowed one. All others run `plain` as it is.
 *
 * plain    built with SECCOMP_DENY_NOTIFY
 * cookie   where execs alone are watched: one with this as its sixth argument,
 *	    which the kernel does not read, is the gate's own, and goes on
 *	    unseen; a round trip for each child is saved. 0: there is none
 * held     how the tree has sockets of AF_UNIX
 * ret      instructions in the arena
 * returns  false when the result is longer than the kernel takes
 */
bool watch_filter(const struct sock_fprog *plain, unsigned what,
		  uint64_t cookie, enum sockets_held held, struct arena *arena,
		  struct sock_fprog *ret) MUST_USE;

/* Is a notification of this call an allowed one that is watched? */
bool watch_covers(const struct watch *w, int nr) MUST_USE;

/*
 * Add one record, or count it: same kind, path, access, program and refusal
 * are one row. Strings are copied, of the arguments WATCH_ARGS.
 */
void records_add(struct records *r, const struct gate_record *what);
/* All paths of execs that ran as far as is known, in order; in the records'
   arena. */
struct strlist records_list_execs(struct records *r) MUST_USE;
void watch_release(struct watch *w);

/*
 * An address as text: "127.0.0.1:80", "[::1]:80", "unix:/run/x",
 * "unix:@name"; false for other families and what is cut short.
 */
bool watch_address(const void *address, size_t size, char *ret, size_t n)
	MUST_USE;

/* ---- answers to refused calls ---- */

/*
 * A filter built with SECCOMP_DENY_NOTIFY stops the calling task and tells a
 * listener, a descriptor that the child sent to the gate. notify_serve()
 * answers each with EPERM: the listener names what was refused and never
 * decides. The child sees what it would see without a listener. Only calls that
 * the filter has allowed and that come because they are watched
 * (gate/watch/watch.h) are told to go on.
 *
 *	struct denials log = DENIALS_INIT;
 *	... when the listener is readable:
 *	if (notify_serve(fd, &log, NULL) != NOTIFY_OK)
 *		close it, no task uses the filter any more
 *	rows = log.row, log.n
 *	denials_release(&log);
 */

/* Rows of one child; a refused call of a new program or number is one. */
#define DENIALS_MAX 64
/* Rows of a child in all, endpoints that the proxy refused among them. */
#define DENIALS_ROWS (2 * DENIALS_MAX)
/* Calls of one row whose arguments are looked at; then they are counted. */
#define DENIALS_DETAILED 20
/* Text of the arguments in one row, bytes. */
#define DENIALS_DETAIL_BYTES 512

struct denials {
	struct gate_denial *row; /* in the arena, as their strings */
	int *nr;		 /* call number of each row; -1: of no call */
	size_t n;
	uint64_t dropped; /* refused calls beyond the rows */
	/* Where connections to an own loopback found nobody. */
	struct services missed;
	struct arena arena;
};

#define DENIALS_INIT   \
	{              \
		.n = 0 \
	}

enum { NOTIFY_OK = 0, NOTIFY_ENDED = 1, NOTIFY_BROKEN = 2 };

/*
 * Answer what waits, at most DENIALS_MAX calls, and record it. Never waits.
 *
 * fd       the listener, borrowed
 * watch    what is watched: such calls go on once they are written down.
 *	    NULL: every call is refused
 * returns  NOTIFY_OK; NOTIFY_ENDED when no task has the filter any more;
 *	    NOTIFY_BROKEN when it cannot be served: close it, so that no task
 *	    waits for ever
 */
int notify_serve(int fd, struct denials *log, struct watch *watch) MUST_USE;
/*
 * Try the calls again that had to wait for somebody else. As notify_serve(),
 * when sockets_due_ms() have passed.
 */
int notify_again(int fd, struct denials *log, struct watch *watch) MUST_USE;

/*
 * Record one refused call.
 * comm  the name of the task; "?" when it is gone
 */
void denials_add(struct denials *log, const struct seccomp_data *data,
		 const char *comm);
/*
 * Record something else that was refused, once: an endpoint of the proxy, an
 * exec. `row` is copied; .kind and .allow.key are static.
 */
void denials_add_row(struct denials *log, const struct gate_denial *row);
/* Record the missed places that this machine serves, once the tree has ended:
   a row of net would have led there. */
void denials_add_missed(struct denials *log);
void denials_release(struct denials *log);

#endif
