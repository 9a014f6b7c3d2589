/* Filters of requests: one for each want, and none for another's. */
#include "tests/unit/test.h"

#include "gate/prepare/prepare_filter.h"

struct fixture {
	struct gate *gate;
	struct prepared p;
};

/* A request as prepare.c leaves it: a child without a view that stays root. */
static void begin(struct fixture *f, bool writes)
{
	static const struct gate_request nothing;
	static const struct gate_policy none;
	static const char *item[] = {"/srv"};
	struct err err = ERR_INIT;

	f->p = (struct prepared){.gate = f->gate,
				 .request = &nothing,
				 .arena = ARENA_INIT,
				 .launch = {.fd = LAUNCH_NO_FDS}};
	assert_int_equal(
		policy_resolve(&none, NULL, &f->p.arena, &f->p.policy, &err),
		0);
	if (writes)
		f->p.policy.write = (struct strlist){item, 1};
	assert_int_equal(prepare_filter(&f->p, &err), 0);
}

static const struct sock_filter *filter_of(struct fixture *f, bool writes)
{
	const struct sock_filter *insn;

	begin(f, writes);
	insn = f->p.launch.filter_errno.filter;
	prepared_release(&f->p);
	return insn;
}

static int setup(void **state)
{
	static const struct gate_config config;
	static struct fixture f;
	struct err err = ERR_INIT;

	*state = &f;
	return gate_new(&config, &f.gate, &err);
}

static int teardown(void **state)
{
	gate_free(((struct fixture *)*state)->gate);
	return 0;
}

FIXTURE(gate, setup, teardown);

TEST_IN(gate, filter, of_the_same_want, is_built_once)
{
	assert_ptr_equal(filter_of(*state, false), filter_of(*state, false));
}

TEST_IN(gate, filter, that_keeps_attributes, is_not_one_that_does_not)
{
	const struct sock_filter *writes = filter_of(*state, true);

	assert_ptr_not_equal(filter_of(*state, false), writes);
}
