/*
 * The owner of an account: tokens, registrations and keys belong to the name of
 * a server, a client and a URL, so that two servers of one URL never see each
 * other's.
 *
 *	struct owner o = {.name = "alice", .url = url, .grant = word};
 *	owner_text(&o, "", &arena)	what the store knows it by
 *	owner_read(text, &arena, &o)	and back
 *
 * A version before this one knew the URL only: such a text has no space, and
 * its entry says not whose it is.
 *
 * Pure.
 */
#ifndef CORE_AUTH_OWNER_H
#define CORE_AUTH_OWNER_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"

/* Texts are borrowed. */
struct owner {
	const char *name;   /* of [servers.NAME]; NULL: a URL that was given */
	const char *config; /* " -c FILE" of commands about it; NULL: "" */
	const char *url;    /* of the endpoint */
	const char *grant;  /* a word of AUTH_GRANTS; NULL: an old entry */
	const char *client; /* id that is configured; NULL: the last one used */
	bool takes_old;	    /* no other server can have meant an old entry */
};

/*
 * "URL GRANT BYTES CLIENT=NAME", for a store; in the arena. The URL's query
 * may hold a key, so it is a digest there. Without a grant it is the URL alone,
 * the text of an old entry.
 * client  instead of o->client; "": one that was registered
 */
const char *owner_text(const struct owner *o, const char *client,
		       struct arena *arena) MUST_USE;
/* Before the text of an owner without client: the record of the client that
   was used last. */
#define OWNER_LAST "last "
bool owner_is_last(const char *text) MUST_USE;
/* For sentences: the name, else the URL without its query. */
const char *owner_shown(const struct owner *o, struct arena *arena) MUST_USE;
/* A command about it, to paste: "matins auth login -c FILE NAME"; of a URL
   without the query, which may hold a key. */
const char *owner_command(const struct owner *o, const char *verb,
			  struct arena *arena) MUST_USE;
/* Texts in the arena. false: an old entry; only `url` and `takes_old` are
   set */
bool owner_read(const char *text, struct arena *arena, struct owner *ret)
	MUST_USE;

#endif
