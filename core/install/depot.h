/*
 * Servers that are installed: a folder for each, whole or not there.
 *
 *	$XDG_DATA_HOME/matins/servers/NAME/tree/	    its files
 *	$XDG_DATA_HOME/matins/servers/NAME/installed.json   kind, source, digest
 *	$XDG_DATA_HOME/matins/installing/NAME.XXXXXX/	    one that is made
 *
 * A draft is locked by who makes it, and gets its place by one rename. A draft
 * without a lock was left by a process that was killed, and is swept away; so
 * is an installed server whose configuration was not written any more. During
 * an upgrade the older server lies in the draft; when that is killed before
 * draft_keep(), the next sweep, or start of the server, puts it back.
 *
 *	draft_open("files", &d, err)
 *	... fill d.tree ...
 *	draft_finish(&d, &about, err)
 *	draft_place(&d, path of the configuration, tree in it, err)
 *	... write the configuration ...
 *	draft_keep(&d, err)
 *	draft_release(&d)			drops what is not kept
 */
#ifndef CORE_INSTALL_DEPOT_H
#define CORE_INSTALL_DEPOT_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"

struct gate_request;

/* Facts of an installed server, of installed.json. Texts in an arena. */
struct installed_server {
	const char *name;	      /* of its folder */
	const char *kind;	      /* "npm", "python", "bundle", "custom" */
	const char *source, *version; /* "" where there is none */
	const char *sha256;	      /* files_digest() */
};

struct draft {
	struct arena arena;
	const char *name;
	const char *place; /* …/servers/NAME */
	const char *path;  /* of the draft; after draft_place() the old one's */
	const char *tree;  /* path/tree */
	int lock, old;	   /* owned; of the draft, of the older one; -1 */
	bool is_placed, is_upgrade;
};

#define DRAFT_INIT                                         \
	{                                                  \
		.arena = ARENA_INIT, .lock = -1, .old = -1 \
	}

/*
 * Sweep, and make an empty draft with an empty tree.
 * errors  ERR_SYS
 */
int draft_open(const char *name, struct draft *d, struct err *err) MUST_USE;
/* Sum the tree and write installed.json. errors  files_digest(), ERR_SYS */
int draft_finish(struct draft *d, struct installed_server *about,
		 struct err *err) MUST_USE;
/* Has a server of its name the kind, the source and the files of the draft?
   Then the draft can be dropped, and that one be named by a second
   configuration. */
bool draft_is_installed(struct draft *d, const struct installed_server *about)
	MUST_USE;
/*
 * Put the draft in its place; of an upgrade in that of the older server.
 *
 * config   absolute path of a configuration that is to name the place; NULL:
 *	    none
 * written  the tree in its place as that configuration writes it
 * errors   ERR_CONFIG  a server of that name is installed, and this is no
 *	    upgrade; ERR_SYS
 */
int draft_place(struct draft *d, const char *config, const char *written,
		struct err *err) MUST_USE;
/* The configuration is written: the server stays. errors  ERR_SYS */
int draft_keep(struct draft *d, struct err *err) MUST_USE;
/* Drop what is not kept; the older server has its place again. */
void draft_release(struct draft *d);

/* Sweep leftovers of processes that were killed; failures are not told. */
void depot_sweep(void);
/*
 * Read installed.json of a server.
 * returns  1: it is not installed
 * errors   ERR_SYS, ERR_SYNTAX
 */
int depot_read(const char *name, struct arena *arena,
	       struct installed_server *ret, struct err *err) MUST_USE;
/* Read a text of such a file; the name stays NULL. errors  ERR_SYNTAX */
int depot_parse(struct str text, struct arena *arena,
		struct installed_server *ret, struct err *err) MUST_USE;
/* The place of a server's tree; NULL without HOME. In `arena`. */
const char *depot_tree(const char *name, struct arena *arena) MUST_USE;
/* Remove an installed server. returns  1: there is none; errors  ERR_SYS */
int depot_remove(const char *name, struct err *err) MUST_USE;
/*
 * The installed server that a request starts: the first of its program,
 * arguments and folder that lies in a place. In `arena`.
 * returns  NULL: none
 */
const char *depot_server_of(const struct gate_request *request,
			    struct arena *arena) MUST_USE;
/*
 * Compare the tree with its sum; of a request that starts no installed server
 * nothing is read.
 *
 * errors  ERR_PIN  it has changed, or is not whole
 *	   ERR_NOT_FOUND  it is not installed
 */
int depot_check(const struct gate_request *request, struct err *err) MUST_USE;

#endif
