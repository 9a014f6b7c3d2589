#include "core/run/changes.h"

#include "core/config/golden_rules.h"
#include "core/report/golden.h"
#include "core/report/render.h"

/* Print what does not vary; a secret that was scrubbed is one in both. */
static int make(const struct report *r, const struct rules *rules,
		struct arena *arena, struct golden *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct render_options golden = {.view = VIEW_GOLDEN};

	render_find("json")->print(r, &golden, &text);
	return golden_make(arena_buf(arena, &text), rules, arena, ret, err);
}

int changes_diff(const struct report *old, const struct report *now,
		 const struct config *c, const struct routine *r,
		 struct arena *arena, struct diff *ret, struct err *err)
{
	struct rules rules = {NULL, 0};
	struct golden before, after;

	golden_rules_of(c, r, &rules, arena);
	if (make(old, &rules, arena, &before, err) < 0 ||
	    make(now, &rules, arena, &after, err) < 0)
		return -1;
	return golden_compare(&before, &after, arena, ret, err);
}
