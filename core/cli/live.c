#include "core/cli/live.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/text.h"
#include "core/cli/put.h"

#define TICK_MS 200
/* Quick requests show no line. */
#define FIRST_NS (NS_PER_S / 4)
#define COLUMNS 79

static bool is_wanted(void)
{
	return log_level() == LOG_NOTE && isatty(STDERR_FILENO);
}

void live_put(const struct buf *out)
{
	if (out->n && fd_write_all(STDERR_FILENO, out->p, out->n) < 0) {
		/* a terminal that went away needs no progress */
	}
}

static size_t columns_of_terminal(void)
{
	size_t columns = put_columns(STDERR_FILENO);

	return columns >= 20 ? columns : COLUMNS;
}

/* ---- one request ---- */

static void draw_line(struct live *l)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const uint64_t since_ns = loop_now(l->loop) - l->begin_ns;

	if (!l->text.n || since_ns < FIRST_NS)
		return;
	log_visible(&text, buf_str(&l->text), false);
	buf_addf(&out, "\r\033[K%5.1f s  ", (double)since_ns / 1e9);
	buf_add_str(&out, text_first_columns(buf_str(&text),
					     columns_of_terminal() - 9));
	live_put(&out);
	l->is_drawn = true;
}

static void on_tick(void *arg)
{
	struct live *l = arg;

	if (!l->is_held)
		draw_line(l);
	loop_timer_in(l->loop, &l->tick, TICK_MS);
}

void live_open(struct live *l, struct loop *loop)
{
	*l = (struct live){
		.on = is_wanted(),
		.text = BUF_INIT(BUF_UNBOUNDED),
		.loop = loop,
		.tick = {.fire = on_tick, .arg = l},
	};
	if (l->on)
		on_tick(l);
}

void live_say(struct live *l, const char *text)
{
	buf_clear(&l->text);
	buf_adds(&l->text, text);
}

void live_begin(struct live *l, const char *text)
{
	live_clear(l);
	live_say(l, text);
	l->begin_ns = loop_now(l->loop);
}

void live_clear(struct live *l)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (!l->is_drawn)
		return;
	buf_adds(&out, "\r\033[K");
	live_put(&out);
	l->is_drawn = false;
}

void live_release(struct live *l)
{
	live_clear(l);
	if (l->loop)
		loop_timer_clear(l->loop, &l->tick);
	buf_release(&l->text);
	*l = (struct live){0};
}

/* ---- steps of a run ---- */

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

static void draw_step(const struct progress_line *line, uint64_t now,
		      struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&text, "  ");
	log_visible(&text, str_of(line->step), false);
	buf_addf(&text, " … %.1f s", (double)(now - line->begin_ns) / 1e9);
	if (line->note) {
		buf_adds(&text, "  ");
		log_visible(&text, str_of(line->note), false);
	}
	buf_add_str(out,
		    text_first_columns(buf_str(&text), columns_of_terminal()));
	buf_addc(out, '\n');
}

/* Lines of steps that ended stay; those of running ones are drawn again. */
static void draw_steps(void *arg)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct progress *p = arg;
	uint64_t now = now_ns();

	p->is_slow |= now - p->begin_ns >= FIRST_NS;
	if (!p->is_slow || p->is_held)
		return;
	erase(p, &out);
	buf_add_str(&out, buf_str(&p->ended));
	buf_clear(&p->ended);
	for (size_t i = 0; i < p->n && i < PROGRESS_LINES; i++) {
		draw_step(&p->running[i], now, &out);
		p->drawn++;
	}
	if (p->n > PROGRESS_LINES) {
		buf_addf(&out, "  and %zu more\n", p->n - PROGRESS_LINES);
		p->drawn++;
	}
	live_put(&out);
}

static struct progress_line *find_line(struct progress *p, const char *step)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->running[i].step, step))
			return &p->running[i];
	return NULL;
}

static void begun(void *arg, const char *step)
{
	struct progress *p = arg;

	p->running =
		mem_grow(p->running, p->n + 1, &p->cap, sizeof(*p->running));
	p->running[p->n++] =
		(struct progress_line){mem_strdup(step), now_ns(), NULL};
}

static void progressed(void *arg, const char *step, const char *note)
{
	struct progress_line *line = find_line(arg, step);

	if (!line)
		return;
	free(line->note);
	line->note = mem_strdup(note);
}

/* Drop the line of a step; skipped steps have none. */
static void ended(void *arg, const char *step, const struct report_step *result)
{
	struct progress *p = arg;
	struct progress_line *line = find_line(p, step);
	bool is_good = result->state == STATE_OK;

	if (!line)
		return;
	buf_adds(&p->ended, "  ");
	log_visible(&p->ended, str_of(step), false);
	buf_addf(&p->ended, " %s%s%s %.1f s\n",
		 !p->has_colour ? ""
		 : is_good	? "\033[32m"
				: "\033[31m",
		 REPORT_STATES[result->state].says,
		 p->has_colour ? "\033[0m" : "",
		 (double)(now_ns() - line->begin_ns) / 1e9);
	free(line->step);
	free(line->note);
	p->n--;
	memmove(line, line + 1,
		(size_t)(p->running + p->n - line) * sizeof(*line));
}

static void take_off(void *arg)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	erase(arg, &out);
	live_put(&out);
}

static void hold(void *arg, bool is_held)
{
	struct progress *p = arg;

	if (is_held)
		take_off(p);
	p->is_held = is_held;
}

void progress_init(struct progress *p, struct run_observer *ret)
{
	*p = (struct progress){
		.live = is_wanted(),
		.begin_ns = now_ns(),
		.ended = BUF_INIT(BUF_UNBOUNDED),
	};
	if (!p->live)
		return;
	p->has_colour = put_has_colour(STDERR_FILENO);
	log_set_before(take_off, p);
	*ret = (struct run_observer){
		.begun = begun,
		.ended = ended,
		.progress = progressed,
		.tick = draw_steps,
		.tick_ms = TICK_MS,
		.hold = hold,
		.arg = p,
	};
}

void progress_end(struct progress *p)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	erase(p, &out);
	log_set_before(NULL, NULL);
	if (p->is_slow)
		buf_add_str(&out, buf_str(&p->ended));
	live_put(&out);
	buf_release(&p->ended);
	for (size_t i = 0; i < p->n; i++) {
		free(p->running[i].step);
		free(p->running[i].note);
	}
	free(p->running);
	*p = (struct progress){0};
}
