/* `matins serve`: an MCP server for other clients. */
#include <unistd.h>

#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/serve/serve.h"

const struct option options_serve[] = {
	{"routines", 0, NULL, "offer each routine as a tool routine__NAME"},
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

int cmd_serve(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options names = {.names_only = true};
	struct serve_options o = {
		.config = &file.config,
		.words = config_words(args, &arena),
		.routines = args_has(args, "routines"),
	};

	if (!o.routines)
		return err_set(err, ERR_USAGE,
			       "serve: say what is offered: --routines");
	if (open_config(args, names, &file, err) < 0)
		return -1;
	if (isatty(STDIN_FILENO))
		log_note("serving MCP on stdin and stdout; a client starts "
			 "this command and speaks there");
	return serve(&o, err);
}
