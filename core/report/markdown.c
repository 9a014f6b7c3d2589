#include "core/report/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <cmark-gfm_version.h>

#include "core/base/dl.h"
#include "core/base/text.h"
#include "core/report/escape.h"
#include "core/report/words.h"

/* Lists, quotes and emphasis inside of each other; deeper ones have no tags. */
#define DEPTH_MAX 24
/* Cells of a row and, were all lines such rows, of a text; its brackets. */
#define BARS_MAX 64
#define CELLS_MAX 200000
#define BRACKETS_MAX 4096
/* Lists and quotes that a line begins. */
#define NEST_MAX 48
/* Lines that could stand below the head of a table. */
#define RULES_MAX 64

/* Nodes and extensions change between versions, so no other one will do. It
   brings the parser itself. */
#define LIBRARY "libcmark-gfm-extensions.so." CMARK_GFM_VERSION_STRING
#define PACKAGE "libcmark-gfm-extensions" CMARK_GFM_VERSION_STRING

#define CMARK_FUNCTIONS(X)                             \
	X(cmark_consolidate_text_nodes)                \
	X(cmark_find_syntax_extension)                 \
	X(cmark_gfm_core_extensions_ensure_registered) \
	X(cmark_gfm_extensions_get_table_alignments)   \
	X(cmark_iter_free)                             \
	X(cmark_iter_get_node)                         \
	X(cmark_iter_new)                              \
	X(cmark_iter_next)                             \
	X(cmark_node_first_child)                      \
	X(cmark_node_free)                             \
	X(cmark_node_get_end_line)                     \
	X(cmark_node_get_fenced)                       \
	X(cmark_node_get_heading_level)                \
	X(cmark_node_get_list_start)                   \
	X(cmark_node_get_list_tight)                   \
	X(cmark_node_get_list_type)                    \
	X(cmark_node_get_literal)                      \
	X(cmark_node_get_start_line)                   \
	X(cmark_node_get_type_string)                  \
	X(cmark_node_get_url)                          \
	X(cmark_node_next)                             \
	X(cmark_node_parent)                           \
	X(cmark_node_previous)                         \
	X(cmark_parser_attach_syntax_extension)        \
	X(cmark_parser_feed)                           \
	X(cmark_parser_finish)                         \
	X(cmark_parser_free)                           \
	X(cmark_parser_new)

static struct {
	CMARK_FUNCTIONS(DL_MEMBER)
} lib;

int markdown_load(struct err *err)
{
	static const char *const names[] = {CMARK_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);

	return dl_load(&dl) ? 0
			    : err_set(err, ERR_UNKNOWN,
				      "pages show Markdown as text: " LIBRARY
				      " is not here; install it: apt-get "
				      "install " PACKAGE);
}

/* Marks of lists and quotes at the begin of a line: about how many of them it
   is in. */
static size_t count_marks(struct str line)
{
	size_t n = 0, at = 0, end;

	for (;; at = end) {
		while (at < line.n && (line.p[at] == ' ' || line.p[at] == '\t'))
			at++;
		end = at;
		while (end < line.n && text_is_digit(line.p[end]))
			end++;
		if (end == line.n || !strchr(">-+*.)", line.p[end]) ||
		    (line.p[end] != '>' && end + 1 < line.n &&
		     line.p[end + 1] != ' ' && line.p[end + 1] != '\t'))
			return n;
		end++;
		n++;
	}
}

static bool is_rule(struct str line)
{
	for (size_t i = 0; i < line.n; i++)
		if (text_is_alnum(line.p[i]))
			return false;
	return str_count(line, '-') > 0;
}

static bool is_within_bounds(struct str text)
{
	size_t lines = 0, bars = 0, rules = 0;

	if (text.n > MARKDOWN_BYTES || str_count(text, '[') > BRACKETS_MAX ||
	    str_count(text, '<') > BRACKETS_MAX)
		return false;
	for (struct str rest = text; rest.p; lines++) {
		struct str line = str_cut(&rest, '\n');
		size_t n = str_count(line, '|');

		bars = n > bars ? n : bars;
		rules += is_rule(line);
		if (count_marks(line) > NEST_MAX || rules > RULES_MAX)
			return false;
	}
	return bars <= BARS_MAX && bars * lines <= CELLS_MAX;
}

static cmark_node *parse(struct str text)
{
	cmark_parser *parser;
	cmark_node *root;

	lib.cmark_gfm_core_extensions_ensure_registered();
	parser = lib.cmark_parser_new(CMARK_OPT_VALIDATE_UTF8);
	lib.cmark_parser_attach_syntax_extension(
		parser, lib.cmark_find_syntax_extension("table"));
	lib.cmark_parser_feed(parser, text.p, text.n);
	root = lib.cmark_parser_finish(parser);
	lib.cmark_parser_free(parser);
	lib.cmark_consolidate_text_nodes(root);
	return root;
}

static bool is_type(cmark_node *node, const char *type)
{
	return node && !strcmp(lib.cmark_node_get_type_string(node), type);
}

