/* Where the ledger is, opening it, and the lock of a routine. */
#include "core/report/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/report/ledger_inner.h"

/* ---- where ---- */

static const char *set_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

const char *ledger_default_dir(struct arena *arena)
{
	const char *own = set_variable("MATINS_STATE");
	const char *xdg = set_variable("XDG_STATE_HOME");
	const char *home = set_variable("HOME");

	if (own && *own == '/')
		return arena_strdup(arena, own);
	if (own) {
		AUTO(mem_freep) char *cwd = getcwd(NULL, 0);

		return arena_printf(arena, "%s/%s", cwd ? cwd : ".", own);
	}
	if (xdg && *xdg == '/')
		return arena_printf(arena, "%s/matins", xdg);
	if (home)
		return arena_printf(arena, "%s/.local/state/matins", home);
	return NULL;
}

static int find_dir(const char *given, char **ret, struct err *err)
{
	struct arena arena = ARENA_INIT;
	const char *dir = given ? given : ledger_default_dir(&arena);

	if (dir)
		*ret = mem_strdup(dir);
	arena_release(&arena);
	if (!dir)
		return err_set(err, ERR_SYS,
			       "there is no place for the ledger: set "
			       "MATINS_STATE, XDG_STATE_HOME or HOME");
	return 0;
}

/* ---- open ---- */

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	fd_closep(&l->fd);
	free(l->dir);
	free(l);
}

void ledger_freep(struct ledger **l)
{
	ledger_free(*l);
	*l = NULL;
}

const char *ledger_dir(const struct ledger *l)
{
	return l->dir;
}

static int cannot_write(const char *dir, struct err *err)
{
	return err_sys(err, errno,
		       "the state directory %s cannot be written (MATINS_STATE "
		       "names another)",
		       dir);
}

/* A new file is only there for good when its folder is synced. */
static int sync_dir(const char *dir)
{
	AUTO(fd_closep) int fd = fd_open(dir, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? -1 : fsync(fd);
}

/* A ledger that is not open yet, and its file; -1: there is no place. */
static int new_at(const char *state_dir, struct ledger **ret, char **ret_path,
		  struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = mem_zalloc(sizeof(*l));

	l->fd = -1;
	if (find_dir(state_dir, &l->dir, err) < 0)
		return -1;
	*ret_path = mem_printf("%s/ledger.jsonl", l->dir);
	*ret = l;
	l = NULL;
	return 0;
}

int ledger_open(const char *state_dir, struct ledger **ret, struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	AUTO(mem_freep) char *path = NULL;

	if (new_at(state_dir, &l, &path, err) < 0)
		return -1;
	l->fd = fd_open(path, O_RDWR | O_APPEND, 0);
	if (l->fd < 0 && errno == ENOENT) {
		if (fd_mkdirs(l->dir, 0700) < 0)
			return cannot_write(l->dir, err);
		l->fd = fd_open(path, O_RDWR | O_APPEND | O_CREAT, 0600);
		if (l->fd >= 0 && sync_dir(l->dir) < 0)
			return cannot_write(l->dir, err);
	}
	if (l->fd < 0)
		return cannot_write(l->dir, err);
	*ret = l;
	l = NULL;
	return 0;
}

int ledger_open_read(const char *state_dir, struct ledger **ret,
		     struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	AUTO(mem_freep) char *path = NULL;

	if (new_at(state_dir, &l, &path, err) < 0)
		return -1;
	l->fd = fd_open(path, O_RDONLY, 0);
	if (l->fd < 0 && errno != ENOENT)
		return err_sys(err, errno, "%s", path);
	*ret = l;
	l = NULL;
	return 0;
}

/* ---- routines ---- */

int ledger_lock_routine(struct ledger *l, const struct ledger_routine *which,
			bool wait, int *ret_fd, struct err *err)
{
	/* no name of a routine holds a slash */
	AUTO(mem_freep)
	char *routine = mem_printf("%s/%s", which->file, which->name);
	AUTO(mem_freep) char *folder = mem_printf("%s/locks", l->dir);
	AUTO(mem_freep) char *path = NULL;
	AUTO(fd_closep) int fd = -1;
	char name[SHA256_HEX_BYTES];

	/* a routine's name may hold what a file name must not */
	sha256_hex(str_of(routine), name);
	path = mem_printf("%s/%.32s", folder, name);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "%s", folder);
	fd = fd_open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return err_sys(err, errno, "%s", path);
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
