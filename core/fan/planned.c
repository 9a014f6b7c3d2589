#include "core/fan/planned.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"

/* Folder of the records; NULL: there is none. */
static const char *records(struct arena *arena)
{
	const char *state = state_dir_find(arena);

	return state && state_dir_is_ours(state, ERR_IGNORED) == 0
		       ? arena_printf(arena, "%s/plans", state)
		       : NULL;
}

static const char *record_path(const char *records, const char *plan,
			       struct arena *arena)
{
	char name[SHA256_HEX_BYTES];

	sha256_hex(str_of(plan), name);
	return arena_printf(arena, "%s/%.32s", records, name);
}

void planned_keep(const char *dir, struct str head)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(mem_freep) char *real = realpath(dir, NULL);
	const char *at = records(&arena);
	char sum[SHA256_HEX_BYTES];

	if (!real || !at)
		return;
	sha256_hex(head, sum);
	if (fd_mkdirs(at, 0700) == 0)
		(void)!fd_replace_file(record_path(at, real, &arena),
				       str_of(sum), 0600, true, ERR_IGNORED);
}

/* Path of the record of a plan with another head; NULL: there is none. */
static const char *find_other(const char *records, const char *plan,
			      struct str head, struct arena *arena)
{
	AUTO(buf_release) struct buf kept = BUF_INIT(SHA256_HEX_BYTES);
	const char *path = record_path(records, plan, arena);
	char sum[SHA256_HEX_BYTES];

	if (fd_read_regular(path, &kept, ERR_IGNORED) < 0)
		return NULL;
	sha256_hex(head, sum);
	return str_is(buf_str(&kept), sum) ? NULL : path;
}

/* An absolute path, its links left as they are. */
static void make_absolute(const char *path, struct buf *out)
{
	AUTO(mem_freep) char *cwd = *path == '/' ? NULL : getcwd(NULL, 0);
	struct str rest = str_of(path);

	buf_adds(out, cwd && strcmp(cwd, "/") != 0 ? cwd : "");
	while (rest.p) {
		const struct str part = str_cut(&rest, '/');

		if (part.n && !str_is(part, "."))
			buf_addf(out, "/%.*s", (int)part.n, part.p);
	}
}

/*
 * Where a link stands now, a plan may have been made: the path is looked up
 * with all of its links followed, with those of all but the last part, and so
 * on.
 */
int planned_check(const char *dir, struct str head, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	const char *at = records(&arena), *other = NULL;

	make_absolute(dir, &all);
	for (size_t n = all.n; at && n && !other;) {
		AUTO(mem_freep)
		char *real = realpath(arena_strndup(&arena, all.p, n), NULL);

		if (real)
			other = find_other(
				at,
				arena_printf(&arena, "%s%s", real, all.p + n),
				head, &arena);
		while (n && all.p[--n] != '/')
			;
	}
	return !other ? 0
		      : err_set(err, ERR_CONFIG,
				"%s/manifest.json is not as `matins fan plan` "
				"wrote it here: plan again, or remove %s to "
				"trust it",
				dir, other);
}
