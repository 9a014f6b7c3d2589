#include "core/report/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"

/* A temporary file of this age belongs to nobody any more. */
#define STALE_S 3600
/* A lost run of that age is not resumed any more. */
#define STALE_PART_S (30 * 24 * 3600)

struct generations {
	uint64_t *item; /* owned */
	size_t n, cap;
};

static void dir_closep(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* Generation in a file name: 7 of "7.json". */
static bool generation_of(const char *name, uint64_t *ret)
{
	struct str s = str_of(name);

	return str_ends(s, ".json") &&
	       str_uint64((struct str){s.p, s.n - strlen(".json")}, ret);
}

/* Temporary file of a report whose writer crashed: "7.json.Xa81bc"; journal of
   a run that was lost: "7.part". */
static void remove_stale(int dir_fd, const char *name)
{
	bool is_part = str_ends(str_of(name), ".part");
	struct stat st;

	if ((is_part || strstr(name, ".json.")) &&
	    fstatat(dir_fd, name, &st, 0) == 0 &&
	    st.st_mtime < time(NULL) - (is_part ? STALE_PART_S : STALE_S))
		unlinkat(dir_fd, name, 0);
}

static int list(const char *folder, struct generations *g, struct err *err)
{
	AUTO(dir_closep) DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t generation;

	if (!dir)
		return errno == ENOENT ? 0 : err_sys(err, errno, "%s", folder);
	while ((entry = readdir(dir))) {
		if (!generation_of(entry->d_name, &generation)) {
			remove_stale(dirfd(dir), entry->d_name);
			continue;
		}
		g->item =
			mem_grow(g->item, g->n + 1, &g->cap, sizeof(*g->item));
		g->item[g->n++] = generation;
	}
	return 0;
}

static int highest_first(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a == *b ? 0 : *a > *b ? -1 : 1;
}

/* A report that cannot be removed stays: one more is no reason to fail. */
static int prune(const char *folder, uint64_t keep, uint64_t newest,
		 struct err *err)
{
	struct generations g = {0};
	int r = list(folder, &g, err);

	if (r == 0 && g.n > 1)
		qsort(g.item, g.n, sizeof(*g.item), highest_first);
	for (size_t i = (size_t)keep; r == 0 && i < g.n; i++) {
		/* lower than others when a ledger was begun anew */
		if (keep && g.item[i] == newest)
			continue;
		AUTO(mem_freep)
		char *path = mem_printf("%s/%llu.json", folder,
					(unsigned long long)g.item[i]);

		unlink(path);
	}
	free(g.item);
	return r;
}

/* Where the reports of a file lie. */
static char *folder_of(const char *state_dir, const char *file)
{
	char name[SHA256_HEX_BYTES];

	if (!*file)
		return mem_printf("%s/reports", state_dir);
	sha256_hex(str_of(file), name);
	return mem_printf("%s/reports/%.32s", state_dir, name);
}

static char *path_of(const char *state_dir, const char *file,
		     uint64_t generation, const char *suffix)
{
	AUTO(mem_freep) char *folder = folder_of(state_dir, file);

	return mem_printf("%s/%llu.%s", folder, (unsigned long long)generation,
			  suffix);
}

static int make_folder(const char *state_dir, const char *folder,
		       struct err *err)
{
	AUTO(mem_freep) char *all = folder_of(state_dir, "");

	if (mkdir(all, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "%s", all);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "%s", folder);
	return 0;
}

/* The folder is there but for the first report of a file. */
static int add_report(const char *state_dir, const char *folder,
		      const char *path, const struct fd_text *report,
		      struct err *err)
{
	if (fd_add_text(path, report, err) == 0)
		return 0;
	if (err->sys != ENOENT)
		return -1;
	*err = (struct err)ERR_INIT;
	if (make_folder(state_dir, folder, err) < 0)
		return -1;
	return fd_add_text(path, report, err);
}

bool store_make_room(const char *state_dir, const char *file, uint64_t keep,
		     struct timespec *ret)
{
	AUTO(mem_freep) char *folder = folder_of(state_dir, file);
	struct stat st;

	/* the only one stays until the next is there */
	if (keep < 2 || prune(folder, keep - 1, 0, ERR_IGNORED) < 0 ||
	    stat(folder, &st) < 0)
		return false;
	*ret = st.st_mtim;
	return true;
}

static bool is_unchanged(const char *folder, const struct timespec *since)
{
	struct stat st;

	return since && stat(folder, &st) == 0 &&
	       st.st_mtim.tv_sec == since->tv_sec &&
	       st.st_mtim.tv_nsec == since->tv_nsec;
}

int store_put(const char *state_dir, const char *file, uint64_t generation,
	      const struct fd_text *report, uint64_t keep,
	      const struct timespec *room, struct err *err)
{
	AUTO(mem_freep) char *folder = folder_of(state_dir, file);
	AUTO(mem_freep)
	char *path = path_of(state_dir, file, generation, "json");
	bool has_room = is_unchanged(folder, room);

	if (keep && add_report(state_dir, folder, path, report, err) < 0)
		return -1;
	return has_room ? 0 : prune(folder, keep, generation, err);
}

/* ---- journals ---- */

int store_journal(const char *state_dir, const char *file, uint64_t generation,
		  struct err *err)
{
	const int flags =
		O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	AUTO(mem_freep) char *folder = folder_of(state_dir, file);
	AUTO(mem_freep)
	char *path = path_of(state_dir, file, generation, "part");
	int fd = fd_open(path, flags, 0600);

	if (fd < 0 && errno == ENOENT) {
		if (make_folder(state_dir, folder, err) < 0)
			return -1;
		fd = fd_open(path, flags, 0600);
	}
	return fd < 0 ? err_sys(err, errno, "%s", path) : fd;
}

void store_end_journal(const char *state_dir, const char *file,
		       uint64_t generation)
{
	AUTO(mem_freep)
	char *path = path_of(state_dir, file, generation, "part");

	unlink(path);
}

/* ---- what is kept ---- */

static int get(const char *state_dir, const char *file, uint64_t generation,
	       const char *suffix, struct buf *out, struct err *err)
{
	AUTO(mem_freep)
	char *path = path_of(state_dir, file, generation, suffix);

	return fd_read_file(path, out, err);
}

int store_get_journal(const char *state_dir, const char *file,
		      uint64_t generation, struct buf *out, struct err *err)
{
	return get(state_dir, file, generation, "part", out, err);
}

int store_get(const char *state_dir, const char *file, uint64_t generation,
	      struct buf *out, struct err *err)
{
	if (get(state_dir, file, generation, "json", out, err) == 0)
		return 0;
	if (err->sys != ENOENT)
		return -1;
	return err_set(err, ERR_UNKNOWN,
		       "the report of generation %llu is not kept in %s "
		       "(`matins history` lists the runs, keep_runs says how "
		       "many reports stay)",
		       (unsigned long long)generation, state_dir);
}
