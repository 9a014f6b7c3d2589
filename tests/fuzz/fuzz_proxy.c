/*
 * What a hostile program says to the proxy. Whatever the bytes are, a target
 * is one that reads back as itself, a judge never grants what is not listed,
 * and a head that is written anew is a single request within its ceiling.
 */
#include "gate/proxy/proxy_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_target(const struct endpoint_target *t)
{
	static const char *const rows[] = {"*.granted.example", "10.0.0.5:80"};
	struct endpoint row[ARRAY_LEN(rows)];
	struct err err = ERR_INIT;
	char text[ENDPOINT_TEXT_BYTES];
	struct endpoint_target again;

	endpoint_target_text(t, text);
	if (endpoint_target_authority(str_of(text), 0, &again) < 0 ||
	    strcmp(again.host, t->host) != 0 || again.port != t->port)
		abort();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (endpoint_parse(rows[i], &row[i], &err) < 0)
			abort();
	if (endpoint_judge(row, ARRAY_LEN(row), t) != ENDPOINT_REFUSED &&
	    !str_ends(str_of(t->host), ".granted.example") &&
	    strcmp(text, "10.0.0.5:80") != 0)
		abort();
}

static void check_head(const struct buf *head)
{
	const char *end = memmem(head->p, head->n, "\r\n\r\n", 4);

	if (!end || end + 4 != head->p + head->n ||
	    head->n > PROXY_HEAD_BYTES + PROXY_HEAD_MORE ||
	    memchr(head->p, '\0', head->n))
		abort();
}

static void answer(enum proxy_speaks speaks, enum proxy_outcome outcome,
		   const struct endpoint_target *t)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	proxy_answer(speaks, outcome, t, &out);
	if (!out.n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = {(const char *)data, size};
	bool greeted = false;

	for (;;) {
		AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
		struct proxy_request r;
		enum proxy_said said = proxy_read(in, greeted, &head, &r);

		if (r.used > in.n)
			abort();
		if (said == PROXY_WRONG)
			answer(r.speaks, r.outcome, NULL);
		if (said == PROXY_ASKED) {
			check_target(&r.target);
			answer(r.speaks, PROXY_UNLISTED, &r.target);
			if (r.speaks == PROXY_HTTP_PLAIN)
				check_head(&head);
		}
		if (said != PROXY_GREETED)
			return 0;
		greeted = true;
		in = (struct str){in.p + r.used, in.n - r.used};
	}
}
