/*
 * A task that waits for the answer to a call, looked at from outside: its
 * memory, and paths as it sees them. The number may be another task's as soon
 * as the call does not wait any more, so the caller makes sure of that after
 * it has looked.
 */
#ifndef GATE_WATCH_TASK_H
#define GATE_WATCH_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/attr.h"

/* Up to n bytes, less at a page that is not there; -1: nothing. */
ssize_t task_read(pid_t pid, uint64_t at, void *to, size_t n) MUST_USE;
/*
 * Make a path of the task absolute, as the task names it; links and ".." stay.
 * dir  descriptor of the task that it begins at, or AT_FDCWD
 */
bool task_absolute(pid_t pid, int dir, const char *path, char *to, size_t n)
	MUST_USE;

/* Open "/proc/self/NAME" of the task, O_PATH; the caller's. -1 and errno. */
int task_open(pid_t pid, const char *name) MUST_USE;

struct task_root {
	int fd;	     /* of its root, from task_open() */
	bool cached; /* ask no file server: -EAGAIN for what would need one */
};

/* Open a path as the kernel walks it for the task, O_PATH, without the magic
   links of /proc. -errno. */
int task_walk(const struct task_root *root, const char *path, uint64_t flags)
	MUST_USE;

#endif
