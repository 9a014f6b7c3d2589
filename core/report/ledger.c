/*
 * The ledger on disk: its place, its lines, and a run that takes its generation
 * and says how it ended.
 */
#include "core/report/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"
#include "core/report/store.h"

struct ledger {
	char *dir, *path; /* of ledger.jsonl; owned */
	int fd;		  /* -1: there is nothing to read */
	bool is_synced;	  /* all lines of ours */
	int sync_error;	  /* errno of a flush: the kernel tells it once */
	bool has_room;	  /* .room is of store_make_room() */
	struct timespec room;
	off_t end;   /* behind our last line; 0: there is none */
	off_t whole; /* so long, with a whole last line, under the lock; 0:
			not looked at */
	uint64_t lost_before; /* of ledger_lost_before() */
};

/* ---- open ---- */

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	fd_closep(&l->fd);
	free(l->dir);
	free(l->path);
	free(l);
}

void ledger_freep(struct ledger **l)
{
	ledger_free(*l);
	*l = NULL;
}

const char *ledger_dir(const struct ledger *l)
{
	return l->dir;
}

uint64_t ledger_lost_before(const struct ledger *l)
{
	return l->lost_before;
}

/* Make a ledger that is not open yet. */
static int new_at(const char *state_dir, struct ledger **ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *dir = state_dir ? state_dir : state_dir_find(&arena);
	struct ledger *l;

	if (!dir)
		return err_set(err, ERR_SYS,
			       "no folder for the ledger: set MATINS_STATE, "
			       "XDG_STATE_HOME or HOME");
	if (state_dir_is_ours(dir, err) < 0)
		return -1;
	*ret = l = mem_zalloc(sizeof(*l));
	l->dir = mem_strdup(dir);
	l->path = mem_printf("%s/ledger.jsonl", dir);
	l->fd = -1;
	return 0;
}

static int refuse_folder(const struct ledger *l, int sys, struct err *err)
{
	return err_sys(err, sys,
		       "the state directory %s cannot be written "
		       "(MATINS_STATE names another)",
		       l->dir);
}

/* Make the ledger; with its folder on disk it is there for good. */
static int create(struct ledger *l, struct err *err)
{
	AUTO(fd_closep) int folder = -1;

	if (fd_mkdirs(l->dir, 0700) < 0)
		return refuse_folder(l, errno, err);
	if (state_dir_open(l->path, O_RDWR | O_APPEND | O_CREAT, &l->fd, err) <
	    0)
		return err->sys ? refuse_folder(l, err->sys, err) : -1;
	folder = fd_open(l->dir, O_RDONLY | O_DIRECTORY, 0);
	if (folder < 0 || fsync(folder) < 0)
		return refuse_folder(l, errno, err);
	return 0;
}

int ledger_open(const char *state_dir, struct ledger **ret, struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	struct err why = ERR_INIT;

	if (new_at(state_dir, &l, err) < 0)
		return -1;
	if (state_dir_open(l->path, O_RDWR | O_APPEND, &l->fd, &why) < 0) {
		if (why.sys && why.sys != ENOENT)
			return refuse_folder(l, why.sys, err);
		if (!why.sys)
			*err = why;
		if (!why.sys || create(l, err) < 0)
			return -1;
	}
	*ret = l;
	l = NULL;
	return 0;
}

int ledger_open_read(const char *state_dir, struct ledger **ret,
		     struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	struct err why = ERR_INIT;

	if (new_at(state_dir, &l, err) < 0)
		return -1;
	if (state_dir_open(l->path, O_RDONLY, &l->fd, &why) < 0 &&
	    why.sys != ENOENT) {
		*err = why;
		return -1;
	}
	*ret = l;
	l = NULL;
	return 0;
}

/* ---- reading lines ---- */

/* Blocks of a walk: the last lines are mostly all that is asked for. */
#define FIRST_BLOCK 4096
#define LAST_BLOCK (256 * 1024)

void ledger_lines_init(struct ledger_lines *w, struct ledger *l)
{
	off_t end = l->fd < 0 ? 0 : lseek(l->fd, 0, SEEK_END);

	*w = (struct ledger_lines){.l = l, .block = FIRST_BLOCK};
	w->text = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	w->end = w->from = end < 0 ? 0 : (uint64_t)end;
	w->sys = end < 0 ? errno : 0;
}

void ledger_lines_release(struct ledger_lines *w)
{
	buf_release(&w->text);
}

void ledger_lines_only(struct ledger_lines *w, const char *routine,
		       struct arena *arena)
{
	AUTO(buf_release) struct buf member = BUF_INIT(BUF_UNBOUNDED);
	struct jw jw = jw_begin(&member);

	jw_kv_cstr(&jw, "routine", routine);
	w->only = str_skip(arena_buf(arena, &member), strlen("{"));
}

uint64_t ledger_lines_passed(const struct ledger_lines *w)
{
	return w->end - w->from - w->text.n;
}

/* Put a block in front of what is held. A line that was cut off meanwhile, as
   it could not be written whole, is missed. */
