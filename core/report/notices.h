/*
 * Notices that a person needs once: said when something about them changed
 * since the last run of the same file, so that mail of cron is empty on a
 * quiet day. The state directory keeps sums of the sentences of each file, not
 * the sentences, in one file; the oldest lines go first when they are many.
 */
#ifndef CORE_REPORT_NOTICES_H
#define CORE_REPORT_NOTICES_H

#include <stdbool.h>

#include "core/base/attr.h"

struct notices;

/*
 * Read what the last run said. Without a state directory (NULL), and with -v,
 * everything is news; with -q nothing is kept.
 *
 * state_dir, file  borrowed until notices_close()
 */
struct notices *notices_open(const char *state_dir, const char *file) MUST_USE;
/* Report whether the last run did not say that; it counts as said now. */
bool notices_has_news(struct notices *n, const char *sentence) MUST_USE;
/*
 * Keep what was said, where that differs from the last run, and free.
 *
 * is_whole  false: a part of the routine ran, so that what was not said now
 *	     still counts
 */
void notices_close(struct notices *n, bool is_whole);

#endif
