/*
 * `matins allow` lets the configuration of a folder be used, as it is now;
 * `matins disallow` takes that back. `matins init` writes a starter that is
 * allowed at once.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/outfile.h"
#include "core/base/place.h"
#include "core/cli/command.h"
#include "core/cli/live.h"
#include "core/cli/put.h"
#include "core/cli/rewrite.h"
#include "core/config/config_allow.h"
#include "core/secret/literal.h"

/* ---- which configuration ---- */

static const char *const names[] = {"matins.toml", "modulex.toml"};

/* The path ends in a name under which a configuration is found. */
static bool is_name(const char *path)
{
	const char *name = place_name(path);

	return strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0;
}

/*
 * matins.toml, else modulex.toml, of the folder that is named, or of the
 * current one; the file itself may be named as well. NULL with `err`: none.
 */
static const char *find_config(const struct args *args, struct arena *arena,
			       struct err *err)
{
	const char *dir = args->n_positional ? args->positional[0] : ".";
	struct stat st;

	if (is_name(dir) && stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return dir;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = arena_printf(arena, "%s/%s", dir, names[i]);

		if (lstat(path, &st) == 0)
			return path;
	}
	err_set(err, ERR_UNKNOWN,
		"%s has neither matins.toml nor modulex.toml; use a file of "
		"another name with -c FILE, which needs no allowance",
		dir);
	return NULL;
}

/* ---- allow ---- */

const struct option options_allow[] = {
	{"edits", 0, NULL, "allow later edits of the file, too"},
	{"list", 0, NULL, "list the allowances"},
	{"json", 0, NULL, "with --list: print one JSON document"},
	{0},
};

/* Whether it holds, by the file as it is now. */
static const char *state_of(const struct allowance *a)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	char sha256[SHA256_HEX_BYTES];

	if (access(a->path, F_OK) < 0)
		return "gone";
	if (a->edits)
		return "edits";
	if (fd_read_regular(a->path, &text, ERR_IGNORED) < 0)
		return "unreadable";
	sha256_hex(buf_str(&text), sha256);
	return strcmp(sha256, a->sha256) == 0 ? "allowed" : "changed";
}

static void add_json(struct jw *w, const struct allowance *a)
{
	char when[CLOCK_TEXT_BYTES];

	clock_format(a->wall_ms * (int64_t)NS_PER_MS, when);
	jw_object(w);
	jw_kv_cstr(w, "path", a->path);
	jw_kv_opt(w, "target", a->target);
	jw_kv_cstr(w, "state", state_of(a));
	jw_kv_bool(w, "edits", a->edits);
	jw_kv_bool(w, "on_terminal", a->by_person);
	jw_kv_cstr(w, "sha256", a->sha256);
	jw_kv_cstr(w, "allowed_at", when);
	jw_kv_array(w, "grants");
	for (size_t i = 0; i < a->grants.n; i++) {
		AUTO(buf_release) struct buf row = BUF_INIT(BUF_UNBOUNDED);

		literal_mask(str_of(a->grants.item[i]), &row);
		jw_str(w, buf_str(&row));
	}
	jw_end(w);
	jw_end(w);
}

static int list(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(page_release) struct page page;
	struct allowance *all;
	size_t n;

	page_open(&page, args);
	if (allowed_list(NULL, &arena, &all, &n, err) < 0)
		return -1;
	if (page.is_json)
		jw_kv_array(&page.w, "allowed");
	for (size_t i = 0; i < n; i++) {
		if (page.is_json) {
			add_json(&page.w, &all[i]);
			continue;
		}
		buf_addf(&page.out, "%-10s  ", state_of(&all[i]));
		log_visible(&page.out, str_of(all[i].path), false);
		buf_addc(&page.out, '\n');
	}
	if (page.is_json)
		jw_end(&page.w);
	else if (!n)
		log_note("no configuration is allowed");
	return page_put(&page, err);
}

static int allow(const struct args *args, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const bool edits = args_has(args, "edits");
	const struct config_options options = {
		.path = find_config(args, &arena, err),
		.lax = args_has(args, "lax"),
		.names_only = true,
		.passive = true,
	};

	if (!options.path || config_open(&options, &file, err) < 0)
		return -1;
	if (log_level() >= LOG_NOTE) {
		log_visible(&out, str_of(file.found), false);
		buf_addc(&out, '\n');
		config_allow_show(&file, 0, &out);
		live_put(&out);
	}
	if (config_allow_keep(&file, edits, err) < 0)
		return -1;
	log_note(edits ? "allowed, with all later edits"
		       : "allowed as it is now");
	return 0;
}

int cmd_allow(const struct args *args, struct err *err)
{
	const bool is_list = args_has(args, "list");

	if (args_has(args, "config"))
		return err_set(err, ERR_USAGE,
			       "allow: -c names a file, which needs no "
			       "allowance; name a folder, or none");
	if (is_list && (args->n_positional || args_has(args, "edits")))
		return err_set(err, ERR_USAGE,
			       "allow: --list takes no folder and no --edits");
	if (args_has(args, "json") && !is_list)
		return err_set(err, ERR_USAGE, "allow: --json is for --list");
	return is_list ? list(args, err) : allow(args, err);
}

/* ---- disallow ---- */

const struct option options_disallow[] = {{0}};

/* The path under which it was kept; as it is written without that folder. */
static const char *real_path(const char *path, struct arena *arena)
{
	AUTO(mem_freep) char *copy = mem_strdup(path);
	AUTO(mem_freep) char *folder = realpath(dirname(copy), NULL);

	if (!folder)
		return path;
	return arena_printf(arena, "%s/%s", strcmp(folder, "/") ? folder : "",
			    place_name(path));
}

/* 0: it is forgotten. 1: it was not allowed. */
static int forget(const char *path, struct arena *arena, struct err *err)
{
	const char *real = real_path(path, arena);
	int r = allowed_forget(NULL, real, err);

	if (r == 0)
		log_note("%s is no longer allowed", real);
	return r;
}

/* A folder stands for both names, even if the files are gone. */
int cmd_disallow(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *named = args->n_positional ? args->positional[0] : ".";
	int all = 1;

	if (is_name(named))
		all = forget(named, &arena, err);
	for (size_t i = 0; !is_name(named) && i < ARRAY_LEN(names); i++) {
		int r = forget(arena_printf(&arena, "%s/%s", named, names[i]),
			       &arena, err);

		if (r < 0)
			return -1;
		all &= r;
	}
	if (all <= 0)
		return all;
	return err_set(err, ERR_UNKNOWN,
		       "%s was not allowed; `matins allow --list` lists the "
		       "allowed files",
		       named);
}

/* ---- init ---- */

const struct option options_init[] = {{0}};

/* core/cli/starter.toml, a line a string. */
static const char starter[] =
#include "gen/starter.inc"
	;

int cmd_init(const struct args *args, struct err *err)
{
	AUTO(outfile_release) struct outfile f = OUTFILE_INIT;
	const char *named = args->n_positional ? args->positional[0]
					       : args_get(args, "config");
	const char *path = named ? named : names[0];

	if (outfile_open(&f, path, OUTFILE_NEW, err) < 0 ||
	    outfile_write_str(&f, str_of(starter), err) < 0)
		return -1;
	if (is_name(path) && !rewrite_allow_new(path, str_of(starter)))
		named = path;
	if (named)
		log_note("wrote %s; `matins run -c %s hello` runs it", path,
			 path);
	else
		log_note("wrote %s; `matins run hello` runs it", path);
	return 0;
}
