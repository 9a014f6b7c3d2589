#include "core/doctor/programs.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/place.h"
#include "core/config/paths.h"
#include "core/config/ref.h"
#include "core/run/advice.h"
#include "core/run/refused_file.h"

/* Add what a launcher comes to, and what recipes granted. */
static void add_start(struct doctor *d, const char *name,
		      const struct gate_explained *e)
{
	if (e->runs)
		doctor_add(d, "program", name, CHECK_OK, "", "%s", e->runs);
	for (size_t i = 0; i < e->recipes.n; i++)
		doctor_add(d, "program", name, CHECK_OK, "", "recipe %s",
			   e->recipes.item[i]);
}

static void look_at_file(struct doctor *d, const char *name,
			 const struct gate_explained *e)
{
	const struct passwd *pw;
	struct stat st;

	if (stat(e->program, &st) < 0) {
		doctor_add(d, "program", name, CHECK_FAILED, "install it again",
			   "%s: %s", e->program, strerror(errno));
		return;
	}
	pw = getpwuid(st.st_uid);
	add_start(d, name, e);
	doctor_add(d, "program", name, CHECK_OK, "",
		   "%s, owned by %s, who alone can write it%s%s%s%s",
		   e->program,
		   pw ? pw->pw_name
		      : arena_printf(d->arena, "uid %u", (unsigned)st.st_uid),
		   e->interpreter ? ", runs " : "",
		   e->interpreter ? e->interpreter : "",
		   e->installation ? ", may read " : "",
		   e->installation ? e->installation : "");
}

/* Warn of secrets that arguments hand on, perhaps without anyone meaning it. */
static void look_at_arguments(struct doctor *d, const char *name,
			      const struct gate_request *request)
{
	struct gate_explained e;

	/* an error is the row of the program */
	if (gate_explain(d->gate, request, d->arena, &e, ERR_IGNORED) < 0)
		return;
	for (size_t i = 0; i < e.n_grants; i++)
		if (e.grant[i].is_argument && e.grant[i].secret)
			doctor_add(d, "program", name, CHECK_WARNING,
				   "take it out of `args`, or name it in "
				   "`sandbox.read` if it is meant",
				   "%s can be read, because an argument names "
				   "it; %s "
				   "holds keys, tokens or sessions",
				   e.grant[i].path, e.grant[i].secret);
}

/* Report whether an entry of `exec` does not exist. */
static bool is_missing(struct gate *gate, const struct gate_request *request,
		       const char *row)
{
	const char *const argv[] = {row, NULL};
	const struct gate_policy none = {.profile = NULL};
	struct gate_request one = *request;
	struct err err = ERR_INIT;

	if (strchr(row, '/'))
		return access(row, F_OK) < 0;
	one.program = row;
	one.argv = argv;
	one.policy = &none;
	return gate_check(gate, &one, &err) < 0 && err.kind == ERR_NOT_FOUND;
}

/* Add a row for each entry of `exec` that does not exist; true: some do not. */
static bool look_at_exec(struct doctor *d, const char *name,
			 const struct gate_request *request)
{
	const struct strlist *rows = &request->policy->exec;
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];
		bool is_path = strchr(row, '/');

		if (!is_missing(d->gate, request, row))
			continue;
		any = true;
		doctor_add(
			d, "program", name, CHECK_FAILED,
			arena_printf(d->arena,
				     "%s, or take it out of "
				     "`sandbox.exec`",
				     str_ends(str_of(row), "/node_modules")
					     ? "run npm install in its folder"
				     : is_path ? "put it there"
					       : "install it"),
			"sandbox.exec names %s, which %s", row,
			is_path ? "does not exist" : "is not in PATH");
	}
	return any;
}

/* A path of [sandbox] is one of every program. */
static bool is_said(const struct doctor *d, const char *text)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->check[i].text, text) == 0)
			return true;
	return false;
}

/* Warn of paths of `read` that do not exist; of `write` they are an error. */
static void look_at_read(struct doctor *d, const char *name,
			 const struct strlist *read)
{
	for (size_t i = 0; i < read->n; i++) {
		const char *path = read->item[i], *text;

		if (access(path, F_OK) == 0 || errno != ENOENT)
			continue;
		text = arena_printf(d->arena,
				    "sandbox.read names %s, which does not "
				    "exist",
				    path);
		if (!is_said(d, text))
			doctor_add(d, "program", name, CHECK_WARNING,
				   "make it, or take it out of `sandbox.read`",
				   "%s", text);
	}
}

/* Does the program see the path, or something in it? */
static bool is_seen(const struct gate_explained *e, const char *path)
{
	for (size_t i = 0; i < e->n_base; i++)
		if (place_covers(e->base[i].path, path))
			return true;
	for (size_t i = 0; i < e->n_grants; i++)
		if (place_covers(e->grant[i].path, path) ||
		    place_covers(path, e->grant[i].path))
			return true;
	return place_covers("/proc", path) || place_covers("/dev", path);
}

