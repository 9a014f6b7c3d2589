#include "core/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/state_dir.h"
#include "core/client/eras.h"
#include "core/client/sampler.h"
#include "core/config/leash.h"
#include "core/config/paths.h"
#include "core/config/server_url.h"
#include "core/report/ledger.h"
#include "core/run/credentials.h"
#include "core/run/pool.h"
#include "core/run/remotes.h"
#include "core/secret/secret.h"

/* ==== doctor_checks ==== */

/* Add a row; all texts are copied but `area`, which is static. */
PRINTF(6, 7)
static void add_row(struct doctor *d, const char *area, const char *name,
		enum check_level level, const char *remedy, const char *fmt,
		...)
{
	va_list ap;

	d->check = arena_grow(d->arena, d->check, d->n, sizeof(*d->check));
	va_start(ap, fmt);
	d->check[d->n++] = (struct check){
		.area = area,
		.name = arena_strdup(d->arena, name),
		.level = level,
		.text = arena_vprintf(d->arena, fmt, ap),
		.remedy = arena_strdup(d->arena, remedy),
	};
	va_end(ap);
}

static const char *program_remedy(const struct err *err)
{
	switch (err->kind) {
	case ERR_NOT_FOUND:
		return "install it, or write its whole path as command";
	case ERR_LEASH:
		return "add it to `exec` of the leash";
	case ERR_PROTECTION:
		return "see the protections below, or take it out of `require`";
	default:
		return "mend the file or the `sandbox` table";
	}
}

static const char *row_name(struct doctor *d, const struct routine *routine,
		       const struct step *step)
{
	if (!routine->name)
		return arena_printf(d->arena, "servers.%s", step->name);
	return arena_printf(d->arena, "%s/%s", routine->name, step->name);
}

/* ==== doctor_declared ==== */

/*
 * Things that a file declares beside the programs of its steps: credentials,
 * servers that no step uses, `exec`, programs that answer sampling or open a
 * page, roots, servers with a URL.
 */



/* Kept of the stderr of a server; the default of a step. */
#define STDERR_BYTES (64 * 1024)

/* ---- credentials ---- */

static void look_at_length(struct doctor *d, const char *name, const char *from,
			   size_t n)
{
	if (n < LIMIT_SECRET_SCRUB_MIN)
		add_row(d, "credential", name, CHECK_WARNING,
			   "use a longer value",
			   "%s holds fewer than %d bytes: the value cannot be "
			   "scrubbed from outputs",
			   from, LIMIT_SECRET_SCRUB_MIN);
	else
		add_row(d, "credential", name, CHECK_OK, "", "%s is there",
			   from);
}

