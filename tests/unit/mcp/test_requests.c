#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/err.h"
#include "core/base/scan.h"
#include "core/mcp/session/requests.h"

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

static void table__add_find_remove__keeps_the_order(void **state)
{
	struct requests t = {0};

	(void)state;
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

static void table__unsent_requests__have_no_answer(void **state)
{
	struct requests t = {0};

	(void)state;
	requests_add(&t, 1, 1, "m");
	add(&t, 2);
	assert_null(find(&t, "1"));
	assert_int_equal(requests_oldest(&t)->id, 2);
	assert_non_null(requests_find_ticket(&t, 1));
	requests_release(&t);
}

static void deadlines__the_earliest__counts(void **state)
{
	struct requests t = {0};

	(void)state;
	assert_int_equal(requests_deadline(&t, false), UINT64_MAX);
	add(&t, 1)->deadline_ns = 500;
	add(&t, 2)->total_deadline_ns = 400;
	assert_int_equal(requests_deadline(&t, false), 400);
	assert_null(requests_expired(&t, 399));
	assert_int_equal(requests_expired(&t, 400)->id, 2);
	requests_remove(&t, find(&t, "2"));
	assert_int_equal(requests_deadline(&t, false), 500);
	t.first->progress_held = true;
	t.first->next_progress_ns = 300;
	requests_timed(&t, t.first);
	assert_int_equal(requests_deadline(&t, false), 300);
	assert_null(requests_progressed(&t, 299));
	assert_int_equal(requests_progressed(&t, 300)->id, 1);
	requests_release(&t);
}

static bool take(struct request *r, const char *params)
{
	return request_take_progress(r, str_of(params));
}

static void PRO_2__progress__is_taken_as_it_came(void **state)
{
	struct requests t = {0};
	struct request *r = add(&t, 1);

	(void)state;
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

static void PRO_3__progress_that_does_not_grow__is_none(void **state)
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

	(void)state;
	assert_true(take(r, "{\"progress\":5}"));
	r->progress_held = false;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(take(r, bad[i]));
	assert_false(r->progress_held);
	requests_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table__add_find_remove__keeps_the_order),
		cmocka_unit_test(table__unsent_requests__have_no_answer),
		cmocka_unit_test(deadlines__the_earliest__counts),
		cmocka_unit_test(PRO_2__progress__is_taken_as_it_came),
		cmocka_unit_test(PRO_3__progress_that_does_not_grow__is_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
