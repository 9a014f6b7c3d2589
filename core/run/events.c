#include "core/run/events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/facts.h"
#include "core/config/paths.h"

/* Lines that wait for a reader, bytes; the time for the last of them. */
#define WAITING_BYTES (4 * 1024 * 1024)
#define LAST_MS 1000

struct events {
	int fd;			/* owned; -1: its reader is gone */
	struct loop *loop;	/* borrowed; NULL: none turns */
	struct loop_watch room; /* of the loop; for lines that wait */
	struct buf waiting;
};

/* ---- the place ---- */

static int open_number(const char *where, int *ret, struct err *err)
{
	uint64_t n = 0;
	int flags = -1;

	if (str_uint64(str_of(where), &n) && n <= INT_MAX)
		flags = fcntl((int)n, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return err_set(err, ERR_USAGE,
			       "--events %s: no descriptor that can be written "
			       "to; open it in the shell: %s>FILE",
			       where, where);
	*ret = fcntl((int)n, F_DUPFD_CLOEXEC, 3);
	return *ret < 0 ? err_sys(err, errno, "--events %s", where) : 0;
}

static int open_file(const char *where, const struct config *config, int *ret,
		     struct err *err)
{
	*ret = path_open(where, O_WRONLY | O_CREAT | O_TRUNC, config, err);
	if (*ret >= 0)
		return 0;
	if (err->sys == ENXIO)
		return err_set(err, ERR_SYS, "--events %s: nothing reads it",
			       where);
	return err_wrap(err, "--events");
}

int events_open(const char *where, const struct config *config,
		struct events **ret, struct err *err)
{
	bool is_number = where[0] && !where[strspn(where, "0123456789")];
	struct events *e;
	int fd = -1;

	if ((is_number ? open_number(where, &fd, err)
		       : open_file(where, config, &fd, err)) < 0)
		return -1;
	e = mem_zalloc(sizeof(*e));
	e->fd = fd;
	e->waiting = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	*ret = e;
	return 0;
}

/* ---- lines on their way ---- */

static void unwatch(struct events *e)
{
	if (e->loop)
		loop_unwatch(e->loop, &e->room);
}

static void give_up(struct events *e, const char *why)
{
	log_warning("--events: %s; the rest of them is left out", why);
	unwatch(e);
	fd_closep(&e->fd);
	buf_clear(&e->waiting);
}

/* Is there room for a portion, which then does not block? */
static bool has_room(const struct events *e, int wait_ms)
{
	struct pollfd p = {.fd = e->fd, .events = POLLOUT};

	return poll(&p, 1, wait_ms) > 0;
}

/* Write what fits now, or until then. */
static void write_out(struct events *e, uint64_t until_ns)
{
	struct clock *clock = clock_system();

	while (e->fd >= 0 && e->waiting.n) {
		uint64_t now = clock->now_ns(clock);
		uint64_t ms = until_ns > now ? (until_ns - now) / NS_PER_MS : 0;
		size_t n = e->waiting.n < PIPE_BUF ? e->waiting.n : PIPE_BUF;
		ssize_t w;

		if (!has_room(e, (int)ms))
			return;
		w = write(e->fd, e->waiting.p, n);
		if (w > 0)
			buf_drop(&e->waiting, (size_t)w);
		else if (errno != EINTR && errno != EAGAIN)
			give_up(e, strerror(errno));
	}
}

static void on_room(void *arg, UNUSED uint32_t ready)
{
	struct events *e = arg;

	write_out(e, 0);
	if (!e->waiting.n)
		unwatch(e);
}

/* Write what fits now; the loop writes the rest when there is room. */
static void flush(struct events *e)
{
	bool is_watched = e->room.ready && e->room.fd >= 0;

	write_out(e, 0);
	if (e->fd >= 0 && e->waiting.n && e->loop && !is_watched)
		(void)!loop_watch(e->loop, &e->room, e->fd, EPOLLOUT, on_room,
				  e, ERR_IGNORED);
}

void events_use_loop(struct events *e, struct loop *loop)
{
	if (!e)
		return;
	unwatch(e);
	e->loop = loop;
}

static void free_events(struct events *e)
{
	struct clock *clock = clock_system();

	if (!e)
		return;
	write_out(e, clock->now_ns(clock) + LAST_MS * NS_PER_MS);
	if (e->waiting.n)
		give_up(e, "its reader does not read");
	fd_closep(&e->fd);
	buf_release(&e->waiting);
	free(e);
}

void events_freep(struct events **e)
{
	free_events(*e);
	*e = NULL;
}

/* ---- events ---- */

static void add_step(struct jw *w, const char *path, const char *name)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&whole, "%s%s", path, name);
	jw_kv_str(w, "step", buf_str(&whole));
}

static void add_result(struct jw *w, const struct report_step *s)
{
	static const char *const facts[] = {"duration_us", "taken_from",
					    "saved"};
	struct str member;

	jw_kv_cstr(w, "state", REPORT_STATES[s->state].word);
	if (s->reason != REASON_NONE) {
		jw_kv_cstr(w, "reason", report_reason_name(s->reason));
		jw_kv_str(w, "error", s->error);
	}
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		if (s->run.n && scan_get(s->run, facts[i], &member))
			jw_kv_raw(w, facts[i], member);
}

void events_tell(struct events *e, const struct event *v)
{
	struct clock *clock = clock_system();
	struct jw w;

	if (!e || e->fd < 0)
		return;
	w = jw_begin(&e->waiting);
	jw_kv_cstr(&w, "schema", EVENT_SCHEMA);
	jw_kv_cstr(&w, "event", v->event);
	facts_time(&w, "at", clock->wall_ns(clock));
	if (v->routine) {
		jw_kv_uint(&w, "generation", v->generation);
		jw_kv_cstr(&w, "routine", v->routine);
	}
	if (v->step)
		add_step(&w, v->path, v->step);
	if (v->attempt)
		jw_kv_uint(&w, "attempt", v->attempt);
	jw_kv_opt(&w, "note", v->note);
	if (v->result)
		add_result(&w, v->result);
	if (v->summary) {
		jw_kv_int(&w, "exit_status", v->exit_status);
		jw_kv_cstr(&w, "summary", v->summary);
	}
	jw_end(&w);
	buf_addc(&e->waiting, '\n');
	flush(e);
	if (e->waiting.n > WAITING_BYTES)
		give_up(e, "its reader does not read");
}
