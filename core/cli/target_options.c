/* Options and keys for a server, from the command line and configuration. */
#include "core/base/scan.h"
#include "core/cli/target_options.h"
#include "core/run/plan.h"
#include "core/secret/secret.h"

/* A file of values. */
#define VALUE_BYTES (16 * 1024 * 1024)

/* ---- which server ---- */

static int one_target(const struct target *t, const struct args *args,
		      struct err *err)
{
	int n = (t->server != NULL) + args_has(args, "url") +
		(args->after && args->after[0]);

	if (t->server && strstr(t->server, "://"))
		return err_set(err, ERR_USAGE,
			       "--server names a server of the configuration; "
			       "use --url for a URL");
	if (n == 1)
		return 0;
	if (n)
		return err_set(err, ERR_USAGE,
			       "name only one server: --server NAME, --url "
			       "URL, or -- PROGRAM ARGS…");
	return err_set(err, ERR_USAGE,
		       "name a server: --server NAME of the configuration, "
		       "--url URL, or -- PROGRAM ARGS…");
}

static int unknown_server(const struct config *c, const char *name,
			  struct arena *arena, struct err *err)
{
	struct strlist known = {ARENA_ARRAY(arena, const char *, c->n_servers),
				c->n_servers};
	const char *near;

	for (size_t i = 0; i < known.n; i++)
		known.item[i] = c->servers[i].name;
	near = str_nearest(str_of(name), known.item, known.n);
	if (near || !known.n)
		return err_set(err, ERR_UNKNOWN_SERVER,
			       "%s has no server %s%s%s%s", c->path, name,
			       near ? "; did you mean " : "", near ? near : "",
			       near ? "?" : "");
	return err_set(
		err, ERR_UNKNOWN_SERVER, "%s has no server %s; it has %s%s",
		c->path, name, known.item[0],
		known.n > 1 ? " and others (`matins list --servers`)" : "");
}

/* The configuration, which only --server cannot do without. */
static int open_config(struct target *t, const struct args *args,
		       struct err *err)
{
	const char *server = t->server;
	const struct config_options options = {
		.path = args_get(args, "config"),
		.lax = args_has(args, "lax"),
		.server = server,
		/* without a server only [sandbox] is read */
		.routine = server ? NULL : "",
		.optional = !server,
	};

	if (config_open(&options, &t->file, err) < 0)
		return -1;
	t->config = t->file.path ? &t->file.config : NULL;
	return 0;
}

static void merge(struct target *t, const struct gate_policy *more)
{
	struct gate_policy base = t->policy;

	gate_policy_merge(&base, more, &t->arena, &t->policy);
}

static void from_server(struct target *t, const struct server *s)
{
	const char **argv = ARENA_ARRAY(&t->arena, const char *, s->args.n + 2);

	argv[0] = s->command;
	for (size_t i = 0; i < s->args.n; i++)
		argv[i + 1] = s->args.item[i];
	merge(t, &s->sandbox);
	t->name = s->name;
	t->session.protocol = s->protocol;
	t->session.message_max = s->stdout_max;
	t->session.request_timeout_ms = s->timeout_ms;
	t->strict |= s->strict;
	if (!s->command)
		return;
	t->request.program = s->command;
	t->request.argv = argv;
	plan_cwd(&t->request, s->cwd, t->config);
}

static void from_line(struct target *t, char **argv)
{
	t->name = "the server";
	t->request.program = path_program(argv[0], NULL, &t->arena);
	t->request.argv = (const char *const *)argv;
	t->request.cwd = path_resolve(".", NULL, &t->arena);
}

static int find_server(struct target *t, const struct args *args,
		       const struct server **ret, struct err *err)
{
	const char *name = t->server;
	const struct server *s = NULL;

	if (one_target(t, args, err) < 0)
		return -1;
	t->url = args_get(args, "url");
	if (open_config(t, args, err) < 0)
		return -1;
	if (name) {
		s = config_server(t->config, name);
		if (!s)
			return unknown_server(t->config, name, &t->arena, err);
		t->url = s->url;
		if (s->unset)
			return err_set(err, ERR_CONFIG, "%s", s->unset);
	}
	*ret = s;
	return 0;
}

/* Options for the gate apply to programs only. */
static const struct option of_programs[] = {
#include "core/cli/policy_options.def"
	{0}};

static int check_remote(const struct target *t, const struct args *args,
			struct err *err)
{
	const char *option;

	if (!t->url) {
		option = remote_options_any(args);
		return option ? err_set(err, ERR_USAGE,
					"--%s is for remote servers (--url, or "
					"a server with a \"url\"); this server "
					"is a program",
					option)
			      : 0;
	}
	for (const struct option *o = of_programs; o->name; o++)
		/* a {cmd} reference of its credentials runs under these */
		if (args_has(args, o->name) && !t->server)
			return err_set(
				err, ERR_USAGE,
				"--%s is for programs; a URL starts none",
				o->name);
	return 0;
}

