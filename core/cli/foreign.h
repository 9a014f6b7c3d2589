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
 * errors  ERR_SYS, ERR_SYNTAX, ERR_CONFIG, ERR_LIMIT, ERR_UNKNOWN
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
/* Find its program, or the package that it names, and start nothing. */
int foreign_find(struct foreign *f, struct import_server *s, struct err *err)
	MUST_USE;

#endif
