/*
 * Packages that launchers such as npx are asked for, and what a package says
 * of itself. Pure: the words of a command, the text of package.json.
 *
 *	if (package_read("npx", NULL, &argv, &arena, &asked))
 *		... asked.spec[0].name, asked.program, asked.args ...
 *	package_json(text, &arena, &package, err);
 *	bin = package_bin(&package, NULL);
 *
 * source  npm's lib/commands/exec.js, libnpmexec, npm-package-arg
 */
#ifndef GATE_POLICY_PACKAGE_H
#define GATE_POLICY_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "gate/policy/programs.h"

/* ---- the words ---- */

struct package_spec {
	const char *written; /* "@scope/name@^1.2" */
	const char *name;    /* "@scope/name" */
	struct str version;  /* "^1.2", "latest"; empty: any */
};

struct package_asked {
	const struct package_tool *tool;
	const char *launcher; /* for people: "npx", "npm exec" */
	const struct package_spec *spec;
	size_t n; /* 1 at least */
	/* The word that says what is to run: a program of one of the packages
	   (is_named), else the package, or a program, itself. */
	const char *program;
	bool is_named;
	bool wants_bun;
	struct strlist args; /* of the program */
};

/*
 * Read the command of a launcher.
 *
 * asked    the launcher as it was called
 * path     its file; may be NULL
 * argv     with argv[0]; borrowed, as all words of the result
 * returns  true when it asks for packages by name; false: another program, an
 *	    option that is not known here, no package, a URL, a folder, an alias
 */
bool package_read(const char *asked, const char *path,
		  const struct strlist *argv, struct arena *arena,
		  struct package_asked *ret) MUST_USE;

/* Does an installed version do? A tag, such as latest, takes any. */
bool package_version_fits(const struct package_asked *asked,
			  const struct package_spec *spec, const char *version)
	MUST_USE;
/* A version is a word whose meaning only a registry knows. */
bool package_is_tag(const struct package_asked *asked,
		    const struct package_spec *spec) MUST_USE;

/* ---- package.json ---- */

struct package_bin {
	const char *name;
	const char *path; /* in the folder of the package: "dist/index.js" */
};

struct package {
	const char *name, *version; /* NULL where it says none */
	const struct package_bin *bin;
	size_t n_bins;
};

/* errors  ERR_SYNTAX, ERR_LIMIT  not a JSON object, or too large a one */
int package_json(struct str text, struct arena *arena, struct package *ret,
		 struct err *err) MUST_USE;

/*
 * The program of a package.
 *
 * name     NULL: as npx chooses, the only one, else the one that is called as
 *	    the package
 * returns  NULL: there is none, or several without a choice
 */
const struct package_bin *package_bin(const struct package *p, const char *name)
	MUST_USE;

/* A relative path that stays where it begins: no "..", no empty part. */
bool package_path_is_inside(const char *path) MUST_USE;

/*
 * Split a link of node_modules/.bin, "../@scope/name/dist/index.js", into the
 * folder of the package beneath node_modules and the file in it.
 *
 * returns  false: it leads elsewhere
 */
bool package_split(struct str link, struct arena *arena,
		   const char **ret_folder, const char **ret_path) MUST_USE;

/*
 * The link in a script that pnpm puts into node_modules/.bin, where npm puts a
 * link; {NULL, 0}: it is another script.
 */
struct str package_shim(struct str script) MUST_USE;

#endif
