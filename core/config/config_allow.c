#include "core/config/config_allow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"
#include "core/config/allowed.h"
#include "core/config/config_grants.h"
#include "core/config/config_find.h"
#include "core/config/paths.h"

/* Rows of one kind in a question, and changes, at most. */
#define ROWS_ASKED 8
/* Lines of a question, some of which may take two of the screen. */
#define LINES_ASKED 18
/* Columns of a path in it. */
#define PATH_SHOWN 72
/* Changes in one line of an error. */
#define ROWS_TOLD 4

struct verdict {
	bool is_allowed;
	bool by_person; /* the allowance was given on a terminal */
	bool has_changed;
	struct allowance kept; /* .path is NULL when there is none */
	const char *why_not;   /* a sentence without the path; in the arena */
	bool is_in_vain;       /* no allowance can be found, nor kept */
};

/* ---- by the variable ---- */

static void judge_variable(const struct config_file *file, struct verdict *v)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str rest = str_of(env_text("MATINS_ALLOW"));

	while (rest.n && !v->is_allowed) {
		struct str item = str_cut(&rest, ':');
		AUTO(mem_freep) char *folder = NULL;

		if (item.n && item.p[0] != '/')
			v->why_not = "is not allowed: $MATINS_ALLOW takes "
				     "absolute paths";
		if (!item.n || item.p[0] != '/')
			continue;
		/* of a folder only: the slash */
		folder = realpath(arena_printf(&arena, "%.*s/", STR_ARG(item)),
				  NULL);
		v->is_allowed = folder && place_covers(folder, file->found) &&
				place_covers(folder, file->config.path);
	}
}

/* ---- by what was kept ---- */

/* First folder above the file that others may write; NULL: none. */
static const char *writable_above(const char *path, struct arena *arena)
{
	char *at = arena_strdup(arena, path);
	struct stat st;

	for (char *slash = strrchr(at, '/'); slash; slash = strrchr(at, '/')) {
		slash[slash == at] = '\0';
		if (stat(at, &st) < 0 || !config_is_trusted(&st))
			return at;
		if (slash == at)
			return NULL;
	}
	return NULL;
}

static void judge_path(struct config_file *file, struct verdict *v)
{
	const char *folder = writable_above(file->config.path, &file->arena);

	/* $MATINS_ALLOW holds whatever the folder is */
	v->is_allowed |= !folder && !file->has_other_names;
	if (folder)
		v->why_not = arena_printf(&file->arena,
					  "is not allowed: others may write "
					  "%s, so --edits does not hold",
					  folder);
	else if (!v->is_allowed)
		v->why_not = "is not allowed: it has another name (a hard "
			     "link), so --edits does not hold";
}

static bool is_same_target(const struct config_file *file,
			   const struct allowance *a)
{
	return strcmp(a->target ? a->target : a->path, file->config.path) == 0;
}

static void judge_kept(struct config_file *file, struct verdict *v)
{
	struct err err = ERR_INIT;
	int r = allowed_find(NULL, file->found, &file->arena, &v->kept, &err);

	if (r != 0) {
		v->kept.path = NULL;
		if (r < 0 && !v->is_allowed) {
			v->is_in_vain = true;
			v->why_not = arena_printf(
				&file->arena, "cannot be allowed: %s", err.msg);
		}
		return;
	}
	if (is_same_target(file, &v->kept) &&
	    strcmp(v->kept.sha256, file->sha256) == 0)
		v->is_allowed = true;
	else if (is_same_target(file, &v->kept) && v->kept.edits)
		judge_path(file, v);
	else
		v->has_changed = true;
	v->by_person = v->is_allowed && v->kept.by_person;
}

static void judge(struct config_file *file, struct verdict *v)
{
	*v = (struct verdict){.why_not = "lies in the current folder and has "
					 "not been allowed yet"};
	judge_variable(file, v);
	judge_kept(file, v);
	if (v->has_changed)
		v->why_not = "has changed since it was allowed";
}

/* ---- keeping it ---- */

static bool is_person_there(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

int config_allow_keep(struct config_file *file, bool edits, struct err *err)
{
	struct clock *clock = clock_system();
	struct allowance a = {
		.path = file->found,
		.edits = edits,
		.by_person = is_person_there(),
		.wall_ms = clock->wall_ns(clock) / (int64_t)NS_PER_MS,
		.grants = file->grants,
	};
	struct verdict v = {.is_allowed = false};

	if (strcmp(file->found, file->config.path) != 0)
		a.target = file->config.path;
	memcpy(a.sha256, file->sha256, sizeof(a.sha256));
	if (edits)
		judge_path(file, &v);
	if (edits && !v.is_allowed)
		return err_set(err, ERR_CONFIG, "%s %s", file->found,
			       v.why_not);
	if (allowed_keep(NULL, &a, err) < 0)
		return err_wrap(err, "the allowance is not kept");
	return 0;
}

/* ---- asking ---- */

/* One line, whatever characters are in a path. */
static void add_line(struct buf *out, const char *before, const char *path,
		     const char *behind, bool is_cut)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&shown, str_of(path), false);
	buf_adds(out, before);
	buf_add_cut(out, buf_str(&shown), is_cut ? PATH_SHOWN : shown.n);
	buf_addf(out, "%s\n", behind);
}

void config_allow_show(const struct config_file *file, size_t most,
		       struct buf *out)
{
	if (file->shadows)
		add_line(out, "Used instead of your own ", file->shadows, ".",
			 most);
	if (strcmp(file->found, file->config.path) != 0)
		add_line(out, "A link to ", file->config.path, ".", most);
	if (!file->grants.n)
		buf_adds(out, "Nothing beyond the default policy.\n");
	else
		config_grants_show(&file->grants, most, out);
	add_line(out, "Relative paths begin at ", file->config.dir, ".", most);
}

