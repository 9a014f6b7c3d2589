#include "gate/path/resolve.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/user.h"

/* Bytes of a file that are looked at: shebang, ELF and program headers. */
#define HEAD_BYTES 4096

const char *resolve_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *resolve_dirname(const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return "/";
	return arena_strndup(arena, path, (size_t)(slash - path));
}

const char *resolve_links(const char *path, struct arena *arena)
{
	char real[PATH_MAX];

	return realpath(path, real) ? arena_strdup(arena, real) : NULL;
}

/* The path that an open descriptor has; NULL when it has none (deleted, a
   pipe). In the arena. */
static const char *fd_path(int fd, struct arena *arena)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	if (n <= 0 || (size_t)n == sizeof(path) || path[0] != '/')
		return NULL;
	return arena_strndup(arena, path, (size_t)n);
}

/*
 * In a container without full id maps the host's root is the overflow uid,
 * and no process in there can become it.
 */
static bool is_unmapped_root(uid_t uid)
{
	static int partial_map = -1;

	if (uid != 65534)
		return false;
	if (partial_map < 0) {
		AUTO(fd_closep)
		int fd = fd_open("/proc/self/uid_map", O_RDONLY, 0);
		char text[64] = "";
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		partial_map = n > 0 && !strstr(text, "4294967295");
	}
	return partial_map;
}

bool resolve_is_trusted(uid_t uid)
{
	return uid == 0 || uid == user_self() || is_unmapped_root(uid);
}

const char *resolve_judge(const struct stat *st, uid_t uid, gid_t gid)
{
	if (!S_ISREG(st->st_mode))
		return "is not a regular file";
	if (!(st->st_mode & 0111))
		return "is not executable; chmod +x would make it so";
	if (st->st_uid != 0 && st->st_uid != uid &&
	    !is_unmapped_root(st->st_uid))
		return "belongs to another user, who could change it";
	if (st->st_mode & 0002)
		return "can be changed by everybody; chmod o-w it";
	if (st->st_mode & 0020 && st->st_gid != 0 && st->st_gid != gid)
		return "can be changed by its group; chmod g-w it";
	return NULL;
}

bool resolve_shebang(struct str text, struct str *ret_interpreter,
		     struct str *ret_argument)
{
	struct str line;
	size_t n = 0;

	if (!str_starts(text, "#!"))
		return false;
	if (text.n > LIMIT_SHEBANG)
		text.n = LIMIT_SHEBANG;
	line = (struct str){text.p + 2, str_find(text, '\n')};
	line.n = line.n < 2 ? 0 : line.n - 2;
	line = str_trim(line);
	while (n < line.n && line.p[n] != ' ' && line.p[n] != '\t')
		n++;
	if (!n)
		return false;
	*ret_interpreter = (struct str){line.p, n};
	line = str_trim(str_skip(line, n));
	*ret_argument = line.n ? line : (struct str){NULL, 0};
	return true;
}

struct str resolve_env_target(struct str argument)
{
	while (argument.n) {
		struct str word;

		argument = str_trim(argument);
		word = str_cut(&argument, ' ');
		if (str_starts(word, "-S") && word.n > 2)
			word = str_skip(word, 2);
		if (!word.n || word.p[0] == '-' || str_find(word, '=') < word.n)
			continue;
		return word;
	}
	return (struct str){NULL, 0};
}

/* ---- following a path ---- */

static int open_part(int at, const char *part, int flags)
{
	return openat(at, part, O_PATH | O_CLOEXEC | flags);
}

struct way {
	struct arena *arena;
	struct walk_link *link;
	size_t n_links;
	const char *rest;
	int at; /* descriptor of the last part; owned */
};

/* The link's text stands before what is left of the path. */
static int follow(struct way *w, const char *part, int fd,
		  const struct stat *st)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(fd, "", text, sizeof(text));
	const char *folder = fd_path(w->at, w->arena);

	if (n < 0)
		return -1;
	if (w->n_links == WALK_LINKS || n == 0 || (size_t)n == sizeof(text)) {
		errno = ELOOP;
		return -1;
	}
	if (!folder) {
		errno = ENOENT;
		return -1;
	}
	w->link[w->n_links++] = (struct walk_link){
		.folder = folder,
		.at = arena_printf(w->arena, "%s/%s",
				   strcmp(folder, "/") ? folder : "", part),
		.st = *st,
	};
	w->rest = arena_printf(w->arena, "%.*s/%s", (int)n, text, w->rest);
	if (text[0] != '/')
		return 0;
	close(w->at);
	w->at = open_part(AT_FDCWD, "/", 0);
	return w->at < 0 ? -1 : 0;
}

