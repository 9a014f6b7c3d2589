#include "core/cli/import_trace.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/cli/open.h"
#include "core/cli/rewrite.h"
#include "core/client/client.h"
#include "core/client/eras.h"
#include "core/config/paths.h"
#include "core/secret/secret.h"

struct tracing {
	struct import_server *s;
	const char *dir;
	struct arena *arena;
	struct gate *gate;
	struct scrub *scrub;
	struct loop loop;
	struct gate_policy plain, traced;
	struct gate_request request;
	struct client *client;
	bool has_tools;
};

static void on_signal(void *arg, int signal)
{
	struct tracing *t = arg;

	(void)signal;
	if (t->client)
		client_stop(t->client, "a signal", CLIENT_GRACE_STOPPED_MS);
}

/* Environment of the program; values of credentials go to the scrubber. */
static int read_env(struct tracing *t, struct err *err)
{
	struct strlist lines = {NULL, 0};

	for (size_t i = 0; i < t->s->n; i++) {
		const struct import_row *row = &t->s->row[i];
		AUTO(buf_wipe) struct buf value = BUF_INIT(BUF_UNBOUNDED);
		const bool is_file = row->kind == IMPORT_FILE;

		if (strcmp(row->table, "env") != 0)
			continue;
		if ((is_file || row->kind == IMPORT_VARIABLE) &&
		    secret_resolve(
			    is_file ? SECRET_FILE : SECRET_ENV,
			    is_file ? path_resolve(row->text, t->dir, t->arena)
				    : row->text,
			    NULL, &value, err) < 0)
			return err_wrap(err, "%s", row->key);
		if (!value.n)
			buf_adds(&value, row->text);
		if (row->kind != IMPORT_TEXT)
			scrub_add(t->scrub, buf_str(&value));
		list_add(&lines, t->arena,
			 arena_printf(t->arena, "%s=%s", row->key,
				      buf_cstr(&value)));
	}
	list_add(&lines, t->arena, NULL);
	t->request.env = lines.item;
	return 0;
}

static void read_words(struct tracing *t)
{
	const struct import_row *args = server_row(t->s, "", "args");
	const struct import_row *cwd = server_row(t->s, "", "cwd");
	const char *program = server_row(t->s, "", "command")->text;
	struct strlist words = {NULL, 0};

	t->request.program = path_program(program, t->dir, t->arena);
	t->request.cwd = path_resolve(cwd ? cwd->text : ".", t->dir, t->arena);
	list_add(&words, t->arena, t->request.program);
	for (size_t i = 0; args && i < args->list.n; i++)
		list_add(&words, t->arena, args->list.item[i]);
	list_add(&words, t->arena, NULL);
	t->request.argv = words.item;
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct tracing *t = arg;

	t->has_tools = l->type == CLIENT_RESULT;
}

/* Start, shake hands, list the tools, end. */
static int talk(struct tracing *t, struct err *err)
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
		log_debug("import: the server did not end in order");
	if (r == 0 && !t->has_tools)
		r = err_set(err, ERR_PEER, "it does not list its tools");
	return r;
}

static const char *why_left_out(const struct tracing *t,
				const struct gate_need *need)
{
	if (need->why_not)
		return need->why_not;
	if ((need->value[0] == '/' && gate_is_secret(t->gate, need->value)) ||
	    scrub_finds(t->scrub, str_of(need->value)))
		return "it names keys, tokens or a credential";
	return NULL;
}

/* One row a key, or a note for a need that no trace grants. */
static void add_need(struct tracing *t, const struct gate_need *need)
{
	const char *why = why_left_out(t, need);
	const char *value =
		rewrite_path(t->dir, need->key, need->value, t->arena);
	size_t i = 0;

	if (why) {
		list_add(&t->s->lost, t->arena,
			 arena_printf(
				 t->arena, "sandbox.%s of %s: %s", need->key,
				 scrub_finds(t->scrub, str_of(value)) ? "***"
								      : value,
				 why));
		return;
	}
	while (i < t->s->n && !(strcmp(t->s->row[i].table, "sandbox") == 0 &&
				strcmp(t->s->row[i].key, need->key) == 0))
		i++;
	if (i == t->s->n)
		server_add(t->s, t->arena,
			   (struct import_row){.table = "sandbox",
					       .key = need->key,
					       .kind = IMPORT_LIST});
	if (strcmp(need->key, "net") == 0 && gate_net_is_word(value)) {
		t->s->row[i].kind = IMPORT_TEXT;
		t->s->row[i].text = value;
	}
	list_add_new(&t->s->row[i].list, t->arena, value);
}

