#include "core/client/tool_check.h"

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/schema/describe.h"

/* Of the names that there are instead. */
#define NAMES_SHOWN 500

void tool_check_init(struct tool_check *c, struct str tool)
{
	*c = (struct tool_check){.tool = tool};
}

void tool_check_release(struct tool_check *c)
{
	schema_free(c->input.compiled);
	schema_free(c->output.compiled);
	free(c->input.why);
	free(c->output.why);
	*c = (struct tool_check){0};
}

struct str tool_title(struct str tool)
{
	struct str title = scan_text(tool, "title");

	return title.p ? title
		       : scan_text(scan_some(tool, "annotations"), "title");
}

struct str tool_input_schema(struct str tool)
{
	return scan_some(tool, "inputSchema");
}

/* ---- findings ---- */

/* An argument that no property of the schema names, but nearly. */
static void find_hints(const struct schema *s, struct str value,
		       struct arena *arena, struct strlist *hints)
{
	struct schema_property *property;
	size_t n = schema_properties(s, arena, &property);
	const char **names = ARENA_ARRAY(arena, const char *, n + 1);
	struct scan_iter it;

	for (size_t i = 0; i < n; i++)
		names[i] = arena_strndup(arena, property[i].name.p,
					 property[i].name.n);
	scan_iter_init(&it, value);
	if (!n || !it.is_object)
		return;
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
		struct schema_property found;
		const char *near;

		scan_string(it.key, &key);
		if (schema_property(s, buf_str(&key), arena, &found))
			continue;
		near = str_nearest(buf_str(&key), names, n);
		if (near)
			list_addf(
				hints, arena,
				"the tool has no argument %s; did you mean %s?",
				buf_cstr(&key), near);
	}
}

static void take_violations(const char *what, const struct schema_result *r,
			    struct arena *arena, struct tool_findings *ret)
{
	for (size_t i = 0; i < r->n; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
		struct str at = r->item[i].instance;
		const char *text;

		schema_violation_print(&r->item[i], &line);
		text = arena_printf(arena, "%s: %s", what, buf_cstr(&line));
		list_add(&ret->violations, arena, text);
		list_add(&ret->places, arena, arena_strndup(arena, at.p, at.n));
		if (!ret->missing && !at.n &&
		    strcmp(r->item[i].keyword, "required") == 0)
			ret->missing = text;
	}
	ret->n_more = r->n_more;
}

static void cannot(const char *what, const char *why, struct arena *arena,
		   struct tool_findings *ret)
{
	ret->unusable = arena_printf(
		arena, "%s: not checked, the schema cannot be used: %s", what,
		why);
}

/* NULL: it cannot be used, and that is said. */
static const struct schema *compiled(struct tool_schema *ts, struct str text,
				     const char *what, struct arena *arena,
				     struct tool_findings *ret)
{
	struct err err = ERR_INIT;

	ret->is_told = ts->tried;
	if (!ts->tried && schema_compile(text, NULL, &ts->compiled, &err) < 0)
		ts->why = mem_strdup(err.msg);
	ts->tried = true;
	if (!ts->compiled)
		cannot(what, ts->why, arena, ret);
	return ts->compiled;
}

static bool check(const struct schema *s, const char *what, struct str value,
		  struct arena *arena, struct tool_findings *ret)
{
	struct schema_result result;
	struct err why = ERR_INIT;
	int rc = schema_validate(s, value, arena, &result, &why);

	ret->is_told = false;
	if (rc < 0)
		cannot(what, why.msg, arena, ret);
	if (rc == SCHEMA_VIOLATED)
		take_violations(what, &result, arena, ret);
	return rc != SCHEMA_VIOLATED;
}

bool tool_check_arguments(struct tool_check *c, struct str arguments,
			  const char *what, struct arena *arena,
			  struct tool_findings *ret)
{
	struct str text = c->tool.p ? tool_input_schema(c->tool) : c->tool;
	struct str value = arguments.p ? arguments : STR("{}");
	const struct schema *s;
	bool fits;

	*ret = (struct tool_findings){.n_more = 0};
	s = text.p ? compiled(&c->input, text, what, arena, ret) : NULL;
	if (!s)
		return true;
	fits = check(s, what, value, arena, ret);
	if (!ret->unusable)
		find_hints(s, value, arena, &ret->hints);
	return fits;
}

/* ---- results ---- */

/* The only text block, when it is JSON (SC-5). */
static bool has_json_text(struct str result)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	struct str content = scan_some(result, "content"), v;

	if (!content.p || scan_count(content) != 1)
		return false;
	scan_iter_init(&it, content);
	return scan_next(&it) && scan_get(it.value, "text", &v) &&
	       scan_string(v, &text) &&
	       scan_document(buf_str(&text), NULL, &v, ERR_IGNORED) == 0;
}

bool tool_check_result(struct tool_check *c, struct str result,
		       struct arena *arena, struct tool_findings *ret)
{
	static const char what[] = "structuredContent";
	struct str text =
		c->tool.p ? scan_some(c->tool, "outputSchema") : c->tool;
	const struct schema *s;
	struct str v;

	*ret = (struct tool_findings){.n_more = 0};
	if (!text.p || scan_true(result, "isError"))
		return true;
	/* null is a value of it since 2026-07-28 */
	if (!scan_get(result, what, &v)) {
		list_addf(&ret->violations, arena,
			  "the tool promises structuredContent and sent none%s",
			  has_json_text(result) ? ", though its text is JSON"
						: "");
		return false;
	}
	s = compiled(&c->output, text, what, arena, ret);
	return !s || check(s, what, v, arena, ret);
}

void tool_findings_say(const struct tool_findings *f, struct buf *out)
{
	size_t n = 0;

	if (f->unusable && ++n)
		buf_adds(out, f->unusable);
	for (size_t i = 0; i < f->violations.n; i++)
		buf_addf(out, "%s%s", n++ ? "; " : "", f->violations.item[i]);
	if (f->n_more)
		buf_addf(out, "; and %zu more", f->n_more);
	for (size_t i = 0; i < f->hints.n; i++)
		buf_addf(out, "%s%s", n++ ? "; " : "", f->hints.item[i]);
}

bool tool_may_repeat(struct str tool)
{
	struct str hints, hint;

	return scan_get(tool, "annotations", &hints) &&
	       ((scan_get(hints, "readOnlyHint", &hint) &&
		 scan_type(hint) == SCAN_TRUE) ||
		(scan_get(hints, "idempotentHint", &hint) &&
		 scan_type(hint) == SCAN_TRUE));
}

bool tool_needs_task(struct str tool)
{
	struct str execution = scan_some(tool, "execution"), support;

	return execution.p &&
	       scan_get_some(execution, "taskSupport", &support) &&
	       scan_is(support, "required");
}

const char *tool_unknown(const struct listing *l, const char *what,
			 const char *name, const char *why, struct arena *arena)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	const char **names = ARENA_ARRAY(arena, const char *, l->n + 1);
	const char *near;

	for (size_t i = 0; i < l->n; i++) {
		names[i] = arena_strndup(arena, l->item[i].name.p,
					 l->item[i].name.n);
		if (all.n < NAMES_SHOWN)
			buf_addf(&all, "%s%s", i ? ", " : "", names[i]);
	}
	near = str_nearest(str_of(name), names, l->n);
	if (near)
		return arena_printf(arena, "no %s %s; did you mean %s?", what,
				    name, near);
	return arena_printf(arena, "no %s %s%s; it has %s", what, name, why,
			    all.n ? buf_cstr(&all) : "none");
}
