#include "core/secret/scrub.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/secret/scrub_inner.h"

/* Up to here what is held back is read again with every piece. */
#define HELD_BYTES 4096

static const struct scrub_reading as_bytes = {.in_json = false};

struct scrub *scrub_new(void)
{
	return mem_zalloc(sizeof(struct scrub));
}

void scrub_free(struct scrub *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < ARRAY_LEN(s->by_first); i++) {
		while (s->by_first[i]) {
			struct scrub_pattern *p = s->by_first[i];

			s->by_first[i] = p->next;
			mem_wipe(p->bytes, p->n);
			free(p->bytes);
			free(p);
		}
	}
	free(s);
}

bool scrub_is_empty(const struct scrub *s)
{
	return !s || !s->n;
}

/* ---- patterns ---- */

static void allow_pair(struct scrub *s, unsigned char a, unsigned char b)
{
	size_t bit = (size_t)a << 8 | b;

	s->first[a] = true;
	s->pair[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* Every way in which the first two bytes of a match can look. */
static void allow_start(struct scrub *s, const struct scrub_pattern *p)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	unsigned char first = (unsigned char)p->bytes[0];
	unsigned char second = (unsigned char)p->bytes[1];
	const char *begins = first == ' ' ? " +" : NULL;
	const char one[] = {(char)first, '\0'};

	for (const char *a = begins ? begins : one; *a; a++) {
		unsigned char c = (unsigned char)*a;

		allow_pair(s, c, second);
		allow_pair(s, c, '\\');
		allow_pair(s, c, '%');
		if (second == ' ')
			allow_pair(s, c, '+');
		if (p->wraps) {
			allow_pair(s, c, '\n');
			allow_pair(s, c, '\r');
		}
	}
	/* escapes; which ones fit is seen when they are decoded */
	for (const char *e = "\"\\/bfnrtu"; *e; e++)
		/* `\\` may begin an escape that is itself escaped */
		if (strchr("u\\", *e) || first < 0x20 || strchr("\"/", first))
			allow_pair(s, '\\', (unsigned char)*e);
	for (const char *h = hex; *h; h++) {
		unsigned nibble = (unsigned)(h - hex);

		if (nibble > 15)
			nibble -= 6;
		if (nibble == first >> 4)
			allow_pair(s, '%', (unsigned char)*h);
	}
}

static bool has_pattern(const struct scrub *s, struct str bytes)
{
	const struct scrub_pattern *p = s->by_first[(unsigned char)bytes.p[0]];

	for (; p; p = p->next)
		if (str_eq(bytes, (struct str){p->bytes, p->n}))
			return true;
	return false;
}

static void add_pattern(struct scrub *s, struct str bytes, bool wraps)
{
	struct scrub_pattern **head = &s->by_first[(unsigned char)bytes.p[0]];
	struct scrub_pattern *p;

	if (has_pattern(s, bytes))
		return;
	p = mem_zalloc(sizeof(*p));
	p->bytes = mem_strndup(bytes.p, bytes.n);
	p->n = bytes.n;
	p->wraps = wraps;
	p->special = str_find(bytes, '\\') < bytes.n ||
		     str_find(bytes, '%') < bytes.n;
	p->next = *head;
	*head = p;
	s->has_quote |= str_find(bytes, '"') < bytes.n;
	s->n++;
	for (size_t i = 0; i < p->n && p->bytes[i] == '\\'; i++)
		/* nothing but these: there is no other byte to wait for */
		s->backslashes = i + 1 == p->n	      ? SIZE_MAX / 8
				 : i < s->backslashes ? s->backslashes
						      : i + 1;
	s->head[scrub_head_hash(p->bytes) / 8] |=
		(uint8_t)(1u << scrub_head_hash(p->bytes) % 8);
	allow_start(s, p);
}

/* Room at once, so that growing leaves no copy behind. */
static void reserve(struct buf *b, size_t n)
{
	char *room = buf_room(b, n);

	assert(room);
	(void)room;
}

/*
 * The characters that value alone determines when `shift` bytes stand before
 * it in the same group of three.
 */
static void add_base64(struct scrub *s, struct str value, unsigned shift,
		       const char *alphabet)
{
	/* characters into which bits of the bytes before reach */
	static const size_t foreign[] = {0, 2, 3};
	size_t n = 8 * (shift + value.n) / 6, have = 0;
	AUTO(buf_wipe) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	uint32_t bits = 0;

	reserve(&out, n);
	for (size_t i = 0; i < shift + value.n; i++) {
		bits = bits << 8 |
		       (i < shift ? 0 : (unsigned char)value.p[i - shift]);
		for (have += 8; have >= 6; have -= 6)
			buf_addc(&out, alphabet[bits >> (have - 6) & 63]);
	}
	add_pattern(
		s, (struct str){out.p + foreign[shift], out.n - foreign[shift]},
		true);
}

bool scrub_add(struct scrub *s, struct str value)
{
	static const char standard[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	static const char url[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_";

	if (value.n < LIMIT_SECRET_SCRUB_MIN)
		return false;
	add_pattern(s, value, false);
	for (unsigned shift = 0; shift < 3; shift++) {
		add_base64(s, value, shift, standard);
		add_base64(s, value, shift, url);
	}
	return true;
}

/* ---- rewriting ---- */

/* What is known of the end of a piece of text. */
enum end {
	END_MORE, /* more follows: what is open has to wait */
	END_LAST, /* nothing follows: what is open does not match */
	END_CUT,  /* as if a mark followed */
};

/*
 * Rewrite plain bytes.
 * returns  bytes that are done; the rest has to wait
 */
static size_t rewrite(const struct scrub *s, struct str in, enum end end,
		      struct buf *out, uint64_t *hits)
{
	const struct scrub_reading r = {.cut = end == END_CUT};
	size_t at = 0, done = 0;

	while ((at = scrub_skip(s, in, at, false)) < in.n) {
		struct str rest = {in.p + at, in.n - at};
		struct scrub_found f = scrub_match(s, rest, &r);

		if (f.n)
			scrub_grow(s, rest, &r, &f);
		if (f.open && end == END_MORE)
			break;
		if (!f.n) {
			at++;
			continue;
		}
		buf_add(out, in.p + done, at - done);
		buf_adds(out, SCRUB_STARS);
		at += f.n;
		done = at;
		++*hits;
	}
	buf_add(out, in.p + done, at - done);
	return at;
}

static size_t apply(const struct scrub *s, struct str in, enum end end,
		    struct buf *out)
{
	uint64_t hits = 0;

	if (scrub_is_empty(s))
		buf_add_str(out, in);
	else
		rewrite(s, in, end, out, &hits);
	return (size_t)hits;
}

size_t scrub_apply(const struct scrub *s, struct str in, struct buf *out)
{
	return apply(s, in, END_LAST, out);
}

size_t scrub_cut(const struct scrub *s, struct str in, struct buf *out)
{
	return apply(s, in, END_CUT, out);
}

bool scrub_finds(const struct scrub *s, struct str in)
{
	if (scrub_is_empty(s))
		return false;
	for (size_t at = 0; (at = scrub_skip(s, in, at, false)) < in.n; at++)
		if (scrub_match(s, scrub_behind(in, at), &as_bytes).n)
			return true;
	return false;
}

void scrub_log_filter(struct buf *line, void *scrub)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (scrub_is_empty(scrub))
		return;
	scrub_apply(scrub, buf_str(line), &out);
	buf_wipe(line);
	*line = out;
}

/* ---- pieces ---- */

void scrub_stream_init(struct scrub_stream *st, const struct scrub *s)
{
	*st = (struct scrub_stream){
		.scrub = s,
		.held = BUF_INIT(BUF_UNBOUNDED),
	};
}

/*
 * Only what is held is moved; a piece without it is read where it lies. What
 * is held is read again when it has grown by a part of itself, so that many
 * small pieces of a long value do not cost the square of its length.
 */
void scrub_stream_feed(struct scrub_stream *st, struct str in, struct buf *out)
{
	size_t done;

	if (scrub_is_empty(st->scrub)) {
		buf_add_str(out, in);
		return;
	}
	if (!st->held.n) {
		done = rewrite(st->scrub, in, END_MORE, out, &st->hits);
		buf_add_str(&st->held, scrub_behind(in, done));
	} else {
		buf_add_str(&st->held, in);
		if (st->held.n < st->again)
			return;
		done = rewrite(st->scrub, buf_str(&st->held), END_MORE, out,
			       &st->hits);
		buf_drop(&st->held, done);
	}
	st->again = st->held.n > HELD_BYTES ? st->held.n + st->held.n / 4 : 0;
}

static void stream_end(struct scrub_stream *st, enum end end, struct buf *out)
{
	if (st->held.n)
		rewrite(st->scrub, buf_str(&st->held), end, out, &st->hits);
	scrub_stream_release(st);
}

void scrub_stream_end(struct scrub_stream *st, struct buf *out)
{
	stream_end(st, END_LAST, out);
}

void scrub_stream_cut(struct scrub_stream *st, struct buf *out)
{
	stream_end(st, END_CUT, out);
}

void scrub_stream_release(struct scrub_stream *st)
{
	buf_wipe(&st->held);
}
