#include "core/cli/kept_report.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/report/store.h"
#include "core/config/config.h"

int kept_file(const struct args *args, const char *routine, struct arena *arena,
	      const char **ret, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const char *named = args_get(args, "config");
	const struct config_options options = {
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};
	struct err ignored = ERR_INIT;

	*ret = NULL;
	if (named) {
		AUTO(mem_freep) char *real = realpath(named, NULL);

		if (!real)
			return err_sys(err, errno, "%s", named);
		*ret = arena_strdup(arena, real);
	} else if (routine && config_open(&options, &file, &ignored) == 0 &&
		   config_routine(&file.config, routine)) {
		*ret = arena_strdup(arena, file.config.path);
	}
	return 0;
}

static const struct ledger_run *find_last(const struct ledger_run *run,
					  size_t n, const struct kept_query *q)
{
	while (n-- > 0) {
		bool is_part = q->whole && *run[n].file && !run[n].whole;

		if (run[n].state == RUN_FINISHED && !is_part &&
		    ledger_run_is(&run[n], q->routine, q->file))
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

static int no_run(const struct ledger *l, const struct kept_query *q,
		  struct err *err)
{
	if (strcmp(q->which, "last"))
		return err_set(err, ERR_UNKNOWN_RUN,
			       "%s has no generation %s; `matins history` "
			       "lists them",
			       ledger_dir(l), q->which);
	return err_set(
		err, ERR_UNKNOWN_RUN, "no run%s%s%s%s has finished yet in %s",
		q->routine ? " of " : "", q->routine ? q->routine : "",
		q->file ? " of " : "", q->file ? q->file : "", ledger_dir(l));
}

static int find_run(struct ledger *l, const struct kept_query *q,
		    struct arena *arena, const struct ledger_run **ret,
		    struct err *err)
{
	struct ledger_run *run;
	uint64_t generation = 0;
	bool last = !strcmp(q->which, "last");
	size_t n;

	if (!last && !str_uint64(str_of(q->which), &generation))
		return err_set(err, ERR_USAGE,
			       "%s is not a generation; use a number of "
			       "`matins history`, or last",
			       q->which);
	if (ledger_read(l, arena, &run, &n, err) < 0)
		return -1;
	*ret = last ? find_last(run, n, q)
		    : find_generation(run, n, generation);
	return *ret ? 0 : no_run(l, q, err);
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
	if (store_get(ledger_dir(l), run->file, run->generation, out, err) < 0)
		return -1;
	sha256_hex((struct str){out->p + before, out->n - before}, sum);
	if (*run->sha256 && strcmp(sum, run->sha256))
		log_warning("the report of generation %llu was changed after "
			    "the run",
			    (unsigned long long)run->generation);
	return 0;
}

int kept_report(const struct kept_query *q, struct arena *arena,
		struct buf *out, const struct ledger_run **ret_run,
		struct err *err)
{
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	const struct ledger_run *run;

	if (ledger_open_read(NULL, &ledger, err) < 0 ||
	    find_run(ledger, q, arena, &run, err) < 0 ||
	    read_run(ledger, run, out, err) < 0)
		return -1;
	if (ret_run)
		*ret_run = run;
	return 0;
}
