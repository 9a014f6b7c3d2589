/* Rows added to the sandbox of a step: the text around them stays. */
#include "tests/unit/test.h"

#include "core/config/edit.h"

static const char *one[] = {"a"}, *two[] = {"b", "c \"d\""}, *word[] = {"all"};
static const char *loopback[] = {"loopback"}, *host[] = {"h.example"};
static const char *many[] = {"/usr/share/one/two/three",
			     "/usr/share/one/two/four",
			     "/usr/share/one/two/five"};

#define ROW(key, list)                                     \
	{                                                  \
		key, {list, ARRAY_LEN(list)}, false, false \
	}

static const struct edit_row read_one = ROW("read", one),
			     exec_two = ROW("exec", two),
			     read_many = ROW("read", many),
			     net_host = ROW("net", host),
			     net_all = {"net", {word, 1}, true, false},
			     net_loop = {"net", {loopback, 1}, true, false};

#define HEAD "[[routines.r.steps]]\nname = \"s\" # mine\n"
#define TAIL "\n# end\n[[routines.r.steps]]\nname = \"t\"\n"

/* after  NULL: it cannot be edited */
static const struct row {
	const char *before;
	const struct edit_row *row[2];
	const char *after;
} rows[] = {
	/* none yet: behind the last key of the step itself */
	{HEAD TAIL, {&read_one}, HEAD "sandbox.read = [\"a\"]\n" TAIL},
	{HEAD "[routines.r.steps.env]\nA = \"b\"\n",
	 {&read_one, &exec_two},
	 HEAD "sandbox.read = [\"a\"]\nsandbox.exec = [\"b\", \"c "
	      "\\\"d\\\"\"]\n[routines.r.steps.env]\nA = \"b\"\n"},
	{"[[routines.r.steps]]\nname='s'\nargs = [\n  \"x\", # [\n  ']'\n]",
	 {&read_one},
	 "[[routines.r.steps]]\nname='s'\nargs = [\n  \"x\", # [\n  "
	 "']'\n]\nsandbox.read = [\"a\"]"},
	{"[[routines.r.steps]]\n\tname = '''\nq'''\n[[routines.r.steps]]\n\t"
	 "name = \"s\"\n\tenv.A = \"1\" # x\n",
	 {&read_many},
	 "[[routines.r.steps]]\n\tname = '''\nq'''\n[[routines.r.steps]]\n\t"
	 "name = \"s\"\n\tenv.A = \"1\" # x\n\tsandbox.read = [\n\t\t"
	 "\"/usr/share/one/two/three\",\n\t\t\"/usr/share/one/two/four\",\n\t\t"
	 "\"/usr/share/one/two/five\",\n\t]\n"},
	/* a name as other programs spell it */
	{"[[routines.r.steps]]\nid = \"s\"\n" TAIL,
	 {&read_one},
	 "[[routines.r.steps]]\nid = \"s\"\nsandbox.read = [\"a\"]\n" TAIL},
	/* an inline table */
	{HEAD "sandbox = {} # x\n",
	 {&read_one},
	 HEAD "sandbox = { read = [\"a\"] } # x\n"},
	{HEAD "sandbox = { read = [ \"x\" ], net=\"all\" }\n",
	 {&read_one, &exec_two},
	 HEAD "sandbox = { read = [ \"x\", \"a\" ], net=\"all\", exec = [\"b\","
	      " \"c \\\"d\\\"\"] }\n"},
	{HEAD "sandbox = { read = [] }\n",
	 {&read_one},
	 HEAD "sandbox = { read = [\"a\"] }\n"},
	{HEAD "sandbox = { read = [\"a\"] }\n",
	 {&read_one},
	 HEAD "sandbox = { read = [\"a\"] }\n"},
	/* dotted keys */
	{HEAD "sandbox.read = [\"x\",]\nx = 1\n",
	 {&read_one, &net_all},
	 HEAD "sandbox.read = [\"x\", \"a\",]\nsandbox.net = \"all\"\nx = 1\n"},
	/* a table of its own, lists over lines */
	{HEAD "  [routines.r.steps.sandbox]\n  read = [\n    \"x\", # why\n"
	      "  ]\n" TAIL,
	 {&read_one, &exec_two},
	 HEAD "  [routines.r.steps.sandbox]\n  read = [\n    \"x\", # why\n"
	      "    \"a\",\n  ]\n  exec = [\"b\", \"c \\\"d\\\"\"]\n" TAIL},
	{HEAD "[routines.r.steps.sandbox]\nread = [\n\t\"x\" # no comma\n]\n",
	 {&read_one},
	 HEAD "[routines.r.steps.sandbox]\nread = [\n\t\"x\", # no "
	      "comma\n\t\"a\",\n]\n"},
	{HEAD "[routines.r.steps.sandbox] # x\n",
	 {&read_one},
	 HEAD "[routines.r.steps.sandbox] # x\nread = [\"a\"]\n"},
	{HEAD "[routines.r.steps.'sandbox'.programs.sh]\ndeny = []\n",
	 {&read_one},
	 HEAD "sandbox.read = [\"a\"]\n"
	      "[routines.r.steps.'sandbox'.programs.sh]\ndeny = []\n"},
	/* steps as a list of inline tables */
	{"[routines.r]\nsteps = [ { name = \"s\" }, ]\n",
	 {&read_one},
	 "[routines.r]\nsteps = [ { name = \"s\", sandbox.read = [\"a\"] }, "
	 "]\n"},
	{"[routines]\nr.steps = [{name='s', sandbox.read=['x']}]\n",
	 {&read_one, &exec_two},
	 "[routines]\nr.steps = [{name='s', sandbox.read=['x', \"a\"], "
	 "sandbox.exec = [\"b\", \"c \\\"d\\\"\"]}]\n"},
	/* words of net */
	{HEAD "sandbox.net = 'none'\n",
	 {&net_host},
	 HEAD "sandbox.net = [\"h.example\"]\n"},
	{HEAD "sandbox.net = [\"x\"]\n",
	 {&net_all},
	 HEAD "sandbox.net = \"all\"\n"},
	{HEAD "sandbox.net = \"all\"\n",
	 {&net_host},
	 HEAD "sandbox.net = \"all\"\n"},
	/* a row that cannot be joined is left, and the other one is there */
	{HEAD "sandbox.net = [\"x\"]\n",
	 {&net_loop, &read_one},
	 HEAD "sandbox.net = [\"x\"]\nsandbox.read = [\"a\"]\n"},
	{HEAD "sandbox.net = \"loopback\"\n",
	 {&net_host, &read_one},
	 HEAD "sandbox.net = \"loopback\"\nsandbox.read = [\"a\"]\n"},
	/* line ends of another system, a byte order mark */
	{"\xef\xbb\xbf[[routines.r.steps]]\r\nname = \"s\"\r\nx = 1\r\n",
	 {&read_one},
	 "\xef\xbb\xbf[[routines.r.steps]]\r\nname = \"s\"\r\nx = "
	 "1\r\nsandbox.read = [\"a\"]\r\n"},
	{HEAD "sandbox = 1\n", {&read_one}, NULL},
	{HEAD "sandbox.read = \"x\"\n",
	 {&read_one},
	 HEAD "sandbox.read = \"x\"\n"},
	/* steps without one share that of their server */
	{"[servers.db]\n\targs = [\"x\",\n\t\t\"y\"]\n" HEAD
	 "server = \"db\"\n",
	 {&read_one},
	 "[servers.db]\n\targs = [\"x\",\n\t\t\"y\"]\n"
	 "\tsandbox.read = [\"a\"]\n" HEAD "server = \"db\"\n"},
	{"[servers.db]\ncommand = \"x\" # x\n[servers.db.env]\nA = \"b\"\n" HEAD
	 "server = \"db\"\n",
	 {&read_one},
	 "[servers.db]\ncommand = \"x\" # x\nsandbox.read = [\"a\"]\n"
	 "[servers.db.env]\nA = \"b\"\n" HEAD "server = \"db\"\n"},
	{HEAD "server = \"db\"\n[servers]\ndb = { command = \"x\" }\n",
	 {&read_one},
	 HEAD "server = \"db\"\n[servers]\ndb = { command = \"x\", "
	      "sandbox.read = [\"a\"] }\n"},
	{"[servers.db]\nsandbox = {}\n" HEAD
	 "server = \"db\"\nsandbox.net = [\"h\"]\n",
	 {&read_one},
	 "[servers.db]\nsandbox = {}\n" HEAD
	 "server = \"db\"\nsandbox.net = [\"h\"]\nsandbox.read = [\"a\"]\n"},
	{"[[routines.r.steps]]\nname = \"other\"\n", {&read_one}, NULL},
	{"routines = 1\n", {&read_one}, NULL},
	{"not TOML", {&read_one}, NULL},
};

