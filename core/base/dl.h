/*
 * Functions of a shared library that is loaded on first use: a run that does
 * not need it maps none of it.
 *
 *	#define FUNCTIONS(X) X(add_key) X(keyctl_read)
 *	struct keyutils {
 *		FUNCTIONS(DL_MEMBER)
 *	};
 *
 *	static const char *const names[] = {FUNCTIONS(DL_NAME)};
 *	static struct keyutils functions;
 *	static struct dl dl = DL("libkeyutils.so.1", names, functions);
 *
 *	if (dl_load(&dl))
 *		functions.add_key(...)
 *
 * The message about a missing library is the caller's. A library stays loaded
 * to the end of the process.
 */
#ifndef CORE_BASE_DL_H
#define CORE_BASE_DL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/attr.h"

/* A member of the struct of its functions, and its name. */
#define DL_MEMBER(name) __typeof__(&name) name;
#define DL_NAME(name) #name,

struct dl {
	const char *file; /* "libkeyutils.so.1"; borrowed, as all here */
	const char *const *names;
	size_t n;
	void *functions;   /* a struct that begins with `n` of DL_MEMBER */
	const char *lacks; /* the first name that the library does not have */
	bool is_tried, is_loaded;
};

#define DL(file_name, names_of, functions_of)                \
	{                                                    \
		.file = (file_name), .names = (names_of),    \
		.n = sizeof(names_of) / sizeof(*(names_of)), \
		.functions = &(functions_of),                \
	}

/*
 * Find all of its functions, the first time that it is called.
 *
 * returns  false: there is no such library, as dlerror(3) says, or it has no
 *	    `lacks`; it is not tried again
 */
bool dl_load(struct dl *l) MUST_USE;

#endif
