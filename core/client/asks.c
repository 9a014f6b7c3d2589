#include "core/client/asks.h"

#include <ctype.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/scan.h"
#include "core/client/facts.h"
#include "core/client/program.h"
#include "core/config/paths.h"
#include "core/mcp/wire/rpc.h"
#include "core/mcp/wire/sampling.h"

#define STDERR_BYTES 4096
#define GRACE_MS 500
/* Bytes of the program's stderr that are shown. */
#define SHOWN_BYTES 300

/* One request, and the program that works on it. */
struct job {
	struct sampler *of;
	struct client *client; /* borrowed */
	uint64_t ask;
	struct program program;
	struct loop_timer timer;
	struct buf params; /* owned; for stdin */
	bool is_late;
	struct job *next;
};

struct sampler {
	struct sampler_options o;
	struct job *jobs; /* owned */
	unsigned asked;	  /* of this session */
};

/* ---- a program that answers sampling ---- */

static struct gate_request request_of(const struct sampler_options *o)
{
	return (struct gate_request){
		.program = o->words.item[0],
		.argv = o->words.item,
		.cwd = o->cwd,
		.policy = o->policy,
		.stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE},
	};
}

int sampler_check(const struct sampler_options *o, struct err *err)
{
	const struct gate_request request = request_of(o);

	if (gate_check(o->gate, &request, err) < 0)
		return err_wrap(err, "sampling of %s", o->name);
	return 0;
}

struct sampler *sampler_new(const struct sampler_options *o)
{
	struct sampler *s = mem_zalloc(sizeof(*s));

	s->o = *o;
	return s;
}

/* Remove a job; its program ends at once. */
static void remove_job(struct job *j)
{
	struct job **at = &j->of->jobs;

	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
	loop_timer_clear(j->of->o.loop, &j->timer);
	program_release(&j->program);
	buf_release(&j->params);
	free(j);
}

void sampler_stop(struct sampler *s)
{
	if (!s)
		return;
	while (s->jobs)
		remove_job(s->jobs);
	s->asked = 0;
}

void sampler_free(struct sampler *s)
{
	sampler_stop(s);
	free(s);
}

void sampler_forget(struct sampler *s, uint64_t ask)
{
	for (struct job *j = s ? s->jobs : NULL; j; j = j->next) {
		if (j->ask == ask) {
			remove_job(j);
			return;
		}
	}
}

/* Take the answer from stdout, as one line without secrets. */
static int take_result(const struct job *j, struct buf *out, struct err *err)
{
	const struct mcp_peer *server = client_server(j->client);
	const struct gate_verdict *v = &j->program.child.verdict;
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str result;

	if (j->is_late)
		return err_set(err, ERR_PEER, "the program took more than %d s",
			       SAMPLER_TIMEOUT_MS / 1000);
	if (j->program.is_over)
		return err_set(err, ERR_PEER,
			       "the program printed more than %d bytes",
			       SAMPLER_BYTES);
	if (!v->exited || v->exit_status) {
		log_visible(&words, str_trim(child_stderr(&j->program.child)),
			    false);
		if (words.n)
			log_note("sampling of %s: %.*s", j->of->o.name,
				 SHOWN_BYTES, buf_cstr(&words));
		return err_set(err, ERR_PEER, "the program %s",
			       facts_say_end(v, &arena));
	}
	if (scan_document(buf_str(&j->program.out), NULL, &result, err) < 0)
		return err_wrap(err, "the program printed no JSON");
	if (!server || !server->revision)
		return err_set(err, ERR_PEER, "the session has ended");
	if (sampling_check_result(result, server->revision, err) < 0)
		return err_wrap(err, "the program printed no answer");
	scan_compact(result, &line);
	scrub_json(j->of->o.scrub, buf_str(&line), out);
	return 0;
}

/* Warn with the cause; the server hears only that the program failed. */
static void refuse(struct client *client, uint64_t ask, const char *name,
		   const struct err *err)
{
	log_warning("sampling of %s failed: %s", name, err->msg);
	client_answer_error(client, ask, MCP_REJECTED,
			    "the program that answers has failed");
}

static void on_ended(void *arg)
{
	struct job *j = arg;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct client *client = j->client;
	const char *name = j->of->o.name;
	struct err err = ERR_INIT;
	uint64_t ask = j->ask;
	int r = take_result(j, &out, &err);

	/* answering may end the session, and with it every job */
	remove_job(j);
	if (r == 0)
		client_answer(client, ask, buf_str(&out));
	else
		refuse(client, ask, name, &err);
}

static void on_time(void *arg)
{
	struct job *j = arg;

	j->is_late = true;
	child_end(&j->program.child, CHILD_KILLING);
}

/* Add a job, and start its program. */
static int start(struct sampler *s, struct client *client,
		 const struct client_event *e, struct err *err)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const struct gate_request request = request_of(&s->o);
	struct job *j = mem_zalloc(sizeof(*j));
	struct program_options options = {
		.loop = s->o.loop,
		.scrub = s->o.scrub,
		.name = s->o.words.item[0],
		.tape = s->o.tape,
		.grace_ms = GRACE_MS,
		.stderr_max = STDERR_BYTES,
		.stdout_max = SAMPLER_BYTES,
		.ended = on_ended,
		.arg = j,
	};

	*j = (struct job){
		.of = s,
		.client = client,
		.ask = e->of->ask,
		.timer = {.fire = on_time, .arg = j},
		.params = BUF_INIT(BUF_UNBOUNDED),
		.next = s->jobs,
	};
	s->jobs = j;
	scan_compact(e->of->params, &line);
	scrub_json(s->o.scrub, buf_str(&line), &j->params);
	buf_addc(&j->params, '\n');
	options.input = buf_str(&j->params);
	program_init(&j->program, &options);
	if (program_start(&j->program, s->o.gate, &request, err) < 0) {
		remove_job(j);
		return -1;
	}
	loop_timer_in(s->o.loop, &j->timer, SAMPLER_TIMEOUT_MS);
	return 0;
}

