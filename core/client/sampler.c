#include "core/client/sampler.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/rpc.h"
#include "core/mcp/wire/sampling.h"
#include "core/client/facts.h"
#include "core/client/program.h"

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

/* ---- the program ---- */

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

static void job_release(struct job *j)
{
	loop_timer_clear(j->of->o.loop, &j->timer);
	program_release(&j->program);
	buf_release(&j->params);
	free(j);
}

/* Remove a job; its program ends at once. */
static void remove_job(struct job *j)
{
	struct job **at = &j->of->jobs;

	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
	job_release(j);
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

/* ---- the answer ---- */

static void say_exit(const struct job *j, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct gate_verdict *v = &j->program.child.verdict;
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&words, str_trim(child_stderr(&j->program.child)), false);
	if (words.n)
		log_note("sampling of %s: %.*s", j->of->o.name, SHOWN_BYTES,
			 buf_cstr(&words));
	err_set(err, ERR_PEER, "the program %s", facts_say_end(v, &arena));
}

/* Take the answer from stdout, as one line without secrets. */
static int take_result(const struct job *j, struct buf *out, struct err *err)
{
	const struct mcp_peer *server = client_server(j->client);
	const struct gate_verdict *v = &j->program.child.verdict;
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct str result;

	if (j->is_late)
		return err_set(err, ERR_PEER, "the program took more than %d s",
			       SAMPLER_TIMEOUT_MS / 1000);
	if (j->program.is_over)
		return err_set(err, ERR_PEER,
			       "the program printed more than %d bytes",
			       SAMPLER_BYTES);
	if (!v->exited || v->exit_status) {
		say_exit(j, err);
		return -1;
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

/* ---- the begin ---- */

static int start(struct job *j, struct err *err)
{
	const struct sampler_options *o = &j->of->o;
	const struct gate_request request = request_of(o);
	const struct program_options options = {
		.loop = o->loop,
		.scrub = o->scrub,
		.name = o->words.item[0],
		.grace_ms = GRACE_MS,
		.stderr_max = STDERR_BYTES,
		.stdout_max = SAMPLER_BYTES,
		.input = buf_str(&j->params),
		.ended = on_ended,
		.arg = j,
	};

	program_init(&j->program, &options);
	if (program_start(&j->program, o->gate, &request, err) < 0)
		return -1;
	loop_timer_set(o->loop, &j->timer,
		       loop_now(o->loop) + SAMPLER_TIMEOUT_MS * NS_PER_MS);
	return 0;
}

static struct job *add_job(struct sampler *s, struct client *client,
			   const struct client_event *e)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct job *j = mem_zalloc(sizeof(*j));

	*j = (struct job){
		.of = s,
		.client = client,
		.ask = e->of->ask,
		.timer = {.fire = on_time, .arg = j},
		.params = BUF_INIT(BUF_UNBOUNDED),
		.next = s->jobs,
	};
	scan_compact(e->of->params, &line);
	scrub_json(s->o.scrub, buf_str(&line), &j->params);
	buf_addc(&j->params, '\n');
	s->jobs = j;
	return j;
}

void sampler_answer(struct sampler *s, struct client *client,
		    const struct client_event *e, struct buf *ret_says)
{
	uint64_t ask = e->of->ask;
	struct err err = ERR_INIT;
	struct job *j;

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
	j = add_job(s, client, e);
	if (start(j, &err) < 0) {
		remove_job(j);
		refuse(client, ask, s->o.name, &err);
		return;
	}
	buf_addf(ret_says, "for a message of a model; %s answers",
		 s->o.words.item[0]);
}
