/*
 * File that a program was refused, as its words or those of its caller name it,
 * and the grant that it lacks.
 *
 *	struct file_finder finder = {.known = known, .arena = arena};
 *	if (file_find(&finder, &file))
 *		file.key and file.value are the grant
 *
 * Files are looked at: a path in a text counts only where the machine has it.
 */
#ifndef CORE_RUN_REFUSED_FILE_H
#define CORE_RUN_REFUSED_FILE_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/client/said.h"
#include "core/run/advice.h"

struct refused_file {
	const char *path;  /* resolved; "": the words name none */
	const char *key;   /* "read", "write"; NULL: no grant is advised */
	const char *value; /* the path, or the folder to write in */
	const char *why;   /* without a key: the reason, behind the path */
	bool counts;	   /* a refusal even where no row is advised */
	bool write;	   /* to be written, else read */
	bool is_final;	   /* no grant helps, and no trace finds one */
};

struct file_finder {
	const struct advice_known *known; /* .gate and .request are there */
	struct arena *arena;
	struct strlist named; /* of file_named() */
	struct strlist said;  /* paths in words of the person, resolved */
};

/*
 * Resolve a path; of a missing file resolve the nearest folder above and append
 * the rest. "" when the path is too long.
 */
const char *file_real(const struct file_finder *f, struct str path) MUST_USE;

/* The files and folders that arguments name, resolved, there or not. */
const struct strlist *file_named(struct file_finder *f) MUST_USE;

/* Is the folder "." where a line stands? A path of the configuration begins in
   its folder. */
bool file_is_start(const struct file_finder *f, const char *folder) MUST_USE;

/* The place of an argument that holds data, and whose first line the words of
   the program repeat; 0: there is none. */
size_t file_of_data(const struct file_finder *f) MUST_USE;

/* Is the path a key, or a folder with keys or HOME in it? */
bool file_holds_secrets(const struct gate *gate, const char *path,
			struct arena *arena) MUST_USE;

/*
 * Find the grant that a file lacks: fill the rest behind .path. A grant is
 * advised for what words of the person name, or what lies in the project in
 * which the program starts: words of a program alone make none.
 *
 * kind  words of the program about it
 */
void file_judge(struct file_finder *f, enum said_kind kind,
		struct refused_file *file);

/*
 * Reason why a grant cannot be had: the gate would refuse it, or the program
 * could change its own code, that of its script or of an installed package.
 * NULL: it can.
 *
 * key, value  "write", an absolute path
 */
const char *file_refusal(const struct file_finder *f, const char *key,
			 const char *value) MUST_USE;

/* Find the file that words of a failed program name. False: there is none. */
bool file_find(struct file_finder *f, struct refused_file *ret) MUST_USE;

/*
 * Find the repository of git that a linked working tree, or a submodule,
 * belongs to: the .git of the folder of the start, or of one that an argument
 * names, is a file that leads there. NULL: there is none.
 */
const char *file_repository(struct file_finder *f) MUST_USE;

/*
 * Module of Python that a failed program lacks: it lies in a folder that is not
 * granted, is installed for another python, or is not installed. Folders are
 * looked at where python would look for it: those of PYTHONPATH, the one of the
 * start, those that words of the step name, and sites.
 */
struct missing_module {
	const char *name;
	const char *folder; /* not granted, with the module; or NULL */
	bool is_unsearched; /* python does not look there by itself */
	const char *python; /* of an environment that has it; or NULL */
	bool is_elsewhere;  /* a granted folder holds it, or the program says
			       itself where to look: only a trace tells */
};

/* Find the module that words of the program miss. False: there is none. */
bool module_find(struct file_finder *f, struct missing_module *ret) MUST_USE;

#endif
