#include "core/report/shape.h"

#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/report/escape.h"

/* Columns of one table; with more a line says less than a list. */
#define COLUMNS_MAX 12
/* Cells are not cut below this. */
#define CELL_MIN 24
#define GAP 2
/* Values that nest deeper are JSON on one line. */
#define DEPTH_MAX 8
/* Bytes of an array of scalars that stands on one line. */
#define INLINE_MAX 76

bool shape_read(struct str text, struct arena *arena, struct str *ret)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str rest = str_trim(text), value;

	if (!rest.n || rest.n > SHAPE_BYTES ||
	    (rest.p[0] != '{' && rest.p[0] != '['))
		return false;
	if (scan_document(rest, NULL, ret, &err) == 0)
		return true;
	while (rest.n) {
		if (scan_value(rest, NULL, &value, &err) < 0 ||
		    scan_type(value) != SCAN_OBJECT)
			return false;
		buf_addc(&all, all.n ? ',' : '[');
		buf_add_str(&all, value);
		rest.n -= (size_t)(value.p + value.n - rest.p);
		rest.p = value.p + value.n;
		rest = str_trim(rest);
	}
	buf_addc(&all, ']');
	return scan_document(arena_str(arena, buf_str(&all)), NULL, ret,
			     &err) == 0;
}

static bool is_scalar(struct str value)
{
	return scan_type(value) != SCAN_ARRAY &&
	       scan_type(value) != SCAN_OBJECT;
}

static bool is_empty(struct str value)
{
	return !is_scalar(value) && !scan_count(value);
}

static void add_scalar(struct str value, struct buf *out)
{
	if (!scan_string(value, out))
		buf_add_str(out, value);
}

/* Append a short list of scalars, "a, b, c"; false: another value. */
static bool add_list(struct str value, struct buf *out)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (scan_type(value) != SCAN_ARRAY || is_empty(value))
		return false;
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		if (!is_scalar(it.value) || line.n > INLINE_MAX)
			return false;
		buf_adds(&line, line.n ? ", " : "");
		add_scalar(it.value, &line);
	}
	if (line.n > INLINE_MAX || memchr(buf_cstr(&line), '\n', line.n))
		return false;
	buf_add_str(out, buf_str(&line));
	return true;
}

/* Does a value fit into a cell of a table? */
static bool is_flat(struct str value)
{
	AUTO(buf_release) struct buf ignored = BUF_INIT(BUF_UNBOUNDED);

	return is_scalar(value) || is_empty(value) || add_list(value, &ignored);
}

/* A scalar without quotes, a short list; other values as JSON on one line. */
static void add_plain(struct str value, struct buf *out)
{
	if (is_scalar(value))
		add_scalar(value, out);
	else if (!add_list(value, out))
		scan_compact(value, out);
}

/* Where a value of text stands. */
struct place {
	size_t indent, depth;
	size_t columns; /* of a line, the indent included */
};

static struct place place_below(struct place at)
{
	return (struct place){at.indent + 2, at.depth + 1, at.columns};
}

/* ---- tables ---- */

struct table {
	struct str key[COLUMNS_MAX]; /* with quotes */
	size_t width[COLUMNS_MAX];
	bool is_number[COLUMNS_MAX]; /* all values are, or null */
	size_t n;
};

static size_t find_column(const struct table *t, struct str key)
{
	size_t i = 0;

	while (i < t->n && !str_eq(t->key[i], key))
		i++;
	return i;
}

static bool add_row(struct table *t, struct str row)
{
	for (struct scan_iter it = scan_over(row); scan_next(&it);) {
		size_t i = find_column(t, it.key);
		enum scan_type type = scan_type(it.value);

		if (!is_flat(it.value) || i == COLUMNS_MAX)
			return false;
		if (i == t->n) {
			t->key[t->n] = it.key;
			t->is_number[t->n++] = true;
		}
		t->is_number[i] &= type == SCAN_NUMBER || type == SCAN_NULL;
	}
	return true;
}

/* An array of flat objects that share some columns. */
static bool read_table(struct str value, struct table *ret)
{
	*ret = (struct table){.n = 0};
	if (scan_type(value) != SCAN_ARRAY)
		return false;
	for (struct scan_iter it = scan_over(value); scan_next(&it);)
		if (scan_type(it.value) != SCAN_OBJECT ||
		    !add_row(ret, it.value))
			return false;
	return ret->n > 0;
}

