#include "gate/prepare/prepare_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/sha256.h"
#include "core/base/place.h"

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
	struct resolved r = RESOLVED_INIT;
	struct err ignored = ERR_INIT;
	const char *path = NULL;

	if (strchr(name, '/'))
		return resolve_links(name, &p->arena);
	if (resolve_program(name, NULL, &p->arena, &r, &ignored) == 0)
		path = r.file[0].path;
	resolved_release(&r);
	return path;
}

/* ---- interpreters of scripts ---- */

static void add_start(struct prepared *p, const struct programs_start *s)
{
	struct programs *set = &p->programs;
	struct programs_start *grown = arena_grow(
		&p->arena, set->start, set->n_starts, sizeof(*grown));

	grown[set->n_starts++] = *s;
	set->start = grown;
}

/* Find the interpreter in the prefix, by the name that asked for it. */
static size_t find_in_prefix(const struct resolved *r, const char *asked)
{
	size_t i = 0;

	while (i < r->prefix.n && strcmp(r->prefix.item[i], asked) != 0)
		i++;
	return i;
}

/* env(1) reads quotes, escapes and variables behind -S. */
static bool is_plain(const char *argument)
{
	return !strpbrk(argument, "\"'\\$#");
}

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

/* of: an open descriptor of the file, O_PATH will do */
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

/* Sum an open file; the sum of an unchanged file is remembered. */
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
				resolve_links(lists[k]->item[i], &p->arena);

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
