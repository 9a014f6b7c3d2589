#include "gate/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/kernel.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/text.h"
#include "core/base/user.h"
#include "gate/build/seccomp.h"
#include "gate/child/launch.h"
#include "gate/path/mounts.h"
#include "gate/policy/hit.h"
#include "gate/prepare/own_paths.h"
#include "gate/prepare/prepare.h"
#include "gate/prepare/parts.h"
#include "gate/proxy/proxy.h"

/* ---- a child ---- */

/* A file, or a folder of files, that a tree may execute. */
struct may_run {
	struct programs_file file;
	bool is_folder;
	const char *path;
};

/* A start that is not over, and all that its child still reads. */
struct starting {
	struct prepared prepared;
	struct launching launching;
};

/* A child that was started: its tree, our ends of its pipes, its verdict. */
struct gate_child {
	struct gate *gate; /* NULL when it is not in the gate's list */
	struct gate_child *prev, *next;
	struct launched run;
	struct starting *starting;  /* owned; NULL: the start is over */
	int start_sock;		    /* hung up when it is; owned */
	void (*settled)(void *arg); /* gate_child_on_settled(), or NULL */
	void *settled_arg;
	const struct err *start_error; /* in .arena; NULL: it went well */
	struct proxy proxy;	       /* of POLICY_NET_PROXY */
	struct child_state state;
	int fd[3]; /* our ends; -1 */
	bool own_pids;
	bool ended;
	struct gate_verdict verdict;
	struct denials denials;
	struct watch watch;
	struct sockets sockets;	  /* connections of its tree */
	struct arena arena;	  /* of the rules */
	struct programs programs; /* rules that its tree is held to */
	struct may_run *may_run;  /* NULL: what may run was not noted */
	size_t n_may_run;
	struct gate_child_info info; /* texts of the gate */
	char *private_dir;
	const char *hidden_cwd; /* text of the gate, or NULL */
	const char
		*counted; /* likewise: the private folder that is looked at */
	struct strlist home_names; /* prepared.home_names */
	bool marks_counted;	   /* as of the launch */
	struct cgroups *cgroups;   /* the gate's, as long as .group is there */
	struct cgroup *group;	   /* the pool's; NULL = none */
	struct gate_policy bounds; /* policy_bounds() */
	struct strlist unreached;  /* in .arena */
	bool killed;		   /* by us */
};

/* ---- execs of its tree: judged while they wait ---- */

static bool is_listed(const struct gate_child *c, const char *path,
		      const struct programs_file *file)
{
	for (size_t i = 0; i < c->n_may_run; i++) {
		const struct may_run *m = &c->may_run[i];

		if ((m->file.dev == file->dev && m->file.ino == file->ino) ||
		    (m->is_folder && place_covers(m->path, path)))
			return true;
	}
	return false;
}

/* Find the interpreter of a script, links resolved; NULL: there is none. */
static const char *interpreter_of(const char *file, struct arena *arena)
{
	AUTO(fd_closep)
	int fd = fd_open(file, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	char line[LIMIT_SHEBANG];
	ssize_t n = fd < 0 ? -1 : pread(fd, line, sizeof(line), 0);
	struct str name, argument;

	if (n < 2 ||
	    !resolve_shebang((struct str){line, (size_t)n}, &name, &argument))
		return NULL;
	return resolve_links(arena_strndup(arena, name.p, name.n), arena);
}

/* Find the file that the kernel will refuse to execute: this one, or the
   interpreter of its first line; NULL: none. */
static const char *unlisted(const struct gate_child *c, const char *path,
			    const struct programs_file *file,
			    struct arena *arena)
{
	const char *starts;
	struct stat st;

	if (!is_listed(c, path, file))
		return path;
	starts = c->watch.only_cached ? NULL : interpreter_of(path, arena);
	if (!starts || stat(starts, &st) < 0 ||
	    is_listed(c, starts, &(struct programs_file){st.st_dev, st.st_ino}))
		return NULL;
	return starts;
}

static bool may_execute(const struct grant *g)
{
	return grant_rights(g->what) & LL_FS_EXECUTE;
}

/* Keep which files the kernel will let this child execute; none of the base. */
static void note_listed(struct gate_child *c, const struct grants *grants)
{
	size_t n = 0;

	for (size_t i = 0; i < grants->n; i++)
		n += may_execute(&grants->grant[i]);
	c->may_run = ARENA_ARRAY(&c->arena, struct may_run, n + 1);
	for (size_t i = 0; i < grants->n; i++) {
		const struct grant *g = &grants->grant[i];

		if (!may_execute(g))
			continue;
		c->may_run[c->n_may_run++] = (struct may_run){
			.file = {g->st.st_dev, g->st.st_ino},
			.is_folder = S_ISDIR(g->st.st_mode),
			.path = arena_strdup(&c->arena, g->path),
		};
	}
}

static int judge_rules(const struct gate_child *c, const struct watch_exec *x,
		       struct err *err)
{
	const struct programs_call call = {
		.asked = x->path,
		.path = x->file,
		.file = {x->dev, x->ino},
		.argv = x->argv,
		.is_cut = x->is_cut,
	};

	if (x->error)
		return err_set(err, ERR_POLICY,
			       "%s: cannot tell which program this is, and "
			       "there are rules for programs; name its file",
			       x->path);
	return programs_judge(&c->programs, &call, err);
}

/*
 * For watch.judge. Refuse an exec that a rule of [sandbox.programs] forbids,
 * and name one that no grant lists.
 */
static enum watch_answer judge_exec(void *child, const struct watch_exec *x,
				    struct err *why)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct gate_child *c = child;
	const char *refused;

	if (c->programs.n && (x->error == ENOENT || x->error == ENOTDIR))
		return WATCH_NOT_THERE;
	if (c->programs.n && judge_rules(c, x, why) < 0)
		return WATCH_FORBIDDEN;
	if (!c->may_run || x->error || !x->is_program)
		return WATCH_GOES_ON;
	refused = unlisted(c, x->file, &(struct programs_file){x->dev, x->ino},
			   &arena);
	if (!refused)
		return WATCH_GOES_ON;
	err_set(why, ERR_POLICY, "start %s", refused);
	return WATCH_UNLISTED;
}

