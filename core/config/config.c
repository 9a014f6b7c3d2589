#include "core/config/config.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/references.h"
#include "core/config/config_grants.h"
#include "core/config/config_inner.h"
#include "core/toml/toml.h"

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

static int parse(struct config_file *file, int fd, struct toml_value *ret_root)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CONFIG_BYTES);
	struct err err = ERR_INIT;

	/* one reading: the bytes that are judged are those that are parsed */
	if (fd_read_all(fd, &text, &err) < 0 ||
	    toml_parse(&file->arena, buf_str(&text), ret_root, &err) < 0) {
		findings_add(&file->findings, false, &err);
		return -1;
	}
	sha256_hex(buf_str(&text), file->sha256);
	return 0;
}

static int load(struct config_file *file, int fd,
		const struct config_options *options, struct err *err)
{
	__typeof__(routine_load) *load_tree;
	const char *path = file->config.path, *dir = file->config.dir;
	struct toml_value root;
	int r;

	if (parse(file, fd, &root) < 0)
		return first_error(file, options, err);
	load_tree = options->policy_only ? routine_load_policy : routine_load;
	r = load_tree(&root, options->lax, &file->arena, &file->config,
		      &file->findings);
	file->config.path = path;
	file->config.dir = dir;
	if (r < 0 && options->names_only)
		return first_error(file, options, err);
	file->grants = config_grants(&file->config, &file->arena);
	/* also behind errors of the loader: all are shown at once */
	if (!options->names_only)
		config_expand(file, options);
	if (!options->policy_only && !options->names_only && !options->server)
		references_check(&root, options->routine, &file->findings);
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
	if (config_find(options, file, &fd, err) < 0 ||
	    load(file, fd, options, err) < 0)
		return -1;
	if (config_allow(file, options, err) < 0)
		return -1;
	if (!options->quiet)
		log_warnings(file);
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
	findings_release(&file->unset);
	arena_release(&file->arena);
	*file = (struct config_file){.arena = ARENA_INIT};
}
