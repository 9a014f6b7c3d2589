/* Deadlines: when a request ends, and what is said of one that has ended. */
#include <inttypes.h>
#include <stdio.h>

#include "core/mcp/session/session_inner.h"

void session_hear_time(struct session *s, uint64_t now_ns)
{
	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
}

uint64_t session_after_ms(const struct session *s, uint64_t ms)
{
	uint64_t ns;

	if (__builtin_mul_overflow(ms, NS_PER_MS, &ns) ||
	    __builtin_add_overflow(s->now_ns, ns, &ns))
		return UINT64_MAX;
	return ns;
}

uint64_t session_ends_ms(const struct session *s, uint64_t ms)
{
	uint64_t end = session_after_ms(s, ms);

	/* when it goes on, all ends move by how long it stood */
	return s->asks.open && end != UINT64_MAX
		       ? end - (s->now_ns - s->asks.since_ns)
		       : end;
}

uint64_t session_timeout_ms(const struct session *s, const struct request *r)
{
	return r->timeout_ms ? r->timeout_ms : s->opt.request_timeout_ms;
}

uint64_t session_total_ms(const struct session *s, const struct request *r)
{
	return r->total_ms ? r->total_ms : s->opt.total_timeout_ms;
}

void session_set_times(struct session *s, uint64_t ticket, uint64_t timeout_ms,
		       uint64_t total_ms)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	if (!r || r->is_handshake)
		return;
	r->timeout_ms = timeout_ms;
	r->total_ms = total_ms;
	if (!r->sent || r->is_listen)
		return;
	r->deadline_ns = session_ends_ms(s, session_timeout_ms(s, r));
	r->total_deadline_ns = session_ends_ms(s, session_total_ms(s, r));
	requests_timed(&s->requests, r);
}

void session_tick(struct session *s, uint64_t now_ns)
{
	session_hear_time(s, now_ns);
}

uint64_t session_deadline(const struct session *s)
{
	return session_is_over(s)
		       ? UINT64_MAX
		       : requests_deadline(&s->requests, s->asks.open > 0);
}

/* ---- nobody answered ---- */

static void format_ms(uint64_t ms, char out[32])
{
	if (ms % 1000)
		snprintf(out, 32, "%" PRIu64 " ms", ms);
	else
		snprintf(out, 32, "%" PRIu64 " s", ms / 1000);
}

/* TMO-2; a task is ended as one (CAN-6). */
static void cancel_expired(struct session *s, struct request *r)
{
	struct request *of =
		r->parent ? requests_find_ticket(&s->requests, r->parent) : r;

	if (of && of->task.id.n)
		session_cancel_task(s, of);
	else
		session_send_cancelled(s, r, "timed out");
}

enum outcome session_expire(struct session *s, struct request *r,
			    struct session_event *ev)
{
	const struct session_options *o = &s->opt;
	bool total = r->total_deadline_ns <= s->now_ns;
	uint64_t ms = r->is_handshake ? o->initialize_timeout_ms
		      : total	      ? session_total_ms(s, r)
				      : session_timeout_ms(s, r);
	char time[32];

	if (s->state == SESSION_PROBING && r->is_handshake &&
	    !s->opt.protocol && !total && session_probe_silent(s, r))
		return DONE;
	format_ms(ms, time);
	err_set(&ev->err, ERR_PEER, "no answer to %s within %s%s", r->method,
		time,
		s->stats.bytes_in || s->opt.is_remote
			? ""
			: "; the server has written nothing to its stdout yet");
	cancel_expired(s, r);
	return session_fail_request(s, r, SESSION_FAIL_TIMEOUT, ev);
}
