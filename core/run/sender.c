#include "core/run/sender.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "core/client/facts.h"
#include "core/client/program.h"
#include "core/config/notify.h"
#include "core/run/advice.h"
#include "core/run/credentials.h"
#include "core/run/remotes.h"
#include "core/transport/http.h"

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
	loop_timer_set(loop_of(s), &s->timer,
		       loop_now(loop_of(s)) + s->rules->timeout_ms * NS_PER_MS);
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

void sender_init(struct sender *s, struct world *w)
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

void sender_ping(struct sender *of, const struct notify_rules *rules,
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

bool sender_deliver(struct sender *of, const struct notify_rules *rules,
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

void sender_wait(struct sender *of)
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

void sender_release(struct sender *of)
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
