#include "gate/prepare/private_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/user.h"

#define DEPTH_MAX 64
/* Keys of a project that are shut; more are a project of test data. */
#define KEYS_MAX 64

/* Files that hold a project's secrets, and such that only look so. */
static const char *const keys[] = {
#define PROJECT_KEYS(...) __VA_ARGS__,
#define CLOSED(...)
#include "gate/policy/closed.def"
#undef CLOSED
};
static const char *const examples[] = {"*.example", "*.sample", "*.template",
				       "*.dist", "*.defaults"};

bool file_is_private(const struct stat *st)
{
	/* the user last: asked of the kernel, for each of all files */
	return S_ISREG(st->st_mode) && !(st->st_mode & 0177) &&
	       st->st_size > 0 && st->st_uid == user_self();
}

static bool matches(const char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

bool file_is_project_key(const char *name)
{
	return matches(keys, ARRAY_LEN(keys), name) &&
	       !matches(examples, ARRAY_LEN(examples), name);
}

/* ---- walking ---- */

struct look {
	/* a file, with the folder that it lies in; true ends the walk */
	bool (*fn)(struct look *l, const char *path, int fd, const char *name);
	struct arena arena; /* paths of folders */
	const char *but;
	size_t *budget;
	struct arena *ret_arena;
	struct strlist *ret;
};

/* Files that tools have fetched or made: many, and none private. */
static bool left_out(const char *name)
{
	static const char *const names[] = {
		".",	   "..",	  "node_modules",
		".git",	   "__pycache__", "site-packages",
		".rustup",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_folder(int fd, const struct dirent *e)
{
	struct stat st;

	return e->d_type == DT_DIR ||
	       (e->d_type == DT_UNKNOWN &&
		fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode));
}

static bool look(struct look *l, const char *path, unsigned depth);

static bool look_at(struct look *l, const char *path, unsigned depth, int fd,
		    const struct dirent *e)
{
	const char *entry;

	if (!*l->budget || depth == DEPTH_MAX)
		return true;
	--*l->budget;
	if (!is_folder(fd, e))
		return l->fn(l, path, fd, e->d_name);
	entry = arena_printf(&l->arena, "%s/%s", path, e->d_name);
	return !(l->but && strcmp(entry, l->but) == 0) &&
	       look(l, entry, depth + 1);
}

static bool look(struct look *l, const char *path, unsigned depth)
{
	int fd = fd_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir)))
		found = !left_out(e->d_name) && look_at(l, path, depth, fd, e);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_private(UNUSED struct look *l, UNUSED const char *path, int fd,
		       const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file_is_private(&st);
}

bool folder_holds_private(const char *dir, const char *but, size_t *budget)
{
	struct look l = {.fn = is_private,
			 .arena = ARENA_INIT,
			 .but = but,
			 .budget = budget};
	bool found = look(&l, dir, 0);

	arena_release(&l.arena);
	return found;
}

static bool add_key(struct look *l, const char *path, int fd, const char *name)
{
	struct stat st;

	if (file_is_project_key(name) &&
	    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode))
		list_add(l->ret, l->ret_arena,
			 arena_printf(l->ret_arena, "%s/%s", path, name));
	return l->ret->n >= KEYS_MAX;
}

void find_project_keys(const char *dir, size_t *budget, struct arena *arena,
		       struct strlist *ret)
{
	struct look l = {.fn = add_key,
			 .arena = ARENA_INIT,
			 .budget = budget,
			 .ret_arena = arena,
			 .ret = ret};

	*ret = (struct strlist){NULL, 0};
	if (look(&l, dir, 0))
		log_debug("%s: not all of it was looked through", dir);
	arena_release(&l.arena);
}
