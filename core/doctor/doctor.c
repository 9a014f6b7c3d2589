/*
 * Things that a run needs, looked at one after the other; each adds rows. The
 * sections stand in the order of the report, but for servers that are asked.
 */
#include "core/doctor/doctor.h"

#include <assert.h>
#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/auth/crypto.h"
#include "core/auth/owner.h"
#include "core/auth/store.h"
#include "core/base/clock.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/place.h"
#include "core/base/state_dir.h"
#include "core/client/eras.h"
#include "core/client/asks.h"
#include "core/client/said.h"
#include "core/config/leash.h"
#include "core/config/paths.h"
#include "core/config/server_url.h"
#include "core/report/ledger.h"
#include "core/run/advice.h"
#include "core/run/advice_command.h"
#include "core/run/credentials.h"
#include "core/run/pool.h"
#include "core/run/refused_file.h"
#include "core/run/remotes.h"
#include "core/secret/secret.h"

/* Advice where no setting of the machine helps. */
#define NO_REMEDY \
	"name it in `sandbox.require` if a step must not run without it"
#define TIMER_REMEDY "check the timer or cron line that starts it"
#define KEY_IN_FILE_REMEDY                                                    \
	"keep backups from that folder; where there is a keyring, "           \
	"store_key = \"keyring\" or \"secret-service\" and a new login take " \
	"the key out of it"

/* A longer name does not push the others to the right. */
#define NAME_COLUMN 24

/* Kept of the stderr of a server; the default of a step. */
#define STDERR_BYTES (64 * 1024)

/* ---- rows ---- */

/* Add a row; all texts are copied but `area`, which is static. A row that is OK
   needs no remedy, and drops it. */
PRINTF(6, 7)
static void add(struct doctor *d, const char *area, const char *name,
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
		.remedy = arena_strdup(d->arena, level ? remedy : ""),
	};
	va_end(ap);
}

/* Add a row about a program that is not run; r < 0: the gate refuses it. */
static void add_program(struct doctor *d, const char *area, const char *name,
			const char *program, int r, const struct err *err)
{
	if (r == 0)
		add(d, area, name, CHECK_OK, "", "%s is there; it was not run",
		    program);
	else
		add(d, area, name, CHECK_FAILED,
		    err->kind == ERR_NOT_FOUND
			    /* of a package the sentence says how */
			    ? strstr(err->msg, " install ")
				      ? "run that command"
				      : "install it, or write its whole path "
					"as command"
			    : err->kind == ERR_LEASH
				      ? "add it to `exec` of the leash"
			      : err->kind == ERR_PROTECTION
				      ? "see the protections below, or take it "
					"out of "
					"`require`"
				      : "mend the file or the `sandbox` table",
		    "%s", err->msg);
}

/* Name a row "routine/step", or "servers.NAME": no step uses that server. */
static const char *row_name(struct doctor *d, const struct plan *plan,
			    const struct step *step)
{
	const char *routine = plan->routine->name;

	return arena_printf(d->arena, routine ? "%s/%s" : "%s.%s",
			    routine ? routine : "servers", step->name);
}

/*
 * Report whether an earlier step that runs names the server of step `at`.
 * calls  steps without a tool do not count
 */
static bool is_met(const struct plan *plan, size_t at, bool calls)
{
	const struct server *server = plan->steps[at].step->server;

	for (size_t i = 0; server && i < at; i++)
		if (plan->steps[i].step->server == server &&
		    plan->steps[i].reason == REASON_NONE &&
		    (plan->steps[i].step->tool || !calls))
			return true;
	return false;
}

/* ---- programs ---- */

/* Add what a launcher comes to, and what recipes granted. */
static void add_start(struct doctor *d, const char *name,
		      const struct gate_explained *e)
{
	if (e->runs)
		add(d, "program", name, CHECK_OK, "", "%s", e->runs);
	for (size_t i = 0; i < e->recipes.n; i++)
		add(d, "program", name, CHECK_OK, "", "recipe %s",
		    e->recipes.item[i]);
}

static void look_at_file(struct doctor *d, const char *name,
			 const struct gate_explained *e)
{
	const struct passwd *pw;
	struct stat st;

	if (stat(e->program, &st) < 0) {
		add(d, "program", name, CHECK_FAILED, "install it again",
		    "%s: %s", e->program, strerror(errno));
		return;
	}
	pw = getpwuid(st.st_uid);
	add_start(d, name, e);
	add(d, "program", name, CHECK_OK, "",
	    "%s, owned by %s, who alone can write it%s%s%s%s", e->program,
	    pw ? pw->pw_name
	       : arena_printf(d->arena, "uid %u", (unsigned)st.st_uid),
	    e->interpreter ? ", runs " : "",
	    e->interpreter ? e->interpreter : "",
	    e->installation ? ", may read " : "",
	    e->installation ? e->installation : "");
}

/* Warn of secrets that arguments hand on, perhaps without anyone meaning it. */
static void look_at_arguments(struct doctor *d, const char *name,
			      const struct gate_request *request)
{
	struct gate_explained e;

	/* an error is the row of the program */
	if (gate_explain(d->gate, request, d->arena, &e, ERR_IGNORED) < 0)
		return;
	for (size_t i = 0; i < e.n_grants; i++)
		if (e.grant[i].is_argument && e.grant[i].secret)
			add(d, "program", name, CHECK_WARNING,
			    "take it out of `args`, or name it in "
			    "`sandbox.read` if it is meant",
			    "%s can be read, because an argument names it; %s "
			    "holds keys, tokens or sessions",
			    e.grant[i].path, e.grant[i].secret);
}

