#include "core/config/edit.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/scan.h"
#include "core/base/text.h"
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

void edit_add_key(struct buf *out, const char *key)
{
	bool is_bare = *key;

	for (const char *p = key; *p; p++)
		is_bare &= text_is_alnum(*p) || *p == '_' || *p == '-';
	if (is_bare)
		buf_adds(out, key);
	else
		edit_add_string(out, key);
}

void edit_add_json(struct buf *out, struct str json)
{
	const bool is_table = scan_type(json) == SCAN_OBJECT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *between = "";

	if (scan_type(json) == SCAN_STRING) {
		scan_string(json, &text);
		edit_add_string(out, buf_cstr(&text));
		return;
	}
	if (!is_table && scan_type(json) != SCAN_ARRAY) {
		buf_add_str(out, json);
		return;
	}
	buf_adds(out, is_table ? "{" : "[");
	for (struct scan_iter it = scan_over(json); scan_next(&it);) {
		/* TOML has no null */
		if (scan_type(it.value) == SCAN_NULL)
			continue;
		buf_adds(out, between);
		between = ", ";
		if (is_table) {
			buf_clear(&text);
			scan_string(it.key, &text);
			buf_addc(out, ' ');
			edit_add_key(out, buf_cstr(&text));
			buf_adds(out, " = ");
			between = ",";
		}
		edit_add_json(out, it.value);
	}
	buf_adds(out, is_table ? " }" : "]");
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
	return str_starts(str_skip(text, at), s);
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

/* ---- the text and its tree ---- */

/* Columns of a list that stands in one line. */
#define LINE_COLUMNS 78

/* A configuration between two edits: each makes a new text. */
struct editor {
	struct arena arena;
	const char *routine, *step_name, *newline;
	struct str text;
	struct toml_value root;
	struct toml_value *owner; /* of the sandbox, in .root */
};

static struct toml_value *find_step(const struct editor *e,
				    const struct toml_value *root)
{
	/* also as spellings.def has it */
	static const char *const names[] = {"name", "id", "taskReferenceName"};
	const struct toml_value *steps = toml_get(
		toml_get(toml_get(root, "routines"), e->routine), "steps");

	for (size_t i = 0;
	     steps && steps->type == TOML_ARRAY && i < steps->array.n; i++) {
		struct toml_value *step = &steps->array.item[i];

		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			const struct toml_value *name =
				toml_get(step, names[k]);

			if (name && name->type == TOML_STRING &&
			    str_is(name->string, e->step_name))
				return step;
		}
	}
	return NULL;
}

/*
 * Find the table that has, or is to have, the sandbox: the step; or the server
 * that it names, whose program other steps use as well, as long as they have no
 * sandbox of their own.
 */
static struct toml_value *find_owner(struct editor *e, struct toml_value *root)
{
	struct toml_value *step = find_step(e, root);
	const struct toml_value *name = toml_get(step, "server"), *server;

	if (!name || name->type != TOML_STRING || toml_get(step, "sandbox"))
		return step;
	server = toml_get(
		toml_get(root, "servers"),
		arena_strndup(&e->arena, name->string.p, name->string.n));
	return server && server->type == TOML_TABLE
		       ? (struct toml_value *)server
		       : step;
}

/* Go on with this text, unless it is no TOML or lacks the step. */
static int take(struct editor *e, struct str text, struct err *err)
{
	struct toml_value root, *owner;

	if (toml_parse(&e->arena, text, &root, err) < 0)
		return -1;
	owner = find_owner(e, &root);
	if (!owner)
		return err_set(err, ERR_UNKNOWN_STEP,
			       "the file has no step %s in routine %s",
			       e->step_name, e->routine);
	e->text = text;
	e->root = root;
	e->owner = owner;
	return 0;
}

