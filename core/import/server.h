/*
 * One server of another client's settings as the table of [servers.NAME].
 *
 *	struct import_server s;
 *	server_read(&source, "files", table, &s);
 *	if (s.is_usable)
 *		server_print(&s, s.name, &out);
 *
 * Variables, inputs, folders and launchers of other systems are translated;
 * a literal that looks like a credential is kept apart from the text. Every
 * key that has no counterpart is named in `lost`: nothing is dropped in
 * silence. Pure, but for the two functions of the source.
 */
#ifndef CORE_IMPORT_SERVER_H
#define CORE_IMPORT_SERVER_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/toml/toml.h"

/* Values of one server's table: texts of lists are compared with each other. */
#define IMPORT_VALUES_MAX 1000

struct import_server {
	const char *name;   /* as check_name() of routine.c takes it */
	const char *from;   /* path of its file, for people */
	const char *folder; /* of its project; absolute */
	const char *about;  /* a description; or NULL */
	bool is_usable;	    /* has a program or a URL */
	/*
	 * Keys as the configuration has them. A credential is the table
	 * { secret = TEXT }, with `file` as soon as its file has a name. The
	 * table "" holds those that no key can have: each under the variable
	 * that a person is to set to it, of an argument under "".
	 */
	struct toml_value table;
	struct strlist variables; /* names that the client sets, as written */
	const char *env_file; /* that the client reads at each start; NULL */
	bool has_unread;      /* variables of a form that is not read */
	bool has_merge;	      /* a key << of YAML: maybe any other key */
	/* Folder to start in where the table has no `cwd`; NULL: any. */
	const char *starts_in;
	/* Options --read and --write of its `matins exec`, each before its
	   path, which is absolute: wishes of a file of others, no grants. */
	struct strlist asked;
	struct strlist notes; /* sentences: translated, or to be done */
	struct strlist lost;  /* sentences: not carried */
};

/* File that servers are read from. Strings are borrowed for their life. */
struct import_source {
	struct arena *arena;
	const char *path;   /* for people */
	const char *folder; /* of the project; absolute */
	bool is_project;    /* clients start the servers in the folder */
	const char *home;   /* absolute */
	const struct toml_value *inputs; /* of VS Code; may be NULL */
	bool in_seconds;		 /* a `timeout` counts seconds */
	bool keeps_exec;		 /* `matins exec` is a program, too */
	/* Table of the server that is visited; NULL: it stands in a list. */
	const struct toml_value *within;
	/* Value of a variable; NULL: it is not set. */
	const char *(*variable)(void *arg, const char *name);
	/* Text of a file of variables, in `arena`; {NULL, 0}: unreadable. */
	struct str (*read)(void *arg, const char *path);
	/* Is there such a path? NULL: each may be. */
	bool (*is_file)(void *arg, const char *path);
	void *arg;
};

/* Read a definition; `table` may be of any type. All of *ret is in the arena.
 */
void server_read(const struct import_source *src, const char *name,
		 const struct toml_value *table, struct import_server *ret);

/*
 * Find the member of a definition that names the program, or that has the
 * arguments, whatever the client calls it: the last one counts.
 *
 * returns  NULL: there is none
 */
struct toml_member *server_member(const struct toml_value *table, bool is_args)
	MUST_USE;
/*
 * Say why clients differ in what they start of a definition: it has more than
 * one program, list of arguments that can be edited, or a URL beside them.
 *
 * returns  NULL: they do not
 */
const char *server_conflict(const struct toml_value *table) MUST_USE;
/* Name the key of arguments that are no list, which cannot be edited; NULL:
   there is none. */
const char *server_odd_args(const struct toml_value *table) MUST_USE;
/* Does a key of that name have the program or its arguments? */
bool server_starts(const char *name) MUST_USE;
/* Program and arguments of a definition as they are written; n = 0 without a
   program. */
struct strlist server_words(const struct import_source *src,
			    const struct toml_value *table) MUST_USE;

/*
 * Walk the credentials: the nth one, or NULL.
 *
 * ret_key  name of the key, or of the variable to set
 */
struct toml_value *server_secret(const struct import_server *s, size_t nth,
				 const char **ret_key) MUST_USE;

/* Append the table, with comments of where it is from and what is missing. */
void server_print(const struct import_server *s, const char *name,
		  struct buf *out);

#endif
