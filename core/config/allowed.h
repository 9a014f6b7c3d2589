/*
 * Configurations that somebody has allowed: one small JSON file for each, in
 * the folder `allowed` of the state directory, which no child may see.
 *
 *	struct allowance a = {.path = "/p/matins.toml", .sha256 = hex};
 *	if (allowed_keep(NULL, &a, err) < 0) ...
 *	if (allowed_find(NULL, "/p/matins.toml", &arena, &a, err) == 0) ...
 *
 * One allowance for each path: the one given last. Whether it fits what lies
 * there now is judged by core/run/config_allow.c.
 *
 * A folder or file that others own or may write holds no allowances: it is an
 * error, never an empty list.
 */
#ifndef CORE_CONFIG_ALLOWED_H
#define CORE_CONFIG_ALLOWED_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/sha256.h"
#include "core/base/str.h"

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
	struct strlist grants; /* config_grants.h, sorted */
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

#endif
