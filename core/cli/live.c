#include "core/cli/live.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"

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
