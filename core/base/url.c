#include "core/base/url.h"

#include <arpa/inet.h>

#include "core/base/limits.h"

static const struct scheme {
	const char *name;
	uint16_t port;
	bool is_tls;
} schemes[] = {
	{"https", 443, true},
	{"http", 80, false},
	{"wss", 443, true},
	{"ws", 80, false},
};

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int url_percent(struct str s)
{
	if (s.n < 3 || s.p[0] != '%' || hex_value(s.p[1]) < 0 ||
	    hex_value(s.p[2]) < 0)
		return -1;
	return hex_value(s.p[1]) * 16 + hex_value(s.p[2]);
}

static struct str skip(struct str s, size_t n)
{
	return (struct str){s.p + n, s.n - n};
}

/* ---- parts of any reference ---- */

/* Slices; p is NULL where a part is absent. */
struct parts {
	struct str scheme, authority, path, query, fragment;
};

/* Cut off what begins with `mark`; {NULL, 0} when it is not there. */
static struct str cut_tail(struct str *s, char mark)
{
	size_t at = str_find(*s, mark);
	struct str tail = {NULL, 0};

	if (at < s->n)
		tail = skip(*s, at + 1);
	s->n = at;
	return tail;
}

static size_t scheme_len(struct str s)
{
	size_t n = 0;

	if (!s.n || !is_alpha(s.p[0]))
		return 0;
	while (n < s.n && (is_alpha(s.p[n]) || is_digit(s.p[n]) ||
			   (s.p[n] && strchr("+-.", s.p[n]))))
		n++;
	return n < s.n && s.p[n] == ':' ? n : 0;
}

/* source  RFC 3986, appendix B */
static struct parts parts_of(struct str text)
{
	struct parts p = {.fragment = cut_tail(&text, '#')};
	size_t n;

	p.query = cut_tail(&text, '?');
	n = scheme_len(text);
	if (n) {
		p.scheme = (struct str){text.p, n};
		text = skip(text, n + 1);
	}
	if (str_starts(text, "//")) {
		text = skip(text, 2);
		n = str_find(text, '/');
		p.authority = (struct str){text.p, n};
		text = skip(text, n);
	}
	p.path = text;
	return p;
}

/* ---- what is refused ---- */

static int check_bytes(struct str text, struct err *err)
{
	if (text.n > LIMIT_URL_BYTES)
		return err_set(err, ERR_SYNTAX, "a URL of %zu bytes, over %d",
			       text.n, LIMIT_URL_BYTES);
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}", c))
			return err_set(err, ERR_SYNTAX,
				       "byte 0x%02x at position %zu of a URL; "
				       "write it as %%%02X",
				       c, i + 1, c);
		if (c == '%' && url_percent(skip(text, i)) < 0)
			return err_set(err, ERR_SYNTAX,
				       "\"%%\" at position %zu of a URL has no "
				       "two hexadecimal digits after it",
				       i + 1);
	}
	return 0;
}

static int find_scheme(struct str name, struct arena *arena, struct url *u,
		       struct err *err)
{
	char *lower = arena_strndup(arena, name.p ? name.p : "", name.n);

	for (size_t i = 0; i < name.n; i++)
		if (lower[i] >= 'A' && lower[i] <= 'Z')
			lower[i] += 'a' - 'A';
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		if (strcmp(lower, schemes[i].name) != 0)
			continue;
		u->scheme = (struct str){lower, name.n};
		u->port = schemes[i].port;
		u->is_tls = schemes[i].is_tls;
		return 0;
	}
	if (!name.n)
		return err_set(err, ERR_SYNTAX,
			       "no URL: it has to begin with https:// or "
			       "http://");
	return err_set(err, ERR_SYNTAX,
		       "scheme \"%.*s\" of a URL is none of https, http, wss, "
		       "ws",
		       (int)(name.n < 40 ? name.n : 40), name.p);
}

static int parse_port(struct str text, struct url *u, struct err *err)
{
	uint64_t port;

	if (!text.n)
		return 0;
	if (text.n > 5 || !str_uint64(text, &port) || !port || port > 65535)
		return err_set(err, ERR_SYNTAX,
			       "port of a URL is no number from 1 to 65535");
	u->port = (uint16_t)port;
	return 0;
}

