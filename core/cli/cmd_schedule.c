/*
 * `matins schedule`: a timer of systemd, or a line of the crontab, that runs a
 * routine once for each time of a calendar expression.
 *
 * Units and lines are marked with the id of the schedule, and only what bears
 * the mark is taken away again.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/outfile.h"
#include "core/base/sha256.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/cli/schedule_job.h"
#include "core/config/paths.h"
#include "core/doctor/installed.h"
#include "core/report/crontab.h"

/* A lock is asked for so often, and said to be waited for after so long. */
#define LOCK_POLL_MS 50
#define LOCK_NOTE_MS 1000
#define LOCK_MAX_MS 30000

const struct option options_schedule[] = {
	{"at", 0, "TIME", "a calendar expression, such as \"Mon..Fri 07:00\""},
	{"catch-up", 0, NULL, "run once for times when the machine was off"},
	{"jitter", 0, "DURATION", "begin up to so much later"},
	{"with", 0, "systemd|cron", "what starts it; default: what is here"},
	{"on-failure", 0, "UNIT", "systemd starts this unit when a run fails"},
	{"print", 0, NULL, "print what would be installed"},
	{"json", 0, NULL, "print one JSON document"},
	{0},
};

/* A schedule at work. */
struct work {
	const struct args *args;
	struct arena *arena;
	const char *state;
	struct schedule s;
};

/* ---- the crontab ---- */

/* Put lines in place of those of the schedule. returns  1: nothing to do */
static int write_lines(struct work *w, struct str lines, struct buf *new,
		       struct err *err)
{
	AUTO(buf_release) struct buf old = BUF_INIT(INSTALLED_BYTES);
	AUTO(buf_release) struct buf said = BUF_INIT(INSTALLED_BYTES);
	const char *argv[] = {"crontab", "-", NULL};

	if (installed_crontab(w->arena, &old, err) < 0)
		return -1;
	crontab_pick(w->s.id, buf_str(&old), false, new);
	if (lines.n &&
	    crontab_check(buf_str(new), w->s.id, env_text("HOME"), err) < 0)
		return -1;
	if (new->n && !str_ends(buf_str(new), "\n"))
		buf_addc(new, '\n');
	buf_add_str(new, lines);
	if (new->n == old.n && !lines.n)
		return 1;
	if (!new->n)
		argv[1] = "-r";
	return installed_tool(argv, buf_str(new), w->arena, &said, err);
}

/* Editors heed no lock of ours. */
static int install_lines(struct work *w, struct str lines, struct err *err)
{
	for (int tries = 0; tries < 3; tries++) {
		AUTO(buf_release) struct buf new = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf now = BUF_INIT(INSTALLED_BYTES);
		const int r = write_lines(w, lines, &new, err);

		if (r)
			return r < 0 ? -1 : 0;
		if (installed_crontab(w->arena, &now, err) < 0)
			return -1;
		if (str_eq(buf_str(&now), buf_str(&new)))
			return 0;
	}
	return err_set(err, ERR_BUSY,
		       "another program writes the crontab as well: look at "
		       "`crontab -l`, and try again");
}

/* ---- units of systemd ---- */

static int systemctl(struct work *w, const char *verb, const char *more,
		     struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(INSTALLED_BYTES);
	const char *timer = unit_file_name(&w->s, UNIT_TIMER, w->arena);
	const char *argv[] = {"systemctl",	   "--user", verb, more,
			      more ? timer : NULL, NULL};

	return installed_tool(argv, STR(""), w->arena, &out, err);
}

/*
 * Remove a file that bears our mark.
 * returns  1: it did; 0: nothing of ours is there
 */
static int remove_unit(const struct work *w, const char *path, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(INSTALLED_BYTES);

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (fd_read_regular(path, &text, err) < 0)
		return -1;
	if (!unit_file_is_of(buf_str(&text), w->s.id)) {
		log_warning("%s stays: it lacks the line \"" SCHEDULE_MARK
			    "%s\"",
			    path, w->s.id);
		return 0;
	}
	return unlink(path) < 0 ? err_sys(err, errno, "%s", path) : 1;
}

/* The link of `systemctl enable`, where that is not there to disable. */
static void remove_link(const struct work *w)
{
	const char *timer = installed_unit(&w->s, UNIT_TIMER, w->arena);
	const char *link = arena_printf(w->arena, "%.*s/timers.target.wants%s",
					(int)(strrchr(timer, '/') - timer),
					timer, strrchr(timer, '/'));
	char to[4096];
	const ssize_t n = readlink(link, to, sizeof(to));

	if (n > 0 && str_is((struct str){to, (size_t)n}, timer))
		(void)!unlink(link);
}

