/*
 * Cause why a server gave no answer, as a reason for the report.
 */
#ifndef CORE_CLIENT_FAILURE_H
#define CORE_CLIENT_FAILURE_H

#include "core/base/err.h"
#include "core/mcp/session/session.h"
#include "core/report/report.h"

/* Reason of a program that could not be started: "no_command", "leash", … */
enum step_reason failure_of_spawn(const struct err *err) MUST_USE;
/* method  of the request that failed; NULL: the session itself failed */
enum step_reason failure_of_event(const struct session_event *e,
				  const char *method) MUST_USE;

#endif
