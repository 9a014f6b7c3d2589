/*
 * Start of a program: prepare the request, launch it, fill its gate_child.
 */
#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "gate/gate_child.h"
#include "gate/prepare/prepare.h"
#include "gate/prepare/probe.h"
#include "gate/tree_execs.h"

/* Descriptors of one start: the child's three and our ends of the pipes. */
struct stdio {
	int child[3]; /* borrowed from the request unless owned */
	bool is_owned[3];
	int ours[3];
};

static void release_stdio(struct stdio *s)
{
	for (int i = 0; i < 3; i++) {
		if (s->is_owned[i])
			fd_closep(&s->child[i]);
		fd_closep(&s->ours[i]);
	}
}

static int make_pipe(struct stdio *s, int i, struct err *err)
{
	int r, w;

	if (fd_pipe(&r, &w) < 0)
		return err_sys(err, errno, "pipe");
	s->child[i] = i == 0 ? r : w;
	s->ours[i] = i == 0 ? w : r;
	s->is_owned[i] = true;
	if (fd_nonblock(s->ours[i]) < 0)
		return err_sys(err, errno, "pipe");
	return 0;
}

static int open_stdio(const struct gate_request *request, struct stdio *s,
		      struct err *err)
{
	for (int i = 0; i < 3; i++) {
		int fd = request->stdio[i];

		if (i == 2 && fd == GATE_AS_OUT) {
			s->child[2] = s->child[1];
			continue;
		}
		if (fd != GATE_PIPE && isatty(fd))
			return err_set(err, ERR_POLICY,
				       "descriptor %d is a terminal, which is "
				       "never handed to a child",
				       fd);
		s->child[i] = fd;
		if (fd == GATE_PIPE && make_pipe(s, i, err) < 0)
			return -1;
	}
	return 0;
}

static void note_caps(const struct prepared *p)
{
	for (size_t i = 0; i < p->policy.capped.n; i++)
		log_note("%s: %s", p->request->program,
			 p->policy.capped.item[i]);
}

/* Move into the child what outlives the preparation. */
static void fill_child(struct gate_child *c, struct prepared *p)
{
	struct gate *g = p->gate;

	c->path = gate_keep_text(g, p->program.file[0].path);
	c->cwd = gate_keep_text(g, p->launch.cwd);
	c->exec_row[0] = c->path;
	c->own_pids = p->own_view;
	c->private_dir = p->private_dir;
	p->private_dir = NULL;
	c->cgroups = &g->cgroups;
	c->group = p->group;
	p->group = NULL;
	c->bounds = p->bounds;
	c->seen_bounds = (struct gate_seen_bounds){
		.memory = p->group_has[CGROUP_MEMORY],
		.processes = p->group_has[CGROUP_PIDS],
	};
	gate_keep_facts(g, p->facts, c->facts);
	if (c->run.listener < 0)
		c->facts[GUARANTEE_SYSCALLS].how = gate_keep_text(
			g, arena_printf(&p->arena,
					"%s; refused calls are not named: no "
					"listener available",
					c->facts[GUARANTEE_SYSCALLS].how));
	c->gate = g;
	c->next = g->children;
	if (g->children)
		g->children->prev = c;
	g->children = c;
	g->spawned++;
}

static int start(struct prepared *p, struct gate_child *c, struct err *err)
{
	struct stdio s = {.child = {-1, -1, -1}, .ours = {-1, -1, -1}};
	struct launch *l = &p->launch;

	l->state = &c->state;
	if (open_stdio(p->request, &s, err) < 0) {
		release_stdio(&s);
		return -1;
	}
	memcpy(&l->fd[FD_IN], s.child, sizeof(s.child));
	if (p->policy.net == POLICY_NET_PROXY &&
	    proxy_start(&p->policy, &c->proxy, err) < 0) {
		release_stdio(&s);
		return err_wrap(err, "%s", p->request->program);
	}
	if (launch_start(l, p->clone_flags, &c->run, err) < 0) {
		/* the kept trial may hold no more */
		p->gate->view_failed = p->own_view && l->stage <= STAGE_SETUP &&
				       err->kind != ERR_DEADLINE;
		release_stdio(&s);
		proxy_release(&c->proxy);
		return err_wrap(err, "%s", p->request->program);
	}
	for (int i = 0; i < 3; i++) {
		c->fd[i] = s.ours[i];
		s.ours[i] = -1;
	}
	release_stdio(&s);
	return 0;
}

