/*
 * Cause why a server gave no answer: as a reason for the report, as a sentence
 * that is the same whenever the same goes wrong, and as details for a person.
 */
#ifndef CORE_CLIENT_FAILURE_H
#define CORE_CLIENT_FAILURE_H

#include "core/base/buf.h"
#include "core/client/link.h"
#include "core/report/report.h"

struct failure {
	const struct link *link; /* borrowed */
	enum step_reason reason; /* REASON_NONE: nothing failed */
	bool is_cut;		 /* the output ended within a message */
	struct buf sentence, details;
};

/* Ends the sentence about a request that was sent and lost. */
#define OUTCOME_IS_UNKNOWN "; the outcome is unknown, and it was not repeated"

/* Reason of a program that could not be started: "no_command", "leash", … */
enum step_reason failure_of_spawn(const struct err *err) MUST_USE;
/* method  of the request that failed; NULL: the session itself failed */
enum step_reason failure_of_event(const struct session_event *e,
				  const char *method) MUST_USE;
/*
 * Append "the server exited with status 3 before the answer to tools/call":
 * how a process ended that was to answer.
 *
 * method   of the request; NULL where none was made
 * is_sent  the request was, so its outcome is unknown
 */
void failure_say_end(const struct failure *f, const char *method, bool is_sent,
		     struct buf *out);
/* Fill the details: the first line on stdout that is no message, and the last
   lines of stderr. */
void failure_note_details(struct failure *f);

#endif
