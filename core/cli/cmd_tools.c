/*
 * Tools, resources and prompts of a server as tables for people.
 *
 * Everything in them is a server's text: one line each, with control
 * characters made visible, also in a pipe.
 */
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/target.h"
#include "core/client/tool_check.h"
#include "core/schema/describe.h"

/* Longest text of one line in a list. */
#define LINE_CHARS 100

const struct option options_tools[] = {
#include "core/cli/target_options.def"
	{0}};
/* NOLINTBEGIN(readability-duplicate-include): rows, included once a table */
const struct option options_prompts[] = {
#include "core/cli/target_options.def"
	{0}};
const struct option options_resources[] = {
#include "core/cli/target_options.def"
	{0}};
/* NOLINTEND(readability-duplicate-include) */

/* ---- texts ---- */

static struct str member(struct str object, const char *name)
{
	struct str v;

	return scan_get_some(object, name, &v) ? v : (struct str){NULL, 0};
}

/* A string of the server on one line; false when there is none. */
static bool add_text(const struct target *t, struct str json, size_t max,
		     struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str s;

	if (!json.p || !scan_string(json, &text))
		return false;
	s = str_trim(buf_str(&text));
	if (max && str_find(s, '\n') < s.n) {
		s.n = str_find(s, '\n');
		max = max < s.n ? max : s.n + 3;
	}
	if (!s.n)
		return false;
	if (max && s.n > max) {
		s = str_first(s, max);
		target_show(t, s, false, out);
		buf_adds(out, "…");
	} else {
		target_show(t, s, !max, out);
	}
	return true;
}

/* Indent all lines of a text. */
static void add_indented(struct str text, const char *indent, struct buf *out)
{
	while (text.p) {
		struct str line = str_cut(&text, '\n');

		buf_adds(out, line.n ? indent : "");
		buf_add_str(out, line);
		buf_addc(out, '\n');
	}
}

/* Name, and the title where it says something else (TL-7). */
static void add_head(const struct target *t, const struct listing_item *item,
		     struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);
	struct str annotations = member(item->json, "annotations"), name;

	target_show(t, item->name, false, out);
	name = member(item->json, "title");
	if (!name.p && annotations.p)
		name = member(annotations, "title");
	if (!name.p)
		name = member(item->json, "name");
	if (name.p && !scan_is(name, "") &&
	    add_text(t, name, LINE_CHARS, &title) &&
	    !str_eq(buf_str(&title), item->name))
		buf_addf(out, " — %s", buf_cstr(&title));
	buf_addc(out, '\n');
}

/* ---- arguments of a tool ---- */

static void add_types(const struct schema_property *p, struct buf *out)
{
	bool any = false;

	for (unsigned bit = 1; bit <= SCHEMA_TYPE_OBJECT; bit <<= 1) {
		if (!(p->types & bit))
			continue;
		/* every integer is a number */
		if (bit == SCHEMA_TYPE_INTEGER &&
		    (p->types & SCHEMA_TYPE_NUMBER))
			continue;
		buf_addf(out, "%s%s", any ? "|" : "",
			 schema_type_name((enum schema_type)bit));
		any = true;
	}
	if (!any)
		buf_adds(out, "any");
}

static void add_choices(const struct target *t, const struct schema_property *p,
			struct buf *out)
{
	for (size_t i = 0; i < p->n_choices && i < 20; i++) {
		buf_adds(out, i ? ", " : "; ");
		target_show(t, p->choice[i].value, false, out);
	}
	if (p->n_choices > 20)
		buf_addf(out, ", … (%zu)", p->n_choices);
}

static size_t width_of(const struct schema_property *p, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i].name.n > width && p[i].name.n <= 24)
			width = p[i].name.n;
	return width;
}

