#include "core/config/edit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/toml/toml.h"

void edit_add_string(struct buf *out, const char *s)
{
	buf_addc(out, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c == 0x7f)
			buf_addf(out, "\\u%04x", c);
		else
			buf_addf(out, "%s%c", strchr("\"\\", c) ? "\\" : "", c);
	}
	buf_addc(out, '"');
}

/* ---- places in the text; it is known to be TOML ---- */

/* Offset of a line and column of the tree. */
static size_t offset_of(struct str text, uint32_t line, uint32_t col)
{
	size_t at = str_starts(text, "\xef\xbb\xbf") ? 3 : 0;

	for (uint32_t n = 1; n < line && at < text.n; at++)
		n += text.p[at] == '\n';
	at += col - 1;
	return at < text.n ? at : text.n;
}

/* The character there, NUL behind the end. */
static char char_at(struct str text, size_t at)
{
	return at < text.n ? text.p[at] : '\0';
}

static bool has_at(struct str text, size_t at, const char *s)
{
	return str_starts((struct str){text.p + at, text.n - at}, s);
}

static size_t skip_string(struct str text, size_t at)
{
	char quote = text.p[at];
	const char three[] = {quote, quote, quote, '\0'};
	size_t n = has_at(text, at, three) ? 3 : 1;

	for (at += n; at < text.n; at++) {
		if (quote == '"' && text.p[at] == '\\')
			at++;
		else if (n == 1 ? text.p[at] == quote : has_at(text, at, three))
			break;
	}
	at += n;
	/* one or two quotes may stand before the closing three */
	while (n == 3 && char_at(text, at) == quote)
		at++;
	return at < text.n ? at : text.n;
}

static size_t line_end(struct str text, size_t at)
{
	while (at < text.n && text.p[at] != '\n')
		at++;
	return at;
}

static size_t line_begin(struct str text, size_t at)
{
	while (at && text.p[at - 1] != '\n')
		at--;
	return at;
}

/* Offset behind the value that begins there. */
static size_t skip_value(struct str text, size_t at)
{
	size_t depth = 0;

	while (at < text.n) {
		char c = text.p[at];

		if (c == '"' || c == '\'') {
			at = skip_string(text, at);
		} else if (c == '#' && depth) {
			at = line_end(text, at);
			continue;
		} else if (!depth && strchr(",]}#\r\n", c)) {
			break;
		} else {
			depth += c == '[' || c == '{';
			depth -= c == ']' || c == '}';
			at++;
		}
		if (!depth && strchr("]}\"'", c))
			return at;
	}
	while (at && strchr(" \t", text.p[at - 1]))
		at--;
	return at;
}

/* Does a header begin there, and not a list? */
static bool is_header(struct str text, size_t at)
{
	size_t begin = line_begin(text, at);

	while (char_at(text, begin) == ' ' || char_at(text, begin) == '\t')
		begin++;
	return begin == at && char_at(text, at) == '[';
}

/* ---- edits ---- */

#define EDITS_MAX 64
/* Columns of a list that stands in one line. */
#define LINE_COLUMNS 78

struct edit {
	size_t at, removed;
	const char *text;
};

struct editor {
	struct str text;
	struct arena arena;
	const char *newline;
	const char *routine;
	const struct toml_value *step;
	struct edit edit[EDITS_MAX];
	size_t n;
};

static void add_edit(struct editor *e, size_t at, size_t removed,
		     const struct buf *text)
{
	if (e->n < EDITS_MAX)
		e->edit[e->n++] = (struct edit){
			at, removed, arena_strdup(&e->arena, buf_cstr(text))};
}

static size_t place(const struct editor *e, uint32_t line, uint32_t col)
{
	return offset_of(e->text, line, col);
}

static size_t value_at(const struct editor *e, const struct toml_value *v)
{
	return place(e, v->line, v->col);
}

