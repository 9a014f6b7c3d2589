#include "core/run/order.h"

void order_init(struct order *o, const struct plan *plan, struct arena *arena)
{
	*o = (struct order){
		.plan = plan,
		.begun = ARENA_ARRAY(arena, bool, plan->n_steps),
		.ended = ARENA_ARRAY(arena, bool, plan->n_steps),
	};
	for (size_t i = 0; i < plan->n_steps; i++)
		o->late_left += plan->steps[i].step->after != NULL;
}

static bool is_last(const struct order *o, size_t i)
{
	return o->plan->steps[i].step->after;
}

/* Has all ended that a step waits for? */
static bool is_ready(const struct order *o, size_t i)
{
	const struct flow_step *f = o->plan->steps[i].flow;

	for (size_t k = 0; k < f->n_waits; k++)
		if (!o->ended[f->wait[k].step])
			return false;
	return true;
}

static size_t running(const struct order *o)
{
	return o->n_begun - o->n_ended;
}

/* The first that has not begun, of those with `after` or of the others. */
static size_t first_of(const struct order *o, bool last)
{
	size_t i = o->first;

	while (i < o->plan->n_steps && (o->begun[i] || is_last(o, i) != last))
		i++;
	return i;
}

static size_t next_by_file(const struct order *o)
{
	size_t i = first_of(o, false);

	if (i == o->plan->n_steps || !is_ready(o, i))
		return o->plan->n_steps;
	return !running(o) || o->plan->steps[i].with_previous
		       ? i
		       : o->plan->n_steps;
}

static size_t next_by_needs(const struct order *o)
{
	size_t i = o->first;

	while (i < o->plan->n_steps &&
	       (o->begun[i] || is_last(o, i) || !is_ready(o, i)))
		i++;
	return i;
}

size_t order_next(const struct order *o, bool has_room)
{
	size_t n = o->plan->n_steps;

	if (!has_room)
		return n;
	/* the others have begun */
	if (o->late_left && o->n_begun + o->late_left >= n)
		return running(o) ? n : first_of(o, true);
	return o->plan->by_needs ? next_by_needs(o) : next_by_file(o);
}

void order_begin(struct order *o, size_t step)
{
	o->begun[step] = true;
	o->n_begun++;
	o->late_left -= is_last(o, step);
	while (o->first < o->plan->n_steps && o->begun[o->first])
		o->first++;
}

void order_end(struct order *o, size_t step)
{
	o->ended[step] = true;
	o->n_ended++;
}

bool order_is_over(const struct order *o)
{
	return o->n_ended == o->plan->n_steps;
}
