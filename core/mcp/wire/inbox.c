#include "core/mcp/wire/inbox.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/mcp/wire/rpc.h"

/* Lines of a pretty-printed message that are kept to recognize it, bytes. */
#define BLOCK_BYTES (1024 * 1024)

/* Slices shorter than this are copied rather than taken. */
#define TAKE_BYTES (64 * 1024)

static const struct str nothing = {NULL, 0};

void inbox_init(struct inbox *in, size_t line_max)
{
	*in = (struct inbox){
		.repaired = BUF_INIT(BUF_UNBOUNDED),
		.kept = BUF_INIT(BUF_UNBOUNDED),
		.whole = BUF_INIT(BUF_UNBOUNDED),
		.noise = BUF_INIT(LIMIT_NOISE_BYTES),
		.block = SALVAGE_BLOCK_INIT(BLOCK_BYTES),
	};
	frame_init(&in->frame, line_max);
}

void inbox_release(struct inbox *in)
{
	frame_release(&in->frame);
	buf_release(&in->repaired);
	buf_release(&in->kept);
	buf_release(&in->whole);
	buf_release(&in->noise);
	salvage_block_clear(&in->block);
}

/*
 * An array or object that is half read lies in the buffer of lines, which
 * adding may move: it is copied. That is rare, for callers read all before
 * they add.
 */
static void keep_unread(struct inbox *in)
{
	struct buf kept = BUF_INIT(BUF_UNBOUNDED);
	size_t again = in->again.n, rest = in->batch.rest.n;

	if (!in->again.p && !in->batch_line.p) {
		buf_release(&in->kept);
		return;
	}
	buf_add_str(&kept, in->again);
	if (in->batch_line.p) {
		buf_add_str(&kept, in->batch.rest);
		buf_add_str(&kept, in->batch_line);
		in->batch.rest.p = kept.p + again;
		in->batch_line.p = kept.p + again + rest;
	}
	if (in->again.p)
		in->again.p = kept.p;
	buf_release(&in->kept);
	in->kept = kept;
}

void inbox_add(struct inbox *in, struct str bytes)
{
	keep_unread(in);
	in->line = in->current = nothing;
	buf_release(&in->repaired);
	frame_add(&in->frame, bytes);
}

void inbox_message(struct inbox *in, struct str message)
{
	keep_unread(in);
	in->line = in->current = nothing;
	buf_release(&in->repaired);
	buf_release(&in->whole);
	in->is_whole = true;
	in->is_over = message.n > in->frame.line_max;
	if (!in->is_over)
		buf_add_str(&in->whole, message);
}

void inbox_eof(struct inbox *in)
{
	in->eof = true;
}

/* ---- noise ---- */

static void keep_noise(struct inbox *in, struct str line)
{
	size_t room = in->noise.max - in->noise.n;

	in->skipped_bytes += line.n;
	if (!room)
		return;
	buf_add_cut(&in->noise, line, room - 1);
	buf_addc(&in->noise, '\n');
}

/* Read skipped lines together: one message, printed over several lines? */
static bool block_is_message(const struct salvage_block *block)
{
	struct err ignored = ERR_INIT;
	struct rpc_message m;
	struct scan_iter it;
	struct str v;

	if (scan_document(buf_str(&block->text), NULL, &v, &ignored) < 0)
		return false;
	scan_iter_init(&it, v);
	if (scan_type(v) == SCAN_ARRAY && scan_next(&it))
		v = it.value;
	return rpc_read(v, &m) != RPC_INVALID &&
	       m.version != RPC_VERSION_ABSENT;
}

/* Skip a line that is not a message: banners, logs (RW-1, RW-2, RW-3). */
static void skip_line(struct inbox *in, struct str line)
{
	in->skipped_lines++;
	keep_noise(in, line);
	if (in->whole.n || !salvage_block_add(&in->block, line))
		return;
	in->spread = block_is_message(&in->block);
	salvage_block_clear(&in->block);
}

void inbox_judge(struct inbox *in, bool was_message)
{
	in->heard |= was_message;
	if (in->batch_line.p)
		in->batch_any |= was_message;
	else if (was_message)
		salvage_block_clear(&in->block);
	else if (in->line.p)
		skip_line(in, in->line);
}

void inbox_unread(struct inbox *in)
{
	in->again = in->current;
}

char *inbox_take(struct inbox *in, struct str slice)
{
	/* the rest of a line, or an object to be read again, stays */
	if (in->batch_line.p || in->again.p)
		return NULL;
	if (in->whole.n && slice.p >= in->whole.p &&
	    slice.p < in->whole.p + in->whole.n)
		return slice.n < TAKE_BYTES || slice.n < in->whole.n / 2
			       ? NULL
			       : buf_steal(&in->whole);
	return frame_take(&in->frame, slice);
}

/* ---- lines ---- */

static enum inbox_result give(struct inbox *in, struct str object,
			      struct inbox_item *ret)
{
	in->current = object;
	ret->object = object;
	return INBOX_OBJECT;
}