/* White space that the line of an offset begins with. */
static struct str indent_of(const struct editor *e, size_t at)
{
	size_t begin = line_begin(e->text, at), n = 0;

	while (char_at(e->text, begin + n) == ' ' ||
	       char_at(e->text, begin + n) == '\t')
		n++;
	return (struct str){e->text.p + begin, n};
}

/* Offset behind the line's text, before its line end. */
static size_t end_of_line(const struct editor *e, size_t at)
{
	size_t end = line_end(e->text, at);

	return end > at && e->text.p[end - 1] == '\r' ? end - 1 : end;
}

/*
 * Offset behind the last value of this table that is written in its own lines
 * or braces, not under a header of its own; 0: there is none.
 */
static size_t last_end(const struct editor *e, const struct toml_value *table)
{
	size_t last = 0;

	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		size_t at = value_at(e, &m->value), end;

		if (is_header(e->text, at))
			continue;
		/* a dotted key: `env.A = 1` */
		end = m->value.type == TOML_TABLE && char_at(e->text, at) != '{'
			      ? last_end(e, &m->value)
			      : skip_value(e->text, at);
		last = end > last ? end : last;
	}
	return last;
}

/* ---- lists ---- */

static void add_list(struct buf *out, const struct edit_row *row)
{
	if (row->is_word) {
		edit_add_string(out, row->values.item[0]);
		return;
	}
	buf_addc(out, '[');
	for (size_t i = 0; i < row->values.n; i++) {
		buf_adds(out, i ? ", " : "");
		edit_add_string(out, row->values.item[i]);
	}
	buf_addc(out, ']');
}

/* `sandbox.read = [...]`, over lines where one would be long. */
static void add_assignment(struct editor *e, const char *prefix,
			   const struct edit_row *row, struct str indent,
			   bool one_line, struct buf *out)
{
	AUTO(buf_release) struct buf list = BUF_INIT(BUF_UNBOUNDED);

	add_list(&list, row);
	buf_addf(out, "%s%s = ", prefix, row->key);
	if (one_line || row->is_word ||
	    indent.n + strlen(prefix) + strlen(row->key) + 3 + list.n <=
		    LINE_COLUMNS) {
		buf_add_str(out, buf_str(&list));
		return;
	}
	buf_addf(out, "[%s", e->newline);
	for (size_t i = 0; i < row->values.n; i++) {
		buf_addf(out, "%.*s\t", STR_ARG(indent));
		edit_add_string(out, row->values.item[i]);
		buf_addf(out, ",%s", e->newline);
	}
	buf_addf(out, "%.*s]", STR_ARG(indent));
}

static bool array_has(const struct toml_value *list, const char *s)
{
	for (size_t i = 0; i < list->array.n; i++)
		if (list->array.item[i].type == TOML_STRING &&
		    str_is(list->array.item[i].string, s))
			return true;
	return false;
}

/* Offset of the comma behind a value; `end` when there is none. */
static size_t find_comma(struct str text, size_t at, size_t end)
{
	for (; at < end; at++) {
		if (text.p[at] == ',')
			return at;
		if (text.p[at] == '#')
			at = line_end(text, at);
	}
	return end;
}

/* Add items behind the last one, each in a line where the list is written so.
 */
