/*
 * `matins describe`: what a tool takes, what of it is missing, and how it is
 * called from a shell and by a step.
 */
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"
#include "core/cli/tool_text.h"
#include "core/client/tool_check.h"
#include "core/config/edit.h"
#include "core/run/advice_command.h"
#include "core/schema/describe.h"

const struct option options_describe[] = {
	{"args", 0, "JSON|@FILE|-", "arguments as one JSON object"},
	{.letter = OPTIONS_TARGET},
};

/* A tool and the arguments that were given. */
struct described {
	struct target *t;
	const struct listing_item *item;
	struct str args; /* JSON object; {NULL, 0}: none */
	struct schema_property *property;
	size_t n;
	size_t n_members;	/* looked at, of all objects */
	struct strlist missing; /* paths */
	struct tool_findings found;
	const char *denied; /* as of target_denial() */
	bool asks;
};

/* How deep members are looked at, how many of them: schemas may go in circles.
 */
#define DEPTH_MAX 8
#define MEMBERS_MAX 4000
/* Elements of an array in an example. */
#define ELEMENTS_MAX 8

/* The value of a member; {NULL, 0}: it is not given. */
static struct str find_given(struct str given, const struct schema_property *p)
{
	return given.p ? scan_named(given, p->name) : given;
}

static bool is_object(const struct schema_property *p)
{
	return (p->types & ~(unsigned)SCHEMA_TYPE_NULL) == SCHEMA_TYPE_OBJECT;
}

static size_t members_of(struct described *d, const struct schema_property *p,
			 int depth, struct schema_property **ret)
{
	size_t n;

	if (depth >= DEPTH_MAX || d->n_members >= MEMBERS_MAX)
		return 0;
	n = schema_members(p, &d->t->arena, ret);
	d->n_members += n + 1;
	return n;
}

/* Add paths of required members that are not given: "where", "where.city". */
static void find_missing(struct described *d, const struct schema_property *p,
			 size_t n, struct str given, const char *prefix,
			 int depth)
{
	for (size_t i = 0; i < n; i++) {
		struct str v = find_given(given, &p[i]);
		struct arena *arena = &d->t->arena;
		struct schema_property *member = NULL;
		const char *path;
		size_t n_members;

		if (!v.p && !p[i].is_required)
			continue;
		path = arena_printf(arena, "%s%.*s", prefix,
				    STR_ARG(p[i].name));
		if (!v.p)
			list_add(&d->missing, arena, path);
		if (!is_object(&p[i]) || (!v.p && p[i].fallback.p))
			continue;
		n_members = members_of(d, &p[i], depth, &member);
		find_missing(d, member, n_members, v,
			     arena_printf(arena, "%s.", path), depth + 1);
	}
}

/* ---- the example ---- */

static void add_object(struct described *d, const struct schema_property *p,
		       size_t n, struct str given, int depth, struct jw *w);

static void add_members(struct described *d, const struct schema_property *p,
			struct str given, int depth, struct jw *w)
{
	struct schema_property *member = NULL;
	const size_t n = members_of(d, p, depth, &member);

	add_object(d, member, n, given, depth + 1, w);
}

/* A value that stands for one: the default, a choice, a word of its type. */
static struct str example_of(const struct schema_property *p)
{
	static const struct {
		unsigned type;
		struct str value;
	} values[] = {
		{SCHEMA_TYPE_STRING, {"\"TEXT\"", 6}},
		{SCHEMA_TYPE_INTEGER, {"1", 1}},
		{SCHEMA_TYPE_NUMBER, {"1", 1}},
		{SCHEMA_TYPE_BOOLEAN, {"true", 4}},
		{SCHEMA_TYPE_ARRAY, {"[]", 2}},
		{SCHEMA_TYPE_OBJECT, {"{}", 2}},
	};

	if (p->fallback.p)
		return p->fallback;
	if (p->n_choices && !p->is_list)
		return p->choice[0].value;
	if (p->minimum.p || p->maximum.p)
		return p->minimum.p ? p->minimum : p->maximum;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (p->types & values[i].type)
			return values[i].value;
	return STR("\"TEXT\"");
}

static void add_value(struct described *d, const struct schema_property *p,
		      int depth, struct jw *w)
{
	const struct str value = example_of(p);
	struct schema_property element;
	int64_t n = 0;

	if (!p->fallback.p && str_is(value, "{}")) {
		add_members(d, p, STR("{}"), depth, w);
		return;
	}
	if (p->fallback.p || !str_is(value, "[]") || depth == DEPTH_MAX ||
	    !p->min_items.p || !scan_int64(p->min_items, &n) ||
	    !schema_elements(p, &d->t->arena, &element)) {
		jw_raw(w, value);
		return;
	}
	jw_array(w);
	for (int64_t i = 0; i < n && i < ELEMENTS_MAX; i++)
		add_value(d, &element, depth + 1, w);
	jw_end(w);
}

