#include "core/base/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/user.h"

const char *env_text(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

const char *state_dir_find(struct arena *arena)
{
	const char *own = env_text("MATINS_STATE");
	const char *xdg = env_text("XDG_STATE_HOME");
	const char *home = env_text("HOME");

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

const char *state_dir_servers(struct arena *arena)
{
	const char *xdg = env_text("XDG_DATA_HOME"), *home = env_text("HOME");

	if (xdg && *xdg == '/')
		return arena_printf(arena, "%s/matins/servers", xdg);
	return home ? arena_printf(arena, "%s/.local/share/matins/servers",
				   home)
		    : NULL;
}

int state_dir_is_ours(const char *dir, struct err *err)
{
	struct stat st;

	if (stat(dir, &st) < 0 ||
	    ((st.st_uid == user_self() || st.st_uid == 0) &&
	     !(st.st_mode & S_IWOTH)))
		return 0;
	return err_set(err, ERR_SYS,
		       "the state directory %s could be written by others "
		       "(owner uid %u, mode %03o), so no record in it counts; "
		       "let MATINS_STATE name a folder of your own",
		       dir, st.st_uid, (unsigned)st.st_mode & 0777);
}

int state_dir_check(const char *shown, const char *folder, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *dir = state_dir_find(&arena);
	AUTO(mem_freep) char *real = dir ? realpath(dir, NULL) : NULL;

	return real && place_covers(real, folder)
		       ? err_set(err, ERR_OUTPUT,
				 "%s is not written: it lies in matins' own "
				 "folder %s, where runs are recorded; name "
				 "another file",
				 shown, real)
		       : 0;
}

const char *state_dir_tokens(const char *state_dir, struct arena *arena)
{
	return arena_printf(arena, "%s/tokens", state_dir);
}

int state_dir_open(const char *path, int flags, int *ret_fd, struct err *err)
{
	AUTO(fd_closep)
	int fd =
		fd_open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	struct stat st;
	bool is_link = fd < 0 && errno == ELOOP;

	if (!is_link && (fd < 0 || fstat(fd, &st) < 0))
		return err_sys(err, errno, "%s", path);
	if (is_link || !S_ISREG(st.st_mode))
		return err_set(err, ERR_SYS,
			       "%s is %s: remove it, or let MATINS_STATE name "
			       "another folder",
			       path,
			       is_link ? "a link, and none is followed there"
				       : "no regular file");
	*ret_fd = fd_steal(&fd);
	return 0;
}
