#include "core/cli/put.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/log.h"

static int on_terminal(struct str bytes, enum put_form form, struct err *err)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	if (form == PUT_JSON)
		log_visible_json(&shown, bytes);
	else
		log_visible(&shown, bytes, true);
	return fd_write_all(STDOUT_FILENO, shown.p, shown.n) < 0
		       ? err_sys(err, errno, "stdout")
		       : 0;
}

int put(struct str bytes, enum put_form form, struct err *err)
{
	if (isatty(STDOUT_FILENO))
		return on_terminal(bytes, form, err);
	return fd_write_all(STDOUT_FILENO, bytes.p, bytes.n) < 0
		       ? err_sys(err, errno, "stdout")
		       : 0;
}

int put_print(const struct fd_text *text, enum put_form form, struct err *err)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);

	if (isatty(STDOUT_FILENO)) {
		text->print(text->arg, &whole);
		return on_terminal(buf_str(&whole), form, err);
	}
	return fd_print(STDOUT_FILENO, text) < 0 ? err_sys(err, errno, "stdout")
						 : 0;
}
