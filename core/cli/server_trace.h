/*
 * A server that is a program, started once under a trace: handshake, list of
 * tools, end.
 *
 *	struct server_trace t = {.name = "files", .request = { … }, … };
 *	server_trace(&t, &arena, err)
 */
#ifndef CORE_CLI_SERVER_TRACE_H
#define CORE_CLI_SERVER_TRACE_H

#include "core/config/config.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

/* All of it is borrowed. */
struct server_trace {
	const char *name; /* of the server, for people */
	const char *dir;  /* rows name files from there; NULL: absolute */
	const struct config *config; /* with its [sandbox]; NULL: none */
	struct gate_request request; /* program, argv, env and cwd */
	struct scrub *scrub;	     /* values of credentials */
	bool only_finds; /* the program, or its package; nothing starts */
	/* With .only_finds: what it would get, also by these grants, absolute;
	   NULL: nobody asks. In the arena. */
	struct gate_explained *ret_explained;
	struct strlist read, write;
	/*
	 * A row of `sandbox` that it needs beside the default.
	 *
	 * value    in the arena; *** where it has a credential
	 * why_not  NULL: a trace grants it; else a sentence
	 */
	void (*need)(void *arg, const char *key, const char *value,
		     const char *why_not);
	void *arg;
};

/*
 * returns  0; above it the signal that ended it
 * errors   ERR_NOT_FOUND  no such program or package here
 *	    ERR_PEER  it did not answer; needs that were found have been told
 *	    ERR_PROTECTION  nothing can be traced here
 *	    those of the gate
 */
int server_trace(const struct server_trace *t, struct arena *arena,
		 struct err *err) MUST_USE;

#endif