static int step(struct way *w, const char *part)
{
	AUTO(fd_closep) int fd = open_part(w->at, part, O_NOFOLLOW);
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (S_ISLNK(st.st_mode)) {
		/* links of /proc lead to what a process has open, no path */
		if (fstatfs(fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
			return follow(w, part, fd, &st);
		close(fd);
		fd = open_part(w->at, part, 0);
		if (fd < 0)
			return -1;
	}
	close(w->at);
	w->at = fd_steal(&fd);
	return 0;
}

static int walk(struct way *w)
{
	w->at = open_part(AT_FDCWD, "/", 0);
	while (w->at >= 0) {
		size_t n;

		w->rest += strspn(w->rest, "/");
		n = strcspn(w->rest, "/");
		if (!n)
			return 0;
		w->rest += n;
		if (step(w, arena_strndup(w->arena, w->rest - n, n)) < 0)
			return -1;
	}
	return -1;
}

static int follow_all(const char *path, struct arena *arena, struct walk *ret)
{
	struct way w = {.arena = arena, .rest = path, .at = -1};
	struct walk found = WALK_INIT;
	int r;

	w.link = ARENA_ARRAY(arena, struct walk_link, WALK_LINKS);
	r = walk(&w);
	found.fd = w.at;
	found.link = w.link;
	found.n_links = w.n_links;
	if (r == 0 && fstat(found.fd, &found.st) == 0) {
		found.path = fd_path(found.fd, arena);
		*ret = found;
		return 0;
	}
	r = errno;
	walk_release(&found);
	errno = r;
	return -1;
}

static int open_fast(const char *path, struct arena *arena, struct walk *ret)
{
	AUTO(fd_closep) int fd = fd_open_plain(path, 0);
	struct walk found = WALK_INIT;

	if (fd < 0 || fstat(fd, &found.st) < 0)
		return -1;
	found.path = arena_strdup(arena, path);
	found.fd = fd_steal(&fd);
	*ret = found;
	return 0;
}

int walk_open(const char *path, struct arena *arena, struct walk *ret)
{
	if (open_fast(path, arena, ret) == 0)
		return 0;
	if (errno == ENOENT || errno == ENOTDIR)
		return -1;
	return follow_all(path, arena, ret);
}

int walk_open_plain(const char *path, struct arena *arena, struct walk *ret)
{
	if (open_fast(path, arena, ret) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -1;
	if (follow_all(path, arena, ret) < 0)
		return -1;
	if (!ret->n_links)
		return 0;
	walk_release(ret);
	errno = ELOOP;
	return -1;
}

int walk_open_root(const char *path, bool is_dir, struct arena *arena,
		   const char **ret)
{
	const int flags = is_dir ? O_DIRECTORY : 0;
	int fd = fd_open_plain(path, flags);

	*ret = path;
	if (fd >= 0 || errno == ENOENT || errno == ENOTDIR)
		return fd;
	fd = open_part(AT_FDCWD, path, flags);
	*ret = fd < 0 ? NULL : fd_path(fd, arena);
	return fd;
}

void walk_release(struct walk *w)
{
	fd_closep(&w->fd);
}

/* ---- looking a bare name up ---- */

static bool is_candidate(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0111);
}

/*
 * pyenv, rbenv and nodenv put a script of the same name for every program of
 * every version into ROOT/shims, which starts a dozen others to find
 * ROOT/versions/V/bin/NAME. That program is taken at once; where the chosen
 * version is the system's, the search goes on: NULL.
 */
static const char *behind_shim(const char *root, const char *name,
			       struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(256);
	const char *found = NULL;
	struct err ignored;

	if (fd_read_regular(arena_printf(arena, "%s/version", root), &text,
			    &ignored) == 0) {
		struct str rest = buf_str(&text);
		struct str version = str_trim(str_cut(&rest, '\n'));

		found = arena_printf(arena, "%s/versions/%.*s/bin/%s", root,
				     STR_ARG(version), name);
		if (!version.n || !is_candidate(found))
			found = NULL;
	}
	return found;
}

static const char *look_in(struct str dir, const char *name,
			   struct arena *arena)
{
	const char *folder, *path, *root;

	while (dir.n > 1 && dir.p[dir.n - 1] == '/')
		dir.n--;
	folder = arena_strndup(arena, dir.p, dir.n);
	path = arena_printf(arena, "%s/%s", folder, name);
	root = resolve_dirname(folder, arena);
	if (!is_candidate(path))
		return NULL;
	if (strcmp(resolve_basename(folder), "shims") == 0 &&
	    access(arena_printf(arena, "%s/versions", root), X_OK) == 0)
		return behind_shim(root, name, arena);
	return path;
}

static const char *search_path(const char *name, const char *path,
			       struct arena *arena)
{
	struct str rest = str_of(path);
	const char *found = NULL;

	while (rest.n && !found) {
		struct str dir = str_cut(&rest, ':');

		if (dir.n && dir.p[0] == '/')
			found = look_in(dir, name, arena);
	}
	return found;
}

/*
 * Refuse "ls -la": its first word is a program, and all of it names no file.
 * Callers may have put their folder before a line with a slash.
 */
static int refuse_line(const char *name, const char *path, struct arena *arena,
		       struct err *err)
{
	struct str rest = str_of(name), word = str_cut(&rest, ' ');
	const char *first = arena_strndup(arena, word.p, word.n);
	const char *base = resolve_basename(first);

	if (!rest.n || access(name, F_OK) == 0 ||
	    ((base == first || access(first, X_OK) != 0) &&
	     !search_path(base, path, arena)))
		return 0;
	return err_set(err, ERR_NOT_FOUND,
		       "\"%s\" is a line of words, not a program; leave out "
		       "its quotes",
		       name + (base - first));
}

static int find_file(const char *name, const char *path, struct arena *arena,
		     const char **ret, struct err *err)
{
	char cwd[PATH_MAX];
	bool is_here;

	if (!path)
		path = getenv("PATH");
	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	if (!*name)
		return err_set(err, ERR_NOT_FOUND, "the program has no name");
	if (refuse_line(name, path, arena, err) < 0)
		return -1;
	if (name[0] == '/') {
		*ret = arena_strdup(arena, name);
		return 0;
	}
	if (strchr(name, '/')) {
		if (!getcwd(cwd, sizeof(cwd)))
			return err_sys(err, errno, "working directory");
		*ret = arena_printf(arena, "%s/%s", cwd, name);
		return 0;
	}
	*ret = search_path(name, path, arena);
	is_here = access(name, F_OK) == 0;
	if (!*ret)
		return err_set(err, ERR_NOT_FOUND,
			       "%s is not installed: not in PATH (%s)%s%s%s",
			       name, path,
			       is_here ? "; in this folder lies \"./" : "",
			       is_here ? name : "", is_here ? "\"" : "");
	return 0;
}

/* ---- opening and judging one file ---- */

/* One resolve_program(). */
struct taking {
	struct resolved *r;
	struct arena *arena;
	struct err *err;
};

/* flags  O_PATH for one that is not read */
static int open_judged(struct taking *t, const char *asked, bool is_self,
		       int flags, struct resolved_file *f)
{
	struct err *err = t->err;
	const char *why;

	*f = (struct resolved_file){.asked = asked, .fd = -1};
	/* neither the other end of a FIFO nor a lease is waited for */
	f->fd = fd_open(is_self ? "/proc/self/exe" : asked,
			flags | O_NOCTTY | O_NONBLOCK, 0);
	if (f->fd < 0 && errno == EWOULDBLOCK)
		return err_set(err, ERR_DEADLINE,
			       "open %s: another program holds it by a lease, "
			       "and does not give it back",
			       asked);
	if (f->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return err_set(err, ERR_NOT_FOUND, "%s: no such file", asked);
	if (f->fd < 0) {
		int sys = errno;

		err_sys(err, sys, "open %s", asked);
		err->kind = sys == EACCES ? ERR_POLICY : ERR_SYS;
		return -1;
	}
	if (fstat(f->fd, &f->st) < 0)
		return err_sys(err, errno, "%s", asked);
	f->path = fd_path(f->fd, t->arena);
	if (!f->path)
		return err_set(err, ERR_POLICY,
			       "%s: the path is unknown; is /proc mounted?",
			       asked);
	why = is_self && S_ISREG(f->st.st_mode)
		      ? NULL
		      : resolve_judge(&f->st, user_self(), user_self_group());
	if (why)
		return err_set(err, ERR_POLICY, "%s %s", f->path, why);
	return 0;
}

static int too_deep(struct taking *t, const char *path)
{
	return err_set(t->err, ERR_LIMIT,
		       "%s: scripts interpreted by scripts, more than %d deep",
		       path, LIMIT_SHEBANG_DEPTH);
}

/* Open and judge the next file; NULL and t->err. */
static struct resolved_file *add_file(struct taking *t, const char *asked,
				      bool is_self, int flags)
{
	struct resolved_file *f = &t->r->file[t->r->n];

	if (t->r->n == RESOLVE_FILES) {
		(void)too_deep(t, asked);
		return NULL;
	}
	if (open_judged(t, asked, is_self, flags, f) < 0) {
		fd_closep(&f->fd);
		return NULL;
	}
	t->r->n++;
	return f;
}

/*
 * From here on it is named, not open: closing that cannot wait for a file
 * system, and neither can the end of a process that has it.
 */
static int keep_name(struct resolved_file *f, struct err *err)
{
	AUTO(fd_closep) int fd = f->fd;
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	f->fd = fd_open(link, O_PATH, 0);
	return f->fd < 0 ? err_sys(err, errno, "open %s", f->path) : 0;
}

/* ---- what kind of file it is ---- */

#if defined(__x86_64__)
#define ELF_MACHINE EM_X86_64
#else
#define ELF_MACHINE EM_AARCH64
#endif

/* From the start of the file that is there, or from the file. */
static bool read_part(const struct resolved_file *f, struct str head,
		      uint64_t at, void *to, size_t bytes)
{
	if (at <= head.n && bytes <= head.n - at) {
		memcpy(to, head.p + at, bytes);
		return true;
	}
	return at <= INT64_MAX &&
	       pread(f->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static int elf_loader(struct taking *t, const struct resolved_file *f,
		      struct str head, const char **ret)
{
	Elf64_Ehdr eh;
	char path[PATH_MAX];

	*ret = NULL;
	if (head.n < sizeof(eh))
		return err_set(t->err, ERR_POLICY,
			       "%s: the ELF header is cut short", f->path);
	memcpy(&eh, head.p, sizeof(eh));
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != ELF_MACHINE)
		return err_set(t->err, ERR_POLICY,
			       "%s is a program for another processor",
			       f->path);
	for (unsigned i = 0; i < eh.e_phnum && i < 128; i++) {
		Elf64_Phdr ph;

		if (!read_part(f, head, eh.e_phoff + i * sizeof(ph), &ph,
			       sizeof(ph)))
			break;
		if (ph.p_type != PT_INTERP)
			continue;
		if (ph.p_filesz < 2 || ph.p_filesz > sizeof(path) ||
		    !read_part(f, head, ph.p_offset, path, ph.p_filesz) ||
		    path[ph.p_filesz - 1] || path[0] != '/')
			return err_set(t->err, ERR_POLICY,
				       "%s: the loader that it names cannot be "
				       "read",
				       f->path);
		*ret = arena_strdup(t->arena, path);
	}
	return 0;
}

static int take_file(struct taking *t, const char *asked, bool is_self,
		     unsigned depth);

static int take_env_target(struct taking *t, struct str argument,
			   unsigned depth)
{
	struct str word = resolve_env_target(argument);
	struct resolved *r = t->r;
	struct strlist prefix = r->prefix;
	size_t exec = r->exec, at = r->n;
	const char *asked;

	if (!word.n)
		return 0;
	if (find_file(arena_strndup(t->arena, word.p, word.n), NULL, t->arena,
		      &asked, t->err) < 0)
		return err_wrap(t->err, "what env starts");
	if (take_file(t, asked, false, depth) < 0)
		return -1;
	r->file[at].is_bare = true;
	/* env finds it by itself; here it was only opened and judged */
	r->prefix = prefix;
	r->exec = exec;
	return 0;
}

static int take_script(struct taking *t, const struct resolved_file *f,
		       struct str interpreter, struct str argument,
		       unsigned depth)
{
	struct strlist prefix = {NULL, 0}, *old = &t->r->prefix;
	const char *script = f->asked;
	const char *name =
		arena_strndup(t->arena, interpreter.p, interpreter.n);
	size_t at = t->r->n;

	if (name[0] != '/')
		return err_set(
			t->err, ERR_POLICY,
			"%s: the interpreter \"%s\" is not an absolute path",
			f->path, name);
	if (depth == LIMIT_SHEBANG_DEPTH)
		return too_deep(t, f->path);
	list_add(&prefix, t->arena, name);
	if (argument.n)
		list_add(&prefix, t->arena,
			 arena_strndup(t->arena, argument.p, argument.n));
	list_add(&prefix, t->arena, script);
	/* the name of the script that was interpreted so far comes again */
	for (size_t i = 1; i < old->n; i++)
		list_add(&prefix, t->arena, old->item[i]);
	*old = prefix;
	if (take_file(t, name, false, depth + 1) < 0)
		return err_wrap(t->err, "interpreter of %s", script);
	if (strcmp(resolve_basename(t->r->file[at].path), "env") == 0)
		return take_env_target(t, argument, depth + 1);
	return 0;
}

static int take_loader(struct taking *t, const char *path)
{
	struct resolved_file *f;

	for (size_t i = 0; i < t->r->n; i++)
		if (t->r->file[i].is_loader &&
		    strcmp(t->r->file[i].asked, path) == 0)
			return 0;
	f = add_file(t, path, false, O_PATH);
	if (!f)
		return err_wrap(t->err, "loader");
	f->is_loader = true;
	return 0;
}

/* Open and judge a file, and the files that it needs to be executed. */
static int take_file(struct taking *t, const char *asked, bool is_self,
		     unsigned depth)
{
	struct resolved_file *f = add_file(t, asked, is_self, O_RDONLY);
	char bytes[HEAD_BYTES];
	struct str head = {bytes, 0}, interpreter, argument;
	const char *loader;
	ssize_t n;

	if (!f)
		return -1;
	t->r->exec = t->r->n - 1;
	n = pread(f->fd, bytes, sizeof(bytes), 0);
	if (n < 0)
		return err_sys(t->err, errno, "read %s", f->path);
	head.n = (size_t)n;
	if (n >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
		if (elf_loader(t, f, head, &loader) < 0 ||
		    keep_name(f, t->err) < 0)
			return -1;
		return loader ? take_loader(t, loader) : 0;
	}
	if (!resolve_shebang(head, &interpreter, &argument))
		return err_set(t->err, ERR_POLICY,
			       "%s is neither a program nor a script that "
			       "begins with #!",
			       f->path);
	f->is_script = true;
	if (keep_name(f, t->err) < 0)
		return -1;
	return take_script(t, f, interpreter, argument, depth);
}

int resolve_program(const char *name, const char *path, struct arena *arena,
		    struct resolved *ret, struct err *err)
{
	struct taking t = {ret, arena, err};
	bool is_self = strcmp(name, "matins") == 0;
	const char *asked = NULL;
	char self[PATH_MAX];
	ssize_t n;

	*ret = (struct resolved)RESOLVED_INIT;
	if (is_self) {
		n = readlink("/proc/self/exe", self, sizeof(self));
		if (n <= 0 || (size_t)n == sizeof(self))
			return err_sys(err, errno, "/proc/self/exe");
		asked = arena_strndup(arena, self, (size_t)n);
	} else if (find_file(name, path, arena, &asked, err) < 0) {
		return -1;
	}
	if (take_file(&t, asked, is_self, 0) < 0) {
		resolved_release(ret);
		return -1;
	}
	ret->file[0].is_bare = !is_self && !strchr(name, '/');
	return 0;
}

const char *resolve_in_own_path(const char *name, struct arena *arena)
{
	struct resolved r = RESOLVED_INIT;
	const char *path = NULL;

	if (resolve_program(name, NULL, arena, &r, ERR_IGNORED) == 0)
		path = r.file[0].path;
	resolved_release(&r);
	return path;
}

bool resolve_in_path(const char *path, const char *real, struct arena *arena)
{
	const char *file = resolve_in_own_path(resolve_basename(path), arena);

	return file && strcmp(file, real) == 0;
}

bool resolved_holds(const struct resolved *r, const char *name)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < r->n; i++) {
		const struct resolved_file *f = &r->file[i];
		const char *found = f->asked;
		struct stat st;

		if (f->is_bare &&
		    find_file(i ? resolve_basename(f->asked) : name, NULL,
			      &arena, &found, ERR_IGNORED) < 0)
			return false;
		if (strcmp(found, f->asked) != 0 || stat(found, &st) < 0 ||
		    !stat_is_unchanged(&st, &f->st))
			return false;
	}
	return true;
}

void resolved_release(struct resolved *r)
{
	for (size_t i = 0; !r->is_borrowed && i < r->n; i++)
		fd_closep(&r->file[i].fd);
	r->n = 0;
}
