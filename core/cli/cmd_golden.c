/* `matins golden`: reports of a routine, compared with the accepted one. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/place.h"
#include "core/base/text.h"
#include "core/cli/candidate.h"
#include "core/cli/command.h"
#include "core/cli/compare.h"
#include "core/cli/golden_tools.h"
#include "core/cli/open.h"
#include "core/cli/param_options.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/config/golden_rules.h"
#include "core/config/paths.h"
#include "core/report/render.h"
#include "core/run/run.h"

const struct option options_golden[] = {
	{"report", 0, "FILE", "use this report instead of a run"},
	{"replay", 0, "DIR", "run from what `run --record` kept there"},
	{"dir", 0, "DIR",
	 "folder of golden files (golden/ beside the routine)"},
	{"ignore", 0, "PATH", "skip the values that this path selects"},
	{"strict", 0, NULL, "fail if a rule matches nothing"},
	COMPARE_OPTIONS,
	{"path", 0, "PATH",
	 "accept, reject: only the differences that this path selects"},
	{"tools", 0, NULL,
	 "record, check, accept: the tools of servers instead of a report"},
	{"unused", 0, NULL, "list: only files without a routine"},
	PARAM_OPTIONS,
	{0},
};

/* State of one invocation. */
struct work {
	const struct args *args;
	const struct verb *verb;
	struct arena arena;
	struct config_file file;
	const char *name;	       /* of the routine; NULL: of none */
	const struct routine *routine; /* NULL: not in the configuration */
	const char *project;	       /* folder that no link leads out of */
	const char *dir, *path; /* folder of golden files; path of this one */
	struct rules rules;	/* of options, routine, file */
	struct str text, kept;	/* of the golden file, of its candidate */
	struct golden accepted, seen;
	struct diff d; /* from one to the other */
};

static const char *command(struct work *w, const char *verb)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *const words[][2] = {
		{"", w->name},
		{" -c", args_get(w->args, "config")},
		{" --dir", args_get(w->args, "dir")},
	};

	buf_addf(&out, "matins golden %s", verb);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!words[i][1])
			continue;
		buf_addf(&out, "%s ", words[i][0]);
		text_add_word(&out, words[i][1]);
	}
	return arena_strdup(&w->arena, buf_cstr(&out));
}

/* ---- the report ---- */

/* returns  -1, 0, or the status of a run that a signal ended: half a report is
   nothing to compare */
static int run_for_report(struct work *w, struct buf *out, bool *ret_scrubbed,
			  struct err *err)
{
	const struct render_options full = {.view = VIEW_FULL};
	struct run_result result;
	struct run_options o = {
		.file = &w->file,
		.replay = args_get(w->args, "replay"),
	};
	int status = 0;

	if (find_routine(&w->file.config, w->name, &o.routine, err) < 0 ||
	    param_options_read(w->args, &w->arena, &o.given, err) < 0 ||
	    run_routine(&o, &result, err) < 0)
		return -1;
	if (result.busy_skipped)
		status = err_set(err, ERR_BUSY, "%s is running already",
				 w->name);
	else
		render_find("json")->print(&result.report, &full, out);
	if (result.exit_status > 2)
		status = result.exit_status;
	*ret_scrubbed = result.scrubbed > 0;
	run_result_release(&result);
	return status;
}

/* Refuse a run in which nothing ran: it would be the same for ever. A report of
   --report is of a run that said so. */
static int check_ran(const struct work *w, struct err *err)
{
	const struct jdoc *steps = jdoc_get(w->seen.report, "step_results");
	const struct jdoc *skipped;

	for (const struct jdoc *s = steps ? steps->first : NULL; s;
	     s = s->next) {
		skipped = jdoc_get(s, "skipped");
		if (!skipped || skipped->type != SCAN_TRUE)
			return 0;
	}
	return err_set(err, ERR_COMPARE,
		       "nothing ran in %s: there is nothing to compare",
		       w->name);
}

static bool has_failed(const struct golden *g)
{
	const struct jdoc *success = jdoc_get(g->report, "success");

	return !success || success->type != SCAN_TRUE;
}

