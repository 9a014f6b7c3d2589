/*
 * The tools of a server as they were when some calls were checked: the list
 * of tools may be another one before their answers have come.
 *
 *	struct tool_set *set = tool_set_new(&list);
 *	struct tool_check *c = tool_set_find(set, name);
 *	set->users++;	 its result will be checked, too
 *	...
 *	tool_set_leave(set, now);
 */
#ifndef CORE_CLI_TOOL_SET_H
#define CORE_CLI_TOOL_SET_H

#include "core/cli/target.h"
#include "core/client/tool_check.h"

struct tool_set {
	struct listing list;	   /* owned */
	struct tool_check *checks; /* of each of them; owned */
	size_t users;		   /* calls whose answer is to come */
};

/* list  taken; empty from here on */
struct tool_set *tool_set_new(struct listing *list) MUST_USE;
/* Takes NULL. */
void tool_set_free(struct tool_set *set);
/* NULL: it has no such tool. */
struct tool_check *tool_set_find(struct tool_set *set, struct str name)
	MUST_USE;
/*
 * A call has its answer: a set that is not the one of `now` is freed with the
 * last of them.
 */
void tool_set_leave(struct tool_set *set, const struct tool_set *now);
/*
 * Where something shows that the tools are others now: ask for them anew.
 *
 * set      the one of now; replaced, and freed when nobody uses it
 * returns  1 when they could not be had, which was said
 */
int tool_set_refresh(struct target *t, struct tool_set **set, struct err *err)
	MUST_USE;

#endif
