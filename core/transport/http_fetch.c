/* Small documents, told whole: metadata, tokens. */
#include "core/base/mem.h"
#include "core/transport/http_inner.h"

/* SEC-6: a document of metadata is small */
#define FETCH_MAX (1024 * 1024)

struct fetch {
	void (*done)(void *arg, const struct http_fetched *f);
	void *arg;
	struct buf body, lines, media_type; /* owned; may hold tokens */
	struct http_head head;		    /* slices of the two before */
};

static void on_head(void *arg, const struct http_head *head)
{
	struct fetch *f = arg;

	f->head = *head;
	buf_add_str(&f->lines, head->lines);
	buf_add_str(&f->media_type, head->media_type);
	f->head.lines = buf_str(&f->lines);
	f->head.media_type = buf_str(&f->media_type);
}

static bool on_body(void *arg, struct str bytes)
{
	struct fetch *f = arg;

	buf_add_str(&f->body, bytes);
	return true;
}

static void on_end(void *arg, const struct http_end *end)
{
	struct http_fetched fetched = {.end = *end};
	struct fetch *f = arg;

	if (end->kind == HTTP_DONE) {
		fetched.status = f->head.status;
		fetched.head = &f->head;
		fetched.body = buf_str(&f->body);
	}
	f->done(f->arg, &fetched);
}

static void release(void *arg)
{
	struct fetch *f = arg;

	buf_wipe(&f->body);
	buf_wipe(&f->lines);
	buf_release(&f->media_type);
	free(f);
}

struct http_exchange *http_fetch(struct http *h, const struct http_request *r,
				 void (*done)(void *arg,
					      const struct http_fetched *f),
				 void *arg)
{
	struct fetch *f = mem_zalloc(sizeof(*f));
	struct http_request own = *r;
	struct http_exchange *x;

	f->done = done;
	f->arg = arg;
	f->body = f->lines = f->media_type =
		(struct buf)BUF_INIT(BUF_UNBOUNDED);
	own.head = on_head;
	own.body = on_body;
	own.end = on_end;
	own.arg = f;
	own.body_max = r->body_max ? r->body_max : FETCH_MAX;
	x = http_start(h, &own, NULL);
	x->release = release;
	return x;
}
