#include "core/run/notify.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/report/diff_print.h"
#include "core/report/ledger_lock.h"
#include "core/report/ledger_told.h"
#include "core/run/changes.h"
#include "core/run/notice.h"
#include "core/run/previous.h"
#include "core/run/sender.h"

/* Pause between two looks at a lock. */
#define LOCK_LOOK_MS 20

struct notify {
	struct world *world;
	const struct notify_rules *rules; /* of the routine that runs */
	const struct routine *routine;
	const char *host;
	const struct report_step *lacking; /* it ran before; NULL: none is */
	uint64_t whole_since;		   /* run that it was ok in */
	struct arena arena;
	struct sender sender;
};

/* ---- the ledger ---- */

static void on_look(void *arg)
{
	*(bool *)arg = true;
}

static struct ledger_routine which_of(const struct notify *n,
				      const struct routine *r)
{
	return (struct ledger_routine){
		.name = r->name,
		.file = n->world->record->o->file->config.path,
	};
}

static void pause_for(struct loop *l, uint64_t ms)
{
	bool is_over = false;
	struct loop_timer timer = {.fire = on_look, .arg = &is_over};
	struct err err = ERR_INIT;

	loop_timer_set(l, &timer, loop_now(l) + ms * NS_PER_MS);
	while (!is_over && loop_turn(l, &err) == 0)
		;
	loop_timer_clear(l, &timer);
}

/* Take turns with other runs, as long as one of them may need; then tell all
   the same: twice is better than never. */
static int take_turn(struct notify *n, const struct routine *r,
		     const struct notify_rules *rules)
{
	const struct record *rec = n->world->record;
	const struct ledger_routine which = {
		.name = arena_printf(&n->arena, "notify/%s", r->name),
		.file = rec->o->file->config.path,
	};
	uint64_t until = loop_now(rec->loop) +
			 2 * rules->attempts * rules->timeout_ms * NS_PER_MS;
	unsigned signals = rec->loop->signal_count;
	struct err err = ERR_INIT;
	int fd = -1;

	while (ledger_lock_routine(rec->ledger, &which, false, &fd, &err) < 0) {
		if (err.kind != ERR_BUSY || loop_now(rec->loop) >= until ||
		    rec->loop->signal_count != signals)
			return -1;
		pause_for(rec->loop, LOCK_LOOK_MS);
	}
	return fd;
}

static bool look(struct notify *n, const struct routine *r,
		 struct ledger_told *ret)
{
	struct record *rec = n->world->record;
	const struct ledger_routine which = which_of(n, r);
	struct err err = ERR_INIT;

	*ret = (struct ledger_told){0};
	if (!rec->ledger)
		return false;
	if (ledger_told(rec->ledger, &which, &n->arena, ret, &err) == 0)
		return true;
	record_warn(rec, "what was told is not known: %s", err.msg);
	return false;
}

static void tell(struct notify *n, const struct routine *r,
		 const struct ledger_told *told)
{
	struct record *rec = n->world->record;
	const struct ledger_routine which = which_of(n, r);
	struct err err = ERR_INIT;

	if (rec->ledger &&
	    ledger_tell(rec->ledger, &which, told,
			rec->loop->clock->wall_ns(rec->loop->clock), &err) < 0)
		record_warn(rec, "a notice may be told again: %s", err.msg);
}

/* ---- before the steps ---- */

static struct notice notice_of(const struct notify *n, const struct routine *r,
			       const char *kind, const char *was,
			       const char *state)
{
	const struct record *rec = n->world->record;

	return (struct notice){
		.kind = kind,
		.routine = r->name,
		.file = rec->o->file->config.path,
		.host = n->host,
		.was = was,
		.state = state,
		.summary = "",
		.wall_ns = rec->loop->clock->wall_ns(rec->loop->clock),
	};
}

/* Tell of lost runs, unless the last one that was told is one, too. */
static void tell_lost(struct notify *n, const struct routine *r,
		      const struct notify_rules *rules,
		      const struct ledger_told *told)
{
	const char *kind =
		notice_choose(rules, told->state, NOTICE_LOST, false);
	struct notice notice = notice_of(n, r, kind, told->state, NOTICE_LOST);
	struct ledger_told line = {.state = NOTICE_LOST, .since = told->since};

	if (kind) {
		notice.generation = told->lost[told->n_lost - 1].generation;
		notice.more = told->n_lost - 1;
		notice.summary =
			arena_printf(&n->arena, "It began at %s.",
				     told->lost[told->n_lost - 1].started);
		if (!sender_deliver(&n->sender, rules, &notice))
			return;
	}
	for (size_t i = 0; i < told->n_lost; i++) {
		line.generation = told->lost[i].generation;
		tell(n, r, &line);
	}
}

