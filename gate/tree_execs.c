#include "gate/tree_execs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/place.h"

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

void tree_note_listed(struct gate_child *c, const struct prepared *p)
{
	const struct grants *lists[] = {&p->grants, &p->gate->base};
	size_t cap = lists[0]->n + lists[1]->n;

	c->may_run = ARENA_ARRAY(&c->arena, struct may_run, cap + 1);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < lists[k]->n; i++) {
			const struct grant *g = &lists[k]->grant[i];

			if (!(grant_rights(g->what) & LL_FS_EXECUTE))
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
	struct programs_call call = {
		.asked = x->path,
		.path = x->file,
		.file = {x->dev, x->ino},
		.argv = x->argv,
		.is_cut = x->is_cut,
	};

	if (x->error)
		return err_set(err, ERR_POLICY,
			       "%s: which program this is cannot be told, and "
			       "there are rules for programs; name its file",
			       x->path);
	return programs_judge(&c->programs, &call, err);
}

enum watch_answer tree_judge_exec(void *child, const struct watch_exec *x,
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

/* Row of `exec` that allows the path: its bare name, where PATH leads to it. */
static const char *exec_row(const struct gate_child *c, const char *path,
			    struct arena *arena)
{
	const char *real =
		c->watch.only_cached ? NULL : resolve_links(path, arena);

	return real && resolve_in_path(path, real, arena)
		       ? resolve_basename(path)
		       : path;
}

static void add_denial(struct gate_child *c, const struct gate_record *row)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *path = row->path;
	const char *real =
		c->watch.only_cached ? NULL : resolve_links(path, &arena);
	const char *refused = NULL;
	struct gate_allow allow = {NULL, NULL};
	struct stat st;

	if (row->unlisted && real && stat(real, &st) == 0)
		refused = unlisted(
			c, real, &(struct programs_file){st.st_dev, st.st_ino},
			&arena);
	if (refused && strcmp(refused, real) != 0)
		path = refused; /* the interpreter of a script that is listed */
	if (row->unlisted)
		allow = (struct gate_allow){"exec", exec_row(c, path, &arena)};
	denials_add_row(&c->denials, &(struct gate_denial){
					     .kind = "exec",
					     .name = path,
					     .program = row->program,
					     .detail = row->why,
					     .allow = allow,
					     .count = row->count,
				     });
}

void tree_add_denials(struct gate_child *c)
{
	const struct records *r = &c->watch.records;

	for (size_t i = 0; i < r->n; i++) {
		const struct gate_record *row = &r->row[i];

		if (row->why && !is_told(&c->denials, row->program, row->why))
			add_denial(c, row);
	}
}
