/*
 * Markdown of others as HTML: whatever the text, tags are those of the code,
 * each is closed where it was opened, links lead to the web or to a mailbox,
 * and the page grows with the text, not with its square.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINK "a rel=\"noopener noreferrer nofollow\" href=\""

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Elements, and what they have behind their name. */
static const struct tag {
	const char *name, *attributes;
} tags[] = {
	{"p", " dir=\"auto\""},
	{"h4", ""},
	{"h5", ""},
	{"h6", ""},
	{"ul", ""},
	{"ol", ""},
	{"li", ""},
	{"blockquote", ""},
	{"pre", ""},
	{"div", " class=\"wide\""},
	{"table", ""},
	{"thead", ""},
	{"tbody", ""},
	{"tr", ""},
	{"th", " scope=\"col\""},
	{"th", " scope=\"col\" class=\"n\""},
	{"td", ""},
	{"td", " class=\"n\""},
	{"code", ""},
	{"em", ""},
	{"strong", ""},
};

static bool is_web_link(struct str tag)
{
	static const char *const schemes[] = {"http://", "https://", "mailto:"};

	if (!str_starts(tag, LINK) || !str_ends(tag, "\""))
		return false;
	tag = str_skip(tag, strlen(LINK));
	tag.n--;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_starts(tag, schemes[i]))
			return !memchr(tag.p, '"', tag.n) &&
			       !memchr(tag.p, '<', tag.n) &&
			       !memchr(tag.p, ' ', tag.n);
	return false;
}

/* Return the name of the element that a tag begins. */
static const char *begun(struct str tag)
{
	struct str rest;

	if (is_web_link(tag))
		return "a";
	if (str_starts(tag, "ol start=\"") && str_ends(tag, "\""))
		return "ol";
	for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
		if (!str_starts(tag, tags[i].name))
			continue;
		rest = str_skip(tag, strlen(tags[i].name));
		if (str_eq(rest, str_of(tags[i].attributes)))
			return tags[i].name;
	}
	abort();
}

static void is_balanced(struct str html)
{
	const char *open[256];
	size_t depth = 0;

	while (html.n) {
		struct str text = str_cut(&html, '<'), tag;

		for (size_t i = 0; i < text.n; i++)
			must(!strchr(">\"'", text.p[i]));
		if (!html.p)
			break;
		must(memchr(html.p, '>', html.n));
		tag = str_cut(&html, '>');
		if (str_eq(tag, STR("hr")))
			continue;
		if (str_starts(tag, "/")) {
			must(depth > 0);
			must(str_eq(str_skip(tag, 1), str_of(open[--depth])));
			continue;
		}
		must(depth < ARRAY_LEN(open));
		open[depth++] = begun(tag);
	}
	must(depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_release) struct buf html = BUF_INIT(BUF_UNBOUNDED);

	if (markdown_html((struct str){(const char *)data, size}, &html)) {
		/* a letter is a paragraph, a quote, a cell at the most; a bar
		   may be the cells of a row, none is longer than 64 */
		must(html.n < 4096 + size * 64);
		is_balanced(buf_str(&html));
	} else {
		must(!html.n);
	}
	return 0;
}
