#include "core/base/log.h"

#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/text.h"

static enum log_level threshold = LOG_NOTE;
static void (*line_filter)(struct buf *line, void *arg);
static void *line_filter_arg;
static void (*before_line)(void *arg);
static void *before_line_arg;

void log_set_level(enum log_level level)
{
	threshold = level;
}

enum log_level log_level(void)
{
	return threshold;
}

void log_set_filter(void (*filter)(struct buf *line, void *arg), void *arg)
{
	line_filter = filter;
	line_filter_arg = arg;
}

void log_set_before(void (*before)(void *arg), void *arg)
{
	before_line = before;
	before_line_arg = arg;
}

/* Cut off one character, or all plain ones before the next that is not; bytes
   that are not UTF-8 are one each. */
static struct str cut_char(struct str *s, uint32_t *ret_char, bool *ret_shown)
{
	size_t plain = str_plain(*s), n = plain ? 1 : str_utf8_len(*s);
	struct str bytes = {s->p, plain ? plain : n ? n : 1};

	*ret_char = n ? text_code_point(s->p, n) : (unsigned char)s->p[0];
	*ret_shown = n && !text_is_control(*ret_char);
	s->p += bytes.n;
	s->n -= bytes.n;
	return bytes;
}

void log_visible(struct buf *out, struct str s, bool keep_newlines)
{
	while (s.n) {
		uint32_t c;
		bool shown;
		struct str bytes = cut_char(&s, &c, &shown);

		if (shown || c == '\t' || (c == '\n' && keep_newlines))
			buf_add_str(out, bytes);
		else if (c > 0xff)
			buf_addf(out, "\\u{%04X}", c);
		else
			buf_addf(out, "\\x%02x", c);
	}
}

void log_visible_json(struct buf *out, struct str s)
{
	while (s.n) {
		uint32_t c;
		bool shown;
		struct str bytes = cut_char(&s, &c, &shown);

		if (shown || c == '\t' || c == '\n' || c == '\r')
			buf_add_str(out, bytes);
		else
			buf_addf(out, "\\u%04x", c);
	}
}

static void vlog(enum log_level level, const char *prefix, const char *fmt,
		 va_list ap)
{
	AUTO(buf_release) struct buf raw = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;
	char *text = NULL;

	if (level > threshold || vasprintf(&text, fmt, ap) < 0)
		return;
	buf_adds(&raw, text);
	free(text);
	if (line_filter)
		line_filter(&raw, line_filter_arg);
	buf_addf(&line, "matins: %s", prefix);
	rest = buf_str(&raw);
	/* a second line is marked: words of a peer cannot look like ours */
	for (const char *mark = ""; rest.p; mark = "matins: | ") {
		buf_adds(&line, mark);
		log_visible(&line, str_cut(&rest, '\n'), false);
		buf_addc(&line, '\n');
	}
	if (before_line)
		before_line(before_line_arg);
	if (fd_write_all(STDERR_FILENO, line.p, line.n) < 0) {
		/* nowhere left to say it */
	}
}

#define LOG_FUNCTION(name, level, prefix)     \
	void name(const char *fmt, ...)       \
	{                                     \
		va_list ap;                   \
                                              \
		va_start(ap, fmt);            \
		vlog(level, prefix, fmt, ap); \
		va_end(ap);                   \
	}

LOG_FUNCTION(log_error, LOG_ERROR, "")
LOG_FUNCTION(log_warning, LOG_WARNING, "warning: ")
LOG_FUNCTION(log_note, LOG_NOTE, "")
LOG_FUNCTION(log_debug, LOG_DEBUG, "debug: ")
