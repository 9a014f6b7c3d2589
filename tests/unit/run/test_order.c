/*
 * Which steps run together, as rows of data.
 *
 *	file JOBS | STEPS    in the order of the file
 *	needs JOBS | STEPS   by what they need
 *
 * STEPS are words: a letter, "*" for parallel with the one before, "+" for
 * `after`, then the letters that it waits for. The steps that run at one time
 * stand together; then all of them end.
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/run/order.h"

static struct flow_step waits_of(struct str rest, const struct strlist *words,
				 struct arena *arena)
{
	struct flow_step f = {.wait = NULL};

	for (size_t i = 0; i < rest.n; i++)
		for (size_t k = 0; k < words->n; k++)
			if (words->item[k][0] == rest.p[i]) {
				f.wait = arena_grow(arena, f.wait, f.n_waits,
						    sizeof(*f.wait));
				f.wait[f.n_waits++].step = k;
			}
	return f;
}

static struct plan make_plan(const struct strlist *words, struct arena *arena)
{
	struct flow_step *flow = ARENA_ARRAY(arena, struct flow_step, words->n);
	struct step *steps = ARENA_ARRAY(arena, struct step, words->n);
	struct plan plan = {
		.steps = ARENA_ARRAY(arena, struct plan_step, words->n),
		.n_steps = words->n,
	};

	for (size_t i = 0; i < words->n; i++) {
		struct str rest = str_skip(str_of(words->item[i]), 1);

		for (; rest.n && strchr("*+", rest.p[0]);
		     rest = str_skip(rest, 1)) {
			plan.steps[i].with_previous |= rest.p[0] == '*';
			if (rest.p[0] == '+')
				steps[i].after = "always";
		}
		flow[i] = waits_of(rest, words, arena);
		plan.steps[i].flow = &flow[i];
		plan.steps[i].step = &steps[i];
	}
	return plan;
}

static int walk(struct value_row *r, bool by_needs)
{
	const struct strlist words = value_words(r->part[1], &r->arena);
	struct plan plan = make_plan(&words, &r->arena);
	uint64_t jobs = 0;
	struct order o;

	assert_true(str_uint64(str_of(r->part[0]), &jobs));
	plan.by_needs = by_needs;
	order_init(&o, &plan, &r->arena);
	while (!order_is_over(&o)) {
		size_t begun[16], n = 0, next;

		while ((next = order_next(&o, n < jobs)) < plan.n_steps) {
			order_begin(&o, next);
			buf_addc(&r->out, words.item[next][0]);
			begun[n++] = next;
		}
		if (!n)
			return err_set(&r->err, ERR_INTERNAL, "nothing runs");
		for (size_t i = 0; i < n; i++)
			order_end(&o, begun[i]);
		buf_addc(&r->out, ' ');
	}
	r->out.n -= r->out.n > 0;
	return 0;
}

static int by_file(struct value_row *r)
{
	return walk(r, false);
}

static int by_needs(struct value_row *r)
{
	return walk(r, true);
}

static const struct value_reader READERS[] = {
	{"file", by_file},
	{"needs", by_needs},
};
TEST_VALUES(READERS, "tests/unit/run/values/orders.transcript");