/* Take a line that parsed; INBOX_NONE: look further. */
static enum inbox_result on_value(struct inbox *in, struct str line,
				  struct str value, struct inbox_item *ret)
{
	switch (scan_type(value)) {
	case SCAN_OBJECT:
		in->line = line;
		return give(in, value, ret);
	case SCAN_ARRAY:
		in->line = nothing;
		scan_iter_init(&in->batch, value);
		in->batch_line = line;
		/* an empty array is ignored (RPC-9), no noise */
		in->batch_any = scan_count(value) == 0;
		return INBOX_NONE;
	default:
		skip_line(in, line);
		return INBOX_NONE;
	}
}

/* The next element of an array of messages (RW-16). */
static enum inbox_result next_element(struct inbox *in, struct inbox_item *ret)
{
	struct str line = in->batch_line;

	while (scan_next(&in->batch))
		if (scan_type(in->batch.value) == SCAN_OBJECT)
			return give(in, in->batch.value, ret);
	in->batch_line = nothing;
	if (!in->batch_any)
		skip_line(in, line);
	return INBOX_NONE;
}

/* Find a message behind other text on its line (RW-5, RW-6). */
static bool behind_text(struct inbox *in, struct str line, struct str *ret)
{
	size_t at = salvage_start(line);
	struct str rest = {line.p + at, line.n - at};
	struct err ignored = ERR_INIT;

	if (at == 0 || at == line.n ||
	    scan_document(rest, NULL, ret, &ignored) < 0)
		return false;
	in->prefixed++;
	keep_noise(in, (struct str){line.p, at});
	return true;
}

static enum inbox_result header(struct inbox_item *ret)
{
	err_set(&ret->err, ERR_PEER,
		"server speaks LSP framing (Content-Length), not MCP: over "
		"stdio each message is one line of JSON");
	return INBOX_FRAMING;
}

/* Take a line that did not parse; ret->err says why. */
static enum inbox_result on_bad_line(struct inbox *in, struct str line,
				     struct inbox_item *ret)
{
	struct str value;

	if (!in->heard && salvage_is_header(line))
		return header(ret);
	buf_release(&in->repaired);
	if (salvage_utf8(line, &in->repaired)) {
		line = buf_str(&in->repaired);
		if (scan_document(line, NULL, &value, &ret->err) == 0) {
			in->repairs++;
			return on_value(in, line, value, ret);
		}
	}
	if (behind_text(in, line, &value))
		return on_value(in, value, value, ret);
	if (salvage_is_broken(line, &ret->id)) {
		/* the place of the first bad byte: behind the line's last */
		ret->is_unfinished = ret->err.col == line.n + 1;
		return in->rest_read ? INBOX_CUT : INBOX_BROKEN;
	}
	skip_line(in, line);
	return INBOX_NONE;
}

/* Read a whole message; text around it is not looked for. */
static enum inbox_result next_whole(struct inbox *in, struct inbox_item *ret)
{
	struct str text = buf_str(&in->whole), value;

	in->is_whole = false;
	if (in->is_over)
		return INBOX_OVER;
	if (scan_document(text, NULL, &value, &ret->err) == 0)
		return on_value(in, text, value, ret);
	if (salvage_utf8(text, &in->repaired)) {
		text = buf_str(&in->repaired);
		if (scan_document(text, NULL, &value, &ret->err) == 0) {
			in->repairs++;
			return on_value(in, text, value, ret);
		}
	}
	if (salvage_is_broken(text, &ret->id))
		return INBOX_BROKEN;
	skip_line(in, buf_str(&in->whole));
	return INBOX_NONE;
}

static enum frame_result next_line(struct inbox *in, struct str *ret_line)
{
	enum frame_result got = frame_next(&in->frame, ret_line);

	if (got != FRAME_NONE || !in->eof || in->rest_read)
		return got;
	in->rest_read = true;
	return frame_rest(&in->frame, ret_line);
}

static enum inbox_result spread(struct inbox *in, struct inbox_item *ret)
{
	in->spread = false;
	err_set(&ret->err, ERR_PEER,
		"the server spreads one message over several lines "
		"(pretty-printed JSON); over stdio each message must stand on "
		"one line");
	return INBOX_FRAMING;
}

enum inbox_result inbox_next(struct inbox *in, struct inbox_item *ret)
{
	enum inbox_result got = INBOX_NONE;
	struct str line, value, again = in->again;

	ret->object = ret->id = nothing;
	ret->members = NULL;
	ret->is_unfinished = false;
	err_clear(&ret->err);
	in->again = nothing;
	if (again.p)
		return give(in, again, ret);
	while (got == INBOX_NONE) {
		if (in->spread)
			return spread(in, ret);
		if (in->batch_line.p) {
			got = next_element(in, ret);
			continue;
		}
		if (in->is_whole) {
			got = next_whole(in, ret);
			continue;
		}
		switch (next_line(in, &line)) {
		case FRAME_NONE:
			return INBOX_NONE;
		case FRAME_OVER:
			return INBOX_OVER;
		case FRAME_LINE:
			break;
		}
		if (scan_members(line, &value, &in->members, &ret->err) < 0) {
			got = on_bad_line(in, line, ret);
			continue;
		}
		got = on_value(in, line, value, ret);
		if (got == INBOX_OBJECT)
			ret->members = &in->members;
	}
	return got;
}