/* Make w->seen of --report, or of a run. returns  as run_for_report() */
static int take_report(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	const struct past_query q = {
		.which = args_get(w->args, "report"),
		.routine = w->name,
		.file = w->file.config.path,
		.whole = true,
	};
	const struct ledger_run *run;
	bool is_scrubbed = false;
	int r = q.which ? past_read(&q, &w->arena, &text, &run, err)
			: run_for_report(w, &text, &is_scrubbed, err);

	if (r != 0)
		return r;
	if (golden_make(arena_buf(&w->arena, &text), &w->rules, &w->arena,
			&w->seen, err) < 0 ||
	    (!q.which && check_ran(w, err) < 0) ||
	    golden_check_secrets(&w->seen, is_scrubbed, &w->arena, err) < 0)
		return q.which ? err_wrap(err, "%s", q.which) : -1;
	if (strcmp(w->seen.routine, w->name))
		return err_set(err, ERR_COMPARE,
			       "the report is of routine \"%s\", not \"%s\"",
			       w->seen.routine, w->name);
	/* a name stays when its folder is moved or checked out again */
	w->seen.file = w->routine ? place_name(w->file.config.path) : NULL;
	return 0;
}

/* ---- record ---- */

static int record(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(outfile_release) struct outfile file = OUTFILE_INIT;
	struct stat st;
	int r;

	/* lstat: a dangling link counts as a file, too */
	if (lstat(w->path, &st) == 0)
		return err_set(err, ERR_CONFIG,
			       "%s already exists and is not overwritten; "
			       "`%s` compares, `accept` accepts a difference",
			       w->path, command(w, "check"));
	if (compare_open(&file, w->path, &w->file.config, err) < 0)
		return -1;
	r = take_report(w, err);
	if (r != 0)
		return r;
	if (compare_warn_unused(&w->seen, w->args, err) < 0)
		return -1;
	golden_print(&w->seen, &text);
	if (outfile_write_str(&file, buf_str(&text), err) < 0)
		return -1;
	log_note("recorded %s", w->path);
	if (has_failed(&w->seen))
		log_warning("the recorded run failed");
	return 0;
}

/* ---- check, diff ---- */

static int read_file(struct work *w, const char *path, struct str *ret,
		     struct err *err)
{
	return compare_read(path, w->project, &w->file.config, &w->arena, ret,
			    err);
}

/* Rules of the file are in it, so that its owner is judged by what it says. */
static int read_accepted(struct work *w, struct err *err)
{
	if (read_file(w, w->path, &w->text, err) < 0) {
		if (err->sys != ENOENT ||
		    (w->file.path && find_routine(&w->file.config, w->name,
						  &w->routine, err) < 0))
			return -1;
		return err_set(err, ERR_UNKNOWN,
			       "%s does not exist yet; `%s` creates it",
			       w->path, command(w, "record"));
	}
	return golden_load(w->text, &w->arena, &w->accepted, err) < 0
		       ? err_wrap(err, "%s", w->path)
		       : 0;
}

/*
 * Routines of one name in two files of a folder have one golden file between
 * them. It belongs to the file that it was recorded for, while that is there.
 */
static int check_owner(struct work *w, struct err *err)
{
	if (!w->routine || !path_is_other(&w->file.config, w->accepted.file))
		return 0;
	return err_set(err, ERR_COMPARE,
		       "%s belongs to the routine in %s; use --dir to keep the "
		       "golden file of %s in another folder",
		       w->path, w->accepted.file,
		       place_name(w->file.config.path));
}

/* Keep what differs for `accept`; a check that saw nothing has nothing. */
static void keep_seen(const struct work *w)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err why = ERR_INIT;

	if (!w->d.n) {
		candidate_drop(w->path);
		return;
	}
	golden_print(&w->seen, &text);
	if (candidate_keep(w->path, w->text, buf_str(&text), &why) < 0)
		log_warning("`golden accept` cannot accept this later: %s",
			    why.msg);
}

static int compare(struct work *w, bool keeps, struct err *err)
{
	const struct diff_format *format;
	const char *hint = "";
	int r;

	/* an unknown routine is said before a golden file that cannot be */
	if (compare_format(w->args, &format, err) < 0 ||
	    (!args_has(w->args, "report") &&
	     find_routine(&w->file.config, w->name, &w->routine, err) < 0) ||
	    read_accepted(w, err) < 0 || check_owner(w, err) < 0)
		return -1;
	r = take_report(w, err);
	if (r != 0)
		return r;
	if (golden_compare(&w->accepted, &w->seen, &w->arena, &w->d, err) < 0 ||
	    compare_warn_unused(&w->seen, w->args, err) < 0)
		return -1;
	if (keeps)
		keep_seen(w);
	if (!w->d.n)
		log_note("%s: unchanged since %s%s", w->name, w->path,
			 has_failed(&w->seen) ? ", and failed as it did then"
					      : "");
	else if (keeps)
		hint = arena_printf(&w->arena, "to accept: %s\n",
				    command(w, "accept"));
	if (*hint && strcmp(format->name, "text")) {
		log_note("%.*s", (int)strlen(hint) - 1, hint);
		hint = "";
	}
	return compare_put(&w->d, format, hint, err) < 0 ? -1 : w->d.n > 0;
}