/* ---- is it Markdown? ---- */

static bool is_web(struct str url)
{
	return str_starts(url, "http://") || str_starts(url, "https://");
}

/* A heading right below another block is a comment in a listing. */
static bool stands_alone(cmark_node *node)
{
	cmark_node *before = lib.cmark_node_previous(node);

	return !before || lib.cmark_node_get_end_line(before) + 1 <
				  lib.cmark_node_get_start_line(node);
}

static bool is_likely(cmark_node *root)
{
	cmark_iter *iter = lib.cmark_iter_new(root);
	size_t headings = 0, items = 0, bold = 0;
	bool is_sure = false;

	while (!is_sure && lib.cmark_iter_next(iter) != CMARK_EVENT_DONE) {
		cmark_node *node = lib.cmark_iter_get_node(iter);
		int length, offset;
		char mark;

		headings += is_type(node, "heading") && stands_alone(node);
		items += is_type(node, "item");
		bold += is_type(node, "strong");
		is_sure = is_type(node, "table") ||
			  (is_type(node, "link") &&
			   is_web(str_of(lib.cmark_node_get_url(node)))) ||
			  (is_type(node, "code_block") &&
			   lib.cmark_node_get_fenced(node, &length, &offset,
						     &mark));
	}
	lib.cmark_iter_free(iter);
	/* each item was come by twice, as all that has something in it */
	return is_sure || (headings > 0) + (items > 2) + (bold > 0) >= 2;
}

/* ---- writing ---- */

struct writer {
	struct buf *out;
	size_t depth; /* levels of tags that open nodes take */
	size_t links; /* links and images that are open */
	size_t column;
};

static void open_link(struct str url, struct buf *out)
{
	escape_html(out, "<a rel=\"noopener noreferrer nofollow\" href=\"",
		    url);
	buf_adds(out, "\">");
}

/* Where an address begins that no word runs into; text.n: nowhere. */
static size_t find_web(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == 'h' && is_web(str_skip(text, i)) &&
		    (!i || !text_is_alnum(text.p[i - 1])))
			return i;
	return text.n;
}

/* Addresses that stand by themselves are links, too. */
static void add_text(struct writer *w, struct str text)
{
	while (text.n) {
		size_t from = w->links ? text.n : find_web(text), end = from;
		struct str url;

		escape_html(w->out, "", (struct str){text.p, from});
		while (end < text.n && (unsigned char)text.p[end] > ' ' &&
		       !strchr("<>\"`", text.p[end]))
			end++;
		while (end > from && strchr(".,;:!?)*_'", text.p[end - 1]))
			end--;
		url = (struct str){text.p + from, end - from};
		text = str_skip(text, end);
		if (!url.n)
			continue;
		open_link(url, w->out);
		escape_html(w->out, "", url);
		buf_adds(w->out, "</a>");
	}
}

static bool is_allowed(struct str url)
{
	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ')
			return false;
	return is_web(url) || str_starts(url, "mailto:");
}

/* A link of another scheme is its text, and where it would lead. */
static void add_link(struct writer *w, cmark_node *node, bool enters)
{
	struct str url = str_of(lib.cmark_node_get_url(node));

	if (enters)
		w->links++;
	else
		w->links--;
	if (is_allowed(url) && enters)
		open_link(url, w->out);
	else if (is_allowed(url))
		buf_adds(w->out, "</a>");
	else if (!enters)
		escape_html(w->out, " (", url);
	buf_adds(w->out, enters || is_allowed(url) ? "" : ")");
}

static void add_image(struct writer *w, cmark_node *node, bool enters)
{
	(void)node;
	if (enters)
		w->links++;
	else
		w->links--;
	buf_adds(w->out, enters ? "[image: " : "]");
}

static void add_heading(struct writer *w, cmark_node *node, bool enters)
{
	int level = lib.cmark_node_get_heading_level(node);

	buf_addf(w->out, enters ? "<h%d>" : "</h%d>\n",
		 level > 2 ? 6 : level + 3);
}

static void add_list(struct writer *w, cmark_node *node, bool enters)
{
	const char *tag =
		lib.cmark_node_get_list_type(node) == CMARK_ORDERED_LIST ? "ol"
									 : "ul";
	int start = lib.cmark_node_get_list_start(node);

	if (!enters)
		buf_addf(w->out, "</%s>\n", tag);
	else if (*tag == 'o' && start != 1)
		buf_addf(w->out, "<ol start=\"%d\">\n", start);
	else
		buf_addf(w->out, "<%s>\n", tag);
}

/* Items of a tight list are lines. */
static void add_paragraph(struct writer *w, cmark_node *node, bool enters)
{
	cmark_node *item = lib.cmark_node_parent(node);

	if (is_type(item, "item") &&
	    lib.cmark_node_get_list_tight(lib.cmark_node_parent(item)))
		buf_adds(w->out,
			 enters || !lib.cmark_node_next(node) ? "" : "\n");
	else
		buf_adds(w->out, enters ? "<p dir=\"auto\">" : "</p>\n");
}

