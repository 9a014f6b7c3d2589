#include "core/base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"

#define TEMPORARY_TRIES 16
#define DRAFT_PREFIX ".matins."

/* ---- a folder ---- */

static int hold(struct outfolder *d, const char *folder,
		const struct place *place, struct err *err)
{
	d->fd = fd_open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (d->fd < 0)
		return err_sys(err, errno, "folder %s", folder);
	d->path = folder;
	d->links = place->links;
	d->is_led_astray = place->is_led_astray;
	return 0;
}

int outfolder_open(struct outfolder *d, const char *path, struct err *err)
{
	struct place place;

	*d = (struct outfolder)OUTFOLDER_INIT;
	if (place_find(path, &d->arena, &place, err) == 0 &&
	    hold(d,
		 arena_printf(&d->arena, "%s/%s",
			      strcmp(place.folder, "/") ? place.folder : "",
			      place.name),
		 &place, err) == 0)
		return 0;
	outfolder_release(d);
	return -1;
}

void outfolder_release(struct outfolder *d)
{
	fd_closep(&d->fd);
	arena_release(&d->arena);
	*d = (struct outfolder)OUTFOLDER_INIT;
}

/* returns  the descriptor of one part, or -1 and errno */
static int enter(int dir, const char *name)
{
	if (mkdirat(dir, name, 0777) < 0 && errno != EEXIST)
		return -1;
	return openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int outfolder_enter(const struct outfolder *from, struct str path,
		    struct outfolder *ret, struct err *err)
{
	AUTO(fd_closep) int fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	struct outfolder d = OUTFOLDER_INIT;

	d.path = arena_strdup(&d.arena, from->path);
	while (fd >= 0 && path.n) {
		struct str part = str_cut(&path, '/');
		char *name = arena_strndup(&d.arena, part.p, part.n);
		int next = enter(fd, name);

		d.path = arena_printf(&d.arena, "%s/%s",
				      strcmp(d.path, "/") ? d.path : "", name);
		fd_closep(&fd);
		fd = next;
	}
	if (fd < 0) {
		err_sys(err, errno, "folder %s", d.path);
		outfolder_release(&d);
		return -1;
	}
	d.fd = fd_steal(&fd);
	*ret = d;
	return 0;
}

/* Compare the folder that the path leads to now with the open one. */
static int check_folder(const struct outfolder *d, struct err *err)
{
	struct stat there, opened;

	if (fstat(d->fd, &opened) == 0 && stat(d->path, &there) == 0 &&
	    stat_is_same(&there, &opened))
		return 0;
	return err_set(err, ERR_OUTPUT,
		       "the folder %s was moved or replaced in the meantime; "
		       "nothing is written there",
		       d->path);
}

const char *outfolder_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFDIR:
		return "a folder";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/* An entry that is a regular file, or none. */
static int check_entry(const struct outfolder *d, const char *name,
		       const char *shown, struct err *err)
{
	struct stat st;

	if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(err, errno, "%s", shown);
	if (S_ISREG(st.st_mode))
		return 0;
	return err_set(err, ERR_OUTPUT,
		       "%s was replaced by %s in the meantime; nothing is "
		       "written there",
		       shown, outfolder_kind(st.st_mode));
}

/* ---- a draft ---- */

/* Do it under a name that nothing has; errno of the first other failure. */
static int with_new_name(int dir, struct outfolder_draft *draft,
			 int (*make)(int dir, const char *name, int fd))
{
	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		uint64_t random;
		int r;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(draft->name, sizeof(draft->name),
			 DRAFT_PREFIX "%016" PRIx64, random);
		r = make(dir, draft->name, draft->fd);
		if (r >= 0 || errno != EEXIST)
			return r;
	}
	return -1;
}

/* The lock says that it is in use; where it comes too late, so does EEXIST. */
static int create_named(int dir, const char *name, UNUSED int unused)
{
	AUTO(fd_closep)
	int fd = openat(dir, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);

	if (fd < 0)
		return -1;
	if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
	    fd_is_at(fd, dir, name))
		return fd_steal(&fd);
	errno = EEXIST;
	return -1;
}

