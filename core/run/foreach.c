/*
 * A step that runs once for each element of an array.
 *
 * Each execution is a step of its own, with its own arguments and time, in the
 * session of the server that the whole step holds; what it gave is written into
 * the data of the whole and then released. The data is
 *
 *	{"schema":"matins-items/1","items":[{"index":0,"state":"ok",
 *	 "reason":null,"error":null,"output":"…","data":…}, …]}
 */
#include <stdlib.h>

#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/client.h"
#include "core/run/hold.h"
#include "core/run/jobs.h"
#include "core/run/step.h"
#include "core/run/step_words.h"

/* Room for all results is made at once, up to this. */
#define ROOM_BYTES ((size_t)16 * 1024 * 1024)

/* One execution at a time. */
struct slot {
	struct step_run run;
	struct plan_step plan;
	size_t index;
	bool is_used;
};

struct foreach {
	struct step_run *whole;
	struct step_context ctx; /* of the executions */
	struct jobs_giver giver;
	struct scan_iter rest; /* elements that have not begun */
	size_t n, n_begun, n_ended, n_running;
	size_t n_failed, n_skipped;
	size_t first;	 /* index of the first that was not ok */
	const char *why; /* sentence about it; in the arena of the whole */
	struct slot *slot;
	size_t n_slots;
	bool is_beginning; /* an execution, which may end at once */
	struct buf data, body;
	struct buf output; /* of the item that is written */
	size_t n_written;  /* elements in both */
	size_t n_shown;	   /* of these in `body`, for people */
	struct str *later; /* elements behind one that runs still; owned */
	struct values_read read;
	struct err err; /* of the last element that cannot begin */
	const char *cancelled;
	size_t n_bytes;	   /* of results */
	bool is_over;	   /* n_bytes are too many */
	struct hold *hold; /* owned; NULL: it repeats no routine */
};

/* ---- what an execution gave ---- */

static void write_item(struct foreach *f, const struct report_step *s,
		       size_t index, struct buf *out)
{
	size_t before = out->n;
	struct jw w;

	buf_clear(&f->output);
	report_step_output(&f->output, s);
	w = jw_begin(out);
	jw_kv_int(&w, "index", (int64_t)index);
	jw_kv_cstr(&w, "state", REPORT_STATES[s->state].word);
	jw_key(&w, "reason");
	if (s->reason == REASON_NONE)
		jw_null(&w);
	else
		jw_cstr(&w, report_reason_name(s->reason));
	jw_key(&w, "error");
	if (s->error.n)
		jw_str(&w, s->error);
	else
		jw_null(&w);
	jw_kv_str(&w, "output", buf_str(&f->output));
	jw_key(&w, "data");
	if (report_step_has_data(s))
		report_step_data(&w, s);
	else
		jw_null(&w);
	jw_end(&w);
	f->n_bytes += out->n - before;
}

/* The outputs one after the other, as far as a person reads. */
static void show(struct foreach *f, struct str item)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str output;

	if (f->body.n >= LIMIT_KEPT_OUTPUT)
		return;
	f->n_shown++;
	if (scan_get(item, "output", &output))
		(void)!scan_string(output, &text);
	if (!text.n)
		return;
	buf_adds(&f->body, f->body.n ? "\n" : "");
	buf_add_cut(&f->body, buf_str(&text), LIMIT_KEPT_OUTPUT);
}

static void add_comma(struct foreach *f)
{
	if (f->n_written++)
		buf_addc(&f->data, ',');
}

/* Write what has ended, in the order of the elements. */
static void keep_item(struct foreach *f, const struct report_step *result,
		      size_t index)
{
	struct buf later = BUF_INIT(BUF_UNBOUNDED);
	size_t from;

	if (index != f->n_written) {
		write_item(f, result, index, &later);
		f->later[index].n = later.n;
		f->later[index].p = buf_steal(&later);
		return;
	}
	add_comma(f);
	from = f->data.n;
	write_item(f, result, index, &f->data);
	/* room for all of them, should they be alike */
	if (!index && f->data.n < ROOM_BYTES / f->n)
		(void)!buf_room(&f->data, f->data.n * f->n);
	show(f, str_skip(buf_str(&f->data), from));
	while (f->n_written < f->n && f->later[f->n_written].p) {
		struct str *s = &f->later[f->n_written];

		add_comma(f);
		buf_add_str(&f->data, *s);
		show(f, *s);
		free((char *)(uintptr_t)s->p);
		s->p = NULL;
	}
}

