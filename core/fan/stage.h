/*
 * A plan on a disk of this machine, and hosts that do not see it: before a
 * shard its files are copied to a folder of the host, and its results come back
 * behind it, by rsync over ssh. A result that came back is judged and kept as
 * one that was made here, so the first one counts; one that did not is missing,
 * and its input runs again.
 *
 *	if (stage_judge(&s, err) < 0) ...
 *	stage_clean(&s, &there, false, …), stage_mark(&s, &there, …)
 *	stage_start(&s, host, shard, false, …)   and `fan exec` on the host,
 *	then stage_start(&s, host, shard, true, …), stage_take(&s, shard, …)
 *	stage_clean(&s, &there, true, …)	behind the last shard
 *	stage_cleaned(&s, &there)	where either has ended well
 *
 * A folder on a host has a mark of its name here, in staged/, with FOLDER in it
 * and a lock that its submit holds while it lives. So a later submit removes
 * what a killed one left, and nothing else: the name cannot be guessed.
 */
#ifndef CORE_FAN_STAGE_H
#define CORE_FAN_STAGE_H

#include "core/fan/results.h"
#include "gate/gate.h"

struct stage {
	struct results *results;
	const char *folder;	/* on the hosts; there already */
	const char *ssh_config; /* -F of ssh; or NULL */
	int said;		/* standard error of what runs; borrowed */
	char tag[17];		/* of this submit; nobody can guess it */
};

/* Folders of the plan on a host. */
struct stage_there {
	const char *host;
	int mark;	       /* of the folder of this submit; owned, or -1 */
	struct strlist folder; /* to be removed */
};

/*
 * Refuse a plan that cannot run on copies: claims of inputs that must not run
 * twice hold only where all machines see one folder.
 *
 * errors  ERR_USAGE, ERR_CONFIG; ERR_UNKNOWN  there is no rsync here
 */
int stage_judge(const struct stage *s, struct err *err) MUST_USE;
/* Refuse a host that rsync would take for a path. errors  ERR_CONFIG */
int stage_judge_host(const char *host, struct err *err) MUST_USE;
/* Folder of a host for this submit alone: no two hosts share one, and a result
   that was retried is in none. */
const char *stage_dir(const struct stage *s, const char *host,
		      struct arena *arena) MUST_USE;
/*
 * Begin to copy: out, the plan and those results of the shard that are here;
 * or back, its results that are not here, to a folder beside them.
 *
 * errors  as gate_start_tool(); ERR_SYS
 */
int stage_start(const struct stage *s, const char *host, uint64_t shard,
		bool is_back, struct gate_again *ret, struct err *err) MUST_USE;
/*
 * Keep what came back.
 *
 * ret_missing  inputs of the shard that have no result
 * errors       ERR_SYS
 */
int stage_take(const struct stage *s, uint64_t shard, uint64_t *ret_missing,
	       struct err *err) MUST_USE;
/*
 * Begin to remove what killed submits left on a host.
 *
 * is_end  the folder of this submit, too
 * errors  as gate_start_tool(); ERR_SYS
 */
int stage_clean(const struct stage *s, struct stage_there *there, bool is_end,
		struct arena *arena, struct gate_again *ret, struct err *err)
	MUST_USE;
/* Remove the marks of folders that are gone. */
void stage_cleaned(const struct stage *s, struct stage_there *there);
/* Make the mark of this submit's folder, before it is there. */
int stage_mark(const struct stage *s, struct stage_there *there,
	       struct err *err) MUST_USE;
/* List ssh and its options. config  for -F; or NULL */
void stage_ssh(const char *config, struct arena *arena, struct strlist *ret);
/* List the words that run a line of a shell on a host, with the NULL. */
void stage_ssh_line(const char *config, const char *host, struct buf *line,
		    struct arena *arena, struct strlist *ret);

#endif
