/*
 * Parameters that a routine declares: [routines.NAME.params], a JSON Schema
 * each.
 *
 *	struct params p;
 *	if (params_read(routine, &arena, &p, err) < 0)
 *		return -1;
 *	... p.item[i].name, schema_validate(p.schema, …) ...
 *	params_release(&p);
 *
 * Pure.
 */
#ifndef CORE_CONFIG_PARAMS_H
#define CORE_CONFIG_PARAMS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/config/findings.h"
#include "core/config/routine.h"
#include "core/schema/describe.h"

/* End of a sentence about `required = true`. */
#define PARAMS_REQUIRED "a parameter without `default` is required"

struct params {
	struct schema *schema;	      /* of an object of them; NULL: no table */
	struct schema_property *item; /* in file order; .fallback: default */
	size_t n;
};

/*
 * Read the table of a routine; without one nothing is in *ret.
 *
 * arena   holds the items
 * errors  ERR_CONFIG  one is no usable schema; with its place
 */
int params_read(const struct routine *r, struct arena *arena,
		struct params *ret, struct err *err) MUST_USE;
void params_release(struct params *p);

/* Names, for str_nearest(); in `arena`. */
struct strlist params_names(const struct params *p, struct arena *arena)
	MUST_USE;

/* Judge the value of one, JSON; sentences in `arena`, none where it fits. */
struct strlist params_judge(const struct params *p, struct str name,
			    struct str json, struct arena *arena) MUST_USE;

/* Find every name, schema and default that cannot be used. */
void params_check(const struct routine *r, struct findings *findings);
/*
 * Find what a step that runs the routine hands over wrongly: names, what is
 * missing, and values that stand in the file.
 */
void params_check_step(const struct routine *r, const struct step *step,
		       struct findings *findings);

#endif
