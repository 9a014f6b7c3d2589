#include "core/base/jw.h"

#include <assert.h>

#include "core/base/scan.h"

/* A string of at most so many bytes is looked at before it is copied. */
#define SHORT 256

void jw_init(struct jw *w, struct buf *out, bool pretty)
{
	*w = (struct jw){.out = out, .pretty = pretty};
}

struct jw jw_begin(struct buf *out)
{
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	return w;
}

static void newline(struct jw *w)
{
	buf_addc(w->out, '\n');
	for (uint32_t i = 0; i < w->depth; i++)
		buf_adds(w->out, "  ");
}

/* Everything that begins a value or a key passes here. */
static void begin(struct jw *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (!w->depth)
		return;
	if (w->level[w->depth - 1].any)
		buf_addc(w->out, ',');
	w->level[w->depth - 1].any = true;
	if (w->pretty)
		newline(w);
}

static void open_level(struct jw *w, bool is_object)
{
	begin(w);
	assert(w->depth < JW_DEPTH);
	buf_addc(w->out, is_object ? '{' : '[');
	w->level[w->depth].is_object = is_object;
	w->level[w->depth].any = false;
	w->depth++;
}

void jw_object(struct jw *w)
{
	open_level(w, true);
}

void jw_array(struct jw *w)
{
	open_level(w, false);
}

void jw_end(struct jw *w)
{
	assert(w->depth > 0);
	w->depth--;
	if (w->pretty && w->level[w->depth].any)
		newline(w);
	buf_addc(w->out, w->level[w->depth].is_object ? '}' : ']');
}

/* Bytes at the start of s that stand for themselves in a string. */
static size_t plain_run(struct str s)
{
	size_t n = 0;

	for (;;) {
		struct str rest = {s.p + n, s.n - n};
		size_t len = str_plain(rest);

		if (len == rest.n)
			return s.n;
		n += len;
		len = str_beyond_ascii(str_skip(s, n));
		if (!len)
			return n;
		n += len;
	}
}

static void quote_special(struct buf *out, unsigned char c)
{
	const char escaped[] = {'\\', (char)c};

	if (c == '"' || c == '\\')
		buf_add(out, escaped, sizeof(escaped));
	else if (c == '\n')
		buf_adds(out, "\\n");
	else if (c == '\t')
		buf_adds(out, "\\t");
	else if (c == '\r')
		buf_adds(out, "\\r");
	else if (c < 0x80)
		buf_addf(out, "\\u%04x", c);
	else
		buf_adds(out, "\xef\xbf\xbd");
}

static void escape(struct buf *out, struct str s)
{
	for (;;) {
		size_t n = plain_run(s);

		buf_add(out, s.p, n);
		if (n == s.n)
			break;
		quote_special(out, (unsigned char)s.p[n]);
		s.p += n + 1;
		s.n -= n + 1;
	}
}

void jw_quote(struct buf *out, struct str s)
{
	/* most strings are short and plain: one look, one copy */
	char *room = s.n <= SHORT && str_plain(s) == s.n && !out->sink
			     ? buf_room(out, s.n + 2)
			     : NULL;

	if (room) {
		room[0] = '"';
		if (s.n)
			memcpy(room + 1, s.p, s.n);
		room[s.n + 1] = '"';
		room[s.n + 2] = '\0';
		out->n += s.n + 2;
		return;
	}
	buf_addc(out, '"');
	escape(out, s);
	buf_addc(out, '"');
}

void jw_text_begin(struct jw *w)
{
	begin(w);
	buf_addc(w->out, '"');
}

void jw_text(struct jw *w, struct str piece)
{
	escape(w->out, piece);
}

void jw_text_end(struct jw *w)
{
	buf_addc(w->out, '"');
}

static void end_key(struct jw *w)
{
	buf_adds(w->out, w->pretty ? ": " : ":");
	w->after_key = true;
}

void jw_key_str(struct jw *w, struct str key)
{
	begin(w);
	jw_quote(w->out, key);
	end_key(w);
}

void jw_key_raw(struct jw *w, struct str key)
{
	begin(w);
	buf_add_str(w->out, key);
	end_key(w);
}

void jw_key(struct jw *w, const char *key)
{
	jw_key_str(w, str_of(key));
}

void jw_str(struct jw *w, struct str s)
{
	begin(w);
	jw_quote(w->out, s);
}

void jw_cstr(struct jw *w, const char *s)
{
	jw_str(w, str_of(s));
}

void jw_int(struct jw *w, int64_t v)
{
	begin(w);
	if (v < 0)
		buf_addc(w->out, '-');
	buf_addu(w->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void jw_uint(struct jw *w, uint64_t v)
{
	begin(w);
	buf_addu(w->out, v);
}

void jw_bool(struct jw *w, bool v)
{
	begin(w);
	buf_adds(w->out, v ? "true" : "false");
}

void jw_null(struct jw *w)
{
	begin(w);
	buf_adds(w->out, "null");
}

void jw_raw(struct jw *w, struct str json)
{
	begin(w);
	buf_add_str(w->out, json);
}

void jw_kv_str(struct jw *w, const char *key, struct str s)
{
	jw_key(w, key);
	jw_str(w, s);
}

void jw_kv_cstr(struct jw *w, const char *key, const char *s)
{
	jw_key(w, key);
	jw_cstr(w, s);
}

void jw_kv_opt(struct jw *w, const char *key, const char *s)
{
	if (s)
		jw_kv_cstr(w, key, s);
}

void jw_kv_int(struct jw *w, const char *key, int64_t v)
{
	jw_key(w, key);
	jw_int(w, v);
}

void jw_kv_uint(struct jw *w, const char *key, uint64_t v)
{
	jw_key(w, key);
	jw_uint(w, v);
}

void jw_kv_bool(struct jw *w, const char *key, bool v)
{
	jw_key(w, key);
	jw_bool(w, v);
}

void jw_kv_raw(struct jw *w, const char *key, struct str json)
{
	jw_key(w, key);
	jw_raw(w, json);
}

void jw_kv_object(struct jw *w, const char *key)
{
	jw_key(w, key);
	jw_object(w);
}

void jw_kv_array(struct jw *w, const char *key)
{
	jw_key(w, key);
	jw_array(w);
}

void jw_kv_list(struct jw *w, const char *key, const struct strlist *list)
{
	jw_kv_array(w, key);
	for (size_t i = 0; i < list->n; i++)
		jw_cstr(w, list->item[i]);
	jw_end(w);
}

void jw_members(struct jw *w, struct str object, const char *but)
{
	struct scan_iter it = scan_over(object.n ? object : STR("{}"));

	while (it.is_object && scan_next(&it)) {
		if (but && scan_is(it.key, but))
			continue;
		jw_key_raw(w, it.key);
		jw_raw(w, it.value);
	}
}
