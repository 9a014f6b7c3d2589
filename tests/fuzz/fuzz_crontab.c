/*
 * A crontab that others write: our lines and the rest are all of it, and each
 * is taken for what it is a second time. Times of slots read as they are
 * written.
 */
#include "core/base/slot.h"
#include "core/report/crontab.h"
#include "core/report/unit_files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t half_past_five(int64_t at)
{
	/* put back by half an hour on 2026-11-23 */
	return at < INT64_C(1795428360) ? 19800 : 18000;
}

static size_t count(struct str text, bool ours)
{
	AUTO(buf_release) struct buf picked = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf again = BUF_INIT(BUF_UNBOUNDED);

	crontab_pick("0123456789abcdef", text, ours, &picked);
	crontab_pick("0123456789abcdef", buf_str(&picked), ours, &again);
	if (!str_eq(buf_str(&picked), buf_str(&again)))
		abort();
	return picked.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str given = {(const char *)data, size};
	char text[SLOT_BYTES], again[SLOT_BYTES];
	struct slot s;

	if (count(given, true) + count(given, false) != size)
		abort();
	(void)!crontab_check(given, "id", "/root", ERR_IGNORED);
	(void)!unit_file_is_of(given, "0123456789abcdef");
	if (!slot_parse(given, half_past_five, &s))
		return 0;
	slot_format(&s, text);
	if (!slot_parse(str_of(text), half_past_five, &s))
		abort();
	slot_format(&s, again);
	if (strcmp(text, again) != 0)
		abort();
	return 0;
}
