#include "core/mcp/session/core.h"

#include "core/base/mem.h"

/* Slots of an empty table; a power of two. */
#define SLOTS_FIRST 16
/* Requests among which the soonest deadline is looked for each time. */
#define FEW 16

#define META(name) "io.modelcontextprotocol/" name

/* ---- the table of requests ---- */

static void request_release(struct request *r)
{
	buf_release(&r->params);
	buf_release(&r->state);
	buf_release(&r->responses);
	buf_release(&r->task.id);
	buf_release(&r->task.answered);
	buf_release(&r->progress.message);
}

void requests_release(struct requests *t)
{
	for (struct request *r = t->first, *next; r; r = next) {
		next = r->next;
		request_release(r);
		free(r);
	}
	free(t->spare);
	free(t->slots[BY_ID]);
	free(t->slots[BY_TICKET]);
	*t = (struct requests){0};
}

/* Ids and tickets count up, so they are their own hash. */
static struct request **slot_of(const struct requests *t, enum requests_key by,
				uint64_t key)
{
	return &t->slots[by][key & (t->n_slots - 1)];
}

static struct request **slot_for(const struct requests *t,
				 const struct request *r, enum requests_key by)
{
	return slot_of(t, by, by == BY_ID ? r->id : r->ticket);
}

static void link_key(struct requests *t, struct request *r,
		     enum requests_key by)
{
	struct request **slot = slot_for(t, r, by);

	r->same_slot[by] = *slot;
	*slot = r;
}

static void unlink_key(struct requests *t, struct request *r,
		       enum requests_key by)
{
	struct request **at = slot_for(t, r, by);

	while (*at != r)
		at = &(*at)->same_slot[by];
	*at = r->same_slot[by];
}

static void grow(struct requests *t)
{
	t->n_slots = t->n_slots ? t->n_slots * 2 : SLOTS_FIRST;
	for (enum requests_key by = 0; by < N_REQUESTS_KEYS; by++) {
		free(t->slots[by]);
		t->slots[by] =
			mem_zalloc(t->n_slots * sizeof(struct request *));
		for (struct request *r = t->first; r; r = r->next)
			link_key(t, r, by);
	}
}

struct request *requests_add(struct requests *t, uint64_t id, uint64_t ticket,
			     const char *method)
{
	struct request *r;

	if (t->n == t->n_slots)
		grow(t);
	r = t->spare ? t->spare : mem_alloc(sizeof(*r));
	t->spare = NULL;
	*r = (struct request){
		.id = id,
		.ticket = ticket,
		.method = method,
		.params = BUF_INIT(BUF_UNBOUNDED),
		.state = BUF_INIT(BUF_UNBOUNDED),
		.responses = BUF_INIT(BUF_UNBOUNDED),
		.task = {.id = BUF_INIT(BUF_UNBOUNDED),
			 .answered = BUF_INIT(BUF_UNBOUNDED)},
		.progress.message = BUF_INIT(BUF_UNBOUNDED),
		.deadline_ns = UINT64_MAX,
		.total_deadline_ns = UINT64_MAX,
		.due_ns = UINT64_MAX,
		.prev = t->last,
	};
	*(t->last ? &t->last->next : &t->first) = r;
	t->last = r;
	t->n++;
	link_key(t, r, BY_ID);
	link_key(t, r, BY_TICKET);
	return r;
}

void requests_remove(struct requests *t, struct request *r)
{
	unlink_key(t, r, BY_ID);
	unlink_key(t, r, BY_TICKET);
	*(r->prev ? &r->prev->next : &t->first) = r->next;
	*(r->next ? &r->next->prev : &t->last) = r->prev;
	t->n--;
	request_release(r);
	free(t->spare);
	t->spare = r;
}

struct request *requests_find(struct requests *t, struct str id,
			      bool parked_counts)
{
	struct rpc_id read = rpc_read_id(id);
	uint64_t number;

	if (!t->n || !rpc_id_number(&read, &number))
		return NULL;
	for (struct request *r = *slot_of(t, BY_ID, number); r;
	     r = r->same_slot[BY_ID])
		if (r->id == number && r->sent && (!r->parked || parked_counts))
			return r;
	return NULL;
}

