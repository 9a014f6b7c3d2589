/* One exchange for libcurl: its options, and what libcurl calls. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/transport/http_inner.h"

/* ---- who may be connected to ---- */

static bool judge(struct http_exchange *x, const struct sockaddr *address)
{
	if (reach_judge(&x->reach, x->host, address, &x->refusal)) {
		x->range = reach_class_of(address);
		return true;
	}
	/* another address of the name may do: kept in case that none does */
	x->is_refused = true;
	return false;
}

/* Asked for each address before a socket is opened to it. */
static curl_socket_t on_open(void *arg, curlsocktype purpose,
			     struct curl_sockaddr *a)
{
	struct http_exchange *x = arg;

	if (purpose != CURLSOCKTYPE_IPCXN || x->is_cancelled ||
	    !judge(x, &a->addr))
		return CURL_SOCKET_BAD;
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* What a connection goes to, in libcurl's words; false: not understood. */
static bool read_address(const char *ip, int port, struct sockaddr_storage *ret)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, ip, &v4.sin_addr) == 1) {
		v4.sin_port = htons((uint16_t)port);
		memcpy(ret, &v4, sizeof(v4));
		return true;
	}
	if (inet_pton(AF_INET6, ip, &v6.sin6_addr) != 1)
		return false;
	v6.sin6_port = htons((uint16_t)port);
	memcpy(ret, &v6, sizeof(v6));
	return true;
}

/* May it be asked twice without harm? RFC 9110, section 9.2.2. */
static bool is_repeatable(const struct http_exchange *x)
{
	return strcmp(x->method, "GET") == 0 || strcmp(x->method, "HEAD") == 0;
}

/*
 * Asked before each request, also on a connection that somebody else opened,
 * whose address may be none that this exchange may use. It comes a second
 * time when libcurl wants to repeat on a new connection what it sent on an old
 * one that then ended: the server may have acted on it, so we do not.
 */
static int on_request(void *arg, char *ip, UNUSED char *own_ip, int port,
		      UNUSED int own_port)
{
	struct http_exchange *x = arg;
	struct sockaddr_storage address;

	if (x->is_cancelled)
		return CURL_PREREQFUNC_ABORT;
	if (!read_address(ip, port, &address) ||
	    !judge(x, (struct sockaddr *)&address))
		return CURL_PREREQFUNC_ABORT;
	if (x->end.is_sent && !is_repeatable(x)) {
		http_fail(x, HTTP_CUT,
			  "the connection ended without an answer");
		return CURL_PREREQFUNC_ABORT;
	}
	x->is_refused = false;
	x->end.is_sent = !x->connected;
	return CURL_PREREQFUNC_OK;
}

/* ---- what comes ---- */

static void tell_head(struct http_exchange *x)
{
	struct http_head head;

	if (!x->r.head)
		return;
	http_reader_head(&x->reader, &head);
	head.range = x->range;
	x->r.head(x->r.arg, &head);
}

static size_t on_header(char *bytes, UNUSED size_t one, size_t n, void *arg)
{
	struct http_exchange *x = arg;

	x->last_ns = loop_now(x->h->loop);
	if (x->is_cancelled)
		return 0;
	switch (http_reader_line(&x->reader, (struct str){bytes, n})) {
	case HTTP_READ_MORE:
		return n;
	case HTTP_READ_WHOLE:
		tell_head(x);
		return x->is_cancelled ? 0 : n;
	case HTTP_READ_FULL:
		http_fail(x, HTTP_LIMIT,
			  "the head of the answer is over %d KiB",
			  LIMIT_HEAD_BYTES / 1024);
		break;
	case HTTP_READ_BAD:
		http_fail(x, HTTP_BROKEN, "what came is not HTTP");
		break;
	}
	return 0;
}

/* Fewer than n bytes taken ends the exchange. */
static size_t on_body(char *bytes, UNUSED size_t one, size_t n, void *arg)
{
	struct http_exchange *x = arg;

	x->last_ns = loop_now(x->h->loop);
	if (x->is_cancelled)
		return 0;
	x->body_bytes += n;
	if (x->r.body_max && x->body_bytes > x->r.body_max) {
		http_fail(x, HTTP_LIMIT, "the answer is over %llu bytes",
			  (unsigned long long)x->r.body_max);
		return 0;
	}
	if (x->r.body && !x->r.body(x->r.arg, (struct str){bytes, n})) {
		x->end.kind = HTTP_DONE;
		x->has_failed = true;
		return 0;
	}
	return x->is_cancelled ? 0 : n;
}

