/*
 * The tools of `matins brief`: a briefing from this machine, read only.
 *
 * tools.def lists them; each has its fields and its one function in
 * brief_<name>.c. A tool reads, and never writes, connects or starts
 * anything. A thing that it cannot see (it usually runs confined) is left out
 * and named, or, where it was asked for by name, is an error of the tool.
 *
 *	struct tool_result r;
 *	tool_result_init(&r);
 *	tool_call(brief_find(STR("host")), STR("{}"), &env, &r);
 *	tool_result_write(&r, true, &w);
 *	tool_result_release(&r);
 */
#ifndef CORE_SERVER_BRIEF_H
#define CORE_SERVER_BRIEF_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/jw.h"
#include "core/server/fields.h"

/* Where a tool looks; all borrowed. Tests give folders of their own. */
struct tool_env {
	struct clock *clock;
	const char *home;   /* folder that "~" means; NULL: none */
	const char *proc;   /* "/proc" */
	const char *libgit; /* file name of the library of `repos` */
};

/* The system as it is; the home is that of $HOME. Static parts. */
struct tool_env tool_env_system(void) MUST_USE;

struct tool_result {
	struct buf text;       /* for people, no newline at the end */
	struct buf structured; /* one JSON object; empty when there is none */
	bool is_error;
};

void tool_result_init(struct tool_result *r);
void tool_result_release(struct tool_result *r);
/* One sentence, nothing structured, is_error. */
void tool_result_fail(struct tool_result *r, const char *fmt, ...) PRINTF(2, 3);
/*
 * Write the members of a CallToolResult into an object that is open: content,
 * structuredContent if there is one and the caller wants it, isError.
 * source  MCP 2025-11-25, server/tools, "Tool Result"
 */
void tool_result_write(const struct tool_result *r, bool structured,
		       struct jw *w);

struct tool {
	const char *name, *title, *description;
	const struct field *input, *output;
	/* `args` passed fields_check(); what lives in `arena` dies after */
	void (*call)(struct str args, const struct tool_env *env,
		     struct arena *arena, struct tool_result *ret);
};

/*
 * Check the arguments and call the tool. Wrong arguments are a result with
 * is_error, whose text says which.
 *
 * args  a proved JSON value
 * ret   initialised and empty
 */
void tool_call(const struct tool *t, struct str args,
	       const struct tool_env *env, struct tool_result *ret);

/* All tools, in the order of tools.def; ends with name NULL. */
extern const struct tool brief_tools[];
/* NULL when there is none of that name. */
const struct tool *brief_find(struct str name) MUST_USE;
/* The nearest name, or NULL when none is near. */
const char *brief_nearest(struct str name) MUST_USE;

#define TOOL(name, title, description)                                 \
	extern const struct field brief_##name##_input[];              \
	extern const struct field brief_##name##_output[];             \
	void brief_##name(struct str args, const struct tool_env *env, \
			  struct arena *arena, struct tool_result *ret);
#include "core/server/tools.def"
#undef TOOL

/* ---- helpers of the tools ---- */

/* A leading "~/" becomes the home; else the path as it is. */
const char *brief_expand(const char *path, const struct tool_env *env,
			 struct arena *arena) MUST_USE;

/*
 * Read a text file of a person, up to LIMIT_BRIEF_FILE_BYTES.
 *
 * shown     the path as it was asked for, for messages
 * returns   0; BRIEF_MISSING when there is no such file; BRIEF_HIDDEN when it
 *	     would lie in a private place of the sandbox, which shows nothing
 *	     that is not granted
 * errors    ERR_SYS, ERR_LIMIT, ERR_SYNTAX (not a regular file); the
 *	     message says how to allow or mend it
 */
enum { BRIEF_MISSING = 1, BRIEF_HIDDEN };
int brief_read(const char *shown, const struct tool_env *env,
	       struct buf *ret_text, struct err *err) MUST_USE;

/*
 * brief_read() for a tool. A failure, or a file that was named and is hidden,
 * is told by `ret` and gives -1.
 */
int brief_read_list(const char *shown, bool is_named,
		    const struct tool_env *env, struct buf *ret_text,
		    struct tool_result *ret) MUST_USE;
/* Say how to begin. got  of brief_read(); form  "lines such as …; it" */
void brief_tell_missing(const char *file, int got, const char *form,
			struct buf *text);

/*
 * Notes beside a result, about parts of it that could not be seen: they end
 * it, for programs and for people.
 */
struct brief_notes {
	struct jw jw; /* into json: the elements of an array */
	struct buf json, text;
};

/* Empty; the caller releases it. */
void brief_notes_begin(struct brief_notes *n);
/* Write the array as a member; the text is the caller's to add. */
void brief_notes_end(struct brief_notes *n, const char *key, struct jw *w);
/* Frees both texts. */
void brief_notes_release(struct brief_notes *n);

/*
 * Day that `today` names, or that of the clock.
 * today  passed fields_check(); NULL when it was not given
 */
int32_t brief_today(const char *today, const struct tool_env *env) MUST_USE;

/* Write a day as YYYY-MM-DD. */
void brief_kv_date(struct jw *w, const char *key, int32_t days);

/* "today", "in 3 days", "1 day ago" */
void brief_when(struct buf *out, int32_t days_left);

/* "54.2 GiB": binary units, one decimal. */
void brief_size(struct buf *out, uint64_t bytes);

#endif
