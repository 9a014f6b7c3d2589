/*
 * Reports kept on disk: `reports/FILE/GENERATION.json` in a state directory,
 * where FILE is a digest of the path of the configuration: one never removes
 * reports of another. Earlier versions kept theirs in `reports` itself; those
 * can be read, and stay.
 *
 * A reader sees a whole report or none: a report is written beside its place,
 * renamed and synced. What a crash leaves is no report until the ledger says
 * that its run has finished. The store knows bytes, not their meaning.
 */
#ifndef CORE_REPORT_STORE_H
#define CORE_REPORT_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/sha256.h"

/* Place of a report. */
struct store_place {
	const char *state_dir;
	const char *file; /* path of the configuration */
	uint64_t generation;
	uint64_t keep;		     /* reports of the file that stay */
	const struct timespec *room; /* of store_make_room(); NULL: none */
};

/*
 * Keep a report, and of all reports of the file only the `keep` with the
 * highest generations. With keep 0 nothing is written and all are removed.
 *
 * ret_hex  sum of the report, also of one that is not kept
 * errors   ERR_SYS
 */
int store_put(const struct store_place *p, const struct fd_text *report,
	      char ret_hex[SHA256_HEX_BYTES], struct err *err) MUST_USE;

/* Replace a report, if it is kept still: a crash leaves one of the two. */
int store_replace(const char *state_dir, const char *file, uint64_t generation,
		  struct str report, struct err *err) MUST_USE;

/*
 * Remove, while there is time, what the next report of the file will push out.
 * Where a run is lost then, there is one report less; so with one that is kept
 * nothing is done.
 *
 * ret      for store_put(), which looks again where another run was faster
 * returns  whether room was made
 */
bool store_make_room(const char *state_dir, const char *file, uint64_t keep,
		     struct timespec *ret) MUST_USE;

/*
 * Open the journal of a run: a file for its results as they come, which is
 * there until store_end_journal(), or for a month where the run was lost.
 *
 * returns  a descriptor to append to
 * errors   ERR_SYS
 */
int store_journal(const char *state_dir, const char *file, uint64_t generation,
		  struct err *err) MUST_USE;
void store_end_journal(const char *state_dir, const char *file,
		       uint64_t generation);
/*
 * Append the journal of a lost run to `out`.
 *
 * since_ns  beginning of the run, since 1970: an older journal is of a run of
 *	     that generation in a ledger that is gone
 * errors    ERR_UNKNOWN, and as store_get()
 */
int store_get_journal(const char *state_dir, const char *file,
		      uint64_t generation, int64_t since_ns, struct buf *out,
		      struct err *err) MUST_USE;

/*
 * Append a kept report to `out`.
 *
 * file    as given to store_put(); "" for a report that an earlier version kept
 * errors  ERR_UNKNOWN  there is none (any more)
 *	   ERR_SYS, ERR_LIMIT
 */
int store_get(const char *state_dir, const char *file, uint64_t generation,
	      struct buf *out, struct err *err) MUST_USE;

/* Find the lowest generation of a file of which a report or a journal is kept,
   or one of an earlier version; UINT64_MAX: there is none. */
uint64_t store_oldest(const char *state_dir, const char *file) MUST_USE;

#endif
