/*
 * Errors, warnings and notes on a configuration: collected, at most
 * LIMIT_CONFIG_ERRORS, in the order of their places.
 */
#ifndef CORE_CONFIG_FINDINGS_H
#define CORE_CONFIG_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"

/* err.line and err.col are its place; 0 without. */
struct finding {
	bool warning;
	bool note; /* a warning of the mildest kind; `check` shows it */
	struct err err;
};

struct findings {
	struct finding *item; /* owned; freed by findings_release() */
	size_t n, cap;
	uint64_t dropped; /* beyond LIMIT_CONFIG_ERRORS */
	bool has_error;
};

void findings_add(struct findings *f, bool warning, const struct err *err);
void findings_add_note(struct findings *f, const struct err *err);
/* Bring them into the order of their places. */
void findings_sort(struct findings *f);
/* "error", "warning" or "note"; static. */
const char *finding_severity(const struct finding *f) MUST_USE;
void findings_release(struct findings *f);
/* Add one of the kind ERR_CONFIG. */
void findings_addf(struct findings *f, bool warning, uint32_t line,
		   uint32_t col, const char *fmt, ...) PRINTF(5, 6);
/* Append "path:line:col: text", without the place where there is none. */
void findings_place(const char *path, const struct err *err, struct buf *out);

#endif