static size_t value_at(const struct editor *e, const struct toml_value *v)
{
	return offset_of(e->text, v->line, v->col);
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
 *
 * ret_begin  of that value; stays without one
 */
static size_t last_end(const struct editor *e, const struct toml_value *table,
		       size_t *ret_begin)
{
	size_t last = 0;

	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		size_t at = value_at(e, &m->value), begin = at, end;

		if (is_header(e->text, at))
			continue;
		/* a dotted key: `env.A = 1` */
		end = m->value.type == TOML_TABLE && char_at(e->text, at) != '{'
			      ? last_end(e, &m->value, &begin)
			      : skip_value(e->text, at);
		if (end <= last)
			continue;
		last = end;
		*ret_begin = begin;
	}
	return last;
}

/* ---- texts with a row in them ---- */

/* Make the text with this in the place of some of its bytes. */
static struct str spliced(struct editor *e, struct str text, size_t at,
			  size_t removed, const struct buf *with)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_add(&out, text.p, at);
	buf_add_str(&out, buf_str(with));
	buf_add(&out, text.p + at + removed, text.n - at - removed);
	return arena_str(&e->arena, buf_str(&out));
}

static void add_items(struct buf *out, const struct strlist *values)
{
	for (size_t i = 0; i < values->n; i++) {
		buf_adds(out, i ? ", " : "");
		edit_add_string(out, values->item[i]);
	}
}

static void add_lines(const struct editor *e, struct str indent,
		      const char *tab, const struct strlist *values,
		      struct buf *out)
{
	for (size_t i = 0; i < values->n; i++) {
		buf_addf(out, "%.*s%s", STR_ARG(indent), tab);
		edit_add_string(out, values->item[i]);
		buf_addf(out, ",%s", e->newline);
	}
}

void edit_add_value(struct buf *out, const struct edit_row *row)
{
	if (row->is_word) {
		edit_add_string(out, row->values.item[0]);
		return;
	}
	buf_addc(out, '[');
	add_items(out, &row->values);
	buf_addc(out, ']');
}

/* `sandbox.read = [...]`, over lines where one would be long. */
static void add_assignment(const struct editor *e, const char *prefix,
			   const struct edit_row *row, struct str indent,
			   bool in_braces, struct buf *out)
{
	AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

	edit_add_value(&value, row);
	buf_addf(out, "%s%s = ", prefix, row->key);
	if (in_braces || row->is_word ||
	    indent.n + strlen(prefix) + strlen(row->key) + 3 + value.n <=
		    LINE_COLUMNS) {
		buf_add_str(out, buf_str(&value));
		return;
	}
	buf_addf(out, "[%s", e->newline);
	add_lines(e, indent, "\t", &row->values, out);
	buf_addf(out, "%.*s]", STR_ARG(indent));
}

/* Does a comma come before `end`, comments left out? */
static bool has_comma(struct str text, size_t at, size_t end)
{
	for (; at < end && text.p[at] != ','; at++)
		if (text.p[at] == '#')
			at = line_end(text, at);
	return at < end;
}

/* Add values to a list, each in a line where the list is written so. */
static struct str with_items(struct editor *e, const struct toml_value *list,
			     const struct strlist *values)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf comma = BUF_INIT(BUF_UNBOUNDED);
	size_t n = list->array.n, open = value_at(e, list);
	size_t close = skip_value(e->text, open) - 1;
	size_t begin = line_begin(e->text, close);
	size_t last =
		n ? skip_value(e->text, value_at(e, &list->array.item[n - 1]))
		  : close;

	buf_adds(&comma, n ? "," : "");
	/* the bracket stands in a line of its own */
	if (begin > open && begin + indent_of(e, close).n == close) {
		add_lines(e, indent_of(e, n ? last : open), n ? "" : "\t",
			  values, &out);
		if (has_comma(e->text, last, close))
			buf_clear(&comma);
		return spliced(e, spliced(e, e->text, begin, 0, &out), last, 0,
			       &comma);
	}
	buf_adds(&out, n ? ", " : "");
	add_items(&out, values);
	return spliced(e, e->text, last, 0, &out);
}

