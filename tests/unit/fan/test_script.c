#include "tests/unit/test.h"

#include "core/fan/script.h"

/* The shards of an array, of a set that has these. */
static void are(const uint64_t *shard, size_t n, uint64_t base, uint64_t many,
		const char *text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct shard_set s = {.n = 0};

	for (size_t i = 0; i < n; i++)
		shards_add(&s, shard[i], &arena);
	shards_print(&s, base, many, &out);
	assert_string_equal(buf_cstr(&out), text);
}

TEST(shards, of_an_array, are_ranges_less_its_base)
{
	static const uint64_t shard[] = {0, 1, 1, 2, 7, 999, 1000, 1001, 2500};

	are(shard, 0, 0, 1000, "");
	are(shard, ARRAY_LEN(shard), 0, 1000, "0-2,7,999");
	are(shard, ARRAY_LEN(shard), 1000, 1000, "0-1");
	are(shard, ARRAY_LEN(shard), 2000, 1000, "500");
	are(shard, ARRAY_LEN(shard), 3000, 1000, "");
}

TEST(script, of_an_array, quotes_its_words)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct submit_words w = {
		.matins = "/opt/ma tins",
		.dir = "/home/ann/$(x)",
		.routine = "hello",
		.jobs = 2,
		.max = 5,
		.time = "10",
	};

	slurm_script(&w, STR("0-3,7"), 1000, &out);
	assert_non_null(strstr(out.p, "\n#SBATCH --array=0-3,7%5\n"));
	assert_non_null(strstr(out.p, "\n#SBATCH --time=10\n"));
	assert_non_null(strstr(
		out.p, "\n'/opt/ma tins' fan exec '/home/ann/$(x)' --shard "
		       "$((1000 + SLURM_ARRAY_TASK_ID)) -j 2\n"));
	buf_clear(&out);
	slurm_collect_script(&w, &out);
	assert_non_null(strstr(out.p,
			       "\n'/opt/ma tins' fan collect '/home/ann/$(x)' "
			       "-o '/home/ann/$(x)/report.json'\n"));
}

TEST(hosts, listed, have_slots_and_a_program)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_host *h;
	size_t n;

	assert_int_equal(hosts_read(STR("# lab\n n1\t4 /opt/my matins # big\n\n"
					"ann@n2\nn3 1"),
				    &arena, &h, &n, ERR_IGNORED),
			 0);
	assert_int_equal(n, 3);
	assert_string_equal(h[0].name, "n1");
	assert_int_equal(h[0].slots, 4);
	assert_string_equal(h[0].matins, "/opt/my matins");
	assert_string_equal(h[1].name, "ann@n2");
	assert_int_equal(h[1].slots, 1);
	assert_string_equal(h[2].matins, "matins");
}

TEST(hosts, twice, have_more_slots)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct fan_host *h;
	size_t n;

	assert_int_equal(
		hosts_read(STR("n1\nn2\nn1 2\n"), &arena, &h, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(h[0].slots, 3);
	assert_string_equal(h[1].name, "n2");
}

TEST(hosts, wrong, are_refused_with_their_line)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"", "there is no host"},	{"# n1\n", "there is no host"},
		{"n1\nn2 0\n", "line 2: "},	{"n1 1025", "line 1: "},
		{"n1 /opt/matins", "line 1: "}, {"\n-F x\n", "line 2: "},
		{"{\"n\":1}\n", "line 1: "},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct fan_host *h;
		size_t n;

		assert_int_equal(
			hosts_read(str_of(rows[i].text), &arena, &h, &n, &err),
			-1);
		assert_int_equal(
			strncmp(err.msg, rows[i].says, strlen(rows[i].says)),
			0);
	}
}
