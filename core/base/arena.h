/*
 * Memory that dies together.
 *
 * An arena hands out zeroed memory that is never freed piece by piece;
 * arena_release() ends all of it. There is one for the configuration, one
 * for a run and one for each step (as git's mem-pool.h).
 */
#ifndef CORE_BASE_ARENA_H
#define CORE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "core/base/attr.h"
#include "core/base/str.h"

struct arena_block;
struct buf;

struct arena {
	struct arena_block *head;   /* newest block; owned */
	struct arena_adopted *list; /* of arena_adopt(); owned */
};

#define ARENA_INIT           \
	{                    \
		.head = NULL \
	}

/* Zeroed, aligned for any object; lives until arena_release(). */
void *arena_alloc(struct arena *a, size_t n) MUST_USE;
/* Copies that end in NUL; that of NULL is NULL. */
char *arena_strdup(struct arena *a, const char *s) MUST_USE;
char *arena_strndup(struct arena *a, const char *s, size_t n) MUST_USE;
struct str arena_str(struct arena *a, struct str s) MUST_USE;
/* Copy a list and its strings. */
struct strlist arena_strlist(struct arena *a, const struct strlist *list)
	MUST_USE;
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3) MUST_USE;
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0)
	MUST_USE;
/*
 * Make room for one more element in an array that only grows by this function.
 *
 * old      NULL when n is 0
 * bytes    size of an element
 * returns  `old` itself, or a copy of twice its size (8 elements at first)
 */
void *arena_grow(struct arena *a, const void *old, size_t n, size_t bytes)
	MUST_USE;
/* Append a string, borrowed, to a list that only grows by this function. */
void list_add(struct strlist *list, struct arena *a, const char *s);
/* Append a text that is made for it. */
void list_addf(struct strlist *list, struct arena *a, const char *fmt, ...)
	PRINTF(3, 4);
/* Append all strings of another list. */
void list_add_all(struct strlist *list, struct arena *a,
		  const struct strlist *more);
bool list_has(const struct strlist *list, const char *s) MUST_USE;
/* Texts of a list with `between` in between; "" of none. */
const char *list_join(const struct strlist *list, const char *between,
		      struct arena *a) MUST_USE;
/* In the order of strcmp(). */
void list_sort(struct strlist *list);
/* Append it unless the list has it. */
void list_add_new(struct strlist *list, struct arena *a, const char *s);
/*
 * Take memory that malloc() gave, to be freed with the arena: large bytes
 * move in without a copy. Returns it.
 */
void *arena_adopt(struct arena *a, void *p);
/* Take the memory of a buffer, which is empty then: its bytes. */
struct str arena_buf(struct arena *a, struct buf *b);
/* Ends everything; the arena is empty and usable again. */
void arena_release(struct arena *a);
/* Overwrite what was handed out, not what was adopted, then release it; for
   secrets. */
void arena_wipe(struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc(a, sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc(a, (n) * sizeof(type)))

#endif
