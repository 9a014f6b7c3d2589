#include "gate/prepare/prepare_env.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"
#include "gate/proxy/proxy.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

extern char **environ;

/* Pass on the language and the time zone of the caller's own environment. */
static bool is_passed_on(const char *entry)
{
	return strncmp(entry, "LANG=", 5) == 0 ||
	       strncmp(entry, "LANGUAGE=", 9) == 0 ||
	       strncmp(entry, "LC_", 3) == 0 || strncmp(entry, "TZ=", 3) == 0;
}

static size_t name_length(const char *entry)
{
	return strcspn(entry, "=");
}

static bool is_declared(const struct prepared *p, const char *entry)
{
	const char *const *env = p->request->env;
	size_t n = name_length(entry);

	for (size_t i = 0; env && env[i]; i++)
		if (name_length(env[i]) == n && strncmp(env[i], entry, n) == 0)
			return true;
	return false;
}

static void put(struct prepared *p, const char *name, const char *value)
{
	const char *entry = arena_printf(&p->arena, "%s=%s", name, value);

	if (!is_declared(p, entry))
		list_add(&p->env, &p->arena, entry);
}

/* ---- programs of the request ---- */

/* The i-th program that was resolved: rows of `exec`, then the program. */
static const struct resolved *program_at(const struct prepared *p, size_t i)
{
	return i < p->n_execs ? &p->execs[i] : &p->program;
}

/* Would the child find this file under its name, looking in `path`? */
static bool finds(const char *path, const struct resolved_file *f,
		  struct arena *arena)
{
	struct str rest = str_of(path);

	while (rest.n) {
		struct str dir = str_cut(&rest, ':');
		struct stat st;

		if (stat(arena_printf(arena, "%.*s/%s", STR_ARG(dir),
				      resolve_basename(f->asked)),
			 &st) == 0 &&
		    S_ISREG(st.st_mode))
			return stat_is_same(&st, &f->st);
	}
	return false;
}

/*
 * Programs that were found by a bare name must be found again: python looks
 * itself up to find its library, env(1) what it is to start.
 */
static const char *child_path(struct prepared *p)
{
	const char *path = DEFAULT_PATH;

	for (size_t k = 0; k <= p->n_execs; k++) {
		const struct resolved *r = program_at(p, k);

		for (size_t i = 0; i < r->n; i++) {
			const struct resolved_file *f = &r->file[i];

			if (f->is_bare && !finds(path, f, &p->arena))
				path = arena_printf(
					&p->arena, "%s:%s",
					resolve_dirname(f->asked, &p->arena),
					path);
		}
	}
	return path;
}

/*
 * Name the proxy in both spellings: curl reads http_proxy in lower case only.
 * ALL_PROXY is not socks5h://, which the same port speaks, too: libraries of
 * python fail at the sight of it unless a further package is installed.
 */
static void put_proxy(struct prepared *p)
{
	static const char *const names[] = {
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
		"http_proxy", "https_proxy", "all_proxy",
	};
	static const char own[] = "localhost,127.0.0.1,::1";
	const char *url = arena_printf(&p->arena, "http://127.0.0.1:%u",
				       proxy_port(&p->policy));

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		put(p, names[i], url);
	put(p, "NO_PROXY", own);
	put(p, "no_proxy", own);
	put(p, "NODE_USE_ENV_PROXY", "1");
	proxy_listeners(&p->policy, &p->arena, &p->launch);
}

static bool starts(const struct prepared *p, const char *name)
{
	for (size_t k = 0; k <= p->n_execs; k++) {
		const struct resolved *r = program_at(p, k);

		if (r->n &&
		    strcmp(resolve_basename(r->file[0].asked), name) == 0)
			return true;
	}
	return false;
}

/*
 * Tell npm that it is offline: without a network it tries for minutes to fetch
 * a missing package. It would still look for a newer npm, which would be a
 * refusal in each report.
 */
static void put_npm(struct prepared *p)
{
	bool is_alone = p->policy.net == POLICY_NET_NONE ||
			p->policy.net == POLICY_NET_LOOPBACK;

	if (!is_alone || (!starts(p, "npm") && !starts(p, "npx")))
		return;
	put(p, "npm_config_offline", "true");
	put(p, "npm_config_update_notifier", "false");
}