static int link_open(int dir, const char *name, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW);
}

/* Without a name where the file system can do that: nothing is left of one
   that is never placed, however the process ends. */
static int make_draft(int dir, struct outfolder_draft *draft)
{
	draft->name[0] = '\0';
	draft->fd = openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (draft->fd >= 0)
		(void)!flock(draft->fd, LOCK_EX | LOCK_NB);
	else
		draft->fd = with_new_name(dir, draft, create_named);
	draft->is_there = draft->fd >= 0;
	return draft->fd;
}

/* A draft of ours that nothing holds is one of a process that was killed. */
static void remove_dead(int dir, const char *name)
{
	AUTO(fd_closep)
	int fd = openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    fd_is_at(fd, dir, name))
		unlinkat(dir, name, 0);
}

/* Remove those of killed processes. */
static void sweep(int dir)
{
	const size_t n = strlen(DRAFT_PREFIX);
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	while (all && (e = readdir(all)))
		if (strncmp(e->d_name, DRAFT_PREFIX, n) == 0 &&
		    strlen(e->d_name) == n + 16 &&
		    strspn(e->d_name + n, "0123456789abcdef") == 16)
			remove_dead(dir, e->d_name);
	if (all)
		closedir(all);
	else
		fd_closep(&copy);
}

static int move(int dir, const char *from, const char *to, enum outfile_how how)
{
	if (how != OUTFILE_NEW)
		return renameat(dir, from, dir, to);
	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* a file system without that flag */
	if (linkat(dir, from, dir, to, 0) < 0)
		return -1;
	unlinkat(dir, from, 0);
	return 0;
}

/* A file that is there is replaced by one with a name, for a moment. */
static int put_in_place(int dir, struct outfolder_draft *draft, const char *to,
			enum outfile_how how)
{
	if (!draft->name[0]) {
		if (link_open(dir, to, draft->fd) == 0)
			return 0;
		if (errno != EEXIST || how == OUTFILE_NEW)
			return -1;
		sweep(dir);
		if (with_new_name(dir, draft, link_open) < 0) {
			draft->name[0] = '\0';
			return -1;
		}
	}
	if (move(dir, draft->name, to, how) < 0)
		return -1;
	draft->name[0] = '\0';
	return 0;
}