static void add_row(struct writer *w, cmark_node *node, bool enters)
{
	bool is_head = is_type(node, "table_header");

	w->column = 0;
	buf_adds(w->out, !is_head ? enters ? "<tr>" : "</tr>\n"
			 : enters ? "<thead><tr>"
				  : "</tr></thead>\n<tbody>\n");
}

static void add_cell(struct writer *w, cmark_node *node, bool enters)
{
	cmark_node *row = lib.cmark_node_parent(node);
	const uint8_t *align = lib.cmark_gfm_extensions_get_table_alignments(
		lib.cmark_node_parent(row));
	bool is_head = is_type(row, "table_header");

	if (!enters) {
		buf_adds(w->out, is_head ? "</th>" : "</td>");
		return;
	}
	buf_adds(w->out, is_head ? "<th scope=\"col\"" : "<td");
	buf_adds(w->out,
		 align && align[w->column++] == 'r' ? " class=\"n\">" : ">");
}

/* How a node is written: by its tags, by the bytes that it holds between them,
   or by a function. */
static const struct kind {
	const char *type, *before, *after;
	void (*add)(struct writer *w, cmark_node *node, bool enters);
	bool is_literal;
} kinds[] = {
	{"paragraph", NULL, NULL, add_paragraph, false},
	{"heading", NULL, NULL, add_heading, false},
	{"list", NULL, NULL, add_list, false},
	{"item", "<li>", "</li>\n", NULL, false},
	{"block_quote", "<blockquote>\n", "</blockquote>\n", NULL, false},
	{"code_block", "<pre>\n", "</pre>\n", NULL, true},
	{"html_block", "<p dir=\"auto\">", "</p>\n", NULL, true},
	{"thematic_break", "<hr>\n", "", NULL, false},
	{"table", "<div class=\"wide\"><table>\n", "</tbody></table></div>\n",
	 NULL, false},
	{"table_header", NULL, NULL, add_row, false},
	{"table_row", NULL, NULL, add_row, false},
	{"table_cell", NULL, NULL, add_cell, false},
	{"softbreak", "\n", "", NULL, false},
	{"linebreak", "\n", "", NULL, false},
	{"code", "<code>", "</code>", NULL, true},
	{"html_inline", "", "", NULL, true},
	{"emph", "<em>", "</em>", NULL, false},
	{"strong", "<strong>", "</strong>", NULL, false},
	{"link", NULL, NULL, add_link, false},
	{"image", NULL, NULL, add_image, false},
};

static void add_node(struct writer *w, cmark_node *node, bool enters)
{
	const struct kind *k = kinds;

	if (is_type(node, "text")) {
		add_text(w, str_of(lib.cmark_node_get_literal(node)));
		return;
	}
	while (k < kinds + ARRAY_LEN(kinds) && !is_type(node, k->type))
		k++;
	if (k == kinds + ARRAY_LEN(kinds))
		return;
	if (k->add)
		k->add(w, node, enters);
	else
		buf_adds(w->out, enters ? k->before : k->after);
	if (k->is_literal) {
		escape_html(w->out, "",
			    words_trim_end(
				    str_of(lib.cmark_node_get_literal(node))));
		buf_adds(w->out, k->after);
	}
}

/* A table is written with all of its rows and cells, or without tags. */
static size_t count_levels(cmark_node *node)
{
	return is_type(node, "table") ? 3
	       : !strncmp(lib.cmark_node_get_type_string(node), "table_", 6)
		       ? 0
		       : 1;
}

/* Text is written at any depth, an element where its tags may be. */
static bool is_shown(cmark_node *node, size_t depth)
{
	return (!lib.cmark_node_first_child(node) && !is_type(node, "item") &&
		!is_type(node, "table_cell")) ||
	       depth + count_levels(node) <= DEPTH_MAX;
}

static void write_tree(cmark_node *root, struct buf *out)
{
	cmark_iter *iter = lib.cmark_iter_new(root);
	struct writer w = {.out = out};
	cmark_event_type event;

	while ((event = lib.cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
		cmark_node *node = lib.cmark_iter_get_node(iter);
		size_t levels = lib.cmark_node_first_child(node)
					? count_levels(node)
					: 0;

		w.depth -= event == CMARK_EVENT_EXIT ? levels : 0;
		if (is_shown(node, w.depth))
			add_node(&w, node, event == CMARK_EVENT_ENTER);
		w.depth += event == CMARK_EVENT_ENTER ? levels : 0;
	}
	lib.cmark_iter_free(iter);
}

bool markdown_html(struct str text, struct buf *out)
{
	cmark_node *root;
	bool is_markdown;

	if (!is_within_bounds(text) || markdown_load(ERR_IGNORED) < 0)
		return false;
	root = parse(text);
	is_markdown = is_likely(root);
	if (is_markdown)
		write_tree(root, out);
	lib.cmark_node_free(root);
	return is_markdown;
}
