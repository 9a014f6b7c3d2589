#include "core/base/proc.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"

/* A UUID and a newline. */
#define BOOT_ID_BYTES 37

/* Behind the name in brackets: " S PPID ...", fields 3 to 22. */
static uint64_t read_start(const char *stat)
{
	const char *p = strrchr(stat, ')');
	struct str rest, field = {NULL, 0};
	uint64_t start;

	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return 0;
	rest = str_of(p + 2);
	for (int i = 3; i <= 22; i++)
		field = str_cut(&rest, ' ');
	return str_uint64(field, &start) ? start : 0;
}

uint64_t proc_start_time(pid_t pid)
{
	AUTO(fd_closep) int fd = -1;
	char text[2048];
	ssize_t n;

	snprintf(text, sizeof(text), "/proc/%d/stat", pid);
	fd = fd_open(text, O_RDONLY, 0);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	return read_start(text);
}

pid_t proc_self(uint64_t *ret_start)
{
	static pid_t self;
	static uint64_t start;
	const pid_t pid = getpid();

	if (pid != self)
		start = proc_start_time(pid);
	self = pid;
	*ret_start = start;
	return pid;
}

void proc_boot_id(struct buf *out)
{
	static char id[BOOT_ID_BYTES];

	if (!*id) {
		AUTO(fd_closep)
		int fd =
			fd_open("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);

		if (fd >= 0 && read(fd, id, sizeof(id)) != sizeof(id))
			*id = '\0';
		id[sizeof(id) - 1] = '\0';
	}
	buf_adds(out, id);
}