/* returns  how many were there */
static int remove_units(struct work *w, struct err *err)
{
	int n = 0, r;

	for (enum unit_file i = 0; i < UNIT_FILES; i++) {
		r = remove_unit(w, installed_unit(&w->s, i, w->arena), err);
		if (r < 0)
			return -1;
		n += r;
	}
	if (n)
		remove_link(w);
	return n;
}

static int install_units(struct work *w, const struct buf text[UNIT_FILES],
			 struct err *err)
{
	const char *path = installed_unit(&w->s, UNIT_TIMER, w->arena);
	const char *folder = arena_strndup(w->arena, path,
					   (size_t)(strrchr(path, '/') - path));

	if (fd_mkdirs(folder, 0755) < 0)
		return err_sys(err, errno, "%s", folder);
	for (enum unit_file i = 0; i < UNIT_FILES; i++) {
		AUTO(outfile_release) struct outfile f = OUTFILE_INIT;

		path = installed_unit(&w->s, i, w->arena);
		if (outfile_open(&f, path, OUTFILE_NEW, err) < 0 ||
		    outfile_write_str(&f, buf_str(&text[i]), err) < 0)
			return -1;
	}
	return systemctl(w, "daemon-reload", NULL, err) < 0 ||
			       systemctl(w, "enable", "--now", err) < 0
		       ? -1
		       : 0;
}

/* Without a manager files go all the same: nothing starts them any more. */
static int uninstall_units(struct work *w, struct err *err)
{
	const char *timer = installed_unit(&w->s, UNIT_TIMER, w->arena);
	struct err said = ERR_INIT;
	int n, r = 0;

	/* a timer that is gone already cannot be disabled */
	if (access(timer, F_OK) == 0)
		r = systemctl(w, "disable", "--now", &said);
	n = remove_units(w, err);
	if (n > 0)
		r |= systemctl(w, "daemon-reload", NULL, &said);
	if (n >= 0 && r < 0)
		log_warning("%s; the files are removed, and where a user "
			    "manager of yours has read them: `systemctl --user "
			    "stop %s`",
			    said.msg,
			    unit_file_name(&w->s, UNIT_TIMER, w->arena));
	return n < 0 ? -1 : 0;
}

static bool has_user_manager(const struct work *w)
{
	const char *dir = env_text("XDG_RUNTIME_DIR");

	return access("/run/systemd/system", F_OK) == 0 && dir &&
	       access(arena_printf(w->arena, "%s/systemd/private", dir),
		      F_OK) == 0;
}

/* ---- add ---- */

/* Wait for the lock of a state folder. */
static int lock_one(const struct work *w, const char *state, int *ret,
		    struct err *err)
{
	const char *folder = arena_printf(w->arena, "%s/locks", state);
	const char *path = arena_printf(w->arena, "%s/schedules", folder);

	if (fd_mkdirs(folder, 0700) < 0)
		return err_sys(err, errno, "%s", folder);
	if (state_dir_open(path, O_RDWR | O_CREAT, ret, err) < 0)
		return -1;
	for (int ms = 0; flock(*ret, LOCK_EX | LOCK_NB) < 0;
	     ms += LOCK_POLL_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, errno, "lock %s", path);
		if (ms >= LOCK_MAX_MS)
			return err_set(err, ERR_BUSY,
				       "another `matins schedule` holds %s for "
				       "%d s: look with `fuser`, and try again",
				       path, LOCK_MAX_MS / 1000);
		if (ms == LOCK_NOTE_MS)
			log_note("waiting for another `matins schedule`, which "
				 "holds %s",
				 path);
		poll(NULL, 0, LOCK_POLL_MS);
	}
	return 0;
}

struct locks {
	int shared, own; /* descriptors, owned; -1 */
};

static void locks_release(struct locks *l)
{
	fd_closep(&l->own);
	fd_closep(&l->shared);
}

/* Two that add at once must not lose a line of the crontab, which state folders
   share: so the one in HOME is locked first, where there is a HOME to write. */
static int lock_schedules(const struct work *w, struct locks *ret,
			  struct err *err)
{
	const char *home = path_own_home(0);
	const char *shared = arena_printf(w->arena, "%s/.local/state/matins",
					  home ? home : "");
	struct err why = ERR_INIT;

	if (home && strcmp(shared, w->state) != 0 &&
	    lock_one(w, shared, &ret->shared, &why) < 0 &&
	    why.kind == ERR_BUSY) {
		*err = why;
		return -1;
	}
	return lock_one(w, w->state, &ret->own, err);
}

