/*
 * Words about a report that all forms for people have in common. Texts of
 * servers in them are raw: the form escapes what it adds.
 */
#ifndef CORE_REPORT_WORDS_H
#define CORE_REPORT_WORDS_H

#include "core/report/report.h"

/* "morning — Sun 22 Nov 2026, 07:00 — 16 ok, 2 failed (6.0 s, run 52)"; without
   what varies where `is_full` is false. */
void words_title(const struct report *r, bool is_full, struct buf *out);
/* "16 ok, 2 failed, 1 skipped", "nothing ran" */
void words_counts(const struct report *r, struct buf *out);
/* ", 2 from earlier runs", taken or cached; nothing for none. */
void words_earlier(const struct report *r, struct buf *out);
/* " — replayed from tape" behind `before`; false: the run was a live one. */
bool words_replayed(struct str run, const char *before, struct buf *out);
/* "changed since run 7" */
void words_changes(const struct report_changes *c, struct buf *out);

/* Microseconds since 1970 of the member "started" of a `run`, which may be
   absent. false: it has none */
bool words_started(struct str run, uint64_t *ret_us) MUST_USE;
/* Microseconds of the member "duration_us", in the same way. */
bool words_took(struct str run, uint64_t *ret_us) MUST_USE;
/* "Sun 22 Nov 2026, 07:00", in the time zone of the reader. */
void words_time(uint64_t us, struct buf *out);

/* "issues (List issues)"; the name alone without `with_tool` */
void words_step(const struct report_step *s, bool with_tool, struct buf *out);
/* "ok", "failed", "not begun", … */
const char *words_state(const struct report_step *s);
/* "the tool reported an error: no such city" */
void words_error(const struct report_step *s, struct buf *out);
/*
 * Cause of a skipped step in one line.
 * ret_more  what else there is to say, n = 0: nothing
 */
struct str words_skipped(const struct report_step *s, struct str *ret_more);
/* "/srv/report/chart.png, 12 KiB" of one element of words_all_saved(). */
void words_saved(struct str file, struct buf *out);
/* JSON array of files that a step's results went to; n = 0: none. */
struct str words_all_saved(const struct report_step *s);

/* Human body: as it was kept, else made into `room`, which must live on. */
struct str words_output(const struct report_step *s, struct buf *room);
/* Without white space at the end; spaces at the begin may set a line in. */
struct str words_trim_end(struct str s);

#endif
