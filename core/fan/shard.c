#include "core/fan/shard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/config/nest.h"
#include "core/run/many.h"
#include "core/run/run.h"

/* Results wait so long for others to be flushed with, or until RESULTS_WAITING
   do. A flush waits for all that anybody has written to the disk: where it is
   slow, results wait longer, so that flushes take a tenth of the time. */
#define COMMIT_NS NS_PER_S
#define COMMIT_NS_MAX (10 * NS_PER_S)
#define COMMIT_PART 10
#define BEAT_NS (5 * NS_PER_S)
/* Looks at a result that others take away. */
#define TRIES 3

/* An input that runs, or whose result waits. */
struct item {
	struct item *next;
	char key[SHA256_HEX_BYTES];
	char *line; /* owned */
	bool is_waiting;
};

struct shard {
	const struct fan_exec *o;
	struct fan_done *done;
	struct results_inputs inputs; /* owned */
	struct item *item;	      /* owned */
	size_t n_running, n_said;     /* in the mark */
	bool is_once;		      /* some step is not idempotent */
	uint64_t first_ns, beat_ns;
	uint64_t patience_ns; /* of results that wait */
	struct err err;	      /* of the file system; kind INTERNAL: none */
	int sys;	      /* errno of the first */
	bool has_failed, was_left;
};

static uint64_t now(void)
{
	return clock_system()->now_ns(clock_system());
}

static void fail(struct shard *s)
{
	if (!s->has_failed) {
		log_error("%s", s->err.msg);
		s->sys = s->err.sys;
	}
	s->has_failed = true;
}

/* ---- the next input ---- */

/* Say what is at work: what runs, and what has ended and is not kept yet. */
static void beat(struct shard *s)
{
	s->beat_ns = now();
	s->n_said = s->n_running;
	results_beat(s->o->results,
		     s->n_running + results_waiting(s->o->results),
		     s->done->ok + s->done->failed);
}

/* Is the first result here? Until then each start is said at once. */
static bool has_ended(const struct shard *s)
{
	return s->done->ok + s->done->failed > 0;
}

static bool is_here(const struct shard *s, const char *key)
{
	for (const struct item *i = s->item; i; i = i->next)
		if (strcmp(i->key, key) == 0)
			return true;
	return false;
}

static void drop_item(struct shard *s, struct item *item)
{
	struct item **p = &s->item;

	while (*p != item)
		p = &(*p)->next;
	*p = item->next;
	free(item->line);
	free(item);
}

/* Has it no valid result? One that is torn is taken away. */
static bool is_due(struct shard *s, const char *key, struct buf *text)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct fan_result r = {.state = FAN_TORN};
	int gone = 0;

	if (is_here(s, key))
		return false;
	/* another process may take it away, and run it again */
	for (int i = 0; i < TRIES && r.state == FAN_TORN; i++) {
		if (results_look(s->o->results, key, text, &arena, &r,
				 &s->err) < 0) {
			fail(s);
			return false;
		}
		if (r.state != FAN_TORN)
			break;
		log_warning("%s: the result is torn: it runs again", key);
		gone = results_take_away(s->o->results, key, FAN_TORN, &s->err);
		if (gone < 0) {
			fail(s);
			return false;
		}
	}
	s->done->had_failed += r.state == FAN_FAILED;
	s->done->had += r.state == FAN_OK || r.state == FAN_FAILED;
	return r.state == FAN_MISSING || (r.state == FAN_TORN && gone);
}

/* Read the next input; false: the shard has no more, or is not whole. */
static bool read_input(struct shard *s)
{
	const int more = s->has_failed ? 0 : results_next(&s->inputs, &s->err);

	if (more < 0)
		fail(s);
	return more > 0;
}

static void put_result(struct shard *s, struct item *item,
		       const struct report *r, uint64_t us);

/* An input of which the end is not known has failed. */
static void keep_claimed(struct shard *s, struct item *item)
{
	struct report_step step = {.name = "claim", .type = "routine"};
	const struct report r = {
		.routine = results_manifest(s->o->results)->routine,
		.steps = &step,
		.n_steps = 1};

	report_step_set(&step, REASON_CLAIMED,
			STR("it was begun before, and how that ended is not "
			    "known: `matins fan retry --claims` runs it "
			    "again"));
	put_result(s, item, &r, 0);
}

/* Claim an input before anything of it runs. */
static bool claim(struct shard *s, struct item *item)
{
	int r = s->is_once ? results_claim(s->o->results, item->key, &s->err)
			   : 0;

	if (r == 0)
		return true;
	if (r == 2) {
		keep_claimed(s, item);
		return false;
	}
	if (r < 0)
		fail(s);
	s->done->held += r == 1;
	drop_item(s, item);
	return false;
}

