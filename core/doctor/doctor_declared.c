/*
 * Things that a file declares beside the programs of its steps: credentials,
 * servers that no step uses, `exec`, programs that answer sampling or open a
 * page, roots, servers with a URL.
 */
#include "core/doctor/doctor_declared.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/base/state_dir.h"
#include "core/client/sampler.h"
#include "core/config/paths.h"
#include "core/config/server_url.h"
#include "core/run/remotes.h"
#include "core/secret/secret.h"

/* Kept of the stderr of a server; the default of a step. */
#define STDERR_BYTES (64 * 1024)

/* ---- credentials ---- */

static void look_at_length(struct doctor *d, const char *name, const char *from,
			   size_t n)
{
	if (n < LIMIT_SECRET_SCRUB_MIN)
		doctor_add(d, "credential", name, CHECK_WARNING,
			   "use a longer value",
			   "%s holds fewer than %d bytes: the value cannot be "
			   "scrubbed from outputs",
			   from, LIMIT_SECRET_SCRUB_MIN);
	else
		doctor_add(d, "credential", name, CHECK_OK, "", "%s is there",
			   from);
}

static void look_at_secret_file(struct doctor *d, const struct env_ref *ref)
{
	struct stat st;

	if (stat(ref->from, &st) == 0 && st.st_mode & (S_IRGRP | S_IROTH))
		doctor_add(d, "credential", ref->name, CHECK_WARNING,
			   arena_printf(d->arena, "chmod 600 %s", ref->from),
			   "%s can be read by others", ref->from);
}

static void look_at_command_ref(struct doctor *d, const struct env_ref *ref)
{
	struct gate_request request = {
		.policy = &d->policy,
		.cwd = d->config->dir,
	};
	struct err err = ERR_INIT;
	struct strlist words;

	if (path_words(ref->from, d->config->dir, d->arena, &words, &err) < 0) {
		doctor_add(d, "credential", ref->name, CHECK_FAILED,
			   "mend its command line", "%s", err.msg);
		return;
	}
	request.program = words.item[0];
	request.argv = words.item;
	for (int i = 0; i < 3; i++)
		request.stdio[i] = GATE_PIPE;
	if (gate_check(d->gate, &request, &err) < 0)
		doctor_add(d, "credential", ref->name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		doctor_add(d, "credential", ref->name, CHECK_OK, "",
			   "%s is there; it was not run", words.item[0]);
}

static void look_at_refs(struct doctor *d, const char *step,
			 const struct env_refs *refs)
{
	if (d->options->file->not_allowed) /* no credential is read for it */
		return;
	for (size_t i = 0; i < refs->n; i++) {
		struct env_ref named = refs->item[i];
		const struct env_ref *ref = &named;
		struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
		struct err err = ERR_INIT;

		named.name = arena_printf(d->arena, "%s %s", step,
					  refs->item[i].name);
		if (ref->source == SECRET_CMD) {
			look_at_command_ref(d, ref);
			continue;
		}
		if (secret_resolve(ref->source, ref->from, NULL, &value, &err) <
		    0)
			doctor_add(d, "credential", ref->name, CHECK_FAILED,
				   ref->source == SECRET_FILE
					   ? "write the value into that file"
					   : "set the variable where matins is "
					     "started",
				   "%s", err.msg);
		else
			look_at_length(d, ref->name, ref->from, value.n);
		buf_wipe(&value);
		if (ref->source == SECRET_FILE)
			look_at_secret_file(d, ref);
	}
}

/* ---- servers ---- */

static bool is_used(const struct config *c, const struct server *server)
{
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];

			if (s->server == server && s->enabled && !s->instead)
				return true;
		}
	}
	return false;
}

struct routine doctor_unused_servers(struct doctor *d)
{
	const struct config *c = d->config;
	struct routine r = {
		.steps = ARENA_ARRAY(d->arena, struct step, c->n_servers),
	};

	for (size_t i = 0; i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];