/* execvp(3) tries one folder of PATH after the other: one denial is enough. */
static bool is_told(const struct denials *log, const char *program,
		    const char *why)
{
	for (size_t i = 0; i < log->n; i++)
		if (strcmp(log->row[i].program, program) == 0 &&
		    strcmp(log->row[i].detail, why) == 0)
			return true;
	return false;
}

/* Links resolved, where that asks no file server; else NULL. */
static const char *real_path(const struct gate_child *c, const char *path,
			     struct arena *arena)
{
	return c->watch.only_cached ? NULL : resolve_links(path, arena);
}

/*
 * Name an exec that was refused to a tree that has ended. The row of `exec`
 * that allows it is its bare name, where PATH leads to it.
 */
static void deny_exec(struct gate_child *c, const struct gate_record *row)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *real = real_path(c, row->path, &arena), *refused = NULL;
	struct gate_denial denial = {
		.kind = "exec",
		.name = row->path,
		.program = row->program,
		.detail = row->why,
		.count = row->count,
	};
	struct stat st;

	if (row->unlisted && real && stat(real, &st) == 0)
		refused = unlisted(
			c, real, &(struct programs_file){st.st_dev, st.st_ino},
			&arena);
	if (refused && strcmp(refused, real) != 0)
		/* the interpreter of a script that is listed */
		denial.name = refused;
	if (row->unlisted) {
		real = real_path(c, denial.name, &arena);
		denial.allow.key = "exec";
		denial.allow.value =
			real && resolve_in_path(denial.name, real, &arena)
				? resolve_basename(denial.name)
				: denial.name;
	}
	denials_add_row(&c->denials, &denial);
}

/* ---- its start ---- */

/*
 * Find descriptors for the three of the child.
 *
 * ret_child  borrowed from the request, or the child's end of a pipe
 * ret_pipe   those ends, to be closed by the caller; -1: none
 * ret_ours   our ends; -1: none
 */
static int open_stdio(const struct gate_request *request, int ret_child[3],
		      int ret_pipe[3], int ret_ours[3], struct err *err)
{
	for (int i = 0; i < 3; i++) {
		int fd = request->stdio[i], r, w;

		ret_child[i] = fd;
		if (i == 2 && fd == GATE_AS_OUT) {
			ret_child[2] = ret_child[1];
			continue;
		}
		if (fd != GATE_PIPE && isatty(fd))
			return err_set(err, ERR_POLICY,
				       "descriptor %d is a terminal, which is "
				       "never handed to a child",
				       fd);
		if (fd != GATE_PIPE)
			continue;
		if (fd_pipe(&r, &w) < 0)
			return err_sys(err, errno, "pipe");
		ret_child[i] = ret_pipe[i] = i == 0 ? r : w;
		ret_ours[i] = i == 0 ? w : r;
		/* a new pipe has no flags that would be lost */
		if (fcntl(ret_ours[i], F_SETFL, O_NONBLOCK) < 0)
			return err_sys(err, errno, "pipe");
	}
	return 0;
}

/* The start has failed. */
static int say_failed(struct prepared *p, struct err *err)
{
	/* the kept trial may hold no more */
	p->gate->view_failed = p->own_view && p->launch.stage <= STAGE_SETUP &&
			       err->kind != ERR_DEADLINE;
	p->gate->has_started[p->own_view] = false;
	return err_wrap(err, "%s", p->request->program);
}

/* Begin the launch. */
static int start(struct starting *s, struct gate_child *c, struct err *err)
{
	struct prepared *p = &s->prepared;
	struct launch *l = &p->launch;
	int pipe[3] = {-1, -1, -1};
	int r = open_stdio(p->request, &l->fd[FD_IN], pipe, c->fd, err);

	l->state = &c->state;
	l->before_exec = p->gate->config.before_exec;
	l->before_exec_arg = p->gate->config.before_exec_arg;
	for (size_t i = 0; i < p->n_named; i++)
		c->state.left.named[c->state.left.n_named++].path =
			arena_strdup(&c->arena, p->named[i]);
	c->state.left.home = p->counted_home
				     ? arena_strdup(&c->arena, p->counted_home)
				     : NULL;
	if (r == 0 && p->policy.net == POLICY_NET_PROXY &&
	    proxy_start(&p->policy, &p->arena, l, &c->proxy, err) < 0)
		r = err_wrap(err, "%s", p->request->program);
	if (r == 0 && launch_begin(l, p->clone_flags, &s->launching, err) < 0)
		r = say_failed(p, err);
	for (int i = 0; i < 3; i++)
		fd_closep(&pipe[i]);
	return r;
}

static void take_diag(struct gate_child *c, int *diag)
{
	if (*diag < 0)
		return;
	c->sockets.own.diag = *diag;
	*diag = -1;
}

static bool serve(int listener, int *diag, void *arg)
{
	struct gate_child *c = arg;

	take_diag(c, diag);
	/* a program may have ended as soon as its exec was answered */
	return notify_serve(listener, &c->denials, &c->watch) != NOTIFY_BROKEN;
}

