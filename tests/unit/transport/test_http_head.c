/* Headers of requests and answers. */

#include "tests/unit/test.h"

#include "core/transport/http_head.h"

/* ---- requests ---- */

TEST(headers, set, lines_one_of_each_name)
{
	struct http_headers h = {NULL, 0};
	struct err err = ERR_INIT;

	assert_int_equal(http_headers_set(&h, "Accept", STR("a"), &err), 0);
	assert_int_equal(http_headers_set(&h, "X", STR(" \tv w\t "), &err), 0);
	assert_int_equal(http_headers_set(&h, "accept-x", STR("b"), &err), 0);
	assert_int_equal(http_headers_set(&h, "E", STR(""), &err), 0);
	assert_int_equal(h.n, 4);
	assert_string_equal(h.line[1], "X: v w");
	assert_string_equal(h.line[3], "E;");
	assert_true(http_headers_has(&h, "ACCEPT"));
	assert_true(http_headers_has(&h, "e"));
	assert_false(http_headers_has(&h, "Acc"));
	assert_false(http_headers_has(NULL, "Acc"));
	assert_int_equal(http_headers_set(&h, "ACCEPT", STR("c"), &err), 0);
	assert_int_equal(h.n, 4);
	assert_string_equal(h.line[0], "X: v w");
	assert_string_equal(h.line[1], "accept-x: b");
	assert_string_equal(h.line[3], "ACCEPT: c");
	assert_int_equal(http_headers_set(&h, "e", STR("1"), &err), 0);
	assert_int_equal(h.n, 4);
	http_headers_release(&h);
	assert_int_equal(h.n, 0);
}

TEST(headers, replaced, by_name_with_values_or_without)
{
	struct http_headers h = {NULL, 0}, from = {NULL, 0};
	struct err err = ERR_INIT;

	assert_int_equal(http_headers_set(&h, "Accept", STR("a"), &err), 0);
	assert_int_equal(http_headers_set(&h, "X", STR("1"), &err), 0);
	assert_int_equal(http_headers_set(&from, "x", STR(""), &err), 0);
	assert_int_equal(http_headers_set(&from, "Y", STR("a:b;c"), &err), 0);
	http_headers_replace(&h, NULL);
	assert_int_equal(h.n, 2);
	http_headers_replace(&h, &from);
	assert_int_equal(h.n, 3);
	assert_string_equal(h.line[0], "Accept: a");
	assert_string_equal(h.line[1], "x;");
	assert_string_equal(h.line[2], "Y: a:b;c");
	assert_int_equal(from.n, 2);
	http_headers_release(&h);
	http_headers_release(&from);
}

TEST(headers, written, also_without_a_value)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct http_headers h = {NULL, 0};
	struct err err = ERR_INIT;

	http_headers_write(&h, &out);
	assert_int_equal(out.n, 0);
	assert_int_equal(http_headers_set(&h, "A", STR("1; b:2"), &err), 0);
	assert_int_equal(http_headers_set(&h, "E", STR(""), &err), 0);
	http_headers_write(&h, &out);
	assert_string_equal(buf_cstr(&out), "A: 1; b:2\r\nE:\r\n");
	http_headers_release(&h);
}

TEST(headers, what_could_become_another_line, refused)
{
	static const char *const names[] = {
		"", "A B", "A:", "A\r", "A\n", "(A)", "A\"", "\xc3\xa4", "A;",
	};
	static const char *const values[] = {
		"a\r\nX: b", "a\nb", "a\rb", "\x01", "\x7f", "a\x1b[0m",
	};
	struct http_headers h = {NULL, 0};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(http_headers_set(&h, names[i], STR("v"), &err),
				 -1);
		assert_int_equal(err.kind, ERR_SYNTAX);
	}
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		assert_int_equal(
			http_headers_set(&h, "X", str_of(values[i]), &err), -1);
		/* it may be a secret */
		assert_null(strstr(err.msg, values[i]));
	}
	assert_int_equal(http_headers_set(&h, "X", STR("a\0b"), &err), -1);
	assert_int_equal(h.n, 0);
	assert_int_equal(
		http_headers_set(&h, "!#$%&'*+-.^_`|~09", STR("\xff\t!"), &err),
		0);
	http_headers_release(&h);
}

/* ---- answers ---- */

static enum http_read read_all(struct http_reader *r, const char *text)
{
	enum http_read read = HTTP_READ_MORE;
	struct str rest = str_of(text);

	while (rest.n && read == HTTP_READ_MORE) {
		size_t n = str_find(rest, '\n');

		n += n < rest.n;
		read = http_reader_line(r, (struct str){rest.p, n});
		rest = (struct str){rest.p + n, rest.n - n};
	}
	return read;
}

