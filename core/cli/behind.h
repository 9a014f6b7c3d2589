/*
 * Servers of a client's file that one `matins serve` starts, with a
 * configuration of its own: that is kept where no confined program can write.
 *
 *	struct behind b;
 *	behind_init(&b, &foreign, folder);
 *	... behind_add(&b, &wrap.server[i], &as) ...
 *	behind_close(&b, &wrap, self)
 *	... wrap_text(), show b.text ...
 *	behind_write(&b, err)
 */
#ifndef CORE_CLI_BEHIND_H
#define CORE_CLI_BEHIND_H

#include "core/cli/foreign.h"
#include "core/import/set.h"
#include "core/import/wrap.h"

struct behind {
	struct foreign *f;
	const char *folder, *path; /* of the configuration */
	struct import_set set;
	struct behind_server {
		struct wrap_server *s;
		size_t at; /* in the set */
	} * server;	   /* in the arena of `f` */
	size_t n;
	struct buf text; /* of the configuration */
};

/* folder  absolute, made when it is written; borrowed */
void behind_init(struct behind *b, struct foreign *f, const char *folder);
void behind_release(struct behind *b);

/*
 * Say why a server keeps an entry of its own, though it starts confined: the
 * client would miss something of it, or nobody would.
 *
 * as	    as it was read, before a trace
 * returns  NULL: it can go; else a clause, in the arena or static
 */
const char *behind_why_not(const struct behind *b, const struct wrap *w,
			   const struct wrap_server *s,
			   const struct import_server *as) MUST_USE;
/* Let it go; `as` has all its rows. */
void behind_add(struct behind *b, struct wrap_server *s,
		struct import_server *as);
/* Name the servers, print the configuration, and give each table of the file
   one entry that starts `serve` of those that it had. */
void behind_close(struct behind *b, struct wrap *w, const char *self);
/* Is it a start of `serve` that was written so? */
bool behind_is_start(const struct strlist *words, const char *state) MUST_USE;

/*
 * Write the configuration and the files of its credentials.
 * errors  ERR_CONFIG  it would be no valid one; ERR_SYS
 */
int behind_write(const struct behind *b, struct err *err) MUST_USE;

#endif
