#include "core/server/brief.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/date.h"
#include "core/base/fd.h"
#include "core/base/place.h"

const struct tool brief_tools[] = {
#define TOOL(name, title, description) \
	{#name,                        \
	 title,                        \
	 description,                  \
	 brief_##name##_input,         \
	 brief_##name##_output,        \
	 brief_##name},
#include "core/server/tools.def"
#undef TOOL
	{0},
};

const struct tool *brief_find(struct str name)
{
	for (const struct tool *t = brief_tools; t->name; t++)
		if (str_is(name, t->name))
			return t;
	return NULL;
}

const char *brief_nearest(struct str name)
{
	const char *names[ARRAY_LEN(brief_tools)];
	size_t n = 0;

	for (const struct tool *t = brief_tools; t->name; t++)
		names[n++] = t->name;
	return str_nearest(name, names, n);
}

struct tool_env tool_env_system(void)
{
	const char *home = getenv("HOME");

	return (struct tool_env){
		.clock = clock_system(),
		.home = home && *home ? home : NULL,
		.proc = "/proc",
	};
}

/* ---- results ---- */

void tool_result_init(struct tool_result *r)
{
	*r = (struct tool_result){.text = BUF_INIT(BUF_UNBOUNDED),
				  .structured = BUF_INIT(BUF_UNBOUNDED)};
}

void tool_result_release(struct tool_result *r)
{
	buf_release(&r->text);
	buf_release(&r->structured);
}

void tool_result_fail(struct tool_result *r, const char *fmt, ...)
{
	char line[LIMIT_ERR_MSG];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	buf_clear(&r->structured);
	buf_clear(&r->text);
	buf_adds(&r->text, line);
	r->is_error = true;
}

void tool_result_write(const struct tool_result *r, bool structured,
		       struct jw *w)
{
	jw_kv_array(w, "content");
	jw_object(w);
	jw_kv_cstr(w, "type", "text");
	jw_kv_str(w, "text", buf_str(&r->text));
	jw_end(w);
	jw_end(w);
	if (structured && r->structured.n)
		jw_kv_raw(w, "structuredContent", buf_str(&r->structured));
	jw_kv_bool(w, "isError", r->is_error);
}

void tool_call(const struct tool *t, struct str args,
	       const struct tool_env *env, struct tool_result *ret)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;

	if (fields_check(t->input, args, &err) < 0)
		tool_result_fail(ret, "%s: %s", t->name, err.msg);
	else
		t->call(args, env, &arena, ret);
}

/* ---- helpers of the tools ---- */

const char *brief_expand(const char *path, const struct tool_env *env,
			 struct arena *arena)
{
	if (path[0] != '~' || (path[1] && path[1] != '/') || !env->home)
		return path;
	return arena_printf(arena, "%s%s", env->home, path + 1);
}

static int explain(const char *shown, struct err *err)
{
	const char *paste = place_to_paste(shown, "PATH");

	if (err->sys == EACCES || err->sys == EPERM)
		return err_set(err, ERR_SYS,
			       "%s is there and may not be read; grant it: "
			       "sandbox = { read = [\"%s\"] } in a routine, "
			       "--read %s with matins call",
			       shown, paste, paste);
	if (err->kind == ERR_LIMIT)
		return err_set(err, ERR_LIMIT,
			       "%s is longer than %d bytes, the most that is "
			       "read of such a list",
			       shown, LIMIT_BRIEF_FILE_BYTES);
	return err_wrap(err, "%s", shown);
}

/* ---- places that the sandbox hides ---- */

