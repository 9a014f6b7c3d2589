#include "core/report/markdown.h"

#include <string.h>

#include "core/base/text.h"
#include "core/report/escape.h"

/* Lists and quotes inside of each other; deeper ones are paragraphs. */
#define DEPTH_MAX 6
/* Emphasis and links inside of each other. */
#define INLINE_MAX 4
#define BACKTICKS_MAX 8
#define CELLS_MAX 32

/* ---- inline text ---- */

/* One pass over a text. A mark whose end is missing once is never looked for
   again, so that time stays linear. */
struct span {
	struct str s;
	size_t at, done; /* done: bytes that were written */
	size_t depth;
	bool no_code[BACKTICKS_MAX + 1];
	bool no_strong, no_emphasis, no_under, no_link;
	struct buf *out;
};

static void add_inline(struct str s, size_t depth, struct buf *out);

static void flush(struct span *p)
{
	escape_html(p->out, "",
		    (struct str){p->s.p + p->done, p->at - p->done});
}

/* Write what came before; go on behind `end`. */
static void skip_to(struct span *p, size_t end)
{
	flush(p);
	p->at = p->done = end;
}

static size_t run_of(struct str s, size_t at, char c)
{
	size_t n = 0;

	while (at + n < s.n && s.p[at + n] == c)
		n++;
	return n;
}

/* Where a mark stands from `from` on; s.n: nowhere. */
static size_t find(struct str s, size_t from, const char *mark)
{
	size_t n = strlen(mark);
	const char *at =
		from < s.n ? memmem(s.p + from, s.n - from, mark, n) : NULL;

	return at ? (size_t)(at - s.p) : s.n;
}

static struct str slice(struct str s, size_t from, size_t to)
{
	return (struct str){s.p + from, to - from};
}

static bool take_code(struct span *p)
{
	size_t n = run_of(p->s, p->at, '`'), end = p->at + n;

	if (n > BACKTICKS_MAX || p->no_code[n]) {
		p->at += n - 1;
		return false;
	}
	while (end < p->s.n && run_of(p->s, end, '`') != n)
		end += run_of(p->s, end, '`') + !run_of(p->s, end, '`');
	if (end >= p->s.n) {
		p->no_code[n] = true;
		p->at += n - 1;
		return false;
	}
	flush(p);
	escape_html(p->out, "<code>", str_trim(slice(p->s, p->at + n, end)));
	buf_adds(p->out, "</code>");
	p->at = p->done = end + n;
	return true;
}

static bool is_word_at(struct str s, size_t at)
{
	return at < s.n &&
	       (text_is_alnum(s.p[at]) || (unsigned char)s.p[at] >= 0x80);
}

static bool is_space_at(struct str s, size_t at)
{
	return at >= s.n || s.p[at] == ' ' || s.p[at] == '\n';
}

static bool take_emphasis(struct span *p, const char *mark, const char *tag,
			  bool *is_missing)
{
	size_t n = strlen(mark), from = p->at + n, end = from + 1, run;

	if (*is_missing || p->depth >= INLINE_MAX ||
	    run_of(p->s, p->at, *mark) < n || is_space_at(p->s, from) ||
	    (*mark == '_' && p->at && is_word_at(p->s, p->at - 1)))
		return false;
	for (;; end++) {
		end = find(p->s, end, mark);
		if (end == p->s.n) {
			*is_missing = true;
			return false;
		}
		run = run_of(p->s, end, *mark);
		/* "***" ends the inner emphasis first */
		end += n == 2 ? run - n : (run - 1) & ~(size_t)1;
		if (!is_space_at(p->s, end - 1) &&
		    (*mark != '_' || !is_word_at(p->s, end + n)) &&
		    (n == 2 || run % 2 == 1))
			break;
		/* of "*" pairs are passed */
		end += n == 1 && run % 2 == 0;
	}
	flush(p);
	buf_addf(p->out, "<%s>", tag);
	add_inline(slice(p->s, from, end), p->depth + 1, p->out);
	buf_addf(p->out, "</%s>", tag);
	p->at = p->done = end + n;
	return true;
}

