/*
 * Submits: shards handed to Slurm, to hosts over ssh, or to processes here. The
 * scheduler only starts them; what has run is told by the results.
 */
#ifndef CORE_FAN_SUBMIT_H
#define CORE_FAN_SUBMIT_H

#include "core/base/loop.h"
#include "core/fan/results.h"
#include "core/fan/script.h"
#include "core/fan/stage.h"

enum fan_engine { ENGINE_LOCAL, ENGINE_SSH, ENGINE_SLURM, N_ENGINES };
extern const char *const FAN_ENGINES[N_ENGINES];

struct fan_submit {
	struct results *results;
	enum fan_engine engine;
	struct shard_set shards;
	unsigned jobs, max;
	const char *time;	/* Slurm: of one shard; or NULL */
	const char *hosts;	/* ssh: file with the list */
	const char *ssh_config; /* ssh: -F; or NULL */
	const char *stage; /* ssh: folder of the hosts to copy to; or NULL */
	struct loop *loop; /* of all but Slurm: waits here; borrowed */
	int said;	   /* standard error of what runs; borrowed */
};

/* Append the scripts that would be submitted; of Slurm, else a line for a shell
   for each shard. errors  as fan_submit() */
int fan_submit_print(const struct fan_submit *o, struct buf *out,
		     struct err *err) MUST_USE;
/*
 * Submit shards, and keep a line in jobs.jsonl. Slurm has them then; the others
 * run until all shards have ended; signals come through the loop from then on.
 *
 * ret_status  0; 2: some inputs failed; 75: some shards have not ended
 * errors      ERR_UNKNOWN  no sbatch or ssh here; ERR_CONFIG, ERR_SYS
 */
int fan_submit(const struct fan_submit *o, int *ret_status, struct err *err)
	MUST_USE;
/* Take engine and options of the last submit; those of Slurm's or the hosts'
   that are set stay. errors  ERR_UNKNOWN  there was none */
int fan_submit_last(const struct results *r, struct arena *arena,
		    struct fan_submit *ret, struct err *err) MUST_USE;

/* Which inputs run again. */
struct fan_retry {
	bool failed, missing, claims;
	bool is_count; /* count them, and take nothing away */
};

/*
 * Take results of failed inputs away, and list the shards with inputs to run.
 *
 * ret  in `arena`
 */
int fan_retry(struct results *r, const struct fan_retry *which,
	      struct arena *arena, struct shard_set *ret, uint64_t *ret_n,
	      struct err *err) MUST_USE;

#endif
