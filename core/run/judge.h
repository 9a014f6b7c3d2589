/*
 * Judgement of a program's stdout and exit: the result of a step.
 *
 * Pure. The result borrows from the bytes that were judged and from `arena`.
 */
#ifndef CORE_RUN_JUDGE_H
#define CORE_RUN_JUDGE_H

#include "core/base/arena.h"
#include "core/report/report.h"
#include "gate/gate.h"

struct judgement {
	enum step_reason reason; /* REASON_NONE: ok */
	struct str error;	 /* sentence; empty when ok */
	struct str output;	 /* human body */
	struct str data;	 /* one JSON value, or n = 0 */

	struct report_answer answer; /* instead of both; or content.n = 0 */
};

/*
 * How stdout is read, by the rows of core/config/step_types.def.
 *
 * mcp_client  subprocess-JSON: all of it is one CallToolResult, or a JSON-RPC
 *	       response around one. Nothing is repaired
 * script      trimmed it is the body, {"exit_code":N} the data; N is null
 *	       when a signal ended the program
 * harness     one JSON value is the data; its text, or all of it, the body
 * routine     no program; nor are approve and sync
 * python      one JSON object, the answer of a plugin (modulex-plugin/1): its
 *	       `output` is the body, its `data`, or all of it, the data
 */
enum judge_mode {
	JUDGE_mcp_client,
	JUDGE_script,
	JUDGE_harness,
	JUDGE_python,
	JUDGE_routine,
	JUDGE_approve,
	JUDGE_sync
};

struct judgement judge_program(enum judge_mode mode, struct str out,
			       const struct gate_verdict *v,
			       struct arena *arena) MUST_USE;
/*
 * A CallToolResult that was read from a session, repairs already made.
 *
 * content     a JSON array, raw
 * structured  raw, n = 0 when absent
 */
struct judgement judge_result(struct str content, bool is_error,
			      struct str structured) MUST_USE;

#endif
