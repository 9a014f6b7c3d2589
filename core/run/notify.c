#include "core/run/notify.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/facts.h"
#include "core/client/program.h"
#include "core/config/notify.h"
#include "core/report/diff_print.h"
#include "core/report/ledger_lock.h"
#include "core/report/ledger_told.h"
#include "core/run/advice.h"
#include "core/run/changes.h"
#include "core/run/credentials.h"
#include "core/run/notice.h"
#include "core/run/previous.h"
#include "core/run/remotes.h"
#include "core/run/world.h"
#include "core/transport/http.h"

/*
 * ---- sender ----
 *
 * Sends notices: to a program under the gate, to a URL, to a watcher
 * elsewhere; each with its attempts and time limits, side by side in the loop
 * of the run.
 *
 *	sender_init(&s, &world);
 *	sender_ping(&s, rules, "start", "/start");	goes on beside
 *	if (sender_deliver(&s, rules, &notice))
 *		...			somebody took it
 *	sender_wait(&s);
 *	... s.first ...
 *	sender_release(&s);
 */

/* Outcome of a notice on one way; lives as long as the sender. */
struct sent {
	const char *kind; /* word of the notice; "start", "end" of a ping */
	const char *way;  /* "command", "url", "ping" */
	const char *to;	  /* program, or origin of the URL */
	uint64_t attempts;
	bool is_delivered;
	const char *error; /* of the last attempt, without secrets; or NULL */
	/* Lines that say what its sandbox refused, and which key allows it;
	   NULL: nothing is known. */
	const char *advice;
	struct sent *next;
};

struct sender {
	struct world *world; /* borrowed */
	struct arena arena;
	struct sent *first, **last;
	size_t n_pending;
};

/* Ceilings of what a program or URL says to a notice, bytes. */
#define OUTPUT_BYTES (1024 * 1024)
#define STDERR_BYTES 1024
#define GRACE_MS 500

/* A way of a notice, with its attempts; in the arena. */
struct sending {
	struct sent sent; /* first, for the list */
	struct sender *of;
	const struct notify_rules *rules;
	struct str text; /* for stdin, or to be posted; n = 0: asked */
	struct notify_words words;
	const char *written; /* URL; NULL: a program is started */
	struct url url;
	struct loop_timer timer;
	struct gate_policy policy; /* of the program */
	struct gate_request request;
	struct program program;
	bool has_program, is_late, has_ended;
	struct http_exchange *exchange;
};

static struct loop *loop_of(const struct sending *s)
{
	return s->of->world->record->loop;
}

/* ---- the end of an attempt ---- */

static void end(struct sending *s, bool is_delivered)
{
	s->has_ended = true;
	s->sent.is_delivered = is_delivered;
	s->of->n_pending--;
	loop_timer_clear(loop_of(s), &s->timer);
}

static void begin_attempt(void *arg);

/* Try again after a while, or give up. */
static void PRINTF(3, 4)
	fail(struct sending *s, bool is_final, const char *fmt, ...)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	struct loop *l = loop_of(s);
	const char *error;
	va_list ap;

	va_start(ap, fmt);
	error = arena_vprintf(&s->of->arena, fmt, ap);
	va_end(ap);
	scrub_apply(s->of->world->scrub, str_of(error), &clean);
	s->sent.error = arena_strndup(&s->of->arena, buf_cstr(&clean), clean.n);
	if (is_final || s->sent.attempts >= s->rules->attempts) {
		end(s, false);
		return;
	}
	s->timer = (struct loop_timer){.fire = begin_attempt, .arg = s};
	loop_timer_set(l, &s->timer,
		       loop_now(l) + s->rules->timeout_ms * NS_PER_MS / 10);
}

/* ---- a program ---- */

static void on_time(void *arg)
{
	struct sending *s = arg;

	s->is_late = true;
	child_end(&s->program.child, CHILD_TERMINATING);
}