/* The tree, or another program of the configuration, could put another file
   there. */
static bool is_pinned(const struct prepared *p, const char *path)
{
	return grants_cover(&p->grants, path, GRANT_WRITES) ||
	       place_around(&p->gate->config.written, path);
}

/* Rows that lead to services of this machine, for who carries connections
   out. */
static void add_forwards(const struct prepared *p, struct gate_child *c)
{
	struct sockets *s = &c->sockets;

	s->forward = ARENA_ARRAY(&c->arena, struct sockets_forward,
				 p->policy.n_endpoints);
	for (size_t i = 0; i < p->policy.n_endpoints; i++) {
		const struct endpoint *e = &p->policy.endpoints[i];

		if (e->kind == ENDPOINT_FORWARD)
			s->forward[s->n_forwards++] = (struct sockets_forward){
				.address = e->address, .port = e->port};
	}
}

static void begin_sockets(const struct prepared *p, struct gate_child *c)
{
	struct sockets *s = &c->sockets;
	struct sockets_grant *grant;
	size_t n = 0;

	if (p->sockets != SOCKETS_JUDGED)
		return;
	for (size_t i = 0; i < p->grants.n; i++)
		n += (p->grants.grant[i].what & GRANT_SOCKET) != 0;
	grant = ARENA_ARRAY(&c->arena, struct sockets_grant, n);
	for (size_t i = 0; i < p->grants.n; i++) {
		const struct grant *g = &p->grants.grant[i];

		if (g->what & GRANT_SOCKET)
			grant[s->n_grants++] = (struct sockets_grant){
				arena_strdup(&c->arena, g->path), g->st,
				is_pinned(p, g->path)};
	}
	s->held = p->sockets;
	s->grant = grant;
	s->own_net = policy_has_own_net(&p->policy);
	add_forwards(p, c);
	s->change_id = p->launch.change_id;
	s->uid = p->launch.uid;
	s->gid = p->launch.gid;
	s->only_cached = p->gate->hang != GATE_HANG_NEVER;
	c->watch.sockets = s;
}

/* Watch for files that the view hides, where the filter can. */
static void watch_names(const struct prepared *p, struct gate_child *c)
{
	struct watch *w = &c->watch;

	if (!p->n_unseen || !p->watches)
		return;
	w->names = ARENA_ARRAY(&c->arena, struct watch_name, p->n_unseen);
	for (w->n_names = 0; w->n_names < p->n_unseen; w->n_names++)
		w->names[w->n_names] = (struct watch_name){
			arena_strdup(&c->arena, p->unseen[w->n_names].seen),
			arena_strdup(&c->arena, p->unseen[w->n_names].real),
			.is_new = p->unseen[w->n_names].is_new,
			.is_read = p->unseen[w->n_names].is_read,
			.is_file = p->unseen[w->n_names].is_file,
		};
}

/* The program itself is the first row; the listener cannot see our memory. */
static void begin_watch(struct prepared *p, struct gate_child *c)
{
	const char *path = p->program.file[0].path;
	const struct gate_record first = {
		.what = GATE_RECORD_EXEC,
		.program = resolve_basename(path),
		.path = path,
		.access = GATE_ACCESS_RUN,
		.args = {p->argv.item, p->argv.n - 1}, /* without NULL */
	};

	c->watch.what = p->watches & p->asked_records;
	watch_names(p, c);
	if (c->watch.what & GATE_RECORD_FILES)
		c->watch.records.max = WATCH_RECORDS_TRACE;
	if (!p->watches)
		return;
	p->launch.serve = serve;
	p->launch.serve_arg = c;
	c->programs = programs_copy(&p->programs, &c->arena);
	if (p->gate->landlock_abi > 0)
		note_listed(c, &p->grants);
	begin_sockets(p, c);
	c->watch.judge = judge_exec;
	c->watch.judge_arg = c;
	c->watch.reads_all = p->programs.n > 0;
	c->watch.has_begun = p->launch.exec_cookie != 0;
	/* names in denials are worth no wait; rules are */
	c->watch.only_cached =
		!p->programs.n && p->gate->hang != GATE_HANG_NEVER;
	if (c->watch.what & GATE_RECORD_EXEC)
		records_add(&c->watch.records, &first);
}

/* Move into the child what outlives the preparation. */
static void fill_child(struct gate_child *c, struct prepared *p)
{
	struct gate *g = p->gate;
	struct strlist recipes;

	c->info = (struct gate_child_info){
		.path = gate_keep_text(g, p->program.file[0].path),
		.runs = p->direct.says ? gate_keep_text(g, p->direct.says)
				       : NULL,
		.cwd = gate_keep_text(g, p->launch.cwd),
		.sees_memory = p->group_has[CGROUP_MEMORY],
		.sees_processes = p->group_has[CGROUP_PIDS],
	};
	recipes = recipes_say(p);
	c->info.recipes = arena_strlist(&c->arena, &recipes);
	c->own_pids = p->own_view;
	c->private_dir = p->private_dir;
	p->private_dir = NULL;
	if (p->hidden_cwd)
		c->hidden_cwd = gate_keep_text(g, p->hidden_cwd);
	if (p->launch.counted)
		c->counted = gate_keep_text(g, p->own_view || !g->home_path
						       ? p->launch.counted
						       : g->home_path);
	c->home_names = arena_strlist(&c->arena, &p->home_names);
	c->marks_counted = p->launch.marks_counted;
	c->cgroups = &g->cgroups;
	c->group = p->group;
	p->group = NULL;
	c->bounds = p->bounds;
	c->gate = g;
	c->next = g->children;
	if (g->children)
		g->children->prev = c;
	g->children = c;
	g->n_alive++;
	g->spawned++;
}

