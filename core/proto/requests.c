#include "core/proto/requests.h"

#include <string.h>

#include "core/base/mem.h"
#include "core/base/scan.h"

static void request_release(struct request *r)
{
	buf_release(&r->message);
	buf_release(&r->progress.message);
}

void requests_release(struct requests *t)
{
	for (size_t i = 0; i < t->n; i++)
		request_release(&t->item[i]);
	free(t->item);
	*t = (struct requests){0};
}

struct request *requests_add(struct requests *t, uint64_t id, uint64_t ticket,
			     const char *method)
{
	struct request *r;

	t->item = mem_grow(t->item, t->n + 1, &t->cap, sizeof(*t->item));
	r = &t->item[t->n++];
	*r = (struct request){
		.id = id,
		.ticket = ticket,
		.method = method,
		.message = BUF_INIT(BUF_UNBOUNDED),
		.progress.message = BUF_INIT(BUF_UNBOUNDED),
		.deadline_ns = UINT64_MAX,
		.total_deadline_ns = UINT64_MAX,
	};
	return r;
}

void requests_remove(struct requests *t, struct request *r)
{
	size_t at = (size_t)(r - t->item);

	request_release(r);
	t->n--;
	memmove(r, r + 1, (t->n - at) * sizeof(*r));
}

struct request *requests_find(struct requests *t, const struct rpc_id *id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->item[i].sent && rpc_id_matches(id, t->item[i].id))
			return &t->item[i];
	return NULL;
}

struct request *requests_find_ticket(struct requests *t, uint64_t ticket)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->item[i].ticket == ticket)
			return &t->item[i];
	return NULL;
}

struct request *requests_oldest(struct requests *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->item[i].sent)
			return &t->item[i];
	return NULL;
}

size_t requests_sent(const struct requests *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->item[i].sent;
	return n;
}

static uint64_t end_of(const struct request *r)
{
	return r->deadline_ns < r->total_deadline_ns ? r->deadline_ns
						     : r->total_deadline_ns;
}

struct request *requests_expired(struct requests *t, uint64_t now_ns)
{
	for (size_t i = 0; i < t->n; i++)
		if (end_of(&t->item[i]) <= now_ns)
			return &t->item[i];
	return NULL;
}

struct request *requests_progressed(struct requests *t, uint64_t now_ns)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->item[i].progress_held &&
		    t->item[i].next_progress_ns <= now_ns)
			return &t->item[i];
	return NULL;
}

uint64_t requests_deadline(const struct requests *t)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < t->n; i++) {
		const struct request *r = &t->item[i];

		if (end_of(r) < first)
			first = end_of(r);
		if (r->progress_held && r->next_progress_ns < first)
			first = r->next_progress_ns;
	}
	return first;
}

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
