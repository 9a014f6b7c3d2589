#include "core/fan/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/config/paths.h"
#include "core/fan/planned.h"

/* A mark of a process elsewhere that was not renewed for so long is old. */
#define SILENT_S 600
/* And its files are removed after. */
#define GONE_S (24 * 3600)

/* Bytes of the text of a mark; all have as many. */
#define MARK_BYTES 96

/* A result beside its place. */
struct draft {
	char key[SHA256_HEX_BYTES];
	char name[160];
	int fd; /* owned */
	bool is_failure;
};

struct results {
	struct arena arena;
	struct manifest m;
	const char *path;
	int dir;	   /* owned */
	uint64_t table_at; /* of the rows in the manifest */
	struct buf rows;   /* that table, proved by the head */
	const char *place; /* of this process: host, boot and pid namespace */
	const char *who;
	int mark; /* of this process at work; owned, -1 */
	int64_t began_s;
	unsigned n_names;
	struct draft waiting[RESULTS_WAITING];
	size_t n_waiting;
};

/* ---- opening ---- */

/* Refuse a folder in which another user can write anything that is read. */
static int check_ours(const struct results *s, struct err *err)
{
	static const char *const names[] = {
		".",	   "manifest.json", "inputs.jsonl", "equal", "results",
		"failed",  "claims",	    "running",	    "tmp",   "dropped",
		"retried", "jobs.jsonl",    "staged"};
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (fstatat(s->dir, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (!path_is_ours(&st) || path_is_written_by_others(&st)))
			return err_set(err, ERR_CONFIG,
				       "%s belongs to another user, is a link, "
				       "or others can write it, and could make "
				       "you run anything",
				       names[i]);
	return 0;
}

/* Read the rows, which say where each shard is and what it has, and hold them:
   the file may be written at any time. */
static int read_rows(struct results *s, int fd, struct err *err)
{
	char hex[SHA256_HEX_BYTES];

	if (lseek(fd, (off_t)s->table_at, SEEK_SET) < 0 ||
	    fd_read_all(fd, &s->rows, err) < 0)
		return err_wrap(err, "%s/manifest.json", s->path);
	if (s->rows.n / MANIFEST_ROW >= s->m.n_shards) {
		s->rows.n = s->m.n_shards * MANIFEST_ROW;
		sha256_hex(buf_str(&s->rows), hex);
		if (strcmp(hex, s->m.rows_sha256) == 0)
			return 0;
	}
	return err_set(err, ERR_CONFIG,
		       "%s/manifest.json has not the shards that were planned: "
		       "make a new plan",
		       s->path);
}

/* Read the manifest. said  the path as the person named it, by which the plan
   is known */
static int read_head(struct results *s, const char *said, struct err *err)
{
	AUTO(buf_release) struct buf head = BUF_INIT(LIMIT_CONFIG_BYTES * 8);
	AUTO(fd_closep) int fd = results_file(s, "manifest.json");
	const char *table = NULL;
	ssize_t n = 1;

	if (fd < 0)
		return err_sys(err, errno, "%s/manifest.json", s->path);
	while (!table && n > 0) {
		char *room = buf_room(&head, 65536);

		if (!room)
			return err_set(err, ERR_LIMIT, "its head is too long");
		n = read(fd, room, 65536);
		if (n < 0)
			return err_sys(err, errno, "%s/manifest.json", s->path);
		head.n += (size_t)n;
		head.p[head.n] = '\0';
		table = memmem(head.p, head.n, MANIFEST_TABLE,
			       strlen(MANIFEST_TABLE));
	}
	if (!table)
		return err_set(err, ERR_CONFIG, "not a %s", FAN_SCHEMA);
	s->table_at = (uint64_t)(table - head.p) + strlen(MANIFEST_TABLE);
	head.n = s->table_at;
	if (planned_check(said, buf_str(&head), err) < 0 ||
	    manifest_read(buf_str(&head), &s->arena, &s->m, err) < 0)
		return -1;
	return read_rows(s, fd, err);
}

/* Name this process, and the place where its number means it. */
static void name_self(struct results *s)
{
	AUTO(buf_release) struct buf boot = BUF_INIT(BUF_UNBOUNDED);
	char host[65] = "", space[64] = "";
	struct stat st;
	uint64_t start;
	pid_t pid = proc_self(&start);

	if (gethostname(host, sizeof(host) - 1) < 0 || !*host)
		snprintf(host, sizeof(host), "unknown");
	for (char *p = host; *p; p++)
		if (*p == '/' || *p == '.' || *p == ' ')
			*p = '-';
	proc_boot_id(&boot);
	if (stat("/proc/self/ns/pid", &st) == 0)
		snprintf(space, sizeof(space), "%llx",
			 (unsigned long long)st.st_ino);
	s->place = arena_printf(&s->arena, "%.32s-%.8s-%s", host,
				buf_cstr(&boot), space);
	s->who = arena_printf(&s->arena, "%s.%d.%llu", s->place, (int)pid,
			      (unsigned long long)start);
}

int results_open(const char *dir, struct results **ret, struct err *err)
{
	struct results *s = mem_zalloc(sizeof(*s));
	AUTO(mem_freep) char *real = realpath(dir, NULL);
	int r;

	s->mark = s->dir = -1;
	s->rows = (struct buf)BUF_INIT(BUF_UNBOUNDED);
	s->path = arena_strdup(&s->arena, real ? real : dir);
	s->dir = fd_open(s->path, O_RDONLY | O_DIRECTORY, 0);
	name_self(s);
	r = s->dir < 0 ? err_sys(err, errno, "%s", dir) : check_ours(s, err);
	if (r == 0)
		r = read_head(s, dir, err);
	if (r < 0 && s->dir >= 0)
		err_wrap(err, "%s is no plan", dir);
	if (r < 0)
		results_close(s);
	else
		*ret = s;
	return r;
}

void results_close(struct results *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_waiting; i++) {
		fd_closep(&s->waiting[i].fd);
		(void)!unlinkat(s->dir, s->waiting[i].name, 0);
	}
	fd_closep(&s->mark);
	fd_closep(&s->dir);
	buf_release(&s->rows);
	arena_release(&s->arena);
	free(s);
}

