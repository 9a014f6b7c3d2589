#include "core/run/config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/config_inner.h"
#include "core/toml/toml.h"

/* ---- where it lies ---- */

struct place {
	const char *path; /* NULL when its variable is not set */
	const char *who;  /* "$NAME" or "" named it; NULL: a usual place */
	bool in_cwd;
};

const char *config_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static const char *beneath(struct arena *arena, const char *folder,
			   const char *rest)
{
	return folder ? arena_printf(arena, "%s/%s", folder, rest) : NULL;
}

#define N_PLACES 7

static void find_places(struct arena *arena, const char *named,
			struct place place[N_PLACES])
{
	const char *home = config_variable("HOME");
	const char *xdg = config_variable("XDG_CONFIG_HOME");
	const char *own =
		xdg && xdg[0] == '/'
			? beneath(arena, xdg, "matins/config.toml")
			: beneath(arena, home, ".config/matins/config.toml");

	place[0] = (struct place){named, "", false};
	place[1] = (struct place){config_variable("MATINS_CONFIG"),
				  "$MATINS_CONFIG", false};
	place[2] = (struct place){"matins.toml", NULL, true};
	place[3] = (struct place){own, NULL, false};
	place[4] = (struct place){config_variable("MODULEX_CONFIG"),
				  "$MODULEX_CONFIG", false};
	place[5] = (struct place){"modulex.toml", NULL, true};
	place[6] = (struct place){beneath(arena, home, ".modulex/config.toml"),
				  NULL, false};
}

static int not_found(const struct place *place, struct err *err)
{
	struct buf list = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < N_PLACES; i++)
		if (place[i].path)
			buf_addf(&list, "%s%s", list.n ? ", " : "",
				 place[i].path);
	err_set(err, ERR_UNKNOWN,
		"there is no configuration; looked for %s; `matins init` "
		"writes a starter file, --config names one",
		buf_cstr(&list));
	buf_release(&list);
	return -1;
}

/* A fifo must not make us wait for its writer: it is refused later. */
static int open_place(const struct place *p, int *ret_fd, struct err *err)
{
	int fd = fd_open(p->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	const char *who = p->who ? p->who : "";

	if (fd < 0 && !p->who && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return err_set(err, ERR_CONFIG, "%s%s%s: %s", who,
			       *who ? " " : "", p->path, strerror(errno));
	*ret_fd = fd;
	return 0;
}

static int find(const struct config_options *options, struct config_file *file,
		int *ret_fd, struct err *err)
{
	struct place place[N_PLACES];

	find_places(&file->arena, options->path, place);
	for (size_t i = 0; i < N_PLACES; i++) {
		int fd = -1;

		if (!place[i].path)
			continue;
		if (open_place(&place[i], &fd, err) < 0)
			return -1;
		if (fd < 0)
			continue;
		file->path = arena_strdup(&file->arena, place[i].path);
		file->found_in_cwd = place[i].in_cwd;
		*ret_fd = fd;
		return 0;
	}
	return not_found(place, err);
}

/* ---- whether to trust it ---- */

/* A group that has nobody but the user in it, as Debian makes them. */
static bool is_own_group(gid_t gid)
{
	const struct group *g = gid == getegid() ? getgrgid(gid) : NULL;
	const struct passwd *p = g ? getpwuid(geteuid()) : NULL;

	if (!p || strcmp(g->gr_name, p->pw_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, p->pw_name) != 0)
			return false;
	return true;
}

static int check_trust(const struct config_file *file, int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_CONFIG, "%s: %s", file->path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_CONFIG, "%s: not a regular file",
			       file->path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(err, ERR_CONFIG,
			       "%s belongs to another user (uid %u), who "
			       "could make you run anything; copy it, or "
			       "`chown %u %s`",
			       file->path, st.st_uid, geteuid(), file->path);
	if ((st.st_mode & S_IWOTH) ||
	    ((st.st_mode & S_IWGRP) && !is_own_group(st.st_gid)))
		return err_set(err, ERR_CONFIG,
			       "%s is writable by others, who could make you "
			       "run anything; `chmod go-w %s`",
			       file->path, file->path);
	return 0;
}

/* ---- findings ---- */

void config_add_place(const struct config_file *file, const struct err *err,
		      struct buf *out)
{
	buf_adds(out, file->path);
	if (err->line)
		buf_addf(out, ":%u:%u", err->line, err->col);
	buf_addf(out, ": %s", err->msg);
}

void config_add_finding(struct config_file *file, bool warning, uint32_t line,
			uint32_t col, const char *fmt, ...)
{
	struct err err = {.kind = ERR_CONFIG, .line = line, .col = col};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
	va_end(ap);
	findings_add(&file->findings, warning, &err);
}

/* `check` reads configurations; a file of --policy is judged here alone. */
static void log_further_errors(const struct config_file *file,
			       const struct finding *last)
{
	for (size_t i = 0; i < file->findings.n; i++) {
		const struct finding *f = &file->findings.item[i];
		struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (f->warning || f == last)
			continue;
		config_add_place(file, &f->err, &text);
		log_error("%s", buf_cstr(&text));
		buf_release(&text);
	}
}

/*
 * The first error becomes the one that the caller shows; of a policy file the
 * last, behind the others.
 */
static int first_error(const struct config_file *file,
		       const struct config_options *options, struct err *err)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct findings *f = &file->findings;
	const struct finding *first = NULL;
	uint64_t more = f->dropped;

	for (size_t i = 0; i < f->n; i++) {
		if (f->item[i].warning)
			continue;
		more += first != NULL;
		if (!first || options->policy_only)
			first = &f->item[i];
	}
	assert(first);
	config_add_place(file, &first->err, &text);
	if (options->policy_only)
		log_further_errors(file, first);
	else if (more)
		buf_addf(&text, " (and %llu more: `matins check %s`)",
			 (unsigned long long)more, file->path);
	err_at(err, first->err.kind, first->err.line, first->err.col, "%s",
	       buf_cstr(&text));
	buf_release(&text);
	return -1;
}

static void log_warnings(const struct config_file *file)
{
	for (size_t i = 0; i < file->findings.n; i++) {
		const struct finding *f = &file->findings.item[i];
		struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (!f->warning || f->note)
			continue;
		config_add_place(file, &f->err, &text);
		log_warning("%s", buf_cstr(&text));
		buf_release(&text);
	}
}

/* ---- all of it ---- */

static int set_folder(struct config_file *file, struct err *err)
{
	AUTO(mem_freep) char *copy = mem_strdup(file->path);
	AUTO(mem_freep) char *folder = realpath(dirname(copy), NULL);
	AUTO(mem_freep) char *copy2 = mem_strdup(file->path);

	if (!folder)
		return err_set(err, ERR_CONFIG, "%s: its folder: %s",
			       file->path, strerror(errno));
	file->config.dir = arena_strdup(&file->arena, folder);
	file->config.path = arena_printf(&file->arena, "%s/%s",
					 strcmp(folder, "/") ? folder : "",
					 basename(copy2));
	return 0;
}

static int parse(struct config_file *file, int fd, struct toml_value *ret_root)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct err err = ERR_INIT;

	if (fd_read_all(fd, &text, &err) < 0 ||
	    toml_parse(&file->arena, buf_str(&text), ret_root, &err) < 0) {
		findings_add(&file->findings, false, &err);
		return -1;
	}
	return 0;
}

