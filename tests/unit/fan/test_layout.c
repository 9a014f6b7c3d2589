#include "tests/unit/test.h"

#include "core/fan/layout.h"

static const struct manifest planned = {
	.routine = "hello",
	.config_path = "/home/ann/matins.toml",
	.config_sha256 = "00ff",
	.config_text = {"[x]\n\"q\"", 7},
	.leash = {"{\"exec\":\"all\"}", 14},
	.n = 26,
	.n_keys = 25,
	.per_shard = 10,
	.n_shards = 3,
	.inputs_sha256 = "abcd",
};

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(manifest, printed, is_read_as_it_was)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf rows = BUF_INIT(BUF_UNBOUNDED);
	struct manifest m;
	struct manifest other = planned;
	struct manifest_shard shard = {UINT64_C(99999999999999),
				       "0123456789abcdef"};
	size_t n;

	manifest_head(&planned, &head);
	assert_int_equal(manifest_read(buf_str(&head), &arena, &m, ERR_IGNORED),
			 0);
	assert_string_equal(m.routine, "hello");
	assert_string_equal(m.config_path, planned.config_path);
	assert_true(str_eq(m.config_text, planned.config_text));
	assert_true(str_eq(m.leash, planned.leash));
	assert_int_equal(m.n, 26);
	assert_int_equal(m.n_keys, 25);
	assert_int_equal(m.per_shard, 10);
	assert_int_equal(m.n_shards, 3);
	manifest_row(&shard, true, &rows);
	assert_int_equal(rows.n, MANIFEST_ROW);
	shard = (struct manifest_shard){0};
	assert_true(manifest_shard(buf_str(&rows), &shard));
	assert_int_equal(shard.offset, UINT64_C(99999999999999));
	assert_string_equal(shard.sum, "0123456789abcdef");
	rows.p[5] = 'x';
	assert_false(manifest_shard(buf_str(&rows), &shard));
	rows.p[5] = '9';
	rows.p[20] = 'G';
	assert_false(manifest_shard(buf_str(&rows), &shard));
	assert_false(manifest_shard(str_first(buf_str(&rows), 30), &shard));
	n = head.n;
	buf_clear(&head);
	other.n = other.n_keys = other.n_shards = 12345678;
	manifest_head(&other, &head);
	assert_int_equal(head.n, n);
}

TEST(manifest, not_whole, is_refused)
{
	static const char *const heads[] = {
		"",
		"{\"shards\":[\n",
		"{\"schema\":\"matins-fan/2\",\"shards\":[\n",
		"{\"schema\":\"matins-fan/1\",\"inputs\":{},\"config\":{},"
		"\"shards\":[\n",
		"{\"schema\":\"matins-fan/1\",\"routine\":\"x\",\"config\":"
		"{\"path\":\"rel\",\"sha256\":\"\",\"text\":\"\"},\"inputs\":"
		"{\"n\":1,\"keys\":1},\"per_shard\":1,\"n_shards\":1,"
		"\"shards\":[\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		AUTO(arena_release) struct arena arena = ARENA_INIT;
		struct manifest m;

		assert_int_equal(manifest_read(str_of(heads[i]), &arena, &m,
					       ERR_IGNORED),
				 -1);
	}
}

TEST(key, of_an_input, differs_with_each_part)
{
	char a[SHA256_HEX_BYTES], b[SHA256_HEX_BYTES];
	struct manifest other = planned;

	fan_key(&planned, STR("{\"a\":1}"), a);
	fan_key(&planned, STR("{\"a\":2}"), b);
	assert_string_not_equal(a, b);
	other.leash.n = 0;
	fan_key(&other, STR("{\"a\":1}"), b);
	assert_string_not_equal(a, b);
	other = planned;
	other.routine = "hallo";
	fan_key(&other, STR("{\"a\":1}"), b);
	assert_string_not_equal(a, b);
	other = planned;
	other.config_path = "/home/bob/matins.toml";
	fan_key(&other, STR("{\"a\":1}"), b);
	assert_string_not_equal(a, b);
	fan_key(&planned, STR("{\"a\":1}"), b);
	assert_string_equal(a, b);
}

TEST(name, of_a_file, has_the_folder_of_its_key)
{
	assert_string_equal(fan_result_name(KEY).text,
			    "results/01/" KEY ".json");
	assert_string_equal(fan_failed_name(KEY).text, "failed/01/" KEY);
	assert_string_equal(fan_claim_name(KEY).text, "claims/01/" KEY);
	assert_true(fan_is_result(KEY ".json"));
	assert_false(fan_is_result(KEY));
	assert_false(fan_is_result("." KEY ".json"));
	assert_false(fan_is_result("x123456789abcdef0123456789abcdef0123456789a"
				   "bcdef0123456789abcdef.json"));
}

static enum fan_state state_of(struct str text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_result r;

	fan_result_read(text, KEY, &arena, &r);
	return r.state;
}

TEST(result, of_more_than_one_line, is_torn)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct report_step step = {.name = "say", .type = "script"};
	const struct report r = {
		.routine = "hello", .steps = &step, .n_steps = 1};

	fan_result_print(KEY, &r, 7, "2026-01-01T00:00:00.000Z", "me", &text);
	assert_int_equal(state_of(buf_str(&text)), FAN_OK);
	/* white space is JSON there, and a row of its own in a list */
	for (size_t at = 0; at < text.n; at++) {
		AUTO(buf_release) struct buf two = BUF_INIT(BUF_UNBOUNDED);

		if (text.p[at] != ',')
			continue;
		buf_add(&two, text.p, at + 1);
		buf_addc(&two, '\n');
		buf_add(&two, text.p + at + 1, text.n - at - 1);
		assert_int_equal(state_of(buf_str(&two)), FAN_TORN);
	}
	buf_addc(&text, '\n');
	assert_int_equal(state_of(buf_str(&text)), FAN_TORN);
}

TEST(result, cut_anywhere, is_torn)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct report_step step = {.name = "say", .type = "script"};
	const struct report r = {
		.routine = "hello", .steps = &step, .n_steps = 1};

	fan_result_print(KEY, &r, 7, "2026-01-01T00:00:00.000Z", "me", &text);
	assert_int_equal(state_of(buf_str(&text)), FAN_OK);
	for (size_t n = 0; n < text.n; n++)
		assert_int_equal(state_of((struct str){text.p, n}), FAN_TORN);
	*strchr(text.p, ',') = '\n';
	assert_int_equal(state_of(buf_str(&text)), FAN_TORN);
	buf_clear(&text);
	fan_result_print(KEY, &r, 7, "", "me", &text);
	text.n--;
	buf_adds(&text, " \n");
	memmove(text.p + 2, text.p + 1, text.n - 3);
	text.p[1] = '\n';
	assert_int_equal(state_of(buf_str(&text)), FAN_TORN);
	buf_clear(&text);
	fan_result_print("other", &r, 7, "", "me", &text);
	assert_int_equal(state_of(buf_str(&text)), FAN_TORN);
	buf_clear(&text);
	report_step_set(&step, REASON_EXIT_STATUS, STR("status 3"));
	fan_result_print(KEY, &r, 7, "", "me", &text);
	assert_int_equal(state_of(buf_str(&text)), FAN_FAILED);
}