static void look_at_secret_file(struct doctor *d, const struct env_ref *ref)
{
	struct stat st;

	if (stat(ref->from, &st) == 0 && st.st_mode & (S_IRGRP | S_IROTH))
		add_row(d, "credential", ref->name, CHECK_WARNING,
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
		add_row(d, "credential", ref->name, CHECK_FAILED,
			   "mend its command line", "%s", err.msg);
		return;
	}
	request.program = words.item[0];
	request.argv = words.item;
	for (int i = 0; i < 3; i++)
		request.stdio[i] = GATE_PIPE;
	if (gate_check(d->gate, &request, &err) < 0)
		add_row(d, "credential", ref->name, CHECK_FAILED,
			   program_remedy(&err), "%s", err.msg);
	else
		add_row(d, "credential", ref->name, CHECK_OK, "",
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
			add_row(d, "credential", ref->name, CHECK_FAILED,
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

static struct routine unused_servers(struct doctor *d)
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
		add_row(d, "program", name, CHECK_FAILED,
			   program_remedy(&err), "%s", err.msg);
	else
		add_row(d, "program", name, CHECK_OK, "",
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
		add_row(d, "program", name, CHECK_FAILED,
			   program_remedy(&err), "%s", err.msg);
	else
		add_row(d, "program", name, CHECK_OK, "",
			   "%s is there; it was not run", p.path);
	gate_program_release(&p);
}

static void look_at_roots(struct doctor *d, const char *step,
			  const struct server *server)
{
	for (size_t i = 0; i < server->roots.n; i++)
		if (access(server->roots.item[i], F_OK) < 0)
			add_row(
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

static bool look_at_exec(struct doctor *d, const char *name,
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
		add_row(
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
		add_row(d, "server", name, CHECK_FAILED,
			   remote_remedy(&err, d->arena,
					 *shown ? url->host.p : "its host"),
			   "%s: %s", server->name, err.msg);
		return;
	}
	if (server_url_check(server, &err) > 0)
		add_row(d, "server", name, CHECK_WARNING,
			   "write https:// where the server speaks it",
			   "%s: %s", server->name, err.msg);
	add_row(d, "server", name, CHECK_OK, "",
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
		add_row(d, "credential", name, CHECK_FAILED,
			   "let the platform write it there, or correct the "
			   "path",
			   "%s: %s", path, strerror(errno));
	else
		add_row(d, "credential", name, CHECK_OK, "", "%s is there",
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

	add_row(d, "authorization", name,
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
		add_row(d, "authorization", name, CHECK_FAILED, login,
			   "%s: %s", server->name, err.msg);
	else if (state == 0)
		say_status(d, name, server, &status, login);
	else if (!server->api_key.from && !server->headers.n &&
		 !d->options->deep)
		add_row(d, "authorization", name, CHECK_WARNING, login,
			   "%s: no token is kept; steps fail if the server "
			   "wants one",
			   server->name);
}

static void look_at_grant(struct doctor *d, const char *name,
			  const struct server *server)
{
	const struct server_auth *auth = &server->auth;
	bool has_client = auth->client_id || auth->client_metadata_url;

	add_row(d, "authorization", name,
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
		add_row(d, "authorization", name, CHECK_WARNING,
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
		add_row(d, "authorization", name, CHECK_FAILED,
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

static void look_at_declared(struct doctor *d, const char *name,
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

/* ==== doctor_deep ==== */

/*
 * Servers that are asked: each is opened as a run would open it, one after the
 * other, its tools are listed, and it is ended.
 */



struct deep {
	struct doctor *d;
	struct loop loop;
	struct scrub *scrub;
	struct eras *eras;
	struct credentials *credentials;
	struct remotes *remotes;
	struct pool *pool;
};

/* A server being asked, by the first step that names it. */
struct asked {
	struct deep *deep;
	const struct plan *whole;
	const struct plan_step *plan;
	const char *name;
	struct pool_user user;
	struct loop_timer timer;
	struct env env;
	bool is_done, is_closed;
};

/* ---- rows ---- */

static const char *remedy_of(const struct asked *a)
{
	const struct server *server = a->plan->step->server;

	if (!server)
		return "try it by itself: matins tools -v -- PROGRAM ARGS";
	return arena_printf(a->deep->d->arena,
			    "try it by itself: matins tools -v --server %s",
			    server->name);
}

/* Copy a text without secrets into the arena of the doctor. */
static const char *clean(struct asked *a, struct str text)
{
	const struct scrub *own = pool_scrub(&a->user);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	scrub_cut(own ? own : a->deep->scrub, text, &out);
	return arena_strdup(a->deep->d->arena, buf_cstr(&out));
}

static void fail(struct asked *a, const char *sentence, const char *details)
{
	if (a->is_done)
		return;
	a->is_done = true;
	add_row(a->deep->d, "answer", a->name, CHECK_FAILED, remedy_of(a),
		   "%s%s%s", clean(a, str_of(sentence)), *details ? "; " : "",
		   details);
}

static bool calls(const struct plan_step *step)
{
	return step->step->tool && step->reason == REASON_NONE;
}

static void say_tool(struct asked *a, const struct listing *list,
		     const struct plan_step *step)
{
	const struct session_server *s = client_server(a->user.client);
	const char *tool = step->step->tool;
	bool has_tool = !*tool || listing_find(list, str_of(tool)) != NULL;

	if (has_tool && step != a->plan)
		return;
	add_row(a->deep->d, "answer",
		   row_name(a->deep->d, a->whole->routine, step->step),
		   has_tool ? CHECK_OK : CHECK_FAILED,
		   has_tool ? ""
			    : "name one of its tools; matins tools lists them",
		   "%s %s, MCP %s, %zu tool%s%s%s%s", clean(a, s->name),
		   clean(a, s->version), s->revision->date, list->n,
		   list->n == 1 ? "" : "s", has_tool ? "" : "; none is \"",
		   has_tool ? "" : tool, has_tool ? "" : "\"");
}

/* Add rows for later steps of this server whose tools are missing, too. */
static void say_list(struct asked *a, const struct listing *list)
{
	const struct server *server = a->plan->step->server;

	a->is_done = true;
	say_tool(a, list, a->plan);
	for (size_t i = 0; server && i < a->whole->n_steps; i++) {
		const struct plan_step *other = &a->whole->steps[i];

		if (other != a->plan && other->step->server == server &&
		    calls(other))
			say_tool(a, list, other);
	}
}

/* ---- one server ---- */

static void on_list(void *arg, const struct client_listed *l)
{
	struct asked *a = arg;
	const struct client_event *e = l->event;

	if (a->is_done)
		return;
	if (l->type == CLIENT_RESULT)
		say_list(a, l->list);
	else if (l->type == CLIENT_FAILED)
		fail(a, e->sentence, e->details);
	else
		fail(a, "the server refuses to list its tools",
		     clean(a, e->of->message));
}

static void opened(struct pool_user *u)
{
	struct asked *a = u->arg;
	const struct client_list list = {
		.kind = LISTING_TOOLS,
		.done = on_list,
		.arg = a,
	};
	struct err err = ERR_INIT;
	uint64_t ticket;

	if (!a->is_done && client_list(u->client, &list, &ticket, &err) < 0)
		fail(a, err.msg, "");
}

static void refused(struct pool_user *u, const struct err *err)
{
	fail(u->arg, err->msg, "");
}

static void closed(struct pool_user *u, struct client *c)
{
	struct asked *a = u->arg;

	a->is_closed = true;
	if (*client_failure_sentence(c))
		fail(a, client_failure_sentence(c), client_failure_details(c));
	fail(a, "the server ended before it answered", "");
}

static void on_time(void *arg)
{
	struct asked *a = arg;

	fail(a,
	     arena_printf(a->deep->d->arena,
			  "no answer within the %llu ms of its timeout",
			  (unsigned long long)a->plan->step->timeout_ms),
	     "");
}

/* Wait for a row or Ctrl-C, then until the server has ended. */
static int wait_for(struct asked *a, struct err *err)
{
	struct deep *deep = a->deep;
	enum pool_end how = POOL_CLOSE;

	while (!a->is_done && !deep->loop.signal)
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	if (deep->loop.signal)
		how = POOL_TERMINATE;
	(void)!pool_leave(deep->pool, &a->user, how, CLIENT_GRACE_MS);
	while (!pool_is_idle(deep->pool))
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	return 0;
}

static int ask(struct deep *deep, const struct plan *plan,
	       const struct plan_step *step, struct err *err)
{
	static const struct pool_handler handler = {opened, refused, closed};
	struct asked a = {
		.deep = deep,
		.whole = plan,
		.plan = step,
		.timer = {.fire = on_time, .arg = &a},
	};
	struct err why = ERR_INIT;
	int r = 0;

	a.name = row_name(deep->d, plan->routine, step->step);
	if (credentials_give(deep->credentials, &step->server_env, &a.env,
			     &why) < 0 ||
	    credentials_give(deep->credentials, &step->step->env, &a.env,
			     &why) < 0) {
		fail(&a, why.msg, "");
	} else {
		a.user = (struct pool_user){
			.name = step->step->name,
			.plan = step,
			.env = env_lines(&a.env),
			.handler = &handler,
			.arg = &a,
		};
		pool_expect(deep->pool, &a.user);
		loop_timer_set(&deep->loop, &a.timer,
			       loop_now(&deep->loop) +
				       step->step->timeout_ms * NS_PER_MS);
		pool_enter(deep->pool, &a.user);
		r = wait_for(&a, err);
		loop_timer_clear(&deep->loop, &a.timer);
	}
	env_release(&a.env);
	return r;
}

/* ---- all of them ---- */

static void scrub_filter(struct buf *line, void *arg)
{
	scrub_log_filter(line, arg);
}

static void open_deep(struct deep *deep)
{
	struct doctor *d = deep->d;
	const struct strlist *values = &d->options->file->header_values;
	const struct remotes_options reach = {
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.keeps_apart = true,
		.state_dir = d->state,
		.config = d->config,
	};

	for (size_t i = 0; i < values->n; i++)
		scrub_add(deep->scrub, str_of(values->item[i]));
	log_set_filter(scrub_filter, deep->scrub);
	deep->credentials = credentials_new(&(struct credentials_context){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.policy = &d->policy,
		.config = d->config,
	});
	deep->remotes = remotes_new(&reach);
	deep->eras = eras_open(NULL);
	deep->pool = pool_new(&(struct client_context){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.eras = deep->eras,
	});
	pool_let_reach(deep->pool, deep->remotes, deep->credentials);
	pool_let_sample(deep->pool, &d->policy, d->config->dir);
}

static void close_deep(struct deep *deep)
{
	log_set_filter(NULL, NULL);
	pool_free(deep->pool);
	remotes_free(deep->remotes);
	credentials_free(deep->credentials);
	eras_free(deep->eras);
	scrub_free(deep->scrub);
	loop_release(&deep->loop);
}

/* Report whether an earlier step asks the server of step `at`. */
static bool was_asked(const struct plan *plan, size_t at)
{
	const struct server *server = plan->steps[at].step->server;

	for (size_t i = 0; server && i < at; i++)
		if (plan->steps[i].step->server == server &&
		    calls(&plan->steps[i]))
			return true;
	return false;
}

static int ask_servers(struct doctor *d, const struct plan *plan, struct err *err)
{
	struct deep deep = {.d = d};
	int r;

	if (loop_init(&deep.loop, clock_system(), err) < 0)
		return -1;
	deep.scrub = scrub_new();
	open_deep(&deep);
	r = loop_take_signals(&deep.loop, err);
	for (size_t i = 0; r == 0 && i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];

		if (deep.loop.signal)
			r = err_set(err, ERR_PEER, "ended by a signal");
		else if (calls(s) && !was_asked(plan, i))
			r = ask(&deep, plan, s, err);
	}
	close_deep(&deep);
	return r;
}

/* ==== doctor_state ==== */

/* Things kept between runs: the record of runs, tokens, their age. */



/*
 * Report whether a run could be recorded in a folder. Creates nothing.
 *
 * returns  0, *ret_there says whether the folder exists; -1 and errno
 */
static int can_record(const char *dir, struct arena *arena, bool *ret_there)
{
	const char *file = arena_printf(arena, "%s/ledger.jsonl", dir);
	char *at = arena_strdup(arena, dir);
	char *slash;

	if (access(file, F_OK) == 0 && access(file, R_OK | W_OK) < 0)
		return -1;
	*ret_there = access(dir, F_OK) == 0;
	/* the nearest folder above that exists decides */
	while (access(at, F_OK) < 0) {
		if (errno != ENOENT)
			return -1;
		slash = strrchr(at, '/');
		if (!slash)
			return -1;
		slash[slash == at] = '\0';
	}
	return access(at, W_OK | X_OK);
}

static void look_at_ledger(struct doctor *d)
{
	const char *dir = d->state;
	struct ledger *l = NULL;
	struct err err = ERR_INIT;
	bool there = false;

	int r = ledger_open_read(dir, &l, &err);

	if (r == 0 && can_record(ledger_dir(l), d->arena, &there) < 0)
		r = err_sys(&err, errno, "%s", ledger_dir(l));
	if (r == 0)
		add_row(d, "state", ledger_dir(l), CHECK_OK, "", "%s",
			   there ? "runs are recorded here"
				 : "runs will be recorded here; the first "
				   "creates it");
	else
		add_row(d, "state", dir ? dir : "state directory",
			   CHECK_WARNING,
			   "set MATINS_STATE to a folder that you can write",
			   "runs are not recorded: %s", err.msg);
	ledger_free(l);
}

#define KEY_IN_FILE_REMEDY                                                    \
	"keep backups from that folder; where there is a keyring, "           \
	"store_key = \"keyring\" or \"secret-service\" and a new login take " \
	"the key out of it"

/* "2 encrypted by a key in a file beside them" and so on. */
static const char *places(const struct store_facts *facts, struct arena *arena)
{
	static const char *const where[STORE_KEY_COUNT] = {
		[STORE_KEY_SERVICE] = "the desktop's secret service",
		[STORE_KEY_KEYRING] =
			"the kernel's keyring, which forgets it at a reboot "
			"or after days without use",
		[STORE_KEY_FILE] = "a file beside them",
	};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < STORE_KEY_COUNT; i++)
		if (facts->files[i])
			buf_addf(&out, "%s%zu encrypted by a key in %s",
				 out.n ? ", " : "", facts->files[i], where[i]);
	return arena_strdup(arena, out.n ? buf_cstr(&out) : "none is kept yet");
}

/* Add one row about a folder of tokens, unless there is no such folder. */
static void look_at_tokens_in(struct doctor *d, const char *dir)
{
	struct store_facts facts;
	struct err err = ERR_INIT;
	int r = store_look(dir, &facts, &err);
	bool in_file;

	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->check[i].area, "tokens") &&
		    !strcmp(d->check[i].name, dir))
			return;
	if (r > 0)
		return;
	if (r < 0) {
		add_row(d, "tokens", dir, CHECK_FAILED,
			   "mend that, or name another folder as token_store",
			   "%s", err.msg);
	} else if (facts.n_broken) {
		add_row(d, "tokens", dir, CHECK_WARNING,
			   "remove it and log in again: matins auth login",
			   "%zu cannot be used: %s", facts.n_broken,
			   facts.broken);
	} else {
		in_file = facts.files[STORE_KEY_FILE] > 0;
		add_row(d, "tokens", dir, in_file ? CHECK_WARNING : CHECK_OK,
			   in_file ? KEY_IN_FILE_REMEDY : "", "%s",
			   places(&facts, d->arena));
	}
}

static void look_at_tokens(struct doctor *d)
{
	const struct config *c = d->config;

	if (d->state)
		look_at_tokens_in(d, state_dir_tokens(d->state, d->arena));
	for (size_t i = 0; c && i < c->n_servers; i++)
		if (c->servers[i].auth.token_store)
			look_at_tokens_in(d, c->servers[i].auth.token_store);
}

/* Last run of this file that finished whole, or NULL. */
static const struct ledger_run *last_whole(const struct ledger_run *runs,
					   size_t n, const char *routine,
					   const char *file)
{
	for (size_t i = n; i-- > 0;)
		if (runs[i].state == RUN_FINISHED && runs[i].whole &&
		    ledger_run_is(&runs[i], routine, file))
			return &runs[i];
	return NULL;
}

/* Reason why runs by that name do not count; "": there are none. */
static const char *why_none(struct doctor *d, const struct ledger_run *runs,
			    size_t n, const char *routine, const char *file)
{
	for (size_t i = n; i-- > 0;) {
		if (runs[i].state != RUN_FINISHED ||
		    strcmp(runs[i].routine, routine) != 0)
			continue;
		if (!*runs[i].file)
			return arena_printf(
				d->arena,
				"; the run of %s was recorded by an "
				"earlier version, without its file",
				runs[i].finished);
		if (strcmp(runs[i].file, file) != 0)
			return arena_printf(d->arena,
					    "; the run of %s was of %s",
					    runs[i].finished, runs[i].file);
		return arena_printf(d->arena,
				    "; the run of %s was not of all steps",
				    runs[i].finished);
	}
	return "";
}

static void look_at_age(struct doctor *d, const struct ledger_run *runs,
			size_t n, const char *routine)
{
	const struct doctor_options *o = d->options;
	const char *file = d->config->path;
	const struct ledger_run *last = last_whole(runs, n, routine, file);
	char when[CLOCK_TEXT_BYTES];
	int64_t age_ms;
	bool is_fresh;

	if (!last) {
		add_row(d, "stale", routine, CHECK_FAILED,
			   "check the timer or cron line that starts it",
			   "never finished a whole run%s",
			   why_none(d, runs, n, routine, file));
		return;
	}
	age_ms = (o->wall_ns - last->finished_ns) / 1000000;
	is_fresh = age_ms < 0 || (uint64_t)age_ms <= o->stale_ms;
	clock_format(last->finished_ns, when);
	add_row(d, "stale", routine, is_fresh ? CHECK_OK : CHECK_FAILED,
		   is_fresh ? ""
			    : "check the timer or cron line that starts it",
		   "last finished at %s", when);
}

static void look_at_ages(struct doctor *d)
{
	const struct doctor_options *o = d->options;
	const struct config *c = d->config;
	struct ledger *l = NULL;
	struct ledger_run *runs = NULL;
	struct err err = ERR_INIT;
	size_t n = 0;

	if (ledger_open_read(NULL, &l, &err) == 0 &&
	    ledger_read(l, d->arena, &runs, &n, &err) < 0)
		n = 0;
	if (o->routine)
		look_at_age(d, runs, n, o->routine->name);
	for (size_t i = 0; !o->routine && i < c->n_routines; i++)
		look_at_age(d, runs, n, c->routines[i].name);
	ledger_free(l);
}

static void look_at_state(struct doctor *d)
{
	look_at_ledger(d);
	look_at_tokens(d);
	if (d->options->stale_ms && d->config)
		look_at_ages(d);
}

/* ==== doctor ==== */

/* Advice where no setting of the machine helps. */
#define NO_REMEDY \
	"name it in `sandbox.require` if a step must not run without it"

/* ---- programs ---- */

/* Name of a user, "root" or "uid 1001", in the arena. */
static const char *owner_name(uid_t uid, struct arena *arena)
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		return arena_strdup(arena, pw->pw_name);
	return arena_printf(arena, "uid %u", (unsigned)uid);
}

static void look_at_file(struct doctor *d, const char *name,
			 const struct gate_program *p)
{
	struct stat st;

	if (stat(p->path, &st) < 0) {
		add_row(d, "program", name, CHECK_FAILED, "install it again",
			   "%s: %s", p->path, strerror(errno));
		return;
	}
	add_row(d, "program", name, CHECK_OK, "",
		   "%s, owned by %s, who alone can write it%s%s%s%s", p->path,
		   owner_name(st.st_uid, d->arena),
		   p->interpreter ? ", runs " : "",
		   p->interpreter ? p->interpreter : "",
		   p->installation ? ", may read " : "",
		   p->installation ? p->installation : "");
}

/* Warn of secrets that arguments hand on, perhaps without anyone meaning it. */
static void look_at_arguments(struct doctor *d, const char *name,
			      const struct gate_request *request)
{
	struct err ignored = ERR_INIT;
	struct gate_explained e;

	/* an error is the row of the program */
	if (gate_explain(d->gate, request, d->arena, &e, &ignored) < 0)
		return;
	for (size_t i = 0; i < e.n_grants; i++)
		if (e.grant[i].is_argument && e.grant[i].secret)
			add_row(d, "program", name, CHECK_WARNING,
				   "take it out of `args`, or name it in "
				   "`sandbox.read` if it is meant",
				   "%s can be read, because an argument names "
				   "it; %s holds keys, tokens or sessions",
				   e.grant[i].path, e.grant[i].secret);
}

static void look_at_request(struct doctor *d, const char *name,
			    const struct gate_request *request)
{
	struct gate_program p = {0};
	struct err err = ERR_INIT;

	look_at_arguments(d, name, request);
	/* the gate would repeat the first of those rows */
	if (look_at_exec(d, name, request))
		return;
	if (gate_resolve(d->gate, request, &p, &err) < 0 ||
	    gate_check(d->gate, request, &err) < 0)
		add_row(d, "program", name, CHECK_FAILED,
			   program_remedy(&err), "%s", err.msg);
	else
		look_at_file(d, name, &p);
	gate_program_release(&p);
}

/* ---- a routine ---- */

static int make_plan(struct doctor *d, const struct routine *routine,
		     struct plan *ret, struct err *err)
{
	const struct plan_options p = {
		.config = d->config,
		.routine = routine,
		.given = {.is_optional = true},
	};

	return plan_make(&p, d->arena, ret, err);
}

/* Report whether an earlier enabled step names the server of step `at`. */
static bool was_met(const struct plan *plan, size_t at)
{
	const struct server *server = plan->steps[at].step->server;

	for (size_t i = 0; server && i < at; i++)
		if (plan->steps[i].step->server == server &&
		    plan->steps[i].reason == REASON_NONE)
			return true;
	return false;
}

static void look_at_skipped(struct doctor *d, const char *name,
			    const struct plan_step *s)
{
	if (s->reason == REASON_UNSUPPORTED)
		add_row(d, "step", name,
			   s->step->required ? CHECK_FAILED : CHECK_WARNING,
			   s->step->instead, "skipped: %s is not a step type",
			   s->step->type);
	else if (s->reason == REASON_NO_VARIABLE)
		add_row(d, "step", name, CHECK_FAILED,
			   "set the variable where matins is started",
			   "a variable is not set; the rest was not looked at");
	else
		add_row(d, "step", name, CHECK_OK, "",
			   "disabled, and not looked at");
}

static int look_at_routine(struct doctor *d, const struct routine *routine,
			   struct err *err)
{
	struct plan plan;

	if (make_plan(d, routine, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.n_steps; i++) {
		struct plan_step *s = &plan.steps[i];
		const char *name = row_name(d, routine, s->step);

		if (s->reason != REASON_NONE) {
			look_at_skipped(d, name, s);
			continue;
		}
		if (s->request.program)
			look_at_request(d, name, &s->request);
		look_at_declared(
			d, name, s, !s->request.program && !was_met(&plan, i));
	}
	return 0;
}

static int look_deep(struct doctor *d, const struct routine *routine,
		     struct err *err)
{
	struct plan plan;

	if (make_plan(d, routine, &plan, err) < 0)
		return -1;
	return ask_servers(d, &plan, err);
}

/* Add a row for a variable that is not set; other rows follow all the same. */
static void look_at_unset(struct doctor *d, const struct err *err)
{
	add_row(d, "variable",
		   arena_printf(d->arena, "%s:%u:%u", d->options->file->path,
				err->line, err->col),
		   CHECK_FAILED, "set it where matins is started", "%s",
		   err->msg);
}

/* ---- the machine ---- */

/* Add a row; the loss is named where a protection is wholly absent. */
static void add_fact(struct doctor *d, const char *name,
		     const struct gate_fact *f)
{
	const char *lost = gate_lost(f->guarantee);
	bool holds = f->level == GATE_ENFORCED;

	add_row(d, "protection", name, holds ? CHECK_OK : CHECK_WARNING,
		   holds       ? ""
		   : f->remedy ? f->remedy
			       : NO_REMEDY,
		   "%s: %s%s%s", gate_level_name(f->level),
		   f->how ? f->how : "",
		   f->level == GATE_ABSENT && *lost ? "; so " : "",
		   f->level == GATE_ABSENT ? lost : "");
}

static void look_at_protections(struct doctor *d)
{
	size_t n;
	const struct gate_fact *facts = gate_protections(d->gate, &n);

	for (size_t i = 0; i < n; i++)
		add_fact(d, facts[i].guarantee, &facts[i]);
}

/* Add a row where the policy of a program gets less than the usual one. */
static void look_at_policy(struct doctor *d, const char *name,
			   const struct gate_request *request)
{
	size_t n, n_usual;
	const struct gate_fact *facts,
		*usual = gate_protections(d->gate, &n_usual);
	struct err ignored = ERR_INIT;

	/* an error is the row of the program */
	if (gate_check_facts(d->gate, request, &facts, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (facts[i].level != usual[i].level)
			add_fact(d,
				 arena_printf(d->arena, "%s %s", name,
					      facts[i].guarantee),
				 &facts[i]);
}

static int look_at_policies(struct doctor *d, const struct routine *routine,
			    struct err *err)
{
	struct plan plan;

	if (make_plan(d, routine, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.n_steps; i++) {
		const struct plan_step *s = &plan.steps[i];

		if (s->reason == REASON_NONE && s->request.program)
			look_at_policy(d, row_name(d, routine, s->step),
				       &s->request);
	}
	return 0;
}

static void look_at_kernel(struct doctor *d)
{
	size_t n;
	const struct gate_fact *rows = gate_machine(d->gate, &n);

	for (size_t i = 0; i < n; i++)
		add_row(d, "kernel", rows[i].guarantee,
			   rows[i].level == GATE_ENFORCED ? CHECK_OK
							  : CHECK_WARNING,
			   rows[i].remedy ? rows[i].remedy : "", "%s",
			   rows[i].how);
}

static void look_at_leash(struct doctor *d, const struct gate_leash *leash)
{
	struct buf list = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < leash->exec.only.n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "",
			 leash->exec.only.item[i]);
	add_row(d, "leash", leash->source, CHECK_OK, "", "may start: %s",
		   leash->exec.all ? "every program"
		   : list.n	   ? buf_cstr(&list)
				   : "nothing");
	buf_release(&list);
}

/* Look at each routine asked for, then at the servers that none uses. */
static int for_each(struct doctor *d,
		    int (*look)(struct doctor *d, const struct routine *routine,
				struct err *err),
		    struct err *err)
{
	const struct doctor_options *o = d->options;
	const struct config *c = d->config;
	struct routine unused;

	for (size_t i = 0; c && i < c->n_routines; i++)
		if ((!o->routine || o->routine == &c->routines[i]) &&
		    look(d, &c->routines[i], err) < 0)
			return -1;
	if (!c || o->routine)
		return 0;
	unused = unused_servers(d);
	return look(d, &unused, err);
}

/* Add the rows that need no configuration beside those that do. */
static int look_at_all(struct doctor *d, const struct gate_leash *leash,
		       struct err *err)
{
	const struct doctor_options *o = d->options;
	const struct config_file *file = o->file;
	int r;

	if (file && file->not_allowed)
		add_row(d, "configuration", file->path, CHECK_FAILED,
			   "matins allow", "%s", file->not_allowed);
	for (size_t i = 0; file && i < file->unset.n; i++)
		look_at_unset(d, &file->unset.item[i].err);
	look_at_leash(d, leash);
	r = for_each(d, look_at_routine, err);
	if (r == 0 && o->deep)
		r = for_each(d, look_deep, err);
	look_at_protections(d);
	if (r == 0)
		r = for_each(d, look_at_policies, err);
	look_at_kernel(d);
	look_at_state(d);
	return r;
}

int doctor_look(const struct doctor_options *o, struct doctor *d,
		struct err *err)
{
	const struct strlist none = {NULL, 0};
	/* without a state directory no finding of an earlier trial is read */
	struct gate_config config = {.state_dir = NULL};
	int r;

	d->options = o;
	d->config = o->file ? &o->file->config : NULL;
	d->state = state_dir_find(d->arena);
	if (leash_find(d->config, &none, d->arena, &config.leash, err) < 0)
		return -1;
	leash_guard(d->config, d->state, NULL, d->arena, &config);
	if (d->config)
		d->policy = d->config->sandbox;
	if (gate_new(&config, &d->gate, err) < 0) {
		add_row(d, "protection", "floor", CHECK_FAILED,
			   "run on a kernel with seccomp and Landlock (5.13 or "
			   "newer), or where namespaces are allowed",
			   "%s", err->msg);
		return 0;
	}
	r = look_at_all(d, &config.leash, err);
	gate_free(d->gate);
	d->gate = NULL;
	return r;
}
