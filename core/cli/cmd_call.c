/*
 * `matins call`: one tools/call, or many in one session.
 */

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/call_batch.h"
#include "core/cli/content_show.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"
#include "core/cli/tool_say.h"

const struct option options_call[] = {
	{"args", 0, "JSON|@FILE|-", "all arguments as one JSON object"},
	{"batch", 0, "FILE",
	 "call each line {\"tool\":…,\"arguments\":{…}}; - is standard input"},
	{"jobs", 'j', "N", "with --batch: calls in flight (1)"},
	{"strict", 0, NULL, "refuse arguments and results that break a schema"},
	{"no-list", 0, NULL, "do not ask for the list of tools first"},
	{"no-check", 0, NULL, "call even if a required argument is missing"},
	{"ignore-tool-error", 0, NULL,
	 "exit with status 0 even if the tool fails"},
	{"data", 0, NULL,
	 "print the structured result, or the JSON in its text"},
	{"raw", 0, NULL, "pass control characters to a terminal unchanged"},
	{"save", 0, "DIR", "write images and other bytes to files there"},
#include "core/cli/target_options.def"
	{0},
};

/* Most calls in flight of a batch. */
#define JOBS_MAX 1024

struct call {
	const struct args *args;
	struct target *t;
	enum tool_rigour rigour; /* for arguments */
	struct listing tools;
	bool has_tools; /* the list is whole */
	struct content_files files;
	struct tool_check check;
};

/* ---- before the call ---- */

static int list_tools(struct call *c, struct err *err)
{
	int r;

	if (args_has(c->args, "no-list"))
		return 0;
	r = target_try_list(c->t, LISTING_TOOLS, &c->tools, err);
	c->has_tools = r == 0;
	return r < 0 ? -1 : 0;
}

/* The tool's entry of tools/list; {NULL, 0} when tools are not listed. */
static int find_tool(struct call *c, const char *name, struct str *ret,
		     struct err *err)
{
	const struct listing_item *item = listing_find(&c->tools, str_of(name));

	*ret = item ? item->json : (struct str){NULL, 0};
	if (!item && c->has_tools)
		return target_unknown(c->t, &c->tools, name, err);
	return 0;
}

/* ---- the answer ---- */

/* The JSON in the only text of a result, decoded into the arena. */
static bool text_json(struct str content, struct arena *arena, struct str *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;
	struct scan_iter it;
	struct str v;

	scan_iter_init(&it, content);
	if (scan_count(content) != 1 || !scan_next(&it) ||
	    !scan_get(it.value, "text", &v) || !scan_string(v, &text))
		return false;
	return scan_document(arena_str(arena, buf_str(&text)), NULL, ret,
			     &ignored) == 0;
}

static int print_data(struct call *c, const struct mcp_tool_result *r,
		      struct err *err)
{
	struct str json;

	if (r->structured.p)
		json = r->structured;
	else if (!text_json(r->content, &c->t->arena, &json))
		return err_set(err, ERR_PEER,
			       "the result has no structured content, and its "
			       "text is not JSON");
	return target_put_json(c->t, json, err);
}

static int print_text(struct call *c, const struct mcp_tool_result *r,
		      struct err *err)
{
	bool raw = args_has(c->args, "raw");

	if (!scan_count(r->content) && r->structured.p)
		return target_put_json(c->t, r->structured, err);
	return content_print(c->t, r->content, raw, err);
}

static int print_result(struct call *c, struct str result,
			const struct mcp_tool_result *r, struct err *err)
{
	bool json = c->t->json;
	int got;

	content_save_all(&c->files, r->content, false);
	if (json)
		got = target_put_json(c->t, result, err);
	else if (args_has(c->args, "data") && !r->is_error)
		got = print_data(c, r, err);
	else
		got = print_text(c, r, err);
	if (got < 0)
		return -1;
	return content_files_report(&c->files, json, err);
}

static int check_result(struct call *c, struct str result, struct err *err)
{
	struct tool_findings found;

	(void)!tool_check_result(&c->check, result, &c->t->arena, &found);
	return tool_say(&found, c->t->strict ? TOOL_STRICT : TOOL_NO_CHECK,
			err);
}

static int finish_one(struct call *c, struct str result, struct err *err)
{
	struct mcp_tool_result r = {0};
	int status;

	if (mcp_read_tool_result(result, client_server(c->t->client)->revision,
				 &r, err) < 0)
		status = -1;
	else if (print_result(c, result, &r, err) < 0)
		status = -1;
	else if (check_result(c, result, err) < 0)
		status = -1;
	else if (r.is_error && !args_has(c->args, "ignore-tool-error"))
		status = 2;
	else
		status = c->files.failed;
	if (status == 2)
		log_note("the tool reported an error");
	if (status >= 0 && r.is_error)
		target_hint_content(c->t, r.content);
	/* stdout already holds the result: no second document behind it */
	if (status < 0 && c->t->json && err->kind == ERR_SYNTAX)
		cli_json_errors = false;
	mcp_tool_result_release(&r);
	return status;
}

