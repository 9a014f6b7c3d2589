#include "core/run/record.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/client/facts.h"
#include "core/report/ledger_lock.h"
#include "core/report/ledger_slot.h"
#include "core/report/render.h"
#include "core/report/store.h"
#include "core/run/previous.h"

static void warn(struct record *r, const char *sentence)
{
	log_warning("%s", sentence);
	list_add(&r->warnings, &r->result->arena,
		 arena_strdup(&r->result->arena, sentence));
}

void record_warn(struct record *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn(r, arena_vprintf(&r->result->arena, fmt, ap));
	va_end(ap);
}

/* Name the routine, or one step of it: in the ledger `step` must not look like
   a run of the whole routine, and a trace not like one under the policy. */
static struct ledger_routine which_of(struct record *r)
{
	const struct run_options *o = r->o;
	struct ledger_routine which = {
		.name = r->result->walk.plan.routine->name,
		.file = o->file->config.path,
		.whole = !o->only_step && !o->only.n && !o->skip.n && !o->from,
		.slot = o->slot,
	};

	if (o->only_step)
		which.name =
			arena_printf(&r->result->arena, "%s/%s%s", which.name,
				     o->only_step, o->tracer ? " (trace)" : "");
	return which;
}

/* ---- lock and generation ---- */

static bool asks_for_lock(const struct record *r)
{
	const char *mode = r->result->walk.plan.routine->on_busy;

	return mode && strcmp(mode, "run") != 0;
}

static int take_lock(struct record *r, struct err *err)
{
	const char *mode = r->result->walk.plan.routine->on_busy;
	const struct ledger_routine which = {
		.name = r->result->walk.plan.routine->name,
		.file = r->o->file->config.path,
	};

	if (!asks_for_lock(r))
		return 0;
	if (ledger_lock_routine(r->ledger, &which, strcmp(mode, "wait") == 0,
				&r->lock, err) == 0)
		return 0;
	r->result->busy_skipped =
		err->kind == ERR_BUSY && strcmp(mode, "skip") == 0;
	return r->result->busy_skipped ? 0 : -1;
}

static int lock_slots(struct record *r, bool wait, int *ret, struct err *err)
{
	const struct ledger_routine slots = {
		.name = arena_printf(&r->result->arena, "%s/slot",
				     r->which.name),
		.file = r->which.file,
	};

	return ledger_lock_routine(r->ledger, &slots, wait, ret, err);
}

/* Look whether the slot was run, while no other process looks. A starter that
   waits for the routine, with on_busy, lets later ones wait here. */
static int take_slot(struct record *r, int *ret_lock, struct err *err)
{
	if (!r->which.slot)
		return 0;
	if (lock_slots(r, true, ret_lock, err) < 0 ||
	    ledger_find_slot(r->ledger, &r->which, r->o->slot_since_ns,
			     &r->result->slot_ran, err) < 0)
		return -1;
	r->result->busy_skipped = r->result->slot_ran;
	return 0;
}

/* Keep that the slot is taken; hold the lock. */
static int keep_slot(struct record *r, enum ledger_event_kind kind,
		     int64_t wall_ns, struct err *err)
{
	if (!r->which.slot)
		return 0;
	return ledger_keep_slot(r->ledger, &r->which,
				r->result->report.generation, kind, wall_ns,
				err);
}

/* Keep that it was run. Where another process looks, which may itself wait for
   the end of this routine, or where that fails, the ledger still tells. */
static void end_slot(struct record *r)
{
	AUTO(fd_closep) int lock = -1;

	if (r->which.slot && lock_slots(r, false, &lock, ERR_IGNORED) == 0)
		(void)!keep_slot(r, EVENT_FINISHED,
				 r->loop->clock->wall_ns(r->loop->clock),
				 ERR_IGNORED);
}

/* Steps that start programs wait for the disk while these get ready. */
static bool has_programs_only(const struct record *r)
{
	for (size_t i = 0; i < r->result->walk.plan.n_steps; i++) {
		const struct step *step = r->result->walk.plan.steps[i].step;
		const struct server *server = step->server;

		if ((server && server->url) || step->routine)
			return false;
	}
	return true;
}

/* Flush; the time of a slow disk is not that of the steps. */
static int flush_ledger(struct record *r, struct err *err)
{
	struct loop *l = r->loop;
	uint64_t begin = l->clock->now_ns(l->clock);
	int rc = ledger_sync(r->ledger, err);

	loop_put_off(l, l->clock->now_ns(l->clock) - begin);
	return rc;
}

