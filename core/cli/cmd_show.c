/*
 * A report of the past, printed again.
 */

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/cli/command.h"
#include "core/cli/kept_report.h"
#include "core/cli/put.h"

const struct option options_show[] = {
	REPORT_OPTIONS,
	{0},
};

/* Report whether the stored bytes are printed, with unknown members. */
static bool is_verbatim(const struct print_options *o)
{
	return !strcmp(o->form, "json") && !o->pretty && !o->to_file &&
	       (!o->view || !strcmp(o->view, "full"));
}

int cmd_show(const struct args *args, struct err *err)
{
	struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	struct kept_query q = {
		.which = args->positional[0],
		.routine = args->n_positional > 1 ? args->positional[1] : NULL,
	};
	struct arena arena = ARENA_INIT;
	struct print_options print;
	struct report report;
	int status;

	if (print_options_read(args, &print, err) < 0)
		return -1;
	status = kept_file(args, q.routine, &arena, &q.file, err);
	if (status == 0)
		status = kept_report(&q, &arena, &text, NULL, err);
	if (status == 0 && is_verbatim(&print)) {
		status = put(buf_str(&text), PUT_JSON, err);
	} else if (status == 0) {
		status = report_load(buf_str(&text), &arena, &report, err);
		if (status == 0)
			status = print_report(&report, &print, err);
	}
	print_options_release(&print);
	arena_release(&arena);
	buf_release(&text);
	return status;
}
