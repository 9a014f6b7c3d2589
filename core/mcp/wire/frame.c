#include "core/mcp/wire/frame.h"

#include "core/base/limits.h"

/* A buffer that grew beyond this for one message is given back. */
#define KEEP_BYTES (1024 * 1024)

void frame_init(struct frame *f, size_t line_max)
{
	*f = (struct frame){
		.in = BUF_INIT(BUF_UNBOUNDED),
		.line_max = line_max ? line_max : LIMIT_MESSAGE_BYTES,
	};
}

void frame_release(struct frame *f)
{
	buf_release(&f->in);
	f->from = f->scanned = 0;
}

/*
 * Bytes that were handed out leave the buffer when they are more than those
 * that stay: each byte is then moved at most once, however it is portioned.
 */
static void drop_consumed(struct frame *f)
{
	size_t rest = f->in.n - f->from;

	if (!f->from || f->from < rest)
		return;
	if (rest) {
		buf_drop(&f->in, f->from);
	} else {
		buf_clear(&f->in);
		if (f->in.cap > KEEP_BYTES)
			buf_release(&f->in);
	}
	f->scanned -= f->from;
	f->from = 0;
}

void frame_add(struct frame *f, struct str in)
{
	if (f->discarding) {
		size_t at = str_find(in, '\n');

		if (at == in.n)
			return;
		in.p += at + 1;
		in.n -= at + 1;
		f->discarding = false;
	}
	drop_consumed(f);
	buf_add_str(&f->in, in);
}

static bool is_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!memchr(" \t\r\v\f", s.p[i], 5))
			return false;
	return true;
}

enum frame_result frame_next(struct frame *f, struct str *ret_line)
{
	for (;;) {
		struct str unseen = {buf_cstr(&f->in) + f->scanned,
				     f->in.n - f->scanned};
		size_t at = f->scanned + str_find(unseen, '\n');
		struct str line = {buf_cstr(&f->in) + f->from, at - f->from};

		if (at == f->in.n) {
			f->scanned = at;
			if (line.n <= f->line_max)
				return FRAME_NONE;
			f->discarding = true;
			frame_release(f);
			return FRAME_OVER;
		}
		f->from = f->scanned = at + 1;
		if (line.n > f->line_max)
			return FRAME_OVER;
		line.n -= str_ends(line, "\r");
		if (str_starts(line, "\xef\xbb\xbf"))
			line = str_skip(line, 3);
		if (is_blank(line))
			continue;
		*ret_line = line;
		return FRAME_LINE;
	}
}

enum frame_result frame_rest(struct frame *f, struct str *ret_line)
{
	buf_addc(&f->in, '\n');
	return frame_next(f, ret_line);
}
