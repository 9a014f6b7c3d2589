/*
 * Parts of all renderers; included by core/report/render*.c only.
 */
#ifndef CORE_REPORT_RENDER_PARTS_H
#define CORE_REPORT_RENDER_PARTS_H

#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/report/render.h"

void render_text(const struct report *r, const struct render_options *o,
		 struct buf *out);
void render_json(const struct report *r, const struct render_options *o,
		 struct buf *out);
void render_data(const struct report *r, const struct render_options *o,
		 struct buf *out);
void render_md(const struct report *r, const struct render_options *o,
	       struct buf *out);
void render_html(const struct report *r, const struct render_options *o,
		 struct buf *out);

/* log_visible(), with CR LF as a newline. */
void render_visible(struct buf *out, struct str s, bool keep_newlines);
/* Without white space at the end. */
struct str render_trim_end(struct str s) MUST_USE;
/* The human body without white space at its end; made in `body` if need be. */
struct str render_output(const struct report_step *s, struct buf *body)
	MUST_USE;
/* "morning — gen 7", "morning — dry run"; already made visible. */
void render_title(struct buf *out, const struct report *r,
		  const struct render_options *o);
/* Why a step was skipped, in one line for "(skipped: …)". */
struct str render_skipped(const struct report_step *s) MUST_USE;
/* Lines that stand beneath "(skipped: …)"; may be empty. */
struct str render_note(const struct report_step *s) MUST_USE;

#endif