static int parse_ipv6(struct str text, struct arena *arena, struct url *u,
		      struct err *err)
{
	char buffer[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (text.n >= sizeof(buffer) ||
	    inet_pton(AF_INET6, arena_strndup(arena, text.p, text.n),
		      &address) != 1)
		return err_set(err, ERR_SYNTAX,
			       "what stands in brackets in a URL is no IPv6 "
			       "address");
	if (!inet_ntop(AF_INET6, &address, buffer, sizeof(buffer)))
		abort();
	u->host = arena_str(arena, str_of(buffer));
	u->is_ipv6 = true;
	return 0;
}

/* Labels of letters, digits, "-" and "_"; none empty, none over 63 bytes. */
static bool is_host_name(struct str host)
{
	if (!host.n || host.n > 253)
		return false;
	while (host.p) {
		struct str label = str_cut(&host, '.');

		if (!label.n || label.n > 63)
			return false;
		for (size_t i = 0; i < label.n; i++)
			if (!is_alpha(label.p[i]) && !is_digit(label.p[i]) &&
			    label.p[i] != '-' && label.p[i] != '_')
				return false;
	}
	return true;
}

/* "1", "0x7f" at the end: some take that for an address, in many spellings. */
static bool ends_in_number(struct str host)
{
	struct str label = host;

	while (str_find(label, '.') < label.n)
		label = skip(label, str_find(label, '.') + 1);
	if (str_starts(label, "0x"))
		return true;
	for (size_t i = 0; i < label.n; i++)
		if (!is_digit(label.p[i]))
			return false;
	return true;
}

static int parse_name(struct str text, struct arena *arena, struct url *u,
		      struct err *err)
{
	struct in_addr address;
	char *lower;

	if (text.n && text.p[text.n - 1] == '.')
		text.n--;
	if (!is_host_name(text))
		return err_set(err, ERR_SYNTAX,
			       "the host of a URL is no name and no address");
	lower = arena_strndup(arena, text.p, text.n);
	for (size_t i = 0; i < text.n; i++)
		if (lower[i] >= 'A' && lower[i] <= 'Z')
			lower[i] += 'a' - 'A';
	u->host = (struct str){lower, text.n};
	if (ends_in_number(u->host) && inet_pton(AF_INET, lower, &address) != 1)
		return err_set(err, ERR_SYNTAX,
			       "the host of a URL looks like an IPv4 address "
			       "but is not of the form 192.0.2.1");
	return 0;
}

static int parse_authority(struct str text, struct arena *arena, struct url *u,
			   struct err *err)
{
	size_t end;

	if (!text.n)
		return err_set(err, ERR_SYNTAX, "a URL without a host");
	if (str_find(text, '@') < text.n)
		return err_set(err, ERR_SYNTAX,
			       "a URL with a user name; credentials belong "
			       "into a header");
	if (text.p[0] != '[') {
		end = str_find(text, ':');
		if (parse_name((struct str){text.p, end}, arena, u, err) < 0)
			return -1;
	} else {
		end = str_find(text, ']');
		if (end == text.n)
			return err_set(err, ERR_SYNTAX,
				       "a URL with \"[\" but without \"]\"");
		if (parse_ipv6((struct str){text.p + 1, end - 1}, arena, u,
			       err) < 0)
			return -1;
		end++;
		if (end < text.n && text.p[end] != ':')
			return err_set(err, ERR_SYNTAX,
				       "a URL with text between \"]\" and the "
				       "port");
	}
	if (end == text.n)
		return 0;
	return parse_port(skip(text, end + 1), u, err);
}

/* ---- a whole URL ---- */

void url_origin(const struct url *u, struct buf *out)
{
	buf_addf(out, "%s://%s%s%s", u->scheme.p, u->is_ipv6 ? "[" : "",
		 u->host.p, u->is_ipv6 ? "]" : "");
	if (u->port != (u->is_tls ? 443 : 80))
		buf_addf(out, ":%u", u->port);
}

/* Path and query come after the rest; `path` begins with "/" or is empty. */
static void complete(struct str path, struct str query, struct arena *arena,
		     struct url *u)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	url_origin(u, &text);
	u->path = path.n ? arena_str(arena, path) : STR("/");
	buf_add_str(&text, u->path);
	if (query.p) {
		u->query = arena_str(arena, query);
		buf_addc(&text, '?');
		buf_add_str(&text, u->query);
	}
	u->text = arena_str(arena, buf_str(&text));
}

