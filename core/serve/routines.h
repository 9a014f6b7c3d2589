/*
 * Routines as tools of a server: `routine__NAME` runs one, with the schema of
 * its parameters, progress while it runs, and the report as structured content;
 * tools.def has the others.
 *
 *	r = routines_new(&options, workers);
 *	routines_list(r, call, w);		tools/list: elements of the
 *array if (!routines_call(r, call, name, args))
 *		...				no tool of these
 *	routines_free(r);			no call may be open
 *
 * A run is a command of matins in a process of its own (core/serve/worker.h),
 * which reads the configuration anew.
 */
#ifndef CORE_SERVE_ROUTINES_H
#define CORE_SERVE_ROUTINES_H

#include "core/config/routine.h"
#include "core/serve/worker.h"
#include "core/server/server.h"

#define ROUTINE_PREFIX "routine__"

struct routines;

/*
 * config   borrowed
 * options  words of the command line that choose the configuration; borrowed
 * errors   ERR_CONFIG  a parameter is no usable schema
 */
int routines_new(const struct config *config, const struct strlist *options,
		 struct workers *workers, struct routines **ret,
		 struct err *err) MUST_USE;
/* Takes NULL. */
void routines_free(struct routines *r);

/* Write the tools into an array that is open. */
void routines_list(const struct routines *r, struct server_call *c,
		   struct jw *w);
/*
 * Answer a tools/call now or later.
 *
 * name     decoded
 * args     JSON object
 * returns  false: there is no such tool, and nothing was answered
 */
bool routines_call(struct routines *r, struct server_call *c, struct str name,
		   struct str args) MUST_USE;
/* Names of the tools, for str_nearest(). Borrowed. */
const struct strlist *routines_names(const struct routines *r) MUST_USE;

#endif