static bool serve(int listener, void *arg)
{
	struct gate_child *c = arg;

	/* a program may have ended as soon as its exec was answered */
	return notify_serve(listener, &c->denials, &c->watch) != NOTIFY_BROKEN;
}

/* The program itself is the first row; the listener cannot see our memory. */
static void begin_watch(struct prepared *p, struct gate_child *c)
{
	const char *path = p->program.file[0].path;
	struct gate_record first = {
		.what = GATE_RECORD_EXEC,
		.program = resolve_basename(path),
		.path = path,
		.access = GATE_ACCESS_RUN,
		.args = {p->argv.item, p->argv.n - 1}, /* without NULL */
	};

	c->watch = (struct watch)WATCH_INIT;
	c->watch.what = p->watches & p->asked_records;
	if (c->watch.what & GATE_RECORD_FILES)
		c->watch.records.max = WATCH_RECORDS_TRACE;
	if (!p->watches)
		return;
	p->launch.serve = serve;
	p->launch.serve_arg = c;
	c->programs = programs_copy(&p->programs, &c->arena);
	if (p->gate->landlock_abi > 0)
		tree_note_listed(c, p);
	c->watch.judge = tree_judge_exec;
	c->watch.judge_arg = c;
	c->watch.reads_all = p->programs.n > 0;
	c->watch.has_begun = p->launch.exec_cookie != 0;
	/* names in denials are worth no wait; rules are */
	c->watch.only_cached =
		!p->programs.n && p->gate->hang != GATE_HANG_NEVER;
	if (c->watch.what & GATE_RECORD_EXEC)
		records_add(&c->watch.records, &first);
}

/* Warn that a record is empty because nothing could be recorded. */
static void say_unrecorded(const struct prepared *p, const struct gate_child *c)
{
	if (p->asked_records && (!p->watches || c->run.listener < 0))
		log_warning(
			"%s: its acts are not recorded: no listener available",
			p->request->program);
	if (p->programs.n && (!p->watches || c->run.listener < 0))
		log_warning("%s: rules of programs hold for it, not for what "
			    "it starts: no listener available",
			    p->request->program);
}

/*
 * The program may run by now. Until its proxy serves, and when it never does,
 * it has no network: connections wait, or are refused.
 */
static int serve_network(struct gate_child *c, struct err *err)
{
	int r = 0;

	if (c->proxy.share)
		r = proxy_hand_over(&c->proxy, c->run.listen, c->run.n_listen,
				    err);
	launched_close_sockets(&c->run);
	return r < 0 ? err_wrap(err, "%s", c->path) : 0;
}

static int spawn(struct gate *gate, const struct gate_request *request,
		 uint64_t until_ns, struct gate_child **ret_child,
		 struct err *err)
{
	struct gate_child *c;
	struct prepared p;

	if (prepare_by(gate, request, true, until_ns, &p, err) < 0) {
		prepared_release(&p);
		return -1;
	}
	p.launch.until_ns = until_ns;
	note_caps(&p);
	c = mem_zalloc(sizeof(*c));
	c->run = (struct launched)LAUNCHED_INIT;
	c->denials = (struct denials)DENIALS_INIT;
	c->proxy = (struct proxy)PROXY_INIT;
	begin_watch(&p, c);
	if (start(&p, c, err) < 0) {
		denials_release(&c->denials);
		watch_release(&c->watch);
		arena_release(&c->arena);
		free(c);
		prepared_release(&p);
		return -1;
	}
	fill_child(c, &p);
	say_unrecorded(&p, c);
	prepared_release(&p);
	if (serve_network(c, err) < 0) {
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