/* Warn that a record is empty because nothing could be recorded. */
static void say_unrecorded(const struct prepared *p, const struct gate_child *c)
{
	if (p->watches && c->run.listener >= 0)
		return;
	if (p->asked_records)
		log_warning(
			"%s: its acts are not recorded: no listener available",
			p->request->program);
	if (p->programs.n)
		log_warning("%s: rules of programs hold for it, not for what "
			    "it starts: no listener available",
			    p->request->program);
}

static void say_capped(const struct gate_config *config,
		       const struct prepared *p)
{
	for (size_t i = 0; i < p->policy.capped.n; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

		buf_addf(&line, "%s: %s", p->request->program,
			 p->policy.capped.item[i]);
		if (!config->has_news ||
		    config->has_news(config->has_news_arg, buf_cstr(&line)))
			log_note("%s", buf_cstr(&line));
	}
}

/* Say what the leash takes away, and where the program starts. */
static void say_start(const struct gate *gate, const struct prepared *p)
{
	const struct gate_request *r = p->request;

	say_capped(&gate->config, p);
	/* a grant of "/" is nobody's wish, nor are words in a name */
	if (p->hidden_cwd && r->cwd_said)
		log_note("started in a private, empty folder, because %s is "
			 "not granted: --write %s",
			 r->cwd_said,
			 strcmp(p->hidden_cwd, "/") != 0 &&
					 place_can_be_pasted(r->cwd_said)
				 ? r->cwd_said
				 : "FOLDER");
}

/* Note what is known only when the start has succeeded. */
static void note_started(struct gate_child *c, struct prepared *p)
{
	struct gate *g = p->gate;

	if (c->run.listener < 0)
		p->facts[GUARANTEE_SYSCALLS].how = arena_printf(
			&p->arena,
			"%s; refused calls are not named%s: no listener "
			"available",
			p->facts[GUARANTEE_SYSCALLS].how,
			c->watch.sockets ? ", AF_UNIX is refused" : "");
	c->info.pid = c->run.program;
	c->info.facts = gate_keep_facts(g, p->facts);
	c->info.n_facts = N_GUARANTEES;
	take_diag(c, &c->run.diag);
	say_unrecorded(p, c);
	g->has_started[p->own_view] = true;
}

static void free_starting(struct starting *s)
{
	prepared_release(&s->prepared);
	free(s);
}

static void forget_starting(struct gate *g, const struct gate_child *c)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_starting; i++)
		if (g->starting[i] != c)
			g->starting[n++] = g->starting[i];
	g->n_starting = n;
}

/* Wait now for a start that was not waited for. */
static void settle(struct gate_child *c)
{
	struct starting *s = c->starting;
	struct err err = ERR_INIT, *kept;
	int r;

	if (!s)
		return;
	c->starting = NULL;
	forget_starting(c->gate, c);
	r = launch_wait(&s->launching, &err);
	c->run = s->launching.run;
	if (r == 0) {
		note_started(c, &s->prepared);
	} else {
		(void)!say_failed(&s->prepared, &err);
		c->gate->spawned--;
		kept = ARENA_NEW(&c->arena, struct err);
		*kept = err;
		c->start_error = kept;
	}
	free_starting(s);
}

static void close_start(struct gate_child *c)
{
	settle(c);
	fd_closep(&c->start_sock);
}

/* The first of those under way: its caller hears of it later. */
static void settle_first(struct gate *g)
{
	struct gate_child *c = g->starting[0];

	settle(c);
	if (c->settled)
		c->settled(c->settled_arg);
	fd_closep(&c->start_sock);
}

void gate_child_on_settled(struct gate_child *c, void (*settled)(void *arg),
			   void *arg)
{
	c->settled = settled;
	c->settled_arg = arg;
}

int gate_child_started(struct gate_child *c, struct err *err)
{
	close_start(c);
	if (!c->start_error)
		return 0;
	*err = *c->start_error;
	return -1;
}

/*
 * May others do something while the child starts? Only where the same was well
 * before in this run, nothing has to be served meanwhile, and the caller hears
 * of the starts, each of which has a descriptor.
 */
static bool may_follow(const struct prepared *p)
{
	return p->request->may_follow && p->gate->has_started[p->own_view] &&
	       p->gate->hang == GATE_HANG_NEVER &&
	       p->policy.net != POLICY_NET_PROXY &&
	       (!p->launch.serve || p->launch.exec_cookie);
}

/* The program may run by now. Until its proxy serves, and when it never does,
   it has no network: connections wait, or are refused. */
static int hand_over(struct gate_child *c, struct err *err)
{
	int r = 0;

	if (c->proxy.share &&
	    proxy_hand_over(&c->proxy, c->run.listen, c->run.n_listen, err) < 0)
		r = err_wrap(err, "%s", c->info.path);
	launched_close_sockets(&c->run);
	return r;
}

/*
 * May the start begin while so many others are under way? One that maps ids
 * has our memory dumpable until it is over.
 */
static bool may_overlap(const struct prepared *p, size_t n)
{
	const struct gate *g = p->gate;

	return n < GATE_STARTING && g->n_alive < GATE_BUSY && !g->ns.as_user &&
	       may_follow(p);
}

/* Start what is prepared; wait for it where that is due. */
static int start_child(struct starting *s, struct gate_child *c,
		       struct err *err)
{
	struct prepared *p = &s->prepared;
	struct gate *g = p->gate;

