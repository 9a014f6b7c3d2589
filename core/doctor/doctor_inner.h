/*
 * What the files behind doctor.h share.
 *
 *	doctor.c		 programs, leash, protections
 *	doctor_declared.c	 servers that no step uses, `exec`, other
 *programs doctor_state.c		 the state directory, tokens, stale
 *routines doctor_credentials.c	 references, without showing a value
 *	doctor_remote.c		 servers with a URL, without asking them
 *	doctor_deep.c		 servers that are asked: `doctor --deep`
 */
#ifndef CORE_DOCTOR_DOCTOR_INNER_H
#define CORE_DOCTOR_DOCTOR_INNER_H

#include "core/doctor/doctor.h"
#include "core/run/plan.h"
#include "gate/gate.h"

/* All texts are copied. */
void doctor_add(struct doctor *d, const char *area, const char *name,
		enum check_level level, const char *remedy, const char *fmt,
		...) PRINTF(6, 7);
/* What to do about a program that the gate refuses; static. */
const char *doctor_program_remedy(const struct err *err) MUST_USE;
/* "routine/step", "servers.NAME" of a server that no step uses. */
const char *doctor_row(struct doctor *d, const struct routine *routine,
		       const struct step *step) MUST_USE;
/*
 * A routine without name, with one step for each server that no step of the
 * file uses, which is not disabled. Its tool is "": none in particular.
 */
struct routine doctor_unused_servers(struct doctor *d, const struct config *c)
	MUST_USE;
/*
 * What a server needs beside its own program: that which answers sampling,
 * that which opens a page, its roots.
 *
 * server  NULL: nothing
 * policy  of [sandbox]; programs get no more than that
 */
void doctor_look_at_server(struct doctor *d, struct gate *gate,
			   const char *name, const struct server *server,
			   const struct gate_policy *policy, const char *cwd);
/* Entries of `exec` that do not exist; true: there are some. */
bool doctor_look_at_exec(struct doctor *d, struct gate *gate, const char *name,
			 const struct gate_request *request);
/*
 * Credential references of a step or server.
 *
 * policy  of [sandbox]; programs of references get no more than that
 */
void doctor_look_at_refs(struct doctor *d, struct gate *gate, const char *step,
			 const struct env_refs *refs,
			 const struct gate_policy *policy);

/* dir: the state directory; NULL: there is none */
void doctor_look_at_state(struct doctor *d, const char *dir);
/* state: the same; c may be NULL */
void doctor_look_at_tokens(struct doctor *d, const struct config *c,
			   const char *state);
/* Of all routines that were asked for; o->file is there. */
void doctor_look_at_ages(struct doctor *d, const struct doctor_options *o);

struct doctor_remote {
	struct gate *gate;
	const char *name; /* of the rows: "routine/step" */
	const struct server *server;
	const struct config *config;	  /* that it stands in */
	const char *state;		  /* the state directory; NULL none */
	const struct gate_policy *policy; /* as above */
	bool is_deep; /* it is asked later, and its answer says more */
};

/* A server with a URL: nothing is sent to it. */
void doctor_look_at_remote(struct doctor *d, const struct doctor_remote *r);

/*
 * Start or connect to each server of the routine that steps talk to, shake
 * hands, list its tools, end it.
 *
 * errors  ERR_SYS, ERR_CONFIG  nothing could be asked at all
 */
int doctor_look_deep(struct doctor *d, struct gate *gate,
		     const struct doctor_options *o, const struct plan *plan,
		     struct err *err) MUST_USE;

#endif
