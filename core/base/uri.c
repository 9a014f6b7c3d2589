#include "core/base/uri.h"

#include "core/base/buf.h"
#include "core/base/text.h"

static struct str skip(struct str s, size_t n)
{
	return (struct str){s.p + n, s.n - n};
}

/* Cut off the part behind the first `mark`; {NULL, 0} without a mark. */
static struct str cut_tail(struct str *s, char mark)
{
	size_t at = str_find(*s, mark);
	struct str tail = {NULL, 0};

	if (at < s->n)
		tail = skip(*s, at + 1);
	s->n = at;
	return tail;
}

/* Bytes before the ":" of a scheme; 0: the text begins with none. */
static size_t scheme_len(struct str s)
{
	size_t n = 0;

	if (!s.n || !text_is_alpha(s.p[0]))
		return 0;
	while (n < s.n && (text_is_alpha(s.p[n]) || text_is_digit(s.p[n]) ||
			   (s.p[n] && strchr("+-.", s.p[n]))))
		n++;
	return n < s.n && s.p[n] == ':' ? n : 0;
}

struct uri uri_parts(struct str text)
{
	struct uri u = {.fragment = cut_tail(&text, '#')};
	size_t n;

	u.query = cut_tail(&text, '?');
	n = scheme_len(text);
	if (n) {
		u.scheme = (struct str){text.p, n};
		text = skip(text, n + 1);
	}
	if (str_starts(text, "//")) {
		text = skip(text, 2);
		u.authority = (struct str){text.p, str_find(text, '/')};
		text = skip(text, u.authority.n);
	}
	u.path = text.p ? text : STR("");
	return u;
}

/* Take away the last segment and the "/" before it, but nothing before it. */
static void drop_segment(struct buf *out, size_t start)
{
	while (out->n > start && out->p[--out->n] != '/')
		;
}

/* source  RFC 3986, section 5.2.4; a path that begins with "/" */
static void add_without_dots(struct buf *out, struct str path)
{
	size_t start = out->n;

	while (path.n) {
		struct str rest = skip(path, 1);
		size_t n = str_find(rest, '/');
		struct str segment = {rest.p, n};
		bool is_last = n == rest.n;

		path = skip(rest, n);
		if (str_is(segment, "..")) {
			drop_segment(out, start);
		} else if (!str_is(segment, ".")) {
			buf_addc(out, '/');
			buf_add_str(out, segment);
			continue;
		}
		if (is_last)
			buf_addc(out, '/');
	}
}

static void add_path(struct buf *out, struct str path)
{
	if (str_starts(path, "/"))
		add_without_dots(out, path);
	else
		buf_add_str(out, path);
}

/* source  RFC 3986, section 5.2.3: the base up to its last "/", then path */
static void add_merged(const struct uri *base, struct str path, struct buf *out)
{
	AUTO(buf_release) struct buf merged = BUF_INIT(BUF_UNBOUNDED);
	struct str folder = base->path;

	if (base->authority.p && !folder.n)
		folder = STR("/");
	while (folder.n && folder.p[folder.n - 1] != '/')
		folder.n--;
	buf_add_str(&merged, folder);
	buf_add_str(&merged, path);
	add_path(out, buf_str(&merged));
}

static void add_front(struct str scheme, struct str authority, struct buf *out)
{
	if (scheme.p)
		buf_addf(out, "%.*s:", STR_ARG(scheme));
	if (authority.p)
		buf_addf(out, "//%.*s", STR_ARG(authority));
}

struct str uri_resolve(struct str base_text, struct str reference,
		       struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct uri base = uri_parts(base_text), r = uri_parts(reference);

	if (r.scheme.p || r.authority.p) {
		add_front(r.scheme.p ? r.scheme : base.scheme, r.authority,
			  &out);
		add_path(&out, r.path);
	} else {
		add_front(base.scheme, base.authority, &out);
		if (!r.path.n && !r.query.p)
			r.query = base.query;
		if (!r.path.n)
			buf_add_str(&out, base.path);
		else if (str_starts(r.path, "/"))
			add_path(&out, r.path);
		else
			add_merged(&base, r.path, &out);
	}
	if (r.query.p)
		buf_addf(&out, "?%.*s", STR_ARG(r.query));
	return arena_str(arena, buf_str(&out));
}

int uri_percent(struct str s)
{
	return s.n && s.p[0] == '%' ? text_hex(skip(s, 1), 2) : -1;
}

struct str uri_fragment(struct str reference, struct arena *arena)
{
	struct str f = uri_parts(reference).fragment;
	char *out = arena_alloc(arena, f.n + 1);
	size_t n = 0;

	while (f.n) {
		int byte = uri_percent(f);

		out[n++] = byte < 0 ? f.p[0] : (char)byte;
		f = skip(f, byte < 0 ? 1 : 3);
	}
	return (struct str){out, n};
}
