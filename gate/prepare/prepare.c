#include "gate/prepare/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/sha256.h"
#include "gate/build/seccomp.h"
#include "gate/child/hang.h"
#include "gate/policy/allow.h"
#include "gate/prepare/parts.h"
#include "gate/proxy/proxy.h"

/* ---- argv ---- */

static void prepare_argv(struct prepared *p)
{
	const struct resolved *r = &p->program;
	const char *const *argv = p->request->argv;

	for (size_t i = 0; i < r->prefix.n; i++)
		list_add(&p->argv, &p->arena, r->prefix.item[i]);
	for (size_t i = r->prefix.n ? 1 : 0; argv[0] && argv[i]; i++)
		list_add(&p->argv, &p->arena, argv[i]);
	/* python finds its virtual environment by this name */
	if (p->hidden_cwd && p->argv.n && p->argv.item[0][0] != '/' &&
	    strchr(p->argv.item[0], '/'))
		p->argv.item[0] = r->file[0].asked;
	if (!p->argv.n)
		list_add(&p->argv, &p->arena, p->request->program);
	list_add(&p->argv, &p->arena, NULL);
}

/* ---- rules of [sandbox.programs] ---- */

#define HASH_CHUNK_BYTES 65536

/* Sum of a file as it was; another time or number is another file. */
struct gate_hash {
	struct gate_hash *next;
	struct stat st;
	char hex[SHA256_HEX_BYTES];
};

/* ---- names of rules ---- */

/* Find the file of a rule; a rule for a missing program means nothing. */
static const char *rule_path(struct prepared *p, const char *name)
{
	return strchr(name, '/') ? resolve_links(name, &p->arena)
				 : resolve_in_own_path(name, &p->arena);
}

/* ---- interpreters of scripts ---- */

/*
 * Split `#!/usr/bin/env -S node --x` into [node, --x, script]. Without -S the
 * kernel's one argument is the whole name of the program.
 */
static struct strlist env_words(struct prepared *p, const struct resolved *r,
				size_t at, bool *ret_is_plain)
{
	const char *argument = r->prefix.item[at + 1];
	struct str rest = str_of(argument);
	struct strlist words = {NULL, 0};
	struct str target = resolve_env_target(rest);

	/* env(1) reads quotes, escapes and variables behind -S */
	*ret_is_plain = !strpbrk(argument, "\"'\\$#");
	rest = (struct str){target.p, target.p ? strlen(target.p) : 0};
	while (rest.n) {
		struct str word = str_cut(&rest, ' ');

		if (word.n)
			list_add(&words, &p->arena,
				 arena_strndup(&p->arena, word.p, word.n));
	}
	for (size_t i = at + 2; i < r->prefix.n; i++)
		list_add(&words, &p->arena, r->prefix.item[i]);
	return words;
}

static void add_starts(struct prepared *p, const struct resolved *r)
{
	struct programs *set = &p->programs;
	size_t n = r->prefix.n, env = n;

	for (size_t i = 1; i < r->n && n; i++) {
		const struct resolved_file *f = &r->file[i];
		struct programs_start *grown, s = {.file = r->file[0].path,
						   .asked = f->asked,
						   .path = f->path};
		bool plain = true;
		size_t at = 0;

		/* the interpreter stands there by the name that asked for it */
		while (at < n && strcmp(r->prefix.item[at], f->asked) != 0)
			at++;
		if (f->is_loader)
			continue;
		if (f->is_bare && env + 1 < n) {
			s.prefix = env_words(p, r, env, &plain);
		} else if (at < n) {
			s.prefix =
				(struct strlist){r->prefix.item + at, n - at};
			env = at;
		} else {
			continue;
		}
		s.is_unclear = !plain;
		grown = arena_grow(&p->arena, set->start, set->n_starts,
				   sizeof(*grown));
		grown[set->n_starts++] = s;
		set->start = grown;
	}
}

/* ---- pins ---- */

/* of: an open descriptor of the file, O_PATH will do */
static int hash(int of, char hex[SHA256_HEX_BYTES])
{
	AUTO(fd_closep) int fd = -1;
	char link[64];
	unsigned char *chunk = mem_alloc(HASH_CHUNK_BYTES);
	struct sha256 s;
	ssize_t n = 1;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", of);
	fd = fd_open(link, O_RDONLY, 0);
	sha256_init(&s);
	for (off_t at = 0; n > 0; at += n) {
		n = pread(fd, chunk, HASH_CHUNK_BYTES, at);
		if (n > 0)
			sha256_add(&s, chunk, (size_t)n);
	}
	free(chunk);
	sha256_end_text(&s, hex);
	return n < 0 ? -1 : 0;
}

