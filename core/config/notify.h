/*
 * Words and addresses of [notify]: `{{title}}` in arguments and headers, and
 * the URLs that a notice may be sent to. Pure.
 */
#ifndef CORE_CONFIG_NOTIFY_H
#define CORE_CONFIG_NOTIFY_H

#include "core/base/url.h"
#include "core/config/routine.h"

/* Texts that the words stand for. */
struct notify_words {
	const char *title, *notice, *routine, *run, *state, *host;
};

/*
 * Put texts in the place of words; what is no such word stays as it is, and a
 * text is not looked at again.
 *
 * returns  in `arena`
 */
const char *notify_fill(const char *text, const struct notify_words *words,
			struct arena *arena) MUST_USE;

/* Name the first {{…}} of a text that stands for nothing; NULL: none. In
   `arena`. */
const char *notify_unknown(const char *text, struct arena *arena) MUST_USE;

/*
 * Read a URL of a notice: https, or http to this machine.
 * errors  ERR_SYNTAX
 */
int notify_url(const char *text, struct arena *arena, struct url *ret,
	       struct err *err) MUST_USE;

#endif