/* Report whether an entry of `exec` does not exist. */
static bool is_missing(struct gate *gate, const struct gate_request *request,
		       const char *row)
{
	const char *const argv[] = {row, NULL};
	const struct gate_policy none = {.profile = NULL};
	struct gate_request one = *request;
	struct err err = ERR_INIT;

	if (strchr(row, '/'))
		return access(row, F_OK) < 0;
	one.program = row;
	one.argv = argv;
	one.policy = &none;
	return gate_check(gate, &one, &err) < 0 && err.kind == ERR_NOT_FOUND;
}

/* Add a row for each entry of `exec` that does not exist; true: some do not. */
static bool look_at_exec(struct doctor *d, const char *name,
			 const struct gate_request *request)
{
	const struct strlist *rows = &request->policy->exec;
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];
		bool is_path = strchr(row, '/');

		if (!is_missing(d->gate, request, row))
			continue;
		any = true;
		add(d, "program", name, CHECK_FAILED,
		    arena_printf(d->arena,
				 "%s, or take it out of "
				 "`sandbox.exec`",
				 str_ends(str_of(row), "/node_modules")
					 ? "run npm install in its folder"
				 : is_path ? "put it there"
					   : "install it"),
		    "sandbox.exec names %s, which %s", row,
		    is_path ? "does not exist" : "is not in PATH");
	}
	return any;
}

/* A path of [sandbox] is one of every program. */
static bool is_said(const struct doctor *d, const char *text)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->check[i].text, text) == 0)
			return true;
	return false;
}

/* Warn of paths of `read` that do not exist; of `write` they are an error. */
static void look_at_read(struct doctor *d, const char *name,
			 const struct strlist *read)
{
	for (size_t i = 0; i < read->n; i++) {
		const char *path = read->item[i], *text;

		if (access(path, F_OK) == 0 || errno != ENOENT)
			continue;
		text = arena_printf(d->arena,
				    "sandbox.read names %s, which does not "
				    "exist",
				    path);
		if (!is_said(d, text))
			add(d, "program", name, CHECK_WARNING,
			    "make it, or take it out of `sandbox.read`", "%s",
			    text);
	}
}

/* Does the program see the path, or something in it? */
static bool is_seen(const struct gate_explained *e, const char *path)
{
	for (size_t i = 0; i < e->n_base; i++)
		if (place_covers(e->base[i].path, path))
			return true;
	for (size_t i = 0; i < e->n_grants; i++)
		if (place_covers(e->grant[i].path, path) ||
		    place_covers(path, e->grant[i].path))
			return true;
	return place_covers("/proc", path) || place_covers("/dev", path);
}

/*
 * Warn of files that a text names as paths are written, with a slash, and that
 * are there for the person alone: the program will not find them.
 */
static void look_at_words(struct doctor *d, const char *name,
			  const struct gate_request *request,
			  const struct gate_explained *e, const char *text)
{
	const struct advice_known known = {.request = request};
	const struct file_finder finder = {.known = &known, .arena = d->arena};
	const struct strlist words = gate_path_words(str_of(text), d->arena);
	/* a path of the configuration begins in its folder */
	const bool is_here =
		request->cwd && strcmp(request->cwd, d->config->dir) == 0;

	for (size_t i = 0; i < words.n; i++) {
		const char *word = words.item[i], *path;

		/* "./notes" comes without its dot */
		if (!strchr(word, '/')) {
			word = arena_printf(d->arena, "./%s", word);
			if (!strstr(text, word))
				continue;
		}
		path = file_real(&finder, str_of(word));
		/* a URL ends in a word that begins with two */
		if (strncmp(word, "//", 2) != 0 && access(path, F_OK) == 0 &&
		    !is_seen(e, path) &&
		    !file_holds_secrets(d->gate, path, d->arena))
			add(d, "program", name, CHECK_WARNING,
			    arena_printf(d->arena,
					 "sandbox.read = [\"%s\"], or write, "
					 "if the program needs it",
					 is_here ? word : path),
			    "%s is named, and is not granted: the program does "
			    "not see it",
			    word);
	}
}

static void look_at_named(struct doctor *d, const char *name,
			  const struct gate_request *request,
			  const struct env_refs *env,
			  const struct gate_explained *e)
{
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++)
		look_at_words(d, name, request, e, request->argv[i]);
	for (size_t i = 0; i < env->n_plain; i++)
		look_at_words(d, name, request, e, env->plain[i].value);
}

static void look_at_script(struct doctor *d, const char *name,
			   const struct gate_request *request,
			   const struct gate_explained *e)
{
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++) {
		if (!path_needs_shell(str_of(request->argv[i])))
			continue;
		add(d, "program", name, CHECK_FAILED,
		    "write the whole path: no shell reads `args`",
		    "%s is to run %s, which is passed on as it is", e->program,
		    request->argv[i]);
		return;
	}
	add(d, "program", name, CHECK_FAILED,
	    "mend `args`; relative names begin in the folder that it starts in",
	    "%s is to run %s, which does not exist", e->program,
	    e->missing_script);
}