const struct manifest *results_manifest(const struct results *s)
{
	return &s->m;
}

const char *results_dir(const struct results *s)
{
	return s->path;
}

const char *results_who(const struct results *s)
{
	return s->who;
}

/* A link, a folder or a FIFO in the place of a file is none: ELOOP. */
static int open_regular(int dir, const char *name)
{
	int fd = openat(dir, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
		errno = ELOOP;
	}
	return fd;
}

int results_file(const struct results *s, const char *name)
{
	return open_regular(s->dir, name);
}

int results_open_inputs(const struct results *s, uint64_t shard,
			struct results_inputs *ret, struct err *err)
{
	const struct manifest *m = &s->m;
	struct manifest_shard row = {.offset = 0};
	int fd;

	*ret = (struct results_inputs){.results = s, .left = UINT64_MAX};
	if (shard != RESULTS_ALL && shard >= m->n_shards)
		return err_set(err, ERR_USAGE,
			       "the plan has %llu shards, from 0 on: there is "
			       "no shard %llu",
			       (unsigned long long)m->n_shards,
			       (unsigned long long)shard);
	if (shard != RESULTS_ALL) {
		if (!manifest_shard(
			    (struct str){s->rows.p + shard * MANIFEST_ROW,
					 MANIFEST_ROW},
			    &row))
			return err_set(err, ERR_SYNTAX,
				       "%s/manifest.json: the row of shard "
				       "%llu",
				       s->path, (unsigned long long)shard);
		ret->left = shard == m->n_shards - 1
				    ? m->n - shard * m->per_shard
				    : m->per_shard;
	}
	snprintf(ret->planned, sizeof(ret->planned), "%s",
		 shard == RESULTS_ALL ? m->inputs_sha256 : row.sum);
	fd = results_file(s, "inputs.jsonl");
	ret->file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!ret->file || fseeko(ret->file, (off_t)row.offset, SEEK_SET) < 0)
		return err_sys(err, errno, "%s/inputs.jsonl", s->path);
	sha256_init(&ret->sum);
	return 0;
}

