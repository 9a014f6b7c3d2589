#include "core/config/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/state_dir.h"

/* Time to wait for another process, which changes and writes one file. */
#define HOLD_MAX_MS 5000
/* Wait that is said, so that nobody takes it for a hang. */
#define HOLD_SAY_MS 1000
#define HOLD_POLL_MS 10

bool state_file_read(const struct state_file *f, struct buf *text,
		     struct str *ret_value)
{
	struct str schema;

	text->max = f->max;
	return fd_read_file(f->path, text, ERR_IGNORED) == 0 &&
	       scan_document(buf_str(text), NULL, ret_value, ERR_IGNORED) ==
		       0 &&
	       scan_get(*ret_value, "schema", &schema) &&
	       scan_is(schema, f->schema);
}

bool state_file_write(const struct state_file *f, struct str json)
{
	const char *end = strrchr(f->path, '/');
	AUTO(mem_freep)
	char *dir = mem_strndup(f->path, end ? (size_t)(end - f->path) : 0);
	struct err why = ERR_INIT;

	if (json.n > f->max || (*dir && fd_mkdirs(dir, 0700) < 0))
		return false;
	if (fd_replace_file(f->path, json, 0600, false, &why) == 0)
		return true;
	log_debug("not remembered: %s", why.msg);
	return false;
}

int state_file_hold(const char *folder)
{
	AUTO(mem_freep) char *path = mem_printf("%s/.lock", folder);
	AUTO(fd_closep) int fd = -1;

	if (fd_mkdirs(folder, 0700) < 0 ||
	    state_dir_open(path, O_RDWR | O_CREAT, &fd, ERR_IGNORED) < 0)
		return -1;
	for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; ms += HOLD_POLL_MS) {
		/* a file system without locks: nobody is waited for */
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		if (ms >= HOLD_MAX_MS)
			return -1;
		if (ms == HOLD_SAY_MS)
			log_note("waiting for another matins, which holds %s",
				 folder);
		poll(NULL, 0, HOLD_POLL_MS);
	}
	return fd_steal(&fd);
}