static void count(struct foreach *f, const struct report_step *s, size_t index)
{
	f->n_ended++;
	if (s->state == STATE_OK)
		return;
	if (s->state == STATE_SKIPPED)
		f->n_skipped++;
	else
		f->n_failed++;
	if (f->why && f->first < index)
		return;
	f->first = index;
	f->why = arena_strndup(&f->whole->arena, s->error.p, s->error.n);
}

/* ---- one execution ---- */

static bool can_begin(const struct foreach *f)
{
	return !f->cancelled && f->n_begun < f->n &&
	       f->n_running < f->whole->plan->step->max_parallel &&
	       jobs_have_room(f->ctx.jobs);
}

static void begin_next(struct foreach *f);

static void on_ended(void *arg, struct step_run *s)
{
	struct foreach *f = arg;

	f->n_running--;
	f->ctx.jobs->running -= s->doer->is_job;
	f->ctx.jobs->has_news = true;
	/* the server works while this result is written */
	if (s->is_call && !f->is_beginning && can_begin(f))
		begin_next(f);
}

static void tell_progress(const struct foreach *f)
{
	const struct step_context *ctx = f->whole->ctx;
	char note[64];

	if (!ctx->progress)
		return;
	snprintf(note, sizeof(note), "%zu/%zu", f->n_ended, f->n);
	ctx->progress(ctx->arg, f->whole, note);
}

static size_t bytes_max(const struct foreach *f)
{
	uint64_t max = f->whole->plan->step->stdout_max;

	return max > LIMIT_ITEMS_BYTES ? max : LIMIT_ITEMS_BYTES;
}

static void stop(struct step_run *s, const char *why);

/* Nothing calls back for an execution that ended before this turn. */
static void release_ended(struct foreach *f)
{
	for (size_t i = 0; i < f->n_slots; i++) {
		struct slot *slot = &f->slot[i];

		if (!slot->is_used || slot->run.phase != STEP_ENDED)
			continue;
		count(f, &slot->run.result, slot->index);
		step_keep_words(f->whole, &slot->run.result);
		keep_item(f, &slot->run.result, slot->index);
		step_take_over(f->whole, &slot->run);
		step_release(&slot->run);
		slot->is_used = false;
		tell_progress(f);
	}
	if (f->n_bytes <= bytes_max(f) || f->cancelled)
		return;
	f->is_over = true;
	stop(f->whole, "the results are too long");
}

static struct slot *free_slot(struct foreach *f)
{
	for (size_t i = 0; i < f->n_slots; i++)
		if (!f->slot[i].is_used)
			return &f->slot[i];
	return NULL;
}

static void begin_slot(struct foreach *f, struct slot *slot, struct str element)
{
	struct values v = *f->ctx.values;
	struct step_run *s = &slot->run;
	struct env env = {.item = NULL};

	slot->plan = *f->whole->plan;
	slot->index = f->n_begun++;
	slot->is_used = true;
	v.step = slot->plan.step->name;
	v.is_lenient = slot->plan.step->after;
	v.item = element;
	v.read = &f->read;
	v.index = slot->index;
	v.owns_item = slot->plan.owns_items;
	env_add_lines(&env, env_lines(&f->whole->env));
	*s = (struct step_run){.env = env};
	f->n_running++;
	step_init(s, &f->ctx, &slot->plan);
	f->ctx.jobs->running += s->doer->is_job;
	if (plan_fill(&slot->plan, &v, &s->arena, &f->err) < 0) {
		slot->plan.reason = REASON_REFERENCE;
		slot->plan.error = str_of(arena_strdup(&s->arena, f->err.msg));
	}
	step_begin(s);
}

static void begin_next(struct foreach *f)
{
	struct slot *slot = free_slot(f);

	if (!slot || !scan_next(&f->rest))
		return;
	f->is_beginning = true;
	begin_slot(f, slot, f->rest.value);
	f->is_beginning = false;
}

/* ---- all of them ---- */

/* Elements that have not begun when the whole is ended early. */
static void cancel_the_rest(struct foreach *f)
{
	struct report_step none = {
		.state = STATE_FAILED,
		.reason = REASON_CANCELLED,
		.error = STR("cancelled before it began"),
	};

	while (scan_next(&f->rest)) {
		size_t index = f->n_begun++;

		count(f, &none, index);
		keep_item(f, &none, index);
	}
}

static struct judgement judge_all(struct foreach *f)
{
	struct judgement j = {.reason = REASON_NONE};

