/* The lines of the file: read from its end, appended under the lock. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/scan.h"
#include "core/report/ledger_inner.h"

/* First look at the end of the ledger, bytes; then twice as far. */
#define TAIL_BYTES 4096

/* ---- reading ---- */

bool ledger_read_record(struct str line, struct ledger_record *ret)
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

int ledger_read_tail(const struct ledger *l, size_t n, struct buf *out,
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

/* From the end, so that mostly one or two lines are read. */
static uint64_t last_started(struct str text)
{
	while (text.n) {
		const char *nl = memrchr(text.p, '\n', text.n);
		size_t at = nl ? (size_t)(nl - text.p) + 1 : 0;
		struct str line = {text.p + at, text.n - at};
		struct ledger_record r;

		if (ledger_read_record(line, &r) && r.started)
			return r.generation;
		text.n = at ? at - 1 : 0;
	}
	return 0;
}

/* `started` lines stand in the order of their generations. */
int ledger_last_generation(const struct ledger *l, uint64_t *ret,
			   struct err *err)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	bool all = false;

	*ret = 0;
	for (size_t n = TAIL_BYTES; !*ret && !all; n *= 2) {
		if (ledger_read_tail(l, n, &text, &all, err) < 0) {
			buf_release(&text);
			return -1;
		}
		*ret = last_started(buf_str(&text));
	}
	buf_release(&text);
	return 0;
}

/* ---- writing ---- */

int ledger_lock(int fd, int how)
{
	int r;

	do
		r = flock(fd, how);
	while (r < 0 && errno == EINTR);
	return r;
}

/* Does the file end in a line that a crash has torn? */
static bool is_torn(const struct ledger *l, off_t size)
{
	char last;

	return size > 0 && pread(l->fd, &last, 1, size - 1) == 1 &&
	       last != '\n';
}

int ledger_append(struct ledger *l, struct buf *line, struct err *err)
{
	off_t size = lseek(l->fd, 0, SEEK_END);
	int saved;

	buf_addc(line, '\n');
	if ((!is_torn(l, size) || fd_write_all(l->fd, "\n", 1) == 0) &&
	    fd_write_all(l->fd, line->p, line->n) == 0)
		return 0;
	saved = errno;
	if (ftruncate(l->fd, size) < 0) {
		/* then the next line begins behind what is torn */
	}
	return err_sys(err, saved, "write %s/ledger.jsonl", l->dir);
}

int ledger_sync(const struct ledger *l, struct err *err)
{
	if (fdatasync(l->fd) < 0)
		return err_sys(err, errno, "sync %s/ledger.jsonl", l->dir);
	return 0;
}
