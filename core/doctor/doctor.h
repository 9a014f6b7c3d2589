/*
 * Can a routine run here, now? Findings of `matins doctor`.
 *
 * Looks, and unless `deep` starts and asks nothing: programs are resolved as a
 * spawn would, credentials are looked at without their values leaving this
 * folder, the kernel's protections come from the gate.
 */
#ifndef CORE_DOCTOR_DOCTOR_H
#define CORE_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/config/config.h"
#include "core/run/inputs.h"
#include "gate/gate.h"

enum check_level { CHECK_OK, CHECK_WARNING, CHECK_FAILED };

struct check {
	const char *area; /* "program", "credential", "protection", … */
	const char *name; /* of the thing looked at */
	enum check_level level;
	const char *text;   /* finding, a sentence */
	const char *remedy; /* advice; "" when nothing is to be done */
	uint32_t line, col; /* of the step, where starts_only was asked; or 0 */
};

struct doctor_options {
	const struct config_file *file; /* NULL: this machine only */
	const struct routine *routine;	/* NULL: every routine of the file */
	struct inputs_given given;	/* parameters of the routine */
	uint64_t stale_ms;		/* 0: not looked at */
	int64_t wall_ns;		/* of now */
	bool deep; /* servers are started, or connected to, and asked */
	/* A timer or cron starts it, with the variables of now: nobody is
	   asked, logs in or unlocks a key. */
	bool unattended;
	bool is_new; /* about to be scheduled: no time of it was due */
	struct strlist approved; /* names of --approve */
	bool confirmed;		 /* --yes: tools of `confirm` are agreed to */
	bool starts_only; /* rows of what each program comes to, no others */
};

struct doctor {
	struct arena *arena; /* borrowed; everything below lives there */
	struct check *check;
	size_t n;
	/* the rest is set by doctor_look() */
	const struct doctor_options *options;
	const struct config *config; /* NULL: this machine only */
	const char *state;	     /* the state directory; NULL: none */
	struct gate *gate;
	struct gate_policy policy; /* of [sandbox]; no program gets more */
};

/*
 * Add the rows of all that the options name to `d`, whose arena is set.
 *
 * errors  ERR_CONFIG  a leash that cannot be read
 */
int doctor_look(const struct doctor_options *o, struct doctor *d,
		struct err *err) MUST_USE;

/* Report whether a row is CHECK_FAILED. */
bool doctor_failed(const struct doctor *d) MUST_USE;
/* Add a line a row, by area, and a closing sentence; with -q what failed. */
void doctor_print_text(const struct doctor *d, const struct doctor_options *o,
		       struct buf *out);
/* Add one JSON document on a line of its own. */
void doctor_print_json(const struct doctor *d, struct buf *out);

#endif
