/*
 * Rows of `matins doctor`, and what each look at something needs to know.
 *
 * The files that look add rows; doctor.c decides what is looked at, in which
 * order.
 */
#ifndef CORE_DOCTOR_DOCTOR_CHECKS_H
#define CORE_DOCTOR_DOCTOR_CHECKS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/config/config.h"
#include "gate/gate.h"

enum check_level { CHECK_OK, CHECK_WARNING, CHECK_FAILED };

struct check {
	const char *area; /* "program", "credential", "protection", … */
	const char *name; /* of the thing looked at */
	enum check_level level;
	const char *text;   /* finding, a sentence */
	const char *remedy; /* advice; "" when nothing is to be done */
};

struct doctor_options {
	const struct config_file *file; /* NULL: this machine only */
	const struct routine *routine;	/* NULL: every routine of the file */
	uint64_t stale_ms;		/* 0: not looked at */
	int64_t wall_ns;		/* of now */
	bool deep; /* servers are started, or connected to, and asked */
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

/* Add a row; all texts are copied but `area`, which is static. */
void doctor_add(struct doctor *d, const char *area, const char *name,
		enum check_level level, const char *remedy, const char *fmt,
		...) PRINTF(6, 7);
/* Advice about a program that the gate refuses; static. */
const char *doctor_program_remedy(const struct err *err) MUST_USE;
/* "routine/step", or "servers.NAME" for a server that no step uses. */
const char *doctor_row(struct doctor *d, const struct routine *routine,
		       const struct step *step) MUST_USE;

#endif