/* Say what the sandbox refused. */
static void advise(struct sending *s)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	const struct record *rec = s->of->world->record;
	const struct routine *r = rec->result->walk.plan.routine;
	const struct notify_rules *own = &r->notify;
	struct arena *arena = &s->of->arena;
	const struct advice_known known = {
		.verdict = &s->program.child.verdict,
		.said = child_stderr(&s->program.child),
		.failed = true,
		.own = &s->rules->sandbox,
		.config = &rec->o->file->config,
		.inside = own->command.n ? arena_printf(arena,
							"[routines.%s.notify."
							"sandbox]",
							r->name)
					 : "[notify.sandbox]",
		.is_bare = true,
		.scrub = s->of->world->scrub,
		.gate = s->of->world->gate,
		.request = &s->request,
	};
	const struct advice_list list = advice_find(&known, arena);

	for (size_t i = 0; i < list.n; i++)
		buf_addf(&out, "  %s\n", advice_line(&list.item[i], arena));
	scrub_apply(s->of->world->scrub, buf_str(&out), &clean);
	s->sent.advice = arena_strndup(arena, buf_cstr(&clean), clean.n);
}

static void on_program_ended(void *arg)
{
	struct sending *s = arg;
	const struct child *child = &s->program.child;
	const struct gate_verdict *v = &child->verdict;
	struct str words = str_trim(child_stderr(child)), line = {NULL, 0};

	while (words.n)
		line = str_cut(&words, '\n');
	loop_timer_clear(loop_of(s), &s->timer);
	if (s->is_late || !v->exited || v->exit_status)
		advise(s);
	if (s->is_late)
		fail(s, false, "it did not end within %llu ms",
		     (unsigned long long)s->rules->timeout_ms);
	else if (v->exited && !v->exit_status)
		end(s, true);
	else
		fail(s, false, "it %s%s%.*s", facts_say_end(v, &s->of->arena),
		     line.n ? ": " : "", STR_ARG(line));
}

static void start_program(struct sending *s)
{
	const struct config *config = &s->of->world->record->o->file->config;
	const struct strlist *c = &s->rules->command;
	struct arena *arena = &s->of->arena;
	const char **argv = ARENA_ARRAY(arena, const char *, c->n + 1);
	const struct program_options options = {
		.loop = loop_of(s),
		.scrub = s->of->world->scrub,
		.name = "notify",
		.grace_ms = GRACE_MS,
		.stderr_max = STDERR_BYTES,
		.stdout_max = OUTPUT_BYTES,
		.input = s->text,
		.ended = on_program_ended,
		.arg = s,
	};
	struct err err = ERR_INIT;

	argv[0] = c->item[0];
	for (size_t i = 1; i < c->n; i++)
		argv[i] = notify_fill(c->item[i], &s->words, arena);
	gate_policy_merge(&config->sandbox, &s->rules->sandbox, arena,
			  &s->policy);
	s->request = (struct gate_request){
		.program = c->item[0],
		.argv = argv,
		.policy = &s->policy,
		.cwd = config->dir,
		.stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE},
	};
	program_init(&s->program, &options);
	s->has_program = true;
	s->timer = (struct loop_timer){.fire = on_time, .arg = s};
	loop_timer_in(loop_of(s), &s->timer, s->rules->timeout_ms);
	if (program_start(&s->program, s->of->world->gate, &s->request, &err) ==
	    0)
		return;
	loop_timer_clear(loop_of(s), &s->timer);
	fail(s, true, "%s", err.msg);
}

/* ---- a URL ---- */

/* Answers that may be others later. */
static bool may_repeat(int status)
{
	return status == 408 || status == 429 || status >= 500;
}

static void on_answer(void *arg, const struct http_fetched *f)
{
	struct sending *s = arg;

	s->exchange = NULL;
	if (!f->status)
		fail(s, false, "%s", f->end.err.msg);
	else if (f->status >= 200 && f->status < 300)
		end(s, true);
	else
		fail(s, !may_repeat(f->status), "it answered %d%s", f->status,
		     f->status >= 300 && f->status < 400
			     ? ", and no redirect is followed: write the "
			       "address that it leads to"
			     : "");
}

