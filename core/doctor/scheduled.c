#include "core/doctor/scheduled.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/doctor/installed.h"
#include "core/report/ledger_runs.h"

#define TIMER_REMEDY "check the timer or cron line that starts it"

/* ---- what starts it ---- */

/*
 * Look at the line or timer of a schedule.
 *
 * ret_text    what is wrong, or NULL
 * ret_remedy  what to do about it
 * returns     its level
 */
static enum check_level look_at_starter(struct doctor *d,
					const struct schedule *s,
					const char **ret_text,
					const char **ret_remedy)
{
	AUTO(buf_release) struct buf out = BUF_INIT(INSTALLED_BYTES);
	struct installed in = {.arena = d->arena};
	const char *timer =
		arena_printf(d->arena, "%s.timer", s->unit ? s->unit : "");
	const char *const is_active[] = {"systemctl", "--user", "is-active",
					 timer, NULL};
	struct err err = ERR_INIT;

	*ret_text = NULL;
	*ret_remedy = arena_printf(
		d->arena, "matins schedule remove %s, then add it", s->routine);
	if (installed_read(&in, s, &out, &err) < 0 ||
	    installed_check(&in, s, &err) < 0) {
		*ret_text = arena_strdup(d->arena, err.msg);
		if (err.kind == ERR_CONFIG)
			*ret_remedy = "crontab -e";
		return CHECK_FAILED;
	}
	buf_clear(&out);
	if (s->unit &&
	    installed_tool(is_active, STR(""), d->arena, &out, &err) < 0) {
		*ret_text = arena_printf(
			d->arena, "%s is not active: %s", timer,
			out.n ? arena_str(d->arena, str_trim(buf_str(&out))).p
			      : err.msg);
		*ret_remedy = arena_printf(
			d->arena, "systemctl --user enable --now %s", timer);
		return CHECK_FAILED;
	}
	if (s->unit && !installed_lingers(d->arena)) {
		*ret_text = "it runs only while you are logged in";
		*ret_remedy = "loginctl enable-linger";
	}
	if (!s->unit && !installed_has_cron()) {
		*ret_text = "no cron runs here that could start it";
		*ret_remedy = "start cron: systemctl enable --now cron";
	}
	return *ret_text ? CHECK_WARNING : CHECK_OK;
}

/* ---- whether it ran ---- */

/* The last run for a slot or a later one; a lost run where there is no other.
   NULL: there is none. */
static const struct ledger_run *run_since(struct ledger_walk *runs,
					  const struct schedule *s,
					  int64_t due_ns)
{
	const struct ledger_run *run, *lost = NULL;
	size_t n_older = 0;
	const int64_t early_ns = due_ns - 2 * 86400 * (int64_t)NS_PER_S;

	for (size_t i = 0; (run = ledger_walk_at(runs, i)); i++) {
		/* zones are less than a day away; single clocks are wrong */
		n_older = run->started_ns < early_ns ? n_older + 1 : 0;
		if (n_older > 100)
			break;
		if (strcmp(run->routine, s->routine) != 0 ||
		    strcmp(run->file, s->file) != 0 ||
		    schedule_slot_ns(s, run->slot) < due_ns)
			continue;
		if (run->state != RUN_LOST)
			return run;
		if (!lost)
			lost = run;
	}
	return lost;
}

static const char *say_run(const struct ledger_run *run, struct arena *arena)
{
	return arena_printf(
		arena, "that of %s is run %llu, %s%s", run->slot,
		(unsigned long long)run->generation, ledger_run_outcome(run),
		run->state != RUN_RUNNING
			? ""
			: arena_printf(arena, " since %s", run->started));
}

/*
 * Look whether what starts a schedule is there, and whether it ran when it was
 * due: a cron that does not run is seen by that.
 *
 * returns  it ran, and is not older than --stale allows while it still runs
 */
static bool look_at_schedule(struct doctor *d, struct ledger_walk *runs,
			     const struct schedule *s)
{
	const struct doctor_options *o = d->options;
	const struct ledger_run *run = NULL;
	struct schedule_times t;
	enum check_level level;
	const char *wrong, *remedy, *is;
	bool is_met;

	schedule_times(s, o->wall_ns, &t);
	level = look_at_starter(d, s, &wrong, &remedy);
	if (*t.due)
		run = run_since(runs, s, t.due_ns);
	is_met = !*t.due || (run && run->state != RUN_LOST);
	is = !*t.due ? "none has been due since it was added"
	     : !run  ? arena_printf(d->arena, "that of %s has not begun", t.due)
		     : say_run(run, d->arena);
	if (!is_met && level != CHECK_FAILED) {
		level = CHECK_FAILED;
		remedy = arena_printf(
			d->arena,
			"look at %s; `matins schedule show %s` prints what "
			"starts it",
			s->unit ? arena_printf(d->arena,
					       "systemctl --user status %s",
					       s->unit)
				: "what cron mailed",
			s->routine);
	}
	doctor_add(d, "schedule", s->routine, level, remedy,
		   "runs at %s, next %s; %s%s%s", s->at,
		   *t.next ? t.next : "never", is, wrong ? "; " : "",
		   wrong ? wrong : "");
	return is_met && !(run && run->state == RUN_RUNNING &&
			   (o->wall_ns - run->started_ns) / 1000000 >
				   (int64_t)o->stale_ms);
}

