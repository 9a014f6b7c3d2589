/*
 * Reports: of past runs, listed and printed again; two of them compared; those
 * of a routine compared with a golden file, recorded and accepted.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/outfile.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/param_options.h"
#include "core/cli/put.h"
#include "core/config/config.h"
#include "core/config/paths.h"
#include "core/report/diff_print.h"
#include "core/report/golden.h"
#include "core/report/ledger.h"
#include "core/report/render.h"
#include "core/report/store.h"
#include "core/run/approve.h"
#include "core/run/run.h"

/* Forms of differences. */
enum form { DIFF_TEXT, DIFF_JSON };

struct kept_query {
	const char *which; /* a generation, or "last": the last that finished */
	/* For "last"; NULL: any. */
	const char *routine;
	const char *file; /* real path of the configuration */
	bool whole;	  /* for "last": only runs of all steps */
};

/* ---- one report ---- */

/* The run of a generation; 0: the last one that finished. */
static const struct ledger_run *pick_one(const struct ledger_run *run, size_t n,
					 const struct kept_query *q,
					 uint64_t generation)
{
	while (n-- > 0) {
		bool is_part = q->whole && *run[n].file && !run[n].whole;

		if (generation ? run[n].generation == generation
			       : run[n].state == RUN_FINISHED && !is_part &&
					 ledger_run_is(&run[n], q->routine,
						       q->file))
			return &run[n];
	}
	return NULL;
}

static int find_run(struct ledger *l, const struct kept_query *q,
		    struct arena *arena, const struct ledger_run **ret,
		    struct err *err)
{
	struct ledger_run *run;
	uint64_t generation = 0;
	bool last = !strcmp(q->which, "last");
	size_t n;

	if (!last && !str_uint64(str_of(q->which), &generation))
		return err_set(err, ERR_USAGE,
			       "%s is not a generation; use a number of "
			       "`matins history`, or last",
			       q->which);
	if (ledger_read(l, arena, &run, &n, err) < 0)
		return -1;
	*ret = last || generation ? pick_one(run, n, q, generation) : NULL;
	if (*ret)
		return 0;
	if (!last)
		return err_set(err, ERR_UNKNOWN_RUN,
			       "%s has no generation %s; `matins history` "
			       "lists them",
			       ledger_dir(l), q->which);
	return err_set(
		err, ERR_UNKNOWN_RUN, "no run%s%s%s%s has finished yet in %s",
		q->routine ? " of " : "", q->routine ? q->routine : "",
		q->file ? " of " : "", q->file ? q->file : "", ledger_dir(l));
}

/*
 * Append the report of a run as it was stored. A report that is not what the
 * ledger recorded is a warning.
 *
 * ret_run  the run, in `arena`; may be NULL
 * errors   ERR_USAGE	 neither a number nor "last"
 *	    ERR_UNKNOWN_RUN  no such run
 *	    ERR_UNKNOWN	 its report is not kept (any more)
 *	    ERR_SYS
 */
static int kept_report(const struct kept_query *q, struct arena *arena,
		       struct buf *out, const struct ledger_run **ret_run,
		       struct err *err)
{
	AUTO(ledger_freep) struct ledger *l = NULL;
	const struct ledger_run *run;
	char sum[SHA256_HEX_BYTES];
	size_t before = out->n;

	if (ledger_open_read(NULL, &l, err) < 0 ||
	    find_run(l, q, arena, &run, err) < 0)
		return -1;
	if (run->state != RUN_FINISHED)
		return err_set(err, ERR_UNKNOWN,
			       "generation %llu of %s is %s: it has no report",
			       (unsigned long long)run->generation,
			       run->routine, run_state_name(run->state));
	if (store_get(ledger_dir(l), run->file, run->generation, out, err) < 0)
		return -1;
	sha256_hex(str_skip(buf_str(out), before), sum);
	if (*run->sha256 && strcmp(sum, run->sha256))
		log_warning("the report of generation %llu was changed after "
			    "the run",
			    (unsigned long long)run->generation);
	if (ret_run)
		*ret_run = run;
	return 0;
}

/* ---- options and messages of both ---- */

/* --format, --json. errors  ERR_USAGE */
static int read_format(const struct args *args, enum form *ret,
		       struct err *err)
{
	const char *format = args_get(args, "format");

