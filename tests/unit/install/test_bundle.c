/* Manifests of bundles: what starts the server, and what is missing. */
#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/install/bundle.h"

#define BUNDLE(server, rest) \
	"{\"name\":\"n\",\"version\":\"1\",\"server\":{" server "}" rest "}"
#define NODE "\"type\":\"node\",\"entry_point\":\"a/main.js\""
#define CONFIG(text) ",\"mcp_config\":{" text "}"
#define ASKS(text) ",\"user_config\":{" text "}"

/* "word word|NAME=value NAME=<key>|notes" */
static const char *read_as(const char *manifest, const char *value,
			   struct arena *arena)
{
	struct strlist values = {&value, value ? 1 : 0};
	struct err err = ERR_INIT;
	struct bundle b;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (bundle_read(str_of(manifest), "/t", "/home/u", &values, arena, &b,
			&err) < 0)
		return arena_printf(arena, "%s: %s", err_word(err.kind),
				    err.msg);
	buf_adds(&out, list_join(&b.words, " ", arena));
	for (size_t i = 0; i < b.n_env; i++)
		buf_addf(&out, "%s%s=%s%s%s", i ? " " : "|", b.env[i].name,
			 b.env[i].key ? "<" : "",
			 b.env[i].key ? b.env[i].key : b.env[i].value,
			 b.env[i].key ? ">" : "");
	if (b.notes.n)
		buf_addf(&out, "|%s", list_join(&b.notes, "; ", arena));
	return arena_buf(arena, &out).p;
}

static void is(const char *manifest, const char *value, const char *wanted)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *got = read_as(manifest, value, &arena);

	if (strncmp(got, wanted, strlen(wanted)) != 0)
		fail_msg("%s\n  is %s\n  not %s", manifest, got, wanted);
}

TEST(bundle, program, is_that_of_its_type_or_its_own)
{
	is(BUNDLE(NODE, ""), NULL, "node /t/a/main.js");
	is(BUNDLE("\"type\":\"python\",\"entry_point\":\"m.py\"", ""), NULL,
	   "python3 /t/m.py");
	is(BUNDLE("\"type\":\"binary\",\"entry_point\":\"bin/x\"", ""), NULL,
	   "/t/bin/x");
	is(BUNDLE(NODE CONFIG("\"command\":\"${__dirname}/run\",\"args\":["
			      "\"-d\",\"${__dirname}${/}d\",\"${other}\"]"),
		  ""),
	   NULL, "/t/run -d /t/d|an argument has a variable that is not");
	is(BUNDLE(NODE CONFIG("\"command\":\"python\",\"args\":[],"
			      "\"platform_overrides\":{\"linux\":{\"args\":["
			      "\"l\"]},\"win32\":{\"args\":[\"w\"]}}"),
		  ""),
	   NULL, "python3 l");
}

TEST(bundle, values, are_given_or_the_default)
{
	static const char all[] =
		BUNDLE(NODE CONFIG("\"args\":[\"${user_config.m}\","
				   "\"x=${user_config.d}\"],\"env\":{\"D\":"
				   "\"${user_config.d}\"}"),
		       ASKS("\"m\":{\"default\":[\"1\",\"${__dirname}/2\"]},"
			    "\"d\":{\"default\":7}"));

	is(all, NULL, "node 1 /t/2 x=7|D=7");
	is(all, "d=8", "node 1 /t/2 x=8|D=8");
	/* a value of a person is taken as it is */
	is(all, "m=${user_config.d}", "node ${user_config.d} x=7");
	is(all, "e=8", "usage: ");
	is(all, "m", "usage: ");
	is(BUNDLE(NODE CONFIG("\"args\":[\"a\",\"${user_config.k}\"]"),
		  ASKS("\"k\":{\"required\":true}")),
	   NULL,
	   "node a|its k has no value, so an argument is left out, which");
}

TEST(bundle, credential, is_a_file_and_never_an_argument)
{
#define KEY(more) ASKS("\"k\":{\"sensitive\":true" more "}")
	is(BUNDLE(NODE CONFIG("\"args\":[],\"env\":{\"K\":\"${user_config.k}"
			      "\"}"),
		  KEY(",\"required\":true,\"default\":\"s3cret\"")),
	   NULL, "node|K=<k>");
	is(BUNDLE(NODE CONFIG("\"args\":[],\"env\":{\"K\":\"${user_config.k}"
			      "\"}"),
		  KEY("")),
	   NULL, "node|the credential k is left out");
	is(BUNDLE(NODE CONFIG("\"args\":[\"--k=${user_config.k}\"]"), KEY("")),
	   NULL, "configuration: manifest.json: the credential k");
	is(BUNDLE(NODE, KEY("")), "k=s3cret", "usage: ");
#undef KEY
}

