#include "core/doctor/access.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/base/state_dir.h"
#include "core/config/paths.h"
#include "core/run/advice_command.h"
#include "core/run/remotes.h"

/* ---- credentials ---- */

static void look_at_command_ref(struct doctor *d, const char *name,
				const struct env_ref *ref)
{
	struct gate_request request = {
		.policy = &d->policy,
		.cwd = d->config->dir,
		.stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE},
	};
	struct err err = ERR_INIT;
	struct strlist words;

	if (path_words(ref->from, d->config->dir, d->arena, &words, &err) < 0) {
		doctor_add(d, "credential", name, CHECK_FAILED,
			   "mend its command line", "%s", err.msg);
		return;
	}
	request.program = words.item[0];
	request.argv = words.item;
	doctor_add_program(d, "credential", name, words.item[0],
			   gate_check(d->gate, &request, &err), &err);
}

static void look_at_ref(struct doctor *d, const char *name,
			const struct env_ref *ref)
{
	struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
	bool is_file = ref->source == SECRET_FILE;
	struct err err = ERR_INIT;
	struct stat st;

	if (secret_resolve(ref->source, ref->from, NULL, &value, &err) < 0)
		doctor_add(d, "credential", name, CHECK_FAILED,
			   is_file ? "write the value into that file"
			   : d->options->unattended
				   ? "a timer has no such variable: keep the "
				     "value in a file, { file = \"PATH\" }"
				   : "set the variable where matins is started",
			   "%s", err.msg);
	else if (value.n < LIMIT_SECRET_SCRUB_MIN)
		doctor_add(d, "credential", name, CHECK_WARNING,
			   "use a longer value",
			   "%s holds fewer than %d bytes: the value cannot be "
			   "scrubbed from outputs",
			   ref->from, LIMIT_SECRET_SCRUB_MIN);
	else
		doctor_add(d, "credential", name, CHECK_OK, "", "%s is there",
			   ref->from);
	buf_wipe(&value);
	if (is_file && stat(ref->from, &st) == 0 &&
	    st.st_mode & (S_IRGRP | S_IROTH))
		doctor_add(d, "credential", name, CHECK_WARNING,
			   arena_printf(d->arena, "chmod 600 %s", ref->from),
			   "%s can be read by others", ref->from);
}

void doctor_look_at_refs(struct doctor *d, const char *step,
			 const struct env_ref *ref, size_t n)
{
	if (d->options->file->not_allowed) /* no credential is read for it */
		return;
	for (size_t i = 0; i < n; i++) {
		const char *name =
			arena_printf(d->arena, "%s %s", step, ref[i].name);

		if (!ref[i].from)
			continue;
		if (ref[i].source == SECRET_CMD)
			look_at_command_ref(d, name, &ref[i]);
		else
			look_at_ref(d, name, &ref[i]);
	}
}

static const char *missing_source(const struct env_ref *ref,
				  struct arena *arena)
{
	const char *value;

	if (!ref->from || ref->source == SECRET_CMD)
		return NULL;
	if (ref->source == SECRET_FILE)
		return access(ref->from, R_OK) == 0
			       ? NULL
			       : arena_printf(arena, "file %s: %s", ref->from,
					      strerror(errno));
	value = getenv(ref->from);
	return value && *value ? NULL
			       : arena_printf(arena, "%s is %s", ref->from,
					      value ? "empty" : "not set");
}

const char *access_missing(const struct server *server, struct arena *arena)
{
	const char *why = NULL;

	for (size_t i = 0; !why && i < server->env.n; i++)
		why = missing_source(&server->env.item[i], arena);
	for (size_t i = 0; !why && i < server_references(server); i++)
		why = missing_source(server_reference(server, i), arena);
	return why;
}

/* Look for a file that a platform writes and each request reads. */
static void look_at_token_file(struct doctor *d, const char *row,
			       const char *key, const char *path)
{
	const char *name = arena_printf(d->arena, "%s %s", row, key);

	if (path && access(path, R_OK) < 0)
		doctor_add(
			d, "credential", name, CHECK_FAILED,
			"let the platform write it there, or correct the path",
			"%s: %s", path, strerror(errno));
	else if (path)
		doctor_add(d, "credential", name, CHECK_OK, "", "%s is there",
			   path);
}

/* ---- servers with a URL: nothing is sent to them ---- */

static const char *remote_remedy(const struct err *err, struct arena *arena,
				 const char *host)
{
	if (err->kind == ERR_LEASH)
		return arena_printf(arena, "add \"%s\" to `net` of the leash",
				    host);
	return err->kind == ERR_UNKNOWN ? "install it: remote servers need it"
					: "mend the table of the server";
}

