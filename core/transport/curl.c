#include "core/transport/curl.h"

#include <stdlib.h>

#define LIBRARY "libcurl.so.4"
/* CURLOPT_PROTOCOLS_STR is of 7.85; the others that we need are older. */
#define OLDEST 0x075500

static struct curl functions;
static char text[128];

static int load_library(struct err *err)
{
	static const char *const names[] = {CURL_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, functions);
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
	if (functions.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, ERR_UNKNOWN, LIBRARY " cannot be set up");
	version = functions.curl_version_info(CURLVERSION_NOW);
	if (version->version_num < OLDEST)
		return err_set(err, ERR_UNKNOWN,
			       "remote servers need libcurl 7.85 or later; "
			       "here is %s",
			       version->version);
	if (!(version->features & CURL_VERSION_SSL))
		return err_set(err, ERR_UNKNOWN, LIBRARY " is without TLS");
	snprintf(text, sizeof(text), "libcurl/%s %s", version->version,
		 version->ssl_version);
	functions.version = version;
	return 0;
}

const struct curl *curl_library(struct err *err)
{
	if (!functions.version && load_library(err) < 0)
		return NULL;
	return &functions;
}

const char *curl_library_text(void)
{
	return text;
}
