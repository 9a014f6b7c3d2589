#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/report/ledger_lock.h"
#include "core/report/ledger_runs.h"
#include "core/report/ledger_told.h"
#include "core/report/store.h"
#include "tests/unit/temp_dir.h"

#define T0 (INT64_C(1767225600) * 1000000000) /* 2026-01-01T00:00:00Z */

#define FILE_A "/home/u/a.toml"
#define FILE_B "/home/u/b.toml"

static const struct ledger_routine routine_r = {"r", FILE_A, true, NULL};

static struct ledger *open_at(const char *dir)
{
	struct err err = ERR_INIT;
	struct ledger *l = NULL;

	if (ledger_open(dir, &l, &err) < 0)
		fail_msg("%s", err.msg);
	return l;
}

static uint64_t start(struct ledger *l, const char *routine)
{
	const struct ledger_routine which = {routine, FILE_A, true, NULL};
	struct err err = ERR_INIT;
	uint64_t generation = 0;

	if (ledger_start(l, &which, T0, &generation, &err) < 0)
		fail_msg("%s", err.msg);
	return generation;
}

static void print_stored(const void *arg, struct buf *out)
{
	buf_add_str(out, *(const struct str *)arg);
}

static const struct str stored = {"{}\n", 3};
static const struct fd_text report = {.print = print_stored, .arg = &stored};

static void finish(struct ledger *l, uint64_t generation, bool success)
{
	const struct ledger_end end = {
		.which = {"r", FILE_A, true},
		.summary = "r: 1 ran, 0 skipped, 0 failed",
		.success = success,
		.exit_status = success ? 0 : 2,
		.wall_ns = T0 + 1500000000,
	};
	struct err err = ERR_INIT;

	if (ledger_finish(l, generation, &end, &report, 100, &err) < 0)
		fail_msg("%s", err.msg);
}

/* All runs, oldest first. */
static size_t read_all(struct ledger *l, struct arena *arena,
		       struct ledger_run **ret)
{
	AUTO(ledger_walk_release) struct ledger_walk w;
	const struct ledger_run *run;
	struct err err = ERR_INIT;
	int r;

	ledger_walk_init(&w, l, arena);
	do
		r = ledger_walk_next(&w, &run, &err);
	while (r > 0);
	if (r < 0)
		fail_msg("%s", err.msg);
	*ret = ARENA_ARRAY(arena, struct ledger_run, w.n_given);
	for (size_t i = 0; i < w.n_given; i++)
		(*ret)[i] = *w.given[w.n_given - 1 - i];
	return w.n_given;
}

static void append_text(const char *dir, const char *text)
{
	AUTO(mem_freep) char *path = mem_printf("%s/ledger.jsonl", dir);
	AUTO(fd_closep)
	int fd = fd_open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

TEST_IN(temp_dir, ledger, first_runs, are_counted_from_one)
{
	struct ledger *l = open_at(*state);

	assert_int_equal(start(l, "a"), 1);
	assert_int_equal(start(l, "b"), 2);
	ledger_free(l);
	l = open_at(*state);
	assert_int_equal(start(l, "a"), 3);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, whole_run, is_read_back)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	char sum[SHA256_HEX_BYTES];
	struct ledger_run *run;

	start(l, "r");
	finish(l, 1, true);
	finish(l, start(l, "r"), false);
	assert_int_equal(read_all(l, &arena, &run), 2);
	assert_int_equal(run[0].generation, 1);
	assert_string_equal(run[0].routine, "r");
	assert_int_equal(run[0].state, RUN_FINISHED);
	assert_string_equal(run[0].started, "2026-01-01T00:00:00.000Z");
	assert_string_equal(run[0].finished, "2026-01-01T00:00:01.500Z");
	assert_true(run[0].started_ns == T0);
	assert_true(run[0].finished_ns == T0 + 1500000000);
	assert_string_equal(run[0].summary, "r: 1 ran, 0 skipped, 0 failed");
	assert_true(run[0].success);
	assert_int_equal(run[0].exit_status, 0);
	sha256_hex(STR("{}\n"), sum);
	assert_string_equal(run[0].sha256, sum);
	assert_false(run[1].success);
	assert_int_equal(run[1].exit_status, 2);
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, report, is_stored_by_generation)
{
	struct ledger *l = open_at(*state);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	start(l, "r");
	finish(l, 1, true);
	assert_int_equal(store_get(*state, FILE_A, 1, &out, &err), 0);
	assert_string_equal(buf_cstr(&out), "{}\n");
	buf_release(&out);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, own_unfinished_run, is_running)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_run *run;

	start(l, "r");
	assert_int_equal(read_all(l, &arena, &run), 1);
	assert_int_equal(run[0].state, RUN_RUNNING);
	assert_string_equal(run[0].finished, "");
	arena_release(&arena);
	ledger_free(l);
}

