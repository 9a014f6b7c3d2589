/*
 * Levelled lines on stderr; stdout is for results only.
 *
 * Each line is "matins: text", the second and later ones of one message are
 * "matins: | text". Control characters in the text are made
 * visible, so a peer's bytes cannot drive the user's terminal.
 */
#ifndef CORE_BASE_LOG_H
#define CORE_BASE_LOG_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DEBUG };

/* Print messages up to this level. Default LOG_NOTE; -q 0 or 1, -v more. */
void log_set_level(enum log_level level);
enum log_level log_level(void) MUST_USE;

/*
 * A rewriting of every line before it is printed, to scrub secrets.
 * `line` may be changed in place; NULL takes the filter away.
 */
void log_set_filter(void (*filter)(struct buf *line, void *arg), void *arg);

/* Call before every line that is printed, to take live lines off a terminal;
   NULL: nothing. */
void log_set_before(void (*before)(void *arg), void *arg);

void log_error(const char *fmt, ...) PRINTF(1, 2);
void log_warning(const char *fmt, ...) PRINTF(1, 2);
void log_note(const char *fmt, ...) PRINTF(1, 2);
void log_debug(const char *fmt, ...) PRINTF(1, 2);

/*
 * Append `s` so that a terminal shows it and obeys nothing: C0 controls but
 * tab and (if keep_newlines) newline, DEL, C1 controls, and bytes that are
 * not UTF-8 become \xNN; Unicode bidirectional overrides and isolates become
 * \u{NNNN}.
 */
void log_visible(struct buf *out, struct str s, bool keep_newlines);
/*
 * As log_visible(), for a JSON document, which stays one and keeps its meaning:
 * what is not shown becomes \uNNNN. White space between its parts is kept.
 */
void log_visible_json(struct buf *out, struct str s);

#endif
