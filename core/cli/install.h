/*
 * Programs that install a server, run in the gate: they see no file of the
 * user but those that are named, and connect to no host but those.
 */
#ifndef CORE_CLI_INSTALL_H
#define CORE_CLI_INSTALL_H

#include "core/base/arena.h"
#include "core/install/kinds.h"

/* Hidden command: ARCHIVE FOLDER. */
#define UNPACK_COMMAND "__unpack"

/* Words for the kinds that have packages, and places that they find. */
struct install {
	struct arena *arena;
	const char *source;	/* words of the person, or a recorded source */
	const char *draft;	/* folder of the draft */
	const char *tree;	/* to be filled; in the draft */
	const char *place;	/* of the tree, in the end */
	bool allow_scripts;	/* programs of packages may run */
	const char *runtime;	/* of --runtime; NULL: that of the machine */
	const char *find_links; /* folder of wheels; NULL: the index */
	/* out */
	const char *version;
	struct strlist words; /* start the server, in its place */
	int signal;	      /* that ended a program of ours; 0: none */
};

/* errors  ERR_PEER  a program failed; those of the gate */
int install_npm(struct install *i, struct err *err) MUST_USE;
int install_python(struct install *i, struct err *err) MUST_USE;
/* Unpack a bundle into the tree. errors  likewise; its words are on stderr */
int install_unpack(struct install *i, struct err *err) MUST_USE;

#endif
