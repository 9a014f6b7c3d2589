#include "core/cli/target.h"

#include <errno.h>
#include <signal.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/open.h"
#include "core/cli/target_options.h"
#include "core/run/advice.h"

#define TICK_NS (NS_PER_S / 5)

/* ---- the gate ---- */

static void scrub_filter(struct buf *line, void *arg)
{
	scrub_log_filter(line, arg);
}

static int open_own_gate(struct target *t, const struct args *args,
			 struct err *err)
{
	struct arena *arena = &t->arena;
	const char *browser = args_get(args, "browser");
	const char *store = args_get(args, "token-store");
	struct gate_wish wish = {
		.config = t->config,
		.exec = &t->policy.exec,
		.files = policy_files(args, arena),
		.token_store = store ? path_resolve(store, NULL, arena) : NULL,
	};

	/* a program of the configuration is declared there */
	if (t->request.program && !t->server)
		list_add(&wish.named, arena, t->request.program);
	if (browser)
		list_add(&wish.named, arena,
			 path_program(browser, NULL, arena));
	if (args_has(args, "sampling"))
		list_add(&wish.named, arena, t->asks.sampling.item[0]);
	t->eras = eras_open(state_dir_find(arena));
	return open_gate(&wish, arena, &t->gate, err);
}

static void make_credentials(struct target *t)
{
	t->credentials = credentials_new(&(struct credentials_context){
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.policy = &t->file.config.sandbox,
		.config = &t->file.config,
	});
}

static int make_spec(struct target *t, const struct args *args,
		     struct remote_spec *ret, struct err *err)
{
	if (remote_spec_of_server(&t->keys, t->credentials, ret, err) < 0)
		return -1;
	ret->is_named = t->server;
	ret->timeout_ms = t->keys.timeout_ms;
	if (remote_options_read(args, t->scrub, &t->arena, ret, err) == 0)
		return 0;
	remote_spec_release(ret);
	return -1;
}

static int open_remote(struct target *t, const struct args *args,
		       struct err *err)
{
	const struct remotes_options options = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.state_dir = state_dir_find(&t->arena),
		.is_terminal = ask_person_is_there(),
		.config = t->config,
	};
	struct remote_spec spec;

	for (size_t i = 0; i < t->file.header_values.n; i++)
		scrub_add(t->scrub, str_of(t->file.header_values.item[i]));
	if (make_spec(t, args, &spec, err) < 0)
		return -1;
	t->remotes = remotes_new(&options);
	if (remote_server_new(t->remotes, &spec, &t->remote, err) < 0)
		return -1;
	/* a URL is shown without its secrets */
	if (!t->server)
		t->name = remote_server_text(t->remote);
	return 0;
}

/* Check the sampler before the server starts: it must be allowed to run. */
static int make_sampler(struct target *t, const struct args *args,
			struct err *err)
{
	const struct sampler_options options = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.name = t->name,
		.words = t->asks.sampling,
		.cwd = args_has(args, "sampling")
			       ? path_resolve(".", NULL, &t->arena)
			       : t->file.config.dir,
		.policy = &t->file.config.sandbox,
	};

	if (!options.words.n)
		return 0;
	if (sampler_check(&options, err) < 0)
		return -1;
	t->asks.sampler = sampler_new(&options);
	return 0;
}

/* ---- messages beside answers ---- */

static void say_log(struct target *t, const struct session_event *e)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (log_level() < LOG_DEBUG)
		return;
	target_show(t, e->logger, false, &text);
	buf_adds(&text, e->logger.n ? ": " : "");
	target_show(t, e->message, false, &text);
	log_debug("%s, %s: %s", t->name, e->level, buf_cstr(&text));
}

static void on_asked(struct target *t, const struct client_event *e)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);

	if (asks_answer(&t->asks, t->client, e, &says)) {
		live_clear(&t->live);
		if (says.n)
			log_note("%s asked %s", t->name, buf_cstr(&says));
	} else if (strcmp(e->of->method, "elicitation/create") == 0) {
		ask_person(&t->person, e);
	} else {
		client_answer_error(
			t->client, e->of->ask, MCP_REJECTED,
			"no person and no option can answer this request");
	}
}

static void on_client(void *arg, const struct client_event *e)
{
	struct target *t = arg;

	switch (e->type) {
	case CLIENT_LOG:
		say_log(t, e->of);
		break;
	case CLIENT_ASKED:
		on_asked(t, e);
		break;
	case CLIENT_ASK_GONE:
		ask_person_forget(&t->person, e->of->ask);
		sampler_forget(t->asks.sampler, e->of->ask);
		break;
	case CLIENT_ENDED:
		sampler_stop(t->asks.sampler);
		break;
	case CLIENT_CHANGED:
		log_debug("%s: %s %.*s", t->name, e->of->method,
			  STR_ARG(e->of->message));
		break;
	default:
		break;
	}
}

