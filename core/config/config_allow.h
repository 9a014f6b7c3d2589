/*
 * Whether a configuration that lay in the current folder may be used. Nobody
 * named it, so it counts only when its folder is in $MATINS_ALLOW, when these
 * very bytes were allowed before (below), or when the person at
 * the terminal says yes after seeing what it may do.
 */
#ifndef CORE_CONFIG_CONFIG_ALLOW_H
#define CORE_CONFIG_CONFIG_ALLOW_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/sha256.h"
#include "core/config/config.h"

/*
 * Judge it.
 * errors  ERR_NOT_ALLOWED
 */
int config_allow(struct config_file *file, const struct config_options *options,
		 struct err *err) MUST_USE;
/*
 * Allow these very bytes from now on, where they were found.
 *
 * edits   and whatever is written there later
 * errors  ERR_CONFIG  --edits does not hold there; ERR_SYS  it cannot be kept
 */
int config_allow_keep(struct config_file *file, bool edits, struct err *err)
	MUST_USE;
/*
 * Append what it may do and what it shadows, for a person.
 *
 * most  rows of one kind; 0: all
 */
void config_allow_show(const struct config_file *file, size_t most,
		       struct buf *out);

/*
 * Configurations that somebody has allowed: one small JSON file for each, in
 * the folder `allowed` of the state directory, which no child may see.
 *
 *	struct allowance a = {.path = "/p/matins.toml", .sha256 = hex};
 *	if (allowed_keep(NULL, &a, err) < 0) ...
 *	if (allowed_find(NULL, "/p/matins.toml", &arena, &a, err) == 0) ...
 *
 * One allowance for each path: the one given last. Whether it fits what lies
 * there now is judged by config_allow().
 *
 * A folder or file that others own or may write holds no allowances: it is an
 * error, never an empty list.
 */

/* One file, bytes: the rows of what a configuration of LIMIT_CONFIG_BYTES may
   do, each byte escaped at worst. */
#define ALLOWED_BYTES (2 * 1024 * 1024)

struct allowance {
	const char *path;	       /* absolute, as it was found */
	const char *target;	       /* where the link led; NULL: no link */
	char sha256[SHA256_HEX_BYTES]; /* of its text then */
	bool edits;	 /* later versions of the file are allowed, too */
	bool by_person;	 /* a person said yes on a terminal, all rows seen */
	int64_t wall_ms; /* when, since 1970 UTC */
	struct strlist grants; /* rows as below, sorted */
};

/*
 * state_dir  NULL: state_dir_find()
 * returns    0; 1: there is none
 * errors     ERR_SYS, ERR_SYNTAX  an allowance that cannot be believed
 */
int allowed_find(const char *state_dir, const char *path, struct arena *arena,
		 struct allowance *ret, struct err *err) MUST_USE;
/* Replace an earlier one of that path; on disk when this returns. */
int allowed_keep(const char *state_dir, const struct allowance *a,
		 struct err *err) MUST_USE;
/* returns  0; 1: there was none */
int allowed_forget(const char *state_dir, const char *path, struct err *err)
	MUST_USE;
/*
 * List all, by path, in `arena`. Files that cannot be believed are named on
 * stderr and left out.
 */
int allowed_list(const char *state_dir, struct arena *arena,
		 struct allowance **ret, size_t *ret_n, struct err *err)
	MUST_USE;

/* Print and parse one file; pure. */
void allowed_print(const struct allowance *a, struct buf *out);
/* errors  ERR_SYNTAX  not an allowance; strings of *ret lie in `arena` */
int allowed_parse(struct str text, struct arena *arena, struct allowance *ret,
		  struct err *err) MUST_USE;

/*
 * A configuration in rows: what it may start, write, read and connect to,
 * which credentials it reads, where it weakens the sandbox. As it is written,
 * before anything is expanded, so that rows of two texts can be compared.
 *
 * A row is a word and what it is about: "starts git", "writes .",
 * "credential $TOKEN". Rows are sorted: by kind, then the shorter, which of
 * paths is the wider, first.
 */

/* In `arena`, each row once. Before config_expand(). */
struct strlist config_grants(const struct config *c, struct arena *arena)
	MUST_USE;

/*
 * Append them for a person: a line each, the word once per kind, control
 * characters made visible.
 *
 * most     rows shown of one kind, each cut to one line; the others are
 *	    counted. 0: all, whole
 */
void config_grants_show(const struct strlist *grants, size_t most,
			struct buf *out);
/*
 * Append what is new and what is gone, a line each behind "+ " or "- ";
 * nothing where the rows are the same. Both are sorted.
 *
 * most     rows shown, each cut to one line; SIZE_MAX: all, whole
 */
void config_grants_diff(const struct strlist *before, const struct strlist *now,
			size_t most, struct buf *out);

#endif
