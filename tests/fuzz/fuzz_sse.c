/*
 * Event streams: the events do not depend on the portions in which the bytes
 * come. The first byte is the size of a portion, the second the ceiling.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/mcp/wire/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void play(struct str in, size_t portion, size_t data_max,
		 struct buf *log)
{
	enum sse_result got;
	struct sse_event e;
	struct sse p;

	sse_init(&p, data_max);
	while (in.n) {
		struct str some = {in.p, in.n < portion ? in.n : portion};

		in.p += some.n;
		in.n -= some.n;
		while ((got = sse_next(&p, &some, &e)) != SSE_NONE) {
			if (got == SSE_EVENT && e.data.n > data_max)
				abort();
			if (got == SSE_EVENT) {
				buf_add_str(log, e.name);
				buf_addc(log, '\0');
				buf_add_str(log, e.data);
			}
			buf_addc(log, got == SSE_EVENT ? '\n' : '\1');
		}
		if (some.n)
			abort();
	}
	if (str_find(buf_str(&p.last_id), '\0') != p.last_id.n)
		abort();
	buf_addf(log, "%llu %llu %d ", (unsigned long long)p.ids,
		 (unsigned long long)p.retry_ms, p.has_retry);
	buf_add_str(log, buf_str(&p.last_id));
	sse_release(&p);
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
