#include "tests/unit/test.h"

#include "core/base/limits.h"
#include "core/config/routine.h"
#include "core/toml/toml.h"

struct fixture {
	struct arena arena;
	struct config config;
	struct findings findings;
	struct buf text;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.arena = ARENA_INIT,
			     .text = BUF_INIT(BUF_UNBOUNDED)};
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	findings_release(&f->findings);
	arena_release(&f->arena);
	buf_release(&f->text);
	return 0;
}

FIXTURE(fixture, setup, teardown);

static int load_lax(struct fixture *f, const char *text, bool lax)
{
	struct err err = ERR_INIT;
	struct toml_value root;

	findings_release(&f->findings);
	if (toml_parse(&f->arena, str_of(text), &root, &err) < 0)
		fail_msg("%s", err.msg);
	return routine_load(&root, lax, false, &f->arena, &f->config,
			    &f->findings);
}

static void load(struct fixture *f, const char *text)
{
	if (load_lax(f, text, false) < 0)
		fail_msg("%u:%u: %s", f->findings.item[0].err.line,
			 f->findings.item[0].err.col,
			 f->findings.item[0].err.msg);
}

/* The findings as lines "line:col text". */
static const char *findings(struct fixture *f)
{
	buf_clear(&f->text);
	for (size_t i = 0; i < f->findings.n; i++)
		buf_addf(&f->text, "%u:%u %s\n", f->findings.item[i].err.line,
			 f->findings.item[i].err.col,
			 f->findings.item[i].err.msg);
	return buf_cstr(&f->text);
}

/* One error at this place whose text holds `part`. */
static void assert_error(struct fixture *f, const char *text, const char *place,
			 const char *part)
{
	char start[32];

	assert_int_equal(load_lax(f, text, false), -1);
	snprintf(start, sizeof(start), "%s ", place);
	if (f->findings.n != 1 || !strstr(findings(f), part) ||
	    strncmp(findings(f), start, strlen(start)) != 0)
		fail_msg("wanted %s %s, got:\n%s", place, part, findings(f));
}

/* The lines as the keys of a step that is otherwise complete. */
static const char *step(struct fixture *f, const char *lines)
{
	return arena_printf(&f->arena,
			    "[[routines.r.steps]]\nname = \"a\"\n"
			    "type = \"mcp-client\"\ncommand = \"x\"\n%s\n",
			    lines);
}

/* As in the manual; every field arrives. */
TEST_IN(fixture, load, whole_example, fills_each_field)
{
	struct fixture *f = *state;
	const struct routine *r;
	const struct step *s;

	load(f, "[servers.github]\n"
		"url = \"https://mcp.example.com/mcp\"\n"
		"headers = { Authorization = \"Bearer ${GITHUB_TOKEN}\" }\n"
		"[mcp_servers.local_db]\n"
		"command = \"python3\"\n"
		"args = [\"db_server.py\"]\n"
		"sandbox = { read = [\"./data\"] }\n"
		"[routines.morning]\n"
		"description = \"Good morning dashboard\"\n"
		"on_busy = \"skip\"\n"
		"[[routines.morning.steps]]\n"
		"name = \"briefing\"\n"
		"type = \"mcp-client\"\n"
		"command = \"mytool\"\n"
		"args = [\"briefing\", \"--json\"]\n"
		"timeout = 60\n"
		"env = { MY_TOKEN = { file = \"~/.keys/mytoken\" } }\n"
		"[[routines.morning.steps]]\n"
		"name = \"issues\"\n"
		"type = \"mcp-client\"\n"
		"server = \"github\"\n"
		"tool = \"list_issues\"\n"
		"params = { repo = \"$input.repo\" }\n"
		"parallel = true\n"
		"protocol = \"2025-11-25\"\n");
	assert_int_equal(f->config.n_servers, 2);
	assert_string_equal(f->config.servers[0].headers.item[0].value,
			    "Bearer ${GITHUB_TOKEN}");
	assert_string_equal(
		config_server(&f->config, "local_db")->sandbox.read.item[0],
		"./data");
	r = config_routine(&f->config, "morning");
	assert_string_equal(r->description, "Good morning dashboard");
	assert_string_equal(r->on_busy, "skip");
	assert_int_equal(r->n_steps, 2);
	s = &r->steps[0];
	assert_string_equal(s->command, "mytool");
	assert_int_equal(s->args.n, 2);
	assert_int_equal(s->timeout_ms, 60000);
	assert_int_equal(s->env.n, 1);
	assert_string_equal(s->env.item[0].name, "MY_TOKEN");
	assert_int_equal(s->env.item[0].source, SECRET_FILE);
	assert_string_equal(s->env.item[0].from, "~/.keys/mytoken");
	assert_false(s->parallel);
	s = &r->steps[1];
	assert_ptr_equal(s->server, config_server(&f->config, "github"));
	assert_string_equal(s->tool, "list_issues");
	assert_true(s->parallel);
	assert_string_equal(s->protocol, "2025-11-25");
	assert_string_equal(s->params->table.member[0].key, "repo");
	assert_null(config_routine(&f->config, "evening"));
	assert_null(config_server(&f->config, "x"));
}

