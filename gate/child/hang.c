#include "gate/child/hang.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/gate.h"
#include "gate/child/process.h"
#include "gate/path/mounts.h"
#include "gate/path/resolve.h"

/* Types of file systems that a server or a process answers for. */
static const char *const SERVED[] = {
	"9p",	"afs",	    "autofs",  "beegfs",   "ceph",   "cifs",
	"coda", "fuse",	    "fuseblk", "gpfs",	   "lustre", "nfs",
	"nfs4", "orangefs", "smb3",    "virtiofs",
};

bool hang_is_served(struct str mountinfo)
{
	struct mount m;

	while (mounts_next(&mountinfo, &m)) {
		bool is_served = str_starts(m.type, "fuse.");

		for (size_t i = 0; i < ARRAY_LEN(SERVED); i++)
			is_served |= str_is(m.type, SERVED[i]);
		if (is_served && !str_starts(m.point, "/proc/") &&
		    !str_starts(m.point, "/sys/"))
			return true;
	}
	return false;
}

bool hang_is_possible(void)
{
	struct str mounts = mounts_first();

	return !mounts.p || hang_is_served(mounts);
}

static void look_at(const char *path)
{
	AUTO(fd_closep) int fd = fd_open(path, O_PATH, 0);
	struct stat st;

	if (fd >= 0)
		(void)!fstat(fd, &st);
}

static void look_at_program(const char *name)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct resolved r;
	struct err ignored;

	if (resolve_program(name, NULL, &arena, &r, &ignored) == 0)
		resolved_release(&r);
}

/* In a process of its own, that holds nothing of ours. */
static void go_first(const void *arg)
{
	const struct gate_request *request = arg;
	const struct gate_policy *p = request->policy;

	close_range(3, ~0U, 0);
	look_at_program(request->program);
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++)
		if (!request->from_data || !request->from_data[i])
			look_at(request->argv[i]);
	if (request->cwd)
		look_at(request->cwd);
	if (p) {
		for (size_t i = 0; i < p->read.n; i++)
			look_at(p->read.item[i]);
		for (size_t i = 0; i < p->write.n; i++)
			look_at(p->write.item[i]);
		for (size_t i = 0; i < p->exec.n; i++)
			look_at_program(p->exec.item[i]);
	}
}

int hang_try(const struct gate_request *request, uint64_t until_ns,
	     struct err *err)
{
	struct process p;

	if (process_fork(go_first, request, &p) < 0)
		return err_sys(err, errno, "clone() of a process");
	if (!process_has_ended(&p, until_ns)) {
		process_abandon(&p);
		return err_set(err, ERR_DEADLINE,
			       "%s: a file system that it needs does not "
			       "answer",
			       request->program);
	}
	process_wait(&p);
	return 0;
}
