/* Does a value fit its field? */
#include <stdlib.h>
#include <string.h>

#include "core/base/scan.h"
#include "core/mcp/wire/elicit_inner.h"

static size_t characters(struct str json)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t n = 0;

	scan_string(json, &text);
	for (size_t i = 0; i < text.n; i++)
		n += (text.p[i] & 0xc0) != 0x80;
	return n;
}

/* Only for comparing with bounds: never written anywhere. */
static double number_of(struct str json)
{
	char text[64];

	if (!json.p || scan_type(json) != SCAN_NUMBER || json.n >= sizeof(text))
		return 0;
	memcpy(text, json.p, json.n);
	text[json.n] = '\0';
	return strtod(text, NULL);
}

int elicit_bad(const struct elicit_field *f, struct err *err, const char *what)
{
	if (!err)
		return -1;
	return err_set(err, ERR_SYNTAX, "%.*s: %s", STR_ARG(f->name), what);
}

static int check_bounds(const struct elicit_field *f, double n,
			const char *what, struct err *err)
{
	if ((!f->least.p || n >= number_of(f->least)) &&
	    (!f->most.p || n <= number_of(f->most)))
		return 0;
	if (!err)
		return -1;
	return err_set(err, ERR_SYNTAX, "%.*s: %s is not within %.*s to %.*s",
		       STR_ARG(f->name), what,
		       STR_ARG(f->least.p ? f->least : STR("any")),
		       STR_ARG(f->most.p ? f->most : STR("any")));
}

bool elicit_same(struct str a, struct str b)
{
	AUTO(buf_release) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf y = BUF_INIT(BUF_UNBOUNDED);

	return scan_string(a, &x) && scan_string(b, &y) &&
	       str_eq(buf_str(&x), buf_str(&y));
}

static int check_choice(const struct elicit_field *f, struct str value,
			struct err *err)
{
	AUTO(buf_release) struct buf list = BUF_INIT(ELICIT_SHOWN_BYTES);

	for (size_t i = 0; i < f->n_choices; i++)
		if (elicit_same(f->choices[i].value, value))
			return 0;
	for (size_t i = 0; i < f->n_choices && i < 12; i++)
		buf_addf(&list, "%s%.*s", i ? ", " : "",
			 STR_ARG(f->choices[i].value));
	if (!err)
		return -1;
	return err_set(err, ERR_SYNTAX, "%.*s: must be one of %s%s",
		       STR_ARG(f->name), buf_cstr(&list),
		       f->n_choices > 12 ? ", …" : "");
}

static int check_choices(const struct elicit_field *f, struct str value,
			 struct err *err)
{
	struct scan_iter it;

	if (scan_type(value) != SCAN_ARRAY)
		return elicit_bad(f, err, "must be a list of choices");
	scan_iter_init(&it, value);
	while (scan_next(&it))
		if (check_choice(f, it.value, err) < 0)
			return -1;
	return check_bounds(f, (double)scan_count(value),
			    "the number of choices", err);
}

/* The forms that a question may name; others are the server's to check. */
static bool is_format(struct str format, struct str text)
{
	if (str_is(format, "email"))
		return str_find(text, '@') > 0 &&
		       str_find(text, '@') + 1 < text.n &&
		       str_find(text, ' ') == text.n;
	if (str_is(format, "uri"))
		return str_find(text, ':') > 0 &&
		       str_find(text, ':') + 1 < text.n &&
		       str_find(text, ' ') == text.n;
	if (str_is(format, "date") || str_is(format, "date-time")) {
		for (size_t i = 0; i < 10; i++)
			if (text.n < 10 ||
			    (i == 4 || i == 7
				     ? text.p[i] != '-'
				     : text.p[i] < '0' || text.p[i] > '9'))
				return false;
		return str_is(format, "date")
			       ? text.n == 10
			       : text.n > 15 && strchr("Tt ", text.p[10]);
	}
	return true;
}

static int check_string(const struct elicit_field *f, struct str value,
			struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!scan_string(value, &text))
		return elicit_bad(f, err, "must be a text");
	if (!is_format(f->format, buf_str(&text))) {
		if (!err)
			return -1;
		return err_set(err, ERR_SYNTAX,
			       "%.*s: must be of the form %.*s",
			       STR_ARG(f->name), STR_ARG(f->format));
	}
	return check_bounds(f, (double)characters(value), "its length", err);
}

static bool is_integer(struct str value)
{
	int64_t n;
	double d = number_of(value);

	return scan_int64(value, &n) ||
	       (d > -9e15 && d < 9e15 && d == (double)(int64_t)d);
}

int elicit_check(const struct elicit_field *f, struct str value,
		 struct err *err)
{
	enum scan_type type = scan_type(value);

	switch (f->type) {
	case ELICIT_STRING:
		return check_string(f, value, err);
	case ELICIT_CHOICE:
		return check_choice(f, value, err);
	case ELICIT_CHOICES:
		return check_choices(f, value, err);
	case ELICIT_BOOLEAN:
		return type == SCAN_TRUE || type == SCAN_FALSE
			       ? 0
			       : elicit_bad(f, err, "must be true or false");
	case ELICIT_INTEGER:
		if (type != SCAN_NUMBER || !is_integer(value))
			return elicit_bad(f, err, "must be a whole number");
		break;
	case ELICIT_NUMBER:
		if (type != SCAN_NUMBER)
			return elicit_bad(f, err, "must be a number");
		break;
	}
	return check_bounds(f, number_of(value), "it", err);
}
