#include "core/base/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"

static enum log_level threshold = LOG_NOTE;
static void (*line_filter)(struct buf *line, void *arg);
static void *line_filter_arg;

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

static uint32_t decode(struct str s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s.p;

	switch (n) {
	case 1:
		return p[0];
	case 2:
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	case 3:
		return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 |
		       (p[2] & 0x3fu);
	default:
		return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 |
		       (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
	}
}

static bool is_bidi_control(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0x200e || c == 0x200f || c == 0x061c;
}

void log_visible(struct buf *out, struct str s, bool keep_newlines)
{
	while (s.n) {
		size_t n = str_utf8_len(s);
		uint32_t c = n ? decode(s, n) : (unsigned char)s.p[0];
		bool plain = n && c >= 0x20 && !(c >= 0x7f && c < 0xa0) &&
			     !is_bidi_control(c);

		if (c == '\t' || (c == '\n' && keep_newlines))
			plain = true;
		if (plain)
			buf_add(out, s.p, n);
		else if (c > 0xff)
			buf_addf(out, "\\u{%04X}", c);
		else
			buf_addf(out, "\\x%02x", c);
		s.p += n ? n : 1;
		s.n -= n ? n : 1;
	}
}

static void vlog(enum log_level level, const char *prefix, const char *fmt,
		 va_list ap)
{
	struct buf raw = BUF_INIT(BUF_UNBOUNDED);
	struct buf line = BUF_INIT(BUF_UNBOUNDED);
	char *text = NULL;

	if (level > threshold || vasprintf(&text, fmt, ap) < 0)
		return;
	buf_adds(&raw, text);
	free(text);
	if (line_filter)
		line_filter(&raw, line_filter_arg);
	buf_addf(&line, "matins: %s", prefix);
	log_visible(&line, buf_str(&raw), true);
	buf_addc(&line, '\n');
	if (fd_write_all(STDERR_FILENO, line.p, line.n) < 0) {
		/* nowhere left to say it */
	}
	buf_release(&raw);
	buf_release(&line);
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
