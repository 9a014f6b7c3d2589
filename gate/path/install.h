/*
 * The installation of a program: what it needs beside its own file.
 *
 * For PREFIX/bin/x that is PREFIX/lib, libexec and share; for a virtual
 * environment its whole folder; for a script its package, which is the
 * nearest folder above it with a mark of one (package.json, ...), else its
 * own folder. Never a whole HOME, a folder that all users may write, a
 * folder directly beneath the root, or one of the system's programs.
 *
 * Nothing is opened; the folders that are named exist.
 */
#ifndef GATE_PATH_INSTALL_H
#define GATE_PATH_INSTALL_H

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/str.h"

struct install {
	struct strlist read; /* folders, readable beneath */
};

/*
 * The installation of a program file.
 *
 * asked   absolute path by which it was found
 * path    the same without symbolic links
 * homes   folders that are the user's HOME, without links; may be none
 * arena   strings and list live here
 */
void install_of_program(const char *asked, const char *path,
			const struct strlist *homes, struct arena *arena,
			struct install *ret);

/*
 * The folder of the package that a script belongs to; NULL when it has none
 * that may be granted (the file alone then).
 *
 * path  absolute, without symbolic links
 */
const char *install_of_script(const char *path, const struct strlist *homes,
			      struct arena *arena) MUST_USE;

#endif
