#include "core/cli/server_trace.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/cli/open.h"
#include "core/cli/rewrite.h"
#include "core/client/client.h"
#include "core/client/eras.h"
#include "core/install/depot.h"

struct server_tracing {
	const struct server_trace *of;
	struct arena *arena;
	struct gate *gate;
	struct loop loop;
	struct gate_policy plain, traced;
	struct client *client;
	bool has_tools;
};

static void on_signal(void *arg, int signal)
{
	struct server_tracing *t = arg;

	(void)signal;
	if (t->client)
		client_stop(t->client, "a signal", CLIENT_GRACE_STOPPED_MS);
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct server_tracing *t = arg;

	t->has_tools = l->type == CLIENT_RESULT;
}

/* Start, shake hands, list the tools, end. */
static int talk(struct server_tracing *t, struct err *err)
{
	struct client *c = t->client;
	const struct client_list list = {LISTING_TOOLS, false, on_list, t};
	uint64_t ticket;
	int r = client_start(c, err);

	if (r < 0)
		return -1;
	r = client_wait_ready(c, err);
	if (r == 0)
		r = client_list(c, &list, &ticket, err);
	if (r == 0)
		r = client_wait(c, err);
	if (client_finish(c, ERR_IGNORED) < 0)
		log_debug("%s did not end in order", t->of->name);
	if (r == 0 && !t->has_tools)
		r = err_set(err, ERR_PEER, "it does not list its tools");
	return r;
}

static void tell(struct server_tracing *t, const struct gate_need *need)
{
	const char *path =
		rewrite_path(t->of->dir, need->key, need->value, t->arena);
	const bool is_secret = scrub_finds(t->of->scrub, str_of(need->value)),
		   is_closed = need->value[0] == '/' &&
			       gate_is_secret(t->gate, need->value);

	t->of->need(t->of->arg, need->key, is_secret ? "***" : path,
		    need->why_not	     ? need->why_not
		    : is_secret || is_closed ? "it names keys, tokens or a "
					       "credential"
					     : NULL);
}

static int find_needs(struct server_tracing *t,
		      const struct gate_request *plain, bool went_well,
		      struct err *err)
{
	const struct gate_verdict *v = client_verdict(t->client);
	struct gate_needs needs;

	if (!v || !v->n_records)
		return err_set(err, ERR_PROTECTION,
			       "nothing was recorded; `matins doctor` says "
			       "whether a trace works here");
	if (gate_needs(t->gate, plain, &t->traced, v, went_well, t->arena,
		       &needs, err) < 0)
		return -1;
	for (size_t i = 0; i < needs.n; i++)
		tell(t, &needs.need[i]);
	return 0;
}

static int run(struct server_tracing *t, const struct gate_request *plain,
	       struct err *err)
{
	struct gate_request request = *plain;
	struct client_context context = {.loop = &t->loop,
					 .gate = t->gate,
					 .scrub = t->of->scrub,
					 .eras = eras_open(NULL)};
	const struct client_options options = {
		.name = t->of->name,
		.request = &request,
		.session = {.client_name = "matins",
			    .client_version = MATINS_VERSION},
	};
	struct err why = ERR_INIT;
	const char *details;
	int talked, r;

	request.policy = &t->traced;
	request.record = GATE_RECORD_EXEC | GATE_RECORD_FILES |
			 GATE_RECORD_NET | GATE_RECORD_LOOKS;
	t->client = client_new(&context, &options);
	t->loop.on_signal = on_signal;
	t->loop.on_signal_arg = t;
	talked = talk(t, &why);
	details = talked < 0 ? client_failure_details(t->client) : "";
	if (*details && !t->loop.signal)
		log_warning("%s: %s", t->of->name, details);
	r = find_needs(t, plain, talked == 0, err);
	client_free(t->client);
	eras_free(context.eras);
	if (talked < 0)
		*err = why;
	return t->loop.signal ? t->loop.signal : talked < 0 ? -1 : r;
}

int server_trace(const struct server_trace *of, struct arena *arena,
		 struct err *err)
{
	struct server_tracing t = {.of = of, .arena = arena};
	struct gate_request plain = of->request;
	struct gate_wish wish = {.config = of->config, .is_trace = true};
	struct strlist says;
	const char *installed = depot_server_of(&plain, arena);
	struct err why = ERR_INIT;
	int r = -1;

	list_add(&wish.named, arena, plain.program);
	if (of->config)
		t.plain = gate_policy_copy(&of->config->sandbox, arena);
	list_add_all(&t.plain.read, arena, &of->read);
	list_add_all(&t.plain.write, arena, &of->write);
	/* folders above it may be closed to all but their owner */
	if (installed)
		list_add(&t.plain.read, arena, depot_tree(installed, arena));
	t.plain.record_exec = false;
	plain.policy = &t.plain;
	for (size_t i = 0; i < ARRAY_LEN(plain.stdio); i++)
		plain.stdio[i] = GATE_PIPE;
	open_many_files();
	if (open_gate(&wish, arena, &t.gate, err) < 0)
		return -1;
	/* a package that is not there is said before its launcher looks; a
	   program writes neither into an installed server nor into the folder
	   that it starts in, which a file of others may name */
	if (gate_check(t.gate, &plain, &why) < 0 && why.kind == ERR_NOT_FOUND) {
		*err = why;
	} else if (of->only_finds) {
		r = of->ret_explained ? gate_explain(t.gate, &plain, arena,
						     of->ret_explained, err)
				      : 0;
	} else if (gate_trace_policy(t.gate, &t.plain,
				     installed ? "/" : plain.cwd, false, arena,
				     &t.traced, &says, err) == 0 &&
		   loop_init(&t.loop, clock_system(), err) == 0) {
		if (loop_take_signals(&t.loop, err) == 0)
			r = run(&t, &plain, err);
		loop_release(&t.loop);
		loop_give_signals_back();
	}
	gate_free(t.gate);
	return r;
}
