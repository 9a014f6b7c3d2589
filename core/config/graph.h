/*
 * The steps of a routine with what each waits for, as a picture: for people,
 * for the programs dot and mermaid, and as data.
 *
 * Pure. Names and conditions are texts in each of them, whatever they hold.
 */
#ifndef CORE_CONFIG_GRAPH_H
#define CORE_CONFIG_GRAPH_H

#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/config/flow.h"

/* One that can be printed. */
struct graph_format {
	const char *name; /* "text", "dot", "mermaid" */
	void (*print)(const struct routine *r, const struct flow_step *flow,
		      struct buf *out);
};

/* All of them; ends with name NULL. */
extern const struct graph_format graph_formats[];

/* Write the members "routine", "order" and "steps" of an object. */
void graph_print_json(const struct routine *r, const struct flow_step *flow,
		      struct jw *w);

#endif