/* Arguments from the command line, checked by the schema of the tool. */
static int prepare_call(struct call *c, struct client_call *ret_call,
			struct err *err)
{
	char **words = c->args->positional;
	struct tool_findings found;
	struct str tool;

	if (find_tool(c, words[0], &tool, err) < 0)
		return -1;
	tool_check_init(&c->check, tool);
	if (tool_args_read(words + 1, c->args->n_positional - 1,
			   args_get(c->args, "args"),
			   tool.p ? tool_input_schema(tool) : tool,
			   &c->t->arena, &ret_call->params, err) < 0)
		return -1;
	(void)!tool_check_arguments(&c->check, ret_call->params, "arguments",
				    &c->t->arena, &found);
	ret_call->as_task = tool.p && tool_needs_task(tool);
	return tool_say(&found, c->rigour, err);
}

static int call_one(struct call *c, struct err *err)
{
	char **words = c->args->positional;
	struct client_call call = {.tool = words[0]};
	struct str result;

	if (prepare_call(c, &call, err) < 0)
		return -1;
	if (target_result(c->t, &call, words[0], &c->t->arena, &result, err) <
	    0)
		return -1;
	return finish_one(c, result, err);
}

/* ---- many ---- */

static int call_many(struct call *c, struct err *err)
{
	struct batch_options o = {
		.path = args_get(c->args, "batch"),
		.jobs = 1,
		.rigour = c->rigour,
		.tools = c->has_tools ? &c->tools : NULL,
		.files = &c->files,
	};
	struct batch_counts counts;

	if (args_count(c->args, "jobs", JOBS_MAX, &o.jobs, err) < 0 ||
	    call_batch(c->t, &o, &counts, err) < 0)
		return -1;
	if (content_files_report(&c->files, true, err) < 0)
		return -1;
	log_debug("%llu calls, %llu tool errors, %llu errors",
		  (unsigned long long)counts.lines,
		  (unsigned long long)counts.tool_errors,
		  (unsigned long long)counts.errors);
	if (!counts.lines && !counts.errors)
		log_note("%s holds no calls",
			 strcmp(o.path, "-") ? o.path : "standard input");
	if (counts.errors || c->files.failed)
		return 1;
	return counts.tool_errors && !args_has(c->args, "ignore-tool-error")
		       ? 2
		       : 0;
}

/* ---- the command ---- */

static int check_usage(const struct args *args, struct err *err)
{
	bool batch = args_has(args, "batch");
	unsigned jobs;

	if (batch && (args->n_positional || args_has(args, "args")))
		return err_set(err, ERR_USAGE,
			       "call: with --batch, the file names the tools "
			       "and their arguments");
	if (batch && (args_has(args, "data") || args_has(args, "raw")))
		return err_set(err, ERR_USAGE,
			       "call: --data and --raw do not go with --batch, "
			       "which prints whole results; jq -c "
			       ".structuredContent extracts the data");
	if (!batch && !args->n_positional)
		return err_set(err, ERR_USAGE,
			       "call: name a tool: matins call TOOL NAME=VALUE "
			       "--server NAME; `matins tools` lists them");
	if (args_has(args, "jobs") && !batch)
		return err_set(err, ERR_USAGE, "call: -j needs --batch");
	if (args_has(args, "strict") && args_has(args, "no-check"))
		return err_set(err, ERR_USAGE,
			       "call: use --strict or --no-check, not both");
	if (args_has(args, "json") + args_has(args, "data") +
		    args_has(args, "raw") >
	    1)
		return err_set(
			err, ERR_USAGE,
			"call: use only one of --json, --data and --raw");
	return args_count(args, "jobs", JOBS_MAX, &jobs, err);
}

static enum tool_rigour rigour_of(const struct call *c)
{
	if (args_has(c->args, "no-check"))
		return TOOL_NO_CHECK;
	return c->t->strict ? TOOL_STRICT : TOOL_CHECK;
}

static int work(struct call *c, struct err *err)
{
	c->rigour = rigour_of(c);
	c->files.max = c->t->session.message_max ? c->t->session.message_max
						 : LIMIT_MESSAGE_BYTES;
	if (list_tools(c, err) < 0)
		return -1;
	return args_has(c->args, "batch") ? call_many(c, err)
					  : call_one(c, err);
}

int cmd_call(const struct args *args, struct err *err)
{
	struct target t;
	struct call c = {.args = args, .t = &t, .files = CONTENT_FILES_INIT};
	int status;

	if (check_usage(args, err) < 0 ||
	    content_files_open(&c.files, args_get(args, "save"), err) < 0)
		return -1;
	listing_init(&c.tools, LISTING_TOOLS);
	status = target_open(&t, args, err);
	if (status == 0)
		status = content_files_check(&c.files, &t, err);
	if (status == 0)
		status = work(&c, err);
	listing_release(&c.tools);
	tool_check_release(&c.check);
	content_files_release(&c.files);
	return target_close(&t, status, err);
}
