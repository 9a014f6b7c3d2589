#include "core/run/judge.h"

#include "core/base/scan.h"
#include "core/client/facts.h"

/* Of a step in subprocess mode. */
#define NEEDS_TOOL "if it is an MCP server, name what to call by the key `tool`"

static struct judgement no(enum step_reason reason, const char *sentence)
{
	return (struct judgement){.reason = reason, .error = str_of(sentence)};
}

/* A bad end counts, whatever was printed before it. */
static void judge_exit(struct judgement *j, const struct gate_verdict *v,
		       struct arena *arena)
{
	if (v->exited && v->exit_status == 0)
		return;
	j->reason = v->exited ? REASON_EXIT_STATUS : REASON_SIGNAL;
	j->error = str_of(
		arena_printf(arena, "the program %s", facts_say_end(v, arena)));
}

/* Results may be large: they are moved, not copied. */
static struct str kept(struct buf *b, struct arena *arena)
{
	size_t n = b->n;

	return (struct str){arena_adopt(arena, buf_steal(b)), n};
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
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str message, code;
	struct judgement j;

	if (!scan_get_some(error, "code", &code))
		code = STR("?");
	if (scan_get_some(error, "message", &message))
		scan_string(message, &text);
	j = no(REASON_RPC_ERROR,
	       arena_printf(arena, "the program answered error %.*s: %s",
			    STR_ARG(code), buf_cstr(&text)));
	buf_release(&text);
	return j;
}

/* Words of an MCP server that was sent nothing. */
static bool is_server(struct str value)
{
	struct str v;

	return scan_get_some(value, "jsonrpc", &v) &&
	       scan_get_some(value, "method", &v);
}

static struct judgement judge_call_result(struct str result)
{
	struct str content = STR("[]"), structured = {NULL, 0}, flag;
	bool has_content = false, has_structured, is_error = false;

	if (is_server(result))
		return no(REASON_NOT_CALL_TOOL_RESULT,
			  "stdout is a message of an MCP server, no "
			  "CallToolResult; " NEEDS_TOOL);
	if (scan_type(result) != SCAN_OBJECT)
		return no(REASON_NOT_CALL_TOOL_RESULT,
			  "stdout is JSON but not a CallToolResult: an object "
			  "with content or structuredContent is needed");
	has_content = scan_get_some(result, "content", &content);
	has_structured =
		scan_get_some(result, "structuredContent", &structured);
	if (!has_content && !has_structured)
		return no(REASON_NOT_CALL_TOOL_RESULT,
			  "stdout is a JSON object but not a CallToolResult: "
			  "content and structuredContent are missing");
	if (has_content && scan_type(content) != SCAN_ARRAY)
		return no(REASON_NOT_CALL_TOOL_RESULT,
			  "stdout is not a CallToolResult: content must be an "
			  "array");
	if (scan_get_some(result, "isError", &flag)) {
		is_error = scan_type(flag) == SCAN_TRUE;
		if (!is_error && scan_type(flag) != SCAN_FALSE)
			return no(REASON_NOT_CALL_TOOL_RESULT,
				  "stdout is not a CallToolResult: isError "
				  "must be true or false");
	}
	return judge_result(content, is_error, structured);
}

static struct judgement not_json(const char *why, struct str out,
				 struct arena *arena)
{
	struct judgement j;

	if (!str_trim(out).n)
		return no(REASON_NOT_JSON,
			  "stdout is empty; it must hold one JSON value");
	j = no(REASON_NOT_JSON,
	       arena_printf(arena, "stdout is not exactly one JSON value: %s",
			    why));
	return j;
}

struct judgement judge_subprocess(struct str out, const struct gate_verdict *v,
				  struct arena *arena)
{
	struct err err = ERR_INIT;
	struct str value, inner;
	struct judgement j;

	if (!str_trim(out).n)
		j = no(REASON_NOT_JSON, "stdout is empty; it must hold one "
					"CallToolResult (" NEEDS_TOOL ")");
	else if (scan_document(out, NULL, &value, &err) < 0)
		j = not_json(err.msg, out, arena);
	else if (scan_get_some(value, "jsonrpc", &inner) &&
		 scan_get_some(value, "result", &inner))
		j = judge_call_result(inner);
	else if (scan_get_some(value, "jsonrpc", &inner) &&
		 scan_get_some(value, "error", &inner))
		j = judge_rpc_error(inner, arena);
	else
		j = judge_call_result(value);
	judge_exit(&j, v, arena);
	return j;
}

struct judgement judge_script(struct str out, const struct gate_verdict *v,
			      struct arena *arena)
{
	struct judgement j = {
		.reason = REASON_NONE,
		.output = str_trim(out),
		.data = STR("{\"exit_code\":null}"),
	};

	if (v->exited)
		j.data = str_of(arena_printf(arena, "{\"exit_code\":%d}",
					     v->exit_status));
	judge_exit(&j, v, arena);
	return j;
}

static struct str first_text(struct str value, struct arena *arena)
{
	static const char *const names[] = {"text", "summary", "output"};
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str member;

	if (scan_string(value, &text))
		return kept(&text, arena);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (scan_get(value, names[i], &member) &&
		    scan_string(member, &text))
			return kept(&text, arena);
	return (struct str){NULL, 0};
}

struct judgement judge_harness(struct str out, const struct gate_verdict *v,
			       struct arena *arena)
{
	struct err err = ERR_INIT;
	struct judgement j = {.reason = REASON_NONE};
	struct str value;

	if (scan_document(out, NULL, &value, &err) < 0) {
		j = not_json(err.msg, out, arena);
	} else {
		j.data = value;
		j.output = first_text(value, arena);
	}
	judge_exit(&j, v, arena);
	return j;
}
