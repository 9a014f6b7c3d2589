#include "core/run/previous.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/scan.h"
#include "core/report/ledger_runs.h"
#include "core/report/store.h"

/* Reports that are looked through for results. */
#define LOADED_MAX 32

static struct report *load(struct ledger *l, const struct ledger_run *run,
			   struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct report *report = ARENA_NEW(arena, struct report);

	if (ledger_run_report(l, run, &text, ERR_IGNORED) <= 0)
		return NULL;
	return report_load(arena_buf(arena, &text), arena, report,
			   ERR_IGNORED) == 0
		       ? report
		       : NULL;
}

/* One step, as a line of the journal, which is a report of it. */
static bool add_line(struct str line, struct arena *arena, struct report *all)
{
	struct report one;

	if (report_load(line, arena, &one, ERR_IGNORED) < 0 || one.n_steps != 1)
		return false;
	all->run = one.run;
	all->steps = arena_grow(arena, all->steps, all->n_steps,
				sizeof(*all->steps));
	all->steps[all->n_steps++] = one.steps[0];
	return true;
}

void previous_read_journal(struct str text, struct arena *arena,
			   struct report *all)
{
	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (!text.p || !add_line(line, arena, all))
			break;
	}
}

/* Journal that a lost run has left. */
static struct report *load_journal(struct ledger *l,
				   const struct ledger_run *run,
				   struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct report *all = ARENA_NEW(arena, struct report);

	if (store_get_journal(ledger_dir(l), run->file, run->generation,
			      run->started_ns, &text, ERR_IGNORED) < 0)
		return NULL;
	*all = (struct report){.generation = run->generation,
			       .routine = run->routine};
	previous_read_journal(arena_buf(arena, &text), arena, all);
	return all->n_steps ? all : NULL;
}

static struct report *load_any(struct ledger *l, const struct ledger_run *run,
			       struct arena *arena)
{
	return run->state == RUN_FINISHED ? load(l, run, arena)
	       : run->state == RUN_LOST	  ? load_journal(l, run, arena)
					  : NULL;
}

/* Runs of a routine from the last one on, as far as anything is kept. */
struct look {
	struct ledger_walk walk;
	const struct ledger_routine *which;
	uint64_t oldest;
};

static void look_init(struct look *k, struct ledger *l,
		      const struct ledger_routine *which, struct arena *arena)
{
	k->which = which;
	k->oldest = store_oldest(ledger_dir(l), which->file);
	ledger_walk_init(&k->walk, l, arena);
}

static void look_release(struct look *k)
{
	ledger_walk_release(&k->walk);
}

/* The next older run; 1, 0 at the end, or -1. */
static int look_next(struct look *k, const struct ledger_run **ret,
		     struct err *err)
{
	int r;

	while ((r = ledger_walk_next(&k->walk, ret, err)) > 0) {
		if ((*ret)->generation < k->oldest)
			return 0;
		if (ledger_run_is(*ret, k->which->name, k->which->file))
			return 1;
	}
	return r;
}

const struct report *previous_find(struct ledger *l,
				   const struct ledger_routine *which,
				   bool must_be_ok, uint64_t before,
				   struct arena *arena)
{
	AUTO(look_release) struct look k;
	const struct ledger_run *run;

	if (!l)
		return NULL;
	look_init(&k, l, which, arena);
	while (look_next(&k, &run, ERR_IGNORED) > 0)
		if (run->whole && run->state == RUN_FINISHED &&
		    run->generation < before && (run->success || !must_be_ok))
			return load(l, run, arena);
	return NULL;
}

const struct report_step *previous_step(const struct report *r, struct str name)
{
	for (size_t i = 0; r && i < r->n_steps; i++)
		if (str_is(name, r->steps[i].name))
			return &r->steps[i];
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
	AUTO(look_release) struct look k;
	const struct ledger_run *run;
	size_t left = LOADED_MAX;
	int rc;

	look_init(&k, l, which, arena);
	while ((rc = look_next(&k, &run, err)) > 0 && left) {
		const struct report *r;

		if (run->state == RUN_RUNNING)
			continue;
		left--;
		r = load_any(l, run, arena);
		if (!r || !has_all(r, steps))
			continue;
		*ret = r;
		return 0;
	}
	if (rc < 0)
		return -1;
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
	AUTO(look_release) struct look k;
	const struct ledger_run *run;
	size_t left = LOADED_MAX;

	look_init(&k, l, which, &list);
	while (left && look_next(&k, &run, ERR_IGNORED) > 0) {
		/* reports may be large: those that do not fit go at once */
		AUTO(arena_release) struct arena one = ARENA_INIT;
		const struct report_step *s;

		if (run->state == RUN_RUNNING)
			continue;
		left--;
		s = previous_step(load_any(l, run, &one), step);
		if (!s || !fits(arg, s))
			continue;
		*ret_generation = run->generation;
		return previous_step(load_any(l, run, arena), step);
	}
	return NULL;
}

