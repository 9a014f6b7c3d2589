/*
 * What the files of the ledger share. Who records or reads runs sees ledger.h.
 *
 *	ledger.c	  where it is, opening it, the lock of a routine
 *	ledger_lines.c	  lines of the file, read and appended
 *	ledger_write.c	  a run: its generation, how it ended, its report
 *	ledger_alive.c	  is the process of a run still there?
 *	ledger_history.c  the runs that the lines tell of
 */
#ifndef CORE_REPORT_LEDGER_INNER_H
#define CORE_REPORT_LEDGER_INNER_H

#include "core/report/ledger.h"

struct ledger {
	char *dir; /* owned */
	int fd;	   /* of ledger.jsonl; -1 when there is none to read */
};

/* ledger_lines.c */
/* One `started` or `finished` line; slices of the text that was read. */
struct ledger_record {
	bool started;
	uint64_t generation;
	struct str doc;
};

/* False: it is neither, or torn. */
bool ledger_read_record(struct str line, struct ledger_record *ret) MUST_USE;
/*
 * The last n bytes, or all; without a line that is cut at the front.
 *
 * out      what was in there is lost
 * ret_all  nothing stands before what was read
 */
int ledger_read_tail(const struct ledger *l, size_t n, struct buf *out,
		     bool *ret_all, struct err *err) MUST_USE;
/* 0: none was ever taken. */
int ledger_last_generation(const struct ledger *l, uint64_t *ret,
			   struct err *err) MUST_USE;
/* flock(2), again after a signal. */
int ledger_lock(int fd, int how);
/*
 * Under the lock. All of the line is there afterwards, or nothing of it.
 * line  without newline; gets one
 */
int ledger_append(struct ledger *l, struct buf *line, struct err *err) MUST_USE;
int ledger_sync(const struct ledger *l, struct err *err) MUST_USE;

/* ledger_alive.c */
/* Field 22 of /proc/PID/stat, in ticks since boot; 0 when it is gone. */
uint64_t ledger_process_start(int64_t pid) MUST_USE;
/* Appended; nothing where there is no /proc. */
void ledger_boot_id(struct buf *out);
/*
 * started  the JSON of a `started` line
 * boot     ledger_boot_id() of now
 */
bool ledger_is_alive(struct str started, struct str boot) MUST_USE;

#endif
