/*
 * Can a routine run here, now? Findings of `matins doctor`.
 *
 * Looks, and unless `deep` starts and asks nothing: programs are resolved as a
 * spawn would, credentials are looked at without their values leaving this
 * file, the kernel's protections come from the gate.
 */
#ifndef CORE_DOCTOR_DOCTOR_H
#define CORE_DOCTOR_DOCTOR_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/config/config.h"

enum check_level { CHECK_OK, CHECK_WARNING, CHECK_FAILED };

struct check {
	const char *area; /* "program", "credential", "protection", … */
	const char *name; /* what was looked at */
	enum check_level level;
	const char *text;   /* what was found */
	const char *remedy; /* what to do; "" when nothing */
};

struct doctor {
	struct arena *arena; /* borrowed; everything below lives there */
	const char *folder;  /* of the configuration; set by doctor_look() */
	bool is_not_allowed; /* the configuration: no credential is read */
	struct check *check;
	size_t n, cap;
};

struct doctor_options {
	const struct config_file *file; /* NULL: this machine only */
	const struct routine *routine;	/* NULL: every routine of the file */
	uint64_t stale_ms;		/* 0: not looked at */
	int64_t wall_ns;		/* of now */
	bool deep; /* servers are started, or connected to, and asked */
};

/*
 * errors  ERR_CONFIG  a leash that cannot be read
 */
int doctor_look(const struct doctor_options *o, struct doctor *d,
		struct err *err) MUST_USE;

/* "ok", "warning", "failed"; static. */
const char *check_level_name(enum check_level l) MUST_USE;
/* Something is CHECK_FAILED. */
bool doctor_failed(const struct doctor *d) MUST_USE;

#endif
