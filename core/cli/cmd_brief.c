#include "core/cli/command.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/put.h"
#include "core/cli/tool_args.h"
#include "core/server/brief.h"
#include "core/server/tools.h"

#define PORTION_BYTES 65536

const struct option options_brief[] = {
	{"json", 0, NULL, "print the whole CallToolResult"},
	{"args", 0, "JSON|@FILE|-", "all arguments as one JSON object"},
	{0},
};

static const struct server_info info = {
	.name = "matins-brief",
	.version = MATINS_VERSION,
	.instructions = "Read-only facts of this machine for a morning "
			"briefing: host, repos, todo, deadlines.",
	.capabilities = SERVER_TOOLS_CAPABILITIES,
	.methods = server_tools_methods,
	.list_ttl_ms = 3600000,
	.list_scope = "public",
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
		server_feed(s, (struct str){in, (size_t)n});
	else
		server_end(s);
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
	struct server_tools tools = {brief_tools, env};
	struct server_session s;
	int got;

	signal(SIGPIPE, SIG_IGN);
	if (isatty(STDIN_FILENO))
		log_note("serving MCP on stdin and stdout; `matins brief TOOL` "
			 "calls one tool: host, repos, todo, deadlines");
	server_init(&s, &info, &tools, server_send_to_buf, &out);
	do
		got = serve_portion(&s, &out, err);
	while (got == 0);
	server_release(&s);
	return got < 0 ? -1 : 0;
}

/* ---- one tool ---- */

static int print(const struct args *args, const struct tool_result *r,
		 struct err *err)
{
	AUTO(page_release) struct page page;

	page_open(&page, args);
	if (page.is_json) {
		tool_result_write(r, true, &page.w);
	} else {
		log_visible(&page.out, buf_str(&r->text), true);
		buf_addc(&page.out, '\n');
	}
	if (page_put(&page, err) < 0)
		return -1;
	/* the JSON says itself that the tool failed; text does not */
	return !page.is_json && r->is_error ? 2 : 0;
}

static int unknown_tool(const char *name, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	const char *near = brief_nearest(str_of(name));

	for (const struct tool *t = brief_tools; t->name; t++)
		buf_addf(&all, "%s%s", all.n ? ", " : "", t->name);
	return err_set(err, ERR_USAGE,
		       "brief: unknown tool %s%s%s%s tools are %s", name,
		       near ? "; did you mean " : "", near ? near : "",
		       near ? "? The" : "; the", buf_cstr(&all));
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
			log_note("write arguments behind the tool: matins "
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
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf schema = BUF_INIT(BUF_UNBOUNDED);
	struct tool_result result;
	struct str arguments;
	struct jw w;
	int status;

	if (!t)
		return unknown_tool(args->positional[0], err);
	jw_init(&w, &schema, false);
	fields_schema(t->input, &w);
	if (tool_args_read(args, NULL, buf_str(&schema), &arena, &arguments,
			   err) < 0)
		return -1;
	tool_result_init(&result);
	tool_call(t, arguments.p ? arguments : STR("{}"), env, &result);
	status = print(args, &result, err);
	if (status == 2)
		hint_missing(t, args);
	tool_result_release(&result);
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