TEST(bundle, manifest_that_is_none, is_refused)
{
	is("[]", NULL, "syntax: ");
	is("{", NULL, "syntax: manifest.json");
	is("{\"name\":\"n\"}", NULL, "syntax: manifest.json: `name`");
	is(BUNDLE("\"type\":\"java\",\"entry_point\":\"a\"", ""), NULL,
	   "syntax: manifest.json: server.type");
	is(BUNDLE("\"type\":\"node\"", ""), NULL,
	   "syntax: manifest.json: server.entry_point");
	is(BUNDLE("\"type\":\"node\",\"entry_point\":\"../a\"", ""), NULL,
	   "syntax: manifest.json: server.entry_point");
	is(BUNDLE("\"type\":\"node\",\"entry_point\":\"/a\"", ""), NULL,
	   "syntax: manifest.json: server.entry_point");
	is(BUNDLE(NODE CONFIG("\"args\":[1]"), ""), NULL, "syntax: ");
	is(BUNDLE(NODE CONFIG("\"env\":{\"A=B\":\"x\"}"), ""), NULL,
	   "syntax: ");
	is(BUNDLE(NODE, ",\"compatibility\":{\"platforms\":[\"darwin\"]}"),
	   NULL, "configuration: manifest.json: the bundle is not for Linux");
	is(BUNDLE(NODE, ",\"compatibility\":{\"platforms\":[\"linux\"]}"), NULL,
	   "node");
}

/* A bundle asks for its own files; a person may give others. */
TEST(bundle, file_outside_of_it, is_left_out)
{
	static const char *const out[] = {
		"${HOME}/.ssh/id", "/home/u/x",	 "~/x",		"../x",
		"a/../../x",	   "--k=/etc/x", "a,/home/u",	"file:///etc/x",
		"x=~/y",	   "${/}etc",	 "/usr/../etc", "${X}/y",
	};
	static const char *const in[] = {"",	  "a/b",	  "=",
					 "--x=1", "/usr/share",	  "..x",
					 "=/usr", "https://h:8/p"};
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(out); i++)
		is(arena_printf(&arena,
				BUNDLE(NODE CONFIG("\"args\":[\"%s\"]"), ""),
				out[i]),
		   NULL, "node|an argument ");
	for (size_t i = 0; i < ARRAY_LEN(in); i++)
		is(arena_printf(
			   &arena,
			   BUNDLE(NODE CONFIG("\"args\":[\"%s\",\"z\"]"), ""),
			   in[i]),
		   NULL, arena_printf(&arena, "node %s z", in[i]));
	is(BUNDLE(NODE CONFIG("\"args\":[\"d=${user_config.d}\"]"),
		  ASKS("\"d\":{}")),
	   "d=/home/u/x", "node d=/home/u/x");
	is(BUNDLE(NODE CONFIG("\"args\":[\"${user_config.d}/../y\"]"),
		  ASKS("\"d\":{}")),
	   "d=/home/u/x", "node|an argument names");
}

TEST(bundle, program, is_a_bare_name_or_of_the_tree)
{
#define RUNS(text) BUNDLE(NODE CONFIG("\"command\":\"" text "\""), "")
	static const char refused[] =
		"syntax: manifest.json: server.mcp_config.command must";

	is(RUNS("uv"), NULL, "uv ");
	is(RUNS("${__dirname}/../x"), NULL, refused);
	is(RUNS("${__dirname}"), NULL, refused);
	is(RUNS("/bin/sh"), NULL, refused);
	is(RUNS("a/b"), NULL, refused);
	is(RUNS(""), NULL, refused);
#undef RUNS
}

TEST(bundle, keys_and_names, are_plain)
{
	is(BUNDLE(NODE, ASKS("\"../k\":{}")), NULL,
	   "syntax: manifest.json: a key of user_config");
	is(BUNDLE(NODE, ASKS("\"k\\n\":{}")), NULL,
	   "syntax: manifest.json: a key of user_config");
	is("{\"name\":\"n\",\"version\":\"1\\n[servers.x]\",\"server\":{" NODE
	   "}}",
	   NULL, "syntax: manifest.json: `name` and `version`");
}
