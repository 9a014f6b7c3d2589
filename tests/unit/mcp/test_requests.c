#include <string.h>

#include "tests/unit/test.h"

#include "core/base/err.h"
#include "core/base/scan.h"
#include "core/mcp/session/core.h"

static struct request *add(struct requests *t, uint64_t id)
{
	struct request *r = requests_add(t, id, id + 100, "m");

	r->sent = true;
	return r;
}

static struct request *find(struct requests *t, const char *id)
{
	struct rpc_id read = rpc_read_id(str_of(id));

	return requests_find(t, &read);
}

TEST(table, add_find_remove, keeps_the_order)
{
	struct requests t = {0};

	assert_null(requests_oldest(&t));
	for (uint64_t id = 1; id <= 50; id++)
		add(&t, id);
	assert_int_equal(requests_oldest(&t)->id, 1);
	requests_remove(&t, requests_oldest(&t));
	requests_remove(&t, find(&t, "25"));
	assert_int_equal(requests_oldest(&t)->id, 2);
	assert_null(find(&t, "25"));
	assert_int_equal(find(&t, "26")->ticket, 126);
	assert_int_equal(find(&t, "\"26\"")->id, 26);
	assert_int_equal(requests_find_ticket(&t, 150)->id, 50);
	assert_null(requests_find_ticket(&t, 50));
	assert_int_equal(requests_sent(&t), 48);
	requests_release(&t);
	assert_int_equal(t.n, 0);
}

TEST(table, unsent_requests, have_no_answer)
{
	struct requests t = {0};

	requests_add(&t, 1, 1, "m");
	add(&t, 2);
	assert_null(find(&t, "1"));
	assert_int_equal(requests_oldest(&t)->id, 2);
	assert_non_null(requests_find_ticket(&t, 1));
	requests_release(&t);
}

TEST(deadlines, the_earliest, counts)
{
	struct requests t = {0};

	assert_int_equal(requests_deadline(&t, false), UINT64_MAX);
	add(&t, 1)->deadline_ns = 500;
	add(&t, 2)->total_deadline_ns = 400;
	assert_int_equal(requests_deadline(&t, false), 400);
	assert_null(requests_find_time(&t, REQUEST_EXPIRED, 399));
	assert_int_equal(requests_find_time(&t, REQUEST_EXPIRED, 400)->id, 2);
	requests_remove(&t, find(&t, "2"));
	assert_int_equal(requests_deadline(&t, false), 500);
	t.first->progress_held = true;
	t.first->next_progress_ns = 300;
	requests_timed(&t, t.first);
	assert_int_equal(requests_deadline(&t, false), 300);
	assert_null(requests_find_time(&t, REQUEST_PROGRESS, 299));
	assert_int_equal(requests_find_time(&t, REQUEST_PROGRESS, 300)->id, 1);
	requests_release(&t);
}

static bool take(struct request *r, const char *params)
{
	return request_take_progress(r, str_of(params));
}

TEST(PRO_2, progress, is_taken_as_it_came)
{
	struct requests t = {0};
	struct request *r = add(&t, 1);

	assert_true(take(r, "{\"progress\":0.50,\"total\":1e2,\"message\":"
			    "\"a\\tb\"}"));
	assert_true(r->progress_held);
	assert_string_equal(r->progress.progress, "0.50");
	assert_string_equal(r->progress.total, "1e2");
	assert_string_equal(buf_cstr(&r->progress.message), "a\tb");
	assert_true(take(r, "{\"progress\":101}"));
	assert_string_equal(r->progress.total, "");
	assert_int_equal(r->progress.message.n, 0);
	requests_release(&t);
}

TEST(PRO_3, progress_that_does_not_grow, is_none)
{
	/* more digits than are kept */
	static const char too_long[] =
		"{\"progress\":60000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000}";
	static const char *const bad[] = {
		"{}",
		"[]",
		"{\"progress\":\"6\"}",
		"{\"progress\":null}",
		"{\"progress\":5}",
		"{\"progress\":4.9}",
		"{\"progress\":-1e400}",
		too_long,
	};
	struct requests t = {0};
	struct request *r = add(&t, 1);

	assert_true(take(r, "{\"progress\":5}"));
	r->progress_held = false;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(take(r, bad[i]));
	assert_false(r->progress_held);
	requests_release(&t);
}