static int load(struct config_file *file, int fd,
		const struct config_options *options, struct err *err)
{
	__typeof__(routine_load) *load_tree;
	struct toml_value root;

	if (parse(file, fd, &root) < 0)
		return first_error(file, options, err);
	load_tree = options->policy_only ? routine_load_policy : routine_load;
	if (load_tree(&root, options->lax, &file->arena, &file->config,
		      &file->findings) < 0 &&
	    options->names_only)
		return first_error(file, options, err);
	if (set_folder(file, err) < 0)
		return -1;
	/* also behind errors of the loader: all are shown at once */
	if (!options->names_only)
		config_expand(file, options);
	config_check(file);
	findings_sort(&file->findings);
	return file->findings.has_error ? first_error(file, options, err) : 0;
}

int config_open(const struct config_options *options,
		struct config_file *ret_file, struct err *err)
{
	AUTO(fd_closep) int fd = -1;
	struct config_file *file = ret_file;

	*file = (struct config_file){.arena = ARENA_INIT};
	if (find(options, file, &fd, err) < 0)
		return -1;
	if (check_trust(file, fd, err) < 0 || load(file, fd, options, err) < 0)
		return -1;
	if (options->quiet)
		return 0;
	log_warnings(file);
	if (file->found_in_cwd && !options->names_only)
		config_log_grants(file);
	return 0;
}

static void wipe(const char *secret)
{
	/* it lies in the arena, which is ours to write */
	if (secret)
		mem_wipe((char *)(uintptr_t)secret, strlen(secret));
}

void config_release(struct config_file *file)
{
	const struct expansion *e = file->config.expansions;

	for (; e; e = e->next)
		if (e->kind == EXPAND_HEADER)
			wipe(*e->slot);
	for (size_t i = 0; i < file->header_values.n; i++)
		wipe(file->header_values.item[i]);
	free(file->header_values.item);
	findings_release(&file->findings);
	arena_release(&file->arena);
	*file = (struct config_file){.arena = ARENA_INIT};
}