static void look_at_request(struct doctor *d, const char *name,
			    const struct gate_request *request,
			    const struct env_refs *env)
{
	struct gate_explained e;
	struct err err = ERR_INIT;

	look_at_arguments(d, name, request);
	look_at_read(d, name, &request->policy->read);
	/* the gate would repeat the first of those rows */
	if (look_at_exec(d, name, request))
		return;
	if (gate_explain(d->gate, request, d->arena, &e, &err) < 0)
		add_program(d, "program", name, NULL, -1, &err);
	else if (e.missing_script)
		look_at_script(d, name, request, &e);
	else {
		look_at_file(d, name, &e);
		look_at_named(d, name, request, env, &e);
	}
}

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
		add(d, "credential", name, CHECK_FAILED,
		    "mend its command line", "%s", err.msg);
		return;
	}
	request.program = words.item[0];
	request.argv = words.item;
	add_program(d, "credential", name, words.item[0],
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
		add(d, "credential", name, CHECK_FAILED,
		    is_file ? "write the value into that file"
			    : "set the variable where matins is started",
		    "%s", err.msg);
	else if (value.n < LIMIT_SECRET_SCRUB_MIN)
		add(d, "credential", name, CHECK_WARNING, "use a longer value",
		    "%s holds fewer than %d bytes: the value cannot be "
		    "scrubbed from outputs",
		    ref->from, LIMIT_SECRET_SCRUB_MIN);
	else
		add(d, "credential", name, CHECK_OK, "", "%s is there",
		    ref->from);
	buf_wipe(&value);
	if (is_file && stat(ref->from, &st) == 0 &&
	    st.st_mode & (S_IRGRP | S_IROTH))
		add(d, "credential", name, CHECK_WARNING,
		    arena_printf(d->arena, "chmod 600 %s", ref->from),
		    "%s can be read by others", ref->from);
}

static void look_at_refs(struct doctor *d, const char *step,
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

/* Look for a file that a platform writes and each request reads. */
static void look_at_token_file(struct doctor *d, const char *row,
			       const char *key, const char *path)
{
	const char *name = arena_printf(d->arena, "%s %s", row, key);

	if (path && access(path, R_OK) < 0)
		add(d, "credential", name, CHECK_FAILED,
		    "let the platform write it there, or correct the path",
		    "%s: %s", path, strerror(errno));
	else if (path)
		add(d, "credential", name, CHECK_OK, "", "%s is there", path);
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
		add(d, "server", name, CHECK_FAILED,
		    remote_remedy(&err, d->arena,
				  url ? url->host.p : "its host"),
		    "%s: %s", server->name, err.msg);
		return;
	}
	if (server_url_check(server, &err) > 0)
		add(d, "server", name, CHECK_WARNING,
		    "write https:// where the server speaks it", "%s: %s",
		    server->name, err.msg);
	add(d, "server", name, CHECK_OK, "",
	    "%s at %s may be connected to, over %s%s%s%s", server->name, origin,
	    http_library(), server->ca_file ? ", with the authorities of " : "",
	    server->ca_file ? server->ca_file : "",
	    d->options->deep ? "" : "; it was not asked");
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
		.config = advice_config(d->config, d->arena),
		.url = url->text.p,
		.grant = auth->grant ? auth->grant : auth_grant_word(AUTH_CODE),
		.client = auth->client_id,
		.takes_old = server_url_is_single(d->config, name, url->text.p),
	};
	struct store_facts facts;
	struct store *store = NULL;
	int r;

	if (!dir && !d->state)
		return 1;
	if (!dir)
		dir = state_dir_tokens(d->state, d->arena);
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

static void look_at_login(struct doctor *d, const char *name,
			  const struct server *server, const struct url *url)
{
	const char *login =
		advice_about(d->config, "auth login", server->name, d->arena);
	struct auth_status s = {0};
	struct err err = ERR_INIT;
	int r = read_status(d, server, url, &s, &err);
	bool is_usable = !s.is_expired || s.has_refresh_token;

	if (r < 0)
		add(d, "authorization", name, CHECK_FAILED, login, "%s: %s",
		    server->name, err.msg);
	else if (r == 0)
		add(d, "authorization", name,
		    is_usable ? CHECK_OK : CHECK_FAILED, login, "%s: %s%s",
		    server->name,
		    !s.is_expired ? "logged in at "
		    : is_usable	  ? "logged in, to be renewed at "
				  : "the token has expired, of ",
		    s.issuer);
	else if (!server->api_key.from && !server->headers.n &&
		 !d->options->deep)
		add(d, "authorization", name, CHECK_WARNING, login,
		    "%s: no token is kept; steps fail if the server wants one",
		    server->name);
}

