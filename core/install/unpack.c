#include "core/install/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/dl.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/str.h"

#define FUNCTIONS(X)                       \
	X(archive_read_new)                \
	X(archive_read_free)               \
	X(archive_read_support_format_zip) \
	X(archive_read_open_fd)            \
	X(archive_read_next_header)        \
	X(archive_read_data)               \
	X(archive_error_string)            \
	X(archive_entry_pathname)          \
	X(archive_entry_pathname_utf8)     \
	X(archive_entry_filetype)          \
	X(archive_entry_perm)              \
	X(archive_entry_size)              \
	X(archive_entry_symlink)           \
	X(archive_entry_hardlink)

struct libarchive {
	FUNCTIONS(DL_MEMBER)
};

static const char *const names[] = {FUNCTIONS(DL_NAME)};
static struct libarchive lib;
static struct dl library = DL("libarchive.so.13", names, lib);

#define CHUNK_BYTES (64 * 1024)
/* Of a name, in sentences. */
#define SHOWN_BYTES 300

struct unpacking {
	const char *name; /* of the archive, for sentences */
	struct archive *archive;
	int root; /* the folder; owned */
	uint64_t max_bytes, bytes;
	size_t n;
	struct buf shown; /* name of the present entry, for sentences */
};

static int refuse(struct unpacking *u, enum err_kind kind, const char *why,
		  struct err *err)
{
	return err_set(err, kind, "%s: entry \"%s\" %s", u->name,
		       buf_cstr(&u->shown), why);
}

/* ---- names ---- */

/* Is a relative path without "..", "." or an empty part? A folder's name may
   end in a slash. */
static bool is_plain(struct str path)
{
	if (path.n && path.p[path.n - 1] == '/')
		path.n--;
	if (!path.n)
		return false;
	while (path.p) {
		struct str part = str_cut(&path, '/');

		if (!part.n || str_is(part, ".") || str_is(part, "..") ||
		    part.n > 255)
			return false;
	}
	return true;
}

/* Folders that can be summed and removed by their paths. */
static bool is_deep(const char *path)
{
	size_t depth = 0, n = strlen(path);

	for (size_t i = 0; i < n && n <= UNPACK_NAME_BYTES; i++)
		depth += path[i] == '/';
	return n > UNPACK_NAME_BYTES || depth > UNPACK_DEPTH_MAX;
}

/* Does a link stay within? Steps up come first, and are fewer than the folders
   above it: a step up behind a name could leave by another link. */
static bool stays_within(struct str path, struct str target)
{
	size_t depth = 0, ups = 0;
	bool is_down = false;

	for (size_t i = 0; i < path.n; i++)
		depth += path.p[i] == '/';
	if (!target.n || *target.p == '/')
		return false;
	while (target.p) {
		struct str part = str_cut(&target, '/');

		if (str_is(part, "..") && (is_down || ++ups > depth))
			return false;
		is_down |= !str_is(part, "..");
	}
	return true;
}

/* Open the folder that an entry lies in, made where it is missing; no link is
   followed. *ret_last: its own name. Returns -1 with errno. */
static int open_parent(const struct unpacking *u, struct str path,
		       struct arena *arena, const char **ret_last)
{
	int at = fcntl(u->root, F_DUPFD_CLOEXEC, 3);

	for (;;) {
		struct str part = str_cut(&path, '/');
		const char *name = arena_strndup(arena, part.p, part.n);
		int next;

		*ret_last = name;
		if (at < 0 || !path.p || !path.n)
			return at;
		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST) {
			fd_closep(&at);
			return -1;
		}
		next = openat(at, name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_closep(&at);
		at = next;
	}
}

/* ---- entries ---- */

static int write_file(struct unpacking *u, int fd, struct err *err)
{
	char chunk[CHUNK_BYTES];
	la_ssize_t n;

	while ((n = lib.archive_read_data(u->archive, chunk, sizeof(chunk))) >
	       0) {
		u->bytes += (uint64_t)n;
		if (u->bytes > u->max_bytes)
			return refuse(u, ERR_LIMIT,
				      "makes it too large when unpacked", err);
		if (fd_write_all(fd, chunk, (size_t)n) < 0)
			return err_sys(err, errno, "%s: entry \"%s\"", u->name,
				       buf_cstr(&u->shown));
	}
	return n == 0 ? 0 : refuse(u, ERR_SYNTAX, "is damaged", err);
}

static int add_file(struct unpacking *u, struct archive_entry *e, int at,
		    const char *name, struct err *err)
{
	const mode_t mode = lib.archive_entry_perm(e) & 0111 ? 0755 : 0644;
	AUTO(fd_closep)
	int fd = openat(at, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			mode);
	const int64_t size = lib.archive_entry_size(e);

	if (fd < 0)
		return errno == EEXIST
			       ? refuse(u, ERR_POLICY, "is there twice", err)
			       : err_sys(err, errno, "%s: entry \"%s\"",
					 u->name, buf_cstr(&u->shown));
	/* a bomb is known by what it says, before a byte is written */
	if (size > 0 && (uint64_t)size > u->max_bytes - u->bytes)
		return refuse(u, ERR_LIMIT, "makes it too large when unpacked",
			      err);
	if (write_file(u, fd, err) < 0)
		return -1;
	return fchmod(fd, mode) < 0 ? err_sys(err, errno, "chmod") : 0;
}

