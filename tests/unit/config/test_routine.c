#include "tests/unit/test.h"
#include "tests/unit/transcript.h"

#include "core/base/limits.h"
#include "core/config/flow.h"
#include "core/config/references.h"
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

/* The findings as lines "severity line:col text". */
static const char *findings(struct fixture *f)
{
	buf_clear(&f->text);
	for (size_t i = 0; i < f->findings.n; i++)
		buf_addf(&f->text, "%s %u:%u %s\n",
			 finding_severity(&f->findings.item[i]),
			 f->findings.item[i].err.line,
			 f->findings.item[i].err.col,
			 f->findings.item[i].err.msg);
	return buf_cstr(&f->text);
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
	assert_string_equal(
		findings(f),
		"note 1:2 [identity] is a table of modulex; only steps of "
		"its types read it\nnote 3:2 [board] is a table of modulex; "
		"only steps of its types read it\n");
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
	load(f, step(f, "stdout_max = \"1GiB\""));
}

TEST_IN(fixture, words, of_a_list, are_each_one_of_the_list)
{
	struct fixture *f = *state;

	load(f, "[sandbox]\ntmp = \"shared\"\nisolate = \"require\"\n"
		"profile = \"strict\"\n");
	assert_int_equal(f->config.sandbox.tmp_shared, 1);
	assert_int_equal(f->config.sandbox.isolate, GATE_ISOLATE_REQUIRE);
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
}

TEST_IN(fixture, strict, without_tool, is_an_error)
{
	struct fixture *f = *state;

	load(f, step(f, "tool = \"t\"\nstrict = true"));
	assert_true(f->config.routines[0].steps[0].strict);
	load(f, step(f, "tool = \"t\""));
	assert_false(f->config.routines[0].steps[0].strict);
}

TEST_IN(fixture, golden, ignore, is_read_in_both_places)
{
	struct fixture *f = *state;

	load(f, "[golden]\nignore = [\"$.a\"]\n[routines.r]\nsteps = []\n"
		"[routines.r.golden]\nignore = [\"$.b\", \"$.c\"]\n");
	assert_int_equal(f->config.golden.ignore->array.n, 1);
	assert_int_equal(f->config.routines[0].golden.ignore->array.n, 2);
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
	assert_int_equal(load_lax(f, arena_strdup(&f->arena, f->text.p), false),
			 -1);
	assert_string_equal(findings(f), "error 1:12 more than 4096 steps\n");
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

/* ---- texts and what is found in them, as data ---- */

/* The loader's own findings are looked at elsewhere. */
static void check_flow(struct fixture *f, const struct toml_value *root,
		       const char *routine)
{
	struct findings others = {.n = 0};
	struct config c;

	(void)!routine_load(root, false, false, &f->arena, &c, &others);
	findings_release(&others);
	for (size_t i = 0; i < c.n_routines; i++)
		if (!routine || !strcmp(c.routines[i].name, routine))
			(void)!flow_make(&c.routines[i], &f->arena,
					 &f->findings);
}

static void check_references(struct fixture *f, const char *text,
			     const char *routine)
{
	struct err err = ERR_INIT;
	struct toml_value root;

	findings_release(&f->findings);
	if (toml_parse(&f->arena, str_of(text), &root, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	references_check(&root, routine, &f->findings);
	check_flow(f, &root, routine);
}

/* The findings of the text so far, behind a header that says how it is read. */
static void add_findings(struct fixture *f, const char *head,
			 const struct buf *text, struct buf *got)
{
	static const char servers[] = "[servers.s]\ncommand = \"x\"\n"
				      "[servers.web]\nurl = \"https://x\"\n";
	static const char begin[] = "[[routines.r.steps]]\nname = \"a\"\n";
	const char *whole = buf_cstr(text);

	if (!strcmp(head, "step") || !strcmp(head, "lax step"))
		whole = step(f, whole);
	else if (strstr(head, "references"))
		whole = arena_printf(&f->arena,
				     "[routines.r]\n[[routines.r.steps]]\n"
				     "name = \"s\"\ntype = \"mcp-client\"\n%s",
				     whole);
	else if (!strcmp(head, "flow"))
		whole = arena_printf(&f->arena, "[routines.r]\n%s", whole);
	else if (!strcmp(head, "server step"))
		whole = arena_printf(&f->arena, "%s%s%s", servers, begin,
				     whole);
	else if (strcmp(head, "lax file") != 0)
		assert_string_equal(head, "file");
	if (strstr(head, "references") || !strcmp(head, "flow"))
		check_references(f, whole, *head == 'a' ? NULL : "r");
	else
		(void)!load_lax(f, whole, *head == 'l');
	if (!f->findings.n)
		buf_adds(got, "! nothing\n");
	findings(f);
	for (struct str rest = buf_str(&f->text), line; rest.n;) {
		line = str_cut(&rest, '\n');
		buf_addf(got, "! %.*s\n", STR_ARG(line));
	}
}

static void play(const char *file, const char *name, const char *text)
{
	struct fixture f = {.arena = ARENA_INIT,
			    .text = BUF_INIT(BUF_UNBOUNDED)};
	struct buf got = BUF_INIT(BUF_UNBOUNDED);
	struct buf toml = BUF_INIT(BUF_UNBOUNDED);
	const char *head = NULL, *line;

	for (struct str rest = str_of(text), cut; rest.n || head;) {
		cut = str_cut(&rest, '\n');
		line = arena_strndup(&f.arena, cut.p, cut.n);
		if (line && *line == '!')
			continue;
		if (line && *line == ' ') {
			buf_addf(&toml, "%s\n", line + 2);
		} else if (head) {
			add_findings(&f, head, &toml, &got);
			buf_clear(&toml);
		}
		if (line && *line)
			buf_addf(&got, "%s\n", line);
		if (!line || *line != ' ')
			head = line && *line ? line : NULL;
	}
	if (strstr(text, "\n\n"))
		buf_addc(&got, '\n');
	transcript_accept(file, name, buf_cstr(&got));
	transcript_compare(text, buf_cstr(&got));
	buf_release(&got);
	buf_release(&toml);
	teardown(&(void *){&f});
}

static const struct test_fixture none;
TEST_SCRIPTS(none, play, "tests/unit/config/transcripts/*.transcript");