static void append_items(struct editor *e, const struct toml_value *list,
			 const struct edit_row *row)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t n = list->array.n, begin_list = value_at(e, list);
	size_t close = skip_value(e->text, begin_list) - 1;
	size_t begin = line_begin(e->text, close);
	size_t last =
		n ? skip_value(e->text, value_at(e, &list->array.item[n - 1]))
		  : close;
	size_t comma = find_comma(e->text, last, close);
	struct str indent = indent_of(e, n ? last : begin_list);
	/* the bracket stands in a line of its own */
	bool is_tall =
		begin > begin_list && begin + indent_of(e, close).n == close;
	bool lacks_comma = n && comma == close;

	if (is_tall && lacks_comma) {
		buf_addc(&out, ',');
		add_edit(e, last, 0, &out);
		buf_clear(&out);
	}
	for (size_t i = 0; i < row->values.n; i++) {
		if (array_has(list, row->values.item[i]))
			continue;
		if (is_tall)
			buf_addf(&out, "%.*s%s", STR_ARG(indent),
				 n ? "" : "\t");
		else if (n || out.n)
			buf_adds(&out, lacks_comma || out.n ? ", " : " ");
		edit_add_string(&out, row->values.item[i]);
		if (is_tall)
			buf_addf(&out, ",%s", e->newline);
	}
	add_edit(e,
		 is_tall       ? begin
		 : lacks_comma ? last
		 : n	       ? comma + 1
			       : close,
		 0, &out);
}

static bool is_news(const struct toml_value *list, const struct edit_row *row)
{
	for (size_t i = 0; i < row->values.n; i++)
		if (!array_has(list, row->values.item[i]))
			return true;
	return false;
}

/* Change a key that is there. */
static int change(struct editor *e, const struct toml_value *v,
		  const struct edit_row *row, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t at = value_at(e, v);
	bool is_all = row->is_word && strcmp(row->values.item[0], "all") == 0;

	if (v->type == TOML_ARRAY && !row->is_word) {
		if (is_news(v, row))
			append_items(e, v, row);
		return 0;
	}
	if (v->type == TOML_STRING &&
	    (str_is(v->string, "all") ||
	     (row->is_word && str_is(v->string, row->values.item[0]))))
		return 0;
	if (!is_all && !(v->type == TOML_STRING && str_is(v->string, "none")))
		return err_at(err, ERR_CONFIG, v->line, v->col,
			      "sandbox.%s stands there and cannot be joined "
			      "with %s; write by hand what is meant",
			      row->key, row->values.item[0]);
	add_list(&out, row);
	add_edit(e, at, skip_value(e->text, at) - at, &out);
	return 0;
}

/* ---- keys ---- */

/* Key of a header: bare, or as a string. */
static void add_key(struct buf *out, const char *key)
{
	bool is_bare = *key != '\0';

	for (const char *s = key; *s; s++)
		is_bare &= isalnum((unsigned char)*s) || *s == '_' || *s == '-';
	if (is_bare)
		buf_adds(out, key);
	else
		edit_add_string(out, key);
}

/* Form of the sandbox in the text. */
enum form {
	FORM_NONE,
	FORM_INLINE,  /* sandbox = { read = [] } */
	FORM_DOTTED,  /* sandbox.read = [] */
	FORM_TABLE,   /* [routines.r.steps.sandbox] */
	FORM_BENEATH, /* [routines.r.steps.sandbox.programs.sh] alone */
};

static enum form form_of(const struct editor *e, const struct toml_member *m)
{
	size_t at, key;

	if (!m)
		return FORM_NONE;
	at = value_at(e, &m->value);
	key = place(e, m->line, m->col);
	if (char_at(e->text, at) == '{')
		return FORM_INLINE;
	if (!is_header(e->text, at))
		return FORM_DOTTED;
	/* is it the last key of its header? */
	key = char_at(e->text, key) == 's' ? key + strlen("sandbox")
					   : skip_string(e->text, key);
	while (char_at(e->text, key) == ' ' || char_at(e->text, key) == '\t')
		key++;
	return char_at(e->text, key) == ']' ? FORM_TABLE : FORM_BENEATH;
}

/* Add keys behind a value of a table that is written in lines. */
static void add_lines(struct editor *e, size_t behind, const char *prefix,
		      const struct edit_row *row, size_t n)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	/* of a list over lines the line of its bracket */
	struct str indent = indent_of(e, behind - 1);

	for (size_t i = 0; i < n; i++) {
		buf_addf(&out, "%s%.*s", e->newline, STR_ARG(indent));
		add_assignment(e, prefix, &row[i], indent, false, &out);
	}
	add_edit(e, end_of_line(e, behind), 0, &out);
}

