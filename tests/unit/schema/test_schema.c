#include "tests/unit/test.h"

#include "tests/unit/schema/schema_fixture.h"

/* ---- sentences ---- */

TEST(validate, each_keyword, gives_a_sentence_with_a_pointer)
{
	static const char *const rows[][3] = {
		{"{'type':'string'}", "1", "is a number, must be a string"},
		{"{'properties':{'repo':{'type':'string'}}}", "{'repo':1}",
		 "/repo: is a number, must be a string"},
		{"{'type':['string','null','array']}", "true",
		 "is a boolean, must be null, a string or an array"},
		{"{'type':'integer'}", "1.5", "is 1.5, must be an integer"},
		{"{'type':'object'}", "[]", "is an array, must be an object"},
		{"{'const':[1]}", "[1,2]",
		 "is an array of 2, must be an array of 1 like the one in the "
		 "schema"},
		{"{'enum':['open','closed']}", "'opne'",
		 "is \"opne\", must be one of \"open\", \"closed\"; did you "
		 "mean \"open\"?"},
		{"{'enum':[1]}", "2", "is 2, must be 1"},
		{"{'maximum':5}", "5.1", "is 5.1, must be at most 5"},
		{"{'exclusiveMaximum':5}", "5", "is 5, must be less than 5"},
		{"{'minimum':5}", "-1", "is -1, must be at least 5"},
		{"{'exclusiveMinimum':5}", "5", "is 5, must be more than 5"},
		{"{'multipleOf':0.01}", "0.123",
		 "is 0.123, must be a multiple of 0.01"},
		{"{'maxLength':1}", "'\\ud83d\\udc32x'",
		 "has 2 characters, must have at most 1"},
		{"{'minLength':1}", "''", "must not be empty"},
		{"{'minLength':3}", "'a'",
		 "has 1 character, must have at least 3"},
		{"{'pattern':'^a'}", "'b'",
		 "does not match the pattern \"^a\""},
		{"{'maxItems':1}", "[1,2]",
		 "has 2 elements, must have at most 1"},
		{"{'minItems':2}", "[1]",
		 "has 1 element, must have at least 2"},
		{"{'uniqueItems':true}", "[1,{'a':1,'b':2},2,{'b':2.0,'a':1}]",
		 "elements 1 and 3 are equal"},
		{"{'maxProperties':0}", "{'a':1}",
		 "has 1 property, must have at most 0"},
		{"{'minProperties':2}", "{}",
		 "has 0 properties, must have at least 2"},
		{"{'required':['repo']}", "{}", "missing required \"repo\""},
		{"{'dependentRequired':{'a':['b']}}", "{'a':1}",
		 "missing required \"b\", which goes with \"a\""},
		{"{'properties':{'title':{}},'additionalProperties':false}",
		 "{'titel':1}",
		 "/titel: unknown property; did you mean \"title\"?"},
		{"{'properties':{'title':{}},'additionalProperties':false}",
		 "{'title':1,'titel':1}", "/titel: unknown property"},
		{"{'allOf':[{'properties':{'title':{}}}],"
		 "'unevaluatedProperties':false}",
		 "{'titel':1}",
		 "/titel: unknown property; did you mean \"title\"?"},
		{"{'properties':{'a/b':{'items':{'type':'null'}}}}",
		 "{'a/b':[null,1]}", "/a~1b/1: is a number, must be null"},
		{"{'prefixItems':[true],'items':false}", "[1,2]",
		 "/1: is one element too many; 1 is allowed"},
		{"{'contains':{'const':1}}", "[2]",
		 "has 0 elements of the kind that it must contain at least 1 "
		 "of"},
		{"{'not':{'type':'null'}}", "null", "is what it must not be"},
		{"{'properties':{'x':false}}", "{'x':1}", "/x: is not allowed"},
		{"{'propertyNames':{'maxLength':1}}", "{'ab':1}",
		 "the name \"ab\" has 2 characters, must have at most 1"},
		{"false", "1", "is not allowed"},
		{"true", "1", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(verdict(rows[i][0], rows[i][1]),
				    rows[i][2]);
}

TEST(validate, array_for_no_members, passes_in_silence)
{
	static const char *const schemas[] = {
		"{'type':'object','properties':[]}",
		"{'type':'object','patternProperties':[],'$defs':[]}",
		"{'dependentRequired':[],'dependentSchemas':[]}",
		"{'dependencies':[],'definitions':[]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
		assert_string_equal(verdict(schemas[i], "{'a':1}"), "");
	assert_string_equal(
		verdict("{'properties':[],'additionalProperties':false}",
			"{'a':1}"),
		verdict("{'properties':{},'additionalProperties':false}",
			"{'a':1}"));
}

TEST(validate, several_wrong, reports_several_wrong_values)
{
	assert_string_equal(
		verdict("{'type':'object','properties':{'a':{'type':'string'},"
			"'b':{'minimum':3,'multipleOf':2}},'required':['c','d']"
			"}",
			"{'a':1,'b':1}"),
		"missing required \"c\"\nmissing required \"d\"\n"
		"/a: is a number, must be a string\n"
		"/b: is 1, must be a multiple of 2\n"
		"/b: is 1, must be at least 3");
}

TEST(alternatives, that_come_near, are_explained)
{
	static const char kinds[] =
		"{'oneOf':[{'properties':{'kind':{'const':'a'},"
		"'x':{'type':'integer'}}},"
		"{'properties':{'kind':{'const':'b'},"
		"'y':{'type':'string'}}}]}";

	assert_string_equal(verdict(kinds, "{'kind':'b','y':1}"),
			    "/y: is a number, must be a string");
	assert_string_equal(verdict("{'anyOf':[{'type':'string','minLength':2},"
				    "{'type':'null'}]}",
				    "'a'"),
			    "has 1 character, must have at least 2");
	assert_string_equal(
		verdict("{'anyOf':[{'type':'string'},{'$ref':'#/$defs/n'}],"
			"'$defs':{'n':{'type':'null'}}}",
			"1"),
		"is a number, must be null or a string");
	assert_string_equal(
		verdict("{'anyOf':[{'minimum':5},{'multipleOf':2}]}", "1"),
		"fits none of 2 alternatives: is 1, must be at least 5; or "
		"is 1, must be a multiple of 2");
	assert_string_equal(
		verdict("{'oneOf':[true,false,{'minimum':1}]}", "1"),
		"fits alternatives 1 and 3, must fit exactly one");
}

TEST(validate, more_than_the_bound, counts_errors_over_the_bound)
{
	AUTO(schema_freep)
	struct schema *s = compiled("{'items':{'type':'null'}}");
	struct buf value = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result result;
	struct err err = ERR_INIT;

	buf_addc(&value, '[');
	for (int i = 0; i < 99; i++)
		buf_adds(&value, "1,");
	buf_adds(&value, "1]");
	assert_int_equal(schema_validate(s, buf_str(&value), &fixture_arena,
					 &result, &err),
			 SCHEMA_VIOLATED);
	assert_int_equal(result.n, LIMIT_SCHEMA_VIOLATIONS);
	assert_int_equal(result.n_more, 100 - LIMIT_SCHEMA_VIOLATIONS);
	buf_release(&value);
}

TEST(print, control_characters, escapes_control_characters)
{
	assert_string_equal(
		verdict("{'additionalProperties':false}",
			"{'\\u001b[31m\\u0000\\n\\u009b\\u202e':1}"),
		"/\\u001b[31m\\u0000\\u000a\\u009b\\u202e: unknown property");
	assert_string_equal(verdict("{'type':'null'}", "'\\u0007'"),
			    "is a string, must be null");
	assert_string_equal(verdict("{'const':1}", "'\\u0007\\u009b'"),
			    "is \"\\u0007\\u009b\", must be 1");
}

/* ---- values ---- */

TEST(validate, values, compares_by_value)
{
	static const char *const valid[][2] = {
		{"{'const':1}", "1.0"},
		{"{'const':{'a':1,'b':[2]}}", "{'b':[2.0],'a':1e0}"},
		{"{'const':'a'}", "'\\u0061'"},
		{"{'type':'integer'}", "1.0"},
		{"{'type':'integer'}", "12345678901234567890123"},
		{"{'minimum':9007199254740993}", "9007199254740993"},
		{"{'maximum':1e400}", "1e399"},
		{"{'maxLength':2}", "'\\ud83d\\udc32\\u00e9'"},
		{"{'maxLength':2.0}", "'ab'"},
		{"{'uniqueItems':true}",
		 "[1,true,'1',[1],{'a':1},null,0,false,[0]]"},
		{"{'const':{'a':2}}", "{'a':1,'a':2}"},
		{"{'format':'ipv4'}", "'no'"},
		{"{'contentEncoding':'base64'}", "'%'"},
		{"{'unknown':{'type':1},'x-mcp-header':'A'}", "1"},
	};
	static const char *const wrong[][2] = {
		{"{'minimum':9007199254740993}", "9007199254740992"},
		{"{'const':1}", "true"},
		{"{'const':0}", "false"},
		{"{'maximum':1e400}", "1e401"},
		{"{'uniqueItems':true}", "[1,1.00]"},
		{"{'uniqueItems':true}", "['a','\\u0061']"},
		{"{'const':{'a':1}}", "{'a':1,'a':2}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(valid); i++)
		assert_string_equal(verdict(valid[i][0], valid[i][1]), "");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_string_not_equal(verdict(wrong[i][0], wrong[i][1]), "");
}

TEST(validate, not_json, is_an_error_without_json)
{
	assert_string_equal(verdict("true", "{"),
			    "! unexpected end of JSON at line 1, column 2");
}

/* ---- drafts and references ---- */

TEST(draft, schema_keyword, is_chosen_by_the_schema_keyword)
{
	static const char seven[] =
		"{'$schema':'http://json-schema.org/draft-07/schema#',"
		"'items':[{'type':'null'}],'additionalItems':false,"
		"'dependencies':{'a':['b']},'prefixItems':[false]}";

	assert_string_equal(verdict(seven, "[null]"), "");
	assert_string_equal(verdict(seven, "[null,1]"),
			    "/1: is one element too many; 1 is allowed");
	assert_string_equal(verdict(seven, "{'a':1}"),
			    "missing required \"b\", which goes with \"a\"");
	/* beside $ref nothing counts in the one, all in the other */
	assert_string_equal(
		verdict("{'$schema':'http://json-schema.org/draft-07/"
			"schema','$ref':'#/definitions/a',"
			"'type':'string','definitions':{'a':true}}",
			"1"),
		"");
	assert_string_equal(verdict("{'$ref':'#/definitions/a','type':'string',"
				    "'definitions':{'a':true}}",
				    "1"),
			    "is a number, must be a string");
}

TEST(metaschema, built_in, judges_schemas)
{
	static const char *const uris[] = {
		"{'$ref':'https://json-schema.org/draft/2020-12/schema'}",
		"{'$ref':'http://json-schema.org/draft-07/schema#'}",
	};

	for (size_t i = 0; i < ARRAY_LEN(uris); i++) {
		assert_string_equal(
			verdict(uris[i], "{'properties':{'a':{'minLength':3,'"
					 "not':true}}}"),
			"");
		assert_string_equal(
			verdict(uris[i],
				"{'properties':{'a':{'minLength':-3}}}"),
			"/properties/a/minLength: is -3, must be at least 0");
	}
}

TEST(add, document, is_found)
{
	struct schema_docs docs = {.arena = &fixture_arena};
	const struct schema_options options = {.docs = &docs};
	struct schema_result result;
	struct err err = ERR_INIT;
	struct schema *s;

	assert_int_equal(schema_add(&docs, STR("http://x/y#"),
				    STR("{\"$defs\":{\"a\":{\"type\":"
					"\"null\"}}}"),
				    &err),
			 0);
	assert_int_equal(schema_compile(STR("{\"$ref\":\"http://x/z/../y#/"
					    "$defs/a\"}"),
					&options, &s, &err),
			 0);
	assert_int_equal(
		schema_validate(s, STR("1"), &fixture_arena, &result, &err),
		SCHEMA_VIOLATED);
	assert_true(str_is(result.item[0].schema, "http://x/y#/$defs/a/type"));
	assert_true(str_is(result.item[0].instance, ""));
	assert_string_equal(result.item[0].keyword, "type");
	schema_free(s);
	assert_int_equal(schema_add(&docs, STR(""), STR("{}"), &err), -1);
	assert_int_equal(schema_add(&docs, STR("a"), STR("{"), &err), -1);
	assert_int_equal(err.kind, ERR_SYNTAX);
}

/* ---- schemas that cannot be used ---- */

TEST(compile, wrong_value, names_the_place_of_a_wrong_value)
{
	static const char *const rows[][2] = {
		{"{'type':'strin'}", "#/type: must be a type"},
		{"{'properties':{'a':{'required':true}}}",
		 "#/properties/a/required: must be an array of strings"},
		{"{'properties':{'a':1}}", "#/properties/a: must be a schema"},
		{"{'properties':[{}]}", "#/properties: must be an object"},
		{"{'items':[{}]}", "#/items: must be a schema; an array"},
		{"{'allOf':{}}", "#/allOf: must be an array of schemas"},
		{"{'anyOf':[{},{'minLength':-1}]}",
		 "#/anyOf/1/minLength: must be an integer of 0 or more"},
		{"{'minimum':'1'}", "#/minimum: must be a number"},
		{"{'multipleOf':0}", "#/multipleOf: must be a number over 0"},
		{"{'multipleOf':-1}", "#/multipleOf: must be a number over"},
		{"{'uniqueItems':1}", "#/uniqueItems: must be true or false"},
		{"{'enum':1}", "#/enum: must be an array"},
		{"{'pattern':'('}", "#/pattern: \"(\" is not a usable"},
		{"{'patternProperties':{'(?i)a':true}}",
		 "#/patternProperties: \"(?i)a\" is not a usable"},
		{"{'dependentRequired':{'a':[1]}}",
		 "#/dependentRequired: must be an object of arrays"},
		{"{'$ref':1}", "#/$ref: must be a string"},
		{"{'$id':'a#b'}", "#/$id: must not have a fragment"},
		{"[]", "#: must be a schema: an object, true or false"},
		{"{", "#: unexpected end of JSON"},
		{"", "#: unexpected end of JSON"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum err_kind kind;
		const char *text = refusal(rows[i][0], &kind);

		if (!str_starts(str_of(text), rows[i][1]))
			fail_msg("%s: %s", rows[i][0], text);
		assert_int_equal(kind, ERR_SYNTAX);
	}
}

TEST(compile, reference_elsewhere, cannot_resolve_references_elsewhere)
{
	static const char *const rows[][2] = {
		{"{'items':{'$ref':'http://example.com/s'}}",
		 "#/items/$ref: cannot resolve \"http://example.com/s\": "
		 "not in the schema, and nothing is fetched"},
		{"{'$ref':'file:///etc/passwd'}",
		 "#/$ref: cannot resolve \"file:///etc/passwd\": not "
		 "in the schema, and nothing is fetched"},
		{"{'$ref':'#/$defs/x'}",
		 "#/$ref: cannot resolve \"#/$defs/x\": no value is at "
		 "that place"},
		{"{'$dynamicRef':'#x'}",
		 "#/$dynamicRef: cannot resolve \"#x\": no anchor has "
		 "that name"},
		{"{'$schema':'http://json-schema.org/draft-03/schema#'}",
		 "#/$schema: the dialect \"http://json-schema.org/draft-03/"
		 "schema\" is not supported; draft 2020-12 and draft-07 are"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum err_kind kind;

		assert_string_equal(refusal(rows[i][0], &kind), rows[i][1]);
		assert_int_equal(kind, ERR_UNKNOWN);
	}
}

static const char *nested(const char *before, int n, const char *inner,
			  const char *after)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *copy;

	for (int i = 0; i < n; i++)
		buf_adds(&out, before);
	buf_adds(&out, inner);
	for (int i = 0; i < n; i++)
		buf_adds(&out, after);
	copy = arena_strndup(&fixture_arena, buf_cstr(&out), out.n);
	buf_release(&out);
	return copy;
}

TEST(compile, over_a_bound, ends_at_a_limit)
{
	struct buf many = BUF_INIT(BUF_UNBOUNDED);
	enum err_kind kind;

	schema_free(
		compiled(nested("{'not':", LIMIT_SCHEMA_NESTING, "{}", "}")));
	refusal(nested("{'not':", LIMIT_SCHEMA_NESTING + 1, "{}", "}"), &kind);
	assert_int_equal(kind, ERR_LIMIT);

	buf_adds(&many, "{'allOf':[true");
	for (int i = 2; i < LIMIT_SCHEMA_NODES; i++)
		buf_adds(&many, ",true");
	buf_adds(&many, "]}");
	schema_free(compiled(buf_cstr(&many)));
	many.n -= 2;
	buf_adds(&many, ",true]}");
	refusal(buf_cstr(&many), &kind);
	assert_int_equal(kind, ERR_LIMIT);

	buf_clear(&many);
	buf_adds(&many, "{'patternProperties':{'x':true");
	for (int i = 0; i < 1100; i++)
		buf_addf(&many, ",\"%d\":true", i);
	buf_adds(&many, "}}");
	refusal(buf_cstr(&many), &kind);
	assert_int_equal(kind, ERR_LIMIT);
	buf_release(&many);

	refusal("{'multipleOf':1.234567890123456789}", &kind);
	assert_int_equal(kind, ERR_LIMIT);
}

/* ---- no verdict ---- */

TEST(validate, endless_schema, is_an_error_and_no_verdict)
{
	static const char *const loops[] = {
		"{'$ref':'#'}",
		"{'allOf':[{'$ref':'#'}]}",
		"{'not':{'$ref':'#'}}",
		"{'anyOf':[{'type':'null'},{'$ref':'#'}]}",
		"{'$dynamicAnchor':'a','$dynamicRef':'#a'}",
		"{'$ref':'#/$defs/a','$defs':{'a':{'if':{'$ref':"
		"'#/$defs/b'}},'b':{'$ref':'#/$defs/a'}}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(loops); i++)
		assert_string_equal(
			verdict(loops[i], "1"),
			"! the schema refers to itself without end");
	/* down into the value it may */
	assert_string_equal(verdict("{'items':{'$ref':'#'}}", "[[[]]]"), "");
}

TEST(validate, too_much_work, is_an_error_and_no_verdict)
{
	static const char limit[] = "! validation is too much work; no verdict";
	struct buf schema = BUF_INIT(BUF_UNBOUNDED);

	/* each level doubles the work */
	buf_adds(&schema, "{'$ref':'#/$defs/a0','$defs':{");
	for (int i = 0; i < 40; i++)
		buf_addf(&schema,
			 "'a%d':{'allOf':[{'$ref':'#/$defs/a%d'},"
			 "{'$ref':'#/$defs/a%d'}]},",
			 i, i + 1, i + 1);
	buf_adds(&schema, "'a40':true}}");
	assert_string_equal(verdict(buf_cstr(&schema), "1"), limit);
	buf_release(&schema);
}

TEST(validate, large_value, has_a_verdict)
{
	static const char one[] = "{'a':1,'text':'hello there'},";
	struct buf value = BUF_INIT(BUF_UNBOUNDED);

	buf_addc(&value, '[');
	for (int i = 0; i < 100000; i++)
		buf_adds(&value, one);
	buf_adds(&value, "{}]");
	assert_string_equal(
		verdict("{'items':{'type':'object','properties':{"
			"'a':{'type':'integer','minimum':0},"
			"'text':{'type':'string','minLength':1}},"
			"'required':['a'],'additionalProperties':false}}",
			buf_cstr(&value)),
		"/100000: missing required \"a\"");
	buf_release(&value);
}

TEST(validate, catastrophic_pattern, is_an_error)
{
	static const char limit[] = "! a pattern is too much work; no verdict";
	const char *text = nested("a", 60, "!\"", "");
	const char *value = arena_printf(&fixture_arena, "'%s", text);

	assert_string_equal(verdict("{'pattern':'^(a+)+$'}", value), limit);
	assert_string_equal(verdict("{'not':{'pattern':'^(a+)+$'}}", value),
			    limit);
	assert_string_equal(
		verdict("{'patternProperties':{'^(a+)+$':false}}",
			arena_printf(&fixture_arena, "{%s:1}", value)),
		limit);
}

TEST(validate, deep_value, is_within_the_depth)
{
	static const char tree[] =
		"{'anyOf':[{'$ref':'#/$defs/n'},{'type':'null'}],"
		"'$defs':{'n':{'type':'array','items':{'$ref':'#'}}}}";
	static const char deeper[] = "{'$ref':'#/$defs/a','$defs':{"
				     "'a':{'allOf':[{'$ref':'#/$defs/b'}]},"
				     "'b':{'allOf':[{'$ref':'#/$defs/c'}]},"
				     "'c':{'items':{'$ref':'#'}}}}";
	const char *value = nested("[", 255, "[]", "]");

	assert_string_equal(verdict(tree, value), "");
	/* what is wrong at the bottom is told from there */
	assert_true(str_ends(str_of(verdict(tree, nested("[", 255, "1", "]"))),
			     "/0/0: is a number, must be null or an array"));
	assert_string_equal(verdict(deeper, value),
			    "! subschemas are nested too deeply");
}

TEST_FILE(NULL, release_fixture);
