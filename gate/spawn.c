/*
 * The one function that makes processes.
 */
#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "gate/inner.h"

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

/* What outlives the preparation moves into the child. */
static void fill_child(struct gate_child *c, struct prepared *p)
{
	struct gate *g = p->gate;

	c->path = gate_text(g, p->program.file[0].path);
	c->exec_row[0] = c->path;
	c->own_pids = p->own_view;
	c->private_dir = p->private_dir;
	p->private_dir = NULL;
	for (int i = 0; i < N_GUARANTEES; i++) {
		c->facts[i] = p->facts[i];
		c->facts[i].how = gate_text(g, p->facts[i].how);
	}
	if (c->run.listener < 0)
		c->facts[GUARANTEE_SYSCALLS].how = gate_text(
			g, arena_printf(&p->arena,
					"%s; refused calls are not named: no "
					"listener to be had",
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
	if (launch_start(l, p->clone_flags, &c->run, err) < 0) {
		/* what was kept of the trial may hold no more */
		if (l->stage <= STAGE_SETUP)
			ns_forget(p->gate->config.state_dir);
		release_stdio(&s);
		return err_wrap(err, "%s", p->request->program);
	}
	for (int i = 0; i < 3; i++) {
		c->fd[i] = s.ours[i];
		s.ours[i] = -1;
	}
	release_stdio(&s);
	return 0;
}

int gate_spawn(struct gate *gate, const struct gate_request *request,
	       struct gate_child **ret_child, struct err *err)
{
	struct gate_child *c;
	struct prepared p;

	if (prepare(gate, request, true, &p, err) < 0) {
		prepared_release(&p);
		return -1;
	}
	note_caps(&p);
	c = mem_zalloc(sizeof(*c));
	c->run = (struct launched)LAUNCHED_INIT;
	c->denials = (struct denials)DENIALS_INIT;
	if (start(&p, c, err) < 0) {
		free(c);
		prepared_release(&p);
		return -1;
	}
	fill_child(c, &p);
	prepared_release(&p);
	*ret_child = c;
	return 0;
}
