#include "core/transport/http_exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <unistd.h>

#include "core/base/mem.h"

/* ---- how it fails: sentences that say what to do ---- */

void http_exchange_fail(struct http_exchange *x, enum http_end_kind kind,
			const char *fmt, ...)
{
	char sentence[LIMIT_ERR_MSG];
	va_list ap;

	if (x->is_decided)
		return;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	x->is_decided = true;
	x->end.kind = kind;
	err_set(&x->end.err, ERR_PEER, "%s: %s", x->where, sentence);
}

static void say_connect(struct http_exchange *x)
{
	long sys = 0;

	x->h->lib->curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &sys);
	http_exchange_fail(
		x, HTTP_CONNECT,
		"cannot be connected to (%s); is the server running, are "
		"host and port right?",
		sys ? strerror((int)sys) : "no answer");
}

static void say_timeout(struct http_exchange *x)
{
	uint64_t total_ms = x->r.total_ms, ms = x->r.connect_ms;

	if (x->end.is_sent || (total_ms && total_ms < ms))
		ms = total_ms;
	http_exchange_fail(x, HTTP_TIMEOUT, "no %s within %llu ms",
			   x->end.is_sent ? "whole answer" : "connection",
			   (unsigned long long)ms);
}

/* By the words of OpenSSL, since libcurl has one code for all of them. */
static const char *certificate_remedy(const char *detail)
{
	if (strstr(detail, "expired"))
		return "its operator must renew it; if the clock of this "
		       "machine is wrong, set it";
	if (strstr(detail, "not yet valid"))
		return "is the clock of this machine right?";
	if (strstr(detail, "does not match") ||
	    strstr(detail, "subject name matches"))
		return "use the name that it is for, if that is the server";
	return "if an authority of your own signed it, name its PEM file: "
	       "--ca-file FILE, or the key ca_file";
}

static void say_certificate(struct http_exchange *x)
{
	http_exchange_fail(x, HTTP_TLS,
			   "its certificate is not accepted (%s); %s",
			   x->detail[0] ? x->detail : "not verified",
			   certificate_remedy(x->detail));
}

static void say_tls(struct http_exchange *x)
{
	http_exchange_fail(
		x, HTTP_TLS,
		"TLS failed (%s); it takes version 1.2 or later, and a "
		"server that speaks TLS on this port",
		x->detail[0] ? x->detail : "handshake");
}

static void say_cut(struct http_exchange *x)
{
	http_exchange_fail(x, HTTP_CUT, "%s",
			   x->reader.is_whole
				   ? "the connection ended within the answer"
				   : "the connection ended without an answer");
}

static void say_memory(struct http_exchange *x)
{
	/* libcurl's code for a header line of more than 100 KiB */
	if (x->end.is_sent && !x->reader.is_whole)
		http_exchange_fail(x, HTTP_LIMIT,
				   "a header of the answer is too long");
	else
		http_exchange_fail(x, HTTP_BROKEN, "out of memory");
}

/* A judge of addresses refused all of them, or that of the connection. */
static bool is_refusal(const struct http_exchange *x, CURLcode code)
{
	return x->is_refused && !x->is_decided &&
	       (code == CURLE_COULDNT_CONNECT ||
		code == CURLE_ABORTED_BY_CALLBACK);
}

static void say_no_connection(struct http_exchange *x)
{
	/* libcurl tried again when the connection of the request went */
	if (x->end.is_sent)
		say_cut(x);
	else
		say_connect(x);
}

/* libcurl has no complaint, and has none about an answer without a head. */
static void judge_done(struct http_exchange *x)
{
	bool is_tunnel = x->connected;

	if (is_tunnel || x->reader.is_whole)
		x->is_decided = true;
	else
		say_cut(x);
}

