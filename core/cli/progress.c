#include "core/cli/progress.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"

#define TICK_MS 200

static uint64_t now_ns(void)
{
	return clock_system()->now_ns(clock_system());
}

/* Erase the drawn lines: go up and clear to the end of the screen. */
static void erase(struct progress *p, struct buf *out)
{
	if (p->drawn)
		buf_addf(out, "\r\033[%zuA\033[J", p->drawn);
	p->drawn = 0;
}

static void put(struct buf *out)
{
	if (out->n && fd_write_all(STDERR_FILENO, out->p, out->n) < 0) {
		/* a terminal that went away needs no progress */
	}
	buf_release(out);
}

static void draw(void *arg)
{
	struct progress *p = arg;
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	uint64_t now = now_ns();

	erase(p, &out);
	for (size_t i = 0; i < p->n && i < PROGRESS_LINES; i++) {
		buf_adds(&out, "  ");
		log_visible(&out, str_of(p->running[i].step), false);
		buf_addf(&out, " … %.1f s\n",
			 (double)(now - p->running[i].begin_ns) / 1e9);
		p->drawn++;
	}
	if (p->n > PROGRESS_LINES) {
		buf_addf(&out, "  and %zu more\n", p->n - PROGRESS_LINES);
		p->drawn++;
	}
	put(&out);
}

static void begun(void *arg, const char *step)
{
	struct progress *p = arg;

	p->running =
		mem_grow(p->running, p->n + 1, &p->cap, sizeof(*p->running));
	p->running[p->n++] = (struct progress_line){step, now_ns()};
}

/* Drop the line of a step; skipped steps have none. */
static void ended(void *arg, const struct report_step *step)
{
	struct progress *p = arg;

	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->running[i].step, step->name))
			continue;
		p->n--;
		memmove(&p->running[i], &p->running[i + 1],
			(p->n - i) * sizeof(*p->running));
		return;
	}
}

void progress_init(struct progress *p, struct run_observer *ret)
{
	*p = (struct progress){
		.live = isatty(STDERR_FILENO) && log_level() == LOG_NOTE,
	};
	if (!p->live)
		return;
	*ret = (struct run_observer){
		.begun = begun,
		.ended = ended,
		.tick = draw,
		.tick_ms = TICK_MS,
		.arg = p,
	};
}

void progress_end(struct progress *p)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	erase(p, &out);
	put(&out);
	free(p->running);
	*p = (struct progress){0};
}