/* Add keys inside of braces: behind a value, or behind the opening brace. */
static void add_inside(struct editor *e, size_t behind, bool is_first,
		       const char *prefix, const struct edit_row *row, size_t n)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < n; i++) {
		buf_adds(&out, is_first && !i ? " " : ", ");
		add_assignment(e, prefix, &row[i], (struct str){NULL, 0}, true,
			       &out);
	}
	if (is_first && char_at(e->text, behind) == '}')
		buf_addc(&out, ' ');
	add_edit(e, behind, 0, &out);
}

static void add_table(struct editor *e, size_t before,
		      const struct edit_row *row, size_t n)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str indent = indent_of(e, before);

	buf_adds(&out, "[routines.");
	add_key(&out, e->routine);
	buf_addf(&out, ".steps.sandbox]%s", e->newline);
	for (size_t i = 0; i < n; i++) {
		buf_addf(&out, "%.*s", STR_ARG(indent));
		add_assignment(e, "", &row[i], indent, false, &out);
		buf_adds(&out, e->newline);
	}
	buf_addf(&out, "%s%.*s", e->newline, STR_ARG(indent));
	add_edit(e, before, 0, &out);
}

static void add_keys(struct editor *e, const struct toml_member *m,
		     const struct edit_row *row, size_t n)
{
	bool in_braces = char_at(e->text, value_at(e, e->step)) == '{';
	size_t at = m ? value_at(e, &m->value) : value_at(e, e->step);
	size_t behind = last_end(e, m ? &m->value : e->step);

	switch (form_of(e, m)) {
	case FORM_INLINE:
		add_inside(e, m->value.table.n ? behind : at + 1,
			   !m->value.table.n, "", row, n);
		return;
	case FORM_TABLE:
		add_lines(e, behind ? behind : end_of_line(e, at), "", row, n);
		return;
	case FORM_BENEATH:
		add_table(e, at, row, n);
		return;
	case FORM_NONE:
	case FORM_DOTTED:
		if (in_braces)
			add_inside(e, behind, false, "sandbox.", row, n);
		else
			add_lines(e, behind ? behind : end_of_line(e, at),
				  "sandbox.", row, n);
	}
}

/* ---- the step ---- */

static struct toml_value *find_step(struct toml_value *root,
				    const char *routine, const char *step)
{
	const struct toml_value *steps = toml_get(
		toml_get(toml_get(root, "routines"), routine), "steps");

	for (size_t i = 0;
	     steps && steps->type == TOML_ARRAY && i < steps->array.n; i++) {
		const struct toml_value *name =
			toml_get(&steps->array.item[i], "name");

		if (name && name->type == TOML_STRING &&
		    str_is(name->string, step))
			return &steps->array.item[i];
	}
	return NULL;
}

static struct toml_member *find_member(const struct toml_value *table,
				       const char *key)
{
	for (size_t i = 0; i < table->table.n; i++)
		if (strcmp(table->table.member[i].key, key) == 0)
			return &table->table.member[i];
	return NULL;
}

static int parse(struct editor *e, struct str text, const char *step,
		 struct toml_value *root, struct toml_value **ret,
		 struct err *err)
{
	if (toml_parse(&e->arena, text, root, err) < 0)
		return -1;
	*ret = find_step(root, e->routine, step);
	return *ret ? 0
		    : err_set(err, ERR_UNKNOWN_STEP,
			      "the file has no step %s in routine %s", step,
			      e->routine);
}

/* ---- the result, compared ---- */

/* Take the sandbox out of a step; a table without members when it has none. */
static struct toml_value take_sandbox(struct toml_value *step)
{
	struct toml_member *m = find_member(step, "sandbox");
	struct toml_value v = {.type = TOML_TABLE};