int record_start(void *arg, struct err *err)
{
	struct record *r = arg;
	bool is_required =
		r->o->require_ledger || r->o->slot || asks_for_lock(r);

	if (!r->ledger || (r->is_unsynced && !is_required) ||
	    flush_ledger(r, err) == 0)
		return 0;
	r->is_unsynced = true;
	if (is_required)
		return err_wrap(err, "the ledger is required");
	warn(r, arena_printf(&r->result->arena, "this run is not recorded: %s",
			     err->msg));
	*err = (struct err)ERR_INIT;
	return 0;
}

/* Say that the run before was lost, unless this one goes on with it. A shard
   does: its results say what is left to run, and the same number of another
   plan has the same name here. */
static void say_lost(struct record *r)
{
	const unsigned long long lost = ledger_lost_before(r->ledger);

	if (lost && !r->o->resume && !r->o->many)
		record_warn(r,
			    "run %llu of %s, the one before this, was lost: "
			    "it began and never said how it ended; `matins "
			    "show %llu` says how it is resumed",
			    lost, r->which.name, lost);
}

int record_open(struct record *r, struct err *err)
{
	const struct strlist *said = &r->result->walk.plan.warnings;
	AUTO(fd_closep) int slots = -1;
	struct err why = ERR_INIT;

	r->which = which_of(r);
	for (size_t i = 0; i < said->n; i++)
		warn(r, said->item[i]);
	if (r->o->dry_run || r->o->replay)
		return loop_take_signals(r->loop, err);
	if (ledger_open(NULL, &r->ledger, &why) == 0) {
		/* waits without signals taken: Ctrl-C ends that as ever */
		if (take_slot(r, &slots, err) < 0)
			return -1;
		if (!r->result->slot_ran && take_lock(r, err) < 0)
			return -1;
		if (r->result->busy_skipped)
			return 0;
		if (loop_take_signals(r->loop, err) < 0)
			return -1;
		if (ledger_start(r->ledger, &r->which, r->begin_wall_ns,
				 &r->result->report.generation, &why) == 0 &&
		    keep_slot(r, EVENT_STARTED, r->begin_wall_ns, &why) == 0 &&
		    (has_programs_only(r) ||
		     ledger_sync(r->ledger, &why) == 0)) {
			say_lost(r);
			return 0;
		}
	}
	if (r->o->require_ledger || r->o->slot || asks_for_lock(r)) {
		*err = why;
		return err_wrap(err, r->o->require_ledger
					     ? "the ledger is required"
				     : r->o->slot ? "--slot needs the ledger"
						  : "on_busy needs the ledger");
	}
	warn(r, arena_printf(&r->result->arena, "this run is not recorded: %s",
			     why.msg));
	ledger_free(r->ledger);
	r->ledger = NULL;
	return r->loop->signals < 0 ? loop_take_signals(r->loop, err) : 0;
}

/* ---- afterwards: the report and the end in the ledger ---- */

static void fill_facts(struct record *r)
{
	AUTO(buf_release) struct buf run = BUF_INIT(BUF_UNBOUNDED);
	struct utsname u;
	struct jw w;

	if (!r->end_ns) {
		r->end_ns = loop_now(r->loop);
		r->end_wall_ns = r->loop->clock->wall_ns(r->loop->clock);
	}

	w = jw_begin(&run);
	jw_kv_cstr(&w, "matins", MATINS_VERSION);
	if (uname(&u) == 0)
		jw_kv_cstr(&w, "kernel", u.release);
	facts_time(&w, "started", r->begin_wall_ns);
	facts_time(&w, "finished", r->end_wall_ns);
	jw_kv_int(&w, "duration_us",
		  (int64_t)((r->end_ns - r->begin_ns) / 1000));
	jw_kv_opt(&w, "config", r->o->file->config.path);
	jw_kv_opt(&w, "leash", r->leash);
	jw_kv_opt(&w, "ended_by", r->ended_by);
	jw_kv_opt(&w, "replay", r->o->replay);
	if (r->result->walk.earlier)
		jw_kv_uint(&w, "taken_from",
			   r->result->walk.earlier->generation);
	jw_kv_list(&w, "warnings", &r->warnings);
	if (r->notices.n)
		jw_kv_raw(&w, "notices", r->notices);
	jw_end(&w);
	r->result->report.run = arena_str(&r->result->arena, buf_str(&run));
}

void record_fill(struct record *r)
{
	struct report *report = &r->result->report;

	walk_report(&r->result->walk, &r->result->arena, report);
	for (size_t i = 0; i < report->n_steps; i++)
		r->result->scrubbed += r->result->walk.runs[i].scrubbed;
	r->result->exit_status = r->loop->signal ? 128 + r->loop->signal
						 : report_exit_status(report);
}

