/* Afterwards: the report with its facts, and the end in the ledger. */
#include <sys/utsname.h>

#include "core/base/log.h"
#include "core/report/render.h"
#include "core/client/facts.h"
#include "core/run/run_inner.h"

/* ---- the report ---- */

static void write_facts(struct run *r, struct jw *w)
{
	uint64_t ns = loop_now(&r->loop) - r->begin_ns;
	struct utsname u;

	jw_kv_cstr(w, "matins", MATINS_VERSION);
	if (uname(&u) == 0)
		jw_kv_cstr(w, "kernel", u.release);
	facts_time(w, "started", r->begin_wall_ns);
	facts_time(w, "finished", r->loop.clock->wall_ns(r->loop.clock));
	jw_kv_int(w, "duration_us", (int64_t)(ns / 1000));
	if (r->o->file->config.path)
		jw_kv_cstr(w, "config", r->o->file->config.path);
	if (r->leash.source)
		jw_kv_cstr(w, "leash", r->leash.source);
	if (r->loop.signal)
		jw_kv_cstr(w, "ended_by", run_signal_name(r->loop.signal));
	jw_key(w, "warnings");
	jw_array(w);
	for (size_t i = 0; i < r->n_warnings; i++)
		jw_cstr(w, r->warnings[i]);
	jw_end(w);
}

static void fill_facts(struct run *r)
{
	AUTO(buf_release) struct buf run = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &run, false);
	jw_object(&w);
	write_facts(r, &w);
	jw_end(&w);
	r->result->report.run = arena_str(&r->result->arena, buf_str(&run));
}

void run_fill_report(struct run *r)
{
	struct report *report = &r->result->report;

	report->steps = ARENA_ARRAY(&r->result->arena, struct report_step,
				    r->plan.n_steps);
	report->n_steps = r->plan.n_steps;
	for (size_t i = 0; i < r->plan.n_steps; i++) {
		report->steps[i] = r->result->runs[i].result;
		r->result->scrubbed += r->result->runs[i].scrubbed;
	}
	fill_facts(r);
	r->result->exit_status = r->loop.signal ? 128 + r->loop.signal
						: report_exit_status(report);
}

/* ---- the ledger ---- */

/* `step` must not look like a run of the whole routine in the ledger. */
struct ledger_routine run_which(struct run *r)
{
	const struct run_options *o = r->o;
	struct ledger_routine which = {
		.name = r->plan.routine->name,
		.file = o->file->config.path,
		.whole = !o->only_step && !o->only.n && !o->skip.n,
	};

	if (o->only_step)
		which.name = arena_printf(&r->result->arena, "%s/%s",
					  which.name, o->only_step);
	return which;
}

/* "morning/host: 1 ran, …" for one step: no run of the whole routine. */
static const char *ledger_summary(struct run *r)
{
	struct arena *arena = &r->result->arena;
	const char *summary = report_summary(&r->result->report, arena);

	if (!r->o->only_step)
		return summary;
	return arena_printf(arena, "%s%s", run_which(r).name,
			    summary + strlen(r->result->report.routine));
}

static void print_json(const void *report, struct buf *out)
{
	const struct render_options full = {.view = VIEW_FULL};

	render_find("json")->print(report, &full, out);
}

void run_finish_ledger(struct run *r)
{
	const struct fd_text report = {print_json, &r->result->report};
	struct err err = ERR_INIT;
	struct ledger_end end = {
		.which = run_which(r),
		.summary = ledger_summary(r),
		.success = report_success(&r->result->report),
		.exit_status = r->result->exit_status,
		.wall_ns = r->loop.clock->wall_ns(r->loop.clock),
	};

	if (!r->ledger)
		return;
	if (ledger_finish(r->ledger, r->result->report.generation, &end,
			  &report, r->o->file->config.keep_runs, &err) < 0) {
		run_warn(r, arena_printf(&r->result->arena,
					 "this run is not fully recorded: %s",
					 err.msg));
		fill_facts(r);
		if (r->o->require_ledger && r->result->exit_status == 0)
			r->result->exit_status = err_exit_status(err.kind);
	}
}

/* A generation was taken, and then nothing could be run. */
void run_record_failure(struct run *r, const struct err *why)
{
	struct err ignored = ERR_INIT;
	struct ledger_end end;

	/* without a ledger there is perhaps no loop and so no clock */
	if (!r->ledger || !r->result->report.generation)
		return;
	end = (struct ledger_end){
		.which = run_which(r),
		.summary = why->msg,
		.exit_status = err_exit_status(why->kind),
		.wall_ns = r->loop.clock->wall_ns(r->loop.clock),
	};
	end.which.whole = false;
	if (ledger_finish(r->ledger, r->result->report.generation, &end, NULL,
			  r->o->file->config.keep_runs, &ignored) < 0)
		log_warning("this run is not recorded: %s", ignored.msg);
}
