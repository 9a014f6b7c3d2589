/* The table of what is watched; what one call asks for, judged and noted. */
#include "gate/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "gate/watch_inner.h"

/* ---- the table ---- */

const struct watch_row watch_rows[WATCH_ROWS] = {
#define WATCH(call, what, how, dir, path, more) \
	{SYS_##call, GATE_RECORD_##what, WATCH_##how, dir, path, more},
#include "gate/watch.def"
#undef WATCH
};

unsigned watch_wants(const struct watch *w)
{
	return w->what | (w->forbids ? GATE_RECORD_EXEC : 0U);
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

/* A program looked for along PATH, `mkdir -p` of what is there. */
static bool is_futile(const struct seccomp_notif *req,
		      const struct watch_row *row, const char *path)
{
	bool there;

	if (row->how != WATCH_RUN && row->how != WATCH_MAKE &&
	    row->how != WATCH_REMOVE)
		return false;
	there = watch_is_there((pid_t)req->pid, path);
	return row->how == WATCH_MAKE ? there : !there;
}

static bool see_row(const struct seccomp_notif *req,
		    const struct watch_row *row, bool is_judged,
		    struct watch_seen *seen)
{
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
		watch_read_args(req, row, is_judged, seen);
	return true;
}

void watch_see(struct watch *w, const struct seccomp_notif *req)
{
	unsigned wants = watch_wants(w);

	if (!w->seen)
		w->seen = mem_zalloc(sizeof(*w->seen));
	w->seen->n = 0;
	if (!w->has_begun)
		return; /* what is executed is known, and cannot be read */
	for (size_t i = 0; i < WATCH_ROWS && w->seen->n < 2; i++)
		if (watch_rows[i].nr == req->data.nr &&
		    watch_rows[i].what & wants &&
		    see_row(req, &watch_rows[i], w->forbids != NULL, w->seen))
			w->seen->n++;
}

/* ---- may it go on? ---- */

/* What cannot be read cannot be judged, so it does not go on either. */
static bool is_forbidden(const struct watch *w, const struct gate_record *r)
{
	if (r->what != GATE_RECORD_EXEC || !w->forbids)
		return false;
	return strcmp(r->path, watch_unknown) == 0 ||
	       w->forbids(w->forbids_arg, r->path, &r->args, w->seen->is_cut);
}

static int note_one(struct watch *w, struct gate_record *r, const char *comm)
{
	r->program = comm;
	r->refused = is_forbidden(w, r);
	if (r->what & w->what || r->refused)
		records_add(&w->records, r);
	return r->refused ? EACCES : 0;
}

int watch_note(struct watch *w, const char *comm)
{
	int refusal = 0;

	w->has_begun = true;
	for (unsigned i = 0; i < w->seen->n; i++) {
		int r = note_one(w, &w->seen->record[i], comm);

		refusal = r ? r : refusal;
	}
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