static int check(struct work *w, struct err *err)
{
	return compare(w, true, err);
}

static int show_diff(struct work *w, struct err *err)
{
	return compare(w, false, err);
}

/* ---- accept, reject, review: what the last check saw ---- */

static int load_seen(struct work *w, struct err *err)
{
	if (read_accepted(w, err) < 0)
		return -1;
	if (candidate_take(w->path, w->text, &w->arena, &w->kept, err) < 0)
		return err->kind != ERR_UNKNOWN
			       ? -1
			       : err_set(err, ERR_UNKNOWN,
					 "nothing to accept for %s: `%s` keeps "
					 "a report that differs",
					 w->path, command(w, "check"));
	if (golden_load(w->kept, &w->arena, &w->seen, err) < 0)
		return err_wrap(err, "report of the last check");
	return golden_compare(&w->accepted, &w->seen, &w->arena, &w->d, err);
}

static size_t count_left(const struct work *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->d.n; i++)
		n += !w->d.shown[i]->is_taken;
	return n;
}

/* Append the golden file that holds what is taken. returns  what it holds */
static struct golden print_taken(struct work *w, struct buf *out)
{
	const struct golden taken =
		count_left(w) ? golden_merge(&w->seen, &w->d, &w->arena)
			      : w->seen;

	golden_print(&taken, out);
	return taken;
}

/* Rules of the check's --ignore count for good from now on. */
static void say_new_rules(const struct work *w)
{
	for (size_t i = 0; i < w->seen.rules.n; i++) {
		const struct rule *rule = &w->seen.rules.item[i];

		if (rule->kind == RULE_IGNORE &&
		    !rules_find(&w->accepted.rules, rule) &&
		    !rules_find(&w->rules, rule))
			log_note("%s now holds the rule --ignore %s of that "
				 "check",
				 w->path, rule->path);
	}
}

/* Write what is taken; the rest can be accepted later. */
static int write_taken(struct work *w, struct err *err)
{
	AUTO(outfile_release) struct outfile file = OUTFILE_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const size_t left = count_left(w);
	const struct golden taken = print_taken(w, &text);

	if (compare_open(&file, w->path, NULL, err) < 0 ||
	    outfile_write_str(&file, buf_str(&text), err) < 0)
		return -1;
	say_new_rules(w);
	if (has_failed(&taken))
		log_warning("the accepted run failed: a check passes while it "
			    "fails as it did");
	if (!left) {
		candidate_drop(w->path);
		log_note("accepted: %s", w->path);
		return 0;
	}
	log_note("accepted in part: %s; %zu difference%s left", w->path, left,
		 left == 1 ? " is" : "s are");
	return candidate_keep(w->path, buf_str(&text), w->kept, err);
}

/* --path, or all. */
static int choose(struct work *w, bool takes, struct err *err)
{
	const char *path = args_get(w->args, "path");

	for (size_t i = 0; i < w->d.n; i++)
		w->d.shown[i]->is_taken = takes;
	return path ? golden_choose(&w->d, path, takes, &w->arena, err) : 0;
}

static int accept_seen(struct work *w, struct err *err)
{
	return load_seen(w, err) < 0 || choose(w, true, err) < 0
		       ? -1
		       : write_taken(w, err);
}

/* Rejected changes are not accepted later; the golden file stays. */
static int reject(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t left;

	if (load_seen(w, err) < 0) {
		if (err->kind != ERR_SYNTAX || args_has(w->args, "path"))
			return -1;
		log_note("rejected: %s", err->msg);
		candidate_drop(w->path);
		return 0;
	}
	if (choose(w, false, err) < 0)
		return -1;
	left = count_left(w);
	log_note("rejected: %zu of %zu; %s stays as it is", left, w->d.n,
		 w->path);
	if (left == w->d.n) {
		candidate_drop(w->path);
		return 0;
	}
	(void)print_taken(w, &text);
	return candidate_keep(w->path, w->text, buf_str(&text), err);
}

