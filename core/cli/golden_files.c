#include "core/cli/golden_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"

#define CANDIDATE_SCHEMA "matins-candidate/1"

bool golden_in_ci(void)
{
	const char *ci = getenv("CI");

	return ci && *ci && strcmp(ci, "0") && strcmp(ci, "false");
}

int golden_read_report(const struct kept_query *q, struct arena *arena,
		       struct buf *out, const struct ledger_run **ret_run,
		       struct err *err)
{
	const char *name = q->which;
	uint64_t generation;

	if (ret_run)
		*ret_run = NULL;
	if (!strcmp(name, "-"))
		return fd_read_all(STDIN_FILENO, out, err);
	if (access(name, F_OK) < 0 &&
	    (!strcmp(name, "last") || str_uint64(str_of(name), &generation)))
		return kept_report(q, arena, out, ret_run, err);
	return fd_read_file(name, out, err);
}

static int refuse_in_ci(struct err *err)
{
	if (!golden_in_ci())
		return 0;
	return err_set(err, ERR_CONFIG,
		       "CI is set: golden files are not written; run this "
		       "where a person reviews the change and commits it");
}

int golden_open(struct outfile *f, const char *path, struct err *err)
{
	AUTO(mem_freep) char *dir = mem_strdup(path);
	char *slash = strrchr(dir, '/');

	if (refuse_in_ci(err) < 0)
		return -1;
	if (slash && slash != dir) {
		*slash = '\0';
		if (fd_mkdirs(dir, 0777) < 0)
			return err_sys(err, errno, "create %s", dir);
	}
	return outfile_open(f, path, OUTFILE_DURABLE, err);
}

/* One candidate for each golden file, wherever it lies. */
static char *candidate_path(const char *path, const char *state_dir)
{
	AUTO(mem_freep) char *absolute = realpath(path, NULL);
	char name[SHA256_HEX_BYTES];

	sha256_hex(str_of(absolute ? absolute : path), name);
	return mem_printf("%s/candidates/%.32s.json", state_dir, name);
}

int golden_keep_candidate(const char *path, struct str accepted,
			  struct str seen, struct err *err)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct ledger *ledger;
	char sum[SHA256_HEX_BYTES];
	struct jw w;
	int status;

	if (refuse_in_ci(err) < 0 || ledger_open(NULL, &ledger, err) < 0)
		return -1;
	sha256_hex(accepted, sum);
	jw_init(&w, &out, false);
	jw_object(&w);
	jw_kv_cstr(&w, "schema", CANDIDATE_SCHEMA);
	jw_kv_cstr(&w, "file", path);
	jw_kv_cstr(&w, "seen", sum);
	jw_kv_raw(&w, "golden", str_trim(seen));
	jw_end(&w);
	{
		AUTO(mem_freep)
		char *dir = mem_printf("%s/candidates", ledger_dir(ledger));
		AUTO(mem_freep)
		char *file = candidate_path(path, ledger_dir(ledger));

		if (fd_mkdirs(dir, 0700) < 0)
			status = err_sys(err, errno, "create %s", dir);
		else
			status = fd_replace_file(file, buf_str(&out), 0600,
						 false, err);
	}
	ledger_free(ledger);
	buf_release(&out);
	return status;
}

void golden_drop_candidate(const char *path)
{
	struct arena arena = ARENA_INIT;
	const char *state = state_dir_find(&arena);

	if (state && !golden_in_ci()) {
		AUTO(mem_freep) char *file = candidate_path(path, state);

		unlink(file);
	}
	arena_release(&arena);
}

static int unpack(struct str text, const char *path, struct buf *out,
		  struct err *err)
{
	struct buf accepted = BUF_INIT(LIMIT_REPORT_BYTES);
	struct str doc, seen, golden;
	char sum[SHA256_HEX_BYTES];
	int status = 0;

	if (scan_document(text, NULL, &doc, err) < 0)
		return -1;
	if (!scan_get(doc, "golden", &golden) || !scan_get(doc, "seen", &seen))
		return err_set(err, ERR_COMPARE,
			       "the file is not a " CANDIDATE_SCHEMA);
	if (fd_read_regular(path, &accepted, err) < 0)
		return -1;
	sha256_hex(buf_str(&accepted), sum);
	if (!scan_is(seen, sum))
		status = err_set(err, ERR_DIFFERS,
				 "%s has changed since the check; check again",
				 path);
	buf_release(&accepted);
	if (status < 0)
		return -1;
	buf_add_str(out, golden);
	buf_addc(out, '\n');
	return 0;
}

int golden_take_candidate(const char *path, struct buf *out, struct err *err)
{
	struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	struct arena arena = ARENA_INIT;
	const char *state = state_dir_find(&arena);
	AUTO(mem_freep) char *file = candidate_path(path, state ? state : "");
	int status = fd_read_file(file, &text, err);

	if (status == 0) {
		status = unpack(buf_str(&text), path, out, err);
	} else if (err->sys == ENOENT) {
		err_set(err, ERR_UNKNOWN,
			"nothing to accept for %s: `matins golden check` keeps "
			"a report that differs",
			path);
	}
	buf_release(&text);
	arena_release(&arena);
	return status;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int golden_list(const char *dir, struct arena *arena, struct strlist *ret,
		struct err *err)
{
	struct strlist list = {NULL, 0};
	struct dirent *entry;
	size_t cap = 0;
	DIR *folder = opendir(dir);

	if (!folder)
		return err_sys(err, errno, "%s", dir);
	while ((entry = readdir(folder))) {
		if (!str_ends(str_of(entry->d_name), ".json"))
			continue;
		list.item = mem_grow(list.item, list.n + 1, &cap,
				     sizeof(*list.item));
		list.item[list.n++] = arena_strdup(arena, entry->d_name);
	}
	closedir(folder);
	if (list.n)
		qsort(list.item, list.n, sizeof(*list.item), by_name);
	ret->item = ARENA_ARRAY(arena, const char *, list.n);
	ret->n = list.n;
	for (size_t i = 0; i < list.n; i++)
		ret->item[i] = list.item[i];
	free(list.item);
	return 0;
}