/* Write the members that are given, and values for what is missing. */
static void add_object(struct described *d, const struct schema_property *p,
		       size_t n, struct str given, int depth, struct jw *w)
{
	jw_object(w);
	for (struct scan_iter it = scan_over(given); scan_next(&it);) {
		const struct str key =
			scan_decoded(it.key, SIZE_MAX, &d->t->arena);
		size_t i = 0;

		while (i < n && !str_eq(p[i].name, key))
			i++;
		jw_key_raw(w, it.key);
		if (i < n && is_object(&p[i]) &&
		    scan_type(it.value) == SCAN_OBJECT)
			add_members(d, &p[i], it.value, depth, w);
		else
			jw_raw(w, it.value);
	}
	for (size_t i = 0; i < n; i++) {
		if (!p[i].is_required || find_given(given, &p[i]).p)
			continue;
		jw_key_str(w, p[i].name);
		add_value(d, &p[i], depth, w);
	}
	jw_end(w);
}

static void add_example(struct described *d, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, false);
	add_object(d, d->property, d->n, d->args.p ? d->args : STR("{}"), 0,
		   &w);
}

/* "matins call notes.search text=x limit:=1" */
static void add_call(const struct described *d, struct str example,
		     struct buf *out)
{
	const struct target *t = d->t;
	const char *tool = t->server ? arena_printf(&d->t->arena, "%s.%s",
						    t->server, t->tool)
				     : t->tool;

	buf_adds(out, "matins call ");
	text_add_word(out, tool);
	for (struct scan_iter it = scan_over(example); scan_next(&it);) {
		AUTO(buf_release) struct buf word = BUF_INIT(BUF_UNBOUNDED);
		const bool is_text = scan_type(it.value) == SCAN_STRING;

		scan_string(it.key, &word);
		buf_adds(&word, is_text ? "=" : ":=");
		if (!is_text)
			scan_compact(it.value, &word);
		else
			scan_string(it.value, &word);
		buf_addc(out, ' ');
		text_add_word(out, buf_cstr(&word));
	}
	if (t->server)
		buf_adds(out, advice_config(t->config, &d->t->arena));
	else if (t->url)
		buf_addf(out, " --url %s", t->name);
	else
		buf_adds(out, " -- PROGRAM");
	buf_adds(out, d->asks ? " --yes" : "");
}

static void add_row(const char *key, const char *text, struct buf *out)
{
	if (!text)
		return;
	buf_addf(out, "%s = ", key);
	edit_add_string(out, text);
	buf_addc(out, '\n');
}

static void add_step(const struct described *d, struct str example,
		     struct buf *out)
{
	buf_adds(out, "[[routines.NAME.steps]]\n");
	add_row("name", d->t->tool, out);
	add_row("type", "mcp-client", out);
	add_row("server", d->t->server ? d->t->server : "SERVER", out);
	add_row("tool", d->t->tool, out);
	if (scan_count(example)) {
		buf_adds(out, "params = ");
		edit_add_json(out, example);
		buf_addc(out, '\n');
	}
}

/* ---- as text ---- */

static void add_missing(const struct described *d, struct buf *out)
{
	const struct strlist *v = &d->found.violations;
	const size_t n = d->missing.n;

	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? ", " : "\n  missing: ");
		target_show(d->t, str_of(d->missing.item[i]), false, out);
	}
	buf_adds(out, n ? "\n" : "");
	for (size_t i = 0; i < v->n; i++) {
		if (v->item[i] == d->found.missing ||
		    (n && strstr(v->item[i], "missing required ")))
			continue;
		buf_adds(out, "  wrong: ");
		target_show(d->t, str_of(v->item[i]), false, out);
		buf_addc(out, '\n');
	}
}

static void add_text(struct described *d, struct buf *out)
{
	AUTO(buf_release) struct buf example = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf call = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf step = BUF_INIT(BUF_UNBOUNDED);

	add_example(d, &example);
	add_call(d, buf_str(&example), &call);
	add_step(d, buf_str(&example), &step);
	text_tool(d->t->scrub, d->item, out);
	add_missing(d, out);
	if (d->denied) {
		buf_adds(out, d->asks ? "\n  asks: " : "\n  denied: ");
		target_show(d->t, str_of(d->denied), false, out);
		buf_addc(out, '\n');
	}
	buf_adds(out, "\n  a call\n    ");
	target_show(d->t, buf_str(&call), false, out);
	buf_adds(out, "\n\n  a step\n");
	buf_clear(&call);
	target_show(d->t, buf_str(&step), true, &call);
	text_indented(str_trim(buf_str(&call)), "    ", out);
}

/* ---- as JSON ---- */

static void add_argument(struct described *d, const struct schema_property *p,
			 struct str given, int depth, struct jw *w);

/* Add "properties" of an object, or "items" of an array. */
static void add_below(struct described *d, const struct schema_property *p,
		      struct str given, int depth, struct jw *w)
{
	struct schema_property element, *member = NULL;
	const size_t n = members_of(d, p, depth, &member);

