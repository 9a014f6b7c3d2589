#include "core/cli/content_show.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/mcp/wire/content.h"
#include "core/config/paths.h"

int content_print(struct target *t, struct str content, bool raw,
		  struct err *err)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	report_mcp_output(&body, content);
	if (!raw)
		return target_put_text(t, buf_str(&body), err);
	scrub_apply(t->scrub, buf_str(&body), &clean);
	live_clear(&t->live);
	return target_write(buf_str(&clean), err);
}

/* ---- files ---- */

int content_files_open(struct content_files *f, const char *dir,
		       struct err *err)
{
	*f = (struct content_files)CONTENT_FILES_INIT;
	f->dir = dir;
	f->max = LIMIT_MESSAGE_BYTES_MAX;
	if (!dir)
		return 0;
	if (!*dir)
		return err_set(err, ERR_USAGE, "--save: empty");
	if (fd_mkdirs(dir, 0777) < 0)
		return err_sys(err, errno, "--save: mkdir %s", dir);
	if (outfolder_open(&f->folder, dir, err) < 0)
		return err_wrap(err, "--save");
	return 0;
}

int content_files_check(const struct content_files *f, const struct target *t,
			struct err *err)
{
	return path_check_links(f->dir, &f->folder, &t->policy.write, err);
}

int content_files_report(const struct content_files *f, bool on_stderr,
			 struct err *err)
{
	if (!on_stderr)
		return target_write(buf_str(&f->said), err);
	if (f->said.n)
		log_note("saved %.*s", (int)f->said.n - 1, buf_cstr(&f->said));
	return 0;
}

void content_files_release(struct content_files *f)
{
	outfolder_release(&f->folder);
	buf_release(&f->said);
}

/* Report whether a plain file of that name has these bytes. */
static bool holds(int dir, const char *name, struct str bytes)
{
	AUTO(fd_closep)
	int fd = openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO(buf_release) struct buf there = BUF_INIT(bytes.n + 1);
	struct err ignored = ERR_INIT;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (size_t)st.st_size == bytes.n &&
	       fd_read_all(fd, &there, &ignored) == 0 &&
	       str_eq(buf_str(&there), bytes);
}

/* Whole or not at all, and over nothing that is there. */
static int write_file(const struct outfolder *d, const char *name,
		      struct str bytes, struct err *err)
{
	const struct fd_text text = fd_text_of(&bytes);

	if (holds(d->fd, name, bytes))
		return 0;
	return outfolder_put(d, name, name, &text, 0600, OUTFILE_NEW, err);
}

static int save_bytes(struct content_files *f, struct str base64,
		      struct err *err)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	char name[CONTENT_NAME_BYTES];

	if (content_bytes(base64, f->max, &bytes, err) < 0)
		return -1;
	content_name(buf_str(&bytes), name);
	if (write_file(&f->folder, name, buf_str(&bytes), err) < 0)
		return -1;
	buf_addf(&f->said, "%s/%s\n", f->dir, name);
	return 0;
}

void content_save(struct content_files *f, struct str json, bool item)
{
	struct content_block b;
	struct err err = ERR_INIT;

	if (!f->dir)
		return;
	if (item)
		content_read_item(json, &b);
	else
		content_read(json, &b);
	if (b.is_odd)
		log_warning("a resource must have either text or blob");
	if (!b.data.p || save_bytes(f, b.data, &err) == 0)
		return;
	log_error("a block cannot be saved: %s", err.msg);
	f->failed = true;
}

void content_save_all(struct content_files *f, struct str array, bool items)
{
	struct scan_iter it;

	if (!f->dir)
		return;
	scan_iter_init(&it, array);
	while (scan_next(&it))
		content_save(f, it.value, items);
}
