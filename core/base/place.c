#include "core/base/place.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/user.h"

/* Links that the kernel follows on one way (MAXSYMLINKS). */
#define LINKS_MAX 40

struct walk {
	struct arena *arena;
	struct buf at; /* real so far; "" is "/" */
	const char *links[LINKS_MAX];
	size_t n_links;
	bool is_led_astray;
};

static void cut(struct buf *b, size_t n)
{
	b->n = n;
	if (b->p)
		b->p[n] = '\0';
}

/* Bytes of the folder around a path; 0 is "/". */
static size_t parent_len(const struct buf *at)
{
	const char *slash = at->n ? strrchr(at->p, '/') : NULL;

	return slash ? (size_t)(slash - at->p) : 0;
}

static int walk(struct walk *w, const char *path);

/* Did another user make that link: not we, nor who owns "/", which is root
   where root has that number? In one's own folder everybody may, too. */
static bool is_foreign(const char *link)
{
	struct stat made, top;

	return lstat(link, &made) == 0 && made.st_uid != 0 &&
	       made.st_uid != user_self() && stat("/", &top) == 0 &&
	       made.st_uid != top.st_uid;
}

/* One part behind `at`; 0, or -1 and errno. */
static int step(struct walk *w, struct str part, bool is_last)
{
	char target[PATH_MAX];
	size_t before = w->at.n;
	AUTO(mem_freep) char *link = NULL;
	ssize_t n;

	buf_addf(&w->at, "/%.*s", STR_ARG(part));
	n = readlink(w->at.p, target, sizeof(target));
	if (n < 0)
		return errno == EINVAL || (errno == ENOENT && is_last) ? 0 : -1;
	link = mem_strdup(w->at.p);
	cut(&w->at, before);
	w->is_led_astray |= is_foreign(link);
	if (w->n_links == LINKS_MAX || (size_t)n == sizeof(target)) {
		errno = ELOOP;
		return -1;
	}
	w->links[w->n_links++] = arena_strdup(w->arena, before ? w->at.p : "/");
	return walk(w, arena_strndup(w->arena, target, (size_t)n));
}

static int walk(struct walk *w, const char *path)
{
	struct str rest = str_of(path);

	if (*path == '/')
		cut(&w->at, 0);
	while (rest.p) {
		struct str part = str_cut(&rest, '/');

		if (str_is(part, ".."))
			cut(&w->at, parent_len(&w->at));
		else if (part.n && !str_is(part, ".") &&
			 step(w, part, !rest.n) < 0)
			return -1;
	}
	return 0;
}

static void split(const struct walk *w, struct place *ret)
{
	size_t n = parent_len(&w->at);
	const char **links = ARENA_ARRAY(w->arena, const char *, LINKS_MAX);

	memcpy(links, w->links, w->n_links * sizeof(*links));
	*ret = (struct place){
		.folder = n ? arena_strndup(w->arena, w->at.p, n) : "/",
		.name = arena_strdup(w->arena, w->at.n ? w->at.p + n + 1 : ""),
		.links = {links, w->n_links},
		.is_led_astray = w->is_led_astray,
	};
}

int place_find(const char *path, struct arena *arena, struct place *ret,
	       struct err *err)
{
	struct walk w = {.arena = arena, .at = BUF_INIT(BUF_UNBOUNDED)};
	char cwd[PATH_MAX];
	const char *from = *path == '/' ? "/" : getcwd(cwd, sizeof(cwd));
	int r = 0;

	if (!*path)
		return err_sys(err, ENOENT, "an empty path");
	if (from && strcmp(from, "/") != 0)
		buf_adds(&w.at, from);
	if (!from || walk(&w, path) < 0)
		r = err_sys(err, errno, "%s", path);
	else
		split(&w, ret);
	buf_release(&w.at);
	return r;
}

/* The next part that counts, at `s` or behind it; "" at the end. */
static const char *next_part(const char *s)
{
	for (;;) {
		while (*s == '/')
			s++;
		if (s[0] != '.' || (s[1] && s[1] != '/'))
			return s;
		s++;
	}
}

static bool is_end(char c)
{
	return !c || c == '/';
}

static bool leads_up(const char *part)
{
	return part[0] == '.' && part[1] == '.' && is_end(part[2]);
}

static bool climbs(const char *path)
{
	for (; *path; path = next_part(path)) {
		if (leads_up(path))
			return true;
		while (!is_end(*path))
			path++;
	}
	return false;
}

const char *place_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

bool place_covers(const char *folder, const char *path)
{
	if (*folder != '/' || *path != '/')
		return false;
	for (;;) {
		folder = next_part(folder);
		path = next_part(path);
		/* the rest must not climb out again */
		if (!*folder)
			return !climbs(path);
		if (leads_up(folder) || leads_up(path))
			return false;
		while (!is_end(*folder) && *folder == *path) {
			folder++;
			path++;
		}
		if (!is_end(*folder) || !is_end(*path))
			return false;
	}
}

const char *place_around(const struct strlist *rows, const char *path)
{
	for (size_t i = 0; i < rows->n; i++)
		if (place_covers(rows->item[i], path))
			return rows->item[i];
	return NULL;
}

bool place_is_system(const char *path)
{
	static const char *folders[] = {"/usr",	  "/bin",   "/sbin",  "/lib",
					"/lib32", "/lib64", "/libx32"};
	const struct strlist system = {folders, ARRAY_LEN(folders)};

	return place_around(&system, path);
}

const char *place_beneath(const struct strlist *rows, const char *path)
{
	for (size_t i = 0; i < rows->n; i++)
		if (place_covers(path, rows->item[i]))
			return rows->item[i];
	return NULL;
}

bool place_can_be_pasted(const char *path)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&shown, str_of(path), false);
	return !path[strcspn(path, " \t\"'\\`$;|&<>*?[{")] &&
	       strcmp(buf_cstr(&shown), path) == 0;
}

const char *place_to_paste(const char *path, const char *word)
{
	return place_can_be_pasted(path) ? path : word;
}
