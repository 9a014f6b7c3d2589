#include "core/schema/shapes.h"

#include "core/base/mem.h"
#include "core/schema/describe.h"

static int refuse(struct schema *s, const struct node *node,
		  const struct rule *rule, const char *what)
{
	return node_fail(s, node, KEYWORDS[rule->keyword].name, ERR_SYNTAX,
			 "must be %s", what);
}

/* Cost of a pattern in the budget of compiling: PCRE2 makes up to 64 KiB of
   program of it, so there are at most a thousand. */
#define REGEX_STEPS 10000

/* ---- scalars ---- */

static unsigned type_bit(const struct jdoc *name)
{
#define TYPE(id, word, bit, phrase) \
	if (jdoc_is(name, word))    \
		return bit;
#include "core/schema/types.def"
#undef TYPE
	return 0;
}

static int compile_types(struct schema *s, const struct node *node,
			 struct rule *rule)
{
	const struct jdoc *name = rule->value;

	if (name->type == SCAN_ARRAY)
		name = name->first;
	for (; name;
	     name = rule->value->type == SCAN_ARRAY ? name->next : NULL) {
		unsigned bit = type_bit(name);

		if (!bit)
			return refuse(s, node, rule,
				      "a type (string, number, integer, "
				      "boolean, array, object, null) or an "
				      "array of types");
		rule->types |= bit;
	}
	return 0;
}

static int compile_number(struct schema *s, const struct node *node,
			  struct rule *rule)
{
	if (rule->value->type != SCAN_NUMBER)
		return refuse(s, node, rule, "a number");
	rule->number = decimal_of(rule->value->raw);
	return 0;
}

static int compile_divisor(struct schema *s, const struct node *node,
			   struct rule *rule)
{
	if (compile_number(s, node, rule) < 0)
		return -1;
	if (!rule->number.n || rule->number.is_negative)
		return refuse(s, node, rule, "a number over 0");
	if (rule->number.n > DECIMAL_DIVISOR_DIGITS)
		return node_fail(s, node, "multipleOf", ERR_LIMIT,
				 "has more than %d significant digits",
				 DECIMAL_DIVISOR_DIGITS);
	return 0;
}

static int compile_count(struct schema *s, const struct node *node,
			 struct rule *rule)
{
	struct decimal d;

	if (rule->value->type != SCAN_NUMBER)
		return refuse(s, node, rule, "an integer of 0 or more");
	d = decimal_of(rule->value->raw);
	if (!decimal_is_integer(&d) || (d.n && d.is_negative))
		return refuse(s, node, rule, "an integer of 0 or more");
	rule->count = decimal_count(&d);
	return 0;
}

static int compile_regex(struct schema *s, const struct node *node,
			 const struct rule *rule, struct str pattern,
			 struct regex **ret)
{
	struct err err = ERR_INIT;

	if (schema_spend(s, REGEX_STEPS) < 0)
		return -1;
	if (regex_new(pattern, ret, &err) < 0)
		return node_fail(
			s, node, KEYWORDS[rule->keyword].name, err.kind,
			"\"%.*s\" is not a usable regular expression: %s",
			STR_ARG(str_first(pattern, 100)), err.msg);
	s->regex = mem_grow(s->regex, s->n_regex + 1, &s->cap_regex,
			    sizeof(struct regex *));
	s->regex[s->n_regex++] = *ret;
	return 0;
}

static bool is_strings(const struct jdoc *array)
{
	if (array->type != SCAN_ARRAY)
		return false;
	for (const struct jdoc *e = array->first; e; e = e->next)
		if (e->type != SCAN_STRING)
			return false;
	return true;
}

/* ---- several ---- */

static int compile_list(struct schema *s, struct node *node, struct rule *rule)
{
	size_t i = 0;

	if (rule->value->type != SCAN_ARRAY)
		return refuse(s, node, rule, "an array of schemas");
	rule->sub = ARENA_ARRAY(&s->arena, struct sub, rule->value->n + 1);
	for (const struct jdoc *e = rule->value->first; e; e = e->next, i++) {
		char *index = arena_printf(&s->arena, "%zu", i);

		rule->sub[i].node =
			schema_node(s, e, node, KEYWORDS[rule->keyword].name,
				    str_of(index));
		if (!rule->sub[i].node)
			return -1;
	}
	rule->n_sub = i;
	return 0;
}

/* One member of an object that is the value of the keyword. */
static int compile_entry(struct schema *s, struct node *node,
			 const struct rule *rule, const struct jdoc *m,
			 struct sub *sub)
{
	enum shape shape = KEYWORDS[rule->keyword].shape;

