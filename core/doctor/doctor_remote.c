/*
 * Servers with a URL, for doctor: everything that can be said without sending
 * anything to anybody.
 */
#include <errno.h>
#include <strings.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/doctor/doctor_inner.h"
#include "core/run/remotes.h"

/* ---- URL, leash, libraries, certificates ---- */

static const char *remedy_of(const struct err *err, struct arena *arena,
			     const char *host)
{
	switch (err->kind) {
	case ERR_LEASH:
		return arena_printf(arena, "add \"%s\" to `net` of the leash",
				    host);
	case ERR_UNKNOWN:
		return "install it: remote servers need it";
	default:
		return "mend the table of the server";
	}
}

static int look_at_library(const struct server *s, struct err *err)
{
	struct loop loop;
	struct http_options options = {
		.loop = &loop,
		.user_agent = "matins/" MATINS_VERSION,
		.ca_file = s->ca_file,
	};
	struct http *http = NULL;
	int r;

	if (loop_init(&loop, clock_system(), err) < 0)
		return -1;
	r = http_new(&options, &http, err);
	http_free(http);
	loop_release(&loop);
	if (r < 0 && err->kind != ERR_UNKNOWN)
		return err_wrap(err, "ca_file");
	return r;
}

/*
 * "https://host", and the URL; "" of what is none. What follows the host may
 * be a key.
 */
static const char *shown_url(const struct server *s, struct arena *arena,
			     struct url *url)
{
	AUTO(buf_release) struct buf origin = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;

	if (url_parse(str_of(s->url), arena, url, &ignored) < 0) {
		*url = (struct url){.host = STR(""), .text = STR("")};
		return "";
	}
	url_origin(url, &origin);
	return arena_strdup(arena, buf_cstr(&origin));
}

static void look_at_url(struct doctor *d, const struct doctor_remote *r,
			const char *shown, const struct url *url)
{
	const struct server *s = r->server;
	struct err err = ERR_INIT;

	if (remote_judge_url(r->gate, s, &err) < 0 ||
	    look_at_library(s, &err) < 0) {
		doctor_add(d, "server", r->name, CHECK_FAILED,
			   remedy_of(&err, d->arena,
				     *shown ? url->host.p : "its host"),
			   "%s: %s", s->name, err.msg);
		return;
	}
	if (remote_check_url(s, &err) > 0)
		doctor_add(d, "server", r->name, CHECK_WARNING,
			   "write https:// where the server speaks it",
			   "%s: %s", s->name, err.msg);
	doctor_add(d, "server", r->name, CHECK_OK, "",
		   "%s at %s may be connected to, over %s%s%s%s", s->name,
		   shown, http_library(),
		   s->ca_file ? ", with the authorities of " : "",
		   s->ca_file ? s->ca_file : "",
		   r->is_deep ? "" : "; it was not asked");
}

/* ---- credentials ---- */

static void look_at_references(struct doctor *d, const struct doctor_remote *r)
{
	static const char *const names[SERVER_REFERENCES] = {
		"token",       "api_key",	    "client_secret",
		"private_key", "idp_client_secret",
	};
	struct env_ref item[SERVER_REFERENCES];
	struct env_refs refs = {item, 0};

	for (size_t i = 0; i < SERVER_REFERENCES; i++) {
		const struct env_ref *ref = server_reference(r->server, i);

		if (!ref->from)
			continue;
		item[refs.n] = *ref;
		item[refs.n++].name = names[i];
	}
	doctor_look_at_refs(d, r->gate, r->name, &refs, r->policy);
}

/* Files that others write and that are read anew for each request. */
static void look_at_token_file(struct doctor *d, const struct doctor_remote *r,
			       const char *key, const char *path)
{
	const char *name = arena_printf(d->arena, "%s %s", r->name, key);

	if (!path)
		return;
	if (access(path, R_OK) < 0)
		doctor_add(d, "credential", name, CHECK_FAILED,
			   "let the platform write it there, or correct the "
			   "path",
			   "%s: %s", path, strerror(errno));
	else
		doctor_add(d, "credential", name, CHECK_OK, "", "%s is there",
			   path);
}

/* ---- tokens ---- */

static bool has_header(const struct server *s, const char *name)
{
	for (size_t i = 0; i < s->n_headers; i++)
		if (!strcasecmp(s->headers[i].name, name))
			return true;
	return false;
}