static bool is_link(struct str url)
{
	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ')
			return false;
	return str_starts(url, "http://") || str_starts(url, "https://") ||
	       str_starts(url, "mailto:");
}

static void open_link(struct str url, struct buf *out)
{
	escape_html(out, "<a rel=\"noopener noreferrer nofollow\" href=\"",
		    url);
	buf_adds(out, "\">");
}

/* "[text](url)"; "![name](url)" is its name. */
static bool take_link(struct span *p)
{
	bool is_image = p->s.p[p->at] == '!';
	size_t from = p->at + 1 + is_image, middle, end;
	struct str url;

	if (p->no_link || p->depth >= INLINE_MAX ||
	    (is_image && run_of(p->s, p->at + 1, '[') == 0))
		return false;
	middle = find(p->s, from, "](");
	end = find(p->s, middle, ")");
	if (end == p->s.n) {
		p->no_link = true;
		return false;
	}
	url = str_trim(slice(p->s, middle + 2, end));
	flush(p);
	p->done = p->at;
	if (is_image) {
		escape_html(p->out, "[image: ", slice(p->s, from, middle));
		buf_addc(p->out, ']');
	} else if (is_link(url)) {
		open_link(url, p->out);
		/* no link inside of a link */
		add_inline(slice(p->s, from, middle), INLINE_MAX, p->out);
		buf_adds(p->out, "</a>");
	} else {
		p->at = end + 1; /* all of it is text */
		return true;
	}
	p->at = p->done = end + 1;
	return true;
}

/* An address that stands by itself, or in angle brackets. */
static bool take_address(struct span *p)
{
	bool in_angles = p->s.p[p->at] == '<';
	size_t from = p->at + in_angles, end = from;
	struct str rest = slice(p->s, from, p->s.n);

	if (p->depth >= INLINE_MAX || (p->at && is_word_at(p->s, p->at - 1)) ||
	    (!str_starts(rest, "http://") && !str_starts(rest, "https://")))
		return false;
	while (end < p->s.n && (unsigned char)p->s.p[end] > ' ' &&
	       !strchr("<>\"`", p->s.p[end]))
		end++;
	while (!in_angles && end > from &&
	       strchr(".,;:!?)*_'", p->s.p[end - 1]))
		end--;
	flush(p);
	open_link(slice(p->s, from, end), p->out);
	escape_html(p->out, "", slice(p->s, from, end));
	buf_adds(p->out, "</a>");
	p->at = p->done =
		end + (in_angles && end < p->s.n && p->s.p[end] == '>');
	return true;
}

static bool take_escaped(struct span *p)
{
	if (p->at + 1 >= p->s.n ||
	    !strchr("\\`*_{}[]()#+-.!|<>~&\"'", p->s.p[p->at + 1]) ||
	    !p->s.p[p->at + 1])
		return false;
	flush(p);
	p->done = p->at + 1; /* the character itself is text */
	p->at += 2;
	return true;
}

/* False: nothing began there. */
static bool take(struct span *p)
{
	switch (p->s.p[p->at]) {
	case '\\':
		return take_escaped(p);
	case '`':
		return take_code(p);
	case '*':
		return take_emphasis(p, "**", "strong", &p->no_strong) ||
		       take_emphasis(p, "*", "em", &p->no_emphasis);
	case '_':
		return take_emphasis(p, "_", "em", &p->no_under);
	case '!':
	case '[':
		return take_link(p);
	case 'h':
	case '<':
		return take_address(p);
	default:
		return false;
	}
}

static void add_inline(struct str s, size_t depth, struct buf *out)
{
	struct span p = {.s = s, .depth = depth, .out = out};

	while (p.at < s.n)
		if (!take(&p))
			p.at++;
	skip_to(&p, s.n);
}

/* ---- lines ---- */

