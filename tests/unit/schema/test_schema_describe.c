#include "tests/unit/test.h"

#include "tests/unit/schema/schema_fixture.h"
#include "core/schema/describe.h"

static const char tool[] =
	"{'type':'object','properties':{"
	"'repo':{'type':'string','description':'owner\\/name'},"
	"'limit':{'$ref':'#/$defs/count','default':30},"
	"'ratio':{'type':['number','null']},"
	"'all':{'anyOf':[{'type':'boolean'},{'type':'null'}]},"
	"'labels':{'type':'array','items':{'enum':['a','b']}},"
	"'filter':{'allOf':[{'type':'object'},{'minProperties':1}]},"
	"'state':{'enum':['open','closed'],'default':'open',"
	"'title':'State'},'either':{'type':['string','integer']},"
	"'both':{'type':['boolean','integer']},"
	"'any':{},'anything':true,"
	"'self':{'$ref':'#/properties/self'}},"
	"'required':['repo','all'],"
	"'$defs':{'count':{'type':'integer',"
	"'description':'how many'}}}";

TEST(type, of_each_property, as_the_schema_says)
{
	AUTO(schema_freep) struct schema *s = compiled(tool);
	static const struct {
		const char *name;
		enum schema_type type;
	} rows[] = {
		{"repo", SCHEMA_TYPE_STRING},
		{"limit", SCHEMA_TYPE_INTEGER},
		{"ratio", SCHEMA_TYPE_NUMBER},
		{"all", SCHEMA_TYPE_BOOLEAN},
		{"labels", SCHEMA_TYPE_ARRAY},
		{"filter", SCHEMA_TYPE_OBJECT},
		{"state", SCHEMA_TYPE_STRING},
		{"either", SCHEMA_TYPE_STRING},
		{"both", SCHEMA_TYPE_UNKNOWN},
		{"any", SCHEMA_TYPE_UNKNOWN},
		{"anything", SCHEMA_TYPE_UNKNOWN},
		{"self", SCHEMA_TYPE_UNKNOWN},
		{"absent", SCHEMA_TYPE_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (schema_property_type(s, str_of(rows[i].name)) !=
		    rows[i].type)
			fail_msg("%s", rows[i].name);
}

TEST(properties, of_a_tool, in_order_with_texts)
{
	AUTO(schema_freep) struct schema *s = compiled(tool);
	struct schema_property *p;
	size_t n = schema_properties(s, &fixture_arena, &p);

	assert_int_equal(n, 12);
	assert_true(str_is(p[0].name, "repo"));
	assert_true(str_is(p[0].description, "owner/name"));
	assert_true(p[0].is_required);
	assert_null(p[0].fallback.p);
	assert_true(str_is(p[1].name, "limit"));
	assert_true(str_is(p[1].description, "how many"));
	assert_true(str_is(p[1].fallback, "30"));
	assert_false(p[1].is_required);
	assert_int_equal(p[2].types, SCHEMA_TYPE_NUMBER | SCHEMA_TYPE_NULL);
	assert_true(p[3].is_required);
	assert_true(p[4].is_list);
	assert_int_equal(p[4].n_choices, 2);
	assert_true(str_is(p[6].title, "State"));
	assert_false(p[6].is_list);
	assert_true(str_is(p[6].choice[1].value, "\"closed\""));
}

TEST(properties, composed, found_through_references)
{
	AUTO(schema_freep)
	struct schema *s =
		compiled("{'$ref':'#/$defs/a','anyOf':[{'properties':{"
			 "'z':true,'x':{'type':'null'}},'required':['z']}],"
			 "'$defs':{'a':{'allOf':[{'properties':{"
			 "'x':{'type':'string'}},'required':['x']}]}}}");
	struct schema_property *p, one;

	assert_int_equal(schema_properties(s, &fixture_arena, &p), 2);
	assert_true(str_is(p[0].name, "x"));
	assert_int_equal(p[0].types, SCHEMA_TYPE_STRING);
	assert_true(p[0].is_required);
	assert_true(str_is(p[1].name, "z"));
	assert_false(p[1].is_required); /* by one alternative only */
	assert_true(schema_property(s, STR("z"), &fixture_arena, &one));
	assert_false(schema_property(s, STR("y"), &fixture_arena, &one));
}

TEST(properties, recursive, end)
{
	AUTO(schema_freep)
	struct schema *s = compiled("{'allOf':[{'$ref':'#'},{'$ref':'#'}],"
				    "'oneOf':[{'$ref':'#'},{'$ref':'#'}],"
				    "'properties':{'a':{'$ref':'#'}}}");
	struct schema_property *p;

	assert_int_equal(schema_properties(s, &fixture_arena, &p), 1);
}

TEST(members, of_a_property, with_bounds_and_elements)
{
	AUTO(schema_freep)
	struct schema *s = compiled(
		"{'properties':{'to':{'$ref':'#/$defs/to'},'ways':{"
		"'type':'array','minItems':2,'items':{'$ref':'#/$defs/to'}}},"
		"'$defs':{'to':{'type':'object','required':['n'],"
		"'properties':{'n':{'type':'integer','minimum':3,"
		"'maximum':9},'m':{}}}}}");
	struct schema_property *p, *member, element;

	assert_int_equal(schema_properties(s, &fixture_arena, &p), 2);
	assert_int_equal(schema_members(&p[0], &fixture_arena, &member), 2);
	assert_true(member[0].is_required);
	assert_false(member[1].is_required);
	assert_true(str_is(member[0].minimum, "3"));
	assert_true(str_is(member[0].maximum, "9"));
	assert_false(schema_elements(&member[0], &fixture_arena, &element));
	assert_true(str_is(p[1].min_items, "2"));
	assert_true(schema_elements(&p[1], &fixture_arena, &element));
	assert_int_equal(schema_members(&element, &fixture_arena, &member), 2);
}

/* What elicitation of each revision sends. */
TEST(properties, of_elicitation, with_choices)
{
	AUTO(schema_freep)
	struct schema *s = compiled(
		"{'type':'object','properties':{"
		"'s':{'type':'string','format':'email'},"
		"'n':{'type':'number','minimum':0},"
		"'b':{'type':'boolean','default':false},"
		"'e':{'type':'string','enum':['x','y'],"
		"'enumNames':['Ex','Why']},'o':{'type':'string','oneOf':["
		"{'const':'1','title':'One'},"
		"{'const':'2','title':'Two'}]},"
		"'m':{'type':'array','items':{'anyOf':["
		"{'const':'1','title':'One'}]}}},'required':['s']}");
	struct schema_property *p;

	assert_int_equal(schema_properties(s, &fixture_arena, &p), 6);
	assert_true(str_is(p[0].format, "email"));
	assert_true(str_is(p[3].choice[1].title, "Why"));
	assert_true(str_is(p[4].choice[0].title, "One"));
	assert_true(str_is(p[4].choice[0].value, "\"1\""));
	assert_true(p[5].is_list);
	assert_true(str_is(p[5].choice[0].title, "One"));
}

TEST_FILE(NULL, release_fixture);
