#include "core/cli/confirm.h"

#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"

bool confirm_ask(const char *question)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	char text[256];
	struct str line;
	ssize_t n;

	buf_adds(&out, "matins: ");
	log_visible(&out, str_of(question), false);
	buf_adds(&out, " [y/N] ");
	/* no key typed before the question is an answer */
	(void)!tcflush(STDIN_FILENO, TCIFLUSH);
	if (fd_write_all(STDERR_FILENO, out.p, out.n) < 0)
		return false;
	n = read(STDIN_FILENO, text, sizeof(text));
	line = str_trim((struct str){text, n > 0 ? (size_t)n : 0});
	return (line.n == 1 || line.n == 3) &&
	       strncasecmp(line.p, "yes", line.n) == 0;
}
