#include "core/install/files.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/digest.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/place.h"

#define CHUNK_BYTES (64 * 1024)

/* A walk in the order of names, folders before their entries. */
struct walk {
	const char *path; /* absolute */
	void *arg;
	uint64_t entries, bytes;
	bool is_unbounded;
	/*
	 * name  behind the path, without a slash at the front
	 * is_end  of a folder: its entries were visited
	 */
	int (*visit)(struct walk *w, const FTSENT *e, const char *name,
		     bool is_end, struct err *err);
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Count an entry. bytes  of its file, or of that which it links to */
static int count(struct walk *w, off_t bytes, struct err *err)
{
	w->entries++;
	w->bytes += (uint64_t)bytes;
	return w->is_unbounded || (w->entries <= FILES_MAX &&
				   w->bytes <= FILES_BYTES_MAX)
		       ? 0
		       : err_set(err, ERR_LIMIT,
				 "%s has more than %d entries or %d GiB",
				 w->path, FILES_MAX,
				 (int)(FILES_BYTES_MAX >> 30));
}

static int visit_one(struct walk *w, const FTSENT *e, struct err *err)
{
	const char *name = e->fts_path + strlen(w->path);
	const mode_t mode = e->fts_statp->st_mode;

	switch (e->fts_info) {
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return err_sys(err, e->fts_errno, "%s", e->fts_path);
	case FTS_DC:
		return err_set(err, ERR_CONFIG, "%s: a circle", e->fts_path);
	default:
		break;
	}
	if (!*name)
		return e->fts_info == FTS_DP ? w->visit(w, e, name, true, err)
					     : 0;
	if (e->fts_info == FTS_DP)
		return w->visit(w, e, name + 1, true, err);
	if (count(w, S_ISREG(mode) ? e->fts_statp->st_size : 0, err) < 0)
		return -1;
	return w->visit(w, e, name + 1, false, err);
}

static int walk(struct walk *w, struct err *err)
{
	char *roots[] = {(char *)w->path, NULL};
	/* from folder to folder a path may be longer than the kernel takes */
	FTS *all = fts_open(roots,
			    FTS_PHYSICAL | (w->is_unbounded ? 0 : FTS_NOCHDIR),
			    by_name);
	FTSENT *e;
	int r = 0;

	if (!all)
		return err_sys(err, errno, "%s", w->path);
	while (r == 0 && (errno = 0, e = fts_read(all)))
		r = visit_one(w, e, err);
	if (r == 0 && errno)
		r = err_sys(err, errno, "%s", w->path);
	fts_close(all);
	return r;
}

/* ---- the kinds of entries ---- */

static int read_link(const FTSENT *e, char target[PATH_MAX], struct err *err)
{
	ssize_t n = readlink(e->fts_accpath, target, PATH_MAX - 1);

	if (n < 0)
		return err_sys(err, errno, "%s", e->fts_path);
	target[n] = '\0';
	return 0;
}

/* Hand on all bytes of a file, which nobody waits for. */
static int read_bytes(const char *path,
		      int (*take)(void *arg, const void *bytes, size_t n),
		      void *arg, struct err *err)
{
	char chunk[CHUNK_BYTES];
	AUTO(fd_closep)
	int fd = fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0 && take(arg, chunk, (size_t)n) < 0)
			n = -1;
	}
	return n < 0 ? err_sys(err, errno, "%s", path) : 0;
}

/*
 * Does a relative target stay in the tree? It may climb from the folder of the
 * link, which is a real one, and then only go down; each link that it meets is
 * judged itself.
 *
 * name  of the link, behind the path of the tree
 */
static bool stays_inside(const char *name, struct str target)
{
	size_t depth = 0;
	bool is_going_down = false;

	for (; *name; name++)
		depth += *name == '/';
	while (target.n) {
		const bool is_up = str_is(str_cut(&target, '/'), "..");

		if (is_up && (is_going_down || !depth--))
			return false;
		is_going_down |= !is_up;
	}
	return true;
}

/*
 * Read the target of a link, and judge it.
 *
 * ret_real  owned: the file that it leads to, to be summed; NULL: none is
 */
static int follow_link(const FTSENT *e, const char *name, char target[PATH_MAX],
		       char **ret_real, struct err *err)
{
	AUTO(mem_freep) char *real = NULL;
	struct stat st;

	*ret_real = NULL;
	if (read_link(e, target, err) < 0)
		return -1;
	if (*target != '/')
		return stays_inside(name, str_of(target))
			       ? 0
			       : err_set(err, ERR_CONFIG,
					 "%s links to %s, which leads out of "
					 "the tree",
					 e->fts_path, target);
	real = realpath(target, NULL);
	if (!real || stat(real, &st) < 0)
		return err_sys(err, errno, "%s links to %s", e->fts_path,
			       target);
	if (place_is_system(target) && place_is_system(real))
		return 0;
	/* the gate shows a server what its arguments lead to: an interpreter
	   may lie in HOME, a diary is none */
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IXUSR))
		return err_set(err, ERR_CONFIG,
			       "%s links to %s, which is no program and lies "
			       "outside of the tree",
			       e->fts_path, target);
	*ret_real = real;
	real = NULL;
	return 0;
}