/* An O_PATH descriptor cannot be synced. */
static int sync_folder(int dir)
{
	AUTO(fd_closep)
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

bool outfolder_holds(const struct outfolder *d, const char *name,
		     struct str bytes)
{
	AUTO(fd_closep)
	int fd = openat(d->fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO(buf_release) struct buf there = BUF_INIT(bytes.n + 1);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (size_t)st.st_size == bytes.n &&
	       fd_read_all(fd, &there, ERR_IGNORED) == 0 &&
	       str_eq(buf_str(&there), bytes);
}

mode_t outfolder_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

int outfolder_draft(const struct outfolder *d, const struct outfolder_file *f,
		    const struct fd_text *text, struct outfolder_draft *ret,
		    struct err *err)
{
	*ret = (struct outfolder_draft){.is_there = false};
	if (check_folder(d, err) < 0 ||
	    (f->how != OUTFILE_NEW &&
	     check_entry(d, f->name, f->shown, err) < 0))
		return -1;
	if (make_draft(d->fd, ret) < 0)
		return err_sys(err, errno, "create a file in %s", d->path);
	if (fchmod(ret->fd, f->mode) == 0 && fd_print(ret->fd, text) == 0 &&
	    (f->how != OUTFILE_DURABLE || fsync(ret->fd) == 0))
		return 0;
	err_sys(err, errno, "write %s", f->shown);
	outfolder_drop(d, ret);
	return -1;
}

int outfolder_name(const struct outfolder *d, struct outfolder_draft *draft,
		   const char *shown, struct err *err)
{
	if (draft->name[0] || with_new_name(d->fd, draft, link_open) >= 0)
		return 0;
	draft->name[0] = '\0';
	return err_sys(err, errno, "write %s", shown);
}

void outfolder_sweep(const struct outfolder *d)
{
	sweep(d->fd);
}

void outfolder_drop(const struct outfolder *d, struct outfolder_draft *draft)
{
	if (draft->is_there && draft->name[0])
		unlinkat(d->fd, draft->name, 0);
	if (draft->is_there)
		close(draft->fd);
	draft->is_there = false;
}

int outfolder_place(const struct outfolder *d, struct outfolder_draft *draft,
		    const struct outfolder_file *f, struct err *err)
{
	if (put_in_place(d->fd, draft, f->name, f->how) < 0) {
		err_sys(err, errno, "write %s", f->shown);
		outfolder_drop(d, draft);
		return -1;
	}
	outfolder_drop(d, draft);
	if (f->how == OUTFILE_DURABLE && sync_folder(d->fd) < 0)
		return err_sys(err, errno, "write %s", f->shown);
	/* a program that still runs may have exchanged the temporary file */
	return check_entry(d, f->name, f->shown, err);
}

int outfolder_put(const struct outfolder *d, const struct outfolder_file *f,
		  const struct fd_text *text, struct err *err)
{
	struct outfolder_draft draft;

	return outfolder_draft(d, f, text, &draft, err) < 0
		       ? -1
		       : outfolder_place(d, &draft, f, err);
}

/* ---- open ---- */

void outfile_release(struct outfile *f)
{
	outfolder_release(&f->folder);
	fd_closep(&f->stream);
	fd_closep(&f->fifo);
}

/* The number in /dev/stdout, /dev/fd/N and their like; -1 for other paths. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t n;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (str_starts(str_of(path), folders[i]) &&
		    str_uint64(str_of(path + strlen(folders[i])), &n) &&
		    n <= INT_MAX)
			return (int)n;
	return -1;
}

/* Open a stream: no regular file, or one that no path leads to. */
static int open_stream(struct outfile *f, mode_t mode, struct err *err)
{
	f->truncate = S_ISREG(mode);
	f->stream = fd_open(f->path, O_WRONLY | O_NOCTTY | O_NONBLOCK, 0);
	if (f->stream >= 0)
		return 0;
	if (errno != ENXIO || !S_ISFIFO(mode))
		return err_sys(err, errno, "write %s", f->path);
	f->fifo = fd_open(f->path, O_PATH, 0);
	return f->fifo < 0 ? err_sys(err, errno, "write %s", f->path) : 0;
}

/* The folder that the file lies in, or will. */
static int hold_folder(struct outfile *f, struct err *err)
{
	struct place place;

	if (place_find(f->path, &f->folder.arena, &place, err) < 0 ||
	    hold(&f->folder, place.folder, &place, err) < 0)
		return err_wrap(err, "cannot write");
	f->name = place.name;
	return 0;
}

static bool takes_files(const struct outfolder *d)
{
	return faccessat(d->fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/* A regular file: replaced in its folder, or written where it lies. */
static int open_old(struct outfile *f, const struct stat *st, struct err *err)
{
	struct stat entry;
	bool is_held = f->name &&
		       fstatat(f->folder.fd, f->name, &entry,
			       AT_SYMLINK_NOFOLLOW) == 0 &&
		       stat_is_same(&entry, st);

	if (!is_held || !takes_files(&f->folder))
		return open_stream(f, st->st_mode, err);
	if (faccessat(f->folder.fd, f->name, W_OK, AT_EACCESS) < 0)
		return err_sys(err, errno, "write %s", f->path);
	/* never setuid: a program may have made the file, and fill it */
	f->mode = st->st_mode & 0777;
	return 0;
}

/* The file that ">" would make: a link that leads nowhere yet is followed. */
static int open_new(struct outfile *f, struct err *err)
{
	f->mode = outfolder_mode();
	if (str_ends(str_of(f->path), "/"))
		return err_sys(err, EISDIR, "write %s", f->path);
	if (hold_folder(f, err) < 0)
		return -1;
	return takes_files(&f->folder)
		       ? 0
		       : err_sys(err, errno, "write %s", f->path);
}

static int look_up(struct outfile *f, struct err *err)
{
	const bool is_new = f->how == OUTFILE_NEW;
	int number = descriptor_of(f->path);
	struct stat st;
	int r;

	if (number >= 0 && !is_new) {
		r = fcntl(number, F_GETFL);
		if (r >= 0 && (r & O_ACCMODE) == O_RDONLY)
			return err_sys(err, EBADF, "write %s", f->path);
		f->stream = fcntl(number, F_DUPFD_CLOEXEC, 3);
		return f->stream < 0 ? err_sys(err, errno, "write %s", f->path)
				     : 0;
	}
	r = is_new ? lstat(f->path, &st) : stat(f->path, &st);
	if (r < 0 && errno == ENOENT)
		return open_new(f, err);
	if (r < 0)
		return err_sys(err, errno, "write %s", f->path);
	if (is_new)
		return err_set(err, ERR_CONFIG,
			       "%s exists already and is left as it is",
			       f->path);
	if (S_ISDIR(st.st_mode))
		return err_sys(err, EISDIR, "write %s", f->path);
	f->is_there = S_ISREG(st.st_mode);
	/* without a folder of its own it is written as a stream */
	(void)!hold_folder(f, ERR_IGNORED);
	return S_ISREG(st.st_mode) ? open_old(f, &st, err)
				   : open_stream(f, st.st_mode, err);
}

int outfile_open(struct outfile *f, const char *path, enum outfile_how how,
		 struct err *err)
{
	*f = (struct outfile)OUTFILE_INIT;
	f->path = path;
	f->how = how;
	if (look_up(f, err) == 0 &&
	    (how == OUTFILE_OWN || !f->name ||
	     state_dir_check(path, f->folder.path, err) == 0)) {
		f->mode = how == OUTFILE_OWN ? 0600 : f->mode;
		return 0;
	}
	outfile_release(f);
	return -1;
}

/* ---- write ---- */

/* A reader may have come to the FIFO since the start. */
static int open_fifo(struct outfile *f, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fifo);
	f->stream = fd_open(path, O_WRONLY | O_NONBLOCK, 0);
	if (f->stream >= 0)
		return 0;
	if (errno == ENXIO)
		return err_set(err, ERR_OUTPUT,
			       "%s is a FIFO that no program reads; nothing "
			       "is written",
			       f->path);
	return err_sys(err, errno, "write %s", f->path);
}

/* Print; on a terminal nothing is obeyed: log_visible_json(). */
static int print_stream(int fd, const struct fd_text *text)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	if (!isatty(fd))
		return fd_print(fd, text);
	text->print(text->arg, &whole);
	log_visible_json(&shown, buf_str(&whole));
	return fd_write_all(fd, shown.p, shown.n);
}

int outfile_write_str(struct outfile *f, struct str content, struct err *err)
{
	const struct fd_text text = fd_text_of(&content);

	return outfile_write(f, &text, err);
}

int outfile_write(struct outfile *f, const struct fd_text *text,
		  struct err *err)
{
	if (f->fifo >= 0 && open_fifo(f, err) < 0)
		return -1;
	if (f->stream < 0)
		return outfolder_put(&f->folder,
				     &(struct outfolder_file){f->name, f->path,
							      f->mode, f->how},
				     text, err);
	if ((f->truncate && ftruncate(f->stream, 0) < 0) ||
	    print_stream(f->stream, text) < 0)
		return errno == ETIMEDOUT
			       ? err_set(err, ERR_OUTPUT,
					 "write %s: its reader takes nothing; "
					 "the rest is not written",
					 f->path)
			       : err_sys(err, errno, "write %s", f->path);
	return 0;
}