int results_next(struct results_inputs *in, struct err *err)
{
	const struct results *s = in->results;
	ssize_t n = in->left ? getline(&in->line, &in->room, in->file) : 0;
	char hex[SHA256_HEX_BYTES];
	struct sha256 sum;

	if (n > 0 && in->line[n - 1] == '\n') {
		sha256_add(&in->sum, in->line, (size_t)n);
		in->left--;
		in->line[--n] = '\0';
		in->input = (struct str){in->line, (size_t)n};
		fan_key(&s->m, in->input, in->key);
		return 1;
	}
	/* all shards have no number: their sum tells */
	if (in->left && in->left <= s->m.n)
		return err_set(err, ERR_SYS,
			       "%s/inputs.jsonl ends before the shard does",
			       s->path);
	/* of a copy: the end may be asked for again */
	sum = in->sum;
	sha256_end_text(&sum, hex);
	if (*in->planned && strncmp(hex, in->planned, strlen(in->planned)) == 0)
		return 0;
	return err_set(err, ERR_CONFIG,
		       "%s/inputs.jsonl has not the inputs that were planned: "
		       "make a new plan",
		       s->path);
}

void results_close_inputs(struct results_inputs *in)
{
	free(in->line);
	if (in->file)
		fclose(in->file);
	in->line = NULL;
	in->file = NULL;
}

/* ---- files that are made on the way ---- */

/* Is a name taken? Some file systems of a network say EPERM, not EEXIST, where
   another machine took it a moment ago. errno stays. */
static bool is_there(const struct results *s, const char *name)
{
	const int sys = errno;
	struct stat st;
	bool is = sys == EEXIST ||
		  fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	errno = sys;
	return is;
}

/* Make the folders of a name; 0 or -1 and errno. */
static int make_folders(const struct results *s, const char *name)
{
	char part[160];

	for (const char *slash = strchr(name, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
		if (mkdirat(s->dir, part, 0700) < 0 && !is_there(s, part))
			return -1;
	}
	return 0;
}

static int create(const struct results *s, const char *name)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(s->dir, name, flags, 0600);

	if (fd < 0 && errno == ENOENT && make_folders(s, name) == 0)
		fd = openat(s->dir, name, flags, 0600);
	return fd;
}

/* Link a name; 0 or -1 and errno. */
static int link_in(const struct results *s, const char *from, const char *to)
{
	struct stat st;

	if (linkat(s->dir, from, s->dir, to, 0) == 0)
		return 0;
	if (errno == ENOENT && make_folders(s, to) == 0 &&
	    linkat(s->dir, from, s->dir, to, 0) == 0)
		return 0;
	if (!is_there(s, to))
		return -1;
	/* NFS may have linked it, and lost the answer */
	if (fstatat(s->dir, from, &st, 0) == 0 && st.st_nlink == 2)
		return 0;
	errno = EEXIST;
	return -1;
}

static int touch(const struct results *s, const char *name)
{
	int fd = create(s, name);

	if (fd < 0)
		return is_there(s, name) ? 0 : -1;
	close(fd);
	return 0;
}

/* ---- results ---- */

/* Read a result of any place; what is no file of some size is torn. */
static int read_result(const struct results *s, const char *name,
		       const char *key, struct buf *text, struct arena *arena,
		       struct fan_result *ret, struct err *err)
{
	AUTO(fd_closep) int fd = results_file(s, name);

	*ret = (struct fan_result){.state = FAN_MISSING};
	buf_clear(text);
	if (fd < 0 && errno == ENOENT)
		return 0;
	ret->state = FAN_TORN;
	if (fd < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO))
		return 0;
	if (fd < 0)
		return err_sys(err, errno, "%s/%s", s->path, name);
	if (fd_read_all(fd, text, err) < 0)
		return err->kind == ERR_LIMIT
			       ? 0
			       : err_wrap(err, "%s/%s", s->path, name);
	fan_result_read(buf_str(text), key, arena, ret);
	return 0;
}

