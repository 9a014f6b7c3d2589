/*
 * Takes secret values out of bytes.
 *
 * A struct scrub is a set of values. Every occurrence becomes `***`:
 *
 *	as it is
 *	JSON-escaped, in any mixture of short forms and \u, once or twice over;
 *	\xNN besides
 *	percent-encoded, `+` for a space
 *	with entities of HTML: named, decimal, hexadecimal
 *	in Base64 (both alphabets), Base32 and hex (either case), wherever in a
 *	text that was encoded as a whole; up to two line breaks in a row may
 *	stand inside, and the characters that the value alone determines go
 *
 * Escapes may stand in each other as programs nest them: entities in percent
 * in JSON in JSON, and a coding in all of these.
 *
 *	struct scrub *s = scrub_new();
 *	scrub_add(s, value);
 *	hits += scrub_apply(s, text, &out);	any bytes, in one piece
 *	hits += scrub_json(s, document, &out);	stays one valid JSON value
 *	scrub_free(s);				wipes
 *
 * Bytes that come in pieces go through a struct scrub_stream, which keeps
 * back what may be the beginning of a value:
 *
 *	struct scrub_stream st;
 *	scrub_stream_init(&st, s);
 *	scrub_stream_feed(&st, piece, &out);	as often as needed
 *	scrub_stream_end(&st, &out);
 *	hits += st.hits;
 *
 * Half a value is found where a text was cut. Whoever cuts one puts "…"
 * behind what is left (buf_add_cut() and err_set() do), and what stands there
 * before it counts as a value when it is the beginning of one, of
 * LIMIT_SECRET_SCRUB_MIN bytes or more. Shorter beginnings stay, as values of
 * that length do. Where others cut and leave no mark, or a program was ended
 * while it wrote, scrub_cut() and scrub_stream_cut() take the end for a mark.
 *
 * The scrubber does not find values that were compressed, encrypted, hashed or
 * reversed, nor the end of one whose beginning was cut away: scrub before you
 * do that.
 *
 * Time is linear in the text, whatever it and the values are. Memory is some
 * 14 bytes for each byte of the values and 160 KiB; what a stream keeps back
 * is at most the longest value in its longest form.
 */
#ifndef CORE_SECRET_SCRUB_H
#define CORE_SECRET_SCRUB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

struct scrub;

struct scrub *scrub_new(void) MUST_USE;
/*
 * One that looks for all that `base` does, now and later, and for values of
 * its own: those that a peer chose, who may choose a word of others.
 */
struct scrub *scrub_new_within(struct scrub *base) MUST_USE;
/* Wipes the values. Takes NULL. */
void scrub_free(struct scrub *s);
/*
 * Add a value, which is copied; one that is there already is ignored.
 * returns  false when it is under LIMIT_SECRET_SCRUB_MIN bytes: not added
 */
bool scrub_add(struct scrub *s, struct str value);
/* Nothing to look for; NULL is empty. Then nothing need be copied. */
bool scrub_is_empty(const struct scrub *s) MUST_USE;

/*
 * Append `in` to `out` with every value replaced. `s` may be NULL.
 * returns  how many were replaced
 */
size_t scrub_apply(const struct scrub *s, struct str in, struct buf *out);
/* scrub_apply() for a text that may have been cut: its end counts as a mark. */
size_t scrub_cut(const struct scrub *s, struct str in, struct buf *out);
/*
 * scrub_apply() for a text that scan_document() proved: the result is valid
 * JSON too. A number that contains a value becomes the string "***".
 */
size_t scrub_json(const struct scrub *s, struct str in, struct buf *out);
/* Report whether a value occurs in `in`. */
bool scrub_finds(const struct scrub *s, struct str in) MUST_USE;
/*
 * Ask `go_on` before each piece of a large text (1 MiB), so that a deadline or
 * a signal ends the work. Once it says no, scrub_apply(), scrub_cut() and
 * scrub_json() return partial text, which the caller must discard;
 * scrub_finds() returns true.
 */
void scrub_set_patience(struct scrub *s, bool (*go_on)(void *arg), void *arg);
/* For log_set_filter(): a struct scrub, and all that were made within it. */
void scrub_log_filter(struct buf *line, void *scrub);

struct scrub_stream {
	const struct scrub *scrub; /* borrowed; may be NULL */
	struct buf held;	   /* owned; not yet decided */
	uint64_t hits;
	struct scrub_stream_state *state; /* owned; NULL: nothing was read */
};

void scrub_stream_init(struct scrub_stream *st, const struct scrub *s);
void scrub_stream_feed(struct scrub_stream *st, struct str in, struct buf *out);
/* Gives what was kept back; the stream is released and must not be fed. */
void scrub_stream_end(struct scrub_stream *st, struct buf *out);
/* scrub_stream_end() for a text that may have been cut, see scrub_cut(). */
void scrub_stream_cut(struct scrub_stream *st, struct buf *out);
/* Wipe and release without giving anything. Harmless after _end(). */
void scrub_stream_release(struct scrub_stream *st);

#endif
