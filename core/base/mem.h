/*
 * Allocation that cannot fail.
 *
 * Every size in the program is bounded (core/base/limits.h), so exhausted
 * memory is not handled: these print one line and end the process with status
 * 1, or what mem_set_exhausted_status() says; the gate's children end with it.
 */
#ifndef CORE_BASE_MEM_H
#define CORE_BASE_MEM_H

#include <stddef.h>

#include "core/base/attr.h"

/* All return memory that the caller frees with free(). */
void *mem_alloc(size_t n) MUST_USE;
void *mem_zalloc(size_t n) MUST_USE;
void *mem_realloc(void *p, size_t n) MUST_USE;
char *mem_strdup(const char *s) MUST_USE;
/* A copy of n bytes and a NUL. */
char *mem_strndup(const char *s, size_t n) MUST_USE;
char *mem_printf(const char *fmt, ...) PRINTF(1, 2) MUST_USE;

/* Grow an array geometrically to hold n elements; updates *cap. */
void *mem_grow(void *p, size_t n, size_t *cap, size_t elem_bytes) MUST_USE;

/* For a command whose status 1 is another program's. */
void mem_set_exhausted_status(int status);

/* Overwrite bytes in a way that the compiler keeps. */
void mem_wipe(void *p, size_t n);

/* For AUTO(): free(*(void **)p). */
void mem_freep(void *p);

#endif
