#include "core/config/retry.h"

#include <string.h>

/* Reasons that another attempt can mend; those of other states say that the
   step was not meant to run, or may not. */
static const struct {
	const char *word;
	bool is_final;
} reasons[] = {
#define CAN_SKIPPED true
#define CAN_DENIED true
#define CAN_TIMEOUT false
#define CAN_FAILED false
#define CAN_TOOL_ERROR false
#define REASON(name, word, state) {word, CAN_##state},
#include "core/report/reasons.def"
#undef REASON
};

/* Nothing outside of the run makes these better, or a person wants them. */
static const char *const final[] = {"cancelled", "reference", "no_variable",
				    "internal"};

static const struct {
	const char *group, *reason;
} groups[] = {
	{"timeout", "deadline_spawn"}, {"timeout", "deadline_initialize"},
	{"timeout", "deadline_list"},  {"timeout", "deadline_call"},
	{"timeout", "deadline_close"}, {"transport", "transport"},
	{"transport", "handshake"},    {"transport", "server_exit"},
	{"transport", "bad_message"},
};

static bool can_be_mended(struct str reason)
{
	for (size_t i = 0; i < ARRAY_LEN(final); i++)
		if (str_is(reason, final[i]))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (str_is(reason, reasons[i].word))
			return !reasons[i].is_final;
	return false;
}

/* "exit:75" of "exit:"; false: another word, or no number. */
static bool take_number(struct str word, const char *prefix, int64_t *ret)
{
	return str_starts(word, prefix) &&
	       str_int64(str_skip(word, strlen(prefix)), ret);
}

bool retry_is_cause(struct str word)
{
	int64_t n;

	if (take_number(word, "exit:", &n))
		return n > 0 && n <= 255;
	if (take_number(word, "http:", &n))
		return n >= 400 && n <= 599;
	return take_number(word, "rpc:", &n) || str_is(word, "timeout") ||
	       can_be_mended(word);
}

static bool is_in_group(struct str word, const char *reason)
{
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (str_is(word, groups[i].group) &&
		    !strcmp(reason, groups[i].reason))
			return true;
	return false;
}

static bool is_named(const struct retry_rules *r, const struct retry_case *c)
{
	for (size_t i = 0; i < r->on.n; i++) {
		struct str word = str_of(r->on.item[i]);
		int64_t n;

		if (str_is(word, c->reason) || is_in_group(word, c->reason))
			return true;
		if (c->has_exit && take_number(word, "exit:", &n) &&
		    n == c->exit_status)
			return true;
		if (c->has_rpc && take_number(word, "rpc:", &n) &&
		    n == c->rpc_code)
			return true;
		if (c->http_status && take_number(word, "http:", &n) &&
		    n == c->http_status)
			return true;
	}
	return false;
}

/* Without a word: nothing can have been done, or nothing is done twice. */
static bool is_harmless(const struct retry_case *c)
{
	return c->is_before || c->http_status == 429 || c->http_status == 503 ||
	       (c->may_repeat && strcmp(c->reason, "is_error") != 0);
}

int64_t retry_wait(const struct retry_rules *r, const struct retry_case *c,
		   uint64_t attempt)
{
	uint64_t ms = r->wait_ms, after_ms;

	if (attempt >= r->max || !can_be_mended(str_of(c->reason)) ||
	    (!is_named(r, c) && !is_harmless(c)))
		return -1;
	for (uint64_t i = 1; i < attempt && ms < r->max_wait_ms; i++)
		ms *= r->factor;
	if (ms > r->max_wait_ms)
		ms = r->max_wait_ms;
	if (c->after_s < 0)
		return (int64_t)ms;
	/* earlier than it asks for is in vain, and later nobody waits */
	if ((uint64_t)c->after_s > r->max_wait_ms / 1000)
		return -1;
	after_ms = (uint64_t)c->after_s * 1000;
	return (int64_t)(after_ms > ms ? after_ms : ms);
}
