/* Printing on stdout, and reading the values of options. */
#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/put.h"
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

/* Callback of scrub_set_patience(). */
static bool is_not_interrupted(void *arg)
{
	(void)arg;
	return !loop_signal_waits();
}

/*
 * Scrub a text with scrub_json() or scrub_apply(), which may take a while; an
 * interrupted text is not printed.
 */
static int scrub_in_peace(struct target *t, struct str *text, struct buf *clean,
			  size_t (*scrub)(const struct scrub *, struct str,
					  struct buf *),
			  struct err *err)
{
	if (scrub_is_empty(t->scrub))
		return 0;
	scrub_set_patience(t->scrub, is_not_interrupted, NULL);
	(void)scrub(t->scrub, *text, clean);
	scrub_set_patience(t->scrub, NULL, NULL);
	if (loop_signal_waits()) {
		if (loop_turn(&t->loop, err) < 0)
			return -1;
		return err_set(err, ERR_PEER,
			       "interrupted before the result was printed");
	}
	*text = buf_str(clean);
	return 0;
}

int target_put_json(struct target *t, struct str json, struct err *err)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	live_clear(&t->live);
	if (scrub_in_peace(t, &json, &clean, scrub_json, err) < 0)
		return -1;
	if (put(json, PUT_JSON, err) < 0)
		return -1;
	return put(STR("\n"), PUT_JSON, err);
}

int target_put_text(struct target *t, struct str text, struct err *err)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	live_clear(&t->live);
	if (scrub_in_peace(t, &text, &clean, scrub_apply, err) < 0)
		return -1;
	if (put(text, PUT_TEXT, err) < 0)
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
