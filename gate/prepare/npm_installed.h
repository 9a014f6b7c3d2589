/*
 * Programs of packages that npm installed.
 */
#ifndef GATE_PREPARE_NPM_INSTALLED_H
#define GATE_PREPARE_NPM_INSTALLED_H

#include "gate/policy/package.h"

/*
 * Find the program of a package where npx would: in the project itself, in
 * node_modules/.bin and node_modules from the working directory up, in npm's
 * prefix, and among what npx fetched before.
 *
 * arena    all of the result lives here
 * returns  1; 0: nothing of that name, or another version (.instead)
 * errors   ERR_POLICY  files that are not to be trusted, a program outside its
 *			package, or none to choose
 *	    ERR_NOT_FOUND, ERR_SYS  the package lacks its program
 */
int npm_installed(const struct package_search *search, struct arena *arena,
		  struct package_found *ret, struct err *err) MUST_USE;

#endif