/* Replace a value. */
static struct str with_value(struct editor *e, const struct toml_value *v,
			     const struct edit_row *row)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t at = value_at(e, v);

	edit_add_value(&out, row);
	return spliced(e, e->text, at, skip_value(e->text, at) - at, &out);
}

/* Add a key behind the last one of a table, in its braces or lines. */
static struct str with_key(struct editor *e, const struct toml_value *table,
			   const char *prefix, const struct edit_row *row)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t at = value_at(e, table), begin = at, behind;
	size_t last = last_end(e, table, &begin);
	bool in_braces = char_at(e->text, at) == '{' ||
			 char_at(e->text, value_at(e, e->owner)) == '{';
	struct str indent = indent_of(e, begin);

	if (in_braces) {
		behind = last ? last : at + 1;
		buf_adds(&out, last ? ", " : " ");
	} else {
		behind = end_of_line(e, last ? last : at);
		buf_addf(&out, "%s%.*s", e->newline, STR_ARG(indent));
	}
	add_assignment(e, prefix, row, indent, in_braces, &out);
	if (in_braces && !last && char_at(e->text, behind) == '}')
		buf_addc(&out, ' ');
	return spliced(e, e->text, behind, 0, &out);
}

/* ---- the tree that is meant ---- */

static bool list_has_string(const struct toml_value *list, const char *s)
{
	for (size_t i = 0; i < list->array.n; i++)
		if (list->array.item[i].type == TOML_STRING &&
		    str_is(list->array.item[i].string, s))
			return true;
	return false;
}

static struct toml_value of_string(const char *s)
{
	return (struct toml_value){.type = TOML_STRING, .string = str_of(s)};
}

/* The value of a row, behind the items of a list. */
static struct toml_value joined(struct editor *e, const struct toml_value *list,
				const struct edit_row *row)
{
	struct toml_value v = {.type = TOML_ARRAY};
	size_t n = list && list->type == TOML_ARRAY ? list->array.n : 0;

	if (row->is_word && row->values.n)
		return of_string(row->values.item[0]);
	v.array.n = n + row->values.n;
	v.array.item = ARENA_ARRAY(&e->arena, struct toml_value, v.array.n);
	for (size_t i = 0; i < n; i++)
		v.array.item[i] = list->array.item[i];
	for (size_t i = n; i < v.array.n; i++)
		v.array.item[i] = of_string(row->values.item[i - n]);
	return v;
}

static void set_member(struct editor *e, struct toml_value *table,
		       const char *key, struct toml_value value)
{
	size_t at = 0, n = table->table.n;
	struct toml_member *all =
		ARENA_ARRAY(&e->arena, struct toml_member, n + 1);

	for (size_t i = 0; i < n; i++)
		all[i] = table->table.member[i];
	while (at < n && strcmp(all[at].key, key) != 0)
		at++;
	all[at] = (struct toml_member){.key = key, .value = value};
	table->table.member = all;
	table->table.n = at < n ? n : n + 1;
}

static bool is_same(const struct toml_value *a, const struct toml_value *b)
{
	AUTO(buf_release) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf y = BUF_INIT(BUF_UNBOUNDED);
	bool is_table = a->type == TOML_TABLE, same = true;

	if (a->type != b->type)
		return false;
	if (!is_table && a->type != TOML_ARRAY) {
		toml_to_json(a, &x);
		toml_to_json(b, &y);
		return str_eq(buf_str(&x), buf_str(&y));
	}
	if (is_table ? a->table.n != b->table.n : a->array.n != b->array.n)
		return false;
	for (size_t i = 0; same && is_table && i < a->table.n; i++) {
		const struct toml_member *m = &a->table.member[i];
		const struct toml_value *v = toml_get(b, m->key);

		same = v && is_same(&m->value, v);
	}
	for (size_t i = 0; same && !is_table && i < a->array.n; i++)
		same = is_same(&a->array.item[i], &b->array.item[i]);
	return same;
}

/* ---- one row ---- */

