/*
 * Recordings from outside: what is read is written as it was read, replayed to
 * its end, each message once, and the requests that stand in it are found
 * again.
 */
#include <stdlib.h>

#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/client/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool never(void)
{
	return false;
}

static size_t say_all(struct recording *r)
{
	struct transport_item item;
	size_t n = 0;

	for (;; n++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		if (!recording_next(r, &item, &out))
			return n;
	}
}

/* A request of ours in a line; {NULL, 0}: it has none. */
static struct str request_in(struct str line, struct arena *arena)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct str v, to;

	if (scan_document(line, NULL, &v, ERR_IGNORED) < 0)
		abort();
	to = scan_some(v, "to");
	if (to.p)
		return scan_type(to) == SCAN_STRING
			       ? scan_decoded(to, SIZE_MAX, arena)
			       : to;
	to = scan_text(v, "to64");
	if (!to.p)
		return (struct str){NULL, 0};
	if (base64_decode(BASE64_STANDARD, scan_decoded(to, SIZE_MAX, arena),
			  &bytes, ERR_IGNORED) < 0)
		abort();
	return arena_str(arena, buf_str(&bytes));
}

static void replay(struct recording *r, struct str text, struct arena *arena)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	size_t done = 0;

	text = str_skip(text, str_find(text, '\n') + 1);
	while (text.n) {
		struct str to = request_in(str_cut(&text, '\n'), arena);

		done += say_all(r);
		if (!to.p)
			continue;
		if (!recording_take(r, to, &why))
			abort();
		done++;
	}
	if (done + say_all(r) != r->n ||
	    recording_is_over(r) != r->end.is_itself)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct recording *first = NULL, *again = NULL;
	struct str text = {(const char *)data, size};

	if (recording_read(text, &arena, never, &first, ERR_IGNORED) < 0)
		return 0;
	for (struct recording *r = first; r; r = r->next) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf two = BUF_INIT(BUF_UNBOUNDED);
		struct str copy;

		recording_write(r, &out);
		copy = arena_str(&arena, buf_str(&out));
		again = NULL;
		if (recording_read(copy, &arena, never, &again, ERR_IGNORED) <
		    0)
			abort();
		recording_write(again, &two);
		if (again->next || !str_eq(copy, buf_str(&two)))
			abort();
		replay(again, copy, &arena);
	}
	return 0;
}