int results_look(const struct results *s, const char *key, struct buf *text,
		 struct arena *arena, struct fan_result *ret, struct err *err)
{
	return read_result(s, fan_result_name(key).text, key, text, arena, ret,
			   err);
}

int results_put(struct results *s, const char *key, struct str text,
		bool is_failure, struct err *err)
{
	struct draft *d = &s->waiting[s->n_waiting];
	int sys;

	snprintf(d->key, sizeof(d->key), "%s", key);
	snprintf(d->name, sizeof(d->name), "tmp/%s.%u", s->who, s->n_names++);
	d->is_failure = is_failure;
	d->fd = create(s, d->name);
	if (d->fd < 0)
		return err_sys(err, errno, "%s/%s", s->path, d->name);
	if (fd_write_all(d->fd, text.p, text.n) < 0) {
		sys = errno;
		fd_closep(&d->fd);
		(void)!unlinkat(s->dir, d->name, 0);
		return err_sys(err, sys, "%s/%s", s->path, d->name);
	}
	s->n_waiting++;
	return 0;
}

size_t results_waiting(const struct results *s)
{
	return s->n_waiting;
}

/* One call writes them all, and costs as much as for one. */
static int flush(struct results *s)
{
	int r = s->n_waiting == 1 ? fsync(s->waiting[0].fd)
				  : syncfs(s->waiting[0].fd);

	for (size_t i = 0; r == 0 && i < s->n_waiting; i++)
		/* NFS says at the end that there was no room */
		if (close(fd_steal(&s->waiting[i].fd)) < 0)
			r = -1;
	return r;
}

static int read_claim(const struct results *s, const char *key, struct buf *who,
		      struct err *err);

/* Is the claim of an input that of this process? */
static bool is_own_claim(const struct results *s, const char *key)
{
	AUTO(buf_release) struct buf who = BUF_INIT(4096);

	return read_claim(s, key, &who, ERR_IGNORED) > 0 &&
	       strcmp(buf_cstr(&who), s->who) == 0;
}

/* A result is there already: the draft is dropped, but for one case. */
static int come_second(struct results *s, const struct draft *d,
		       uint64_t *ret_dropped)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES_MAX);
	const struct fan_name mark = fan_failed_name(d->key);
	struct fan_result first;
	char dropped[180];

	if (results_look(s, d->key, &text, &arena, &first, ERR_IGNORED) < 0)
		first.state = FAN_TORN;
	/* another process took us for gone: `claimed` is in our place */
	if (first.state == FAN_FAILED && str_is(first.reason, "claimed") &&
	    is_own_claim(s, d->key)) {
		if (!d->is_failure)
			(void)!unlinkat(s->dir, mark.text, 0);
		return renameat(s->dir, d->name, s->dir,
				fan_result_name(d->key).text);
	}
	if (first.state == FAN_OK && d->is_failure)
		(void)!unlinkat(s->dir, mark.text, 0);
	++*ret_dropped;
	snprintf(dropped, sizeof(dropped), "dropped/%.16s.%s.%u", d->key,
		 s->who, s->n_names++);
	(void)!touch(s, dropped);
	return 0;
}

static int place(struct results *s, struct draft *d, uint64_t *ret_dropped)
{
	const struct fan_name mark = fan_failed_name(d->key);

	if (d->is_failure && touch(s, mark.text) < 0)
		return -1;
	if (link_in(s, d->name, fan_result_name(d->key).text) < 0)
		return errno == EEXIST ? come_second(s, d, ret_dropped) : -1;
	/* of a process that was killed between its mark and its result */
	if (!d->is_failure)
		(void)!unlinkat(s->dir, mark.text, 0);
	return 0;
}

