#include "core/cli/golden_print.h"

#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"

int golden_format(const struct args *args, enum diff_format *ret,
		  struct err *err)
{
	const char *format = args_get(args, "format");

	*ret = args_has(args, "json") ? DIFF_JSON : DIFF_TEXT;
	if (!format)
		return 0;
	if (!strcmp(format, "json"))
		*ret = DIFF_JSON;
	else if (!strcmp(format, "text"))
		*ret = DIFF_TEXT;
	else
		return args_bad("format", format, "text or json", err);
	return 0;
}

int golden_warn_unused(const struct golden *g, bool strict, struct err *err)
{
	const char *unused = NULL;

	for (size_t i = 0; i < g->n_rules; i++) {
		if (g->rule[i].hits)
			continue;
		unused = g->rule[i].text;
		if (!strict)
			log_warning("ignore rule %s matches nothing", unused);
	}
	if (unused && strict)
		return err_set(err, ERR_COMPARE,
			       "ignore rule %s matches nothing (--strict): "
			       "remove it, or correct its path",
			       unused);
	return 0;
}

int golden_cannot_compare(int status, struct err *err)
{
	if (status < 0 && err->kind != ERR_USAGE && err->kind != ERR_BUSY)
		err->kind = ERR_COMPARE;
	return status;
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
