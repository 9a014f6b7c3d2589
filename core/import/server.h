/*
 * One server of another client's settings as rows of [servers.NAME].
 *
 *	struct import_server s;
 *	server_read(&source, "files", table, &s);
 *	if (s.is_usable)
 *		server_print(&s, NULL, &out);
 *
 * Variables, inputs, folders and launchers of other systems are translated;
 * a literal that looks like a credential becomes a row of its own kind. Every
 * key that has no counterpart is named in `lost`: nothing is dropped in
 * silence. Pure, but for the two functions of the source.
 */
#ifndef CORE_IMPORT_SERVER_H
#define CORE_IMPORT_SERVER_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/toml/toml.h"

enum import_kind {
	IMPORT_TEXT,	 /* a string */
	IMPORT_LIST,	 /* a list of strings */
	IMPORT_VARIABLE, /* { env = text } */
	IMPORT_FILE,	 /* { file = text } */
	IMPORT_SECRET,	 /* { file = file }, whose content is text */
	IMPORT_ASIDE,	 /* no row: the variable `key` that a person is to set
			    to the content of `file`, which is text; of an
			    argument no variable, key "" */
};

struct import_row {
	const char *table; /* "env", "headers", "auth", "sandbox"; "": none */
	const char *key;
	enum import_kind kind;
	const char *text;
	struct strlist list; /* of LIST */
	const char *file;    /* of SECRET and ASIDE, once it has a name */
};

struct import_server {
	const char *name;  /* as check_name() of routine.c takes it */
	const char *from;  /* path of its file, for people */
	const char *about; /* a description; or NULL */
	bool is_usable;	   /* has a program or a URL */
	struct import_row *row;
	size_t n;
	struct strlist notes; /* sentences: translated, or to be done */
	struct strlist lost;  /* sentences: not carried */
};

/* File that servers are read from. Strings are borrowed for their life. */
struct import_source {
	struct arena *arena;
	const char *path;		 /* for people */
	const char *folder;		 /* of the project; absolute */
	const char *home;		 /* absolute */
	const struct toml_value *inputs; /* of VS Code; may be NULL */
	bool in_seconds;		 /* a `timeout` counts seconds */
	/* Value of a variable; NULL: it is not set. */
	const char *(*variable)(void *arg, const char *name);
	/* Text of a file of variables, in `arena`; {NULL, 0}: unreadable. */
	struct str (*read)(void *arg, const char *path);
	void *arg;
};

/* Read a definition; `table` may be of any type. All of *ret is in the arena.
 */
void server_read(const struct import_source *src, const char *name,
		 const struct toml_value *table, struct import_server *ret);

/* Find a row; NULL: there is none. */
const struct import_row *server_row(const struct import_server *s,
				    const char *table, const char *key)
	MUST_USE;
void server_add(struct import_server *s, struct arena *arena,
		struct import_row row);

/*
 * Append the table, with comments of where it is from and what is missing.
 *
 * name  of the table; NULL: the content alone, credentials in clear, by which
 *	 two definitions are compared
 */
void server_print(const struct import_server *s, const char *name,
		  struct buf *out);

#endif