static void look_at_authorization(struct doctor *d, const char *name,
				  const struct server *server,
				  const struct url *url)
{
	const struct server_auth *auth = &server->auth;
	bool has_client = auth->client_id || auth->client_metadata_url;
	bool is_given = server->token.from;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < server->headers.n; i++)
		is_given |= !strcasecmp(server->headers.item[i].name,
					"Authorization");
	if (is_given)
		/* a credential of the configuration is sent, and no other */
		;
	else if (crypto_load(&err) < 0)
		add(d, "authorization", name, CHECK_FAILED,
		    remote_remedy(&err, d->arena, ""), "%s: %s", server->name,
		    err.msg);
	else if (!auth->grant || !strcmp(auth->grant, "authorization_code"))
		look_at_login(d, name, server, url);
	else
		add(d, "authorization", name,
		    has_client ? CHECK_OK : CHECK_FAILED,
		    "set client_id in the `auth` table of the server",
		    "%s: tokens come by %s, without a person%s", server->name,
		    auth->grant, has_client ? "" : ", which needs a client");
	/* a client with a credential needs a fixed issuer; a public one does
	   not */
	if (!auth->issuer && (auth->client_secret.from ||
			      auth->private_key.from || auth->assertion_file))
		add(d, "authorization", name, CHECK_WARNING,
		    "set issuer in the `auth` table of the server",
		    "%s: without issuer the client's credential is used only "
		    "at an authorization server of its url's own origin; any "
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
	for (size_t i = 0; i < SERVER_REFERENCES; i++)
		look_at_refs(d, name, server_reference(server, i), 1);
	look_at_token_file(d, name, "assertion_file", auth->assertion_file);
	look_at_token_file(d, name, "idp_id_token_file",
			   auth->idp_id_token_file);
	if (is_url)
		look_at_authorization(d, name, server, &url);
}

/* ---- steps ---- */

/* Look at what a server needs beside its own program: the program that answers
   sampling, the user's own one that opens a page, its roots. */
static void look_at_server(struct doctor *d, const char *step,
			   const struct server *server)
{
	const char *browser = server->auth.browser;
	const char *const argv[] = {browser, NULL};
	const struct gate_request request = {
		.program = browser,
		.argv = argv,
		.policy = &d->policy,
	};
	const struct sampler_options sampling = {
		.gate = d->gate,
		.policy = &d->policy,
		.cwd = d->config->dir,
		.name = server->name,
		.words = server->sampling,
	};
	struct gate_explained e = {.program = NULL};
	struct err err = ERR_INIT;
	int r;

	if (server->sampling.n)
		add_program(d, "program",
			    arena_printf(d->arena, "%s sampling", step),
			    server->sampling.item[0],
			    sampler_check(&sampling, &err), &err);
	if (browser) {
		r = gate_explain(d->gate, &request, d->arena, &e, &err);
		add_program(d, "program",
			    arena_printf(d->arena, "%s browser", step),
			    e.program, r, &err);
	}
	for (size_t i = 0; i < server->roots.n; i++)
		if (access(server->roots.item[i], F_OK) < 0)
			add(d, "server",
			    arena_printf(d->arena, "%s roots", step),
			    CHECK_FAILED,
			    "make that folder, or take it out of `roots`",
			    "%s: %s", server->roots.item[i], strerror(errno));
}

static void look_at_skipped(struct doctor *d, const char *name,
			    const struct plan_step *s)
{
	if (s->reason == REASON_UNSUPPORTED)
		add(d, "step", name,
		    s->step->required ? CHECK_FAILED : CHECK_WARNING,
		    s->step->instead, "skipped: %s is not a step type",
		    s->step->type);
	else if (s->reason == REASON_NO_VARIABLE)
		add(d, "step", name, CHECK_FAILED,
		    "set the variable where matins is started",
		    "a variable is not set; the rest was not looked at");
	else
		add(d, "step", name, CHECK_OK, "",
		    "disabled, and not looked at");
}

static void look_at_steps(struct doctor *d, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];
		const struct step *step = s->step;
		const char *name = row_name(d, plan, step);

		if (s->reason != REASON_NONE) {
			look_at_skipped(d, name, s);
			continue;
		}
		if (step->routine || step->message)
			add(d, "step", name, CHECK_OK, "", "%s%s",
			    step->routine ? "runs routine "
					  : "asks a person: --approve ",
			    step->routine ? step->routine : step->name);
		else if (s->request.program)
			look_at_request(d, name, &s->request, &step->env);
		else if (!is_met(plan, i, false))
			look_at_remote(d, name, step->server);
		look_at_refs(d, name, s->server_env.item, s->server_env.n);
		look_at_refs(d, name, step->env.item, step->env.n);
		if (step->server)
			look_at_server(d, name, step->server);
	}
}

/* ---- servers that are asked, for --deep ---- */

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
	struct pool_user user;
	struct loop_timer timer;
	struct env env;
	bool is_done;
};

/* Copy a text without secrets into the arena of the doctor. */
static const char *clean(struct asked *a, struct str text)
{
	const struct scrub *own = pool_scrub(&a->user);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	scrub_cut(own ? own : a->deep->scrub, text, &out);
	return arena_strdup(a->deep->d->arena, buf_cstr(&out));
}

/* Add the pieces of advice, the last of which leads to a trace. */
static void add_advice(struct asked *a, const struct client *c, struct buf *out)
{
	const struct plan_step *s = a->plan;
	struct doctor *d = a->deep->d;
	const char *routine = a->whole->routine->name;
	const struct advice_known known = {
		.verdict = client_verdict(c),
		.said = client_stderr(c),
		.failed = true,
		.is_server = true,
		.own = s->step->server ? &s->step->server->sandbox
				       : &s->step->sandbox,
		.config = d->config,
		.scrub = a->deep->scrub,
		.gate = d->gate,
		.request = &s->request,
		.trace = routine ? advice_about(d->config, "trace",
						arena_printf(d->arena, "%s %s",
							     routine,
							     s->step->name),
						d->arena)
				 : advice_command(&s->request, d->arena),
	};
	struct advice_list list = advice_find(&known, d->arena);

	for (size_t i = 0; i < list.n; i++)
		buf_addf(
			out, "%s%s", i ? "; " : "",
			clean(a, str_of(advice_line(&list.item[i], d->arena))));
}

