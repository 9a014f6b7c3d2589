/*
 * Newline framing: the lines do not depend on the portions in which the bytes
 * come. The first byte is the size of a portion, the second the ceiling.
 */
#include <stdint.h>

#include "core/base/buf.h"
#include "core/mcp/wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(struct frame *f, struct buf *log, bool rest)
{
	enum frame_result got;
	struct str line;

	for (;;) {
		got = rest ? frame_rest(f, &line) : frame_next(f, &line);
		if (got == FRAME_NONE)
			return;
		if (got == FRAME_LINE) {
			if (line.n == 0 || line.n > f->line_max ||
			    str_find(line, '\n') != line.n)
				abort();
			buf_add_str(log, line);
		}
		buf_addc(log, got == FRAME_LINE ? '\n' : '\0');
	}
}

static void play(struct str in, size_t portion, size_t line_max,
		 struct buf *log)
{
	struct frame f;

	frame_init(&f, line_max);
	while (in.n) {
		size_t n = in.n < portion ? in.n : portion;

		frame_add(&f, (struct str){in.p, n});
		in.p += n;
		in.n -= n;
		take(&f, log, false);
	}
	take(&f, log, true);
	frame_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf chopped = BUF_INIT(BUF_UNBOUNDED);
	struct str in;

	if (size < 2)
		return 0;
	in = (struct str){(const char *)data + 2, size - 2};
	play(in, size, data[1], &whole);
	play(in, data[0] % 64 + 1, data[1], &chopped);
	if (!str_eq(buf_str(&whole), buf_str(&chopped)))
		abort();
	return 0;
}