	if (!m)
		return v;
	v = m->value;
	step->table.n--;
	memmove(m, m + 1,
		(size_t)(step->table.member + step->table.n - m) * sizeof(*m));
	return v;
}

static bool is_same(const struct toml_value *a, const struct toml_value *b)
{
	AUTO(buf_release) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf y = BUF_INIT(BUF_UNBOUNDED);

	toml_to_json(a, &x);
	toml_to_json(b, &y);
	return str_eq(buf_str(&x), buf_str(&y));
}

/* Are all items of the old list there, in front? */
static bool begins_with(const struct toml_value *list,
			const struct toml_value *old)
{
	for (size_t i = 0; i < old->array.n; i++)
		if (i >= list->array.n ||
		    !is_same(&list->array.item[i], &old->array.item[i]))
			return false;
	return true;
}

static bool has_row(const struct toml_value *v, const struct edit_row *row)
{
	if (v && v->type == TOML_STRING)
		return str_is(v->string, "all") ||
		       (row->is_word && str_is(v->string, row->values.item[0]));
	return v && v->type == TOML_ARRAY && !row->is_word && !is_news(v, row);
}

static bool is_as_meant(const struct toml_value *old,
			const struct toml_value *now,
			const struct edit_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!has_row(toml_get(now, row[i].key), &row[i]))
			return false;
	for (size_t i = 0; i < old->table.n; i++) {
		const struct toml_member *m = &old->table.member[i];
		const struct toml_value *v = toml_get(now, m->key);
		bool is_changed = false;

		for (size_t k = 0; k < n; k++)
			is_changed |= strcmp(row[k].key, m->key) == 0;
		if (!v || (!is_changed && !is_same(&m->value, v)) ||
		    (is_changed && m->value.type == TOML_ARRAY &&
		     v->type == TOML_ARRAY && !begins_with(v, &m->value)))
			return false;
	}
	return true;
}

static int check_result(struct editor *e, struct str now, const char *step,
			const struct edit_row *row, size_t n, struct err *err)
{
	struct toml_value before, after, *a, *b, old, new;
	struct err ignored = ERR_INIT;

	if (parse(e, e->text, step, &before, &a, &ignored) == 0 &&
	    parse(e, now, step, &after, &b, &ignored) == 0) {
		old = take_sandbox(a);
		new = take_sandbox(b);
		if (is_same(&before, &after) && is_as_meant(&old, &new, row, n))
			return 0;
	}
	return err_set(err, ERR_CONFIG,
		       "the sandbox of step %s is written in a form that "
		       "cannot be edited; add the lines by hand",
		       step);
}

/* ---- the whole ---- */

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void apply(struct editor *e, struct buf *out)
{
	size_t at = 0;

	/* few, and those of one place are made in their order */
	for (size_t i = 1; i < e->n; i++)
		for (size_t k = i;
		     k && by_place(&e->edit[k - 1], &e->edit[k]) > 0; k--) {
			struct edit swap = e->edit[k];

			e->edit[k] = e->edit[k - 1];
			e->edit[k - 1] = swap;
		}
	for (size_t i = 0; i < e->n; i++) {
		buf_add(out, e->text.p + at, e->edit[i].at - at);
		buf_adds(out, e->edit[i].text);
		at = e->edit[i].at + e->edit[i].removed;
	}
	buf_add(out, e->text.p + at, e->text.n - at);
}

static int edit(struct editor *e, const char *step, const struct edit_row *row,
		size_t n, struct buf *out, struct err *err)
{
	const struct toml_member *sandbox;
	struct toml_value root, *found;
	struct edit_row *fresh = ARENA_ARRAY(&e->arena, struct edit_row, n + 1);
	size_t n_fresh = 0;

	if (parse(e, e->text, step, &root, &found, err) < 0)
		return -1;
	e->step = found;
	sandbox = find_member(found, "sandbox");
	for (size_t i = 0; i < n; i++) {
		const struct toml_value *v =
			sandbox ? toml_get(&sandbox->value, row[i].key) : NULL;

		if (!v)
			fresh[n_fresh++] = row[i];
		else if (change(e, v, &row[i], err) < 0)
			return -1;
	}
	if (n_fresh)
		add_keys(e, sandbox, fresh, n_fresh);
	apply(e, out);
	return check_result(e, buf_str(out), step, row, n, err);
}