/* A process that takes a generation and dies. */
TEST_IN(temp_dir, ledger, process_gone, makes_the_run_lost)
{
	struct arena arena = ARENA_INIT;
	struct ledger_run *run;
	struct ledger *l;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		uint64_t generation;
		struct err err;

		if (ledger_open(*state, &l, &err) < 0 ||
		    ledger_start(l, &routine_r, T0, &generation, &err) < 0)
			_exit(1);
		_exit(0);
	}
	/* not yet waited for: a zombie is gone, too */
	assert_int_equal(
		waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT),
		0);
	l = open_at(*state);
	assert_int_equal(read_all(l, &arena, &run), 1);
	assert_int_equal(run[0].state, RUN_LOST);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read_all(l, &arena, &run), 1);
	assert_int_equal(run[0].state, RUN_LOST);
	arena_release(&arena);
	ledger_free(l);
}

/* The same process id in another boot, or begun at another time. */
TEST_IN(temp_dir, ledger, other_process_of_that_id, makes_the_run_lost)
{
	struct arena arena = ARENA_INIT;
	struct ledger_run *run;
	struct ledger *l = open_at(*state);
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"event\":\"started\",\"generation\":1,\"routine\":\"r\","
		 "\"at\":\"x\",\"pid\":%d,\"pid_start\":1,\"boot\":\"b\"}\n",
		 (int)getpid());
	append_text(*state, line);
	assert_int_equal(read_all(l, &arena, &run), 1);
	assert_int_equal(run[0].state, RUN_LOST);
	assert_int_equal(run[0].started_ns, 0);
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, torn_last_line, is_passed_over)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_run *run;

	start(l, "r");
	finish(l, 1, true);
	append_text(*state, "{\"event\":\"started\",\"generation\":2,\"rou");
	assert_int_equal(read_all(l, &arena, &run), 1);
	/* what was torn was never promised to anybody */
	assert_int_equal(start(l, "r"), 2);
	finish(l, 2, true);
	assert_int_equal(read_all(l, &arena, &run), 2);
	assert_int_equal(run[1].generation, 2);
	assert_int_equal(run[1].state, RUN_FINISHED);
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, garbage_lines, are_passed_over)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_run *run;

	append_text(*state, "\n\xff\xfe\n[]\n{\"generation\":-1}\n"
			    "{\"generation\":9,\"event\":\"dance\"}\n");
	assert_int_equal(start(l, "r"), 1);
	assert_int_equal(read_all(l, &arena, &run), 1);
	arena_release(&arena);
	ledger_free(l);
}

/* The last `started` line lies further up than the first look reaches. */
TEST_IN(temp_dir, ledger, long_tail_of_finished, is_read_whole)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_run *run;

	for (int i = 0; i < 200; i++)
		start(l, "r");
	for (uint64_t g = 1; g <= 200; g++)
		finish(l, g, true);
	assert_int_equal(start(l, "r"), 201);
	assert_int_equal(read_all(l, &arena, &run), 201);
	assert_int_equal(run[199].state, RUN_FINISHED);
	assert_int_equal(run[200].state, RUN_RUNNING);
	arena_release(&arena);
	ledger_free(l);
}

