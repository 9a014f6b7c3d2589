#include "core/cli/tool_text.h"

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/client/tool_check.h"
#include "core/schema/describe.h"

void text_show(const struct scrub *scrub, struct str text, bool keep_newlines,
	       struct buf *out)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	scrub_apply(scrub, text, &clean);
	log_visible(out, buf_str(&clean), keep_newlines);
}

/* ---- texts ---- */

bool text_line(const struct scrub *scrub, struct str json, size_t max,
	       struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str s;

	if (!scan_string(json, &text))
		return false;
	s = str_trim(buf_str(&text));
	if (max && str_find(s, '\n') < s.n) {
		s.n = str_find(s, '\n');
		max = max < s.n ? max : s.n + 3;
	}
	if (!s.n)
		return false;
	if (max && s.n > max) {
		text_show(scrub, str_first(s, max), false, out);
		buf_adds(out, "…");
	} else {
		text_show(scrub, s, !max, out);
	}
	return true;
}

/* Arguments that text_given() shows, and columns of each name and value. */
#define GIVEN_MAX 8
#define GIVEN_COLUMNS 60

/* Append a text without secrets; what is longer than it may be is cut. */
static void show_cut(const struct scrub *scrub, struct str text,
		     struct buf *out)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct str first;

	text_show(scrub, text, false, &shown);
	first = text_first_columns(buf_str(&shown), GIVEN_COLUMNS);
	buf_add_str(out, first);
	buf_adds(out, first.n < shown.n ? "…" : "");
}

void text_given(const struct scrub *scrub, struct str json, struct buf *out)
{
	const struct str none = STR("{}");
	size_t n = 0;

	for (struct scan_iter it = scan_over(json.p ? json : none);
	     scan_next(&it); n++) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

		if (n >= GIVEN_MAX)
			continue;
		scan_string(it.key, &name);
		buf_adds(out, n ? ", " : " with ");
		show_cut(scrub, buf_str(&name), out);
		buf_adds(out, " = ");
		show_cut(scrub, it.value, out);
	}
	if (n > GIVEN_MAX)
		buf_addf(out, " and %zu more", n - GIVEN_MAX);
}

void text_indented(struct str text, const char *indent, struct buf *out)
{
	while (text.p) {
		struct str line = str_cut(&text, '\n');

		buf_adds(out, line.n ? indent : "");
		buf_add_str(out, line);
		buf_addc(out, '\n');
	}
}

void text_head(const struct scrub *scrub, const struct listing_item *item,
	       struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);
	struct str name = tool_title(item->json);

	text_show(scrub, item->name, false, out);
	if (!name.p)
		name = scan_some(item->json, "name");
	if (name.p && !scan_is(name, "") &&
	    text_line(scrub, name, TEXT_LINE_CHARS, &title) &&
	    !str_eq(buf_str(&title), item->name))
		buf_addf(out, " — %s", buf_cstr(&title));
	buf_addc(out, '\n');
}

/* ---- arguments of a tool ---- */

/* Members of arguments that are shown, and how deep they stand at most. */
#define NESTED_MAX 200
#define NESTED_DEPTH 4

struct rows {
	struct arena *arena;
	struct schema_property *row; /* each name is a path: "to.city" */
	size_t n, n_nested;
	bool is_flat; /* without members */
};

/* Add properties, and behind each its members or those of its elements. */
static void add_rows(struct rows *r, const struct schema_property *p, size_t n,
		     const char *prefix, int depth)
{
	for (size_t i = 0; i < n && (!depth || r->n_nested < NESTED_MAX); i++) {
		struct schema_property element, *member;
		const bool is_list = p[i].types & SCHEMA_TYPE_ARRAY &&
				     schema_elements(&p[i], r->arena, &element);
		const char *path = arena_printf(r->arena, "%s%.*s", prefix,
						STR_ARG(p[i].name));
		size_t n_members;

		r->row[r->n] = p[i];
		r->row[r->n++].name = str_of(path);
		r->n_nested += depth > 0;
		if (r->is_flat || depth == NESTED_DEPTH)
			continue;
		n_members = schema_members(is_list ? &element : &p[i], r->arena,
					   &member);
		add_rows(r, member, n_members,
			 arena_printf(r->arena, "%s%s", path,
				      is_list ? "[]." : "."),
			 depth + 1);
	}
}

static void add_types(const struct schema_property *p, struct buf *out)
{
	bool any = false;

	for (unsigned bit = 1; bit <= SCHEMA_TYPE_OBJECT; bit <<= 1) {
		/* every integer is a number */
		if (!(p->types & bit) || (bit == SCHEMA_TYPE_INTEGER &&
					  (p->types & SCHEMA_TYPE_NUMBER)))
			continue;
		buf_addf(out, "%s%s", any ? "|" : "",
			 schema_type_name((enum schema_type)bit));
		any = true;
	}
	buf_adds(out, any ? "" : "any");
}