/* Tell of them in turn, as others may have done so meanwhile. */
static void tell_news(struct notify *n, const struct routine *r)
{
	const struct notify_rules *rules =
		config_notify(&n->world->record->o->file->config, r);
	struct ledger_told told;
	int turn;

	if (!rules)
		return;
	turn = take_turn(n, r, rules);
	if (look(n, r, &told) && told.n_lost)
		tell_lost(n, r, rules, &told);
	fd_closep(&turn);
}

/* Say from where on losses are told: near the end, so that it is found. */
static void begin_story(struct notify *n, struct ledger_told *told)
{
	if (!told->generation && !look(n, n->routine, told))
		return;
	if (told->generation && !told->is_far)
		return;
	if (!told->generation) {
		told->state = NOTICE_OK;
		told->generation = n->world->record->result->report.generation;
	}
	tell(n, n->routine, told);
}

/* Read the end of the ledger once for all routines. */
static void look_for_lost(struct notify *n)
{
	struct record *rec = n->world->record;
	const struct config *c = &rec->o->file->config;
	struct ledger_told own = {.generation = 0}, *told;
	struct err err = ERR_INIT;
	size_t n_told;

	if (!rec->ledger)
		return;
	if (ledger_told_near(rec->ledger, c->path, &n->arena, &told, &n_told,
			     &err) < 0) {
		record_warn(rec, "what was told is not known: %s", err.msg);
		return;
	}
	for (size_t i = 0; i < n_told; i++) {
		const struct routine *r = config_routine(c, told[i].routine);

		if (r == n->routine)
			own = told[i];
		else if (r && told[i].n_lost)
			tell_news(n, r);
	}
	begin_story(n, &own);
	if (own.n_lost)
		tell_news(n, n->routine);
}

static struct notify *notify_new(struct world *w,
				 const struct notify_rules *rules)
{
	struct notify *n = mem_zalloc(sizeof(*n));
	struct utsname u;

	n->world = w;
	n->rules = rules;
	sender_init(&n->sender, w);
	n->routine = w->record->result->walk.plan.routine;
	n->host = uname(&u) == 0 ? arena_strdup(&n->arena, u.nodename) : "";
	return n;
}

struct notify *notify_begin(struct world *w)
{
	const struct record *rec = w->record;
	const struct config *c = &rec->o->file->config;
	const struct routine *r = rec->result->walk.plan.routine;
	const struct notify_rules *rules = config_notify(c, r);
	struct notify *n;

	if (!rules || rec->o->dry_run || rec->o->replay || rec->o->tracer ||
	    !rec->which.whole)
		return NULL;
	n = notify_new(w, rules);
	sender_ping(&n->sender, rules, "start", "/start");
	look_for_lost(n);
	return n;
}

/* ---- after the steps ---- */

static bool is_lacking(const struct report_step *s)
{
	return s->reason == REASON_NO_COMMAND ||
	       s->reason == REASON_NO_CREDENTIAL;
}

/* Did the step give something in that run? One that is kept no more gave what
   was told of it. */
static bool did_run(const struct report *old, const struct report_step *s)
{
	const struct report_step *before = previous_step(old, str_of(s->name));

	return !old || (before && before->state == STATE_OK);
}

/* Look for a step that is skipped for what vanished: the run is ok, and yet not
   what it was. Only a run that skips one costs a look back. */
static void find_lacking(struct notify *n)
{
	const struct record *rec = n->world->record;
	const struct report *now = &rec->result->report, *old = NULL;
	const struct ledger_routine which = which_of(n, n->routine);
	struct ledger_told told = {.state = NULL};
	size_t first = 0;

	while (first < now->n_steps && !is_lacking(&now->steps[first]))
		first++;
	if (first == now->n_steps || !rec->ledger ||
	    !look(n, n->routine, &told))
		return;
	n->whole_since = told.since;
	if (!told.since || strcmp(told.state, NOTICE_FAILED) != 0) {
		old = previous_find(rec->ledger, &which, true, now->generation,
				    &n->arena);
		if (!old)
			return;
		n->whole_since = old->generation;
	} else if (previous_get(rec->ledger, &which,
				arena_printf(&n->arena, "%llu",
					     (unsigned long long)told.since),
				&n->arena, &old, ERR_IGNORED) < 0) {
		old = NULL;
	}
	for (size_t i = first; i < now->n_steps && !n->lacking; i++)
		if (is_lacking(&now->steps[i]) && did_run(old, &now->steps[i]))
			n->lacking = &now->steps[i];
}

