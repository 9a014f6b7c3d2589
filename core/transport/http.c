#include "core/transport/http.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/base/dl.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/transport/http_head.h"

#define LIBRARY "libcurl.so.4"
/* CURLOPT_PROTOCOLS_STR is of 7.85; the others that we need are older. */
#define OLDEST 0x075500
/* Descriptors that are left for the rest of the program. */
#define RESERVED_FDS 64
#define CONNECT_MS 10000
/* Bytes of a document of metadata: those are small. */
#define FETCH_MAX (1024 * 1024)
/* Bytes that TLS has begun to send must be offered again at one address. */
#define OUT_BYTES 16384

/* ---- the library ---- */

#define CURL_FUNCTIONS(X)           \
	X(curl_global_init)         \
	X(curl_version_info)        \
	X(curl_easy_init)           \
	X(curl_easy_cleanup)        \
	X(curl_easy_setopt)         \
	X(curl_easy_getinfo)        \
	X(curl_easy_send)           \
	X(curl_easy_recv)           \
	X(curl_multi_init)          \
	X(curl_multi_cleanup)       \
	X(curl_multi_setopt)        \
	X(curl_multi_add_handle)    \
	X(curl_multi_remove_handle) \
	X(curl_multi_assign)        \
	X(curl_multi_socket_action) \
	X(curl_multi_info_read)

struct curl {
	CURL_FUNCTIONS(DL_MEMBER)
	const curl_version_info_data *version;
};

static struct curl curl_functions;
/* "libcurl/7.88.1 OpenSSL/3.0.19"; "" while it is not loaded. */
static char curl_text[128];

/*
 * Load and set it up, once for the process. From then on SSLKEYLOGFILE is not
 * in the environment: nothing else would keep libcurl from writing the keys of
 * its sessions there.
 *
 * errors  ERR_UNKNOWN  it is not installed, too old, or without TLS
 */
static int load_library(struct err *err)
{
	static const char *const names[] = {CURL_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, curl_functions);
	const curl_version_info_data *version;

	if (!dl_load(&dl) && dl.lacks)
		return err_set(err, ERR_UNKNOWN, LIBRARY " has no %s",
			       dl.lacks);
	if (!dl_load(&dl))
		return err_set(err, ERR_UNKNOWN,
			       "remote servers need " LIBRARY ", which is not "
			       "here; install it: apt-get install libcurl4");
	/* libcurl would write the keys of each TLS session there */
	unsetenv("SSLKEYLOGFILE");
	if (curl_functions.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, ERR_UNKNOWN, LIBRARY " cannot be set up");
	version = curl_functions.curl_version_info(CURLVERSION_NOW);
	if (version->version_num < OLDEST)
		return err_set(err, ERR_UNKNOWN,
			       "remote servers need libcurl 7.85 or later; "
			       "here is %s",
			       version->version);
	if (!(version->features & CURL_VERSION_SSL))
		return err_set(err, ERR_UNKNOWN, LIBRARY " is without TLS");
	snprintf(curl_text, sizeof(curl_text), "libcurl/%s %s",
		 version->version, version->ssl_version);
	curl_functions.version = version;
	return 0;
}

/* ---- state ---- */

struct http_list {
	struct http_exchange *first, *last;
};

struct http {
	const struct curl *lib; /* static */
	CURLM *multi;		/* owned */
	struct loop *loop;	/* borrowed */
	char *user_agent;	/* owned */
	/* PEM text of the authorities that are not in `ca_folder`; owned */
	struct buf authorities;
	const char *ca_folder;	  /* of the system, hashed; static; or NULL */
	struct loop_timer timer;  /* libcurl's */
	struct loop_timer kick;	  /* to begin and to remove, from the loop */
	struct http_list queue;	  /* not yet given to libcurl; owned */
	struct http_list running; /* owned */
	unsigned depth;		  /* > 0: libcurl is on the stack */
	bool has_cancelled;	  /* among those that run */
	bool is_deaf; /* a socket could not be watched: nothing runs on */
	struct err deaf_err;
};

