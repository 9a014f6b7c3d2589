/*
 * Writes a starter configuration that runs as it is.
 */
#include "core/base/log.h"
#include "core/base/outfile.h"
#include "core/cli/allow_path.h"
#include "core/cli/command.h"
#include "core/config/config.h"
#include "core/config/config_allow.h"

const struct option options_init[] = {{0}};

static const char starter[] =
	"# A matins configuration. `matins check` says what is wrong with it,\n"
	"# `matins steps` lists all keys, `matins run hello` runs what is "
	"below.\n"
	"\n"
	"[routines.hello]\n"
	"description = \"How this machine is doing\"\n"
	"\n"
	"# Calls one tool of an MCP server that talks over stdin and stdout. "
	"This one is\n"
	"# part of matins; any other works the same way.\n"
	"[[routines.hello.steps]]\n"
	"name    = \"host\"\n"
	"type    = \"mcp-client\"\n"
	"command = \"matins\"\n"
	"args    = [\"brief\"]\n"
	"tool    = \"host\"\n"
	"\n"
	"# Without `tool` the program prints the result itself: one "
	"CallToolResult as JSON.\n"
	"[[routines.hello.steps]]\n"
	"name    = \"deadlines\"\n"
	"type    = \"mcp-client\"\n"
	"command = \"matins\"\n"
	"args    = [\"brief\", \"deadlines\", \"--json\"]\n"
	"\n"
	"# Any program: its output is the body.\n"
	"[[routines.hello.steps]]\n"
	"name    = \"date\"\n"
	"type    = \"script\"\n"
	"command = \"date\"\n"
	"args    = [\"+%A, %d %B %Y\"]\n"
	"timeout = \"10s\"\n"
	"\n"
	"# Every program runs confined: it reads its own installation and the "
	"files that\n"
	"# its arguments name, writes a private /tmp and HOME, starts no other "
	"program,\n"
	"# and has no network. More is granted here, for all of them, or in "
	"one step by\n"
	"# a line such as  sandbox = { read = [\"~/notes\"] }\n"
	"#\n"
	"# [sandbox]\n"
	"# read  = [\"~/notes\"]\n"
	"# exec  = [\"git\"]\n"
	"# net   = \"all\"\n"
	"\n"
	"# Credentials never stand in this file, only where they come from; a "
	"line of a\n"
	"# step:\n"
	"#\n"
	"# env = { API_TOKEN = { file = \"~/.keys/api\" }, OTHER = { env = "
	"\"OTHER\" } }\n"
	"\n"
	"# A server that several steps use has a name; a step then says\n"
	"# `server = \"files\"` instead of `command`:\n"
	"#\n"
	"# [servers.files]\n"
	"# command = \"mcp-server-filesystem\"\n"
	"# args    = [\"/srv/data\"]\n"
	"# sandbox = { read = [\"/srv/data\"] }\n"
	"#\n"
	"# A remote one has a URL; nothing is started for it. Where it wants a "
	"login,\n"
	"# `matins auth login tracker`; where it wants a key, `token` or "
	"`headers`.\n"
	"#\n"
	"# [servers.tracker]\n"
	"# url   = \"https://mcp.example.com/mcp\"\n"
	"# token = { env = \"TRACKER_TOKEN\" }\n";

static int write_starter(const char *path, struct err *err)
{
	AUTO(outfile_release) struct outfile f = OUTFILE_INIT;

	if (outfile_open(&f, path, OUTFILE_NEW, err) < 0)
		return -1;
	return outfile_write_str(&f, str_of(starter), err);
}

/* The file just written may be used at once, from its folder. */
static void allow(const char *path)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	const struct config_options options = {
		.path = path,
		.names_only = true,
		.quiet = true,
		.passive = true,
	};
	char written[SHA256_HEX_BYTES];
	struct err err = ERR_INIT;

	sha256_hex(str_of(starter), written);
	if (config_open(&options, &file, &err) < 0)
		log_warning("%s", err.msg);
	/* a program that may write here can have been faster */
	else if (strcmp(file.sha256, written) != 0)
		log_warning("%s was changed just now, so it is not allowed",
			    path);
	else if (config_allow_keep(&file, false, &err) < 0)
		log_warning("%s", err.msg);
}

int cmd_init(const struct args *args, struct err *err)
{
	const char *path = "matins.toml";

	if (args->n_positional)
		path = args->positional[0];
	else if (args_has(args, "config"))
		path = args_get(args, "config");
	if (write_starter(path, err) < 0)
		return -1;
	if (allow_is_name(path))
		allow(path);
	if (!args->n_positional && !args_has(args, "config"))
		log_note("wrote %s; `matins run hello` runs it", path);
	else
		log_note("wrote %s; `matins run -c %s hello` runs it", path,
			 path);
	return 0;
}
