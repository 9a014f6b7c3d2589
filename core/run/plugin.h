/*
 * Request of a step of type `python`: the protocol modulex-plugin/1, one JSON
 * object on stdin and one on stdout. core/run/judge.h reads the answer.
 *
 * Pure. Credentials are in the environment alone.
 */
#ifndef CORE_RUN_PLUGIN_H
#define CORE_RUN_PLUGIN_H

#include "core/base/buf.h"
#include "core/config/routine.h"

/*
 * config      its tables [shared] and [identity] go along, as they are written
 * generation  JSON number
 * params      JSON object; n = 0: none
 */
void plugin_request(const struct config *config, const struct step *step,
		    struct str generation, struct str params, struct buf *out);

#endif
