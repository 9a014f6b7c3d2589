#include "core/base/buf.h"

#include "core/base/mem.h"

/* A sink gets about this much at a time. */
#define SINK_BYTES (64 * 1024)

char *buf_room(struct buf *b, size_t n)
{
	size_t need, cap;

	if (n > b->max - b->n)
		return NULL;
	need = b->n + n + 1;
	if (need > b->cap) {
		cap = b->cap ? b->cap : 256;
		while (cap < need)
			cap += cap / 2;
		/* never hold much more than the ceiling allows */
		if (b->max < SIZE_MAX && cap > b->max + 1)
			cap = b->max + 1;
		b->p = mem_realloc(b->p, cap);
		b->p[b->n] = '\0';
		b->cap = cap;
	}
	return b->p + b->n;
}

void buf_drain(struct buf *b)
{
	if (b->n && b->sink)
		b->sink->write(b->sink->arg, buf_str(b));
	if (b->sink)
		buf_clear(b);
}

int buf_add(struct buf *b, const void *bytes, size_t n)
{
	char *room;

	/* there is room, as nearly always; the NUL counts */
	if (n && n < b->cap - b->n && n <= b->max - b->n && !b->sink) {
		memcpy(b->p + b->n, bytes, n);
		b->n += n;
		b->p[b->n] = '\0';
		return BUF_OK;
	}
	if (b->sink && b->n + n > SINK_BYTES)
		buf_drain(b);
	if (b->sink && n > SINK_BYTES) {
		b->sink->write(b->sink->arg, (struct str){bytes, n});
		return BUF_OK;
	}
	room = buf_room(b, n);
	if (!room)
		return BUF_FULL;
	if (n)
		memcpy(room, bytes, n);
	b->n += n;
	b->p[b->n] = '\0';
	return BUF_OK;
}

int buf_addu(struct buf *b, uint64_t v)
{
	char digits[20]; /* of 2^64 - 1 */
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + v % 10);
	while (v /= 10);
	return buf_add(b, digits + at, sizeof(digits) - at);
}

int buf_add_cut(struct buf *b, struct str s, size_t max)
{
	static const char mark[] = "…";
	const size_t n = sizeof(mark) - 1;

	if (s.n <= max)
		return buf_add_str(b, s);
	if (max < n)
		return BUF_OK;
	s = str_first(s, max - n);
	if (!buf_room(b, s.n + n))
		return BUF_FULL;
	buf_add_str(b, s);
	return buf_adds(b, mark);
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	char *room;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	room = buf_room(b, (size_t)n);
	if (room) {
		vsnprintf(room, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
	return room ? BUF_OK : BUF_FULL;
}

void buf_drop(struct buf *b, size_t n)
{
	if (!n)
		return;
	memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
	b->p[b->n] = '\0';
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	if (b->p)
		b->p[0] = '\0';
}

void buf_wipe(struct buf *b)
{
	mem_wipe(b->p, b->cap);
	buf_release(b);
}

void buf_release(struct buf *b)
{
	if (!b->p)
		return;
	free(b->p);
	b->p = NULL;
	b->n = 0;
	b->cap = 0;
}

char *buf_steal(struct buf *b)
{
	char *p = b->p ? b->p : mem_strdup("");

	b->p = NULL;
	b->n = 0;
	b->cap = 0;
	return p;
}