static bool may_connect(void *arg, struct str host,
			const struct sockaddr *address, struct err *err)
{
	const struct sending *s = arg;

	return gate_may_connect(s->of->world->gate, host, s->url.port, address,
				err) == 0;
}

static bool has_type(const struct headers *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcasecmp(h->item[i].name, "content-type") == 0)
			return true;
	return false;
}

/* As of a server with these headers and this token. */
static int add_headers(struct sending *s, struct http_headers *ret,
		       struct err *err)
{
	struct server as = server_by_default();
	const struct headers *from = &s->rules->headers;
	struct remote_spec spec;

	as.name = "[notify]";
	as.url = s->written;
	as.token = s->rules->token;
	as.headers.item =
		ARENA_ARRAY(&s->of->arena, struct header, from->n + 1);
	for (size_t i = 0; i < from->n; i++)
		as.headers.item[as.headers.n++] =
			(struct header){from->item[i].name,
					notify_fill(from->item[i].value,
						    &s->words, &s->of->arena),
					false};
	if (!has_type(from))
		as.headers.item[as.headers.n++] =
			(struct header){"Content-Type",
					strcmp(s->rules->format, "json") == 0
						? "application/json"
						: "text/plain; charset=utf-8",
					false};
	if (remote_spec_of_server(&as, s->of->world->credentials, &spec, err) <
	    0)
		return -1;
	*ret = spec.headers;
	spec.headers = (struct http_headers){NULL, 0};
	remote_spec_release(&spec);
	return 0;
}

static int send_request(struct sending *s, struct err *err)
{
	AUTO(http_headers_release) struct http_headers headers = {NULL, 0};
	struct reach reach = reach_of_user();
	struct http *http;

	if (notify_url(s->written, &s->of->arena, &s->url, err) < 0 ||
	    gate_may_connect(s->of->world->gate, s->url.host, s->url.port, NULL,
			     err) < 0 ||
	    (s->text.n && add_headers(s, &headers, err) < 0) ||
	    remotes_http(s->of->world->remotes, &http, err) < 0)
		return -1;
	reach.allows = may_connect;
	reach.arg = s;
	reach.is_loopback_only = !s->url.is_tls;
	s->exchange = http_fetch(http,
				 &(struct http_request){
					 .method = s->text.n ? "POST" : "GET",
					 .url = s->url.text.p,
					 .headers = &headers,
					 .content = s->text,
					 .connect_ms = s->rules->timeout_ms,
					 .total_ms = s->rules->timeout_ms,
					 .reach = &reach,
				 },
				 on_answer, s);
	return 0;
}

static void begin_attempt(void *arg)
{
	struct sending *s = arg;
	struct err err = ERR_INIT;

	s->sent.attempts++;
	s->is_late = false;
	if (s->has_program)
		program_release(&s->program);
	s->has_program = false;
	if (s->rules->unset)
		fail(s, true, "%s", s->rules->unset);
	else if (!s->written && s->rules->ungranted)
		fail(s, true, "%s", s->rules->ungranted);
	else if (!s->written)
		start_program(s);
	else if (send_request(s, &err) < 0)
		fail(s, true, "%s", err.msg);
}

/* ---- all that is sent ---- */

static void sender_init(struct sender *s, struct world *w)
{
	*s = (struct sender){.world = w};
	s->last = &s->first;
}

static struct sending *add(struct sender *of, const struct notify_rules *rules,
			   const char *kind, const char *way, const char *to)
{
	struct sending *s = ARENA_NEW(&of->arena, struct sending);

	*s = (struct sending){
		.sent = {.kind = kind, .way = way, .to = to},
		.of = of,
		.rules = rules,
	};
	*of->last = &s->sent;
	of->last = &s->sent.next;
	of->n_pending++;
	return s;
}

/* "https://host": path and query may be what only the two should know. */
static struct sending *add_url(struct sender *of,
			       const struct notify_rules *rules,
			       const char *kind, const char *way,
			       const char *written)
{
	AUTO(buf_release) struct buf to = BUF_INIT(BUF_UNBOUNDED);
	struct sending *s;
	struct url url;

	if (url_parse(str_of(written), &of->arena, &url, ERR_IGNORED) == 0)
		url_origin(&url, &to);
	s = add(of, rules, kind, way,
		arena_strndup(&of->arena, buf_cstr(&to), to.n));
	s->written = written;
	return s;
}

