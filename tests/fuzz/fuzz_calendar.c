/*
 * Calendar expressions: one that is read is written so that it reads the same,
 * names times in their order, and what cron can say is five fields.
 */
#include "core/base/calendar.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 2026-11-23T10:06 */
#define NOW INT64_C(1795428360)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(buf_release) struct buf guess = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf again = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf cron = BUF_INIT(BUF_UNBOUNDED);
	struct str given = {(const char *)data, size};
	struct calendar c, same;
	int64_t at, back;

	calendar_guess(given, &guess);
	if (guess.n && calendar_parse(buf_str(&guess), &c, ERR_IGNORED) < 0)
		abort();
	if (calendar_parse(given, &c, ERR_IGNORED) < 0)
		return 0;
	calendar_text(&c, &text);
	if (calendar_parse(buf_str(&text), &same, ERR_IGNORED) < 0)
		abort();
	calendar_text(&same, &again);
	if (!str_eq(buf_str(&text), buf_str(&again)))
		abort();
	if (calendar_next(&c, NOW, &at) &&
	    (at <= NOW || !calendar_last(&c, at, &back) || back != at))
		abort();
	if (calendar_last(&c, NOW, &at) && at > NOW)
		abort();
	if (calendar_cron(&c, &cron, ERR_IGNORED) == 0)
		for (size_t i = 0, n = 0; i <= cron.n; i++)
			if (i < cron.n ? cron.p[i] == ' ' && ++n > 4 : n != 4)
				abort();
	return 0;
}