/* From when on the routine was whole, as long as it is not. */
static uint64_t whole_since(const struct notify *n,
			    const struct ledger_told *told)
{
	const struct report *r = &n->world->record->result->report;

	if (n->lacking)
		return n->whole_since;
	return !report_success(r) && told->state &&
			       strcmp(told->state, NOTICE_FAILED) == 0
		       ? told->since
		       : 0;
}

/* Append what differs from the last run that was ok, or from the one since
   which a change is not told. */
static size_t find_changes(struct notify *n, const struct ledger_told *told,
			   uint64_t *ret_since, struct buf *text)
{
	const struct record *rec = n->world->record;
	const struct ledger_routine which = which_of(n, n->routine);
	const struct report *old = NULL;
	struct err err = ERR_INIT;
	struct diff d;
	const char *since = arena_printf(&n->arena, "%llu",
					 (unsigned long long)told->since);

	if (!rec->ledger || !notice_is_wanted(n->rules, "change"))
		return 0;
	if (!told->since || previous_get(rec->ledger, &which, since, &n->arena,
					 &old, ERR_IGNORED) < 0)
		old = previous_find(rec->ledger, &which, true,
				    rec->result->report.generation, &n->arena);
	if (!old)
		return 0;
	*ret_since = old->generation;
	if (changes_diff(old, &rec->result->report, &rec->o->file->config,
			 n->routine, &n->arena, &d, &err) < 0) {
		buf_adds(text, err.msg);
		return 1;
	}
	diff_print_part(&d, &diff_news, text);
	return d.n;
}

/* Keep since when a change is not told. */
static void promise(struct notify *n, const struct ledger_told *end,
		    uint64_t since, struct ledger_told *told)
{
	struct ledger_told line = *end;

	line.since = since;
	if (told->since != since)
		tell(n, n->routine, &line);
	told->since = since;
}

static void tell_end(struct notify *n)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct report *report = &n->world->record->result->report;
	bool is_ok = report_success(report) && !n->lacking, is_told = true;
	const char *now = is_ok ? NOTICE_OK : NOTICE_FAILED, *kind, *was;
	struct ledger_told told,
		line = {.generation = report->generation, .state = now};
	struct notice notice;
	size_t changes = 0;
	uint64_t since = 0;

	(void)look(n, n->routine, &told);
	was = told.state ? told.state : NOTICE_OK;
	line.since = whole_since(n, &told);
	if (is_ok)
		changes = find_changes(n, &told, &since, &text);
	kind = notice_choose(n->rules, was, now, changes > 0);
	if (kind) {
		notice = notice_of(n, n->routine, kind, was, now);
		notice.generation = report->generation;
		notice.summary = report_summary(report, &n->arena);
		notice.report = report;
		notice.lacking = n->lacking;
		notice.changes = buf_str(&text);
		/* a state lasts; a change is due until it was told */
		if (strcmp(kind, "change") == 0)
			promise(n, &line, since, &told);
		is_told = sender_deliver(&n->sender, n->rules, &notice);
	}
	if (is_told && (strcmp(was, now) != 0 || told.since != line.since))
		tell(n, n->routine, &line);
}

/* Outcome of each, as JSON and as warnings. */
static struct str outcomes(struct notify *n)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct record *rec = n->world->record;
	struct jw w;

	jw_init(&w, &out, false);
	jw_array(&w);
	for (const struct sent *s = n->sender.first; s; s = s->next) {
		jw_object(&w);
		jw_kv_cstr(&w, "notice", s->kind);
		jw_kv_cstr(&w, "way", s->way);
		jw_kv_cstr(&w, "to", s->to);
		jw_kv_bool(&w, "delivered", s->is_delivered);
		jw_kv_int(&w, "attempts", (int64_t)s->attempts);
		if (!s->is_delivered)
			jw_kv_cstr(&w, "error", s->error);
		jw_end(&w);
		if (!s->is_delivered)
			record_warn(rec, "notice \"%s\" to %s %s failed: %s",
				    s->kind, s->way, s->to, s->error);
	}
	jw_end(&w);
	return arena_str(&rec->result->arena, buf_str(&out));
}

void notify_end(struct notify *n)
{
	struct record *rec = n ? n->world->record : NULL;
	int turn;

	if (!n)
		return;
	/* its beginning first */
	sender_wait(&n->sender);
	find_lacking(n);
	sender_ping(&n->sender, n->rules, "end",
		    report_success(&rec->result->report) && !n->lacking
			    ? ""
			    : "/fail");
	turn = rec->ledger ? take_turn(n, n->routine, n->rules) : -1;
	tell_end(n);
	fd_closep(&turn);
	sender_wait(&n->sender);
	if (n->sender.first)
		rec->notices = outcomes(n);
}

