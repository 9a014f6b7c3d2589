/*
 * Credentials, and servers with a URL, which need them: looked at without a
 * value leaving this folder. Nothing is sent.
 */
#ifndef CORE_DOCTOR_ACCESS_H
#define CORE_DOCTOR_ACCESS_H

#include "core/doctor/rows.h"

/* Look at credentials of a step, or of a notice; one without a source is not
   there. */
void doctor_look_at_refs(struct doctor *d, const char *step,
			 const struct env_ref *ref, size_t n);
/* with_server  its server has a URL, and was not looked at before */
void doctor_look_at_access(struct doctor *d, const char *name,
			   const struct plan_step *s, bool with_server);
/*
 * Find a credential of a server that is not there, without reading a value: a
 * variable that is not set, a file that cannot be read. No program is started.
 *
 * returns  a sentence in `arena`; NULL: none is known to be missing
 */
const char *access_missing(const struct server *server, struct arena *arena)
	MUST_USE;
/*
 * Must a person log in before the server can be used? Where nothing of the
 * configuration says that it wants a login, only an expired one does. Nothing
 * is sent.
 *
 * state    folder of the state; NULL: none
 * returns  1: yes; 0: no, or not known
 * errors   those of the store of tokens
 */
int access_needs_login(const struct config *config, const char *state,
		       const struct server *server, struct arena *arena,
		       struct err *err) MUST_USE;

#endif
