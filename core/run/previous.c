#include "core/run/previous.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/sha256.h"
#include "core/report/store.h"

/* Reports that are looked through for results. */
#define LOADED_MAX 32

static const struct report *load(struct ledger *l, const struct ledger_run *run,
				 struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct report *report = ARENA_NEW(arena, struct report);
	char sum[SHA256_HEX_BYTES];
	size_t n;

	if (store_get(ledger_dir(l), run->file, run->generation, &text,
		      ERR_IGNORED) < 0)
		return NULL;
	sha256_hex(buf_str(&text), sum);
	if (strcmp(sum, run->sha256) != 0)
		return NULL;
	n = text.n;
	return report_load(
		       (struct str){arena_adopt(arena, buf_steal(&text)), n},
		       arena, report, ERR_IGNORED) == 0
		       ? report
		       : NULL;
}

/* One step, as a line of the journal, which is a report of it. */
static bool add_line(struct str line, struct arena *arena, struct report *all)
{
	struct report one;

	if (report_load(line, arena, &one, ERR_IGNORED) < 0 || one.n_steps != 1)
		return false;
	all->steps = arena_grow(arena, all->steps, all->n_steps,
				sizeof(*all->steps));
	all->steps[all->n_steps++] = one.steps[0];
	return true;
}

/* What a lost run has left; its last line may be torn. */
static const struct report *load_journal(struct ledger *l,
					 const struct ledger_run *run,
					 struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct report *all = ARENA_NEW(arena, struct report);
	struct str rest;

	if (store_get_journal(ledger_dir(l), run->file, run->generation, &text,
			      ERR_IGNORED) < 0)
		return NULL;
	*all = (struct report){.generation = run->generation,
			       .routine = run->routine};
	rest.n = text.n;
	rest.p = arena_adopt(arena, buf_steal(&text));
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');

		if (!rest.p || !add_line(line, arena, all))
			break;
	}
	return all;
}

static const struct report *load_any(struct ledger *l,
				     const struct ledger_run *run,
				     struct arena *arena)
{
	return run->state == RUN_FINISHED ? load(l, run, arena)
	       : run->state == RUN_LOST	  ? load_journal(l, run, arena)
					  : NULL;
}

const struct report *previous_find(struct ledger *l,
				   const struct ledger_routine *which,
				   bool must_be_ok, struct arena *arena)
{
	struct ledger_run *runs;
	size_t n;

	if (!l || ledger_read(l, arena, &runs, &n, ERR_IGNORED) < 0)
		return NULL;
	while (n-- > 0)
		if (ledger_run_is(&runs[n], which->name, which->file) &&
		    runs[n].whole && runs[n].state == RUN_FINISHED &&
		    (runs[n].success || !must_be_ok))
			return load(l, &runs[n], arena);
	return NULL;
}

/* Steps that were left out by hand, or had no turn, have no result. */
static bool has_all(const struct report *r, const struct strlist *steps)
{
	for (size_t i = 0; i < steps->n; i++) {
		const struct report_step *s =
			previous_step(r, str_of(steps->item[i]));

		if (!s || s->not_begun || s->reason == REASON_ONLY_FILTER)
			return false;
	}
	return true;
}

int previous_with(struct ledger *l, const struct ledger_routine *which,
		  const struct strlist *steps, struct arena *arena,
		  const struct report **ret, struct err *err)
{
	struct ledger_run *runs;
	size_t n, left = LOADED_MAX;

	if (ledger_read(l, arena, &runs, &n, err) < 0)
		return -1;
	while (n-- > 0 && left) {
		const struct report *r;

		if (!ledger_run_is(&runs[n], which->name, which->file) ||
		    runs[n].state == RUN_RUNNING)
			continue;
		left--;
		r = load_any(l, &runs[n], arena);
		if (!r || !has_all(r, steps))
			continue;
		*ret = r;
		return 0;
	}
	return err_set(err, ERR_UNKNOWN,
		       "no earlier run of %s has a result of %s%s; run the "
		       "whole routine",
		       which->name, steps->item[0],
		       steps->n > 1 ? " and of the others before it" : "");
}

const struct report_step *previous_fitting(
	struct ledger *l, const struct ledger_routine *which, struct str step,
	bool (*fits)(void *arg, const struct report_step *s), void *arg,
	struct arena *arena, uint64_t *ret_generation)
{
	AUTO(arena_release) struct arena list = ARENA_INIT;
	struct ledger_run *runs;
	size_t n, left = LOADED_MAX;

	if (ledger_read(l, &list, &runs, &n, ERR_IGNORED) < 0)
		return NULL;
	while (n-- > 0 && left) {
		/* reports may be large: those that do not fit go at once */
		AUTO(arena_release) struct arena one = ARENA_INIT;
		const struct report_step *s;

		if (!ledger_run_is(&runs[n], which->name, which->file) ||
		    runs[n].state == RUN_RUNNING)
			continue;
		left--;
		s = previous_step(load_any(l, &runs[n], &one), step);
		if (!s || !fits(arg, s))
			continue;
		*ret_generation = runs[n].generation;
		return previous_step(load_any(l, &runs[n], arena), step);
	}
	return NULL;
}

int previous_get(struct ledger *l, const struct ledger_routine *which,
		 const char *generation, struct arena *arena,
		 const struct report **ret, struct err *err)
{
	bool is_last = strcmp(generation, "last") == 0;
	struct ledger_run *runs;
	uint64_t wanted = 0;
	size_t n;

	if (!is_last && !str_uint64(str_of(generation), &wanted))
		return err_set(err, ERR_USAGE,
			       "%s is not a generation; use a number of "
			       "`matins history`, or \"last\"",
			       generation);
	if (ledger_read(l, arena, &runs, &n, err) < 0)
		return -1;
	while (n-- > 0) {
		const struct ledger_run *run = &runs[n];
		bool is_it = is_last ? run->state != RUN_RUNNING
				     : run->generation == wanted;

		if (!is_it || !ledger_run_is(run, which->name, which->file))
			continue;
		if (run->state == RUN_RUNNING)
			return err_set(err, ERR_BUSY, "run %s is still running",
				       generation);
		*ret = load_any(l, run, arena);
		return *ret ? 0
			    : err_set(err, ERR_UNKNOWN,
				      "nothing is kept of run %llu of %s; run "
				      "the whole routine",
				      (unsigned long long)run->generation,
				      which->name);
	}
	return err_set(err, ERR_UNKNOWN,
		       "there is no run %s of %s in this configuration; "
		       "`matins history` lists them",
		       generation, which->name);
}

const struct report_step *previous_step(const struct report *r, struct str name)
{
	for (size_t i = 0; r && i < r->n_steps; i++)
		if (str_is(name, r->steps[i].name))
			return &r->steps[i];
	return NULL;
}
