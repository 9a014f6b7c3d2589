#include "core/run/remotes.h"

#include "core/auth/store.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/config/server_url.h"
#include "core/run/advice_command.h"
#include "core/transport/http.h"
#include "core/transport/remote.h"

/* An id of a session that is so long stands for nothing else. */
#define SESSION_ID_BYTES 16

/* One for each file of authorities: connections are shared within one. */
struct engine {
	char *ca_file; /* owned; NULL: those of the system alone */
	struct http *http;
	struct engine *next;
};

struct kept_store {
	char *dir; /* owned */
	struct store *store;
	struct kept_store *next;
};

struct remotes {
	struct remotes_options o;
	struct engine *engines;
	struct kept_store *stores;
};

/* ---- all of them ---- */

struct remotes *remotes_new(const struct remotes_options *options)
{
	struct remotes *r = mem_zalloc(sizeof(*r));

	r->o = *options;
	return r;
}

void remotes_free(struct remotes *r)
{
	if (!r)
		return;
	while (r->engines) {
		struct engine *e = r->engines;

		r->engines = e->next;
		http_free(e->http);
		free(e->ca_file);
		free(e);
	}
	while (r->stores) {
		struct kept_store *s = r->stores;

		r->stores = s->next;
		store_free(s->store);
		free(s->dir);
		free(s);
	}
	free(r);
}

/* ---- the engine ---- */

/* Two words, each NULL where nothing is said. */
static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The engine for this file of authorities; borrowed until remotes_free(). */
static int find_engine(struct remotes *r, const char *ca_file,
		       struct http **ret, struct err *err)
{
	const struct http_options options = {
		.loop = r->o.loop,
		.user_agent = "matins/" MATINS_VERSION,
		.ca_file = ca_file,
	};
	struct engine *e = r->engines;

	while (e && !same(e->ca_file, ca_file))
		e = e->next;
	if (!e) {
		if (http_new(&options, ret, err) < 0)
			return -1;
		e = mem_zalloc(sizeof(*e));
		e->ca_file = ca_file ? mem_strdup(ca_file) : NULL;
		e->http = *ret;
		e->next = r->engines;
		r->engines = e;
	}
	*ret = e->http;
	return 0;
}

int remotes_http(struct remotes *r, struct http **ret, struct err *err)
{
	return find_engine(r, NULL, ret, err);
}

/* ---- stores of tokens ---- */

/* NULL where tokens cannot be kept, which is said and no end of the work. */
static struct store *open_store(struct remotes *r,
				const struct remote_spec *spec)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *dir = spec->token_store;
	enum store_key key = STORE_KEY_AUTO;
	struct kept_store *s = r->stores;
	struct err err = ERR_INIT;
	struct store *store;

	if (!dir && !r->o.state_dir)
		return NULL;
	if (!dir)
		dir = state_dir_tokens(r->o.state_dir, &arena);
	while (s && strcmp(s->dir, dir) != 0)
		s = s->next;
	if (s)
		return s->store;
	if (spec->store_key && !store_key_find(spec->store_key, &key))
		key = STORE_KEY_AUTO;
	if (store_open(dir, key, &store, &err) < 0) {
		log_warning("tokens are not kept beyond this run: %s", err.msg);
		return NULL;
	}
	s = mem_zalloc(sizeof(*s));
	s->dir = mem_strdup(dir);
	s->store = store;
	s->next = r->stores;
	r->stores = s;
	return store;
}

/* ---- permission to connect ---- */

/* Judge the address of the server by the leash, and note its range. */
static bool may_connect(void *arg, struct str host,
			const struct sockaddr *address, struct err *err)
{
	struct remote_server *one = arg;

	if (gate_may_connect(one->all->o.gate, host, one->url.port, address,
			     err) < 0)
		return false;
	one->range = reach_class_of(address);
	return true;
}

/* Judge a page that the server leads to, by name. */
static bool may_use(void *arg, struct str host, uint16_t port, struct err *err)
{
	const struct remote_server *one = arg;

	return gate_may_connect(one->all->o.gate, host, port, NULL, err) == 0;
}

/* ---- people ---- */

static int open_page(void *arg, const char *url, struct err *err)
{
	struct remote_server *one = arg;
	struct gate_page page;

	if (!one->spec.browser) {
		/* with -q as well: without it nothing can go on */
		log_error("open this page to log in to %s:\n%s", one->spec.name,
			  url);
		return 0;
	}
	if (gate_open_page(one->all->o.gate, one->spec.browser, url, &page,
			   err) < 0)
		return -1;
	free(one->browser.path);
	one->browser = page;
	log_note("the login page of %s is opened by %s (process %d), which is "
		 "not confined",
		 one->spec.name, page.path, (int)page.pid);
	return 0;
}