static bool has(struct str s, const char *part)
{
	return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

/* The line of a mount: "ID PARENT … - TYPE SOURCE OPTIONS". */
static bool is_private_mount(struct str mounts, uint64_t id)
{
	while (mounts.n) {
		struct str line = str_cut(&mounts, '\n'), rest = line;
		uint64_t n;

		if (str_uint64(str_cut(&rest, ' '), &n) && n == id)
			return has(line, " - tmpfs matins-private ");
	}
	return false;
}

/*
 * A private place of the sandbox is one of its mounts (gate/child/child.c),
 * or without mounts a folder whose name begins in its way
 * (gate/path/private.c).
 */
static bool is_private(int dir, const struct tool_env *env, struct arena *arena)
{
	AUTO(buf_release) struct buf mounts = BUF_INIT(LIMIT_BRIEF_FILE_BYTES);
	char path[PATH_MAX];
	struct statx st;
	ssize_t n;

	n = readlink(arena_printf(arena, "%s/self/fd/%d", env->proc, dir), path,
		     sizeof(path));
	if (n > 0 && has((struct str){path, (size_t)n}, "/matins-u"))
		return true;
	return statx(dir, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 &&
	       st.stx_mask & STATX_MNT_ID &&
	       fd_read_file(arena_printf(arena, "%s/self/mountinfo", env->proc),
			    &mounts, ERR_IGNORED) == 0 &&
	       is_private_mount(buf_str(&mounts), st.stx_mnt_id);
}

/* Judge a path that leads to no file by the nearest folder that exists. */
static bool is_hidden(const char *path, const struct tool_env *env,
		      struct arena *arena)
{
	char *at = arena_strdup(arena, path);

	for (;;) {
		char *slash = strrchr(at, '/');
		AUTO(fd_closep) int fd = -1;

		if (slash)
			*slash = '\0';
		fd = fd_open(!slash ? "."
			     : *at  ? at
				    : "/",
			     O_PATH | O_DIRECTORY, 0);
		if (fd >= 0)
			return is_private(fd, env, arena);
		if (!slash || !*at)
			return false;
	}
}

/* ---- files ---- */

int brief_read(const char *shown, const struct tool_env *env,
	       struct buf *ret_text, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *path = brief_expand(shown, env, &arena);
	AUTO(fd_closep) int fd = -1;
	struct stat st;

	/* O_NONBLOCK: opening a named pipe must not wait for its writer */
	fd = fd_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return is_hidden(path, env, &arena) ? BRIEF_HIDDEN
						    : BRIEF_MISSING;
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(err, errno, "open");
		return explain(shown, err);
	}
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_SYNTAX,
			       "%s is not a regular file; name a text file",
			       shown);
	if (fd_read_all(fd, ret_text, err) < 0)
		return explain(shown, err);
	if (str_starts(buf_str(ret_text), "\xef\xbb\xbf"))
		buf_drop(ret_text, 3); /* byte order mark of some editors */
	return 0;
}

int brief_read_list(const char *shown, bool is_named,
		    const struct tool_env *env, struct buf *ret_text,
		    struct tool_result *ret)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *paste = place_to_paste(shown, "PATH");
	struct err err = ERR_INIT;
	int got = brief_read(shown, env, ret_text, &err);

	if (got < 0)
		tool_result_fail(ret, "%s", err.msg);
	if (got != BRIEF_HIDDEN || !is_named)
		return got;
	/* words by which `matins call` looks outside for the file */
	tool_result_fail(ret,
			 "'%s': No such file or directory here: it is not "
			 "granted, or not there; grant it: sandbox = { read = "
			 "[\"%s\"] } in a routine, --read %s with matins call",
			 brief_expand(shown, env, &arena), paste, paste);
	return -1;
}

void brief_tell_missing(const char *file, int got, const char *form,
			struct buf *text)
{
	const char *paste = place_to_paste(file, "PATH");

	buf_addf(text,
		 got == BRIEF_HIDDEN ? "%s is not granted, or not there."
				     : "There is no %s here.",
		 file);
	buf_addf(text,
		 " To begin, write one with %s must be granted: sandbox = { "
		 "read = [\"%s\"] } in a routine, --read %s with matins call",
		 form, paste, paste);
}

/* ---- notes ---- */

void brief_notes_begin(struct brief_notes *n)
{
	*n = (struct brief_notes){.json = BUF_INIT(BUF_UNBOUNDED),
				  .text = BUF_INIT(BUF_UNBOUNDED)};
	jw_init(&n->jw, &n->json, false);
	jw_array(&n->jw);
}

void brief_notes_end(struct brief_notes *n, const char *key, struct jw *w)
{
	jw_end(&n->jw);
	jw_kv_raw(w, key, buf_str(&n->json));
}

void brief_notes_release(struct brief_notes *n)
{
	buf_release(&n->json);
	buf_release(&n->text);
}

/* ---- days and sizes ---- */

int32_t brief_today(const char *today, const struct tool_env *env)
{
	time_t s =
		(time_t)(env->clock->wall_ns(env->clock) / (int64_t)NS_PER_S);
	char date[DATE_TEXT_BYTES];
	struct tm tm = {0};
	int32_t days = 0;

	if (today && date_parse(str_of(today), &days))
		return days;
	localtime_r(&s, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	(void)!date_parse(str_of(date), &days);
	return days;
}

void brief_kv_date(struct jw *w, const char *key, int32_t days)
{
	char date[DATE_TEXT_BYTES];

	date_format(days, date);
	jw_kv_cstr(w, key, date);
}

void brief_when(struct buf *out, int32_t days_left)
{
	uint32_t n = (uint32_t)(days_left < 0 ? -days_left : days_left);

	if (!n)
		buf_adds(out, "today");
	else if (days_left > 0)
		buf_addf(out, "in %u day%s", n, n == 1 ? "" : "s");
	else
		buf_addf(out, "%u day%s ago", n, n == 1 ? "" : "s");
}