	buf_adds(&f->data, "]}");
	j.data = arena_buf(&f->whole->arena, &f->data);
	if (f->n_shown < f->n)
		buf_addf(&f->body, "\n(and %zu more)", f->n - f->n_shown);
	f->whole->result.lacks = f->n ? LACKS_NOTHING : LACKS_ITEMS;
	j.output = f->n ? arena_str(&f->whole->arena, buf_str(&f->body))
			: STR("(no items)");
	if (f->is_over) {
		j.reason = REASON_OUTPUT_LIMIT;
		j.error = str_of(arena_printf(
			&f->whole->arena,
			"the results of its elements are over %zu bytes "
			"together; raise stdout_max of the step when that much "
			"is expected, or let the program keep them in files",
			bytes_max(f)));
		return j;
	}
	if (!f->why)
		return j;
	j.reason = REASON_ITEMS;
	j.error = str_of(arena_printf(
		&f->whole->arena, "%zu of %zu %s; first: [%zu] %s",
		f->n_failed ? f->n_failed : f->n_skipped, f->n,
		f->n_failed ? "failed" : "skipped", f->first, f->why));
	return j;
}

/* The server of a call that runs, or NULL. */
static struct client *client_asked(const struct foreach *f)
{
	for (size_t i = 0; i < f->n_slots; i++) {
		const struct step_run *s = &f->slot[i].run;

		if (f->slot[i].is_used && s->phase == STEP_RUNNING &&
		    s->session)
			return s->session->user.client;
	}
	return NULL;
}

static void go_on_once(struct foreach *f)
{
	release_ended(f);
	if (f->cancelled)
		cancel_the_rest(f);
	else if (can_begin(f))
		begin_next(f);
}

/* For struct jobs_giver. */
static bool go_on(void *arg)
{
	struct foreach *f = arg;
	struct client *client;
	struct judgement j;

	do {
		go_on_once(f);
		client = can_begin(f) ? NULL : client_asked(f);
	} while (client && client_look_ahead(client));
	if (f->n_ended < f->n)
		return can_begin(f);
	hold_end(f->hold);
	if (!hold_is_over(f->hold))
		return false;
	jobs_leave(f->ctx.jobs, &f->giver);
	j = judge_all(f);
	hold_judge(f->hold, &j);
	step_close(f->whole, &j);
	return false;
}

/* ---- the whole ---- */

static void begin(struct step_run *s)
{
	const struct step *step = s->plan->step;
	struct foreach *f = mem_zalloc(sizeof(*f));

	s->work = f;
	f->whole = s;
	f->ctx = *s->ctx;
	f->ctx.whole = s;
	f->hold = step->routine ? hold_new(s) : NULL;
	f->ctx.hold = f->hold;
	f->ctx.step_ended = on_ended;
	f->ctx.ended_arg = f;
	/* the whole shows it, once */
	f->ctx.shows_advice = true;
	f->giver = (struct jobs_giver){go_on, f};
	f->rest = scan_over(s->plan->items);
	f->n = scan_count(s->plan->items);
	/* one has ended and waits to be written */
	f->n_slots = f->n < step->max_parallel ? f->n : step->max_parallel + 1;
	f->slot = mem_zalloc(f->n_slots * sizeof(*f->slot) + 1);
	f->later = mem_zalloc(f->n * sizeof(*f->later) + 1);
	f->data = f->body = f->output = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	buf_adds(&f->data, "{\"schema\":\"matins-items/1\",\"items\":[");
	jobs_join(f->ctx.jobs, &f->giver);
}

static void stop(struct step_run *s, const char *why)
{
	struct foreach *f = s->work;

	f->cancelled = why;
	f->ctx.grace_ms = s->ctx->grace_ms;
	f->ctx.jobs->has_news = true;
	for (size_t i = 0; i < f->n_slots; i++)
		if (f->slot[i].is_used)
			step_cancel(&f->slot[i].run, why);
	hold_cancel(f->hold, why);
}

static void release(struct step_run *s)
{
	struct foreach *f = s->work;

	if (!f)
		return;
	for (size_t i = 0; i < f->n_slots; i++)
		if (f->slot[i].is_used) {
			if (!s->ctx)
				f->slot[i].run.ctx = NULL;
			step_release(&f->slot[i].run);
		}
	for (size_t i = 0; i < f->n; i++)
		free((char *)(uintptr_t)f->later[i].p);
	hold_free(f->hold);
	arena_release(&f->read.arena);
	buf_release(&f->data);
	buf_release(&f->body);
	buf_release(&f->output);
	free(f->slot);
	free(f->later);
	free(f);
}

const struct step_doer foreach_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
	.repeats = true,
};
