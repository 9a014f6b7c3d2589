/* Things kept between runs: the record of runs, tokens, their age. */
#include "core/doctor/doctor_state.h"

#include <errno.h>
#include <unistd.h>

#include "core/auth/store.h"
#include "core/base/clock.h"
#include "core/base/state_dir.h"
#include "core/report/ledger.h"

/*
 * Report whether a run could be recorded in a folder. Creates nothing.
 *
 * returns  0, *ret_there says whether the folder exists; -1 and errno
 */
static int can_record(const char *dir, struct arena *arena, bool *ret_there)
{
	const char *file = arena_printf(arena, "%s/ledger.jsonl", dir);
	char *at = arena_strdup(arena, dir);
	char *slash;

	if (access(file, F_OK) == 0 && access(file, R_OK | W_OK) < 0)
		return -1;
	*ret_there = access(dir, F_OK) == 0;
	/* the nearest folder above that exists decides */
	while (access(at, F_OK) < 0) {
		if (errno != ENOENT)
			return -1;
		slash = strrchr(at, '/');
		if (!slash)
			return -1;
		slash[slash == at] = '\0';
	}
	return access(at, W_OK | X_OK);
}

static void look_at_ledger(struct doctor *d)
{
	const char *dir = d->state;
	struct ledger *l = NULL;
	struct err err = ERR_INIT;
	bool there = false;

	int r = ledger_open_read(dir, &l, &err);

	if (r == 0 && can_record(ledger_dir(l), d->arena, &there) < 0)
		r = err_sys(&err, errno, "%s", ledger_dir(l));
	if (r == 0)
		doctor_add(d, "state", ledger_dir(l), CHECK_OK, "", "%s",
			   there ? "runs are recorded here"
				 : "runs will be recorded here; the first "
				   "creates it");
	else
		doctor_add(d, "state", dir ? dir : "state directory",
			   CHECK_WARNING,
			   "set MATINS_STATE to a folder that you can write",
			   "runs are not recorded: %s", err.msg);
	ledger_free(l);
}

#define KEY_IN_FILE_REMEDY                                                    \
	"keep backups from that folder; where there is a keyring, "           \
	"store_key = \"keyring\" or \"secret-service\" and a new login take " \
	"the key out of it"

/* "2 encrypted by a key in a file beside them" and so on. */
static const char *places(const struct store_facts *facts, struct arena *arena)
{
	static const char *const where[STORE_KEY_COUNT] = {
		[STORE_KEY_SERVICE] = "the desktop's secret service",
		[STORE_KEY_KEYRING] =
			"the kernel's keyring, which forgets it at a reboot "
			"or after days without use",
		[STORE_KEY_FILE] = "a file beside them",
	};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < STORE_KEY_COUNT; i++)
		if (facts->files[i])
			buf_addf(&out, "%s%zu encrypted by a key in %s",
				 out.n ? ", " : "", facts->files[i], where[i]);
	return arena_strdup(arena, out.n ? buf_cstr(&out) : "none is kept yet");
}

/* Add one row about a folder of tokens, unless there is no such folder. */
static void look_at_tokens_in(struct doctor *d, const char *dir)
{
	struct store_facts facts;
	struct err err = ERR_INIT;
	int r = store_look(dir, &facts, &err);
	bool in_file;

	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->check[i].area, "tokens") &&
		    !strcmp(d->check[i].name, dir))
			return;
	if (r > 0)
		return;
	if (r < 0) {
		doctor_add(d, "tokens", dir, CHECK_FAILED,
			   "mend that, or name another folder as token_store",
			   "%s", err.msg);
	} else if (facts.n_broken) {
		doctor_add(d, "tokens", dir, CHECK_WARNING,
			   "remove it and log in again: matins auth login",
			   "%zu cannot be used: %s", facts.n_broken,
			   facts.broken);
	} else {
		in_file = facts.files[STORE_KEY_FILE] > 0;
		doctor_add(d, "tokens", dir, in_file ? CHECK_WARNING : CHECK_OK,
			   in_file ? KEY_IN_FILE_REMEDY : "", "%s",
			   places(&facts, d->arena));
	}
}

static void look_at_tokens(struct doctor *d)
{
	const struct config *c = d->config;

	if (d->state)
		look_at_tokens_in(d, state_dir_tokens(d->state, d->arena));
	for (size_t i = 0; c && i < c->n_servers; i++)
		if (c->servers[i].auth.token_store)
			look_at_tokens_in(d, c->servers[i].auth.token_store);
}

/* Last run of this file that finished whole, or NULL. */
static const struct ledger_run *last_whole(const struct ledger_run *runs,
					   size_t n, const char *routine,
					   const char *file)
{
	for (size_t i = n; i-- > 0;)
		if (runs[i].state == RUN_FINISHED && runs[i].whole &&
		    ledger_run_is(&runs[i], routine, file))
			return &runs[i];
	return NULL;
}

/* Reason why runs by that name do not count; "": there are none. */
static const char *why_none(struct doctor *d, const struct ledger_run *runs,
			    size_t n, const char *routine, const char *file)
{
	for (size_t i = n; i-- > 0;) {
		if (runs[i].state != RUN_FINISHED ||
		    strcmp(runs[i].routine, routine) != 0)
			continue;
		if (!*runs[i].file)
			return arena_printf(
				d->arena,
				"; the run of %s was recorded by an "
				"earlier version, without its file",
				runs[i].finished);
		if (strcmp(runs[i].file, file) != 0)
			return arena_printf(d->arena,
					    "; the run of %s was of %s",
					    runs[i].finished, runs[i].file);
		return arena_printf(d->arena,
				    "; the run of %s was not of all steps",
				    runs[i].finished);
	}
	return "";
}

static void look_at_age(struct doctor *d, const struct ledger_run *runs,
			size_t n, const char *routine)
{
	const struct doctor_options *o = d->options;
	const char *file = d->config->path;
	const struct ledger_run *last = last_whole(runs, n, routine, file);
	char when[CLOCK_TEXT_BYTES];
	int64_t age_ms;
	bool is_fresh;

	if (!last) {
		doctor_add(d, "stale", routine, CHECK_FAILED,
			   "check the timer or cron line that starts it",
			   "never finished a whole run%s",
			   why_none(d, runs, n, routine, file));
		return;
	}
	age_ms = (o->wall_ns - last->finished_ns) / 1000000;
	is_fresh = age_ms < 0 || (uint64_t)age_ms <= o->stale_ms;
	clock_format(last->finished_ns, when);
	doctor_add(d, "stale", routine, is_fresh ? CHECK_OK : CHECK_FAILED,
		   is_fresh ? ""
			    : "check the timer or cron line that starts it",
		   "last finished at %s", when);
}

static void look_at_ages(struct doctor *d)
{
	const struct doctor_options *o = d->options;
	const struct config *c = d->config;
	struct ledger *l = NULL;
	struct ledger_run *runs = NULL;
	struct err err = ERR_INIT;
	size_t n = 0;

	if (ledger_open_read(NULL, &l, &err) == 0 &&
	    ledger_read(l, d->arena, &runs, &n, &err) < 0)
		n = 0;
	if (o->routine)
		look_at_age(d, runs, n, o->routine->name);
	for (size_t i = 0; !o->routine && i < c->n_routines; i++)
		look_at_age(d, runs, n, c->routines[i].name);
	ledger_free(l);
}

void doctor_look_at_state(struct doctor *d)
{
	look_at_ledger(d);
	look_at_tokens(d);
	if (d->options->stale_ms && d->config)
		look_at_ages(d);
}