static int look_at_library(const struct server *server, struct err *err)
{
	struct loop loop;
	struct http_options options = {
		.loop = &loop,
		.user_agent = "matins/" MATINS_VERSION,
		.ca_file = server->ca_file,
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

/* origin  "https://host", since a path may be a key; "": url is NULL */
static void look_at_url(struct doctor *d, const char *name,
			const struct server *server, const char *origin,
			const struct url *url)
{
	struct err err = ERR_INIT;

	if (server_url_judge(d->gate, server, &err) < 0 ||
	    look_at_library(server, &err) < 0) {
		doctor_add(d, "server", name, CHECK_FAILED,
			   remote_remedy(&err, d->arena,
					 url ? url->host.p : "its host"),
			   "%s: %s", server->name, err.msg);
		return;
	}
	if (server_url_check(server, &err) > 0)
		doctor_add(d, "server", name, CHECK_WARNING,
			   "write https:// where the server speaks it",
			   "%s: %s", server->name, err.msg);
	doctor_add(d, "server", name, CHECK_OK, "",
		   "%s at %s may be connected to, over %s%s%s%s", server->name,
		   origin, http_library(),
		   server->ca_file ? ", with the authorities of " : "",
		   server->ca_file ? server->ca_file : "",
		   d->options->deep ? "" : "; it was not asked");
}

/* Returns 1 when no token is kept for the server. */
static int read_status(const struct config *config, const char *state,
		       const struct server *server, const struct url *url,
		       struct arena *arena, struct auth_status *ret,
		       struct err *err)
{
	const struct server_auth *auth = &server->auth;
	const int64_t now_s =
		clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S;
	const char *name = server->name, *dir = auth->token_store;
	const struct owner owner = {
		.name = name,
		.config = advice_config(config, arena),
		.url = url->text.p,
		.grant = auth->grant ? auth->grant : auth_grant_word(AUTH_CODE),
		.client = auth->client_id,
		.takes_old = server_url_is_single(config, name, url->text.p),
	};
	struct store_facts facts;
	struct store *store = NULL;
	int r;

	if (!dir && !state)
		return 1;
	if (!dir)
		dir = state_dir_tokens(state, arena);
	r = store_look(dir, &facts, err);
	/* opening a store makes one */
	if (r != 0)
		return r;
	if (store_open(dir, STORE_KEY_AUTO, &store, err) < 0)
		return -1;
	r = auth_status_stored(store, &owner, now_s, ret, err);
	store_free(store);
	return r < 0 ? -1 : !ret->has_token;
}

/* A key that comes with a session is not there when nobody is logged in. */
static void look_at_key(struct doctor *d, const char *name,
			const struct server *server)
{
	const char *dir = server->auth.token_store;
	struct store_facts facts;

	if (!dir)
		dir = state_dir_tokens(d->state, d->arena);
	if (store_look(dir, &facts, ERR_IGNORED) == 0 &&
	    facts.files[STORE_KEY_SERVICE] + facts.files[STORE_KEY_KEYRING])
		doctor_add(d, "authorization", name, CHECK_FAILED,
			   "set store_key = \"file\" in its `auth` table, and "
			   "log in again",
			   "%s: tokens in %s are encrypted by a key of the "
			   "login session",
			   server->name, dir);
}

static void look_at_login(struct doctor *d, const char *name,
			  const struct server *server, const struct url *url)
{
	const struct server_auth *auth = &server->auth;
	const char *login =
		advice_about(d->config, "auth login", server->name, d->arena);
	struct auth_status s = {0};
	struct err err = ERR_INIT;
	int r = read_status(d->config, d->state, server, url, d->arena, &s,
			    &err);
	bool is_usable = !s.is_expired || s.has_refresh_token;

	if (r == 0 && is_usable && d->options->unattended)
		look_at_key(d, name, server);
	if (r < 0)
		doctor_add(d, "authorization", name, CHECK_FAILED, login,
			   "%s: %s", server->name, err.msg);
	else if (r == 0)
		doctor_add(d, "authorization", name,
			   is_usable ? CHECK_OK : CHECK_FAILED, login,
			   "%s: %s%s", server->name,
			   !s.is_expired ? "logged in at "
			   : is_usable	 ? "logged in, to be renewed at "
					 : "the token has expired, of ",
			   s.issuer);
	else if (auth->refresh_token.from && !s.has_client)
		doctor_add(d, "authorization", name, CHECK_OK, "",
			   "%s: no token is kept yet; the first comes by "
			   "refresh_token",
			   server->name);
	else if (!server->api_key.from && !server->headers.n &&
		 !server->headers.n_refs && !d->options->deep)
		doctor_add(d, "authorization", name,
			   d->options->unattended && server->auth.grant
				   ? CHECK_FAILED
				   : CHECK_WARNING,
			   login,
			   "%s: no token is kept; steps fail if the server "
			   "wants one",
			   server->name);
}

/* Is a credential of the configuration sent, and no other? */
static bool has_credential(const struct server *server)
{
	bool is_given = server->token.from;

	for (size_t i = 0; i < server->headers.n; i++)
		is_given |= !strcasecmp(server->headers.item[i].name,
					"Authorization");
	for (size_t i = 0; i < server->headers.n_refs; i++)
		is_given |= !strcasecmp(server->headers.ref[i].name,
					"Authorization");
	return is_given;
}

int access_needs_login(const struct config *config, const char *state,
		       const struct server *server, struct arena *arena,
		       struct err *err)
{
	const struct server_auth *auth = &server->auth;
	struct auth_status s = {0};
	struct url url;
	int r;

	if (has_credential(server) ||
	    (auth->grant && strcmp(auth->grant, "authorization_code") != 0))
		return 0;
	if (url_parse(str_of(server->url), arena, &url, err) < 0)
		return -1;
	r = read_status(config, state, server, &url, arena, &s, err);
	if (r == 0)
		return s.is_expired && !s.has_refresh_token;
	/* without a login before, that one is as good */
	if (r > 0 && auth->refresh_token.from && !s.has_client)
		return 0;
	return r < 0 ? -1 : auth->grant || auth->client_id || auth->issuer;
}

static void look_at_endpoint(struct doctor *d, const char *name,
			     const struct server *server, const char *key,
			     const char *text)
{
	struct url url;

	if (text && url_parse(str_of(text), d->arena, &url, ERR_IGNORED) == 0 &&
	    !str_is(url.scheme, "https") && !url_is_loopback(&url))
		doctor_add(d, "authorization", name, CHECK_FAILED,
			   "write its address with https://",
			   "%s: %s is not https, so each login is refused",
			   server->name, key);
}

static void look_at_authorization(struct doctor *d, const char *name,
				  const struct server *server,
				  const struct url *url)
{
	const struct server_auth *auth = &server->auth;
	bool has_client = auth->client_id || auth->client_metadata_url;
	struct err err = ERR_INIT;

	if (has_credential(server))
		;
	else if (crypto_load(&err) < 0)
		doctor_add(d, "authorization", name, CHECK_FAILED,
			   remote_remedy(&err, d->arena, ""), "%s: %s",
			   server->name, err.msg);
	else if (!auth->grant || !strcmp(auth->grant, "authorization_code"))
		look_at_login(d, name, server, url);
	else
		doctor_add(d, "authorization", name,
			   has_client ? CHECK_OK : CHECK_FAILED,
			   "set client_id in the `auth` table of the server",
			   "%s: tokens come by %s, without a person%s",
			   server->name, auth->grant,
			   has_client ? "" : ", which needs a client");
	look_at_endpoint(d, name, server, "token_endpoint",
			 auth->token_endpoint);
	look_at_endpoint(d, name, server, "authorization_endpoint",
			 auth->authorization_endpoint);
	look_at_endpoint(d, name, server, "idp_token_endpoint",
			 auth->idp_token_endpoint);
	/* a client with a credential needs a fixed issuer; a public one does
	   not */
	if (!auth->issuer && !auth->token_endpoint &&
	    (auth->client_secret.from || auth->private_key.from ||
	     auth->assertion_file || auth->refresh_token.from))
		doctor_add(d, "authorization", name, CHECK_WARNING,
			   "set issuer in the `auth` table of the server",
			   "%s: without issuer the client's credential is used "
			   "only "
			   "at an authorization server of its url's own "
			   "origin; any "
			   "other that it names is refused",
			   server->name);
}

static void look_at_remote(struct doctor *d, const char *name,
			   const struct server *server)
{
	AUTO(buf_release) struct buf origin = BUF_INIT(BUF_UNBOUNDED);
	const struct server_auth *auth = &server->auth;
	struct url url;
	bool is_url = url_parse(str_of(server->url), d->arena, &url,
				ERR_IGNORED) == 0;

	if (is_url)
		url_origin(&url, &origin);
	look_at_url(d, name, server, buf_cstr(&origin), is_url ? &url : NULL);
	for (size_t i = 0; i < server_references(server); i++)
		doctor_look_at_refs(d, name, server_reference(server, i), 1);
	look_at_token_file(d, name, "assertion_file", auth->assertion_file);
	look_at_token_file(d, name, "idp_id_token_file",
			   auth->idp_id_token_file);
	if (is_url)
		look_at_authorization(d, name, server, &url);
}

void doctor_look_at_access(struct doctor *d, const char *name,
			   const struct plan_step *s, bool with_server)
{
	if (with_server)
		look_at_remote(d, name, s->step->server);
	doctor_look_at_refs(d, name, s->server_env.item, s->server_env.n);
	doctor_look_at_refs(d, name, s->step->env.item, s->step->env.n);
}
