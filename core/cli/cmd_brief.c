#include "core/cli/command.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/put.h"
#include "core/server/brief.h"
#include "core/server/server.h"

#define PORTION_BYTES 65536

const struct option options_brief[] = {
	{"json", 0, NULL, "print the whole CallToolResult"},
	{"args", 0, "JSON", "all arguments as one JSON object"},
	{0},
};

static const struct server_info info = {
	.name = "matins-brief",
	.version = MATINS_VERSION,
	.instructions = "Read-only facts of this machine for a morning "
			"briefing: host, repos, todo, deadlines.",
	.tools = brief_tools,
};

/* ---- serving on stdio ---- */

/* returns  0, 1 at the end of either stream, -1 with err */
static int serve_portion(struct server_session *s, struct buf *out,
			 struct err *err)
{
	static char in[PORTION_BYTES];
	ssize_t n;

	do
		n = read(STDIN_FILENO, in, sizeof(in));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, errno, "read stdin");
	if (n)
		server_feed(s, (struct str){in, (size_t)n}, out);
	else
		server_end(s, out);
	if (fd_write_all(STDOUT_FILENO, out->p, out->n) < 0) {
		/* a client that has gone is the ordinary end of a session */
		if (errno == EPIPE)
			return 1;
		return err_sys(err, errno, "write stdout");
	}
	buf_clear(out);
	return n == 0;
}

static int serve(const struct tool_env *env, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct server_session s;
	int got;

	signal(SIGPIPE, SIG_IGN);
	if (isatty(STDIN_FILENO))
		log_note("an MCP server on stdin and stdout; `matins brief "
			 "TOOL` calls one tool: host, repos, todo, deadlines");
	server_init(&s, &info, env);
	do
		got = serve_portion(&s, &out, err);
	while (got == 0);
	server_release(&s);
	return got < 0 ? -1 : 0;
}

/* ---- one tool ---- */

struct arguments {
	struct jw jw;	/* an object that grows */
	struct buf out; /* owned */
};

/* All values of a `paths=` are one array, so they are written at the first. */
static void add_strings(struct arguments *a, char **words, size_t n,
			struct str key)
{
	jw_key_str(&a->jw, key);
	jw_array(&a->jw);
	for (size_t i = 0; i < n; i++) {
		struct str value = str_of(words[i]);

		if (str_eq(str_cut(&value, '='), key))
			jw_str(&a->jw, value);
	}
	jw_end(&a->jw);
}

static bool is_first(char **words, size_t i, struct str key)
{
	while (i-- > 0) {
		struct str rest = str_of(words[i]);

		if (str_eq(str_cut(&rest, '='), key))
			return false;
	}
	return true;
}

/* "k=v" or "k:=JSON" */
static int add_word(struct arguments *a, const struct tool *t, char **words,
		    size_t n, size_t i, struct err *err)
{
	struct str value = str_of(words[i]), key = str_cut(&value, '=');
	const struct field *f;
	struct str json;

	if (!key.n || !value.p)
		return err_set(err, ERR_USAGE,
			       "%s is no argument; write NAME=VALUE, or "
			       "NAME:=JSON",
			       words[i]);
	if (key.p[key.n - 1] == ':') {
		key.n--;
		if (scan_document(value, NULL, &json, err) < 0) {
			err->kind = ERR_USAGE;
			return err_wrap(err, "argument %.*s", STR_ARG(key));
		}
		jw_key_str(&a->jw, key);
		jw_raw(&a->jw, json);
		return 0;
	}
	f = fields_find(t->input, key);
	if (!f || f->type != FIELD_STRINGS) {
		jw_key_str(&a->jw, key);
		jw_str(&a->jw, value);
	} else if (is_first(words, i, key)) {
		add_strings(a, words, n, key);
	}
	return 0;
}

/* The members of --args come first, so that single ones win. */
static int add_object(struct arguments *a, const char *text, struct err *err)
{
	struct scan_iter it;
	struct str value;

	if (scan_document(str_of(text), NULL, &value, err) < 0) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "--args");
	}
	if (scan_type(value) != SCAN_OBJECT)
		return err_set(err, ERR_USAGE, "--args needs a JSON object");
	scan_iter_init(&it, value);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		scan_string(it.key, &key);
		jw_key_str(&a->jw, buf_str(&key));
		jw_raw(&a->jw, it.value);
	}
	return 0;
}

static int read_arguments(const struct tool *t, const struct args *args,
			  struct arguments *a, struct err *err)
{
	const char *object = args_get(args, "args");
	char **words = args->positional + 1;
	size_t n = args->n_positional - 1;

	jw_init(&a->jw, &a->out, false);
	jw_object(&a->jw);
	if (object && add_object(a, object, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_word(a, t, words, n, i, err) < 0)
			return -1;
	jw_end(&a->jw);
	return 0;
}

static int print(const struct tool_result *r, bool json, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	if (json)
		tool_result_write(r, true, &w);
	else
		log_visible(&out, buf_str(&r->text), true);
	buf_addc(&out, '\n');
	if (put(buf_str(&out), json ? PUT_JSON : PUT_TEXT, err) < 0)
		return -1;
	/* the JSON says itself that the tool failed; text does not */
	return !json && r->is_error ? 2 : 0;
}

static int unknown_tool(const char *name, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	const char *near = brief_nearest(str_of(name));

	for (const struct tool *t = brief_tools; t->name; t++)
		buf_addf(&all, "%s%s", all.n ? ", " : "", t->name);
	if (near)
		return err_set(err, ERR_USAGE,
			       "brief: there is no tool %s; did you mean %s? "
			       "There are %s",
			       name, near, buf_cstr(&all));
	return err_set(err, ERR_USAGE,
		       "brief: there is no tool %s; there are %s", name,
		       buf_cstr(&all));
}

/* The tool says which argument is missing, but not how it is written here. */
static void hint_missing(const struct tool *t, const struct args *args)
{
	for (const struct field *f = t->input; f->name; f++) {
		bool given = args_has(args, "args");

		for (size_t i = 1; i < args->n_positional; i++) {
			struct str rest = str_of(args->positional[i]);

			given |= str_starts(str_cut(&rest, '='), f->name);
		}
		if (f->required && !f->depth && !given) {
			log_note("arguments stand behind the tool: matins "
				 "brief %s %s=VALUE",
				 t->name, f->name);
			return;
		}
	}
}

static int call(const struct args *args, const struct tool_env *env,
		struct err *err)
{
	const struct tool *t = brief_find(str_of(args->positional[0]));
	struct arguments a = {.out = BUF_INIT(BUF_UNBOUNDED)};
	struct tool_result result;
	int status;

	if (!t)
		return unknown_tool(args->positional[0], err);
	if (read_arguments(t, args, &a, err) < 0) {
		buf_release(&a.out);
		return -1;
	}
	tool_result_init(&result);
	tool_call(t, buf_str(&a.out), env, &result);
	status = print(&result, args_has(args, "json"), err);
	if (status == 2)
		hint_missing(t, args);
	tool_result_release(&result);
	buf_release(&a.out);
	return status;
}

int cmd_brief(const struct args *args, struct err *err)
{
	const struct tool_env env = tool_env_system();

	if (args->n_positional)
		return call(args, &env, err);
	if (args_has(args, "json") || args_has(args, "args"))
		return err_set(err, ERR_USAGE,
			       "brief: --json and --args need a TOOL");
	return serve(&env, err);
}
