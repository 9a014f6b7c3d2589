/*
 * Rules for the URL of a server: plain http and ws are for loopback, unless the
 * server's keys allow more, and keys that stand in a query (?key=…) are
 * secrets.
 *
 * The query as a whole is shown nowhere. Servers and other parties repeat parts
 * of it: a value counts as a secret when its name says so (key, token, …) or it
 * looks like made by chance. Others ("?mode=read-only") are no secrets, since
 * their words would be taken out of results in which they mean something else.
 */
#ifndef CORE_CONFIG_SERVER_URL_H
#define CORE_CONFIG_SERVER_URL_H

#include "core/base/url.h"
#include "core/config/routine.h"
#include "core/secret/scrub.h"
#include "gate/gate.h"

/* Permission for plain http and ws beyond loopback, where bytes can be read
   and changed on the way. */
struct plain_http {
	bool is_allowed;	 /* insecure_http */
	bool allows_credentials; /* insecure_credentials */
	/*
	 * Requests carry something that only the user and the server should
	 * know: a token, a header from a variable or with a name that says so,
	 * a variable in the URL. A key in the query is seen when the URL is
	 * read. Tokens of a login are left out: they are switched off where
	 * they must not be sent.
	 */
	bool has_credentials;
};

struct plain_http plain_http_of(const struct server *s) MUST_USE;
/* One sentence for a person about a plain URL that is allowed; in `arena`. */
const char *plain_http_say(const struct plain_http *p, const struct url *url,
			   struct arena *arena) MUST_USE;

/*
 * Read a URL and judge its scheme.
 *
 * returns  1 where it is plain beyond loopback and allowed, which has to be
 *	    said: plain_http_say(); else 0
 * errors   ERR_SYNTAX  no URL; or plain http, with the key that would allow it
 */
int server_url_read(const char *text, const struct plain_http *plain,
		    struct arena *arena, struct url *ret, struct err *err)
	MUST_USE;
/* Judge the URL of a server. returns  as above, with the sentence in err */
int server_url_check(const struct server *s, struct err *err) MUST_USE;
/* Judge the URL, and its host by the leash. errors  ERR_SYNTAX, ERR_LEASH */
int server_url_judge(const struct gate *gate, const struct server *s,
		     struct err *err) MUST_USE;

/*
 * Does no other server of the configuration have this URL?
 * c     may be NULL
 * name  of the server itself; NULL: the URL was given on the command line
 * url   as url_parse() writes it
 */
bool server_url_is_single(const struct config *c, const char *name,
			  const char *url) MUST_USE;
/* Add the secrets of a query to the scrubber, as written and decoded. */
void server_url_hide(const struct url *url, struct scrub *scrub);

#endif
