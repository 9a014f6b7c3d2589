/*
 * Advice after a refusal: the setting that allows what was refused, from
 * everything that is known of a program that has ended. Steps, `call`, `exec`
 * and `doctor` print the same pieces.
 *
 *	struct advice_known known = {.verdict = &verdict, .said = stderr, …};
 *	struct advice_list list = advice_find(&known, &arena);
 *
 * Files are looked at: a path in a text counts only where the machine has it.
 */
#ifndef CORE_RUN_ADVICE_H
#define CORE_RUN_ADVICE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/config/routine.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

/* How a setting is written. */
enum advice_form {
	ADVICE_TOML,   /* sandbox.net = ["HOST"] */
	ADVICE_OPTION, /* --net HOST */
};

struct advice_known {
	const struct gate_verdict *verdict; /* NULL: not known */
	struct str said;  /* words of the program: stderr, a failed result */
	struct str asked; /* words of the person beside argv: params */
	bool failed;	  /* the program, step or call did not succeed */
	bool all;	  /* refused probes as well, which programs survive */
	bool is_server;	  /* a server of calls; else the work itself */
	enum advice_form form;
	/* For TOML: rows of the table that a setting is for, which it keeps,
	   and the configuration that they stand in. Both NULL: none are known.
	 */
	const struct gate_policy *own;
	const struct config *config;
	/* Where a setting stands, "[routines.r.steps.sandbox]"; NULL: beside
	   the other keys of the step */
	const char *inside;
	bool is_bare;		   /* without "sandbox." before the key */
	const struct scrub *scrub; /* of names of programs; may be NULL */
	/* Both NULL: no file is advised. */
	struct gate *gate;
	const struct gate_request *request; /* as it was started */
	/* All arguments, where those that hold data are left out of .request;
	   NULL: none are. */
	const char *const *given;
	/* "matins trace morning weather", for the last piece; or NULL, and
	   what it is a trace of: "morning weather", or NULL */
	const char *trace, *trace_of;
};

/* Is the program given values that others made? They may be what it names. */
static inline bool advice_is_of_data(const struct advice_known *known)
{
	const struct gate_request *r = known->request;

	return r && (r->from_data || r->input_from_data);
}

struct advice {
	const char *text;    /* a sentence without the setting */
	const char *setting; /* NULL: none allows it */
};

struct advice_list {
	struct advice *item;
	size_t n;
	bool is_refused; /* something was, that no program takes lightly */
};

/*
 * Find the pieces, the likely cause first.
 *
 * A refused connection, a refused program and a refusal by a rule of `programs`
 * are always pieces: an answer such as "fetch failed" looks like success. Other
 * refusals are pieces when the program failed, unless programs are known to
 * survive them (advice.def). A file is a piece when the words of a failed
 * program name it, or of one that is no server, or arguments of a refused
 * program. Files that went with a private working directory are one.
 */
struct advice_list advice_find(const struct advice_known *known,
			       struct arena *arena) MUST_USE;

/* Name the table of a server as the one that rows belong in. */
void advice_in_server(struct advice_known *known, const struct server *server,
		      struct arena *arena);

/* The piece in one line: "denied: …; to allow it: --net HOST". */
const char *advice_line(const struct advice *a, struct arena *arena) MUST_USE;

#endif
