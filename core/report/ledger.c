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
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/report/store.h"

/* First look at the end of the ledger, bytes; then twice as far. */
#define TAIL_BYTES 4096
/* Bytes of a report that are summed up and written at a time. */
#define PORTION (256 * 1024)

struct ledger {
	char *dir; /* owned */
	int fd;	   /* of ledger.jsonl; -1: there is none to read */
};

/* A `started` or `finished` line; slices of the text that was read. */
struct ledger_record {
	bool started;
	uint64_t generation;
	struct str doc;
};

/* ---- where ---- */

static int find_dir(const char *given, char **ret, struct err *err)
{
	struct arena arena = ARENA_INIT;
	const char *dir = given ? given : state_dir_find(&arena);

	if (dir)
		*ret = mem_strdup(dir);
	arena_release(&arena);
	if (!dir)
		return err_set(err, ERR_SYS,
			       "no folder for the ledger: set MATINS_STATE, "
			       "XDG_STATE_HOME or HOME");
	return 0;
}

/* ---- open ---- */

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	fd_closep(&l->fd);
	free(l->dir);
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

static int cannot_write(const char *dir, struct err *err)
{
	return err_sys(err, errno,
		       "the state directory %s cannot be written (MATINS_STATE "
		       "names another)",
		       dir);
}