/* Texts that may mean the row: where a key can stand. */
#define TRIES_MAX 3

/*
 * Find the texts to try for a key that is there; none: nothing to do, or no way
 * to join it, which is noted in the row.
 */
static size_t try_change(struct editor *e, const struct toml_value *v,
			 struct edit_row *row, const struct edit_row *lacks,
			 struct str try[TRIES_MAX])
{
	const char *word = row->is_word ? row->values.item[0] : "";
	bool is_word = v->type == TOML_STRING;

	if ((is_word &&
	     (str_is(v->string, "all") || str_is(v->string, word))) ||
	    (!lacks->values.n && !row->is_word))
		return 0;
	if (v->type == TOML_ARRAY && !row->is_word)
		try[0] = with_items(e, v, &lacks->values);
	else if (strcmp(word, "all") == 0 ||
		 (is_word && str_is(v->string, "none")))
		try[0] = with_value(e, v, row);
	else
		row->is_left = true;
	return !row->is_left;
}

/* And for a new one, in the order in which a person would look. */
static size_t try_key(struct editor *e, const struct toml_value *sandbox,
		      const struct edit_row *row, struct str try[TRIES_MAX])
{
	size_t n = 0;

	if (sandbox && sandbox->type == TOML_TABLE) {
		try[n++] = with_key(e, sandbox, "", row);
		try[n++] = with_key(e, sandbox, "sandbox.", row);
	}
	try[n++] = with_key(e, e->owner, "sandbox.", row);
	return n;
}

/* The values of a row that are not there yet. */
static struct edit_row lacking(struct editor *e, const struct toml_value *v,
			       const struct edit_row *row)
{
	struct edit_row lacks = {.key = row->key, .is_word = row->is_word};

	for (size_t i = 0; i < row->values.n; i++)
		if (!v || v->type != TOML_ARRAY ||
		    !list_has_string(v, row->values.item[i]))
			list_add_new(&lacks.values, &e->arena,
				     row->values.item[i]);
	return lacks;
}

static int edit_row(struct editor *e, struct edit_row *row, struct err *err)
{
	const struct toml_value *sandbox = toml_get(e->owner, "sandbox");
	const struct toml_value *v = toml_get(sandbox, row->key);
	const struct edit_row lacks = lacking(e, v, row);
	const struct toml_value value = joined(e, v, &lacks);
	struct toml_value wanted = e->root, table = {.type = TOML_TABLE};
	struct str try[TRIES_MAX];
	size_t n = !row->values.n ? 0
		   : v		  ? try_change(e, v, row, &lacks, try)
				  : try_key(e, sandbox, row, try);

	if (!n)
		return 0;
	if (sandbox)
		table = *sandbox;
	if (table.type == TOML_TABLE) {
		set_member(e, &table, row->key, value);
		set_member(e, e->owner, "sandbox", table);
	}
	for (size_t i = 0; i < n && table.type == TOML_TABLE; i++)
		if (take(e, try[i], ERR_IGNORED) == 0 &&
		    is_same(&wanted, &e->root))
			return 0;
	return err_set(err, ERR_CONFIG,
		       "the sandbox of step %s is written in a form that "
		       "cannot be edited; add the lines by hand",
		       e->step_name);
}

int edit_sandbox(struct str text, const char *routine, const char *step,
		 struct edit_row *row, size_t n_rows, struct buf *out,
		 struct err *err)
{
	struct editor e = {
		.arena = ARENA_INIT,
		.routine = routine,
		.step_name = step,
		.newline = memmem(text.p, text.n, "\r\n", 2) ? "\r\n" : "\n",
	};
	int r = take(&e, text, err);

	for (size_t i = 0; r == 0 && i < n_rows; i++)
		r = edit_row(&e, &row[i], err);
	if (r == 0)
		buf_add_str(out, e.text);
	arena_release(&e.arena);
	return r;
}

/* ---- a server taken out ---- */

