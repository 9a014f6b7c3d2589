#include "core/base/arena.h"

#include <stdalign.h>

#include "core/base/buf.h"
#include "core/base/mem.h"

/*
 * Ordinary requests share blocks; larger ones get their own. Many arenas stay
 * small, so the first block is, too; each that follows is twice as large.
 */
#define FIRST_BYTES 256
#define BLOCK_BYTES 8192

struct arena_block {
	struct arena_block *next;
	size_t used, size; /* bytes of data[] */
	alignas(max_align_t) char data[];
};

struct arena_adopted {
	struct arena_adopted *next; /* lies in the arena itself */
	void *p;
};

static struct arena_block *add_block(struct arena *a, size_t n)
{
	size_t size = a->head ? 2 * a->head->size : FIRST_BYTES;
	struct arena_block *b;
	bool is_own;

	if (size > BLOCK_BYTES)
		size = BLOCK_BYTES;
	is_own = n > size;
	if (is_own)
		size = n;
	b = mem_alloc(sizeof(*b) + size);
	b->used = 0;
	b->size = size;
	if (a->head && is_own) {
		/* keep the half-empty head in front for small requests */
		b->next = a->head->next;
		a->head->next = b;
	} else {
		b->next = a->head;
		a->head = b;
	}
	return b;
}

/* Bytes of an object of `n` bytes and of the gap to the next one. */
static size_t round_up(size_t n)
{
	const size_t align = alignof(max_align_t);

	return (n + align - 1) & ~(align - 1);
}

void *arena_alloc(struct arena *a, size_t n)
{
	struct arena_block *b = a->head;
	void *p;

	n = round_up(n);
	if (!b || b->size - b->used < n)
		b = add_block(a, n);
	p = b->data + b->used;
	b->used += n;
	return memset(p, 0, n);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	if (n)
		memcpy(copy, s, n);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){arena_strndup(a, s.p, s.n), s.n};
}

struct strlist arena_strlist(struct arena *a, const struct strlist *list)
{
	struct strlist copy = {ARENA_ARRAY(a, const char *, list->n + 1),
			       list->n};

	for (size_t i = 0; i < list->n; i++)
		copy.item[i] = arena_strdup(a, list->item[i]);
	return copy;
}

/* Written where it is to stay, which has room for it as a rule. */
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	char *at = a->head ? a->head->data + a->head->used : NULL;
	size_t room = a->head ? a->head->size - a->head->used : 0;
	va_list again;
	int n;
	char *out;

	va_copy(again, ap);
	n = vsnprintf(at, room, fmt, again);
	va_end(again);
	if (at && round_up((size_t)n + 1) <= room) {
		a->head->used += round_up((size_t)n + 1);
		return at;
	}
	out = arena_alloc(a, (size_t)n + 1);
	vsnprintf(out, (size_t)n + 1, fmt, ap);
	return out;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *out;

	va_start(ap, fmt);
	out = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return out;
}

void *arena_grow(struct arena *a, const void *old, size_t n, size_t bytes)
{
	void *more;

	/* full at 0, 8, 16, 32, ...; the arena keeps the old ones */
	if (n != 0 && (n < 8 || (n & (n - 1)) != 0))
		return (void *)old;
	more = arena_alloc(a, (n ? 2 * n : 8) * bytes);
	if (n)
		memcpy(more, old, n * bytes);
	return more;
}

void list_add(struct strlist *list, struct arena *a, const char *s)
{
	list->item = arena_grow(a, list->item, list->n, sizeof(*list->item));
	list->item[list->n++] = s;
}

void list_addf(struct strlist *list, struct arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	list_add(list, a, arena_vprintf(a, fmt, ap));
	va_end(ap);
}

void list_add_all(struct strlist *list, struct arena *a,
		  const struct strlist *more)
{
	for (size_t i = 0; i < more->n; i++)
		list_add(list, a, more->item[i]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void list_sort(struct strlist *list)
{
	if (list->n)
		qsort(list->item, list->n, sizeof(*list->item), by_text);
}

const char *list_join(const struct strlist *list, const char *between,
		      struct arena *a)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < list->n; i++)
		buf_addf(&out, "%s%s", i ? between : "", list->item[i]);
	return arena_strdup(a, buf_cstr(&out));
}

bool list_has(const struct strlist *list, const char *s)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->item[i], s) == 0)
			return true;
	return false;
}

void list_add_new(struct strlist *list, struct arena *a, const char *s)
{
	if (!list_has(list, s))
		list_add(list, a, s);
}

void *arena_adopt(struct arena *a, void *p)
{
	struct arena_adopted *node = ARENA_NEW(a, struct arena_adopted);

	node->p = p;
	node->next = a->list;
	a->list = node;
	return p;
}

struct str arena_buf(struct arena *a, struct buf *b)
{
	size_t n = b->n;

	return (struct str){arena_adopt(a, buf_steal(b)), n};
}

void arena_release(struct arena *a)
{
	for (; a->list; a->list = a->list->next)
		free(a->list->p);
	while (a->head) {
		struct arena_block *b = a->head;

		a->head = b->next;
		free(b);
	}
}

void arena_wipe(struct arena *a)
{
	for (struct arena_block *b = a->head; b; b = b->next)
		mem_wipe(b->data, b->used);
	arena_release(a);
}