static int choose(struct work *w, const char *on_failure, struct err *err)
{
	static const char *const names[] = {"systemd", "cron"};
	const char *with = args_get(w->args, "with");
	unsigned kind = !has_user_manager(w);

	if (with && !str_choose(with, names, ARRAY_LEN(names), &kind))
		return args_bad("with", with, "systemd or cron", err);
	if (kind && on_failure)
		return err_set(err, ERR_USAGE,
			       "--on-failure is for systemd; cron mails what "
			       "fails");
	w->s.unit = kind ? NULL : unit_files_stem(&w->s, w->arena);
	return 0;
}

static void say_next(const struct work *w)
{
	struct schedule_times t;

	schedule_times(&w->s, w->s.added_ns, &t);
	log_note("%s runs at %s, next %s (%s)", w->s.routine, w->s.at, t.next,
		 w->s.unit ? "systemd" : "cron");
	if (w->s.unit && !installed_lingers(w->arena))
		log_note("timers of yours run only while you are logged in; "
			 "`loginctl enable-linger` changes that");
	if (!w->s.unit && !installed_has_cron())
		log_warning("no cron runs here that could start it: "
			    "`systemctl enable --now cron`");
}

/* text  of the units, or of the lines alone */
static int install(struct work *w, const struct buf text[UNIT_FILES],
		   struct err *err)
{
	AUTO(locks_release) struct locks lock = {-1, -1};
	const struct schedule *old;
	struct schedule *s;
	size_t n;
	int r;

	if (lock_schedules(w, &lock, err) < 0)
		return -1;
	schedule_read(w->state, w->arena, &s, &n);
	old = schedule_of(s, n, w->s.file, w->s.routine);
	if (old)
		return err_set(err, ERR_CONFIG,
			       "%s is scheduled already, at %s: `matins "
			       "schedule remove %s` first",
			       w->s.routine, old->at, w->s.routine);
	if (schedule_keep(w->state, &w->s, err) < 0)
		return -1;
	r = w->s.unit ? install_units(w, text, err)
		      : install_lines(w, buf_str(&text[0]), err);
	if (r < 0) {
		(void)!schedule_forget(w->state, w->s.id, ERR_IGNORED);
		if (!w->s.unit || remove_units(w, ERR_IGNORED) < 0)
			return -1;
		return err_wrap(err, "nothing is installed (--with cron uses "
				     "the crontab)");
	}
	say_next(w);
	return 0;
}

static int print_texts(const struct work *w, const struct buf text[UNIT_FILES],
		       struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (enum unit_file i = 0; i < UNIT_FILES; i++) {
		if (w->s.unit)
			buf_addf(&out, "%s# %s\n", i ? "\n" : "",
				 installed_unit(&w->s, i, w->arena));
		buf_add_str(&out, buf_str(&text[i]));
	}
	return put(buf_str(&out), PUT_TEXT, err);
}

/* Sum of the lines, or of the units, as installed_read() takes it. */
static const char *sum_of(const struct buf text[UNIT_FILES],
			  struct arena *arena)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	char sum[SHA256_HEX_BYTES];

	for (enum unit_file i = 0; i < UNIT_FILES; i++)
		buf_add_str(&all, buf_str(&text[i]));
	sha256_hex(buf_str(&all), sum);
	return arena_strdup(arena, sum);
}

static int add(struct work *w, struct err *err)
{
	struct buf text[UNIT_FILES] = {BUF_INIT(BUF_UNBOUNDED),
				       BUF_INIT(BUF_UNBOUNDED)};
	struct schedule_job job;
	int r;

	if (schedule_job_read(w->args, w->arena, &job, err) < 0)
		return -1;
	w->s = job.s;
	if (choose(w, job.on_failure, err) < 0)
		return -1;
	r = w->s.unit ? 0 : crontab_add(&job, &text[0], err);
	for (enum unit_file i = 0; w->s.unit && r == 0 && i < UNIT_FILES; i++)
		r = unit_file_add(&job, i, &text[i], err);
	w->s.sum = sum_of(text, w->arena);
	if (r == 0)
		r = args_has(w->args, "print") ? print_texts(w, text, err)
					       : install(w, text, err);
	for (size_t i = 0; i < ARRAY_LEN(text); i++)
		buf_release(&text[i]);
	return r;
}

/* ---- the others ---- */

/* The schedule of the routine that is named. */
static int find(struct work *w, struct err *err)
{
	const char *name = w->args->positional[1], *file;
	const struct schedule *found = NULL;
	struct schedule *s;
	size_t n;

	if (past_file(w->args, name, w->arena, &file, err) < 0)
		return -1;
	schedule_read(w->state, w->arena, &s, &n);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(s[i].routine, name) != 0 ||
		    (file && strcmp(s[i].file, file) != 0))
			continue;
		if (found)
			return err_set(err, ERR_USAGE,
				       "%s of %s and of %s is scheduled: name "
				       "the file with -c",
				       name, found->file, s[i].file);
		found = &s[i];
	}
	if (!found)
		return err_set(err, ERR_UNKNOWN,
			       "%s is not scheduled; `matins schedule list` "
			       "lists what is",
			       name);
	w->s = *found;
	return 0;
}

