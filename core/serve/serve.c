#include "core/serve/serve.h"

#include <unistd.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/serve/pipe.h"
#include "core/serve/routines.h"

struct serving {
	struct loop loop;
	struct workers *workers;
	struct routines *routines; /* NULL: they are not offered */
	struct pipe_client client;
};

/* ---- methods ---- */

static void on_tools_list(struct server_call *c)
{
	const struct serving *v = c->s->arg;
	struct jw *w;

	if (!server_read_page(c))
		return;
	w = server_begin(c);
	jw_kv_array(w, "tools");
	if (v->routines)
		routines_list(v->routines, c, w);
	jw_end(w);
	server_finish(c, true);
}

static void refuse_tool(struct server_call *c, const struct serving *v,
			struct str name)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	struct strlist names = {NULL, 0};
	const char *near;

	if (v->routines)
		names = *routines_names(v->routines);
	near = str_nearest(name, names.item, names.n);
	buf_adds(&why, "unknown tool ");
	log_visible(&why, str_first(name, 80), false);
	if (near)
		buf_addf(&why, "; did you mean %s?", near);
	server_refuse(c, RPC_INVALID_PARAMS, buf_cstr(&why));
}

static void on_tools_call(struct server_call *c)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct serving *v = c->s->arg;
	struct str name, args;

	if (!server_read_tool(c, &name, &args))
		return;
	scan_string(name, &text);
	if (!v->routines ||
	    !routines_call(v->routines, c, buf_str(&text), args))
		refuse_tool(c, v, buf_str(&text));
}

static const struct server_method methods[] = {
	{"tools/list", SERVER_ALWAYS, on_tools_list},
	{"tools/call", SERVER_ALWAYS, on_tools_call},
	{0},
};

static const struct server_info info = {
	.name = "matins",
	.version = MATINS_VERSION,
	.instructions = "Routines of this machine: each tool routine__NAME "
			"runs one in a sandbox and returns its report.",
	.capabilities = "{\"tools\":{}}",
	.methods = methods,
};

/* ---- from the first message to the last ---- */

static int open_all(struct serving *v, const struct serve_options *o,
		    struct err *err)
{
	if (loop_init(&v->loop, clock_system(), err) < 0)
		return -1;
	v->workers = workers_new(&v->loop);
	if (o->routines && routines_new(o->config, &o->words, v->workers,
					&v->routines, err) < 0)
		return -1;
	if (loop_take_signals(&v->loop, err) < 0)
		return -1;
	return pipe_client_open(&v->client, &v->loop, &info, v, err);
}

static int turn(struct serving *v, struct err *err)
{
	while (!v->loop.signal && !pipe_client_is_over(&v->client))
		if (loop_turn(&v->loop, err) < 0)
			return -1;
	pipe_client_release(&v->client);
	workers_stop(v->workers);
	while (!workers_are_idle(v->workers) && v->loop.signal_count < 2)
		if (loop_turn(&v->loop, err) < 0)
			return -1;
	return v->loop.signal ? 128 + v->loop.signal : 0;
}

int serve(const struct serve_options *o, struct err *err)
{
	struct serving v = {.workers = NULL};
	int status = open_all(&v, o, err);

	if (status == 0)
		status = turn(&v, err);
	pipe_client_release(&v.client);
	workers_free(v.workers);
	routines_free(v.routines);
	loop_release(&v.loop);
	loop_give_signals_back();
	return status;
}