/* Answer to one difference: y, n, a, d, or q, also at the end of input. */
static char ask(void)
{
	char line[64];

	for (;;) {
		fprintf(stderr, "accept: yes, no, all that follow, done, quit? "
				"[y/n/a/d/q] ");
		if (!fgets(line, sizeof(line), stdin))
			return 'q';
		if (*line && strchr("ynadq", *line))
			return *line;
	}
}

/* False: nothing is to be written. */
static bool review_each(const struct diff *d, struct err *err)
{
	char answer = 'n';

	for (size_t i = 0; i < d->n && answer != 'd'; i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

		if (answer != 'a') {
			buf_addf(&out, "%zu of %zu: ", i + 1, d->n);
			diff_print_edit(d->shown[i], &out);
			if (put(buf_str(&out), PUT_TEXT, err) < 0)
				return false;
			answer = ask();
		}
		if (answer == 'q')
			return false;
		d->shown[i]->is_taken = answer == 'y' || answer == 'a';
	}
	return true;
}

static int review(struct work *w, struct err *err)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, ERR_USAGE,
			       "golden review asks on a terminal; without one "
			       "use `golden accept` or `golden reject`, with "
			       "--path PATH for a part");
	if (load_seen(w, err) < 0)
		return -1;
	if (!review_each(&w->d, err))
		log_note("nothing is accepted");
	else if (count_left(w) == w->d.n)
		log_note("nothing is accepted: %s stays as it is", w->path);
	else
		return write_taken(w, err);
	return 0;
}

/* ---- list, prune ---- */

/* Names of a folder that end in ".json", sorted; a missing one has none. */
static int list_names(const char *dir, struct arena *arena, struct strlist *ret,
		      struct err *err)
{
	struct dirent *entry;
	AUTO(dir_closep) DIR *folder = opendir(dir);

	*ret = (struct strlist){NULL, 0};
	if (!folder)
		return errno == ENOENT ? 0 : err_sys(err, errno, "%s", dir);
	while ((entry = readdir(folder)))
		if (str_ends(str_of(entry->d_name), ".json"))
			list_add(ret, arena,
				 arena_strdup(arena, entry->d_name));
	list_sort(ret);
	return 0;
}

static void list_file(struct page *page, const char *path,
		      const struct golden *g)
{
	if (page->is_json) {
		jw_object(&page->w);
		jw_kv_cstr(&page->w, "routine", g->routine);
		jw_kv_cstr(&page->w, "file", path);
		jw_kv_int(&page->w, "rules", (int64_t)g->rules.n);
		jw_end(&page->w);
		return;
	}
	log_visible(&page->out, str_of(g->routine), false);
	buf_addc(&page->out, '\t');
	log_visible(&page->out, str_of(path), false);
	buf_addf(&page->out, "\t%zu rule%s\n", g->rules.n,
		 g->rules.n == 1 ? "" : "s");
}

static void walk_file(struct work *w, struct page *page, const char *path,
		      bool only_unused, bool deletes)
{
	struct err why = ERR_INIT;
	struct golden g;
	struct str text;

	if (read_file(w, path, &text, &why) < 0)
		log_warning("%s", why.msg);
	else if (golden_load(text, &w->arena, &g, &why) < 0)
		log_warning("%s: %s", path, why.msg);
	else if (only_unused && (config_routine(&w->file.config, g.routine) ||
				 path_is_other(&w->file.config, g.file)))
		return;
	else if (deletes && unlink(path) < 0)
		log_warning("%s: %s", path, strerror(errno));
	else
		list_file(page, path, &g);
}

/* deletes  each file that is listed */
static int walk_files(struct work *w, bool only_unused, bool deletes,
		      struct err *err)
{
	AUTO(page_release) struct page page;
	struct strlist names;

	page_open(&page, w->args);
	if (list_names(w->dir, &w->arena, &names, err) < 0)
		return -1;
	if (page.is_json)
		jw_kv_array(&page.w, deletes ? "deleted" : "goldens");
	for (size_t i = 0; i < names.n; i++)
		walk_file(
			w, &page,
			arena_printf(&w->arena, "%s/%s", w->dir, names.item[i]),
			only_unused, deletes);
	if (page.is_json)
		jw_end(&page.w);
	return page_put(&page, err);
}

static int list(struct work *w, struct err *err)
{
	return walk_files(w, args_has(w->args, "unused"), false, err);
}

static int prune(struct work *w, struct err *err)
{
	return walk_files(w, true, true, err);
}

/* ---- the command ---- */

