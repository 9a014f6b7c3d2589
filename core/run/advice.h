/*
 * Advice from refusals of the gate: those worth a line to the person who ran a
 * program, with the setting that would allow them. Steps,
 * `call` and `exec` print the same lines.
 *
 * Pure: a verdict in, sentences out.
 *
 *	struct advice_how how = {.failed = true, .form = ADVICE_OPTION};
 *	struct strlist lines = advice_denials(&verdict, &how, &arena);
 */
#ifndef CORE_RUN_ADVICE_H
#define CORE_RUN_ADVICE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

/* How a setting is written. */
enum advice_form {
	ADVICE_TOML,   /* sandbox = { net = ["HOST"] } */
	ADVICE_OPTION, /* --net HOST */
};

struct advice_how {
	bool failed; /* the program, step or call did not succeed */
	bool all;    /* refused probes as well, which programs survive */
	enum advice_form form;
	const struct scrub *scrub; /* of names of programs; may be NULL */
};

/*
 * Lines for the refusals of a verdict, in the order of the verdict.
 *
 * A refused connection and a refusal by a rule of `programs` are always lines:
 * an answer such as "fetch failed" looks like success. Other refusals are
 * lines when the program failed, unless programs are known to survive them
 * (advice.def) or no setting allows them. The last line of a failure says that
 * hosts were granted, by a proxy, and nothing asked it.
 *
 * returns  sentences without a line end; strings live in `arena`
 */
struct strlist advice_denials(const struct gate_verdict *v,
			      const struct advice_how *how, struct arena *arena)
	MUST_USE;

#endif