static void print_json(const void *report, struct buf *out)
{
	const struct render_options full = {.view = VIEW_FULL};

	render_find("json")->print(report, &full, out);
}

/* ---- results as they come, for a run that is lost ---- */

static int open_journal(struct record *r, struct err *err)
{
	const struct config *config = &r->o->file->config;

	r->journal = store_journal(ledger_dir(r->ledger), config->path,
				   r->result->report.generation, err);
	return r->journal < 0 ? -1 : 0;
}

void record_keep(struct record *r, const struct report_step *s)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct report_step one = *s;
	struct report report = {
		.generation = r->result->report.generation,
		.routine = r->result->report.routine,
		.steps = &one,
		.n_steps = 1,
	};
	struct err err = ERR_INIT;

	if (!r->ledger || s->state != STATE_OK || r->has_no_journal ||
	    r->result->walk.plan.n_steps < 2 || !r->o->file->config.keep_runs)
		return;
	if (r->result->walk.earlier)
		report.run = previous_facts((struct str){NULL, 0},
					    r->result->walk.earlier->generation,
					    "taken_from", &r->result->arena);
	print_json(&report, &line);
	if ((r->journal >= 0 || open_journal(r, &err) == 0) &&
	    fd_write_all(r->journal, line.p, line.n) == 0)
		return;
	r->has_no_journal = true;
	warn(r, arena_printf(&r->result->arena,
			     "if this run is lost it cannot be resumed: %s",
			     err.kind ? err.msg : strerror(errno)));
}

static void end_journal(struct record *r)
{
	if (r->journal >= 0)
		store_end_journal(ledger_dir(r->ledger),
				  r->o->file->config.path,
				  r->result->report.generation);
	fd_closep(&r->journal);
}

static void finish_ledger(struct record *r)
{
	struct arena *arena = &r->result->arena;
	const struct report *report = &r->result->report;
	const struct fd_text text = {print_json, report, r->let_go,
				     r->let_go_arg};
	struct err err = ERR_INIT;
	struct ledger_end end = {
		.which = r->which,
		.summary = report_summary(report, arena),
		.success = report_success(report),
		.exit_status = r->result->exit_status,
		.wall_ns = r->loop->clock->wall_ns(r->loop->clock),
	};

	if (!r->ledger)
		return;
	/* "morning/host: 1 ran, …" for one step: no run of the whole routine */
	if (r->o->only_step)
		end.summary =
			arena_printf(arena, "%s%s", end.which.name,
				     end.summary + strlen(report->routine));
	if (ledger_finish(r->ledger, report->generation, &end, &text,
			  r->o->file->config.keep_runs, &err) == 0) {
		end_journal(r);
		return;
	}
	warn(r, arena_printf(arena, "this run is not fully recorded: %s",
			     err.msg));
	fill_facts(r);
	/* the status of a run that a signal ended says that */
	if (r->o->require_ledger && !r->loop->signal)
		r->result->exit_status = err_exit_status(err.kind);
}

/* A generation was taken, and then nothing could be run. */
static void record_failure(struct record *r, const struct err *why)
{
	struct err ignored = ERR_INIT;
	struct ledger_end end;

	/* without a ledger there is perhaps no loop and so no clock */
	if (!r->ledger || !r->result->report.generation)
		return;
	end = (struct ledger_end){
		.which = r->which,
		.summary = why->msg,
		.exit_status = err_exit_status(why->kind),
		.wall_ns = r->loop->clock->wall_ns(r->loop->clock),
	};
	end.which.whole = false;
	if (r->o->tracer)
		end.summary = arena_printf(&r->result->arena, "%s: %s",
					   end.which.name, why->msg);
	if (ledger_finish(r->ledger, r->result->report.generation, &end, NULL,
			  r->o->file->config.keep_runs, &ignored) < 0)
		log_warning("this run is not recorded: %s", ignored.msg);
}

void record_end(struct record *r, const struct err *why)
{
	if (why) {
		record_failure(r, why);
		return;
	}
	fill_facts(r);
	finish_ledger(r);
	if (r->ledger && r->result->report.generation)
		end_slot(r);
}

void record_amend(struct record *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct ledger_amendment a = {
		.which = r->which,
		.notices = r->notices,
		.keep_runs = r->o->file->config.keep_runs,
		.wall_ns = r->loop->clock->wall_ns(r->loop->clock),
	};
	struct err err = ERR_INIT;

	if (!r->notices.n)
		return;
	fill_facts(r);
	if (!r->ledger)
		return;
	print_json(&r->result->report, &text);
	a.report = buf_str(&text);
	if (ledger_amend(r->ledger, r->result->report.generation, &a, &err) < 0)
		record_warn(r, "the report is kept without its notices: %s",
			    err.msg);
}