TEST(edit_sandbox, every_form, keeps_the_other_bytes)
{
	for (const struct row *r = rows; r < rows + ARRAY_LEN(rows); r++) {
		struct edit_row add[2] = {*r->row[0]};
		size_t n = 1;
		struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct buf again = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		int result;

		if (r->row[1])
			add[n++] = *r->row[1];
		result = edit_sandbox(str_of(r->before), "r", "s", add, n, &out,
				      &err);
		if (result != (r->after ? 0 : -1))
			fail_msg("%s: %s", r->before, err.msg);
		if (r->after) {
			assert_string_equal(buf_cstr(&out), r->after);
			/* a second time nothing is new */
			assert_int_equal(edit_sandbox(buf_str(&out), "r", "s",
						      add, n, &again, &err),
					 0);
			assert_string_equal(buf_cstr(&again), r->after);
		}
		buf_release(&again);
		buf_release(&out);
	}
}

TEST(edit_sandbox, a_row_without_a_way_to_join, is_noted)
{
	struct edit_row add[] = {net_host, read_one};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	assert_int_equal(edit_sandbox(STR(HEAD "sandbox.net = \"loopback\"\n"),
				      "r", "s", add, 2, &out, &err),
			 0);
	assert_true(add[0].is_left);
	assert_false(add[1].is_left);
	buf_release(&out);
}

