/* Forms: application/x-www-form-urlencoded. */
#include "core/base/url.h"

static bool is_unreserved(char c)
{
	bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';

	return is_letter || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

static void encode_byte(char c, struct buf *out)
{
	if (is_unreserved(c))
		buf_addc(out, c);
	else
		buf_addf(out, "%%%02X", (unsigned char)c);
}

static void form_encode(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ' ')
			buf_addc(out, '+');
		else
			encode_byte(text.p[i], out);
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

/* One byte of a form, and behind it; "%" that is no escape is itself. */
static char form_next(struct str *s)
{
	int value = url_percent(*s);
	size_t n = value < 0 ? 1 : 3;
	char c = s->p[0];

	*s = (struct str){s->p + n, s->n - n};
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
