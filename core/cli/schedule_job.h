/*
 * Job of `matins schedule add`, judged: a routine on its way to a timer or to
 * cron.
 */
#ifndef CORE_CLI_SCHEDULE_JOB_H
#define CORE_CLI_SCHEDULE_JOB_H

#include "core/cli/args.h"
#include "core/report/schedule.h"

/*
 * Read the words, and look whether the routine can run without a person. What
 * starts it is not chosen: .s.unit stays NULL. No text has control characters.
 *
 * ret     texts in the arena, or of `args`
 * errors  ERR_USAGE, those of the configuration
 *	   ERR_CONFIG  a check of the doctor failed, which is logged
 */
int schedule_job_read(const struct args *args, struct arena *arena,
		      struct schedule_job *ret, struct err *err) MUST_USE;

#endif
