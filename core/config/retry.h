/*
 * Another attempt of a step that failed: the words of `retry.on`, and whether
 * and when there is one.
 *
 * Pure.
 */
#ifndef CORE_CONFIG_RETRY_H
#define CORE_CONFIG_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/str.h"

/* A table `retry`; max = 0 without one. */
struct retry_rules {
	uint64_t max;	  /* attempts in all */
	uint64_t wait_ms; /* before the second */
	uint64_t factor;  /* of the waits after it */
	uint64_t max_wait_ms;
	struct strlist on; /* causes */
};

/* Outcome of an attempt. */
struct retry_case {
	const char *reason; /* a word of core/report/reasons.def; "": ok */
	/* Nothing can have been done: no tool was called, nothing started. */
	bool is_before;
	bool may_repeat; /* the tool is read-only, or idempotent */
	bool has_exit, has_rpc;
	int exit_status;
	int64_t rpc_code;
	int http_status; /* 0: there was none */
	int64_t after_s; /* of Retry-After; -1: there was none */
};

/* Report whether a word of `on` is a reason, a group, exit:N, rpc:N or
   http:N. */
bool retry_is_cause(struct str word) MUST_USE;

/*
 * Decide about another attempt.
 *
 * attempt  that has ended, counted from 1
 * returns  milliseconds to wait; -1: there is none
 */
int64_t retry_wait(const struct retry_rules *r, const struct retry_case *c,
		   uint64_t attempt) MUST_USE;

#endif
