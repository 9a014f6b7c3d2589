/*
 * Reports that past runs left, found by what a person writes.
 */
#ifndef CORE_CLI_PAST_H
#define CORE_CLI_PAST_H

#include "core/base/jw.h"
#include "core/base/outfile.h"
#include "core/cli/args.h"
#include "core/report/ledger_runs.h"
#include "core/report/schedule.h"

struct past_query {
	const char *which; /* a generation, or "last": the last that finished */
	bool is_run;	   /* `which` is one of these, and no file */
	/* For "last"; NULL: any. */
	const char *routine;
	const char *file; /* real path of the configuration */
	bool is_bound;	  /* a run by its number, too, is one of .file */
	bool whole;	  /* for "last": only runs of all steps that are kept */
};

/*
 * The configuration whose runs are meant: that of --file, --config; else the
 * one that is found, where it has the routine.
 *
 * routine  may be NULL: only --config counts
 * ret      real path, in `arena`; NULL: runs of any file
 * errors   ERR_SYS  the file of --config is not there
 */
int past_file(const struct args *args, const char *routine, struct arena *arena,
	      const char **ret, struct err *err) MUST_USE;
/* Runs that a command lists. */
struct past_filter {
	const char *routine, *file; /* file: real path; NULL: any */
	bool is_failed;		    /* failed and lost ones only */
	int64_t since_ns;	    /* since 1970 UTC: began then or later */
	size_t max;
	bool counts_whole; /* for .max count runs of all steps alone */
};

/* Rows for a command's table of options: which runs. */
#define PAST_OPTIONS                                                         \
	{"since", 0, "7d|2026-11-01", "only runs that began since then"},    \
	{                                                                    \
		"file", 0, "FILE",                                           \
			"only runs of this configuration, though it be gone" \
	}

/* Read "7d", or a day: the time then, since 1970 UTC. false: another text */
bool past_since(const char *text, int64_t now_ns, int64_t *ret_ns) MUST_USE;

/*
 * Read --since, --file, --config and --failed.
 *
 * routine  NULL: any
 * ret      .max stays
 * errors   ERR_USAGE, past_file()
 */
int past_filter_read(const struct args *args, const char *routine,
		     struct arena *arena, struct past_filter *ret,
		     struct err *err) MUST_USE;
/*
 * Find runs, the newest first; of the ledger no more is read than that takes.
 *
 * ret       in `arena`
 * ret_more  there are older ones
 */
int past_list(struct ledger *l, const struct past_filter *filter,
	      struct arena *arena, const struct ledger_run *const **ret,
	      size_t *ret_n, bool *ret_more, struct err *err) MUST_USE;
/*
 * Append a report: the file of that name, "-" for stdin; without such a file
 * a generation, or "last".
 *
 * q        how "last" is found; .which is the name
 * ret_run  in `arena`; NULL when the report is a file
 * errors   ERR_SYS, ERR_LIMIT
 *	    ERR_USAGE	 is_run, and neither a number nor "last"
 *	    ERR_UNKNOWN_RUN  no such run
 *	    ERR_UNKNOWN	 its report is not kept (any more)
 */
int past_read(const struct past_query *q, struct arena *arena, struct buf *out,
	      const struct ledger_run **ret_run, struct err *err) MUST_USE;

/*
 * Refuse a file of --output to which a program of the configuration may have
 * made a link, as path_check_links_of() does.
 *
 * config  path of the configuration whose runs are shown; NULL, or one that is
 *	   not there any more: nothing is refused
 */
int past_check_output(const struct outfile *f, const char *config,
		      struct err *err) MUST_USE;

/* The newest runs, for lists of routines; read as far as these ask. */
struct past_runs {
	struct ledger *l; /* owned */
	struct ledger_walk walk;
};

/* Open the ledger; one that cannot be read has no runs. For AUTO(). */
void past_runs_open(struct past_runs *r, struct arena *arena);
void past_runs_release(struct past_runs *r);
/* The last run of all steps of a routine; NULL: there is none among the newest
   PAST_RUNS. */
const struct ledger_run *past_last_run(struct past_runs *r, const char *routine,
				       const char *file) MUST_USE;
#define PAST_RUNS 5000
/* Write the last run as "last", where there is one. */
void past_last_json(struct past_runs *r, const char *routine, const char *file,
		    struct jw *w);
/* The first slot of a schedule behind the last that began, where one is
   overdue;
   "": none is. In `arena`. */
const char *past_overdue(struct past_runs *r, const struct schedule *s,
			 struct arena *arena) MUST_USE;
/* "last run 12 ok, of 2026-11-23T07:00", on this machine's clock as schedules
   have it; NULL: "not run yet". In `arena`. */
const char *past_say(const struct ledger_run *run, struct arena *arena)
	MUST_USE;
/* Last run of the whole routine of a schedule in words, with "; overdue since
   2026-11-24T07:00" where it is; in `arena`. */
const char *past_last(struct past_runs *r, const struct schedule *s,
		      struct arena *arena) MUST_USE;

#endif
