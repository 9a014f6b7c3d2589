#include "core/base/err.h"

#include <stdarg.h>

#include "core/base/str.h"

static const struct {
	const char *word;
	int status;
} kinds[] = {
#define ERR_KIND(name, status, word) [ERR_##name] = {word, status},
#include "core/base/err_kinds.def"
#undef ERR_KIND
};

/* A message that was cut says so; the scrubber relies on the mark. */
static void append(struct err *err, size_t at, const char *fmt, va_list ap)
{
	static const char mark[] = "…";
	size_t room = sizeof(err->msg) - at;
	int n = vsnprintf(err->msg + at, room, fmt, ap);
	struct str whole = {err->msg, sizeof(err->msg) - 1};

	if (n < 0 || (size_t)n < room)
		return;
	at = str_first(whole, sizeof(err->msg) - sizeof(mark)).n;
	memcpy(err->msg + at, mark, sizeof(mark));
}

static void PRINTF(2, 3) append_text(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(err, strlen(err->msg), fmt, ap);
	va_end(ap);
}

static void fill(struct err *err, enum err_kind kind, int sys, uint32_t line,
		 uint32_t col)
{
	err->kind = kind;
	err->sys = sys;
	err->line = line;
	err->col = col;
}

int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	fill(err, kind, 0, 0, 0);
	va_start(ap, fmt);
	append(err, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_at(struct err *err, enum err_kind kind, uint32_t line, uint32_t col,
	   const char *fmt, ...)
{
	va_list ap;

	fill(err, kind, 0, line, col);
	va_start(ap, fmt);
	append(err, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *err, int sys, const char *fmt, ...)
{
	va_list ap;

	fill(err, ERR_SYS, sys, 0, 0);
	va_start(ap, fmt);
	append(err, 0, fmt, ap);
	va_end(ap);
	append_text(err, ": %s", strerror(sys));
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char inner[LIMIT_ERR_MSG];
	va_list ap;

	memcpy(inner, err->msg, sizeof(inner));
	va_start(ap, fmt);
	append(err, 0, fmt, ap);
	va_end(ap);
	append_text(err, ": %s", inner);
	return -1;
}

const char *err_word(enum err_kind kind)
{
	return kinds[kind].word;
}

int err_exit_status(enum err_kind kind)
{
	return kinds[kind].status;
}
