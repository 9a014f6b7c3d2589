/*
 * `matins run` and `matins step`: run a routine, or one step of it, and print
 * the report.
 */
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/live.h"
#include "core/cli/param_options.h"
#include "core/cli/put.h"
#include "core/config/nest.h"
#include "core/config/paths.h"
#include "core/run/events.h"
#include "core/run/run.h"

#define RUN_OPTIONS                                                         \
	{"only", 0, "A,B", "run only these steps; may be repeated"},        \
		{"skip", 0, "A,B", "leave these steps out"}, PARAM_OPTIONS, \
		{"dry-run", 'n', NULL, "check everything, start nothing"},  \
		{"jobs", 'j', "N", "run at most N steps at once"},          \
		{"approve", 0, "NAME",                                      \
		 "answer yes to the step NAME of type approve; may be "     \
		 "repeated"},                                               \
		{"no-cache", 0, NULL, "run steps whose result is cached"},  \
		REPORT_OPTIONS,                                             \
		{"allow-empty", 0, NULL, "succeed even if no step runs"},   \
	{                                                                   \
		"require-ledger", 0, NULL,                                  \
			"fail if the run cannot be recorded"                \
	}

#define EVENT_OPTION                                                    \
	{                                                               \
		"events", 0, "FILE|N", "tell each event as a JSON line" \
	}

const struct option options_run[] = {
	RUN_OPTIONS,
	{"from", 0, "STEP",
	 "run from there; take what is before from the last run"},
	{"resume", 0, "N", "run what was not ok in run N (or last), or is new"},
	EVENT_OPTION,
	{0},
};
const struct option options_step[] = {RUN_OPTIONS, EVENT_OPTION, {0}};

static int approvals_are_there(const struct config *config,
			       const struct run_options *o, struct err *err)
{
	for (size_t i = 0; i < o->approved.n; i++)
		if (!nest_has_approval(config, o->routine,
				       str_of(o->approved.item[i])))
			return err_set(err, ERR_USAGE,
				       "--approve %s: routine %s has no such "
				       "step of type approve; one of a routine "
				       "within is STEP/NAME",
				       o->approved.item[i], o->routine->name);
	return 0;
}

/* "backup, summary": steps that are ok, and were refused something. */
static const char *refused_steps(const struct report *r, struct arena *arena)
{
	const char *names = "";

	for (size_t i = 0; i < r->n_steps; i++)
		if (r->steps[i].refused && report_step_success(&r->steps[i]))
			names = arena_printf(arena, "%s%s%s", names,
					     *names ? ", " : "",
					     r->steps[i].name);
	return names;
}

/*
 * Cron mails standard error: a report in a file must neither fail in silence,
 * nor hold a result that was dropped. -q does not hide that.
 */
static void say_trouble(const struct run_result *result,
			const struct print_options *print, struct arena *arena)
{
	const char *path = print->output.path, *summary, *refused;

	if (!path)
		return;
	summary = report_summary(&result->report, arena);
	refused = refused_steps(&result->report, arena);
	if (result->exit_status)
		log_error("%s; the report is in %s", summary, path);
	else if (*refused)
		log_error("%s (%s): %s says what was refused or dropped, and "
			  "how to allow it",
			  summary, refused, path);
}

static int run_opened(const struct args *args, const struct config_file *file,
		      struct print_options *print, struct arena *arena,
		      struct err *err)
{
	const char *name = args->positional[0];
	AUTO(events_freep) struct events *events = NULL;
	const char *to = args_get(args, "events");
	struct progress progress;
	struct run_result result;
	struct run_options o = {
		.file = file,
		.only_step = args->positional[1],
		.only = args_all(args, "only", arena),
		.skip = args_all(args, "skip", arena),
		.approved = args_all(args, "approve", arena),
		.from = args_get(args, "from"),
		.resume = args_get(args, "resume"),
		.dry_run = args_has(args, "dry-run"),
		.no_cache = args_has(args, "no-cache"),
		.allow_empty = args_has(args, "allow-empty"),
		.require_ledger = args_has(args, "require-ledger"),
		.shows_advice =
			!print->output.path &&
			(!print->view || strcmp(print->view, "full") == 0) &&
			strcmp(print->form, "data") != 0,
	};
	int status;

	if ((o.from || o.resume) &&
	    (o.only_step || o.only.n || o.skip.n || (o.from && o.resume)))
		return err_set(err, ERR_USAGE,
			       "--from and --resume say which steps run: write "
			       "one of them, without --only and --skip");
	if (find_routine(&file->config, name, &o.routine, err) < 0 ||
	    approvals_are_there(&file->config, &o, err) < 0 ||
	    args_count(args, "jobs", LIMIT_STEPS, &o.jobs, err) < 0 ||
	    param_options_read(args, arena, &o.given, err) < 0 ||
	    path_check_links_of(print->output.path, &print->output.folder,
				&file->config, err) < 0 ||
	    (to && events_open(to, &file->config, &events, err) < 0))
		return -1;
	o.events = events;
	progress_init(&progress, &o.observer);
	status = run_routine(&o, &result, err);
	progress_end(&progress);
	if (status < 0)
		return -1;
	if (result.busy_skipped) {
		log_note("%s is running already: skipped (on_busy = \"skip\")",
			 name);
		status = 0;
		if (strcmp(print->form, "json") == 0)
			printf("{\"busy\":true}\n");
	} else {
		status = print_report(&result.report, print, err);
		if (status == 0) {
			status = result.exit_status;
			say_trouble(&result, print, arena);
		} else if (print->output.path && result.report.generation) {
			log_note("the report is stored: matins show %llu",
				 (unsigned long long)result.report.generation);
		}
	}
	run_result_release(&result);
	return status;
}

/* With one word a routine is run, with two of them one step. */
int cmd_run(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {.routine = args->positional[0]};
	struct print_options print;
	int status;

	if (print_options_read(args, &print, err) < 0)
		return -1;
	print.single = args->n_positional > 1;
	status = open_config(args, options, &file, err);
	if (status == 0)
		status = run_opened(args, &file, &print, &arena, err);
	outfile_release(&print.output);
	return status;
}

int cmd_step(const struct args *args, struct err *err)
{
	return cmd_run(args, err);
}