static void on_signal(void *arg, int signal)
{
	struct target *t = arg;

	live_clear(&t->live);
	if (!t->client)
		return;
	if (t->loop.signal_count > 1)
		client_kill(t->client);
	else
		client_stop(t->client, target_signal_name(signal),
			    CLIENT_GRACE_STOPPED_MS);
}

static void on_tick(void *arg)
{
	struct target *t = arg;

	/* a person is typing */
	if (!t->person.first)
		live_draw(&t->live, loop_now(&t->loop));
	loop_timer_set(&t->loop, &t->tick, loop_now(&t->loop) + TICK_NS);
}

/* ---- opening ---- */

static int make_loop(struct target *t, struct err *err)
{
	if (loop_init(&t->loop, clock_system(), err) < 0)
		return -1;
	t->has_loop = true;
	t->tick = (struct loop_timer){.fire = on_tick, .arg = t};
	t->loop.on_signal = on_signal;
	t->loop.on_signal_arg = t;
	live_init(&t->live);
	if (t->live.on)
		on_tick(t);
	return loop_take_signals(&t->loop, err);
}

static void declare(struct target *t)
{
	struct mcp_declared *d = &t->session.declared;

	asks_declare(&t->asks, d);
	d->tasks = true;
	if (!t->asks.has_elicit && ask_person_is_there()) {
		d->elicit_form = true;
		d->elicit_url = true;
	}
}

/* Log how the server describes itself; its name also heads its questions. */
static void say_server(struct target *t)
{
	const struct session_server *s = client_server(t->client);
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	target_show(t, s->name, false, &name);
	t->person.server = arena_printf(
		&t->arena, "%s (%s)",
		name.n ? buf_cstr(&name) : "without a name",
		t->url ? remote_server_text(t->remote) : t->request.argv[0]);
	if (log_level() < LOG_DEBUG)
		return;
	target_show(t, s->version, false, &text);
	buf_addf(&text, ", MCP %s, offers ", s->revision->date);
	target_show(t, s->capabilities, false, &text);
	log_debug("%s is %s %s", t->name, buf_cstr(&name), buf_cstr(&text));
	if (!s->instructions.n)
		return;
	buf_clear(&text);
	target_show(t, s->instructions, false, &text);
	log_debug("%s sent instructions, which are only shown: %s", t->name,
		  buf_cstr(&text));
}

/* The older way to ask for messages; whether it works shows by itself. */
static void ask_for_log(struct target *t)
{
	struct client_call call = {
		.method = "logging/setLevel",
		.params = STR("{\"level\":\"debug\"}"),
	};
	struct target_answer answer;
	struct err ignored = ERR_INIT;

	if (log_level() < LOG_DEBUG || !client_offers(t->client, "logging") ||
	    client_server(t->client)->revision->era != MCP_ERA_INITIALIZE)
		return;
	if (target_ask(t, &call, "asking for messages", &t->arena, &answer,
		       &ignored) < 0)
		log_debug("logging/setLevel: %s", ignored.msg);
}

static int start_client(struct target *t, struct err *err)
{
	const struct client_context context = {
		.loop = &t->loop,
		.gate = t->gate,
		.scrub = t->scrub,
		.eras = t->eras,
	};
	struct client_options options = {
		.name = t->name,
		.request = t->url ? NULL : &t->request,
		.open = t->url ? remote_server_open : NULL,
		.open_arg = t->remote,
		.url = t->url ? remote_server_url(t->remote) : NULL,
		.session = t->session,
		.show_stderr = log_level() >= LOG_DEBUG,
		.watches_lists = t->has_many_calls,
		.on_event = on_client,
		.arg = t,
	};

	t->request.env = env_lines(&t->env);
	for (int i = 0; i < 3; i++)
		t->request.stdio[i] = GATE_PIPE;
	t->client = client_new(&context, &options);
	t->person.client = t->client;
	live_begin(&t->live, t->url ? "connecting" : "starting the server",
		   loop_now(&t->loop));
	if (client_start(t->client, err) < 0)
		return -1;
	if (client_wait_ready(t->client, err) < 0)
		return -1;
	live_clear(&t->live);
	say_server(t);
	ask_for_log(t);
	return 0;
}

static int open_all(struct target *t, const struct args *args, struct err *err)
{
	if (target_read_options(t, args, err) < 0 || make_loop(t, err) < 0 ||
	    open_own_gate(t, args, err) < 0)
		return -1;
	t->person.server = t->name;
	t->person.scrub = t->scrub;
	make_credentials(t);
	t->request.policy = &t->policy;
	if (!t->url && gate_check(t->gate, &t->request, err) < 0)
		return -1;
	if (make_sampler(t, args, err) < 0)
		return -1;
	if (!t->url &&
	    credentials_give(t->credentials, &t->keys.env, &t->env, err) < 0)
		return -1;
	env_add_lines(&t->env, t->given_env);
	if (t->url && open_remote(t, args, err) < 0)
		return -1;
	declare(t);
	return 0;
}

