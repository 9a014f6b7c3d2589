/*
 * Eras of the servers that were met before (PRB-10), kept in one
 * small file of the state directory: a server is probed at the first contact
 * and not again, until its program changes or what is remembered proves wrong.
 *
 * A memory, not a truth: a file that cannot be read or written means
 * that servers are probed again, without a word.
 *
 *	struct eras *e = eras_open(state_dir);
 *	eras_key(&key, program, argv, cwd);
 *	options.era = eras_find(e, &key);
 *	eras_learn(e, &key, SESSION_ERA_INITIALIZE);
 *	eras_free(e);
 */
#ifndef CORE_CLIENT_ERAS_H
#define CORE_CLIENT_ERAS_H

#include "core/base/attr.h"
#include "core/base/limits.h"
#include "core/mcp/session/session.h"

/* Servers that are remembered, those of the longest routine; the one longest
   not learned goes first. */
#define ERAS_MAX LIMIT_STEPS

struct eras;

/* A digest: neither arguments nor paths can be read from the file. */
struct era_key {
	char hex[33];
};

/*
 * Make the key of a program: its path, device, inode and time
 * of change, its arguments, where it starts. Values of the environment are no
 * part of it.
 *
 * program  the resolved path
 * argv     ends in NULL
 * cwd      may be NULL
 */
void eras_key(struct era_key *ret, const char *program, const char *const *argv,
	      const char *cwd);

/* Make the key of a remote server: its whole URL. */
void eras_key_url(struct era_key *ret, const char *url);

/* state_dir  copied; NULL: nothing is kept beyond this process */
struct eras *eras_open(const char *state_dir) MUST_USE;
/* Write what was learned, and free. Takes NULL. */
void eras_free(struct eras *e);

/* Find the era; SESSION_ERA_PROBE: unknown. e may be NULL. */
enum session_era eras_find(struct eras *e, const struct era_key *key) MUST_USE;
/*
 * Remember an era; SESSION_ERA_PROBE forgets. e may be NULL.
 */
void eras_learn(struct eras *e, const struct era_key *key,
		enum session_era era);

#endif
