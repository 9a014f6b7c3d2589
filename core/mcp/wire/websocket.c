#include "core/mcp/wire/websocket.h"

#include "core/base/text.h"

/* RFC 6455, section 1.3 */
#define ACCEPT_GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define CODE_NONE 1005
/* Payload of control frames, section 5.5. */
#define CONTROL_MAX 125

void ws_reader_init(struct ws_reader *r, uint64_t message_max)
{
	*r = (struct ws_reader){
		.in = BUF_INIT(BUF_UNBOUNDED),
		.message = BUF_INIT(BUF_UNBOUNDED),
		.message_max = message_max ? message_max : LIMIT_MESSAGE_BYTES,
	};
}

void ws_reader_release(struct ws_reader *r)
{
	buf_release(&r->in);
	buf_release(&r->message);
}

void ws_add(struct ws_reader *r, struct str bytes)
{
	if (r->is_broken)
		return;
	if (r->from > r->in.n / 2) {
		buf_drop(&r->in, r->from);
		r->from = 0;
	}
	buf_add_str(&r->in, bytes);
}

/* ---- one frame ---- */

struct frame_head {
	bool is_last;
	unsigned opcode;
	size_t bytes; /* of the head itself */
	uint64_t length;
};

static enum ws_item_type broken(struct ws_reader *r, struct ws_item *ret,
				const char *why)
{
	r->is_broken = true;
	err_set(&ret->err, ERR_PEER, "WebSocket: %s", why);
	return WS_BROKEN;
}

static uint64_t number(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

/* Read the head of a frame; false: bytes are missing. */
static bool read_head(const struct ws_reader *r, struct frame_head *ret)
{
	const unsigned char *p = (const unsigned char *)r->in.p + r->from;
	size_t n = r->in.n - r->from, more;

	if (n < 2)
		return false;
	ret->is_last = p[0] & 0x80;
	ret->opcode = p[0] & 0x7f;
	ret->length = p[1];
	more = p[1] == 126 ? 2 : p[1] == 127 ? 8 : 0;
	ret->bytes = 2 + more;
	if (n < ret->bytes)
		return false;
	if (more)
		ret->length = number(p + 2, more);
	return true;
}

/* Judge a head; NULL: right. */
static const char *fault(const struct ws_reader *r, const struct frame_head *h)
{
	const unsigned char *p = (const unsigned char *)r->in.p + r->from;
	bool is_control = h->opcode & 8;

	if (p[0] & 0x70)
		return "a frame with reserved bits, and no extension was "
		       "agreed";
	if (p[1] & 0x80)
		return "a masked frame of a server";
	if (h->length > INT64_MAX)
		return "a frame of more than 2^63 bytes";
	if ((h->opcode > WS_OP_BINARY && h->opcode < WS_OP_CLOSE) ||
	    h->opcode > WS_OP_PONG)
		return "a frame of an unknown kind";
	if (is_control && (!h->is_last || h->length > CONTROL_MAX))
		return "a control frame in parts, or with more than 125 bytes";
	if (h->opcode == WS_OP_CONTINUATION && !r->is_open)
		return "a continuation of no message";
	if (!is_control && h->opcode != WS_OP_CONTINUATION && r->is_open)
		return "a message within another";
	return NULL;
}

static enum ws_item_type control(struct ws_reader *r,
				 const struct frame_head *h, struct str payload,
				 struct ws_item *ret)
{
	ret->payload = payload;
	if (h->opcode == WS_OP_PING)
		return WS_PING;
	if (h->opcode == WS_OP_PONG)
		return WS_PONG;
	if (payload.n == 1)
		return broken(r, ret, "a close with half a code");
	ret->code = CODE_NONE;
	if (payload.n) {
		ret->code = (uint16_t)number((const void *)payload.p, 2);
		ret->payload = str_skip(payload, 2);
	}
	r->is_broken = true;
	return WS_CLOSE;
}

/* Take a part of a message; WS_NONE: more parts follow. */
static enum ws_item_type data(struct ws_reader *r, const struct frame_head *h,
			      struct str payload, struct ws_item *ret)
{
	bool is_over = r->is_over;

	if (!is_over)
		buf_add_str(&r->message, payload);
	r->is_open = !h->is_last;
	if (!h->is_last)
		return WS_NONE;
	r->is_over = false;
	r->is_told = true;
	ret->payload = buf_str(&r->message);
	return is_over ? WS_OVER : WS_MESSAGE;
}

/*
 * Write a head; mask_bit is 0x80 or 0.
 * returns  its bytes, at most 10
 */
static size_t write_head(unsigned char *head, unsigned first, unsigned mask_bit,
			 uint64_t length)
{
	size_t bytes = length <= CONTROL_MAX ? 0 : length <= UINT16_MAX ? 2 : 8;

	head[0] = (unsigned char)first;
	head[1] = (unsigned char)(mask_bit | (bytes == 8   ? 127
					      : bytes == 2 ? 126
							   : length));
	for (size_t i = 0; i < bytes; i++)
		head[2 + i] = (unsigned char)(length >> 8 * (bytes - 1 - i));
	return 2 + bytes;
}

/*
 * A part of a message over the ceiling is thrown away as it comes, so that it
 * takes no memory: its head is made shorter by what was thrown away.
 */
static bool throw_away(struct ws_reader *r, const struct frame_head *h)
{
	size_t there = r->in.n - r->from - h->bytes, n;
	unsigned char head[10];

	if (h->opcode & 8)
		return false;
	if (!r->is_over && h->length + r->message.n <= r->message_max)
		return false;
	r->is_over = true;
	buf_clear(&r->message);
	if (there >= h->length || !there)
		return false;
	n = write_head(head, (h->is_last ? 0x80U : 0) | h->opcode, 0,
		       h->length - there);
	buf_clear(&r->in);
	r->from = 0;
	buf_add(&r->in, head, n);
	return true;
}

enum ws_item_type ws_next(struct ws_reader *r, struct ws_item *ret)
{
	struct frame_head h;
	struct str payload;
	enum ws_item_type type;
	const char *why;

	*ret = (struct ws_item){.err = ERR_INIT};
	if (r->is_told) {
		buf_clear(&r->message);
		r->is_told = false;
	}
	while (!r->is_broken && read_head(r, &h)) {
		why = fault(r, &h);
		if (why)
			return broken(r, ret, why);
		if (throw_away(r, &h) || r->in.n - r->from - h.bytes < h.length)
			return WS_NONE;
		payload = (struct str){r->in.p + r->from + h.bytes,
				       (size_t)h.length};
		r->from += h.bytes + (size_t)h.length;
		type = h.opcode & 8 ? control(r, &h, payload, ret)
				    : data(r, &h, payload, ret);
		if (type != WS_NONE)
			return type;
	}
	return WS_NONE;
}

/* ---- writing ---- */

void ws_write(struct buf *out, enum ws_opcode opcode, struct str payload,
	      const unsigned char mask[4])
{
	unsigned char head[14];
	size_t n = write_head(head, 0x80U | opcode, 0x80, payload.n), from;

	memcpy(head + n, mask, 4);
	buf_add(out, head, n + 4);
	from = out->n;
	buf_add_str(out, payload);
	for (size_t i = 0; i < payload.n; i++)
		out->p[from + i] = (char)(out->p[from + i] ^ (char)mask[i % 4]);
}

void ws_write_close(struct buf *out, uint16_t code, const unsigned char mask[4])
{
	const char bytes[2] = {(char)(code >> 8), (char)code};

	ws_write(out, WS_OP_CLOSE, (struct str){bytes, 2}, mask);
}

/* ---- the handshake ---- */

static uint32_t rotate(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

/* Add one block of 64 bytes. source  FIPS 180-4, 6.1.2 */
static void sha1_block(uint32_t h[5], const unsigned char *p)
{
	uint32_t w[80], v[5];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)number(p + (size_t)4 * i, 4);
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, h, sizeof(v));
	for (unsigned i = 0; i < 80; i++) {
		uint32_t f =
			i < 20	 ? (v[1] & v[2]) | (~v[1] & v[3])
			: i < 40 ? v[1] ^ v[2] ^ v[3]
			: i < 60 ? (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])
				 : v[1] ^ v[2] ^ v[3];
		uint32_t k = i < 20   ? 0x5a827999
			     : i < 40 ? 0x6ed9eba1
			     : i < 60 ? 0x8f1bbcdc
				      : 0xca62c1d6;
		uint32_t next = rotate(v[0], 5) + f + v[4] + k + w[i];

		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = next;
	}
	for (unsigned i = 0; i < 5; i++)
		h[i] += v[i];
}

