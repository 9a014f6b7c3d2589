/*
 * One line about the part of the sandbox in a failure.
 *
 * The only sign is a text of the server, whose wishes need a look before they
 * are granted: an option is suggested only for a path in the current folder or
 * in an argument of the server's command that is not hidden.
 */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/refused.h"
#include "core/cli/target.h"

/* Bytes of granted folders in the line. */
#define GRANTED_BYTES 300

/* ---- paths ---- */

/*
 * Resolve a path; of a missing file resolve the nearest folder above and append
 * the rest. "" when the path is too long.
 */
static const char *real_of(struct target *t, struct str path)
{
	const char *cwd = t->request.cwd ? t->request.cwd : "/";
	char *all = path.p[0] == '/' ? arena_strndup(&t->arena, path.p, path.n)
				     : arena_printf(&t->arena, "%s/%.*s", cwd,
						    STR_ARG(path));
	size_t n = strlen(all);
	char real[PATH_MAX];

	if (n >= PATH_MAX)
		return "";
	for (size_t i = n; i > 0; i--) {
		char c = all[i];

		if (c && c != '/')
			continue;
		all[i] = '\0';
		if (realpath(all, real)) {
			all[i] = c;
			return arena_printf(&t->arena, "%s%s", real, all + i);
		}
		all[i] = c;
	}
	return all;
}

static bool is_at(const char *folder, const char *path)
{
	return path_is_beneath(path, &(struct strlist){&folder, 1});
}

static bool is_meant(struct target *t, const char *path)
{
	const char *const *argv = t->request.argv;

	if (strstr(path, "/."))
		return false;
	for (size_t i = 1; argv[0] && argv[i]; i++)
		if (argv[i][0] != '-' && strcmp(argv[i], "/") != 0 &&
		    is_at(argv[i], path))
			return true;
	return is_at(path_resolve(".", NULL, &t->arena), path);
}

/*
 * Shells begin with the name of the script: "./run: 2: cat: Permission
 * denied". It is granted, and no clue.
 */
static bool is_own_file(struct target *t, const char *path)
{
	const char *const *argv = t->request.argv;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	for (size_t i = 0; argv[i]; i++)
		if (is_at(argv[i], path))
			return true;
	return is_at(t->request.program, path);
}

/* Words that look like a path are none, unless its folder is there. */
static bool can_be(struct target *t, const char *path)
{
	return access(path, F_OK) == 0 ||
	       access(dirname(arena_strdup(&t->arena, path)), F_OK) == 0;
}

/* Folder to grant for writing: programs mostly write more than one file. */
static const char *folder_of(struct target *t, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return path;
	return dirname(arena_strdup(&t->arena, path));
}

/* ---- the line ---- */

static void add_granted(struct buf *out, const char *key,
			const struct strlist *folders)
{
	size_t from = out->n;

	buf_addf(out, "%s ", key);
	for (size_t i = 0; i < folders->n; i++) {
		if (out->n - from > GRANTED_BYTES) {
			buf_adds(out, " …");
			break;
		}
		buf_addf(out, "%s%s", i ? ", " : "", folders->item[i]);
	}
	if (!folders->n)
		buf_adds(out, "nothing more");
}

/*
 * Would it let the program change its own code: the folder of its script, or
 * a package that was installed?
 */
static bool holds_code(struct target *t, const char *folder)
{
	struct gate_explained own = {.program = NULL};
	struct err ignored = ERR_INIT;

	if (strstr(folder, "/node_modules") || strstr(folder, "/site-packages"))
		return true;
	if (gate_explain(t->gate, &t->request, &t->arena, &own, &ignored) < 0)
		return false;
	return is_at(folder, own.program) ||
	       (own.script && is_at(folder, own.script));
}

static void add_option(struct target *t, struct buf *out,
		       const struct refused *r, const char *path)
{
	const struct gate_policy *p = &t->policy;
	bool write =
		r->kind == REFUSED_WRITE || path_is_beneath(path, &p->read);
	const char *what = write ? folder_of(t, path) : path;

	if (path_is_beneath(path, &p->write))
		buf_addf(out,
			 "%s is granted, but its permissions or file system "
			 "refuse it",
			 path);
	else if (write && holds_code(t, what))
		buf_addf(out,
			 "%s lies beside the code of the program, which is "
			 "never writable; let it write elsewhere: --write PATH",
			 path);
	else if (is_meant(t, path))
		buf_addf(out, "for %s: --%s %s", path, write ? "write" : "read",
			 what);
	else
		buf_addf(out, "%s is not granted; to grant it: --%s PATH", path,
			 write ? "write" : "read");
}

static bool is_granted(const struct target *t, const char *path)
{
	return path_is_beneath(path, &t->policy.read) ||
	       path_is_beneath(path, &t->policy.write);
}

static void say_refused(struct target *t, const struct refused *r)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const char *path = r->path.p ? real_of(t, r->path) : "";
	bool is_ready = client_is_ready(t->client);

	if ((r->kind == REFUSED_ACCESS && is_own_file(t, path)) ||
	    !can_be(t, path))
		path = "";
	/* a file that does not exist needs no grant */
	if (r->kind == REFUSED_MISSING &&
	    (!*path || access(path, F_OK) < 0 || is_granted(t, path)))
		return;
	buf_adds(&line, "the sandbox allows: ");
	add_granted(&line, "read", &t->policy.read);
	add_granted(&line, ", write", &t->policy.write);
	buf_adds(&line, "; ");
	if (*path)
		add_option(t, &line, r, path);
	else
		buf_adds(&line, "to grant more: --read PATH, --write PATH, "
				"--exec PROGRAM");
	buf_adds(&line, "; to list all needs: matins trace ");
	if (is_ready) {
		buf_adds(&line, "ROUTINE STEP, of a step that calls the tool");
	} else {
		buf_adds(&line, "-- ");
		exec_command_words(&t->request, &line);
	}
	log_note("%s", buf_cstr(&line));
	t->has_hinted = true;
}

void target_hint(struct target *t, struct str said)
{
	struct refused r = refused_find(said);

	if (!r.kind || t->has_hinted || log_level() < LOG_NOTE || !t->client ||
	    t->loop.signal)
		return;
	live_clear(&t->live);
	if (r.kind != REFUSED_DOWNLOAD) {
		say_refused(t, &r);
		return;
	}
	log_note("%s", exec_hint_download);
	t->has_hinted = true;
}

void target_hint_content(struct target *t, struct str content)
{
	struct scan_iter it;
	struct str v;

	scan_iter_init(&it, content);
	while (!t->has_hinted && scan_next(&it)) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (scan_type(it.value) == SCAN_OBJECT &&
		    scan_get(it.value, "text", &v) && scan_string(v, &text))
			target_hint(t, buf_str(&text));
	}
}
