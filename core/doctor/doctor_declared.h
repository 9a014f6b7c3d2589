/*
 * Things that a file declares beside the programs of its steps, looked at for
 * doctor. Nothing is started, and nothing is sent.
 */
#ifndef CORE_DOCTOR_DOCTOR_DECLARED_H
#define CORE_DOCTOR_DOCTOR_DECLARED_H

#include "core/doctor/doctor_checks.h"
#include "core/run/plan.h"

/*
 * A routine without name, with one step for each enabled server that no step
 * of the file uses. Its tool is "": none in particular.
 */
struct routine doctor_unused_servers(struct doctor *d) MUST_USE;
/*
 * Look at the credential references of a step, and at what its server needs
 * beside its own program: the program that answers sampling, the one that
 * opens a page, its roots.
 *
 * name       of the rows, "routine/step"
 * is_remote  look at the URL of the server as well
 */
void doctor_look_at_declared(struct doctor *d, const char *name,
			     const struct plan_step *step, bool is_remote);
/* Add a row for each entry of `exec` that does not exist; true: some do not. */
bool doctor_look_at_exec(struct doctor *d, const char *name,
			 const struct gate_request *request) MUST_USE;

#endif
