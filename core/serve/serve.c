#include "core/serve/serve.h"

#include <unistd.h>

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/url.h"
#include "core/serve/gateway.h"
#include "core/serve/pipe.h"
#include "core/serve/routines.h"
#include "core/serve/web.h"

struct serving {
	struct loop loop;
	struct workers *workers;
	struct routines *routines; /* NULL: they are not offered */
	struct gateway *gateway;   /* NULL: no server is */
	struct arena arena;
	struct pipe_client client; /* where there is no: */
	struct web *web;
};

/* ---- tools ---- */

static void list_routines(void *arg, struct server_call *c, struct jw *w)
{
	const struct serving *v = arg;

	if (v->routines)
		routines_list(v->routines, c, w);
}

static void on_tools_list(struct server_call *c)
{
	struct serving *v = c->s->arg;
	struct jw *w;

	if (!server_read_page(c))
		return;
	if (v->gateway) {
		gateway_list(v->gateway, c, LISTING_TOOLS, list_routines, v);
		return;
	}
	w = server_begin(c);
	jw_kv_array(w, "tools");
	list_routines(v, c, w);
	jw_end(w);
	server_finish(c, true);
}

static void refuse_tool(struct server_call *c, const struct serving *v,
			struct str name)
{
	AUTO(buf_release) struct buf why = BUF_INIT(BUF_UNBOUNDED);
	const struct strlist *names = routines_names(v->routines);
	const char *near = str_nearest(name, names->item, names->n);

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
	if (v->routines && routines_call(v->routines, c, buf_str(&text), args))
		return;
	if (v->gateway)
		gateway_forward(v->gateway, c, "tools/call", LISTING_TOOLS,
				buf_str(&text), args);
	else
		refuse_tool(c, v, buf_str(&text));
}

/* ---- resources and prompts ---- */

static void list(struct server_call *c, enum listing_kind kind)
{
	const struct serving *v = c->s->arg;

	if (server_read_page(c))
		gateway_list(v->gateway, c, kind, NULL, NULL);
}

static void on_resources_list(struct server_call *c)
{
	list(c, LISTING_RESOURCES);
}

static void on_templates_list(struct server_call *c)
{
	list(c, LISTING_TEMPLATES);
}

static void on_prompts_list(struct server_call *c)
{
	list(c, LISTING_PROMPTS);
}

/* from  object with the name or URI */
static void forward(struct server_call *c, const char *method,
		    enum listing_kind kind, struct str from, struct str args)
{
	const bool is_named = kind == LISTING_PROMPTS;
	const char *key = is_named ? "name" : "uri";
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct serving *v = c->s->arg;

	if (scan_string(scan_some(from, key), &text))
		gateway_forward(v->gateway, c, method, kind, buf_str(&text),
				is_named || args.n ? args : buf_str(&text));
	else
		server_refuse(c, RPC_INVALID_PARAMS,
			      "params lacks the name or URI, a string");
}

static void on_read(struct server_call *c)
{
	forward(c, "resources/read", LISTING_RESOURCES, c->params,
		(struct str){NULL, 0});
}

static void on_subscribe(struct server_call *c)
{
	forward(c, "resources/subscribe", LISTING_RESOURCES, c->params,
		(struct str){NULL, 0});
}

static void on_unsubscribe(struct server_call *c)
{
	forward(c, "resources/unsubscribe", LISTING_RESOURCES, c->params,
		(struct str){NULL, 0});
}

static void on_listen(struct server_call *c)
{
	const struct serving *v = c->s->arg;

	gateway_listen(v->gateway, c);
}

static void on_prompt(struct server_call *c)
{
	forward(c, "prompts/get", LISTING_PROMPTS, c->params,
		scan_some(c->params, "arguments"));
}

static void on_complete(struct server_call *c)
{
	struct str ref = scan_some(c->params, "ref");

	forward(c, "completion/complete",
		scan_is(scan_some(ref, "type"), "ref/prompt")
			? LISTING_PROMPTS
			: LISTING_RESOURCES,
		ref, c->params);
}

static const struct server_method methods[] = {
	{"tools/list", SERVER_ALWAYS, on_tools_list},
	{"tools/call", SERVER_ALWAYS, on_tools_call},
	{0},
};