/* Sync a folder: only then is a new file in it there for good. */
static int sync_dir(const char *dir)
{
	AUTO(fd_closep) int fd = fd_open(dir, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? -1 : fsync(fd);
}

/* Make a ledger that is not open yet, and the path of its file. */
static int new_at(const char *state_dir, struct ledger **ret, char **ret_path,
		  struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = mem_zalloc(sizeof(*l));

	l->fd = -1;
	if (find_dir(state_dir, &l->dir, err) < 0)
		return -1;
	*ret_path = mem_printf("%s/ledger.jsonl", l->dir);
	*ret = l;
	l = NULL;
	return 0;
}

int ledger_open(const char *state_dir, struct ledger **ret, struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	AUTO(mem_freep) char *path = NULL;

	if (new_at(state_dir, &l, &path, err) < 0)
		return -1;
	l->fd = fd_open(path, O_RDWR | O_APPEND, 0);
	if (l->fd < 0 && errno == ENOENT) {
		if (fd_mkdirs(l->dir, 0700) < 0)
			return cannot_write(l->dir, err);
		l->fd = fd_open(path, O_RDWR | O_APPEND | O_CREAT, 0600);
		if (l->fd >= 0 && sync_dir(l->dir) < 0)
			return cannot_write(l->dir, err);
	}
	if (l->fd < 0)
		return cannot_write(l->dir, err);
	*ret = l;
	l = NULL;
	return 0;
}

int ledger_open_read(const char *state_dir, struct ledger **ret,
		     struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	AUTO(mem_freep) char *path = NULL;

	if (new_at(state_dir, &l, &path, err) < 0)
		return -1;
	l->fd = fd_open(path, O_RDONLY, 0);
	if (l->fd < 0 && errno != ENOENT)
		return err_sys(err, errno, "%s", path);
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
	fd = fd_open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return err_sys(err, errno, "%s", path);
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
	struct err ignored = ERR_INIT;
	struct ledger_record r;
	struct str value;

	if (scan_document(line, NULL, &r.doc, &ignored) < 0 ||
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
		return err_sys(err, errno, "read %s/ledger.jsonl", l->dir);
	while (size > from + (off_t)out->n) {
		size_t want = (size_t)(size - from) - out->n;
		ssize_t r = pread(l->fd, buf_room(out, want), want,
				  from + (off_t)out->n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(err, errno, "read %s/ledger.jsonl",
				       l->dir);
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
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	bool all = false;

	*ret = 0;
	for (size_t n = TAIL_BYTES; !*ret && !all; n *= 2) {
		if (read_tail(l, n, &text, &all, err) < 0) {
			buf_release(&text);
			return -1;
		}
		*ret = last_started(buf_str(&text));
	}
	buf_release(&text);
	return 0;
}

/* ---- appending lines ---- */

/* flock(2), again after a signal. */
static int lock_file(int fd, int how)
{
	int r;

	do
		r = flock(fd, how);
	while (r < 0 && errno == EINTR);
	return r;
}

/* Report whether the file ends in a line that a crash has torn. */
static bool is_torn(const struct ledger *l, off_t size)
{
	char last;

	return size > 0 && pread(l->fd, &last, 1, size - 1) == 1 &&
	       last != '\n';
}

/* Append all of a line or nothing of it, under the lock; adds its newline. */
static int append_line(struct ledger *l, struct buf *line, struct err *err)
{
	off_t size = lseek(l->fd, 0, SEEK_END);
	int saved;

	buf_addc(line, '\n');
	if ((!is_torn(l, size) || fd_write_all(l->fd, "\n", 1) == 0) &&
	    fd_write_all(l->fd, line->p, line->n) == 0)
		return 0;
	saved = errno;
	if (ftruncate(l->fd, size) < 0) {
		/* the next line begins behind the torn one */
	}
	return err_sys(err, saved, "write %s/ledger.jsonl", l->dir);
}

static int sync_file(const struct ledger *l, struct err *err)
{
	if (fdatasync(l->fd) < 0)
		return err_sys(err, errno, "sync %s/ledger.jsonl", l->dir);
	return 0;
}

/* ---- processes ---- */

static uint64_t process_start(int64_t pid)
{
	AUTO(mem_freep)
	char *path = mem_printf("/proc/%lld/stat", (long long)pid);
	struct buf text = BUF_INIT(4096);
	struct err ignored = ERR_INIT;
	uint64_t start = 0;
	const char *p = NULL;

	if (fd_read_file(path, &text, &ignored) == 0)
		p = strrchr(buf_cstr(&text), ')');
	if (p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X') {
		struct str rest = str_of(p + 2), field = {NULL, 0};

		for (int i = 3; i <= 22; i++)
			field = str_cut(&rest, ' ');
		if (!str_uint64(field, &start))
			start = 0;
	}
	buf_release(&text);
	return start;
}

static void add_boot_id(struct buf *out)
{
	struct err ignored = ERR_INIT;

	if (fd_read_file("/proc/sys/kernel/random/boot_id", out, &ignored) < 0)
		return;
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

static void started_line(struct buf *line, uint64_t generation,
			 const struct ledger_routine *which, int64_t wall_ns)
{
	struct buf boot = BUF_INIT(64);
	struct jw w;

	add_boot_id(&boot);
	jw_init(&w, line, false);
	common_fields(&w, "started", generation, which, wall_ns);
	jw_kv_int(&w, "pid", getpid());
	jw_key(&w, "pid_start");
	jw_uint(&w, process_start(getpid()));
	jw_kv_str(&w, "boot", buf_str(&boot));
	jw_end(&w);
	buf_release(&boot);
}

int ledger_start(struct ledger *l, const struct ledger_routine *which,
		 int64_t wall_ns, uint64_t *ret_generation, struct err *err)
{
	struct buf line = BUF_INIT(BUF_UNBOUNDED);
	uint64_t generation;
	int status;

	if (lock_file(l->fd, LOCK_EX) < 0)
		return err_sys(err, errno, "lock %s/ledger.jsonl", l->dir);
	status = last_generation(l, &generation, err);
	if (status == 0) {
		started_line(&line, ++generation, which, wall_ns);
		status = append_line(l, &line, err);
	}
	lock_file(l->fd, LOCK_UN);
	buf_release(&line);
	/* other runs may begin while this line goes to disk */
	if (status < 0 || sync_file(l, err) < 0)
		return -1;
	*ret_generation = generation;
	return 0;
}

static void finished_line(struct buf *line, uint64_t generation,
			  const struct ledger_end *end, const char *sha256)
{
	struct jw w;

	jw_init(&w, line, false);
	common_fields(&w, "finished", generation, &end->which, end->wall_ns);
	jw_kv_cstr(&w, "summary", end->summary);
	jw_kv_bool(&w, "success", end->success);
	jw_kv_int(&w, "exit", end->exit_status);
	if (*sha256)
		jw_kv_cstr(&w, "sha256", sha256);
	jw_end(&w);
}

/* ---- the report ---- */

/* A report on its way to the disk, and its sum. */
struct summed {
	const struct fd_text *text;
	struct sha256 *sum;
};

/* Sum and write in portions: the second use finds them in the cache. */
static void sum_up(void *arg, struct str bytes)
{
	void *const *both = arg;

	while (bytes.n) {
		struct str some = {bytes.p,
				   bytes.n < PORTION ? bytes.n : PORTION};

		sha256_add(both[0], some.p, some.n);
		buf_add_str(both[1], some);
		bytes.p += some.n;
		bytes.n -= some.n;
	}
}

static void print_summed(const void *arg, struct buf *out)
{
	const struct summed *s = arg;
	void *both[] = {s->sum, out};
	const struct buf_sink sink = {sum_up, both};
	struct buf pieces = BUF_INIT(BUF_UNBOUNDED);

	sha256_init(s->sum);
	pieces.sink = &sink;
	s->text->print(s->text->arg, &pieces);
	buf_drain(&pieces);
	buf_release(&pieces);
}

static void drop_bytes(UNUSED void *arg, UNUSED struct str bytes)
{
}

static int store(const struct ledger *l, const char *file, uint64_t generation,
		 const struct fd_text *report, uint64_t keep_runs,
		 char ret_hex[SHA256_HEX_BYTES], struct err *err)
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 sum;
	struct summed summed = {report, &sum};
	const struct fd_text text = {print_summed, &summed};
	const struct buf_sink drop = {drop_bytes, NULL};
	struct buf nowhere = {.max = BUF_UNBOUNDED, .sink = &drop};

	/* a report that is not kept is printed for its sum alone */
	sha256_init(&sum);
	if (!keep_runs)
		print_summed(&summed, &nowhere);
	buf_release(&nowhere);
	if (store_put(l->dir, file, generation, &text, keep_runs, err) < 0)
		return -1;
	sha256_end(&sum, digest);
	sha256_text(digest, ret_hex);
	return 0;
}

int ledger_finish(struct ledger *l, uint64_t generation,
		  const struct ledger_end *end, const struct fd_text *report,
		  uint64_t keep_runs, struct err *err)
{
	struct buf line = BUF_INIT(BUF_UNBOUNDED);
	char sha256[SHA256_HEX_BYTES] = "";
	struct err append_err = ERR_INIT;
	int stored = 0, status;

	if (report)
		stored = store(l, end->which.file, generation, report,
			       keep_runs, sha256, err);
	finished_line(&line, generation, end, sha256);
	if (lock_file(l->fd, LOCK_EX) < 0) {
		buf_release(&line);
		return err_sys(err, errno, "lock %s/ledger.jsonl", l->dir);
	}
	status = append_line(l, &line, &append_err);
	lock_file(l->fd, LOCK_UN);
	buf_release(&line);
	if (status == 0)
		status = sync_file(l, &append_err);
	if (status < 0)
		*err = append_err;
	return status < 0 ? status : stored;
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
	return start && process_start(pid) == start;
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
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *copy = "";
	struct str value;

	if (scan_get(doc, name, &value) && scan_string(value, &text))
		copy = arena_strndup(arena, buf_cstr(&text), text.n);
	buf_release(&text);
	return copy;
}

static bool is_true(struct str doc, const char *name)
{
	struct str value;

	return scan_get(doc, name, &value) && scan_type(value) == SCAN_TRUE;
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
	*found = (struct found){
		.run =
			{
				.generation = record->generation,
				.routine = text_of(record->doc, "routine",
						   r->arena),
				.file = text_of(record->doc, "file", r->arena),
				.whole = is_true(record->doc, "whole"),
				.state = RUN_LOST,
				.started = "",
				.finished = "",
				.summary = "",
				.sha256 = "",
			},
	};
	return found;
}

/* From the end: a run mostly ends soon after it began. */
static struct found *find_run(struct runs *r, uint64_t generation)
{
	for (size_t i = r->n; i-- > 0;) {
		if (r->item[i].run.generation == generation)
			return &r->item[i];
		if (r->item[i].run.generation < generation)
			break;
	}
	return NULL;
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
	struct found *found = find_run(r, record->generation);
	struct ledger_run *run;
	struct str value;
	int64_t status;

	if (!found)
		found = add_run(r, record);
	run = &found->run;
	run->state = RUN_FINISHED;
	/* the run may have ended before its first step */
	run->whole = run->whole && is_true(record->doc, "whole");
	run->finished = text_of(record->doc, "at", r->arena);
	run->finished_ns = time_of(run->finished);
	run->summary = text_of(record->doc, "summary", r->arena);
	run->sha256 = text_of(record->doc, "sha256", r->arena);
	run->success = is_true(record->doc, "success");
	if (scan_get(record->doc, "exit", &value) && scan_int64(value, &status))
		run->exit_status = (int)status;
}

static void add_lines(struct runs *r, struct str text)
{
	struct ledger_record record;

	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (!read_record(line, &record))
			continue;
		if (record.started)
			add_started(r, &record);
		else
			add_finished(r, &record);
	}
}

/* The runs in the arena; those without an end are looked up in /proc. */
static struct ledger_run *settle(const struct runs *r)
{
	struct ledger_run *run = ARENA_ARRAY(r->arena, struct ledger_run, r->n);
	struct buf boot = BUF_INIT(64);

	add_boot_id(&boot);
	for (size_t i = 0; i < r->n; i++) {
		run[i] = r->item[i].run;
		if (run[i].state == RUN_LOST &&
		    is_alive(r->item[i].started, buf_str(&boot)))
			run[i].state = RUN_RUNNING;
	}
	buf_release(&boot);
	return run;
}

int ledger_read(struct ledger *l, struct arena *arena, struct ledger_run **ret,
		size_t *ret_n, struct err *err)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct runs runs = {.arena = arena};
	bool all;

	if (l->fd >= 0 && read_tail(l, READ_BYTES, &text, &all, err) < 0) {
		buf_release(&text);
		return -1;
	}
	add_lines(&runs, buf_str(&text));
	*ret = settle(&runs);
	*ret_n = runs.n;
	free(runs.item);
	buf_release(&text);
	return 0;
}