/* Ask the watcher, where the rules have one; suffix  of its path: "/start" */
static void sender_ping(struct sender *of, const struct notify_rules *rules,
			const char *kind, const char *suffix)
{
	const char *url = rules->ping;
	size_t path = url ? strcspn(url, "?#") : 0;
	size_t bare = path;

	if (!url)
		return;
	while (*suffix && bare && url[bare - 1] == '/')
		bare--;
	begin_attempt(add_url(of, rules, kind, "ping",
			      arena_printf(&of->arena, "%.*s%s%s", (int)bare,
					   url, suffix, url + path)));
}

static struct notify_words words_of(const struct notice *notice,
				    struct arena *arena)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);

	notice_title(notice, &title);
	return (struct notify_words){
		.title = arena_strndup(arena, buf_cstr(&title), title.n),
		.notice = notice->kind,
		.routine = notice->routine,
		.run = arena_printf(arena, "%llu",
				    (unsigned long long)notice->generation),
		.state = notice->state,
		.host = notice->host,
	};
}

/* Begin one that has a text. */
static void begin(struct sending *s, const struct notice *notice,
		  struct str text)
{
	s->text = text;
	s->words = words_of(notice, &s->of->arena);
	begin_attempt(s);
}

/* Wait for all that is sent; a signal that arrives ends that. */
static void sender_wait(struct sender *of)
{
	struct loop *l = of->world->record->loop;
	unsigned signals = l->signal_count;
	struct err err = ERR_INIT;

	while (of->n_pending && l->signal_count == signals &&
	       loop_turn(l, &err) == 0)
		;
	for (struct sent *one = of->first; one; one = one->next) {
		struct sending *s = (struct sending *)one;

		if (s->has_ended)
			continue;
		http_cancel(s->exchange);
		s->exchange = NULL;
		if (s->has_program)
			program_release(&s->program);
		s->has_program = false;
		fail(s, true, "cancelled: interrupted");
	}
}

/*
 * Send a notice on each way that the rules name, and wait for what is sent.
 *
 * rules, notice  borrowed for as long as the sender
 * returns  whether somebody took it, or nobody was to
 */
static bool sender_deliver(struct sender *of, const struct notify_rules *rules,
			   const struct notice *notice)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	bool is_json = strcmp(rules->format, "json") == 0;
	const struct sending *program = NULL, *url = NULL;
	struct sending *s;
	struct str body;

	(is_json ? notice_json : notice_text)(notice, &text);
	(is_json ? scrub_json : scrub_apply)(of->world->scrub, buf_str(&text),
					     &clean);
	body = arena_str(&of->arena, buf_str(&clean));
	if (rules->command.n) {
		program = s = add(of, rules, notice->kind, "command",
				  rules->command.item[0]);
		begin(s, notice, body);
	}
	if (rules->url) {
		url = s = add_url(of, rules, notice->kind, "url", rules->url);
		begin(s, notice, body);
	}
	sender_wait(of);
	return (!program && !url) || (program && program->sent.is_delivered) ||
	       (url && url->sent.is_delivered);
}

/* End what is left, while loop and gate are there. */
static void sender_release(struct sender *of)
{
	for (struct sent *one = of->first; one; one = one->next) {
		struct sending *s = (struct sending *)one;

		loop_timer_clear(loop_of(s), &s->timer);
		http_cancel(s->exchange);
		if (s->has_program)
			program_release(&s->program);
	}
	arena_release(&of->arena);
}

/* Pause between two looks at a lock. */
#define LOCK_LOOK_MS 20

struct notify {
	struct world *world;
	const struct notify_rules *rules; /* of the routine that runs */
	const struct routine *routine;
	const char *host;
	const struct report_step *lacking; /* ran before; NULL: none is */
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

	loop_timer_in(l, &timer, ms);
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
	/* wait for the ping of the beginning first */
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