struct http_exchange {
	struct http *h;
	struct http_exchange *prev, *next;
	struct http_request r; /* texts are owned and of `url` and so on */
	CURL *easy;	       /* owned; NULL while it is queued */
	char *method, *url;    /* owned */
	char *where;	       /* "host:port", for sentences; owned */
	struct str host;       /* slice of `where` */
	bool is_https;
	char *content; /* owned; NULL none */
	struct http_headers headers;
	struct curl_slist *lines; /* array of its nodes; owned */
	struct reach reach;
	struct http_reader reader;
	struct loop_timer idle;
	uint64_t last_ns;    /* when a byte came or went */
	curl_off_t uploaded; /* at that time */
	uint64_t body_bytes;
	enum address_class range; /* of the address in use */
	bool is_added;		  /* libcurl has it */
	bool is_cancelled;
	bool is_refused; /* one address at least was, as `refusal` says */
	bool is_decided; /* `end` stays, whatever libcurl says later */
	struct http_end end;
	struct err refusal;
	char detail[CURL_ERROR_SIZE]; /* libcurl's own words */
	/* Connect only; told when that is done. NULL: an ordinary exchange. */
	void (*connected)(void *arg);
	/* Told when it is freed, for what lies around it; may be NULL. */
	void (*release)(void *arg);
};

/* ---- how it fails: sentences that say what to do ---- */

/* Decide how it ends; the first failure counts. */
static void PRINTF(3, 4)
	fail_exchange(struct http_exchange *x, enum http_end_kind kind,
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
	fail_exchange(x, HTTP_CONNECT,
		      "cannot be connected to (%s); is the server running, are "
		      "host and port right?",
		      sys ? strerror((int)sys) : "no answer");
}

