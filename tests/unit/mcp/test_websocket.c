#include <string.h>

#include "tests/unit/test.h"

#include "core/base/mem.h"
#include "core/mcp/wire/websocket.h"

/* Items as text: "message(x) ping(y) close:1000(z) over broken". */
static void log_items(struct ws_reader *r, struct buf *log)
{
	struct ws_item item;
	enum ws_item_type type;

	while ((type = ws_next(r, &item)) != WS_NONE) {
		static const char *const words[] = {
			"none",	 "message", "ping",   "pong",
			"close", "over",    "broken",
		};

		buf_adds(log, log->n ? " " : "");
		buf_adds(log, words[type]);
		if (type == WS_CLOSE)
			buf_addf(log, ":%u", item.code);
		if (type == WS_BROKEN)
			buf_addf(log, "<%s>", item.err.msg);
		else if (type != WS_OVER)
			buf_addf(log, "(%.*s)", STR_ARG(item.payload));
	}
}

static void read_in(struct str bytes, size_t portion, uint64_t max,
		    struct buf *log)
{
	struct ws_reader r;

	ws_reader_init(&r, max);
	while (bytes.n) {
		size_t n = bytes.n < portion ? bytes.n : portion;

		ws_add(&r, (struct str){bytes.p, n});
		bytes.p += n;
		bytes.n -= n;
		log_items(&r, log);
	}
	ws_reader_release(&r);
}

/* Whole, and in portions of each size up to 8 bytes: the same items. */
static void expect(struct str bytes, uint64_t max, const char *items)
{
	for (size_t portion = 0; portion <= 8; portion++) {
		AUTO(buf_release) struct buf log = BUF_INIT(BUF_UNBOUNDED);

		read_in(bytes, portion ? portion : bytes.n, max, &log);
		assert_string_equal(buf_cstr(&log), items);
	}
}

TEST(next, text_frame, is_a_message)
{
	/* RFC 6455, 5.7 */
	expect(STR("\x81\x05Hello"), 0, "message(Hello)");
	expect(STR("\x81\x00\x82\x01x"), 0, "message() message(x)");
}

TEST(next, parts_with_a_ping_between, are_one_message)
{
	expect(STR("\x01\x03Hel\x89\x01p\x80\x02lo"), 0,
	       "ping(p) message(Hello)");
	expect(STR("\x01\x01"
		   "a\x00\x01"
		   "b\x00\x01"
		   "c\x80\x00"),
	       0, "message(abc)");
}

TEST(next, lengths_of_two_and_eight_bytes, are_read)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf log = BUF_INIT(BUF_UNBOUNDED);
	size_t n = 70000;

	buf_add(&in, "\x82\x7e\x01\x00", 4);
	for (int i = 0; i < 256; i++)
		buf_addc(&in, 'a');
	buf_add(&in, "\x82\x7f\x00\x00\x00\x00\x00\x01\x11\x70", 10);
	for (size_t i = 0; i < n; i++)
		buf_addc(&in, 'b');
	read_in(buf_str(&in), 1000, 0, &log);
	assert_int_equal(log.n, 2 * strlen("message()") + 1 + 256 + n);
}

TEST(next, close, has_code_and_reason)
{
	expect(STR("\x88\x02\x03\xe8"), 0, "close:1000()");
	expect(STR("\x88\x05\x03\xf0"
		   "bye"),
	       0, "close:1008(bye)");
	expect(STR("\x88\x00"), 0, "close:1005()");
	/* nothing is read after it */
	expect(STR("\x88\x00\x81\x01x"), 0, "close:1005()");
}

TEST(next, over_the_ceiling, is_reported_without_keeping_it)
{
	struct ws_reader r;
	struct ws_item item;
	char portion[1000];

	expect(STR("\x81\x05Hello\x81\x02ok"), 4, "over message(ok)");
	expect(STR("\x01\x03Hel\x80\x02lo\x81\x02ok"), 4, "over message(ok)");

	/* a frame of 2^40 bytes takes no memory */
	ws_reader_init(&r, 100);
	ws_add(&r, STR("\x81\x7f\x00\x00\x01\x00\x00\x00\x00\x00"));
	memset(portion, 'x', sizeof(portion));
	for (int i = 0; i < 1000; i++) {
		ws_add(&r, (struct str){portion, sizeof(portion)});
		assert_int_equal(ws_next(&r, &item), WS_NONE);
	}
	assert_true(r.in.n < 4096 && r.message.n <= 100);
	ws_reader_release(&r);
}

TEST(next, what_breaks_the_protocol, is_broken_once)
{
	static const struct {
		struct str bytes;
		const char *why;
	} rows[] = {
		{{"\xc1\x01x", 3}, "reserved"},
		{{"\x81\x81\0\0\0\0x", 7}, "masked"},
		{{"\x83\x00", 2}, "unknown kind"},
		{{"\x8b\x00", 2}, "unknown kind"},
		{{"\x09\x00", 2}, "control frame"},
		{{"\x89\x7e\x00\x80", 4}, "control frame"},
		{{"\x80\x00", 2}, "continuation"},
		{{"\x01\x00\x81\x00", 4}, "within another"},
		{{"\x88\x01\x03", 3}, "half a code"},
		{{"\x81\x7f\xff\0\0\0\0\0\0\0", 10}, "2^63"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(buf_release) struct buf log = BUF_INIT(BUF_UNBOUNDED);

		read_in(rows[i].bytes, 1, 0, &log);
		assert_non_null(strstr(buf_cstr(&log), "broken<WebSocket: "));
		assert_non_null(strstr(buf_cstr(&log), rows[i].why));
	}
}

TEST(write, each_length_form, is_masked_and_reversible)
{
	static const size_t lengths[] = {0, 1, 125, 126, 65535, 65536};
	static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
		AUTO(mem_freep) char *text = mem_zalloc(lengths[i] + 1);
		size_t head = lengths[i] < 126	   ? 6
			      : lengths[i] < 65536 ? 8
						   : 14;

		memset(text, 'q', lengths[i]);
		ws_write(&out, WS_OP_TEXT, (struct str){text, lengths[i]},
			 mask);
		assert_int_equal(out.n, head + lengths[i]);
		assert_int_equal((unsigned char)out.p[0], 0x81);
		assert_true(out.p[1] & 0x80);
		for (size_t k = 0; k < lengths[i]; k++)
			assert_int_equal((unsigned char)out.p[head + k],
					 'q' ^ mask[k % 4]);
	}
}

TEST(write, example_of_the_rfc, gives_the_same_bytes)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};

	ws_write(&out, WS_OP_TEXT, STR("Hello"), mask);
	assert_int_equal(out.n, 11);
	assert_memory_equal(
		out.p, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", out.n);
}

TEST(accept, example_of_the_rfc, gives_the_same_text)
{
	char key[WS_KEY_BYTES], accept[WS_ACCEPT_BYTES];

	/* RFC 6455, 1.2 and 1.3 */
	ws_key((const unsigned char *)"the sample nonce", key);
	assert_string_equal(key, "dGhlIHNhbXBsZSBub25jZQ==");
	ws_accept(key, accept);
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}
