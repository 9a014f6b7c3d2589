#include "gate/prepare/grants.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/child/pass.h"

uint64_t grant_rights(unsigned what)
{
	static const struct {
		unsigned what;
		uint64_t rights;
	} table[] = {
		{GRANT_READ, LL_READ},	   {GRANT_WRITE, LL_WRITE},
		{GRANT_EXEC, LL_EXEC},	   {GRANT_WRITE_ONLY, LL_WRITE_ONLY},
		{GRANT_DEVICE, LL_DEVICE}, {GRANT_LIST, LL_LIST},
		{GRANT_SOCKET, LL_SOCKET},
	};
	uint64_t rights = 0;

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (what & table[i].what)
			rights |= table[i].rights;
	return rights;
}

bool grants_cover(const struct grants *g, const char *path, unsigned what)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->grant[i].what & what &&
		    place_covers(g->grant[i].path, path))
			return true;
	return false;
}

static struct grant *find_same(const struct grants *g, const struct stat *st,
			       const char *path)
{
	for (size_t i = 0; i < g->n; i++)
		if (stat_is_same(&g->grant[i].st, st) &&
		    strcmp(g->grant[i].path, path) == 0)
			return &g->grant[i];
	return NULL;
}

static void add_link(struct grants *g, const char *asked, const char *path,
		     const struct walk *w)
{
	if (asked[0] != '/' || strcmp(asked, path) == 0)
		return;
	g->link = arena_grow(g->arena, g->link, g->n_links, sizeof(*g->link));
	g->link[g->n_links++] = (struct grant_link){
		.path = arena_strdup(g->arena, asked),
		.target = path,
		.step = w ? w->link : NULL,
		.n_steps = w ? w->n_links : 0,
	};
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
	g->grant = arena_grow(g->arena, g->grant, g->n, sizeof(new));
	g->grant[g->n] = new;
	return &g->grant[g->n++];
}

/* 1 where nothing is at the path. */
static int not_found(const char *path, struct err *err)
{
	if (errno == ENOENT || errno == ENOTDIR)
		return 1;
	return err_sys(err, errno, "open %s", path);
}

int grants_find(const struct grants *g, const char *path, struct walk *ret,
		struct err *err)
{
	if (walk_open(path, g->arena, ret) < 0)
		return not_found(path, err);
	if (ret->path)
		return 0;
	walk_release(ret);
	return 1;
}

const struct grant *grants_take(struct grants *g, const char *asked,
				struct walk *found, unsigned what)
{
	add_link(g, asked, found->path, found);
	return add(g, (struct grant){.path = found->path,
				     .fd = fd_steal(&found->fd),
				     .what = what,
				     .st = found->st});
}

int grants_open_entry(struct grants *g, const char *path, unsigned what,
		      struct err *err)
{
	struct walk found = WALK_INIT;

	if (walk_open_plain(path, g->arena, &found) < 0)
		return errno == ELOOP ? 1 : not_found(path, err);
	grants_take(g, path, &found, what);
	return 0;
}

void grants_add(struct grants *g, const char *asked, const char *path, int fd,
		const struct stat *st, unsigned what)
{
	add_link(g, asked, path, NULL);
	(void)add(g, (struct grant){.path = path,
				    .fd = fd,
				    .is_borrowed = true,
				    .what = what,
				    .st = *st});
}

/* Descriptors that stand in a row go by one call. */
static void close_all(struct grants *g)
{
	size_t next;

	for (size_t i = 0; i < g->n; i = next) {
		int first = g->grant[i].fd, last = first;

		next = i + 1;
		if (g->grant[i].is_borrowed || first < 0)
			continue;
		while (next < g->n && !g->grant[next].is_borrowed &&
		       g->grant[next].fd == last + 1)
			last = g->grant[next++].fd;
		if (first == last ||
		    close_range((unsigned)first, (unsigned)last, 0) < 0)
			for (int fd = first; fd <= last; fd++)
				close(fd);
		for (; i < next; i++)
			g->grant[i].fd = -1;
	}
}

