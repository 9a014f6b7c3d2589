/*
 * Servers of several files under names of their own: equal definitions become
 * one, different ones of a name NAME, NAME-2, … Pure, but for the one function
 * that looks for a file.
 */
#ifndef CORE_IMPORT_SET_H
#define CORE_IMPORT_SET_H

#include "core/import/server.h"

/* Servers of a set, and values in their tables: each name of a server, and of
   the file of a credential, is looked for among all that are there. */
#define IMPORT_SERVERS_MAX 2000
#define IMPORT_SET_VALUES_MAX 10000

struct import_named {
	struct import_server s;
	const char *name; /* in the configuration; NULL: it is not usable */
	bool is_known;	  /* the configuration has it already */
};

struct import_set {
	struct arena *arena;
	struct import_named *item;
	size_t n;
	struct strlist notes; /* sentences: merged, renamed */
};

/*
 * Put a definition into the set, unless an equal one of its name is there.
 * returns  the index of either
 */
size_t set_add(struct import_set *set, const struct import_server *s);

/*
 * Name the servers and their key files, keys/NAME-KEY.
 *
 * config  tree of the configuration
 * may_be  may this file, in the folder of keys, have that content? false:
 *	   it has another
 */
void set_name(struct import_set *set, const struct toml_value *config,
	      bool (*may_be)(void *arg, const char *file, struct str content),
	      void *arg);

#endif
