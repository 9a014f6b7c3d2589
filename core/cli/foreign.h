/*
 * Files of other clients, as commands read them, and their servers traced.
 *
 *	struct foreign f;
 *	foreign_init(&f);
 *	if (foreign_read(&f, path, &text, &root, err) == 0)
 *		client_servers(&f.src, &root, tree_format_of(path), …);
 *	foreign_release(&f);
 */
#ifndef CORE_CLI_FOREIGN_H
#define CORE_CLI_FOREIGN_H

#include "core/cli/args.h"
#include "core/config/config.h"
#include "core/import/server.h"

struct foreign {
	struct arena arena; /* holds credentials; wiped */
	struct import_source src;
};

void foreign_init(struct foreign *f);
void foreign_release(struct foreign *f);

/*
 * Read a file, and set the source to it.
 *
 * text    its bytes, up to TREE_BYTES_MAX
 * ret     in the arena
 * errors  ERR_CONFIG  another user owns it or may write it, and below;
 *	   ERR_SYS, ERR_SYNTAX, ERR_LIMIT, ERR_UNKNOWN
 */
int foreign_read(struct foreign *f, const char *path, struct buf *text,
		 struct toml_value *ret, struct err *err) MUST_USE;

/*
 * Start a server that is a program once, traced; its needs become rows of its
 * `sandbox`, and sentences of what is not granted. Credentials are handed over
 * from memory.
 *
 * config  with its [sandbox]; NULL: none
 * dir     where relative paths begin, of rows, too
 * returns, errors  as server_trace(); ERR_CREDENTIAL  a variable is not set
 */
int foreign_trace(struct foreign *f, struct import_server *s,
		  const struct config *config, const char *dir, struct err *err)
	MUST_USE;
/* Is it disabled in its client? Then nothing starts it. */
bool foreign_is_off(const struct import_server *s) MUST_USE;
/*
 * Find its program, or the package that it names, from the folder where its
 * client starts it, and start nothing. Where that is not known, it may be found
 * from the caller's folder, too; `starts_in` is set where a start in another
 * one would not find the package.
 *
 * errors  ERR_NOT_FOUND
 */
int foreign_find(struct foreign *f, struct import_server *s, struct err *err)
	MUST_USE;

/*
 * Explain its start from a folder, and start nothing.
 * errors  gate_explain()
 */
int foreign_explain(struct foreign *f, struct import_server *s, const char *dir,
		    struct gate_explained *ret, struct err *err) MUST_USE;

/* ---- files and folders that a definition names ---- */

/* Options of commands that call foreign_name(). */
#define FOREIGN_PATH_OPTIONS                                                \
	{"grant", 0, NULL,                                                  \
	 "with --trace, grant all that a server reaches for, your files "   \
	 "and the network, too"},                                           \
		{"allow-read", 0, "PATH",                                   \
		 "let servers whose arguments or variables name PATH read " \
		 "it"},                                                     \
	{                                                                   \
		"allow-write", 0, "PATH",                                   \
			"let servers whose arguments or variables name "    \
			"PATH read and write it"                            \
	}

struct foreign_paths {
	struct strlist read, write; /* of the options, absolute */
	struct strlist used;	    /* paths of both that a server names */
	/* Paths of both that a server without grants names, and its name. */
	struct strlist left, left_by;
	bool is_traced;	 /* a trace has granted what is needed */
	bool grants_all; /* rows of a trace, by --grant */
	/* Sentences about the server that was looked at last. */
	struct strlist unseen;	  /* named, and not granted at all; or a file
				     beside the project that is */
	struct strlist unwritten; /* granted for reading alone */
};

void foreign_paths_read(struct foreign *f, const struct args *args,
			struct foreign_paths *ret);
/*
 * Leave rows that foreign_trace() added to the person, and say them in `lost`.
 * Granted are programs and files of the system, what may be read in the project
 * of the file, and paths of the options; with --grant all of them.
 */
void foreign_sift(struct foreign *f, struct import_server *s, const char *dir,
		  struct foreign_paths *paths);
/* errors  ERR_USAGE  no server names the path of an option, or --grant stands
	   without --trace */
int foreign_paths_check(const struct foreign_paths *p, struct err *err)
	MUST_USE;
/*
 * Look at what arguments and variables of a program name and its sandbox does
 * not grant. Rows are added for paths of the options, and without a trace for
 * reading what lies within the project of the file; of the rest sentences.
 *
 * config, dir  as of foreign_trace()
 */
void foreign_name(struct foreign *f, struct import_server *s,
		  const struct config *config, const char *dir,
		  struct foreign_paths *paths);
/* Remember which paths of the options a server names that gets no grant, as it
   cannot start confined. */
void foreign_name_left(struct foreign *f, struct import_server *s,
		       struct foreign_paths *paths);

#endif