static int refuse(const FTSENT *e, struct err *err)
{
	return err_set(err, ERR_CONFIG,
		       "%s is neither a file, a folder nor a link",
		       e->fts_path);
}

/* ---- the sum ---- */

static int sum_bytes(void *arg, const void *bytes, size_t n)
{
	sha256_add(arg, bytes, n);
	return 0;
}

static int sum_entry(struct walk *w, const FTSENT *e, const char *name,
		     bool is_end, struct err *err)
{
	const mode_t mode = e->fts_statp->st_mode;
	AUTO(mem_freep) char *real = NULL;
	char target[PATH_MAX];
	struct stat st;

	if (is_end)
		return 0;
	digest_text(w->arg, name);
	digest_number(w->arg,
		      (mode & S_IFMT) | (S_ISREG(mode) ? mode & S_IXUSR : 0));
	if (S_ISDIR(mode))
		return 0;
	if (S_ISLNK(mode)) {
		if (follow_link(e, name, target, &real, err) < 0)
			return -1;
		digest_text(w->arg, target);
		if (!real)
			return 0;
		if (stat(real, &st) < 0)
			return err_sys(err, errno, "%s", real);
		if (count(w, st.st_size, err) < 0)
			return -1;
		digest_number(w->arg, (uint64_t)st.st_size);
		return read_bytes(real, sum_bytes, w->arg, err);
	}
	if (!S_ISREG(mode))
		return refuse(e, err);
	digest_number(w->arg, (uint64_t)e->fts_statp->st_size);
	return read_bytes(e->fts_accpath, sum_bytes, w->arg, err);
}

int files_digest(const char *path, char ret[SHA256_HEX_BYTES], struct err *err)
{
	struct sha256 s;
	struct walk w = {.path = path, .visit = sum_entry, .arg = &s};

	sha256_init(&s);
	if (walk(&w, err) < 0)
		return -1;
	sha256_end_text(&s, ret);
	return 0;
}

/* ---- the copy ---- */

static int write_bytes(void *arg, const void *bytes, size_t n)
{
	const int *fd = arg;

	return fd_write_all(*fd, bytes, n);
}

static int copy_entry(struct walk *w, const FTSENT *e, const char *name,
		      bool is_end, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const mode_t mode = e->fts_statp->st_mode;
	const char *to = arena_printf(&arena, "%s/%s", (char *)w->arg, name);
	char target[PATH_MAX];
	AUTO(mem_freep) char *real = NULL;
	AUTO(fd_closep) int fd = -1;

	if (is_end)
		return 0;
	if (S_ISLNK(mode)) {
		if (follow_link(e, name, target, &real, err) < 0)
			return -1;
		return symlink(target, to) < 0 ? err_sys(err, errno, "%s", to)
					       : 0;
	}
	if (S_ISDIR(mode))
		return mkdir(to, 0755) < 0 ? err_sys(err, errno, "%s", to) : 0;
	if (!S_ISREG(mode))
		return refuse(e, err);
	fd = fd_open(to, O_WRONLY | O_CREAT | O_EXCL,
		     mode & S_IXUSR ? 0755 : 0644);
	return fd < 0 ? err_sys(err, errno, "%s", to)
		      : read_bytes(e->fts_accpath, write_bytes, &fd, err);
}

int files_copy(const char *from, const char *to, struct err *err)
{
	struct walk w = {.path = from, .visit = copy_entry, .arg = (void *)to};

	return walk(&w, err);
}

/* ---- the end ---- */

/* A folder is opened for its owner before its entries go. */
static int remove_entry(UNUSED struct walk *w, const FTSENT *e,
			UNUSED const char *name, bool is_end, struct err *err)
{
	const bool is_folder = S_ISDIR(e->fts_statp->st_mode);

	if (is_folder && !is_end)
		return chmod(e->fts_accpath, 0700) < 0
			       ? err_sys(err, errno, "%s", e->fts_path)
			       : 0;
	return (is_folder ? rmdir : unlink)(e->fts_accpath) < 0 &&
			       errno != ENOENT
		       ? err_sys(err, errno, "%s", e->fts_path)
		       : 0;
}

int files_remove(const char *path, struct err *err)
{
	struct walk w = {
		.path = path, .visit = remove_entry, .is_unbounded = true};

	return access(path, F_OK) < 0 && errno == ENOENT ? 0 : walk(&w, err);
}
