#include "core/report/once.h"

#include "core/report/canon.h"
#include "core/report/report.h"

static struct edit *edit_of(const struct edit *e, const char *key)
{
	struct edit *below = e ? e->first : NULL;

	while (below &&
	       !str_is((below->old ? below->old : below->new)->key, key))
		below = below->next;
	return below;
}

/* A value that changed, or a text in which one did. */
static bool is_value(const struct edit *e)
{
	return !e->old || !e->new || e->old->ignored || e->new->ignored
		       ? false
		       : e->kind == DIFF_CHANGED ||
				 (e->kind == DIFF_WITHIN &&
				  e->old->type == SCAN_STRING);
}

/* A text is JSON that is equal to the value. */
static bool holds(const struct jdoc *text, const struct jdoc *value,
		  struct arena *arena)
{
	AUTO(buf_release) struct buf decoded = BUF_INIT(BUF_UNBOUNDED);
	struct jdoc *inside = text ? text->first : NULL;

	if (!value || !text || text->type != SCAN_STRING)
		return false;
	if (!inside && (!scan_string(text->raw, &decoded) ||
			jdoc_parse(arena_str(arena, buf_str(&decoded)), arena,
				   &inside, ERR_IGNORED) < 0))
		return false;
	return canon_equal(inside, value);
}

/* The output of a step is what is made of its data for people. */
static bool is_made_of_data(const struct jdoc *step, struct arena *arena)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf output = BUF_INIT(BUF_UNBOUNDED);
	const struct jdoc *data = jdoc_get(step, "data");
	const struct jdoc *content = jdoc_get(data, "content");
	const struct jdoc *shown = jdoc_get(step, "output");

	if (holds(shown, data, arena) ||
	    holds(shown, jdoc_get(data, "structuredContent"), arena))
		return true;
	if (!content || content->type != SCAN_ARRAY || !shown ||
	    !scan_string(shown->raw, &output))
		return false;
	report_mcp_output(&body, content->raw);
	return str_eq(buf_str(&body), buf_str(&output));
}

/* Another value below has the same two sides. */
static bool is_said_below(const struct edit *e, const struct edit *value)
{
	bool is = e != value && is_value(e) &&
		  canon_equal(e->old, value->old) &&
		  canon_equal(e->new, value->new);

	for (const struct edit *b = e->first; b && !is; b = b->next)
		is = is_said_below(b, value);
	return is;
}

static void hide_texts(struct edit *e, const struct edit *structured,
		       struct arena *arena)
{
	if (e == structured)
		return;
	if (is_value(e))
		e->is_hidden = holds(e->old, structured->old, arena) &&
			       holds(e->new, structured->new, arena);
	for (struct edit *b = e->first; b && !e->is_hidden; b = b->next)
		hide_texts(b, structured, arena);
}

static void drop(struct edit *up, const struct edit *e)
{
	struct edit *before = NULL;

	for (struct edit *b = up->first; b != e; b = b->next)
		before = b;
	if (before)
		before->next = e->next;
	else
		up->first = e->next;
	if (up->last == e)
		up->last = before;
}

void once(struct edit *step, struct arena *arena)
{
	struct edit *output = edit_of(step, "output");
	struct edit *data = edit_of(step, "data");
	struct edit *structured = edit_of(data, "structuredContent");
	bool is_made;

	if (structured && structured->old && structured->new)
		hide_texts(data, structured, arena);
	if (!output || !is_value(output))
		return;
	is_made = is_made_of_data(step->new, arena);
	if (!data && is_made)
		drop(step, output);
	else
		output->is_hidden =
			is_said_below(step, output) ||
			(data && is_made && is_made_of_data(step->old, arena));
}