static bool next(void *arg, struct many_input *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES_MAX);
	struct shard *s = arg;
	const struct results_inputs *in = &s->inputs;
	struct item *item;

	while (read_input(s)) {
		if (is_here(s, in->key))
			s->done->had++;
		if (!is_due(s, in->key, &text))
			continue;
		item = mem_zalloc(sizeof(*item));
		item->line = mem_strdup(in->line);
		memcpy(item->key, in->key, sizeof(item->key));
		item->next = s->item;
		s->item = item;
		if (!claim(s, item))
			continue;
		s->n_running++;
		if (!has_ended(s) && s->n_running == s->o->jobs)
			beat(s);
		*ret = (struct many_input){str_of(item->line), item};
		return true;
	}
	return false;
}

/* ---- results ---- */

static void commit(struct shard *s, bool is_end)
{
	const uint64_t begin = now();
	struct item *next;

	if (results_commit(s->o->results, is_end, &s->done->dropped, &s->err) <
	    0)
		fail(s);
	s->patience_ns = (now() - begin) * COMMIT_PART;
	if (s->patience_ns < COMMIT_NS)
		s->patience_ns = COMMIT_NS;
	else if (s->patience_ns > COMMIT_NS_MAX)
		s->patience_ns = COMMIT_NS_MAX;
	for (struct item *i = s->item; i; i = next) {
		next = i->next;
		if (i->is_waiting)
			drop_item(s, i);
	}
	beat(s);
}

/* Have results waited long enough? */
static bool is_commit_due(const struct shard *s)
{
	const size_t n = results_waiting(s->o->results);

	return n == RESULTS_WAITING ||
	       (n && now() - s->first_ns > s->patience_ns);
}

static void put_result(struct shard *s, struct item *item,
		       const struct report *r, uint64_t us)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct clock *clock = clock_system();
	char ended[CLOCK_TEXT_BYTES];
	bool is_ok = report_success(r);

	clock_format(clock->wall_ns(clock), ended);
	fan_result_print(item->key, r, us, ended, results_who(s->o->results),
			 &text);
	if (results_put(s->o->results, item->key, buf_str(&text), !is_ok,
			&s->err) < 0) {
		fail(s);
		drop_item(s, item);
		return;
	}
	++*(is_ok ? &s->done->ok : &s->done->failed);
	item->is_waiting = true;
	if (results_waiting(s->o->results) == 1)
		s->first_ns = now();
	if (s->is_once || is_commit_due(s))
		/* a claim must not outlive its result */
		commit(s, s->is_once);
}

/* The step for which this machine lacks a program or a credential, where
   nothing ran; NULL: there is none. */
static const struct report_step *lacking(const struct report *r)
{
	if (report_count(r).ran)
		return NULL;
	for (size_t i = 0; i < r->n_steps; i++)
		if (r->steps[i].reason == REASON_NO_CREDENTIAL ||
		    r->steps[i].reason == REASON_NO_COMMAND ||
		    r->steps[i].reason == REASON_PROTECTION)
			return &r->steps[i];
	return NULL;
}

/* Another machine may have it: no result, and no more of the shard here. */
static void leave(struct shard *s, struct item *item,
		  const struct report_step *lack)
{
	if (s->is_once)
		(void)!results_release(s->o->results, item->key, ERR_IGNORED);
	err_set(&s->err, ERR_CREDENTIAL, "%s cannot run on this machine: %.*s",
		lack->name, STR_ARG(lack->error));
	fail(s);
	drop_item(s, item);
}

static void ended(void *arg, void *id, const struct report *r,
		  const char *cancelled, uint64_t us)
{
	const struct report_step *lack = lacking(r);
	struct shard *s = arg;
	struct item *item = id;

	s->n_running--;
	if (cancelled || s->has_failed)
		drop_item(s, item);
	else if (lack)
		leave(s, item, lack);
	else
		put_result(s, item, r, us);
}

/* Has the other end of standard input gone? */
static bool is_left(void)
{
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};
	char bytes[256];

	return poll(&in, 1, 0) > 0 &&
	       read(STDIN_FILENO, bytes, sizeof(bytes)) <= 0;
}

static void on_tick(void *arg)
{
	struct shard *s = arg;

	/* end as by a signal of the scheduler: in order */
	if (s->o->until_eof && !s->was_left && is_left()) {
		s->was_left = true;
		(void)raise(SIGTERM);
	}

	if (is_commit_due(s))
		commit(s, false);
	if (now() - s->beat_ns > (s->n_running == s->n_said ? BEAT_NS
				  : has_ended(s)	    ? COMMIT_NS
							    : 0))
		beat(s);
}

