/* Limits: what the policy says, never above what we have. */

#include "tests/unit/test.h"

#include "gate/cgroup/limits.h"

static const struct policy policy = {.memory_bytes = 64 << 20,
				     .file_size_bytes = 1 << 20,
				     .processes = 100,
				     .files = 16};

/* As the gate makes them: with the limits that hold now. */
static void build(const struct policy *p, struct limits_context c,
		  struct limit ret[N_LIMITS])
{
	struct rlimit own[N_LIMITS];

	limits_own(own);
	c.own = own;
	limits_build(p, &c, ret);
}

static const struct limit *find(const struct limit *limits, int resource)
{
	for (size_t i = 0; i < N_LIMITS; i++)
		if (limits[i].resource == resource)
			return &limits[i];
	fail();
	return NULL;
}

TEST(limits, of_a_policy, are_hard)
{
	struct limits_context c = {.tasks = 7};
	struct limit l[N_LIMITS];

	build(&policy, c, l);
	for (size_t i = 0; i < N_LIMITS; i++)
		assert_true(l[i].both.rlim_cur == l[i].both.rlim_max);
	assert_int_equal(find(l, RLIMIT_CORE)->both.rlim_max, 0);
	assert_int_equal(find(l, RLIMIT_NOFILE)->both.rlim_max, 16);
	assert_int_equal(find(l, RLIMIT_NPROC)->both.rlim_max, 7);
	assert_int_equal(find(l, RLIMIT_DATA)->both.rlim_max, 64 << 20);
	assert_int_equal(find(l, RLIMIT_FSIZE)->both.rlim_max, 1 << 20);
}

TEST(memory, counted_by_a_group, needs_no_limit)
{
	struct limits_context c = {.tasks = 7, .memory_counted = true};
	struct policy small = policy;
	struct limit l[N_LIMITS];
	struct rlimit now;

	assert_int_equal(getrlimit(RLIMIT_DATA, &now), 0);
	build(&policy, c, l);
	assert_true(find(l, RLIMIT_DATA)->both.rlim_max == now.rlim_max);
	/* a group has never less than this */
	small.memory_bytes = 8 << 20;
	build(&small, c, l);
	assert_int_equal(find(l, RLIMIT_DATA)->both.rlim_max, 8 << 20);
}

TEST(limits, above_our_own, are_ours)
{
	struct limits_context c = {.tasks = 7};
	struct policy large = policy;
	struct rlimit now, low;
	struct limit l[N_LIMITS];

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &now), 0);
	/* more than the output of all tests */
	low = (struct rlimit){1 << 28, 1 << 29};
	assert_true(now.rlim_max > low.rlim_max);
	large.file_size_bytes = 1 << 30;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	build(&large, c, l);
	assert_int_equal(find(l, RLIMIT_FSIZE)->both.rlim_max, 1 << 29);
	large.file_size_bytes = 0;
	build(&large, c, l);
	assert_int_equal(find(l, RLIMIT_FSIZE)->both.rlim_max, 1 << 29);
}

TEST(tasks, counted_for_the_child_alone, are_the_policys)
{
	assert_int_equal(limits_tasks(&policy, LIMITS_OWN_USER), 100);
	assert_true(limits_tasks(&policy, LIMITS_OWN_PIDS) == RLIM_INFINITY);
	/* together with all others of the machine there is room for those */
	assert_true(limits_tasks(&policy, LIMITS_SHARED) > 100);
	assert_true(limits_tasks(&policy, LIMITS_SHARED) < UINT32_MAX);
}
