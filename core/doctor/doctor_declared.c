/*
 * What a file declares beside the programs of its steps, for doctor: servers
 * that no step uses, `exec`, programs that answer sampling or open a page,
 * roots.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/doctor/doctor_inner.h"
#include "core/client/sampling.h"

/* Kept of the stderr of a server; the default of a step. */
#define STDERR_BYTES (64 * 1024)

const char *doctor_row(struct doctor *d, const struct routine *routine,
		       const struct step *step)
{
	if (!routine->name)
		return arena_printf(d->arena, "servers.%s", step->name);
	return arena_printf(d->arena, "%s/%s", routine->name, step->name);
}

/* ---- servers ---- */

static bool is_used(const struct config *c, const struct server *server)
{
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];

			if (s->server == server && s->enabled && !s->instead)
				return true;
		}
	}
	return false;
}

struct routine doctor_unused_servers(struct doctor *d, const struct config *c)
{
	struct routine r = {
		.steps = ARENA_ARRAY(d->arena, struct step, c->n_servers),
	};

	for (size_t i = 0; i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];

		if (is_used(c, s))
			continue;
		r.steps[r.n_steps++] = (struct step){
			.name = s->name,
			.type = "mcp-client",
			.tool = "",
			.enabled = true,
			.timeout_ms = s->timeout_ms,
			.server_name = s->name,
			.server = s,
			.stdout_max = s->stdout_max,
			.stderr_max = STDERR_BYTES,
		};
	}
	return r;
}

/* The program that answers sampling gets no more than [sandbox] either. */
static void look_at_sampling(struct doctor *d, struct gate *gate,
			     const char *step, const struct server *server,
			     const struct gate_policy *policy, const char *cwd)
{
	struct sampling_options options = {
		.gate = gate,
		.policy = policy,
		.cwd = cwd,
	};
	struct err err = ERR_INIT;
	const char *name;

	if (!server->sampling.n)
		return;
	options.name = server->name;
	options.words = server->sampling;
	name = arena_printf(d->arena, "%s sampling", step);
	if (sampling_check(&options, &err) < 0)
		doctor_add(d, "program", name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		doctor_add(d, "program", name, CHECK_OK, "",
			   "%s is there; it was not run",
			   server->sampling.item[0]);
}

/* The user's own program: only whether it is there. */
static void look_at_browser(struct doctor *d, struct gate *gate,
			    const char *step, const struct server *server,
			    const struct gate_policy *policy)
{
	const char *browser = server->auth.browser;
	const char *const argv[] = {browser, NULL};
	const struct gate_request request = {
		.program = browser,
		.argv = argv,
		.policy = policy,
	};
	struct gate_program p = {0};
	struct err err = ERR_INIT;
	const char *name;

	if (!browser)
		return;
	name = arena_printf(d->arena, "%s browser", step);
	if (gate_resolve(gate, &request, &p, &err) < 0)
		doctor_add(d, "program", name, CHECK_FAILED,
			   doctor_program_remedy(&err), "%s", err.msg);
	else
		doctor_add(d, "program", name, CHECK_OK, "",
			   "%s is there; it was not run", p.path);
	gate_program_release(&p);
}

static void look_at_roots(struct doctor *d, const char *step,
			  const struct server *server)
{
	for (size_t i = 0; i < server->roots.n; i++)
		if (access(server->roots.item[i], F_OK) < 0)
			doctor_add(
				d, "server",
				arena_printf(d->arena, "%s roots", step),
				CHECK_FAILED,
				"make that folder, or take it out of `roots`",
				"%s: %s", server->roots.item[i],
				strerror(errno));
}

void doctor_look_at_server(struct doctor *d, struct gate *gate,
			   const char *name, const struct server *server,
			   const struct gate_policy *policy, const char *cwd)
{
	if (!server)
		return;
	look_at_sampling(d, gate, name, server, policy, cwd);
	look_at_browser(d, gate, name, server, policy);
	look_at_roots(d, name, server);
}

/* ---- exec ---- */

static bool is_missing(struct gate *gate, const struct gate_request *request,
		       const char *row, struct err *err)
{
	const char *const argv[] = {row, NULL};
	const struct gate_policy none = {.profile = NULL};
	struct gate_request one = *request;
	struct gate_program p = {0};
	bool missing;

	if (strchr(row, '/'))
		return access(row, F_OK) < 0;
	one.program = row;
	one.argv = argv;
	one.policy = &none;
	missing = gate_resolve(gate, &one, &p, err) < 0 &&
		  err->kind == ERR_NOT_FOUND;
	gate_program_release(&p);
	return missing;
}

bool doctor_look_at_exec(struct doctor *d, struct gate *gate, const char *name,
			 const struct gate_request *request)
{
	const struct strlist *rows = &request->policy->exec;
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];
		struct err err = ERR_INIT;

		if (!is_missing(gate, request, row, &err))
			continue;
		any = true;
		doctor_add(
			d, "program", name, CHECK_FAILED,
			str_ends(str_of(row), "/node_modules")
				? "run npm install in its folder, or take "
				  "it out of `sandbox.exec`"
			: strchr(row, '/') ? "put it there, or take it out of "
					     "`sandbox.exec`"
					   : "install it, or take it out of "
					     "`sandbox.exec`",
			"sandbox.exec names %s, which %s", row,
			strchr(row, '/') ? "does not exist" : "is not in PATH");
	}
	return any;
}
