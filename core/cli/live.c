#include "core/cli/live.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"

/* Quick requests show no line. */
#define FIRST_NS (NS_PER_S / 4)
#define COLUMNS 79

void live_init(struct live *l)
{
	*l = (struct live){
		.on = isatty(STDERR_FILENO) && log_level() == LOG_NOTE,
		.text = BUF_INIT(BUF_UNBOUNDED),
	};
}

static void put(const struct buf *out)
{
	if (fd_write_all(STDERR_FILENO, out->p, out->n) < 0) {
		/* a terminal that went away needs no progress */
	}
}

void live_begin(struct live *l, const char *text, uint64_t now_ns)
{
	live_clear(l);
	buf_clear(&l->text);
	buf_adds(&l->text, text);
	l->begin_ns = now_ns;
}

void live_note(struct live *l, const char *text, struct str note)
{
	buf_clear(&l->text);
	buf_addf(&l->text, "%s  ", text);
	buf_add_str(&l->text, note);
}

static size_t columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return COLUMNS;
	return size.ws_col - 1U;
}

void live_draw(struct live *l, uint64_t now_ns)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!l->on || !l->text.n || now_ns - l->begin_ns < FIRST_NS)
		return;
	log_visible(&text, buf_str(&l->text), false);
	buf_addf(&out, "\r\033[K%5.1f s  ",
		 (double)(now_ns - l->begin_ns) / 1e9);
	buf_add_str(&out, str_first(buf_str(&text), columns() - 9));
	put(&out);
	l->drawn = true;
}

void live_clear(struct live *l)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (!l->drawn)
		return;
	buf_adds(&out, "\r\033[K");
	put(&out);
	l->drawn = false;
}

void live_release(struct live *l)
{
	live_clear(l);
	buf_release(&l->text);
	*l = (struct live){0};
}

/* ---- steps of a run ---- */

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

static void put_lines(struct buf *out)
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
	put_lines(&out);
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
	put_lines(&out);
	free(p->running);
	*p = (struct progress){0};
}
