/*
 * YAML to a tree: the one door to libyaml, which is loaded on first use.
 */
#include <errno.h>
#include <yaml.h>

#include "core/base/dl.h"
#include "core/import/tree.h"

#define LIBRARY "libyaml-0.so.2"
/* Flow collections make it slow where it is long. */
#define YAML_BYTES_MAX (1024 * 1024)
/* Names, each of which is looked for among all that are there. */
#define YAML_ANCHORS_MAX 1000

#define YAML_FUNCTIONS(X)               \
	X(yaml_parser_initialize)       \
	X(yaml_parser_delete)           \
	X(yaml_parser_set_input_string) \
	X(yaml_parser_parse)            \
	X(yaml_event_delete)

static struct {
	YAML_FUNCTIONS(DL_MEMBER)
} lib;

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the one that is being read */
	struct arena *arena;
	struct err *err;
	struct toml_value anchors; /* values by name; a later one counts */
	size_t n;		   /* values so far */
};

/* Go to the next event, which ends the one before. */
static int next(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;

	lib.yaml_event_delete(&r->event);
	if (lib.yaml_parser_parse(&r->parser, &r->event))
		return 0;
	return err_at(r->err, ERR_SYNTAX, (unsigned)p->problem_mark.line + 1,
		      (unsigned)p->problem_mark.column + 1, "%s",
		      p->problem ? p->problem : "not YAML");
}

static int refuse(struct reader *r, const char *why)
{
	return err_at(r->err, ERR_SYNTAX,
		      (unsigned)r->event.start_mark.line + 1,
		      (unsigned)r->event.start_mark.column + 1, "%s", why);
}

/* The value of a plain scalar, by the core schema; a quoted one is a text. */
static struct toml_value of_scalar(const struct reader *r)
{
	static const char *const words[] = {"true",  "True",  "TRUE",
					    "false", "False", "FALSE"};
	const struct str s = {(const char *)r->event.data.scalar.value,
			      r->event.data.scalar.length};
	const bool is_plain =
		r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	const size_t word = str_index(s, words, ARRAY_LEN(words));
	int64_t number;

	if (is_plain && word < ARRAY_LEN(words))
		return (struct toml_value){.type = TOML_BOOLEAN,
					   .boolean = word < 3};
	if (is_plain && s.n && (s.n == 1 || s.p[0] != '0') &&
	    str_int64(s, &number))
		return (struct toml_value){.type = TOML_INTEGER,
					   .integer = number};
	return (struct toml_value){.type = TOML_STRING,
				   .string = arena_str(r->arena, s)};
}

static bool is_null(const struct reader *r)
{
	const struct str s = {(const char *)r->event.data.scalar.value,
			      r->event.data.scalar.length};

	return r->event.type == YAML_SCALAR_EVENT &&
	       r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!s.n || str_is(s, "~") || str_is(s, "null"));
}

static int of_event(struct reader *r, unsigned depth, struct toml_value *ret);

/* Read elements, or keys and values, up to the end of the collection. */
static int of_collection(struct reader *r, bool is_table, unsigned depth,
			 struct toml_value *ret)
{
	*ret = (struct toml_value){.type = is_table ? TOML_TABLE : TOML_ARRAY};
	while (true) {
		struct toml_value value = {.type = TOML_STRING};
		const char *key = NULL;

		if (next(r) < 0)
			return -1;
		if (r->event.type == YAML_SEQUENCE_END_EVENT ||
		    r->event.type == YAML_MAPPING_END_EVENT)
			return 0;
		if (is_table) {
			const yaml_char_t *text = r->event.data.scalar.value;

			if (r->event.type != YAML_SCALAR_EVENT ||
			    memchr(text, 0, r->event.data.scalar.length))
				return refuse(r, "a key is no text");
			key = arena_strdup(r->arena, (const char *)text);
			if (next(r) < 0)
				return -1;
		}
		if (of_event(r, depth + 1, &value) < 0)
			return -1;
		if (is_table)
			(void)tree_add(ret, key, value, r->arena);
		else
			tree_append(ret, value, r->arena);
	}
}

