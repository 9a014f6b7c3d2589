/* Where control groups lie, from what the kernel writes. */

#include "tests/unit/test.h"

#include "gate/cgroup/cgroup_find.h"

#define ROW(root, point, type, options)                                       \
	"31 23 0:28 " root " " point " rw,relatime shared:4 master:1 - " type \
	" x " options "\n"

#define USUAL_V2 ROW("/", "/sys/fs/cgroup", "cgroup2", "rw")
#define USUAL_V1                                                 \
	ROW("/", "/sys/fs/cgroup/memory", "cgroup", "rw,memory") \
	ROW("/", "/sys/fs/cgroup/pids", "cgroup", "rw,pids")

struct row {
	const char *mounts, *groups;
	struct cgroup_places want;
};

static void same(const char *got, const char *want, const char *what)
{
	if ((got && want) ? strcmp(got, want) != 0 : got != want)
		fail_msg("%s: %s, not %s", what, got ? got : "none",
			 want ? want : "none");
}

TEST(places, of_every_kind, are_found)
{
	static const struct row rows[] = {
		{"", "", {NULL, NULL, NULL, NULL}},
		{ROW("/", "/c", "cgroup2", "rw"),
		 "0::/user/a\n",
		 {"/c/user/a", "/c", NULL, NULL}},
		{ROW("/", "/c", "cgroup2", "rw"),
		 "0::/\n",
		 {"/c", "/c", NULL, NULL}},
		{ROW("/", "/m", "cgroup", "rw,memory")
			 ROW("/", "/p", "cgroup", "rw,pids"),
		 "8:pids:/a\n4:memory:/b/c\n0::/\n",
		 {NULL, NULL, "/m/b/c", "/p/a"}},
		{ROW("/", "/mp", "cgroup", "rw,memory,pids"),
		 "4:memory,pids:/b\n",
		 {NULL, NULL, "/mp/b", "/mp/b"}},
		/* a mount shows what is beneath its root */
		{ROW("/docker/x", "/m", "cgroup", "rw,memory"),
		 "4:memory:/docker/x/y\n",
		 {NULL, NULL, "/m/y", NULL}},
		{ROW("/docker/x", "/m", "cgroup", "rw,memory"),
		 "4:memory:/docker/xy\n",
		 {NULL, NULL, NULL, NULL}},
		{ROW("/docker/x", "/m", "cgroup", "rw,memory"),
		 "4:memory:/else\n",
		 {NULL, NULL, NULL, NULL}},
		/* outside of our namespace */
		{ROW("/", "/c", "cgroup2", "rw"),
		 "0::/../other\n",
		 {NULL, "/c", NULL, NULL}},
		{ROW("/", "/c", "cgroup2", "rw"),
		 "0::/gone (deleted)\n",
		 {NULL, NULL, NULL, NULL}},
		/* names with blanks and colons */
		{ROW("/", "/my\\040groups", "cgroup2", "rw"),
		 "0::/a b:c\n",
		 {"/my groups/a b:c", "/my groups", NULL, NULL}},
		/* where most systems have them */
		{USUAL_V2,
		 "0::/user.slice/a\n",
		 {"/sys/fs/cgroup/user.slice/a", "/sys/fs/cgroup", NULL, NULL}},
		{USUAL_V2,
		 "0::/\n",
		 {"/sys/fs/cgroup", "/sys/fs/cgroup", NULL, NULL}},
		{USUAL_V1,
		 "9:name=systemd:/x\n8:pids:/\n4:memory:/a/b\n0::/\n",
		 {NULL, NULL, "/sys/fs/cgroup/memory/a/b",
		  "/sys/fs/cgroup/pids"}},
		{USUAL_V1,
		 "8:pids:/../p\n4:memory:/a\n",
		 {NULL, NULL, "/sys/fs/cgroup/memory/a", NULL}},
		{USUAL_V2, "", {NULL, NULL, NULL, NULL}},
		{USUAL_V1,
		 "4:memory\n4\n:::\n8:pids:b\n",
		 {NULL, NULL, NULL, NULL}},
		/* similar words */
		{ROW("/", "/m", "cgroup", "rw,memoryx,name=memory"),
		 "4:memory:/b\n",
		 {NULL, NULL, NULL, NULL}},
		{ROW("/", "/m", "tmpfs", "rw,memory"),
		 "4:memory:/b\n",
		 {NULL, NULL, NULL, NULL}},
		/* rows that are cut short */
		{"31 23 0:28 / /m rw - cgroup",
		 "4:memory:/b\n",
		 {NULL, NULL, NULL, NULL}},
		{ROW("/", "/m", "cgroup", "rw,memory"),
		 "4:memory\n4\n:::\n4:memory:b\n",
		 {NULL, NULL, NULL, NULL}},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		const struct row *r = &rows[i];
		struct cgroup_places got;

		cgroup_find(str_of(r->mounts), str_of(r->groups), &arena, &got);
		same(got.unified, r->want.unified, r->mounts);
		same(got.unified_top, r->want.unified_top, r->mounts);
		same(got.memory, r->want.memory, r->mounts);
		same(got.pids, r->want.pids, r->mounts);
	}
}

TEST(word, whole, counts)
{
	assert_true(cgroup_has_word(STR("cpu memory pids\n"), ' ', "pids"));
	assert_true(cgroup_has_word(STR("memory"), ' ', "memory"));
	assert_false(cgroup_has_word(STR("memory_x\n"), ' ', "memory"));
	assert_false(cgroup_has_word(STR(""), ' ', "memory"));
}

TEST(count, of_a_name, is_its_number)
{
	struct str text = STR("oom 3\noom_kill 2\nmax x\nlast 9");

	assert_int_equal(cgroup_find_count(text, "oom_kill"), 2);
	assert_int_equal(cgroup_find_count(text, "last"), 9);
	assert_int_equal(cgroup_find_count(text, "max"), 0);
	assert_int_equal(cgroup_find_count(text, "oom_"), 0);
}
