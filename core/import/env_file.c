#include "core/import/env_file.h"

#include "core/base/text.h"
#include "core/import/tree.h"

void env_file_begin(struct str *text)
{
	if (str_starts(*text, "\xef\xbb\xbf"))
		*text = str_skip(*text, 3);
}

/* Find a character that is a blank or ends a line for some readers alone. */
static bool has_odd(struct str line)
{
	for (size_t i = 0; i < line.n; i++)
		if ((unsigned char)line.p[i] < 0x20 && line.p[i] != '\t')
			return true;
	return tree_other_line_end(line) < line.n;
}

static size_t count_blanks(struct str s)
{
	size_t n = 0;

	while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t'))
		n++;
	return n;
}

static size_t name_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && (text_is_alnum(s.p[n]) || s.p[n] == '_' ||
			   s.p[n] == '-' || s.p[n] == '.'))
		n++;
	return n;
}

/* Take the quotes off. false: they stay open, so that later lines may belong
   to the value, or a reader may go on behind them. */
static bool unquote(struct str *value)
{
	const struct str inside = str_skip(*value, value->n > 0);
	size_t end, behind;

	if (!value->n ||
	    (value->p[0] != '"' && value->p[0] != '\'' && value->p[0] != '`'))
		return true;
	end = str_find(inside, value->p[0]);
	if (end == inside.n || (end && inside.p[end - 1] == '\\'))
		return false;
	*value = (struct str){inside.p, end};
	behind = end + 1 + count_blanks(str_skip(inside, end + 1));
	return behind == inside.n || inside.p[behind] == '#';
}

static void read_line(struct str line, struct env_line *ret)
{
	size_t n;

	*ret = (struct env_line){.is_clear = false};
	if (has_odd(line))
		return;
	line = str_trim(line);
	if (str_starts(line, "export") && count_blanks(str_skip(line, 6)))
		line = str_trim(str_skip(line, 6));
	n = name_length(line);
	if (!n || n == line.n) {
		/* blank, a comment, or a name alone: it sets nothing */
		ret->is_clear = n || !line.n || line.p[0] == '#';
		return;
	}
	ret->name = (struct str){line.p, n};
	n += count_blanks(str_skip(line, n));
	if (line.p[n] != '=' && line.p[n] != ':') {
		ret->name.n = 0;
		return;
	}
	ret->value = str_trim(str_skip(line, n + 1));
	ret->is_clear = unquote(&ret->value) && line.p[n] == '=';
}

bool env_file_next(struct str *text, struct env_line *ret)
{
	size_t n = 0;

	if (!text->n)
		return false;
	while (n < text->n && text->p[n] != '\n' && text->p[n] != '\r')
		n++;
	read_line((struct str){text->p, n}, ret);
	*text = str_skip(*text, n);
	/* CR and LF are one end, for the numbers of lines */
	*text = str_skip(*text, str_starts(*text, "\r\n") ? 2 : text->n > 0);
	return true;
}