static void sampler_answer(struct sampler *s, struct client *client,
			   const struct client_event *e, struct buf *ret_says)
{
	uint64_t ask = e->of->ask;
	struct err err = ERR_INIT;

	if (sampling_check_request(e->of->params, &err) < 0) {
		buf_addf(ret_says, "for a message of a model, wrongly: %s",
			 err.msg);
		client_answer_error(client, ask, RPC_INVALID_PARAMS, err.msg);
		return;
	}
	if (s->asked == SAMPLER_MOST) {
		buf_addf(
			ret_says,
			"for a message of a model, more than %d times: refused",
			SAMPLER_MOST);
		client_answer_error(client, ask, MCP_REJECTED,
				    "too many sampling requests");
		return;
	}
	s->asked++;
	if (start(s, client, e, &err) < 0) {
		refuse(client, ask, s->o.name, &err);
		return;
	}
	buf_addf(ret_says, "for a message of a model; %s answers",
		 s->o.words.item[0]);
}

/* ---- roots ---- */

int asks_add_root(struct asks *asks, const char *path,
		  const struct gate_policy *policy, struct arena *arena,
		  struct err *err)
{
	AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);
	AUTO(mem_freep) char *real = realpath(path, NULL);

	if (!real)
		return err_set(err, ERR_CONFIG, "root %s: no such folder",
			       path);
	if (policy && !path_is_beneath(real, &policy->read) &&
	    !path_is_beneath(real, &policy->write))
		return err_set(err, ERR_CONFIG,
			       "root %s: the server may not read it; grant it "
			       "with read = [\"%s\"] or --read %s",
			       path, place_to_paste(real, "FOLDER"),
			       place_to_paste(path, "FOLDER"));
	buf_adds(&uri, "file://");
	/* percent-encoded by RFC 3986 */
	for (const char *p = real; *p; p++)
		if (isalnum((unsigned char)*p) || strchr("-._~/", *p))
			buf_addc(&uri, *p);
		else
			buf_addf(&uri, "%%%02X", (unsigned char)*p);
	list_add(&asks->roots, arena, arena_strdup(arena, buf_cstr(&uri)));
	return 0;
}

int asks_of_server(const struct server *server,
		   const struct gate_policy *policy, struct arena *arena,
		   struct asks *ret, struct err *err)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	struct asks asks = {0};

	for (size_t i = 0; i < server->roots.n; i++)
		if (asks_add_root(&asks, server->roots.item[i],
				  server->url ? NULL : policy, arena, err) < 0)
			return err_wrap(err, "server %s", server->name);
	asks.has_elicit = server->elicit &&
			  elicit_action_find(server->elicit, &asks.elicit);
	if (server->elicit_content) {
		toml_to_json(server->elicit_content, &json);
		asks.content = arena_str(arena, buf_str(&json));
	}
	asks.sampling = server->sampling;
	*ret = asks;
	return 0;
}

void asks_declare(const struct asks *asks, struct mcp_declared *declared)
{
	declared->roots |= asks->roots.n > 0;
	declared->elicit_form |= asks->has_elicit;
	/* consent to a page is a person's: a policy can only say no */
	declared->elicit_url |=
		asks->has_elicit && asks->elicit != ELICIT_ACCEPT;
	declared->sampling |= asks->sampler != NULL;
}

/* ---- answers ---- */

static void answer_roots(const struct asks *asks, struct client *client,
			 const struct client_event *e)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&out);

	jw_kv_array(&w, "roots");
	for (size_t i = 0; i < asks->roots.n; i++) {
		jw_object(&w);
		jw_kv_cstr(&w, "uri", asks->roots.item[i]);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	client_answer(client, e->of->ask, buf_str(&out));
}

static void answer_elicit(struct asks *asks, struct client *client,
			  const struct client_event *e, struct buf *says)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	static const char *const words[] = {
		[ELICIT_ACCEPT] = "accept",
		[ELICIT_DECLINE] = "decline",
		[ELICIT_CANCEL] = "cancel",
	};
	struct err err = ERR_INIT;
	struct elicit question;
	enum elicit_action given;
	struct str why;

	if (elicit_read(e->of->params, &arena, &question, &err) < 0) {
		asks->is_unmet |= asks->elicit == ELICIT_ACCEPT;
		buf_addf(says, "a question that cannot be asked: %s", err.msg);
		client_answer_error(client, e->of->ask, RPC_INVALID_PARAMS,
				    err.msg);
		return;
	}
	given = elicit_answer(&question, asks->elicit, asks->content, &arena,
			      &out, &why);
	asks->is_unmet |= given != asks->elicit;
	buf_addf(says, "for values, answered by %s: ", words[given]);
	buf_add_cut(says, question.message, 400);
	if (why.p)
		buf_addf(says, " (%.*s)", STR_ARG(why));
	client_answer(client, e->of->ask, buf_str(&out));
}

bool asks_answer(struct asks *asks, struct client *client,
		 const struct client_event *e, struct buf *ret_says)
{
	const char *method = e->of->method;

	if (strcmp(method, "roots/list") == 0 && asks->roots.n)
		answer_roots(asks, client, e);
	else if (strcmp(method, "elicitation/create") == 0 && asks->has_elicit)
		answer_elicit(asks, client, e, ret_says);
	else if (strcmp(method, "sampling/createMessage") == 0 && asks->sampler)
		sampler_answer(asks->sampler, client, e, ret_says);
	else
		return false;
	return true;
}
