#include "gate/prepare/prepare.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "gate/build/seccomp.h"
#include "gate/child/hang.h"
#include "gate/child/process.h"
#include "gate/policy/allow.h"
#include "gate/prepare/facts.h"
#include "gate/prepare/prepare_env.h"
#include "gate/prepare/prepare_filter.h"
#include "gate/prepare/prepare_grants.h"
#include "gate/prepare/prepare_programs.h"
#include "gate/prepare/prepare_view.h"
#include "gate/prepare/probe.h"

/* ---- programs ---- */

/* Interpreters come with their script, or must be listed: the leash says. */
static int judge_interpreters(const struct gate_leash *leash,
			      const struct resolved *r, struct err *err)
{
	if (leash->interpreters || leash->exec.all)
		return 0;
	for (size_t i = 1; i < r->n; i++) {
		const struct resolved_file *f = &r->file[i];
		const char *asked =
			f->is_bare ? resolve_basename(f->asked) : f->asked;

		if (!f->is_loader && allow_exec(leash, asked, f->path, err) < 0)
			return err_wrap(err, "interpreter of %s",
					r->file[0].asked);
	}
	return 0;
}

static int resolve_allowed(struct prepared *p, const char *name,
			   struct resolved *ret, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;
	struct err not_found = ERR_INIT;

	if (resolve_program(name, NULL, &p->arena, ret, &not_found) < 0) {
		/* a program that is not allowed is refused, exist it or not */
		if (allow_exec(leash, name, NULL, err) < 0)
			return -1;
		*err = not_found;
		return -1;
	}
	if (allow_exec(leash, name, ret->file[0].path, err) < 0)
		return -1;
	return judge_interpreters(leash, ret, err);
}

static int prepare_program(struct prepared *p, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;

	if (allow_generation(leash, p->gate->config.generation, err) < 0 ||
	    allow_calls(leash, p->gate->spawned, err) < 0)
		return -1;
	return resolve_allowed(p, p->request->program, &p->program, err);
}

/* Keeps the folder of a row of `exec`; false: it is a program. */
static bool take_exec_folder(struct prepared *p, const char *row)
{
	struct exec_folder *f = &p->exec_folder[p->n_exec_folders];

	*f = (struct exec_folder){.asked = row, .found = WALK_INIT};
	if (row[0] != '/' || walk_open(row, &p->arena, &f->found) < 0)
		return false;
	p->n_exec_folders++;
	if (f->found.path && S_ISDIR(f->found.st.st_mode))
		return true;
	walk_release(&p->exec_folder[--p->n_exec_folders].found);
	return false;
}

static int judge_exec_row(struct prepared *p, const char *row, struct err *err)
{
	const struct gate_leash *leash = &p->gate->config.leash;
	struct resolved *program = &p->execs[p->n_execs];

	if (take_exec_folder(p, row)) {
		struct exec_folder *f = &p->exec_folder[p->n_exec_folders - 1];

		if (allow_exec(leash, row, f->found.path, err) == 0)
			return 0;
		walk_release(&f->found);
		p->n_exec_folders--;
		return -1;
	}
	if (resolve_allowed(p, row, program, err) == 0) {
		p->n_execs++;
		return 0;
	}
	resolved_release(program);
	return -1;
}

/* A path beneath the working directory is shown as most people wrote it. */
static int no_such_row(const struct prepared *p, const char *row,
		       struct err *err)
{
	struct str rest = str_of(row);
	const char *cwd = p->request->cwd;
	bool is_below = cwd && str_starts(rest, cwd) && rest.n > strlen(cwd) &&
			row[strlen(cwd)] == '/';

	if (is_below)
		rest = str_of(row + strlen(cwd));
	return err_set(err, ERR_NOT_FOUND,
		       "sandbox.exec names %s%s, which does not exist%s",
		       is_below ? "." : "", rest.p,
		       str_ends(rest, "/node_modules")
			       ? " (run npm install first?)"
			       : "");
}

