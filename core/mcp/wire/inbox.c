#include "core/mcp/wire/inbox.h"

#include <strings.h>

#include "core/base/text.h"
#include "core/mcp/wire/rpc.h"

/* Lines of a pretty-printed message that are kept to recognize it, bytes. */
#define BLOCK_BYTES (1024 * 1024)
/* Slices shorter than this are copied rather than taken. */
#define TAKE_BYTES (64 * 1024)

static const struct str nothing = {NULL, 0};

/* ---- lines that are not JSON ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/*
 * Find where {"jsonrpc", with any white space between the two, begins; line.n:
 * nowhere.
 */
static size_t message_start(struct str line)
{
	static const char key[] = "\"jsonrpc\"";
	const char *p = line.p, *end = line.p + line.n;

	while (p < end) {
		const char *hit =
			memmem(p, (size_t)(end - p), key, sizeof(key) - 1);
		const char *q = hit;

		if (!hit)
			break;
		while (q > line.p && is_space(q[-1]))
			q--;
		if (q > line.p && q[-1] == '{')
			return (size_t)(q - 1 - line.p);
		p = hit + 1;
	}
	return line.n;
}

/* Behind the string or byte at p; NULL: the string never ends. */
static const char *token_end(const char *p, const char *end)
{
	if (*p++ != '"')
		return p;
	for (; p < end; p++) {
		if (*p == '\\')
			p++;
		else if (*p == '"')
			return p + 1;
	}
	return NULL;
}

/* Depth that a byte outside of strings adds: 1, 0 or -1. */
static int depth_of(char c)
{
	return (c == '{' || c == '[') - (c == '}' || c == ']');
}

static void skip_space(struct str *s)
{
	while (s->n && is_space(*s->p))
		*s = str_skip(*s, 1);
}

/* Read the digits of an integer or a string, or {NULL, 0} where its end is not
   there yet. */
static struct str first_scalar(struct str s)
{
	const char *end = s.n ? token_end(s.p, s.p + s.n) : NULL;
	size_t n = 0;

	if (end && *s.p == '"')
		return (struct str){s.p, (size_t)(end - s.p)};
	while (n < s.n && (s.p[n] == '-' || text_is_digit(s.p[n])))
		n++;
	return n && n < s.n ? (struct str){s.p, n} : nothing;
}

/*
 * Find a member of an object that is not JSON: brackets and strings are
 * followed as far as they go. ret_value is {NULL, 0} when it is not a whole
 * scalar.
 */
static bool find_member(struct str text, struct str key, struct str *ret_value)
{
	const char *end = str_skip(text, text.n).p, *after;
	int64_t depth = 0;

	for (const char *p = text.p; p < end; p = after) {
		struct str rest;

		after = token_end(p, end);
		if (!after)
			return false;
		depth += depth_of(*p);
		if (depth != 1 ||
		    !str_eq((struct str){p, (size_t)(after - p)}, key))
			continue;
		rest = (struct str){after, (size_t)(end - after)};
		skip_space(&rest);
		if (!str_starts(rest, ":"))
			continue;
		rest = str_skip(rest, 1);
		skip_space(&rest);
		*ret_value = first_scalar(rest);
		return true;
	}
	return false;
}

/*
 * Report whether a line that does not parse was meant to be a message: it shows
 * {"jsonrpc" somewhere, or is an object with such a member (RW-15).
 *
 * ret_id  the JSON text of its id, {NULL, 0} when that cannot be read
 */
static bool is_broken_message(struct str line, struct str *ret_id)
{
	size_t at = message_start(line);
	struct str object = str_trim(line), ignored;

	if (at < line.n)
		object = str_skip(line, at);
	else if (!str_starts(object, "{") ||
		 !find_member(object, STR("\"jsonrpc\""), &ignored))
		return false;
	if (!find_member(object, STR("\"id\""), ret_id))
		*ret_id = nothing;
	return true;
}

/* Recognize "Content-Length: 123": framing of another protocol (RW-12). */
static bool is_header(struct str line)
{
	static const char name[] = "Content-Length:";
	struct str rest;
	uint64_t ignored;

	if (line.n < sizeof(name) ||
	    strncasecmp(line.p, name, sizeof(name) - 1) != 0)
		return false;
	rest.p = line.p + sizeof(name) - 1;
	rest.n = line.n - (sizeof(name) - 1);
	return str_uint64(str_trim(rest), &ignored);
}

