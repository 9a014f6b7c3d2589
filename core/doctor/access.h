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

#endif