static void prepare_variables(struct prepared *p)
{
	const char *const *declared = p->request->env;

	put(p, "PATH", child_path(p));
	put(p, "HOME", p->home ? p->home : "/");
	put(p, "TMPDIR", p->tmp ? p->tmp : "/tmp");
	put(p, "TERM", "dumb");
	put(p, "USER", p->id.name);
	put(p, "LOGNAME", p->id.name);
	if (p->policy.net == POLICY_NET_PROXY)
		put_proxy(p);
	put_npm(p);
	for (size_t i = 0; environ[i]; i++)
		if (is_passed_on(environ[i]) && !is_declared(p, environ[i]))
			list_add(&p->env, &p->arena, environ[i]);
	/* values may be secrets, so they are not copied */
	for (size_t i = 0; declared && declared[i]; i++)
		list_add(&p->env, &p->arena, declared[i]);
	list_add(&p->env, &p->arena, NULL);
}

/* ---- the working directory ---- */

/*
 * A grant shows its folder and what is beneath. One that was asked for shows
 * the folders above, too: relative names lead to it from there.
 */
static bool shows(const struct grant *g, const char *dir)
{
	return place_covers(g->path, dir) ||
	       (g->what & GRANT_ASKED && place_covers(dir, g->path));
}

static bool is_shown(const struct prepared *p, const char *dir)
{
	const struct grants *lists[] = {&p->grants, &p->gate->base};

	if (p->cwd_shown)
		return true;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < lists[k]->n; i++)
			if (shows(&lists[k]->grant[i], dir))
				return true;
	return false;
}

static int child_cwd(struct prepared *p, struct err *err)
{
	const char *cwd = p->request->cwd;
	char real[PATH_MAX];

	p->launch.cwd = p->home ? p->home : "/";
	if (!cwd)
		return 0;
	if (realpath(cwd, real) && is_shown(p, real))
		p->launch.cwd = arena_strdup(&p->arena, real);
	else if (p->request->cwd_required)
		return err_set(err, ERR_POLICY, "cwd %s: %s", cwd,
			       access(cwd, F_OK) < 0
				       ? "it does not exist"
				       : "it is not granted; to start there "
					 "add it to `read` (--read)");
	return 0;
}

/* Is an output a file of the caller's? Its size would be limited, too. */
static bool writes_a_file(const struct gate_request *r)
{
	struct stat st;

	for (int i = 1; i <= 2; i++)
		if (r->stdio[i] >= 0 && fstat(r->stdio[i], &st) == 0 &&
		    S_ISREG(st.st_mode))
			return true;
	return false;
}

static void prepare_limits(struct prepared *p)
{
	const struct gate_policy *asked = p->request->policy;
	const struct ns_caps *ns = &p->gate->ns;
	enum limits_counted counted =
		p->group_has[CGROUP_PIDS]    ? LIMITS_OWN_GROUP
		: p->own_view && ns->as_user ? LIMITS_OWN_USER
		: p->own_view && ns->pid_max ? LIMITS_OWN_PIDS
					     : LIMITS_SHARED;
	struct limits_context c = {
		.tasks = limits_tasks(&p->policy, counted),
		.memory_counted = p->group_has[CGROUP_MEMORY],
	};

	if (p->request->output_may_be_large &&
	    !(asked && asked->file_size_bytes) && writes_a_file(p->request))
		p->policy.file_size_bytes = 0;
	limits_build(&p->policy, &c, p->launch.limits);
	p->bounds = policy_bounds(&p->policy);
}

static void prepare_program_file(struct prepared *p)
{
	const struct resolved_file *f = &p->program.file[p->program.exec];
	struct launch *l = &p->launch;

	l->fd[FD_EXEC] = f->fd;
	if (!p->own_view)
		return;
	l->exec_path = f->path;
	l->exec_dev = f->st.st_dev;
	l->exec_ino = f->st.st_ino;
}

int prepare_env(struct prepared *p, struct err *err)
{
	struct launch *l = &p->launch;

	prepare_variables(p);
	prepare_limits(p);
	prepare_program_file(p);
	l->own_pids = p->own_view;
	if (child_cwd(p, err) < 0)
		return -1;
	l->argv = p->argv.item;
	l->envp = p->env.item;
	l->change_id = p->id.change;
	l->uid = p->id.uid;
	l->gid = p->id.gid;
	if (!p->own_view)
		return 0;
	p->clone_flags =
		ns_clone_flags(&p->gate->ns, policy_has_own_net(&p->policy));
	/* the program takes a namespace of its own once it is in its group */
	if (l->fd[FD_GROUP] >= 0)
		p->clone_flags &= ~(uint64_t)CLONE_NEWCGROUP;
	if (!p->gate->ns.as_user)
		return 0;
	l->uid_map = arena_printf(&p->arena, "%u %u 1", p->id.uid, p->id.uid);
	l->gid_map = arena_printf(&p->arena, "%u %u 1", p->id.gid, p->id.gid);
	return 0;
}
