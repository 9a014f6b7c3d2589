#include "gate/path/resolve.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"

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

const char *resolve_fd_path(int fd, struct arena *arena)
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
	return uid == 0 || uid == geteuid() || is_unmapped_root(uid);
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
	line = str_trim((struct str){line.p + n, line.n - n});
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
			word = (struct str){word.p + 2, word.n - 2};
		if (!word.n || word.p[0] == '-' || str_find(word, '=') < word.n)
			continue;
		return word;
	}
	return (struct str){NULL, 0};
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
 * version is the system's, the search goes on. NULL: not a shim.
 */
static const char *behind_shim(const char *dir, const char *name,
			       struct arena *arena, bool *ret_is_shim)
{
	const char *root = resolve_dirname(dir, arena);
	struct buf text = BUF_INIT(256);
	struct err ignored;
	struct str version;
	const char *found = NULL;

	*ret_is_shim = false;
	if (strcmp(resolve_basename(dir), "shims") != 0 ||
	    access(arena_printf(arena, "%s/versions", root), X_OK) < 0)
		return NULL;
	*ret_is_shim = true;
	if (fd_read_regular(arena_printf(arena, "%s/version", root), &text,
			    &ignored) == 0) {
		struct str rest = buf_str(&text);

		version = str_trim(str_cut(&rest, '\n'));
		found = arena_printf(arena, "%s/versions/%.*s/bin/%s", root,
				     STR_ARG(version), name);
		if (!version.n || !is_candidate(found))
			found = NULL;
	}
	buf_release(&text);
	return found;
}

static const char *look_in(struct str dir, const char *name,
			   struct arena *arena)
{
	const char *folder, *path;
	bool is_shim;

	while (dir.n > 1 && dir.p[dir.n - 1] == '/')
		dir.n--;
	folder = arena_strndup(arena, dir.p, dir.n);
	path = arena_printf(arena, "%s/%s", folder, name);
	if (!is_candidate(path))
		return NULL;
	folder = behind_shim(folder, name, arena, &is_shim);
	return is_shim ? folder : path;
}

static const char *search_path(const char *name, const char *path,
			       struct arena *arena)
{
	struct str rest = str_of(path);

	while (rest.n) {
		struct str dir = str_cut(&rest, ':');
		const char *found;

		if (!dir.n || dir.p[0] != '/')
			continue;
		found = look_in(dir, name, arena);
		if (found)
			return found;
	}
	return NULL;
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

static int open_judged(const char *asked, bool is_self, struct arena *arena,
		       struct resolved_file *f, struct err *err)
{
	const char *why;