static int of_alias(struct reader *r, struct toml_value *ret)
{
	const char *name = (const char *)r->event.data.alias.anchor;
	const struct toml_value *v = toml_get(&r->anchors, name);

	if (!v)
		return refuse(r, "an alias of nothing that is complete");
	*ret = *v;
	r->n += tree_count(v);
	return 0;
}

/* Read the value that begins with the current event. */
static int of_event(struct reader *r, unsigned depth, struct toml_value *ret)
{
	const bool is_table = r->event.type == YAML_MAPPING_START_EVENT;
	const yaml_mark_t at = r->event.start_mark;
	const yaml_char_t *anchor = NULL;
	const char *name;
	int result = 0;

	if (depth > TREE_DEPTH_MAX || ++r->n > TREE_VALUES_MAX)
		return err_set(r->err, ERR_LIMIT,
			       "YAML with more than %d values, or deeper than "
			       "%d",
			       TREE_VALUES_MAX, TREE_DEPTH_MAX);
	if (r->event.type == YAML_ALIAS_EVENT)
		return of_alias(r, ret);
	if (is_table || r->event.type == YAML_SEQUENCE_START_EVENT) {
		anchor = is_table ? r->event.data.mapping_start.anchor
				  : r->event.data.sequence_start.anchor;
		name = arena_strdup(r->arena, (const char *)anchor);
		result = of_collection(r, is_table, depth, ret);
	} else {
		anchor = r->event.data.scalar.anchor;
		name = arena_strdup(r->arena, (const char *)anchor);
		*ret = is_null(r) ? (struct toml_value){.type = TOML_NULL}
				  : of_scalar(r);
	}
	ret->line = (uint32_t)at.line + 1;
	ret->col = (uint32_t)at.column + 1;
	if (!name || result < 0)
		return result;
	*tree_table(&r->anchors, name, r->arena) = *ret;
	return r->anchors.table.n <= YAML_ANCHORS_MAX
		       ? 0
		       : err_set(r->err, ERR_LIMIT,
				 "YAML with more than %d anchors",
				 YAML_ANCHORS_MAX);
}

/* The first document; an empty text is an empty table. */
static int of_stream(struct reader *r, struct toml_value *ret)
{
	*ret = (struct toml_value){.type = TOML_TABLE};
	do {
		if (next(r) < 0)
			return -1;
		if (r->event.type == YAML_STREAM_END_EVENT)
			return 0;
	} while (r->event.type == YAML_STREAM_START_EVENT ||
		 r->event.type == YAML_DOCUMENT_START_EVENT);
	return of_event(r, 0, ret);
}

int tree_read_yaml(struct str text, struct arena *arena, struct toml_value *ret,
		   struct err *err)
{
	static const char *const names[] = {YAML_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);
	struct reader r = {
		.arena = arena, .err = err, .anchors = {.type = TOML_TABLE}};
	const size_t other = tree_other_line_end(text);
	int result;

	if (!dl_load(&dl))
		return err_set(err, ERR_UNKNOWN,
			       "YAML needs " LIBRARY ", which is not here; "
			       "install it: apt-get install libyaml-0-2");
	if (text.n > YAML_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "YAML of more than %d bytes",
			       YAML_BYTES_MAX);
	if (other < text.n)
		return tree_refuse_line_end(text, other, err);
	if (!lib.yaml_parser_initialize(&r.parser))
		return err_sys(err, ENOMEM, "YAML");
	lib.yaml_parser_set_input_string(&r.parser,
					 (const unsigned char *)text.p, text.n);
	result = of_stream(&r, ret);
	lib.yaml_event_delete(&r.event);
	lib.yaml_parser_delete(&r.parser);
	return result;
}
