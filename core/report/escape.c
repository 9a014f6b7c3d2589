#include "core/report/escape.h"

#include "core/base/log.h"
#include "core/base/text.h"

/* Lines end in a newline alone, and all of it is UTF-8. */
static void add_clean(struct buf *out, struct str s)
{
	while (s.n) {
		size_t n = str_utf8_len(s);

		if (s.p[0] == '\r' && s.n > 1 && s.p[1] == '\n')
			n = 1;
		else if (n)
			buf_add(out, s.p, n);
		else
			buf_adds(out, "\xef\xbf\xbd");
		n = n ? n : 1;
		s.p += n;
		s.n -= n;
	}
}

static void add_visible(struct buf *out, struct str s, bool keep_newlines)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	if (!s.n || (!memchr(s.p, '\r', s.n) && str_is_utf8(s))) {
		log_visible(out, s, keep_newlines);
		return;
	}
	add_clean(&clean, s);
	log_visible(out, buf_str(&clean), keep_newlines);
}

void escape_line(struct buf *out, const char *before, struct str s)
{
	buf_adds(out, before);
	add_visible(out, s, false);
}

void escape_lines(struct buf *out, const char *before, struct str s)
{
	do {
		struct str line = str_cut(&s, '\n');

		if (s.p && str_ends(line, "\r"))
			line.n--;
		escape_line(out, line.n ? before : "", line);
		buf_addc(out, '\n');
		before = "  ";
	} while (s.p);
}

static bool is_word(char c)
{
	return text_is_alnum(c) || (unsigned char)c >= 0x80;
}

/* Would this byte mean something to Markdown at its place? */
static bool is_markup(struct str s, size_t i)
{
	char before = i ? s.p[i - 1] : ' ';
	char after = i + 1 < s.n ? s.p[i + 1] : ' ';

	if (strchr("\\`*[]<>|~&#", s.p[i]))
		return true;
	if (s.p[i] == '_')
		return !is_word(before) || !is_word(after);
	if (strchr("-+=", s.p[i]))
		return i == 0;
	/* "1." would begin a list */
	return (s.p[i] == '.' || s.p[i] == ')') &&
	       strspn(s.p, "0123456789") == i;
}

void escape_markdown(struct buf *out, const char *before, struct str s)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(out, before);
	add_visible(&plain, s, true);
	for (size_t i = 0; i < plain.n; i++) {
		if (is_markup(buf_str(&plain), i))
			buf_addc(out, '\\');
		buf_addc(out, plain.p[i] == '\n' ? ' ' : plain.p[i]);
	}
}

void escape_fenced(struct buf *out, const char *before, struct str s)
{
	AUTO(buf_release) struct buf fence = BUF_INIT(BUF_UNBOUNDED);
	size_t run = 0;

	buf_adds(&fence, "```");
	for (size_t i = 0; i < s.n; i++) {
		run = s.p[i] == '`' ? run + 1 : 0;
		if (run >= fence.n)
			buf_addc(&fence, '`');
	}
	buf_addf(out, "  %s%s\n", buf_cstr(&fence), before);
	escape_lines(out, "  ", s);
	buf_addf(out, "  %s\n", buf_cstr(&fence));
}

void escape_html(struct buf *out, const char *before, struct str s)
{
	static const char special[] = "&<>\"'";
	static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;",
					     "&#39;"};
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(out, before);
	add_visible(&plain, s, true);
	for (size_t i = 0; i < plain.n; i++) {
		const char *at = strchr(special, plain.p[i]);

		if (at)
			buf_adds(out, entity[at - special]);
		else
			buf_addc(out, plain.p[i]);
	}
}
