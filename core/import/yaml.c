/*
 * YAML to a tree: the one door to libyaml, which is loaded on first use.
 */
#include <errno.h>
#include <stdlib.h>
#include <yaml.h>

#include "core/base/dl.h"
#include "core/import/tree.h"

#define LIBRARY "libyaml-0.so.2"
/* Aliases and flow collections make it slow where it is long. */
#define YAML_BYTES_MAX (1024 * 1024)

#define YAML_FUNCTIONS(X)               \
	X(yaml_parser_initialize)       \
	X(yaml_parser_delete)           \
	X(yaml_parser_set_input_string) \
	X(yaml_parser_load)             \
	X(yaml_parser_parse)            \
	X(yaml_event_delete)            \
	X(yaml_document_delete)         \
	X(yaml_document_get_root_node)  \
	X(yaml_document_get_node)

static struct {
	YAML_FUNCTIONS(DL_MEMBER)
} lib;

struct reader {
	yaml_document_t document;
	struct arena *arena;
	struct err *err;
	size_t n; /* values so far */
};

/* The value of a plain scalar, by the core schema; a quoted one is a text. */
static struct toml_value of_scalar(const struct reader *r,
				   const yaml_node_t *node)
{
	static const char *const words[] = {"true",  "True",  "TRUE",
					    "false", "False", "FALSE"};
	const struct str s = {(const char *)node->data.scalar.value,
			      node->data.scalar.length};
	const bool is_plain =
		node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
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

static bool is_null(const yaml_node_t *node)
{
	const struct str s = {(const char *)node->data.scalar.value,
			      node->data.scalar.length};

	return node->type == YAML_SCALAR_NODE &&
	       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!s.n || str_is(s, "~") || str_is(s, "null"));
}

static int of_node(struct reader *r, int index, unsigned depth,
		   struct toml_value *ret);

static int of_sequence(struct reader *r, const yaml_node_t *node,
		       unsigned depth, struct toml_value *ret)
{
	*ret = (struct toml_value){.type = TOML_ARRAY};
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     i < node->data.sequence.items.top; i++) {
		if (is_null(lib.yaml_document_get_node(&r->document, *i)))
			continue;
		ret->array.item =
			arena_grow(r->arena, ret->array.item, ret->array.n,
				   sizeof(*ret->array.item));
		if (of_node(r, *i, depth, &ret->array.item[ret->array.n++]) < 0)
			return -1;
	}
	return 0;
}

static int of_mapping(struct reader *r, const yaml_node_t *node, unsigned depth,
		      struct toml_value *ret)
{
	*ret = (struct toml_value){.type = TOML_TABLE};
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     p < node->data.mapping.pairs.top; p++) {
		const yaml_node_t *key =
			lib.yaml_document_get_node(&r->document, p->key);
		struct toml_value value;

		if (is_null(lib.yaml_document_get_node(&r->document, p->value)))
			continue;
		if (key->type != YAML_SCALAR_NODE ||
		    memchr(key->data.scalar.value, 0, key->data.scalar.length))
			return err_at(r->err, ERR_SYNTAX,
				      (unsigned)key->start_mark.line + 1,
				      (unsigned)key->start_mark.column + 1,
				      "a key is no text");
		if (of_node(r, p->value, depth, &value) < 0)
			return -1;
		(void)tree_add(ret, (const char *)key->data.scalar.value, value,
			       r->arena);
	}
	return 0;
}

static int of_node(struct reader *r, int index, unsigned depth,
		   struct toml_value *ret)
{
	const yaml_node_t *node =
		lib.yaml_document_get_node(&r->document, index);

	if (depth > TREE_DEPTH_MAX || ++r->n > TREE_VALUES_MAX)
		return err_set(r->err, ERR_LIMIT,
			       "YAML with more than %d values, or deeper than "
			       "%d",
			       TREE_VALUES_MAX, TREE_DEPTH_MAX);
	if (node->type == YAML_SEQUENCE_NODE)
		return of_sequence(r, node, depth + 1, ret);
	if (node->type == YAML_MAPPING_NODE)
		return of_mapping(r, node, depth + 1, ret);
	*ret = of_scalar(r, node);
	return 0;
}

static int read_document(yaml_parser_t *parser, struct reader *r,
			 struct toml_value *ret)
{
	const yaml_node_t *root;
	int result = 0;

	if (!lib.yaml_parser_load(parser, &r->document))
		return err_at(r->err, ERR_SYNTAX,
			      (unsigned)parser->problem_mark.line + 1,
			      (unsigned)parser->problem_mark.column + 1, "%s",
			      parser->problem ? parser->problem : "not YAML");
	root = lib.yaml_document_get_root_node(&r->document);
	*ret = (struct toml_value){.type = TOML_TABLE};
	if (root)
		result = of_node(r, 1, 0, ret);
	lib.yaml_document_delete(&r->document);
	return result;
}

static void open_text(yaml_parser_t *parser, struct str text)
{
	lib.yaml_parser_set_input_string(parser, (const unsigned char *)text.p,
					 text.n);
}

/* Refuse what is nested deeply before the library takes its time over it. */
static int check_depth(struct str text, struct err *err)
{
	yaml_parser_t parser;
	yaml_event_t event;
	unsigned depth = 0;
	bool goes_on = lib.yaml_parser_initialize(&parser);

	if (goes_on)
		open_text(&parser, text);
	while (goes_on && depth <= TREE_DEPTH_MAX &&
	       lib.yaml_parser_parse(&parser, &event)) {
		depth += event.type == YAML_SEQUENCE_START_EVENT ||
			 event.type == YAML_MAPPING_START_EVENT;
		depth -= event.type == YAML_SEQUENCE_END_EVENT ||
			 event.type == YAML_MAPPING_END_EVENT;
		goes_on = event.type != YAML_STREAM_END_EVENT;
		lib.yaml_event_delete(&event);
	}
	lib.yaml_parser_delete(&parser);
	return depth <= TREE_DEPTH_MAX
		       ? 0
		       : err_set(err, ERR_LIMIT, "YAML deeper than %d",
				 TREE_DEPTH_MAX);
}

int tree_read_yaml(struct str text, struct arena *arena, struct toml_value *ret,
		   struct err *err)
{
	static const char *const names[] = {YAML_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);
	struct reader r = {.arena = arena, .err = err};
	yaml_parser_t parser;
	int result;

	if (!dl_load(&dl))
		return err_set(err, ERR_UNKNOWN,
			       "YAML needs " LIBRARY ", which is not here; "
			       "install it: apt-get install libyaml-0-2");
	if (text.n > YAML_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "YAML of more than %d bytes",
			       YAML_BYTES_MAX);
	if (check_depth(text, err) < 0)
		return -1;
	if (!lib.yaml_parser_initialize(&parser))
		return err_sys(err, ENOMEM, "YAML");
	open_text(&parser, text);
	result = read_document(&parser, &r, ret);
	lib.yaml_parser_delete(&parser);
	return result;
}
