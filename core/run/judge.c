#include "core/run/judge.h"

#include "core/base/scan.h"
#include "core/client/facts.h"

/* Of a step in subprocess mode. */
#define NEEDS_TOOL "if it is an MCP server, name what to call by the key `tool`"

static struct judgement no(enum step_reason reason, const char *sentence)
{
	return (struct judgement){.reason = reason, .error = str_of(sentence)};
}

struct judgement judge_result(struct str content, bool is_error,
			      struct str structured)
{
	struct judgement j = {
		.reason = is_error ? REASON_IS_ERROR : REASON_NONE,
		.answer = {content, structured, is_error},
	};

	if (is_error)
		j.error = STR("the tool reported an error");
	return j;
}

static struct judgement judge_rpc_error(struct str error, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str message, code;

	if (!scan_get_some(error, "code", &code))
		code = STR("?");
	if (scan_get_some(error, "message", &message))
		scan_string(message, &text);
	return no(REASON_RPC_ERROR,
		  arena_printf(arena, "the program answered error %.*s: %s",
			       STR_ARG(code), buf_cstr(&text)));
}

static struct judgement judge_call_result(struct str result)
{
	struct str content = STR("[]"), structured = {NULL, 0}, flag, v;
	bool has_content, has_structured, is_error = false;
	const char *sentence = NULL;

	has_content = scan_get_some(result, "content", &content);
	has_structured =
		scan_get_some(result, "structuredContent", &structured);
	if (scan_get_some(result, "isError", &flag))
		is_error = scan_type(flag) == SCAN_TRUE;
	else
		flag = STR("false");
	/* words of an MCP server that was sent nothing */
	if (scan_get_some(result, "jsonrpc", &v) &&
	    scan_get_some(result, "method", &v))
		sentence = "stdout is a message of an MCP server, no "
			   "CallToolResult; " NEEDS_TOOL;
	else if (scan_type(result) != SCAN_OBJECT)
		sentence = "stdout is JSON but not a CallToolResult: an object "
			   "with content or structuredContent is needed";
	else if (!has_content && !has_structured)
		sentence = "stdout is a JSON object but not a CallToolResult: "
			   "content and structuredContent are missing";
	else if (has_content && scan_type(content) != SCAN_ARRAY)
		sentence = "stdout is not a CallToolResult: content must be an "
			   "array";
	else if (!is_error && scan_type(flag) != SCAN_FALSE)
		sentence = "stdout is not a CallToolResult: isError must be "
			   "true or false";
	if (sentence)
		return no(REASON_NOT_CALL_TOOL_RESULT, sentence);
	return judge_result(content, is_error, structured);
}

static struct judgement judge_subprocess(struct str value, struct arena *arena)
{
	struct str inner;

	if (scan_get_some(value, "jsonrpc", &inner)) {
		if (scan_get_some(value, "result", &inner))
			return judge_call_result(inner);
		if (scan_get_some(value, "error", &inner))
			return judge_rpc_error(inner, arena);
	}
	return judge_call_result(value);
}

/* Results may be large: they are moved, not copied. */
static struct str first_text(struct str value, struct arena *arena)
{
	static const char *const names[] = {"text", "summary", "output"};
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	bool found = scan_string(value, &text);
	struct str member;

	for (size_t i = 0; !found && i < ARRAY_LEN(names); i++)
		found = scan_get(value, names[i], &member) &&
			scan_string(member, &text);
	/* a person should see what a machine gets */
	return found ? arena_buf(arena, &text) : value;
}

/* A string member; "" when it is missing. */
static struct str text_of(struct str object, const char *name,
			  struct arena *arena)
{
	struct str value = scan_text(object, name);

	return value.n ? first_text(value, arena) : STR("");
}

/* Every member of the answer may be missing. */
static struct judgement judge_plugin(struct str value, struct arena *arena)
{
	struct judgement j = {.reason = REASON_NONE};
	struct str success = scan_some(value, "success");
	struct str data = scan_some(value, "data");

	if (scan_type(value) != SCAN_OBJECT)
		return no(REASON_NOT_JSON,
			  "stdout is JSON, and a plugin prints an object");
	j.output = text_of(value, "output", arena);
	j.data = data.n ? data : value;
	if (scan_true(value, "skipped"))
		return no(REASON_CONDITION,
			  arena_printf(arena, "the plugin skipped itself%s%.*s",
				       j.output.n ? ": " : "",
				       STR_ARG(j.output)));
	if (!success.n || scan_type(success) != SCAN_FALSE)
		return j;
	j.reason = REASON_IS_ERROR;
	j.error = text_of(value, "error", arena);
	if (!j.error.n)
		j.error = STR("the plugin reported a failure");
	return j;
}

static struct judgement judge_json(enum judge_mode mode, struct str out,
				   struct arena *arena)
{
	bool is_call = mode == JUDGE_mcp_client;
	struct judgement j = {.reason = REASON_NONE};
	struct err err = ERR_INIT;
	struct str value;

	if (!str_trim(out).n)
		return no(REASON_NOT_JSON,
			  !is_call ? "stdout is empty; it must hold one JSON "
				     "value"
				   : "stdout is empty; it must hold one "
				     "CallToolResult (" NEEDS_TOOL ")");
	if (scan_document(out, NULL, &value, &err) < 0)
		return no(REASON_NOT_JSON,
			  arena_printf(arena,
				       "stdout is not exactly one JSON value: "
				       "%s",
				       err.msg));
	if (mode == JUDGE_python)
		return judge_plugin(value, arena);
	if (is_call)
		return judge_subprocess(value, arena);
	j.data = value;
	j.output = first_text(value, arena);
	return j;
}

struct judgement judge_program(enum judge_mode mode, struct str out,
			       const struct gate_verdict *v,
			       struct arena *arena)
{
	struct judgement j;

	if (mode == JUDGE_script)
		j = (struct judgement){
			.reason = REASON_NONE,
			.output = str_trim(out),
			.data = v->exited ? str_of(arena_printf(
						    arena, "{\"exit_code\":%d}",
						    v->exit_status))
					  : STR("{\"exit_code\":null}"),
		};
	else
		j = judge_json(mode, out, arena);
	/* a bad end counts, whatever was printed before it */
	if (!v->exited || v->exit_status) {
		j.reason = v->exited ? REASON_EXIT_STATUS : REASON_SIGNAL;
		j.error = str_of(arena_printf(arena, "the program %s",
					      facts_say_end(v, arena)));
	}
	return j;
}
