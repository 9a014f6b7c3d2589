#include "core/run/hold.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/run/step_result.h"
#include "core/run/step_words.h"
#include "core/run/walk.h"

struct hold {
	struct step_run *whole;
	struct arena arena;  /* of the plan */
	struct walk walk;    /* its steps begin nothing; .runs NULL: not open */
	struct hold **child; /* of steps that are routines; each owned */
	struct judgement *result; /* first failure of each step */
	size_t n_open;		  /* steps that expect a server */
	bool is_ending;
	struct str refused; /* sentence; in the arena of the whole */
};

/* ---- its steps ---- */

static void begin(struct step_run *s UNUSED)
{
}

static void stop(struct step_run *s, const char *why UNUSED)
{
	step_close(s, NULL);
}

static void release(struct step_run *s UNUSED)
{
}

static const struct step_doer hold_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
	.repeats = true,
};

static void on_ended(void *arg, struct step_run *s)
{
	struct hold *h = arg;
	struct step_run *whole = h->whole;

	h->n_open--;
	step_keep_words(whole, &s->result);
	whole->result.refused |= s->result.refused;
	if (s->result.reason == REASON_REFUSED && !h->refused.n)
		h->refused = str_of(arena_printf(&whole->arena, "%s: %.*s",
						 s->result.name,
						 STR_ARG(s->result.error)));
	whole->ctx->jobs->has_news = true;
}

/* ---- the begin ---- */

struct hold *hold_new(struct step_run *whole)
{
	struct hold *h = mem_zalloc(sizeof(*h));

	h->whole = whole;
	return h;
}

struct hold *hold_of(struct hold *around, const struct step_run *s)
{
	const struct plan *plan;

	if (!around || around->whole->plan->step == s->plan->step)
		return around;
	plan = &around->walk.plan;
	for (size_t i = 0; around->walk.runs && i < plan->n_steps; i++) {
		if (strcmp(plan->steps[i].step->name, s->plan->step->name) != 0)
			continue;
		if (!around->child[i])
			around->child[i] = hold_new(around->whole);
		return around->child[i];
	}
	return NULL;
}

/* Let the steps that share a server expect it. */
static void begin_steps(struct hold *h)
{
	struct step_context *ctx = &h->walk.ctx;

	ctx->shows_advice = true;
	ctx->whole = h->whole;
	ctx->step_ended = on_ended;
	ctx->ended_arg = h;
	for (size_t i = 0; i < h->walk.plan.n_steps; i++) {
		struct step_run *s = &h->walk.runs[i];

		s->doer = &hold_doer;
		if (!s->session || !s->session->user.server)
			continue;
		h->n_open++;
		step_begin(s);
	}
}

void hold_open(struct hold *h, const struct plan_options *o, void *input)
{
	struct plan_options own = *o;

	if (!h || h->walk.runs)
		return;
	/* the text goes with the pass */
	own.given.object = arena_str(&h->arena, o->given.object);
	if (plan_make(&own, &h->arena, &h->walk.plan, ERR_IGNORED) < 0) {
		arena_release(&h->arena);
		h->arena = (struct arena)ARENA_INIT;
		return;
	}
	/* an id of its own: it shares no server that is for one input alone */
	h->walk.input = input ? h : NULL;
	walk_init(&h->walk, h->whole->ctx->world, &h->arena);
	h->child = ARENA_ARRAY(&h->arena, struct hold *, h->walk.plan.n_steps);
	h->result =
		ARENA_ARRAY(&h->arena, struct judgement, h->walk.plan.n_steps);
	begin_steps(h);
}

/* ---- the passes ---- */

void hold_take(struct hold *h, size_t i, const struct step_run *part)
{
	struct judgement *first;

	if (!h || !h->walk.runs)
		return;
	step_take_over(&h->walk.runs[i], part);
	first = &h->result[i];
	if (first->reason != REASON_NONE || !step_has_failed(part))
		return;
	first->reason = part->result.reason;
	first->error = arena_str(&h->arena, part->result.error);
}

/* ---- the end ---- */

void hold_end(struct hold *h)
{
	if (!h || !h->walk.runs || h->is_ending)
		return;
	h->is_ending = true;
	h->walk.ctx.grace_ms = h->whole->ctx->grace_ms;
	for (size_t i = 0; i < h->walk.plan.n_steps; i++) {
		struct step_run *s = &h->walk.runs[i];

		hold_end(h->child[i]);
		s->hurry = h->whole->hurry;
		if (s->phase == STEP_RUNNING)
			step_close(s, &h->result[i]);
	}
}

bool hold_is_over(const struct hold *h)
{
	if (!h || !h->walk.runs)
		return true;
	for (size_t i = 0; i < h->walk.plan.n_steps; i++)
		if (!hold_is_over(h->child[i]))
			return false;
	return !h->n_open;
}

void hold_cancel(struct hold *h, const char *why)
{
	/* before, the passes still end */
	if (!h || !h->is_ending)
		return;
	for (size_t i = 0; i < h->walk.plan.n_steps; i++) {
		hold_cancel(h->child[i], why);
		if (h->walk.runs[i].phase == STEP_CLOSING)
			step_cancel(&h->walk.runs[i], why);
	}
}

void hold_judge(const struct hold *h, struct judgement *j)
{
	if (!h || !h->walk.runs)
		return;
	if (j->reason == REASON_NONE && h->refused.n) {
		j->reason = REASON_REFUSED;
		j->error = h->refused;
	}
	for (size_t i = 0; i < h->walk.plan.n_steps; i++)
		hold_judge(h->child[i], j);
}

void hold_free(struct hold *h)
{
	if (!h)
		return;
	for (size_t i = 0; h->walk.runs && i < h->walk.plan.n_steps; i++)
		hold_free(h->child[i]);
	if (!h->whole->ctx)
		walk_leave_loop(&h->walk);
	walk_clear(&h->walk);
	arena_release(&h->arena);
	free(h);
}
