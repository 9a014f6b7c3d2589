#include "core/cli/rewrite.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/outfile.h"
#include "core/base/place.h"
#include "core/cli/put.h"
#include "core/config/config_allow.h"
#include "core/config/edit.h"
#include "core/config/paths.h"
#include "core/toml/toml.h"

int rewrite_read(const struct config_file *file, const char *command,
		 struct buf *text, struct err *err)
{
	char sha256[SHA256_HEX_BYTES];

	if (fd_read_regular(file->path, text, err) < 0)
		return -1;
	sha256_hex(buf_str(text), sha256);
	return strcmp(sha256, file->sha256) == 0
		       ? 0
		       : err_set(err, ERR_CONFIG,
				 "%s changed during the %s; %s again",
				 file->path, command, command);
}

int rewrite_check(const char *path, struct str text, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct findings findings = {0};
	struct toml_value root;
	struct config config;
	int r = toml_parse(&arena, text, &root, err);

	if (r == 0 &&
	    routine_load(&root, true, false, &arena, &config, &findings) < 0) {
		for (size_t i = 0; i < findings.n; i++)
			if (!findings.item[i].warning && !findings.item[i].note)
				*err = findings.item[i].err;
		r = err_wrap(err, "%s would be invalid", path);
	}
	findings_release(&findings);
	return r;
}

void rewrite_allow(const struct config_file *file, const char *command,
		   struct str text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct config_file now = {.path = NULL};
	const struct config_options options = {
		.path = file->path,
		.lax = true,
		.quiet = true,
		.names_only = true,
		.passive = true,
	};
	struct err err = ERR_INIT;
	struct allowance old;

	if (!file->found ||
	    allowed_find(NULL, file->found, &arena, &old, &err) != 0 ||
	    strcmp(old.sha256, file->sha256) != 0)
		return;
	sha256_hex(text, old.sha256);
	if (config_open(&options, &now, &err) < 0 ||
	    strcmp(now.sha256, old.sha256) != 0) {
		log_warning("%s: the new %s is not allowed yet: matins allow",
			    command, file->path);
	} else {
		old.grants = now.grants;
		if (allowed_keep(NULL, &old, &err) < 0)
			log_warning("%s: %s", command, err.msg);
	}
	config_release(&now);
}

bool rewrite_allow_new(const char *path, struct str text)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {
		.path = path,
		.names_only = true,
		.quiet = true,
		.passive = true,
	};
	char written[SHA256_HEX_BYTES];
	struct err err = ERR_INIT;

	sha256_hex(text, written);
	if (config_open(&options, &file, &err) < 0)
		log_warning("%s", err.msg);
	/* a program that may write here can have been faster */
	else if (strcmp(file.sha256, written) != 0)
		log_warning("%s was changed after it was written, so it is "
			    "not allowed; read it, then run matins allow",
			    path);
	else if (config_allow_keep(&file, false, &err) < 0)
		log_warning("%s", err.msg);
	else
		return true;
	return false;
}

const char *rewrite_path(const char *dir, const char *key, const char *value,
			 struct arena *arena)
{
	const struct {
		const char *folder, *name;
	} from[] = {{dir, "."}, {path_own_home(0), "~"}};
	char real[PATH_MAX];

	for (size_t i = 0; value[0] == '/' && i < ARRAY_LEN(from); i++)
		if (from[i].folder && realpath(from[i].folder, real) &&
		    place_covers(real, value)) {
			const char *rest = value + strlen(real);

			return arena_printf(arena, "%s%s", from[i].name,
					    !*rest && strcmp(key, "exec") == 0
						    ? "/"
						    : rest);
		}
	return value;
}

int rewrite_open(struct rewrite *r, const struct args *args,
		 const char *command, struct err *err)
{
	const char *named = args_get(args, "config");
	const struct config_options options = {
		.path = named && access(named, F_OK) == 0 ? named : NULL,
		.lax = true,
		.names_only = true,
		.quiet = true,
		.passive = true,
		.optional = true,
		.text = &r->old,
	};
	AUTO(mem_freep) char *copy = NULL;

	*r = (struct rewrite){
		.command = command,
		.is_named = named,
		.old = BUF_INIT(LIMIT_CONFIG_BYTES),
		.lock = -1,
	};
	if ((!named || options.path) &&
	    config_open(&options, &r->file, err) < 0)
		return -1;
	r->path = r->file.path ? r->file.path : named ? named : "matins.toml";
	copy = mem_strdup(path_resolve(r->path, NULL, &r->arena));
	r->dir = r->file.path ? r->file.config.dir
			      : arena_strdup(&r->arena, dirname(copy));
	return 0;
}

const struct config *rewrite_config(const struct rewrite *r)
{
	return r->file.path && !r->file.not_allowed ? &r->file.config : NULL;
}

/* Two processes that write one configuration do so one after the other. */
static int lock_folder(struct rewrite *r, struct err *err)
{
	r->lock = fd_open(r->dir, O_RDONLY | O_DIRECTORY, 0);
	return r->lock < 0 || flock(r->lock, LOCK_EX) < 0
		       ? err_sys(err, errno, "%s", r->dir)
		       : 0;
}

int rewrite_lock(struct rewrite *r, const struct args *args, struct err *err)
{
	const char *command = r->command;
	int lock, status;

	if (lock_folder(r, err) < 0)
		return -1;
	lock = r->lock;
	r->lock = -1;
	rewrite_release(r);
	status = rewrite_open(r, args, command, err);
	r->lock = lock;
	return status;
}

void rewrite_appended(const struct rewrite *r, struct str tables,
		      struct buf *out)
{
	buf_add_str(out, buf_str(&r->old));
	if (out->n && tables.n)
		buf_adds(out, out->p[out->n - 1] == '\n' ? "\n" : "\n\n");
	buf_add_str(out, tables);
}

int rewrite_write(struct rewrite *r, struct str text, struct err *err)
{
	AUTO(outfile_release) struct outfile f = OUTFILE_INIT;
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf now = BUF_INIT(LIMIT_CONFIG_BYTES);

	if (rewrite_check(r->path, text, err) < 0)
		return -1;
	if (str_eq(buf_str(&r->old), text)) {
		log_note("%s: %s stays as it is", r->command, r->path);
		return 0;
	}
	if (r->lock < 0 && lock_folder(r, err) < 0)
		return -1;
	if (r->file.path && rewrite_read(&r->file, r->command, &now, err) < 0)
		return -1;
	if (outfile_open(&f, r->path,
			 r->file.path ? OUTFILE_DURABLE : OUTFILE_NEW,
			 err) < 0 ||
	    outfile_write_str(&f, text, err) < 0)
		return -1;
	if (r->file.path)
		rewrite_allow(&r->file, r->command, text);
	else if (!r->is_named)
		(void)rewrite_allow_new(r->path, text);
	buf_addf(&diff, "--- %s\n+++ %s\n", r->path, r->path);
	edit_diff(buf_str(&r->old), text, &diff);
	log_note("%s: wrote %s", r->command, r->path);
	return put(buf_str(&diff), PUT_TEXT, err);
}

void rewrite_release(struct rewrite *r)
{
	fd_closep(&r->lock);
	buf_release(&r->old);
	config_release(&r->file);
	arena_release(&r->arena);
}
