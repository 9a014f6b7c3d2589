#include "core/base/mem.h"

#include <stdarg.h>
#include <unistd.h>

/* Room of an array at first. */
#define FIRST_BYTES 128

static int exhausted_status = 1;

void mem_set_exhausted_status(int status)
{
	exhausted_status = status;
}

static NORETURN void out_of_memory(void)
{
	fputs("matins: out of memory; the programs it started end with it\n",
	      stderr);
	_exit(exhausted_status);
}

void *mem_alloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem_zalloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem_realloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		out_of_memory();
	return p;
}

char *mem_strndup(const char *s, size_t n)
{
	char *copy = mem_alloc(n + 1);

	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

char *mem_printf(const char *fmt, ...)
{
	char *out = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&out, fmt, ap) < 0)
		out_of_memory();
	va_end(ap);
	return out;
}

void *mem_grow(void *p, size_t n, size_t *cap, size_t elem_bytes)
{
	size_t want = *cap ? *cap : FIRST_BYTES / elem_bytes;

	if (n <= *cap)
		return p;
	if (!want)
		want = 1;
	while (want < n)
		want *= 2;
	p = mem_realloc(p, want * elem_bytes);
	*cap = want;
	return p;
}

void mem_wipe(void *p, size_t n)
{
	if (n)
		explicit_bzero(p, n);
}

void mem_freep(void *p)
{
	free(*(void **)p);
}