	*ret = args_has(args, "json") ? DIFF_JSON : DIFF_TEXT;
	if (!format)
		return 0;
	*ret = strcmp(format, "json") ? DIFF_TEXT : DIFF_JSON;
	if (*ret == DIFF_TEXT && strcmp(format, "text"))
		return args_bad("format", format, "text or json", err);
	return 0;
}

/*
 * Warn of rules that selected nothing.
 * errors  ERR_COMPARE with --strict when there were any
 */
static int warn_unused(const struct golden *g, const struct args *args,
		       struct err *err)
{
	const bool strict = args_has(args, "strict");
	const char *unused = NULL;

	for (size_t i = 0; i < g->rules.n; i++) {
		if (g->rules.item[i].hits || !g->rules.item[i].path)
			continue;
		unused = g->rules.item[i].path;
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

/*
 * Status 1 of a comparison means "differs", so that nothing else may end in
 * it: a failure (-1) becomes ERR_COMPARE, but for wrong usage and busy.
 * Returns `status`.
 */
static int cannot_compare(int status, struct err *err)
{
	if (status < 0 && err->kind != ERR_USAGE && err->kind != ERR_BUSY)
		err->kind = ERR_COMPARE;
	return status;
}

/*
 * Append a report: the file of that name, "-" for stdin; without such a file
 * a generation, or "last".
 *
 * q        how "last" is found; .which is the name
 * ret_run  in `arena`; NULL when the report is a file
 * errors   ERR_SYS, ERR_LIMIT, ERR_UNKNOWN
 */
static int read_report(const struct kept_query *q, struct arena *arena,
		       struct buf *out, const struct ledger_run **ret_run,
		       struct err *err)
{
	const char *name = q->which;
	uint64_t generation;

	*ret_run = NULL;
	if (!strcmp(name, "-"))
		return fd_read_all(STDIN_FILENO, out, err);
	if (access(name, F_OK) < 0 &&
	    (!strcmp(name, "last") || str_uint64(str_of(name), &generation)))
		return kept_report(q, arena, out, ret_run, err);
	return fd_read_file(name, out, err);
}

/* ---- diff ---- */

const struct option options_diff[] = {
	{"json", 0, NULL, "print differences as JSON, like --format json"},
	{"format", 0, "text|json", "print differences in this form"},
	{"ignore", 0, "PATH", "skip the values that this path selects"},
	{"strict", 0, NULL, "fail if a path selects nothing"},
	{0},
};

/* One of the two: either kind of document, told apart by its schema. */
struct side {
	struct buf text;
	struct golden golden;
	const struct ledger_run *run; /* NULL: a file */
};

static int load_side(struct side *s, const char *name, struct strlist ignore,
		     struct arena *arena, struct err *err)
{
	const struct kept_query q = {.which = name};
	struct str doc, schema;
	struct rules rules = {NULL, 0};
	bool is_golden;

	if (read_report(&q, arena, &s->text, &s->run, err) < 0 ||
	    rules_ignore(&rules, &ignore, arena, err) < 0)
		return -1;
	if (scan_document(buf_str(&s->text), NULL, &doc, err) < 0)
		return err_wrap(err, "%s", name);
	is_golden = scan_get(doc, "schema", &schema) &&
		    scan_is(schema, GOLDEN_SCHEMA);
	if ((is_golden ? golden_load(buf_str(&s->text), arena, &s->golden, err)
		       : golden_make(buf_str(&s->text), &rules, arena,
				     &s->golden, err)) < 0)
		return err_wrap(err, "%s", name);
	return is_golden ? rules_join(&s->golden.rules, &rules, arena, err) : 0;
}

/* Routines of one name in two files are two routines. */
static int check_file(const struct ledger_run *a, const struct ledger_run *b,
		      struct err *err)
{
	if (!a || !b || !*a->file || !*b->file || !strcmp(a->file, b->file))
		return 0;
	return err_set(
		err, ERR_COMPARE,
		"run %llu is of %s, run %llu of %s; to compare them anyway, "
		"write both with `matins show RUN --json -o FILE`",
		(unsigned long long)a->generation, a->file,
		(unsigned long long)b->generation, b->file);
}

static int diff_sides(const struct args *args, struct side *old,
		      struct side *new, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct strlist ignore = args_all(args, "ignore", &arena);
	enum form format;
	struct diff d;

	if (read_format(args, &format, err) < 0 ||
	    load_side(old, args->positional[0], ignore, &arena, err) < 0 ||
	    load_side(new, args->positional[1], ignore, &arena, err) < 0 ||
	    check_file(old->run, new->run, err) < 0 ||
	    golden_compare(&old->golden, &new->golden, &arena, &d, err) < 0 ||
	    warn_unused(&new->golden, args, err) < 0)
		return -1;
	diff_print(&d, diff_format_find(format == DIFF_TEXT ? "text" : "json"),
		   &out);
	if (put(buf_str(&out), format == DIFF_TEXT ? PUT_TEXT : PUT_JSON, err) <
	    0)
		return -1;
	return d.n ? 1 : 0;
}

int cmd_diff(const struct args *args, struct err *err)
{
	struct side old = {.text = BUF_INIT(LIMIT_REPORT_BYTES)};
	struct side new = {.text = BUF_INIT(LIMIT_REPORT_BYTES)};
	int status = cannot_compare(diff_sides(args, &old, &new, err), err);

	buf_release(&old.text);
	buf_release(&new.text);
	return status;
}

/* ---- golden ---- */

const struct option options_golden[] = {
	{"report", 0, "FILE", "use this report instead of a run"},
	{"dir", 0, "DIR",
	 "folder of golden files (golden/ beside the routine)"},
	{"ignore", 0, "PATH", "skip the values that this path selects"},
	{"strict", 0, NULL, "fail if an ignore rule matches nothing"},
	{"format", 0, "text|json", "print differences in this form"},
	{"json", 0, NULL, "print differences as JSON, like --format json"},
	{"unused", 0, NULL, "list: only files without a routine"},
	PARAM_OPTIONS,
	{0},
};

#define CANDIDATE_SCHEMA "matins-candidate/1"

/* State of one invocation. */
struct work {
	const struct args *args;
	const char *routine_name;
	struct arena arena;
	struct config_file file;
	const struct routine *routine; /* NULL: not in the configuration */
	const char *dir, *path; /* folder of golden files; path of this one */
	struct strlist ignore;	/* rules of file, routine, options */
	struct buf accepted, report; /* texts */
	int run_status; /* status of a run without a comparison; 0 else */
	uint64_t scrubbed;
};

/* done  "recorded"; act  "record" */
static int refuse_in_ci(const char *done, const char *act, const char *path,
			struct err *err)
{
	if (!approve_in_ci())
		return 0;
	return err_set(err, ERR_CONFIG,
		       "CI is set: nothing is %s; %s where a person reviews %s "
		       "and commits it",
		       done, act, path);
}

/* The folder of a golden file is made. */
static int open_golden(struct outfile *f, const char *path, struct err *err)
{
	AUTO(mem_freep) char *dir = mem_strdup(path);
	char *slash = strrchr(dir, '/');

	if (slash && slash != dir) {
		*slash = '\0';
		if (fd_mkdirs(dir, 0777) < 0)
			return err_sys(err, errno, "create %s", dir);
	}
	return outfile_open(f, path, OUTFILE_DURABLE, err);
}

/* Quote a word for a shell. */
static void add_word(struct buf *out, const char *option, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:@%+,";

	buf_addf(out, " %s", option);
	if (*word && !word[strspn(word, plain)]) {
		buf_adds(out, word);
		return;
	}
	buf_addc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_adds(out, "'\\'");
		buf_addc(out, *word);
	}
	buf_addc(out, '\'');
}

static void add_command(const struct work *w, const char *verb, struct buf *out)
{
	const char *config = args_get(w->args, "config");
	const char *dir = args_get(w->args, "dir");

	buf_addf(out, "matins golden %s", verb);
	add_word(out, "", w->routine_name);
	if (config)
		add_word(out, "-c ", config);
	if (dir)
		add_word(out, "--dir ", dir);
}

/* ---- candidates: reports that `check` keeps in the state directory ---- */

/* Path of the candidate of a golden file, by the real path of that file. */
static const char *candidate_path(struct work *w, const char *state_dir)
{
	AUTO(mem_freep) char *absolute = realpath(w->path, NULL);
	char name[SHA256_HEX_BYTES];

	sha256_hex(str_of(absolute ? absolute : w->path), name);
	return arena_printf(&w->arena, "%s/candidates/%.32s.json",
			    state_dir ? state_dir : "", name);
}

/* Keep a report for `accept`, with the text that the golden file would get. */
static int keep_candidate(struct work *w, const struct golden *seen,
			  struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(ledger_freep) struct ledger *ledger = NULL;
	const char *dir;
	char sum[SHA256_HEX_BYTES];
	struct jw json;

	golden_print(seen, &text);
	if (ledger_open(NULL, &ledger, err) < 0)
		return -1;
	sha256_hex(buf_str(&w->accepted), sum);
	jw_init(&json, &out, false);
	jw_object(&json);
	jw_kv_cstr(&json, "schema", CANDIDATE_SCHEMA);
	jw_kv_cstr(&json, "file", w->path);
	jw_kv_cstr(&json, "seen", sum);
	jw_kv_raw(&json, "golden", str_trim(buf_str(&text)));
	jw_end(&json);
	dir = arena_printf(&w->arena, "%s/candidates", ledger_dir(ledger));
	if (fd_mkdirs(dir, 0700) < 0)
		return err_sys(err, errno, "create %s", dir);
	return fd_replace_file(candidate_path(w, ledger_dir(ledger)),
			       buf_str(&out), 0600, false, err);
}

static void drop_candidate(struct work *w)
{
	const char *state = state_dir_find(&w->arena);

	if (state && !approve_in_ci())
		unlink(candidate_path(w, state));
}

/* errors  ERR_DIFFERS  the golden file has changed since the check */
static int take_candidate(struct work *w, struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	const char *file = candidate_path(w, state_dir_find(&w->arena));
	struct str doc, seen, golden;
	char sum[SHA256_HEX_BYTES];

	if (fd_read_file(file, &text, err) < 0) {
		if (err->sys == ENOENT)
			err_set(err, ERR_UNKNOWN,
				"nothing to accept for %s: `matins golden "
				"check` keeps a report that differs",
				w->path);
		return -1;
	}
	if (scan_document(buf_str(&text), NULL, &doc, err) < 0)
		return -1;
	if (!scan_get(doc, "golden", &golden) || !scan_get(doc, "seen", &seen))
		return err_set(err, ERR_COMPARE,
			       "the file is not a " CANDIDATE_SCHEMA);
	if (fd_read_regular(w->path, &w->accepted, err) < 0)
		return -1;
	sha256_hex(buf_str(&w->accepted), sum);
	if (!scan_is(seen, sum))
		return err_set(err, ERR_DIFFERS,
			       "%s has changed since the check; check again",
			       w->path);
	buf_add_str(out, golden);
	buf_addc(out, '\n');
	return 0;
}

/* ---- reports to compare ---- */

static int run_for_report(struct work *w, struct err *err)
{
	const struct render_options full = {.view = VIEW_FULL};
	struct run_result result;
	struct run_options o = {.file = &w->file};

	if (find_routine(&w->file.config, w->routine_name, &o.routine, err) <
		    0 ||
	    param_options_read(w->args, &w->arena, &o.given, err) < 0 ||
	    run_routine(&o, &result, err) < 0)
		return -1;
	if (result.busy_skipped) {
		run_result_release(&result);
		return err_set(err, ERR_BUSY, "%s is running already",
			       w->routine_name);
	}
	render_find("json")->print(&result.report, &full, &w->report);
	w->scrubbed = result.scrubbed;
	/* ended by a signal: half a report is nothing to compare */
	if (result.exit_status > 2)
		w->run_status = result.exit_status;
	run_result_release(&result);
	return 0;
}

static int get_report(struct work *w, struct err *err)
{
	const struct kept_query q = {
		.which = args_get(w->args, "report"),
		.routine = w->routine_name,
		.file = w->file.config.path,
		.whole = true,
	};
	const struct ledger_run *run;

	return q.which ? read_report(&q, &w->arena, &w->report, &run, err)
		       : run_for_report(w, err);
}

/* The file's own name stays when the folder is moved or checked out again. */
static const char *file_name(const struct work *w)
{
	const char *path = w->routine ? w->file.config.path : NULL;

	return path ? strrchr(path, '/') + 1 : NULL;
}

/*
 * Routines of one name in two files of a folder have one golden file between
 * them. It belongs to the file that it was recorded for, while that is there.
 */
static int check_owner(struct work *w, const struct golden *g, struct err *err)
{
	const char *own = file_name(w), *other;

	if (!own || !g->file || !strcmp(own, g->file) || strchr(g->file, '/'))
		return 0;
	other = arena_printf(&w->arena, "%s/%s", w->file.config.dir, g->file);
	if (access(other, F_OK) < 0)
		return 0;
	return err_set(err, ERR_COMPARE,
		       "%s belongs to the routine in %s; use --dir to keep the "
		       "golden file of %s in another folder",
		       w->path, g->file, own);
}

static int make_golden(struct work *w, struct golden *ret, struct err *err)
{
	const char *report = args_get(w->args, "report");
	struct rules rules = {NULL, 0};

	if (rules_ignore(&rules, &w->ignore, &w->arena, err) < 0 ||
	    golden_make(buf_str(&w->report), &rules, &w->arena, ret, err) < 0 ||
	    golden_check_secrets(ret, w->scrubbed > 0, &w->arena, err) < 0)
		return report ? err_wrap(err, "%s", report) : -1;
	if (strcmp(ret->routine, w->routine_name))
		return err_set(err, ERR_COMPARE,
			       "the report is of routine \"%s\", not \"%s\"",
			       ret->routine, w->routine_name);
	ret->file = file_name(w);
	return 0;
}

/* ---- record ---- */

static int record(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(outfile_release) struct outfile file = OUTFILE_INIT;
	const struct jdoc *success;
	struct golden golden;
	struct stat st;

	if (refuse_in_ci("recorded", "record", w->path, err) < 0)
		return -1;
	/* lstat: a dangling link counts as a file, too */
	if (lstat(w->path, &st) == 0) {
		add_command(w, "check", &text);
		return err_set(err, ERR_CONFIG,
			       "%s already exists and is not overwritten; `%s` "
			       "compares, `accept` accepts a difference",
			       w->path, buf_cstr(&text));
	}
	if (open_golden(&file, w->path, err) < 0 ||
	    path_check_links_of(w->path, &file.folder, &w->file.config, err) <
		    0 ||
	    get_report(w, err) < 0)
		return -1;
	if (w->run_status)
		return w->run_status;
	if (make_golden(w, &golden, err) < 0 ||
	    warn_unused(&golden, w->args, err) < 0)
		return -1;
	golden_print(&golden, &text);
	if (outfile_write_str(&file, buf_str(&text), err) < 0)
		return -1;
	log_note("recorded %s", w->path);
	success = jdoc_get(golden.report, "success");
	if (!success || success->type != SCAN_TRUE)
		log_warning("the recorded run failed");
	return 0;
}

/* ---- check ---- */

static int print_check(const struct work *w, const struct diff *d,
		       enum form format, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf hint = BUF_INIT(BUF_UNBOUNDED);

	diff_print(d, diff_format_find(format == DIFF_TEXT ? "text" : "json"),
		   &out);
	if (approve_in_ci()) {
		buf_adds(&hint, "not accepted with CI set; elsewhere: ");
		add_command(w, "check", &hint);
		buf_adds(&hint, "; ");
	} else {
		buf_adds(&hint, "to accept: ");
	}
	add_command(w, "accept", &hint);
	if (!d->n)
		log_note("%s: unchanged since %s", w->routine_name, w->path);
	else if (format == DIFF_TEXT)
		buf_addf(&out, "%s\n", buf_cstr(&hint));
	else
		log_note("%s", buf_cstr(&hint));
	return put(buf_str(&out), format == DIFF_TEXT ? PUT_TEXT : PUT_JSON,
		   err);
}

static int read_accepted(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf hint = BUF_INIT(BUF_UNBOUNDED);

	if (fd_read_regular(w->path, &w->accepted, err) == 0)
		return 0;
	if (err->sys != ENOENT)
		return -1;
	add_command(w, "record", &hint);
	return err_set(err, ERR_COMPARE,
		       "%s does not exist yet; `%s` creates it", w->path,
		       buf_cstr(&hint));
}

static int compare(struct work *w, struct err *err)
{
	struct err why = ERR_INIT;
	struct golden accepted, seen;
	enum form format;
	struct diff d;

	if (read_format(w->args, &format, err) < 0)
		return -1;
	/* said before that of a golden file that cannot be there */
	if (!args_has(w->args, "report") &&
	    find_routine(&w->file.config, w->routine_name, &w->routine, err) <
		    0)
		return -1;
	if (read_accepted(w, err) < 0)
		return -1;
	if (golden_load(buf_str(&w->accepted), &w->arena, &accepted, err) < 0)
		return err_wrap(err, "%s", w->path);
	if (check_owner(w, &accepted, err) < 0 || get_report(w, err) < 0)
		return -1;
	if (w->run_status)
		return w->run_status;
	if (make_golden(w, &seen, err) < 0 ||
	    golden_compare(&accepted, &seen, &w->arena, &d, err) < 0 ||
	    warn_unused(&seen, w->args, err) < 0)
		return -1;
	if (!d.n)
		drop_candidate(w);
	else if (!approve_in_ci() && keep_candidate(w, &seen, &why) < 0)
		log_warning("`golden accept` cannot accept this later: %s",
			    why.msg);
	return print_check(w, &d, format, err) < 0 ? -1 : d.n > 0;
}

static int check(struct work *w, struct err *err)
{
	return cannot_compare(compare(w, err), err);
}

/* ---- accept ---- */

static int accept_seen(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	AUTO(outfile_release) struct outfile file = OUTFILE_INIT;
	struct golden now, before;

	if (refuse_in_ci("accepted", "accept", w->path, err) < 0 ||
	    take_candidate(w, &text, err) < 0)
		return -1;
	if (golden_load(buf_str(&text), &w->arena, &now, err) < 0)
		return err_wrap(err, "report of the last check");
	if (golden_load(buf_str(&w->accepted), &w->arena, &before, err) < 0)
		return err_wrap(err, "%s", w->path);
	if (open_golden(&file, w->path, err) < 0 ||
	    outfile_write_str(&file, buf_str(&text), err) < 0)
		return -1;
	drop_candidate(w);
	log_note("accepted: %s", w->path);
	/* rules of the check's --ignore count for good from now on */
	for (size_t i = 0; i < now.rules.n; i++) {
		const char *rule = now.rules.item[i].path;

		if (rule && !rules_find(&before.rules, &now.rules.item[i]) &&
		    !list_has(&w->ignore, rule))
			log_note("%s now holds the rule --ignore %s of that "
				 "check",
				 w->path, rule);
	}
	return 0;
}

/* ---- list ---- */

/* Names of a folder that end in ".json", sorted; a missing one has none. */
static int list_names(const char *dir, struct arena *arena, struct strlist *ret,
		      struct err *err)
{
	struct dirent *entry;
	DIR *folder = opendir(dir);

