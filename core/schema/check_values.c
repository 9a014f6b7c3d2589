/* Keywords that look at one value alone. */
#include "core/schema/run.h"

#include "core/schema/format.h"

/* A step for so many bytes that are compared or counted. */
#define BYTES_A_STEP 256
/* Values of an enum that are told. */
#define TOLD_MAX 12

bool check_type(struct run *r, struct frame *f, const struct rule *rule)
{
	struct buf *out;

	if (value_types(f->value) & rule->types)
		return true;
	out = say_begin(r, f, rule);
	if (!out)
		return false;
	say_wrong_type(out, f->value, rule->types);
	say_end(r, f, rule);
	return false;
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

bool check_const(struct run *r, struct frame *f, const struct rule *rule)
{
	struct buf *out;

	if (equals(r, f->value, rule->value))
		return true;
	out = say_begin_is(r, f, rule);
	if (!out)
		return false;
	buf_adds(out, ", must be ");
	say_value(out, rule->value);
	if (f->value->type == rule->value->type &&
	    (f->value->type == SCAN_ARRAY || f->value->type == SCAN_OBJECT))
		buf_adds(out, " like the one in the schema");
	say_end(r, f, rule);
	return false;
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

	for (const struct jdoc *e = list->first; e && i < TOLD_MAX;
	     e = e->next, i++) {
		buf_adds(out, i ? ", " : "");
		say_value(out, e);
	}
	if (list->n > TOLD_MAX)
		buf_addf(out, " and %zu more", list->n - TOLD_MAX);
	if (list->n > 1000)
		return;
	nearest = nearest_choice(value, list, &arena);
	if (nearest) {
		buf_adds(out, "; did you mean ");
		say_name(out, str_of(nearest));
		buf_addc(out, '?');
	}
}

bool check_enum(struct run *r, struct frame *f, const struct rule *rule)
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
	struct buf *out = say_begin_is(r, f, rule);

	if (!out)
		return false;
	buf_addf(out, ", must be %s ", what);
	say_value(out, rule->value);
	say_end(r, f, rule);
	return false;
}

bool check_bound(struct run *r, struct frame *f, const struct rule *rule)
{
	struct decimal d;
	int order;

	if (f->value->type != SCAN_NUMBER)
		return true;
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

bool check_multiple_of(struct run *r, struct frame *f, const struct rule *rule)
{
	struct decimal d;

	if (f->value->type != SCAN_NUMBER)
		return true;
	if (!run_spend(r, f->value->raw.n / BYTES_A_STEP))
		return false;
	d = decimal_of(f->value->raw);
	return decimal_is_multiple(&d, &rule->number) ||
	       says_number(r, f, rule, "a multiple of");
}

/* ---- strings ---- */

static size_t characters(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	return n;
}

/* Take the text of a string; false: another type, or no budget is left. */
static bool text_of(struct run *r, const struct frame *f, struct str *ret)
{
	if (f->value->type != SCAN_STRING ||
	    !run_spend(r, f->value->raw.n / BYTES_A_STEP))
		return false;
	*ret = value_text(f->value, &r->scratch);
	return true;
}

bool check_length(struct run *r, struct frame *f, const struct rule *rule)
{
	struct str text;
	size_t n;

	if (!text_of(r, f, &text))
		return !r->has_failed;
	n = characters(text);
	if (n == 0 && n < rule->count && rule->keyword == KEYWORD_min_length)
		return say(r, f, rule, "must not be empty");
	return check_number_of(r, f, rule, n, "character", "characters");
}

bool check_pattern(struct run *r, struct frame *f, const struct rule *rule)
{
	struct str text;
	struct buf *out;

	if (!text_of(r, f, &text))
		return !r->has_failed;
	if (run_search(r, rule->regex, text))
		return true;
	out = say_begin(r, f, rule);
	if (!out)
		return false;
	buf_adds(out, "does not match the pattern ");
	say_value(out, rule->value);
	say_end(r, f, rule);
	return false;
}

bool check_format(struct run *r, struct frame *f, const struct rule *rule)
{
	const char *phrase;
	struct str text;
	struct buf *out;

	if (!r->schema->options.assert_formats)
		return true;
	if (!text_of(r, f, &text))
		return !r->has_failed;
	phrase = format_missed(rule->value->raw, text);
	if (!phrase)
		return true;
	out = say_begin_is(r, f, rule);
	if (!out)
		return false;
	buf_addf(out, ", must be %s", phrase);
	say_end(r, f, rule);
	return false;
}