/* Sum an open file; the sum of an unchanged file is remembered. */
static int known_hash(struct gate *g, const char *path, int fd,
		      const char **ret, struct err *err)
{
	struct gate_hash *h;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	for (h = g->hashes; h; h = h->next)
		if (stat_is_unchanged(&h->st, &st)) {
			*ret = h->hex;
			return 0;
		}
	h = ARENA_NEW(&g->arena, struct gate_hash);
	h->st = st;
	if (hash(fd, h->hex) < 0)
		return err_sys(err, errno, "read %s", path);
	h->next = g->hashes;
	g->hashes = h;
	*ret = h->hex;
	return 0;
}

/* Another name of the file may lie in any folder that is written. */
static int check_names(const struct prepared *p,
		       const struct gate_program_rule *rule, const char *path,
		       int fd, struct err *err)
{
	const struct policy *policy = &p->policy;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (st.st_nlink < 2 ||
	    (!policy->write.n && !policy->write_only.n && !policy->tmp_shared &&
	     !p->gate->config.written.n))
		return 0;
	return err_set(err, ERR_PIN,
		       "the pin of %s: %s has %ju names (hard links), and by "
		       "another one a program that may write could change it "
		       "after it was looked at; give it one name: cp %s "
		       "%s.new && mv %s.new %s",
		       rule->name, path, (uintmax_t)st.st_nlink, path, path,
		       path, path);
}

static int check_pin(struct prepared *p, const struct gate_program_rule *rule,
		     const char *path, int fd, struct err *err)
{
	const char *hex = NULL;

	if (prepared_writes(p, path, NULL, BY_ANY_PROGRAM))
		return err_set(err, ERR_PIN,
			       "the pin of %s: %s lies in a folder that %s may "
			       "write, so it could change after it was looked "
			       "at; grant another folder, or move the file",
			       rule->name, path,
			       prepared_writes(p, path, NULL, BY_ITSELF)
				       ? "the program"
				       : "a program of the configuration");
	if (check_names(p, rule, path, fd, err) < 0 ||
	    known_hash(p->gate, path, fd, &hex, err) < 0)
		return -1;
	if (strcmp(hex, rule->sha256) != 0)
		return err_set(err, ERR_PIN,
			       "%s is not the file that was pinned: its sha256 "
			       "is %s; if it was updated, write that in "
			       "programs.\"%s\"",
			       path, hex, rule->name);
	return 0;
}

static int check_pins(struct prepared *p, const struct resolved *r,
		      const char *asked, struct err *err)
{
	const struct programs *set = &p->programs;

	for (size_t i = 0; i < set->n; i++) {
		if (!set->rule[i].sha256)
			continue;
		for (size_t k = 0; k < r->n; k++) {
			const struct resolved_file *f = &r->file[k];

			bool is_file = set->file[i].ino == f->st.st_ino &&
				       set->file[i].dev == f->st.st_dev;

			if ((is_file ||
			     programs_means(set, i, k ? f->asked : asked,
					    f->path)) &&
			    check_pin(p, &set->rule[i], f->path, f->fd, err) <
				    0)
				return -1;
		}
	}
	return 0;
}

/* A folder of programs in `exec` may hold what a rule pins. */
static int check_pins_in_folders(struct prepared *p, struct err *err)
{
	const struct programs *set = &p->programs;

	for (size_t i = 0; i < set->n; i++) {
		const char *path = set->path[i];
		AUTO(fd_closep) int fd = -1;
		bool in_folder = false;

		for (size_t k = 0; path && k < p->n_exec_folders; k++)
			in_folder |= place_covers(p->exec_folder[k].found.path,
						  path);
		if (!in_folder || !set->rule[i].sha256)
			continue;
		fd = fd_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
		if (fd < 0)
			return err_sys(err, errno, "open %s", path);
		if (check_pin(p, &set->rule[i], path, fd, err) < 0)
			return -1;
	}
	return 0;
}

static struct strlist words_of(struct prepared *p, const struct gate_request *r)
{
	struct strlist words = {NULL, 0};

	list_add(&words, &p->arena, r->program);
	for (size_t i = 1; r->argv[0] && r->argv[i]; i++)
		list_add(&words, &p->arena, r->argv[i]);
	return words;
}