	*ret = (struct strlist){NULL, 0};
	if (!folder)
		return errno == ENOENT ? 0 : err_sys(err, errno, "%s", dir);
	while ((entry = readdir(folder)))
		if (str_ends(str_of(entry->d_name), ".json"))
			list_add(ret, arena,
				 arena_strdup(arena, entry->d_name));
	closedir(folder);
	list_sort(ret);
	return 0;
}

static void list_file(struct work *w, struct page *page, const char *name)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	const char *path = arena_printf(&w->arena, "%s/%s", w->dir, name);
	struct err why = ERR_INIT;
	struct golden g;

	if (fd_read_regular(path, &text, &why) < 0) {
		log_warning("%s", why.msg);
	} else if (golden_load(buf_str(&text), &w->arena, &g, &why) < 0) {
		log_warning("%s: %s", path, why.msg);
	} else if (args_has(w->args, "unused") &&
		   config_routine(&w->file.config, g.routine)) {
		return;
	} else if (page->is_json) {
		jw_object(&page->w);
		jw_kv_cstr(&page->w, "routine", g.routine);
		jw_kv_cstr(&page->w, "file", path);
		jw_kv_int(&page->w, "rules", (int64_t)g.rules.n);
		jw_end(&page->w);
	} else {
		log_visible(&page->out, str_of(g.routine), false);
		buf_addc(&page->out, '\t');
		log_visible(&page->out, str_of(path), false);
		buf_addf(&page->out, "\t%zu rule%s\n", g.rules.n,
			 g.rules.n == 1 ? "" : "s");
	}
}