/* Hash less than 120 bytes: a key and the GUID have 60. */
static void sha1(struct str text, unsigned char ret[20])
{
	uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
			 0xc3d2e1f0};
	unsigned char block[128] = {0};
	size_t n = text.n < 56 ? 64 : 128;

	memcpy(block, text.p, text.n);
	block[text.n] = 0x80;
	block[n - 2] = (unsigned char)(text.n * 8 >> 8);
	block[n - 1] = (unsigned char)(text.n * 8);
	for (size_t i = 0; i < n; i += 64)
		sha1_block(h, block + i);
	for (unsigned i = 0; i < 20; i++)
		ret[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* Of a fixed length, with its NUL. */
static void in_base64(const void *bytes, size_t n, char *ret, size_t room)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	base64_encode(BASE64_STANDARD, (struct str){bytes, n}, &text);
	memcpy(ret, buf_cstr(&text), room);
}

void ws_key(const unsigned char random[16], char ret[WS_KEY_BYTES])
{
	in_base64(random, 16, ret, WS_KEY_BYTES);
}

void ws_accept(const char *key, char ret[WS_ACCEPT_BYTES])
{
	unsigned char digest[20];
	char text[128];
	size_t n = strnlen(key, WS_KEY_BYTES - 1);

	memcpy(text, key, n);
	memcpy(text + n, ACCEPT_GUID, sizeof(ACCEPT_GUID) - 1);
	sha1((struct str){text, n + sizeof(ACCEPT_GUID) - 1}, digest);
	in_base64(digest, sizeof(digest), ret, WS_ACCEPT_BYTES);
}
