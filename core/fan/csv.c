#include "core/fan/csv.h"

#include <string.h>

#include "core/base/buf.h"

/* Where the field at `at` ends; SIZE_MAX: not in this text. */
static size_t quoted_end(struct str text, size_t at, size_t *lines)
{
	for (size_t i = at + 1; i < text.n; i++) {
		*lines += text.p[i] == '\n';
		if (text.p[i] != '"')
			continue;
		if (i + 1 < text.n && text.p[i + 1] == '"')
			i++;
		else
			return i + 1;
	}
	return SIZE_MAX;
}

static size_t plain_end(struct str text, size_t at)
{
	while (at < text.n && text.p[at] != ',' && text.p[at] != '\n')
		at++;
	return at;
}

static struct str unquoted(struct str s, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 1; i + 1 < s.n; i++) {
		buf_addc(&out, s.p[i]);
		i += s.p[i] == '"';
	}
	return arena_str(arena, buf_str(&out));
}

static void add_field(struct csv_record *r, struct str text, bool is_quoted,
		      struct arena *arena)
{
	r->field = arena_grow(arena, r->field, r->n, sizeof(*r->field));
	r->field[r->n++] = (struct csv_field){
		is_quoted ? unquoted(text, arena) : arena_str(arena, text),
		is_quoted};
}

/* Bytes of the end of a line at `at`; 0: there is none. */
static size_t line_end(struct str text, size_t at)
{
	if (at < text.n && text.p[at] == '\n')
		return 1;
	return at + 1 < text.n && text.p[at] == '\r' && text.p[at + 1] == '\n'
		       ? 2
		       : 0;
}

static int wrong(const struct csv_record *r, const char *says, struct err *err)
{
	return err_at(err, ERR_SYNTAX, (uint32_t)r->lines, 1, "%s", says);
}

/* Read the field at *at, and move behind it. 1; 0: more text is needed; -1. */
static int read_field(struct str text, bool is_end, size_t *at,
		      struct csv_record *r, struct arena *arena,
		      struct err *err)
{
	bool is_quoted = *at < text.n && text.p[*at] == '"';
	size_t end = is_quoted ? quoted_end(text, *at, &r->lines)
			       : plain_end(text, *at);
	struct str field;

	if (end == SIZE_MAX && is_end)
		return wrong(r, "a quote is not closed", err);
	if (end == SIZE_MAX || (!is_end && end + 1 >= text.n))
		return 0;
	field = (struct str){text.p + *at, end - *at};
	if (!is_quoted && end < text.n && text.p[end] == '\n' &&
	    str_ends(field, "\r"))
		field.n--;
	if (!is_quoted && field.n && memchr(field.p, '"', field.n))
		return wrong(r,
			     "a quote inside of a field: put the whole field "
			     "in quotes, and write the quote twice",
			     err);
	if (is_quoted && end < text.n && text.p[end] != ',' &&
	    !line_end(text, end))
		return wrong(r, "text behind a closing quote", err);
	add_field(r, field, is_quoted, arena);
	*at = end;
	return 1;
}

ssize_t csv_read(struct str text, bool is_end, struct arena *arena,
		 struct csv_record *ret, struct err *err)
{
	struct csv_record r = {.lines = 1};
	size_t at = line_end(text, 0);
	int more;

	*ret = r;
	if (at || !text.n)
		return (ssize_t)at;
	for (;; at++) {
		more = read_field(text, is_end, &at, &r, arena, err);
		if (more <= 0)
			return more;
		if (at >= text.n || text.p[at] != ',')
			break;
	}
	*ret = r;
	return (ssize_t)(at + line_end(text, at));
}