static const struct verb {
	const char *name;
	bool has_routine; /* named behind it */
	/* A run's configuration, unless --report is given; names of routines;
	   nothing that must be there. */
	enum { OF_RUN, OF_NAMES, OF_NOTHING } needs;
	bool compares; /* status 1: differs */
	int (*act)(struct work *w, struct err *err);
	const char *done; /* refused in CI: nothing is done */
} verbs[] = {
	{"record", true, OF_RUN, false, record, "recorded"},
	{"check", true, OF_RUN, true, check, NULL},
	{"diff", true, OF_RUN, true, show_diff, NULL},
	{"review", true, OF_NOTHING, false, review, "reviewed"},
	{"accept", true, OF_NOTHING, false, accept_seen, NULL},
	{"reject", true, OF_NOTHING, false, reject, NULL},
	{"list", false, OF_NOTHING, false, list, NULL},
	{"prune", false, OF_NAMES, false, prune, NULL},
};

static int find_verb(const struct args *args, const struct verb **ret,
		     struct err *err)
{
	size_t i;

	if (args_action(args, "golden", verbs, ARRAY_LEN(verbs), sizeof(*verbs),
			&i, err) < 0)
		return -1;
	*ret = &verbs[i];
	if (args->n_positional - 1 == (*ret)->has_routine)
		return 0;
	return err_set(err, ERR_USAGE, "golden %s: %s", (*ret)->name,
		       (*ret)->has_routine ? "name one routine"
					   : "takes no routine");
}

/* Refuse an option that the verb would not heed. */
static int check_options(const struct work *w, struct err *err)
{
	static const struct {
		const char *option, *verbs;
	} rows[] = {
		{"path", "accept reject"},
		{"unused", "list"},
		{"report", "record check diff"},
		{"replay", "record check diff"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (args_has(w->args, rows[i].option) &&
		    !str_has_word(rows[i].verbs, str_of(w->verb->name)))
			return err_set(err, ERR_USAGE,
				       "golden %s takes no --%s; it is for: %s",
				       w->verb->name, rows[i].option,
				       rows[i].verbs);
	return 0;
}

static void find_paths(struct work *w)
{
	const char *beside = w->file.config.dir;

	w->dir = args_get(w->args, "dir");
	w->project = w->dir   ? arena_printf(&w->arena, "%s/..", w->dir)
		     : beside ? beside
			      : ".";
	if (!w->dir)
		w->dir = strcmp(w->project, ".")
				 ? arena_printf(&w->arena, "%s/golden", beside)
				 : "golden";
	if (w->name)
		w->path = arena_printf(&w->arena, "%s/%s", w->dir,
				       golden_file_name(w->name, &w->arena));
}

/* Rules of the options, of the routine and of the file: the first counts. */
static int collect_rules(struct work *w, struct err *err)
{
	const struct strlist given = args_all(w->args, "ignore", &w->arena);

	if (rules_ignore(&w->rules, &given, &w->arena, err) < 0)
		return -1;
	golden_rules_of(&w->file.config, w->routine, &w->rules, &w->arena);
	return 0;
}

/* Without a run the configuration is optional. */
static int work(struct work *w, struct err *err)
{
	const bool is_optional =
		!((w->verb->needs == OF_RUN && !args_has(w->args, "report")) ||
		  w->verb->needs == OF_NAMES || args_has(w->args, "unused"));
	const struct config_options options = {
		.names_only = is_optional,
		.quiet = is_optional,
		.passive = is_optional,
		.routine = w->name,
		.optional = is_optional,
	};

	if (open_config(w->args, options, &w->file, err) < 0)
		return -1;
	if (w->file.path && w->name)
		w->routine = config_routine(&w->file.config, w->name);
	find_paths(w);
	if (collect_rules(w, err) < 0 ||
	    compare_in_ci(w->verb->done, w->verb->name, w->path, err) < 0)
		return -1;
	return w->verb->act(w, err);
}

int cmd_golden(const struct args *args, struct err *err)
{
	struct work w = {.args = args};
	int status;

	if (args_has(args, "tools"))
		return golden_tools(args, err);
	if (find_verb(args, &w.verb, err) < 0)
		return -1;
	if (w.verb->has_routine)
		w.name = args->positional[1];
	status = check_options(&w, err) < 0 ? -1 : work(&w, err);
	if (w.verb->compares)
		status = compare_status(status, err);
	config_release(&w.file);
	arena_release(&w.arena);
	return status;
}
