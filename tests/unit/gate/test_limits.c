/* Limits: what the policy says. */

#include "tests/unit/test.h"

#include "gate/cgroup/limits.h"

static const struct policy policy = {.memory_bytes = 64 << 20,
				     .file_size_bytes = 1 << 20,
				     .processes = 100,
				     .files = 16};

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

	limits_build(&policy, &c, l);
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

	limits_build(&policy, &c, l);
	assert_true(find(l, RLIMIT_DATA)->both.rlim_max == RLIM_INFINITY);
	/* a group has never less than this */
	small.memory_bytes = 8 << 20;
	limits_build(&small, &c, l);
	assert_int_equal(find(l, RLIMIT_DATA)->both.rlim_max, 8 << 20);
}

TEST(tasks, counted_for_the_child_alone, are_the_policys)
{
	assert_int_equal(limits_tasks(&policy, LIMITS_OWN_USER), 100);
	assert_true(limits_tasks(&policy, LIMITS_OWN_PIDS) == RLIM_INFINITY);
	/* together with all others of the machine there is room for those */
	assert_true(limits_tasks(&policy, LIMITS_SHARED) > 100);
	assert_true(limits_tasks(&policy, LIMITS_SHARED) < UINT32_MAX);
}