/* 1: nothing is kept there. */
static int read_status(const struct doctor_remote *r, const struct url *url,
		       struct arena *arena, struct auth_status *ret,
		       struct err *err)
{
	const struct server_auth *auth = &r->server->auth;
	const int64_t now_s =
		clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S;
	const char *name = r->server->name, *dir = auth->token_store;
	const struct owner owner = {
		.name = name,
		.url = url->text.p,
		.grant = auth->grant ? auth->grant : auth_grant_word(AUTH_CODE),
		.client = auth->client_id,
		.takes_old = remote_is_only_one(r->config, name, url->text.p),
	};
	struct store_facts facts;
	struct store *store = NULL;
	int state;

	if (!dir && !r->state)
		return 1;
	if (!dir)
		dir = arena_printf(arena, "%s/tokens", r->state);
	state = store_look(dir, &facts, err);
	/* to open it would make it */
	if (state != 0)
		return state;
	if (store_open(dir, STORE_KEY_AUTO, &store, err) < 0)
		return -1;
	state = auth_status_stored(store, &owner, now_s, ret, err);
	store_free(store);
	return state < 0 ? -1 : !ret->has_token;
}

static void say_status(struct doctor *d, const struct doctor_remote *r,
		       const struct auth_status *s, const char *login)
{
	bool is_usable = !s->is_expired || s->has_refresh_token;

	doctor_add(d, "authorization", r->name,
		   is_usable ? CHECK_OK : CHECK_FAILED, is_usable ? "" : login,
		   "%s: %s%s", r->server->name,
		   !s->is_expired ? "logged in at "
		   : is_usable	  ? "logged in, to be renewed at "
				  : "the token has expired, of ",
		   s->issuer);
}

static void look_at_login(struct doctor *d, const struct doctor_remote *r,
			  const struct url *url)
{
	const struct server *s = r->server;
	const char *login =
		arena_printf(d->arena, "matins auth login %s", s->name);
	struct auth_status status = {0};
	struct err err = ERR_INIT;
	int state = read_status(r, url, d->arena, &status, &err);

	if (state < 0)
		doctor_add(d, "authorization", r->name, CHECK_FAILED, login,
			   "%s: %s", s->name, err.msg);
	else if (state == 0)
		say_status(d, r, &status, login);
	else if (!s->api_key.from && !s->n_headers && !r->is_deep)
		doctor_add(d, "authorization", r->name, CHECK_WARNING, login,
			   "%s: no token is kept; it may want none, and if it "
			   "does, its steps fail",
			   s->name);
}

static void look_at_grant(struct doctor *d, const struct doctor_remote *r)
{
	const struct server_auth *auth = &r->server->auth;
	bool has_client = auth->client_id || auth->client_metadata_url;

	doctor_add(d, "authorization", r->name,
		   has_client ? CHECK_OK : CHECK_FAILED,
		   has_client ? ""
			      : "set client_id in the `auth` table of the "
				"server",
		   "%s: a token is got by %s, without a person%s",
		   r->server->name, auth->grant,
		   has_client ? "" : ", which needs a client");
}

/* A public client is one at whatever issuer the server names. */
static void look_at_issuer(struct doctor *d, const struct doctor_remote *r)
{
	const struct server_auth *a = &r->server->auth;

	if (!a->issuer &&
	    (a->client_secret.from || a->private_key.from || a->assertion_file))
		doctor_add(d, "authorization", r->name, CHECK_WARNING,
			   "set issuer in the `auth` table of the server",
			   "%s: without issuer the client's credential is used "
			   "only at an authorization server of its url's own "
			   "origin; any other that it names is refused",
			   r->server->name);
}

static void look_at_authorization(struct doctor *d,
				  const struct doctor_remote *r,
				  const struct url *url)
{
	const char *grant = r->server->auth.grant;
	struct err err = ERR_INIT;

	/* it is sent as it is, and nothing else is tried */
	if (r->server->token.from || has_header(r->server, "Authorization"))
		return;
	if (crypto_load(&err) < 0)
		doctor_add(d, "authorization", r->name, CHECK_FAILED,
			   remedy_of(&err, d->arena, ""), "%s: %s",
			   r->server->name, err.msg);
	else if (grant && strcmp(grant, "authorization_code") != 0)
		look_at_grant(d, r);
	else
		look_at_login(d, r, url);
}

void doctor_look_at_remote(struct doctor *d, const struct doctor_remote *r)
{
	const struct server_auth *auth = &r->server->auth;
	struct url url;
	const char *shown = shown_url(r->server, d->arena, &url);

	look_at_url(d, r, shown, &url);
	look_at_references(d, r);
	look_at_token_file(d, r, "assertion_file", auth->assertion_file);
	look_at_token_file(d, r, "idp_id_token_file", auth->idp_id_token_file);
	if (!*shown)
		return;
	look_at_authorization(d, r, &url);
	look_at_issuer(d, r);
}
