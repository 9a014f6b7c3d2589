#include "core/base/url.h"

#include <arpa/inet.h>

#include "core/base/text.h"

/* ---- URIs, as text alone ---- */

/* Cut off the part behind the first `mark`; {NULL, 0} without a mark. */
static struct str cut_tail(struct str *s, char mark)
{
	size_t at = str_find(*s, mark);
	struct str tail = {NULL, 0};

	if (at < s->n)
		tail = str_skip(*s, at + 1);
	s->n = at;
	return tail;
}

/* Bytes before the ":" of a scheme; 0: the text begins with none. */
static size_t scheme_len(struct str s)
{
	size_t n = 0;

	if (!s.n || !text_is_alpha(s.p[0]))
		return 0;
	while (n < s.n &&
	       (text_is_alnum(s.p[n]) || (s.p[n] && strchr("+-.", s.p[n]))))
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
		text = str_skip(text, n + 1);
	}
	if (str_starts(text, "//")) {
		text = str_skip(text, 2);
		u.authority = (struct str){text.p, str_find(text, '/')};
		text = str_skip(text, u.authority.n);
	}
	u.path = text.p ? text : STR("");
	return u;
}

/* source  RFC 3986, section 5.2.4; a path that begins with "/" */
static void add_without_dots(struct buf *out, struct str path)
{
	size_t start = out->n;

	while (path.n) {
		struct str rest = str_skip(path, 1);
		size_t n = str_find(rest, '/');
		struct str segment = {rest.p, n};
		bool is_last = n == rest.n;

		path = str_skip(rest, n);
		if (str_is(segment, "..")) {
			/* the last one and the "/" before it, none before */
			while (out->n > start && out->p[--out->n] != '/')
				;
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
	return s.n && s.p[0] == '%' ? text_hex(str_skip(s, 1), 2) : -1;
}

struct str uri_fragment(struct str reference, struct arena *arena)
{
	struct str f = uri_parts(reference).fragment;
	char *out = arena_alloc(arena, f.n + 1);
	size_t n = 0;

	while (f.n) {
		int byte = uri_percent(f);

		out[n++] = byte < 0 ? f.p[0] : (char)byte;
		f = str_skip(f, byte < 0 ? 1 : 3);
	}
	return (struct str){out, n};
}

/* ---- URLs, strictly ---- */

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

/* ---- bytes that are refused ---- */

static int check_bytes(struct str text, struct err *err)
{
	if (text.n > LIMIT_URL_BYTES)
		return err_set(err, ERR_SYNTAX,
			       "URL of %zu bytes; at most %d are allowed",
			       text.n, LIMIT_URL_BYTES);
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}", c))
			return err_set(err, ERR_SYNTAX,
				       "byte 0x%02x at position %zu of a URL; "
				       "write it as %%%02X",
				       c, i + 1, c);
		if (c == '%' && uri_percent(str_skip(text, i)) < 0)
			return err_set(err, ERR_SYNTAX,
				       "\"%%\" at position %zu of a URL has no "
				       "two hexadecimal digits after it",
				       i + 1);
	}
	return 0;
}

/* Copy with the letters A to Z in lower case. */
static char *copy_lower(struct arena *a, struct str s)
{
	char *copy = arena_strndup(a, s.p, s.n);

	for (size_t i = 0; i < s.n; i++)
		if (copy[i] >= 'A' && copy[i] <= 'Z')
			copy[i] += 'a' - 'A';
	return copy;
}

static int find_scheme(struct str name, struct arena *arena, struct url *u,
		       struct err *err)
{
	char *lower = copy_lower(arena, name);

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		if (strcmp(lower, schemes[i].name) != 0)
			continue;
		u->scheme = (struct str){lower, name.n};
		u->port = schemes[i].port;
		u->is_tls = schemes[i].is_tls;
		return 0;
	}
	if (!name.n)
		return err_set(
			err, ERR_SYNTAX,
			"not a URL: write https:// or http:// and a host");
	return err_set(err, ERR_SYNTAX,
		       "scheme \"%.*s\" of a URL: only https, http, wss and ws "
		       "are supported",
		       (int)(name.n < 40 ? name.n : 40), name.p);
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
			       "brackets of a URL must hold an IPv6 address");
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
			if (!text_is_alpha(label.p[i]) &&
			    !text_is_digit(label.p[i]) && label.p[i] != '-' &&
			    label.p[i] != '_')
				return false;
	}
	return true;
}

