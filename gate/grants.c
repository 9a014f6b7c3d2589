#include "gate/grants.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "gate/resolve.h"

uint64_t grant_rights(unsigned what)
{
	static const struct {
		unsigned what;
		uint64_t rights;
	} table[] = {
		{GRANT_READ, LL_READ},	   {GRANT_WRITE, LL_WRITE},
		{GRANT_EXEC, LL_EXEC},	   {GRANT_WRITE_ONLY, LL_WRITE_ONLY},
		{GRANT_DEVICE, LL_DEVICE}, {GRANT_LIST, LL_LIST},
	};
	uint64_t rights = 0;

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (what & table[i].what)
			rights |= table[i].rights;
	return rights;
}

static void *grow(struct arena *arena, void *old, size_t n, size_t *cap,
		  size_t bytes)
{
	void *more;

	if (n < *cap)
		return old;
	*cap = *cap ? *cap * 2 : 32;
	more = arena_alloc(arena, *cap * bytes);
	if (n)
		memcpy(more, old, n * bytes);
	return more;
}

static struct grant *find_same(const struct grants *g, const struct stat *st,
			       const char *path)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->grant[i].st.st_ino == st->st_ino &&
		    g->grant[i].st.st_dev == st->st_dev &&
		    strcmp(g->grant[i].path, path) == 0)
			return &g->grant[i];
	return NULL;
}

static void add_link(struct grants *g, const char *asked, const char *path)
{
	if (asked[0] != '/' || strcmp(asked, path) == 0)
		return;
	g->link = grow(g->arena, g->link, g->n_links, &g->links_cap,
		       sizeof(*g->link));
	g->link[g->n_links++] =
		(struct grant_link){arena_strdup(g->arena, asked), path};
}

static struct grant *add(struct grants *g, struct grant new)
{
	struct grant *same = find_same(g, &new.st, new.path);

	if (same) {
		same->what |= new.what;
		if (!new.is_borrowed)
			close(new.fd);
		return same;
	}
	g->grant = grow(g->arena, g->grant, g->n, &g->cap, sizeof(new));
	g->grant[g->n] = new;
	return &g->grant[g->n++];
}

/* Absolute, and no part of it is empty, "." or "..". */
static bool is_plain(const char *path)
{
	const char *s = path;

	while (*s == '/') {
		size_t n = strcspn(++s, "/");

		if (n == 0 || (n == 1 && s[0] == '.') ||
		    (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		s += n;
	}
	return s != path && !*s;
}

/*
 * Most paths have no link in them. One that was opened without following any
 * is the path of what was opened, and /proc, which is ten times as slow, need
 * not be asked. ELOOP, or any errno of a kernel without openat2: it must be
 * opened the other way.
 */
static int open_without_links(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	if (!is_plain(path)) {
		errno = ELOOP;
		return -1;
	}
	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

int grants_open(struct grants *g, const char *path, unsigned what,
		const struct grant **ret, struct err *err)
{
	AUTO(fd_closep) int fd = open_without_links(path);
	struct grant new = {.what = what};
	bool is_exact = fd >= 0;

	if (!is_exact && errno != ENOENT && errno != ENOTDIR)
		fd = fd_open(path, O_PATH, 0);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (fd < 0)
		return err_sys(err, errno, "open %s", path);
	if (fstat(fd, &new.st) < 0)
		return err_sys(err, errno, "%s", path);
	new.path = is_exact ? arena_strdup(g->arena, path)
			    : resolve_fd_path(fd, g->arena);
	if (!new.path)
		return 1;
	new.fd = fd_steal(&fd);
	add_link(g, path, new.path);
	if (ret)
		*ret = add(g, new);
	else
		(void)add(g, new);
	return 0;
}

void grants_add(struct grants *g, const char *asked, const char *path, int fd,
		const struct stat *st, unsigned what)
{
	add_link(g, asked, path);
	(void)add(g, (struct grant){.path = path,
				    .fd = fd,
				    .is_borrowed = true,
				    .what = what,
				    .st = *st});
}

void grants_release(struct grants *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->grant[i].is_borrowed)
			fd_closep(&g->grant[i].fd);
	g->n = g->n_links = 0;
}

/* What is not there, or not for us, is not for the child either. */
static int open_base(struct grants *g, const char *path, unsigned what,
		     struct err *err)
{
	int r = grants_open(g, path, what, NULL, err);

	return r < 0 && err->sys != EACCES ? -1 : 0;
}

int grants_open_base(struct grants *g, struct err *err)
{
	static const struct {
		const char *path;
		unsigned what;
	} base[] = {
#define BASE(path, rights) {path, GRANT_##rights},
#include "gate/base.def"
#undef BASE
	};

	for (size_t i = 0; i < ARRAY_LEN(base); i++)
		if (open_base(g, base[i].path, base[i].what, err) < 0)
			return -1;
	return 0;
}
