/*
 * The routines of the configuration, with their descriptions.
 */

#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/cli/open.h"
#include "core/config/config.h"
#include "core/client/known_tools.h"

const struct option options_list[] = {
	{"json", 0, NULL, "print one JSON document"},
	{"names", 0, NULL, "print only names, one a line"},
	{"servers", 0, NULL, "print the names of the servers, one a line"},
	{"remote", 0, NULL, "with --servers: only servers with a URL"},
	{"steps", 0, "ROUTINE", "print the names of the steps of a routine"},
	{"tools", 0, "SERVER",
	 "print the names of the tools of a server, as last listed"},
	{0},
};

static size_t widest(const struct config *c)
{
	size_t width = 0;

	for (size_t i = 0; i < c->n_routines; i++)
		if (strlen(c->routines[i].name) > width)
			width = strlen(c->routines[i].name);
	return width;
}

static void print_text(const struct config *c, struct buf *out)
{
	int width = (int)widest(c);

	for (size_t i = 0; i < c->n_routines; i++) {
		const struct routine *r = &c->routines[i];

		buf_addf(out, "%-*s  %3zu step%s  ", width, r->name, r->n_steps,
			 r->n_steps == 1 ? " " : "s");
		log_visible(out, str_of(r->description ? r->description : ""),
			    false);
		while (out->p[out->n - 1] == ' ')
			out->n--;
		buf_addc(out, '\n');
	}
}

static void print_steps(struct jw *w, const struct routine *r)
{
	jw_kv_array(w, "steps");
	for (size_t i = 0; i < r->n_steps; i++) {
		jw_object(w);
		jw_kv_cstr(w, "name", r->steps[i].name);
		jw_kv_cstr(w, "type", r->steps[i].type);
		jw_end(w);
	}
	jw_end(w);
}

static void print_json(const struct config_file *file, struct buf *out)
{
	const struct config *c = &file->config;
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_cstr(&w, "file", file->path);
	jw_kv_array(&w, "routines");
	for (size_t i = 0; i < c->n_routines; i++) {
		const struct routine *r = &c->routines[i];

		jw_object(&w);
		jw_kv_cstr(&w, "name", r->name);
		if (r->description)
			jw_kv_cstr(&w, "description", r->description);
		print_steps(&w, r);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}

/* Print the names of routines. */
static void print_names(const struct config *c, struct buf *out)
{
	for (size_t i = 0; i < c->n_routines; i++)
		buf_addf(out, "%s\n", c->routines[i].name);
}

static void print_servers(const struct config *c, bool is_remote,
			  struct buf *out)
{
	for (size_t i = 0; i < c->n_servers; i++)
		if (!is_remote || c->servers[i].url)
			buf_addf(out, "%s\n", c->servers[i].name);
}

/* Print the tools that an earlier command listed; no server starts. */
static void print_tools(const struct config *c, const char *server,
			struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct strlist names =
		known_tools(state_dir_find(&arena), c->path, server, &arena);

	for (size_t i = 0; i < names.n; i++)
		buf_addf(out, "%s\n", names.item[i]);
}

static int print_step_names(const struct config *c, const char *name,
			    struct buf *out, struct err *err)
{
	const struct routine *r;

	if (find_routine(c, name, &r, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n_steps; i++)
		buf_addf(out, "%s\n", r->steps[i].name);
	return 0;
}

static int list(const struct args *args, struct config_file *file,
		struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct config_options options = {
		.path = args_get(args, "config"),
		.lax = args_has(args, "lax"),
		.names_only = true,
		.passive = true,
	};

	const char *steps = args_get(args, "steps");
	const char *tools = args_get(args, "tools");

	if (config_open(&options, file, err) < 0)
		return -1;
	if (steps && print_step_names(&file->config, steps, &out, err) < 0)
		return -1;
	if (args_has(args, "json"))
		print_json(file, &out);
	else if (args_has(args, "servers"))
		print_servers(&file->config, args_has(args, "remote"), &out);
	else if (tools)
		print_tools(&file->config, tools, &out);
	else if (args_has(args, "names"))
		print_names(&file->config, &out);
	else if (!steps)
		print_text(&file->config, &out);
	if (!file->config.n_routines && !args_has(args, "servers") && !tools)
		log_note("no routines in %s", file->path);
	return put(buf_str(&out), args_has(args, "json") ? PUT_JSON : PUT_TEXT,
		   err);
}

int cmd_list(const struct args *args, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};

	if (args_has(args, "json") + args_has(args, "names") +
		    args_has(args, "servers") + args_has(args, "steps") +
		    args_has(args, "tools") >
	    1)
		return err_set(err, ERR_USAGE,
			       "list: use only one of --json, --names, "
			       "--servers, --steps and --tools");
	if (args_has(args, "remote") && !args_has(args, "servers"))
		return err_set(err, ERR_USAGE,
			       "list: --remote needs --servers");
	return list(args, &file, err);
}
