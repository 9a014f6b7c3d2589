/* What is written to stdout, and values that are read for an option. */
#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/target.h"

/* ---- showing ---- */

void target_show(const struct target *t, struct str text, bool keep_newlines,
		 struct buf *out)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	scrub_apply(t->scrub, text, &clean);
	log_visible(out, buf_str(&clean), keep_newlines);
}

int target_write(struct str bytes, struct err *err)
{
	if (fd_write_all(STDOUT_FILENO, bytes.p, bytes.n) < 0)
		return err_sys(err, errno, "write stdout");
	return 0;
}

int target_put_json(struct target *t, struct str json, struct err *err)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	live_clear(&t->live);
	if (!scrub_is_empty(t->scrub)) {
		scrub_json(t->scrub, json, &clean);
		json = buf_str(&clean);
	}
	if (target_write(json, err) < 0)
		return -1;
	return target_write(STR("\n"), err);
}

int target_put_text(struct target *t, struct str text, struct err *err)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	live_clear(&t->live);
	if (!scrub_is_empty(t->scrub)) {
		scrub_apply(t->scrub, text, &clean);
		text = buf_str(&clean);
	}
	if (isatty(STDOUT_FILENO)) {
		log_visible(&shown, text, true);
		text = buf_str(&shown);
	}
	if (target_write(text, err) < 0)
		return -1;
	return text.n && text.p[text.n - 1] != '\n'
		       ? target_write(STR("\n"), err)
		       : 0;
}

/* ---- values of options ---- */

int target_read_value(const char *text, struct buf *out, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	int r;

	if (text[0] != '@') {
		buf_adds(out, text);
		return 0;
	}
	if (strcmp(text, "@-") == 0)
		r = fd_read_all(STDIN_FILENO, out, err);
	else
		r = fd_read_file(path_home(text + 1, &arena), out, err);
	if (r < 0)
		err->kind = ERR_USAGE;
	return r;
}
