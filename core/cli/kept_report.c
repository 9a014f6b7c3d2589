#include "core/cli/kept_report.h"

#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/report/ledger.h"
#include "core/report/store.h"

static const struct ledger_run *find_last(const struct ledger_run *run,
					  size_t n, const char *routine)
{
	while (n-- > 0) {
		if (run[n].state != RUN_FINISHED)
			continue;
		if (!routine || !strcmp(run[n].routine, routine))
			return &run[n];
	}
	return NULL;
}

static const struct ledger_run *find_generation(const struct ledger_run *run,
						size_t n, uint64_t generation)
{
	while (n-- > 0)
		if (run[n].generation == generation)
			return &run[n];
	return NULL;
}

static int find_run(struct ledger *l, const char *which, const char *routine,
		    struct arena *arena, const struct ledger_run **ret,
		    struct err *err)
{
	struct ledger_run *run;
	uint64_t generation = 0;
	bool last = !strcmp(which, "last");
	size_t n;

	if (!last && !str_uint64(str_of(which), &generation))
		return err_set(err, ERR_USAGE,
			       "%s is no generation: it is a number of "
			       "`matins history`, or last",
			       which);
	if (ledger_read(l, arena, &run, &n, err) < 0)
		return -1;
	*ret = last ? find_last(run, n, routine)
		    : find_generation(run, n, generation);
	if (*ret)
		return 0;
	if (last)
		return err_set(err, ERR_UNKNOWN_RUN,
			       "no run%s%s has finished yet in %s",
			       routine ? " of " : "", routine ? routine : "",
			       ledger_dir(l));
	return err_set(err, ERR_UNKNOWN_RUN,
		       "%s has no generation %s; `matins history` lists them",
		       ledger_dir(l), which);
}

static int read_run(const struct ledger *l, const struct ledger_run *run,
		    struct buf *out, struct err *err)
{
	char sum[SHA256_HEX_BYTES];
	size_t before = out->n;

	if (run->state != RUN_FINISHED)
		return err_set(err, ERR_UNKNOWN,
			       "generation %llu of %s is %s: it has no report",
			       (unsigned long long)run->generation,
			       run->routine, run_state_name(run->state));
	if (store_get(ledger_dir(l), run->generation, out, err) < 0)
		return -1;
	sha256_hex((struct str){out->p + before, out->n - before}, sum);
	if (*run->sha256 && strcmp(sum, run->sha256))
		log_warning("the report of generation %llu was changed after "
			    "the run",
			    (unsigned long long)run->generation);
	return 0;
}

int kept_report(const char *which, const char *routine, struct buf *out,
		struct err *err)
{
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	struct arena arena = ARENA_INIT;
	const struct ledger_run *run;
	int status;

	if (ledger_open_read(NULL, &ledger, err) < 0)
		return -1;
	status = find_run(ledger, which, routine, &arena, &run, err);
	if (status == 0)
		status = read_run(ledger, run, out, err);
	arena_release(&arena);
	return status;
}
