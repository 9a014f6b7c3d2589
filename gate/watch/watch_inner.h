/*
 * What the files behind watch.h share.
 *
 *	watch.c		 the table, what a call asks for, may it go on?
 *	watch_filter.c	 the filter that brings watched calls to the gate
 *	watch_read.c	 what memory and /proc of the task tell of a call
 *	watch_records.c	 rows, found by hash and counted
 */
#ifndef GATE_WATCH_WATCH_INNER_H
#define GATE_WATCH_WATCH_INNER_H

#include <limits.h>
#include <sys/syscall.h>

#include "gate/watch/watch.h"

/* What a call does with what it names. */
enum watch_how {
	WATCH_OPEN,
	WATCH_CHANGE,
	WATCH_ENTRY,
	WATCH_MAKE,
	WATCH_REMOVE,
	WATCH_READ,
	WATCH_RUN,
	WATCH_CONNECT,
	WATCH_BIND,
	WATCH_SEND,
};

/* How many watch.def has. */
enum {
	WATCH_ROWS = 0
#define WATCH(call, what, how, dir, path, more) +1
#include "gate/watch/watch.def"
#undef WATCH
};

/* A row of watch.def; dir, path and more are numbers of arguments. */
struct watch_row {
	int nr;
	unsigned what;
	enum watch_how how;
	int8_t dir, path, more;
};

/* Rows of one call stand together. */
extern const struct watch_row watch_rows[WATCH_ROWS];

/* What the call that waits asks for: it may have two rows. */
struct watch_seen {
	unsigned n;
	struct watch_exec exec;
	char file[PATH_MAX];
	struct err why; /* of what is refused */
	struct gate_record record[2];
	char path[2][PATH_MAX + PATH_MAX];
	char text[WATCH_JUDGED_BYTES]; /* of the arguments */
	const char *arg[WATCH_JUDGED_ARGS];
};

/* Stands for a path or an address that cannot be read. */
extern const char watch_unknown[];

/* watch_read.c */
/* Absolute, as the task names it. False: it cannot be told. */
bool watch_read_path(const struct seccomp_notif *req,
		     const struct watch_row *row, char *to, size_t n) MUST_USE;
/*
 * Open what an exec names, O_PATH, as the kernel will: in the root of the
 * task, its links followed there. Magic links of /proc are followed for the
 * task's own program and descriptors only, since they mean somebody else to
 * whom looks from outside.
 *
 * path     from watch_read_path()
 * cached   -EAGAIN for what a file server would have to be asked
 * returns  a descriptor, or -errno
 */
int watch_open_exec(const struct seccomp_notif *req,
		    const struct watch_row *row, const char *path, bool cached)
	MUST_USE;
/*
 * The arguments of an exec, into the record that is next in `seen`.
 * all  as many as rules look at, else as many as a record keeps
 */
void watch_read_args(const struct seccomp_notif *req,
		     const struct watch_row *row, bool all,
		     struct watch_seen *seen);
/* False: nothing that is worth a row. */
bool watch_read_address(const struct seccomp_notif *req,
			const struct watch_row *row, char *to, size_t n)
	MUST_USE;
/* In the view of the task. What we may not look at counts as there. */
bool watch_is_there(pid_t pid, const char *path) MUST_USE;

#endif
