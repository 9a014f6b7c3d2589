/*
 * The ledger on disk: its place, its lines, the lock of a routine, and a run
 * that takes its generation and says how it ended.
 */
#include "core/report/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/report/store.h"

/* First look at the end of the ledger, bytes; then twice as far. */
#define TAIL_BYTES 4096
/* Bytes of a report that are summed up and written at a time. */
#define PORTION (256 * 1024)

struct ledger {
	char *dir, *path; /* of ledger.jsonl; owned */
	int fd;		  /* -1: there is nothing to read */
	bool is_synced;	  /* all lines of ours */
	int sync_error;	  /* errno of a flush: the kernel tells it once */
	bool has_room;	  /* .room is of store_make_room() */
	struct timespec room;
};

/* A `started` or `finished` line; slices of the text that was read. */
struct ledger_record {
	bool started;
	uint64_t generation;
	struct str doc;
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
	*ret = l = mem_zalloc(sizeof(*l));
	l->dir = mem_strdup(dir);
	l->path = mem_printf("%s/ledger.jsonl", dir);
	l->fd = -1;
	return 0;
}

/*
 * Open a file of the state directory. As root a link that somebody put there
 * would lead a write anywhere, and a FIFO would hold up the run.
 *
 * returns  a descriptor, or -1 and errno: ELOOP for a link, EINVAL for what is
 *	    no regular file
 */
static int open_own(const char *path, int flags)
{
	AUTO(fd_closep)
	int fd =
		fd_open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (S_ISREG(st.st_mode))
		return fd_steal(&fd);
	errno = EINVAL;
	return -1;
}

/* sys  errno of open_own(), kept as it is */
static int refuse_own(const char *path, int sys, struct err *err)
{
	if (sys != ELOOP && sys != EINVAL)
		return err_sys(err, sys, "%s", path);
	return err_set(err, ERR_SYS,
		       "%s is %s: remove it, or let MATINS_STATE name another "
		       "folder",
		       path,
		       sys == ELOOP ? "a link, and none is followed there"
				    : "no regular file");
}

int ledger_open(const char *state_dir, struct ledger **ret, struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	AUTO(fd_closep) int folder = -1;
	bool is_synced = true;

	if (new_at(state_dir, &l, err) < 0)
		return -1;
	l->fd = open_own(l->path, O_RDWR | O_APPEND);
	if (l->fd < 0 && errno == ENOENT && fd_mkdirs(l->dir, 0700) == 0) {
		l->fd = open_own(l->path, O_RDWR | O_APPEND | O_CREAT);
		/* only then the new file is there for good */
		if (l->fd >= 0)
			folder = fd_open(l->dir, O_RDONLY | O_DIRECTORY, 0);
		is_synced = folder >= 0 && fsync(folder) == 0;
	}
	if (l->fd < 0 && (errno == ELOOP || errno == EINVAL))
		return refuse_own(l->path, errno, err);
	if (l->fd < 0 || !is_synced)
		return err_sys(err, errno,
			       "the state directory %s cannot be written "
			       "(MATINS_STATE names another)",
			       l->dir);
	*ret = l;
	l = NULL;
	return 0;
}

int ledger_open_read(const char *state_dir, struct ledger **ret,
		     struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;

	if (new_at(state_dir, &l, err) < 0)
		return -1;
	l->fd = open_own(l->path, O_RDONLY);
	if (l->fd < 0 && errno != ENOENT)
		return refuse_own(l->path, errno, err);
	*ret = l;
	l = NULL;
	return 0;
}

/* ---- routines ---- */

int ledger_lock_routine(struct ledger *l, const struct ledger_routine *which,
			bool wait, int *ret_fd, struct err *err)
{
	/* a name holds no slash, so the pair is unambiguous */
	AUTO(mem_freep)
	char *routine = mem_printf("%s/%s", which->file, which->name);
	AUTO(mem_freep) char *folder = mem_printf("%s/locks", l->dir);
	AUTO(mem_freep) char *path = NULL;
	AUTO(fd_closep) int fd = -1;
	char name[SHA256_HEX_BYTES];

	/* a routine's name may hold what a file name must not */
	sha256_hex(str_of(routine), name);
	path = mem_printf("%s/%.32s", folder, name);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "%s", folder);
	fd = open_own(path, O_RDWR | O_CREAT);
	if (fd < 0)
		return refuse_own(path, errno, err);
	if (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return err_set(err, ERR_BUSY,
				       "routine %s is running already",
				       which->name);
		return err_sys(err, errno, "wait for routine %s", which->name);
	}
	*ret_fd = fd_steal(&fd);
	return 0;
}

