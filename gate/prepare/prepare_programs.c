/*
 * The rules of [sandbox.programs], held: for the program that is started, for
 * what its first line starts, and for the pins of all files that are named.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/place.h"
#include "core/base/sha256.h"
#include "gate/prepare/inner.h"

#define HASH_CHUNK_BYTES 65536

/* ---- what the names of rules lead to ---- */

static const char *followed(const char *path, struct arena *arena)
{
	char real[PATH_MAX];

	return realpath(path, real) ? arena_strdup(arena, real) : NULL;
}

/* A rule for a program that is not there means nothing here. */
static const char *rule_path(struct prepared *p, const char *name)
{
	struct resolved r = RESOLVED_INIT;
	struct err ignored = ERR_INIT;
	const char *path = NULL;

	if (strchr(name, '/'))
		return followed(name, &p->arena);
	if (resolve_program(name, NULL, &p->arena, &r, &ignored) == 0)
		path = r.file[0].path;
	resolved_release(&r);
	return path;
}

/* ---- what scripts bring with them ---- */

static void add_start(struct prepared *p, const struct programs_start *s)
{
	struct programs *set = &p->programs;
	struct programs_start *grown = arena_grow(
		&p->arena, set->start, set->n_starts, sizeof(*grown));

	grown[set->n_starts++] = *s;
	set->start = grown;
}

/* Where in the prefix the interpreter stands that was asked for so. */
static size_t find_in_prefix(const struct resolved *r, const char *asked)
{
	size_t i = 0;

	while (i < r->prefix.n && strcmp(r->prefix.item[i], asked) != 0)
		i++;
	return i;
}

/* env(1) reads quotes, escapes and variables in what is behind -S. */
static bool is_plain(const char *argument)
{
	return !strpbrk(argument, "\"'\\$#");
}

/*
 * `#!/usr/bin/env -S node --x` as [node, --x, script]. Without -S the kernel's
 * one argument is the whole name of the program.
 */
static struct strlist env_words(struct prepared *p, const struct resolved *r,
				size_t at, bool *ret_is_plain)
{
	const char *argument = r->prefix.item[at + 1];
	struct str rest = str_of(argument);
	struct strlist words = {NULL, 0};
	struct str target = resolve_env_target(rest);

	*ret_is_plain = is_plain(argument);
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
	size_t env = r->prefix.n;

	for (size_t i = 1; i < r->n && r->prefix.n; i++) {
		const struct resolved_file *f = &r->file[i];
		struct programs_start s = {
			.file = r->file[0].path,
			.asked = f->asked,
			.path = f->path,
		};
		size_t at = find_in_prefix(r, f->asked);
		bool plain = true;

		if (f->is_loader)
			continue;
		if (f->is_bare && env + 1 < r->prefix.n) {
			s.prefix = env_words(p, r, env, &plain);
		} else if (at < r->prefix.n) {
			s.prefix = (struct strlist){r->prefix.item + at,
						    r->prefix.n - at};
			env = at;
		} else {
			continue;
		}
		s.is_unclear = !plain;
		add_start(p, &s);
	}
}

/* ---- pins ---- */

