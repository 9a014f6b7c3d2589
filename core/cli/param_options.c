#include "core/cli/param_options.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/cli/key_options.h"
#include "core/cli/open.h"
#include "core/config/params.h"
#include "core/config/references.h"

/* ---- options ---- */

/* A pipe that the shell made, of <(…); any other FIFO may have no writer. */
static bool is_descriptor(const char *file)
{
	return str_starts(str_of(file), "/dev/fd/") ||
	       str_starts(str_of(file), "/proc/self/fd/");
}

int param_options_read(const struct args *args, struct arena *arena,
		       struct inputs_given *ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const char *file = args_get(args, "params");
	int r = 0;

	*ret = (struct inputs_given){.params = args_all(args, "param", arena)};
	if (!file)
		return 0;
	r = strcmp(file, "-") == 0 ? fd_read_all(STDIN_FILENO, &text, err)
	    : is_descriptor(file)  ? fd_read_file(file, &text, err)
				   : fd_read_regular(file, &text, err);
	if (r < 0) {
		err->kind = ERR_USAGE;
		return err_wrap(err, "--params");
	}
	if (!str_trim(buf_str(&text)).n)
		return err_set(err, ERR_USAGE,
			       "--params %s: empty; write a JSON object: "
			       "{\"NAME\": VALUE}",
			       file);
	ret->object = arena_buf(arena, &text);
	return 0;
}

/* ---- for people ---- */

/* "string or null", "any value"; of an enum its values. */
static void add_type(const struct schema_property *p, struct buf *out)
{
	const size_t n = out->n;
	unsigned left = p->n_choices && !p->is_list ? 0 : p->types;

	for (size_t i = 0; !p->is_list && i < p->n_choices; i++)
		buf_addf(out, "%s%.*s", out->n > n ? " or " : "",
			 STR_ARG(p->choice[i].value));
	if (left & SCHEMA_TYPE_NUMBER)
		left &= ~(unsigned)SCHEMA_TYPE_INTEGER;
	for (; left; left &= left - 1)
		buf_addf(out, "%s%s", out->n > n ? " or " : "",
			 schema_type_name((enum schema_type)(left & -left)));
	buf_adds(out, out->n > n ? "" : "any value");
}

static void add_param(const struct schema_property *p, size_t width,
		      struct buf *out)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&line, "  %-*.*s  ", (int)width, STR_ARG(p->name));
	add_type(p, &line);
	if (p->fallback.p)
		buf_addf(&line, ", default %.*s", STR_ARG(p->fallback));
	else
		buf_adds(&line, ", required");
	if (p->description.n)
		buf_addf(&line, ": %.*s", STR_ARG(p->description));
	log_visible(out, buf_str(&line), false);
	buf_addc(out, '\n');
}

static void add_used(const struct routine *r, struct arena *arena,
		     struct buf *out)
{
	const struct strlist used = references_inputs(r, arena);

	if (!used.n)
		return;
	buf_adds(out, "\nParameters that steps refer to, set by -p "
		      "NAME=VALUE:\n");
	for (size_t i = 0; i < used.n; i++) {
		buf_adds(out, "  ");
		log_visible(out, str_of(*used.item[i] ? used.item[i] : "any"),
			    false);
		buf_addc(out, '\n');
	}
}

int params_print(const char *path, const struct routine *r, struct buf *out,
		 struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(params_release) struct params params;
	size_t width = 0;

	if (params_read(r, &arena, &params, err) < 0) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		findings_place(path, err, &text);
		return err_at(err, err->kind, err->line, err->col, "%s",
			      buf_cstr(&text));
	}
	if (!params.schema)
		add_used(r, &arena, out);
	for (size_t i = 0; i < params.n; i++)
		if (params.item[i].name.n > width)
			width = params.item[i].name.n;
	buf_adds(out, params.n ? "\nParameters, set by -p NAME=VALUE:\n" : "");
	for (size_t i = 0; i < params.n; i++)
		add_param(&params.item[i], width, out);
	return 0;
}

static void help_of(const struct args *args, size_t nth)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct config_options options = {
		.quiet = true,
		.names_only = true,
		.passive = true,
	};
	const struct routine *r = NULL;
	struct err err = ERR_INIT;

	if (args->n_positional <= nth)
		return;
	if (open_config(args, options, &file, &err) < 0 ||
	    find_routine(&file.config, args->positional[nth], &r, &err) < 0 ||
	    params_print(file.path, r, &out, &err) < 0)
		log_note("%s", err.msg);
	fputs(buf_cstr(&out), stdout);
}

void params_help(const struct args *args)
{
	help_of(args, 0);
}

void params_help_trace(const struct args *args)
{
	policy_recipes_help(args);
	help_of(args, 0);
}

void params_help_golden(const struct args *args)
{
	help_of(args, 1);
}