static void put(const struct buf *text)
{
	if (fd_write_all(STDERR_FILENO, text->p, text->n) < 0) {
		/* the end of input means no */
	}
}

static void add_question(const struct config_file *file,
			 const struct verdict *v, size_t most, struct buf *out)
{
	AUTO(buf_release) struct buf changes = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&why, " %s.", v->why_not);
	add_line(out, "", file->found, buf_cstr(&why), most);
	if (v->has_changed) {
		config_grants_diff(&v->kept.grants, &file->grants,
				   most ? most : SIZE_MAX, &changes);
		buf_adds(out, changes.n ? buf_cstr(&changes)
					: "What it may do is as before.\n");
	}
	config_allow_show(file, most, out);
}

static size_t count_lines(const struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->p[i] == '\n';
	return n;
}

/* Rows of one kind must not push those of another off the screen. */
static void show_question(const struct config_file *file,
			  const struct verdict *v, bool is_whole)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t most = is_whole ? 0 : ROWS_ASKED;

	add_question(file, v, most, &out);
	while (most > 1 && count_lines(&out) > LINES_ASKED) {
		buf_clear(&out);
		add_question(file, v, --most, &out);
	}
	put(&out);
}

/* One line of the terminal, without what was typed behind it. */
static struct str read_line(char *room, size_t n)
{
	ssize_t got = read(STDIN_FILENO, room, n);

	return str_trim((struct str){room, got > 0 ? (size_t)got : 0});
}

static bool ask(const struct config_file *file, const struct verdict *v)
{
	struct buf question = BUF_INIT(BUF_UNBOUNDED);
	bool is_whole = false;
	char room[256];
	struct str answer;

	buf_adds(&question, "Allow it? [y/N, ? shows all] ");
	do {
		show_question(file, v, is_whole);
		/* drop input typed or pasted before the question */
		(void)!tcflush(STDIN_FILENO, TCIFLUSH);
		put(&question);
		answer = read_line(room, sizeof(room));
		is_whole = true;
	} while (str_is(answer, "?"));
	buf_release(&question);
	return str_is(answer, "y") || str_is(answer, "Y") ||
	       str_is(answer, "yes");
}

static void ask_person(struct config_file *file, struct verdict *v)
{
	struct err err = ERR_INIT;

	v->is_allowed = v->by_person = ask(file, v);
	if (!v->is_allowed) {
		v->why_not = "was not allowed";
		v->has_changed = false; /* shown already */
	} else if (config_allow_keep(file, false, &err) < 0) {
		log_warning("allowed for this time only: %s", err.msg);
	}
	v->kept.grants = file->grants;
}

/* ---- the decision ---- */

/* A confined program may write there, and would be started unconfined. */
static bool is_of_the_folder(const struct config_file *file,
			     const char *program)
{
	AUTO(mem_freep) char *real = realpath(program, NULL);

	return strchr(program, '/') &&
	       (place_covers(file->config.dir, program) ||
		(real && place_covers(file->config.dir, real)));
}

/* The browser runs outside of every sandbox. */
static void judge_browser(struct config_file *file, const struct verdict *v,
			  const char *server)
{
	const bool is_allowed =
		v->by_person &&
		config_grants_has(&file->grants, "browser", &v->kept.grants);

	for (size_t i = 0; i < file->config.n_servers; i++) {
		struct server *s = &file->config.servers[i];
		const char *browser = s->auth.browser;

		if (!browser ||
		    (is_allowed && !is_of_the_folder(file, browser)))
			continue;
		s->auth.browser = NULL;
		if (server && strcmp(s->name, server) == 0)
			log_note("%s: \"browser\" of %s is not used: %s",
				 file->path, s->name,
				 is_allowed ? "it lies in the folder of the "
					      "file, where programs may write"
					    : "it was not allowed on a "
					      "terminal (matins allow)");
	}
}

/* The changes in one line, in brackets. */
static void add_changes(const struct config_file *file, const struct verdict *v,
			struct buf *out)
{
	AUTO(buf_release) struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	struct str rest;

	if (!v->has_changed)
		return;
	config_grants_diff(&v->kept.grants, &file->grants, ROWS_TOLD, &lines);
	rest = str_trim(buf_str(&lines));
	for (size_t i = 0; rest.n; i++) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		buf_addf(out, "%s%.*s", i ? "; " : " (", STR_ARG(line));
	}
	if (lines.n)
		buf_addc(out, ')');
}

int config_allow(struct config_file *file, const struct config_options *options,
		 struct err *err)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	struct verdict v;

	if (!file->found_in_cwd)
		return 0;
	judge(file, &v);
	if (!v.is_allowed && !options->passive && is_person_there())
		ask_person(file, &v);
	judge_browser(file, &v, options->server);
	if (v.is_allowed)
		return 0;
	buf_addf(&why, "%s %s", file->found, v.why_not);
	add_changes(file, &v, &why);
	if (v.is_in_vain)
		buf_addf(&why,
			 "; without an allowance it is used when it is "
			 "named: -c %s",
			 file->path);
	else
		buf_adds(&why,
			 "; to see what it may do, and allow it: matins allow");
	file->not_allowed = arena_strdup(&file->arena, buf_cstr(&why));
	if (options->passive)
		return 0;
	return err_set(err, ERR_NOT_ALLOWED, "%s", file->not_allowed);
}