/* after  NULL: it cannot be edited */
static const struct drop {
	const char *before, *after;
} drops[] = {
	{"[servers.x]\nurl = \"https://a.example\"\n", ""},
	{"[a]\nb = 1\n\n# from a file\n[servers.x]\nk = 1\n", "[a]\nb = 1\n"},
	{"[servers.x]\nk = 1\n\n# the end\n", "# the end\n"},
	{"# head\n\n# mine\n[servers.x] # x\nk = [\n1, # one\n\n2]\n# k\n\n# "
	 "next\n[servers.y]\nk = 1\n",
	 "# head\n\n# next\n[servers.y]\nk = 1\n"},
	{"[servers.x]\nk = 1\n# about y\n[servers.y]\n",
	 "# about y\n[servers.y]\n"},
	{"[servers.x]\nk = 1\n# wanted at its first start, not granted: k\n"
	 "# about y\n[servers.y]\n",
	 "# about y\n[servers.y]\n"},
	{"[servers.w]\nk = 1\n# not carried: k\n[servers.x]\nk = 1\n",
	 "[servers.w]\nk = 1\n# not carried: k\n"},
	/* tables of it, in one place and in another */
	{"[servers.x]\nk = '''\n[servers.y]\n'''\n[servers.x.env]\nA = "
	 "1\n[z]\nb = 1\n[servers.x.sandbox]\nread = []\n[servers.xx]\n",
	 "[z]\nb = 1\n[servers.xx]\n"},
	{"[mcp_servers.\"x\"]\r\nk = 1\r\n\r\n[z]\r\n", "[z]\r\n"},
	{"[servers]\nx = { k = 1 } # x\ny = { k = 2 }\n",
	 "[servers]\ny = { k = 2 }\n"},
	{"[servers]\nx = { k = 1 }\n", "[servers]\n"},
	{"[servers]\nx.k = 1\nx.l = 2\ny.k = 3\n", NULL},
	{"servers = { x = { k = 1 }, y = { k = 2 } }\n", NULL},
	{"[servers.y]\n", NULL},
	{"not TOML", NULL},
};

TEST(edit_drop_server, every_form, keeps_the_other_bytes)
{
	for (const struct drop *r = drops; r < drops + ARRAY_LEN(drops); r++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		int result =
			edit_drop_server(str_of(r->before), "x", &out, &err);

		if (result != (r->after ? 0 : -1))
			fail_msg("%s: %s", r->before, err.msg);
		if (r->after)
			assert_string_equal(buf_cstr(&out), r->after);
		buf_release(&out);
	}
}

static void differs(const char *before, const char *after, const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	edit_diff(str_of(before), str_of(after), &out);
	assert_string_equal(buf_cstr(&out), wanted);
	buf_release(&out);
}

TEST(edit_diff, changed_lines, have_two_around_them)
{
	differs("a\n", "a\n", "");
	differs("", "a\n", "@@ -0,0 +1,1 @@\n+a\n");
	differs("1\n2\n3\n4\n", "1\n2\n3\nx\n4\n",
		"@@ -2,3 +2,4 @@\n 2\n 3\n+x\n 4\n");
	differs("1\n2\n3\n", "1\ny\n3\nz\n",
		"@@ -1,3 +1,4 @@\n 1\n-2\n+y\n 3\n+z\n");
	differs("1\n2\n3\n4\n5\n6\n", "x\n1\n2\n3\n4\n5\n6\ny",
		"@@ -1,6 +1,8 @@\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n+y\n");
}

TEST(edit_add_json, values, are_toml_in_one_line)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	edit_add_json(&out, STR("{\"a\":1.50,\"b c\":[true,null,\"x\\\"\\n\"],"
				"\"n\":null,\"t\":{\"d\":{}},\"e\":[]}"));
	assert_string_equal(buf_cstr(&out),
			    "{ a = 1.50, \"b c\" = [true, \"x\\\"\\u000a\"], "
			    "t = { d = { } }, e = [] }");
}
