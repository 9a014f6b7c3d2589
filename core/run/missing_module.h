/*
 * Module of Python that a failed program lacks: it lies in a folder that is not
 * granted, is installed for another python, or is not installed.
 *
 * Folders are looked at where python would look for it: those of PYTHONPATH,
 * the one of the start, those that words of the step name, and sites.
 */
#ifndef CORE_RUN_MISSING_MODULE_H
#define CORE_RUN_MISSING_MODULE_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/run/refused_file.h"

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