static size_t indent_of(struct str line)
{
	return run_of(line, 0, ' ');
}

static bool is_blank(struct str line)
{
	return !str_trim(line).n;
}

/* "```" or "~~~" and more; their number, or 0. */
static size_t fence_of(struct str line, char *ret_char)
{
	size_t indent = indent_of(line), n;

	if (indent > 3 || indent == line.n)
		return 0;
	*ret_char = line.p[indent];
	n = run_of(line, indent, *ret_char);
	/* "```x``` y" is a code span */
	if (*ret_char == '`' && find(line, indent + n, "`") < line.n)
		return 0;
	return (*ret_char == '`' || *ret_char == '~') && n >= 3 ? n : 0;
}

/* Level of a heading, 0: none. */
static size_t heading_of(struct str line)
{
	size_t indent = indent_of(line), n = run_of(line, indent, '#');

	return indent <= 3 && n >= 1 && n <= 6 && is_space_at(line, indent + n)
		       ? n
		       : 0;
}

static bool is_rule(struct str line)
{
	size_t n = 0;
	char c = 0;

	for (size_t i = 0; i < line.n; i++) {
		if (line.p[i] == ' ' || line.p[i] == '\t')
			continue;
		if (!strchr("-*_", line.p[i]) || (c && line.p[i] != c))
			return false;
		c = line.p[i];
		n++;
	}
	return n >= 3;
}

/* Width of a list's mark with its space, 0: none. */
static size_t mark_of(struct str line, bool *ret_ordered)
{
	size_t indent = indent_of(line), n = 0;

	*ret_ordered = false;
	if (indent > 3 || indent == line.n)
		return 0;
	while (n < 9 && indent + n < line.n &&
	       text_is_digit(line.p[indent + n]))
		n++;
	*ret_ordered = n > 0;
	if (indent + n >= line.n ||
	    !strchr(n ? ".)" : "-*+", line.p[indent + n]) ||
	    !is_space_at(line, indent + n + 1))
		return 0;
	return indent + n + 2;
}

static bool is_quote(struct str line)
{
	size_t indent = indent_of(line);

	return indent <= 3 && indent < line.n && line.p[indent] == '>';
}

/* ":--- | ---:", and not a rule. */
static bool is_delimiter(struct str line)
{
	bool has_bar = false, has_dash = false;

	for (size_t i = 0; i < line.n; i++) {
		if (!strchr(" \t|:-\r", line.p[i]) || !line.p[i])
			return false;
		has_bar |= line.p[i] == '|';
		has_dash |= line.p[i] == '-';
	}
	return has_bar && has_dash;
}

static bool begins_block(struct str line)
{
	bool is_ordered;
	char c;

	return is_blank(line) || heading_of(line) || fence_of(line, &c) ||
	       is_quote(line) || is_rule(line) || mark_of(line, &is_ordered);
}

static struct str first_line(struct str text)
{
	return str_cut(&text, '\n');
}

static void drop_line(struct str *text)
{
	(void)!str_cut(text, '\n').n;
}

/* ---- blocks; each takes its lines from the text ---- */

static void add_blocks(struct str text, size_t depth, struct buf *out);

static bool ends_fence(struct str line, char c, size_t n)
{
	char own;

	return fence_of(line, &own) >= n && own == c &&
	       run_of(str_trim(line), 0, c) == str_trim(line).n;
}

static void add_fence(struct str *text, struct buf *out)
{
	char c;
	struct str line = str_cut(text, '\n');
	size_t n = fence_of(line, &c), indent = indent_of(line);

	buf_adds(out, "<pre>\n");
	while (text->p) {
		line = str_cut(text, '\n');
		if (ends_fence(line, c, n))
			break;
		if (indent_of(line) >= indent)
			line = slice(line, indent, line.n);
		escape_html(out, "", line);
		buf_addc(out, '\n');
	}
	buf_adds(out, "</pre>\n");
}

