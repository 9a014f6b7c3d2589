/*
 * Looks at what is given back to the heap: a secret must not be in it.
 *
 *	watched = text;		counted from here on, where it is freed
 *	...
 *	assert_int_equal(n_leaks, 0);
 *	watched = NULL;
 *
 * A sanitizer has an allocator of its own; without one this stands before
 * that of libc, for libraries as well. Included by the one file of a program.
 */
#ifndef TESTS_UNIT_HEAP_WATCH_H
#define TESTS_UNIT_HEAP_WATCH_H

#ifndef MATINS_ASAN
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static const char *watched;
static size_t n_leaks;

void __libc_free(void *p);

void free(void *p)
{
	if (p && watched &&
	    memmem(p, malloc_usable_size(p), watched, strlen(watched)))
		n_leaks++;
	__libc_free(p);
}

/* libc's would free the old block where nobody looks. */
void *realloc(void *p, size_t n)
{
	size_t old = p ? malloc_usable_size(p) : 0;
	void *q = malloc(n);

	if (q && p)
		memcpy(q, p, old < n ? old : n);
	free(p);
	return q;
}
#endif

#endif
