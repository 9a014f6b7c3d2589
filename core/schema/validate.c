/*
 * One validation: the keywords of the schema, each a check_<keyword>(), applied
 * to the value, and sentences about what does not hold.
 *
 * A frame is one subschema applied to one value; frames form the chain from
 * the innermost one to the root. Checks return whether the value holds. With
 * a report (run->report) a check that does not hold adds to it, and all rules
 * are tried; else the first one that does not hold ends the run.
 */
#include <inttypes.h>

#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/schema/describe.h"
#include "core/schema/format.h"
#include "core/schema/node.h"

/* Resources on the way to here, each once; for $dynamicRef. */
struct scope {
	const struct scope *up;
	const struct resource *resource;
	size_t n;
};

/* Which members or elements of a value some keyword has spoken of. */
struct seen {
	size_t n;
	uint64_t *bits; /* `few`, or owned */
	uint64_t few[4];
};

struct frame {
	const struct frame *up;
	const struct node *node;
	const struct jdoc *value;
	const struct scope *scope;
	struct scope
		entered;   /* `scope` points here where the resource is new */
	struct seen *seen; /* NULL: not tracked */
	size_t index;	   /* of an element in its array */
	bool is_child;	   /* the value lies in that of `up` */
	bool is_name;	   /* the value is the name of a member of it */
};

struct report {
	struct schema_violation *item;
	size_t n, max, n_more;
	/* for alternatives: how the value at `anchor` misses this one */
	const struct jdoc *anchor;
	unsigned types;	   /* types that the value lacks */
	bool is_misfit;	   /* type or value is another one altogether */
	bool is_other_tag; /* a member of it has another value */
};

struct run {
	const struct schema *schema;
	struct arena *arena; /* of the result */
	struct err *err;
	bool has_failed; /* err is set; no verdict */
	uint64_t steps;	 /* left */
	uint32_t depth;
	struct report *report; /* NULL: violations are not reported */
	struct buf scratch;    /* text of the string that is looked at */
	struct buf sentence;
};

static inline void seen_add(struct seen *s, size_t i)
{
	if (s && i < s->n)
		s->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static inline bool seen_has(const struct seen *s, size_t i)
{
	return s && i < s->n && s->bits[i / 64] >> i % 64 & 1;
}

typedef bool check_fn(struct run *r, struct frame *f, const struct rule *rule);

/* ---- reports ---- */

/* Steps that one violation costs, so that there cannot be too many. */
#define SAY_STEPS 20
/* Bytes of a name or value that are shown. */
#define SHOWN_MAX 80

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

/* Take over the entries of another report. */
static void report_add(struct report *to, const struct report *from,
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

/* Fail: no verdict will come; returns false. */
static bool run_fail(struct run *r, enum err_kind kind, const char *what)
{
	if (!r->has_failed)
		err_set(r->err, kind, "%s", what);
	r->has_failed = true;
	return false;
}

/* Take work from the budget; false when it has run out. */
static bool run_spend(struct run *r, uint64_t steps)
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
			text_add_pointer(out, way[n]->value->key);
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

/* A name in quotes, cut. */
static void say_name(struct buf *out, struct str name)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);

	buf_add_cut(&cut, name, SHOWN_MAX);
	jw_quote(out, buf_str(&cut));
}

/* A value in few words. */
static void say_value(struct buf *out, const struct jdoc *value)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	switch (value->type) {
	case SCAN_ARRAY:
		buf_addf(out, "an array of %u", value->n);
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

/* A value in few words, for say(); "" where nothing will be said. */
static const char *shown(struct run *r, const struct jdoc *value)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!r->report || r->has_failed)
		return "";
	say_value(&text, value);
	return arena_str(r->arena, buf_str(&text)).p;
}

/*
 * Begin the sentence of a violation of `rule` (NULL for a schema that is
 * false); NULL when nothing is reported. say_end() makes it an entry.
 */