	sub->key = m->key;
	if (shape == SHAPE_STRINGS_MAP ||
	    (shape == SHAPE_DEPENDENCIES && m->type == SCAN_ARRAY)) {
		if (!is_strings(m))
			return refuse(s, node, rule,
				      "an object of arrays of strings");
		sub->strings = m;
		return 0;
	}
	sub->node =
		schema_node(s, m, node, KEYWORDS[rule->keyword].name, m->key);
	if (!sub->node)
		return -1;
	return shape == SHAPE_PATTERN_MAP
		       ? compile_regex(s, node, rule, m->key, &sub->regex)
		       : 0;
}

/* Sorted, so that names are found quickly; of equal names the last one. */
static int compile_map(struct schema *s, struct node *node, struct rule *rule)
{
	struct jdoc **member;

	/* an object without members is [] for servers in PHP */
	if (rule->value->type == SCAN_ARRAY && !rule->value->n)
		return 0;
	if (rule->value->type != SCAN_OBJECT)
		return refuse(s, node, rule, "an object");
	member = jdoc_members(rule->value, true, &s->arena);
	rule->sub = ARENA_ARRAY(&s->arena, struct sub, rule->value->n + 1);
	for (; *member; member++) {
		if (member[1] && str_eq(member[0]->key, member[1]->key))
			continue;
		if (compile_entry(s, node, rule, *member,
				  &rule->sub[rule->n_sub]) < 0)
			return -1;
		rule->n_sub++;
	}
	return 0;
}

static int compile_schema(struct schema *s, struct node *node,
			  struct rule *rule)
{
	if (rule->keyword == KEYWORD_items && rule->value->type == SCAN_ARRAY)
		return refuse(s, node, rule,
			      "a schema; an array of schemas is "
			      "\"prefixItems\" since 2020-12");
	rule->node =
		schema_node(s, rule->value, node, KEYWORDS[rule->keyword].name,
			    (struct str){NULL, 0});
	return rule->node ? 0 : -1;
}

static int compile_reference(struct schema *s, struct node *node,
			     struct rule *rule)
{
	struct pending *p;

	if (rule->value->type != SCAN_STRING)
		return refuse(s, node, rule, "a string");
	p = ARENA_NEW(&s->arena, struct pending);
	*p = (struct pending){s->pending, node, rule};
	s->pending = p;
	return 0;
}

static int compile_pattern(struct schema *s, const struct node *node,
			   struct rule *rule)
{
	if (rule->value->type != SCAN_STRING)
		return refuse(s, node, rule, "a string");
	return compile_regex(s, node, rule, schema_text(s, rule->value),
			     &rule->regex);
}

static int check_scalar(struct schema *s, const struct node *node,
			const struct rule *rule, enum shape shape)
{
	enum scan_type type = rule->value->type;

	if (shape == SHAPE_BOOL && type != SCAN_TRUE && type != SCAN_FALSE)
		return refuse(s, node, rule, "true or false");
	if (shape == SHAPE_STRING && type != SCAN_STRING)
		return refuse(s, node, rule, "a string");
	if (shape == SHAPE_ARRAY && type != SCAN_ARRAY)
		return refuse(s, node, rule, "an array");
	if (shape == SHAPE_STRINGS && !is_strings(rule->value))
		return refuse(s, node, rule, "an array of strings");
	return 0;
}

int rule_compile(struct schema *s, struct node *node, struct rule *rule)
{
	enum shape shape = KEYWORDS[rule->keyword].shape;

	switch (shape) {
	case SHAPE_TYPES:
		return compile_types(s, node, rule);
	case SHAPE_NUMBER:
		return compile_number(s, node, rule);
	case SHAPE_DIVISOR:
		return compile_divisor(s, node, rule);
	case SHAPE_COUNT:
		return compile_count(s, node, rule);
	case SHAPE_PATTERN:
		return compile_pattern(s, node, rule);
	case SHAPE_REFERENCE:
		return compile_reference(s, node, rule);
	case SHAPE_SCHEMA:
		return compile_schema(s, node, rule);
	case SHAPE_SCHEMA_LIST:
		return compile_list(s, node, rule);
	case SHAPE_SCHEMA_OR_LIST:
		return rule->value->type == SCAN_ARRAY
			       ? compile_list(s, node, rule)
			       : compile_schema(s, node, rule);
	case SHAPE_SCHEMA_MAP:
	case SHAPE_PATTERN_MAP:
	case SHAPE_STRINGS_MAP:
	case SHAPE_DEPENDENCIES:
		return compile_map(s, node, rule);
	default:
		return check_scalar(s, node, rule, shape);
	}
}