static int list(struct work *w, struct err *err)
{
	AUTO(page_release) struct page page;
	struct strlist names;

	page_open(&page, w->args);
	if (list_names(w->dir, &w->arena, &names, err) < 0)
		return -1;
	if (page.is_json)
		jw_kv_array(&page.w, "goldens");
	for (size_t i = 0; i < names.n; i++)
		list_file(w, &page, names.item[i]);
	if (page.is_json)
		jw_end(&page.w);
	return page_put(&page, err);
}

/* ---- the command ---- */

static const struct verb {
	const char *name;
	bool takes_routine;
	bool takes_report; /* needs a report, of a run or --report */
	int (*act)(struct work *w, struct err *err);
} verbs[] = {
	{"record", true, true, record},
	{"check", true, true, check},
	{"accept", true, false, accept_seen},
	{"list", false, false, list},
};

static int find_verb(const struct args *args, const struct verb **ret,
		     struct err *err)
{
	const char *given = args->positional[0];
	const char *names[ARRAY_LEN(verbs)];

	for (size_t i = 0; given && i < ARRAY_LEN(verbs); i++) {
		names[i] = verbs[i].name;
		if (strcmp(verbs[i].name, given))
			continue;
		*ret = &verbs[i];
		if (args->n_positional - 1 == (*ret)->takes_routine)
			return 0;
		return err_set(err, ERR_USAGE, "golden %s: %s", given,
			       (*ret)->takes_routine ? "name one routine"
						     : "takes no routine");
	}
	return err_set(
		err, ERR_USAGE,
		"golden: name an action: record, check, accept or list%s",
		args_meant(str_of(given), names, given ? ARRAY_LEN(verbs) : 0)
			.text);
}

