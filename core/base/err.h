/*
 * The one error type.
 *
 * Whoever notices a failure fills the error with err_set() or err_sys() and
 * returns the negative result of that call; callers that can add context use
 * err_wrap(). Only main.c and the report print errors. On success an error is
 * never touched, so one object can serve a whole function.
 *
 *	if (fd < 0)
 *		return err_sys(err, errno, "open %s", path);
 *
 * An error is flat, owns nothing and fits PIPE_BUF, so a child that fails
 * before exec can write it to its parent as it is.
 */
#ifndef CORE_BASE_ERR_H
#define CORE_BASE_ERR_H

#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/limits.h"

enum err_kind {
#define ERR_KIND(name, status, word) ERR_##name,
#include "core/base/err_kinds.def"
#undef ERR_KIND
};

struct err {
	enum err_kind kind;	 /* decides the exit status */
	int sys;		 /* errno where it began, 0 if none */
	uint32_t line;		 /* place in a text, 1-based; 0 if none */
	uint32_t col;		 /* in bytes, 1-based; 0 if none */
	char msg[LIMIT_ERR_MSG]; /* "outer: inner", ends in NUL */
};

#define ERR_INIT                     \
	{                            \
		.kind = ERR_INTERNAL \
	}

/* For a failure that changes nothing: a fresh error, never looked at. */
#define ERR_IGNORED (&(struct err)ERR_INIT)

/*
 * As ERR_INIT, without writing all of `msg`: for paths where an error is rare
 * and its kilobyte would cost more than the work.
 */
static inline void err_clear(struct err *err)
{
	err->kind = ERR_INTERNAL;
	err->sys = 0;
	err->line = err->col = 0;
	err->msg[0] = '\0';
}

/* Fill the error; a message over its ceiling ends in "…". Returns -1. */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
	PRINTF(3, 4);

/* err_set() with a place in a text, both 1-based. Returns -1. */
int err_at(struct err *err, enum err_kind kind, uint32_t line, uint32_t col,
	   const char *fmt, ...) PRINTF(5, 6);

/* Kind ERR_SYS; ": " and the text of errno `sys` are appended. Returns -1. */
int err_sys(struct err *err, int sys, const char *fmt, ...) PRINTF(3, 4);

/* Put "context: " before what is there; kind and place stay. Returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* The word for --json output, static. */
const char *err_word(enum err_kind kind) MUST_USE;

/* The exit status of a command that ends with this kind. */
int err_exit_status(enum err_kind kind) MUST_USE;

#endif
