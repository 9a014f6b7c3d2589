/* `matins serve`: an MCP server for other clients. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/secret/secret.h"
#include "core/serve/serve.h"
#include "core/serve/web.h"

const struct option options_serve[] = {
	{"routines", 0, NULL, "offer each routine as a tool routine__NAME"},
	{"servers", 0, "A,B",
	 "offer these servers: tools mcp__SERVER__TOOL, resources, prompts"},
	{"http", 0, "ADDRESS:PORT",
	 "serve at http://ADDRESS:PORT/mcp, such as 127.0.0.1:8765"},
	{"token-file", 0, "FILE",
	 "the tokens that HTTP clients need, a line for each client; without "
	 "it "
	 "those of [serve], or one that is made"},
	{"yes", 'y', NULL, "agree to tools that `confirm` of a server names"},
	{0},
};

/* The commands that are started find the same configuration. */
static struct strlist config_words(const struct args *args, struct arena *arena)
{
	struct strlist words = {NULL, 0};

	if (args_get(args, "config")) {
		list_add(&words, arena, "--config");
		list_add(&words, arena, args_get(args, "config"));
	}
	if (args_has(args, "lax"))
		list_add(&words, arena, "--lax");
	return words;
}

/* Names of --servers, else of all that are not switched off. */
static int find_servers(const struct args *args, const struct config *c,
			struct arena *arena, struct strlist *ret,
			struct err *err)
{
	const struct strlist given = args_all(args, "servers", arena);
	const struct server *found;

	for (size_t i = 0; i < given.n; i++) {
		struct str rest = str_of(given.item[i]);

		if (!rest.n)
			return args_bad("servers", "",
					"a name; for none of them write "
					"--routines alone",
					err);
		while (rest.n) {
			struct str one = str_trim(str_cut(&rest, ','));
			const char *name = arena_strndup(arena, one.p, one.n);

			if (find_server(c, name, &found, err) < 0)
				return -1;
			list_add_new(ret, arena, name);
		}
	}
	for (size_t i = 0;
	     !given.n && !args_has(args, "routines") && i < c->n_servers; i++)
		if (c->servers[i].enabled)
			list_add(ret, arena, c->servers[i].name);
	return 0;
}

/* The token that is kept for all times, or a new one. */
static int make_token(const char *state, struct arena *arena,
		      struct serve_options *o, struct err *err)
{
	char text[65];

	if (!state)
		return err_set(err, ERR_SYS,
			       "--http: there is no state folder for a token; "
			       "name one with --token-file");
	o->token_file = arena_printf(arena, "%s/serve-token", state);
	if (access(o->token_file, F_OK) == 0)
		return 0;
	text_random(text, sizeof(text));
	if (fd_mkdirs(state, 0700) < 0)
		return err_sys(err, errno, "%s", state);
	return fd_replace_file(o->token_file, str_of(text), 0600, 0, err);
}

/* Take the tokens, a line each, from a file or variable, and judge them. */
static int take_tokens(enum secret_source source, const char *from,
		       struct arena *arena, struct serve_options *o,
		       struct err *err)
{
	AUTO(buf_wipe) struct buf text = BUF_INIT(LIMIT_SECRET_BYTES);
	const bool is_file = source == SECRET_FILE;
	struct str rest, token;
	struct stat st;

	o->token_file = is_file ? from : arena_printf(arena, "$%s", from);
	if (source == SECRET_CMD)
		return err_set(err, ERR_CONFIG, CONFIG_TOKEN_CMD);
	if (secret_resolve(source, from, NULL, &text, err) < 0)
		return err_wrap(err, "the token of serve");
	if (is_file && (stat(from, &st) < 0 || st.st_mode & 077))
		return err_set(err, ERR_CONFIG,
			       "%s: others can read the token; chmod 600 it",
			       from);
	for (rest = str_trim(buf_str(&text)); rest.n || !o->tokens.n;) {
		token = str_trim(str_cut(&rest, '\n'));
		if (token.n < 16)
			return err_set(err, ERR_CONFIG,
				       "%s: a token has 16 characters or more",
				       o->token_file);
		list_add_new(&o->tokens, arena,
			     arena_strndup(arena, token.p, token.n));
	}
	if (o->tokens.n > WEB_CLIENTS)
		return err_set(err, ERR_CONFIG, "%s: more than %d tokens",
			       o->token_file, WEB_CLIENTS);
	return 0;
}

/* Read the token of --token-file, else of [serve], else the one that is made.
 */
static int read_token(const struct args *args, struct arena *arena,
		      struct serve_options *o, struct err *err)
{
	const struct env_ref *ref = &o->file->config.serve.token;

	o->http = args_get(args, "http");
	o->token_file = args_get(args, "token-file");
	if (!o->http)
		return o->token_file ? err_set(err, ERR_USAGE,
					       "--token-file is for --http")
				     : 0;
	if (!o->token_file && ref->from)
		return take_tokens(ref->source, ref->from, arena, o, err);
	if (!o->token_file &&
	    make_token(state_dir_find(arena), arena, o, err) < 0)
		return -1;
	return take_tokens(SECRET_FILE, o->token_file, arena, o, err);
}

static int serve_file(const struct args *args, struct config_file *file,
		      struct arena *arena, struct err *err)
{
	struct serve_options o = {
		.file = file,
		.confirmed = args_has(args, "yes"),
		.words = config_words(args, arena),
		.routines = args_has(args, "routines") ||
			    !args_has(args, "servers"),
	};
	int status;

	if (read_token(args, arena, &o, err) < 0 ||
	    find_servers(args, &file->config, arena, &o.servers, err) < 0 ||
	    (o.servers.n &&
	     open_gate(&(struct gate_wish){.config = &file->config}, arena,
		       &o.gate, err) < 0))
		return -1;
	open_many_files();
	if (!o.http && isatty(STDIN_FILENO))
		log_note("serving MCP on stdin and stdout; a client starts "
			 "this command and speaks there");
	status = serve(&o, err);
	gate_free(o.gate);
	return status;
}

int cmd_serve(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(config_release) struct config_file file = {.path = NULL};
	/* routines are read again by the commands that run them */
	const struct config_options options = {
		.names_only = args_has(args, "routines") &&
			      !args_has(args, "servers"),
	};

	if (open_config(args, options, &file, err) < 0)
		return -1;
	return serve_file(args, &file, &arena, err);
}
