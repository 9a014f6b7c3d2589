/*
 * Servers that are imported, each started once under a trace: handshake, list
 * of tools, end. Its needs become rows of its `sandbox`.
 */
#ifndef CORE_CLI_IMPORT_TRACE_H
#define CORE_CLI_IMPORT_TRACE_H

#include "core/config/config.h"
#include "core/import/server.h"

/*
 * Trace a server that is a program; add its rows, and notes of what is not
 * granted. Credentials are handed over from memory.
 *
 * config   with its [sandbox]; relative paths begin in `dir`
 * returns  0; 1: a signal ended it
 * errors  ERR_PEER  it did not answer; rows that were found are there
 *	   ERR_CREDENTIAL  a variable is not set
 *	   those of the gate
 */
int import_trace(struct import_server *s, const struct config *config,
		 const char *dir, struct arena *arena, struct err *err)
	MUST_USE;

#endif
