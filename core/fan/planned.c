#include "core/fan/planned.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"

/* Path of the record of a plan's folder; NULL: there is no state directory. */
static const char *record_path(const char *dir, struct arena *arena)
{
	AUTO(mem_freep) char *real = realpath(dir, NULL);
	const char *state = state_dir_find(arena);
	char name[SHA256_HEX_BYTES];

	if (!real || !state || state_dir_is_ours(state, ERR_IGNORED) < 0)
		return NULL;
	sha256_hex(str_of(real), name);
	return arena_printf(arena, "%s/plans/%.32s", state, name);
}

void planned_keep(const char *dir, struct str head)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *path = record_path(dir, &arena);
	char sum[SHA256_HEX_BYTES];

	if (!path)
		return;
	sha256_hex(head, sum);
	if (fd_mkdirs(arena_strndup(&arena, path,
				    (size_t)(strrchr(path, '/') - path)),
		      0700) == 0)
		(void)!fd_replace_file(path, str_of(sum), 0600, true,
				       ERR_IGNORED);
}

int planned_check(const char *dir, struct str head, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf kept = BUF_INIT(SHA256_HEX_BYTES);
	const char *path = record_path(dir, &arena);
	char sum[SHA256_HEX_BYTES];

	if (!path || fd_read_regular(path, &kept, ERR_IGNORED) < 0)
		return 0;
	sha256_hex(head, sum);
	return str_is(buf_str(&kept), sum)
		       ? 0
		       : err_set(err, ERR_CONFIG,
				 "%s/manifest.json is not as `matins fan plan` "
				 "wrote it here: plan again, or remove %s to "
				 "trust it",
				 dir, path);
}
