/*
 * `matins run` and `matins step`: run a routine, or one step of it, and print
 * the report.
 */
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/confirm.h"
#include "core/cli/open.h"
#include "core/cli/live.h"
#include "core/cli/param_options.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/config/nest.h"
#include "core/config/paths.h"
#include "core/report/schedule.h"
#include "core/run/approve.h"
#include "core/run/changes.h"
#include "core/run/events.h"
#include "core/run/notify.h"
#include "core/run/previous.h"
#include "core/run/run.h"
#include "core/run/tool_policy.h"

#define RUN_OPTIONS                                                         \
	{"only", 0, "A,B", "run only these steps; may be repeated"},        \
		{"skip", 0, "A,B", "leave these steps out"}, PARAM_OPTIONS, \
		{"dry-run", 'n', NULL, "check everything, start nothing"},  \
		{"jobs", 'j', "N", "run at most N steps at once"},          \
		{"approve", 0, "NAME",                                      \
		 "answer yes to the step NAME of type approve; may be "     \
		 "repeated"},                                               \
		{"yes", 'y', NULL,                                          \
		 "agree to tools that `confirm` of a server names"},        \
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
	{"slot", 0, "TIME",
	 "run once for this time, or the last of a calendar expression"},
	{"record", 0, "DIR", "keep what servers and programs said in DIR"},
	{"replay", 0, "DIR", "start nothing: they say what is kept in DIR"},
	{"changes", 0, NULL,
	 "add what changed since the last whole run that was ok"},
	EVENT_OPTION,
	{0},
};
const struct option options_step[] = {RUN_OPTIONS, EVENT_OPTION, {0}};

static bool was_refused(const struct report_step *s)
{
	return s->refused;
}

static bool lacks_content(const struct report_step *s)
{
	return s->lacks == LACKS_CONTENT;
}

static bool lacks_means(const struct report_step *s)
{
	return s->reason == REASON_NO_COMMAND ||
	       s->reason == REASON_NO_CREDENTIAL;
}

/* Successes that nobody should take for one unseen, the worst first. */
static const struct {
	bool (*is)(const struct report_step *s);
	const char *says; /* of the file of the report */
} doubts[] = {
	{was_refused, "says what was refused or dropped, and how to allow it"},
	{lacks_means, "says what is missing; enabled = false skips it without "
		      "a word"},
	{lacks_content, "is empty there; where that is right, let `expect` say "
			"so"},
};

/*
 * Cron mails standard error: a report in a file must neither fail in silence,
 * nor hold a result that was dropped, left out or is empty. -q does not hide
 * that.
 */
static void say_trouble(const struct run_result *result,
			const struct print_options *print, struct arena *arena)
{
	const char *path = print->output.path, *summary, *names = "";
	const struct report *r = &result->report;

	if (!path)
		return;
	summary = report_summary(r, arena);
	if (result->exit_status)
		log_error("%s; the report is in %s", summary, path);
	for (size_t k = 0; !result->exit_status && k < ARRAY_LEN(doubts); k++) {
		for (size_t i = 0; i < r->n_steps; i++)
			if (report_step_success(&r->steps[i]) &&
			    doubts[k].is(&r->steps[i]))
				names = arena_printf(arena, "%s%s%s", names,
						     *names ? ", " : "",
						     r->steps[i].name);
		if (!*names)
			continue;
		log_error("%s (%s): %s %s", summary, names, path,
			  doubts[k].says);
		return;
	}
}

/*
 * Read --slot.
 *
 * slot     where its text is put
 * returns  1: the schedule of the routine is younger
 */
static int read_slot(const struct args *args, struct run_options *o,
		     char slot[SLOT_BYTES], struct arena *arena,
		     struct err *err)
{
	const char *word = args_get(args, "slot");
	struct schedule *s;
	size_t n;

	if (!word)
		return 0;
	if (o->from || o->resume || o->only.n || o->skip.n)
		return err_set(err, ERR_USAGE,
			       "--slot is for the whole routine: leave out "
			       "--only, --skip, --from and --resume");
	schedule_read(state_dir_find(arena), arena, &s, &n);
	o->slot = slot;
	return schedule_slot(
		word, schedule_of(s, n, o->file->config.path, o->routine->name),
		clock_system()->wall_ns(clock_system()), slot,
		&o->slot_since_ns, err);
}

/* Say that nothing was run, and why, which is no failure. */
static int say_skipped(const struct print_options *print, const char *why,
		       const char *json)
{
	log_note("%s", why);
	if (strcmp(print->form, "json") == 0)
		printf("%s\n", json);
	return 0;
}

/* Skips because of one run that goes on for longer are said with -q, too. */
#define HANGS_NS (24 * 3600 * (int64_t)NS_PER_S)