int url_parse(struct str text, struct arena *arena, struct url *ret,
	      struct err *err)
{
	struct url u = {.port = 0};
	struct parts p;

	if (check_bytes(text, err) < 0)
		return -1;
	p = parts_of(text);
	if (find_scheme(p.scheme, arena, &u, err) < 0)
		return -1;
	if (!p.authority.p)
		return err_set(err, ERR_SYNTAX,
			       "a URL without \"//\" after its scheme");
	if (parse_authority(p.authority, arena, &u, err) < 0)
		return -1;
	complete(p.path, p.query, arena, &u);
	if (p.fragment.p)
		u.fragment = arena_str(arena, p.fragment);
	*ret = u;
	return 0;
}

bool url_same_origin(const struct url *a, const struct url *b)
{
	return a->is_tls == b->is_tls && a->port == b->port &&
	       str_eq(a->host, b->host);
}

bool url_is_loopback(const struct url *u)
{
	struct in6_addr address;

	if (u->is_ipv6)
		return inet_pton(AF_INET6, u->host.p, &address) == 1 &&
		       (IN6_IS_ADDR_LOOPBACK(&address) ||
			(IN6_IS_ADDR_V4MAPPED(&address) &&
			 address.s6_addr[12] == 127));
	if (ends_in_number(u->host))
		return str_starts(u->host, "127.");
	return str_is(u->host, "localhost") || str_ends(u->host, ".localhost");
}

/* ---- references: RFC 3986, section 5.2 ---- */

/* Take away the last segment and the "/" before it, but nothing before it. */
static void drop_segment(struct buf *out, size_t start)
{
	while (out->n > start && out->p[--out->n] != '/')
		;
}

/* source  RFC 3986, section 5.2.4; a path that begins with "/" */
static void remove_dots(struct str path, struct buf *out)
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

/* The base up to its last "/", then the reference. */
static void merge(const struct url *base, struct str path, struct buf *out)
{
	size_t n = base->path.n;

	while (n && base->path.p[n - 1] != '/')
		n--;
	buf_add(out, base->path.p, n);
	buf_add_str(out, path);
}

static void resolve_path(const struct url *base, const struct parts *p,
			 struct buf *out)
{
	AUTO(buf_release) struct buf merged = BUF_INIT(BUF_UNBOUNDED);

	if (str_starts(p->path, "/"))
		buf_add_str(&merged, p->path);
	else
		merge(base, p->path, &merged);
	remove_dots(buf_str(&merged), out);
}

static void add_part(struct buf *out, char mark, struct str part)
{
	if (!part.p)
		return;
	buf_addc(out, mark);
	buf_add_str(out, part);
}

/* "//host/../path" and absolute references: dots go as well. */
static void add_path(const struct parts *p, struct buf *out)
{
	if (str_starts(p->path, "/"))
		remove_dots(p->path, out);
	else
		buf_add_str(out, p->path);
}

int url_resolve(const struct url *base, struct str reference,
		struct arena *arena, struct url *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct parts p;

	if (check_bytes(reference, err) < 0)
		return -1;
	p = parts_of(reference);
	if (p.scheme.p) {
		buf_add_str(&text, p.scheme);
		buf_addc(&text, ':');
		if (p.authority.p)
			buf_addf(&text, "//%.*s", STR_ARG(p.authority));
		add_path(&p, &text);
	} else if (p.authority.p) {
		buf_addf(&text, "%s://%.*s", base->scheme.p,
			 STR_ARG(p.authority));
		add_path(&p, &text);
	} else {
		url_origin(base, &text);
		if (!p.path.n && !p.query.p)
			p.query = base->query;
		if (p.path.n)
			resolve_path(base, &p, &text);
		else
			buf_add_str(&text, base->path);
	}
	add_part(&text, '?', p.query);
	add_part(&text, '#', p.fragment);
	return url_parse(buf_str(&text), arena, ret, err);
}