/* A row that the leash refuses is left out, and said to be. */
static int prepare_exec_rows(struct prepared *p, struct err *err)
{
	const struct strlist *rows = &p->policy.exec;

	p->execs = ARENA_ARRAY(&p->arena, struct resolved, rows->n + 1);
	p->exec_folder =
		ARENA_ARRAY(&p->arena, struct exec_folder, rows->n + 1);
	for (size_t i = 0; i < rows->n; i++) {
		struct err one = ERR_INIT;

		if (judge_exec_row(p, rows->item[i], &one) == 0)
			continue;
		if (one.kind != ERR_LEASH) {
			const char *row = rows->item[i];

			if (row[0] == '/' && access(row, F_OK) < 0 &&
			    errno == ENOENT)
				return no_such_row(p, row, err);
			*err = one;
			return err_wrap(err, "exec");
		}
		prepared_cap(p, "%s", one.msg);
	}
	return 0;
}

/* ---- argv ---- */

static void prepare_argv(struct prepared *p)
{
	const struct resolved *r = &p->program;
	const char *const *argv = p->request->argv;

	for (size_t i = 0; i < r->prefix.n; i++)
		list_add(&p->argv, &p->arena, r->prefix.item[i]);
	for (size_t i = r->prefix.n ? 1 : 0; argv[0] && argv[i]; i++)
		list_add(&p->argv, &p->arena, argv[i]);
	if (!p->argv.n)
		list_add(&p->argv, &p->arena, p->request->program);
	list_add(&p->argv, &p->arena, NULL);
}

/* ---- the control group ---- */

static void prepare_group(struct prepared *p)
{
	struct cgroups *pool = &p->gate->cgroups;
	const struct cgroup_want want = {p->policy.memory_bytes,
					 p->policy.processes};
	struct err err = ERR_INIT;

	/* groups are swept where they are made, folders only when needed */
	if (p->for_start && !p->gate->swept) {
		p->gate->swept = true;
		private_sweep();
	}
	cgroups_open(pool, NULL);
	memcpy(p->group_has, pool->has, sizeof(p->group_has));
	if (!p->for_start || !pool->n_trees)
		return;
	if (cgroups_take(pool, &want, &p->group, &err) == 0 &&
	    cgroup_open_doors(pool, p->group, &p->launch.fd[FD_GROUP], &err) ==
		    0) {
		p->launch.has_group_folder = pool->is_unified;
		return;
	}
	/* the facts then say that there is none */
	for (int i = FD_GROUP; i <= FD_GROUP_LAST; i++)
		fd_closep(&p->launch.fd[i]);
	cgroups_give(pool, p->group);
	p->group = NULL;
	p->group_has[CGROUP_MEMORY] = p->group_has[CGROUP_PIDS] = false;
}

/* ---- the whole ---- */

static int choose_isolation(struct prepared *p, struct err *err)
{
	const struct gate *g = p->gate;

	if (p->policy.isolate == GATE_ISOLATE_OFF) {
		p->why_no_view = "isolate = \"off\"";
		return 0;
	}
	gate_probe(p->gate);
	p->own_view = g->ns.available;
	if (p->own_view)
		return 0;
	p->why_no_view =
		arena_printf(&p->arena, "no namespaces here: %s", g->ns.why);
	if (p->policy.isolate == GATE_ISOLATE_REQUIRE)
		return err_set(err, ERR_PROTECTION,
			       "isolate = \"require\", but %s; see matins "
			       "doctor",
			       p->why_no_view);
	return 0;
}

static int choose_net(struct prepared *p, struct err *err)
{
	if (p->own_view)
		policy_use_proxy(&p->policy);
	if (p->policy.net == POLICY_NET_LOOPBACK && !p->own_view)
		return err_set(err, ERR_PROTECTION,
			       "net = \"loopback\" needs a network namespace: "
			       "%s",
			       p->why_no_view);
	if (p->policy.net == POLICY_NET_PROXY && !p->own_view)
		return err_set(err, ERR_PROTECTION,
			       "net: rows with hosts or addresses need a "
			       "network namespace, which is not available: "
			       "%s; ports alone (\":443\") and \"all\" can do "
			       "without",
			       p->why_no_view);
	if (p->policy.net == POLICY_NET_PORTS && p->gate->landlock_abi < 4)
		return err_set(
			err, ERR_PROTECTION,
			"net: ports alone need a network namespace (%s) or "
			"Landlock ABI 4 (Linux 6.7); net = \"all\" is what "
			"can be done here",
			p->why_no_view);
	return 0;
}

