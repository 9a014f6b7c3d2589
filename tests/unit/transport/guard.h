/* An authorizer that says its verdict at the first refusal, and then no. */
#ifndef TESTS_UNIT_GUARD_H
#define TESTS_UNIT_GUARD_H

#include <stdio.h>

#include "core/base/loop.h"
#include "core/transport/remote.h"

struct guard {
	struct authorizer base; /* first */
	struct loop *loop;
	struct loop_timer later;
	enum authorizer_verdict verdict;
	bool is_person, is_waiting, has_token;
	unsigned refused;
	char spoke[16];
};

static enum authorizer_verdict guard_sign(struct authorizer *a,
					  UNUSED const char *method,
					  UNUSED const char *url,
					  struct http_headers *headers,
					  struct err *err)
{
	const struct guard *g = (const struct guard *)a;

	if (g->has_token && http_headers_set(headers, "Authorization",
					     STR("Bearer t"), err) < 0)
		return AUTHORIZER_NO;
	return g->is_waiting ? AUTHORIZER_WAIT : AUTHORIZER_GO;
}

static enum authorizer_verdict guard_refused(
	struct authorizer *a, UNUSED const char *method, UNUSED const char *url,
	const struct http_head *head, UNUSED struct str body,
	UNUSED const struct authorizer_try *tries, struct err *err)
{
	struct guard *g = (struct guard *)a;

	if (g->refused++ || g->verdict == AUTHORIZER_NO) {
		err_set(err, ERR_PEER, "refused with %d, %u times",
			head->status, g->refused);
		return AUTHORIZER_NO;
	}
	g->is_waiting = g->verdict == AUTHORIZER_WAIT;
	g->has_token = !g->is_waiting;
	if (g->is_waiting)
		loop_timer_set(g->loop, &g->later,
			       loop_now(g->loop) + 20 * NS_PER_MS);
	return g->verdict;
}

static void guard_later(void *arg)
{
	struct guard *g = arg;

	g->is_waiting = false;
	g->has_token = true;
	g->base.changed(g->base.arg);
}

static bool guard_is_person(const struct authorizer *a)
{
	return ((const struct guard *)a)->is_person;
}

static void guard_spoke(struct authorizer *a, const char *protocol)
{
	snprintf(((struct guard *)a)->spoke, 16, "%s", protocol);
}

static void guard_answered(UNUSED struct authorizer *a,
			   UNUSED const struct http_head *head)
{
}

/* A guard of what is in this loop. */
static void guard_begin(struct guard *g, struct loop *loop,
			enum authorizer_verdict verdict, bool is_person)
{
	static const struct authorizer_type type = {
		.sign = guard_sign,
		.answered = guard_answered,
		.refused = guard_refused,
		.is_person = guard_is_person,
		.spoke = guard_spoke,
	};

	*g = (struct guard){
		.base = {.type = &type},
		.loop = loop,
		.later = {.fire = guard_later, .arg = g},
		.verdict = verdict,
		.is_person = is_person,
	};
}

#endif