	/* the first had all the time that preparing this one took */
	while (g->n_starting && !may_overlap(p, g->n_starting))
		settle_first(g);
	if (start(s, c, err) < 0)
		return -1;
	if (may_follow(p)) {
		c->run = s->launching.run;
		c->start_sock = s->launching.sock;
		fill_child(c, p);
		c->starting = s;
		g->starting[g->n_starting++] = c;
		return 0;
	}
	if (launch_wait(&s->launching, err) < 0) {
		launching_release(&s->launching);
		return say_failed(p, err);
	}
	fd_closep(&s->launching.sock);
	c->run = s->launching.run;
	fill_child(c, p);
	note_started(c, p);
	return 0;
}

static int spawn(struct gate *gate, const struct gate_request *request,
		 uint64_t until_ns, struct gate_child **ret_child,
		 struct err *err)
{
	struct starting *s = mem_alloc(sizeof(*s));
	struct prepared *p = &s->prepared;
	struct gate_child *c;
	int r;

	if (prepare_by(gate, request, true, until_ns, p, err) < 0) {
		free_starting(s);
		return -1;
	}
	p->launch.until_ns = until_ns;
	say_start(gate, p);
	c = mem_alloc(sizeof(*c));
	*c = (struct gate_child){
		.fd = {-1, -1, -1},
		.run = LAUNCHED_INIT,
		.start_sock = -1,
		.denials = DENIALS_INIT,
		.proxy = PROXY_INIT,
		.watch = WATCH_INIT,
		.sockets = SOCKETS_INIT,
	};
	begin_watch(p, c);
	r = start_child(s, c, err);
	c->ended = r < 0;
	if (!c->starting)
		free_starting(s);
	if (r == 0)
		r = hand_over(c, err);
	if (r < 0) {
		gate_child_free(c);
		return -1;
	}
	*ret_child = c;
	return 0;
}

/* Try again where a view could be made earlier in this boot, but not now. */
int gate_spawn(struct gate *gate, const struct gate_request *request,
	       struct gate_child **ret_child, struct err *err)
{
	uint64_t until_ns = prepare_until(request);
	int r = spawn(gate, request, until_ns, ret_child, err);

	if (r == 0 || !gate->view_failed || !gate->ns.is_kept)
		return r;
	gate_probe_again(gate);
	*err = (struct err)ERR_INIT;
	return spawn(gate, request, until_ns, ret_child, err);
}

/* ---- its life ---- */

const struct gate_child_info *gate_child_info(const struct gate_child *c)
{
	return &c->info;
}

struct gate_child_fds gate_child_fds(const struct gate_child *c)
{
	return (struct gate_child_fds){
		.in = c->fd[0],
		.out = c->fd[1],
		.err = c->fd[2],
		.pidfd = c->run.init.pidfd,
		.notify = c->run.listener,
		.start = c->start_sock,
	};
}

void gate_child_close(struct gate_child *c, int which)
{
	fd_closep(&c->fd[which]);
}

void gate_child_serve(struct gate_child *c)
{
	struct watch *w = watch_wants(&c->watch) ? &c->watch : NULL;

	if (c->run.listener < 0)
		return;
	if (notify_serve(c->run.listener, &c->denials, w) != NOTIFY_OK ||
	    (c->sockets.n_waiting &&
	     notify_again(c->run.listener, &c->denials, w) != NOTIFY_OK))
		fd_closep(&c->run.listener);
}

unsigned gate_child_due_ms(const struct gate_child *c)
{
	return c->run.listener < 0 ? 0 : sockets_due_ms(&c->sockets);
}

const char *gate_child_lost(struct gate_child *c, enum gate_lost *ret_how)
{
	for (size_t i = 0; i < c->watch.n_names; i++) {
		struct watch_name *name = &c->watch.names[i];

		if (!name->is_changed || name->is_told)
			continue;
		name->is_told = true;
		*ret_how = name->is_file   ? GATE_LOST_REPLACED
			   : name->is_read ? GATE_LOST_REFUSED
					   : GATE_LOST_DROPPED;
		return name->real;
	}
	return NULL;
}

void gate_child_signal(struct gate_child *c, int signal)
{
	/* pid 1 takes its namespace with it; a subreaper has to be asked */
	c->killed |= signal == SIGKILL;
	if (signal == SIGKILL && !c->own_pids)
		signal = CHILD_SIGNAL_END;
	if (c->run.init.pid > 0)
		kernel_pidfd_signal(c->run.init.pidfd, signal);
}

/* ---- its end ---- */