TEST_IN(fixture, load, nothing_given, fills_in_defaults)
{
	struct fixture *f = *state;
	const struct step *s;

	load(f, step(f, ""));
	s = &f->config.routines[0].steps[0];
	assert_int_equal(s->timeout_ms, 30000);
	assert_int_equal(s->stdout_max, LIMIT_MESSAGE_BYTES);
	assert_int_equal(s->stderr_max, LIMIT_STDERR_BYTES);
	assert_true(s->enabled);
	assert_false(s->parallel);
	assert_false(s->required);
	assert_null(s->protocol);
	assert_int_equal(f->config.keep_runs, 100);
	assert_string_equal(f->config.routines[0].on_busy, "run");
	assert_null(f->config.caveats.source);
	load(f, "");
	assert_int_equal(f->config.n_routines, 0);
	assert_int_equal(f->config.keep_runs, 100);
}

TEST_IN(fixture, load, modulex_spelling, runs_unchanged)
{
	struct fixture *f = *state;
	const struct step *s;

	load(f, "[identity]\nname = \"x\"\n[board]\nany.thing = [1]\n"
		"[[routines.r.steps]]\nname = \"q\"\ntype = \"mcp-query\"\n"
		"command = \"x\"\ntool = \"t\"\narguments = { a = 1 }\n");
	s = &f->config.routines[0].steps[0];
	assert_string_equal(s->type, "mcp-client");
	assert_non_null(toml_get(s->params, "a"));
	assert_int_equal(f->findings.n, 2);
	assert_string_equal(finding_severity(&f->findings.item[0]), "note");
	assert_string_equal(findings(f),
			    "1:2 [identity] is a table of modulex; it is "
			    "ignored\n3:2 [board] is a table of modulex; it "
			    "is ignored\n");
}

TEST_IN(fixture, unknown_key, with_a_near_one_known, is_answered_by_it)
{
	struct fixture *f = *state;

	assert_error(f, "rotines = 1\n", "1:1",
		     "unknown key \"rotines\"; did you mean \"routines\"?");
	assert_error(f, step(f, "tiemout = 3"), "5:1",
		     "did you mean \"timeout\"?");
	assert_error(f, step(f, "toool = 3"), "5:1", "\"tool\"?");
	assert_error(f, "[sandbox]\nprofil = \"strict\"\n", "2:1",
		     "\"profile\"?");
	assert_error(f, "[servers.s]\ncommand = \"x\"\nzzz = 1\n", "3:1",
		     "unknown key \"zzz\" in [servers.NAME]");
	assert_error(f, "[golden]\nignored = []\n", "2:1", "\"ignore\"?");
	/* promised for later, not taken silently now */
	assert_error(f, step(f, "needs = [\"b\"]"), "5:1", "unknown key");
	assert_error(f, step(f, "foreach = \"x\""), "5:1", "unknown key");
}

TEST_IN(fixture, unknown_key, in_a_lax_check, is_a_warning)
{
	struct fixture *f = *state;

	assert_int_equal(load_lax(f, "rotines = 1\n", true), 0);
	assert_int_equal(f->findings.n, 1);
	assert_true(f->findings.item[0].warning);
	/* a wrong type is an error all the same */
	assert_int_equal(load_lax(f, "keep_runs = \"x\"\n", true), -1);
}

