#include "core/cli/candidate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/report/ledger.h"

#define CANDIDATE_SCHEMA "matins-candidate/1"

static const char *folder_of(const char *state_dir, struct arena *arena)
{
	return arena_printf(arena, "%s/candidates", state_dir ? state_dir : "");
}

/* Path of the candidate of a golden file, by the real path of that file. */
static const char *path_of(const char *path, const char *state_dir,
			   struct arena *arena)
{
	AUTO(mem_freep) char *absolute = realpath(path, NULL);
	char name[SHA256_HEX_BYTES];

	sha256_hex(str_of(absolute ? absolute : path), name);
	return arena_printf(arena, "%s/%.32s.json", folder_of(state_dir, arena),
			    name);
}

int candidate_keep(const char *path, struct str accepted, struct str text,
		   struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	struct jw json = jw_begin(&out);
	char sum[SHA256_HEX_BYTES];
	const char *dir;

	if (ledger_open(NULL, &ledger, err) < 0)
		return -1;
	sha256_hex(accepted, sum);
	jw_kv_cstr(&json, "schema", CANDIDATE_SCHEMA);
	jw_kv_cstr(&json, "file", path);
	jw_kv_cstr(&json, "seen", sum);
	jw_kv_raw(&json, "golden", str_trim(text));
	jw_end(&json);
	dir = folder_of(ledger_dir(ledger), &arena);
	if (fd_mkdirs(dir, 0700) < 0)
		return err_sys(err, errno, "create %s", dir);
	if (state_dir_is_ours(dir, err) < 0)
		return -1;
	return fd_replace_file(path_of(path, ledger_dir(ledger), &arena),
			       buf_str(&out), 0600, false, err);
}

int candidate_take(const char *path, struct str accepted, struct arena *arena,
		   struct str *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	const char *state = state_dir_find(arena);
	const char *file = path_of(path, state, arena);
	AUTO(fd_closep) int fd = -1;
	struct str doc, seen, golden;
	char sum[SHA256_HEX_BYTES];

	if (state && (state_dir_is_ours(state, err) < 0 ||
		      state_dir_is_ours(folder_of(state, arena), err) < 0))
		return -1;
	if (state_dir_open(file, O_RDONLY, &fd, err) < 0 ||
	    fd_read_all(fd, &text, err) < 0)
		return err->sys != ENOENT
			       ? -1
			       : err_set(err, ERR_UNKNOWN,
					 "nothing to accept for %s: `matins "
					 "golden check` keeps a report that "
					 "differs",
					 path);
	if (scan_document(arena_buf(arena, &text), NULL, &doc, err) < 0 ||
	    !scan_get(doc, "golden", &golden) || !scan_get(doc, "seen", &seen))
		return err_set(err, ERR_SYNTAX,
			       "%s, the report that the last check of %s kept, "
			       "is broken: check again, or `matins golden "
			       "reject` drops it",
			       file, path);
	sha256_hex(accepted, sum);
	if (!scan_is(seen, sum))
		return err_set(err, ERR_DIFFERS,
			       "%s has changed since the check; check again",
			       path);
	*ret = golden;
	return 0;
}

void candidate_drop(const char *path)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *state = state_dir_find(&arena);

	if (state)
		unlink(path_of(path, state, &arena));
}