/* Several processes at once: no generation is taken twice. */
TEST_IN(temp_dir, ledger, many_at_once, give_no_generation_twice)
{
	enum { PROCESSES = 6, EACH = 10 };
	struct arena arena = ARENA_INIT;
	struct ledger_run *run;
	struct ledger *l;

	for (int p = 0; p < PROCESSES; p++) {
		struct err err;
		uint64_t g;

		if (fork() != 0)
			continue;
		if (ledger_open(*state, &l, &err) < 0)
			_exit(1);
		for (int i = 0; i < EACH; i++)
			if (ledger_start(l, &routine_r, T0, &g, &err) < 0)
				_exit(1);
		_exit(0);
	}
	for (int p = 0; p < PROCESSES; p++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	l = open_at(*state);
	assert_int_equal(read_all(l, &arena, &run), PROCESSES * EACH);
	for (uint64_t i = 0; i < PROCESSES * EACH; i++)
		assert_int_equal(run[i].generation, i + 1);
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, created, is_for_the_user_alone)
{
	AUTO(mem_freep) char *dir = mem_printf("%s/a/b", (char *)*state);
	AUTO(mem_freep) char *file = mem_printf("%s/ledger.jsonl", dir);
	struct ledger *l = open_at(dir);
	struct stat st;

	assert_string_equal(ledger_dir(l), dir);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, folder_is_a_file, is_a_system_error)
{
	AUTO(mem_freep) char *dir = mem_printf("%s/file", (char *)*state);
	struct err err = ERR_INIT;
	struct ledger *l = NULL;

	assert_int_equal(fd_replace_file(dir, STR("x"), 0600, false, &err), 0);
	assert_int_equal(ledger_open(dir, &l, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_non_null(strstr(err.msg, dir));
	assert_null(l);
}

TEST_IN(temp_dir, ledger, open_read, creates_nothing)
{
	AUTO(mem_freep) char *dir = mem_printf("%s/none", (char *)*state);
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct ledger_run *run;
	struct ledger *l;

	assert_int_equal(ledger_open_read(dir, &l, &err), 0);
	assert_int_equal(read_all(l, &arena, &run), 0);
	assert_int_equal(access(dir, F_OK), -1);
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, report_not_storable, finishes_the_run_all_the_same)
{
	AUTO(mem_freep)
	char *reports = mem_printf("%s/reports", (char *)*state);
	const struct ledger_end end = {.which = {"r", FILE_A, true},
				       .summary = "s"};
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct ledger_run *run;

	start(l, "r");
	assert_int_equal(fd_replace_file(reports, STR("x"), 0600, false, &err),
			 0);
	assert_int_equal(ledger_finish(l, 1, &end, &report, 100, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_int_equal(read_all(l, &arena, &run), 1);
	assert_int_equal(run[0].state, RUN_FINISHED);
	assert_string_equal(run[0].sha256, "");
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, ledger, file_and_wholeness, are_read_back)
{
	const struct ledger_routine part = {"r", FILE_B, false, NULL};
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct ledger_run *run;
	uint64_t g;

	finish(l, start(l, "r"), true);
	assert_int_equal(ledger_start(l, &part, T0, &g, &err), 0);
	append_text(*state, "{\"event\":\"started\",\"generation\":3,"
			    "\"routine\":\"r\"}\n");
	assert_int_equal(read_all(l, &arena, &run), 3);
	assert_string_equal(run[0].file, FILE_A);
	assert_true(run[0].whole);
	assert_string_equal(run[1].file, FILE_B);
	assert_false(run[1].whole);
	assert_true(ledger_run_is(&run[0], "r", FILE_A));
	assert_true(ledger_run_is(&run[0], NULL, NULL));
	assert_false(ledger_run_is(&run[0], "r", FILE_B));
	assert_false(ledger_run_is(&run[0], "s", FILE_A));
	/* a line of an earlier version: nothing is known */
	assert_string_equal(run[2].file, "");
	assert_false(run[2].whole);
	assert_true(ledger_run_is(&run[2], "r", FILE_A));
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, lock, held, is_busy_until_closed)
{
	const struct ledger_routine odd = {"a..b", FILE_A, true, NULL};
	const struct ledger_routine plain = {"b", FILE_A, true, NULL};
	const struct ledger_routine elsewhere = {"a..b", FILE_B, true, NULL};
	struct ledger *l = open_at(*state);
	struct err err = ERR_INIT;
	int first = -1, second = -1;

	assert_int_equal(ledger_lock_routine(l, &odd, false, &first, &err), 0);
	assert_int_equal(ledger_lock_routine(l, &odd, false, &second, &err),
			 -1);
	assert_int_equal(err.kind, ERR_BUSY);
	assert_int_equal(second, -1);
	/* another routine is another lock */
	assert_int_equal(ledger_lock_routine(l, &plain, false, &second, &err),
			 0);
	fd_closep(&second);
	/* so is one of that name in another file */
	assert_int_equal(
		ledger_lock_routine(l, &elsewhere, false, &second, &err), 0);
	fd_closep(&second);
	fd_closep(&first);
	assert_int_equal(ledger_lock_routine(l, &odd, true, &first, &err), 0);
	fd_closep(&first);
	ledger_free(l);
}

TEST(default_dir, variables, are_heeded_in_order)
{
	struct arena arena = ARENA_INIT;
	char cwd[4096];

	setenv("HOME", "/h", 1);
	setenv("XDG_STATE_HOME", "/x", 1);
	setenv("MATINS_STATE", "/m", 1);
	assert_string_equal(state_dir_find(&arena), "/m");
	setenv("MATINS_STATE", "rel", 1);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_string_equal(state_dir_find(&arena),
			    arena_printf(&arena, "%s/rel", cwd));
	setenv("MATINS_STATE", "", 1);
	assert_string_equal(state_dir_find(&arena), "/x/matins");
	setenv("XDG_STATE_HOME", "relative", 1);
	assert_string_equal(state_dir_find(&arena), "/h/.local/state/matins");
	unsetenv("HOME");
	assert_null(state_dir_find(&arena));
	arena_release(&arena);
}

/* ---- a walk from the end ---- */

/* Generations and states that a walk gives: "3 lost, 2 finished, ". */
static const char *walk(struct ledger *l, int64_t since_ns, struct arena *arena)
{
	AUTO(ledger_walk_release) struct ledger_walk w;
	const struct ledger_run *run;
	struct err err = ERR_INIT;
	const char *all = "";

	ledger_walk_init(&w, l, arena);
	w.since_ns = since_ns;
	while (ledger_walk_next(&w, &run, &err) > 0)
		all = arena_printf(arena, "%s%llu %s, ", all,
				   (unsigned long long)run->generation,
				   run_state_name(run->state));
	return all;
}

static void append_event(const char *dir, const char *event,
			 unsigned generation)
{
	AUTO(mem_freep)
	char *line = mem_printf(
		"{\"event\":\"%s\",\"generation\":%u,"
		"\"routine\":\"r\",\"at\":\"2026-01-01T00:00:00.000Z\"}\n",
		event, generation);

	append_text(dir, line);
}

TEST_IN(temp_dir, walk, runs_side_by_side, come_newest_first)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;

	assert_string_equal(walk(l, 0, &arena), "");
	append_event(*state, "started", 1);
	append_event(*state, "started", 2);
	append_event(*state, "finished", 2);
	append_event(*state, "started", 3);
	append_event(*state, "finished", 1);
	append_text(*state, "{\"event\":\"fini");
	assert_string_equal(walk(l, 0, &arena),
			    "3 lost, 2 finished, 1 finished, ");
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, walk, end_without_beginning, comes_in_its_place)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;

	append_event(*state, "finished", 1);
	append_event(*state, "started", 2);
	append_event(*state, "finished", 3);
	append_event(*state, "finished", 4);
	append_event(*state, "finished", 2);
	assert_string_equal(walk(l, 0, &arena),
			    "4 finished, 3 finished, 2 finished, 1 finished, ");
	arena_release(&arena);
	ledger_free(l);
}

/* The report is replaced behind its line: either of the two is the run's. */
TEST_IN(temp_dir, walk, amended_report, is_believed_before_and_after)
{
	AUTO(ledger_walk_release) struct ledger_walk w;
	const struct ledger_amendment a = {
		.which = routine_r,
		.notices = STR("[]"),
		.report = STR("{\"n\":1}\n"),
		.keep_runs = 100,
	};
	struct ledger *l = open_at(*state);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct arena arena = ARENA_INIT;
	const struct ledger_run *run;
	struct err err = ERR_INIT;

	finish(l, start(l, "r"), true);
	assert_int_equal(ledger_amend(l, 1, &a, &err), 0);
	start(l, "r");
	assert_int_equal(store_get(*state, FILE_A, 1, &out, &err), 0);
	assert_string_equal(buf_cstr(&out), "{\"n\":1}\n");
	ledger_walk_init(&w, l, &arena);
	assert_int_equal(ledger_walk_next(&w, &run, &err), 1);
	assert_false(ledger_run_wrote(run, a.report));
	assert_int_equal(ledger_walk_next(&w, &run, &err), 1);
	assert_int_equal(run->state, RUN_FINISHED);
	assert_true(run->success);
	assert_true(ledger_run_wrote(run, a.report));
	assert_true(ledger_run_wrote(run, stored));
	assert_false(ledger_run_wrote(run, STR("{}")));
	buf_release(&out);
	arena_release(&arena);
	ledger_free(l);
}

/* Of a long ledger the last blocks are read, and no more. */
TEST_IN(temp_dir, walk, one_step, reads_the_end_alone)
{
	AUTO(ledger_walk_release) struct ledger_walk w;
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	const struct ledger_run *run;
	struct err err = ERR_INIT;

	for (unsigned i = 1; i <= 2000; i++)
		append_event(*state, "started", i);
	ledger_walk_init(&w, l, &arena);
	assert_int_equal(ledger_walk_next(&w, &run, &err), 1);
	assert_int_equal(run->generation, 2000);
	assert_true(w.lines.end > 100000);
	assert_true(w.lines.end - w.lines.from <= 4096);
	arena_release(&arena);
	ledger_free(l);
}

/* A clock that was set back for a while hides no run behind. */
TEST_IN(temp_dir, walk, earlier_runs_in_a_row, end_it)
{
	const int64_t S = 1000000000;
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	uint64_t g;

	for (int i = 0; i < 150; i++)
		assert_int_equal(ledger_start(l, &routine_r, T0, &g, &err), 0);
	assert_int_equal(ledger_start(l, &routine_r, T0 + S, &g, &err), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(ledger_start(l, &routine_r, T0, &g, &err), 0);
	/* 50 and a hundred, with a newer one between */
	assert_non_null(strstr(walk(l, T0 + S, &arena), " 51 running, "));
	assert_null(strstr(walk(l, T0 + S, &arena), " 50 running, "));
	/* all are older */
	assert_non_null(strstr(walk(l, T0 + 2 * S, &arena), " 102 running, "));
	assert_null(strstr(walk(l, T0 + 2 * S, &arena), " 101 running, "));
	assert_non_null(strstr(walk(l, 0, &arena), " 1 running, "));
	arena_release(&arena);
	ledger_free(l);
}

/* ---- notices ---- */

static const struct ledger_told nothing = {0};

static void tell(struct ledger *l, uint64_t generation, const char *state,
		 uint64_t since)
{
	const struct ledger_told told = {
		.generation = generation, .state = state, .since = since};
	struct err err = ERR_INIT;

	if (ledger_tell(l, &routine_r, &told, T0, &err) < 0)
		fail_msg("%s", err.msg);
}

static struct ledger_told told_at(struct ledger *l, struct arena *arena)
{
	struct ledger_told told = nothing;
	struct err err = ERR_INIT;

	if (ledger_told(l, &routine_r, arena, &told, &err) < 0)
		fail_msg("%s", err.msg);
	return told;
}

/* What the end of the ledger says of the routines of FILE_A. */
static size_t told_near(struct ledger *l, struct arena *arena,
			struct ledger_told **ret)
{
	struct err err = ERR_INIT;
	size_t n = 0;

	if (ledger_told_near(l, FILE_A, arena, ret, &n, &err) < 0)
		fail_msg("%s", err.msg);
	return n;
}

/* A `started` line of a process that is gone. */
static void lose(const char *dir, unsigned generation, const char *file)
{
	AUTO(mem_freep)
	char *line = mem_printf("{\"event\":\"started\",\"generation\":%u,"
				"\"routine\":\"r\",\"file\":\"%s\","
				"\"whole\":true,\"at\":\"2026-01-01T00:00:00."
				"000Z\",\"pid\":1,\"pid_start\":0,"
				"\"boot\":\"x\"}\n",
				generation, file);

	append_text(dir, line);
}

TEST_IN(temp_dir, told, nothing, is_no_state)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_told told;

	lose(*state, 1, FILE_A);
	told = told_at(l, &arena);
	assert_null(told.state);
	assert_int_equal(told.n_lost, 0);
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, told, last_line, counts)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_told told;
	struct ledger_run *run;

	tell(l, start(l, "r"), "failed", 0);
	tell(l, 1, "ok", 5);
	append_text(*state, "{\"event\":\"told\",\"gener");
	told = told_at(l, &arena);
	assert_string_equal(told.state, "ok");
	assert_int_equal(told.generation, 1);
	assert_int_equal(told.since, 5);
	assert_false(told.is_far);
	assert_int_equal(read_all(l, &arena, &run), 1);
	assert_int_equal(run[0].state, RUN_RUNNING);
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, told, lost_runs, are_news_once)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_told told;

	lose(*state, 1, FILE_A);
	lose(*state, 2, FILE_A);
	tell(l, 2, "ok", 0);
	lose(*state, 3, FILE_B);
	lose(*state, 4, FILE_A);
	told = told_at(l, &arena);
	assert_int_equal(told.n_lost, 2);
	assert_int_equal(told.lost[0].generation, 2);
	assert_int_equal(told.lost[1].generation, 4);
	tell(l, 2, "lost", 0);
	tell(l, 4, "lost", 0);
	tell(l, 5, "ok", 0);
	told = told_at(l, &arena);
	assert_int_equal(told.n_lost, 0);
	assert_string_equal(told.state, "ok");
	arena_release(&arena);
	ledger_free(l);
}

TEST_IN(temp_dir, told, line_far_back, is_found_and_said_to_be_far)
{
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct ledger_told told, *near;

	tell(l, 1, "failed", 0);
	for (unsigned i = 0; i < 3000; i++)
		lose(*state, 2 + i, FILE_B);
	told = told_at(l, &arena);
	assert_string_equal(told.state, "failed");
	assert_true(told.is_far);
	assert_int_equal(told_near(l, &arena, &near), 0);
	arena_release(&arena);
	ledger_free(l);
}

/* One reading of the end, whatever the number of routines. */
TEST_IN(temp_dir, told, end_of_the_ledger, tells_of_all_routines)
{
	const struct ledger_routine other = {"q", FILE_A, true, NULL};
	const struct ledger_told line = {.generation = 1, .state = "ok"};
	struct ledger *l = open_at(*state);
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct ledger_told *near;

	tell(l, 1, "failed", 0);
	assert_int_equal(ledger_tell(l, &other, &line, T0, &err), 0);
	lose(*state, 2, FILE_A);
	lose(*state, 3, FILE_B);
	assert_int_equal(told_near(l, &arena, &near), 2);
	/* the newest line comes first, and the list from its end */
	assert_string_equal(near[0].routine, "q");
	assert_int_equal(near[0].n_lost, 0);
	assert_string_equal(near[1].routine, "r");
	assert_string_equal(near[1].state, "failed");
	assert_int_equal(near[1].n_lost, 1);
	assert_int_equal(near[1].lost[0].generation, 2);
	arena_release(&arena);
	ledger_free(l);
}
