#include <string.h>

#include "tests/unit/test.h"

#include "core/mcp/wire/uri_template.h"

/* RFC 6570, 3.2 */
static const char values[] =
	"{\"count\":[\"one\",\"two\",\"three\"],"
	"\"dom\":[\"example\",\"com\"],\"dub\":\"me/too\","
	"\"hello\":\"Hello World!\",\"half\":\"50%\",\"var\":\"value\","
	"\"who\":\"fred\",\"base\":\"http://example.com/home/\","
	"\"path\":\"/foo/bar\",\"list\":[\"red\",\"green\",\"blue\"],"
	"\"keys\":{\"semi\":\";\",\"dot\":\".\",\"comma\":\",\"},"
	"\"v\":\"6\",\"x\":\"1024\",\"y\":\"768\",\"empty\":\"\","
	"\"empty_keys\":{},\"undef\":null,\"number\":12,\"yes\":true,"
	"\"word\":\"h\xc3\xa9llo\",\"nothing\":[null]}";

static const struct {
	const char *text, *expected;
} examples[] = {
	/* 1.2, levels 1 to 4, and 3.2.1 to 3.2.9 */
	{"{var}", "value"},
	{"{hello}", "Hello%20World%21"},
	{"{+var}", "value"},
	{"{+hello}", "Hello%20World!"},
	{"{+path}/here", "/foo/bar/here"},
	{"here?ref={+path}", "here?ref=/foo/bar"},
	{"X{#var}", "X#value"},
	{"X{#hello}", "X#Hello%20World!"},
	{"map?{x,y}", "map?1024,768"},
	{"{x,hello,y}", "1024,Hello%20World%21,768"},
	{"{+x,hello,y}", "1024,Hello%20World!,768"},
	{"{+path,x}/here", "/foo/bar,1024/here"},
	{"{#x,hello,y}", "#1024,Hello%20World!,768"},
	{"{#path,x}/here", "#/foo/bar,1024/here"},
	{"X{.var}", "X.value"},
	{"X{.x,y}", "X.1024.768"},
	{"{/var}", "/value"},
	{"{/var,x}/here", "/value/1024/here"},
	{"{;x,y}", ";x=1024;y=768"},
	{"{;x,y,empty}", ";x=1024;y=768;empty"},
	{"{?x,y}", "?x=1024&y=768"},
	{"{?x,y,empty}", "?x=1024&y=768&empty="},
	{"?fixed=yes{&x}", "?fixed=yes&x=1024"},
	{"{&x,y,empty}", "&x=1024&y=768&empty="},
	{"{var:3}", "val"},
	{"{var:30}", "value"},
	{"{list}", "red,green,blue"},
	{"{list*}", "red,green,blue"},
	{"{keys}", "semi,%3B,dot,.,comma,%2C"},
	{"{keys*}", "semi=%3B,dot=.,comma=%2C"},
	{"{+path:6}/here", "/foo/b/here"},
	{"{+list}", "red,green,blue"},
	{"{+keys}", "semi,;,dot,.,comma,,"},
	{"{+keys*}", "semi=;,dot=.,comma=,"},
	{"{#path:6}/here", "#/foo/b/here"},
	{"{#list*}", "#red,green,blue"},
	{"{#keys}", "#semi,;,dot,.,comma,,"},
	{"X{.var:3}", "X.val"},
	{"X{.list}", "X.red,green,blue"},
	{"X{.list*}", "X.red.green.blue"},
	{"X{.keys*}", "X.semi=%3B.dot=..comma=%2C"},
	{"X{.empty_keys}", "X"},
	{"{/var:1,var}", "/v/value"},
	{"{/list}", "/red,green,blue"},
	{"{/list*}", "/red/green/blue"},
	{"{/list*,path:4}", "/red/green/blue/%2Ffoo"},
	{"{/keys*}", "/semi=%3B/dot=./comma=%2C"},
	{"{;hello:5}", ";hello=Hello"},
	{"{;list}", ";list=red,green,blue"},
	{"{;list*}", ";list=red;list=green;list=blue"},
	{"{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"},
	{"{;keys*}", ";semi=%3B;dot=.;comma=%2C"},
	{"{?var:3}", "?var=val"},
	{"{?list}", "?list=red,green,blue"},
	{"{?list*}", "?list=red&list=green&list=blue"},
	{"{?keys*}", "?semi=%3B&dot=.&comma=%2C"},
	{"{&var:3}", "&var=val"},
	{"{&list*}", "&list=red&list=green&list=blue"},
	{"{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"},
	{"{count}", "one,two,three"},
	{"{/count*}", "/one/two/three"},
	{"{half}", "50%25"},
	{"O{empty}X", "OX"},
	{"O{undef}X", "OX"},
	{"{x,undef,y}", "1024,768"},
	{"O{+undef}X", "OX"},
	{"{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"},
	{"{+base}index", "http://example.com/home/index"},
	{"up{+path}{var}/here", "up/foo/barvalue/here"},
	{"www{.dom*}", "www.example.com"},
	{"X{.empty}", "X."},
	{"{/who,dub}", "/fred/me%2Ftoo"},
	{"{;v,empty,who}", ";v=6;empty;who=fred"},
	{"{;v,undef}", ";v=6"},
	/* beside the RFC: other types, literals, characters of many bytes */
	{"{number}/{yes}", "12/true"},
	{"{nothing}", ""},
	{"{?nothing,x}", "?x=1024"},
	{"{word:2}", "h%C3%A9"},
	{"a b%20\xc3\xa9", "a%20b%20%C3%A9"},
	{"", ""},
	{"plain", "plain"},
};

TEST(template, examples_of_the_rfc, are_expanded)
{
	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;

		if (uri_template_expand(str_of(examples[i].text),
					str_of(values), &out, &err) < 0)
			fail_msg("%s: %s", examples[i].text, err.msg);
		if (strcmp(buf_cstr(&out), examples[i].expected))
			fail_msg("%s: %s, not %s", examples[i].text,
				 buf_cstr(&out), examples[i].expected);
		buf_release(&out);
	}
}

TEST(template, that_is_wrong, is_an_error_with_its_place)
{
	static const char *const wrong[] = {
		"{var",	     "a}b",	 "{}",	    "{a b}",   "{=var}",
		"{!x}",	     "{|x}",	 "{@x}",    "{var:0}", "{var:99999}",
		"{var:}",    "{var:3*}", "{x,}",    "{.}",     "{list:2}",
		"b{keys:1}", "{a..b}",	 "{{var}}", "{a.}",    "{%zz}",
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;

		buf_adds(&out, "before");
		if (uri_template_expand(str_of(wrong[i]), str_of(values), &out,
					&err) == 0)
			fail_msg("%s: %s", wrong[i], buf_cstr(&out));
		assert_int_equal(err.kind, ERR_SYNTAX);
		assert_non_null(strstr(err.msg, "character "));
		assert_string_equal(buf_cstr(&out), "before");
		buf_release(&out);
	}
}

TEST(names, of_all_operators, come_once_in_order)
{
	struct arena arena = ARENA_INIT;
	struct strlist l = uri_template_names(
		STR("x{a}{+b,c*}{?d:3,a}{#b}/{broken"), &arena);

	assert_int_equal(l.n, 4);
	assert_string_equal(l.item[0], "a");
	assert_string_equal(l.item[1], "b");
	assert_string_equal(l.item[2], "c");
	assert_string_equal(l.item[3], "d");
	assert_true(uri_template_is(STR("a{b}")));
	assert_false(uri_template_is(STR("a:b")));
	arena_release(&arena);
}
