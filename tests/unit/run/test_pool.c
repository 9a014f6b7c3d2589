#include "tests/unit/test.h"

#include "core/run/pool.h"

static const char *const plain_argv[] = {"srv", "a", NULL};
static const char *const other_argv[] = {"srv", "b", NULL};
static const char *paths_a[] = {"/a"};
static const char *paths_b[] = {"/b"};

struct sample {
	struct step step;
	struct gate_policy policy;
	struct plan_step plan;
};

static void make(struct sample *s)
{
	*s = (struct sample){0};
	s->step.name = "s";
	s->policy.read = (struct strlist){paths_a, 1};
	s->plan.step = &s->step;
	s->plan.request.program = "srv";
	s->plan.request.argv = plain_argv;
	s->plan.request.cwd = "/w";
	s->plan.request.policy = &s->policy;
}

static bool shares(const struct sample *a, const char *const *env_a,
		   const struct sample *b, const char *const *env_b)
{
	unsigned char x[SHA256_BYTES], y[SHA256_BYTES];

	pool_key(&a->plan, env_a, x);
	pool_key(&b->plan, env_b, y);
	return memcmp(x, y, sizeof(x)) == 0;
}

TEST(pool_key, same_server, shared)
{
	static const char *const env_a[] = {"K=v", NULL};
	static const char *const env_b[] = {"K=v", NULL};
	struct sample a, b;

	make(&a);
	make(&b);
	/* what belongs to the step alone */
	b.step.name = "t";
	b.step.tool = "another";
	b.step.timeout_ms = 7;
	b.step.stdout_max = 9;
	b.plan.inputs.json = STR("{}");
	assert_true(shares(&a, NULL, &b, NULL));
	assert_true(shares(&a, env_a, &b, env_b));
}

TEST(pool_key, environment_differs, not_shared)
{
	static const char *const one[] = {"K=v", NULL};
	static const char *const two[] = {"K=w", NULL};
	static const char *const split[] = {"K=", "v", NULL};
	struct sample a, b;

	make(&a);
	make(&b);
	assert_false(shares(&a, one, &b, two));
	assert_false(shares(&a, one, &b, NULL));
	assert_false(shares(&a, one, &b, split));
}

TEST(pool_key, anything_of_the_server_differs, not_shared)
{
	static const struct gate_program_rule rule = {.name = "git"};
	struct sample a, b;

	make(&a);
#define DIFFERS(change)                                   \
	do {                                              \
		make(&b);                                 \
		change;                                   \
		assert_false(shares(&a, NULL, &b, NULL)); \
	} while (0)
	DIFFERS(b.step.server_name = "named");
	DIFFERS(b.plan.request.program = "srv2");
	DIFFERS(b.plan.request.argv = other_argv);
	DIFFERS(b.plan.request.cwd = "/x");
	DIFFERS(b.plan.request.cwd = NULL);
	DIFFERS(b.plan.request.cwd_required = true);
	DIFFERS(b.plan.request.record = GATE_RECORD_EXEC);
	DIFFERS(b.plan.protocol = "2025-06-18");
	DIFFERS(b.policy.read.item = paths_b);
	DIFFERS(b.policy.read.n = 0);
	DIFFERS(b.policy.write = b.policy.read);
	DIFFERS((b.policy.write = b.policy.read, b.policy.read.n = 0));
	DIFFERS(b.policy.exec = b.policy.read);
	DIFFERS(b.policy.net = b.policy.read);
	DIFFERS(b.policy.profile = "strict");
	DIFFERS(b.policy.memory_bytes = 1);
	DIFFERS(b.policy.file_size_bytes = 1);
	DIFFERS(b.policy.processes = 1);
	DIFFERS(b.policy.files = 1);
	DIFFERS(b.policy.cpu_seconds = 1);
	DIFFERS(b.policy.tmp_shared = true);
	DIFFERS(b.policy.isolate = GATE_ISOLATE_OFF);
	DIFFERS(b.policy.require = b.policy.read);
	DIFFERS(b.policy.syscalls = b.policy.read);
	DIFFERS(b.policy.user = "root");
	DIFFERS((b.policy.programs.item = &rule, b.policy.programs.n = 1));
	DIFFERS(b.policy.record_exec = true);
#undef DIFFERS
}