static void add_heading(struct str line, size_t level, struct buf *out)
{
	size_t tag = level > 2 ? 6 : level + 3;
	struct str words = str_trim(line);

	words = str_trim(slice(words, run_of(words, 0, '#'), words.n));
	while (words.n && words.p[words.n - 1] == '#')
		words.n--;
	buf_addf(out, "<h%zu>", tag);
	add_inline(str_trim(words), 0, out);
	buf_addf(out, "</h%zu>\n", tag);
}

static void add_quote(struct str *text, size_t depth, struct buf *out)
{
	AUTO(buf_release) struct buf inside = BUF_INIT(BUF_UNBOUNDED);

	while (text->p && is_quote(first_line(*text))) {
		struct str line = str_cut(text, '\n');
		size_t from = indent_of(line) + 1;

		from += from < line.n && line.p[from] == ' ';
		buf_add_str(&inside, slice(line, from, line.n));
		buf_addc(&inside, '\n');
	}
	buf_adds(out, "<blockquote>\n");
	add_blocks(buf_str(&inside), depth + 1, out);
	buf_adds(out, "</blockquote>\n");
}

/* Lines of one item, without what sets them in. */
static void take_item(struct str *text, size_t width, struct buf *item)
{
	struct str line = str_cut(text, '\n');

	buf_add_str(item, slice(line, width < line.n ? width : line.n, line.n));
	buf_addc(item, '\n');
	while (text->p) {
		struct str after = *text;
		bool was_blank = false;

		line = str_cut(&after, '\n');
		if (is_blank(line)) {
			was_blank = true;
			line = after.p ? str_cut(&after, '\n') : STR("");
		}
		if (indent_of(line) >= width && !is_blank(line))
			line = slice(line, width, line.n);
		else if (was_blank || begins_block(line))
			return;
		buf_adds(item, was_blank ? "\n" : "");
		buf_add_str(item, line);
		buf_addc(item, '\n');
		*text = after;
	}
}

/* An item of one paragraph needs no <p>. */
static void add_item(struct str item, size_t depth, struct buf *out)
{
	item = str_trim(item);
	buf_adds(out, "<li>");
	if (str_find(item, '\n') == item.n && !begins_block(item))
		add_inline(item, 0, out);
	else
		add_blocks(item, depth + 1, out);
	buf_adds(out, "</li>\n");
}

static void add_list(struct str *text, size_t depth, struct buf *out)
{
	bool is_ordered, is_same;
	size_t width = mark_of(first_line(*text), &is_ordered);

	buf_adds(out, is_ordered ? "<ol>\n" : "<ul>\n");
	do {
		AUTO(buf_release) struct buf item = BUF_INIT(BUF_UNBOUNDED);

		take_item(text, width, &item);
		add_item(buf_str(&item), depth, out);
		/* one empty line may stand between two items */
		if (text->p && is_blank(first_line(*text))) {
			struct str after = *text;

			drop_line(&after);
			if (after.p && mark_of(first_line(after), &is_same) &&
			    is_same == is_ordered)
				*text = after;
		}
		width = text->p ? mark_of(first_line(*text), &is_same) : 0;
	} while (width && is_same == is_ordered && !is_rule(first_line(*text)));
	buf_adds(out, is_ordered ? "</ol>\n" : "</ul>\n");
}

/* The next cell of a row, up to a bar that is not escaped. */
static struct str take_cell(struct str *row)
{
	size_t n = 0;
	struct str cell;

	while (n < row->n && (row->p[n] != '|' || (n && row->p[n - 1] == '\\')))
		n++;
	cell = slice(*row, 0, n);
	n += n < row->n;
	*row = slice(*row, n, row->n);
	return str_trim(cell);
}

static struct str open_row(struct str line)
{
	line = str_trim(line);
	return line.n && line.p[0] == '|' ? slice(line, 1, line.n) : line;
}