static struct prepared begin(struct gate *gate,
			     const struct gate_request *request)
{
	return (struct prepared){.gate = gate,
				 .request = request,
				 .arena = ARENA_INIT,
				 .launch = {.fd = LAUNCH_NO_FDS}};
}

/* Leash, program, grants, user, view, environment, filter: in that order. */
static int prepare(struct gate *gate, const struct gate_request *request,
		   bool for_start, struct prepared *p, struct err *err)
{
	static const struct gate_policy none;
	const struct gate_policy *policy =
		request->policy ? request->policy : &none;

	*p = begin(gate, request);
	p->for_start = for_start;
	p->grants = (struct grants)GRANTS_INIT(&p->arena);
	if (policy_resolve(policy, &gate->config.leash, &p->arena, &p->policy,
			   err) < 0 ||
	    seccomp_check_names(&policy->syscalls, err) < 0 ||
	    prepare_program(p, err) < 0 || prepare_exec_rows(p, err) < 0 ||
	    prepare_programs(p, err) < 0)
		return -1;
	if (choose_isolation(p, err) < 0 || choose_net(p, err) < 0)
		return -1;
	prepare_group(p);
	prepare_argv(p);
	if (prepare_grants(p, err) < 0 || prepare_identity(p, err) < 0 ||
	    prepare_view(p, err) < 0)
		return -1;
	if (prepare_env(p, err) < 0 || prepare_filter(p, err) < 0)
		return -1;
	return prepare_facts(p, err);
}

/* ---- in time ---- */

/* A child that has not come to exec by then never will. */
#define START_MS 20000
/* The kernel sends no event when a lease was given back. */
#define LEASE_NAP_MS 10

uint64_t prepare_until(const struct gate_request *request)
{
	uint64_t ms = request->start_ms;

	if (!ms || ms > START_MS)
		ms = START_MS;
	return clock_system()->now_ns(clock_system()) + ms * NS_PER_MS;
}

static bool may_hang(struct gate *g)
{
	if (g->hang == GATE_HANG_UNKNOWN)
		g->hang = hang_is_possible() ? GATE_HANG_MAY : GATE_HANG_NEVER;
	return g->hang == GATE_HANG_MAY;
}

int prepare_by(struct gate *gate, const struct gate_request *request,
	       bool for_start, uint64_t until_ns, struct prepared *p,
	       struct err *err)
{
	*p = begin(gate, request);
	if (may_hang(gate) && hang_try(request, until_ns, err) < 0)
		return -1;
	for (;;) {
		int left, r = prepare(gate, request, for_start, p, err);

		left = process_left_ms(until_ns);
		if (r == 0 || err->kind != ERR_DEADLINE || !left)
			return r;
		prepared_release(p);
		*err = (struct err)ERR_INIT;
		poll(NULL, 0, left < LEASE_NAP_MS ? left : LEASE_NAP_MS);
	}
}

void prepare_default(struct gate *gate, struct prepared *p)
{
	static const struct gate_policy none;
	static const struct gate_request nothing;
	struct err ignored = ERR_INIT;

	*p = begin(gate, &nothing);
	prepare_group(p);
	/* failures are what the facts then say */
	if (policy_resolve(&none, NULL, &p->arena, &p->policy, &ignored) < 0 ||
	    choose_isolation(p, &ignored) < 0 ||
	    prepare_identity(p, &ignored) < 0 ||
	    prepare_filter(p, &ignored) < 0 || prepare_facts(p, &ignored) < 0)
		return;
}