/* The command that lists the tools of the server of a step. */
static const char *tools_of(struct asked *a, const struct plan_step *step,
			    const char *option)
{
	const struct server *server = step->step->server;
	struct doctor *d = a->deep->d;

	return clean(a, str_of(advice_tools(d->config, option,
					    server ? server->name : NULL,
					    &step->request, d->arena)));
}

/*
 * Add the row of a server that does not answer.
 *
 * c  that ended, with the words of its program; NULL: none did
 */
static void fail(struct asked *a, const struct client *c, const char *sentence,
		 const char *details)
{
	AUTO(buf_release) struct buf remedy = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf said = BUF_INIT(BUF_UNBOUNDED);
	const struct step *step = a->plan->step;
	struct doctor *d = a->deep->d;

	if (a->is_done)
		return;
	a->is_done = true;
	if (c && a->plan->request.program) {
		add_advice(a, c, &remedy);
		said_join(&said, client_stderr(c), "; ");
	}
	if (!remedy.n)
		buf_addf(&remedy, "try it by itself: %s",
			 tools_of(a, a->plan, " -v"));
	add(d, "answer", row_name(d, a->whole, step), CHECK_FAILED,
	    buf_cstr(&remedy), "%s%s%s", clean(a, str_of(sentence)),
	    said.n     ? "; its stderr: "
	    : *details ? "; "
		       : "",
	    said.n ? buf_cstr(&said) : details);
}

/* Add the row of the server, and one for each of its steps whose tool is
   missing. */
static void say_list(struct asked *a, const struct listing *list)
{
	const struct mcp_peer *s = client_server(a->user.client);
	const struct server *server = a->plan->step->server;
	struct doctor *d = a->deep->d;

	a->is_done = true;
	for (size_t i = (size_t)(a->plan - a->whole->steps);
	     i < a->whole->n_steps; i++) {
		const struct plan_step *step = &a->whole->steps[i];
		const char *tool = step->step->tool;
		bool has_tool;

		if (step != a->plan &&
		    (!server || step->step->server != server || !tool ||
		     step->reason != REASON_NONE))
			continue;
		has_tool = !*tool || listing_find(list, str_of(tool));
		if (has_tool && step != a->plan)
			continue;
		add(d, "answer", row_name(d, a->whole, step->step),
		    has_tool ? CHECK_OK : CHECK_FAILED,
		    arena_printf(d->arena, "name one of its tools, of %s",
				 tools_of(a, step, "")),
		    "%s %s, MCP %s, %zu tool%s%s%s%s", clean(a, s->name),
		    clean(a, s->version), s->revision->date, list->n,
		    list->n == 1 ? "" : "s", has_tool ? "" : "; none is \"",
		    has_tool ? "" : tool, has_tool ? "" : "\"");
	}
}

static void on_list(void *arg, const struct client_listed *l)
{
	struct asked *a = arg;
	const struct client_event *e = l->event;

	if (a->is_done)
		return;
	if (l->type == CLIENT_RESULT)
		say_list(a, l->list);
	else if (l->type == CLIENT_FAILED)
		fail(a, a->user.client, e->sentence, e->details);
	else
		fail(a, NULL, "the server refuses to list its tools",
		     clean(a, e->of->message));
}

static void opened(struct pool_user *u)
{
	struct asked *a = u->arg;
	const struct client_list list = {LISTING_TOOLS, false, on_list, a};
	struct err err = ERR_INIT;
	uint64_t ticket;

	if (!a->is_done && client_list(u->client, &list, &ticket, &err) < 0)
		fail(a, NULL, err.msg, "");
}

static void refused(struct pool_user *u, const struct err *err)
{
	fail(u->arg, NULL, err->msg, "");
}

static void closed(struct pool_user *u, struct client *c)
{
	if (*client_failure_sentence(c))
		fail(u->arg, c, client_failure_sentence(c),
		     client_failure_details(c));
	fail(u->arg, c, "the server ended before it answered", "");
}

static void on_time(void *arg)
{
	struct asked *a = arg;

	fail(a, NULL,
	     arena_printf(a->deep->d->arena,
			  "no answer within the %llu ms of its timeout",
			  (unsigned long long)a->plan->step->timeout_ms),
	     "");
}

/* Wait for a row or Ctrl-C, then until the server has ended. */
static int wait_for(struct asked *a, struct err *err)
{
	struct deep *deep = a->deep;

	while (!a->is_done && !deep->loop.signal)
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	(void)!pool_leave(deep->pool, &a->user,
			  deep->loop.signal ? POOL_TERMINATE : POOL_CLOSE,
			  CLIENT_GRACE_MS);
	while (!pool_is_idle(deep->pool))
		if (loop_turn(&deep->loop, err) < 0)
			return -1;
	return 0;
}