/* Cells of a row by column; n = 0 where it has none. */
static void read_cells(const struct table *t, struct str row, struct str *cell)
{
	for (size_t i = 0; i < t->n; i++)
		cell[i] = (struct str){NULL, 0};
	for (struct scan_iter it = scan_over(row); scan_next(&it);)
		if (scan_type(it.value) != SCAN_NULL)
			cell[find_column(t, it.key)] = it.value;
}

/* One line, as a terminal will show it. */
static void add_cell(struct str value, struct buf *out)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	if (!value.n)
		return;
	add_plain(value, &plain);
	for (size_t i = 0; i < plain.n; i++)
		if (plain.p[i] == '\n' || plain.p[i] == '\t')
			plain.p[i] = ' ';
	escape_line(out, "", buf_str(&plain));
}

static void measure(struct table *t, size_t column, struct str value)
{
	AUTO(buf_release) struct buf cell = BUF_INIT(BUF_UNBOUNDED);
	size_t columns;

	add_cell(value, &cell);
	columns = text_columns(buf_str(&cell));
	if (columns > t->width[column])
		t->width[column] = columns;
}

/* False: the table cannot be as narrow as it must be. */
static bool fit(struct table *t, size_t columns)
{
	for (;;) {
		size_t all = GAP * (t->n - 1), widest = 0, over;

		for (size_t i = 0; i < t->n; i++) {
			all += t->width[i];
			if (t->width[i] > t->width[widest])
				widest = i;
		}
		if (all <= columns)
			return true;
		if (t->width[widest] <= CELL_MIN)
			return false;
		over = all - columns;
		t->width[widest] = t->width[widest] > CELL_MIN + over
					   ? t->width[widest] - over
					   : CELL_MIN;
	}
}

static void add_spaces(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_addc(out, ' ');
}

/* One line; spaces at its end are left out. */
static void add_cells(const struct table *t, const struct str *cell,
		      struct buf *out)
{
	size_t due = 0; /* spaces before the next text */

	for (size_t i = 0; i < t->n; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct str shown;
		bool is_cut;
		size_t columns;

		add_cell(cell[i], &text);
		is_cut = text_columns(buf_str(&text)) > t->width[i];
		shown = text_first_columns(buf_str(&text),
					   t->width[i] - is_cut);
		columns = text_columns(shown) + is_cut;
		due += t->is_number[i] ? t->width[i] - columns : 0;
		if (shown.n) {
			add_spaces(out, due);
			due = 0;
		}
		buf_add_str(out, shown);
		buf_adds(out, is_cut ? "…" : "");
		due += (t->is_number[i] ? 0 : t->width[i] - columns) + GAP;
		due += shown.n ? 0 : columns;
	}
	buf_addc(out, '\n');
}

static bool table_text(struct str value, struct place at, struct buf *out)
{
	struct str cell[COLUMNS_MAX];
	struct table t;

	if (!read_table(value, &t))
		return false;
	for (size_t i = 0; i < t.n; i++)
		measure(&t, i, t.key[i]);
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		read_cells(&t, it.value, cell);
		for (size_t i = 0; i < t.n; i++)
			measure(&t, i, cell[i]);
	}
	if (!fit(&t, at.columns > at.indent ? at.columns - at.indent : 0))
		return false;
	add_spaces(out, at.indent);
	add_cells(&t, t.key, out);
	add_spaces(out, at.indent);
	for (size_t i = 0; i < t.n; i++) {
		add_spaces(out, i ? GAP : 0);
		for (size_t k = 0; k < t.width[i]; k++)
			buf_addc(out, '-');
	}
	buf_addc(out, '\n');
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		read_cells(&t, it.value, cell);
		add_spaces(out, at.indent);
		add_cells(&t, cell, out);
	}
	return true;
}

/* ---- text ---- */

static void add_value(struct str value, struct place at, struct buf *out);

/* Lines of a string, each set in. */
static void add_string_lines(struct str text, size_t indent, struct buf *out)
{
	while (text.p) {
		struct str line = str_cut(&text, '\n');

		add_spaces(out, line.n ? indent : 0);
		buf_add_str(out, line);
		buf_addc(out, '\n');
	}
}

