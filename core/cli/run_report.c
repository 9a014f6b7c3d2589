#include "core/cli/run_report.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/progress.h"
#include "core/cli/put.h"
#include "core/report/render.h"
#include "core/config/paths.h"

int find_routine(const struct config *config, const char *name,
		 const struct routine **ret, struct err *err)
{
	const char *names[256];
	const char *near;
	size_t n = 0;

	*ret = config_routine(config, name);
	if (*ret)
		return 0;
	for (; n < config->n_routines && n < ARRAY_LEN(names); n++)
		names[n] = config->routines[n].name;
	near = str_nearest(str_of(name), names, n);
	if (near)
		return err_set(err, ERR_UNKNOWN_ROUTINE,
			       "%s has no routine %s; did you mean %s?",
			       config->path, name, near);
	return err_set(err, ERR_UNKNOWN_ROUTINE,
		       "%s has no routine %s; `matins list` shows those it has",
		       config->path, name);
}

int print_options_read(const struct args *args, struct print_options *ret,
		       struct err *err)
{
	static const char *const forms[] = {"json", "data", "md", "html"};
	const char *output = args_get(args, "output");

	*ret = (struct print_options){.form = "text", .output = OUTFILE_INIT};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (!args_has(args, forms[i]))
			continue;
		if (strcmp(ret->form, "text"))
			return err_set(err, ERR_USAGE,
				       "--%s and --%s: one form at a time",
				       ret->form, forms[i]);
		ret->form = forms[i];
	}
	ret->pretty = args_has(args, "pretty");
	ret->view = args_get(args, "view");
	if (ret->view && strcmp(ret->view, "full") &&
	    strcmp(ret->view, "golden"))
		return err_set(err, ERR_USAGE,
			       "--view %s: it is full or golden", ret->view);
	ret->to_file = output && strcmp(output, "-") != 0;
	return ret->to_file ? outfile_open(&ret->output, output,
					   OUTFILE_REPLACE, err)
			    : 0;
}

void print_options_release(struct print_options *o)
{
	outfile_release(&o->output);
}

/* What is printed, and how. */
struct printed {
	const struct report *report;
	const char *form;
	struct render_options options;
};

static void print_it(const void *arg, struct buf *out)
{
	const struct printed *p = arg;

	render_find(p->form)->print(p->report, &p->options, out);
}

int print_report(const struct report *r, struct print_options *o,
		 struct err *err)
{
	const struct printed printed = {
		.report = r,
		.form = o->form,
		.options = {.view = o->view && strcmp(o->view, "golden") == 0
					    ? VIEW_GOLDEN
					    : VIEW_FULL,
			    .pretty = o->pretty,
			    .single = o->single},
	};
	const bool is_json =
		!strcmp(o->form, "json") || !strcmp(o->form, "data");
	const struct fd_text text = {print_it, &printed};

	if (o->to_file)
		return outfile_write(&o->output, &text, err);
	return put_print(&text, is_json ? PUT_JSON : PUT_TEXT, err);
}

static int read_jobs(const struct args *args, unsigned *ret, struct err *err)
{
	const char *text = args_get(args, "jobs");
	uint64_t n;

	if (!text)
		return 0;
	if (!str_uint64(str_of(text), &n) || n < 1 || n > LIMIT_STEPS)
		return err_set(err, ERR_USAGE,
			       "--jobs %s: a number from 1 to %d", text,
			       LIMIT_STEPS);
	*ret = (unsigned)n;
	return 0;
}

static int params_are_pairs(const struct strlist *params, struct err *err)
{
	for (size_t i = 0; i < params->n; i++)
		if (!strchr(params->item[i], '=') || *params->item[i] == '=')
			return err_set(err, ERR_USAGE, "-p %s: write KEY=VALUE",
				       params->item[i]);
	return 0;
}

static int run_opened(const struct args *args, const struct config_file *file,
		      const char *routine_name, const char *step_name,
		      struct print_options *print, struct arena *arena,
		      struct err *err)
{
	struct progress progress;
	struct run_result result;
	struct run_options o = {
		.file = file,
		.only_step = step_name,
		.only = args_all(args, "only", arena),
		.skip = args_all(args, "skip", arena),
		.params = args_all(args, "param", arena),
		.dry_run = args_has(args, "dry-run"),
		.allow_empty = args_has(args, "allow-empty"),
		.require_ledger = args_has(args, "require-ledger"),
	};
	int status;

	if (find_routine(&file->config, routine_name, &o.routine, err) < 0 ||
	    read_jobs(args, &o.jobs, err) < 0 ||
	    params_are_pairs(&o.params, err) < 0 ||
	    path_check_links_of(print->output.path, &print->output.folder,
				&file->config, err) < 0)
		return -1;
	progress_init(&progress, &o.observer);
	status = run_routine(&o, &result, err);
	progress_end(&progress);
	if (status < 0)
		return -1;
	if (result.busy_skipped) {
		log_note("%s is running already: skipped (on_busy = \"skip\")",
			 routine_name);
		if (strcmp(print->form, "json") == 0)
			printf("{\"busy\":true}\n");
		status = 0;
	} else {
		status = print_report(&result.report, print, err);
		if (status == 0)
			status = result.exit_status;
		else if (print->to_file && result.report.generation)
			log_note("the report is kept: matins show %llu",
				 (unsigned long long)result.report.generation);
	}
	run_result_release(&result);
	return status;
}

int run_and_print(const struct args *args, const char *routine_name,
		  const char *step_name, struct err *err)
{
	struct config_options options = {
		.path = args_get(args, "config"),
		.lax = args_has(args, "lax"),
		.routine = routine_name,
	};
	struct arena arena = ARENA_INIT;
	struct print_options print;
	struct config_file file;
	int status;

	if (print_options_read(args, &print, err) < 0)
		return -1;
	print.single = step_name != NULL;
	status = config_open(&options, &file, err);
	if (status == 0)
		status = run_opened(args, &file, routine_name, step_name,
				    &print, &arena, err);
	config_release(&file);
	print_options_release(&print);
	arena_release(&arena);
	return status;
}
