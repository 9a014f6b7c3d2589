#include "core/schema/format.h"

#include "core/base/address.h"
#include "core/base/date.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/base/url.h"

static bool take_char(struct str *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = str_skip(*s, 1);
	return true;
}

/* Take exactly n decimal digits. */
static bool take_digits(struct str *s, size_t n, unsigned *ret)
{
	uint64_t v;

	if (s->n < n || !str_uint64((struct str){s->p, n}, &v))
		return false;
	*s = str_skip(*s, n);
	*ret = (unsigned)v;
	return true;
}

/* Take all digits at the front; gives their number. */
static size_t take_all_digits(struct str *s)
{
	size_t n = 0;

	while (n < s->n && text_is_digit(s->p[n]))
		n++;
	*s = str_skip(*s, n);
	return n;
}

/* ---- dates and times; RFC 3339 ---- */

static bool is_date(struct str s)
{
	unsigned year, month, day;

	if (!take_digits(&s, 4, &year) || !take_char(&s, '-') ||
	    !take_digits(&s, 2, &month) || !take_char(&s, '-') ||
	    !take_digits(&s, 2, &day) || s.n)
		return false;
	return month >= 1 && month <= 12 && day >= 1 &&
	       (int32_t)day <= date_month_days((int32_t)year, (int32_t)month);
}

/* Take Z or +HH:MM; gives the minutes between the time and UTC. */
static bool take_zone(struct str *s, int *ret_minutes)
{
	unsigned hour, minute;
	int sign;

	*ret_minutes = 0;
	if (take_char(s, 'Z') || take_char(s, 'z'))
		return true;
	sign = take_char(s, '-') ? -1 : 1;
	if (sign > 0 && !take_char(s, '+'))
		return false;
	if (!take_digits(s, 2, &hour) || !take_char(s, ':') ||
	    !take_digits(s, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*ret_minutes = sign * (int)(hour * 60 + minute);
	return true;
}

static bool is_time(struct str s)
{
	unsigned hour, minute, second;
	int zone, utc;

	if (!take_digits(&s, 2, &hour) || !take_char(&s, ':') ||
	    !take_digits(&s, 2, &minute) || !take_char(&s, ':') ||
	    !take_digits(&s, 2, &second))
		return false;
	if (take_char(&s, '.') && !take_all_digits(&s))
		return false;
	if (!take_zone(&s, &zone) || s.n || hour > 23 || minute > 59)
		return false;
	/* a leap second ends a day of UTC */
	utc = ((int)(hour * 60 + minute) - zone + 2 * 1440) % 1440;
	return second < 60 || (second == 60 && utc == 1439);
}

static bool is_date_time(struct str s)
{
	return s.n > 11 && is_date((struct str){s.p, 10}) &&
	       (s.p[10] == 'T' || s.p[10] == 't') && is_time(str_skip(s, 11));
}

/* ---- URIs; RFC 3986 ---- */

/* Only characters of URIs, those of `also`, and whole %XX. */
static bool is_clean(struct str s, const char *also)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (text_is_alnum(c) || (c && strchr("-._~!$&'()*+,;=", c)) ||
		    (c && strchr(also, c)))
			continue;
		if (uri_percent(str_skip(s, i)) < 0)
			return false;
		i += 2;
	}
	return true;
}

static bool is_ipv6(struct str s)
{
	struct address a;

	return address_read(s, &a) && a.is_v6;
}

static bool is_authority(struct str s)
{
	size_t at = s.n, end;
	bool is_bracketed;

	while (at && s.p[at - 1] != '@')
		at--;
	if (at && !is_clean((struct str){s.p, at - 1}, ":"))
		return false;
	s = str_skip(s, at);
	is_bracketed = s.n && s.p[0] == '[';
	end = str_find(s, is_bracketed ? ']' : ':');
	if (!is_bracketed) {
		if (!is_clean((struct str){s.p, end}, ""))
			return false;
	} else if (end == s.n || !is_ipv6((struct str){s.p + 1, end - 1})) {
		return false;
	} else {
		end++;
	}
	s = str_skip(s, end);
	if (s.n && !take_char(&s, ':'))
		return false;
	take_all_digits(&s);
	return !s.n;
}

static bool is_uri(struct str s)
{
	struct uri u = uri_parts(s);

	return u.scheme.p && (!u.authority.p || is_authority(u.authority)) &&
	       is_clean(u.path, ":@/") && is_clean(u.query, ":@/?") &&
	       is_clean(u.fragment, ":@/?");
}

/* ---- e-mail; RFC 5321 ---- */

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

/* Atoms of these characters with dots between; also the labels of a host. */
static bool is_dotted(struct str s, const char *also, size_t max)
{
	if (!s.n)
		return false;
	while (s.p) {
		struct str part = str_cut(&s, '.');

		if (!part.n || part.n > max)
			return false;
		for (size_t i = 0; i < part.n; i++)
			if (!text_is_alpha(part.p[i]) &&
			    !text_is_digit(part.p[i]) &&
			    !(part.p[i] && strchr(also, part.p[i])))
				return false;
	}
	return true;
}

static bool is_hostname(struct str s)
{
	struct str rest = s;

	if (s.n > 253 || !is_dotted(s, "-", 63))
		return false;
	while (rest.p) {
		struct str label = str_cut(&rest, '.');

		if (label.p[0] == '-' || label.p[label.n - 1] == '-')
			return false;
	}
	return true;
}

static bool is_mail_domain(struct str s)
{
	struct address a;

	if (s.n < 3 || s.p[0] != '[' || s.p[s.n - 1] != ']')
		return is_hostname(s);
	s = (struct str){s.p + 1, s.n - 2};
	if (str_starts(s, "IPv6:"))
		return is_ipv6(str_skip(s, 5));
	return address_read(s, &a) && !a.is_v6;
}

static bool is_email(struct str s)
{
	size_t at = s.n;
	struct str local;

	while (at && s.p[at - 1] != '@')
		at--;
	if (!at)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return false;
	local = (struct str){s.p, at - 1};
	return (is_quoted(local) ||
		is_dotted(local, "!#$%&'*+-/=?^_`{|}~", SIZE_MAX)) &&
	       is_mail_domain(str_skip(s, at));
}

const char *format_missed(struct str json_name, struct str text)
{
	static const struct {
		const char *name, *phrase;
		bool (*holds)(struct str text);
	} formats[] = {
#define FORMAT(id, name, phrase) {name, phrase, is_##id},
#include "core/schema/formats.def"
#undef FORMAT
	};

	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (scan_is(json_name, formats[i].name))
			return formats[i].holds(text.p ? text : STR(""))
				       ? NULL
				       : formats[i].phrase;
	return NULL;
}