bool inbox_repair_utf8(struct str line, struct buf *out)
{
	struct str start = str_trim(line);

	if (!str_starts(start, "{") && !str_starts(start, "[") &&
	    message_start(line) == line.n)
		return false;
	if (str_is_utf8(line))
		return false;
	while (line.n) {
		size_t n = str_utf8_len(line);

		if (n)
			buf_add(out, line.p, n);
		else
			buf_adds(out, "\xef\xbf\xbd");
		line.p += n ? n : 1;
		line.n -= n ? n : 1;
	}
	return true;
}

/* Depth behind a line, -1 when it cannot be part of pretty JSON. */
static int64_t depth_after(struct str line, int64_t depth)
{
	const char *p = line.p, *end = line.p + line.n;

	while (p && p < end && depth >= 0) {
		depth += depth_of(*p);
		p = token_end(p, end);
	}
	return p ? depth : -1;
}

void inbox_init(struct inbox *in, size_t line_max)
{
	*in = (struct inbox){
		.repaired = BUF_INIT(BUF_UNBOUNDED),
		.kept = BUF_INIT(BUF_UNBOUNDED),
		.whole = BUF_INIT(BUF_UNBOUNDED),
		.noise = BUF_INIT(LIMIT_NOISE_BYTES),
		.block = BUF_INIT(BLOCK_BYTES),
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
	buf_release(&in->block);
}

static void begin_adding(struct inbox *in)
{
	struct buf kept = BUF_INIT(BUF_UNBOUNDED);

	in->line = in->current = nothing;
	/* an object to be given again lies in the buffer of lines, which
	   adding may move, or in that of repaired texts; it is rare: callers
	   read all before they add */
	if (!in->batch_line.p) {
		if (in->again.p) {
			buf_add_str(&kept, in->again);
			in->again = buf_str(&kept);
		}
		buf_release(&in->kept);
		in->kept = kept;
	}
	buf_release(&in->repaired);
}

void inbox_add(struct inbox *in, struct str bytes)
{
	begin_adding(in);
	frame_add(&in->frame, bytes);
}

void inbox_message(struct inbox *in, struct str message)
{
	begin_adding(in);
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
static bool is_block_a_message(struct str block)
{
	struct rpc_message m;
	struct scan_iter it;
	struct str v;

	if (scan_document(block, NULL, &v, ERR_IGNORED) < 0)
		return false;
	it = scan_over(v);
	if (scan_type(v) == SCAN_ARRAY && scan_next(&it))
		v = it.value;
	return rpc_read(v, &m) != RPC_INVALID &&
	       m.version != RPC_VERSION_ABSENT;
}

static void clear_block(struct inbox *in)
{
	buf_release(&in->block);
	in->block_depth = 0;
}

/* Add a skipped line to those that may be one pretty-printed message (RW-11).
 */
static void add_to_block(struct inbox *in, struct str line)
{
	struct str start = str_trim(line);

	if (!in->block_depth && !str_starts(start, "{") &&
	    !str_starts(start, "["))
		return;
	in->block_depth = depth_after(line, in->block_depth);
	if (in->block_depth < 0 || buf_add_str(&in->block, line) == BUF_FULL ||
	    buf_addc(&in->block, '\n') == BUF_FULL) {
		clear_block(in);
	} else if (!in->block_depth) {
		in->spread = is_block_a_message(buf_str(&in->block));
		clear_block(in);
	}
}

/* Skip a line that is not a message: banners, logs (RW-1, RW-2, RW-3). */
static void skip_line(struct inbox *in, struct str line)
{
	in->skipped_lines++;
	keep_noise(in, line);
	if (!in->whole.n)
		add_to_block(in, line);
}

void inbox_judge(struct inbox *in, bool was_message)
{
	in->heard |= was_message;
	if (in->batch_line.p)
		in->batch_any |= was_message;
	else if (was_message)
		clear_block(in);
	else if (in->line.p)
		skip_line(in, in->line);
}

void inbox_unread(struct inbox *in)
{
	in->again = in->current;
}

char *inbox_take(struct inbox *in, struct str slice)
{
	struct frame *f = &in->frame;
	struct buf *from = in->whole.n ? &in->whole : &f->in;
	struct buf rest = BUF_INIT(BUF_UNBOUNDED);
	size_t read = in->whole.n ? in->whole.n : f->from;
	char *taken;

	/* the rest of a line, or an object to be read again, stays */
	if (in->batch_line.p || in->again.p || slice.n < TAKE_BYTES ||
	    slice.n < from->n / 2 || slice.p < from->p ||
	    slice.p >= from->p + read)
		return NULL;
	/* bytes behind the line move to a new buffer */
	buf_add(&rest, from->p + read, from->n - read);
	taken = buf_steal(from);
	*from = rest;
	if (from == &f->in) {
		f->scanned -= f->from;
		f->from = 0;
	}
	return taken;
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
		/* a copy, for bytes may be added before all is read */
		buf_release(&in->kept);
		buf_add_str(&in->kept, line);
		in->batch_line = buf_str(&in->kept);
		value.p = in->kept.p + (value.p - line.p);
		in->batch = scan_over(value);
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
	size_t at = message_start(line);
	struct str rest = {line.p + at, line.n - at};

	if (at == 0 || at == line.n ||
	    scan_document(rest, NULL, ret, ERR_IGNORED) < 0)
		return false;
	in->prefixed++;
	keep_noise(in, (struct str){line.p, at});
	return true;
}

/* Take a line that did not parse; ret->err says why. */
static enum inbox_result on_bad_line(struct inbox *in, struct str line,
				     struct inbox_item *ret)
{
	bool is_whole = in->whole.n;
	struct str value;

	if (!is_whole && !in->heard && is_header(line)) {
		err_set(&ret->err, ERR_PEER,
			"server speaks LSP framing (Content-Length), not MCP: "
			"over stdio each message is one line of JSON");
		return INBOX_FRAMING;
	}
	buf_release(&in->repaired);
	if (inbox_repair_utf8(line, &in->repaired)) {
		line = buf_str(&in->repaired);
		if (scan_document(line, NULL, &value, &ret->err) == 0) {
			in->repairs++;
			return on_value(in, line, value, ret);
		}
	}
	if (!is_whole && behind_text(in, line, &value))
		return on_value(in, value, value, ret);
	if (is_broken_message(line, &ret->id)) {
		/* the place of the first bad byte: behind the line's last */
		ret->is_unfinished = !is_whole && ret->err.col == line.n + 1;
		return in->rest_read ? INBOX_CUT : INBOX_BROKEN;
	}
	skip_line(in, line);
	return INBOX_NONE;
}

/* Take the next line or whole message; INBOX_NONE: it was none, look further.
 */
static enum inbox_result on_line(struct inbox *in, struct str line,
				 struct inbox_item *ret)
{
	enum inbox_result got;
	struct str value;

	if (scan_members(line, &value, &in->members, &ret->err) < 0)
		return on_bad_line(in, line, ret);
	got = on_value(in, line, value, ret);
	if (got == INBOX_OBJECT)
		ret->members = &in->members;
	return got;
}

static enum frame_result next_line(struct inbox *in, struct str *ret_line)
{
	enum frame_result got;

	if (in->is_whole) {
		in->is_whole = false;
		*ret_line = buf_str(&in->whole);
		return in->is_over ? FRAME_OVER : FRAME_LINE;
	}
	got = frame_next(&in->frame, ret_line);
	if (got != FRAME_NONE || !in->eof || in->rest_read)
		return got;
	in->rest_read = true;
	return frame_rest(&in->frame, ret_line);
}

enum inbox_result inbox_next(struct inbox *in, struct inbox_item *ret)
{
	enum inbox_result got = INBOX_NONE;
	struct str line, again = in->again;

	ret->object = ret->id = in->again = nothing;
	ret->members = NULL;
	ret->is_unfinished = false;
	err_clear(&ret->err);
	if (again.p)
		return give(in, again, ret);
	while (got == INBOX_NONE) {
		if (in->spread) {
			in->spread = false;
			err_set(&ret->err, ERR_PEER,
				"the server spreads one message over several "
				"lines (pretty-printed JSON); over stdio each "
				"message must stand on one line");
			return INBOX_FRAMING;
		}
		if (in->batch_line.p) {
			got = next_element(in, ret);
			continue;
		}
		switch (next_line(in, &line)) {
		case FRAME_NONE:
			return INBOX_NONE;
		case FRAME_OVER:
			return INBOX_OVER;
		case FRAME_LINE:
			got = on_line(in, line, ret);
		}
	}
	return got;
}