/* Header of a table in the text. */
struct header {
	size_t at, last; /* end of its last value */
	bool goes;
};

struct headers {
	struct arena *arena;
	struct header *item;
	size_t n;
};

static void add_headers(struct headers *h, const struct editor *e,
			const struct toml_value *v,
			const struct toml_value *gone, bool goes)
{
	const bool is_table = v->type == TOML_TABLE;
	const size_t at = value_at(e, v);
	size_t begin, last;

	goes |= v == gone;
	if (!is_table && v->type != TOML_ARRAY)
		return;
	if (is_table && is_header(e->text, at)) {
		last = last_end(e, v, &begin);
		h->item = arena_grow(h->arena, h->item, h->n, sizeof(*h->item));
		h->item[h->n++] =
			(struct header){at, last > at ? last : at, goes};
	}
	for (size_t i = 0; is_table && i < v->table.n; i++)
		add_headers(h, e, &v->table.member[i].value, gone, goes);
	for (size_t i = 0; !is_table && i < v->array.n; i++)
		add_headers(h, e, &v->array.item[i], gone, goes);
}

/* Does a comment tell of the table above it, as `add` and `import` write it? */
static bool tells_of_above(struct str text)
{
	return str_starts(text, "# wanted at its first start") ||
	       str_starts(text, "# not carried: ");
}

/* Where the lines of comments right above a line begin. */
static size_t comments_begin(struct str text, size_t at)
{
	size_t begin = line_begin(text, at);

	while (begin) {
		const size_t above = line_begin(text, begin - 1);

		if (char_at(text, above) != '#' ||
		    tells_of_above(str_skip(text, above)))
			break;
		begin = above;
	}
	return begin;
}

/* The header that a line belongs to, with the comments above it; NULL. */
static const struct header *header_of(const struct headers *h, struct str text,
				      size_t at)
{
	const struct header *own = NULL;

	for (size_t i = 0; i < h->n; i++)
		if (comments_begin(text, h->item[i].at) <= at &&
		    (!own || h->item[i].at > own->at ||
		     (h->item[i].at == own->at && h->item[i].goes)))
			own = &h->item[i];
	return own;
}

/*
 * The text without the lines of a table; of one in braces, without its key.
 * Behind the last value the table ends at an empty line.
 */
static void cut_table(struct editor *e, const struct toml_member *m,
		      struct buf *out)
{
	struct headers h = {.arena = &e->arena};
	const struct header *own, *over = NULL;
	const size_t at = value_at(e, &m->value);
	const size_t from =
		line_begin(e->text, offset_of(e->text, m->line, m->col));
	size_t to = 0;

	if (char_at(e->text, at) == '{')
		to = line_end(e->text, skip_value(e->text, at)) + 1;
	else
		add_headers(&h, e, &e->root, &m->value, false);
	for (size_t i = 0; i < e->text.n;) {
		const size_t end = line_end(e->text, i) + 1;
		const size_t n = (end < e->text.n ? end : e->text.n) - i;
		const struct str line = {e->text.p + i, n};

		own = header_of(&h, e->text, i);
		if (!(i >= from && i < to) &&
		    !(own && own->goes && own != over))
			buf_add_str(out, line);
		if (own && own->goes && i > own->last && !str_trim(line).n)
			over = own;
		i += n;
	}
	/* an empty line stands before a table that is the last */
	while (str_ends(buf_str(out), "\n\n") && !str_ends(e->text, "\n\n"))
		out->p[--out->n] = '\0';
}

/* Does the new text mean the old tree without one member of a table? */
static bool lacks_only(struct editor *e, struct str text, const char *table,
		       const char *name)
{
	struct toml_value root, wanted = e->root;
	struct toml_value rest = *toml_get(&e->root, table);
	struct toml_value empty = {.type = TOML_TABLE};
	size_t n = 0;

	if (toml_parse(&e->arena, text, &root, ERR_IGNORED) < 0)
		return false;
	rest.table.member =
		ARENA_ARRAY(&e->arena, struct toml_member, rest.table.n);
	for (size_t i = 0; i < rest.table.n; i++)
		if (strcmp(toml_get(&e->root, table)->table.member[i].key,
			   name) != 0)
			rest.table.member[n++] =
				toml_get(&e->root, table)->table.member[i];
	rest.table.n = n;
	set_member(e, &wanted, table, rest);
	if (!toml_get(&root, table))
		set_member(e, &root, table, empty);
	return is_same(&wanted, &root);
}