/* ", 1 to 9", ", at least 1", ", at most 9" */
static void add_range(const struct schema_property *p, struct buf *out)
{
	const struct str least = p->minimum, most = p->maximum;

	if (least.p && most.p)
		buf_addf(out, ", %.*s to %.*s", STR_ARG(least), STR_ARG(most));
	else if (least.p)
		buf_addf(out, ", at least %.*s", STR_ARG(least));
	else if (most.p)
		buf_addf(out, ", at most %.*s", STR_ARG(most));
}

static void add_property(const struct scrub *scrub,
			 const struct schema_property *p, size_t width,
			 bool whole, struct buf *out)
{
	const struct str about = p->description.n ? p->description : p->title;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct schema_property element;
	size_t before;

	buf_adds(out, "    ");
	before = out->n;
	text_show(scrub, p->name, false, out);
	while (out->n < before + width)
		buf_addc(out, ' ');
	buf_adds(out, "  ");
	add_types(p, out);
	if (p->types == SCHEMA_TYPE_ARRAY &&
	    schema_elements(p, &arena, &element) && element.types) {
		buf_adds(out, " of ");
		add_types(&element, out);
	}
	buf_adds(out, p->is_required ? ", required" : "");
	if (p->fallback.p) {
		buf_adds(out, ", default ");
		text_show(scrub, str_first(p->fallback, 200), false, out);
	}
	add_range(p, out);
	for (size_t i = 0; i < p->n_choices && i < 20; i++) {
		buf_adds(out, i ? ", " : "; ");
		text_show(scrub, p->choice[i].value, false, out);
	}
	if (p->n_choices > 20)
		buf_addf(out, ", … (%zu)", p->n_choices);
	buf_addc(out, '\n');
	if (!whole || !about.n)
		return;
	text_show(scrub, str_trim(about), true, &text);
	text_indented(buf_str(&text), "        ", out);
}

void text_arguments(const struct scrub *scrub, struct str schema, bool whole,
		    struct buf *out)
{
	AUTO(schema_freep) struct schema *s = NULL;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct rows rows = {.arena = &arena, .is_flat = !whole};
	struct schema_property *p;
	struct err err = ERR_INIT;
	size_t n, width = 0;

	if (!schema.p)
		return;
	if (schema_compile(schema, NULL, &s, &err) < 0) {
		buf_adds(out, "    (the schema is unusable: ");
		text_show(scrub, str_of(err.msg), false, out);
		buf_adds(out, ")\n");
		return;
	}
	n = schema_properties(s, &arena, &p);
	rows.row = ARENA_ARRAY(&arena, struct schema_property, n + NESTED_MAX);
	add_rows(&rows, p, n, "", 0);
	for (size_t i = 0; i < rows.n; i++)
		if (rows.row[i].name.n > width && rows.row[i].name.n <= 24)
			width = rows.row[i].name.n;
	for (size_t i = 0; i < rows.n; i++)
		add_property(scrub, &rows.row[i], width, whole, out);
}

/* A hint in words; of an unknown one its key and value. */
static void add_hint(const struct scrub *scrub, struct str key,
		     struct str value, struct buf *out)
{
	static const struct {
		const char *key, *if_true, *if_false;
	} hints[] = {
		{"readOnlyHint", "read-only", "not read-only"},
		{"destructiveHint", "destructive", "not destructive"},
		{"idempotentHint", "idempotent", "not idempotent"},
		{"openWorldHint", "open world", "closed world"},
	};

	for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
		if (!str_is(key, hints[i].key))
			continue;
		buf_adds(out, scan_type(value) == SCAN_TRUE
				      ? hints[i].if_true
				      : hints[i].if_false);
		return;
	}
	text_show(scrub, key, false, out);
	buf_addf(out, " %.*s", STR_ARG(value));
}

static void add_hints(const struct scrub *scrub, struct str annotations,
		      struct buf *out)
{
	bool any = false;

	for (struct scan_iter it = scan_over(annotations); scan_next(&it);) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (scan_type(it.value) != SCAN_TRUE &&
		    scan_type(it.value) != SCAN_FALSE)
			continue;
		scan_string(it.key, &key);
		buf_adds(out, any ? ", " : "  hints from the server: ");
		add_hint(scrub, buf_str(&key), it.value, out);
		any = true;
	}
	buf_adds(out, any ? "\n" : "");
}

void text_tool(const struct scrub *scrub, const struct listing_item *item,
	       struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str json = item->json, output = scan_some(json, "outputSchema");

	text_head(scrub, item, out);
	if (text_line(scrub, scan_some(json, "description"), 0, &text))
		text_indented(buf_str(&text), "  ", out);
	buf_adds(out, "\n  takes\n");
	text_arguments(scrub, tool_input_schema(json), true, out);
	if (output.p) {
		buf_adds(out, "\n  gives\n");
		text_arguments(scrub, output, true, out);
	}
	if (scan_some(json, "annotations").p) {
		buf_addc(out, '\n');
		add_hints(scrub, scan_some(json, "annotations"), out);
	}
}
