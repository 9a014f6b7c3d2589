/*
 * Sampling: a server asks for a message of a language model. What it asks and
 * what somebody answers are looked at before they are handed on.
 *
 *	if (sampling_check_request(params, err) < 0)
 *		answer -32602
 *	... somebody makes a result of it
 *	if (sampling_check_result(result, revision, err) < 0)
 *		answer MCP_REJECTED
 *
 * `sampling.tools` is never declared: a request that brings tools, or messages
 * that use them, is wrong (SA-5, SA-6).
 *
 * Pure. Source: MCP 2025-11-25, client/sampling (SA-1 to SA-10)
 */
#ifndef CORE_MCP_WIRE_SAMPLING_H
#define CORE_MCP_WIRE_SAMPLING_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/mcp/wire/mcp.h"

/*
 * The params of sampling/createMessage.
 *
 * params  proved JSON
 * errors  ERR_PEER  what of it is wrong, for the server
 */
int sampling_check_request(struct str params, struct err *err) MUST_USE;

/*
 * The result: role, content and model.
 *
 * result    proved JSON
 * revision  of the session: since 2025-11-25 content may be a list, since
 *	     2025-03-26 it may be audio
 * errors    ERR_SYNTAX  says what is wrong, for its author
 */
int sampling_check_result(struct str result,
			  const struct mcp_revision *revision, struct err *err)
	MUST_USE;

#endif