static int read_before(struct ledger_lines *w, struct err *err)
{
	size_t want = w->from < w->block ? (size_t)w->from : w->block;
	const size_t held = w->text.n;
	struct buf block = BUF_INIT(BUF_UNBOUNDED);
	const char *room = buf_room(&block, want + w->text.n);

	w->from -= want;
	while (room && block.n < want) {
		ssize_t r = pread(w->l->fd, block.p + block.n, want - block.n,
				  (off_t)(w->from + block.n));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			int saved = errno;

			buf_release(&block);
			return err_sys(err, saved, "read %s", w->l->path);
		}
		if (r == 0)
			break;
		block.n += (size_t)r;
	}
	if (w->from + want == w->end && str_ends(buf_str(&block), "\n"))
		w->l->whole = (off_t)w->end;
	buf_add_str(&block, buf_str(&w->text));
	buf_release(&w->text);
	w->text = block;
	/* copy what is held each time: a torn line may be all there is */
	if (w->block < LAST_BLOCK || held >= w->block)
		w->block *= 2;
	return 0;
}

int ledger_lines_next(struct ledger_lines *w, struct ledger_event *ret,
		      struct err *err)
{
	for (;;) {
		struct str all = buf_str(&w->text), line;
		const char *nl = all.n ? memrchr(all.p, '\n', all.n - 1) : NULL;

		if (w->most && ledger_lines_passed(w) > w->most)
			return 0;
		if (!nl && w->from) {
			if (read_before(w, err) < 0)
				return -1;
			continue;
		}
		if (w->sys)
			return err_sys(err, w->sys, "read %s", w->l->path);
		if (!all.n)
			return 0;
		line = str_skip(all, nl ? (size_t)(nl - all.p) + 1 : 0);
		w->text.n -= line.n;
		if ((!w->only.n ||
		     memmem(line.p, line.n, w->only.p, w->only.n)) &&
		    ledger_event_read(line, ret))
			return 1;
	}
}

/* Lines that are in memory already, with at most so many ends of runs. */
#define NEAR_ENDS 32

/* The run of a routine before, while lines are walked back to it. */
struct before {
	uint64_t ended[NEAR_ENDS]; /* generations */
	size_t n_ended;
	bool is_met;
};

static bool is_near(const struct ledger_lines *w)
{
	return !w->from ||
	       (w->text.n && memrchr(w->text.p, '\n', w->text.n - 1));
}

/* Compare name and file. */
static bool ledger_event_is_of(const struct ledger_event *e,
			       const struct ledger_routine *which)
{
	return ledger_event_has(e, "routine", which->name) &&
	       ledger_event_has(e, "file", which->file);
}

/* Look whether it is the run before, and was lost. */
static void meet(struct ledger *l, struct before *b,
		 const struct ledger_event *e,
		 const struct ledger_routine *which)
{
	AUTO(buf_release) struct buf boot = BUF_INIT(64);

	if (b->is_met || !ledger_event_is_of(e, which))
		return;
	if (e->kind == EVENT_FINISHED && b->n_ended < NEAR_ENDS)
		b->ended[b->n_ended++] = e->generation;
	if (e->kind != EVENT_STARTED)
		return;
	b->is_met = true;
	for (size_t i = 0; i < b->n_ended; i++)
		if (b->ended[i] == e->generation)
			return;
	proc_boot_id(&boot);
	if (b->n_ended < NEAR_ENDS && !ledger_is_alive(e, buf_str(&boot)))
		l->lost_before = e->generation;
}

/* Generation of the last `started` line: they stand in order. 0: none. Lines
   that were read with it say whether the run before was lost. */
static int last_generation(struct ledger *l, const struct ledger_routine *which,
			   uint64_t *ret, struct err *err)
{
	AUTO(ledger_lines_release) struct ledger_lines lines;
	struct before before = {.n_ended = 0};
	struct ledger_event e;
	int r;

	*ret = l->lost_before = 0;
	ledger_lines_init(&lines, l);
	while ((!*ret || (!before.is_met && is_near(&lines))) &&
	       (r = ledger_lines_next(&lines, &e, err)) != 0) {
		if (r < 0)
			return -1;
		if (e.kind == EVENT_STARTED && !*ret)
			*ret = e.generation;
		meet(l, &before, &e, which);
	}
	return 0;
}

/* ---- appending lines ---- */