static void add_property(const struct target *t,
			 const struct schema_property *p, size_t width,
			 bool whole, struct buf *out)
{
	size_t before;

	buf_adds(out, "    ");
	before = out->n;
	target_show(t, p->name, false, out);
	while (out->n < before + width)
		buf_addc(out, ' ');
	buf_adds(out, "  ");
	add_types(p, out);
	if (p->is_required)
		buf_adds(out, ", required");
	if (p->fallback.p) {
		buf_adds(out, ", default ");
		target_show(t, str_first(p->fallback, 200), false, out);
	}
	add_choices(t, p, out);
	buf_addc(out, '\n');
	if (!whole || !p->description.n)
		return;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	target_show(t, str_trim(p->description), true, &text);
	add_indented(buf_str(&text), "        ", out);
}

static void add_properties(const struct target *t, struct str schema,
			   bool whole, struct buf *out)
{
	AUTO(schema_freep) struct schema *s = NULL;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct schema_property *property;
	struct err err = ERR_INIT;
	size_t n, width;

	if (schema_compile(schema, NULL, &s, &err) < 0) {
		buf_adds(out, "    (the schema is unusable: ");
		target_show(t, str_of(err.msg), false, out);
		buf_adds(out, ")\n");
		return;
	}
	n = schema_properties(s, &arena, &property);
	width = width_of(property, n);
	for (size_t i = 0; i < n; i++)
		add_property(t, &property[i], width, whole, out);
}

/* ---- arguments of a prompt ---- */

static bool is_true(struct str json)
{
	return json.p && scan_type(json) == SCAN_TRUE;
}

static void add_arguments(const struct target *t, struct str list,
			  struct buf *out)
{
	struct scan_iter it;

	scan_iter_init(&it, list);
	while (scan_next(&it)) {
		struct str name = member(it.value, "name");

		if (!name.p || scan_type(name) != SCAN_STRING)
			continue;
		buf_adds(out, "    ");
		add_text(t, name, LINE_CHARS, out);
		buf_adds(out, is_true(member(it.value, "required"))
				      ? "  required"
				      : "");
		buf_adds(out, "  ");
		if (!add_text(t, member(it.value, "description"), LINE_CHARS,
			      out))
			out->n -= 2;
		buf_addc(out, '\n');
	}
}

static void add_type(const struct target *t, struct str json, struct buf *out)
{
	AUTO(buf_release) struct buf mime = BUF_INIT(BUF_UNBOUNDED);

	if (add_text(t, member(json, "mimeType"), LINE_CHARS, &mime))
		buf_addf(out, "    %s\n", buf_cstr(&mime));
}

/* Show an entry of a list: name, title, description, arguments. */
static void show_item(const struct target *t, enum listing_kind kind,
		      const struct listing_item *item, struct buf *out)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct str json = item->json;

	add_head(t, item, out);
	if (add_text(t, member(json, "description"), LINE_CHARS, &line))
		buf_addf(out, "  %s\n", buf_cstr(&line));
	switch (kind) {
	case LISTING_TOOLS:
		if (tool_input_schema(json).p)
			add_properties(t, tool_input_schema(json), false, out);
		break;
	case LISTING_PROMPTS:
		if (member(json, "arguments").p)
			add_arguments(t, member(json, "arguments"), out);
		break;
	case LISTING_RESOURCES:
	case LISTING_TEMPLATES:
		add_type(t, json, out);
		break;
	}
}

static const struct hint {
	const char *key, *if_true, *if_false;
} hints[] = {
	{"readOnlyHint", "read-only", "not read-only"},
	{"destructiveHint", "destructive", "not destructive"},
	{"idempotentHint", "idempotent", "not idempotent"},
	{"openWorldHint", "open world", "closed world"},
};

/* A hint in words; of an unknown one its key and value. */
static void add_hint(const struct target *t, struct str key, struct str value,
		     struct buf *out)
{
	bool is_set = scan_type(value) == SCAN_TRUE;

	for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
		if (!str_is(key, hints[i].key))
			continue;
		buf_adds(out, is_set ? hints[i].if_true : hints[i].if_false);
		return;
	}
	target_show(t, key, false, out);
	buf_addf(out, " %.*s", STR_ARG(value));
}

static void add_hints(const struct target *t, struct str annotations,
		      struct buf *out)
{
	struct scan_iter it;
	bool any = false;