static uint64_t micros(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static void add_unreached(struct gate_child *c, const char *name,
			  enum proxy_outcome why)
{
	list_add_new(&c->unreached, &c->arena,
		     arena_printf(&c->arena, "%s: %s", name,
				  proxy_outcome_text(why)));
}

/* Name services of this machine that were looked for and not there. */
static void add_down(struct gate_child *c)
{
	for (size_t i = 0; i < c->sockets.n_forwards; i++) {
		const struct sockets_forward *f = &c->sockets.forward[i];
		struct endpoint_target t;
		char name[ENDPOINT_TEXT_BYTES];

		if (!f->is_down ||
		    endpoint_target_bytes(f->address.bytes, f->address.is_v6,
					  f->port, &t) < 0)
			continue;
		endpoint_target_text(&t, name);
		add_unreached(c, name, PROXY_NOT_THERE);
	}
}

/* Name the endpoints that the proxy refused beside the refused calls. */
static void add_refused(struct gate_child *c)
{
	struct proxy_denial r;

	for (size_t i = 0; proxy_denial(&c->proxy, i, &r); i++) {
		AUTO(buf_release) struct buf detail = BUF_INIT(LIMIT_ERR_MSG);

		if (proxy_named_as(r.outcome) == NAMED_UNREACHED) {
			add_unreached(c, r.name, r.outcome);
			continue;
		}
		buf_addf(&detail, "%s %s: %s",
			 strchr(r.name, ':') ? "connect to" : "look up", r.name,
			 proxy_outcome_text(r.outcome));
		denials_add_row(&c->denials,
				&(struct gate_denial){
					.kind = "net",
					.name = r.name,
					.program = "the program",
					.detail = buf_cstr(&detail),
					.allow = proxy_allow(r.outcome, r.name),
					.count = r.count,
				});
	}
	c->denials.dropped += proxy_denials_dropped(&c->proxy);
}

/* Did a program that starts in HOME write what a word means there? */
static bool has_home_name(const struct gate_child *c)
{
	const struct left *l = &c->state.left;

	for (size_t i = 0; i < l->n_entries && i < LEFT_NAMES; i++)
		if (list_has(&c->home_names, l->name[i]))
			return true;
	return false;
}

/* Tell of the files that a tree left in its private working directory. */
static void find_dropped(struct gate_child *c)
{
	AUTO(mem_freep) char *home = NULL;
	struct gate_dropped *d = &c->verdict.dropped;
	struct left *l = &c->state.left;
	struct stat st;
	size_t n;

	d->folder = c->hidden_cwd;
	if (l->in_home)
		d->place = l->home;
	else if (!d->folder || has_home_name(c))
		d->place = c->counted;
	if (c->private_dir && c->counted) {
		home = mem_printf("%s/home", c->private_dir);
		l->is_listed =
			stat(home, &st) == 0 && st.st_atim.tv_sec != LEFT_TIME;
		/* an empty one may go at once */
		if (rmdir(home) < 0)
			left_count(l, home, true);
	}
	n = l->n_entries < LEFT_NAMES ? l->n_entries : LEFT_NAMES;
	for (size_t i = 0; i < n; i++) {
		bool is_cut = strlen(l->name[i]) == LEFT_NAME_BYTES - 1;

		list_add(&d->names, &c->arena,
			 arena_printf(&c->arena, "%s%s%s%s%s",
				      d->place ? d->place : "",
				      d->place ? "/" : "", l->name[i],
				      is_cut ? "…" : "",
				      l->is_folder[i] ? "/" : ""));
	}
	list_sort(&d->names);
	d->files = l->n_files;
	for (size_t i = 0; i < l->n_named; i++) {
		const struct left_named *x = &l->named[i];

		if (x->is_there && !n && !d->place)
			d->place = resolve_dirname(x->path, &c->arena);
		if (x->is_there)
			list_add(&d->names, &c->arena,
				 arena_printf(&c->arena, "%s%s", x->path,
					      x->is_folder ? "/" : ""));
		d->files += x->is_there && !x->is_folder;
	}
	d->is_more = n < l->n_entries;
	d->is_cut = l->is_cut;
}

static void find_unseen(struct gate_child *c)
{
	struct gate_unseen *u = &c->verdict.unseen;

	u->is_listed =
		c->hidden_cwd && c->marks_counted && c->state.left.is_listed;
	if (!c->hidden_cwd && c->marks_counted && c->state.left.is_listed)
		u->home = c->counted;
	for (size_t i = 0; i < c->watch.n_names; i++) {
		const struct watch_name *name = &c->watch.names[i];

		if (name->is_changed)
			list_add(&u->changed, &c->arena, name->real);
		if (name->is_asked && !name->is_new && !name->is_read &&
		    !name->is_file)
			list_add(&u->paths, &c->arena, name->real);
	}
}

/* Records tell of addresses, which stand for names in such a network. */
static void name_connections(struct gate_child *c)
{
	struct records *seen = &c->watch.records;
	char name[ENDPOINT_TEXT_BYTES];

	for (size_t i = 0; i < seen->n; i++)
		if (seen->row[i].what == GATE_RECORD_NET &&
		    proxy_name_of(&c->proxy, seen->row[i].path, name))
			seen->row[i].path = arena_strdup(&seen->arena, name);
}

static void find_hits(struct gate_child *c)
{
	struct gate_verdict *v = &c->verdict;
	struct cgroup_events events = {0, 0};
	struct hit_end end = {
		.cpu_us = c->state.cpu_us,
		.signal = v->exited ? 0 : v->signal,
		.ended_by_us = c->killed,
	};

	if (c->group)
		cgroup_read_events(c->cgroups, c->group, &events);
	end.oom_kills = events.oom_kills;
	end.forks_refused = events.forks_refused;
	v->limits = hits_find(&c->bounds, &end, &c->arena);
}

static void judge_end(struct gate_child *c, const siginfo_t *end,
		      const struct rusage *usage)
{
	const struct records *seen = &c->watch.records;
	struct gate_verdict *v = &c->verdict;
	int status = c->state.wait_status;

	for (size_t i = 0; i < seen->n; i++)
		if (seen->row[i].why &&
		    !is_told(&c->denials, seen->row[i].program,
			     seen->row[i].why))
			deny_exec(c, &seen->row[i]);
	*v = (struct gate_verdict){
		.cpu_us = micros(&usage->ru_utime) + micros(&usage->ru_stime),
		.max_rss_bytes = c->state.max_rss_kib * 1024,
		.execs = {&c->info.path, 1},
		.records = seen->row,
		.n_records = seen->n,
		.records_dropped = seen->dropped,
		.denials = c->denials.row,
		.n_denials = c->denials.n,
		.denials_dropped = c->denials.dropped,
		.unreached = c->unreached,
	};
	if (c->watch.what & GATE_RECORD_EXEC)
		v->execs = records_list_execs(&c->watch.records);
	if (!__atomic_load_n(&c->state.has_status, __ATOMIC_ACQUIRE))
		/* the owner of the tree was ended, and the program with it */
		v->signal =
			end->si_code == CLD_EXITED ? SIGKILL : end->si_status;
	else if (WIFEXITED(status))
		v->exited = true, v->exit_status = WEXITSTATUS(status);
	else
		v->signal = WTERMSIG(status);
	find_hits(c);
	find_dropped(c);
	find_unseen(c);
}

int gate_child_wait(struct gate_child *c, struct gate_verdict *ret)
{
	siginfo_t end = {.si_pid = 0};
	struct rusage usage = {.ru_maxrss = 0};

	settle(c);
	if (!c->ended) {
		if (kernel_waitid(c->run.init.pidfd, &end,
				  WEXITED | WNOHANG | __WALL, &usage) < 0 ||
		    !end.si_pid)
			return 1;
		c->ended = true;
		if (c->gate)
			c->gate->n_alive--;
		c->run.init.pid = 0;
		if (c->gate)
			c->gate->seen = (struct gate_seen){.cwd = NULL};
		proxy_stop(&c->proxy);
		denials_add_missed(&c->denials);
		add_refused(c);
		add_down(c);
		name_connections(c);
		judge_end(c, &end, &usage);
		/* without a pid namespace a tree can lose its owner; its group
		   ends it. An owner that ends well has reaped all of it, or
		   its namespace has */
		if (c->group)
			c->group->is_empty =
				end.si_code == CLD_EXITED && !end.si_status;
		cgroups_give(c->cgroups, c->group);
		c->group = NULL;
		if (c->private_dir)
			private_remove(c->private_dir);
		free(c->private_dir);
		c->private_dir = NULL;
	}
	*ret = c->verdict;
	return 0;
}

/* End the tree, reap it, close everything; the struct stays. */
static void end_child(struct gate_child *c)
{
	struct gate_verdict ignored;

	if (c->gate) {
		close_start(c);
		c->gate->n_alive -= !c->ended;
		*(c->prev ? &c->prev->next : &c->gate->children) = c->next;
		if (c->next)
			c->next->prev = c->prev;
		c->gate = NULL;
	}
	for (int i = 0; i < 3; i++)
		fd_closep(&c->fd[i]);
	/* a killed task does not wait for an answer */
	fd_closep(&c->run.listener);
	if (!c->ended)
		gate_child_signal(c, SIGKILL);
	while (gate_child_wait(c, &ignored) > 0) {
		struct pollfd p = {.fd = c->run.init.pidfd, .events = POLLIN};

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
	}
	launched_release(&c->run);
	proxy_release(&c->proxy);
}

void gate_child_free(struct gate_child *c)
{
	if (!c)
		return;
	end_child(c);
	denials_release(&c->denials);
	watch_release(&c->watch);
	sockets_release(&c->sockets);
	arena_release(&c->arena);
	free(c);
}

/* ---- the policy ---- */

int gate_policy_check(const struct gate_policy *p, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct policy ignored;

	if (policy_resolve(p, NULL, &arena, &ignored, err) < 0)
		return -1;
	return seccomp_check_names(&p->syscalls, err);
}

/* ---- the gate ---- */

/* Probe: with a NULL program the kernel answers EFAULT if filters are
 * supported. */
static int check_filter(struct err *err)
{
	if (kernel_seccomp(SECCOMP_SET_MODE_FILTER, 0, NULL) < 0 &&
	    errno == EFAULT)
		return 0;
	if (errno == ENOSYS || errno == EINVAL)
		return err_set(err, ERR_PROTECTION,
			       "this kernel has no system-call filter "
			       "(CONFIG_SECCOMP_FILTER, Linux 3.17); nothing "
			       "is started without one");
	return err_set(err, ERR_PROTECTION,
		       "no system-call filter can be installed here: %s; "
		       "nothing is started without one: start matins outside "
		       "of the sandbox that forbids it",
		       strerror(errno));
}

int gate_new(const struct gate_config *config, struct gate **ret_gate,
	     struct err *err)
{
	struct gate *g;

	if (check_filter(err) < 0)
		return -1;
	/* opened files are known by their paths, which only /proc tells */
	if (!mounts_first().n)
		return err_set(err, ERR_PROTECTION,
			       "/proc is not mounted, and opened files are "
			       "known by it; mount -t proc proc /proc");
	g = mem_zalloc(sizeof(*g));
	g->config = *config;
	g->private_dirs = (struct private_dirs)PRIVATE_INIT;
	g->base = (struct grants)GRANTS_INIT(&g->arena);
	g->base_fd = g->base_to = -1;
	g->is_root = user_self() == 0;
	g->landlock_abi = landlock_abi();
	if (grants_open_base(&g->base, BASE_SYSTEM, err) < 0) {
		gate_free(g);
		return -1;
	}
	places_find(g);
	own_paths_resolve(g);
	if (g->landlock_abi < 1)
		gate_probe(g);
	if (g->landlock_abi < 1 && !g->ns.available) {
		err_set(err, ERR_PROTECTION,
			"neither Landlock (%s) nor namespaces (%s; %s)",
			MECHANISMS[MECHANISM_LANDLOCK].then, g->ns.why,
			ns_remedy(&g->ns));
		gate_free(g);
		return -1;
	}
	*ret_gate = g;
	return 0;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	while (g->children)
		end_child(g->children);
	filters_release(g);
	programs_release(g);
	for (size_t i = 0; i < g->n_idmaps; i++)
		fd_closep(&g->idmap[i].fd);
	grants_release(&g->base);
	fd_closep(&g->base_fd);
	fd_closep(&g->base_to);
	cgroups_close(&g->cgroups);
	private_close(&g->private_dirs);
	arena_release(&g->arena);
	free(g);
}

/* ---- questions ---- */

int gate_check(struct gate *gate, const struct gate_request *request,
	       struct err *err)
{
	struct prepared p;
	int r = prepare_by(gate, request, false, prepare_until(request), &p,
			   err);

	prepared_release(&p);
	return r;
}

const struct gate_fact *gate_protections(struct gate *g, size_t *ret_n)
{
	*ret_n = N_GUARANTEES;
	if (!g->own_facts) {
		struct prepared p;

		prepare_default(g, &p);
		g->own_facts = gate_keep_facts(g, p.facts);
		prepared_release(&p);
	}
	return g->own_facts;
}

/* ---- acts of the runner itself, for remote servers ---- */

static bool row_allows(const char *row, const struct endpoint_target *name,
		       const struct endpoint_target *address)
{
	struct endpoint e;
	enum endpoint_grant grant;

	if (strcmp(row, "all") == 0)
		return true;
	if (strcmp(row, "loopback") == 0)
		return address &&
		       address_class_of(&address->address) == ADDRESS_LOOPBACK;
	if (endpoint_parse(row, &e, ERR_IGNORED) < 0)
		return false;
	if (address && endpoint_judge(&e, 1, address) == ENDPOINT_LITERAL)
		return true;
	grant = endpoint_judge(&e, 1, name);
	return grant != ENDPOINT_REFUSED &&
	       (!address || endpoint_reaches(grant, &address->address));
}

int gate_may_connect(const struct gate *gate, struct str host, uint16_t port,
		     const struct sockaddr *address, struct err *err)
{
	const struct gate_axis *net = &gate->config.leash.net;
	struct endpoint_target name, at;
	struct address bytes;
	char text[ENDPOINT_TEXT_BYTES];

	if (net->all)
		return 0;
	if (endpoint_target(host, port, &name) < 0 ||
	    (address &&
	     (!address_of(address, &bytes) ||
	      endpoint_target_bytes(bytes.bytes, bytes.is_v6, port, &at) < 0)))
		return err_set(err, ERR_LEASH,
			       "\"%.*s\" is not a host name or an address",
			       STR_ARG(host));
	for (size_t i = 0; i < net->only.n; i++)
		if (row_allows(net->only.item[i], &name, address ? &at : NULL))
			return 0;
	endpoint_target_text(&name, text);
	return err_set(err, ERR_LEASH,
		       "the leash (%s) does not allow connections to %s; add "
		       "it to its \"net\"",
		       gate->config.leash.source ? gate->config.leash.source
						 : "of this run",
		       text);
}

extern char **environ;

/* Start a program of the user, judged by the leash, with one argument. */
static int open_in(struct gate *gate, const char *program, const char *url,
		   struct gate_page *ret, struct process *ret_process,
		   struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *argv[] = {program, url, NULL};
	const struct gate_policy policy = {0};
	const struct gate_request request = {
		.program = program,
		.argv = argv,
		.policy = &policy,
		.stdio = {GATE_PIPE, GATE_PIPE, GATE_PIPE},
	};
	struct gate_explained found;
	int r;

	if (gate_explain(gate, &request, &arena, &found, err) < 0)
		return err_wrap(err, "the browser");
	r = process_execute(found.program, argv, (const char *const *)environ,
			    NULL, 0, 3, ret_process);
	if (r)
		return err_sys(err, r, "the browser %s", program);
	*ret = (struct gate_page){mem_strdup(found.program), ret_process->pid};
	return 0;
}

/* A page is not ended here: a browser that was running takes the page over, and
   one that starts stays. */
int gate_open_page(struct gate *gate, const char *program, const char *url,
		   struct gate_page *ret, struct err *err)
{
	struct process browser = PROCESS_NONE;

	if (!str_starts(str_of(url), "https://") &&
	    !str_starts(str_of(url), "http://"))
		return err_set(err, ERR_POLICY,
			       "only http and https pages are opened");
	if (open_in(gate, program, url, ret, &browser, err) < 0)
		return -1;
	fd_closep(&browser.pidfd);
	return 0;
}

/* A browser that runs this long has opened its page. */
#define OPENED_S 2

int gate_open_file(struct gate *gate, const char *program, const char *path,
		   struct err *err)
{
	AUTO(buf_release) struct buf url = BUF_INIT(BUF_UNBOUNDED);
	struct clock *clock = clock_system();
	struct process browser = PROCESS_NONE;
	struct gate_page page;
	int status;

	buf_adds(&url, "file://");
	for (const char *p = path; *p; p++)
		buf_addf(&url,
			 text_is_alnum(*p) || strchr("/._-", *p) ? "%c"
								 : "%%%02X",
			 (unsigned char)*p);
	if (open_in(gate, program, buf_cstr(&url), &page, &browser, err) < 0)
		return -1;
	free(page.path);
	if (!process_has_ended(&browser,
			       clock->now_ns(clock) + OPENED_S * NS_PER_S)) {
		fd_closep(&browser.pidfd);
		return 0;
	}
	status = process_wait(&browser);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(
		err, ERR_SYS, "%s %s %d", program,
		WIFEXITED(status) ? "ended with status" : "was ended by signal",
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}
