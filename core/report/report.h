/*
 * The report of a run: the document matins-report/1 and its builder.
 *
 * A report knows entries, states and facts, never a step type. core/run fills
 * one struct report while steps end; core/report/render.h prints it; a printed
 * one is read back with report_load(), for show, golden and diff.
 *
 * Strings and JSON are borrowed unless said otherwise: the arena of the run,
 * or the text that was loaded, must live as long as the report.
 */
#ifndef CORE_REPORT_REPORT_H
#define CORE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/jw.h"
#include "core/base/str.h"

#define REPORT_SCHEMA "matins-report/1"
#define MCP_CLIENT_SCHEMA "mcp-client/1"

enum step_state {
#define STATE(name, word, says, success) STATE_##name,
#include "core/report/states.def"
#undef STATE
	N_STATES
};

struct report_state {
	const char *word, *says; /* in JSON; for people */
	bool success;
};

/* By state. */
extern const struct report_state REPORT_STATES[N_STATES];

enum step_reason {
	REASON_NONE,
#define REASON(name, word, state) REASON_##name,
#include "core/report/reasons.def"
#undef REASON
};

/* A CallToolResult, raw and proved; content.n = 0: there is none. */
struct report_answer {
	struct str content;    /* JSON array */
	struct str structured; /* n = 0 when absent */
	bool is_error;
};

/* One piece of advice after a refusal of the sandbox. */
struct report_advice {
	struct str text; /* a sentence: refused access, and its effect */
	struct str toml; /* line of the step's table that allows it; or n = 0 */
};

/* Content of a tool's answer, or elements of a loop, that there were none of.
 */
enum report_lack { LACKS_NOTHING, LACKS_CONTENT, LACKS_ITEMS, N_LACKS };
extern const char *const REPORT_LACKS[N_LACKS];

struct report_step {
	const char *name;
	const char *type;
	enum step_state state;
	enum step_reason reason; /* REASON_NONE when ok */
	struct str error;	 /* the sentence; empty when ok */
	struct str said;	 /* useful lines of stderr, after a failure */
	const struct report_advice *advice; /* of any state; by importance */
	size_t n_advice;
	struct str output; /* the human body; may be empty */
	struct str data;   /* one JSON value; n = 0 when absent */
	/* Of an MCP step: the data, and the output while that is empty, are
	   made of it when they are printed; it may be large. */
	struct report_answer answer;
	struct str run; /* JSON object of what varies; n = 0 when absent */
	bool refused;	/* a program, file or connection, in any state */
	enum report_lack lacks; /* of a step that is ok, without `expect` */
	bool required;		/* a skip counts as a failure */
	bool not_begun;		/* cancelled before its turn; it did not run */
};

struct diff;

/* Differences to an earlier run. */
struct report_changes {
	uint64_t since; /* generation of that run */
	const struct diff *diff;
};

struct report {
	uint64_t generation; /* 0 for dry runs */
	const char *routine;
	bool dry_run;
	bool allow_empty;	   /* nothing ran is a success all the same */
	struct report_step *steps; /* file order */
	size_t n_steps;
	struct str run; /* JSON object of what varies; n = 0 when absent */
	const struct report_changes *changes; /* NULL: not asked for */
};

/* State that goes with a reason; STATE_OK for REASON_NONE. */
enum step_state report_reason_state(enum step_reason r) MUST_USE;
const char *report_reason_name(enum step_reason r) MUST_USE;
/* Set the reason, its state and the sentence, which is borrowed. */
void report_step_set(struct report_step *s, enum step_reason reason,
		     struct str error);
/* No failure: ok, or skipped where that is allowed. */
bool report_step_success(const struct report_step *s) MUST_USE;

struct report_counts {
	size_t ran, skipped, failed;
	size_t not_begun;      /* neither of these, and no success */
	size_t refused;	       /* of those that ran and did not fail */
	size_t lacks[N_LACKS]; /* so are these */
};

/* A required step that was skipped counts as failed, too. */
struct report_counts report_count(const struct report *r) MUST_USE;

/* Every step that ran succeeded, and something ran (or a dry run). */
bool report_success(const struct report *r) MUST_USE;
/* 0 or 2, by section "Exit status" of the manual. */
int report_exit_status(const struct report *r) MUST_USE;
/* "morning: 2 ran, 0 skipped, 1 failed[, 1 not begun][, 1 with refusals]
   [, 1 without content][, 1 without items][ — nothing ran]" */
char *report_summary(const struct report *r, struct arena *arena) MUST_USE;

/*
 * The human body of a `content` array: text blocks joined by newlines, every
 * other block as one short line.
 */
void report_mcp_output(struct buf *out, struct str content);

/*
 * Look whether a CallToolResult gives a person nothing: no block but texts of
 * blanks, and no structured content, which may be absent or null.
 */
bool report_answer_is_empty(struct str content, struct str structured) MUST_USE;

/* Append ", 12 KiB". */
void report_add_size(struct buf *out, uint64_t bytes);
/* Append "80 ms", "6.0 s", "2 min 5 s", "1 h 12 min"; us in microseconds. */
void report_add_duration(struct buf *out, uint64_t us);

bool report_step_has_data(const struct report_step *s) MUST_USE;
/*
 * Write the data of a step that has some; of an mcp-client step schema,
 * content, isError, and structuredContent when there is one. Slices are
 * written as they came.
 */
void report_step_data(struct jw *w, const struct report_step *s);
/* Append the human body. */
void report_step_output(struct buf *out, const struct report_step *s);

/*
 * Read a printed report. Slices of the result point into `text`; the rest
 * lives in `arena`. Unknown members are ignored.
 * errors  ERR_SYNTAX, ERR_COMPARE (not a matins-report/1)
 */
int report_load(struct str text, struct arena *arena, struct report *ret,
		struct err *err) MUST_USE;

#endif
