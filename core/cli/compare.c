#include "core/cli/compare.h"

#include <errno.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/put.h"
#include "core/config/paths.h"
#include "core/run/approve.h"

int compare_format(const struct args *args, const struct diff_format **ret,
		   struct err *err)
{
	const char *format = args_get(args, "format");

	if (!format)
		format = args_has(args, "json") ? "json" : "text";
	*ret = diff_format_find(format);
	return *ret ? 0 : args_bad("format", format, COMPARE_FORMATS, err);
}

int compare_put(const struct diff *d, const struct diff_format *format,
		const char *after, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	diff_print(d, format, &out);
	buf_adds(&out, after);
	return put(buf_str(&out), format->json ? PUT_JSON : PUT_TEXT, err);
}

int compare_warn_unused(const struct golden *g, const struct args *args,
			struct err *err)
{
	const bool strict = args_has(args, "strict");
	const struct rule *unused = NULL;

	for (size_t i = 0; i < g->rules.n; i++) {
		const struct rule *rule = &g->rules.item[i];

		if (rule->hits || !rule->at)
			continue;
		unused = rule;
		if (!strict)
			log_warning("%s rule %s matches nothing",
				    rule_name(rule->kind), rule->path);
	}
	if (unused && strict)
		return err_set(err, ERR_COMPARE,
			       "%s rule %s matches nothing (--strict): "
			       "remove it, or correct its path",
			       rule_name(unused->kind), unused->path);
	return 0;
}

int compare_status(int status, struct err *err)
{
	if (status < 0 && err->kind != ERR_USAGE && err->kind != ERR_BUSY)
		err->kind = ERR_COMPARE;
	return status;
}

int compare_read(const char *path, const char *project,
		 const struct config *config, struct arena *arena,
		 struct str *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);

	if (path_read(path, project, config, &text, err) < 0)
		return -1;
	*ret = arena_buf(arena, &text);
	return 0;
}

int compare_open(struct outfile *f, const char *path,
		 const struct config *config, struct err *err)
{
	AUTO(mem_freep) char *dir = mem_strdup(path);
	char *slash = strrchr(dir, '/');

	if (slash && slash != dir) {
		*slash = '\0';
		if (fd_mkdirs(dir, 0777) < 0)
			return err_sys(err, errno, "create %s", dir);
	}
	if (outfile_open(f, path, OUTFILE_DURABLE, err) < 0)
		return -1;
	return config ? path_check_links_of(path, &f->folder, config, err) : 0;
}

int compare_in_ci(const char *done, const char *verb, const char *path,
		  struct err *err)
{
	if (!done || !approve_in_ci())
		return 0;
	return err_set(err, ERR_CONFIG,
		       "CI is set: nothing is %s; %s where a person reviews %s "
		       "and commits it",
		       done, verb, path);
}