/*
 * Warn of files that a text names as paths are written, with a slash, and that
 * are there for the person alone: the program will not find them.
 */
static void look_at_words(struct doctor *d, const char *name,
			  const struct gate_request *request,
			  const struct gate_explained *e, const char *text)
{
	const struct advice_known known = {.request = request};
	const struct file_finder finder = {.known = &known, .arena = d->arena};
	const struct strlist words = gate_path_words(str_of(text), d->arena);
	/* a path of the configuration begins in its folder */
	const bool is_here =
		request->cwd && strcmp(request->cwd, d->config->dir) == 0;

	for (size_t i = 0; i < words.n; i++) {
		const char *word = words.item[i], *path;

		/* "./notes" comes without its dot */
		if (!strchr(word, '/')) {
			word = arena_printf(d->arena, "./%s", word);
			if (!strstr(text, word))
				continue;
		}
		path = file_real(&finder, str_of(word));
		/* a URL ends in a word that begins with two */
		if (strncmp(word, "//", 2) != 0 && access(path, F_OK) == 0 &&
		    !is_seen(e, path) &&
		    !file_holds_secrets(d->gate, path, d->arena))
			doctor_add(d, "program", name, CHECK_WARNING,
				   arena_printf(
					   d->arena,
					   "sandbox.read = [\"%s\"], or write, "
					   "if the program needs it",
					   is_here ? word : path),
				   "%s is named, and is not granted: the "
				   "program does "
				   "not see it",
				   word);
	}
}

static void look_at_named(struct doctor *d, const char *name,
			  const struct gate_request *request,
			  const struct env_refs *env,
			  const struct gate_explained *e)
{
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++)
		look_at_words(d, name, request, e, request->argv[i]);
	for (size_t i = 0; i < env->n_plain; i++)
		look_at_words(d, name, request, e, env->plain[i].value);
}

/* Argument that a run fills in, and that may be the end of a path; or NULL. */
static const char *filled_in(struct doctor *d, const struct plan_step *s,
			     const char *path)
{
	const struct strlist *args =
		s->step->server ? &s->step->server->args : &s->step->args;
	const char *const *argv = s->request.argv + (s->step->script ? 2 : 1);
	struct ref_string parts;

	for (size_t i = 0; i < args->n; i++)
		if (ref_read(str_of(args->item[i]), d->arena, &parts,
			     ERR_IGNORED) == 0 &&
		    parts.has_refs && str_ends(str_of(path), argv[i]))
			return args->item[i];
	return NULL;
}

static void look_at_script(struct doctor *d, const char *name,
			   const struct plan_step *s,
			   const struct gate_explained *e)
{
	const struct gate_request *request = &s->request;
	const char *later = filled_in(d, s, e->missing_script);

	if (later) {
		doctor_add(d, "program", name, CHECK_OK, "", "%s is to run %s",
			   e->program, later);
		return;
	}
	for (size_t i = 1; request->argv[0] && request->argv[i]; i++) {
		if (!path_needs_shell(str_of(request->argv[i])))
			continue;
		doctor_add(d, "program", name, CHECK_FAILED,
			   "write the whole path: no shell reads `args`",
			   "%s is to run %s, which is passed on as it is",
			   e->program, request->argv[i]);
		return;
	}
	doctor_add(d, "program", name, CHECK_FAILED,
		   "mend `args`; relative names begin in the folder that it "
		   "starts in",
		   "%s is to run %s, which does not exist", e->program,
		   e->missing_script);
}

static void look_at_start(struct doctor *d, const char *name,
			  const struct gate_request *request)
{
	struct gate_explained e;
	struct err err = ERR_INIT;

	if (gate_explain(d->gate, request, d->arena, &e, &err) < 0) {
		doctor_add(d, "program", name, CHECK_FAILED, "", "%s", err.msg);
		return;
	}
	if (!e.runs)
		doctor_add(d, "program", name, CHECK_OK, "", "%s: runs %s",
			   request->program, e.program);
	add_start(d, name, &e);
}

void doctor_look_at_program(struct doctor *d, const char *name,
			    const struct plan_step *s)
{
	const struct gate_request *request = &s->request;
	struct gate_explained e;
	struct err err = ERR_INIT;

	if (d->options->starts_only) {
		look_at_start(d, name, request);
		return;
	}
	look_at_arguments(d, name, request);
	look_at_read(d, name, &request->policy->read);
	/* the gate would repeat the first of those rows */
	if (look_at_exec(d, name, request))
		return;
	if (gate_explain(d->gate, request, d->arena, &e, &err) < 0)
		doctor_add_program(d, "program", name, NULL, -1, &err);
	else if (e.missing_script)
		look_at_script(d, name, s, &e);
	else {
		look_at_file(d, name, &e);
		look_at_named(d, name, request, &s->step->env, &e);
	}
}
