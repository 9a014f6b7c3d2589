/*
 * The functions of libcurl that we use, found when they are first wanted.
 *
 *	const struct curl *c = curl_library(err);
 *	easy = c->curl_easy_init();
 *
 * Nothing is linked: a process without remote servers maps neither curl nor
 * OpenSSL. Only core/transport/http*.[ch] and tunnel.c look in here.
 */
#ifndef CORE_TRANSPORT_CURL_H
#define CORE_TRANSPORT_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/base/attr.h"
#include "core/base/dl.h"
#include "core/base/err.h"

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

/*
 * Loaded and set up by the first call, kept to the end of the process. From
 * then on SSLKEYLOGFILE is not in the environment: nothing else would keep
 * libcurl from writing the keys of its sessions there.
 *
 * returns  static; NULL with err set
 * errors   ERR_UNKNOWN  it is not installed, too old, or without TLS
 */
const struct curl *curl_library(struct err *err) MUST_USE;
/* "libcurl/7.88.1 OpenSSL/3.0.19", static; "" while it is not loaded. */
const char *curl_library_text(void) MUST_USE;

#endif