static struct buf *say_begin(struct run *r, const struct frame *f,
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

static void say_end(struct run *r, const struct frame *f,
		    const struct rule *rule)
{
	struct schema_violation *v = add_entry(r->report, r->arena);
	AUTO(buf_release) struct buf place = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf schema = BUF_INIT(BUF_UNBOUNDED);

	if (!v)
		return;
	add_place(f, &place);
	node_pointer(f->node, &schema);
	if (rule)
		buf_addf(&schema, "/%s", KEYWORDS[rule->keyword].name);
	v->instance = arena_str(r->arena, buf_str(&place));
	v->schema = arena_str(r->arena, buf_str(&schema));
	v->keyword = rule ? KEYWORDS[rule->keyword].name : "";
	v->text = arena_str(r->arena, buf_str(&r->sentence));
}

/* Say a whole sentence; returns false. */
static bool say(struct run *r, const struct frame *f, const struct rule *rule,
		const char *fmt, ...)
{
	struct buf *out = say_begin(r, f, rule);
	char text[1200]; /* two values in few words, each escaped */
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

/* Begin a sentence with "is VALUE"; as say_begin(). */
static struct buf *say_begin_is(struct run *r, const struct frame *f,
				const struct rule *rule)
{
	struct buf *out = say_begin(r, f, rule);

	if (!out)
		return NULL;
	buf_adds(out, "is ");
	say_value(out, f->value);
	return out;
}

/* Compare a number of things with the bound of a max... or min... rule. */
static bool holds_count(struct run *r, const struct frame *f,
			const struct rule *rule, size_t n)
{
	static const char *const things[][2] = {
		[SCAN_STRING] = {"character", "characters"},
		[SCAN_ARRAY] = {"element", "elements"},
		[SCAN_OBJECT] = {"property", "properties"},
	};
	bool is_max = rule->keyword == KEYWORD_max_length ||
		      rule->keyword == KEYWORD_max_items ||
		      rule->keyword == KEYWORD_max_properties;

	if (is_max ? n <= rule->count : n >= rule->count)
		return true;
	return say(r, f, rule, "has %zu %s, must have at %s %" PRIu64, n,
		   things[f->value->type][n != 1], is_max ? "most" : "least",
		   rule->count);
}

static bool check_count(struct run *r, struct frame *f, const struct rule *rule)
{
	return holds_count(r, f, rule, f->value->n);
}

/* Bits of the types that a value has; an integer is a number, too. */
static unsigned value_types(const struct jdoc *value)
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

/* Say "is a number, must be a string"; returns false. */
static bool say_wrong_type(struct run *r, const struct frame *f,
			   const struct rule *rule, unsigned types)
{
	struct buf *out = say_begin(r, f, rule);

	if (!out)
		return false;
	buf_adds(out, "is ");
	/* "is a number, must be an integer" would puzzle */
	if (f->value->type == SCAN_NUMBER && types & SCHEMA_TYPE_INTEGER)
		say_value(out, f->value);
	else
		say_types(out, value_types(f->value));
	buf_adds(out, ", must be ");
	say_types(out, types);
	say_end(r, f, rule);
	return false;
}

/* ---- printing ---- */

static void add_line(struct buf *out, struct str text)
{
	while (text.n) {
		size_t n = str_utf8_len(text);
		struct str one = {text.p, n ? n : 1};
		uint32_t c = n ? text_code_point(text.p, n)
			       : (unsigned char)text.p[0];

		if (text_is_control(c))
			buf_addf(out, "\\u%04x", (unsigned)c);
		else
			buf_add_str(out, one);
		text = str_skip(text, one.n);
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

/* Values that a rule judges: of a type, all or none. */
enum {
	ON_number = SCAN_NUMBER,
	ON_string = SCAN_STRING,
	ON_array = SCAN_ARRAY,
	ON_object = SCAN_OBJECT,
	ON_any,
	ON_none,
};

#define KEYWORD(id, name, drafts, vocabulary, shape, on, check, help) \
	static check_fn check_##check;
#include "core/schema/keywords.def"
#undef KEYWORD

static const struct {
	check_fn *check;
	unsigned on;
} CHECKS[N_KEYWORDS] = {
#define KEYWORD(id, name, drafts, vocabulary, shape, on, check, help) \
	{check_##check, ON_##on},
#include "core/schema/keywords.def"
#undef KEYWORD
};

static bool check_none(UNUSED struct run *r, UNUSED struct frame *f,
		       UNUSED const struct rule *rule)
{
	return true;
}

/* Search an expression in the text; false also when the run has failed. */
static bool run_search(struct run *r, struct regex *regex, struct str text)
{
	int found = regex_search(regex, text, &r->steps);

	if (found < 0)
		return run_fail(r, ERR_LIMIT,
				"a pattern is too much work; no verdict");
	return found;
}

/* ---- members that were evaluated ---- */

static void seen_init(struct seen *s, const struct jdoc *value)
{
	*s = (struct seen){.n = value->n};
	s->bits = s->few;
	if (s->n > 64 * ARRAY_LEN(s->few))
		s->bits = mem_zalloc((s->n + 63) / 64 * sizeof(*s->bits));
}

static void seen_release(struct seen *s)
{
	if (s->bits != s->few)
		free(s->bits);
}

static void seen_merge(struct seen *to, const struct seen *from)
{
	for (size_t i = 0; i < (to->n + 63) / 64; i++)
		to->bits[i] |= from->bits[i];
}

/* ---- frames ---- */

static bool knows(const struct scope *scope, const struct resource *resource)
{
	for (; scope; scope = scope->up)
		if (scope->resource == resource)
			return true;
	return false;
}

/*
 * A subschema that is applied to one value within itself, without a new
 * resource in between, would go on like this for ever.
 */
static bool is_loop(const struct frame *f)
{
	for (const struct frame *u = f; u->up && !u->is_child && !u->is_name;) {
		u = u->up;
		if (u->node == f->node && u->scope == f->scope)
			return true;
	}
	return false;
}

static bool apply_rules(struct run *r, struct frame *f)
{
	bool holds = true;

	for (size_t i = 0; i < f->node->n_rules; i++) {
		const struct rule *rule = &f->node->rule[i];
		unsigned on = CHECKS[rule->keyword].on;

		if ((on != ON_any && on != f->value->type) ||
		    CHECKS[rule->keyword].check(r, f, rule))
			continue;
		holds = false;
		if (!r->report || r->has_failed)
			break;
	}
	return holds && !r->has_failed;
}

static bool apply_scoped(struct run *r, struct frame *f)
{
	struct seen own;
	bool holds;

	if (is_loop(f))
		return run_fail(r, ERR_LIMIT,
				"the schema refers to itself without end");
	if (r->depth == LIMIT_SCHEMA_DEPTH)
		return run_fail(r, ERR_LIMIT,
				"subschemas are nested too deeply");
	r->depth++;
	if (f->node->tracks && !f->seen) {
		seen_init(&own, f->value);
		f->seen = &own;
		holds = apply_rules(r, f);
		seen_release(&own);
		f->seen = NULL;
	} else {
		holds = apply_rules(r, f);
	}
	r->depth--;
	return holds;
}

static bool apply(struct run *r, struct frame *f)
{
	if (r->has_failed || !run_spend(r, 1 + f->node->n_rules))
		return false;
	if (f->node->kind == NODE_TRUE)
		return true;
	if (f->node->kind == NODE_FALSE)
		return say(r, f, NULL, "is not allowed");
	if (!knows(f->scope, f->node->resource)) {
		f->entered = (struct scope){f->scope, f->node->resource,
					    f->scope ? f->scope->n + 1 : 1};
		f->scope = &f->entered;
	}
	return apply_scoped(r, f);
}

/* Something does not hold: is that enough? With a report all is looked at. */
static bool stops(const struct run *r, bool *holds)
{
	*holds = false;
	return !r->report;
}

/* Apply a subschema to the value of `f` itself. */
static bool run_here(struct run *r, struct frame *f, const struct node *node)
{
	struct frame here = {
		.up = f, .node = node, .value = f->value, .scope = f->scope};
	struct seen seen;
	bool holds;

	if (!f->seen)
		return apply(r, &here);
	seen_init(&seen, f->value);
	here.seen = &seen;
	holds = apply(r, &here);
	/* a report needs no violations that follow from the first one */
	if (holds || r->report)
		seen_merge(f->seen, &seen);
	seen_release(&seen);
	return holds;
}

/* Like run_here(), without reports; members seen are merged on success. */
static bool run_quietly(struct run *r, struct frame *f, const struct node *node)
{
	struct report *report = r->report;
	bool holds;

	r->report = NULL;
	holds = run_here(r, f, node);
	r->report = report;
	return holds;
}

/* Apply a subschema to a member or element. */
static bool run_child(struct run *r, struct frame *f, const struct node *node,
		      const struct jdoc *child, size_t index)
{
	return apply(r, &(struct frame){
				.up = f,
				.node = node,
				.value = child,
				.scope = f->scope,
				.index = index,
				.is_child = true,
			});
}

/* Apply a subschema to the name of a member. */
static bool run_name(struct run *r, struct frame *f, const struct node *node,
		     const struct jdoc *name)
{
	return apply(r, &(struct frame){.up = f,
					.node = node,
					.value = name,
					.scope = f->scope,
					.is_name = true});
}

/* ---- keywords that look at one value alone ---- */

/* A step for so many bytes that are compared or counted. */
#define BYTES_A_STEP 256
/* Values of an enum that are told. */
#define CHOICES_MAX 12

static bool check_type(struct run *r, struct frame *f, const struct rule *rule)
{
	return value_types(f->value) & rule->types ||
	       say_wrong_type(r, f, rule, rule->types);
}

/* ---- const and enum ---- */

static bool equals(struct run *r, const struct jdoc *a, const struct jdoc *b)
{
	if (a->type != b->type)
		return false;
	if (!run_spend(r, 1 + (a->raw.n < b->raw.n ? a->raw.n : b->raw.n) /
					  BYTES_A_STEP))
		return false;
	return value_equal(a, b);
}

static bool check_const(struct run *r, struct frame *f, const struct rule *rule)
{
	bool is_like =
		f->value->type == rule->value->type &&
		(f->value->type == SCAN_ARRAY || f->value->type == SCAN_OBJECT);

	return equals(r, f->value, rule->value) ||
	       say(r, f, rule, "is %s, must be %s%s", shown(r, f->value),
		   shown(r, rule->value),
		   is_like ? " like the one in the schema" : "");
}

static const char *nearest_choice(const struct jdoc *value,
				  const struct jdoc *list, struct arena *arena)
{
	const char **names = ARENA_ARRAY(arena, const char *, list->n + 1);
	const char *text;
	size_t n = 0;

	if (value->type != SCAN_STRING)
		return NULL;
	text = jdoc_text(value, arena);
	for (const struct jdoc *e = list->first; e; e = e->next)
		if (e->type == SCAN_STRING)
			names[n++] = jdoc_text(e, arena);
	return str_nearest(str_of(text), names, n);
}

static void say_choices(struct buf *out, const struct jdoc *value,
			const struct jdoc *list)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *nearest;
	size_t i = 0;

	for (const struct jdoc *e = list->first; e && i < CHOICES_MAX;
	     e = e->next, i++) {
		buf_adds(out, i ? ", " : "");
		say_value(out, e);
	}
	if (list->n > CHOICES_MAX)
		buf_addf(out, " and %u more", list->n - CHOICES_MAX);
	if (list->n > 1000)
		return;
	nearest = nearest_choice(value, list, &arena);
	if (nearest) {
		buf_adds(out, "; did you mean ");
		say_name(out, str_of(nearest));
		buf_addc(out, '?');
	}
}

static bool check_enum(struct run *r, struct frame *f, const struct rule *rule)
{
	const struct jdoc *list = rule->value;
	struct buf *out;

	if (!run_spend(r, list->n / 8))
		return false;
	for (const struct jdoc *e = list->first; e; e = e->next)
		if (equals(r, f->value, e))
			return true;
	out = say_begin_is(r, f, rule);
	if (!out)
		return false;
	if (list->n == 0)
		buf_adds(out, ", and no value is allowed");
	else
		buf_adds(out, list->n > 1 ? ", must be one of " : ", must be ");
	say_choices(out, f->value, list);
	say_end(r, f, rule);
	return false;
}

/* ---- numbers ---- */

static bool says_number(struct run *r, struct frame *f, const struct rule *rule,
			const char *what)
{
	return say(r, f, rule, "is %s, must be %s %s", shown(r, f->value), what,
		   shown(r, rule->value));
}

static bool check_bound(struct run *r, struct frame *f, const struct rule *rule)
{
	struct decimal d;
	int order;

	if (!run_spend(r, f->value->raw.n / BYTES_A_STEP))
		return false;
	d = decimal_of(f->value->raw);
	order = decimal_compare(&d, &rule->number);
	switch (rule->keyword) {
	case KEYWORD_maximum:
		return order <= 0 || says_number(r, f, rule, "at most");
	case KEYWORD_exclusive_maximum:
		return order < 0 || says_number(r, f, rule, "less than");
	case KEYWORD_minimum:
		return order >= 0 || says_number(r, f, rule, "at least");
	default:
		return order > 0 || says_number(r, f, rule, "more than");
	}
}

static bool check_multiple_of(struct run *r, struct frame *f,
			      const struct rule *rule)
{
	struct decimal d;

	if (!run_spend(r, f->value->raw.n / BYTES_A_STEP))
		return false;
	d = decimal_of(f->value->raw);
	return decimal_is_multiple(&d, &rule->number) ||
	       says_number(r, f, rule, "a multiple of");
}

/* ---- strings ---- */

/* Take the text of a string; false: no budget is left. */
static bool text_of(struct run *r, const struct frame *f, struct str *ret)
{
	if (!run_spend(r, f->value->raw.n / BYTES_A_STEP))
		return false;
	*ret = value_text(f->value, &r->scratch);
	return true;
}

static bool check_length(struct run *r, struct frame *f,
			 const struct rule *rule)
{
	struct str text;
	size_t n = 0;

	if (!text_of(r, f, &text))
		return false;
	for (size_t i = 0; i < text.n; i++) /* characters, not bytes */
		n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	if (n == 0 && n < rule->count && rule->keyword == KEYWORD_min_length)
		return say(r, f, rule, "must not be empty");
	return holds_count(r, f, rule, n);
}

static bool check_pattern(struct run *r, struct frame *f,
			  const struct rule *rule)
{
	struct str text;

	if (!text_of(r, f, &text))
		return false;
	return run_search(r, rule->regex, text) ||
	       say(r, f, rule, "does not match the pattern %s",
		   shown(r, rule->value));
}

static bool check_format(struct run *r, struct frame *f,
			 const struct rule *rule)
{
	const char *phrase;
	struct str text;

	if (!r->schema->options.assert_formats)
		return true;
	if (!text_of(r, f, &text))
		return false;
	phrase = format_missed(rule->value->raw, text);
	return !phrase ||
	       say(r, f, rule, "is %s, must be %s", shown(r, f->value), phrase);
}

/* ---- elements of an array ---- */

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- uniqueItems ---- */

struct hashed {
	uint64_t hash;
	size_t index;
	const struct jdoc *value;
};

static int by_hash(const void *va, const void *vb)
{
	const struct hashed *a = va, *b = vb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The first two that are equal; false when there are none. */
static bool find_equal(struct run *r, const struct hashed *list, size_t n,
		       size_t pair[2])
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && list[k].hash == list[i].hash;
		     k++) {
			if (!run_spend(r, 1 + list[i].value->raw.n / 64))
				return false;
			if (!value_equal(list[i].value, list[k].value))
				continue;
			pair[0] = list[i].index;
			pair[1] = list[k].index;
			return true;
		}
	return false;
}

static bool check_unique_items(struct run *r, struct frame *f,
			       const struct rule *rule)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct jdoc *array = f->value;
	struct hashed *list;
	size_t pair[2], n = 0;

	if (rule->value->type == SCAN_FALSE || array->n < 2)
		return true;
	if (!run_spend(r, array->n + array->raw.n / 64))
		return false;
	list = ARENA_ARRAY(&arena, struct hashed, array->n);
	for (const struct jdoc *e = array->first; e; e = e->next, n++)
		list[n] = (struct hashed){value_hash(e), n, e};
	qsort(list, n, sizeof(*list), by_hash);
	if (!find_equal(r, list, n, pair))
		return !r->has_failed;
	return say(r, f, rule, "elements %zu and %zu are equal", pair[0],
		   pair[1]);
}

/* ---- schemas of elements ---- */

/* The first elements, each by its own schema. */
static bool check_prefix_items(struct run *r, struct frame *f,
			       const struct rule *rule)
{
	bool holds = true;
	size_t i = 0;

	for (const struct jdoc *e = f->value->first; e && i < rule->n_sub;
	     e = e->next, i++) {
		seen_add(f->seen, i);
		if (!run_child(r, f, rule->sub[i].node, e, i) &&
		    stops(r, &holds))
			break;
	}
	return holds;
}

static bool too_many(struct run *r, struct frame *f, const struct rule *rule,
		     const struct jdoc *e, size_t i)
{
	struct frame extra = {.up = f,
			      .node = f->node,
			      .value = e,
			      .index = i,
			      .is_child = true};

	return say(r, &extra, rule, "is one element too many; %zu %s allowed",
		   i, i == 1 ? "is" : "are");
}

/* All elements from `first` on that nothing spoke of, if that matters. */
static bool rest_by_one(struct run *r, struct frame *f, const struct rule *rule,
			size_t first, bool only_unseen)
{
	bool holds = true;
	size_t i = 0;

	for (const struct jdoc *e = f->value->first; e; e = e->next, i++) {
		if (i < first || (only_unseen && seen_has(f->seen, i)))
			continue;
		seen_add(f->seen, i);
		if (rule->node->kind == NODE_FALSE && first)
			return too_many(r, f, rule, e, i);
		if (!run_child(r, f, rule->node, e, i) && stops(r, &holds))
			break;
	}
	return holds && !r->has_failed;
}

static bool check_items(struct run *r, struct frame *f, const struct rule *rule)
{
	const struct rule *prefix = node_rule(f->node, KEYWORD_prefix_items);

	return rest_by_one(r, f, rule, prefix ? prefix->n_sub : 0, false);
}

static bool check_items_7(struct run *r, struct frame *f,
			  const struct rule *rule)
{
	return rule->node ? rest_by_one(r, f, rule, 0, false)
			  : check_prefix_items(r, f, rule);
}

/* Means something beside an `items` that is an array only. */
static bool check_additional_items(struct run *r, struct frame *f,
				   const struct rule *rule)
{
	const struct rule *items = node_rule(f->node, KEYWORD_items_7);

	return !items || items->node ||
	       rest_by_one(r, f, rule, items->n_sub, false);
}

static bool check_unevaluated_items(struct run *r, struct frame *f,
				    const struct rule *rule)
{
	return rest_by_one(r, f, rule, 0, true);
}

/* ---- contains ---- */

static size_t count_contained(struct run *r, struct frame *f,
			      const struct rule *rule)
{
	struct report *report = r->report;
	size_t n = 0, i = 0;

	r->report = NULL;
	for (const struct jdoc *e = f->value->first; e; e = e->next, i++) {
		if (!run_child(r, f, rule->node, e, i)) {
			if (r->has_failed)
				break;
			continue;
		}
		seen_add(f->seen, i);
		n++;
	}
	r->report = report;
	return n;
}

static bool check_contains(struct run *r, struct frame *f,
			   const struct rule *rule)
{
	const struct rule *low = node_rule(f->node, KEYWORD_min_contains);
	const struct rule *high = node_rule(f->node, KEYWORD_max_contains);
	uint64_t least = low ? low->count : 1;
	uint64_t most = high ? high->count : UINT64_MAX;
	size_t n;

	n = count_contained(r, f, rule);
	if (r->has_failed)
		return false;
	if (n < least)
		return say(r, f, low ? low : rule,
			   "has %zu element%s of the kind that it must "
			   "contain at least %" PRIu64 " of",
			   n, plural(n), least);
	return n <= most ||
	       say(r, f, high,
		   "has %zu element%s of the kind that it may contain at "
		   "most %" PRIu64 " of",
		   n, plural(n), most);
}

/* ---- members of an object ---- */

/* Members of the value that may be compared by name for one step. */
#define NAMES_A_STEP 8

/* Find an entry of a sorted map, or NULL. */
static const struct sub *find_sub(const struct rule *rule, struct str key)
{
	size_t low = 0, high = rule ? rule->n_sub : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = jdoc_key_order(key, rule->sub[mid].key);

		if (order == 0)
			return &rule->sub[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

/* ---- names that must be there ---- */

static bool missing(struct run *r, struct frame *f, const struct rule *rule,
		    struct str name, const struct str *because)
{
	struct buf *out = say_begin(r, f, rule);

	if (!out)
		return false;
	buf_adds(out, "missing required ");
	say_name(out, name);
	if (because) {
		buf_adds(out, ", which goes with ");
		say_name(out, *because);
	}
	say_end(r, f, rule);
	return false;
}

static bool all_there(struct run *r, struct frame *f, const struct rule *rule,
		      const struct jdoc *names, const struct str *because)
{
	AUTO(buf_release) struct buf scratch = BUF_INIT(BUF_UNBOUNDED);
	bool holds = true;

	for (const struct jdoc *e = names->first; e; e = e->next) {
		struct str name = value_text(e, &scratch);

		if (!run_spend(r, f->value->n / NAMES_A_STEP))
			return false;
		if (value_member(f->value, name))
			continue;
		holds = missing(r, f, rule, name, because);
		if (!r->report)
			break;
	}
	return holds;
}

static bool check_required(struct run *r, struct frame *f,
			   const struct rule *rule)
{
	return all_there(r, f, rule, rule->value, NULL);
}

/* A property that is there demands other names, or a schema. */
static bool check_dependencies(struct run *r, struct frame *f,
			       const struct rule *rule)
{
	bool holds = true;

	for (size_t i = 0; i < rule->n_sub; i++) {
		const struct sub *sub = &rule->sub[i];

		if (!run_spend(r, 1 + f->value->n / NAMES_A_STEP))
			return false;
		if (!value_member(f->value, sub->key))
			continue;
		if (!(sub->strings
			      ? all_there(r, f, rule, sub->strings, &sub->key)
			      : run_here(r, f, sub->node)))
			holds = false;
		if (!holds && !r->report)
			break;
	}
	return holds;
}

/* ---- schemas of members ---- */

static bool unknown(struct run *r, struct frame *f, const struct rule *rule,
		    const struct jdoc *m, size_t i)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct frame extra = {.up = f,
			      .node = f->node,
			      .value = m,
			      .index = i,
			      .is_child = true};
	struct buf *out = say_begin(r, &extra, rule);
	const char *const *names;
	const char *nearest;
	size_t n;

	if (!out)
		return false;
	n = node_property_names(f->node, &arena, &names);
	nearest = str_nearest(m->key, names, n);
	buf_adds(out, "unknown property");
	if (nearest && !value_member(f->value, str_of(nearest))) {
		buf_adds(out, "; did you mean ");
		say_name(out, str_of(nearest));
		buf_addc(out, '?');
	}
	say_end(r, &extra, rule);
	return false;
}

/* Apply a rule to one member. */
static bool apply_member(struct run *r, struct frame *f,
			 const struct rule *rule, const struct node *node,
			 const struct jdoc *m, size_t i)
{
	seen_add(f->seen, i);
	if (node->kind == NODE_FALSE && rule->node == node)
		return unknown(r, f, rule, m, i);
	return run_child(r, f, node, m, i);
}

static bool check_pattern_properties(struct run *r, struct frame *f,
				     const struct rule *rule)
{
	bool holds = true;
	size_t i = 0;

	for (const struct jdoc *m = f->value->first; m; m = m->next, i++)
		for (size_t k = 0; k < rule->n_sub; k++) {
			const struct sub *sub = &rule->sub[k];

			if (!run_spend(r, 1))
				return false;
			if (!run_search(r, sub->regex, m->key)) {
				if (r->has_failed)
					return false;
				continue;
			}
			if (apply_member(r, f, rule, sub->node, m, i))
				continue;
			holds = false;
			if (!r->report)
				return false;
		}
	return holds;
}

/* Schema that a rule has for a member of the value, or NULL. */
static const struct node *schema_of(struct run *r, const struct frame *f,
				    const struct rule *rule,
				    const struct jdoc *m, size_t i)
{
	const struct rule *named = node_rule(f->node, KEYWORD_properties);
	const struct rule *patterns =
		node_rule(f->node, KEYWORD_pattern_properties);
	const struct sub *sub = find_sub(named, m->key);

	if (rule->keyword == KEYWORD_properties)
		return sub ? sub->node : NULL;
	if (rule->keyword == KEYWORD_unevaluated_properties)
		return seen_has(f->seen, i) ? NULL : rule->node;
	/* additionalProperties: neither named nor matched */
	for (size_t k = 0; !sub && patterns && k < patterns->n_sub; k++)
		if (run_search(r, patterns->sub[k].regex, m->key) ||
		    r->has_failed)
			return NULL;
	return sub ? NULL : rule->node;
}

static bool check_members(struct run *r, struct frame *f,
			  const struct rule *rule)
{
	bool holds = true;
	size_t i = 0;

	if (!run_spend(r, f->value->n))
		return false;
	for (const struct jdoc *m = f->value->first; m; m = m->next, i++) {
		const struct node *node = schema_of(r, f, rule, m, i);

		if (node && !apply_member(r, f, rule, node, m, i) &&
		    stops(r, &holds))
			break;
	}
	return holds && !r->has_failed;
}

static bool check_property_names(struct run *r, struct frame *f,
				 const struct rule *rule)
{
	AUTO(buf_release) struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	bool holds = true;

	for (const struct jdoc *m = f->value->first; m; m = m->next) {
		struct jdoc name = {.type = SCAN_STRING};

		if (!run_spend(r, 1 + m->key.n / 256))
			return false;
		buf_clear(&quoted);
		jw_quote(&quoted, m->key);
		name.raw = buf_str(&quoted);
		if (!run_name(r, f, rule->node, &name) && stops(r, &holds))
			break;
	}
	return holds;
}

/* ---- subschemas for the same value ---- */

/* Entries that are kept of one alternative that does not fit. */
#define KEPT_MAX 8
/* Alternatives that are looked at to say what is wrong. */
#define TOLD_MAX 16

static bool check_ref(struct run *r, struct frame *f, const struct rule *rule)
{
	return run_here(r, f, rule->node);
}

/* The outermost resource on the way that has a dynamic anchor of the name. */
static const struct node *dynamic_target(const struct frame *f,
					 const struct rule *rule)
{
	const struct node *target = rule->node;

	for (const struct scope *s = f->scope; s; s = s->up)
		for (const struct anchor *a = s->resource->anchors; a;
		     a = a->next)
			if (a->is_dynamic && str_eq(a->name, rule->dynamic))
				target = a->node;
	return target;
}

static bool check_dynamic_ref(struct run *r, struct frame *f,
			      const struct rule *rule)
{
	if (!rule->dynamic.p)
		return run_here(r, f, rule->node);
	if (!run_spend(r, f->scope->n))
		return false;
	return run_here(r, f, dynamic_target(f, rule));
}

static bool check_all_of(struct run *r, struct frame *f,
			 const struct rule *rule)
{
	bool holds = true;

	for (size_t i = 0; i < rule->n_sub; i++) {
		if (!run_here(r, f, rule->sub[i].node) && stops(r, &holds))
			break;
	}
	return holds;
}

/* ---- alternatives ---- */

/* How near the value came to an alternative. */
enum fit { FIT_MISFIT, FIT_OTHER_TAG, FIT_NEAR };

/* Collect the violations of one alternative. */
static void try_alternative(struct run *r, struct frame *f,
			    const struct node *node, struct report *report)
{
	struct report *outer = r->report;

	*report = (struct report){.max = KEPT_MAX, .anchor = f->value};
	r->report = report;
	if (run_here(r, f, node)) /* the budget decides otherwise now */
		report->is_misfit = true;
	r->report = outer;
}

/* "is a number, must be a string or null", when types are all there is. */
static bool say_all_types(struct run *r, struct frame *f,
			  const struct rule *rule, const struct report *report,
			  size_t n)
{
	unsigned types = 0;

	for (size_t i = 0; i < n; i++) {
		if (!report[i].types)
			return false;
		types |= report[i].types;
	}
	say_wrong_type(r, f, rule, types);
	return true;
}

/* "is "c", must be one of "a", "b"", when each alternative is one value. */
static bool say_all_values(struct run *r, struct frame *f,
			   const struct rule *rule)
{
	struct buf *out;

	for (size_t i = 0; i < rule->n_sub; i++)
		if (!node_rule(rule->sub[i].node, KEYWORD_const))
			return false;
	out = say_begin_is(r, f, rule);
	if (!out)
		return true;
	for (size_t i = 0; i < rule->n_sub && i < TOLD_MAX; i++) {
		buf_adds(out, i ? ", " : ", must be one of ");
		say_value(out,
			  node_rule(rule->sub[i].node, KEYWORD_const)->value);
	}
	if (rule->n_sub > TOLD_MAX)
		buf_addf(out, " and %zu more", rule->n_sub - TOLD_MAX);
	say_end(r, f, rule);
	return true;
}

static void say_each(struct run *r, struct frame *f, const struct rule *rule,
		     const struct report *report, size_t n)
{
	struct buf *out = say_begin(r, f, rule);
	const char *separator = ": ";

	if (!out)
		return;
	buf_addf(out, "fits none of %zu alternatives", rule->n_sub);
	for (size_t i = 0; i < n && i < 4; i++) {
		struct buf one = BUF_INIT(BUF_UNBOUNDED);

		if (!report[i].n)
			continue;
		schema_violation_print(&report[i].item[0], &one);
		buf_adds(out, separator);
		buf_add_cut(out, buf_str(&one), 160);
		buf_release(&one);
		separator = "; or ";
	}
	say_end(r, f, rule);
}

/*
 * Explain that no alternative fits: by the violations of the only one that
 * comes near, since that is most likely meant, or by each.
 */
static void explain(struct run *r, struct frame *f, const struct rule *rule)
{
	size_t n = rule->n_sub < TOLD_MAX ? rule->n_sub : TOLD_MAX;
	size_t count[FIT_NEAR + 1] = {0}, nearest[FIT_NEAR + 1] = {0};
	struct report report[TOLD_MAX];

	if (rule->n_sub > 1 && say_all_values(r, f, rule))
		return;
	for (size_t i = 0; i < n; i++) {
		enum fit fit;

		try_alternative(r, f, rule->sub[i].node, &report[i]);
		if (r->has_failed)
			return;
		fit = report[i].is_misfit      ? FIT_MISFIT
		      : report[i].is_other_tag ? FIT_OTHER_TAG
					       : FIT_NEAR;
		count[fit]++;
		nearest[fit] = i;
	}
	for (int fit = FIT_NEAR; fit >= FIT_MISFIT && n == rule->n_sub; fit--) {
		if (!count[fit])
			continue;
		if (count[fit] == 1 && (fit > FIT_MISFIT || n == 1)) {
			report_add(r->report, &report[nearest[fit]], r->arena);
			r->report->is_misfit |= report[nearest[fit]].is_misfit;
			return;
		}
		break;
	}
	if (!say_all_types(r, f, rule, report, n))
		say_each(r, f, rule, report, n);
}

/* Count the alternatives that hold; all are tried when it matters. */
static size_t count_holding(struct run *r, struct frame *f,
			    const struct rule *rule, size_t enough,
			    size_t first[2])
{
	struct report *report = r->report;
	size_t n = 0;

	r->report = NULL;
	for (size_t i = 0; i < rule->n_sub && !r->has_failed; i++) {
		if (!run_here(r, f, rule->sub[i].node))
			continue;
		if (n < 2)
			first[n] = i;
		if (++n == enough && !f->seen)
			break;
	}
	r->report = report;
	return n;
}

static bool check_any_of(struct run *r, struct frame *f,
			 const struct rule *rule)
{
	size_t first[2];

	if (count_holding(r, f, rule, 1, first))
		return !r->has_failed;
	if (r->report && !r->has_failed)
		explain(r, f, rule);
	return false;
}

static bool check_one_of(struct run *r, struct frame *f,
			 const struct rule *rule)
{
	size_t first[2], n = count_holding(r, f, rule, 2, first);

	if (r->has_failed)
		return false;
	if (n == 1)
		return true;
	if (n)
		return say(r, f, rule,
			   "fits alternatives %zu and %zu, must fit exactly "
			   "one",
			   first[0] + 1, first[1] + 1);
	if (r->report)
		explain(r, f, rule);
	return false;
}

static bool check_not(struct run *r, struct frame *f, const struct rule *rule)
{
	struct seen *seen = f->seen;
	bool holds;

	f->seen = NULL; /* members named under "not" stay unevaluated */
	holds = run_quietly(r, f, rule->node);
	f->seen = seen;
	if (r->has_failed)
		return false;
	return !holds || say(r, f, rule, "is what it must not be");
}

static bool check_if(struct run *r, struct frame *f, const struct rule *rule)
{
	bool holds = run_quietly(r, f, rule->node);
	const struct rule *branch =
		node_rule(f->node, holds ? KEYWORD_then : KEYWORD_else);

	if (r->has_failed)
		return false;
	return !branch || run_here(r, f, branch->node);
}

/* ---- from outside ---- */

int schema_validate(const struct schema *s, struct str text,
		    struct arena *arena, struct schema_result *ret,
		    struct err *err)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	struct report report = {.max = LIMIT_SCHEMA_VIOLATIONS};
	struct run r = {.schema = s,
			.arena = arena,
			.err = err,
			.report = &report,
			.scratch = BUF_INIT(BUF_UNBOUNDED),
			.sentence = BUF_INIT(BUF_UNBOUNDED)};
	struct frame root = {.node = s->root};
	struct jdoc *value;
	bool holds;

	if (jdoc_parse(text, &own, &value, err) < 0)
		return -1;
	root.value = value;
	r.steps = LIMIT_SCHEMA_STEPS + value->raw.n / 2;
	holds = apply(&r, &root);
	buf_release(&r.scratch);
	buf_release(&r.sentence);
	if (r.has_failed)
		return -1;
	if (holds)
		return SCHEMA_VALID;
	*ret = (struct schema_result){report.item, report.n, report.n_more};
	return SCHEMA_VIOLATED;
}