void remote_server_facts(void *arg, struct jw *w)
{
	const struct remote_server *one = arg;

	if (one->is_plain)
		jw_kv_bool(w, "insecure_http", true);
	if (!one->browser.path)
		return;
	jw_key_str(w, STR("browser"));
	jw_object(w);
	jw_kv_cstr(w, "path", one->browser.path);
	jw_kv_int(w, "pid", one->browser.pid);
	jw_kv_bool(w, "confined", false);
	jw_end(w);
}

static void say(void *arg, const char *line)
{
	const struct remote_server *one = arg;

	log_note("%s: %s", one->spec.name, line);
}

/* A server that chooses a word of another's changes nothing there. */
static void on_secret(void *arg, struct str value)
{
	const struct remote_server *one = arg;

	(void)scrub_add(one->scrub, value);
}

static void on_file(void *arg, struct str value)
{
	const struct remote_server *one = arg;

	(void)scrub_add(one->all->o.scrub, value);
}

/* A shorter one may be a word that a result has as well. */
static void on_session(void *arg, struct str id)
{
	if (id.n >= SESSION_ID_BYTES)
		on_secret(arg, id);
}

/* ---- one server ---- */

static int make_auth(struct remote_server *one, struct err *err)
{
	struct remotes *all = one->all;
	const char *name = one->spec.is_named ? one->spec.name : NULL;
	const struct auth_context context = {
		.loop = all->o.loop,
		.http = one->http,
		.store = open_store(all, &one->spec),
		.person = {.open = one->spec.browser || all->o.is_terminal
					   ? open_page
					   : NULL,
			   .say = say,
			   .arg = one},
		.on_secret = on_secret,
		.on_file = on_file,
		.may_use = may_use,
		.server_range = &one->range,
		.arg = one,
		.server_name = name,
		.config = advice_config(all->o.config, &one->arena),
		.is_only_one = server_url_is_single(all->o.config, name,
						    one->url.text.p),
	};

	one->spec.auth.url = one->url.text.p;
	one->spec.auth.headers = &one->spec.headers;
	return auth_new(&context, &one->spec.auth, &one->auth, err);
}

int remote_server_new(struct remotes *r, struct remote_spec *spec,
		      struct remote_server **ret, struct err *err)
{
	struct remote_server *one = mem_zalloc(sizeof(*one));
	struct str rest, text;
	int plain;

	one->all = r;
	one->spec = *spec;
	*spec = (struct remote_spec){0};
	one->scrub =
		r->o.keeps_apart ? scrub_new_within(r->o.scrub) : r->o.scrub;
	plain = server_url_read(one->spec.url, &one->spec.plain, &one->arena,
				&one->url, err);
	if (plain < 0 ||
	    gate_may_connect(r->o.gate, one->url.host, one->url.port, NULL,
			     err) < 0 ||
	    find_engine(r, one->spec.server->ca_file, &one->http, err) < 0) {
		remote_server_free(one);
		return -1;
	}
	/* a query may hold a key */
	rest = one->url.text;
	text = str_cut(&rest, '?');
	one->text = arena_strndup(&one->arena, text.p, text.n);
	if (!one->spec.is_named)
		one->spec.name = one->text;
	server_url_hide(&one->url, r->o.scrub);
	one->is_plain = plain == 1;
	if (one->is_plain) {
		/* tokens of a login are credentials, too */
		one->spec.auth.is_off |= !one->spec.plain.allows_credentials;
		log_warning("%s: %s", one->spec.name,
			    plain_http_say(&one->spec.plain, &one->url,
					   &one->arena));
	}
	one->range =
		url_is_loopback(&one->url) ? ADDRESS_LOOPBACK : ADDRESS_PUBLIC;
	if (make_auth(one, err) < 0) {
		remote_server_free(one);
		return -1;
	}
	*ret = one;
	return 0;
}

void remote_server_free(struct remote_server *one)
{
	if (!one)
		return;
	auth_free(one->auth);
	remote_spec_release(&one->spec);
	free(one->browser.path);
	if (one->scrub != one->all->o.scrub)
		scrub_free(one->scrub);
	arena_release(&one->arena);
	free(one);
}

int remote_server_open(void *arg, struct transport **ret, struct err *err)
{
	struct remote_server *one = arg;
	const char *word = one->spec.server->transport;
	struct remote_options options = {
		.loop = one->all->o.loop,
		.http = one->http,
		.url = one->url.text.p,
		.auth = auth_authorizer(one->auth),
		.kind = same(word, "sse")    ? REMOTE_SSE
			: same(word, "http") ? REMOTE_HTTP
					     : REMOTE_AUTO,
		.message_max = one->spec.message_max,
		.request_ms = one->spec.timeout_ms,
		.reach = reach_of_user(),
		.on_session = on_session,
		.arg = one,
	};

	options.reach.allows = may_connect;
	options.reach.arg = one;
	/* without TLS, and unless plain HTTP was allowed, connect to loopback
	   only */
	options.reach.is_loopback_only = !one->url.is_tls && !one->is_plain;
	if (same(word, "websocket") || transport_is_websocket(options.url))
		return transport_websocket(&options, ret, err);
	return transport_remote(&options, ret, err);
}