/* The words of a launcher are judged as they were written. */
static int judge_launcher(struct prepared *p, struct err *err)
{
	const struct gate_request *r = p->direct.written;
	struct programs_call call = {.path = p->direct.path};
	struct stat st;

	if (!r)
		return 0;
	call.asked = r->program;
	call.argv = words_of(p, r);
	if (call.path && stat(call.path, &st) == 0)
		call.file = (struct programs_file){st.st_dev, st.st_ino};
	return programs_judge(&p->programs, &call, err);
}

static int prepare_programs(struct prepared *p, struct err *err)
{
	const struct gate_policy *asked = p->request->policy;
	const struct resolved_file *f = &p->program.file[0];
	struct programs_call call = {.asked = p->request->program,
				     .path = f->path,
				     .file = {f->st.st_dev, f->st.st_ino},
				     .argv = words_of(p, p->request)};
	struct programs_file *file;
	const char **path;
	struct stat st;
	size_t n;

	if (!asked || !asked->programs.n)
		return 0;
	n = asked->programs.n;
	path = ARENA_ARRAY(&p->arena, const char *, n);
	file = ARENA_ARRAY(&p->arena, struct programs_file, n);
	for (size_t i = 0; i < n; i++) {
		path[i] = rule_path(p, asked->programs.item[i].name);
		if (path[i] && stat(path[i], &st) == 0)
			file[i] = (struct programs_file){st.st_dev, st.st_ino};
	}
	p->programs = (struct programs){.rule = asked->programs.item,
					.path = path,
					.file = file,
					.n = n};
	add_starts(p, &p->program);
	for (size_t i = 0; i < p->n_execs; i++)
		add_starts(p, &p->execs[i]);
	if (judge_launcher(p, err) < 0 ||
	    programs_judge(&p->programs, &call, err) < 0 ||
	    check_pins(p, &p->program, p->request->program, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_execs; i++)
		if (check_pins(p, &p->execs[i], NULL, err) < 0)
			return -1;
	return check_pins_in_folders(p, err);
}

/* ---- the environment ---- */

extern char **environ;

/* Is the variable declared by the request, or set by a recipe? */
static bool is_declared(const struct prepared *p, const char *entry)
{
	const char *const *env = p->request->env;
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; env && env[i]; i++)
		if (strcspn(env[i], "=") == n && strncmp(env[i], entry, n) == 0)
			return true;
	for (size_t i = 0; i < p->recipe_env.n; i++)
		if (strncmp(p->recipe_env.item[i], entry, n + 1) == 0)
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
	const char *path = PREPARED_PATH;

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

static void prepare_variables(struct prepared *p)
{
	static const char *const passed_on[] = {"LANG=", "LANGUAGE=", "LC_",
						"TZ="};
	const char *const *declared = p->request->env;

	put(p, "PATH", child_path(p));
	put(p, "HOME", p->home ? p->home : "/");
	put(p, "TMPDIR", p->tmp ? p->tmp : "/tmp");
	put(p, "TERM", "dumb");
	put(p, "USER", p->id.name);
	put(p, "LOGNAME", p->id.name);
	/* in a trace each connection is to show its own name */
	if (p->policy.net == POLICY_NET_PROXY &&
	    !(p->request->record & GATE_RECORD_FILES))
		put_proxy(p);
	/*
	 * Tell npm that it is offline: without a network it tries for minutes
	 * to fetch a missing package. It would still look for a newer npm,
	 * which would be a refusal in each report.
	 */
	if ((p->policy.net == POLICY_NET_NONE ||
	     p->policy.net == POLICY_NET_LOOPBACK) &&
	    (starts(p, "npm") || starts(p, "npx"))) {
		put(p, "npm_config_offline", "true");
		put(p, "npm_config_update_notifier", "false");
	}
	for (size_t i = 0; i < p->recipe_env.n; i++)
		list_add(&p->env, &p->arena, p->recipe_env.item[i]);
	/* the language and the time zone of the caller's own environment */
	for (size_t i = 0; environ[i]; i++)
		for (size_t k = 0; k < ARRAY_LEN(passed_on); k++)
			if (str_starts(str_of(environ[i]), passed_on[k]) &&
			    !is_declared(p, environ[i]))
				list_add(&p->env, &p->arena, environ[i]);
	/* values may be secrets, so they are not copied */
	for (size_t i = 0; declared && declared[i]; i++)
		list_add(&p->env, &p->arena, declared[i]);
	list_add(&p->env, &p->arena, NULL);
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

/* ---- the folder of the start ---- */

/*
 * A grant shows its folder and what is beneath. One that was asked for shows
 * the folders above, too: relative names lead to it from there.
 */
static bool is_shown(const struct prepared *p, const char *dir)
{
	/* HOME may lie in a shared /tmp */
	bool is_hidden = view_hides(p, dir);

	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if ((!is_hidden && place_covers(g->path, dir)) ||
		    (g->what & GRANT_ASKED && place_covers(dir, g->path)))
			return true;
	}
	if (p->cwd_shown || is_hidden)
		return p->cwd_shown;
	return grants_cover(&p->gate->base, dir, ~0U) ||
	       (grants_near_base(dir) && gate_base_covers(p->gate, dir, ~0U));
}

/* Note a folder that is not seen: another one, private and empty, stands in
   its place or is where the child starts instead. */
static void note_hidden(struct prepared *p, const char *asked)
{
	struct launch *l = &p->launch;

	if (!view_hides(p, l->cwd))
		return;
	p->hidden_cwd = arena_strdup(&p->arena, asked);
	l->counted = l->cwd;
}

/* Look at the end into the private folder of the start, and into HOME: what is
   written there is lost, too. */
static void choose_counted(struct prepared *p)
{
	struct launch *l = &p->launch;
	bool has_home = p->home && view_hides(p, p->home);

	if (!l->counted && has_home)
		l->counted = p->home;
	else if (has_home && p->own_view && strcmp(l->counted, p->home) != 0)
		p->counted_home = p->home;
	/* without a view the gate itself looks into its folder */
	if (l->counted && p->own_view)
		l->left = p->home && strcmp(l->counted, p->home) == 0
				  ? LEFT_IN_HOME
				  : LEFT_IN_FOLDER;
}

/* The folder without links; NULL where there is none. */
static const char *real_folder(struct gate *g, const char *cwd)
{
	struct gate_seen *seen = &g->seen;
	AUTO(fd_closep) int plain = -1;
	char real[PATH_MAX];

	if (seen->cwd && strcmp(seen->cwd, cwd) == 0)
		return seen->real;
	plain = fd_open_plain(cwd, O_DIRECTORY);
	if (plain < 0 && !realpath(cwd, real))
		return NULL;
	seen->cwd = gate_keep_text(g, cwd);
	seen->real = plain < 0 ? gate_keep_text(g, real) : seen->cwd;
	return seen->real;
}

/*
 * Choose where the child starts: .launch.cwd. Note a folder that it does not
 * see there (.hidden_cwd), and files of private places that its arguments name
 * (.named). Needs the view.
 */
static int prepare_cwd(struct prepared *p, struct err *err)
{
	const char *cwd = p->request->cwd;
	const char *real = cwd ? real_folder(p->gate, cwd) : NULL;

	p->launch.cwd = p->home ? p->home : "/";
	if (real && is_shown(p, real))
		p->launch.cwd = real;
	else if (cwd && p->request->cwd_required)
		return err_set(err, ERR_POLICY, "cwd %s: %s", cwd,
			       access(cwd, F_OK) < 0
				       ? "it does not exist"
				       : "it is not granted; to start there "
					 "add it to `sandbox.read` (--read)");
	if (real)
		note_hidden(p, real);
	choose_counted(p);
	return 0;
}

static int prepare_env(struct prepared *p, struct err *err)
{
	const struct resolved_file *f = &p->program.file[p->program.exec];
	struct launch *l = &p->launch;

	prepare_variables(p);
	prepare_limits(p);
	l->fd[FD_EXEC] = f->fd;
	l->own_pids = p->own_view;
	if (prepare_cwd(p, err) < 0)
		return -1;
	prepare_argv(p);
	l->argv = p->argv.item;
	l->envp = p->env.item;
	l->change_id = p->id.change;
	l->uid = p->id.uid;
	l->gid = p->id.gid;
	if (!p->own_view)
		return 0;
	l->exec_path = f->path;
	l->exec_dev = f->st.st_dev;
	l->exec_ino = f->st.st_ino;
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

/* ---- the control group ---- */

static int prepare_group(struct prepared *p, UNUSED struct err *err)
{
	struct cgroups *pool = &p->gate->cgroups;
	const struct cgroup_want want = {p->policy.memory_bytes,
					 p->policy.processes};
	struct err why = ERR_INIT;

	/* private_open() sweeps folders of crashed runs, but only runs without
	   a view open them */
	if (p->for_start && p->own_view && !p->gate->swept) {
		p->gate->swept = true;
		private_sweep();
	}
	cgroups_open(pool, NULL);
	memcpy(p->group_has, pool->has, sizeof(p->group_has));
	if (!p->for_start || !pool->n_trees)
		return 0;
	if (cgroups_take(pool, &want, &p->group, &why) == 0 &&
	    cgroup_open_doors(pool, p->group, &p->launch.fd[FD_GROUP], &why) ==
		    0) {
		p->launch.has_group_folder = pool->is_unified;
		if (!pool->is_unified)
			p->launch.group_door = p->group->door;
		return 0;
	}
	/* the facts then say that there is none */
	prepared_close_doors(p);
	cgroups_give(pool, p->group);
	p->group = NULL;
	p->group_has[CGROUP_MEMORY] = p->group_has[CGROUP_PIDS] = false;
	return 0;
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
	const char *why = p->why_no_view;

	if (p->own_view) {
		policy_use_proxy(&p->policy);
		return 0;
	}
	if (p->policy.net == POLICY_NET_LOOPBACK)
		return err_set(err, ERR_PROTECTION,
			       "net = \"loopback\" needs a network namespace: "
			       "%s",
			       why);
	if (p->policy.net == POLICY_NET_PROXY)
		return err_set(err, ERR_PROTECTION,
			       "net: rows with hosts or addresses need a "
			       "network namespace, which is not available: "
			       "%s; ports alone (\":443\") and \"all\" can do "
			       "without",
			       why);
	if (p->policy.net == POLICY_NET_PORTS && p->gate->landlock_abi < 4)
		return err_set(err, ERR_PROTECTION,
			       "net: ports alone need a network namespace (%s) "
			       "or Landlock ABI 4 (Linux 6.7); net = \"all\" "
			       "is what can be done here",
			       why);
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

typedef int stage_fn(struct prepared *p, struct err *err);

/* Stages of a request; each relies on what those above it have filled. */
static stage_fn *const STAGES[] = {
	prepare_data_package, prepare_direct,	prepare_program,
	prepare_data,	      prepare_recipes,	prepare_execs,
	prepare_programs,     choose_isolation, choose_net,
	prepare_group,	      prepare_grants,	prepare_identity,
	prepare_view,	      prepare_env,	prepare_unseen,
	prepare_filter,	      prepare_facts,
};

/* Of no request: what the machine can give. */
static stage_fn *const DEFAULT_STAGES[] = {
	choose_isolation,
	prepare_identity,
	prepare_filter,
	prepare_facts,
};

static int go_through(stage_fn *const *stages, size_t n, struct prepared *p,
		      struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (stages[i](p, err) < 0)
			return -1;
	return 0;
}

static int prepare(struct gate *gate, const struct gate_request *request,
		   bool for_start, struct prepared *p, struct err *err)
{
	static const struct gate_policy none;
	const struct gate_policy *policy =
		request->policy ? request->policy : &none;
	const struct gate_leash *leash = &gate->config.leash;

	*p = begin(gate, request);
	p->for_start = for_start;
	p->grants = (struct grants)GRANTS_INIT(&p->arena);
	if (policy_resolve(policy, leash, &p->arena, &p->policy, err) < 0 ||
	    seccomp_check_names(&policy->syscalls, err) < 0 ||
	    allow_generation(leash, gate->config.generation, err) < 0 ||
	    allow_calls(leash, gate->spawned, err) < 0)
		return -1;
	return go_through(STAGES, ARRAY_LEN(STAGES), p, err);
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

/* Names that others chose stand in messages: one stays one line. */
static void make_visible(struct err *err)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	struct err raw = *err;

	log_visible(&shown, str_of(raw.msg), false);
	(void)!err_set(err, raw.kind, "%s", buf_cstr(&shown));
	err->sys = raw.sys;
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
		if (r < 0 && (err->kind != ERR_DEADLINE || !left))
			make_visible(err);
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

	*p = begin(gate, &nothing);
	(void)!prepare_group(p, ERR_IGNORED);
	/* failures are what the facts then say */
	if (policy_resolve(&none, NULL, &p->arena, &p->policy, ERR_IGNORED) ==
	    0)
		(void)!go_through(DEFAULT_STAGES, ARRAY_LEN(DEFAULT_STAGES), p,
				  ERR_IGNORED);
}
