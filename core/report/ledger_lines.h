/*
 * Lines of the ledger and the processes that wrote them, for the two files
 * behind ledger.h: ledger.c writes runs, ledger_history.c lists them.
 */
#ifndef CORE_REPORT_LEDGER_LINES_H
#define CORE_REPORT_LEDGER_LINES_H

#include "core/report/ledger.h"

struct ledger {
	char *dir; /* owned */
	int fd;	   /* of ledger.jsonl; -1: there is none to read */
};

/* A `started` or `finished` line; slices of the text that was read. */
struct ledger_record {
	bool started;
	uint64_t generation;
	struct str doc;
};

/* Parse a line; false: another text, or a torn line. */
bool ledger_read_record(struct str line, struct ledger_record *ret) MUST_USE;
/*
 * Read the last n bytes, or all, without a line that is cut at the front.
 *
 * out      is emptied first
 * ret_all  the text begins with the first line of the file
 */
int ledger_read_tail(const struct ledger *l, size_t n, struct buf *out,
		     bool *ret_all, struct err *err) MUST_USE;
/*
 * Start time of a process in ticks since boot; 0: it is gone.
 * source  proc_pid_stat(5), field 22
 */
uint64_t ledger_process_start(int64_t pid) MUST_USE;
/* Append the id of this boot; nothing where there is no /proc. */
void ledger_boot_id(struct buf *out);

#endif
