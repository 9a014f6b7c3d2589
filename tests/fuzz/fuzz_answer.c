/*
 * Answers of authorization servers: the first byte says of what, the rest is
 * the body or the query. What is accepted can stand in a header, and nothing
 * is accepted that names another issuer or state.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/auth/flow_grant.h"
#include "core/base/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void check_token(struct str body, bool is_exchange, struct arena *arena)
{
	struct answer_token t;
	struct err err = ERR_INIT;

	if (answer_token(200, body, is_exchange, arena, &t, &err) < 0) {
		expect(!t.access_token && !t.refresh_token);
		return;
	}
	for (const char *p = t.access_token; *p; p++)
		expect(*p > 0x20 && *p < 0x7f);
	expect(t.expires_in_s >= -1 && !t.error[0]);
}

static void check_client(struct str body, struct arena *arena)
{
	struct answer_client c;
	struct err err = ERR_INIT;

	if (answer_client(201, body, arena, &c, &err) < 0)
		return;
	expect(c.id && (c.secret || c.method == GRANT_NONE));
}

static void check_redirect(struct str query)
{
	const struct answer_expect e = {.state = "st", .issuer = "https://a"};
	AUTO(buf_release) struct buf code = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	if (answer_redirect(query, &e, &code, &err) != 0)
		return;
	expect(code.n > 0);
	expect(url_form_get(query, "state", &b) && str_is(buf_str(&b), "st"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str rest = {(const char *)data + 1, size - 1};

	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		check_token(rest, false, &arena);
		break;
	case 1:
		check_token(rest, true, &arena);
		break;
	case 2:
		check_client(rest, &arena);
		break;
	default:
		check_redirect(rest);
	}
	return 0;
}
