/*
 * Lists that servers allowed to be kept for a while (`ttlMs`, 2026-07-28),
 * for the next process: one file for each server in the folder `lists` of the
 * state directory.
 *
 *	struct kept_lists *k = kept_lists_open(state_dir);
 *	if (kept_lists_find(k, &key, now, &text, &pages, &left_ms))
 *		... no need to ask ...
 *	kept_lists_put(k, &key, now, ttl_ms, pages);
 *	kept_lists_forget(k, &key);
 *	kept_lists_free(k);
 *
 * It is a memory, not a truth (core/config/state_file.h). A list is only found
 * by who asks as the same: what authorizes is in the file as a salted digest,
 * and with another one the file does not count (CH-4, CH-9).
 */
#ifndef CORE_CLIENT_KEPT_LISTS_H
#define CORE_CLIENT_KEPT_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/sha256.h"
#include "core/base/str.h"

/* One file, bytes; a longer list is not kept. */
#define KEPT_LIST_BYTES (1024 * 1024)
/* Servers; the one longest not written goes first. */
#define KEPT_LISTS_MAX 64

struct kept_lists;

/* Whose list it is. */
struct kept_key {
	/* digest of the server, what it may do, the revision that is spoken
	   and what is declared; the name of the file */
	char hex[SHA256_HEX_BYTES];
	/* what of it changes when it is changed: with another one the file
	   does not count, and is replaced */
	uint64_t version;
	/* what it is given that authorizes, such as "TOKEN=…"; ends in NULL,
	   may be NULL; borrowed */
	const char *const *secrets;
};

/* state_dir  copied; NULL: nothing is kept */
struct kept_lists *kept_lists_open(const char *state_dir) MUST_USE;
/* Takes NULL. */
void kept_lists_free(struct kept_lists *k);

/*
 * A list that is fresh: by the wall clock and, within one boot of the
 * machine, by the monotonic one too. A wall clock that was set back makes it
 * stale at once, or the other clock does in time (CH-3).
 *
 * k            may be NULL
 * text         where it is read to
 * ret_pages    JSON array of results, in order; a slice of text
 * ret_left_ms  how long it is good yet
 */
bool kept_lists_find(struct kept_lists *k, const struct kept_key *key,
		     struct clock *clock, struct buf *text,
		     struct str *ret_pages, uint64_t *ret_left_ms) MUST_USE;
/*
 * Keep a list instead of the one before. k may be NULL.
 * ttl_ms  from now; 0 forgets
 * pages   JSON array of results
 */
void kept_lists_put(struct kept_lists *k, const struct kept_key *key,
		    struct clock *clock, uint64_t ttl_ms, struct str pages);
/* It proved wrong. k may be NULL. */
void kept_lists_forget(struct kept_lists *k, const struct kept_key *key);

#endif