int results_commit(struct results *s, bool is_end, uint64_t *ret_dropped,
		   struct err *err)
{
	int r = s->n_waiting ? flush(s) : 0, sys = errno;

	for (size_t i = 0; i < s->n_waiting; i++) {
		struct draft *d = &s->waiting[i];

		if (r == 0 && place(s, d, ret_dropped) < 0) {
			sys = errno;
			r = -1;
		}
		fd_closep(&d->fd);
		(void)!unlinkat(s->dir, d->name, 0);
	}
	s->n_waiting = 0;
	if (r == 0 && is_end) {
		r = syncfs(s->dir);
		sys = errno;
	}
	return r < 0 ? err_sys(err, sys, "%s: keep results", s->path) : 0;
}

int results_take_in(struct results *s, const char *name, const char *key,
		    struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES_MAX);
	struct fan_result result;
	uint64_t dropped = 0;
	int r = read_result(s, name, key, &text, &arena, &result, err);

	if (r == 0 && (result.state == FAN_OK || result.state == FAN_FAILED))
		r = results_put(s, key, buf_str(&text),
				result.state == FAN_FAILED, err);
	(void)!unlinkat(s->dir, name, 0);
	if (r == 0 && s->n_waiting == RESULTS_WAITING)
		r = results_commit(s, false, &dropped, err);
	return r;
}

int results_take_away(struct results *s, const char *key, enum fan_state state,
		      struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES_MAX);
	const struct fan_name name = fan_result_name(key);
	struct fan_result result = {.state = FAN_MISSING};
	char aside[180];
	int r;

	snprintf(aside, sizeof(aside), "retried/%s.%s.%u", key, s->who,
		 s->n_names++);
	r = renameat(s->dir, name.text, s->dir, aside);
	if (r < 0 && errno == ENOENT && make_folders(s, aside) == 0)
		r = renameat(s->dir, name.text, s->dir, aside);
	if (r < 0)
		return errno == ENOENT ? 0
				       : err_sys(err, errno, "%s/%s", s->path,
						 name.text);
	r = read_result(s, aside, key, &text, &arena, &result, err);
	/* another process had it taken away and run again meanwhile */
	if (r < 0 || result.state != state) {
		if (link_in(s, aside, name.text) < 0 && errno != EEXIST)
			return err_sys(err, errno, "%s/%s stays there", s->path,
				       aside);
		(void)!unlinkat(s->dir, aside, 0);
		return r;
	}
	(void)!unlinkat(s->dir, fan_failed_name(key).text, 0);
	return 1;
}

/* ---- processes ---- */

/* Read n numbers with a separator, once or more often, around each. */
static bool read_numbers(struct str text, char between, uint64_t *ret, size_t n)
{
	while (n) {
		struct str word = str_cut(&text, between);

		if (word.n && !str_uint64(str_trim(word), ret++))
			return false;
		n -= word.n > 0;
		if (n && !text.p)
			return false;
	}
	return true;
}

/* Is a process one of this place? Its number and its start. */
static bool names_process(const char *who, const char *place, uint64_t ret[2])
{
	size_t n = strlen(place);

	return strncmp(who, place, n) == 0 && who[n] == '.' &&
	       read_numbers(str_of(who + n), '.', ret, 2);
}

/* Seconds since the mark was renewed, by the clock of the file system. */
static int64_t silence_of(const struct results *s, const struct stat *st)
{
	struct stat own;

	if (s->mark >= 0 && fstat(s->mark, &own) == 0)
		return own.st_mtim.tv_sec - st->st_mtim.tv_sec;
	return clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S -
	       st->st_mtim.tv_sec;
}

/* Does a process live? One elsewhere does so many seconds after its mark. */
static bool was_alive(const struct results *s, const char *who, int64_t seconds)
{
	uint64_t process[2];
	char name[180];
	struct stat st;

	if (names_process(who, s->place, process))
		return proc_start_time((pid_t)process[0]) == process[1];
	snprintf(name, sizeof(name), "running/%s", who);
	return fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       silence_of(s, &st) < seconds;
}