/* Cells that the line lacks at its end are not made up. */
static void add_row(struct str line, const char *tag, const bool *is_right,
		    size_t n, struct buf *out)
{
	struct str row = open_row(line);

	buf_adds(out, "<tr>");
	for (size_t i = 0; i < n && (!i || row.n); i++) {
		buf_addf(out, "<%s%s>", tag, is_right[i] ? " class=\"n\"" : "");
		add_inline(take_cell(&row), 0, out);
		buf_addf(out, "</%s>", tag);
	}
	buf_adds(out, "</tr>\n");
}

static void add_table(struct str *text, struct buf *out)
{
	struct str head = str_cut(text, '\n');
	struct str row = open_row(str_cut(text, '\n'));
	bool is_right[CELLS_MAX];
	size_t n = 0;

	while (row.n && n < CELLS_MAX) {
		struct str cell = take_cell(&row);

		is_right[n++] = str_ends(cell, ":") && !str_starts(cell, ":");
	}
	buf_adds(out, "<div class=\"wide\"><table>\n");
	add_row(head, "th", is_right, n, out);
	while (text->p &&
	       str_find(first_line(*text), '|') < first_line(*text).n)
		add_row(str_cut(text, '\n'), "td", is_right, n, out);
	buf_adds(out, "</table></div>\n");
}

static bool is_table(struct str text)
{
	struct str head = str_cut(&text, '\n');

	return text.p && str_find(head, '|') < head.n &&
	       is_delimiter(first_line(text));
}

static void add_paragraph(struct str *text, struct buf *out)
{
	struct str words = str_cut(text, '\n');

	while (text->p && !begins_block(first_line(*text)) &&
	       !is_table(*text)) {
		struct str line = str_cut(text, '\n');

		words.n = (size_t)(line.p + line.n - words.p);
	}
	buf_adds(out, "<p dir=\"auto\">");
	add_inline(str_trim(words), 0, out);
	buf_adds(out, "</p>\n");
}

static void add_blocks(struct str text, size_t depth, struct buf *out)
{
	while (text.p) {
		struct str line = first_line(text);
		bool is_ordered, may_nest = depth < DEPTH_MAX;
		size_t level = heading_of(line);
		char c;

		if (is_blank(line)) {
			drop_line(&text);
		} else if (fence_of(line, &c)) {
			add_fence(&text, out);
		} else if (level) {
			add_heading(str_cut(&text, '\n'), level, out);
		} else if (is_rule(line)) {
			drop_line(&text);
			buf_adds(out, "<hr>\n");
		} else if (may_nest && is_quote(line)) {
			add_quote(&text, depth, out);
		} else if (may_nest && mark_of(line, &is_ordered)) {
			add_list(&text, depth, out);
		} else if (is_table(text)) {
			add_table(&text, out);
		} else {
			add_paragraph(&text, out);
		}
	}
}

void markdown_html(struct str text, struct buf *out)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	/* lines end in a newline alone; a tab is as wide as four spaces */
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\t')
			buf_adds(&plain, "    ");
		else if (text.p[i] != '\r' || i + 1 == text.n ||
			 text.p[i + 1] != '\n')
			buf_addc(&plain, text.p[i]);
	}
	add_blocks(buf_str(&plain), 0, out);
}

bool markdown_is_likely(struct str text)
{
	size_t headings = 0, marks = 0, bold = 0;
	bool was_blank = true;

	if (text.n > MARKDOWN_BYTES)
		return false;
	if (find(text, 0, "](http") < text.n)
		return true;
	bold = find(text, 0, "**");
	bold = bold < text.n && find(text, bold + 3, "**") < text.n;
	while (text.p) {
		bool is_ordered;
		struct str line = first_line(text);
		char c;

		if (fence_of(line, &c) || is_table(text))
			return true;
		drop_line(&text);
		/* a comment in a listing has lines around it */
		headings += heading_of(line) && was_blank;
		marks += mark_of(line, &is_ordered) > 0;
		was_blank = is_blank(line);
	}
	return (headings > 0) + (marks > 1) + (bold > 0) >= 2;
}
