#include "core/base/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/str.h"

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
	static pid_t self;
	static uint64_t own;
	AUTO(fd_closep) int fd = -1;
	char text[2048];
	ssize_t n;

	if (pid == self && own)
		return own;
	snprintf(text, sizeof(text), "/proc/%d/stat", pid);
	fd = fd_open(text, O_RDONLY, 0);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	if (pid != getpid())
		return read_start(text);
	self = pid;
	own = read_start(text);
	return own;
}

void proc_boot_id(struct buf *out)
{
	const size_t before = out->n;

	if (fd_read_file("/proc/sys/kernel/random/boot_id", out, ERR_IGNORED) ==
	    0)
		out->n = before + str_trim(str_skip(buf_str(out), before)).n;
}