TEST_IN(fixture, value, of_a_wrong_type, says_what_stands_there)
{
	struct fixture *f = *state;

	assert_error(
		f, step(f, "timeout = [1]"), "5:11",
		"must be a duration such as \"500ms\", \"30s\", \"5m\", or "
		"a number of seconds, not an array");
	assert_error(f, step(f, "parallel = \"yes\""), "5:12",
		     "must be true or false, not the string \"yes\"");
	assert_error(f, step(f, "args = \"x\""), "5:8", "put the string into");
	assert_error(f, step(f, "args = [1]"), "5:9", "the integer 1");
	assert_error(f, step(f, "tool = 1979-05-27"), "5:8", "a date");
	assert_error(f, step(f, "tool = \"a\\u0000b\""), "5:8", "NUL");
	assert_error(f, step(f, "cwd = \"\""), "5:7", "empty");
	assert_error(f, step(f, "params = [1]"), "5:10", "must be a table");
	assert_error(f, step(f, "protocol = \"new\""), "5:12", "2025-11-25");
	assert_error(f, "servers = 1\n", "1:11", "[servers.NAME]");
	assert_error(f, "routines.r = 1\n", "1:14", "[routines.NAME]");
	assert_error(f, "routines.r.steps = [1]\n", "1:21", "steps");
	assert_error(f, "caveats = 1\n", "1:11", "a table");
	/* control characters of a value do not reach the terminal */
	assert_error(f, step(f, "parallel = \"\\u001b[2J\""), "5:12",
		     "\\x1b[2J");
}

TEST_IN(fixture, numbers, with_units, are_within_bounds)
{
	struct fixture *f = *state;
	const struct step *s;

	load(f, step(f, "timeout = 1.5\nstdout_max = \"1KiB\"\n"
			"stderr_max = 0\nsandbox = { cpu = \"90s\", "
			"memory = \"1GiB\", files = 64, processes = 1 }"));
	s = &f->config.routines[0].steps[0];
	assert_int_equal(s->timeout_ms, 1500);
	assert_int_equal(s->stdout_max, 1024);
	assert_int_equal(s->stderr_max, 0);
	assert_int_equal(s->sandbox.cpu_seconds, 90);
	assert_int_equal(s->sandbox.memory_bytes, 1 << 30);
	assert_error(f, step(f, "timeout = 0"), "5:11",
		     "at least 1ms and at most 24h");
	assert_error(f, step(f, "timeout = \"25h\""), "5:11", "at most 24h");
	assert_error(f, step(f, "timeout = 9223372036854775807"), "5:11",
		     "at most 24h");
	assert_error(f, step(f, "timeout = -1"), "5:11", "the integer -1");
	assert_error(f, step(f, "timeout = nan"), "5:11", "must be a duration");
	assert_error(f, step(f, "timeout = \"5 m\""), "5:11", "\"5 m\"");
	assert_error(f, step(f, "stdout_max = \"2GiB\""), "5:14",
		     "at most 1GiB");
	assert_error(f, step(f, "stdout_max = 0"), "5:14", "at least 1B");
	load(f, step(f, "stdout_max = \"1GiB\""));
	assert_error(f, step(f, "sandbox.processes = 0"), "5:21", "at least 1");
	assert_error(f, "keep_runs = 0\n", "1:13", "at least 1");
}

TEST_IN(fixture, words, of_a_list, are_each_one_of_the_list)
{
	struct fixture *f = *state;

	assert_error(f, "[routines.r]\non_busy = \"later\"\nsteps = []\n",
		     "2:11", "\"run\", \"wait\", \"skip\" or \"fail\"");
	assert_error(f, "sandbox.tmp = \"own\"\n", "1:15",
		     "\"private\" or \"shared\"");
	assert_error(f, "sandbox.isolate = true\n", "1:19", "not true");
	load(f, "[sandbox]\ntmp = \"shared\"\nisolate = \"require\"\n"
		"profile = \"strict\"\n");
	assert_int_equal(f->config.sandbox.tmp_shared, 1);
	assert_int_equal(f->config.sandbox.isolate, GATE_ISOLATE_REQUIRE);
	assert_error(f, "sandbox.cpu = \"500ms\"\n", "1:15", "at least 1s");
	load(f, "sandbox.cpu = 1.5\n");
	assert_int_equal(f->config.sandbox.cpu_seconds, 2);
}