static int find_rows(struct tracing *t, bool went_well, struct err *err)
{
	const struct gate_verdict *v = client_verdict(t->client);
	struct gate_request plain = t->request;
	struct gate_needs needs;

	if (!v || !v->n_records)
		return err_set(err, ERR_PROTECTION,
			       "nothing was recorded; `matins doctor` says "
			       "whether a trace works here");
	plain.policy = &t->plain;
	plain.record = 0;
	if (gate_needs(t->gate, &plain, &t->traced, v, went_well, t->arena,
		       &needs, err) < 0)
		return -1;
	for (size_t i = 0; i < needs.n; i++)
		add_need(t, &needs.need[i]);
	return 0;
}

/* A package that is not there is said before its launcher looks for it. */
static int check_program(struct tracing *t, struct err *err)
{
	struct gate_request plain = t->request;
	struct err why = ERR_INIT;

	plain.policy = &t->plain;
	plain.record = 0;
	if (gate_check(t->gate, &plain, &why) == 0 || why.kind != ERR_NOT_FOUND)
		return 0;
	*err = why;
	return -1;
}

static int run(struct tracing *t, struct err *err)
{
	struct client_context context = {.loop = &t->loop,
					 .gate = t->gate,
					 .scrub = t->scrub,
					 .eras = eras_open(NULL)};
	const struct client_options options = {
		.name = t->s->name,
		.request = &t->request,
		.session = {.client_name = "matins",
			    .client_version = MATINS_VERSION},
	};
	struct err why = ERR_INIT;
	bool went_well;
	int r;

	t->client = client_new(&context, &options);
	t->loop.on_signal = on_signal;
	t->loop.on_signal_arg = t;
	went_well = talk(t, &why) == 0;
	r = find_rows(t, went_well, err);
	client_free(t->client);
	eras_free(context.eras);
	if (t->loop.signal)
		return 1;
	if (went_well)
		return r;
	*err = why;
	return -1;
}

int import_trace(struct import_server *s, const struct config *config,
		 const char *dir, struct arena *arena, struct err *err)
{
	struct tracing t = {.s = s, .dir = dir, .arena = arena};
	struct gate_wish wish = {.config = config, .is_trace = true};
	struct strlist says;
	int r = -1;

	read_words(&t);
	list_add(&wish.named, arena, t.request.program);
	if (config)
		t.plain = gate_policy_copy(&config->sandbox, arena);
	t.plain.record_exec = false;
	t.scrub = scrub_new();
	t.request.policy = &t.traced;
	t.request.record = GATE_RECORD_EXEC | GATE_RECORD_FILES |
			   GATE_RECORD_NET | GATE_RECORD_LOOKS;
	for (size_t i = 0; i < ARRAY_LEN(t.request.stdio); i++)
		t.request.stdio[i] = GATE_PIPE;
	open_many_files();
	if (read_env(&t, err) == 0 &&
	    open_gate(&wish, arena, &t.gate, err) == 0) {
		if (loop_init(&t.loop, clock_system(), err) == 0) {
			if (loop_take_signals(&t.loop, err) == 0 &&
			    check_program(&t, err) == 0 &&
			    gate_trace_policy(t.gate, &t.plain, t.request.cwd,
					      arena, &t.traced, &says,
					      err) == 0)
				r = run(&t, err);
			loop_release(&t.loop);
			loop_give_signals_back();
		}
		gate_free(t.gate);
	}
	scrub_free(t.scrub);
	return r;
}
