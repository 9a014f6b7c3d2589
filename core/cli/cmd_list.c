/*
 * The routines of the configuration, with their descriptions.
 */
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/base/text.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/param_options.h"
#include "core/cli/past.h"
#include "core/cli/put.h"
#include "core/client/catalogue.h"
#include "core/doctor/installed.h"

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

/* Facts of lists that do not stand in the configuration. */
struct kept {
	struct arena arena;
	struct past_runs runs;
	struct installed installed;
	struct schedule *schedule;
	size_t n_schedules;
};

static void kept_open(struct kept *k)
{
	*k = (struct kept){.arena = ARENA_INIT};
	k->installed.arena = &k->arena;
	schedule_read(state_dir_find(&k->arena), &k->arena, &k->schedule,
		      &k->n_schedules);
	past_runs_open(&k->runs, &k->arena);
}

static void kept_release(struct kept *k)
{
	past_runs_release(&k->runs);
	arena_release(&k->arena);
}

/* Next time of a routine that is scheduled, and last run. */
static void print_times(struct kept *k, const char *path, const char *name,
			struct buf *out)
{
	const struct schedule *s =
		schedule_of(k->schedule, k->n_schedules, path, name);
	const struct ledger_run *run = past_last_run(&k->runs, name, path);
	struct schedule_times t;

	if (s) {
		buf_addf(out, "(%s: next %s; %s)", s->at,
			 installed_times(&k->installed, s, &t),
			 past_last(&k->runs, s, &k->arena));
	} else if (run) {
		buf_addf(out, "(%s)", past_say(run, &k->arena));
	}
}

/* Times stand behind a routine, on a narrow terminal below it. */
static void print_routine(const struct routine *r, size_t width,
			  struct str times, struct buf *out)
{
	const size_t from = out->n, columns = put_columns(STDOUT_FILENO);
	size_t n;

	log_visible(out, str_of(r->name), false);
	for (n = text_columns(str_of(r->name)); n < width; n++)
		buf_addc(out, ' ');
	buf_addf(out, "  %3zu step%s  ", r->n_steps,
		 r->n_steps == 1 ? " " : "s");
	log_visible(out, str_of(r->description ? r->description : ""), false);
	while (out->p[out->n - 1] == ' ')
		out->n--;
	n = text_columns(str_skip(buf_str(out), from)) + 2 + times.n;
	if (times.n)
		buf_addf(out, "%s%.*s",
			 columns && n > columns ? "\n    " : "  ",
			 STR_ARG(times));
	buf_addc(out, '\n');
}

static void print_text(const struct config *c, struct buf *out)
{
	AUTO(kept_release) struct kept kept;
	size_t width = 0;

	kept_open(&kept);
	for (size_t i = 0; i < c->n_routines; i++) {
		const size_t n = text_columns(str_of(c->routines[i].name));

		width = n > width ? n : width;
	}
	for (size_t i = 0; i < c->n_routines; i++) {
		AUTO(buf_release) struct buf times = BUF_INIT(BUF_UNBOUNDED);
		const struct routine *r = &c->routines[i];

		print_times(&kept, c->path, r->name, &times);
		print_routine(r, width, buf_str(&times), out);
	}
}

static size_t longest_step(const struct routine *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_steps; i++)
		if (strlen(r->steps[i].name) > n)
			n = strlen(r->steps[i].name);
	return n;
}

/* One routine: its parameters and steps. */
static int print_one(const char *path, const struct routine *r, struct buf *out,
		     struct err *err)
{
	log_visible(out, str_of(r->name), false);
	buf_adds(out, r->description ? ": " : "");
	log_visible(out, str_of(r->description ? r->description : ""), false);
	buf_addc(out, '\n');
	if (params_print(path, r, out, err) < 0)
		return -1;
	buf_adds(out, r->n_steps ? "\nSteps:\n" : "\nNo steps\n");
	for (size_t i = 0; i < r->n_steps; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		buf_addf(&line, "  %-*s  %s", (int)longest_step(r),
			 r->steps[i].name, r->steps[i].type);
		log_visible(out, buf_str(&line), false);
		buf_addc(out, '\n');
	}
	return 0;
}

/* Write parameters as "params": [{"name", "required", "schema"}, ...]. */
static void print_params(const struct routine *r, struct jw *w)
{
	jw_kv_array(w, "params");
	for (size_t i = 0; r->params && i < r->params->table.n; i++) {
		AUTO(buf_release) struct buf schema = BUF_INIT(BUF_UNBOUNDED);
		const struct toml_member *m = &r->params->table.member[i];

		toml_to_json(&m->value, &schema);
		jw_object(w);
		jw_kv_cstr(w, "name", m->key);
		jw_kv_bool(w, "required", !toml_get(&m->value, "default"));
		jw_kv_raw(w, "schema", buf_str(&schema));
		jw_end(w);
	}
	jw_end(w);
}