static void find_paths(struct work *w)
{
	const char *dir = args_get(w->args, "dir");
	const char *beside = w->file.config.dir;

	if (dir)
		w->dir = dir;
	else if (beside && strcmp(beside, "."))
		w->dir = arena_printf(&w->arena, "%s/golden", beside);
	else
		w->dir = "golden";
	if (w->routine_name)
		w->path = arena_printf(
			&w->arena, "%s/%s", w->dir,
			golden_file_name(w->routine_name, &w->arena));
}

/* Rules of the file, of the routine and of the options, in this order. */
static void collect_rules(struct work *w)
{
	const struct strlist given = args_all(w->args, "ignore", &w->arena);
	const struct strlist *const lists[] = {
		&w->file.config.golden.ignore,
		w->routine ? &w->routine->golden.ignore : NULL,
		&given,
	};

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; lists[k] && i < lists[k]->n; i++)
			list_add(&w->ignore, &w->arena, lists[k]->item[i]);
}

/* Without a run the configuration is optional. */
static int work(struct work *w, const struct verb *verb, struct err *err)
{
	const bool is_needed =
		(verb->takes_report && !args_has(w->args, "report")) ||
		args_has(w->args, "unused");
	const struct config_options options = {
		.names_only = !is_needed,
		.quiet = !is_needed,
		.passive = !is_needed,
		.routine = w->routine_name,
		.optional = !is_needed,
	};

	if (open_config(w->args, options, &w->file, err) < 0)
		return -1;
	if (w->file.path && w->routine_name)
		w->routine = config_routine(&w->file.config, w->routine_name);
	find_paths(w);
	collect_rules(w);
	return verb->act(w, err);
}

int cmd_golden(const struct args *args, struct err *err)
{
	const struct verb *verb = NULL;
	struct work w = {
		.args = args,
		.accepted = BUF_INIT(LIMIT_REPORT_BYTES),
		.report = BUF_INIT(LIMIT_REPORT_BYTES),
	};
	int status;

	if (find_verb(args, &verb, err) < 0)
		return -1;
	if (verb->takes_routine)
		w.routine_name = args->positional[1];
	status = work(&w, verb, err);
	buf_release(&w.accepted);
	buf_release(&w.report);
	config_release(&w.file);
	arena_release(&w.arena);
	return status;
}
