/*
 * Elicitation: a server asks the user for values, described by a flat schema.
 *
 * elicit_read() makes fields of the question, for a dialogue as for a policy;
 * elicit_answer() makes the answer from values that somebody gave. What the
 * question gives defaults for is filled in, what does not fit the schema is
 * not sent.
 *
 *	struct elicit e;
 *	if (elicit_read(params, &arena, &e, err) < 0)
 *		not a question: answer -32602
 *	elicit_answer(&e, ELICIT_ACCEPT, STR("{\"name\":\"x\"}"), &out, &why);
 *	session_answer(s, ask, buf_str(&out), now);
 *
 * Pure. Source: MCP 2025-11-25, client/elicitation (EL-1 to EL-16)
 */
#ifndef CORE_MCP_WIRE_ELICIT_H
#define CORE_MCP_WIRE_ELICIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* Properties of one question, choices of one property. */
#define ELICIT_FIELDS_MAX 256
#define ELICIT_CHOICES_MAX 1024

enum elicit_type {
	ELICIT_STRING,
	ELICIT_NUMBER,
	ELICIT_INTEGER,
	ELICIT_BOOLEAN,
	ELICIT_CHOICE,	/* one of .choices */
	ELICIT_CHOICES, /* some of .choices: an array of strings */
};

struct elicit_choice {
	struct str value; /* JSON string as it came */
	struct str title; /* decoded; the value when it has none */
};

/* One property. Slices of the question, texts decoded into the arena. */
struct elicit_field {
	struct str key;	 /* JSON string as it came */
	struct str name; /* decoded */
	struct str title, description;
	enum elicit_type type;
	bool required;
	struct str def; /* JSON; {NULL, 0} without */
	const struct elicit_choice *choices;
	size_t n_choices;
	struct str format; /* decoded; "" */
	struct str schema; /* of the property, JSON as it came */
	/* Bounds as they came: of length, value or number; {NULL, 0}. */
	struct str least, most;
};

struct elicit {
	struct str message; /* decoded */
	struct str url;	    /* decoded; of the mode `url`, else {NULL, 0} */
	struct str id;	    /* elicitationId, decoded; or "" */
	const struct elicit_field *fields;
	size_t n_fields;
};

/*
 * Read the params of elicitation/create.
 *
 * params  proved JSON; must outlive *ret
 * errors  ERR_PEER  an unknown mode, no flat schema, an address that is
 *		     neither https nor http on this machine (EL-15)
 */
int elicit_read(struct str params, struct arena *arena, struct elicit *ret,
		struct err *err) MUST_USE;

/*
 * Validate a value against the schema of the field, its format included.
 *
 * errors  ERR_SYNTAX  "name: is a number, must be a string", or the schema
 *		       cannot be used
 */
int elicit_check(const struct elicit_field *f, struct str value,
		 struct err *err) MUST_USE;

/*
 * Append typed text as the JSON value of the field. Choices go by their title
 * or value, several with commas between.
 * errors  as elicit_check(); nothing is appended then
 */
int elicit_typed(const struct elicit_field *f, struct str text, struct buf *out,
		 struct err *err) MUST_USE;

enum elicit_action { ELICIT_ACCEPT, ELICIT_DECLINE, ELICIT_CANCEL };

/* Read "accept", "decline", "cancel"; false: another word. */
bool elicit_action_find(const char *word, enum elicit_action *ret) MUST_USE;

/*
 * Write the result.
 *
 * An `accept` whose values do not fit, or that lacks a required one which
 * has no default, becomes a `cancel` (EL-8).
 *
 * values   JSON object; members that the question does not know are left out;
 *	    {NULL, 0} for none
 * ret_why  reason for another action than `action`, in `arena`, or {NULL, 0}
 * returns  what was written
 */
enum elicit_action elicit_answer(const struct elicit *e,
				 enum elicit_action action, struct str values,
				 struct arena *arena, struct buf *out,
				 struct str *ret_why);

#endif