/* Say which run the routine is busy with. */
static int say_busy(const struct run_options *o,
		    const struct print_options *print, struct arena *arena)
{
	const struct past_filter filter = {
		.routine = o->routine->name,
		.file = o->file->config.path,
		.max = 100,
	};
	AUTO(ledger_freep) struct ledger *l = NULL;
	const struct ledger_run *const *runs;
	const char *text = arena_printf(
		arena, "%s is running already: skipped (on_busy = \"skip\")",
		filter.routine);
	const int64_t now = clock_system()->wall_ns(clock_system());
	bool more, hangs = false;
	size_t n = 0;

	if (ledger_open_read(NULL, &l, ERR_IGNORED) == 0 &&
	    past_list(l, &filter, arena, &runs, &n, &more, ERR_IGNORED) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		if (runs[i]->state != RUN_RUNNING)
			continue;
		text = arena_printf(arena, "%s; run %llu goes on since %s",
				    text,
				    (unsigned long long)runs[i]->generation,
				    runs[i]->started);
		hangs = now - runs[i]->started_ns > HANGS_NS;
		break;
	}
	if (hangs && log_level() < LOG_NOTE)
		log_error("%s", text);
	return say_skipped(print, text, "{\"busy\":true}");
}

/* Print what came of a run. Returns the exit status, or -1. */
static int print_result(const struct run_result *result,
			const struct run_options *o,
			struct print_options *print, struct arena *arena,
			struct err *err)
{
	const unsigned long long slot_ran = result->slot_ran;

	if (slot_ran)
		return say_skipped(
			print,
			arena_printf(arena, "slot %s ran already (run %llu)",
				     o->slot, slot_ran),
			arena_printf(arena, "{\"slot\":\"%s\",\"ran\":%llu}",
				     o->slot, slot_ran));
	if (result->busy_skipped)
		return say_busy(o, print, arena);
	if (print_report(&result->report, print, err) < 0) {
		if (print->output.path && result->report.generation)
			log_note("the report is stored: matins show %llu",
				 (unsigned long long)result->report.generation);
		return -1;
	}
	say_trouble(result, print, arena);
	return result->exit_status;
}

/* ---- what changed ---- */

struct earlier {
	struct report report;
	struct diff diff;
	struct report_changes changes;
};

/*
 * The last whole run that was ok, looked up before the next one is it; NULL:
 * there is none. A page has what changed without being asked.
 */
static int find_earlier(const struct args *args, const struct run_options *o,
			const char *form, struct arena *arena,
			struct earlier **ret, struct err *err)
{
	bool is_asked = args_has(args, "changes");
	bool is_whole =
		!o->only_step && !o->only.n && !o->skip.n && !o->dry_run;
	AUTO(ledger_freep) struct ledger *l = NULL;
	const struct ledger_routine which = {
		.name = o->routine->name,
		.file = o->file->config.path,
		.whole = true,
	};
	const struct report *old = NULL;
	struct err why = ERR_INIT;

	*ret = NULL;
	if (!is_asked && (strcmp(form, "html") != 0 || !is_whole))
		return 0;
	if (!is_whole)
		return err_set(err, ERR_USAGE,
			       "--changes compares whole runs: leave out "
			       "the step, --only, --skip and --dry-run");
	if (ledger_open_read(NULL, &l, &why) == 0) {
		old = previous_find(l, &which, true, UINT64_MAX, arena);
		err_set(&why, ERR_UNKNOWN,
			"no run of %s of %s that was ok is kept as it was",
			which.name, which.file);
	}
	if (!old && is_asked)
		log_note("--changes: nothing to compare with: %s", why.msg);
	if (!old)
		return 0;
	*ret = ARENA_NEW(arena, struct earlier);
	(*ret)->changes.since = old->generation;
	(*ret)->report = *old;
	return 0;
}

static void add_changes(struct earlier *e, const struct run_options *o,
			struct report *now, struct arena *arena)
{
	struct err err = ERR_INIT;

	if (!e)
		return;
	if (changes_diff(&e->report, now, &o->file->config, o->routine, arena,
			 &e->diff, &err) < 0) {
		log_warning("run %llu cannot be compared: %s",
			    (unsigned long long)e->changes.since, err.msg);
		return;
	}
	e->changes.diff = &e->diff;
	now->changes = &e->changes;
}

/* ---- tools that a person agrees to ---- */

/* Ask once, before anything starts: later nobody may be there. */
static bool agrees_to_tools(const struct run_options *o, struct arena *arena)
{
	const struct config *c = &o->file->config;
	const bool *reached = nest_reached(c, o->routine->name, arena);
	const char *names = "";

	if (o->dry_run)
		return false;
	for (size_t k = 0; k < c->n_routines; k++) {
		for (size_t i = 0; reached[k] && i < c->routines[k].n_steps;
		     i++) {
			const struct step *s = &c->routines[k].steps[i];

			if (s->enabled && s->server && s->tool &&
			    tool_policy_asks(s->server, s->tool,
					     tool_policy_write(c, s)))
				names = arena_printf(arena, "%s%s%s of %s",
						     names, *names ? ", " : "",
						     s->tool, s->server->name);
		}
	}
	return *names && approve_person_is_here() &&
	       confirm_ask(arena_printf(arena, "let routine %s call %s?",
					o->routine->name, names));
}

