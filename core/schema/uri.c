#include "core/schema/uri.h"

#include "core/base/buf.h"

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_scheme(struct str s)
{
	if (!s.n || !is_alpha(s.p[0]))
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!is_alpha(s.p[i]) && !(s.p[i] >= '0' && s.p[i] <= '9') &&
		    s.p[i] != '+' && s.p[i] != '-' && s.p[i] != '.')
			return false;
	return true;
}

/* What stands behind the first `mark`; s keeps what is before it. */
static struct str cut_tail(struct str *s, char mark)
{
	size_t at = str_find(*s, mark);
	struct str tail = {NULL, 0};

	if (at < s->n) {
		tail = (struct str){s->p + at + 1, s->n - at - 1};
		s->n = at;
	}
	return tail;
}

struct uri uri_parts(struct str text)
{
	struct uri u = {.scheme = {NULL, 0}};
	size_t colon;

	if (!text.p)
		text = STR("");
	u.fragment = cut_tail(&text, '#');
	u.query = cut_tail(&text, '?');
	colon = str_find(text, ':');
	if (colon < text.n && is_scheme((struct str){text.p, colon})) {
		u.scheme = (struct str){text.p, colon};
		text = (struct str){text.p + colon + 1, text.n - colon - 1};
	}
	if (str_starts(text, "//")) {
		text = (struct str){text.p + 2, text.n - 2};
		u.authority = (struct str){text.p, str_find(text, '/')};
		text = (struct str){text.p + u.authority.n,
				    text.n - u.authority.n};
	}
	u.path = text;
	return u;
}

/* Drop the last segment of what was written from `from` on. */
static void drop_segment(struct buf *out, size_t from)
{
	while (out->n > from && out->p[out->n - 1] != '/')
		out->n--;
	if (out->n > from)
		out->n--;
}

/* Section 5.2.4, for a path that begins with '/'. */
static void add_without_dots(struct buf *out, struct str path)
{
	size_t from = out->n;

	while (path.n) {
		size_t n;
		struct str segment;

		/* each turn takes a slash and what is up to the next one */
		segment = (struct str){path.p + 1, path.n - 1};
		n = str_find(segment, '/');
		segment.n = n;
		path = (struct str){path.p + 1 + n, path.n - 1 - n};
		if (str_is(segment, "..")) {
			drop_segment(out, from);
			if (!path.n)
				buf_addc(out, '/');
		} else if (str_is(segment, ".")) {
			if (!path.n)
				buf_addc(out, '/');
		} else {
			buf_addc(out, '/');
			buf_add_str(out, segment);
		}
	}
}

static void add_path(struct buf *out, struct str path)
{
	if (path.n && path.p[0] == '/')
		add_without_dots(out, path);
	else
		buf_add_str(out, path);
}

/* Section 5.2.3 */
static void add_merged(struct buf *out, const struct uri *base, struct str path)
{
	struct buf merged = BUF_INIT(BUF_UNBOUNDED);
	struct str folder = base->path;

	if (base->authority.p && !folder.n)
		folder = STR("/");
	while (folder.n && folder.p[folder.n - 1] != '/')
		folder.n--;
	buf_add_str(&merged, folder);
	buf_add_str(&merged, path);
	add_path(out, buf_str(&merged));
	buf_release(&merged);
}

static void add_front(struct buf *out, struct str scheme, struct str authority)
{
	if (scheme.p) {
		buf_add_str(out, scheme);
		buf_addc(out, ':');
	}
	if (authority.p) {
		buf_adds(out, "//");
		buf_add_str(out, authority);
	}
}

struct str uri_resolve(struct str base_text, struct str reference,
		       struct arena *arena)
{
	struct uri base = uri_parts(base_text), r = uri_parts(reference);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str query = r.query, copy;

	if (r.scheme.p || r.authority.p) {
		add_front(&out, r.scheme.p ? r.scheme : base.scheme,
			  r.authority);
		add_path(&out, r.path);
	} else {
		add_front(&out, base.scheme, base.authority);
		if (!r.path.n) {
			buf_add_str(&out, base.path);
			if (!query.p)
				query = base.query;
		} else if (r.path.p[0] == '/') {
			add_path(&out, r.path);
		} else {
			add_merged(&out, &base, r.path);
		}
	}
	if (query.p) {
		buf_addc(&out, '?');
		buf_add_str(&out, query);
	}
	copy = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return copy;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct str uri_fragment(struct str reference, struct arena *arena)
{
	struct str f = uri_parts(reference).fragment;
	char *out = arena_alloc(arena, f.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < f.n; i++) {
		int high = i + 2 < f.n ? hex(f.p[i + 1]) : -1;
		int low = i + 2 < f.n ? hex(f.p[i + 2]) : -1;

		if (f.p[i] == '%' && high >= 0 && low >= 0) {
			out[n++] = (char)(high << 4 | low);
			i += 2;
		} else {
			out[n++] = f.p[i];
		}
	}
	return (struct str){out, n};
}
