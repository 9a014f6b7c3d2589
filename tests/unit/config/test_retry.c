/*
 * Whether and when there is another attempt, as rows of data.
 *
 *	cause WORD		 may it stand in `on`?
 *	wait RULES | CASE | N	 milliseconds after attempt N, or "none"
 *
 * RULES: words MAX,WAIT,FACTOR,MAX_WAIT in ms, then those of `on`. CASE: the
 * reason, then "before", "repeat", exit=N, rpc=N, http=N, after=SECONDS.
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/config/retry.h"

static int read_cause(struct value_row *r)
{
	return value_is(r, retry_is_cause(str_of(r->part[0])));
}

static int64_t number_of(const char *word)
{
	int64_t n = 0;

	assert_true(str_int64(str_of(strchr(word, '=') + 1), &n));
	return n;
}

static struct retry_case case_of(const struct strlist *words)
{
	struct retry_case c = {.reason = words->item[0], .after_s = -1};

	for (size_t i = 1; i < words->n; i++) {
		struct str w = str_of(words->item[i]);

		if (str_is(w, "before")) {
			c.is_before = true;
		} else if (str_is(w, "repeat")) {
			c.may_repeat = true;
		} else if (str_starts(w, "exit=")) {
			c.has_exit = true;
			c.exit_status = (int)number_of(w.p);
		} else if (str_starts(w, "rpc=")) {
			c.has_rpc = true;
			c.rpc_code = number_of(w.p);
		} else if (str_starts(w, "http=")) {
			c.http_status = (int)number_of(w.p);
		} else {
			assert_true(str_starts(w, "after="));
			c.after_s = number_of(w.p);
		}
	}
	return c;
}

static int read_wait(struct value_row *r)
{
	struct strlist rules = value_words(r->part[0], &r->arena);
	struct strlist words = value_words(r->part[1], &r->arena);
	struct retry_case c = case_of(&words);
	struct retry_rules how = {.on = {rules.item + 1, rules.n - 1}};
	struct str rest = str_of(rules.item[0]);
	uint64_t *const field[] = {&how.max, &how.wait_ms, &how.factor,
				   &how.max_wait_ms};
	uint64_t attempt;
	int64_t ms;

	for (size_t i = 0; i < ARRAY_LEN(field); i++)
		assert_true(str_uint64(str_cut(&rest, ','), field[i]));
	assert_true(str_uint64(str_of(r->part[2]), &attempt));
	ms = retry_wait(&how, &c, attempt);
	if (ms < 0)
		buf_adds(&r->out, "none");
	else
		buf_addf(&r->out, "%lld", (long long)ms);
	return 0;
}

static const struct value_reader READERS[] = {
	{"cause", read_cause},
	{"wait", read_wait},
};
TEST_VALUES(READERS, "tests/unit/config/values/retry.transcript");
