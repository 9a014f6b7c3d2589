/* Reports of a run: failures, violations, and their sentences for people. */
#include "core/schema/run.h"

#include <inttypes.h>
#include <stdarg.h>

#include "core/base/jw.h"
#include "core/schema/describe.h"

/* Steps that one violation costs, so that there cannot be too many. */
#define SAY_STEPS 20
/* Bytes of a name or value that are shown. */
#define SHOWN_MAX 80

void report_init(struct report *report, size_t max, const struct jdoc *anchor)
{
	*report = (struct report){.max = max, .anchor = anchor};
}

static struct schema_violation *add_entry(struct report *report,
					  struct arena *arena)
{
	if (report->n == report->max) {
		report->n_more++;
		return NULL;
	}
	if (!report->item)
		report->item = ARENA_ARRAY(arena, struct schema_violation,
					   report->max);
	return &report->item[report->n++];
}

void report_add(struct report *to, const struct report *from,
		struct arena *arena)
{
	for (size_t i = 0; i < from->n; i++) {
		struct schema_violation *v = add_entry(to, arena);

		if (v)
			*v = from->item[i];
	}
	to->n_more += from->n_more;
}

/* ---- bounds ---- */

bool run_fail(struct run *r, enum err_kind kind, const char *what)
{
	if (!r->has_failed)
		err_set(r->err, kind, "%s", what);
	r->has_failed = true;
	return false;
}

bool run_spend(struct run *r, uint64_t steps)
{
	if (r->steps < steps) {
		r->steps = 0;
		return run_fail(r, ERR_LIMIT,
				"validation is too much work; no verdict");
	}
	r->steps -= steps;
	return true;
}

/* ---- places ---- */

/* The frame in which the value came to be looked at; NULL is the root. */
static const struct frame *entry_of(const struct frame *f)
{
	while (f && !f->is_child)
		f = f->up;
	return f;
}

static void add_place(const struct frame *f, struct buf *out)
{
	const struct frame *way[LIMIT_JSON_DEPTH];
	size_t n = 0;

	for (f = entry_of(f); f && n < ARRAY_LEN(way); f = entry_of(f->up))
		way[n++] = f;
	while (n--) {
		buf_addc(out, '/');
		if (way[n]->value->key.p)
			pointer_add(out, way[n]->value->key);
		else
			buf_addf(out, "%zu", way[n]->index);
	}
}

static bool is_about_name(const struct frame *f)
{
	while (f && !f->is_child && !f->is_name)
		f = f->up;
	return f && f->is_name;
}

/* ---- kinds of violations, for alternatives ---- */

static void note_kind(struct report *report, const struct frame *f,
		      const struct rule *rule)
{
	bool is_value = !rule || rule->keyword == KEYWORD_const ||
			rule->keyword == KEYWORD_enum;
	bool is_type = rule && rule->keyword == KEYWORD_type;
	const struct frame *entry;

	if (!report->anchor || (!is_value && !is_type))
		return;
	if (f->value == report->anchor) {
		report->is_misfit = true;
		if (is_type)
			report->types |= rule->types;
		return;
	}
	entry = entry_of(f);
	if (is_value && entry && entry->up->value == report->anchor)
		report->is_other_tag = true;
}

/* ---- sentences ---- */

struct buf *say_begin(struct run *r, const struct frame *f,
		      const struct rule *rule)
{
	if (!r->report || r->has_failed || !run_spend(r, SAY_STEPS))
		return NULL;
	note_kind(r->report, f, rule);
	if (r->report->n == r->report->max) {
		r->report->n_more++;
		return NULL;
	}
	buf_clear(&r->sentence);
	if (is_about_name(f)) {
		buf_adds(&r->sentence, "the name ");
		say_value(&r->sentence, f->value);
		buf_addc(&r->sentence, ' ');
	}
	return &r->sentence;
}

static struct str copy_of(struct buf *text, struct arena *arena)
{
	struct str copy = arena_str(arena, buf_str(text));

	buf_release(text);
	return copy;
}

void say_end(struct run *r, const struct frame *f, const struct rule *rule)
{
	struct schema_violation *v = add_entry(r->report, r->arena);
	struct buf place = BUF_INIT(BUF_UNBOUNDED);
	struct buf schema = BUF_INIT(BUF_UNBOUNDED);

	if (!v)
		return;
	add_place(f, &place);
	node_pointer(f->node, &schema);
	if (rule)
		buf_addf(&schema, "/%s", KEYWORDS[rule->keyword].name);
	v->instance = copy_of(&place, r->arena);
	v->schema = copy_of(&schema, r->arena);
	v->keyword = rule ? KEYWORDS[rule->keyword].name : "";
	v->text = arena_str(r->arena, buf_str(&r->sentence));
}