static void look_at_age(struct doctor *d, struct ledger_walk *runs,
			const char *routine, bool is_on_time)
{
	const struct ledger_run *run;
	const struct doctor_options *o = d->options;
	char when[CLOCK_TEXT_BYTES];
	const char *why = "", *lost = "";
	int64_t age_ms;
	bool is_fresh, is_other;

	for (size_t i = 0; (run = ledger_walk_at(runs, i)); i++) {
		if (!*lost && run->state == RUN_LOST && run->whole &&
		    ledger_run_is(run, routine, d->config->path))
			lost = arena_printf(d->arena,
					    "; run %llu of %s was lost",
					    (unsigned long long)run->generation,
					    run->started);
		if (run->state != RUN_FINISHED || strcmp(run->routine, routine))
			continue;
		if (!run->whole || strcmp(run->file, d->config->path) != 0) {
			is_other = *run->file &&
				   strcmp(run->file, d->config->path) != 0;
			/* the newest of them says why none counts */
			if (!*why)
				why = arena_printf(
					d->arena, "; the run of %s was %s%s",
					run->finished,
					is_other     ? "of "
					: *run->file ? "not of all steps"
						     : "recorded by an earlier "
						       "version, without its "
						       "file",
					is_other ? run->file : "");
			continue;
		}
		age_ms = (o->wall_ns - run->finished_ns) / 1000000;
		/* a clock that was wrong must not keep it fresh for years */
		is_fresh = is_on_time || (uint64_t)llabs(age_ms) <= o->stale_ms;
		clock_format(run->finished_ns, when);
		doctor_add(d, "stale", routine,
			   is_fresh ? CHECK_OK : CHECK_FAILED, TIMER_REMEDY,
			   "last finished at %s%s%s", when,
			   is_fresh || age_ms > 0
				   ? ""
				   : ", which is in the future: the clock was "
				     "wrong",
			   lost);
		return;
	}
	doctor_add(d, "stale", routine, CHECK_FAILED, TIMER_REMEDY,
		   "never finished a whole run%s%s", why, lost);
}

/* ---- schedules that start nothing ---- */

/* Look at a schedule whose file or routine is there no more. */
static void look_at_orphan(struct doctor *d, const struct schedule *s)
{
	const bool is_ours = !strcmp(s->file, d->config->path);

	if (is_ours || access(s->file, F_OK) < 0)
		doctor_add(d, "schedule", s->routine, CHECK_FAILED,
			   arena_printf(d->arena,
					"matins schedule remove %s%s%s, and "
					"add it by its new name",
					s->routine, is_ours ? "" : " -c ",
					is_ours ? "" : s->file),
			   is_ours ? "it is scheduled, and %s has no such "
				     "routine"
				   : "it is scheduled, and its file %s is "
				     "gone",
			   s->file);
}

void doctor_look_at_schedules(struct doctor *d)
{
	const struct doctor_options *o = d->options;
	const struct config *c = d->config;
	AUTO(ledger_walk_release) struct ledger_walk runs = {.since_ns = 0};
	AUTO(ledger_freep) struct ledger *l = NULL;
	const struct schedule *s;
	struct schedule *all;
	size_t n_all;

	schedule_read(d->state, d->arena, &all, &n_all);
	if (!o->stale_ms && !n_all)
		return;
	if (ledger_open_read(NULL, &l, ERR_IGNORED) == 0)
		ledger_walk_init(&runs, l, d->arena);
	for (size_t i = 0; i < c->n_routines; i++) {
		const char *name = c->routines[i].name;
		bool is_on_time = false;

		if (o->routine && o->routine != &c->routines[i])
			continue;
		s = schedule_of(all, n_all, c->path, name);
		if (s)
			is_on_time = look_at_schedule(d, &runs, s);
		if (o->stale_ms)
			look_at_age(d, &runs, name, is_on_time);
	}
	for (size_t i = 0; !o->routine && i < n_all; i++)
		if (!config_routine(c, all[i].routine) ||
		    strcmp(all[i].file, c->path) != 0)
			look_at_orphan(d, &all[i]);
}