void notify_free(struct notify *n)
{
	if (!n)
		return;
	sender_release(&n->sender);
	arena_release(&n->arena);
	free(n);
}

/* ---- without a run ---- */

/* The world of a run without steps. */
struct alone {
	struct run_options o;
	struct run_result result;
	struct loop loop;
	bool has_loop;
	struct record rec;
	struct world w;
};

static int alone_open(struct alone *a, const struct config_file *file,
		      const struct routine *routine, struct err *err)
{
	*a = (struct alone){
		.o = {.file = file, .routine = routine},
		.result = {.arena = ARENA_INIT},
		.rec = {.o = &a->o,
			.result = &a->result,
			.loop = &a->loop,
			.lock = -1,
			.journal = -1},
	};
	a->result.walk.plan.routine = routine;
	if (loop_init(&a->loop, clock_system(), err) < 0)
		return -1;
	a->has_loop = true;
	if (loop_take_signals(&a->loop, err) < 0)
		return -1;
	return world_open(&a->w, &a->rec, err);
}

static void alone_close(struct alone *a)
{
	world_close(&a->w);
	ledger_free(a->rec.ledger);
	if (a->has_loop)
		loop_release(&a->loop);
	loop_give_signals_back();
	arena_release(&a->result.arena);
}

static int send_test(struct alone *a, const struct notify_rules *rules,
		     struct buf *ret)
{
	struct notify *n = notify_new(&a->w, rules);
	struct notice notice =
		notice_of(n, n->routine, "test", NOTICE_OK, NOTICE_OK);
	int status = 0;

	sender_ping(&n->sender, rules, "test", "");
	(void)!sender_deliver(&n->sender, rules, &notice);
	for (const struct sent *s = n->sender.first; s; s = s->next) {
		buf_addf(ret, "%s %s: %s\n", s->way, s->to,
			 s->is_delivered ? "delivered" : s->error);
		if (!s->is_delivered && s->advice)
			buf_adds(ret, s->advice);
		status |= !s->is_delivered;
	}
	notify_free(n);
	return status;
}

int notify_test(const struct config_file *file, const struct routine *routine,
		struct buf *ret, struct err *err)
{
	const struct notify_rules *rules =
		config_notify(&file->config, routine);
	const struct routine none = {.name = "matins"};
	struct alone a;
	int status;

	if (!rules)
		return err_set(err, ERR_CONFIG,
			       "%s tells nobody: write [notify] or "
			       "[routines.NAME.notify] with command, url or "
			       "ping",
			       file->path ? file->path : "the configuration");
	status = alone_open(&a, file, routine ? routine : &none, err);
	if (status == 0)
		status = send_test(&a, rules, ret);
	alone_close(&a);
	return status;
}

/* Tell it once, where what was told can be kept. */
static void tell_unstarted(struct notify *n, const struct err *why)
{
	struct ledger_told told;
	struct notice notice;
	const char *was, *kind;

	(void)look(n, n->routine, &told);
	was = told.state ? told.state : NOTICE_OK;
	kind = notice_choose(n->rules, was, NOTICE_FAILED, false);
	if (!kind)
		return;
	notice = notice_of(n, n->routine, kind, was, NOTICE_FAILED);
	notice.summary = why->msg;
	if (!sender_deliver(&n->sender, n->rules, &notice) || !told.generation)
		return;
	told.state = NOTICE_FAILED;
	tell(n, n->routine, &told);
}

void notify_unstarted(const struct config_file *file,
		      const struct routine *routine, const struct err *why)
{
	const struct notify_rules *rules =
		config_notify(&file->config, routine);
	struct notify_rules sent;
	struct notify *n;
	struct err err = ERR_INIT;
	struct alone a;

	if (!rules)
		return;
	sent = *rules;
	if (file->findings.has_error)
		sent.command = (struct strlist){NULL, 0};
	if (alone_open(&a, file, routine, &err) == 0) {
		(void)!ledger_open(NULL, &a.rec.ledger, ERR_IGNORED);
		n = notify_new(&a.w, &sent);
		sender_ping(&n->sender, &sent, "end", "/fail");
		tell_unstarted(n, why);
		sender_wait(&n->sender);
		(void)outcomes(n);
		notify_free(n);
	} else {
		log_warning("no notice is sent: %s", err.msg);
	}
	alone_close(&a);
}