/* Open a server as a run would, list its tools, end it. */
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

	if (credentials_give(deep->credentials, &step->server_env, NULL, &a.env,
			     &why) < 0 ||
	    credentials_give(deep->credentials, &step->step->env, NULL, &a.env,
			     &why) < 0) {
		fail(&a, NULL, why.msg, "");
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

static void open_deep(struct deep *deep)
{
	struct doctor *d = deep->d;
	const struct strlist *values = &d->options->file->header_values;
	const struct client_context context = {
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub = scrub_new(),
		.eras = deep->eras = eras_open(NULL),
	};

	for (size_t i = 0; i < values->n; i++)
		scrub_add(deep->scrub, str_of(values->item[i]));
	log_set_filter(scrub_log_filter, deep->scrub);
	deep->credentials = credentials_new(&(struct credentials_context){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.policy = &d->policy,
		.config = d->config,
	});
	deep->remotes = remotes_new(&(struct remotes_options){
		.loop = &deep->loop,
		.gate = d->gate,
		.scrub = deep->scrub,
		.keeps_apart = true,
		.state_dir = d->state,
		.config = d->config,
	});
	deep->pool = pool_new(&(struct pool_options){
		.client = context,
		.sampling_policy = &d->policy,
		.sampling_cwd = d->config->dir,
		.remotes = deep->remotes,
		.credentials = deep->credentials,
	});
}

/* errors  ERR_SYS, ERR_CONFIG  nothing could be asked at all */
static int ask_servers(struct doctor *d, const struct plan *plan,
		       struct err *err)
{
	struct deep deep = {.d = d};
	int r;

	if (loop_init(&deep.loop, clock_system(), err) < 0)
		return -1;
	open_deep(&deep);
	r = loop_take_signals(&deep.loop, err);
	for (size_t i = 0; r == 0 && i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];

		if (deep.loop.signal)
			r = err_set(err, ERR_PEER, "ended by a signal");
		else if (s->step->tool && s->reason == REASON_NONE &&
			 !is_met(plan, i, true))
			r = ask(&deep, plan, s, err);
	}
	log_set_filter(NULL, NULL);
	pool_free(deep.pool);
	remotes_free(deep.remotes);
	credentials_free(deep.credentials);
	eras_free(deep.eras);
	scrub_free(deep.scrub);
	loop_release(&deep.loop);
	return r;
}

/* ---- the machine ---- */

/* Add a row; the loss is named where a protection is wholly absent. */
static void add_fact(struct doctor *d, const char *name,
		     const struct gate_fact *f)
{
	const char *lost =
		f->level == GATE_ABSENT ? gate_lost(f->guarantee) : "";

	add(d, "protection", name,
	    f->level == GATE_ENFORCED ? CHECK_OK : CHECK_WARNING,
	    f->remedy ? f->remedy : NO_REMEDY, "%s: %s%s%s",
	    gate_level_name(f->level), f->how ? f->how : "",
	    *lost ? "; so " : "", lost);
}

/*
 * Report whether a policy names hosts, and nothing else is reached: no
 * network at all is not what was asked for.
 */
static bool has_named_net(const struct gate_explained *e)
{
	bool is_held = false;

	for (size_t i = 0; i < e->n_facts; i++)
		is_held |= strcmp(e->facts[i].guarantee, "net-ports") == 0 &&
			   e->facts[i].level == GATE_ENFORCED;
	return is_held && e->net.n && !gate_net_is_word(e->net.item[0]);
}

/* Add a row where the policy of a program gets less than the usual one. */
static void look_at_policies(struct doctor *d, const struct plan *plan)
{
	for (size_t k = 0; k < plan->n_steps; k++) {
		const struct plan_step *s = &plan->steps[k];
		size_t n_usual;
		const struct gate_fact *usual =
			gate_protections(d->gate, &n_usual);
		struct gate_explained e;

		/* an error is the row of the program */
		if (s->reason != REASON_NONE || !s->request.program ||
		    gate_explain(d->gate, &s->request, d->arena, &e,
				 ERR_IGNORED) < 0)
			continue;
		for (size_t i = 0; i < e.n_facts; i++) {
			const struct gate_fact *f = &e.facts[i];
			const char *name = arena_printf(
				d->arena, "%s %s", row_name(d, plan, s->step),
				f->guarantee);

			if (f->level == usual[i].level)
				continue;
			if (strcmp(f->guarantee, "net-off") == 0 &&
			    has_named_net(&e))
				add(d, "protection", name, CHECK_OK, "",
				    "net: %s only",
				    list_join(&e.net, ", ", d->arena));
			else
				add_fact(d, name, f);
		}
	}
}

static void look_at_leash(struct doctor *d, const struct gate_leash *leash)
{
	const struct gate_axis *exec = &leash->exec;

	add(d, "leash", leash->source, CHECK_OK, "", "may start: %s",
	    exec->all	   ? "every program"
	    : exec->only.n ? list_join(&exec->only, ", ", d->arena)
			   : "nothing");
}

/* ---- things kept between runs ---- */

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
	struct ledger *l = NULL;
	struct err err = ERR_INIT;
	bool there = false;
	int r = ledger_open_read(d->state, &l, &err);

	if (r == 0 && can_record(ledger_dir(l), d->arena, &there) < 0)
		r = err_sys(&err, errno, "%s", ledger_dir(l));
	if (r == 0)
		add(d, "state", ledger_dir(l), CHECK_OK, "", "%s",
		    there ? "runs are recorded here"
			  : "runs will be recorded here; the first creates it");
	else
		add(d, "state", d->state ? d->state : "state directory",
		    CHECK_WARNING,
		    "set MATINS_STATE to a folder that you can write",
		    "runs are not recorded: %s", err.msg);
	ledger_free(l);
}

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