static bool same_file(const struct stat *a, const struct stat *b)
{
	return stat_is_same(a, b) && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* of: names the file, or has it open */
static int hash(int of, char hex[SHA256_HEX_BYTES])
{
	AUTO(fd_closep) int fd = -1;
	char link[64];
	unsigned char *chunk = mem_alloc(HASH_CHUNK_BYTES);
	unsigned char sum[SHA256_BYTES];
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
	sha256_end(&s, sum);
	sha256_text(sum, hex);
	return n < 0 ? -1 : 0;
}

/* The sum of an open file; of one that has not changed it is remembered. */
static int known_hash(struct gate *g, const char *path, int fd,
		      const char **ret, struct err *err)
{
	struct gate_hash *h;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	for (h = g->hashes; h; h = h->next)
		if (same_file(&h->st, &st)) {
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

static bool is_writable(struct prepared *p, const char *path)
{
	const struct strlist *lists[] = {&p->policy.write,
					 &p->policy.write_only};

	if (p->policy.tmp_shared &&
	    (place_covers("/tmp", path) || place_covers("/var/tmp", path)))
		return true;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < lists[k]->n; i++) {
			const char *real =
				followed(lists[k]->item[i], &p->arena);

			if (place_covers(real ? real : lists[k]->item[i], path))
				return true;
		}
	return false;
}

static int check_pin(struct prepared *p, const struct gate_program_rule *rule,
		     const char *path, int fd, struct err *err)
{
	const char *hex = NULL;

	if (is_writable(p, path))
		return err_set(err, ERR_PIN,
			       "the pin of %s: %s lies in a folder that the "
			       "program may write, so it could change after it "
			       "was looked at; grant another folder",
			       rule->name, path);
	if (known_hash(p->gate, path, fd, &hex, err) < 0)
		return -1;
	if (strcmp(hex, rule->sha256) != 0)
		return err_set(err, ERR_PIN,
			       "%s is not the file that was pinned: its sha256 "
			       "is %s; if it was updated, write that in "
			       "programs.%s",
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

			if (programs_means(set, i, k ? f->asked : asked,
					   f->path) &&
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

/* ---- the whole ---- */

static void prepare_rules(struct prepared *p, const struct gate_policy *asked)
{
	size_t n = asked->programs.n;
	const char **path = ARENA_ARRAY(&p->arena, const char *, n);
	struct programs_file *file =
		ARENA_ARRAY(&p->arena, struct programs_file, n);
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		path[i] = rule_path(p, asked->programs.item[i].name);
		if (path[i] && stat(path[i], &st) == 0)
			file[i] = (struct programs_file){st.st_dev, st.st_ino};
	}
	p->programs = (struct programs){.rule = asked->programs.item,
					.path = path,
					.file = file,
					.n = n};
}

int prepare_programs(struct prepared *p, struct err *err)
{
	const struct gate_policy *asked = p->request->policy;
	struct programs_call call = {
		.asked = p->request->program,
		.path = p->program.file[0].path,
		.file = {p->program.file[0].st.st_dev,
			 p->program.file[0].st.st_ino},
	};

	if (!asked || !asked->programs.n)
		return 0;
	prepare_rules(p, asked);
	add_starts(p, &p->program);
	for (size_t i = 0; i < p->n_execs; i++)
		add_starts(p, &p->execs[i]);
	list_add(&call.argv, &p->arena, p->request->program);
	for (size_t i = 1; p->request->argv[0] && p->request->argv[i]; i++)
		list_add(&call.argv, &p->arena, p->request->argv[i]);
	if (programs_judge(&p->programs, &call, err) < 0 ||
	    check_pins(p, &p->program, p->request->program, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_execs; i++)
		if (check_pins(p, &p->execs[i], NULL, err) < 0)
			return -1;
	return check_pins_in_folders(p, err);
}

/* ---- what a tree executes ---- */

/* A row of `exec` for this program: bare, where PATH leads to it. */
static const char *exec_row(const char *path, struct arena *arena)
{
	const char *file = followed(path, arena);
	struct resolved r = RESOLVED_INIT;
	struct err ignored = ERR_INIT;
	const char *name = resolve_basename(path);
	bool is_found = resolve_program(name, NULL, arena, &r, &ignored) == 0 &&
			file && strcmp(r.file[0].path, file) == 0;

	resolved_release(&r);
	return is_found ? name : path;
}

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

/* Of a script, links followed; NULL: it has none, or it is not there. */
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
	return followed(arena_strndup(arena, name.p, name.n), arena);
}

/* What the kernel will refuse to execute there: the file, or what its first
   line starts; NULL: nothing. */
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

void programs_note_listed(struct gate_child *c, const struct prepared *p)
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

enum watch_answer programs_watch(void *child, const struct watch_exec *x,
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

/* execvp(3) tries one folder of PATH after the other: said once. */
static bool is_told(const struct denials *log, const char *program,
		    const char *why)
{
	for (size_t i = 0; i < log->n; i++)
		if (strcmp(log->row[i].program, program) == 0 &&
		    strcmp(log->row[i].detail, why) == 0)
			return true;
	return false;
}

static void add_denial(struct gate_child *c, const struct gate_record *row)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *path = row->path;
	const char *real = c->watch.only_cached ? NULL : followed(path, &arena);
	const char *allow = "", *refused = NULL;
	struct stat st;

	if (row->unlisted && real && stat(real, &st) == 0)
		refused = unlisted(
			c, real, &(struct programs_file){st.st_dev, st.st_ino},
			&arena);
	if (refused && strcmp(refused, real) != 0)
		path = refused; /* the interpreter of a script that is listed */
	if (row->unlisted)
		allow = arena_printf(
			&arena, "sandbox = { exec = [\"%s\"] }",
			c->watch.only_cached ? path : exec_row(path, &arena));
	denials_add_exec(&c->denials, path, row->program, row->why, allow,
			 row->count);
}

void programs_add_denials(struct gate_child *c)
{
	const struct records *r = &c->watch.records;

	for (size_t i = 0; i < r->n; i++) {
		const struct gate_record *row = &r->row[i];

		if (row->why && !is_told(&c->denials, row->program, row->why))
			add_denial(c, row);
	}
}
