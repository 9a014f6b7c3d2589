#include "core/schema/format.h"

#include "core/schema/format_parts.h"
#include "core/schema/regex.h"
#include "core/base/uri.h"

struct format {
	const char *name;
	bool (*holds)(struct str text);
	const char *phrase;
};

static const struct format FORMATS[] = {
#define FORMAT(id, name, phrase) {name, is_##id, phrase},
#include "core/schema/formats.def"
#undef FORMAT
};

const struct format *format_find(struct str json_name)
{
	struct str name;

	/* no name has an escape */
	if (json_name.n < 2)
		return NULL;
	name = (struct str){json_name.p + 1, json_name.n - 2};
	for (size_t i = 0; i < ARRAY_LEN(FORMATS); i++)
		if (str_is(name, FORMATS[i].name))
			return &FORMATS[i];
	return NULL;
}

bool format_holds(const struct format *format, struct str text)
{
	return format->holds(text.p ? text : STR(""));
}

const char *format_phrase(const struct format *format)
{
	return format->phrase;
}

/* ---- hosts and addresses ---- */

static bool is_label(struct str s)
{
	if (!s.n || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_letter_char(s.p[i]) && !is_digit_char(s.p[i]) &&
		    s.p[i] != '-')
			return false;
	return true;
}

bool is_hostname(struct str s)
{
	if (!s.n || s.n > 253)
		return false;
	while (s.p) /* str_cut() leaves none behind the last label */
		if (!is_label(str_cut(&s, '.')))
			return false;
	return true;
}

bool is_ipv4(struct str s)
{
	for (int i = 0; i < 4; i++) {
		struct str part = str_cut(&s, '.');
		uint64_t v;

		if ((i < 3) != (s.p != NULL) || part.n > 3 ||
		    !str_uint64(part, &v) || v > 255 ||
		    (part.n > 1 && part.p[0] == '0'))
			return false;
	}
	return true;
}

static bool is_group(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_hex_char(s.p[i]))
			return false;
	return s.n >= 1 && s.n <= 4;
}

/* Groups between colons; negative when one is wrong. */
static int count_groups(struct str s, bool is_end)
{
	int n = 0;

	if (!s.n)
		return 0;
	while (s.p) {
		struct str part = str_cut(&s, ':');

		if (is_end && !s.p && is_ipv4(part))
			n += 2;
		else if (is_group(part))
			n++;
		else
			return -100;
	}
	return n;
}

bool is_ipv6(struct str s)
{
	size_t at = 0;

	while (at + 1 < s.n && !(s.p[at] == ':' && s.p[at + 1] == ':'))
		at++;
	if (at + 1 >= s.n)
		return count_groups(s, true) == 8;
	{
		struct str head = {s.p, at};
		struct str tail = {s.p + at + 2, s.n - at - 2};
		int before = count_groups(head, false);
		int after = count_groups(tail, true);

		return before >= 0 && after >= 0 && before + after <= 7;
	}
}

/* ---- e-mail ---- */

static bool is_atom_char(char c)
{
	return is_letter_char(c) || is_digit_char(c) ||
	       (c && strchr("!#$%&'*+-/=?^_`{|}~", c)) ||
	       (unsigned char)c >= 0x80;
}

static bool is_quoted(struct str s)
{
	if (s.n < 2 || s.p[0] != '"' || s.p[s.n - 1] != '"')
		return false;
	for (size_t i = 1; i + 1 < s.n; i++) {
		if (s.p[i] == '\\' && i + 2 < s.n)
			i++;
		else if (s.p[i] == '"' || s.p[i] == '\\' ||
			 (unsigned char)s.p[i] < 0x20)
			return false;
	}
	return true;
}

static bool is_local_part(struct str s)
{
	if (is_quoted(s))
		return true;
	if (!s.n)
		return false;
	while (s.p) {
		struct str atom = str_cut(&s, '.');

		if (!take_while(&atom, is_atom_char) || atom.n)
			return false;
	}
	return true;
}

static bool is_mail_domain(struct str s)
{
	struct str inner;

	if (s.n < 3 || s.p[0] != '[' || s.p[s.n - 1] != ']')
		return is_hostname(s);
	inner = (struct str){s.p + 1, s.n - 2};
	if (str_starts(inner, "IPv6:"))
		return is_ipv6((struct str){inner.p + 5, inner.n - 5});
	return is_ipv4(inner);
}

static bool is_mail(struct str s, bool is_international)
{
	size_t at = s.n;

	while (at && s.p[at - 1] != '@')
		at--;
	if (!at)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80 && !is_international)
			return false;
	if (!is_local_part((struct str){s.p, at - 1}))
		return false;
	s = (struct str){s.p + at, s.n - at};
	if (!is_international)
		return is_mail_domain(s);
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ')
			return false;
	return s.n != 0;
}

bool is_email(struct str s)
{
	return is_mail(s, false);
}

bool is_idn_email(struct str s)
{
	return is_mail(s, true);
}

/* ---- identifiers ---- */

