/*
 * Texts of a submit: sets of shards, the script of a job array of Slurm, lists
 * of hosts, and the line that is kept about it.
 *
 * Pure.
 */
#ifndef CORE_FAN_SCRIPT_H
#define CORE_FAN_SCRIPT_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"

/* ---- shards ---- */

struct shard_range {
	uint64_t from, to; /* both are in it */
};

struct shard_set {
	struct shard_range *range; /* ascending; in an arena */
	size_t n;
	uint64_t n_shards;
};

/* Add one that is above all others, or the last one again. */
void shards_add(struct shard_set *s, uint64_t shard, struct arena *arena);
/* Add a whole range above all others. */
void shards_add_range(struct shard_set *s, struct shard_range r,
		      struct arena *arena);
/* Those of [base, base + n), less `base`, as "0-3,7". */
void shards_print(const struct shard_set *s, uint64_t base, uint64_t n,
		  struct buf *out);

/* ---- Slurm ---- */

/* Tasks of one array: below MaxArraySize of slurm.conf, 1001. */
#define SLURM_ARRAY 1000

struct submit_words {
	const char *matins; /* absolute path of the program, or its name */
	const char *dir;    /* of the plan, absolute */
	const char *routine;
	unsigned jobs;	  /* inputs side by side in a shard */
	unsigned max;	  /* shards at once; 0: no limit */
	const char *time; /* of one shard, as sbatch takes it; NULL: none */
};

/* Append the script of one array. tasks  as shards_print() of this base */
void slurm_script(const struct submit_words *w, struct str tasks, uint64_t base,
		  struct buf *out);
/* Append the script of the job that collects behind them. */
void slurm_collect_script(const struct submit_words *w, struct buf *out);
/* Append the command line of one shard, for a shell. */
void shard_command(const struct submit_words *w, const char *shard,
		   struct buf *out);

/* ---- hosts ---- */

struct fan_host {
	const char *name;
	unsigned slots;
	const char *matins;
};

/*
 * Read lines HOST [SLOTS] [PATH-OF-MATINS]; "#" begins a comment.
 *
 * ret     in `arena`
 * errors  ERR_CONFIG with the line
 */
int hosts_read(struct str text, struct arena *arena, struct fan_host **ret,
	       size_t *ret_n, struct err *err) MUST_USE;

#endif
