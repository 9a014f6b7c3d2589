#include "core/cli/confirm.h"

#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"

static bool put_question(const char *question)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, "matins: ");
	log_visible(&out, str_of(question), false);
	buf_adds(&out, " [y/N] ");
	/* no key typed before the question is an answer */
	(void)!tcflush(STDIN_FILENO, TCIFLUSH);
	return fd_write_all(STDERR_FILENO, out.p, out.n) == 0;
}

static bool read_answer(void)
{
	char text[256];
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));
	struct str line = str_trim((struct str){text, n > 0 ? (size_t)n : 0});

	return (line.n == 1 || line.n == 3) &&
	       strncasecmp(line.p, "yes", line.n) == 0;
}

bool confirm_ask(const char *question)
{
	return put_question(question) && read_answer();
}

/* ---- while a loop turns ---- */

struct waiting {
	bool is_answered, is_yes;
};

static void on_typed(void *arg, UNUSED uint32_t events)
{
	struct waiting *w = arg;

	w->is_yes = read_answer();
	w->is_answered = true;
}

bool confirm_in_loop(struct loop *l, const char *question)
{
	struct loop_watch typed = {.fd = -1};
	struct waiting w = {false, false};

	if (loop_watch(l, &typed, STDIN_FILENO, EPOLLIN, on_typed, &w,
		       ERR_IGNORED) < 0 ||
	    !put_question(question))
		w.is_answered = true;
	while (!w.is_answered && !l->signal && loop_turn(l, ERR_IGNORED) == 0)
		;
	loop_unwatch(l, &typed);
	if (l->signal)
		(void)!fd_write_all(STDERR_FILENO, "\n", 1);
	return w.is_yes && !l->signal;
}