TEST_IN(fixture, net, either_way, is_a_word_or_a_list)
{
	struct fixture *f = *state;

	load(f, "sandbox.net = \"none\"\n");
	assert_int_equal(f->config.sandbox.net.n, 0);
	load(f, "sandbox.net = \"all\"\n");
	assert_string_equal(f->config.sandbox.net.item[0], "all");
	load(f, "sandbox.net = [\"a:1\", \"*.b\"]\n");
	assert_int_equal(f->config.sandbox.net.n, 2);
	assert_error(f, "sandbox.net = \"a:1\"\n", "1:15",
		     "write net = [\"a:1\"]");
	assert_error(f, "sandbox.net = \"localhost\"\n", "1:15",
		     "\"127.0.0.1:8080\"");
	assert_error(f, "sandbox.net = [\"a:1\", \"b:x\"]\n", "1:23",
		     "1 to 65535");
	assert_error(f, "sandbox.net = \"al\"\n", "1:15",
		     "did you mean \"all\"");
	assert_error(f, "sandbox.net = \"loop\"\n", "1:15",
		     "did you mean \"loopback\"");
	assert_error(f, "sandbox.net = [\"all\"]\n", "1:16",
		     "without brackets");
}

TEST_IN(fixture, env, literal, is_refused_and_not_shown)
{
	struct fixture *f = *state;

	assert_error(f, step(f, "env = { T = \"sk-12345678\" }"), "5:13",
		     "write T = { env = \"NAME\" }");
	assert_null(strstr(findings(f), "sk-1"));
	assert_error(f, step(f, "env = \"T=sk-12345678\""), "5:7",
		     "\"env\" must be a table");
	assert_null(strstr(findings(f), "sk-1"));
	assert_error(f, step(f, "env = { T = { literal = \"sk-1\" } }"), "5:15",
		     "unknown key");
	assert_null(strstr(findings(f), "sk-1"));
}

TEST_IN(fixture, env, reference, has_exactly_one_source)
{
	struct fixture *f = *state;
	const struct env_refs *env;

	load(f, step(f, "env = { A = { env = \"B\" }, C = { cmd = \"p s\" } "
			"}"));
	env = &f->config.routines[0].steps[0].env;
	assert_int_equal(env->n, 2);
	assert_int_equal(env->item[0].source, SECRET_ENV);
	assert_int_equal(env->item[1].source, SECRET_CMD);
	assert_string_equal(env->item[1].from, "p s");
	assert_int_equal(env->item[1].line, 5);
	assert_error(f, step(f, "env = { A = {} }"), "5:13", "exactly one");
	assert_error(f, step(f, "env = { A = { env = \"B\", cmd = \"c\" } }"),
		     "5:13", "exactly one");
	assert_error(f, step(f, "env = { A = { env = \"\" } }"), "5:21",
		     "empty");
	assert_error(f, step(f, "env = { \"A=B\" = { env = \"C\" } }"), "5:9",
		     "name of a variable");
}

