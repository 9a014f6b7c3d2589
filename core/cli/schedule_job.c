/* Options of `schedule add`, read and judged. */
#include "core/cli/schedule_job.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/param_options.h"
#include "core/cli/put.h"
#include "core/cli/unattended.h"
#include "core/doctor/doctor.h"
#include "core/run/advice_command.h"

/* Bytes that systemd-analyze may say. */
#define SAID_BYTES (64 * 1024)

struct work {
	const struct args *args;
	struct arena *arena;
	struct schedule_job *job;
};

/* ---- the routine ---- */

/* The words behind "--", as `matins run` will read them. */
static int read_run_words(struct work *w, struct doctor_options *o,
			  struct err *err)
{
	static const char *const alone[] = {"slot", "dry-run", "only",	"skip",
					    "from", "resume",  "config"};
	AUTO(args_release) struct args run = {0};
	struct print_options print;
	int n = 0, r;

	if (!w->args->after)
		return 0;
	while (w->args->after[n])
		n++;
	if (args_parse("run", options_run, n, w->args->after, &run, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(alone); i++)
		if (args_has(&run, alone[i]))
			return err_set(err, ERR_USAGE,
				       "--%s cannot be scheduled", alone[i]);
	if (run.n_positional)
		return err_set(err, ERR_USAGE,
			       "behind -- stand options of `matins run`, not "
			       "\"%s\"",
			       run.positional[0]);
	r = print_options_read(&run, &print, err);
	outfile_release(&print.output);
	if (r < 0 || param_options_read(&run, w->arena, &o->given, err) < 0)
		return -1;
	o->confirmed = args_has(&run, "yes");
	o->approved = args_all(&run, "approve", w->arena);
	o->approved = arena_strlist(w->arena, &o->approved);
	return 0;
}

/* Everything that a run needs is there when no person is. */
static int check_unattended(struct work *w, struct doctor_options *o,
			    struct err *err)
{
	struct doctor d = {.arena = w->arena};