/* By code of libcurl: a function, or a sentence for its kind of end. */
static const struct {
	CURLcode code;
	void (*say)(struct http_exchange *x);
	enum http_end_kind kind;
	const char *sentence;
} conclusions[] = {
	{CURLE_OK, .say = judge_done},
	{CURLE_COULDNT_RESOLVE_HOST, NULL, HTTP_RESOLVE,
	 "the name has no address; is it spelled right, is there a network?"},
	{CURLE_COULDNT_CONNECT, .say = say_no_connection},
	{CURLE_OPERATION_TIMEDOUT, .say = say_timeout},
	{CURLE_PEER_FAILED_VERIFICATION, .say = say_certificate},
	{CURLE_SSL_ISSUER_ERROR, .say = say_certificate},
	{CURLE_PARTIAL_FILE, .say = say_cut},
	{CURLE_GOT_NOTHING, .say = say_cut},
	{CURLE_SEND_ERROR, .say = say_cut},
	{CURLE_RECV_ERROR, .say = say_cut},
	{CURLE_HTTP2, .say = say_cut},
	{CURLE_HTTP2_STREAM, .say = say_cut},
	{CURLE_BAD_CONTENT_ENCODING, NULL, HTTP_BROKEN,
	 "the answer is compressed though that was not asked for, and cannot "
	 "be unpacked"},
	{CURLE_URL_MALFORMAT, NULL, HTTP_BROKEN, "not a URL"},
	{CURLE_OUT_OF_MEMORY, .say = say_memory},
	{CURLE_UNSUPPORTED_PROTOCOL, NULL, HTTP_BROKEN,
	 "the answer is not HTTP"},
	{CURLE_WEIRD_SERVER_REPLY, NULL, HTTP_BROKEN, "the answer is not HTTP"},
	{CURLE_SSL_CONNECT_ERROR, .say = say_tls},
	{CURLE_SSL_ENGINE_NOTFOUND, .say = say_tls},
	{CURLE_SSL_CERTPROBLEM, .say = say_tls},
	{CURLE_SSL_CIPHER, .say = say_tls},
	{CURLE_SSL_CACERT_BADFILE, .say = say_tls},
	{CURLE_SSL_CRL_BADFILE, .say = say_tls},
	{CURLE_SSL_INVALIDCERTSTATUS, .say = say_tls},
	{CURLE_SSL_CLIENTCERT, .say = say_tls},
	{CURLE_USE_SSL_FAILED, .say = say_tls},
};

void http_exchange_conclude(struct http_exchange *x, CURLcode code)
{
	size_t i = 0;

	if (is_refusal(x, code)) {
		x->is_decided = true;
		x->end.kind = HTTP_REFUSED;
		x->end.err = x->refusal;
		return;
	}
	while (i < ARRAY_LEN(conclusions) && conclusions[i].code != code)
		i++;
	if (i == ARRAY_LEN(conclusions))
		http_exchange_fail(x, HTTP_BROKEN,
				   "the exchange failed (libcurl: %d)",
				   (int)code);
	else if (conclusions[i].say)
		conclusions[i].say(x);
	else
		http_exchange_fail(x, conclusions[i].kind, "%s",
				   conclusions[i].sentence);
}

/* ---- addresses ---- */

static bool judge(struct http_exchange *x, const struct sockaddr *address)
{
	if (reach_judge(&x->reach, x->host, address, &x->refusal)) {
		x->range = reach_class_of(address);
		return true;
	}
	/* kept in case that no other address of the name is allowed */
	x->is_refused = true;
	return false;
}

/* Called by libcurl for each address before a socket is opened to it. */
static curl_socket_t on_open(void *arg, curlsocktype purpose,
			     struct curl_sockaddr *a)
{
	struct http_exchange *x = arg;

	if (purpose != CURLSOCKTYPE_IPCXN || x->is_cancelled ||
	    !judge(x, &a->addr))
		return CURL_SOCKET_BAD;
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* The address of a connection, as libcurl writes it; false: not understood. */
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
		http_exchange_fail(x, HTTP_CUT,
				   "the connection ended without an answer");
		return CURL_PREREQFUNC_ABORT;
	}
	x->is_refused = false;
	x->end.is_sent = !x->connected;
	return CURL_PREREQFUNC_OK;
}

/* ---- answers ---- */

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
		http_exchange_fail(x, HTTP_LIMIT,
				   "the head of the answer is over %d KiB",
				   LIMIT_HEAD_BYTES / 1024);
		break;
	case HTTP_READ_BAD:
		http_exchange_fail(x, HTTP_BROKEN, "the answer is not HTTP");
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
		http_exchange_fail(x, HTTP_LIMIT,
				   "the answer is over %llu bytes",
				   (unsigned long long)x->r.body_max);
		return 0;
	}
	if (x->r.body && !x->r.body(x->r.arg, (struct str){bytes, n})) {
		x->end.kind = HTTP_DONE;
		x->is_decided = true;
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

static bool set_trust(struct http_exchange *x)
{
	__typeof__(&curl_easy_setopt) set = x->h->lib->curl_easy_setopt;
	struct curl_blob blob = {
		.data = x->h->authorities.p,
		.len = x->h->authorities.n,
		.flags = CURL_BLOB_NOCOPY,
	};

	if (x->h->ca_folder &&
	    (set(x->easy, CURLOPT_CAINFO, NULL) != CURLE_OK ||
	     set(x->easy, CURLOPT_CAPATH, x->h->ca_folder) != CURLE_OK))
		return false;
	return !blob.len ||
	       set(x->easy, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK;
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

bool http_exchange_prepare(struct http_exchange *x)
{
	x->easy = x->h->lib->curl_easy_init();
	if (x->easy && set_guards(x) && set_trust(x) && set_connection(x) &&
	    set_request(x))
		return true;
	http_exchange_fail(x, HTTP_BROKEN,
			   "this libcurl or this URL cannot be used (%s)",
			   curl_library_text());
	return false;
}