/* ---- options ---- */

static int read_size(const struct args *args, struct target *t, struct err *err)
{
	const char *text = args_get(args, "stdout-max");

	if (!text)
		return 0;
	if (!str_size_bytes(str_of(text), &t->session.message_max) ||
	    !t->session.message_max ||
	    t->session.message_max > LIMIT_MESSAGE_BYTES_MAX)
		return args_bad("stdout-max", text,
				"a size up to 1GiB; use for example 64MiB",
				err);
	return 0;
}

static int read_timeout(const struct args *args, struct target *t,
			struct err *err)
{
	const char *text = args_get(args, "timeout");
	uint64_t ms;

	if (!text)
		return 0;
	if (!str_duration_ms(str_of(text), &ms) || !ms)
		return args_bad("timeout", text,
				"a duration; use for example 30s", err);
	t->session.request_timeout_ms = ms;
	/* a short timeout also bounds the handshake */
	t->session.initialize_timeout_ms = ms;
	return 0;
}

static int read_protocol(const struct args *args, struct target *t,
			 struct err *err)
{
	const char *text = args_get(args, "protocol");
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);

	if (!text)
		return 0;
	t->session.protocol = strcmp(text, "auto") ? text : NULL;
	if (!t->session.protocol || mcp_revision_find(str_of(text)))
		return 0;
	mcp_revision_list(&all);
	return err_set(err, ERR_USAGE,
		       "--protocol: \"%s\" is not a revision of MCP; the "
		       "revisions are %s",
		       text, buf_cstr(&all));
}

static int read_elicit(const struct args *args, struct target *t,
		       struct err *err)
{
	const char *word = args_get(args, "elicit");
	const char *content = args_get(args, "elicit-content");
	AUTO(buf_release) struct buf text = BUF_INIT(VALUE_BYTES);
	struct str value;

	if (word) {
		t->asks.has_elicit = true;
		if (!elicit_action_find(word, &t->asks.elicit))
			return args_bad("elicit", word,
					"accept, decline or cancel", err);
	}
	if (!content)
		return 0;
	if (target_read_value(content, &text, err) < 0)
		return err_wrap(err, "--elicit-content");
	if (scan_document(buf_str(&text), NULL, &value, err) < 0 ||
	    scan_type(value) != SCAN_OBJECT)
		return err_set(err, ERR_USAGE,
			       "--elicit-content must be a JSON object");
	t->asks.content = arena_str(&t->arena, value);
	if (!word) {
		t->asks.has_elicit = true;
		t->asks.elicit = ELICIT_ACCEPT;
	}
	return 0;
}

static int read_roots(const struct args *args, struct target *t,
		      struct err *err)
{
	struct strlist roots = args_all(args, "root", &t->arena);

	for (size_t i = 0; i < roots.n; i++) {
		if (asks_add_root(&t->asks, roots.item[i],
				  t->url ? NULL : &t->policy, &t->arena,
				  err) < 0) {
			err->kind = ERR_USAGE;
			return err_wrap(err, "--root");
		}
	}
	return 0;
}

static int read_sampling(const struct args *args, struct target *t,
			 struct err *err)
{
	const char *line = args_get(args, "sampling");
	struct strlist *words = &t->asks.sampling;

	if (!line)
		return 0;
	if (path_words(line, NULL, &t->arena, words, err) < 0) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "--sampling");
	}
	return 0;
}

int target_read_options(struct target *t, const struct args *args,
			const struct server **ret_server, struct err *err)
{
	const struct server *s = NULL;
	struct gate_policy more;
	const char *const *env;

	if (find_server(t, args, &s, err) < 0 || check_remote(t, args, err) < 0)
		return -1;
	*ret_server = s;
	if (policy_options_read(args, &t->arena, &more, &env, err) < 0)
		return -1;
	if (t->config)
		t->policy = t->config->sandbox;
	if (s)
		from_server(t, s);
	else if (t->url)
		t->name = t->url;
	else
		from_line(t, args->after);
	merge(t, &more);
	t->given_env = env;
	if (s && asks_of_server(s, &t->policy, &t->arena, &t->asks, err) < 0)
		return -1;
	if (read_size(args, t, err) < 0 || read_timeout(args, t, err) < 0 ||
	    read_protocol(args, t, err) < 0 || read_elicit(args, t, err) < 0 ||
	    read_roots(args, t, err) < 0 || read_sampling(args, t, err) < 0)
		return -1;
	return 0;
}
