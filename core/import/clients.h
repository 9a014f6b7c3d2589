/*
 * Clients whose settings are read, where their files lie, and where the
 * servers stand in them. Pure.
 */
#ifndef CORE_IMPORT_CLIENTS_H
#define CORE_IMPORT_CLIENTS_H

#include "core/import/server.h"
#include "core/import/tree.h"

struct import_client {
	const char *name;	   /* of --from; NULL ends the table */
	const char *title;	   /* for people */
	const char *const *places; /* ends in NULL */
};

extern const struct import_client import_clients[];

/*
 * A place as a path, relative where it begins in the current folder.
 *
 * returns  in the arena; NULL: its variable is not set
 */
const char *client_place(const struct import_source *src, const char *place)
	MUST_USE;

/*
 * Visit each definition of a file, in order: of all objects of servers that
 * clients write, or of a file that is nothing else.
 *
 * src     its inputs are set before the first visit; at each one its folder
 *	   is that of the server's project, and `within` is set
 * format  the key `extensions` means servers in YAML alone
 * returns how many
 */
size_t client_servers(struct import_source *src, const struct toml_value *root,
		      enum tree_format format,
		      void (*visit)(void *arg, const char *name,
				    const struct toml_value *table),
		      void *arg);

#endif