	scan_iter_init(&it, annotations);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (scan_type(it.value) != SCAN_TRUE &&
		    scan_type(it.value) != SCAN_FALSE)
			continue;
		scan_string(it.key, &key);
		buf_adds(out, any ? ", " : "  hints from the server: ");
		add_hint(t, buf_str(&key), it.value, out);
		any = true;
	}
	buf_adds(out, any ? "\n" : "");
}

/* Show the whole entry of one tool. */
static void show_tool(const struct target *t, const struct listing_item *item,
		      struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str json = item->json, output = member(json, "outputSchema");

	add_head(t, item, out);
	if (add_text(t, member(json, "description"), 0, &text))
		add_indented(buf_str(&text), "  ", out);
	buf_adds(out, "\n  takes\n");
	if (tool_input_schema(json).p)
		add_properties(t, tool_input_schema(json), true, out);
	if (output.p) {
		buf_adds(out, "\n  gives\n");
		add_properties(t, output, true, out);
	}
	if (member(json, "annotations").p) {
		buf_addc(out, '\n');
		add_hints(t, member(json, "annotations"), out);
	}
}

/* ---- whole lists ---- */

static void write_members(const struct listing *l, struct jw *w)
{
	jw_kv_array(w, listing_member(l->kind));
	for (size_t i = 0; i < l->n; i++)
		jw_raw(w, l->item[i].json);
	jw_end(w);
}

static int print_json(struct target *t, const struct listing *l,
		      const struct listing *more, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_object(&w);
	write_members(l, &w);
	if (more)
		write_members(more, &w);
	jw_end(&w);
	return target_put_json(t, buf_str(&out), err);
}

static void show_all(const struct target *t, const struct listing *l,
		     struct buf *out)
{
	for (size_t i = 0; i < l->n; i++)
		show_item(t, l->kind, &l->item[i], out);
}

/* more  another listing of the same document; NULL for none */
static int print_lists(struct target *t, const struct listing *l,
		       const struct listing *more, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (t->json)
		return print_json(t, l, more, err);
	show_all(t, l, &out);
	if (more)
		show_all(t, more, &out);
	if (!out.n)
		log_note("%s lists none", t->name);
	live_clear(&t->live);
	return target_write(buf_str(&out), err);
}

/* ---- the commands ---- */

static int show_one(struct target *t, const struct listing *l, const char *name,
		    struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct listing_item *item = listing_find(l, str_of(name));

	if (!item)
		return target_unknown(t, l, name, err);
	if (t->json)
		return target_put_json(t, item->json, err);
	show_tool(t, item, &out);
	return target_write(buf_str(&out), err);
}

/* Servers with resources need not know of templates. */
static int try_templates(struct target *t, struct listing *l, struct err *err)
{
	enum log_level before = log_level();
	int r;

	if (before < LOG_DEBUG)
		log_set_level(LOG_ERROR);
	r = target_try_list(t, LISTING_TEMPLATES, l, err);
	log_set_level(before);
	return r < 0 ? -1 : 0;
}

static int show_kind(struct target *t, enum listing_kind kind, const char *name,
		     struct err *err)
{
	bool has_more = kind == LISTING_RESOURCES;
	struct listing l, templates;
	int r;

	listing_init(&templates, LISTING_TEMPLATES);
	r = target_list(t, kind, &l, err);
	if (r == 0 && has_more)
		r = try_templates(t, &templates, err);
	if (r == 0 && name)
		r = show_one(t, &l, name, err);
	else if (r == 0)
		r = print_lists(t, &l, has_more ? &templates : NULL, err);
	listing_release(&templates);
	listing_release(&l);
	return r;
}

static int list(const struct args *args, enum listing_kind kind,
		struct err *err)
{
	struct target t;
	int status = target_open(&t, args, err);

	if (status == 0)
		status = show_kind(&t, kind, args->positional[0], err);
	return target_close(&t, status, err);
}

int cmd_tools(const struct args *args, struct err *err)
{
	return list(args, LISTING_TOOLS, err);
}

int cmd_prompts(const struct args *args, struct err *err)
{
	return list(args, LISTING_PROMPTS, err);
}

int cmd_resources(const struct args *args, struct err *err)
{
	return list(args, LISTING_RESOURCES, err);
}
