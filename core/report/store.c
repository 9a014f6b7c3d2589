#include "core/report/store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"

/* Bytes of a report that are summed up and written at a time. */
#define PORTION (256 * 1024)
/* A temporary file of this age belongs to nobody any more. */
#define STALE_S 3600
/* A lost run of that age is not resumed any more. */
#define STALE_PART_S (30 * 24 * 3600)

struct generations {
	uint64_t *item; /* owned */
	size_t n, cap;
};

/* Generation in a file name: 7 of "7.json". */
static bool generation_of(const char *name, const char *suffix, uint64_t *ret)
{
	struct str s = str_of(name);

	return str_ends(s, suffix) &&
	       str_uint64((struct str){s.p, s.n - strlen(suffix)}, ret);
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
		if (!generation_of(entry->d_name, ".json", &generation)) {
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

/* ---- a report and its sum ---- */

/* A report on its way to the disk, and its sum. */
struct summed {
	const struct fd_text *text;
	struct sha256 sum;
	struct buf *out; /* NULL: the sum alone */
};

/* Sum and write in portions: the second use finds them in the cache. */
static void sum_up(void *arg, struct str bytes)
{
	struct summed *s = arg;

	while (bytes.n) {
		size_t n = bytes.n < PORTION ? bytes.n : PORTION;

		sha256_add(&s->sum, bytes.p, n);
		if (s->out)
			buf_add(s->out, bytes.p, n);
		bytes.p += n;
		bytes.n -= n;
	}
}

static void print_summed(const void *arg, struct buf *out)
{
	struct summed *s = *(struct summed *const *)arg;
	const struct buf_sink sink = {sum_up, s};
	struct buf pieces = {.max = BUF_UNBOUNDED, .sink = &sink};

	s->out = out;
	sha256_init(&s->sum);
	s->text->print(s->text->arg, &pieces);
	buf_drain(&pieces);
	buf_release(&pieces);
}

int store_put(const struct store_place *p, const struct fd_text *report,
	      char ret_hex[SHA256_HEX_BYTES], struct err *err)
{
	AUTO(mem_freep) char *folder = folder_of(p->state_dir, p->file);
	AUTO(mem_freep)
	char *path = path_of(p->state_dir, p->file, p->generation, "json");
	bool has_room = is_unchanged(folder, p->room);
	struct summed summed = {.text = report}, *arg = &summed;
	const struct fd_text text = {
		print_summed,
		&arg,
		report->beside,
		report->beside_arg,
	};

	/* a report that is not kept is printed for its sum alone */
	if (!p->keep)
		print_summed(&arg, NULL);
	else if (add_report(p->state_dir, folder, path, &text, err) < 0)
		return -1;
	if (!has_room && prune(folder, p->keep, p->generation, err) < 0)
		return -1;
	sha256_end_text(&summed.sum, ret_hex);
	return 0;
}

int store_replace(const char *state_dir, const char *file, uint64_t generation,
		  struct str report, struct err *err)
{
	AUTO(mem_freep)
	char *path = path_of(state_dir, file, generation, "json");

	/* one that another run pushed out stays away */
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	return fd_replace_file(path, report, 0600, true, err);
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
	/* of a ledger that was begun anew */
	if (fd < 0 && errno == EEXIST && unlink(path) == 0)
		fd = fd_open(path, flags, 0600);
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

static void find_oldest(const char *folder, uint64_t *oldest)
{
	AUTO(dir_closep) DIR *dir = opendir(folder);
	const struct dirent *entry;
	uint64_t generation;

	while (dir && (entry = readdir(dir)))
		if ((generation_of(entry->d_name, ".json", &generation) ||
		     generation_of(entry->d_name, ".part", &generation)) &&
		    generation < *oldest)
			*oldest = generation;
}

uint64_t store_oldest(const char *state_dir, const char *file)
{
	AUTO(mem_freep) char *folder = folder_of(state_dir, file);
	AUTO(mem_freep) char *earlier = folder_of(state_dir, "");
	uint64_t oldest = UINT64_MAX;

	find_oldest(folder, &oldest);
	find_oldest(earlier, &oldest);
	return oldest;
}

static int get(const char *state_dir, const char *file, uint64_t generation,
	       const char *suffix, struct buf *out, struct err *err)
{
	AUTO(mem_freep)
	char *path = path_of(state_dir, file, generation, suffix);

	return fd_read_file(path, out, err);
}

int store_get_journal(const char *state_dir, const char *file,
		      uint64_t generation, int64_t since_ns, struct buf *out,
		      struct err *err)
{
	AUTO(mem_freep)
	char *path = path_of(state_dir, file, generation, "part");
	struct stat st;

	/* of a ledger that was begun anew */
	if (stat(path, &st) == 0 &&
	    (int64_t)st.st_mtim.tv_sec < since_ns / (int64_t)NS_PER_S)
		return err_set(err, ERR_UNKNOWN, "%s is of another run", path);
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
