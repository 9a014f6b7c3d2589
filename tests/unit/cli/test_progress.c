#include "tests/unit/test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/live.h"

static int terminal = -1, saved = -1;
static struct progress p;
static struct run_observer o;
static char screen[8192];

/* A terminal of our own as stderr. */
static int setup(void **state)
{
	AUTO(fd_closep) int end = -1;

	(void)state;
	terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0) {
		puts("# SKIP there are no pseudo terminals here");
		return 0;
	}
	if (grantpt(terminal) < 0 || unlockpt(terminal) < 0)
		return -1;
	end = fd_open(ptsname(terminal), O_RDWR | O_NOCTTY, 0);
	saved = dup(STDERR_FILENO);
	if (end < 0 || saved < 0 || dup2(end, STDERR_FILENO) < 0)
		return -1;
	log_set_level(LOG_NOTE);
	fcntl(terminal, F_SETFL, O_NONBLOCK);
	setenv("NO_COLOR", "1", 1);
	o = (struct run_observer){0};
	progress_init(&p, &o);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (terminal < 0)
		return 0;
	progress_end(&p);
	dup2(saved, STDERR_FILENO);
	fd_closep(&saved);
	fd_closep(&terminal);
	return 0;
}

FIXTURE(fixture, setup, teardown);

/*
 * What one tick drew. The kernel hands a terminal's output on when it likes,
 * so a mark is written behind it and waited for.
 */
static const char *draw(void)
{
	static const char mark[] = "<end>";
	struct pollfd p_in = {.fd = terminal, .events = POLLIN};
	size_t n = 0;

	o.tick(o.arg);
	assert_int_equal(write(STDERR_FILENO, mark, strlen(mark)),
			 strlen(mark));
	screen[0] = '\0';
	while (!strstr(screen, mark) && n < sizeof(screen) - 1) {
		ssize_t r;

		assert_int_equal(poll(&p_in, 1, 10000), 1);
		r = read(terminal, screen + n, sizeof(screen) - 1 - n);
		assert_true(r > 0);
		n += (size_t)r;
		screen[n] = '\0';
	}
	return screen;
}

static void end(const char *name)
{
	const struct report_step step = {.name = name};

	o.ended(o.arg, name, &step);
}

TEST_IN(fixture, running, more_than_lines, counts_exactly)
{
	static const char *const names[] = {"s0", "s1", "s2", "s3", "s4",
					    "s5", "s6", "s7", "s8", "s9"};

	if (terminal < 0)
		skip();
	assert_true(p.live);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		o.begun(o.arg, names[i]);
	/* quick runs show nothing; this one began long ago */
	p.begin_ns = 0;
	assert_non_null(strstr(draw(), "  and 2 more"));
	assert_non_null(strstr(screen, "s7 "));
	assert_null(strstr(screen, "s8 "));
	/* skipped ones never began */
	end("skipped");
	end("denied");
	assert_non_null(strstr(draw(), "  and 2 more"));
	end("s3");
	assert_non_null(strstr(draw(), "  and 1 more"));
	assert_non_null(strstr(screen, "s8 "));
	assert_null(strstr(screen, "s3 …"));
	assert_non_null(strstr(screen, "  s3 ok 0.0 s"));
	o.progress(o.arg, "s4", "3/10  reading");
	o.progress(o.arg, "gone", "1/2");
	end("s9");
	assert_null(strstr(draw(), "more"));
	assert_non_null(strstr(screen, "  s9 ok "));
	assert_null(strstr(screen, "s3 ok"));
	assert_non_null(strstr(screen, "  s4 … 0.0 s  3/10  reading"));
}

TEST_IN(fixture, quiet, asked_for, draws_nothing)
{
	struct run_observer none = {0};
	struct progress q;

	if (terminal < 0)
		skip();
	log_set_level(LOG_ERROR);
	progress_init(&q, &none);
	assert_false(q.live);
	assert_null(none.tick);
	progress_end(&q);
}