int target_prepare(struct target *t, const struct args *args,
		   const char *server, struct err *err)
{
	*t = (struct target){
		.arena = ARENA_INIT,
		.server = server ? server : args_get(args, "server"),
		.json = args_has(args, "json"),
		.strict = args_has(args, "strict"),
		.has_many_calls = args_has(args, "batch"),
		.scrub = scrub_new(),
		.session = {.client_name = "matins",
			    .client_version = MATINS_VERSION,
			    .log_level =
				    log_level() >= LOG_DEBUG ? "debug" : NULL},
		.person = {.loop = &t->loop,
			   .live = &t->live,
			   .typed = {.fd = -1}},
	};
	log_set_filter(scrub_filter, t->scrub);
	return open_all(t, args, err);
}

int target_open(struct target *t, const struct args *args, struct err *err)
{
	if (target_prepare(t, args, NULL, err) < 0)
		return -1;
	return start_client(t, err);
}

void target_help(void)
{
	printf("\nTARGET is --server SERVER of the configuration, --url URL, "
	       "or -- PROGRAM ARGS….\nPrograms run in the sandbox; the options "
	       "of `exec` grant more.\n");
	policy_presets_help();
}

/* ---- the end ---- */

/* Print an error; statuses that only `exec` uses become 1. */
static int failed(struct target *t, struct err *err)
{
	struct target_answer a = {.outcome = TARGET_FAILED};

	if (t->has_failed)
		return 1;
	if (err->kind == ERR_USAGE || err->kind == ERR_CONFIG ||
	    (err->kind == ERR_SYS && err->sys == EPIPE))
		return -1;
	a.kind = err_word(err->kind);
	if (t->has_loop && t->loop.signal) {
		a.kind = report_reason_name(REASON_CANCELLED);
		(void)!target_interrupted(t, err);
	} else if (t->client && client_failure(t->client) != REASON_NONE)
		a.kind = report_reason_name(client_failure(t->client));
	a.message = str_of(err->msg);
	target_print_error(t, &a);
	return 1;
}

static void release(struct target *t)
{
	live_release(&t->live);
	ask_person_release(&t->person);
	sampler_free(t->asks.sampler);
	client_free(t->client);
	remote_server_free(t->remote);
	remotes_free(t->remotes);
	log_set_filter(NULL, NULL);
	credentials_free(t->credentials);
	scrub_free(t->scrub);
	eras_free(t->eras);
	gate_free(t->gate);
	if (t->has_loop) {
		loop_timer_clear(&t->loop, &t->tick);
		loop_release(&t->loop);
	}
	env_release(&t->env);
	config_release(&t->file);
	arena_release(&t->arena);
}

/*
 * Print the last lines of a server that failed or was given up. Also with
 * --quiet: often they alone name the cause.
 */
static void say_details(const struct target *t)
{
	const char *details =
		t->client ? client_failure_details(t->client) : "";

	if (*details && !t->loop.signal)
		log_error("%s", details);
}

/* An answer that was ordered and could not be given is no success. */
static int answered_otherwise(const struct target *t)
{
	log_error("%s asked for values that --elicit-content does not give, so "
		  "the request was not accepted as ordered",
		  t->name);
	return 1;
}

/* Print denials even if the tool answered: "fetch failed" is an answer. */
static void say_denials(const struct target *t, int status)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct gate_verdict *v =
		t->client ? client_verdict(t->client) : NULL;
	const struct advice_how how = {
		.failed = status != 0,
		.all = log_level() >= LOG_DEBUG,
		.form = ADVICE_OPTION,
		.scrub = t->scrub,
	};
	struct strlist lines;

	if (!v || t->loop.signal)
		return;
	lines = advice_denials(v, &how, &arena);
	for (size_t i = 0; i < lines.n; i++)
		log_note("%s", lines.item[i]);
}

int target_close(struct target *t, int status, struct err *err)
{
	struct err ignored = ERR_INIT;
	int signal;

	live_clear(&t->live);
	if (status < 0)
		status = failed(t, err);
	if (status == 1) {
		say_details(t);
		if (t->client && client_failure(t->client) != REASON_NONE)
			target_hint(t, client_stderr(t->client));
	}
	if (status == 0 && t->asks.is_unmet)
		status = answered_otherwise(t);
	if (t->client && client_finish(t->client, &ignored) < 0)
		log_debug("%s", ignored.msg);
	say_denials(t, status);
	signal = t->has_loop ? t->loop.signal : 0;
	release(t);
	return signal ? 128 + signal : status;
}
