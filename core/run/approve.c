#include "core/run/approve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/run/jobs.h"

/* Of a message, as far as a person reads before the question. */
#define LINES_MAX 40
/* Of a line, beside the bar: on 80 columns none is broken. */
#define LINE_COLUMNS 72
#define ANSWER_BYTES 256

struct approval {
	struct step_run *step;
	struct jobs_giver giver;
	struct loop_watch in;
	bool is_asking;
};

/* ---- the question ---- */

/* Cut the next line of a screen off. */
static struct str cut_line(struct str *rest)
{
	struct str line = text_first_columns(
		(struct str){rest->p, str_find(*rest, '\n')}, LINE_COLUMNS);

	/* a character that is wider than the screen does not stay */
	if (!line.n && rest->n && rest->p[0] != '\n')
		line.n = 1;
	*rest = str_skip(*rest, line.n);
	if (rest->n && rest->p[0] == '\n')
		*rest = str_skip(*rest, 1);
	return line;
}

/* Lines of a screen, none of which a terminal breaks: of a long message the
   first and the last ones, where the person's own words may stand. */
static void add_lines(struct str visible, struct buf *out)
{
	struct str rest = visible;
	size_t all = 0;

	for (; rest.n; all++)
		cut_line(&rest);
	rest = visible;
	for (size_t i = 0; i < all; i++) {
		struct str line = cut_line(&rest);

		if (all > LINES_MAX && i == LINES_MAX / 2)
			buf_addf(out, "  | … %zu lines …\n", all - LINES_MAX);
		if (all <= LINES_MAX || i < LINES_MAX / 2 ||
		    i >= all - LINES_MAX / 2)
			buf_addf(out, "  | %.*s\n", STR_ARG(line));
	}
}

void approve_ask(struct str message, const char *routine, const char *name,
		 struct buf *out)
{
	AUTO(buf_release) struct buf visible = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&visible, message, true);
	add_lines(buf_str(&visible), out);
	buf_adds(out, "matins: approve ");
	log_visible(out, str_of(name), false);
	buf_adds(out, " of routine ");
	log_visible(out, str_of(routine), false);
	buf_adds(out, "? [y/N] ");
}

bool approve_in_ci(void)
{
	const char *ci = getenv("CI");

	return ci && *ci && strcmp(ci, "0") && strcmp(ci, "false");
}

/* In the background a question would stop the program. */
bool approve_person_is_here(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) &&
	       tcgetpgrp(STDIN_FILENO) == getpgrp() && !approve_in_ci();
}

static const char *full_name(const struct step_run *s, struct arena *arena)
{
	return arena_printf(arena, "%s%s", s->ctx->path, s->plan->step->name);
}

/* ---- the answer ---- */

#define AGAIN "matins: write yes or no [y/N] "

static void leave(struct approval *a, bool is_silent)
{
	struct approvals *all = a->step->ctx->approvals;

	jobs_leave(a->step->ctx->jobs, &a->giver);
	if (!a->is_asking)
		return;
	loop_unwatch(a->step->ctx->loop, &a->in);
	a->is_asking = all->is_asking = false;
	if (!is_silent)
		(void)!fd_write_all(STDERR_FILENO, "\n", 1);
	if (all->hold)
		all->hold(all->arg, false);
}

static void approved(struct step_run *s, const char *by)
{
	const struct judgement j = {
		.reason = REASON_NONE,
		.output = str_of(arena_printf(&s->arena, "approved: %s", by)),
		.data = STR("{\"approved\":true}"),
	};

	step_close(s, &j);
}

static void not_approved(struct step_run *s, const char *why)
{
	const struct judgement j = {
		.reason = REASON_APPROVAL,
		.error = str_of(arena_printf(
			&s->arena, "%s; to approve it beforehand: --approve %s",
			why, full_name(s, &s->arena))),
	};

	step_close(s, &j);
}

/* A person has decided: no advice. */
static void refused(struct step_run *s)
{
	const struct judgement j = {
		.reason = REASON_APPROVAL,
		.error = STR("not approved on the terminal"),
	};

	step_close(s, &j);
}

/* "y" and "yes" of "yes". */
static bool is_short_for(struct str word, const char *whole)
{
	return (word.n == 1 || word.n == strlen(whole)) &&
	       strncasecmp(word.p, whole, word.n) == 0;
}

static void on_input(void *arg, uint32_t events UNUSED)
{
	struct approval *a = arg;
	char text[ANSWER_BYTES];
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));
	struct str line = {text, n > 0 ? (size_t)n : 0};
	struct str word = str_trim(str_cut(&line, '\n'));
	bool is_yes = is_short_for(word, "yes");

	if (word.n && !is_yes && !is_short_for(word, "no")) {
		(void)!fd_write_all(STDERR_FILENO, AGAIN, strlen(AGAIN));
		return;
	}
	leave(a, n > 0);
	if (is_yes)
		approved(a->step, "on the terminal");
	else
		refused(a->step);
}

/* For struct jobs_giver: ask when no other question is open. */
static bool ask(void *arg)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct approval *a = arg;
	struct step_run *s = a->step;
	struct approvals *all = s->ctx->approvals;

	if (all->is_asking)
		return false;
	if (loop_watch(s->ctx->loop, &a->in, STDIN_FILENO, EPOLLIN, on_input, a,
		       ERR_IGNORED) < 0) {
		leave(a, true);
		not_approved(s, "the terminal cannot be read");
		return false;
	}
	a->is_asking = all->is_asking = true;
	if (all->hold)
		all->hold(all->arg, true);
	scrub_apply(s->scrub, s->plan->message, &clean);
	approve_ask(buf_str(&clean), s->ctx->routine, full_name(s, &arena),
		    &out);
	/* no key typed before the question is an answer */
	tcflush(STDIN_FILENO, TCIFLUSH);
	(void)!fd_write_all(STDERR_FILENO, out.p, out.n);
	return false;
}

/* ---- the step ---- */

static void begin(struct step_run *s)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct approval *a = mem_zalloc(sizeof(*a));

	s->work = a;
	a->step = s;
	a->giver = (struct jobs_giver){ask, a};
	a->in.fd = -1;
	if (list_has(&s->ctx->approvals->given, full_name(s, &arena)))
		approved(s, "--approve");
	else if (approve_person_is_here())
		jobs_join(s->ctx->jobs, &a->giver);
	else
		not_approved(s, "nobody is here to ask");
}

static void stop(struct step_run *s, const char *why UNUSED)
{
	const struct judgement none = {.reason = REASON_CANCELLED};

	leave(s->work, false);
	step_close(s, &none);
}

static void release(struct step_run *s)
{
	free(s->work);
}

const struct step_doer approve_doer = {
	.begin = begin,
	.stop = stop,
	.release = release,
};