static bool is_alive(const struct results *s, const char *who)
{
	return was_alive(s, who, SILENT_S);
}

int results_begin_work(struct results *s, struct err *err)
{
	char name[180];

	snprintf(name, sizeof(name), "running/%s", s->who);
	(void)!unlinkat(s->dir, name, 0);
	s->mark = create(s, name);
	if (s->mark < 0)
		return err_sys(err, errno, "%s/%s", s->path, name);
	s->began_s =
		clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S;
	results_beat(s, 0, 0);
	return 0;
}

void results_beat(struct results *s, size_t n_running, uint64_t n_done)
{
	char text[MARK_BYTES + 1];

	snprintf(text, sizeof(text), "%20zu %20llu %20lld%*s\n", n_running,
		 (unsigned long long)n_done, (long long)s->began_s,
		 MARK_BYTES - 63, "");
	/* others see it, and its time, once the file system has it */
	if (s->mark >= 0 && pwrite(s->mark, text, MARK_BYTES, 0) > 0)
		(void)!fdatasync(s->mark);
}

void results_end_work(struct results *s)
{
	char name[180];

	snprintf(name, sizeof(name), "running/%s", s->who);
	(void)!unlinkat(s->dir, name, 0);
	fd_closep(&s->mark);
}

/* Names of a folder; none where there is no such folder. */
struct names {
	DIR *d; /* owned, or NULL */
	int fd; /* of it */
};

static struct names names_of(const struct results *s, const char *folder)
{
	int fd = openat(s->dir, folder,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct names n = {fd < 0 ? NULL : fdopendir(fd), fd};

	if (fd >= 0 && !n.d)
		close(fd);
	return n;
}

/* The next one; NULL behind the last, and all is closed. */
static const char *next_name(struct names *n)
{
	const struct dirent *e;

	while (n->d && (e = readdir(n->d)))
		if (e->d_name[0] != '.')
			return e->d_name;
	if (n->d)
		closedir(n->d);
	n->d = NULL;
	return NULL;
}

void results_sweep(struct results *s)
{
	struct names n;
	const char *name, *dot;
	char who[160];

	/* in this order: drafts of others are judged by their marks; the name
	   of a draft is that of its process, a dot and a number */
	for (n = names_of(s, "tmp"); (name = next_name(&n));) {
		dot = strrchr(name, '.');
		snprintf(who, sizeof(who), "%.*s", dot ? (int)(dot - name) : 0,
			 name);
		if (!was_alive(s, who, GONE_S))
			(void)!unlinkat(n.fd, name, 0);
	}
	for (n = names_of(s, "running"); (name = next_name(&n));)
		if (!was_alive(s, name, GONE_S))
			(void)!unlinkat(n.fd, name, 0);
}

/* ---- claims ---- */

static int read_claim(const struct results *s, const char *key, struct buf *who,
		      struct err *err)
{
	const struct fan_name name = fan_claim_name(key);
	AUTO(fd_closep) int fd = results_file(s, name.text);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, errno, "%s/%s", s->path, name.text);
	if (fd_read_all(fd, who, err) < 0)
		return err_wrap(err, "%s/%s", s->path, name.text);
	return 1;
}

int results_holder(struct results *s, const char *key, struct err *err)
{
	AUTO(buf_release) struct buf who = BUF_INIT(4096);
	int r = read_claim(s, key, &who, err);

	if (r <= 0)
		return r;
	return who.n && strcmp(buf_cstr(&who), s->who) != 0 &&
			       is_alive(s, buf_cstr(&who))
		       ? 1
		       : 2;
}

