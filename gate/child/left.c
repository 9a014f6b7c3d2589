#include "gate/child/left.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "gate/child/sys.h"

/* Entries that are looked at: some 10 ms. */
#define LEFT_ENTRIES 10000
/* Folders in folders, each with a descriptor and a buffer on the stack. */
#define LEFT_DEPTH 10
#define LEFT_DIRENTS 1024

struct walk_left {
	struct left *left;
	uint32_t budget;
	bool is_home;
	uint32_t major, minor; /* of the folder's file system */
};

/* Sums of one folder, with what is beneath it. */
struct sums {
	uint32_t files, folders, others; /* .others: put there by the view */
};

static void walk(struct walk_left *w, int fd, unsigned depth, struct sums *ret);

static bool is_text(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* Dot files of HOME are the programs' own, but for those of a project. */
static bool is_own(const char *name)
{
	static const char *const of_projects[] = {".git", ".env", ".venv"};

	if (name[0] != '.')
		return false;
	for (size_t i = 0; i < sizeof(of_projects) / sizeof(*of_projects); i++)
		if (is_text(name, of_projects[i]))
			return false;
	return true;
}

static void add_name(struct left *l, const char *name, bool is_folder)
{
	size_t n = 0;

	if (l->n_entries++ >= LEFT_NAMES)
		return;
	l->is_folder[l->n_entries - 1] = is_folder;
	while (name[n] && n + 1 < LEFT_NAME_BYTES) {
		l->name[l->n_entries - 1][n] = name[n];
		n++;
	}
	l->name[l->n_entries - 1][n] = '\0';
}

/* False: only something of the view lies beneath it. */
static bool add_folder(struct walk_left *w, int at, const char *name,
		       unsigned depth, struct sums *to)
{
	struct sums beneath = {0};
	long fd = -1;

	if (depth < LEFT_DEPTH)
		fd = sys_call(SYS_openat, at, name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK |
				      O_CLOEXEC,
			      0);
	if (fd < 0) {
		w->left->is_cut = true;
	} else {
		walk(w, (int)fd, depth, &beneath);
		sys_call(SYS_close, fd);
	}
	to->files += beneath.files;
	to->others += beneath.others;
	if (beneath.others && !beneath.files && !beneath.folders)
		return false;
	to->folders++;
	return true;
}

static void add_entry(struct walk_left *w, int at, const char *name,
		      unsigned depth, struct sums *to)
{
	struct statx st = {.stx_mask = 0};
	bool is_folder;

	if (sys_call(SYS_statx, at, name,
		     AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		     STATX_TYPE | STATX_MTIME, &st) < 0)
		return;
	is_folder = S_ISDIR(st.stx_mode);
	if (st.stx_dev_major != w->major || st.stx_dev_minor != w->minor ||
	    (S_ISLNK(st.stx_mode) && st.stx_mtime.tv_sec == LEFT_TIME)) {
		to->others++;
		return;
	}
	if (is_folder && !add_folder(w, at, name, depth + 1, to))
		return;
	to->files += !is_folder;
	if (!depth)
		add_name(w->left, name, is_folder);
}

static void walk(struct walk_left *w, int fd, unsigned depth, struct sums *ret)
{
	_Alignas(struct linux_dirent64) char dirents[LEFT_DIRENTS] = "";
	long got;

	while ((got = sys_call(SYS_getdents64, fd, dirents, sizeof(dirents))) >
	       0) {
		for (long at = 0; at < got;) {
			const struct linux_dirent64 *d = (void *)&dirents[at];

			at += d->reclen;
			if (is_text(d->name, ".") || is_text(d->name, ".."))
				continue;
			if (!w->budget) {
				w->left->is_cut = true;
				return;
			}
			w->budget--;
			if (depth || !w->is_home || !is_own(d->name))
				add_entry(w, fd, d->name, depth, ret);
		}
	}
}

/* Look whether a path is there, by no link. */
static void look(struct left_named *named)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	struct statx st = {.stx_mask = 0};
	long fd = sys_call(KERNEL_OPENAT2, AT_FDCWD, named->path, &how,
			   sizeof(how));

	if (fd < 0)
		return;
	if (sys_call(SYS_statx, fd, "",
		     KERNEL_AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE,
		     &st) >= 0) {
		named->is_there = true;
		named->is_folder = S_ISDIR(st.stx_mode);
	}
	sys_call(SYS_close, fd);
}

static void count(struct left *l, const char *path, bool is_home)
{
	struct walk_left w = {
		.left = l, .budget = LEFT_ENTRIES, .is_home = is_home};
	struct statx st = {.stx_mask = 0};
	struct sums all = {0};
	long fd = sys_call(SYS_openat, AT_FDCWD, path,
			   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (sys_call(SYS_statx, fd, "", KERNEL_AT_EMPTY_PATH, STATX_ATIME,
		     &st) >= 0) {
		w.major = st.stx_dev_major;
		w.minor = st.stx_dev_minor;
		l->is_listed = st.stx_atime.tv_sec != LEFT_TIME;
		walk(&w, (int)fd, 0, &all);
		l->n_files = all.files;
	}
	sys_call(SYS_close, fd);
}

void left_count(struct left *l, const char *path, bool is_home)
{
	bool is_listed;

	if (path)
		count(l, path, is_home);
	if (l->home && !l->n_entries) {
		is_listed = l->is_listed;
		count(l, l->home, true);
		l->is_listed = is_listed;
		l->in_home = l->n_entries > 0;
	}
	for (size_t i = 0; i < l->n_named; i++)
		look(&l->named[i]);
}
