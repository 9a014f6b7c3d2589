/* Options and keys for a server, from the command line and configuration. */
#include "core/base/scan.h"
#include "core/cli/key_options.h"
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

static void from_server(struct target *t)
{
	const struct server *s = &t->keys;
	const char **argv = ARENA_ARRAY(&t->arena, const char *, s->args.n + 2);

	argv[0] = s->command;
	for (size_t i = 0; i < s->args.n; i++)
		argv[i + 1] = s->args.item[i];
	merge(t, &s->sandbox);
	t->name = s->name;
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
		       struct err *err)
{
	const char *name = t->server;
	const struct server *s;

	if (one_target(t, args, err) < 0)
		return -1;
	t->url = args_get(args, "url");
	if (open_config(t, args, err) < 0)
		return -1;
	if (!name) {
		t->keys = server_by_default();
		t->keys.name = t->keys.url = t->url;
		return 0;
	}
	s = config_server(t->config, name);
	if (!s)
		return unknown_server(t->config, name, &t->arena, err);
	if (s->unset)
		return err_set(err, ERR_CONFIG, "%s", s->unset);
	t->keys = *s;
	t->url = s->url;
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

/* Read values for an answer, which without --elicit mean `accept`. */
static int read_content(const struct args *args, struct target *t,
			struct err *err)
{
	const char *content = args_get(args, "elicit-content");
	AUTO(buf_release) struct buf text = BUF_INIT(VALUE_BYTES);
	struct str value;

	if (!content)
		return 0;
	if (target_read_value(content, &text, err) < 0)
		return err_wrap(err, "--elicit-content");
	if (scan_document(buf_str(&text), NULL, &value, err) < 0 ||
	    scan_type(value) != SCAN_OBJECT)
		return err_set(err, ERR_USAGE,
			       "--elicit-content must be a JSON object");
	t->asks.content = arena_str(&t->arena, value);
	if (!args_has(args, "elicit")) {
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

/* Set the keys by their options, and the session by the keys. */
static int read_keys(const struct args *args, struct target *t, struct err *err)
{
	struct server *keys = &t->keys;

	if (option_values_read(args, SECTION_server, &t->arena, keys, err) < 0)
		return -1;
	t->strict |= keys->strict;
	t->session.protocol = keys->protocol;
	t->session.message_max = keys->stdout_max;
	t->session.request_timeout_ms = keys->timeout_ms;
	/* a short timeout also bounds the handshake */
	if (args_has(args, "timeout"))
		t->session.initialize_timeout_ms = keys->timeout_ms;
	if (asks_of_server(keys, &t->policy, &t->arena, &t->asks, err) < 0)
		return -1;
	return read_content(args, t, err) < 0 ? -1 : read_roots(args, t, err);
}

int target_read_options(struct target *t, const struct args *args,
			struct err *err)
{
	struct gate_policy more;
	const char *const *env;

	if (find_server(t, args, err) < 0 || check_remote(t, args, err) < 0)
		return -1;
	if (policy_options_read(args, &t->arena, &more, &env, err) < 0)
		return -1;
	if (t->config)
		t->policy = t->config->sandbox;
	if (t->server)
		from_server(t);
	else if (t->url)
		t->name = t->url;
	else
		from_line(t, args->after);
	merge(t, &more);
	t->given_env = env;
	return read_keys(args, t, err);
}