	o->unattended = o->is_new = true;
	o->wall_ns = w->job->s.added_ns;
	if (doctor_look(o, &d, err) < 0)
		return -1;
	for (size_t i = 0; i < d.n; i++)
		if (d.check[i].level == CHECK_FAILED)
			log_error("%s %s: %s; %s", d.check[i].area,
				  d.check[i].name, d.check[i].text,
				  d.check[i].remedy);
	return doctor_failed(&d)
		       ? err_set(err, ERR_CONFIG,
				 "%s is not scheduled: it cannot run "
				 "unattended "
				 "(matins doctor --unattended %s%s)",
				 w->job->s.routine, w->job->s.routine,
				 advice_config(&o->file->config, w->arena))
		       : 0;
}

static int prepare(struct work *w, struct config_file *file, struct err *err)
{
	const char *name = w->args->positional[1];
	const struct config_options options = {.routine = name};
	struct doctor_options o = {.file = file};
	struct unattended u;
	int r;

	unattended_begin(&u, w->arena);
	w->job->env = u.kept;
	r = open_config(w->args, options, file, err);
	if (r == 0)
		r = find_routine(&file->config, name, &o.routine, err);
	if (r == 0)
		r = read_run_words(w, &o, err);
	if (r == 0)
		r = find_approvals(&file->config, o.routine, &o.approved, err);
	if (r == 0) {
		w->job->s.routine = o.routine->name;
		r = check_unattended(w, &o, err);
	}
	unattended_end(&u);
	return r;
}

/* ---- what is started, and when ---- */

static void make_words(struct work *w, const struct config_file *file)
{
	char path[4096], *cwd = getcwd(NULL, 0);
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	struct strlist *words = &w->job->words;

	list_add(words, w->arena,
		 n > 0 ? arena_strndup(w->arena, path, (size_t)n) : "matins");
	list_add(words, w->arena, "run");
	list_add(words, w->arena, "-q");
	/* a file that lay in the current folder is still judged as such: what
	   is changed must be allowed anew */
	if (!file->found_in_cwd) {
		list_add(words, w->arena, "-c");
		list_add(words, w->arena, w->job->s.file);
	}
	list_add(words, w->arena, w->job->s.routine);
	list_add(words, w->arena, "--slot");
	list_add(words, w->arena, w->job->s.at);
	for (char **word = w->args->after; word && *word; word++)
		list_add(words, w->arena, *word);
	if (cwd && (file->found_in_cwd || w->args->after))
		w->job->folder = arena_strdup(w->arena, cwd);
	free(cwd);
}

/* Intervals that are looked at for the shortest: those of an hour's minutes. */
#define JITTER_TIMES 60

static int read_jitter(struct work *w, int64_t from, struct err *err)
{
	const char *jitter = args_get(w->args, "jitter");
	struct str delay = str_of(jitter);
	uint64_t *ms = &w->job->s.jitter_ms;
	int64_t next, after;

	if (!jitter)
		return 0;
	/* systemd's 5min is our 5m */
	if (str_ends(delay, "min"))
		delay.n -= strlen("in");
	if (!str_duration_ms(delay, ms) || !*ms)
		return args_bad("jitter", jitter,
				"a duration; use for example 5m", err);
	if (!calendar_next(&w->job->calendar, from, &next))
		return 0;
	for (int i = 0; i < JITTER_TIMES; i++, next = after)
		if (!calendar_next(&w->job->calendar, next, &after))
			break;
		else if (*ms / 1000 >= (uint64_t)(after - next))
			return err_set(err, ERR_USAGE,
				       "--jitter %s reaches the next time, "
				       "%lld s later: write less",
				       jitter, (long long)(after - next));
	return 0;
}

/* Let systemd read the expression, too, where it is installed. */
static int check_with_systemd(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(SAID_BYTES);
	struct gate_said said = {.out = &out, .arena = w->arena};
	const char *argv[] = {"systemd-analyze", "calendar", w->job->s.at,
			      NULL};

	if (gate_run_tool(argv, STR(""), &said, err) == 0)
		return said.status
			       ? err_set(err, ERR_USAGE, "--at \"%s\": %.*s",
					 w->job->s.at, STR_ARG(said.error))
			       : 0;
	if (err->kind != ERR_UNKNOWN)
		return -1;
	err_clear(err);
	return 0;
}

static int read_times(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *at = args_get(w->args, "at");
	const int64_t now = w->job->s.added_ns / (int64_t)NS_PER_S;
	struct schedule_times times;

	if (!at)
		return err_set(err, ERR_USAGE,
			       "schedule add: --at says when, for example "
			       "--at \"Mon..Fri 07:00\"");
	if (calendar_parse(str_of(at), &w->job->calendar, err) < 0) {
		calendar_guess(str_of(at), &text);
		return text.n ? err_set(err, ERR_USAGE,
					"--at \"%s\" is no calendar "
					"expression; write \"%s\"",
					at, buf_cstr(&text))
			      : err_wrap(err, "--at");
	}
	if (!schedule_has_zone(w->job->calendar.zone))
		return err_set(err, ERR_USAGE,
			       "--at \"%s\": no zone %s is known here; "
			       "`timedatectl list-timezones` names them",
			       at, w->job->calendar.zone);
	calendar_text(&w->job->calendar, &text);
	w->job->s.at = arena_strdup(w->arena, buf_cstr(&text));
	schedule_times(&w->job->s, w->job->s.added_ns, &times);
	if (!*times.next)
		return err_set(err, ERR_USAGE,
			       "--at \"%s\" never comes; write a time that "
			       "is still to come",
			       at);
	return read_jitter(w, now, err) < 0 ? -1 : check_with_systemd(w, err);
}

/* A control character would end a line of what is installed. */
static int check_texts(const struct work *w, struct err *err)
{
	const struct schedule_job *j = w->job;
	const char *const more[] = {j->folder, j->s.routine, j->on_failure};
	struct strlist all = {0};

	list_add_all(&all, w->arena, &j->words);
	list_add_all(&all, w->arena, &j->env);
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		list_add(&all, w->arena, more[i] ? more[i] : "");
	for (size_t i = 0; i < all.n; i++)
		for (const char *p = all.item[i]; *p; p++)
			if ((unsigned char)*p < ' ' || *p == 127)
				return err_set(
					err, ERR_USAGE,
					"a control character in \"%.40s\" "
					"cannot stand in a timer or crontab: "
					"write that without it",
					all.item[i]);
	return 0;
}

/* Machines with the same files are to begin at different times. */
static uint64_t salt_of(const struct schedule_job *j)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	char host[HOST_NAME_MAX + 1] = "", sum[SHA256_HEX_BYTES];

	(void)!gethostname(host, sizeof(host) - 1);
	buf_addf(&text, "%s %s %s", host, j->s.id, j->s.at);
	sha256_hex(buf_str(&text), sum);
	sum[15] = '\0';
	return strtoull(sum, NULL, 16);
}

int schedule_job_read(const struct args *args, struct arena *arena,
		      struct schedule_job *ret, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	struct work w = {args, arena, ret};
	char id[SCHEDULE_ID_BYTES];

	*ret = (struct schedule_job){
		.s.added_ns = clock_system()->wall_ns(clock_system()),
		.s.catches_up = args_has(args, "catch-up"),
		.on_failure = args_get(args, "on-failure"),
	};
	if (read_times(&w, err) < 0 || prepare(&w, &file, err) < 0)
		return -1;
	/* the configuration ends with this call */
	ret->s.file = arena_strdup(arena, file.config.path);
	ret->s.routine = arena_strdup(arena, ret->s.routine);
	schedule_id(ret->s.file, ret->s.routine, id);
	ret->s.id = arena_strdup(arena, id);
	ret->salt = salt_of(ret);
	make_words(&w, &file);
	return check_texts(&w, err);
}