TEST_IN(fixture, step, of_each_type, has_a_command_or_a_server)
{
	struct fixture *f = *state;
	const char *head = "[[routines.r.steps]]\nname = \"a\"\n";
	const char *server = "[servers.s]\ncommand = \"x\"\n"
			     "[servers.web]\nurl = \"https://x\"\n";

#define STEP(lines) arena_printf(&f->arena, "%s%s%s\n", server, head, lines)
	load(f, STEP("type = \"mcp-client\"\nserver = \"s\""));
	assert_error(f, STEP("type = \"mcp-client\""), "5:1",
		     "lacks \"command\" or \"server\"");
	assert_error(f, STEP("type = \"script\""), "5:1", "lacks \"command\"");
	assert_error(f,
		     STEP("type=\"mcp-client\"\nserver=\"s\"\n"
			  "command=\"x\""),
		     "5:1", "keep one");
	assert_error(f,
		     STEP("type=\"mcp-client\"\nserver=\"wbe\"\n"
			  "tool=\"t\""),
		     "8:8",
		     "there is no server \"wbe\"; did you mean "
		     "\"web\"?");
	assert_error(f, STEP("type=\"mcp-client\"\nserver=\"zzz\""), "8:8",
		     "define it as [servers.zzz]");
	assert_error(f, STEP("type=\"mcp-client\"\nserver=\"web\""), "5:1",
		     "\"tool\" is missing");
	load(f, STEP("type=\"mcp-client\"\nserver=\"web\"\ntool=\"t\""));
	assert_error(f,
		     STEP("type=\"mcp-client\"\nserver=\"s\"\n"
			  "args=[\"x\"]"),
		     "5:1", "has its own");
	assert_error(f, STEP("type=\"script\"\ncommand=\"x\"\ntool=\"t\""),
		     "9:1",
		     "does not fit this step; it is for type "
		     "mcp-client or mcp-query");
	assert_error(f,
		     STEP("type=\"mcp-client\"\ncommand=\"x\"\n"
			  "tool=\"t\"\narguments={}"),
		     "10:1", "it is for type mcp-query");
	/* a value of the wrong type is no missing value */
	assert_error(f, STEP("type=\"script\"\ncommand=1"), "8:9",
		     "must be a program");
#undef STEP
}

TEST_IN(fixture, step, name_and_type, are_required)
{
	struct fixture *f = *state;

	assert_error(f, "[[routines.r.steps]]\ntype=\"script\"\ncommand=\"x\"",
		     "1:1", "lacks \"name\"");
	assert_error(f, "[[routines.r.steps]]\nname=\"a\"\ncommand=\"x\"",
		     "1:1", "lacks \"type\"");
	assert_error(f,
		     "[[routines.r.steps]]\nname=\"a\"\ntype=\"mcp-clinet\"\n"
		     "command=\"x\"\ntool=\"t\"",
		     "3:6", "did you mean \"mcp-client\"?");
	assert_error(f,
		     "[[routines.r.steps]]\nname=\"a\"\ntype=\"llm\"\n"
		     "command=\"x\"",
		     "3:6", "`matins steps` lists them");
	assert_error(f,
		     "[[routines.r.steps]]\nname=\"a\"\ntype=\"script\"\n"
		     "command=\"x\"\n[[routines.r.steps]]\nname=\"a\"\n"
		     "type=\"script\"\ncommand=\"x\"",
		     "5:1", "first defined in line 1");
	assert_error(f,
		     "[[routines.r.steps]]\nname=\"a,b\"\ntype=\"script\"\n"
		     "command=\"x\"",
		     "2:6", "comma");
	assert_error(f, "[routines.\"../x\"]\nsteps=[]\n", "1:11", "slash");
	assert_error(f, "[servers.\"\"]\ncommand=\"x\"\n", "1:10", "server");
	/* the same name in two routines is no repetition */
	load(f, "[[routines.r.steps]]\nname=\"a\"\ntype=\"script\"\n"
		"command=\"x\"\n[[routines.q.steps]]\nname=\"a\"\n"
		"type=\"script\"\ncommand=\"x\"");
}

TEST_IN(fixture, server, of_each_kind, has_a_command_or_a_url)
{
	struct fixture *f = *state;

	assert_error(f, "[servers.s]\n", "1:10", "neither");
	assert_error(f, "[servers.s]\ncommand=\"x\"\nurl=\"https://x\"\n",
		     "1:10", "both");
	assert_error(f, "[servers.s]\nurl=\"https://x\"\nargs=[\"x\"]\n",
		     "1:10", "\"args\" are for a \"command\"");
	assert_error(f, "[servers.s]\ncommand=\"x\"\nheaders={A=\"b\"}\n",
		     "1:10", "\"headers\" is for a \"url\"");
	assert_error(f,
		     "[servers.s]\ncommand=\"x\"\n[mcp_servers.s]\n"
		     "command=\"y\"\n",
		     "3:14", "duplicate");
	assert_error(f, "[servers.s]\nurl=\"https://x\"\nheaders={A=5}\n",
		     "3:12", "header A takes a string");
	assert_error(f,
		     "[servers.s]\nurl=\"https://x\"\nheaders={\"A B\"=\"\"}",
		     "3:10", "name of an HTTP header");
}