int edit_drop_server(struct str text, const char *name, struct buf *out,
		     struct err *err)
{
	static const char *const tables[] = {"servers", "mcp_servers"};
	struct editor e = {.arena = ARENA_INIT, .text = text};
	int r = toml_parse(&e.arena, text, &e.root, err);
	bool is_there = false, is_cut = false;

	for (size_t k = 0; r == 0 && !is_there && k < ARRAY_LEN(tables); k++) {
		const struct toml_value *all = toml_get(&e.root, tables[k]);

		for (size_t i = 0; all && all->type == TOML_TABLE &&
				   !is_there && i < all->table.n;
		     i++) {
			if (strcmp(all->table.member[i].key, name) != 0)
				continue;
			is_there = true;
			cut_table(&e, &all->table.member[i], out);
			is_cut = lacks_only(&e, buf_str(out), tables[k], name);
		}
	}
	arena_release(&e.arena);
	if (r == 0 && !is_there)
		return err_set(err, ERR_UNKNOWN_SERVER,
			       "the file has no server %s", name);
	if (r == 0 && !is_cut)
		return err_set(err, ERR_CONFIG,
			       "server %s is written in a form that cannot be "
			       "edited; take it out by hand",
			       name);
	return r;
}

/* ---- the difference ---- */

/* Lines around the changes; new lines in which an old one is looked for. */
#define AROUND 2
#define LOOKED_AHEAD 64

static struct str first_line(struct str text)
{
	return str_cut(&text, '\n');
}

static struct str behind_line(struct str text)
{
	size_t n = str_find(text, '\n') + 1;

	return n < text.n ? str_skip(text, n) : (struct str){NULL, 0};
}

static bool comes_again(struct str after, struct str line)
{
	for (size_t i = 0; i < LOOKED_AHEAD && after.n; i++)
		if (str_eq(str_cut(&after, '\n'), line))
			return true;
	return false;
}

/* Take the next line of the difference. */
static void cut_line(struct str *before, struct str *after, struct buf *out,
		     size_t n[2])
{
	struct str old = first_line(*before), new = first_line(*after);
	bool is_same = before->n && after->n && str_eq(old, new);
	bool is_gone = !is_same && before->n && !comes_again(*after, old);

	buf_addf(out, "%c%.*s\n",
		 is_same   ? ' '
		 : is_gone ? '-'
			   : '+',
		 STR_ARG(is_gone ? old : new));
	if (is_same || is_gone) {
		*before = behind_line(*before);
		n[0]++;
	}
	if (!is_gone) {
		*after = behind_line(*after);
		n[1]++;
	}
}

void edit_diff(struct str before, struct str after, struct buf *out)
{
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	struct str old = before, new = after;
	size_t n[2] = {0, 0}, skipped = 0;

	if (str_eq(before, after))
		return;
	while (old.n && new.n && str_eq(first_line(old), first_line(new))) {
		old = behind_line(old);
		new = behind_line(new);
		if (skipped++ >= AROUND) {
			before = behind_line(before);
			after = behind_line(after);
		}
	}
	skipped = skipped > AROUND ? skipped - AROUND : 0;
	while (!str_eq(before, after))
		cut_line(&before, &after, &lines, n);
	for (size_t i = 0; i < AROUND && before.n; i++)
		cut_line(&before, &after, &lines, n);
	buf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", skipped + (n[0] != 0), n[0],
		 skipped + (n[1] != 0), n[1]);
	buf_add_str(out, buf_str(&lines));
}