/* Add one row about a folder of tokens, unless there is no such folder; no key
   is asked for. */
static void look_at_tokens(struct doctor *d, const char *dir)
{
	struct store_facts facts;
	struct err err = ERR_INIT;
	bool in_file;
	int r;

	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->check[i].area, "tokens") &&
		    !strcmp(d->check[i].name, dir))
			return;
	r = store_look(dir, &facts, &err);
	in_file = r == 0 && facts.files[STORE_KEY_FILE] > 0;
	if (r < 0)
		add(d, "tokens", dir, CHECK_FAILED,
		    "mend that, or name another folder as token_store", "%s",
		    err.msg);
	else if (r == 0 && facts.n_broken)
		add(d, "tokens", dir, CHECK_WARNING,
		    "remove it and log in to its server again: matins auth "
		    "login NAME",
		    "%zu cannot be used: %s", facts.n_broken, facts.broken);
	else if (r == 0)
		add(d, "tokens", dir, in_file ? CHECK_WARNING : CHECK_OK,
		    KEY_IN_FILE_REMEDY, "%s", places(&facts, d->arena));
}

static void look_at_age(struct doctor *d, const struct ledger_run *runs,
			size_t n, const char *routine)
{
	const struct doctor_options *o = d->options;
	char when[CLOCK_TEXT_BYTES];
	const char *why = "";
	int64_t age_ms;
	bool is_fresh, is_other;

	while (n-- > 0) {
		const struct ledger_run *run = &runs[n];

		if (run->state != RUN_FINISHED || strcmp(run->routine, routine))
			continue;
		if (!run->whole || strcmp(run->file, d->config->path) != 0) {
			is_other = *run->file &&
				   strcmp(run->file, d->config->path) != 0;
			/* the newest of them says why none counts */
			if (!*why)
				why = arena_printf(
					d->arena, "; the run of %s was %s%s",
					run->finished,
					is_other     ? "of "
					: *run->file ? "not of all steps"
						     : "recorded by an earlier "
						       "version, without its "
						       "file",
					is_other ? run->file : "");
			continue;
		}
		age_ms = (o->wall_ns - run->finished_ns) / 1000000;
		is_fresh = age_ms < 0 || (uint64_t)age_ms <= o->stale_ms;
		clock_format(run->finished_ns, when);
		add(d, "stale", routine, is_fresh ? CHECK_OK : CHECK_FAILED,
		    TIMER_REMEDY, "last finished at %s", when);
		return;
	}
	add(d, "stale", routine, CHECK_FAILED, TIMER_REMEDY,
	    "never finished a whole run%s", why);
}

/* Look how old the last whole run of each routine asked for is. */
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
	for (size_t i = 0; i < c->n_routines; i++)
		if (!o->routine || o->routine == &c->routines[i])
			look_at_age(d, runs, n, c->routines[i].name);
	ledger_free(l);
}

static void look_at_state(struct doctor *d)
{
	const struct config *c = d->config;

	look_at_ledger(d);
	if (d->state)
		look_at_tokens(d, state_dir_tokens(d->state, d->arena));
	for (size_t i = 0; c && i < c->n_servers; i++)
		if (c->servers[i].auth.token_store)
			look_at_tokens(d, c->servers[i].auth.token_store);
	if (d->options->stale_ms && c)
		look_at_ages(d);
}

/* ---- all of it ---- */

/* Make a routine without name, with one step for each enabled server that no
   step of the file uses. Its tool is "": none in particular. */
static struct routine *unused_servers(struct doctor *d)
{
	const struct config *c = d->config;
	struct routine *r = ARENA_NEW(d->arena, struct routine);

	assert(c->routines || !c->n_routines);
	r->steps = ARENA_ARRAY(d->arena, struct step, c->n_servers);
	for (size_t i = 0; i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];
		bool is_used = false;

		for (size_t k = 0; k < c->n_routines; k++)
			for (size_t j = 0; j < c->routines[k].n_steps; j++) {
				const struct step *step =
					&c->routines[k].steps[j];

				is_used |= step->server == s && step->enabled &&
					   !step->instead;
			}
		if (is_used)
			continue;
		r->steps[r->n_steps++] = (struct step){
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

/* Plan each routine asked for, then the servers that none uses. */
static int make_plans(struct doctor *d, struct plan **ret, size_t *ret_n,
		      struct err *err)
{
	const struct routine *only = d->options->routine;
	const struct config *c = d->config;
	struct plan_options o = {.config = c, .given = d->options->given};
	struct plan *plan;

	*ret_n = 0;
	if (!c)
		return 0;
	o.given.is_optional = true;
	*ret = plan = ARENA_ARRAY(d->arena, struct plan, c->n_routines + 1);
	for (size_t i = 0; i <= c->n_routines; i++) {
		o.routine = i < c->n_routines ? &c->routines[i]
			    : only	      ? NULL
					      : unused_servers(d);
		if (!o.routine || (only && only != o.routine))
			continue;
		if (plan_make(&o, d->arena, &plan[(*ret_n)++], err) < 0)
			return -1;
	}
	return 0;
}

static void look_at_starts(struct doctor *d, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *s = &plan->steps[i];
		const char *name = row_name(d, plan, s->step);
		struct gate_explained e;
		struct err err = ERR_INIT;

		if (s->reason != REASON_NONE || !s->request.program)
			continue;
		if (gate_explain(d->gate, &s->request, d->arena, &e, &err) <
		    0) {
			add(d, "program", name, CHECK_FAILED, "", "%s",
			    err.msg);
			continue;
		}
		if (!e.runs)
			add(d, "program", name, CHECK_OK, "", "%s: runs %s",
			    s->request.program, e.program);
		add_start(d, name, &e);
	}
}

/* Add the rows that need no configuration beside those that do. */
static int look_at_all(struct doctor *d, const struct gate_leash *leash,
		       struct err *err)
{
	const struct config_file *file = d->options->file;
	const struct gate_fact *facts;
	struct plan *plan = NULL;
	size_t n, n_plans;

