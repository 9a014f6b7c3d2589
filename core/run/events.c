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
	int fd; /* owned; -1: its reader is gone */
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

static void give_up(struct events *e, const char *why)
{
	log_warning("--events: %s; the rest of them is left out", why);
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
static void flush(struct events *e, uint64_t until_ns)
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

/* A line that is written. */
struct event {
	struct events *to;
	struct buf line;
	struct jw w;
};

/* False: there is no reader. */
static bool begin(struct events *e, struct event *ret, const char *name)
{
	struct clock *clock = clock_system();

	if (!e || e->fd < 0)
		return false;
	ret->to = e;
	ret->line = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	jw_init(&ret->w, &ret->line, false);
	jw_object(&ret->w);
	jw_kv_cstr(&ret->w, "schema", EVENT_SCHEMA);
	jw_kv_cstr(&ret->w, "event", name);
	facts_time(&ret->w, "at", clock->wall_ns(clock));
	return true;
}

static void end(struct event *v)
{
	struct events *e = v->to;

	jw_end(&v->w);
	buf_addc(&v->line, '\n');
	buf_add_str(&e->waiting, buf_str(&v->line));
	buf_release(&v->line);
	flush(e, 0);
	if (e->waiting.n > WAITING_BYTES)
		give_up(e, "its reader does not read");
}

void events_free(struct events *e)
{
	struct clock *clock = clock_system();

	if (!e)
		return;
	flush(e, clock->now_ns(clock) + LAST_MS * NS_PER_MS);
	if (e->waiting.n)
		give_up(e, "its reader does not read");
	fd_closep(&e->fd);
	buf_release(&e->waiting);
	free(e);
}

void events_freep(struct events **e)
{
	events_free(*e);
	*e = NULL;
}

/* ---- events ---- */

static void add_step(struct event *v, const char *path, const char *name)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&whole, "%s%s", path, name);
	jw_kv_str(&v->w, "step", buf_str(&whole));
}

void events_run_begun(struct events *e, uint64_t generation,
		      const char *routine)
{
	struct event v;

	if (!begin(e, &v, "run_begun"))
		return;
	jw_key(&v.w, "generation");
	jw_uint(&v.w, generation);
	jw_kv_cstr(&v.w, "routine", routine);
	end(&v);
}

void events_step_begun(struct events *e, const char *path, const char *step)
{
	struct event v;

	if (!begin(e, &v, "step_begun"))
		return;
	add_step(&v, path, step);
	end(&v);
}

void events_attempt(struct events *e, const char *path, const char *step,
		    uint64_t nth)
{
	struct event v;

	if (!begin(e, &v, "attempt"))
		return;
	add_step(&v, path, step);
	jw_key(&v.w, "attempt");
	jw_uint(&v.w, nth);
	end(&v);
}

void events_progress(struct events *e, const char *path, const char *step,
		     const char *note)
{
	struct event v;

	if (!begin(e, &v, "progress"))
		return;
	add_step(&v, path, step);
	jw_kv_cstr(&v.w, "note", note);
	end(&v);
}

void events_step_ended(struct events *e, const char *path,
		       const struct report_step *s)
{
	struct str member;
	struct event v;

	if (!begin(e, &v, "step_ended"))
		return;
	add_step(&v, path, s->name);
	jw_kv_cstr(&v.w, "state", REPORT_STATES[s->state].word);
	if (s->reason != REASON_NONE) {
		jw_kv_cstr(&v.w, "reason", report_reason_name(s->reason));
		jw_kv_str(&v.w, "error", s->error);
	}
	if (s->run.n && scan_get(s->run, "duration_us", &member))
		jw_kv_raw(&v.w, "duration_us", member);
	if (s->run.n && scan_get(s->run, "taken_from", &member))
		jw_kv_raw(&v.w, "taken_from", member);
	end(&v);
}

void events_run_ended(struct events *e, int exit_status, const char *summary)
{
	struct event v;

	if (!begin(e, &v, "run_ended"))
		return;
	jw_kv_int(&v.w, "exit_status", exit_status);
	jw_kv_cstr(&v.w, "summary", summary);
	end(&v);
}