/* ---- options ---- */

/* Lines that turn off what libcurl would add by itself. */
static const char *const unless_given[][2] = {
	{"Accept-Encoding", "Accept-Encoding: identity"},
	{"Content-Type", "Content-Type:"},
	{"Expect", "Expect:"},
};

static void add_line(struct http_exchange *x, size_t *n, const char *line)
{
	struct curl_slist *node = &x->lines[(*n)++];

	/* libcurl only reads them */
	node->data = (char *)line;
	if (*n > 1)
		node[-1].next = node;
}

/* The list lies on our own lines, so that wiping these wipes all of it. */
static struct curl_slist *list_lines(struct http_exchange *x)
{
	size_t n = 0;

	x->lines = mem_zalloc((x->headers.n + ARRAY_LEN(unless_given)) *
			      sizeof(*x->lines));
	for (size_t i = 0; i < x->headers.n; i++)
		add_line(x, &n, x->headers.line[i]);
	for (size_t i = 0; i < ARRAY_LEN(unless_given); i++)
		if (!http_headers_has(&x->headers, unless_given[i][0]))
			add_line(x, &n, unless_given[i][1]);
	return x->lines;
}

static long as_long(uint64_t ms)
{
	return ms > INT_MAX ? INT_MAX : (long)ms;
}

#define SET(option, value) \
	(is_set &=         \
	 x->h->lib->curl_easy_setopt(x->easy, option, value) == CURLE_OK)

/* Nothing of the environment, no other protocol, no step without a judge. */
static bool set_guards(struct http_exchange *x)
{
	bool is_set = true;

	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NOPROXY, "*");
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_UNRESTRICTED_AUTH, 0L);
	SET(CURLOPT_OPENSOCKETFUNCTION, on_open);
	SET(CURLOPT_OPENSOCKETDATA, x);
	SET(CURLOPT_PREREQFUNCTION, on_request);
	SET(CURLOPT_PREREQDATA, x);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* where it is not known, a removal waits for a resolver that hangs */
	(void)x->h->lib->curl_easy_setopt(x->easy, CURLOPT_QUICK_EXIT, 1L);
	return is_set;
}

static bool set_connection(struct http_exchange *x)
{
	bool has_http2 = x->h->lib->version->features & CURL_VERSION_HTTP2;
	bool is_set = true;

	SET(CURLOPT_URL, x->url);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_PRIVATE, x);
	SET(CURLOPT_ERRORBUFFER, x->detail);
	SET(CURLOPT_CONNECTTIMEOUT_MS, as_long(x->r.connect_ms));
	SET(CURLOPT_TIMEOUT_MS, as_long(x->r.total_ms));
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	if (x->connected) {
		SET(CURLOPT_CONNECT_ONLY, 1L);
		SET(CURLOPT_FRESH_CONNECT, 1L);
	}
	if (!x->connected && x->is_https && has_http2) {
		SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
		/* a burst to a new host makes one connection, not many */
		SET(CURLOPT_PIPEWAIT, 1L);
	} else {
		SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	}
	return is_set;
}

static bool set_request(struct http_exchange *x)
{
	bool is_head = strcmp(x->method, "HEAD") == 0;
	bool is_set = true;

	if (x->content || strcmp(x->method, "POST") == 0) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, x->content ? x->content : "");
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->r.content.n);
	}
	if (is_head)
		SET(CURLOPT_NOBODY, 1L);
	else
		SET(CURLOPT_CUSTOMREQUEST, x->method);
	SET(CURLOPT_USERAGENT, x->h->user_agent);
	SET(CURLOPT_HTTPHEADER, list_lines(x));
	/* unpacks what comes packed; that is not asked for, see above */
	SET(CURLOPT_ACCEPT_ENCODING, "");
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, x);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, x);
	return is_set;
}

bool http_setup(struct http_exchange *x)
{
	x->easy = x->h->lib->curl_easy_init();
	if (x->easy && set_guards(x) && http_trust_set(x) &&
	    set_connection(x) && set_request(x))
		return true;
	http_fail(x, HTTP_BROKEN,
		  "this libcurl or this URL cannot be used (%s)",
		  curl_library_text());
	return false;
}
