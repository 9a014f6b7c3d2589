/*
 * Frames of WebSocket: the items do not depend on the portions in which the
 * bytes come. The first byte is the size of a portion, the second the ceiling.
 */
#include <stdint.h>

#include "core/base/buf.h"
#include "core/mcp/wire/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(struct ws_reader *r, struct buf *log)
{
	enum ws_item_type type;
	struct ws_item item;

	while ((type = ws_next(r, &item)) != WS_NONE) {
		if (type == WS_MESSAGE && item.payload.n > r->message_max)
			abort();
		buf_addc(log, (char)('A' + type));
		if (type != WS_OVER)
			buf_add_str(log, item.payload);
	}
}

static void play(struct str in, size_t portion, uint64_t max, struct buf *log)
{
	struct ws_reader r;

	ws_reader_init(&r, max);
	while (in.n) {
		size_t n = in.n < portion ? in.n : portion;

		ws_add(&r, (struct str){in.p, n});
		in.p += n;
		in.n -= n;
		take(&r, log);
	}
	ws_reader_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf chopped = BUF_INIT(BUF_UNBOUNDED);
	struct str in;

	if (size < 2)
		return 0;
	in = (struct str){(const char *)data + 2, size - 2};
	play(in, size, (uint64_t)data[1] + 1, &whole);
	play(in, data[0] % 64 + 1, (uint64_t)data[1] + 1, &chopped);
	if (!str_eq(buf_str(&whole), buf_str(&chopped)))
		abort();
	return 0;
}