	if (make_plans(d, &plan, &n_plans, err) < 0)
		return -1;
	for (size_t i = 0; d->options->starts_only && i < n_plans; i++)
		look_at_starts(d, &plan[i]);
	if (d->options->starts_only)
		return 0;
	if (file && file->not_allowed)
		add(d, "configuration", file->path, CHECK_FAILED,
		    "matins allow", "%s", file->not_allowed);
	for (size_t i = 0; file && i < file->unset.n; i++) {
		const struct err *e = &file->unset.item[i].err;

		add(d, "variable",
		    arena_printf(d->arena, "%s:%u:%u", file->path, e->line,
				 e->col),
		    CHECK_FAILED, "set it where matins is started", "%s",
		    e->msg);
	}
	look_at_leash(d, leash);
	for (size_t i = 0; i < n_plans; i++)
		look_at_steps(d, &plan[i]);
	for (size_t i = 0; d->options->deep && i < n_plans; i++)
		if (ask_servers(d, &plan[i], err) < 0)
			return -1;
	facts = gate_protections(d->gate, &n);
	for (size_t i = 0; i < n; i++)
		add_fact(d, facts[i].guarantee, &facts[i]);
	for (size_t i = 0; i < n_plans; i++)
		look_at_policies(d, &plan[i]);
	facts = gate_machine(d->gate, &n);
	for (size_t i = 0; i < n; i++)
		add(d, "kernel", facts[i].guarantee,
		    facts[i].level == GATE_ENFORCED ? CHECK_OK : CHECK_WARNING,
		    facts[i].remedy ? facts[i].remedy : "", "%s", facts[i].how);
	look_at_state(d);
	return 0;
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
		add(d, "protection", "floor", CHECK_FAILED,
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

/* ---- printed ---- */

bool doctor_failed(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->check[i].level == CHECK_FAILED)
			return true;
	return false;
}

/* Names are aligned within their area, as long as they are short. */
static int widest(const struct doctor *d, size_t first)
{
	size_t width = 0;

	for (size_t i = first;
	     i < d->n && !strcmp(d->check[i].area, d->check[first].area); i++) {
		size_t n = strlen(d->check[i].name);

		if (n > width && n <= NAME_COLUMN)
			width = n;
	}
	return (int)width;
}

/* Report whether the row above has the same remedy: one cause fails many rows.
 */
static bool is_repeated(const struct doctor *d, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (*d->check[i].remedy)
			return !strcmp(d->check[i].remedy, d->check[at].remedy);
	return false;
}

void doctor_print_text(const struct doctor *d, const struct doctor_options *o,
		       struct buf *out)
{
	static const char *const marks[] = {"ok     ", "warning", "FAILED "};
	int width = 0;
	const char *area = "";

	for (size_t i = 0; i < d->n; i++) {
		const struct check *c = &d->check[i];

		if (strcmp(area, c->area)) {
			buf_addf(out, "%s%s\n", *area ? "\n" : "", c->area);
			area = c->area;
			width = widest(d, i);
		}
		buf_addf(out, "  %s %-*s  ", marks[c->level], width, c->name);
		log_visible(out, str_of(c->text), false);
		if (*c->remedy)
			buf_addf(out, "\n          -> %s",
				 is_repeated(d, i) ? "as above" : c->remedy);
		buf_addc(out, '\n');
	}
	buf_addf(out, "\n%s\n",
		 doctor_failed(d) ? "a check failed: see FAILED above"
		 : !o->file ? "no configuration: only this machine was checked"
		 : o->routine ? "all checks of this routine passed"
			      : "all checks passed");
}

void doctor_print_json(const struct doctor *d, struct buf *out)
{
	static const char *const levels[] = {"ok", "warning", "failed"};
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_bool(&w, "ok", !doctor_failed(d));
	jw_kv_array(&w, "checks");
	for (size_t i = 0; i < d->n; i++) {
		jw_object(&w);
		jw_kv_cstr(&w, "area", d->check[i].area);
		jw_kv_cstr(&w, "name", d->check[i].name);
		jw_kv_cstr(&w, "level", levels[d->check[i].level]);
		jw_kv_cstr(&w, "text", d->check[i].text);
		if (*d->check[i].remedy)
			jw_kv_cstr(&w, "remedy", d->check[i].remedy);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}