static const struct server_method gateway_methods[] = {
	{"tools/list", SERVER_ALWAYS, on_tools_list},
	{"tools/call", SERVER_ALWAYS, on_tools_call},
	{"resources/list", SERVER_ALWAYS, on_resources_list},
	{"resources/templates/list", SERVER_ALWAYS, on_templates_list},
	{"resources/read", SERVER_ALWAYS, on_read},
	{"prompts/list", SERVER_ALWAYS, on_prompts_list},
	{"prompts/get", SERVER_ALWAYS, on_prompt},
	{"completion/complete", SERVER_ALWAYS, on_complete},
	{"subscriptions/listen", SERVER_ONLY_ALONE, on_listen},
	{"resources/subscribe", SERVER_NEVER_ALONE, on_subscribe},
	{"resources/unsubscribe", SERVER_NEVER_ALONE, on_unsubscribe},
	{"logging/setLevel", SERVER_NEVER_ALONE, server_on_set_level},
	{0},
};

static struct server_info info = {
	.name = "matins",
	.version = MATINS_VERSION,
	.instructions =
		"Each tool routine__NAME runs a routine of this machine "
		"in a sandbox and returns its report; each tool "
		"mcp__SERVER__TOOL is one of a server that runs in a "
		"sandbox.",
	.list_ttl_ms = 60000,
	.list_scope = "private",
};

static void on_changed(void *arg, const char *notice)
{
	struct serving *v = arg;

	if (v->web)
		web_changed(v->web, notice);
	else
		server_changed(&v->client.session, notice);
}

static bool on_updated(void *arg, struct str watched, struct str uri)
{
	struct serving *v = arg;

	return v->web ? web_updated(v->web, watched, uri)
		      : server_updated(&v->client.session, watched, uri);
}

/* ---- from the first message to the last ---- */

static int open_gateway(struct serving *v, const struct serve_options *o,
			struct err *err)
{
	const struct gateway_options g = {
		.loop = &v->loop,
		.gate = o->gate,
		.file = o->file,
		.servers = o->servers,
		.confirmed = o->confirmed,
		.any_client = o->http,
		.changed = on_changed,
		.updated = on_updated,
		.arg = v,
	};

	info.capabilities = "{\"tools\":{}}";
	info.methods = methods;
	if (!o->servers.n)
		return 0;
	info.capabilities = "{\"tools\":{\"listChanged\":true},"
			    "\"resources\":{\"subscribe\":true,"
			    "\"listChanged\":true},"
			    "\"prompts\":{\"listChanged\":true},"
			    "\"completions\":{},\"logging\":{}}";
	info.methods = gateway_methods;
	info.hands_on = true;
	return gateway_new(&g, &v->arena, &v->gateway, err);
}

static int open_web(struct serving *v, const struct serve_options *o,
		    struct err *err)
{
	const struct web_options w = {
		.loop = &v->loop,
		.info = &info,
		.arg = v,
		.address = o->http,
		.tokens = o->tokens,
	};
	struct url url;

	if (web_new(&w, &v->web, err) < 0)
		return -1;
	log_note("serving MCP at %s; clients need the token in %s",
		 web_url(v->web), o->token_file);
	if (url_parse(str_of(web_url(v->web)), &v->arena, &url, err) < 0)
		return -1;
	if (!url_is_loopback(&url))
		log_warning("whoever is on the way can read the token and all "
			    "calls: serve on 127.0.0.1, behind a proxy that "
			    "speaks TLS");
	return 0;
}

static int open_all(struct serving *v, const struct serve_options *o,
		    struct err *err)
{
	if (loop_init(&v->loop, clock_system(), err) < 0)
		return -1;
	v->workers = workers_new(&v->loop);
	if (o->routines && routines_new(&o->file->config, &o->words, v->workers,
					&v->routines, err) < 0)
		return -1;
	if (open_gateway(v, o, err) < 0)
		return -1;
	if (loop_take_signals(&v->loop, err) < 0)
		return -1;
	return o->http ? open_web(v, o, err)
		       : pipe_client_open(&v->client, &v->loop, &info, v, err);
}

static int turn(struct serving *v, struct err *err)
{
	while (!v->loop.signal && (v->web || !pipe_client_is_over(&v->client)))
		if (loop_turn(&v->loop, err) < 0)
			return -1;
	pipe_client_release(&v->client);
	web_free(v->web);
	v->web = NULL;
	workers_stop(v->workers);
	if (v->gateway)
		gateway_stop(v->gateway);
	while ((!workers_are_idle(v->workers) ||
		(v->gateway && !gateway_is_idle(v->gateway))) &&
	       v->loop.signal_count < 2)
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
	web_free(v.web);
	workers_free(v.workers);
	routines_free(v.routines);
	gateway_free(v.gateway);
	arena_release(&v.arena);
	loop_release(&v.loop);
	loop_give_signals_back();
	return status;
}
