/* How an exchange failed: sentences that say what to do. */
#include <errno.h>
#include <stdarg.h>

#include "core/transport/http_inner.h"

void http_fail(struct http_exchange *x, enum http_end_kind kind,
	       const char *fmt, ...)
{
	char sentence[LIMIT_ERR_MSG];
	va_list ap;

	if (x->has_failed)
		return;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	x->has_failed = true;
	x->end.kind = kind;
	err_set(&x->end.err, ERR_PEER, "%s: %s", x->where, sentence);
}

static void say_connect(struct http_exchange *x)
{
	long sys = 0;

	x->h->lib->curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &sys);
	http_fail(x, HTTP_CONNECT,
		  "cannot be connected to (%s); is the server running, are "
		  "host and port right?",
		  sys ? strerror((int)sys) : "no answer");
}

static void say_timeout(struct http_exchange *x)
{
	uint64_t total_ms = x->r.total_ms, ms = x->r.connect_ms;

	if (x->end.is_sent || (total_ms && total_ms < ms))
		ms = total_ms;
	http_fail(x, HTTP_TIMEOUT, "no %s within %llu ms",
		  x->end.is_sent ? "whole answer" : "connection",
		  (unsigned long long)ms);
}

/* By the words of OpenSSL, since libcurl has one code for all of them. */
static const char *certificate_remedy(const char *detail)
{
	if (strstr(detail, "expired"))
		return "who runs the server must renew it; if the clock of "
		       "this machine is wrong, set it";
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
	http_fail(x, HTTP_TLS, "its certificate is not accepted (%s); %s",
		  x->detail[0] ? x->detail : "not verified",
		  certificate_remedy(x->detail));
}

static void say_tls(struct http_exchange *x)
{
	http_fail(x, HTTP_TLS,
		  "TLS failed (%s); it takes version 1.2 or later, and a "
		  "server that speaks TLS on this port",
		  x->detail[0] ? x->detail : "handshake");
}

static bool is_tls(CURLcode code)
{
	switch (code) {
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_CLIENTCERT:
	case CURLE_USE_SSL_FAILED:
		return true;
	default:
		return false;
	}
}

static void say_cut(struct http_exchange *x)
{
	http_fail(x, HTTP_CUT, "%s",
		  x->reader.is_whole
			  ? "the connection ended within the answer"
			  : "the connection ended without an answer");
}

static void say_memory(struct http_exchange *x)
{
	/* what it says to a header line of more than 100 KiB */
	if (x->end.is_sent && !x->reader.is_whole)
		http_fail(x, HTTP_LIMIT, "a header of the answer is too long");
	else
		http_fail(x, HTTP_BROKEN, "out of memory");
}

/* None of the addresses may be used, or that of the connection may not. */
static bool is_refusal(const struct http_exchange *x, CURLcode code)
{
	return x->is_refused && !x->has_failed &&
	       (code == CURLE_COULDNT_CONNECT ||
		code == CURLE_ABORTED_BY_CALLBACK);
}

void http_say(struct http_exchange *x, CURLcode code)
{
	if (is_refusal(x, code)) {
		x->has_failed = true;
		x->end.kind = HTTP_REFUSED;
		x->end.err = x->refusal;
		return;
	}
	switch (code) {
	case CURLE_OK:
		if (!x->connected && !x->reader.is_whole)
			say_cut(x);
		else
			x->has_failed = true;
		break;
	case CURLE_COULDNT_RESOLVE_HOST:
		http_fail(x, HTTP_RESOLVE,
			  "the name has no address; is it spelled right, is "
			  "there a network?");
		break;
	case CURLE_COULDNT_CONNECT:
		/* libcurl tried anew when the connection of the request went */
		if (x->end.is_sent)
			say_cut(x);
		else
			say_connect(x);
		break;
	case CURLE_OPERATION_TIMEDOUT:
		say_timeout(x);
		break;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR:
		say_certificate(x);
		break;
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		say_cut(x);
		break;
	case CURLE_BAD_CONTENT_ENCODING:
		http_fail(x, HTTP_BROKEN,
			  "the answer is compressed though that was not asked "
			  "for, and cannot be unpacked");
		break;
	case CURLE_URL_MALFORMAT:
		http_fail(x, HTTP_BROKEN, "that is no URL");
		break;
	case CURLE_OUT_OF_MEMORY:
		say_memory(x);
		break;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		http_fail(x, HTTP_BROKEN, "what came is not HTTP");
		break;
	default:
		if (is_tls(code))
			say_tls(x);
		else
			http_fail(x, HTTP_BROKEN,
				  "the exchange failed (libcurl: %d)",
				  (int)code);
	}
}