		if (is_used(c, s))
			continue;
		r.steps[r.n_steps++] = (struct step){
			.name = s->name,
			.type = "mcp-client",
			.tool = "",
			.enabled = true,
			.timeout_ms = s->timeout_ms,
			.server_name = s->name,
			.server = s,
			.stdout_max = s->stdout_max,
			.stderr_max = STDERR_BYTES,
		};
	}
	return r;
}

/* Look at the program that answers sampling; it is not run. */
static void look_at_sampling(struct doctor *d, const char *step,
			     const struct server *server)
{
	struct sampler_options options = {
		.gate = d->gate,
		.policy = &d->policy,
		.cwd = d->config->dir,
	};
	struct err err = ERR_INIT;
	const char *name;

	if (!server->sampling.n)
		return;
	options.name = server->name;
	options.words = server->sampling;
	name = arena_printf(d->arena, "%s sampling", step);
	if (sampler_check(&options, &err) < 0)
		doctor_add(d, "program", name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		doctor_add(d, "program", name, CHECK_OK, "",
			   "%s is there; it was not run",
			   server->sampling.item[0]);
}

/* Look for the user's own program that opens a page. */
static void look_at_browser(struct doctor *d, const char *step,
			    const struct server *server)
{
	const char *browser = server->auth.browser;
	const char *const argv[] = {browser, NULL};
	const struct gate_request request = {
		.program = browser,
		.argv = argv,
		.policy = &d->policy,
	};
	struct gate_program p = {0};
	struct err err = ERR_INIT;
	const char *name;

	if (!browser)
		return;
	name = arena_printf(d->arena, "%s browser", step);
	if (gate_resolve(d->gate, &request, &p, &err) < 0)
		doctor_add(d, "program", name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		doctor_add(d, "program", name, CHECK_OK, "",
			   "%s is there; it was not run", p.path);
	gate_program_release(&p);
}

static void look_at_roots(struct doctor *d, const char *step,
			  const struct server *server)
{
	for (size_t i = 0; i < server->roots.n; i++)
		if (access(server->roots.item[i], F_OK) < 0)
			doctor_add(
				d, "server",
				arena_printf(d->arena, "%s roots", step),
				CHECK_FAILED,
				"make that folder, or take it out of `roots`",
				"%s: %s", server->roots.item[i],
				strerror(errno));
}

static void look_at_server(struct doctor *d, const char *name,
			   const struct server *server)
{
	look_at_sampling(d, name, server);
	look_at_browser(d, name, server);
	look_at_roots(d, name, server);
}

/* ---- exec ---- */

static bool is_missing(struct gate *gate, const struct gate_request *request,
		       const char *row, struct err *err)
{
	const char *const argv[] = {row, NULL};
	const struct gate_policy none = {.profile = NULL};
	struct gate_request one = *request;
	struct gate_program p = {0};
	bool missing;

	if (strchr(row, '/'))
		return access(row, F_OK) < 0;
	one.program = row;
	one.argv = argv;
	one.policy = &none;
	missing = gate_resolve(gate, &one, &p, err) < 0 &&
		  err->kind == ERR_NOT_FOUND;
	gate_program_release(&p);
	return missing;
}

bool doctor_look_at_exec(struct doctor *d, const char *name,
			 const struct gate_request *request)
{
	const struct strlist *rows = &request->policy->exec;
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];
		struct err err = ERR_INIT;

		if (!is_missing(d->gate, request, row, &err))
			continue;
		any = true;
		doctor_add(
			d, "program", name, CHECK_FAILED,
			str_ends(str_of(row), "/node_modules")
				? "run npm install in its folder, or take "
				  "it out of `sandbox.exec`"
			: strchr(row, '/') ? "put it there, or take it out of "
					     "`sandbox.exec`"
					   : "install it, or take it out of "
					     "`sandbox.exec`",
			"sandbox.exec names %s, which %s", row,
			strchr(row, '/') ? "does not exist" : "is not in PATH");
	}
	return any;
}