int results_claim(struct results *s, const char *key, struct err *err)
{
	const struct fan_name name = fan_claim_name(key);
	AUTO(fd_closep) int fd = -1;
	char draft[160];
	int r, sys;

	snprintf(draft, sizeof(draft), "tmp/%s.%u", s->who, s->n_names++);
	fd = create(s, draft);
	if (fd < 0)
		return err_sys(err, errno, "%s/%s", s->path, draft);
	r = fd_write_all(fd, s->who, strlen(s->who));
	if (r == 0)
		r = link_in(s, draft, name.text);
	/* kept for good, with its name, before the step begins */
	if (r == 0)
		r = fsync(fd);
	sys = errno;
	(void)!unlinkat(s->dir, draft, 0);
	if (r == 0)
		return 0;
	if (sys != EEXIST)
		return err_sys(err, sys, "%s/%s", s->path, name.text);
	r = results_holder(s, key, err);
	return r ? r : 2;
}

int results_release(struct results *s, const char *key, struct err *err)
{
	const struct fan_name name = fan_claim_name(key);

	if (unlinkat(s->dir, name.text, 0) < 0 && errno != ENOENT)
		return err_sys(err, errno, "%s/%s", s->path, name.text);
	return 0;
}

/* ---- numbers ---- */

struct counting {
	struct results *s;
	struct fan_counts *c;
	struct err *err;
	char folder[3]; /* KK */
	/* of that folder, as short_key(), ascending */
	struct buf results, failed;
	struct buf text;
	FILE *equal;			  /* owned, or NULL */
	char line[SHA256_HEX_BYTES + 32]; /* next of `equal` */
	bool has_failed;
};

/* Digits of a key that tell it from all others of its folder. */
static uint64_t short_key(const char *key)
{
	uint64_t n = 0;

	/* letters have bit 6, and their low digits begin at 1 */
	for (int i = 2; i < 18; i++)
		n = n << 4 | (uint64_t)((key[i] & 0xf) + (key[i] >> 6) * 9);
	return n;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t keys_of(const struct buf *keys)
{
	return keys->n / sizeof(uint64_t);
}

static bool has_key(const struct buf *keys, uint64_t key)
{
	return keys->n &&
	       bsearch(&key, keys->p, keys_of(keys), sizeof(key), by_number);
}

/* Open a result; false: it is none. */
static bool is_whole(struct counting *c, const char *name, uint64_t number)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	char key[SHA256_HEX_BYTES];
	struct fan_result r;

	snprintf(key, sizeof(key), "%.64s", name);
	if (results_look(c->s, key, &c->text, &arena, &r, c->err) < 0) {
		c->has_failed = true;
		return false;
	}
	c->c->torn += r.state == FAN_TORN;
	if (r.state == FAN_FAILED)
		buf_add(&c->failed, &number, sizeof(number));
	return r.state == FAN_OK || r.state == FAN_FAILED;
}

static void add_result(struct counting *c, const char *name)
{
	uint64_t number;

	/* one in a folder that is not its own is never found again */
	if (!fan_is_result(name) || strncmp(name, c->folder, 2) != 0)
		return;
	number = short_key(name);
	if (!c->c->is_looked || is_whole(c, name, number))
		buf_add(&c->results, &number, sizeof(number));
}

static void add_mark(struct counting *c, const char *name)
{
	uint64_t number;

	if (strlen(name) != SHA256_HEX_BYTES - 1)
		return;
	number = short_key(name);
	buf_add(&c->failed, &number, sizeof(number));
}

static void sort_keys(struct buf *keys)
{
	if (keys->n)
		qsort(keys->p, keys_of(keys), sizeof(uint64_t), by_number);
}

/* Read the next of `equal`; "" behind the last. */
static void next_equal(struct counting *c)
{
	if (!c->equal || !fgets(c->line, sizeof(c->line), c->equal))
		c->line[0] = '\0';
}

/* Is the next of `equal` one of this folder, or of one before? */
static bool is_equal_here(const struct counting *c)
{
	return c->line[0] && strncmp(c->line, c->folder, 2) <= 0;
}