TEST_IN(fixture, server, api_key, has_a_header)
{
	struct fixture *f = *state;

	load(f, "[servers.s]\nurl=\"https://x\"\napi_key={env=\"K\"}\n"
		"[servers.t]\nurl=\"https://x\"\napi_key={env=\"K\"}\n"
		"api_key_header=\"X-Mine\"\n"
		"[[routines.r.steps]]\nname=\"a\"\ntype=\"script\"\n"
		"command=\"x\"\n");
	assert_string_equal(f->config.servers[0].api_key_header, "X-API-Key");
	assert_string_equal(f->config.servers[1].api_key_header, "X-Mine");
}

TEST_IN(fixture, server, sampling, is_a_program_and_its_arguments)
{
	struct fixture *f = *state;
	const struct strlist *words;
	size_t n = 0;

	load(f, "[servers.s]\ncommand=\"x\"\n"
		"sampling=[\"./m\",\"\",\"./y\"]\n");
	words = &f->config.servers[0].sampling;
	assert_int_equal(words->n, 3);
	assert_string_equal(words->item[1], "");
	assert_null(words->item[3]);
	/* the program is looked for, arguments stay as they are */
	for (struct expansion *e = f->config.expansions; e; e = e->next) {
		if (strcmp(e->key, "sampling") != 0)
			continue;
		assert_ptr_equal(e->slot, &words->item[0]);
		n++;
	}
	assert_int_equal(n, 1);
	assert_error(f, "[servers.s]\ncommand=\"x\"\nsampling=[]\n", "3:10",
		     "needs a program");
	assert_error(f, "[servers.s]\ncommand=\"x\"\nsampling=[\"\"]\n", "3:11",
		     "is empty");
	assert_error(f, "[servers.s]\ncommand=\"x\"\nsampling=[1]\n", "3:11",
		     "\"sampling\"");
	assert_error(f, "[servers.s]\ncommand=\"x\"\nsampling=\"m\"\n", "3:10",
		     "into brackets");
}

TEST_IN(fixture, caveats, of_a_file, have_six_axes)
{
	struct fixture *f = *state;
	const struct gate_leash *c = &f->config.caveats;
	const char *five = "[caveats]\nfs_read=\"all\"\nfs_write={only=[]}\n"
			   "exec={only=[\"git\",\"./x\"]}\n"
			   "max_calls={at_most=3}\n"
			   "valid_for_generation={only=[1,2]}\n";

	load(f, arena_printf(&f->arena, "%snet=\"all\"\n", five));
	assert_non_null(c->source);
	assert_true(c->fs_read.all);
	assert_false(c->fs_write.all);
	assert_int_equal(c->fs_write.only.n, 0);
	assert_int_equal(c->exec.only.n, 2);
	assert_false(c->calls_unlimited);
	assert_int_equal(c->max_calls, 3);
	assert_string_equal(c->generations.only.item[1], "2");
	assert_error(f, five, "1:2", "lacks \"net\"");
	assert_error(f, arena_printf(&f->arena, "%snet=\"none\"\n", five),
		     "7:5", "\"all\" or { only = [...] }");
	assert_error(f, arena_printf(&f->arena, "%snet={only=[],x=1}\n", five),
		     "7:5", "must be");
	assert_error(f, arena_printf(&f->arena, "%snet={only=[\"\"]}\n", five),
		     "7:12", "empty");
}

TEST_IN(fixture, params, without_tool, give_a_warning)
{
	struct fixture *f = *state;

	load(f, step(f, "params = { a = 1 }"));
	assert_int_equal(f->findings.n, 1);
	assert_true(f->findings.item[0].warning);
	load(f, step(f, "tool = \"t\"\nparams = { a = 1 }"));
	assert_int_equal(f->findings.n, 0);
	load(f, "[routines.r]\ndescription = \"x\"\n");
	assert_string_equal(findings(f), "1:11 routine \"r\" has no steps\n");
}

TEST_IN(fixture, strict, without_tool, is_an_error)
{
	struct fixture *f = *state;

	load(f, step(f, "tool = \"t\"\nstrict = true"));
	assert_true(f->config.routines[0].steps[0].strict);
	load(f, step(f, "tool = \"t\""));
	assert_false(f->config.routines[0].steps[0].strict);
	assert_error(f, step(f, "strict = true"), "1:1", "needs a \"tool\"");
}