	if (n)
		jw_kv_array(w, "properties");
	for (size_t i = 0; i < n; i++)
		add_argument(d, &member[i], find_given(given, &member[i]),
			     depth + 1, w);
	if (n)
		jw_end(w);
	if (!(p->types & SCHEMA_TYPE_ARRAY) || depth == DEPTH_MAX ||
	    !schema_elements(p, &d->t->arena, &element))
		return;
	jw_key(w, "items");
	add_argument(d, &element, (struct str){NULL, 0}, depth + 1, w);
}

static void add_argument(struct described *d, const struct schema_property *p,
			 struct str given, int depth, struct jw *w)
{
	jw_object(w);
	if (p->name.n)
		jw_kv_str(w, "name", p->name);
	jw_kv_array(w, "types");
	for (unsigned bit = 1; bit <= SCHEMA_TYPE_OBJECT; bit <<= 1)
		if (p->types & bit)
			jw_cstr(w, schema_type_name((enum schema_type)bit));
	jw_end(w);
	jw_kv_bool(w, "required", p->is_required);
	if (p->title.n)
		jw_kv_str(w, "title", p->title);
	if (p->description.n)
		jw_kv_str(w, "description", p->description);
	if (p->minimum.p)
		jw_kv_raw(w, "minimum", p->minimum);
	if (p->maximum.p)
		jw_kv_raw(w, "maximum", p->maximum);
	if (p->fallback.p)
		jw_kv_raw(w, "default", p->fallback);
	if (p->n_choices) {
		jw_kv_array(w, "choices");
		for (size_t i = 0; i < p->n_choices; i++)
			jw_raw(w, p->choice[i].value);
		jw_end(w);
	}
	if (given.p)
		jw_kv_raw(w, "given", given);
	add_below(d, p, given, depth, w);
	jw_end(w);
}

static void add_json(struct described *d, struct buf *out)
{
	AUTO(buf_release) struct buf example = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(out);

	add_example(d, &example);
	jw_kv_str(&w, "tool", d->item->name);
	if (d->t->server)
		jw_kv_cstr(&w, "server", d->t->server);
	if (scan_text(d->item->json, "description").p)
		jw_kv_raw(&w, "description",
			  scan_text(d->item->json, "description"));
	if (d->denied)
		jw_kv_cstr(&w, d->asks ? "asks" : "denied", d->denied);
	jw_kv_array(&w, "arguments");
	for (size_t i = 0; i < d->n; i++)
		add_argument(d, &d->property[i],
			     find_given(d->args, &d->property[i]), 0, &w);
	jw_end(&w);
	jw_kv_list(&w, "missing", &d->missing);
	jw_kv_list(&w, "violations", &d->found.violations);
	jw_kv_raw(&w, "example", buf_str(&example));
	add_call(d, buf_str(&example), &text);
	jw_kv_str(&w, "call", buf_str(&text));
	buf_clear(&text);
	add_step(d, buf_str(&example), &text);
	jw_kv_str(&w, "step", buf_str(&text));
	jw_end(&w);
}

/* ---- the command ---- */

static int print(struct described *d, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (d->t->json) {
		add_json(d, &out);
		return target_put(d->t, buf_str(&out), PUT_JSON, err);
	}
	add_text(d, &out);
	return target_write(d->t, buf_str(&out), err);
}

static int describe_tool(struct target *t, const struct listing *tools,
			 struct err *err)
{
	AUTO(tool_check_release) struct tool_check check = {.tool = {NULL, 0}};
	AUTO(schema_freep) struct schema *schema = NULL;
	struct described d = {.t = t};
	struct str input;

	d.item = listing_find(tools, str_of(t->tool));
	if (!d.item)
		return target_unknown(t, tools, t->tool, err);
	d.denied = target_denial(t, d.item->json, &d.asks);
	input = tool_input_schema(d.item->json);
	if (tool_args_read(t->args, NULL, input, &t->arena, &d.args, err) < 0)
		return -1;
	if (input.p && schema_compile(input, NULL, &schema, ERR_IGNORED) == 0)
		d.n = schema_properties(schema, &t->arena, &d.property);
	find_missing(&d, d.property, d.n, d.args, "", 0);
	tool_check_init(&check, d.item->json);
	(void)!tool_check_arguments(&check, d.args, "arguments", &t->arena,
				    &d.found);
	return print(&d, err);
}

static int work(struct target *t, UNUSED void *arg, struct err *err)
{
	struct listing tools;
	int r = target_list(t, LISTING_TOOLS, true, &tools, err);

	if (r == 0)
		r = describe_tool(t, &tools, err);
	listing_release(&tools);
	return r;
}

int cmd_describe(const struct args *args, struct err *err)
{
	return target_run(args, TARGET_TOOL, work, NULL, err);
}