void grants_release(struct grants *g)
{
	close_all(g);
	g->n = g->n_links = 0;
}

static long send_all(const struct grants *g, int to, unsigned flags)
{
	int fd[PASS_MAX];

	assert(g->n && g->n <= PASS_MAX);
	for (size_t i = 0; i < g->n; i++)
		fd[i] = g->grant[i].fd;
	return pass_send(to, 0, fd, g->n, flags);
}

static int say_unsent(long r, struct err *err)
{
	return err_sys(err, (int)-r, "descriptors in a message");
}

int grants_lend(const struct grants *g, int to, struct err *err)
{
	const long r = send_all(g, to, MSG_NOSIGNAL);
	/* the child itself says why it has ended */
	const bool has_ended = r == -EPIPE || r == -ECONNRESET;

	return r < 0 && !has_ended ? say_unsent(r, err) : 0;
}

int grants_park(struct grants *g, int to, struct err *err)
{
	const long r = send_all(g, to, 0);

	if (r < 0)
		return say_unsent(r, err);
	close_all(g);
	return 0;
}

/* ---- the base ---- */

struct base_rows {
	unsigned what;
	bool is_dir;
	const char *const *path; /* ends in NULL */
};

static const struct base_rows base[] = {
#define ROWS(rights, dir, ...) \
	{GRANT_##rights, dir, (const char *const[]){__VA_ARGS__, NULL}},
#define BASE_FOLDERS(rights, ...) ROWS(rights, true, __VA_ARGS__)
#define BASE_FILES(rights, ...) ROWS(rights, false, __VA_ARGS__)
#include "gate/prepare/base.def"
#undef BASE_FOLDERS
#undef BASE_FILES
#undef ROWS
};

static bool has_path(const struct grants *g, const char *path)
{
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->grant[i].path, path) == 0)
			return true;
	return false;
}

/* As a rule "/lib" is a link to "usr/lib", which was opened without any. */
static bool leads_to_base(const struct grants *g, const char *path)
{
	char target[64] = "/";
	ssize_t n = strrchr(path, '/') == path
			    ? readlink(path, target + 1, sizeof(target) - 2)
			    : -1;

	if (n > 0)
		target[n + 1] = '\0';
	return n > 0 && has_path(g, target[1] == '/' ? target + 1 : target);
}

/* The kind of file is the row's: a file in the place of a folder is left out,
   and of a folder in the place of a file no name is listed. */
static int add_base(struct grants *g, const struct base_rows *rows,
		    const char *path, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	const char *real;

	if (leads_to_base(g, path))
		return 0;
	fd = walk_open_root(path, rows->is_dir, g->arena, &real);
	if (fd < 0)
		return errno == EACCES ? 0 : not_found(path, err);
	if (!real || has_path(g, real))
		return 0;
	g->grant = arena_grow(g->arena, g->grant, g->n, sizeof(*g->grant));
	g->grant[g->n++] =
		(struct grant){.path = real,
			       .fd = fd_steal(&fd),
			       .what = rows->what,
			       .st.st_mode = rows->is_dir ? S_IFDIR : S_IFREG};
	return 0;
}

/* The first row is BASE_SYSTEM. */
static size_t first_of(enum base_part part)
{
	return part == BASE_SYSTEM ? 0 : 1;
}

int grants_open_base(struct grants *g, enum base_part part, struct err *err)
{
	size_t end = part == BASE_SYSTEM ? 1 : ARRAY_LEN(base);

	/* files that are missing, or closed to us, are closed to the child */
	for (size_t i = first_of(part); i < end; i++)
		for (const char *const *p = base[i].path; *p; p++)
			if (add_base(g, &base[i], *p, err) < 0)
				return -1;
	return 0;
}

bool grants_near_base(const char *path)
{
	for (size_t i = first_of(BASE_REST); i < ARRAY_LEN(base); i++)
		for (const char *const *p = base[i].path; *p; p++)
			if (place_covers(path, *p) || place_covers(*p, path))
				return true;
	return false;
}
