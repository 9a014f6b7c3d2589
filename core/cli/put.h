/*
 * Results on standard output. In a pipe or a file they are byte for byte; on a
 * terminal nothing in them is obeyed: see log_visible() and
 * log_visible_json().
 */
#ifndef CORE_CLI_PUT_H
#define CORE_CLI_PUT_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/fd.h"

enum put_form { PUT_TEXT, PUT_JSON };

/* errors  ERR_SYS */
int put(struct str bytes, enum put_form form, struct err *err) MUST_USE;
/* Print a content that is made while it is written. */
int put_print(const struct fd_text *text, enum put_form form, struct err *err)
	MUST_USE;

#endif