/* ---- a shard ---- */

int fan_open_config(const struct manifest *m, struct config_file *ret,
		    struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct config_options options = {
		.path = m->config_path,
		.routine = m->routine,
		.kept = m->config_text,
	};
	const char *leash = env_text("MATINS_CAVEATS");
	const char *planned = arena_strndup(&arena, m->leash.p, m->leash.n);
	int r;

	if (m->leash.n && leash &&
	    !str_eq(str_trim(str_of(leash)), str_trim(str_of(planned))))
		return err_set(err, ERR_CONFIG,
			       "MATINS_CAVEATS is not the leash that the plan "
			       "was made under");
	if (m->leash.n && setenv("MATINS_CAVEATS", planned, 1) < 0)
		return err_sys(err, errno, "MATINS_CAVEATS");
	r = config_open(&options, ret, err);
	if (r == 0 && strcmp(ret->sha256, m->config_sha256) != 0)
		r = err_set(err, ERR_CONFIG,
			    "the configuration in the manifest is not the one "
			    "that was planned");
	return r;
}

static bool runs_once(const struct step *s)
{
	return !s->idempotent;
}

/* Read the shard for its digest, before anything of it runs. */
static int check_inputs(struct shard *s, struct err *err)
{
	int more;

	while ((more = results_next(&s->inputs, &s->err)) > 0)
		;
	/* one that ends too early may be whole later */
	if (more < 0 && s->err.kind != ERR_SYS) {
		*err = s->err;
		return -1;
	}
	if (more < 0)
		fail(s);
	return 0;
}

int fan_needs_claims(const struct manifest *m, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct routine *r;

	if (fan_open_config(m, &file, err) < 0)
		return -1;
	r = config_routine(&file.config, m->routine);
	return r && nest_find_step(&file.config, r, runs_once);
}

static int open_inputs(struct shard *s, struct err *err)
{
	const struct fan_exec *o = s->o;

	if (results_open_inputs(o->results, o->shard, &s->inputs, err) < 0)
		return -1;
	s->done->n = s->inputs.left;
	if (check_inputs(s, err) < 0)
		return -1;
	results_close_inputs(&s->inputs);
	return results_open_inputs(o->results, o->shard, &s->inputs, err);
}

static int run_shard(struct shard *s, struct err *err)
{
	const struct fan_exec *o = s->o;
	const struct config *config = &o->file->config;
	const struct run_many many = {
		.routine = config_routine(
			config, results_manifest(o->results)->routine),
		.max = o->jobs ? o->jobs : 1,
		.folder = results_dir(o->results),
		.next = next,
		.ended = ended,
		.arg = s,
	};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct step step;
	struct routine routine;
	struct run_options run = {
		.file = o->file,
		.routine = &routine,
		.confirmed = o->confirmed,
		.many = &many,
		.observer = {.tick = on_tick, .tick_ms = 500, .arg = s},
	};
	struct run_result result;

	if (!many.routine)
		return err_set(err, ERR_UNKNOWN_ROUTINE,
			       "the plan is for a routine %s that its "
			       "configuration has not",
			       results_manifest(o->results)->routine);
	s->is_once = nest_find_step(config, many.routine, runs_once);
	routine = many_routine(&many,
			       arena_printf(&arena, "shard-%llu",
					    (unsigned long long)o->shard),
			       &step);
	run.only_step = step.name;
	if (run_routine(&run, &result, err) < 0)
		return -1;
	commit(s, true);
	run_result_release(&result);
	return 0;
}

/* Errors that stay, however often it is tried. */
static bool may_not(int sys)
{
	return sys == EACCES || sys == EPERM || sys == EROFS;
}

int fan_exec(const struct fan_exec *o, struct fan_done *ret, struct err *err)
{
	struct shard s = {
		.o = o, .done = ret, .patience_ns = COMMIT_NS, .err = ERR_INIT};
	int r;

	*ret = (struct fan_done){.n = 0};
	r = open_inputs(&s, err);
	if (r == 0) {
		r = results_begin_work(o->results, &s.err);
		if (r < 0) {
			fail(&s);
			r = 0;
		} else {
			results_sweep(o->results);
			r = run_shard(&s, err);
			results_end_work(o->results);
		}
	}
	results_close_inputs(&s.inputs);
	while (s.item)
		drop_item(&s, s.item);
	ret->cut = ret->n - ret->had - ret->ok - ret->failed - ret->held;
	ret->exit_status = may_not(s.sys)			   ? 1
			   : s.has_failed || ret->held || ret->cut ? 75
			   : ret->failed || ret->had_failed	   ? 2
								   : 0;
	return r;
}
