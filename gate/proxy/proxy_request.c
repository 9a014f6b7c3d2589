#include "gate/proxy/proxy_request.h"

#include "core/base/text.h"

#define METHOD_MAX 32
#define PORT_HTTP 80
#define BODY_BYTES 1024

enum { SOCKS_VERSION = 5, SOCKS_CONNECT = 1 };
enum { SOCKS_V4 = 1, SOCKS_NAME = 3, SOCKS_V6 = 4 };
enum { SOCKS_NO_AUTH = 0, SOCKS_NO_METHOD = 0xff };

struct outcome {
	uint8_t socks;
	uint16_t status;
	enum proxy_named named;
	const char *reason;
	const char *text;
};

static const struct outcome OUTCOMES[] = {
#define PROXY_OUTCOME(id, socks, status, reason, named, text) \
	{socks, status, NAMED_##named, reason, text},
#include "gate/proxy/proxy_outcomes.def"
#undef PROXY_OUTCOME
};

static enum proxy_said wrong(struct proxy_request *r, enum proxy_outcome why)
{
	r->outcome = why;
	return PROXY_WRONG;
}

/* ---- SOCKS5 ---- */

static uint8_t byte_at(struct str in, size_t i)
{
	return (uint8_t)in.p[i];
}

static enum proxy_said read_greeting(struct str in, struct proxy_request *r)
{
	size_t n = in.n < 2 ? 0 : byte_at(in, 1);

	if (in.n < 2 + n)
		return PROXY_MORE;
	r->used = 2 + n;
	return memchr(in.p + 2, SOCKS_NO_AUTH, n) ? PROXY_GREETED
						  : wrong(r, PROXY_BAD_REQUEST);
}

static enum proxy_said read_socks(struct str in, bool greeted,
				  struct proxy_request *r)
{
	const uint8_t *at = (const uint8_t *)in.p;
	uint16_t port;
	size_t n;
	int bad;

	r->speaks = PROXY_SOCKS;
	if (!greeted)
		return read_greeting(in, r);
	if (in.n < 4)
		return PROXY_MORE;
	if (at[1] != SOCKS_CONNECT)
		return wrong(r, PROXY_BAD_COMMAND);
	if (at[3] != SOCKS_V4 && at[3] != SOCKS_NAME && at[3] != SOCKS_V6)
		return wrong(r, PROXY_BAD_TYPE);
	/* a name has a byte with its length */
	if (at[3] == SOCKS_NAME && in.n < 5)
		return PROXY_MORE;
	n = at[3] == SOCKS_V4 ? 4 : at[3] == SOCKS_V6 ? 16 : 1 + (size_t)at[4];
	if (in.n < 4 + n + 2)
		return PROXY_MORE;
	r->used = 4 + n + 2;
	port = (uint16_t)(at[4 + n] << 8 | at[5 + n]);
	bad = at[3] == SOCKS_NAME
		      ? endpoint_target((struct str){in.p + 5, n - 1}, port,
					&r->target)
		      : endpoint_target_bytes(at + 4, at[3] == SOCKS_V6, port,
					      &r->target);
	return bad ? wrong(r, PROXY_BAD_HOST) : PROXY_ASKED;
}

/* ---- HTTP ---- */

/* Text of a line: no control bytes but tabs. */
static bool is_line(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* The next line without its CRLF. Every head that is read ends in two. */
static struct str next_line(struct str *rest)
{
	const char *end = memmem(rest->p, rest->n, "\r\n", 2);
	size_t n = end ? (size_t)(end - rest->p) : rest->n;
	struct str line = {rest->p, n};

	n += end ? 2 : 0;
	rest->p += n;
	rest->n -= n;
	return line;
}

/* Headers for the proxy, for this connection, or that are rewritten. */
static bool is_dropped(struct str name)
{
	static const char *const names[] = {
		"host", "connection", "keep-alive", "upgrade", "te", "trailer",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (name.n == strlen(names[i]) &&
		    strncasecmp(name.p, names[i], name.n) == 0)
			return true;
	return name.n >= 6 && strncasecmp(name.p, "proxy-", 6) == 0;
}

static bool copy_headers(struct str rest, struct buf *head)
{
	for (;;) {
		struct str line = next_line(&rest), name, value;

		if (!line.n)
			return true;
		value = line;
		name = str_cut(&value, ':');
		if (!value.p || !http_is_token(name) || !is_line(value))
			return false;
		if (head && !is_dropped(name)) {
			buf_add_str(head, line);
			buf_adds(head, "\r\n");
		}
	}
}

struct request_line {
	struct str method, target, version;
};

static bool read_request_line(struct str line, struct request_line *ret)
{
	struct str rest = line;

	if (!is_line(line) || memchr(line.p, '\t', line.n))
		return false;
	ret->method = str_cut(&rest, ' ');
	ret->target = str_cut(&rest, ' ');
	ret->version = rest;
	return http_is_token(ret->method) && ret->method.n <= METHOD_MAX &&
	       ret->target.n &&
	       (str_is(rest, "HTTP/1.1") || str_is(rest, "HTTP/1.0"));
}

/* The port of the scheme is left out. */
static void write_host(const struct endpoint_target *t, struct buf *head)
{
	char text[ENDPOINT_TEXT_BYTES];

	endpoint_target_text(t, text);
	if (t->port == PORT_HTTP)
		text[strlen(text) - strlen(":80")] = '\0';
	buf_addf(head, "Host: %s\r\n", text);
}

static enum proxy_said read_absolute(const struct request_line *line,
				     struct str headers, struct buf *head,
				     struct proxy_request *r)
{
	const size_t scheme = strlen("http://");
	struct str target = line->target, authority;
	size_t n = 0;

	r->speaks = PROXY_HTTP_PLAIN;
	if (target.n < scheme || strncasecmp(target.p, "http://", scheme) != 0)
		return wrong(r, PROXY_BAD_REQUEST);
	target.p += scheme;
	target.n -= scheme;
	while (n < target.n && target.p[n] != '/' && target.p[n] != '?' &&
	       target.p[n] != '#')
		n++;
	authority = (struct str){target.p, n};
	target.p += n;
	target.n -= n;
	if (endpoint_target_authority(authority, PORT_HTTP, &r->target) < 0)
		return wrong(r, PROXY_BAD_HOST);
	buf_addf(head, "%.*s %s%.*s %.*s\r\n", STR_ARG(line->method),
		 target.n && target.p[0] == '/' ? "" : "/", STR_ARG(target),
		 STR_ARG(line->version));
	write_host(&r->target, head);
	if (memchr(line->target.p, '#', line->target.n) ||
	    !copy_headers(headers, head))
		return wrong(r, PROXY_BAD_REQUEST);
	buf_adds(head, "Connection: close\r\n\r\n");
	return PROXY_ASKED;
}

static enum proxy_said read_http(struct str in, struct buf *head,
				 struct proxy_request *r)
{
	/* of the head with its empty line */
	const char *end = memmem(in.p, in.n, "\r\n\r\n", 4);
	size_t n = end ? (size_t)(end - in.p) + 4 : in.n;
	struct str rest = {in.p, n};
	struct request_line line;

	r->speaks = PROXY_HTTP_CONNECT;
	if (n > PROXY_HEAD_BYTES || (!end && n == PROXY_HEAD_BYTES))
		return wrong(r, PROXY_TOO_LARGE);
	if (!end)
		return PROXY_MORE;
	r->used = n;
	if (!read_request_line(next_line(&rest), &line))
		return wrong(r, PROXY_BAD_REQUEST);
	if (!str_is(line.method, "CONNECT"))
		return read_absolute(&line, rest, head, r);
	if (!copy_headers(rest, NULL))
		return wrong(r, PROXY_BAD_REQUEST);
	if (endpoint_target_authority(line.target, 0, &r->target) < 0)
		return wrong(r, PROXY_BAD_HOST);
	return PROXY_ASKED;
}

enum proxy_said proxy_read(struct str in, bool greeted, struct buf *head,
			   struct proxy_request *ret)
{
	*ret = (struct proxy_request){.speaks = PROXY_HTTP_CONNECT};
	if (!in.n)
		return PROXY_MORE;
	if (byte_at(in, 0) == SOCKS_VERSION)
		return read_socks(in, greeted, ret);
	/* bytes that begin with no letter never become a request */
	if (greeted || !text_is_alpha(in.p[0])) {
		ret->speaks = greeted ? PROXY_SOCKS : PROXY_HTTP_CONNECT;
		return wrong(ret, PROXY_BAD_REQUEST);
	}
	return read_http(in, head, ret);
}

/* ---- answers ---- */

void proxy_greet(struct buf *out)
{
	const uint8_t answer[] = {SOCKS_VERSION, SOCKS_NO_AUTH};

	buf_add(out, answer, sizeof(answer));
}

static void write_body(enum proxy_outcome outcome,
		       const struct endpoint_target *target, struct buf *body)
{
	AUTO(buf_release) struct buf allow = BUF_INIT(BODY_BYTES);
	char name[ENDPOINT_TEXT_BYTES] = "";
	struct gate_allow row;

	if (target)
		endpoint_target_text(target, name);
	buf_addf(body, "matins: %s%s%s\n", name, target ? ": " : "",
		 OUTCOMES[outcome].text);
	row = proxy_allow(outcome, name);
	gate_allow_line(&row, &allow);
	if (allow.n)
		buf_addf(body, "to allow it: %s\n", buf_cstr(&allow));
}

void proxy_answer(enum proxy_speaks speaks, enum proxy_outcome outcome,
		  const struct endpoint_target *target, struct buf *out)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BODY_BYTES);
	const struct outcome *o = &OUTCOMES[outcome];

	if (speaks == PROXY_SOCKS) {
		const uint8_t answer[10] = {SOCKS_VERSION, o->socks, 0,
					    SOCKS_V4};
		const uint8_t no_method[] = {SOCKS_VERSION, SOCKS_NO_METHOD};

		/* still in the greeting: none of the methods */
		if (outcome == PROXY_BAD_REQUEST)
			buf_add(out, no_method, sizeof(no_method));
		else
			buf_add(out, answer, sizeof(answer));
		return;
	}
	if (outcome == PROXY_CONNECTED) {
		if (speaks == PROXY_HTTP_CONNECT)
			buf_addf(out, "HTTP/1.1 %u %s\r\n\r\n", o->status,
				 o->reason);
		return;
	}
	write_body(outcome, target, &body);
	buf_addf(out,
		 "HTTP/1.1 %u %s\r\nContent-Type: text/plain\r\n"
		 "Content-Length: %zu\r\nConnection: close\r\n\r\n",
		 o->status, o->reason, body.n);
	buf_add_str(out, buf_str(&body));
}

enum proxy_named proxy_named_as(enum proxy_outcome outcome)
{
	return OUTCOMES[outcome].named;
}

const char *proxy_outcome_text(enum proxy_outcome outcome)
{
	return OUTCOMES[outcome].text;
}

struct gate_allow proxy_allow(enum proxy_outcome outcome, const char *name)
{
	struct endpoint row;

	if ((outcome != PROXY_UNLISTED && outcome != PROXY_PRIVATE) ||
	    endpoint_parse(name, &row, ERR_IGNORED) < 0)
		return (struct gate_allow){NULL, NULL};
	return (struct gate_allow){"net", name};
}