/* Inputs of this folder that are there several times have one result. */
static void count_equal(struct counting *c)
{
	if (is_equal_here(c))
		sort_keys(&c->results);
	for (; is_equal_here(c); next_equal(c)) {
		struct str rest = str_of(c->line), key = str_cut(&rest, ' ');
		uint64_t n, number = short_key(c->line);

		if (key.n == SHA256_HEX_BYTES - 1 &&
		    str_uint64(str_trim(rest), &n) && n &&
		    has_key(&c->results, number))
			*(has_key(&c->failed, number) ? &c->c->failed
						      : &c->c->ok) += n - 1;
	}
}

/* Results first: the mark of one that is seen was there before it. A mark
   counts where a result is there. */
static void count_folder(struct counting *c, unsigned i)
{
	const struct results *s = c->s;
	const uint64_t *result;
	struct names names;
	const char *name;
	char path[16];
	uint64_t n = 0;

	buf_clear(&c->results);
	buf_clear(&c->failed);
	snprintf(c->folder, sizeof(c->folder), "%02x", i & 0xff);
	snprintf(path, sizeof(path), "results/%s", c->folder);
	for (names = names_of(s, path); (name = next_name(&names));)
		add_result(c, name);
	snprintf(path, sizeof(path), "failed/%s", c->folder);
	if (!c->c->is_looked && c->results.n)
		for (names = names_of(s, path); (name = next_name(&names));)
			add_mark(c, name);
	/* of the two, marks are few: results are looked up among them */
	sort_keys(&c->failed);
	result = (const uint64_t *)(const void *)c->results.p;
	for (size_t k = 0; c->failed.n && k < keys_of(&c->results); k++)
		n += has_key(&c->failed, result[k]);
	c->c->failed += n;
	c->c->ok += keys_of(&c->results) - n;
	count_equal(c);
}

static void count_work(const struct results *s, int dir, const char *name,
		       struct fan_counts *ret)
{
	uint64_t work[3]; /* running, done, begin */
	char text[MARK_BYTES];
	AUTO(fd_closep)
	int fd = open_regular(dir, name);
	const uint64_t now =
		(uint64_t)clock_system()->wall_ns(clock_system()) / NS_PER_S;

	if (fd < 0 || pread(fd, text, MARK_BYTES, 0) != MARK_BYTES ||
	    !is_alive(s, name) ||
	    !read_numbers((struct str){text, MARK_BYTES}, ' ', work, 3))
		return;
	ret->running += work[0];
	ret->per_second_1000 +=
		work[1] * 1000 / (now > work[2] ? now - work[2] : 1);
}

int results_count(struct results *s, bool is_deep, struct fan_counts *ret,
		  struct err *err)
{
	struct counting c = {.s = s,
			     .c = ret,
			     .err = err,
			     .results = BUF_INIT(BUF_UNBOUNDED),
			     .failed = BUF_INIT(BUF_UNBOUNDED),
			     .text = BUF_INIT(LIMIT_MESSAGE_BYTES_MAX)};
	const int fd = results_file(s, "equal");
	struct names names;
	const char *name;
	uint64_t done;

	*ret = (struct fan_counts){
		.total = s->m.n,
		.is_looked = is_deep || s->m.n <= RESULTS_LOOKED,
	};
	c.equal = fd < 0 ? NULL : fdopen(fd, "r");
	next_equal(&c);
	/* work first: a result that comes meanwhile is not counted twice */
	for (names = names_of(s, "running"); (name = next_name(&names));)
		count_work(s, names.fd, name, ret);
	for (unsigned i = 0; i < 256; i++)
		count_folder(&c, i);
	for (names = names_of(s, "dropped"); next_name(&names);)
		ret->duplicates++;
	if (c.equal)
		fclose(c.equal);
	buf_release(&c.results);
	buf_release(&c.failed);
	buf_release(&c.text);
	if (c.has_failed)
		return -1;
	done = ret->ok + ret->failed;
	if (done > ret->total)
		return err_set(err, ERR_CONFIG,
			       "%s/results has more results than the plan has "
			       "inputs",
			       s->path);
	if (ret->running > ret->total - done)
		ret->running = ret->total - done;
	ret->missing = ret->total - done - ret->running;
	return 0;
}
