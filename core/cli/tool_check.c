#include "core/cli/tool_check.h"

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/schema/describe.h"

static struct str member(struct str object, const char *name)
{
	struct str v;

	return scan_get_some(object, name, &v) ? v : (struct str){NULL, 0};
}

void tool_check_init(struct tool_check *c, struct str tool, bool strict)
{
	*c = (struct tool_check){.tool = tool, .strict = strict};
}

void tool_check_release(struct tool_check *c)
{
	schema_free(c->input.compiled);
	schema_free(c->output.compiled);
	*c = (struct tool_check){0};
}

struct str tool_input_schema(struct str tool)
{
	return member(tool, "inputSchema");
}

/* An argument that no property of the schema names, but nearly. */
static void hint_names(const struct schema *s, struct str value,
		       struct arena *arena)
{
	struct schema_property *property;
	size_t n = schema_properties(s, arena, &property);
	const char **names = ARENA_ARRAY(arena, const char *, n + 1);
	struct scan_iter it;

	for (size_t i = 0; i < n; i++)
		names[i] = arena_strndup(arena, property[i].name.p,
					 property[i].name.n);
	scan_iter_init(&it, value);
	while (n && it.is_object && scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
		struct schema_property found;
		const char *near;

		scan_string(it.key, &key);
		if (schema_property(s, buf_str(&key), arena, &found))
			continue;
		near = str_nearest(buf_str(&key), names, n);
		if (near)
			log_warning("the tool has no argument %s; did you "
				    "mean %s?",
				    buf_cstr(&key), near);
	}
}

static int report(const char *what, const struct schema_result *r, bool strict,
		  struct err *err)
{
	AUTO(buf_release) struct buf first = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < r->n; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		schema_violation_print(&r->item[i], &line);
		if (!i)
			buf_add_str(&first, buf_str(&line));
		if (!strict)
			log_warning("%s: %s", what, buf_cstr(&line));
		else if (i)
			log_error("%s: %s", what, buf_cstr(&line));
	}
	if (r->n_more)
		log_warning("%s: and %zu more", what, r->n_more);
	if (!strict)
		return 0;
	return err_set(err, ERR_SYNTAX, "%s: %s", what, buf_cstr(&first));
}

static void cannot(const char *what, const struct err *why)
{
	log_warning("%s: not checked, the schema cannot be used: %s", what,
		    why->msg);
}

/* NULL: it cannot be used, which is said once. */
static const struct schema *compiled(struct tool_schema *ts, struct str text,
				     const char *what)
{
	struct err why = ERR_INIT;

	if (!ts->tried && schema_compile(text, NULL, &ts->compiled, &why) < 0)
		cannot(what, &why);
	ts->tried = true;
	return ts->compiled;
}

/* hints  unknown names are worth a line, also where they are allowed */
static int check(const struct schema *s, const char *what, struct str value,
		 bool strict, bool hints, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct schema_result result;
	struct err why = ERR_INIT;
	int rc = schema_validate(s, value, &arena, &result, &why);

	if (rc < 0) {
		cannot(what, &why);
		return 0;
	}
	if (hints)
		hint_names(s, value, &arena);
	if (rc == SCHEMA_VIOLATED)
		return report(what, &result, strict, err);
	return 0;
}

int tool_check_arguments(struct tool_check *c, struct str arguments,
			 const char *what, struct err *err)
{
	struct str text = c->tool.p ? tool_input_schema(c->tool) : c->tool;
	const struct schema *s =
		text.p ? compiled(&c->input, text, what) : NULL;

	if (!s)
		return 0;
	return check(s, what, arguments.p ? arguments : STR("{}"), c->strict,
		     true, err);
}

/* The only text block, when it is JSON (SC-5). */
static bool has_json_text(struct str result)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;
	struct scan_iter it;
	struct str content = member(result, "content"), v;

	if (!content.p || scan_count(content) != 1)
		return false;
	scan_iter_init(&it, content);
	return scan_next(&it) && scan_get(it.value, "text", &v) &&
	       scan_string(v, &text) &&
	       scan_document(buf_str(&text), NULL, &v, &ignored) == 0;
}

static int nothing_sent(struct str result, bool strict, struct err *err)
{
	const char *text =
		has_json_text(result) ? ", though its text is JSON" : "";

	if (strict)
		return err_set(err, ERR_SYNTAX,
			       "the tool promises structuredContent and sent "
			       "none%s",
			       text);
	log_warning("the tool promises structuredContent and sent none%s",
		    text);
	return 0;
}

int tool_check_result(struct tool_check *c, struct str result, struct err *err)
{
	static const char what[] = "structuredContent";
	struct str text = c->tool.p ? member(c->tool, "outputSchema") : c->tool;
	const struct schema *s;
	struct str v;

	if (!text.p ||
	    (scan_get(result, "isError", &v) && scan_type(v) == SCAN_TRUE))
		return 0;
	/* null is a value of it since 2026-07-28 */
	if (!scan_get(result, what, &v))
		return nothing_sent(result, c->strict, err);
	s = compiled(&c->output, text, what);
	return s ? check(s, what, v, c->strict, false, err) : 0;
}

bool tool_needs_task(struct str tool)
{
	struct str execution = member(tool, "execution"), support;

	return execution.p &&
	       scan_get_some(execution, "taskSupport", &support) &&
	       scan_is(support, "required");
}
