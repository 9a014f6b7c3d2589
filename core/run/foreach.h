/*
 * A step that runs once for each element of an array.
 *
 * Each execution is a step of its own, with its own arguments and time, in the
 * session of the server that the whole step holds; what it gave is written into
 * the data of the whole and then released. The data is
 *
 *	{"schema":"matins-items/1","items":[{"index":0,"state":"ok",
 *	 "reason":null,"error":null,"output":"…","data":…}, …]}
 */
#ifndef CORE_RUN_FOREACH_H
#define CORE_RUN_FOREACH_H

#include "core/run/step.h"

#define ITEMS_SCHEMA "matins-items/1"

extern const struct step_doer foreach_doer;

#endif
