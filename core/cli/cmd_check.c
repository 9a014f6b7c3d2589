/*
 * Validates a configuration: everything that is wrong with it, at once.
 */
#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/config/config.h"
#include "core/config/config_check.h"
#include "core/doctor/doctor.h"
#include "core/doctor/drift.h"

const struct option options_check[] = {
	{"json", 0, NULL, "print one JSON document"},
	{0},
};

static size_t count_steps(const struct config *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_routines; i++)
		n += c->routines[i].n_steps;
	return n;
}

static size_t count(const struct findings *f, const char *severity)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += !strcmp(finding_severity(&f->item[i]), severity);
	return n;
}

static void add_count(struct buf *out, const char *before, size_t n,
		      const char *what)
{
	buf_addf(out, "%s%zu %s%s", before, n, what, n == 1 ? "" : "s");
}

static void add_summary(const struct config_file *file, struct buf *out)
{
	size_t errors = count(&file->findings, "error");
	size_t warnings = count(&file->findings, "warning");

	log_visible(out, str_of(file->path), false);
	if (file->findings.has_error) {
		errors += (size_t)file->findings.dropped;
		add_count(out, ": ", errors, "error");
	} else {
		add_count(out, ": ok, ", file->config.n_routines, "routine");
		add_count(out, ", ", count_steps(&file->config), "step");
		if (file->config.n_servers)
			add_count(out, ", ", file->config.n_servers, "server");
	}
	if (warnings)
		add_count(out, ", ", warnings, "warning");
	buf_addc(out, '\n');
}

/* Lines as compilers write them; only warnings have their word. */
static void print_text(const struct config_file *file, struct buf *out,
		       struct buf *diagnostics)
{
	const struct findings *f = &file->findings;

	for (size_t i = 0; i < f->n; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
		struct err err = f->item[i].err;

		if (f->item[i].warning)
			err_wrap(&err, "%s", finding_severity(&f->item[i]));
		findings_place(file->path, &err, &line);
		log_visible(diagnostics, buf_str(&line), false);
		buf_addc(diagnostics, '\n');
	}
	if (f->dropped) {
		log_visible(diagnostics, str_of(file->path), false);
		buf_addf(diagnostics, ": and %llu more\n",
			 (unsigned long long)f->dropped);
	}
	add_summary(file, f->has_error ? diagnostics : out);
}

static void print_json(const struct config_file *file, struct jw *w)
{
	jw_kv_cstr(w, "file", file->path);
	jw_kv_bool(w, "ok", !file->findings.has_error);
	jw_kv_int(w, "routines", (int64_t)file->config.n_routines);
	jw_kv_int(w, "steps", (int64_t)count_steps(&file->config));
	jw_kv_array(w, "findings");
	for (size_t i = 0; i < file->findings.n; i++) {
		const struct finding *f = &file->findings.item[i];

		jw_object(w);
		jw_kv_int(w, "line", f->err.line);
		jw_kv_int(w, "col", f->err.col);
		jw_kv_cstr(w, "severity", finding_severity(f));
		jw_kv_cstr(w, "message", f->err.msg);
		jw_end(w);
	}
	jw_end(w);
	if (file->findings.dropped)
		jw_kv_int(w, "dropped", (int64_t)file->findings.dropped);
}

/* Print what each program comes to, and what recipes granted: -v. */
static int print_starts(const struct config_file *file, struct buf *out,
			struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct doctor_options o = {.file = file, .starts_only = true};
	struct doctor d = {.arena = &arena};

	if (doctor_look(&o, &d, err) < 0)
		return -1;
	for (size_t i = 0; i < d.n; i++) {
		buf_addf(out, "  %s  ", d.check[i].name);
		log_visible(out, str_of(d.check[i].text), false);
		buf_addc(out, '\n');
	}
	return 0;
}

static bool has_folders(const struct config *c)
{
	bool has = false;

	for (struct config_part p = {0}; config_next(c, &p);)
		has |= (p.step && p.step->cwd) || (p.server && p.server->cwd);
	return has;
}

/* Warn of each `cwd` in which no program can start, as a run would refuse it.
   One that no step has costs nothing. */
static int check_folders(struct config_file *file, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct doctor_options o = {.file = file, .starts_only = true};
	struct doctor d = {.arena = &arena};

	if (file->findings.has_error || !has_folders(&file->config))
		return 0;
	if (doctor_look(&o, &d, err) < 0)
		return -1;
	for (size_t i = 0; i < d.n; i++)
		if (d.check[i].level == CHECK_FAILED &&
		    str_starts(str_of(d.check[i].text), "cwd "))
			findings_addf(&file->findings, true, d.check[i].line,
				      d.check[i].col, "%s", d.check[i].text);
	findings_sort(&file->findings);
	return 0;
}

/* Warn of installed servers whose files have changed: they do not start. */
static void check_files(struct config_file *file)
{
	const struct config *c = &file->config;

	for (size_t i = 0; !file->findings.has_error && i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];
		struct err err = ERR_INIT;

		if (drift_check_files(c, s, &err) < 0)
			findings_addf(&file->findings, true, s->line, s->col,
				      "%s", err.msg);
	}
}

/* Warn of tools that the catalogue knows to be gone, or others now. */
static void check_tools(struct config_file *file)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct drift drift;
	const char *why;

	if (file->findings.has_error)
		return;
	drift_open(&drift, &file->config, state_dir_find(&arena));
	for (struct config_part p = {0}; config_next(&file->config, &p);)
		if (p.step && (why = drift_of(&drift, p.step, &arena)))
			findings_addf(&file->findings, true, p.step->line,
				      p.step->col, "%s", why);
	for (size_t i = 0; i < file->config.n_actions; i++) {
		const struct action *a = &file->config.actions[i];

		if ((why = drift_of_action(&drift, a, &arena)))
			findings_addf(&file->findings, true, a->line, a->col,
				      "%s", why);
	}
	drift_release(&drift);
	findings_sort(&file->findings);
}

int cmd_check(const struct args *args, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(buf_release) struct buf diagnostics = BUF_INIT(BUF_UNBOUNDED);
	AUTO(page_release) struct page page;
	const struct config_options options = {
		.path = args->n_positional ? args->positional[0]
					   : args_get(args, "config"),
		.lax = args_has(args, "lax"),
		.quiet = true,
		.passive = true,
	};

	page_open(&page, args);
	if (args->n_positional + args_has(args, "config") > 1)
		return err_set(err, ERR_USAGE, "check: name one file, or none");
	/* a file that cannot be read at all has no findings */
	if (config_open(&options, &file, err) < 0 && !file.findings.n)
		return -1;
	config_check_all(&file);
	if (check_folders(&file, err) < 0)
		return -1;
	check_files(&file);
	check_tools(&file);
	if (page.is_json)
		print_json(&file, &page.w);
	else
		print_text(&file, &page.out, &diagnostics);
	if (!page.is_json && !file.findings.has_error &&
	    log_level() == LOG_DEBUG && print_starts(&file, &page.out, err) < 0)
		return -1;
	if (fd_write_all(STDERR_FILENO, diagnostics.p, diagnostics.n) < 0)
		return err_sys(err, errno, "stderr");
	return page_put(&page, err) < 0 ? -1 : file.findings.has_error;
}
