/*
 * The catalogue: what the servers of a configuration offered when they were
 * listed last, and when that changed. One file for each server in the folder
 * `catalogue` of the state directory, written whole. A memory, not a truth
 * (core/config/state_file.h): calls never rely on it, no server is started to
 * read it, and nothing in it holds a secret.
 *
 *	AUTO(catalogue_release) struct catalogue c;
 *
 *	AUTO(fd_closep) int held = catalogue_hold(state_dir);
 *	catalogue_read(state_dir, config->path, "github", &c);
 *	catalogue_merge(&c, &listing, scrub, now, true, &changes);
 *	catalogue_write(state_dir, config->path, "github", &c);
 *
 * Entries that are gone stay, marked as deprecated. Times are RFC 3339, UTC.
 *
 *	{"schema":"matins-catalogue/1","config":…,"server":…,"synced":…,"tools":[
 *	{"name":"search","first_seen":…,"last_seen":…,"item":{…}}
 *	],"resources":[ …
 *
 * An entry is a line: a search among thousands looks at few of them.
 */
#ifndef CORE_CLIENT_CATALOGUE_H
#define CORE_CLIENT_CATALOGUE_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/mcp/wire/listing.h"
#include "core/secret/scrub.h"

enum { CATALOGUE_LISTS = LISTING_PROMPTS + 1 };

struct catalogue_entry {
	struct str name; /* decoded; of a resource its URI */
	struct str item; /* object as it was listed last, without secrets */
	const char *first_seen, *last_seen;
	const char *updated; /* when it was last found changed; NULL */
	const char
		*deprecated; /* when a whole list lacked it; NULL: is there */
	const char *renamed_to; /* name of what came in its place; NULL */
	const char *news; /* "added", "updated" since the last whole list; NULL
			   */
	/* strings of the item, by catalogue_prove(); {NULL, 0} without */
	struct str title, description;
};

struct catalogue_list {
	struct catalogue_entry *entry; /* entries of today come first */
	size_t n;
};

struct catalogue {
	struct arena arena;
	struct buf text;    /* of the file */
	const char *synced; /* time of the last whole lists; NULL: none yet */
	/* of the last attempt to reach it, when it failed; else NULL */
	const char *failed, *error, *error_kind;     /* err_word() */
	struct catalogue_list list[CATALOGUE_LISTS]; /* by enum listing_kind */
};

enum catalogue_what {
	CATALOGUE_ADDED,
	CATALOGUE_UPDATED,
	CATALOGUE_DEPRECATED,
};

struct catalogue_change {
	enum catalogue_what what;
	enum listing_kind kind;
	struct str name;
	const char *renamed_to; /* of a deprecated one; NULL */
};

/* In the arena of the catalogue. */
struct catalogue_changes {
	struct catalogue_change *item;
	size_t n;
};

/* False: nothing is known; *ret is empty then, and is released all the same.
   state_dir  NULL: nothing is known */
bool catalogue_read(const char *state_dir, const char *config,
		    const char *server, struct catalogue *ret);
/*
 * Like catalogue_read(), without a look at the items, which are most of the
 * file: read one only behind catalogue_prove().
 */
bool catalogue_read_heads(const char *state_dir, const char *config,
			  const char *server, struct catalogue *ret);
/* Read `text` into the other members, as above; they borrow it. */
bool catalogue_parse(struct catalogue *c) MUST_USE;
/* Prove the item, and find its title and description on the way. False: it is
   no JSON object. */
bool catalogue_prove(struct catalogue_entry *e) MUST_USE;
void catalogue_release(struct catalogue *c);
/*
 * Hold the catalogue for who reads it, merges and writes: two at once would
 * lose one another's rows. Waits some seconds.
 *
 * returns  a descriptor, whose end lets go; -1: it cannot be had
 */
int catalogue_hold(const char *state_dir) MUST_USE;
/* False: it was not written. */
bool catalogue_write(const char *state_dir, const char *config,
		     const char *server, const struct catalogue *c) MUST_USE;

/* The entry of that name, NULL: there is none. */
const struct catalogue_entry *catalogue_find(const struct catalogue *c,
					     enum listing_kind kind,
					     struct str name) MUST_USE;
/* Entries of a kind that are not deprecated. */
size_t catalogue_count(const struct catalogue *c, enum listing_kind kind)
	MUST_USE;

/*
 * Merge a list of a server. Names that hold a secret are left out.
 *
 * l         borrowed; must live as long as the catalogue
 * now       likewise
 * is_whole  the list has all that the server can offer: entries that it lacks
 *	     are deprecated, and news of lists since the last whole one are
 *	     changes, too
 * changes   appended
 */
void catalogue_merge(struct catalogue *c, const struct listing *l,
		     const struct scrub *scrub, const char *now, bool is_whole,
		     struct catalogue_changes *changes);
/*
 * Merge a list that a command happened to see, which may lack what a server
 * offers to other clients: nothing is deprecated, and nothing is written where
 * nothing is new. A memory: a write that fails is left out silently.
 */
void catalogue_keep(const char *state_dir, const char *config,
		    const char *server, const struct listing *l,
		    const struct scrub *scrub, const char *now);

/*
 * Note how an attempt to reach a server ended; lists stay as they are.
 *
 * why      NULL: it was reached
 * returns  false: it cannot be written
 */
bool catalogue_note(const char *state_dir, const char *config,
		    const char *server, const struct err *why, const char *now);

/* Names of tools that tool_name_is_word(), and that are not deprecated, in
   `arena`; none where nothing is known. */
struct strlist catalogue_tools(const char *state_dir, const char *config,
			       const char *server, struct arena *arena)
	MUST_USE;

/*
 * How well an entry fits words with spaces between: 0: not all of them occur in
 * the name, the title or the description of it or in the name of its server;
 * more is better. Case of ASCII letters does not count. For a proved entry.
 */
unsigned catalogue_score(struct str server, const struct catalogue_entry *e,
			 struct str words) MUST_USE;
/* Can catalogue_score() be more than 0? For an item that is not proved. */
bool catalogue_may_fit(struct str server, const struct catalogue_entry *e,
		       struct str words) MUST_USE;

#endif