	*f = (struct resolved_file){.asked = asked, .fd = -1};
	/* neither the other end of a FIFO nor a lease is waited for */
	f->fd = fd_open(is_self ? "/proc/self/exe" : asked,
			O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
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
	f->path = resolve_fd_path(f->fd, arena);
	if (!f->path)
		return err_set(err, ERR_POLICY,
			       "%s: the path is unknown; is /proc mounted?",
			       asked);
	why = is_self && S_ISREG(f->st.st_mode)
		      ? NULL
		      : resolve_judge(&f->st, geteuid(), getegid());
	if (why)
		return err_set(err, ERR_POLICY, "%s %s", f->path, why);
	return 0;
}

static int add_file(struct resolved *r, const char *asked, bool is_self,
		    struct arena *arena, struct resolved_file **ret,
		    struct err *err)
{
	if (r->n == RESOLVE_FILES)
		return err_set(err, ERR_LIMIT,
			       "%s: scripts interpreted by scripts, more than "
			       "%d deep",
			       asked, LIMIT_SHEBANG_DEPTH);
	*ret = &r->file[r->n];
	if (open_judged(asked, is_self, arena, *ret, err) < 0) {
		fd_closep(&(*ret)->fd);
		return -1;
	}
	r->n++;
	return 0;
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
static bool read_part(const struct resolved_file *f, const char *head, size_t n,
		      uint64_t at, void *to, size_t bytes)
{
	if (at <= n && bytes <= n - at) {
		memcpy(to, head + at, bytes);
		return true;
	}
	return at <= INT64_MAX &&
	       pread(f->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static int elf_loader(const struct resolved_file *f, const char *head, size_t n,
		      struct arena *arena, const char **ret, struct err *err)
{
	Elf64_Ehdr eh;
	char path[PATH_MAX];

	*ret = NULL;
	if (n < sizeof(eh))
		return err_set(err, ERR_POLICY,
			       "%s: the ELF header is cut short", f->path);
	memcpy(&eh, head, sizeof(eh));
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != ELF_MACHINE)
		return err_set(err, ERR_POLICY,
			       "%s is a program for another processor",
			       f->path);
	for (unsigned i = 0; i < eh.e_phnum && i < 128; i++) {
		Elf64_Phdr ph;
		uint64_t at = eh.e_phoff + i * sizeof(ph);

		if (!read_part(f, head, n, at, &ph, sizeof(ph)))
			break;
		if (ph.p_type != PT_INTERP)
			continue;
		if (ph.p_filesz < 2 || ph.p_filesz > sizeof(path) ||
		    !read_part(f, head, n, ph.p_offset, path, ph.p_filesz) ||
		    path[ph.p_filesz - 1] || path[0] != '/')
			return err_set(
				err, ERR_POLICY,
				"%s: the loader that it names cannot be read",
				f->path);
		*ret = arena_strdup(arena, path);
	}
	return 0;
}

static void prefix_put(struct strlist *prefix, struct arena *arena,
		       const char *a, const char *b, const char *c)
{
	const char *more[] = {a, b, c};
	const char **item = ARENA_ARRAY(arena, const char *, prefix->n + 3);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		if (more[i])
			item[n++] = more[i];
	/* the name of the script that was interpreted so far comes again */
	for (size_t i = prefix->n ? 1 : 0; i < prefix->n; i++)
		item[n++] = prefix->item[i];
	*prefix = (struct strlist){item, n};
}

static int take_file(struct resolved *r, const char *asked, bool is_self,
		     unsigned depth, struct arena *arena, struct err *err);

static int take_env_target(struct resolved *r, struct str argument,
			   unsigned depth, struct arena *arena, struct err *err)
{
	struct str word = resolve_env_target(argument);
	struct strlist prefix = r->prefix;
	size_t exec = r->exec, at;
	const char *asked;

	if (!word.n)
		return 0;
	if (find_file(arena_strndup(arena, word.p, word.n), NULL, arena, &asked,
		      err) < 0)
		return err_wrap(err, "what env starts");
	at = r->n;
	if (take_file(r, asked, false, depth, arena, err) < 0)
		return -1;
	r->file[at].is_bare = true;
	/* env finds it by itself; here it was only opened and judged */
	r->prefix = prefix;
	r->exec = exec;
	return 0;
}

static int take_script(struct resolved *r, const struct resolved_file *f,
		       struct str interpreter, struct str argument,
		       unsigned depth, struct arena *arena, struct err *err)
{
	const char *script = f->asked;
	const char *name = arena_strndup(arena, interpreter.p, interpreter.n);
	const char *arg = argument.n
				  ? arena_strndup(arena, argument.p, argument.n)
				  : NULL;
	size_t at;

	if (name[0] != '/')
		return err_set(
			err, ERR_POLICY,
			"%s: the interpreter \"%s\" is not an absolute path",
			f->path, name);
	if (depth == LIMIT_SHEBANG_DEPTH)
		return err_set(err, ERR_LIMIT,
			       "%s: scripts interpreted by scripts, more than "
			       "%d deep",
			       f->path, LIMIT_SHEBANG_DEPTH);
	prefix_put(&r->prefix, arena, name, arg, script);
	at = r->n;
	if (take_file(r, name, false, depth + 1, arena, err) < 0)
		return err_wrap(err, "interpreter of %s", script);
	if (strcmp(resolve_basename(r->file[at].path), "env") == 0)
		return take_env_target(r, argument, depth + 1, arena, err);
	return 0;
}

static int take_loader(struct resolved *r, const char *path,
		       struct arena *arena, struct err *err)
{
	struct resolved_file *f;

	for (size_t i = 0; i < r->n; i++)
		if (r->file[i].is_loader && strcmp(r->file[i].asked, path) == 0)
			return 0;
	if (add_file(r, path, false, arena, &f, err) < 0)
		return err_wrap(err, "loader");
	f->is_loader = true;
	return keep_name(f, err);
}

/* Open and judge a file, and the files that it needs to be executed. */
static int take_file(struct resolved *r, const char *asked, bool is_self,
		     unsigned depth, struct arena *arena, struct err *err)
{
	char head[HEAD_BYTES];
	struct resolved_file *f;
	struct str interpreter, argument;
	const char *loader;
	ssize_t n;

	if (add_file(r, asked, is_self, arena, &f, err) < 0)
		return -1;
	r->exec = r->n - 1;
	n = pread(f->fd, head, sizeof(head), 0);
	if (n < 0)
		return err_sys(err, errno, "read %s", f->path);
	if (n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
		if (elf_loader(f, head, (size_t)n, arena, &loader, err) < 0 ||
		    keep_name(f, err) < 0)
			return -1;
		return loader ? take_loader(r, loader, arena, err) : 0;
	}
	if (!resolve_shebang((struct str){head, (size_t)n}, &interpreter,
			     &argument))
		return err_set(err, ERR_POLICY,
			       "%s is neither a program nor a script that "
			       "begins with #!",
			       f->path);
	f->is_script = true;
	if (keep_name(f, err) < 0)
		return -1;
	return take_script(r, f, interpreter, argument, depth, arena, err);
}

int resolve_program(const char *name, const char *path, struct arena *arena,
		    struct resolved *ret, struct err *err)
{
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
	if (take_file(ret, asked, is_self, 0, arena, err) < 0) {
		resolved_release(ret);
		return -1;
	}
	ret->file[0].is_bare = !is_self && !strchr(name, '/');
	return 0;
}

bool resolve_in_path(const char *path, const char *real, struct arena *arena)
{
	struct resolved r = RESOLVED_INIT;
	struct err ignored = ERR_INIT;
	bool is_found = resolve_program(resolve_basename(path), NULL, arena, &r,
					&ignored) == 0 &&
			strcmp(r.file[0].path, real) == 0;

	resolved_release(&r);
	return is_found;
}

void resolved_release(struct resolved *r)
{
	for (size_t i = 0; i < r->n; i++)
		fd_closep(&r->file[i].fd);
	r->n = 0;
}
