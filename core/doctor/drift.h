/*
 * Tools of steps that, by the catalogue, are not what the configuration was
 * written for: gone, called otherwise, or changed since; files of servers that
 * are not as they were installed. No server is asked.
 *
 *	struct drift drift;
 *
 *	drift_open(&drift, config, state_dir);
 *	why = drift_of(&drift, step, &arena);
 *	drift_release(&drift);
 */
#ifndef CORE_DOCTOR_DRIFT_H
#define CORE_DOCTOR_DRIFT_H

#include "core/base/clock.h"
#include "core/client/catalogue.h"
#include "core/config/routine.h"

struct drift {
	const struct config *config; /* borrowed */
	const char *state_dir;	     /* borrowed */
	const struct server *server; /* whose catalogue is read; NULL */
	struct catalogue catalogue;
	char written[CLOCK_TEXT_BYTES]; /* time of the configuration file */
};

/* state_dir  NULL: nothing is known */
void drift_open(struct drift *d, const struct config *config,
		const char *state_dir);
void drift_release(struct drift *d);
/* A sentence, in `arena`; NULL: nothing is to be said of the step. */
const char *drift_of(struct drift *d, const struct step *step,
		     struct arena *arena) MUST_USE;

/* As drift_of(), of the tool of an action. */
const char *drift_of_action(struct drift *d, const struct action *action,
			    struct arena *arena) MUST_USE;

/*
 * Compare the files of a server that is an installed one with their sum, as its
 * start does.
 * errors  depot_check()
 */
int drift_check_files(const struct config *config, const struct server *server,
		      struct err *err) MUST_USE;

#endif
