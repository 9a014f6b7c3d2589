#include "tests/unit/test.h"

#include <string.h>

#include "core/mcp/wire/sse.h"

/* The events of a stream that comes in such portions, one a line. */
static void play(struct str in, size_t portion, size_t max, struct buf *out)
{
	struct sse_event e;
	enum sse_result got;
	struct sse p;

	sse_init(&p, max);
	while (in.n) {
		struct str some = {in.p, in.n < portion ? in.n : portion};

		in.p += some.n;
		in.n -= some.n;
		while ((got = sse_next(&p, &some, &e)) != SSE_NONE) {
			if (got == SSE_OVER)
				buf_adds(out, "over\n");
			else
				buf_addf(out, "%.*s=%.*s\n", STR_ARG(e.name),
					 STR_ARG(e.data));
		}
		assert_int_equal(some.n, 0);
	}
	buf_addf(out, "id=%s", buf_cstr(&p.last_id));
	if (p.has_retry)
		buf_addf(out, " retry=%d", (int)p.retry_ms);
	sse_release(&p);
}

static void assert_max(const char *stream, size_t n, size_t max,
		       const char *expected)
{
	for (size_t portion = 1; portion <= n; portion++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		play((struct str){stream, n}, portion, max, &out);
		assert_string_equal(buf_cstr(&out), expected);
	}
}

static void assert_stream(const char *stream, const char *expected)
{
	assert_max(stream, strlen(stream), 1000, expected);
}

TEST(SSE_1, lines_end_in_three_ways, in_any_portion)
{
	assert_stream("data: a\n\ndata: b\r\rdata: c\r\n\r\n",
		      "message=a\nmessage=b\nmessage=c\nid=");
	assert_stream("\xef\xbb\xbf"
		      "data: a\n\n",
		      "message=a\nid=");
	/* one mark, and only at the beginning */
	assert_stream("\xef\xbb\xbf\xef\xbb\xbf"
		      "data: a\n\n",
		      "id=");
	assert_stream("\xef\xbbx: y\ndata: a\n\n", "message=a\nid=");
	assert_stream("data: \xc3\xa9\n\n", "message=\xc3\xa9\nid=");
}

TEST(SSE_2, fields, are_read_as_written)
{
	assert_stream("data:a\ndata:  b\ndata\n\n", "message=a\n b\n\nid=");
	assert_stream(": ping\n:\ndata: a\n: x\n\n", "message=a\nid=");
	assert_stream("data : a\nDATA: b\nxdata: c\n\n", "id=");
	assert_stream("data: a: b\n\n", "message=a: b\nid=");
	assert_stream("datadatadata: no\ndata: a\n\n", "message=a\nid=");
}

TEST(SSE_3, names, are_of_one_event)
{
	assert_stream("event: endpoint\ndata: /m\n\ndata: a\n\n",
		      "endpoint=/m\nmessage=a\nid=");
	assert_stream("event:\ndata: a\n\n", "message=a\nid=");
	assert_stream("event: a\nevent: b\ndata: c\n\n", "b=c\nid=");
	assert_stream("event: x\n\ndata: a\n\n", "message=a\nid=");
}

TEST(SSE_4, id_and_retry, are_kept)
{
	static const char nul[] = "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n";

	assert_stream("id: 1\ndata: a\n\ndata: b\n\n",
		      "message=a\nmessage=b\nid=1");
	assert_stream("id: 1\ndata: a\n\nid\ndata: b\n\n",
		      "message=a\nmessage=b\nid=");
	assert_max(nul, sizeof(nul) - 1, 1000, "message=a\nmessage=b\nid=1");
	assert_stream("retry: 250\n\n", "id= retry=250");
	assert_stream("retry: 250\nretry: 2x\nretry:\nretry: -1\n\n",
		      "id= retry=250");
	/* one that is not whole does not count */
	assert_stream("id: 1\ndata: a\n\nid: 2\ndata: b\n", "message=a\nid=1");
}

TEST(SSE_5, event_without_data, is_none_but_its_id)
{
	assert_stream("id: 7\n\n", "id=7");
	assert_stream("id: 7\ndata:\n\n", "message=\nid=7");
}

TEST(SSE_6, rest_without_empty_line, is_dropped)
{
	assert_stream("data: a\n\ndata: b\n", "message=a\nid=");
	assert_stream("data: a", "id=");
}

TEST(SSE_7, too_much_data, is_skipped_to_the_end)
{
	const char stream[] = "id: 1\ndata: 123456\ndata: 7\n\ndata: 12345\n\n";

	assert_max(stream, sizeof(stream) - 1, 5, "over\nmessage=12345\nid=1");
}

TEST(sse, new_connection, keeps_the_id_only)
{
	struct str in = STR("id: 1\ndata: a\n\nid: 2\nevent: x\ndata: half");
	struct str more = STR("data: b\n\n");
	struct sse_event e;
	struct sse p;

	sse_init(&p, 100);
	assert_int_equal(sse_next(&p, &in, &e), SSE_EVENT);
	assert_int_equal(sse_next(&p, &in, &e), SSE_NONE);
	sse_again(&p);
	assert_int_equal(sse_next(&p, &more, &e), SSE_EVENT);
	assert_true(str_is(e.name, "message"));
	assert_true(str_is(e.data, "b"));
	assert_string_equal(buf_cstr(&p.last_id), "1");
	sse_release(&p);
}

TEST(sse, long_id_and_name, are_not_taken)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&text, "id: 1\n\nid: ");
	for (size_t i = 0; i <= SSE_ID_BYTES; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "\nretry: ");
	for (size_t i = 0; i <= SSE_ID_BYTES; i++)
		buf_addc(&text, '1');
	buf_adds(&text, "\n\n");
	play(buf_str(&text), 5000, 10, &out);
	assert_string_equal(buf_cstr(&out), "id=1");
}
