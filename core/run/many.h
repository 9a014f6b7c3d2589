/*
 * One routine, run once for each input, in one world: its servers, credentials
 * and gate are shared. Inputs come from the caller while others run, and each
 * result goes back when it is there; nothing of it stays.
 *
 *	struct step step;
 *	struct routine shard = many_routine(&many, "shard 3", &step);
 *	struct run_options o = {.file = &file, .routine = &shard,
 *				.only_step = step.name, .many = &many};
 *	run_routine(&o, &result, err)
 *
 * The run is recorded as one step, whose data is {"ok":N,"failed":N}.
 */
#ifndef CORE_RUN_MANY_H
#define CORE_RUN_MANY_H

#include "core/run/step.h"

struct many_input {
	struct str object; /* parameters, JSON; lives until `ended` */
	void *id;	   /* of the caller */
};

struct run_many {
	const struct routine *routine;
	unsigned max;	    /* inputs side by side */
	const char *folder; /* that no step may write, absolute */
	/* Give the next input; false: there are no more. */
	bool (*next)(void *arg, struct many_input *ret);
	/*
	 * Take a result, which is gone afterwards.
	 *
	 * cancelled  why it was ended early; NULL: it is whole
	 * us         duration in microseconds
	 */
	void (*ended)(void *arg, void *id, const struct report *r,
		      const char *cancelled, uint64_t us);
	void *arg;
};

extern const struct step_doer many_doer;

/*
 * Make the routine that stands in no file.
 *
 * name  of its step, for the ledger
 * step  becomes its only one; lives as long as the routine
 */
struct routine many_routine(const struct run_many *m, const char *name,
			    struct step *step) MUST_USE;

#endif
