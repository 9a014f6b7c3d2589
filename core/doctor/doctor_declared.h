/*
 * Things that a file declares beside the programs of its steps, looked at for
 * doctor. Nothing is started, and nothing is sent.
 */
#ifndef CORE_DOCTOR_DOCTOR_DECLARED_H
#define CORE_DOCTOR_DOCTOR_DECLARED_H

#include "core/doctor/doctor_checks.h"

/*
 * A routine without name, with one step for each enabled server that no step
 * of the file uses. Its tool is "": none in particular.
 */
struct routine doctor_unused_servers(struct doctor *d) MUST_USE;
/*
 * Look at what a server needs beside its own program: the program that
 * answers sampling, the one that opens a page, its roots.
 *
 * server  NULL: nothing
 */
void doctor_look_at_server(struct doctor *d, const char *name,
			   const struct server *server);
/* Add a row for each entry of `exec` that does not exist; true: some do not. */
bool doctor_look_at_exec(struct doctor *d, const char *name,
			 const struct gate_request *request) MUST_USE;
/* Look at the credential references of a step or server. */
void doctor_look_at_refs(struct doctor *d, const char *step,
			 const struct env_refs *refs);
/* Look at a server with a URL; name: of its rows, "routine/step". */
void doctor_look_at_remote(struct doctor *d, const char *name,
			   const struct server *server);

#endif
