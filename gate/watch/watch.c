/* The table of what is watched; what one call asks for, judged and noted. */
#include "gate/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "gate/watch/watch_inner.h"

/* ---- the table ---- */

const struct watch_row watch_rows[WATCH_ROWS] = {
#define WATCH(call, what, how, dir, path, more) \
	{SYS_##call, GATE_RECORD_##what, WATCH_##how, dir, path, more},
#include "gate/watch/watch.def"
#undef WATCH
};

unsigned watch_wants(const struct watch *w)
{
	return w->what | (w->judge ? GATE_RECORD_EXEC : 0U);
}

bool watch_covers(const struct watch *w, int nr)
{
	unsigned wants = watch_wants(w);

	for (size_t i = 0; wants && i < WATCH_ROWS; i++)
		if (watch_rows[i].nr == nr && watch_rows[i].what & wants)
			return true;
	return false;
}

/* ---- what a call asks for ---- */

static unsigned open_access(uint64_t flags)
{
	unsigned access = 0;

	if (flags & O_PATH)
		return 0;
	if ((flags & O_ACCMODE) != O_WRONLY)
		access |= GATE_ACCESS_READ;
	if ((flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC)
		access |= GATE_ACCESS_WRITE;
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		access |= GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY;
	return access;
}

static unsigned access_of(const struct watch_row *row,
			  const struct seccomp_notif *req)
{
	switch (row->how) {
	case WATCH_OPEN:
		return open_access(req->data.args[row->more]);
	case WATCH_READ:
		return GATE_ACCESS_READ;
	case WATCH_CHANGE:
		return GATE_ACCESS_WRITE;
	case WATCH_ENTRY:
	case WATCH_MAKE:
	case WATCH_REMOVE:
		return GATE_ACCESS_WRITE | GATE_ACCESS_ENTRY;
	case WATCH_RUN:
		return GATE_ACCESS_RUN;
	case WATCH_BIND:
		return GATE_ACCESS_SERVE;
	case WATCH_CONNECT:
	case WATCH_SEND:
		break;
	}
	return 0;
}

/* `mkdir -p` of what is there, the removal of what is not. */
static bool is_futile(const struct seccomp_notif *req,
		      const struct watch_row *row, const char *path)
{
	bool there;

	if (row->how != WATCH_MAKE && row->how != WATCH_REMOVE)
		return false;
	there = watch_is_there((pid_t)req->pid, path);
	return row->how == WATCH_MAKE ? there : !there;
}

/* Which file it is, whatever it is called; as far as that is known here. */
static void see_file(const struct watch *w, const struct seccomp_notif *req,
		     const struct watch_row *row)
{
	struct watch_seen *seen = w->seen;
	AUTO(fd_closep)
	int fd = watch_open_exec(req, row, seen->exec.path, w->only_cached);
	struct watch_exec *x = &seen->exec;
	struct statx st = {.stx_mask = 0};
	char link[64];
	ssize_t n = -1;

	if (fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			     STATX_BASIC_STATS, &st) == 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, seen->file, sizeof(seen->file) - 1);
	}
	seen->file[n < 0 ? 0 : n] = '\0';
	x->error = fd < 0 ? -fd : n < 0 ? EACCES : 0;
	if (x->error)
		return;
	x->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	x->ino = st.stx_ino;
	x->is_program = S_ISREG(st.stx_mode) && st.stx_mode & 0111;
}

static void see_exec(const struct watch *w, const struct seccomp_notif *req,
		     const struct watch_row *row)
{
	struct watch_seen *seen = w->seen;
	struct gate_record *r = &seen->record[seen->n];

	seen->exec = (struct watch_exec){.path = r->path, .file = seen->file};
	watch_read_args(req, row, w->reads_all, seen);
	seen->exec.argv = r->args;
	see_file(w, req, row);
}

/* Returns false for what is not worth a row. */
static bool see_row(const struct watch *w, const struct seccomp_notif *req,
		    const struct watch_row *row)
{
	struct watch_seen *seen = w->seen;
	char *path = seen->path[seen->n];
	size_t size = sizeof(seen->path[0]);
	struct gate_record *r = &seen->record[seen->n];

	*r = (struct gate_record){
		.what = row->what, .path = path, .access = access_of(row, req)};
	if (row->what == GATE_RECORD_NET)
		return watch_read_address(req, row, path, size);
	if (row->what == GATE_RECORD_FILES &&
	    (!r->access || !req->data.args[row->path]))
		return false; /* it is not opened; times of a descriptor */
	if (!watch_read_path(req, row, path, size))
		snprintf(path, size, "%s", watch_unknown);
	else if (is_futile(req, row, path))
		return false;
	if (row->how == WATCH_RUN)
		see_exec(w, req, row);
	return true;
}

void watch_see(struct watch *w, const struct seccomp_notif *req)
{
	unsigned wants = watch_wants(w);

	if (!w->has_begun)
		return; /* what is executed is known, and cannot be read */
	if (!w->seen)
		w->seen = mem_zalloc(sizeof(*w->seen));
	w->seen->n = 0;
	for (size_t i = 0; i < WATCH_ROWS && w->seen->n < 2; i++)
		if (watch_rows[i].nr == req->data.nr &&
		    watch_rows[i].what & wants &&
		    see_row(w, req, &watch_rows[i]))
			w->seen->n++;
}

/* ---- may it go on? ---- */

static enum watch_answer judge(struct watch *w, const struct gate_record *r)
{
	const struct watch_exec *x = &w->seen->exec;

	w->seen->why = (struct err)ERR_INIT;
	if (r->what != GATE_RECORD_EXEC || !w->judge)
		return WATCH_GOES_ON;
	return w->judge(w->judge_arg, x, &w->seen->why);
}

/* A program looked for along PATH. */
static bool is_missing(const struct watch *w, const struct gate_record *r)
{
	int error = w->seen->exec.error;

	return r->what == GATE_RECORD_EXEC &&
	       (error == ENOENT || error == ENOTDIR);
}

static int note_one(struct watch *w, struct gate_record *r, const char *comm)
{
	enum watch_answer answer = judge(w, r);

	if (answer == WATCH_NOT_THERE)
		return w->seen->exec.error;
	if (answer == WATCH_GOES_ON && is_missing(w, r))
		return 0;
	r->program = comm;
	r->refused = answer == WATCH_FORBIDDEN;
	r->unlisted = answer == WATCH_UNLISTED;
	r->why = r->refused || r->unlisted ? w->seen->why.msg : NULL;
	if (r->what & w->what || r->why)
		records_add(&w->records, r);
	return r->refused ? EACCES : 0;
}

int watch_note(struct watch *w, const char *comm)
{
	int refusal = 0;

	for (unsigned i = 0; w->has_begun && i < w->seen->n; i++) {
		int r = note_one(w, &w->seen->record[i], comm);

		refusal = r ? r : refusal;
	}
	w->has_begun = true;
	return refusal;
}

void watch_release(struct watch *w)
{
	free(w->seen);
	free(w->records.row);
	free(w->records.slot);
	arena_release(&w->records.arena);
	*w = (struct watch)WATCH_INIT;
}
