/*
 * Lists of a server over all their pages: tools, resources, resource templates,
 * prompts.
 *
 *	struct listing l;
 *	listing_init(&l, LISTING_TOOLS);
 *	do {
 *		session_request(s, listing_method(l.kind),
 *				listing_params(&l), ...);
 *		... its result:
 *		got = listing_add(&l, result, err);
 *	} while (got == LISTING_MORE);
 *	... l.item[i].name, l.item[i].json ...
 *	listing_release(&l);
 *
 * Items are handed on as they came, in their order. One that is of no use
 * (no name) or has the name of an earlier one is left out; `warnings` says so.
 *
 * Pure. Source: MCP 2025-11-25 and 2026-07-28, server/utilities/pagination
 */
#ifndef CORE_MCP_WIRE_LISTING_H
#define CORE_MCP_WIRE_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* LISTING(id, method, member of the result, member that names an item) */
#define LISTINGS(X)                                                   \
	X(TOOLS, "tools/list", "tools", "name")                       \
	X(RESOURCES, "resources/list", "resources", "uri")            \
	X(TEMPLATES, "resources/templates/list", "resourceTemplates", \
	  "uriTemplate")                                              \
	X(PROMPTS, "prompts/list", "prompts", "name")

enum listing_kind {
#define X(id, method, member, name) LISTING_##id,
	LISTINGS(X)
#undef X
};

/* Bounds of one listing (PAG-6). */
#define LISTING_PAGES_MAX 1000
#define LISTING_ITEMS_MAX 100000

struct listing_item {
	struct str name; /* decoded; of a resource its URI */
	struct str json; /* the object as it came */
};

struct listing {
	enum listing_kind kind;
	/*
	 * Set behind listing_init(): tools whose marks for HTTP headers break
	 * a rule are left out. For HTTP of 2026-07-28 only (XH-2, XH-10).
	 */
	bool checks_headers;
	struct arena arena; /* owns all but `slots` */
	struct listing_item *item;
	size_t n;
	size_t *slots; /* by name: index + 1; owned */
	size_t n_slots;
	struct strlist warnings; /* sentences; at most 64 */
	size_t warnings_dropped;
	uint32_t pages;
	bool restarted;
	struct strlist cursors; /* JSON strings that were seen */
	struct str cursor; /* JSON string of the next page; {NULL, 0} first */
	struct buf params; /* owned */
};

void listing_init(struct listing *l, enum listing_kind kind);
void listing_release(struct listing *l);

/* Static. */
const char *listing_method(enum listing_kind kind) MUST_USE;
/* "tools": the member of the result that holds the items. Static. */
const char *listing_member(enum listing_kind kind) MUST_USE;

/* The params of the next request; {NULL, 0} for none. Borrowed. */
struct str listing_params(struct listing *l) MUST_USE;

enum { LISTING_DONE = 0, LISTING_MORE = 1 };

/*
 * Add the result of one page.
 *
 * result   any JSON; borrowed for the call
 * returns  LISTING_MORE when there is another page, else LISTING_DONE
 * errors   ERR_PEER   not a result of this list; earlier pages stay
 *	    ERR_LIMIT  too many items; what fits is there
 */
int listing_add(struct listing *l, struct str result, struct err *err) MUST_USE;

/*
 * The server refused the cursor: forget all pages and begin again. False when
 * that was done before (PAG-8).
 */
bool listing_restart(struct listing *l) MUST_USE;

/* The item of this name, or NULL. */
const struct listing_item *listing_find(const struct listing *l,
					struct str name) MUST_USE;

#endif
