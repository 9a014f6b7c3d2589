/* Small documents, whole or not at all. */
#include "tests/unit/transport/http_world.h"

#include <signal.h>

static void answer(struct connection *c, UNUSED const char *request)
{
	SAY(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

struct document {
	bool is_there;
	int status;
	struct buf body;
	bool has_head;
	enum http_end_kind kind;
};

static void on_document(void *arg, const struct http_fetched *f)
{
	struct document *d = arg;

	d->is_there = true;
	d->status = f->status;
	d->has_head = f->head;
	d->kind = f->end.kind;
	buf_add_str(&d->body, f->body);
}

static struct document fetch(struct world *w, uint64_t max)
{
	AUTO(mem_freep)
	char *url = mem_printf("http://127.0.0.1:%u/x", w->server.port);
	struct document d = {.body = BUF_INIT(BUF_UNBOUNDED)};
	struct http_request r = {
		.method = "GET",
		.url = url,
		.reach = &w->reach,
		.body_max = max,
	};

	assert_non_null(http_fetch(w->http, &r, on_document, &d));
	wait_for(w, &d.is_there);
	return d;
}

TEST_IN(world, fetch, document, whole_or_not_at_all)
{
	struct world *w = *state;
	struct document d;

	w->server.answer = answer;
	d = fetch(w, 2);
	assert_int_equal(d.status, 200);
	assert_true(d.has_head);
	assert_string_equal(buf_cstr(&d.body), "ok");
	buf_release(&d.body);
	d = fetch(w, 1);
	assert_int_equal(d.kind, HTTP_LIMIT);
	assert_int_equal(d.status, 0);
	assert_false(d.has_head);
	assert_int_equal(d.body.n, 0);
	buf_release(&d.body);
}

static void say_two_mib(struct connection *c, UNUSED const char *request)
{
	static char zeros[2 << 20];
	struct str rest = {zeros, sizeof(zeros)};
	ssize_t n;

	SAY(c, "HTTP/1.1 200 OK\r\n\r\n");
	n = send(c->watch.fd, rest.p, rest.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	assert_true(n > (1 << 20));
	connection_end(c);
}

TEST_IN(world, SEC_6, document_over_one_mib, limit)
{
	struct world *w = *state;
	struct document d;

	w->server.answer = say_two_mib;
	d = fetch(w, 0);
	assert_int_equal(d.kind, HTTP_LIMIT);
	assert_int_equal(d.status, 0);
	buf_release(&d.body);
}

TEST_IN(world, fetch, cancelled, never_told)
{
	struct world *w = *state;
	struct document d = {.is_there = false};
	struct http_request r = {.url = "http://127.0.0.1:1/"};

	r.reach = &w->reach;
	http_cancel(http_fetch(w->http, &r, on_document, &d));
	turn(w);
	assert_false(d.is_there);
}

TEST_FILE(world_begin_file, NULL);
