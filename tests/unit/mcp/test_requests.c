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
	return requests_find(t, str_of(id), false);
}

static struct request *oldest(struct requests *t)
{
	return requests_pending(t, NULL);
}

TEST(table, add_find_remove, keeps_the_order)
{
	struct requests t = {0};

	assert_null(oldest(&t));
	for (uint64_t id = 1; id <= 50; id++)
		add(&t, id);
	assert_int_equal(oldest(&t)->id, 1);
	requests_remove(&t, oldest(&t));
	requests_remove(&t, find(&t, "25"));
	assert_int_equal(oldest(&t)->id, 2);
	assert_null(find(&t, "25"));
	assert_int_equal(find(&t, "26")->ticket, 126);
	assert_int_equal(find(&t, "\"26\"")->id, 26);
	assert_int_equal(requests_find_ticket(&t, 150)->id, 50);
	assert_null(requests_find_ticket(&t, 50));
	assert_int_equal(t.n, 48);
	assert_int_equal(requests_pending(&t, find(&t, "24"))->id, 26);
	assert_null(requests_pending(&t, t.last));
	requests_release(&t);
	assert_int_equal(t.n, 0);
}

TEST(table, unsent_requests, have_no_answer)
{
	struct requests t = {0};

	requests_add(&t, 1, 1, "m");
	add(&t, 2);
	assert_null(find(&t, "1"));
	assert_int_equal(oldest(&t)->id, 2);
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