int edit_sandbox(struct str text, const char *routine, const char *step,
		 const struct edit_row *row, size_t n_rows, struct buf *out,
		 struct err *err)
{
	struct editor e = {
		.text = text,
		.arena = ARENA_INIT,
		.routine = routine,
		.newline = memmem(text.p, text.n, "\r\n", 2) ? "\r\n" : "\n",
	};
	int r = edit(&e, step, row, n_rows, out, err);

	arena_release(&e.arena);
	return r;
}

/* ---- the difference ---- */

/* Lines around a change; further new lines in which an old one is looked for.
 */
#define AROUND 2
#define LOOKED_AHEAD 64

struct diff_line {
	char mark; /* ' ', '-', '+' */
	struct str text;
};

struct diff {
	struct arena arena;
	struct diff_line *line;
	size_t n;
};

static void add_diff(struct diff *d, char mark, struct str *rest)
{
	d->line = arena_grow(&d->arena, d->line, d->n, sizeof(*d->line));
	d->line[d->n++] = (struct diff_line){mark, str_cut(rest, '\n')};
}

static struct str first_line(struct str text)
{
	return str_cut(&text, '\n');
}

static bool comes_again(struct str after, struct str line)
{
	for (size_t i = 0; i < LOOKED_AHEAD && after.n; i++)
		if (str_eq(str_cut(&after, '\n'), line))
			return true;
	return false;
}

static void find_diff(struct diff *d, struct str before, struct str after)
{
	while (before.n || after.n) {
		bool is_same = before.n && after.n &&
			       str_eq(first_line(before), first_line(after));

		if (is_same) {
			add_diff(d, ' ', &before);
			(void)!str_cut(&after, '\n').p;
		} else if (before.n &&
			   !comes_again(after, first_line(before))) {
			add_diff(d, '-', &before);
		} else {
			add_diff(d, '+', &after);
		}
	}
}

/* Index behind the change at `i`, with the next one where it is near. */
static size_t change_end(const struct diff *d, size_t i)
{
	size_t end = i;

	for (; i < d->n && i <= end + 2 * AROUND; i++)
		if (d->line[i].mark != ' ')
			end = i;
	return end + 1;
}

static size_t count_lines(const struct diff *d, size_t from, size_t to,
			  char but)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += d->line[i].mark != but;
	return n;
}

static void add_range(struct buf *out, char mark, const struct diff *d,
		      size_t from, size_t to, char but)
{
	size_t n = count_lines(d, from, to, but);

	buf_addf(out, " %c%zu,%zu", mark,
		 count_lines(d, 0, from, but) + (n != 0), n);
}

void edit_diff(struct str before, struct str after, struct buf *out)
{
	struct diff d = {.arena = ARENA_INIT};

	find_diff(&d, before, after);
	for (size_t i = 0, end; i < d.n; i = end) {
		size_t from = i < AROUND ? 0 : i - AROUND, to;

		end = i + 1;
		if (d.line[i].mark == ' ')
			continue;
		end = change_end(&d, i);
		to = end + AROUND < d.n ? end + AROUND : d.n;
		buf_adds(out, "@@");
		add_range(out, '-', &d, from, to, '+');
		add_range(out, '+', &d, from, to, '-');
		buf_adds(out, " @@\n");
		for (size_t k = from; k < to; k++)
			buf_addf(out, "%c%.*s\n", d.line[k].mark,
				 STR_ARG(d.line[k].text));
	}
	arena_release(&d.arena);
}