TEST_IN(fixture, golden, ignore, is_read_in_both_places)
{
	struct fixture *f = *state;

	load(f, "[golden]\nignore = [\"$.a\"]\n[routines.r]\nsteps = []\n"
		"[routines.r.golden]\nignore = [\"$.b\", \"$.c\"]\n");
	assert_int_equal(f->config.golden.ignore.n, 1);
	assert_int_equal(f->config.routines[0].golden.ignore.n, 2);
}

TEST_IN(fixture, findings, all_of_them, are_in_order_of_place)
{
	struct fixture *f = *state;
	uint32_t line = 0;

	assert_int_equal(load_lax(f,
				  "[[routines.r.steps]]\nserver = \"x\"\n"
				  "type = \"mcp-client\"\nb = 1\nname = 5\n"
				  "[sandbox]\nc = 1\n[servers.y]\n",
				  false),
			 -1);
	assert_int_equal(f->findings.n, 5);
	for (size_t i = 0; i < f->findings.n; i++) {
		assert_true(f->findings.item[i].err.line >= line);
		line = f->findings.item[i].err.line;
	}
}

TEST_IN(fixture, findings, too_many, are_counted)
{
	struct fixture *f = *state;

	for (int i = 0; i < LIMIT_CONFIG_ERRORS + 50; i++)
		buf_addf(&f->text, "x%d = 1\n", i);
	assert_int_equal(load_lax(f, arena_strdup(&f->arena, f->text.p), false),
			 -1);
	assert_int_equal(f->findings.n, LIMIT_CONFIG_ERRORS);
	assert_int_equal(f->findings.dropped, 50);
	/* an error is never lost behind warnings */
	buf_clear(&f->text);
	for (int i = 0; i < LIMIT_CONFIG_ERRORS + 50; i++)
		buf_addf(&f->text, "x%d = 1\n", i);
	buf_addf(&f->text, "keep_runs = 0\n");
	assert_int_equal(load_lax(f, arena_strdup(&f->arena, f->text.p), true),
			 -1);
	assert_true(f->findings.has_error);
	assert_non_null(strstr(findings(f), "keep_runs"));
}

TEST_IN(fixture, steps, more_than_the_bound, are_an_error)
{
	struct fixture *f = *state;

	buf_addf(&f->text, "routines.r.steps = [");
	for (int i = 0; i <= LIMIT_STEPS; i++)
		buf_addf(&f->text, "{},");
	buf_addf(&f->text, "]\n");
	assert_error(f, arena_strdup(&f->arena, f->text.p), "1:12",
		     "more than 4096 steps");
}

/* Each string that stands for something else is on the list, once. */
TEST_IN(fixture, expansions, are_marked, in_paths_headers_and_urls)
{
	struct fixture *f = *state;
	size_t n[EXPAND_HEADER + 1] = {0};

	load(f, "[servers.s]\nurl=\"${U}\"\nheaders={A=\"b\",C=\"d\"}\n"
		"[sandbox]\nread=[\"a\",\"a\"]\nwrite=[\"w\"]\nexec=[\"e\"]\n"
		"[[routines.r.steps]]\nname=\"n\"\ntype=\"script\"\n"
		"command=\"./x\"\ncwd=\".\"\nargs=[\"${X}\"]\n"
		"env={A={file=\"f\"},B={env=\"E\"}}\n");
	for (struct expansion *e = f->config.expansions; e; e = e->next) {
		assert_non_null(*e->slot);
		n[e->kind]++;
		if (e->kind == EXPAND_HEADER)
			assert_string_equal(e->server, "s");
		if (!strcmp(e->key, "cwd"))
			assert_string_equal(e->routine, "r");
	}
	assert_int_equal(n[EXPAND_URL], 1);
	assert_int_equal(n[EXPAND_HEADER], 2);
	assert_int_equal(n[EXPAND_READ], 2);
	assert_int_equal(n[EXPAND_WRITE], 1);
	assert_int_equal(n[EXPAND_PROGRAM], 2);
	assert_int_equal(n[EXPAND_PATH], 2);
}