static const struct head_case {
	const char *text;
	enum http_read read;
	int status;
	const char *lines, *media_type;
} HEADS[] = {
	{"HTTP/1.1 200 OK\r\nA: b\r\nContent-Type: Text/X;y\r\n\r\n",
	 HTTP_READ_WHOLE, 200, "A: b\nContent-Type: Text/X;y\n", "text/x"},
	{"HTTP/2 204 \r\n\r\n", HTTP_READ_WHOLE, 204, "", ""},
	{"HTTP/1.0 404\n\n", HTTP_READ_WHOLE, 404, "", ""},
	{"HTTP/1.1 101 Switching\r\n\r\n", HTTP_READ_WHOLE, 101, "", ""},
	{"HTTP/1.1 100 Go on\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nC: d\r\n\r\n",
	 HTTP_READ_WHOLE, 200, "C: d\n", ""},
	{"HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\td\r\n\r\n", HTTP_READ_WHOLE, 200,
	 "A: b c d\n", ""},
	{"HTTP/1.1 200 OK\r\n  b\r\nA: c\r\n\r\n", HTTP_READ_WHOLE, 200,
	 "A: c\n", ""},
	{"HTTP/1.1 200 OK\r\nA: b\r\n", HTTP_READ_MORE, 200, NULL, NULL},
	{"HTTP/1.1 100 Go on\r\n\r\n", HTTP_READ_MORE, 100, NULL, NULL},
	{"\r\n", HTTP_READ_BAD, 0, NULL, NULL},
	{"HTTP/1.1\r\n", HTTP_READ_BAD, 0, NULL, NULL},
	{"HTTP/1.1 20\r\n", HTTP_READ_BAD, 0, NULL, NULL},
	{"HTTP/1.1 2000 OK\r\n", HTTP_READ_BAD, 0, NULL, NULL},
	{"HTTP/1.1 099 No\r\n", HTTP_READ_BAD, 0, NULL, NULL},
	{"HTTP/1.1 -12 No\r\n", HTTP_READ_BAD, 0, NULL, NULL},
	{"ICY 200 OK\r\n", HTTP_READ_BAD, 0, NULL, NULL},
};

TEST(reader, heads, as_in_the_table)
{
	for (size_t i = 0; i < ARRAY_LEN(HEADS); i++) {
		const struct head_case *c = &HEADS[i];
		struct http_reader r = HTTP_READER_INIT;
		struct http_head head;

		if (read_all(&r, c->text) != c->read || r.status != c->status)
			fail_msg("%s: status %d", c->text, r.status);
		http_reader_head(&r, &head);
		if (c->lines && (!str_is(head.lines, c->lines) ||
				 !str_is(head.media_type, c->media_type)))
			fail_msg("%s: %.*s, %.*s", c->text, STR_ARG(head.lines),
				 STR_ARG(head.media_type));
		http_reader_release(&r);
	}
}

TEST(reader, heads_and_trailers_without_end, full)
{
	static const char *const begins[] = {
		"HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\n\r\n",
	};
	enum http_read read;

	for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
		struct http_reader r = HTTP_READER_INIT;
		int lines = 0;

		read = read_all(&r, begins[i]);
		assert_int_equal(read, i ? HTTP_READ_WHOLE : HTTP_READ_MORE);
		while (read != HTTP_READ_FULL && lines++ < LIMIT_HEAD_BYTES)
			read = http_reader_line(&r, STR("A: 4567\r\n"));
		assert_in_range(lines, LIMIT_HEAD_BYTES / 9 - 3,
				LIMIT_HEAD_BYTES / 9 + 1);
		http_reader_release(&r);
	}
}

TEST(get, each_name, its_values_and_their_count)
{
	const struct http_head head = {
		.lines = STR("A: 1\nNo\na :3\nA:\t2 \nB:\nC: d: e\n"),
	};
	struct str value;

	assert_true(http_head_get(&head, "a", 0, &value));
	assert_true(str_is(value, "1"));
	assert_true(http_head_get(&head, "a", 1, &value));
	assert_true(str_is(value, "2"));
	assert_false(http_head_get(&head, "a", 2, &value));
	assert_true(http_head_get(&head, "b", 0, &value));
	assert_int_equal(value.n, 0);
	assert_true(http_head_get(&head, "C", 0, &value));
	assert_true(str_is(value, "d: e"));
	assert_false(http_head_get(&head, "No", 0, &value));
	assert_false(http_head_get(&head, "", 0, &value));
}