static int take_away(struct work *w, struct err *err)
{
	AUTO(locks_release) struct locks lock = {-1, -1};

	if (find(w, err) < 0 || lock_schedules(w, &lock, err) < 0 ||
	    (w->s.unit ? uninstall_units(w, err)
		       : install_lines(w, STR(""), err)) < 0 ||
	    schedule_forget(w->state, w->s.id, err) < 0)
		return -1;
	log_note("%s is no longer scheduled", w->s.routine);
	return 0;
}

static int show(struct work *w, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct installed in = {.arena = w->arena};

	if (find(w, err) < 0 || (installed_read(&in, &w->s, &out, err) < 0 &&
				 err->kind != ERR_DIFFERS))
		return -1;
	return put(buf_str(&out), PUT_TEXT, err) < 0 || err->kind == ERR_DIFFERS
		       ? -1
		       : 0;
}

static void list_text(const struct schedule *s, struct past_runs *runs,
		      struct installed *in, struct buf *out)
{
	struct schedule_times t;

	log_visible(out, str_of(s->routine), false);
	buf_addf(out, "  %s  next %s  %s  %s%s  ", s->at,
		 installed_times(in, s, &t), past_last(runs, s, in->arena),
		 s->unit ? "systemd" : "cron",
		 s->catches_up ? ", catches up" : "");
	log_visible(out, str_of(s->file), false);
	buf_addc(out, '\n');
}

static void list_json(const struct schedule *s, struct past_runs *runs,
		      struct installed *in, struct jw *w)
{
	const char *overdue = past_overdue(runs, s, in->arena);
	struct schedule_times t;

	(void)!installed_times(in, s, &t);
	jw_object(w);
	jw_kv_cstr(w, "routine", s->routine);
	jw_kv_cstr(w, "file", s->file);
	jw_kv_cstr(w, "at", s->at);
	jw_kv_cstr(w, "with", s->unit ? "systemd" : "cron");
	jw_kv_bool(w, "catch_up", s->catches_up);
	jw_kv_int(w, "jitter_ms", (int64_t)s->jitter_ms);
	if (*t.next)
		jw_kv_cstr(w, "next", t.next);
	if (*t.last)
		jw_kv_cstr(w, "due", t.last);
	if (*overdue)
		jw_kv_cstr(w, "overdue", overdue);
	past_last_json(runs, s->routine, s->file, w);
	jw_end(w);
}

static int list(struct work *w, struct err *err)
{
	AUTO(page_release) struct page page;
	AUTO(past_runs_release) struct past_runs runs;
	struct installed in = {.arena = w->arena};
	struct schedule *s;
	size_t n;

	past_runs_open(&runs, w->arena);
	page_open(&page, w->args);
	schedule_read(w->state, w->arena, &s, &n);
	if (page.is_json)
		jw_kv_array(&page.w, "schedules");
	for (size_t i = 0; i < n; i++)
		if (page.is_json)
			list_json(&s[i], &runs, &in, &page.w);
		else
			list_text(&s[i], &runs, &in, &page.out);
	if (page.is_json)
		jw_end(&page.w);
	if (!n)
		log_note("nothing is scheduled");
	return page_put(&page, err);
}

/* ---- the command ---- */

static const struct {
	const char *word;
	int (*run)(struct work *w, struct err *err);
	bool takes_routine;
} actions[] = {
	{"add", add, true},
	{"list", list, false},
	{"remove", take_away, true},
	{"show", show, true},
};

int cmd_schedule(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct work w = {.args = args, .arena = &arena};
	size_t i;

	if (args_action(args, "schedule", actions, ARRAY_LEN(actions),
			sizeof(*actions), &i, err) < 0)
		return -1;
	if (actions[i].takes_routine != (args->n_positional == 2))
		return err_set(err, ERR_USAGE, "schedule %s: %s",
			       actions[i].word,
			       actions[i].takes_routine ? "name one routine"
							: "takes no name");
	w.state = state_dir_find(&arena);
	if (!w.state)
		return err_set(err, ERR_SYS,
			       "no folder for schedules: set MATINS_STATE, "
			       "XDG_STATE_HOME or HOME");
	/* commands and paths are made of what lies there */
	if (state_dir_is_ours(w.state, err) < 0 ||
	    state_dir_is_ours(arena_printf(&arena, "%s/schedules", w.state),
			      err) < 0)
		return -1;
	return actions[i].run(&w, err);
}
