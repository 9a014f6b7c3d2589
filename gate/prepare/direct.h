/*
 * Launchers without the launcher: `npx NAME` is started as what it comes to.
 *
 * npx, npm exec, bunx, uvx and pipx run find a package and start its program
 * by way of a shell. Where the package is installed, the program itself is
 * started in their place: `node` on its script, nothing else. Words and
 * package.json are read by gate/policy/package.h.
 */
#ifndef GATE_PREPARE_DIRECT_H
#define GATE_PREPARE_DIRECT_H

#include "gate/prepare/prepared.h"

/*
 * Put the program into .request that the words of a launcher come to, and fill
 * .direct. Any other request stays as it is, as do those that a launcher
 * alone can understand; and where the policy grants it a network and programs
 * to start, one for a package that is missing.
 *
 * Packages of npm are found in the project itself, in node_modules/.bin and
 * node_modules from the working directory up, in npm's prefix, and among what
 * npx fetched before; those of Python in the environments of uv and pipx.
 * gate/path/package_file.h says which folders and files are trusted.
 *
 * errors  ERR_NOT_FOUND  not installed, or in another version, with what to do
 *	   ERR_LEASH	  the leash does not name the launcher
 *	   ERR_POLICY	  files of another user, a program outside its package
 */
int prepare_direct(struct prepared *p, struct err *err) MUST_USE;

#endif