struct request *requests_find_ticket(struct requests *t, uint64_t ticket)
{
	struct request *r = t->n ? *slot_of(t, BY_TICKET, ticket) : NULL;

	while (r && r->ticket != ticket)
		r = r->same_slot[BY_TICKET];
	return r;
}

struct request *requests_pending(struct requests *t,
				 const struct request *after)
{
	struct request *r = after ? after->next : t->first;

	while (r && (!r->sent || r->parked))
		r = r->next;
	return r;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t time_of(const struct request *r, enum request_time time)
{
	switch (time) {
	case REQUEST_EXPIRED:
		return least(r->deadline_ns, r->total_deadline_ns);
	case REQUEST_DUE:
		return r->due_ns;
	case REQUEST_PROGRESS:
		break;
	}
	return r->progress_held ? r->next_progress_ns : UINT64_MAX;
}

static uint64_t soonest_of(const struct request *r, bool is_paused)
{
	uint64_t soonest = least(r->due_ns, time_of(r, REQUEST_PROGRESS));

	return is_paused ? soonest
			 : least(soonest, time_of(r, REQUEST_EXPIRED));
}

void requests_timed(struct requests *t, const struct request *r)
{
	t->soonest_ns = least(t->soonest_ns, soonest_of(r, false));
}

static uint64_t soonest(const struct requests *t, bool is_paused)
{
	uint64_t ns = UINT64_MAX;

	for (const struct request *r = t->first; r; r = r->next)
		ns = least(ns, soonest_of(r, is_paused));
	return ns;
}

struct request *requests_find_time(struct requests *t, enum request_time time,
				   uint64_t now_ns)
{
	if (now_ns < t->soonest_ns)
		return NULL;
	for (struct request *r = t->first; r; r = r->next)
		if (time_of(r, time) <= now_ns)
			return r;
	t->soonest_ns = soonest(t, false);
	return NULL;
}

uint64_t requests_deadline(const struct requests *t, bool is_paused)
{
	if (is_paused || t->n <= FEW)
		return soonest(t, is_paused);
	return t->soonest_ns;
}

/* ---- state ---- */

enum session_state session_state(const struct session *s)
{
	return s->state;
}

bool session_is_over(const struct session *s)
{
	return s->state == SESSION_CLOSED || s->state == SESSION_FAILED;
}

bool session_is_mute(const struct session *s)
{
	return s->deaf || s->state == SESSION_CLOSING || session_is_over(s);
}

bool session_offers(const struct session *s, const char *capability)
{
	struct str at = s->server.capabilities, rest = str_of(capability);

	while (rest.n) {
		at = scan_named(at, str_cut(&rest, '.'));
		if (!at.p || scan_type(at) == SCAN_NULL ||
		    scan_type(at) == SCAN_FALSE)
			return false;
	}
	return s->server.revision != NULL;
}

const struct session_stats *session_stats(const struct session *s)
{
	return &s->stats;
}

const struct mcp_peer *session_server(const struct session *s)
{
	return &s->server;
}

/* ---- bytes ---- */

struct str session_output(const struct session *s)
{
	return (struct str){buf_cstr(&s->out) + s->written,
			    s->out.n - s->written};
}

void session_wrote(struct session *s, size_t n)
{
	s->written += n;
	s->stats.bytes_out += n;
	if (s->answers > s->out.n - s->written)
		s->answers = s->out.n - s->written;
	if (s->written == s->out.n)
		buf_clear(&s->out);
	else if (s->written < s->out.n / 2)
		return;
	else
		buf_drop(&s->out, s->written);
	s->written = 0;
}

void session_output_broke(struct session *s)
{
	s->deaf = true;
	buf_release(&s->out);
	s->written = s->answers = 0;
}

bool session_feed(struct session *s, struct str in, uint64_t now_ns)
{
	session_tick(s, now_ns);
	if (session_is_over(s) || s->eof)
		return false;
	s->stats.bytes_in += in.n;
	inbox_add(&s->in, in);
	return true;
}

bool session_message(struct session *s, struct str message, uint64_t now_ns)
{
	session_tick(s, now_ns);
	if (session_is_over(s) || s->eof)
		return false;
	s->stats.bytes_in += message.n;
	inbox_message(&s->in, message);
	return true;
}

void session_eof(struct session *s, uint64_t now_ns)
{
	session_tick(s, now_ns);
	s->eof = true;
	inbox_eof(&s->in);
}

char *session_take(struct session *s, struct str slice)
{
	return inbox_take(&s->in, slice);
}

struct str session_noise(const struct session *s)
{
	return buf_str(&s->in.noise);
}

/* ---- clocks ---- */

void session_tick(struct session *s, uint64_t now_ns)
{
	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
}

uint64_t session_after_ms(uint64_t from_ns, uint64_t ms)
{
	return ms > (UINT64_MAX - from_ns) / NS_PER_MS
		       ? UINT64_MAX
		       : from_ns + ms * NS_PER_MS;
}

uint64_t session_ends_ms(const struct session *s, uint64_t ms)
{
	uint64_t end = session_after_ms(s->now_ns, ms);

	/* the end of the pause moves all deadlines by its whole length */
	return s->questions.open && end != UINT64_MAX
		       ? end - (s->now_ns - s->questions.since_ns)
		       : end;
}

void session_set_times(struct session *s, uint64_t ticket, uint64_t timeout_ms,
		       uint64_t total_ms)
{
	struct request *r = requests_find_ticket(&s->requests, ticket);

	if (!r || r->is_handshake)
		return;
	r->timeout_ms = timeout_ms ? timeout_ms : s->opt.request_timeout_ms;
	r->total_ms = total_ms ? total_ms : s->opt.total_timeout_ms;
	if (!r->sent || r->is_listen)
		return;
	r->deadline_ns = session_ends_ms(s, r->timeout_ms);
	r->total_deadline_ns = session_ends_ms(s, r->total_ms);
	requests_timed(&s->requests, r);
}

uint64_t session_deadline(const struct session *s)
{
	return session_is_over(s)
		       ? UINT64_MAX
		       : requests_deadline(&s->requests, s->questions.open > 0);
}

/* ---- texts ---- */

struct str session_shown(struct str v, size_t max, struct buf *into)
{
	buf_clear(into);
	if (!scan_string_cut(v, max, into))
		buf_add_cut(into, v, max);
	return buf_str(into);
}

void session_read_error(struct session *s, const struct rpc_message *m,
			struct session_event *ev)
{
	ev->code = m->code;
	ev->message = session_shown(m->message.p ? m->message : m->raw_error,
				    TEXT_BYTES, &s->text);
	ev->data = m->bad_error && !m->data.p ? m->raw_error : m->data;
	s->stats.oddities += m->both + m->bad_error;
}

void copy_members(struct jw *w, struct str object, const char *const *except)
{
	for (struct scan_iter it = scan_over(object); scan_next(&it);) {
		bool is_ours = false;

		for (size_t i = 0; except[i]; i++)
			is_ours |= scan_is(it.key, except[i]);
		if (is_ours)
			continue;
		jw_key_raw(w, it.key);
		jw_raw(w, it.value);
	}
}

/* ---- sending ---- */

/* Write the members of the modern era's _meta (META-1, META-2). */
static void write_modern_meta(struct session *s, struct str own, struct jw *w)
{
	struct str can = scan_some(own, META("clientCapabilities"));
	struct str level = scan_some(own, META("logLevel"));

	jw_kv_cstr(w, META("protocolVersion"), s->spoken->date);
	jw_kv_object(w, META("clientInfo"));
	jw_kv_cstr(w, "name", s->opt.client_name);
	jw_kv_cstr(w, "version", s->opt.client_version);
	jw_end(w);
	jw_key(w, META("clientCapabilities"));
	if (can.p)
		jw_raw(w, can);
	else
		mcp_write_declared(w, &s->opt.declared, s->spoken);
	if (level.p)
		jw_kv_raw(w, META("logLevel"), level);
	else if (s->opt.log_level)
		jw_kv_cstr(w, META("logLevel"), s->opt.log_level);
}

static void write_meta(struct session *s, const struct request *r,
		       struct str given, struct jw *w)
{
	static const char *const ours[] = {
		META("protocolVersion"),
		META("clientInfo"),
		META("clientCapabilities"),
		META("logLevel"),
		"progressToken",
		NULL,
	};

	const struct str own = scan_some(given, "_meta");

	jw_kv_object(w, "_meta");
	/* the last alone is ours in the older era */
	copy_members(w, own, s->is_modern ? ours : ours + ARRAY_LEN(ours) - 2);
	if (s->is_modern)
		write_modern_meta(s, r->is_handed_on ? own : STR("{}"), w);
	if (r->has_token) {
		jw_key(w, "progressToken");
		jw_uint(w, r->id);
	}
	jw_end(w);
}

static void write_params(struct session *s, const struct request *r,
			 struct jw *w)
{
	struct str given = r->params.n ? buf_str(&r->params) : STR("{}");
	const char *ours[5] = {"_meta"};
	size_t n = 1;

	if (!s->is_modern && !r->has_token) {
		if (r->params.n)
			jw_kv_raw(w, "params", given);
		return;
	}
	/* tasks/update has inputResponses among its own params */
	if (s->is_modern && !r->parent && !r->is_handed_on) {
		ours[n++] = "inputResponses";
		ours[n++] = "requestState";
	}
	if (r->as_task_dropped)
		ours[n++] = "task";
	jw_kv_object(w, "params");
	copy_members(w, given, ours);
	/* the answers of this round, and the server's state (MR-5) */
	if (r->responses.n)
		jw_kv_raw(w, "inputResponses", buf_str(&r->responses));
	if (r->state.n)
		jw_kv_raw(w, "requestState", buf_str(&r->state));
	write_meta(s, r, given, w);
	jw_end(w);
}

struct request *session_add_request(struct session *s, const char *method)
{
	struct request *r = requests_add(&s->requests, s->next_id++,
					 s->next_ticket++, method);

	r->timeout_ms = s->opt.request_timeout_ms;
	r->total_ms = s->opt.total_timeout_ms;
	return r;
}

void session_mark_sent(struct session *s, struct request *r)
{
	if (!r->sent && !r->is_listen)
		r->total_deadline_ns = session_ends_ms(s, r->total_ms);
	r->sent = true;
	r->parked = false;
	r->due_ns = UINT64_MAX;
	r->deadline_ns = session_ends_ms(s, r->timeout_ms);
	requests_timed(&s->requests, r);
}

void session_send(struct session *s, struct request *r)
{
	struct rpc_writer w;

	if (r->sent) {
		/* each id goes over the wire once */
		unlink_key(&s->requests, r, BY_ID);
		r->id = s->next_id++;
		link_key(&s->requests, r, BY_ID);
	}
	if (r->as_task &&
	    (s->is_modern || !session_offers(s, "tasks.requests.tools.call"))) {
		r->as_task = false;
		r->as_task_dropped = true;
	}
	if (!session_is_mute(s)) {
		rpc_begin_request(&w, &s->out, r->id, r->method);
		write_params(s, r, &w.jw);
		rpc_end(&w);
	}
	/* only the modern era sends a request twice */
	if (!s->is_modern)
		buf_release(&r->params);
	session_mark_sent(s, r);
}

void session_notify(struct session *s, const char *method, struct str params)
{
	struct rpc_writer w;

	if (session_is_mute(s))
		return;
	rpc_begin_notification(&w, &s->out, method);
	if (params.p)
		jw_kv_raw(&w.jw, "params", params);
	rpc_end(&w);
}