static int add_entry(struct unpacking *u, struct archive_entry *e,
		     struct str path, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *target = lib.archive_entry_symlink(e), *name;
	AUTO(fd_closep) int at = open_parent(u, path, &arena, &name);
	int r = 0;

	if (at < 0)
		return refuse(u, ERR_POLICY,
			      "lies below a link or a file, or cannot be made",
			      err);
	switch (lib.archive_entry_filetype(e)) {
	case AE_IFREG:
		return add_file(u, e, at, name, err);
	case AE_IFDIR:
		r = mkdirat(at, name, 0755);
		break;
	case AE_IFLNK:
		if (!target || !stays_within(path, str_of(target)))
			return refuse(u, ERR_POLICY,
				      "is a link that leads out of the folder",
				      err);
		r = symlinkat(target, at, name);
		break;
	default:
		return refuse(u, ERR_POLICY, "is no file, folder or link", err);
	}
	if (r == 0 ||
	    (errno == EEXIST && lib.archive_entry_filetype(e) == AE_IFDIR))
		return 0;
	return errno == EEXIST ? refuse(u, ERR_POLICY, "is there twice", err)
			       : err_sys(err, errno, "%s: entry \"%s\"",
					 u->name, buf_cstr(&u->shown));
}

static int take_entry(struct unpacking *u, struct archive_entry *e,
		      struct err *err)
{
	const char *path = lib.archive_entry_pathname_utf8(e);

	if (!path)
		path = lib.archive_entry_pathname(e);
	buf_clear(&u->shown);
	log_visible(&u->shown, str_first(str_of(path ? path : ""), SHOWN_BYTES),
		    false);
	if (++u->n > UNPACK_ENTRIES_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d entries",
			       u->name, UNPACK_ENTRIES_MAX);
	if (path && is_deep(path))
		return refuse(u, ERR_LIMIT,
			      "has too long a name, or too many "
			      "folders",
			      err);
	if (!path || !is_plain(str_of(path)))
		return refuse(u, ERR_POLICY, "leads out of the folder", err);
	if (lib.archive_entry_hardlink(e))
		return refuse(u, ERR_POLICY, "is no file, folder or link", err);
	return add_entry(u, e, str_of(path), err);
}

static int read_entries(struct unpacking *u, int fd, struct err *err)
{
	struct archive_entry *e;
	int r;

	if (lib.archive_read_support_format_zip(u->archive) < ARCHIVE_WARN ||
	    lib.archive_read_open_fd(u->archive, fd, CHUNK_BYTES) < ARCHIVE_OK)
		return err_set(err, ERR_SYNTAX, "%s: not a ZIP archive",
			       u->name);
	while ((r = lib.archive_read_next_header(u->archive, &e)) == ARCHIVE_OK)
		if (take_entry(u, e, err) < 0)
			return -1;
	if (r == ARCHIVE_EOF)
		return u->n ? 0
			    : err_set(err, ERR_SYNTAX, "%s: an empty archive",
				      u->name);
	return err_set(err, ERR_SYNTAX, "%s: not a ZIP archive, or damaged",
		       u->name);
}

int unpack(const char *archive, const char *to, struct err *err)
{
	AUTO(fd_closep) int fd = fd_open(archive, O_RDONLY, 0);
	const char *slash = strrchr(archive, '/');
	struct unpacking u = {
		.name = slash ? slash + 1 : archive,
		/* in a sandbox it may be a link, as the way to HOME has one */
		.root = fd_open(to, O_RDONLY | O_DIRECTORY, 0),
		.shown = BUF_INIT(BUF_UNBOUNDED),
	};
	struct stat st;
	int r;

	if (!dl_load(&library)) {
		fd_closep(&u.root);
		return err_set(err, ERR_UNKNOWN,
			       "a bundle is unpacked by libarchive, which is "
			       "not installed: apt-get install libarchive13");
	}
	if (fd < 0 || u.root < 0 || fstat(fd, &st) < 0) {
		r = err_sys(err, errno, "%s", fd < 0 ? archive : to);
	} else {
		u.max_bytes = UNPACK_FREE_BYTES +
			      (uint64_t)st.st_size * UNPACK_RATIO_MAX;
		if (u.max_bytes > UNPACK_BYTES_MAX)
			u.max_bytes = UNPACK_BYTES_MAX;
		u.archive = lib.archive_read_new();
		r = read_entries(&u, fd, err);
		lib.archive_read_free(u.archive);
	}
	buf_release(&u.shown);
	fd_closep(&u.root);
	return r;
}