/* ---- servers with a URL: nothing is sent to them ---- */

static const char *remote_remedy(const struct err *err, struct arena *arena,
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

/*
 * Parse the URL of a server; returns "https://host", since a path may be a
 * key, or "" when the text is not a URL.
 */
static const char *shown_url(const struct server *server, struct arena *arena,
			     struct url *url)
{
	AUTO(buf_release) struct buf origin = BUF_INIT(BUF_UNBOUNDED);
	struct err ignored = ERR_INIT;

	if (url_parse(str_of(server->url), arena, url, &ignored) < 0) {
		*url = (struct url){.host = STR(""), .text = STR("")};
		return "";
	}
	url_origin(url, &origin);
	return arena_strdup(arena, buf_cstr(&origin));
}

static void look_at_url(struct doctor *d, const char *name,
			const struct server *server, const char *shown,
			const struct url *url)
{
	struct err err = ERR_INIT;

	if (server_url_judge(d->gate, server, &err) < 0 ||
	    look_at_library(server, &err) < 0) {
		doctor_add(d, "server", name, CHECK_FAILED,
			   remote_remedy(&err, d->arena,
					 *shown ? url->host.p : "its host"),
			   "%s: %s", server->name, err.msg);
		return;
	}
	if (server_url_check(server, &err) > 0)
		doctor_add(d, "server", name, CHECK_WARNING,
			   "write https:// where the server speaks it",
			   "%s: %s", server->name, err.msg);
	doctor_add(d, "server", name, CHECK_OK, "",
		   "%s at %s may be connected to, over %s%s%s%s", server->name,
		   shown, http_library(),
		   server->ca_file ? ", with the authorities of " : "",
		   server->ca_file ? server->ca_file : "",
		   d->options->deep ? "" : "; it was not asked");
}

static void look_at_references(struct doctor *d, const char *name,
			       const struct server *server)
{
	struct env_ref item[SERVER_REFERENCES];
	struct env_refs refs = {item, 0};

	for (size_t i = 0; i < SERVER_REFERENCES; i++) {
		const struct env_ref *ref = server_reference(server, i);

		if (ref->from)
			item[refs.n++] = *ref;
	}
	look_at_refs(d, name, &refs);
}

/* Look for a file that a platform writes and each request reads. */
static void look_at_token_file(struct doctor *d, const char *row,
			       const char *key, const char *path)
{
	const char *name = arena_printf(d->arena, "%s %s", row, key);

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

static bool has_header(const struct server *server, const char *name)
{
	for (size_t i = 0; i < server->headers.n; i++)
		if (!strcasecmp(server->headers.item[i].name, name))
			return true;
	return false;
}

/* Returns 1 when no token is kept for the server. */
static int read_status(struct doctor *d, const struct server *server,
		       const struct url *url, struct auth_status *ret,
		       struct err *err)
{
	const struct server_auth *auth = &server->auth;
	const int64_t now_s =
		clock_system()->wall_ns(clock_system()) / (int64_t)NS_PER_S;
	const char *name = server->name, *dir = auth->token_store;
	const struct owner owner = {
		.name = name,
		.url = url->text.p,
		.grant = auth->grant ? auth->grant : auth_grant_word(AUTH_CODE),
		.client = auth->client_id,
		.takes_old = server_url_is_single(d->config, name, url->text.p),
	};
	struct store_facts facts;
	struct store *store = NULL;
	int state;

	if (!dir && !d->state)
		return 1;
	if (!dir)
		dir = state_dir_tokens(d->state, d->arena);
	state = store_look(dir, &facts, err);
	/* opening a store makes one */
	if (state != 0)
		return state;
	if (store_open(dir, STORE_KEY_AUTO, &store, err) < 0)
		return -1;
	state = auth_status_stored(store, &owner, now_s, ret, err);
	store_free(store);
	return state < 0 ? -1 : !ret->has_token;
}

static void say_status(struct doctor *d, const char *name,
		       const struct server *server, const struct auth_status *s,
		       const char *login)
{
	bool is_usable = !s->is_expired || s->has_refresh_token;

	doctor_add(d, "authorization", name,
		   is_usable ? CHECK_OK : CHECK_FAILED, is_usable ? "" : login,
		   "%s: %s%s", server->name,
		   !s->is_expired ? "logged in at "
		   : is_usable	  ? "logged in, to be renewed at "
				  : "the token has expired, of ",
		   s->issuer);
}

static void look_at_login(struct doctor *d, const char *name,
			  const struct server *server, const struct url *url)
{
	const char *login =
		arena_printf(d->arena, "matins auth login %s", server->name);
	struct auth_status status = {0};
	struct err err = ERR_INIT;
	int state = read_status(d, server, url, &status, &err);

	if (state < 0)
		doctor_add(d, "authorization", name, CHECK_FAILED, login,
			   "%s: %s", server->name, err.msg);
	else if (state == 0)
		say_status(d, name, server, &status, login);
	else if (!server->api_key.from && !server->headers.n &&
		 !d->options->deep)
		doctor_add(d, "authorization", name, CHECK_WARNING, login,
			   "%s: no token is kept; steps fail if the server "
			   "wants one",
			   server->name);
}

static void look_at_grant(struct doctor *d, const char *name,
			  const struct server *server)
{
	const struct server_auth *auth = &server->auth;
	bool has_client = auth->client_id || auth->client_metadata_url;

	doctor_add(d, "authorization", name,
		   has_client ? CHECK_OK : CHECK_FAILED,
		   has_client ? ""
			      : "set client_id in the `auth` table of the "
				"server",
		   "%s: tokens come by %s, without a person%s", server->name,
		   auth->grant, has_client ? "" : ", which needs a client");
}

/* A client with a credential needs a fixed issuer; a public one does not. */
static void look_at_issuer(struct doctor *d, const char *name,
			   const struct server *server)
{
	const struct server_auth *a = &server->auth;

	if (!a->issuer &&
	    (a->client_secret.from || a->private_key.from || a->assertion_file))
		doctor_add(d, "authorization", name, CHECK_WARNING,
			   "set issuer in the `auth` table of the server",
			   "%s: without issuer the client's credential is used "
			   "only at an authorization server of its url's own "
			   "origin; any other that it names is refused",
			   server->name);
}

static void look_at_authorization(struct doctor *d, const char *name,
				  const struct server *server,
				  const struct url *url)
{
	const char *grant = server->auth.grant;
	struct err err = ERR_INIT;

	/* a credential of the configuration is sent, and no other is tried */
	if (server->token.from || has_header(server, "Authorization"))
		return;
	if (crypto_load(&err) < 0)
		doctor_add(d, "authorization", name, CHECK_FAILED,
			   remote_remedy(&err, d->arena, ""), "%s: %s",
			   server->name, err.msg);
	else if (grant && strcmp(grant, "authorization_code") != 0)
		look_at_grant(d, name, server);
	else
		look_at_login(d, name, server, url);
}

static void look_at_remote(struct doctor *d, const char *name,
			   const struct server *server)
{
	const struct server_auth *auth = &server->auth;
	struct url url;
	const char *shown = shown_url(server, d->arena, &url);

	look_at_url(d, name, server, shown, &url);
	look_at_references(d, name, server);
	look_at_token_file(d, name, "assertion_file", auth->assertion_file);
	look_at_token_file(d, name, "idp_id_token_file",
			   auth->idp_id_token_file);
	if (!*shown)
		return;
	look_at_authorization(d, name, server, &url);
	look_at_issuer(d, name, server);
}

void doctor_look_at_declared(struct doctor *d, const char *name,
			     const struct plan_step *step, bool is_remote)
{
	const struct server *server = step->step->server;

	if (is_remote)
		look_at_remote(d, name, server);
	look_at_refs(d, name, &step->server_env);
	look_at_refs(d, name, &step->step->env);
	if (server)
		look_at_server(d, name, server);
}