bool say(struct run *r, const struct frame *f, const struct rule *rule,
	 const char *fmt, ...)
{
	struct buf *out = say_begin(r, f, rule);
	char text[256];
	va_list ap;

	if (!out)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_adds(out, text);
	say_end(r, f, rule);
	return false;
}

struct buf *say_begin_is(struct run *r, const struct frame *f,
			 const struct rule *rule)
{
	struct buf *out = say_begin(r, f, rule);

	if (!out)
		return NULL;
	buf_adds(out, "is ");
	say_value(out, f->value);
	return out;
}

bool check_number_of(struct run *r, const struct frame *f,
		     const struct rule *rule, size_t n, const char *one,
		     const char *many)
{
	bool is_max = rule->keyword == KEYWORD_max_length ||
		      rule->keyword == KEYWORD_max_items ||
		      rule->keyword == KEYWORD_max_properties;

	if (is_max ? n <= rule->count : n >= rule->count)
		return true;
	return say(r, f, rule, "has %zu %s, must have at %s %" PRIu64, n,
		   n == 1 ? one : many, is_max ? "most" : "least", rule->count);
}

void say_name(struct buf *out, struct str name)
{
	struct buf cut = BUF_INIT(BUF_UNBOUNDED);

	buf_add_cut(&cut, name, SHOWN_MAX);
	jw_quote(out, buf_str(&cut));
	buf_release(&cut);
}

void say_value(struct buf *out, const struct jdoc *value)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	switch (value->type) {
	case SCAN_ARRAY:
		buf_addf(out, "an array of %zu", value->n);
		return;
	case SCAN_OBJECT:
		buf_adds(out, value->n ? "an object" : "an empty object");
		return;
	case SCAN_STRING:
		if (scan_string_cut(value->raw, SHOWN_MAX, &text))
			jw_quote(out, buf_str(&text));
		buf_release(&text);
		return;
	default:
		buf_add_cut(out, value->raw, SHOWN_MAX);
	}
}

unsigned value_types(const struct jdoc *value)
{
	struct decimal d;

	switch (value->type) {
	case SCAN_NULL:
		return SCHEMA_TYPE_NULL;
	case SCAN_FALSE:
	case SCAN_TRUE:
		return SCHEMA_TYPE_BOOLEAN;
	case SCAN_STRING:
		return SCHEMA_TYPE_STRING;
	case SCAN_ARRAY:
		return SCHEMA_TYPE_ARRAY;
	case SCAN_OBJECT:
		return SCHEMA_TYPE_OBJECT;
	default:
		d = decimal_of(value->raw);
		return decimal_is_integer(&d)
			       ? SCHEMA_TYPE_INTEGER | SCHEMA_TYPE_NUMBER
			       : SCHEMA_TYPE_NUMBER;
	}
}

static const char *separator(size_t i, size_t n)
{
	return i == 0 ? "" : i + 1 == n ? " or " : ", ";
}

/* Write "a string, a number or null". */
static void say_types(struct buf *out, unsigned types)
{
	size_t n = (size_t)__builtin_popcount(types), i = 0;

	/* an integer is a number, too */
	if (types & SCHEMA_TYPE_NUMBER && types & SCHEMA_TYPE_INTEGER) {
		types &= ~(unsigned)SCHEMA_TYPE_INTEGER;
		n--;
	}
	for (unsigned bit = 1; bit <= types; bit <<= 1) {
		if (!(types & bit))
			continue;
		buf_adds(out, separator(i++, n));
		buf_adds(out, schema_type_phrase((enum schema_type)bit));
	}
}

void say_wrong_type(struct buf *out, const struct jdoc *value, unsigned types)
{
	buf_adds(out, "is ");
	/* "is a number, must be an integer" would puzzle */
	if (value->type == SCAN_NUMBER && types & SCHEMA_TYPE_INTEGER)
		say_value(out, value);
	else
		say_types(out, value_types(value));
	buf_adds(out, ", must be ");
	say_types(out, types);
}

/* ---- printing ---- */

static uint32_t code_point(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	switch (s.n) {
	case 2:
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	case 3:
		return (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 |
		       (p[2] & 0x3fu);
	case 4:
		return 0x10000; /* beyond all controls */
	default:
		return p[0];
	}
}

/* Characters that move the cursor, end the line or turn its direction. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e ||
	       c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

static void add_line(struct buf *out, struct str text)
{
	while (text.n) {
		size_t n = str_utf8_len(text);
		struct str one = {text.p, n ? n : 1};
		uint32_t c = code_point(one);

		if (is_control(c))
			buf_addf(out, "\\u%04x", (unsigned)c);
		else
			buf_add_str(out, one);
		text = (struct str){text.p + one.n, text.n - one.n};
	}
}

void schema_violation_print(const struct schema_violation *v, struct buf *out)
{
	if (v->instance.n) {
		add_line(out, v->instance);
		buf_adds(out, ": ");
	}
	add_line(out, v->text);
}