/* Write "schedule" with the next time, and "last", where there are these. */
static void print_times_json(struct kept *k, const char *path, const char *name,
			     struct jw *w)
{
	const struct schedule *s =
		schedule_of(k->schedule, k->n_schedules, path, name);
	const char *overdue = s ? past_overdue(&k->runs, s, &k->arena) : "";
	struct schedule_times t;

	if (s) {
		(void)!installed_times(&k->installed, s, &t);
		jw_kv_object(w, "schedule");
		jw_kv_cstr(w, "at", s->at);
		if (*t.next)
			jw_kv_cstr(w, "next", t.next);
		if (*overdue)
			jw_kv_cstr(w, "overdue", overdue);
		jw_end(w);
	}
	past_last_json(&k->runs, name, path, w);
}

/* only  NULL: all */
static void print_json(const struct config_file *file,
		       const struct routine *only, struct jw *w)
{
	const struct config *c = &file->config;
	AUTO(kept_release) struct kept kept;

	kept_open(&kept);
	jw_kv_cstr(w, "file", file->path);
	jw_kv_array(w, "routines");
	for (size_t i = 0; i < c->n_routines; i++) {
		const struct routine *r = &c->routines[i];

		if (only && only != r)
			continue;
		jw_object(w);
		jw_kv_cstr(w, "name", r->name);
		jw_kv_opt(w, "description", r->description);
		print_times_json(&kept, c->path, r->name, w);
		print_params(r, w);
		jw_kv_array(w, "steps");
		for (size_t k = 0; k < r->n_steps; k++) {
			jw_object(w);
			jw_kv_cstr(w, "name", r->steps[k].name);
			jw_kv_cstr(w, "type", r->steps[k].type);
			jw_end(w);
		}
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
}

/* The tools that an earlier command listed; no server starts. */
static void print_tools(const struct config *c, const char *server,
			struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct strlist names = catalogue_tools(state_dir_find(&arena),
						     c->path, server, &arena);

	for (size_t i = 0; i < names.n; i++)
		buf_addf(out, "%s\n", names.item[i]);
}

/* Names alone, one a line; false: no option asks for them. */
static bool print_names(const struct args *args, const struct config *c,
			const struct routine *of, struct buf *out)
{
	const char *tools = args_get(args, "tools");
	const bool is_remote = args_has(args, "remote");

	for (size_t i = 0; of && i < of->n_steps; i++)
		buf_addf(out, "%s\n", of->steps[i].name);
	if (tools)
		print_tools(c, tools, out);
	if (args_has(args, "servers"))
		for (size_t i = 0; i < c->n_servers; i++)
			if (!is_remote || c->servers[i].url)
				buf_addf(out, "%s\n", c->servers[i].name);
	if (args_has(args, "names"))
		for (size_t i = 0; i < c->n_routines; i++)
			buf_addf(out, "%s\n", c->routines[i].name);
	return of || tools || args_has(args, "servers") ||
	       args_has(args, "names");
}

static int check_usage(const struct args *args, struct err *err)
{
	const int lists = args_has(args, "names") + args_has(args, "servers") +
			  args_has(args, "steps") + args_has(args, "tools");

	if (args_has(args, "json") + lists > 1)
		return err_set(err, ERR_USAGE,
			       "list: use only one of --json, --names, "
			       "--servers, --steps and --tools");
	if (args->n_positional && lists)
		return err_set(err, ERR_USAGE,
			       "list: a routine goes with --json, no other "
			       "option");
	if (args_has(args, "remote") && !args_has(args, "servers"))
		return err_set(err, ERR_USAGE,
			       "list: --remote needs --servers");
	return 0;
}

int cmd_list(const struct args *args, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(page_release) struct page page;
	const struct config_options passive = {
		.names_only = true,
		.passive = true,
	};
	const char *steps = args_get(args, "steps");
	const char *name = args->positional[0];
	const struct routine *of = NULL, *only = NULL;

	page_open(&page, args);
	if (check_usage(args, err) < 0 ||
	    open_config(args, passive, &file, err) < 0 ||
	    (steps && find_routine(&file.config, steps, &of, err) < 0) ||
	    (name && find_routine(&file.config, name, &only, err) < 0))
		return -1;
	if (page.is_json)
		print_json(&file, only, &page.w);
	else if (only && print_one(file.path, only, &page.out, err) < 0)
		return -1;
	else if (!only && !print_names(args, &file.config, of, &page.out))
		print_text(&file.config, &page.out);
	if (!file.config.n_routines && !args_has(args, "servers") &&
	    !args_has(args, "tools"))
		log_note("no routines in %s", file.path);
	return page_put(&page, err);
}
