/*
 * `exec --explain`: the grants of a program, without starting it.
 */
#ifndef CORE_CLI_EXEC_EXPLAIN_H
#define CORE_CLI_EXEC_EXPLAIN_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/err.h"
#include "gate/gate.h"

/*
 * Print the grants of a request on stdout: as text, or as one JSON document.
 * Values of variables are not printed.
 *
 * projects  projects of presets, policy_sources_projects()
 * errors  ERR_SYS
 */
int exec_explain(const struct gate_request *request,
		 const struct strlist *projects, const struct gate_explained *e,
		 bool json, struct err *err) MUST_USE;

/* Name on stderr the keys that can be read because an argument names them. */
void exec_warn_arguments(const struct gate_explained *e);

#endif