bool is_uuid(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? s.p[i] != '-' : !is_hex_char(s.p[i]))
			return false;
	}
	return s.n == 36;
}

bool is_json_pointer(struct str s)
{
	if (s.n && s.p[0] != '/')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '~' &&
		    (i + 1 == s.n || (s.p[i + 1] != '0' && s.p[i + 1] != '1')))
			return false;
	return true;
}

bool is_relative_json_pointer(struct str s)
{
	struct str digits = s;
	size_t n = take_while(&s, is_digit_char);

	if (!n || (n > 1 && digits.p[0] == '0'))
		return false;
	return str_is(s, "#") || is_json_pointer(s);
}

bool is_regex(struct str s)
{
	struct err err = ERR_INIT;
	struct regex *r;

	if (regex_new(s, &r, &err) < 0)
		return err.kind == ERR_UNKNOWN; /* cannot tell */
	regex_free(r);
	return true;
}

/* ---- URIs ---- */

/* Characters of RFC 3986 and what RFC 3987 adds, with whole %XX. */
static bool is_clean(struct str s, const char *also, bool is_iri)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%') {
			if (i + 2 >= s.n || !is_hex_char(s.p[i + 1]) ||
			    !is_hex_char(s.p[i + 2]))
				return false;
			i += 2;
		} else if (!is_letter_char(c) && !is_digit_char(c) &&
			   !(c && strchr("-._~!$&'()*+,;=", c)) &&
			   !(c && strchr(also, c)) &&
			   !(is_iri && (unsigned char)c >= 0x80)) {
			return false;
		}
	}
	return true;
}

static bool is_authority(struct str s, bool is_iri)
{
	size_t at = s.n, colon;
	struct str host, port = {NULL, 0};

	while (at && s.p[at - 1] != '@')
		at--;
	if (at && !is_clean((struct str){s.p, at - 1}, ":", is_iri))
		return false;
	s = (struct str){s.p + at, s.n - at};
	if (s.n && s.p[0] == '[') {
		colon = str_find(s, ']');
		if (colon == s.n || !is_ipv6((struct str){s.p + 1, colon - 1}))
			return false;
		s = (struct str){s.p + colon + 1, s.n - colon - 1};
		if (s.n && !take_char(&s, ':'))
			return false;
		take_while(&s, is_digit_char);
		return !s.n;
	}
	host = s;
	colon = str_find(s, ':');
	if (colon < s.n) {
		host.n = colon;
		port = (struct str){s.p + colon + 1, s.n - colon - 1};
		take_while(&port, is_digit_char);
	}
	return !port.n && is_clean(host, "", is_iri);
}

static bool is_reference(struct str s, bool needs_scheme, bool is_iri)
{
	struct uri u = uri_parts(s);

	if (needs_scheme && !u.scheme.p)
		return false;
	/* a colon in the first segment would make it a scheme */
	if (!u.scheme.p && !u.authority.p &&
	    str_find(u.path, ':') < str_find(u.path, '/'))
		return false;
	return (!u.authority.p || is_authority(u.authority, is_iri)) &&
	       is_clean(u.path, ":@/", is_iri) &&
	       is_clean(u.query, ":@/?", is_iri) &&
	       is_clean(u.fragment, ":@/?", is_iri);
}

bool is_uri(struct str s)
{
	return is_reference(s, true, false);
}

bool is_uri_reference(struct str s)
{
	return is_reference(s, false, false);
}

bool is_iri(struct str s)
{
	return is_reference(s, true, true);
}

bool is_iri_reference(struct str s)
{
	return is_reference(s, false, true);
}

/* {name}, {+name,other:3}; RFC 6570 */
static bool is_expression(struct str s)
{
	if (s.n && strchr("+#./;?&", s.p[0]))
		s = (struct str){s.p + 1, s.n - 1};
	if (!s.n)
		return false;
	while (s.p) {
		struct str name = str_cut(&s, ',');
		struct str prefix;

		if (str_ends(name, "*"))
			name.n--;
		prefix = name;
		name = str_cut(&prefix, ':');
		if (prefix.p &&
		    (!take_while(&prefix, is_digit_char) || prefix.n))
			return false;
		for (size_t i = 0; i < name.n; i++)
			if (!is_letter_char(name.p[i]) &&
			    !is_digit_char(name.p[i]) && name.p[i] != '_' &&
			    name.p[i] != '.' && name.p[i] != '%')
				return false;
		if (!name.n)
			return false;
	}
	return true;
}

bool is_uri_template(struct str s)
{
	while (s.n) {
		size_t open = str_find(s, '{'), close;

		for (size_t i = 0; i < open; i++)
			if ((unsigned char)s.p[i] <= ' ' ||
			    strchr("\"'<>\\^`|}", s.p[i]))
				return false;
		if (open == s.n)
			return true;
		s = (struct str){s.p + open + 1, s.n - open - 1};
		close = str_find(s, '}');
		if (close == s.n || !is_expression((struct str){s.p, close}))
			return false;
		s = (struct str){s.p + close + 1, s.n - close - 1};
	}
	return true;
}
