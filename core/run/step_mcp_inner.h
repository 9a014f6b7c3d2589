/*
 * What the two files of an MCP step share.
 *
 *	step_mcp.c	   its life: server, call, result
 *	step_mcp_strict.c  the tools are listed, and their schemas hold
 */
#ifndef CORE_RUN_STEP_MCP_INNER_H
#define CORE_RUN_STEP_MCP_INNER_H

#include "core/client/client.h"
#include "core/run/judge.h"
#include "core/run/step.h"
#include "core/client/tool_check.h"

struct mcp_step {
	struct pool_user user;
	uint64_t ticket; /* of the call; 0: none is open */
	/* strict: */
	uint64_t list_ticket; /* 0: the tools are not waited for */
	bool asked_anew;      /* the list is from after the step began */
	struct tool_check check;
	struct str typed;	 /* arguments, by the schema; {NULL, 0}: not */
	struct str answer;	 /* CallToolResult that breaks a schema */
	struct judgement judged; /* of it, while the list is asked for anew */
	uint32_t repairs;
	bool waits;	  /* for the end of the server */
	struct str facts; /* of the process; n = 0: not known, or another's */
	size_t facts_scrubbed;
};

static inline struct mcp_step *step_mcp_state(const struct step_run *s)
{
	return s->state;
}

/* step_mcp.c */
/* It has its result: it ends, or waits for the server that it ends. */
void step_mcp_leave(struct step_run *s, enum pool_end how);
void step_mcp_fail(struct step_run *s, enum step_reason reason,
		   const char *sentence);
void step_mcp_send(struct step_run *s);

/* step_mcp_strict.c */
/*
 * The tools, then the call, when it may be made.
 * anew  a list that is there already does not count
 */
void step_mcp_list(struct step_run *s, bool anew);
/* Nobody waits for a list any more. What was whole by then is kept. */
void step_mcp_unlist(struct step_run *s);
/*
 * Does the result keep what the tool promises? *j says so when it does not.
 *
 * whole    the CallToolResult
 * returns  true: that is said only after the tools were listed anew, and the
 *	    step waits for it
 */
bool step_mcp_hold_back(struct step_run *s, struct judgement *j,
			struct str whole) MUST_USE;

#endif