/* "1", "0x7f" at the end: some take that for an address, in many spellings. */
static bool ends_in_number(struct str host)
{
	struct str label = host;

	while (str_find(label, '.') < label.n)
		label = str_skip(label, str_find(label, '.') + 1);
	if (str_starts(label, "0x"))
		return true;
	for (size_t i = 0; i < label.n; i++)
		if (!text_is_digit(label.p[i]))
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
			       "host of a URL must be a name or an address");
	lower = copy_lower(arena, text);
	u->host = (struct str){lower, text.n};
	if (ends_in_number(u->host) && inet_pton(AF_INET, lower, &address) != 1)
		return err_set(
			err, ERR_SYNTAX,
			"host of a URL looks like an IPv4 address but is "
			"not of the form 192.0.2.1");
	return 0;
}

static int parse_authority(struct str text, struct arena *arena, struct url *u,
			   struct err *err)
{
	uint64_t port = 0;
	size_t end;

	if (!text.n)
		return err_set(err, ERR_SYNTAX, "URL without a host");
	if (str_find(text, '@') < text.n)
		return err_set(err, ERR_SYNTAX,
			       "URL with a user name; credentials belong into "
			       "a header");
	if (text.p[0] != '[') {
		end = str_find(text, ':');
		if (parse_name((struct str){text.p, end}, arena, u, err) < 0)
			return -1;
	} else {
		end = str_find(text, ']');
		if (end == text.n)
			return err_set(err, ERR_SYNTAX,
				       "URL with \"[\" but without \"]\"");
		if (parse_ipv6((struct str){text.p + 1, end - 1}, arena, u,
			       err) < 0)
			return -1;
		end++;
		if (end < text.n && text.p[end] != ':')
			return err_set(
				err, ERR_SYNTAX,
				"URL with text between \"]\" and the port");
	}
	text = str_skip(text, end < text.n ? end + 1 : end);
	if (text.n &&
	    (text.n > 5 || !str_uint64(text, &port) || !port || port > 65535))
		return err_set(
			err, ERR_SYNTAX,
			"port of a URL must be a number from 1 to 65535");
	u->port = text.n ? (uint16_t)port : u->port;
	return 0;
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
	struct uri p;

	if (check_bytes(text, err) < 0)
		return -1;
	p = uri_parts(text);
	if (find_scheme(p.scheme, arena, &u, err) < 0)
		return -1;
	if (!p.authority.p)
		return err_set(err, ERR_SYNTAX,
			       "URL without \"//\" after its scheme");
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

/* ---- references ---- */

int url_resolve(const struct url *base, struct str reference,
		struct arena *arena, struct url *ret, struct err *err)
{
	struct str text, fragment;

	if (check_bytes(reference, err) < 0)
		return -1;
	text = uri_resolve(base->text, reference, arena);
	fragment = uri_parts(reference).fragment;
	if (url_parse(text, arena, ret, err) < 0)
		return -1;
	if (fragment.p)
		ret->fragment = arena_str(arena, fragment);
	return 0;
}

/* ---- forms: application/x-www-form-urlencoded ---- */

static void form_encode(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (text_is_alnum(c) || (c && strchr("-._~", c)))
			buf_addc(out, c);
		else if (c == ' ')
			buf_addc(out, '+');
		else
			buf_addf(out, "%%%02X", (unsigned char)c);
	}
}

void url_form_add(struct buf *out, const char *name, struct str value)
{
	if (out->n)
		buf_addc(out, '&');
	form_encode(str_of(name), out);
	buf_addc(out, '=');
	form_encode(value, out);
}

/* Take one byte of a form; "%" without two digits stands for itself. */
static char form_next(struct str *s)
{
	int value = uri_percent(*s);
	size_t n = value < 0 ? 1 : 3;
	char c = s->p[0];

	*s = str_skip(*s, n);
	if (value >= 0)
		return (char)value;
	return c == '+' ? ' ' : c;
}

static bool form_is(struct str name, const char *wanted)
{
	while (name.n) {
		char c = form_next(&name);

		if (!*wanted || c != *wanted++)
			return false;
	}
	return !*wanted;
}

bool url_form_get(struct str form, const char *name, struct buf *out)
{
	while (form.p) {
		struct str value = str_cut(&form, '&');
		struct str key = str_cut(&value, '=');

		if (!key.n || !form_is(key, name))
			continue;
		while (value.n)
			buf_addc(out, form_next(&value));
		return true;
	}
	return false;
}