/* ---- the command ---- */

/*
 * Tell of a run for a slot, which no person sees, that it could not start. A
 * file of the current folder that was not judged tells nobody.
 */
static void tell_unstarted(const struct args *args,
			   const struct config_file *file, bool is_open,
			   const struct err *why)
{
	const struct config *c = &file->config;
	const struct routine unknown = {.name = args->positional[0]};
	const struct routine *r = config_routine(c, unknown.name);

	if (args_has(args, "slot") && c->dir &&
	    (is_open || !file->found_in_cwd) && why->kind != ERR_BUSY &&
	    why->kind != ERR_NOT_ALLOWED)
		notify_unstarted(file, r ? r : &unknown, why);
}

/* Read the options that say which steps run, and how. */
static int read_options(const struct args *args, const struct config_file *file,
			const struct print_options *print, struct arena *arena,
			struct run_options *ret, struct err *err)
{
	struct run_options *o = ret;

	*o = (struct run_options){
		.file = file,
		.only_step = args->positional[1],
		.only = args_all(args, "only", arena),
		.skip = args_all(args, "skip", arena),
		.approved = args_all(args, "approve", arena),
		.from = args_get(args, "from"),
		.resume = args_get(args, "resume"),
		.record = args_get(args, "record"),
		.replay = args_get(args, "replay"),
		.dry_run = args_has(args, "dry-run"),
		.confirmed = args_has(args, "yes"),
		.no_cache = args_has(args, "no-cache"),
		.allow_empty = args_has(args, "allow-empty"),
		.require_ledger = args_has(args, "require-ledger"),
		.shows_advice =
			!print->output.path &&
			(!print->view || strcmp(print->view, "full") == 0) &&
			strcmp(print->form, "data") != 0,
	};
	if ((o->from || o->resume) &&
	    (o->only_step || o->only.n || o->skip.n || (o->from && o->resume)))
		return err_set(err, ERR_USAGE,
			       "--from and --resume say which steps run: write "
			       "one of them, without --only and --skip");
	if ((o->record || o->replay) &&
	    (o->from || o->resume || o->dry_run || (o->record && o->replay)))
		return err_set(err, ERR_USAGE,
			       "--record and --replay run the steps: write one "
			       "of them, without --from, --resume and "
			       "--dry-run");
	if (find_routine(&file->config, args->positional[0], &o->routine, err) <
		    0 ||
	    find_approvals(&file->config, o->routine, &o->approved, err) < 0 ||
	    args_count(args, "jobs", LIMIT_STEPS, &o->jobs, err) < 0)
		return -1;
	return param_options_read(args, arena, &o->given, err);
}

/* ret_has_run  its notices are sent */
static int run_opened(const struct args *args, const struct config_file *file,
		      struct print_options *print, struct arena *arena,
		      bool *ret_has_run, struct err *err)
{
	AUTO(events_freep) struct events *events = NULL;
	const char *to = args_get(args, "events");
	struct progress progress;
	struct earlier *earlier;
	struct run_result result;
	char slot[SLOT_BYTES];
	struct run_options o;
	int status;

	if (read_options(args, file, print, arena, &o, err) < 0 ||
	    path_check_links_of(print->output.path, &print->output.folder,
				&file->config, err) < 0 ||
	    (to && events_open(to, &file->config, &events, err) < 0) ||
	    find_earlier(args, &o, print->form, arena, &earlier, err) < 0)
		return -1;
	o.confirmed |= agrees_to_tools(&o, arena);
	status = read_slot(args, &o, slot, arena, err);
	if (status < 0)
		return -1;
	if (status > 0)
		return say_skipped(
			print,
			arena_printf(arena,
				     "slot %s is older than the schedule of %s",
				     slot, args->positional[0]),
			arena_printf(arena, "{\"slot\":\"%s\"}", slot));
	o.events = events;
	progress_init(&progress, &o.observer);
	status = run_routine(&o, &result, err);
	progress_end(&progress);
	if (status < 0)
		return -1;
	*ret_has_run = true;
	if (!result.busy_skipped && !result.slot_ran)
		add_changes(earlier, &o, &result.report, arena);
	status = print_result(&result, &o, print, arena, err);
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
	bool is_open, has_run = false;
	int status;

	if (print_options_read(args, &print, err) < 0)
		return -1;
	print.single = args->n_positional > 1;
	status = open_config(args, options, &file, err);
	is_open = status == 0;
	if (is_open)
		status = run_opened(args, &file, &print, &arena, &has_run, err);
	if (status < 0 && !has_run)
		tell_unstarted(args, &file, is_open, err);
	outfile_release(&print.output);
	return status;
}

int cmd_step(const struct args *args, struct err *err)
{
	return cmd_run(args, err);
}
