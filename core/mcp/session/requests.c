#include "core/mcp/session/requests.h"

#include <string.h>

#include "core/base/mem.h"
#include "core/base/scan.h"

/* Slots of an empty table; a power of two. */
#define SLOTS_FIRST 16
/* Requests among which the soonest deadline is looked for each time. */
#define FEW 16

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

/* ---- by id and by ticket; both count up, so they are their own hash ---- */

static uint64_t key_of(const struct request *r, enum requests_key by)
{
	return by == BY_ID ? r->id : r->ticket;
}

static struct request **slot_of(const struct requests *t, enum requests_key by,
				uint64_t key)
{
	return &t->slots[by][key & (t->n_slots - 1)];
}

static void link_key(struct requests *t, struct request *r,
		     enum requests_key by)
{
	struct request **slot = slot_of(t, by, key_of(r, by));

	r->same_slot[by] = *slot;
	*slot = r;
}

static void unlink_key(struct requests *t, struct request *r,
		       enum requests_key by)
{
	struct request **at = slot_of(t, by, key_of(r, by));

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

void requests_renumber(struct requests *t, struct request *r, uint64_t id)
{
	unlink_key(t, r, BY_ID);
	r->id = id;
	link_key(t, r, BY_ID);
}

/* Sent, so that the next message may be the answer. */
static bool is_pending(const struct request *r)
{
	return r->sent && !r->parked;
}

/* Read the number that an id stands for (ID-4). */
static bool number_of(const struct rpc_id *id, uint64_t *ret)
{
	if (id->type == RPC_ID_INT) {
		*ret = (uint64_t)id->number;
		return id->number >= 0;
	}
	return id->type == RPC_ID_STRING && id->raw.n > 2 &&
	       str_uint64((struct str){id->raw.p + 1, id->raw.n - 2}, ret);
}

struct request *requests_find_token(struct requests *t,
				    const struct rpc_id *token)
{
	uint64_t number;

	if (!t->n || !number_of(token, &number))
		return NULL;
	for (struct request *r = *slot_of(t, BY_ID, number); r;
	     r = r->same_slot[BY_ID])
		if (r->sent && rpc_id_matches(token, r->id))
			return r;
	return NULL;
}

struct request *requests_find(struct requests *t, const struct rpc_id *id)
{
	struct request *r = requests_find_token(t, id);

	return r && is_pending(r) ? r : NULL;
}

struct request *requests_find_ticket(struct requests *t, uint64_t ticket)
{
	struct request *r = t->n ? *slot_of(t, BY_TICKET, ticket) : NULL;

	while (r && r->ticket != ticket)
		r = r->same_slot[BY_TICKET];
	return r;
}

struct request *requests_oldest(struct requests *t)
{
	struct request *r = t->first;

	while (r && !is_pending(r))
		r = r->next;
	return r;
}

size_t requests_sent(const struct requests *t)
{
	size_t n = 0;

	for (const struct request *r = t->first; r; r = r->next)
		n += is_pending(r);
	return n;
}

/* ---- times ---- */

static uint64_t end_of(const struct request *r)
{
	return r->deadline_ns < r->total_deadline_ns ? r->deadline_ns
						     : r->total_deadline_ns;
}

static void keep_least(uint64_t *least, uint64_t v)
{
	if (v < *least)
		*least = v;
}

static void keep_times(uint64_t *least, const struct request *r, bool is_paused)
{
	if (!is_paused)
		keep_least(least, end_of(r));
	keep_least(least, r->due_ns);
	if (r->progress_held)
		keep_least(least, r->next_progress_ns);
}

void requests_timed(struct requests *t, const struct request *r)
{
	keep_times(&t->soonest_ns, r, false);
}

static uint64_t soonest(const struct requests *t, bool is_paused)
{
	uint64_t least = UINT64_MAX;

	for (const struct request *r = t->first; r; r = r->next)
		keep_times(&least, r, is_paused);
	return least;
}

static bool has_come(const struct request *r, enum request_time time,
		     uint64_t now_ns)
{
	switch (time) {
	case REQUEST_EXPIRED:
		return end_of(r) <= now_ns;
	case REQUEST_DUE:
		return r->due_ns <= now_ns;
	case REQUEST_PROGRESS:
		return r->progress_held && r->next_progress_ns <= now_ns;
	}
	return false;
}

struct request *requests_find_time(struct requests *t, enum request_time time,
				   uint64_t now_ns)
{
	if (now_ns < t->soonest_ns)
		return NULL;
	for (struct request *r = t->first; r; r = r->next)
		if (has_come(r, time, now_ns))
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

static void shift(uint64_t *time_ns, uint64_t ns)
{
	if (__builtin_add_overflow(*time_ns, ns, time_ns))
		*time_ns = UINT64_MAX;
}

void requests_shift(struct requests *t, uint64_t ns)
{
	for (struct request *r = t->first; r; r = r->next) {
		shift(&r->deadline_ns, ns);
		shift(&r->total_deadline_ns, ns);
	}
}

/* ---- progress ---- */

static bool copy_number(struct str v, char to[REQUEST_NUMBER_BYTES + 1])
{
	if (scan_type(v) != SCAN_NUMBER || v.n > REQUEST_NUMBER_BYTES)
		return false;
	memcpy(to, v.p, v.n);
	to[v.n] = '\0';
	return true;
}

bool request_take_progress(struct request *r, struct str params)
{
	struct request_progress *p = &r->progress;
	char text[REQUEST_NUMBER_BYTES + 1];
	struct str v;
	double now;

	if (!scan_get(params, "progress", &v) || !copy_number(v, text))
		return false;
	now = strtod(text, NULL);
	if (r->any_progress && !(now > r->last_progress))
		return false;
	r->any_progress = true;
	r->last_progress = now;
	r->progress_held = true;
	memcpy(p->progress, text, sizeof(text));
	if (!scan_get(params, "total", &v) || !copy_number(v, p->total))
		p->total[0] = '\0';
	buf_clear(&p->message);
	if (scan_get(params, "message", &v))
		scan_string_cut(v, REQUEST_TEXT_BYTES, &p->message);
	return true;
}