static int lock(struct ledger *l, struct err *err)
{
	while (flock(l->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return err_sys(err, errno, "lock %s", l->path);
	l->whole = 0;
	return 0;
}

/* Append all of a line or nothing of it; adds its newline. */
static int append_line(struct ledger *l, struct buf *line, struct err *err)
{
	off_t size = l->whole ? l->whole : lseek(l->fd, 0, SEEK_END);
	char last = '\n';
	int saved;

	buf_addc(line, '\n');
	/* a crash may have torn the line before */
	if (size > l->whole && size != l->end &&
	    pread(l->fd, &last, 1, size - 1) != 1)
		last = '\n';
	if ((last == '\n' || fd_write_all(l->fd, "\n", 1) == 0) &&
	    fd_write_all(l->fd, line->p, line->n) == 0) {
		l->end = size + (off_t)line->n + (last != '\n');
		return 0;
	}
	saved = errno;
	if (ftruncate(l->fd, size) < 0) {
		/* the next line begins behind the torn one */
	}
	return err_sys(err, saved, "write %s", l->path);
}

/* Append a line under the lock, and give that up. */
static int append_last(struct ledger *l, struct buf *line, struct err *err)
{
	int r = append_line(l, line, err);

	while (flock(l->fd, LOCK_UN) < 0 && errno == EINTR)
		;
	l->is_synced = false;
	return r;
}

int ledger_append(struct ledger *l, struct buf *line, struct err *err)
{
	return lock(l, err) < 0 ? -1 : append_last(l, line, err);
}

/* Other runs may begin while the line goes to disk. */
int ledger_sync(struct ledger *l, struct err *err)
{
	if (!l->is_synced && !l->sync_error && fdatasync(l->fd) < 0)
		l->sync_error = errno;
	if (l->sync_error)
		return err_sys(err, l->sync_error, "sync %s", l->path);
	l->is_synced = true;
	return 0;
}

/* ---- runs ---- */

void ledger_add_process(struct jw *w)
{
	AUTO(buf_release) struct buf boot = BUF_INIT(64);
	uint64_t start;

	proc_boot_id(&boot);
	jw_kv_int(w, "pid", proc_self(&start));
	jw_kv_uint(w, "pid_start", start);
	jw_kv_str(w, "boot", buf_str(&boot));
}

int ledger_start(struct ledger *l, const struct ledger_routine *which,
		 int64_t wall_ns, uint64_t *ret_generation, struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	uint64_t generation;
	struct jw w;

	if (lock(l, err) < 0)
		return -1;
	if (last_generation(l, which, &generation, err) < 0) {
		flock(l->fd, LOCK_UN);
		return -1;
	}
	if (generation >= INT64_MAX) {
		flock(l->fd, LOCK_UN);
		return err_set(err, ERR_LIMIT,
			       "%s has a run of number %llu, which no matins "
			       "wrote: remove that line",
			       l->path, (unsigned long long)generation);
	}
	jw_init(&w, &line, false);
	ledger_event_begin(&w, EVENT_STARTED, ++generation, which, wall_ns);
	ledger_add_process(&w);
	jw_end(&w);
	if (append_last(l, &line, err) < 0)
		return -1;
	*ret_generation = generation;
	return 0;
}

bool ledger_is_alive(const struct ledger_event *started, struct str boot)
{
	struct str value;
	uint64_t start;
	int64_t pid;

	if (!scan_get(started->doc, "boot", &value) || value.n != boot.n + 2 ||
	    memcmp(value.p + 1, boot.p, boot.n))
		return false;
	if (!scan_get(started->doc, "pid", &value) ||
	    !scan_int64(value, &pid) ||
	    !scan_get(started->doc, "pid_start", &value) ||
	    !str_uint64(value, &start))
		return false;
	return start && proc_start_time(pid) == start;
}

void ledger_make_room(struct ledger *l, const char *file, uint64_t keep_runs)
{
	l->has_room = store_make_room(l->dir, file, keep_runs, &l->room);
}

int ledger_finish(struct ledger *l, uint64_t generation,
		  const struct ledger_end *end, const struct fd_text *report,
		  uint64_t keep_runs, struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	char sha256[SHA256_HEX_BYTES] = "";
	struct err append_err = ERR_INIT;
	int stored = 0;
	struct jw w;

	if (report)
		stored = store_put(
			&(struct store_place){
				.state_dir = l->dir,
				.file = end->which.file,
				.generation = generation,
				.keep = keep_runs,
				.room = l->has_room ? &l->room : NULL,
			},
			report, sha256, err);
	jw_init(&w, &line, false);
	ledger_event_begin(&w, EVENT_FINISHED, generation, &end->which,
			   end->wall_ns);
	jw_kv_cstr(&w, "summary", end->summary);
	jw_kv_bool(&w, "success", end->success);
	jw_kv_int(&w, "exit", end->exit_status);
	if (*sha256)
		jw_kv_cstr(&w, "sha256", sha256);
	jw_end(&w);
	if (ledger_append(l, &line, &append_err) < 0 ||
	    ledger_sync(l, &append_err) < 0) {
		*err = append_err;
		return -1;
	}
	return stored;
}

int ledger_amend(struct ledger *l, uint64_t generation,
		 const struct ledger_amendment *a, struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	char sum[SHA256_HEX_BYTES];
	struct jw w;

	sha256_hex(a->report, sum);
	jw_init(&w, &line, false);
	ledger_event_begin(&w, EVENT_NOTIFIED, generation, &a->which,
			   a->wall_ns);
	jw_kv_raw(&w, "notices", a->notices);
	jw_kv_cstr(&w, "sha256", sum);
	jw_end(&w);
	if (ledger_append(l, &line, err) < 0 || ledger_sync(l, err) < 0)
		return -1;
	return a->keep_runs ? store_replace(l->dir, a->which.file, generation,
					    a->report, err)
			    : 0;
}
