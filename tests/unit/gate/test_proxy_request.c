/*
 * What a hostile program says to the proxy, and what it is answered. Rows are
 * in values/proxy.transcript:
 *
 *	first BYTES	said at the beginning
 *	greeted BYTES	likewise, behind the greeting of SOCKS5
 *	head BYTES	the head that a server gets
 */
#include "tests/unit/test.h"

#include "gate/proxy/proxy_request.h"
#include "tests/unit/values.h"

/* However the bytes come, the request is the same once it is whole. */
static void read_chopped(struct str in, bool greeted, size_t whole)
{
	for (size_t n = 0; n < whole; n++) {
		AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
		struct proxy_request r;

		if (proxy_read((struct str){in.p, n}, greeted, &head, &r) !=
		    PROXY_MORE)
			fail_msg("no more is asked for at byte %zu", n);
	}
}

static int do_said(struct value_row *row, bool greeted)
{
	static const char *const outcomes[] = {
#define PROXY_OUTCOME(id, socks, status, reason, named, text) #id,
#include "gate/proxy/proxy_outcomes.def"
#undef PROXY_OUTCOME
	};
	static const char *const said[] = {[PROXY_MORE] = "more",
					   [PROXY_GREETED] = "greeted",
					   [PROXY_ASKED] = "asked",
					   [PROXY_WRONG] = "wrong"};
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	struct str in = value_bytes(row, row->part[0]);
	char target[ENDPOINT_TEXT_BYTES] = "";
	struct proxy_request r;
	enum proxy_said what = proxy_read(in, greeted, &head, &r);

	buf_adds(&row->out, said[what]);
	if (what == PROXY_WRONG)
		buf_addf(&row->out, " %s", outcomes[r.outcome]);
	if (what == PROXY_ASKED) {
		endpoint_target_text(&r.target, target);
		buf_addf(&row->out, " %s, %zu left", target, in.n - r.used);
		read_chopped(in, greeted, r.used);
	}
	return 0;
}

static int do_first(struct value_row *row)
{
	return do_said(row, false);
}

static int do_greeted(struct value_row *row)
{
	return do_said(row, true);
}

static int do_head(struct value_row *row)
{
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	struct proxy_request r;

	assert_int_equal(
		proxy_read(value_bytes(row, row->part[0]), false, &head, &r),
		PROXY_ASKED);
	add_encoded(&row->out, buf_str(&head));
	return 0;
}

static const struct value_reader READERS[] = {
	{"first", do_first}, {"greeted", do_greeted}, {"head", do_head}};

TEST_VALUES(READERS, "tests/unit/gate/values/proxy.transcript");

TEST(read, head_at_its_ceiling, takes_a_head_at_its_ceiling)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	struct proxy_request r;

	buf_adds(&in, "GET http://a.example/ HTTP/1.1\r\nA: ");
	while (in.n < PROXY_HEAD_BYTES - 4)
		buf_addc(&in, 'x');
	assert_int_equal(proxy_read(buf_str(&in), false, &head, &r),
			 PROXY_MORE);
	buf_adds(&in, "\r\n\r\n");
	assert_int_equal(proxy_read(buf_str(&in), false, &head, &r),
			 PROXY_ASKED);
	assert_true(head.n <= PROXY_HEAD_BYTES + PROXY_HEAD_MORE);
	in.p[in.n - 4] = 'x';
	assert_int_equal(proxy_read(buf_str(&in), false, &head, &r),
			 PROXY_WRONG);
	assert_int_equal(r.outcome, PROXY_TOO_LARGE);
}

static struct endpoint_target target(const char *text)
{
	struct endpoint_target t;

	assert_int_equal(endpoint_target_authority(str_of(text), 0, &t), 0);
	return t;
}

TEST(answer, every_outcome, is_well_formed)
{
	const struct endpoint_target t = target("a.example:443");

	for (int i = 0; i < N_PROXY_OUTCOMES; i++) {
		AUTO(buf_release) struct buf http = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf socks = BUF_INIT(BUF_UNBOUNDED);

		proxy_answer(PROXY_HTTP_CONNECT, (enum proxy_outcome)i, &t,
			     &http);
		proxy_answer(PROXY_SOCKS, (enum proxy_outcome)i, &t, &socks);
		assert_memory_equal(buf_cstr(&http), "HTTP/1.1 ", 9);
		assert_non_null(strstr(buf_cstr(&http), "\r\n\r\n"));
		assert_int_equal(socks.p[0], 5);
		assert_int_equal((i == PROXY_CONNECTED), socks.p[1] == 0);
	}
}

TEST(answer, refused, names_the_line)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct endpoint_target t = target("a.example:443");

	proxy_answer(PROXY_HTTP_PLAIN, PROXY_UNLISTED, &t, &out);
	assert_non_null(strstr(buf_cstr(&out), "403 Forbidden"));
	assert_non_null(strstr(buf_cstr(&out),
			       "sandbox = { net = [\"a.example:443\"] }"));
	buf_clear(&out);
	/* nothing allows a name to mean this machine */
	proxy_answer(PROXY_HTTP_PLAIN, PROXY_LOCAL, &t, &out);
	assert_null(strstr(buf_cstr(&out), "to allow it"));
	buf_clear(&out);
	proxy_answer(PROXY_HTTP_PLAIN, PROXY_CONNECTED, &t, &out);
	assert_int_equal(out.n, 0);
}