/* ---- reading lines ---- */

static bool read_record(struct str line, struct ledger_record *ret)
{
	struct ledger_record r;
	struct str value;

	if (scan_document(line, NULL, &r.doc, ERR_IGNORED) < 0 ||
	    !scan_get(r.doc, "generation", &value) ||
	    !str_uint64(value, &r.generation) ||
	    !scan_get(r.doc, "event", &value))
		return false;
	r.started = scan_is(value, "started");
	if (!r.started && !scan_is(value, "finished"))
		return false;
	*ret = r;
	return true;
}

static int read_tail(const struct ledger *l, size_t n, struct buf *out,
		     bool *ret_all, struct err *err)
{
	off_t size = lseek(l->fd, 0, SEEK_END);
	off_t from = size > (off_t)n ? size - (off_t)n : 0;

	buf_clear(out);
	if (size < 0)
		return err_sys(err, errno, "read %s", l->path);
	while (size > from + (off_t)out->n) {
		size_t want = (size_t)(size - from) - out->n;
		ssize_t r = pread(l->fd, buf_room(out, want), want,
				  from + (off_t)out->n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(err, errno, "read %s", l->path);
		if (r == 0)
			break;
		out->n += (size_t)r;
		out->p[out->n] = '\0';
	}
	*ret_all = from == 0;
	if (from > 0)
		buf_drop(out, str_find(buf_str(out), '\n'));
	return 0;
}

/* Search from the end, so that mostly one or two lines are read. */
static uint64_t last_started(struct str text)
{
	while (text.n) {
		const char *nl = memrchr(text.p, '\n', text.n);
		size_t at = nl ? (size_t)(nl - text.p) + 1 : 0;
		struct str line = {text.p + at, text.n - at};
		struct ledger_record r;

		if (read_record(line, &r) && r.started)
			return r.generation;
		text.n = at ? at - 1 : 0;
	}
	return 0;
}

/* Generation of the last `started` line: they stand in order. 0: none. */
static int last_generation(const struct ledger *l, uint64_t *ret,
			   struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	bool all = false;

	*ret = 0;
	for (size_t n = TAIL_BYTES; !*ret && !all; n *= 2) {
		if (read_tail(l, n, &text, &all, err) < 0)
			return -1;
		*ret = last_started(buf_str(&text));
	}
	return 0;
}

/* ---- appending lines ---- */

static int lock(struct ledger *l, struct err *err)
{
	while (flock(l->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return err_sys(err, errno, "lock %s", l->path);
	return 0;
}

/* Append all of a line or nothing of it; adds its newline. */
static int append_line(struct ledger *l, struct buf *line, struct err *err)
{
	off_t size = lseek(l->fd, 0, SEEK_END);
	char last = '\n';
	int saved;

	buf_addc(line, '\n');
	/* a crash may have torn the line before */
	if (size > 0 && pread(l->fd, &last, 1, size - 1) != 1)
		last = '\n';
	if ((last == '\n' || fd_write_all(l->fd, "\n", 1) == 0) &&
	    fd_write_all(l->fd, line->p, line->n) == 0)
		return 0;
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

/* ---- processes ---- */

/* Append the id of this boot; nothing where there is no /proc. */
static void add_boot_id(struct buf *out)
{
	if (fd_read_file("/proc/sys/kernel/random/boot_id", out, ERR_IGNORED) ==
	    0)
		out->n = str_trim(buf_str(out)).n;
}

/* ---- runs ---- */

static void common_fields(struct jw *w, const char *event, uint64_t generation,
			  const struct ledger_routine *which, int64_t wall_ns)
{
	char at[CLOCK_TEXT_BYTES];

	clock_format(wall_ns, at);
	jw_object(w);
	jw_kv_cstr(w, "event", event);
	jw_key(w, "generation");
	jw_uint(w, generation);
	jw_kv_cstr(w, "routine", which->name);
	jw_kv_cstr(w, "file", which->file);
	jw_kv_bool(w, "whole", which->whole);
	jw_kv_cstr(w, "at", at);
}

int ledger_start(struct ledger *l, const struct ledger_routine *which,
		 int64_t wall_ns, uint64_t *ret_generation, struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf boot = BUF_INIT(64);
	uint64_t generation;
	struct jw w;

	if (lock(l, err) < 0)
		return -1;
	if (last_generation(l, &generation, err) < 0) {
		flock(l->fd, LOCK_UN);
		return -1;
	}
	add_boot_id(&boot);
	jw_init(&w, &line, false);
	common_fields(&w, "started", ++generation, which, wall_ns);
	jw_kv_int(&w, "pid", getpid());
	jw_key(&w, "pid_start");
	jw_uint(&w, proc_start_time(getpid()));
	jw_kv_str(&w, "boot", buf_str(&boot));
	jw_end(&w);
	if (append_last(l, &line, err) < 0)
		return -1;
	*ret_generation = generation;
	return 0;
}

/* ---- the report ---- */

/* A report on its way to the disk, and its sum. */
struct summed {
	const struct fd_text *text;
	struct sha256 sum;
	struct buf *out; /* NULL: the sum alone */
};

/* Sum and write in portions: the second use finds them in the cache. */
static void sum_up(void *arg, struct str bytes)
{
	struct summed *s = arg;

	while (bytes.n) {
		size_t n = bytes.n < PORTION ? bytes.n : PORTION;

		sha256_add(&s->sum, bytes.p, n);
		if (s->out)
			buf_add(s->out, bytes.p, n);
		bytes.p += n;
		bytes.n -= n;
	}
}

static void print_summed(const void *arg, struct buf *out)
{
	struct summed *s = *(struct summed *const *)arg;
	const struct buf_sink sink = {sum_up, s};
	struct buf pieces = {.max = BUF_UNBOUNDED, .sink = &sink};

	s->out = out;
	sha256_init(&s->sum);
	s->text->print(s->text->arg, &pieces);
	buf_drain(&pieces);
	buf_release(&pieces);
}

static int store(const struct ledger *l, const char *file, uint64_t generation,
		 const struct fd_text *report, uint64_t keep_runs,
		 char ret_hex[SHA256_HEX_BYTES], struct err *err)
{
	unsigned char digest[SHA256_BYTES];
	struct summed summed = {.text = report}, *arg = &summed;
	const struct fd_text text = {
		print_summed,
		&arg,
		report->beside,
		report->beside_arg,
	};

	/* a report that is not kept is printed for its sum alone */
	if (!keep_runs)
		print_summed(&arg, NULL);
	if (store_put(l->dir, file, generation, &text, keep_runs,
		      l->has_room ? &l->room : NULL, err) < 0)
		return -1;
	sha256_end(&summed.sum, digest);
	sha256_text(digest, ret_hex);
	return 0;
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
		stored = store(l, end->which.file, generation, report,
			       keep_runs, sha256, err);
	jw_init(&w, &line, false);
	common_fields(&w, "finished", generation, &end->which, end->wall_ns);
	jw_kv_cstr(&w, "summary", end->summary);
	jw_kv_bool(&w, "success", end->success);
	jw_kv_int(&w, "exit", end->exit_status);
	if (*sha256)
		jw_kv_cstr(&w, "sha256", sha256);
	jw_end(&w);
	if (lock(l, &append_err) < 0 ||
	    append_last(l, &line, &append_err) < 0 ||
	    ledger_sync(l, &append_err) < 0) {
		*err = append_err;
		return -1;
	}
	return stored;
}

/* ---- history ---- */

/* End of the ledger that ledger_read() takes, bytes. */
#define READ_BYTES (64 * 1024 * 1024)

static const char *const state_names[] = {"running", "lost", "finished"};

const char *run_state_name(enum run_state s)
{
	return state_names[s];
}

bool ledger_run_is(const struct ledger_run *run, const char *routine,
		   const char *file)
{
	return (!routine || !strcmp(run->routine, routine)) &&
	       (!file || !*run->file || !strcmp(run->file, file));
}

/*
 * Report whether the process of a run lives, by boot, pid and start time.
 *
 * started  the JSON of a `started` line
 * boot     add_boot_id() of now
 */
static bool is_alive(struct str started, struct str boot)
{
	struct str value;
	uint64_t start;
	int64_t pid;

	if (!scan_get(started, "boot", &value) || value.n != boot.n + 2 ||
	    memcmp(value.p + 1, boot.p, boot.n))
		return false;
	if (!scan_get(started, "pid", &value) || !scan_int64(value, &pid) ||
	    !scan_get(started, "pid_start", &value) ||
	    !str_uint64(value, &start))
		return false;
	return start && proc_start_time(pid) == start;
}

/* A run, and its `started` line while nothing says how it ended. */
struct found {
	struct ledger_run run;
	struct str started;
};

struct runs {
	struct found *item; /* owned */
	size_t n, cap;
	struct arena *arena;
};

static const char *text_of(struct str doc, const char *name,
			   struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *copy = "";
	struct str value;

	if (scan_get(doc, name, &value) && scan_string(value, &text))
		copy = arena_strndup(arena, buf_cstr(&text), text.n);
	return copy;
}

/* Read the text of clock_format(); 0: another text. */
static int64_t time_of(const char *text)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t ms;

	if (!end || strlen(end) != strlen(".123Z") || end[0] != '.' ||
	    end[4] != 'Z' || !str_uint64((struct str){end + 1, 3}, &ms))
		return 0;
	return (int64_t)timegm(&tm) * (int64_t)NS_PER_S +
	       (int64_t)(ms * NS_PER_MS);
}

static struct found *add_run(struct runs *r, const struct ledger_record *record)
{
	struct found *found;

	r->item = mem_grow(r->item, r->n + 1, &r->cap, sizeof(*r->item));
	found = &r->item[r->n++];
	*found = (struct found){0};
	found->run = (struct ledger_run){
		.generation = record->generation,
		.routine = text_of(record->doc, "routine", r->arena),
		.file = text_of(record->doc, "file", r->arena),
		.whole = scan_true(record->doc, "whole"),
		.state = RUN_LOST,
		.started = "",
		.finished = "",
		.summary = "",
		.sha256 = "",
	};
	return found;
}

static void add_started(struct runs *r, const struct ledger_record *record)
{
	struct found *found = add_run(r, record);

	found->started = record->doc;
	found->run.started = text_of(record->doc, "at", r->arena);
	found->run.started_ns = time_of(found->run.started);
}

static void add_finished(struct runs *r, const struct ledger_record *record)
{
	struct found *found = NULL;
	struct str doc = record->doc, value;
	struct ledger_run *run;
	int64_t status;

	/* from the end: a run mostly ends soon after it began */
	for (size_t i = r->n; i-- > 0 && !found;) {
		if (r->item[i].run.generation < record->generation)
			break;
		if (r->item[i].run.generation == record->generation)
			found = &r->item[i];
	}
	if (!found)
		found = add_run(r, record);
	run = &found->run;
	run->state = RUN_FINISHED;
	/* the run may have ended before its first step */
	run->whole = run->whole && scan_true(doc, "whole");
	run->finished = text_of(doc, "at", r->arena);
	run->finished_ns = time_of(run->finished);
	run->summary = text_of(doc, "summary", r->arena);
	run->sha256 = text_of(doc, "sha256", r->arena);
	run->success = scan_true(doc, "success");
	if (scan_get(doc, "exit", &value) && scan_int64(value, &status))
		run->exit_status = (int)status;
}

int ledger_read(struct ledger *l, struct arena *arena, struct ledger_run **ret,
		size_t *ret_n, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf boot = BUF_INIT(64);
	struct runs runs = {.arena = arena};
	struct ledger_record record;
	struct str rest;
	bool all;

	if (l->fd >= 0 && read_tail(l, READ_BYTES, &text, &all, err) < 0)
		return -1;
	for (rest = buf_str(&text); rest.n;)
		if (read_record(str_cut(&rest, '\n'), &record))
			(record.started ? add_started : add_finished)(&runs,
								      &record);
	add_boot_id(&boot);
	*ret = ARENA_ARRAY(arena, struct ledger_run, runs.n);
	*ret_n = runs.n;
	for (size_t i = 0; i < runs.n; i++) {
		(*ret)[i] = runs.item[i].run;
		/* without an end: looked up in /proc */
		if ((*ret)[i].state == RUN_LOST &&
		    is_alive(runs.item[i].started, buf_str(&boot)))
			(*ret)[i].state = RUN_RUNNING;
	}
	free(runs.item);
	return 0;
}
