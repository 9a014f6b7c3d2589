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

/* core/cli/starter.toml, a line a string. */
static const char starter[] =
#include "gen/starter.inc"
	;

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
		log_warning("%s was changed after it was written, so it is "
			    "not allowed; read it, then run matins allow",
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