/* Behind "key:" or "-": on the same line, or set in below. */
static void add_behind(struct str value, struct place at, struct buf *out)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	if (!is_flat(value) && at.depth < DEPTH_MAX) {
		buf_addc(out, '\n');
		add_value(value, place_below(at), out);
		return;
	}
	add_plain(value, &plain);
	if (memchr(buf_cstr(&plain), '\n', plain.n)) {
		buf_addc(out, '\n');
		add_string_lines(str_trim(buf_str(&plain)), at.indent + 2, out);
		return;
	}
	buf_adds(out, plain.n ? " " : "");
	buf_add_str(out, buf_str(&plain));
	buf_addc(out, '\n');
}

static void add_object(struct str value, struct place at, struct buf *out)
{
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		add_spaces(out, at.indent);
		add_cell(it.key, out);
		buf_addc(out, ':');
		add_behind(it.value, at, out);
	}
}

/* Elements with a dash, the first line of an object behind it. */
static void add_elements(struct str value, struct place at, struct buf *out)
{
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		AUTO(buf_release) struct buf item = BUF_INIT(BUF_UNBOUNDED);

		add_spaces(out, at.indent);
		buf_addc(out, '-');
		if (scan_type(it.value) != SCAN_OBJECT || is_empty(it.value) ||
		    at.depth >= DEPTH_MAX) {
			add_behind(it.value, at, out);
			continue;
		}
		add_object(it.value, place_below(at), &item);
		buf_addc(out, ' ');
		/* the dash stands where the first line is set in */
		buf_add_str(out, str_skip(buf_str(&item), at.indent + 2));
	}
}

static void add_value(struct str value, struct place at, struct buf *out)
{
	if (scan_type(value) == SCAN_OBJECT)
		add_object(value, at, out);
	else if (!table_text(value, at, out))
		add_elements(value, at, out);
}

void shape_text(struct str value, size_t columns, struct buf *out)
{
	const struct place at = {
		.columns = columns ? columns : SHAPE_COLUMNS,
	};

	if (is_scalar(value) || is_empty(value)) {
		add_plain(value, out);
		buf_addc(out, '\n');
		return;
	}
	add_value(value, at, out);
}

/* ---- HTML ---- */

static void html_value(struct str value, size_t depth, struct buf *out);

static void html_text(struct str value, const char *before, const char *after,
		      struct buf *out)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	if (value.n)
		add_plain(value, &plain);
	escape_html(out, before, buf_str(&plain));
	buf_adds(out, after);
}

static void html_table(const struct table *t, struct str value, struct buf *out)
{
	struct str cell[COLUMNS_MAX];

	buf_adds(out, "<div class=\"wide\"><table>\n<thead><tr>");
	for (size_t i = 0; i < t->n; i++)
		html_text(t->key[i],
			  t->is_number[i] ? "<th scope=\"col\" class=\"n\">"
					  : "<th scope=\"col\">",
			  "</th>", out);
	buf_adds(out, "</tr></thead>\n<tbody>\n");
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		read_cells(t, it.value, cell);
		buf_adds(out, "<tr>");
		for (size_t i = 0; i < t->n; i++)
			html_text(cell[i],
				  t->is_number[i] ? "<td class=\"n\">"
						  : "<td dir=\"auto\">",
				  "</td>", out);
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</tbody></table></div>");
}

static void html_object(struct str value, size_t depth, struct buf *out)
{
	buf_adds(out, "<table class=\"kv\">\n");
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		html_text(it.key, "<tr><th scope=\"row\">",
			  "</th><td dir=\"auto\">", out);
		html_value(it.value, depth + 1, out);
		buf_adds(out, "</td></tr>\n");
	}
	buf_adds(out, "</table>");
}

static void html_value(struct str value, size_t depth, struct buf *out)
{
	struct table t;

	/* the whole of a body is a list with a line each, as in text */
	bool is_line =
		depth ? is_flat(value) : is_scalar(value) || is_empty(value);

	if (is_line || depth >= DEPTH_MAX) {
		html_text(value, "", "", out);
	} else if (scan_type(value) == SCAN_OBJECT) {
		html_object(value, depth, out);
	} else if (read_table(value, &t)) {
		html_table(&t, value, out);
	} else {
		buf_adds(out, "<ul>\n");
		for (struct scan_iter it = scan_over(value); scan_next(&it);) {
			buf_adds(out, "<li dir=\"auto\">");
			html_value(it.value, depth + 1, out);
			buf_adds(out, "</li>\n");
		}
		buf_adds(out, "</ul>");
	}
}

void shape_html(struct str value, struct buf *out)
{
	html_value(value, 0, out);
	buf_addc(out, '\n');
}
