/*
 * Needs of a program in a form to paste: a `sandbox` table in TOML, or JSON.
 */
#ifndef CORE_CLI_NEEDS_PRINT_H
#define CORE_CLI_NEEDS_PRINT_H

#include "core/base/buf.h"
#include "gate/gate.h"

struct needs_print {
	const struct gate_policy *plain; /* policy of the options */
	const struct gate_needs *needs;
	const char *table; /* "[sandbox]" */
	uint64_t dropped;  /* records beyond the bound */
};

/* Print TOML; rows without a grant stand in comments, with the reason. */
void needs_print_toml(const struct needs_print *p, struct buf *out);
/*
 * {"sandbox": {…}, "needs": […], "dropped": n}; dropped counts events whose
 * path found no row.
 */
void needs_print_json(const struct needs_print *p, struct buf *out);

#endif
