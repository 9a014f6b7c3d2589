/*
 * One validation: what check_<keyword>() functions see and may call.
 *
 * A frame is one subschema applied to one value; frames form the chain from
 * the innermost one to the root. Checks return whether the value holds. With
 * a report (run->report) a check that does not hold adds to it, and all rules
 * are tried; else the first one that does not hold ends the run.
 */
#ifndef CORE_SCHEMA_RUN_H
#define CORE_SCHEMA_RUN_H

#include "core/schema/equal.h"
#include "core/schema/node.h"

/* Resources on the way to here, each once; for $dynamicRef. */
struct scope {
	const struct scope *up;
	const struct resource *resource;
	size_t n;
};

/* Which members or elements of a value some keyword has spoken of. */
struct seen {
	size_t n;
	uint64_t *bits; /* `few`, or owned */
	uint64_t few[4];
};

struct frame {
	const struct frame *up;
	const struct node *node;
	const struct jdoc *value;
	const struct scope *scope;
	struct scope
		entered;   /* `scope` points here where the resource is new */
	struct seen *seen; /* NULL: not tracked */
	size_t index;	   /* of an element in its array */
	bool is_child;	   /* the value lies in that of `up` */
	bool is_name;	   /* the value is the name of a member of it */
};

struct report {
	struct schema_violation *item;
	size_t n, max, n_more;
	/* for alternatives: how the value at `anchor` misses this one */
	const struct jdoc *anchor;
	unsigned types;	   /* types that the value lacks */
	bool is_misfit;	   /* type or value is another one altogether */
	bool is_other_tag; /* a member of it has another value */
};

struct run {
	const struct schema *schema;
	struct arena *arena; /* of the result */
	struct err *err;
	bool has_failed; /* err is set; no verdict */
	uint64_t steps;	 /* left */
	uint32_t depth;
	struct report *report; /* NULL: violations are not reported */
	struct buf scratch;    /* text of the string that is looked at */
	struct buf sentence;
};

/* ---- validate.c ---- */

/* Apply a subschema to the value of `f` itself. */
bool run_here(struct run *r, struct frame *f, const struct node *node);
/* Like run_here(), without reports; members seen are merged on success. */
bool run_quietly(struct run *r, struct frame *f, const struct node *node);
/* Apply a subschema to a member or element. */
bool run_child(struct run *r, struct frame *f, const struct node *node,
	       const struct jdoc *child, size_t index);
/* Apply a subschema to the name of a member. */
bool run_name(struct run *r, struct frame *f, const struct node *node,
	      const struct jdoc *name);
/* Take work from the budget; false when it has run out. */
bool run_spend(struct run *r, uint64_t steps);
/* Fail: no verdict will come; returns false. */
bool run_fail(struct run *r, enum err_kind kind, const char *what);
/* Search an expression in the text; false also when the run has failed. */
bool run_search(struct run *r, struct regex *regex, struct str text);

/* Report nothing until run_loud(); nests. */
struct report *run_hush(struct run *r);
void run_loud(struct run *r, struct report *report);

static inline void seen_add(struct seen *s, size_t i)
{
	if (s && i < s->n)
		s->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static inline bool seen_has(const struct seen *s, size_t i)
{
	return s && i < s->n && s->bits[i / 64] >> i % 64 & 1;
}

/* ---- say.c ---- */

/*
 * Begin the sentence of a violation of `rule` (NULL for a schema that is
 * false); NULL when nothing is reported. say_end() makes it an entry.
 */
struct buf *say_begin(struct run *r, const struct frame *f,
		      const struct rule *rule);
void say_end(struct run *r, const struct frame *f, const struct rule *rule);
/* Begin a sentence with "is VALUE"; as say_begin(). */
struct buf *say_begin_is(struct run *r, const struct frame *f,
			 const struct rule *rule);
/* Compare a number of things with the bound of a max... or min... rule. */
bool check_number_of(struct run *r, const struct frame *f,
		     const struct rule *rule, size_t n, const char *one,
		     const char *many);
/* Say a whole sentence; returns false. */
bool say(struct run *r, const struct frame *f, const struct rule *rule,
	 const char *fmt, ...) PRINTF(4, 5);
/* A name in quotes, cut. */
void say_name(struct buf *out, struct str name);
/* A value in few words. */
void say_value(struct buf *out, const struct jdoc *value);
/* Bits of the types that a value has; an integer is a number, too. */
unsigned value_types(const struct jdoc *value);
/* "is a number, must be a string" */
void say_wrong_type(struct buf *out, const struct jdoc *value, unsigned types);
void report_init(struct report *report, size_t max, const struct jdoc *anchor);
/* Take over the entries of another report. */
void report_add(struct report *to, const struct report *from,
		struct arena *arena);

/* ---- checks ---- */

typedef bool check_fn(struct run *r, struct frame *f, const struct rule *rule);

#define KEYWORD(id, name, drafts, vocabulary, shape, check, help) \
	check_fn check_##check;
#include "core/schema/keywords.def"
#undef KEYWORD

#endif
