/*
 * Parts of making a request ready, in the order in which prepare.c calls them.
 * Each fills its members of struct prepared.
 */
#ifndef GATE_PREPARE_PARTS_H
#define GATE_PREPARE_PARTS_H

#include "gate/prepare/prepared.h"

/*
 * ---- direct.c ----
 *
 * Launchers without the launcher: `npx NAME` is started as what it comes to.
 *
 * npx, npm exec, bunx, uvx and pipx run find a package and start its program
 * by way of a shell. Where the package is installed, the program itself is
 * started in their place: `node` on its script, nothing else. Words and
 * package.json are read by gate/policy/package.h.
 */

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

/*
 * ---- prepare_data.c ----
 *
 * Arguments that a server or a program has made: they are passed on, and say
 * nothing of what is granted or runs.
 */

/* Is it such an argument? */
bool data_is(const struct gate_request *request, size_t at) MUST_USE;

/*
 * Programs that the arguments of .program name, read as the words of a command
 * line of env, find, timeout and the like; in the arena of `p`. DATA_WORD among
 * them: such an argument names one.
 */
struct strlist data_started(struct prepared *p) MUST_USE;

/* Stands for an argument from data: a path where nothing can lie. */
#define DATA_WORD "/dev/null/data"

/*
 * Refuse such arguments where they would say what a launcher of packages, or
 * the program, runs. The first goes before prepare_direct(), the other needs
 * .program.
 *
 * errors  ERR_POLICY
 */
int prepare_data_package(struct prepared *p, struct err *err) MUST_USE;
int prepare_data(struct prepared *p, struct err *err) MUST_USE;

/*
 * ---- prepare_execs.c ----
 *
 * Programs of a request: its own, the rows of `exec`, and those of recipes;
 * each found, opened and judged, by the leash, too.
 */

/*
 * Fill .program; needs .direct.
 * errors  ERR_NOT_FOUND, ERR_LEASH, ERR_POLICY
 */
int prepare_program(struct prepared *p, struct err *err) MUST_USE;

/* Close what programs of the run were found to be. */
void programs_release(struct gate *gate);

/*
 * Fill .execs and .exec_folder; needs .recipes. What the leash refuses, and
 * what a recipe brings and this machine has not, is left out.
 *
 * errors  ERR_NOT_FOUND, ERR_POLICY  of a row of `exec`
 */
int prepare_execs(struct prepared *p, struct err *err) MUST_USE;

/*
 * ---- prepare_recipes.c ----
 *
 * Recipes of a request: the rows of recipes.def that its policy names, and
 * those that apply to its program by themselves.
 */

/*
 * Fill .recipes and .recipe_env; needs .program and .policy. A folder that a
 * recipe is known to need in a writable project is made, when a start is due.
 * returns  0: nothing in there fails
 */
int prepare_recipes(struct prepared *p, struct err *err) MUST_USE;

/*
 * Say for people what recipes have granted: "git: starts git; reads /srv/p, for
 * its .git". One sentence for each that granted something; in the arena of
 * `p`, whose .grants are complete.
 */
struct strlist recipes_say(struct prepared *p) MUST_USE;

/* Projects alone: "/srv/p, for its package.json". In the arena of `p`. */
struct strlist recipes_projects(struct prepared *p) MUST_USE;

/*
 * ---- prepare_grants.c ----
 *
 * Paths of a request: the program's files and installation, the files that
 * its arguments name, and what the policy grants.
 */

/*
 * Fill .grants, .installation, .script and .cwd_shown.
 *
 * errors  as grant_path(), and
 *	   ERR_POLICY  a link in a writable folder leads out of it; a writable
 *		       grant holds a sealed path; a path of `write` is missing
 */
int prepare_grants(struct prepared *p, struct err *err) MUST_USE;

/*
 * Say why no folder above a sealed path is granted for writing, and how it can
 * be: words behind the folder's name.
 */
const char *grants_why_sealed(const char *path, struct arena *arena) MUST_USE;

/*
 * ---- prepare_filter.c ----
 *
 * System-call filter of a child, from the filters that the gate has built.
 */

/*
 * Fill the filters of .launch, .keep_attributes, .asked_records and .watches.
 * errors  ERR_POLICY, ERR_SYS of building a filter
 */
int prepare_filter(struct prepared *p, struct err *err) MUST_USE;

/* Free the filters that the gate has built. */
void filters_release(struct gate *gate);

/*
 * ---- prepare_view.c ----
 *
 * View of a child: private places, grants, protected and hidden paths, and the
 * Landlock rules; without namespaces private folders instead.
 */

/*
 * Fill .view, .rules, .home, .tmp and the setup list of .launch.
 *
 * errors  ERR_POLICY  a hidden or protected path cannot be kept so
 *	   ERR_LIMIT   too many places
 *	   ERR_SYS
 */
int prepare_view(struct prepared *p, struct err *err) MUST_USE;

/* Is the path beneath a private place of the view? */
bool view_replaces(const struct prepared *p, const char *path) MUST_USE;
/*
 * Is what the child finds at the path private, and gone with it? No grant is
 * put there, or above it in the private place.
 */
bool view_hides(const struct prepared *p, const char *path) MUST_USE;

/*
 * ---- prepare_unseen.c ----
 *
 * Files of the user that a program may look for and that its view hides: what
 * only looks ends well, and finds nothing.
 */

/*
 * Note the files to watch for (.unseen), those that arguments, variables or a
 * script name, and whether a listing of a private folder tells of a program
 * that looks into it (.launch.marks_counted). Needs the folder of the start.
 * returns  0: nothing in there fails
 */
int prepare_unseen(struct prepared *p, struct err *err) MUST_USE;

/*
 * ---- facts.c ----
 *
 * Facts of one child, guarantee by guarantee: enforced and by what, partly and
 * what is missing, or absent and why; and the remedy of each.
 */

/*
 * Fill .facts; after all other parts.
 *
 * errors  ERR_PROTECTION  `require` names something that does not hold here, or
 *			   neither Landlock nor namespaces would confine it
 */
int prepare_facts(struct prepared *p, struct err *err) MUST_USE;

/* Advice how to have a mechanism here; NULL: there is none. */
const char *mechanism_remedy_here(const struct prepared *p, enum mechanism m)
	MUST_USE;

#endif