struct str previous_facts(struct str run, uint64_t generation,
			  const char *member, struct arena *arena)
{
	struct str rest = run.n ? str_skip(run, 1) : STR("}");
	struct str from;

	if (run.n && scan_get(run, member, &from))
		return run;
	return str_of(arena_printf(arena, "{\"%s\":%llu%s%.*s", member,
				   (unsigned long long)generation,
				   run.n && scan_count(run) ? "," : "",
				   STR_ARG(rest)));
}

static void add_result(const struct report_step *s, uint64_t generation,
		       struct arena *arena, struct report *all)
{
	const struct report_step *there = previous_step(all, str_of(s->name));
	struct report_step *to;

	if (s->state != STATE_OK || (there && !there->not_begun))
		return;
	to = there ? &all->steps[there - all->steps]
		   : &all->steps[all->n_steps++];
	*to = *s;
	to->run = previous_facts(s->run, generation, "taken_from", arena);
}

static void add_results(const struct report *r, struct arena *arena,
			struct report *all)
{
	struct report_step *steps = ARENA_ARRAY(arena, struct report_step,
						all->n_steps + r->n_steps);

	for (size_t i = 0; i < all->n_steps; i++)
		steps[i] = all->steps[i];
	all->steps = steps;
	for (size_t i = 0; i < r->n_steps; i++)
		add_result(&r->steps[i], r->generation, arena, all);
}

/* Results of the run that it resumed, and so on; k  behind the run */
static void add_resumed(struct ledger *l, struct look *k, struct arena *arena,
			struct report *all)
{
	struct str facts = all->run, from;
	const struct ledger_run *run;
	uint64_t generation;

	while (facts.n && scan_get(facts, "taken_from", &from) &&
	       str_uint64(from, &generation)) {
		const struct report *r;

		do
			if (look_next(k, &run, ERR_IGNORED) <= 0)
				return;
		while (run->generation != generation);
		r = load_any(l, run, arena);
		if (!r)
			return;
		add_results(r, arena, all);
		facts = r->run;
	}
}

static int refuse_none(const char *routine, const char *generation,
		       struct err *err)
{
	if (strcmp(generation, "last") == 0)
		return err_set(err, ERR_UNKNOWN,
			       "there is no earlier run of %s in this "
			       "configuration of which a result is kept; run "
			       "the whole routine",
			       routine);
	return err_set(err, ERR_UNKNOWN,
		       "there is no run %s of %s in this configuration; "
		       "`matins history` lists them",
		       generation, routine);
}

int previous_get(struct ledger *l, const struct ledger_routine *which,
		 const char *generation, struct arena *arena,
		 const struct report **ret, struct err *err)
{
	AUTO(look_release) struct look k = {.which = which};
	bool is_last = strcmp(generation, "last") == 0;
	const struct ledger_run *run;
	uint64_t wanted = 0;
	size_t left = LOADED_MAX;
	int rc;

	if (!is_last && !str_uint64(str_of(generation), &wanted))
		return err_set(err, ERR_USAGE,
			       "%s is not a generation; use a number of "
			       "`matins history`, or \"last\"",
			       generation);
	look_init(&k, l, which, arena);
	if (wanted < k.oldest && !is_last)
		k.oldest = wanted;
	while ((rc = look_next(&k, &run, err)) > 0) {
		struct report *r;

		if (is_last ? run->state == RUN_RUNNING
			    : run->generation != wanted)
			continue;
		if (run->state == RUN_RUNNING)
			return err_set(err, ERR_BUSY, "run %s is still running",
				       generation);
		r = load_any(l, run, arena);
		*ret = r;
		if (r) {
			add_resumed(l, &k, arena, r);
			return 0;
		}
		/* a run that failed before its first step, say */
		if (is_last && left--)
			continue;
		return err_set(err, ERR_UNKNOWN,
			       "nothing is kept of run %llu of %s; run the "
			       "whole routine",
			       (unsigned long long)run->generation,
			       which->name);
	}
	return rc < 0 ? -1 : refuse_none(which->name, generation, err);
}
