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
	struct tool_findings found;
	const char *denied; /* as of target_denial() */
	bool asks;
};

static bool is_missing(const struct described *d,
		       const struct schema_property *p)
{
	return p->is_required && !(d->args.p && scan_named(d->args, p->name).p);
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
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (p->types & values[i].type)
			return values[i].value;
	return STR("\"TEXT\"");
}

/* The example: what was given, and values for what is missing. */
static void add_example(const struct described *d, struct buf *out)
{
	struct jw w = jw_begin(out);

	jw_members(&w, d->args, NULL);
	for (size_t i = 0; i < d->n; i++) {
		if (!is_missing(d, &d->property[i]))
			continue;
		jw_key_str(&w, d->property[i].name);
		jw_raw(&w, example_of(&d->property[i]));
	}
	jw_end(&w);
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
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (!is_missing(d, &d->property[i]))
			continue;
		buf_adds(out, n++ ? ", " : "\n  missing: ");
		target_show(d->t, d->property[i].name, false, out);
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

static void add_text(const struct described *d, struct buf *out)
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

static void add_argument(const struct described *d,
			 const struct schema_property *p, struct jw *w)
{
	jw_object(w);
	jw_kv_str(w, "name", p->name);
	jw_kv_array(w, "types");
	for (unsigned bit = 1; bit <= SCHEMA_TYPE_OBJECT; bit <<= 1)
		if (p->types & bit)
			jw_cstr(w, schema_type_name((enum schema_type)bit));
	jw_end(w);
	jw_kv_bool(w, "required", p->is_required);
	if (p->description.n)
		jw_kv_str(w, "description", p->description);
	if (p->fallback.p)
		jw_kv_raw(w, "default", p->fallback);
	if (p->n_choices) {
		jw_kv_array(w, "choices");
		for (size_t i = 0; i < p->n_choices; i++)
			jw_raw(w, p->choice[i].value);
		jw_end(w);
	}
	if (d->args.p && scan_named(d->args, p->name).p)
		jw_kv_raw(w, "given", scan_named(d->args, p->name));
	jw_end(w);
}

static void add_json(const struct described *d, struct buf *out)
{
	AUTO(buf_release) struct buf example = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(out);

	add_example(d, &example);
	jw_kv_str(&w, "tool", d->item->name);
	jw_kv_opt(&w, "server", d->t->server);
	if (scan_text(d->item->json, "description").p)
		jw_kv_raw(&w, "description",
			  scan_text(d->item->json, "description"));
	jw_kv_opt(&w, d->asks ? "asks" : "denied", d->denied);
	jw_kv_array(&w, "arguments");
	for (size_t i = 0; i < d->n; i++)
		add_argument(d, &d->property[i], &w);
	jw_end(&w);
	jw_kv_array(&w, "missing");
	for (size_t i = 0; i < d->n; i++)
		if (is_missing(d, &d->property[i]))
			jw_str(&w, d->property[i].name);
	jw_end(&w);
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