static void say_timeout(struct http_exchange *x)
{
	uint64_t total_ms = x->r.total_ms, ms = x->r.connect_ms;

	if (x->end.is_sent || (total_ms && total_ms < ms))
		ms = total_ms;
	fail_exchange(x, HTTP_TIMEOUT, "no %s within %llu ms",
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

static void say_cut(struct http_exchange *x)
{
	fail_exchange(x, HTTP_CUT, "%s",
		      x->reader.is_whole
			      ? "the connection ended within the answer"
			      : "the connection ended without an answer");
}

/* A judge of addresses refused all of them, or that of the connection. */
static bool is_refusal(const struct http_exchange *x, CURLcode code)
{
	return x->is_refused && !x->is_decided &&
	       (code == CURLE_COULDNT_CONNECT ||
		code == CURLE_ABORTED_BY_CALLBACK);
}

static void judge_tls(struct http_exchange *x, CURLcode code)
{
	if (code == CURLE_PEER_FAILED_VERIFICATION ||
	    code == CURLE_SSL_ISSUER_ERROR)
		fail_exchange(x, HTTP_TLS,
			      "its certificate is not accepted (%s); %s",
			      x->detail[0] ? x->detail : "not verified",
			      certificate_remedy(x->detail));
	else
		fail_exchange(
			x, HTTP_TLS,
			"TLS failed (%s); it takes version 1.2 or later, and a "
			"server that speaks TLS on this port",
			x->detail[0] ? x->detail : "handshake");
}

/* Codes of libcurl, where others are HTTP_BROKEN. */
static const struct {
	CURLcode code;
	enum http_end_kind kind;
	const char *says; /* NULL: judge_exchange() says more */
} failures[] = {
	/* libcurl has no complaint about an answer without a head */
	{CURLE_OK, HTTP_CUT, NULL},
	/* tried again after the connection of the request went */
	{CURLE_COULDNT_CONNECT, HTTP_CUT, NULL},
	{CURLE_PARTIAL_FILE, HTTP_CUT, NULL},
	{CURLE_GOT_NOTHING, HTTP_CUT, NULL},
	{CURLE_SEND_ERROR, HTTP_CUT, NULL},
	{CURLE_RECV_ERROR, HTTP_CUT, NULL},
	{CURLE_HTTP2, HTTP_CUT, NULL},
	{CURLE_HTTP2_STREAM, HTTP_CUT, NULL},
	{CURLE_PEER_FAILED_VERIFICATION, HTTP_TLS, NULL},
	{CURLE_SSL_ISSUER_ERROR, HTTP_TLS, NULL},
	{CURLE_SSL_CONNECT_ERROR, HTTP_TLS, NULL},
	{CURLE_SSL_ENGINE_NOTFOUND, HTTP_TLS, NULL},
	{CURLE_SSL_CERTPROBLEM, HTTP_TLS, NULL},
	{CURLE_SSL_CIPHER, HTTP_TLS, NULL},
	{CURLE_SSL_CACERT_BADFILE, HTTP_TLS, NULL},
	{CURLE_SSL_CRL_BADFILE, HTTP_TLS, NULL},
	{CURLE_SSL_INVALIDCERTSTATUS, HTTP_TLS, NULL},
	{CURLE_SSL_CLIENTCERT, HTTP_TLS, NULL},
	{CURLE_USE_SSL_FAILED, HTTP_TLS, NULL},
	{CURLE_COULDNT_RESOLVE_HOST, HTTP_RESOLVE,
	 "the name has no address; is it spelled right, is there a network?"},
	{CURLE_URL_MALFORMAT, HTTP_BROKEN, "not a URL"},
	{CURLE_UNSUPPORTED_PROTOCOL, HTTP_BROKEN, "the answer is not HTTP"},
	{CURLE_WEIRD_SERVER_REPLY, HTTP_BROKEN, "the answer is not HTTP"},
	{CURLE_BAD_CONTENT_ENCODING, HTTP_BROKEN,
	 "the answer is compressed though that was not asked for, and cannot "
	 "be unpacked"},
	{CURLE_OUT_OF_MEMORY, HTTP_BROKEN, "out of memory"},
};

/* Decide how it ends by the code of libcurl, unless that is decided. */
static void judge_exchange(struct http_exchange *x, CURLcode code)
{
	size_t i = 0;

	while (i < ARRAY_LEN(failures) && failures[i].code != code)
		i++;
	if (is_refusal(x, code)) {
		x->is_decided = true;
		x->end.kind = HTTP_REFUSED;
		x->end.err = x->refusal;
	} else if (code == CURLE_OK && (x->connected || x->reader.is_whole)) {
		x->is_decided = true;
	} else if (code == CURLE_COULDNT_CONNECT && !x->end.is_sent) {
		say_connect(x);
	} else if (code == CURLE_OPERATION_TIMEDOUT) {
		say_timeout(x);
	} else if (code == CURLE_OUT_OF_MEMORY && x->end.is_sent &&
		   !x->reader.is_whole) {
		/* libcurl's code for a header line of more than 100 KiB */
		fail_exchange(x, HTTP_LIMIT,
			      "a header of the answer is too long");
	} else if (i == ARRAY_LEN(failures)) {
		fail_exchange(x, HTTP_BROKEN,
			      "the exchange failed (libcurl: %d)", (int)code);
	} else if (failures[i].kind == HTTP_TLS) {
		judge_tls(x, code);
	} else if (failures[i].kind == HTTP_CUT) {
		say_cut(x);
	} else {
		fail_exchange(x, failures[i].kind, "%s", failures[i].says);
	}
}

/* ---- addresses ---- */

static bool judge_address(struct http_exchange *x,
			  const struct sockaddr *address)
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
static curl_socket_t on_open_socket(void *arg, curlsocktype purpose,
				    struct curl_sockaddr *a)
{
	struct http_exchange *x = arg;

	if (purpose != CURLSOCKTYPE_IPCXN || x->is_cancelled ||
	    !judge_address(x, &a->addr))
		return CURL_SOCKET_BAD;
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* judge_address() of a connection, as libcurl writes its address. */
static bool judge_text(struct http_exchange *x, const char *ip, int port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
				  .sin6_port = htons((uint16_t)port)};

	if (inet_pton(AF_INET, ip, &v4.sin_addr) == 1)
		return judge_address(x, (struct sockaddr *)&v4);
	return inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1 &&
	       judge_address(x, (struct sockaddr *)&v6);
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
	/* RFC 9110, section 9.2.2 */
	bool is_repeatable =
		strcmp(x->method, "GET") == 0 || strcmp(x->method, "HEAD") == 0;

	if (x->is_cancelled || !judge_text(x, ip, port))
		return CURL_PREREQFUNC_ABORT;
	if (x->end.is_sent && !is_repeatable) {
		fail_exchange(x, HTTP_CUT,
			      "the connection ended without an answer");
		return CURL_PREREQFUNC_ABORT;
	}
	x->is_refused = false;
	x->end.is_sent = !x->connected;
	return CURL_PREREQFUNC_OK;
}

/* ---- answers ---- */

/* Read the head so far. */
static struct http_head head_of(struct http_exchange *x)
{
	struct http_head head;

	http_reader_head(&x->reader, &head);
	head.range = x->range;
	return head;
}

static size_t on_header(char *bytes, UNUSED size_t one, size_t n, void *arg)
{
	struct http_exchange *x = arg;
	struct http_head head;

	x->last_ns = loop_now(x->h->loop);
	if (x->is_cancelled)
		return 0;
	switch (http_reader_line(&x->reader, (struct str){bytes, n})) {
	case HTTP_READ_MORE:
		return n;
	case HTTP_READ_WHOLE:
		head = head_of(x);
		if (x->r.head)
			x->r.head(x->r.arg, &head);
		return x->is_cancelled ? 0 : n;
	case HTTP_READ_FULL:
		fail_exchange(x, HTTP_LIMIT,
			      "the head of the answer is over %d KiB",
			      LIMIT_HEAD_BYTES / 1024);
		break;
	case HTTP_READ_BAD:
		fail_exchange(x, HTTP_BROKEN, "the answer is not HTTP");
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
		fail_exchange(x, HTTP_LIMIT, "the answer is over %llu bytes",
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

/* Nothing of the environment, no other protocol, no step without a
 * judge_address. */
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
	SET(CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
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

/* Make and fill the easy handle. false: `end` says why. */
static bool prepare_exchange(struct http_exchange *x)
{
	x->easy = x->h->lib->curl_easy_init();
	if (x->easy && set_guards(x) && set_trust(x) && set_connection(x) &&
	    set_request(x))
		return true;
	fail_exchange(x, HTTP_BROKEN,
		      "this libcurl or this URL cannot be used (%s)",
		      curl_text);
	return false;
}

#undef SET

/* ---- lists ---- */

static void link_last(struct http_list *list, struct http_exchange *x)
{
	x->prev = list->last;
	x->next = NULL;
	*(list->last ? &list->last->next : &list->first) = x;
	list->last = x;
}

static void unlink_from(struct http_list *list, struct http_exchange *x)
{
	*(x->prev ? &x->prev->next : &list->first) = x->next;
	*(x->next ? &x->next->prev : &list->last) = x->prev;
}

static struct http_exchange *take_first(struct http_list *list)
{
	struct http_exchange *x = list->first;

	if (x) {
		assert(!x->prev);
		unlink_from(list, x);
	}
	return x;
}

/* ---- the life of an exchange ---- */

static void take_out(struct http_exchange *x)
{
	unlink_from(x->is_added ? &x->h->running : &x->h->queue, x);
}

/* End an exchange that is in no list, and tell how it ended. */
static void end_exchange(struct http_exchange *x, bool is_told)
{
	struct http *h = x->h;

	loop_timer_clear(h->loop, &x->idle);
	h->depth++;
	if (x->is_added)
		h->lib->curl_multi_remove_handle(h->multi, x->easy);
	if (x->easy)
		h->lib->curl_easy_cleanup(x->easy);
	h->depth--;
	if (is_told)
		x->r.end(x->r.arg, &x->end);
	http_headers_release(&x->headers);
	http_reader_release(&x->reader);
	if (x->content)
		mem_wipe(x->content, x->r.content.n);
	mem_wipe(x->url, strlen(x->url));
	free(x->content);
	free(x->lines);
	free(x->method);
	free(x->url);
	free(x->where);
	if (x->release)
		x->release(x->r.arg);
	free(x);
}

/* "host:port" of a URL, and the host in it without brackets. */
static void read_where(struct http_exchange *x)
{
	struct str rest = str_of(x->url), scheme = str_cut(&rest, ':');
	size_t n;

	x->is_https = str_is(scheme, "https");
	if (str_starts(rest, "//"))
		rest = str_skip(rest, 2);
	n = rest.n ? strcspn(rest.p, "/?#") : 0;
	x->where = mem_strndup(rest.p ? rest.p : "", n);
	x->host = (struct str){x->where, n};
	if (n && x->where[0] == '[') {
		x->host.p++;
		x->host.n = strcspn(x->host.p, "]");
	} else {
		x->host.n = strcspn(x->where, ":");
	}
}

static void on_idle(void *arg)
{
	struct http_exchange *x = arg;
	struct loop *loop = x->h->loop;
	curl_off_t uploaded = 0;
	uint64_t due;

	/* bytes on their way to the server are no silence, either */
	x->h->lib->curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T,
				     &uploaded);
	if (uploaded != x->uploaded)
		x->last_ns = loop_now(loop);
	x->uploaded = uploaded;
	due = x->last_ns + x->r.idle_ms * NS_PER_MS;
	if (due > loop_now(loop)) {
		loop_timer_set(loop, &x->idle, due);
		return;
	}
	fail_exchange(x, HTTP_TIMEOUT, "nothing came for %llu ms",
		      (unsigned long long)x->r.idle_ms);
	take_out(x);
	end_exchange(x, true);
}

/* Queue it: copies all of `r`. `connected` as in struct http_exchange. */
static struct http_exchange *start_exchange(struct http *h,
					    const struct http_request *r,
					    void (*connected)(void *arg))
{
	struct http_exchange *x = mem_zalloc(sizeof(*x));

	x->h = h;
	x->r = *r;
	x->connected = connected;
	x->method = mem_strdup(r->method ? r->method : "GET");
	x->url = mem_strdup(r->url);
	read_where(x);
	if (r->content.p)
		x->content = mem_strndup(r->content.p, r->content.n);
	http_headers_replace(&x->headers, r->headers);
	x->reach = *r->reach;
	x->reader = (struct http_reader)HTTP_READER_INIT;
	x->idle = (struct loop_timer){.fire = on_idle, .arg = x};
	x->r.connect_ms = r->connect_ms ? r->connect_ms : CONNECT_MS;
	/* borrowed for this call only */
	x->r.method = x->r.url = NULL;
	x->r.headers = NULL;
	x->r.content.p = NULL;
	x->r.reach = NULL;
	link_last(&h->queue, x);
	loop_timer_set(h->loop, &h->kick, loop_now(h->loop));
	return x;
}

struct http_exchange *http_send(struct http *h, const struct http_request *r)
{
	return start_exchange(h, r, NULL);
}

void http_cancel(struct http_exchange *x)
{
	if (!x)
		return;
	if (!x->is_added || !x->h->depth) {
		take_out(x);
		end_exchange(x, false);
		return;
	}
	/* libcurl is on the stack, and must not lose it under its feet */
	x->is_cancelled = true;
	x->h->has_cancelled = true;
	loop_timer_set(x->h->loop, &x->h->kick, loop_now(x->h->loop));
}

/* ---- the loop ---- */

static void conclude_exchange(struct http_exchange *x, CURLcode code)
{
	if (x->connected && code == CURLE_OK && !x->is_cancelled) {
		loop_timer_clear(x->h->loop, &x->idle);
		x->connected(x->r.arg);
		return;
	}
	take_out(x);
	judge_exchange(x, code);
	end_exchange(x, !x->is_cancelled);
}

/* Conclude the exchanges that libcurl has finished. */
static void collect_done(struct http *h)
{
	const CURLMsg *m;
	char *x;
	int left;

	while ((m = h->lib->curl_multi_info_read(h->multi, &left))) {
		CURLcode code = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		h->lib->curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &x);
		conclude_exchange((struct http_exchange *)(void *)x, code);
	}
}

static void drive_libcurl(struct http *h, curl_socket_t fd, int flags)
{
	struct http_exchange *x;
	int running;

	h->depth++;
	h->lib->curl_multi_socket_action(h->multi, fd, flags, &running);
	h->depth--;
	collect_done(h);
	if (h->depth || !h->is_deaf)
		return;
	/* nothing would ever be heard of them; libcurl is not on the stack */
	h->is_deaf = false;
	while ((x = take_first(&h->running))) {
		fail_exchange(x, HTTP_BROKEN, "%s", h->deaf_err.msg);
		end_exchange(x, !x->is_cancelled);
	}
}

/* One socket of libcurl's in the loop. */
struct socket_watch {
	struct loop_watch watch;
	struct http *h;
};

static void on_socket_ready(void *arg, uint32_t events)
{
	struct socket_watch *s = arg;
	int flags = 0;

	if (events & (EPOLLIN | EPOLLHUP))
		flags |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		flags |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		flags |= CURL_CSELECT_ERR;
	drive_libcurl(s->h, s->watch.fd, flags);
}

static int on_socket(UNUSED CURL *easy, curl_socket_t fd, int what, void *arg,
		     void *per_socket)
{
	struct socket_watch *s = per_socket;
	struct http *h = arg;
	uint32_t events = 0;

	if (what == CURL_POLL_REMOVE) {
		if (s)
			loop_unwatch(h->loop, &s->watch);
		h->lib->curl_multi_assign(h->multi, fd, NULL);
		free(s);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	if (s) {
		loop_rewatch(h->loop, &s->watch, events);
		return 0;
	}
	s = mem_zalloc(sizeof(*s));
	s->h = h;
	err_clear(&h->deaf_err);
	if (loop_watch(h->loop, &s->watch, fd, events, on_socket_ready, s,
		       &h->deaf_err) < 0) {
		/* an error here would end the use of libcurl for good */
		free(s);
		h->is_deaf = true;
		return 0;
	}
	h->lib->curl_multi_assign(h->multi, fd, s);
	return 0;
}

static void on_timer(void *arg)
{
	drive_libcurl(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer_set(UNUSED CURLM *multi, long ms, void *arg)
{
	struct http *h = arg;

	if (ms < 0)
		loop_timer_clear(h->loop, &h->timer);
	else
		loop_timer_in(h->loop, &h->timer, (uint64_t)ms);
	return 0;
}

/* Give one to libcurl that was taken from the queue. */
static void begin_exchange(struct http *h, struct http_exchange *x)
{
	if (!prepare_exchange(x)) {
		end_exchange(x, true);
		return;
	}
	link_last(&h->running, x);
	x->is_added = true;
	x->last_ns = loop_now(h->loop);
	if (x->r.idle_ms)
		loop_timer_set(h->loop, &x->idle,
			       x->last_ns + x->r.idle_ms * NS_PER_MS);
	h->depth++;
	h->lib->curl_multi_add_handle(h->multi, x->easy);
	h->depth--;
}

static void on_kick(void *arg)
{
	struct http_exchange *x, *next;
	struct http *h = arg;

	for (x = h->has_cancelled ? h->running.first : NULL; x; x = next) {
		next = x->next;
		if (!x->is_cancelled)
			continue;
		take_out(x);
		end_exchange(x, false);
	}
	h->has_cancelled = false;
	while ((x = take_first(&h->queue)))
		begin_exchange(h, x);
	collect_done(h);
}

/* ---- authorities ---- */

/* A folder of authorities is of use when its files are named by hashes. */
static bool is_hashed(const char *folder)
{
	AUTO(dir_closep) DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = strspn(entry->d_name, "0123456789abcdef") == 8 &&
			entry->d_name[8] == '.';
	return found;
}

/*
 * Authorities beside those of the system: the folder of the system is looked
 * into as needed, which is faster than reading its one large file each time.
 * Where there is no such folder, the large file and ours become one text.
 * file  NULL: none beside
 */
static int load_trust(struct http *h, const char *file, struct err *err)
{
	const curl_version_info_data *version = h->lib->version;

	if (is_hashed(version->capath))
		h->ca_folder = version->capath;
	if (!file)
		return 0;
	if (!h->ca_folder && version->cainfo) {
		if (fd_read_file(version->cainfo, &h->authorities, err) < 0)
			return -1;
		buf_addc(&h->authorities, '\n');
	}
	if (fd_read_file(file, &h->authorities, err) < 0)
		return -1;
	if (!memmem(buf_cstr(&h->authorities), h->authorities.n,
		    "-----BEGIN CERTIFICATE-----", 27))
		return err_set(err, ERR_SYNTAX, "%s: no certificate in PEM",
			       file);
	return 0;
}

/* ---- all of it ---- */

/* Idle connections are closed before this many are open. */
static long connections_max(uint32_t wanted)
{
	struct rlimit files;

	if (wanted)
		return (long)wanted;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 ||
	    files.rlim_cur < 2 * RESERVED_FDS)
		return RESERVED_FDS;
	if (files.rlim_cur > 100000)
		return 100000;
	return (long)files.rlim_cur - RESERVED_FDS;
}

static bool set_up_multi(struct http *h, uint32_t connections)
{
	bool is_set = true;

	h->multi = h->lib->curl_multi_init();
	if (!h->multi)
		return false;
#define SET(option, value) \
	(is_set &=         \
	 h->lib->curl_multi_setopt(h->multi, option, value) == CURLM_OK)
	SET(CURLMOPT_SOCKETFUNCTION, on_socket);
	SET(CURLMOPT_SOCKETDATA, h);
	SET(CURLMOPT_TIMERFUNCTION, on_timer_set);
	SET(CURLMOPT_TIMERDATA, h);
	SET(CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
	SET(CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_max(connections));
#undef SET
	return is_set;
}

int http_new(const struct http_options *options, struct http **ret,
	     struct err *err)
{
	struct http *h;

	if (!curl_functions.version && load_library(err) < 0)
		return -1;
	h = mem_zalloc(sizeof(*h));
	h->lib = &curl_functions;
	h->loop = options->loop;
	h->authorities = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	h->user_agent = mem_strdup(options->user_agent);
	h->timer = (struct loop_timer){.fire = on_timer, .arg = h};
	h->kick = (struct loop_timer){.fire = on_kick, .arg = h};
	if (load_trust(h, options->ca_file, err) < 0) {
		http_free(h);
		return -1;
	}
	if (!set_up_multi(h, options->connections_max)) {
		http_free(h);
		return err_set(err, ERR_UNKNOWN, "%s could not be set up",
			       curl_text);
	}
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	struct http_exchange *x;

	if (!h)
		return;
	assert(!h->depth);
	while ((x = take_first(&h->queue)))
		end_exchange(x, false);
	while ((x = take_first(&h->running)))
		end_exchange(x, false);
	if (h->multi)
		h->lib->curl_multi_cleanup(h->multi);
	loop_timer_clear(h->loop, &h->timer);
	loop_timer_clear(h->loop, &h->kick);
	buf_release(&h->authorities);
	free(h->user_agent);
	free(h);
}

const char *http_library(void)
{
	return curl_text;
}

/* ---- small documents ---- */

struct fetch {
	void (*done)(void *arg, const struct http_fetched *f);
	void *arg;
	struct http_exchange *x; /* borrowed */
	struct buf body;	 /* owned; may hold tokens */
};

static bool fetch_on_body(void *arg, struct str bytes)
{
	struct fetch *f = arg;

	buf_add_str(&f->body, bytes);
	return true;
}

static void fetch_on_end(void *arg, const struct http_end *end)
{
	struct http_fetched fetched = {.end = *end};
	struct fetch *f = arg;
	const struct http_head head = head_of(f->x);

	if (end->kind == HTTP_DONE) {
		fetched.status = head.status;
		fetched.head = &head;
		fetched.body = buf_str(&f->body);
	}
	f->done(f->arg, &fetched);
}

static void fetch_release(void *arg)
{
	struct fetch *f = arg;

	buf_wipe(&f->body);
	free(f);
}

struct http_exchange *http_fetch(struct http *h, const struct http_request *r,
				 void (*done)(void *arg,
					      const struct http_fetched *f),
				 void *arg)
{
	struct fetch *f = mem_zalloc(sizeof(*f));
	struct http_request own = *r;

	f->done = done;
	f->arg = arg;
	f->body = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	own.head = NULL;
	own.body = fetch_on_body;
	own.end = fetch_on_end;
	own.arg = f;
	own.body_max = r->body_max ? r->body_max : FETCH_MAX;
	f->x = start_exchange(h, &own, NULL);
	f->x->release = fetch_release;
	return f->x;
}

/* ---- a plain connection, with TLS where the URL says so ---- */

struct http_tunnel {
	struct http_exchange *x; /* NULL when it failed, or http_free() came */
	struct http_tunnel_handler handler;
	struct loop *loop;
	struct loop_watch watch; /* of the socket once it is connected */
	char out[OUT_BYTES];	 /* taken, not yet sent */
	size_t sent, taken;	 /* of `out` */
	bool has_asked;		 /* write() took less: `writable` is due */
};

/* Send what was taken. False: a rest of it is left, with errno EAGAIN until the
   socket takes more, EPIPE when the connection broke. */
static bool flush_taken(struct http_tunnel *t)
{
	const struct curl *lib = t->x->h->lib;
	CURLcode code;
	size_t n = 0;

	while (t->sent < t->taken) {
		code = lib->curl_easy_send(t->x->easy, t->out + t->sent,
					   t->taken - t->sent, &n);
		if (code != CURLE_OK) {
			errno = code == CURLE_AGAIN ? EAGAIN : EPIPE;
			return false;
		}
		t->sent += n;
	}
	t->sent = t->taken = 0;
	return true;
}

/* The handler may free the tunnel: one of the two, the other next turn. */
static void on_tunnel_ready(void *arg, uint32_t events)
{
	struct http_tunnel *t = arg;

	if (!(events & EPOLLOUT)) {
		t->handler.readable(t->handler.arg);
		return;
	}
	/* a broken connection is told by read() */
	if (!flush_taken(t) && errno == EAGAIN)
		return;
	loop_rewatch(t->loop, &t->watch, EPOLLIN);
	if (!t->has_asked)
		return;
	t->has_asked = false;
	t->handler.writable(t->handler.arg);
}

static void on_tunnel_connected(void *arg)
{
	struct http_tunnel *t = arg;
	struct http_exchange *x = t->x;
	curl_socket_t fd = CURL_SOCKET_BAD;
	struct err err = ERR_INIT;

	x->h->lib->curl_easy_getinfo(x->easy, CURLINFO_ACTIVESOCKET, &fd);
	if (fd != CURL_SOCKET_BAD && loop_watch(t->loop, &t->watch, fd, EPOLLIN,
						on_tunnel_ready, t, &err) == 0)
		t->handler.opened(t->handler.arg);
	else {
		/* libcurl is not on the stack */
		fail_exchange(x, HTTP_CUT, "the connection ended at once");
		take_out(x);
		end_exchange(x, true);
	}
}

static void on_tunnel_end(void *arg, const struct http_end *end)
{
	struct http_tunnel *t = arg;

	loop_unwatch(t->loop, &t->watch);
	t->x->release = NULL;
	t->x = NULL;
	t->handler.failed(t->handler.arg, end);
}

/* http_free() came first. */
static void on_tunnel_release(void *arg)
{
	struct http_tunnel *t = arg;

	loop_unwatch(t->loop, &t->watch);
	t->x = NULL;
}

struct http_tunnel *http_tunnel_open(struct http *h,
				     const struct http_request *r,
				     const struct http_tunnel_handler *handler)
{
	struct http_tunnel *t = mem_zalloc(sizeof(*t));
	bool is_ws = strncmp(r->url, "ws", 2) == 0;
	/* libcurl connects for http and https */
	AUTO(mem_freep)
	char *url = mem_printf("%s%s", is_ws ? "http" : "", r->url + 2 * is_ws);
	struct http_request own = {
		.url = url,
		.connect_ms = r->connect_ms,
		.reach = r->reach,
		.end = on_tunnel_end,
		.arg = t,
	};

	t->handler = *handler;
	t->loop = h->loop;
	t->watch.fd = -1;
	t->x = start_exchange(h, &own, on_tunnel_connected);
	t->x->release = on_tunnel_release;
	return t;
}

ssize_t http_tunnel_read(struct http_tunnel *t, char *into, size_t room)
{
	CURLcode code;
	size_t n = 0;

	if (!t->x || t->watch.fd < 0) {
		/* nothing came as long as it is not open */
		errno = t->x ? EAGAIN : ENOTCONN;
		return -1;
	}
	code = t->x->h->lib->curl_easy_recv(t->x->easy, into, room, &n);
	if (code == CURLE_OK)
		return (ssize_t)n;
	errno = code == CURLE_AGAIN ? EAGAIN : ECONNRESET;
	return -1;
}

/* As much as fits; flush_taken() says by errno what became of it. */
static bool take_some(struct http_tunnel *t, struct str *rest)
{
	size_t n = rest->n < OUT_BYTES ? rest->n : OUT_BYTES;

	if (!flush_taken(t))
		return false;
	if (n)
		memcpy(t->out, rest->p, n);
	t->taken = n;
	*rest = str_skip(*rest, n);
	return flush_taken(t);
}

ssize_t http_tunnel_write(struct http_tunnel *t, struct str bytes)
{
	struct str rest = bytes;

	if (!t->x || t->watch.fd < 0) {
		errno = ENOTCONN;
		return -1;
	}
	while (rest.n && take_some(t, &rest))
		;
	if (t->sent < t->taken && errno != EAGAIN)
		return -1;
	if (t->sent < t->taken)
		loop_rewatch(t->loop, &t->watch, EPOLLIN | EPOLLOUT);
	if (!rest.n)
		return (ssize_t)bytes.n;
	t->has_asked = true;
	if (rest.n < bytes.n)
		return (ssize_t)(bytes.n - rest.n);
	errno = EAGAIN;
	return -1;
}

void http_tunnel_free(struct http_tunnel *t)
{
	if (!t)
		return;
	loop_unwatch(t->loop, &t->watch);
	if (t->x)
		t->x->release = NULL;
	http_cancel(t->x);
	mem_wipe(t->out, sizeof(t->out));
	free(t);
}
