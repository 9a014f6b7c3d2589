#include "core/report/ledger_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"

int ledger_lock_routine(struct ledger *l, const struct ledger_routine *which,
			bool wait, int *ret_fd, struct err *err)
{
	/* a name holds no slash, so the pair is unambiguous */
	AUTO(mem_freep)
	char *routine = mem_printf("%s/%s", which->file, which->name);
	AUTO(mem_freep) char *folder = mem_printf("%s/locks", ledger_dir(l));
	AUTO(mem_freep) char *path = NULL;
	AUTO(fd_closep) int fd = -1;
	char name[SHA256_HEX_BYTES];

	/* a routine's name may hold what a file name must not */
	sha256_hex(str_of(routine), name);
	path = mem_printf("%s/%.32s", folder, name);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "%s", folder);
	if (state_dir_open(path, O_RDWR | O_CREAT, &fd, err) < 0)
		return -1;
	if (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return err_set(err, ERR_BUSY,
				       "routine %s is running already",
				       which->name);
		return err_sys(err, errno, "wait for routine %s", which->name);
	}
	*ret_fd = fd_steal(&fd);
	return 0;
}
