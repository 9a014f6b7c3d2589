#include "gate/policy/policy.h"

#include "gate/policy/allow.h"
#include "gate/policy/policy_inner.h"
#include "gate/policy/programs.h"
#include "gate/build/seccomp.h"

#define DEFAULT_MEMORY_BYTES (UINT64_C(2) << 30)
#define DEFAULT_FILE_SIZE_BYTES (UINT64_C(1) << 30)
#define DEFAULT_PROCESSES 256
#define DEFAULT_FILES 1024

/* ---- meeting the leash ---- */

static void strlist_push(struct strlist *list, struct arena *arena,
			 const char *s)
{
	size_t n = list->n;

	/* full at 4, 8, 16, ...; the arena keeps the old ones */
	if (!n || (n >= 4 && (n & (n - 1)) == 0)) {
		const char **item =
			ARENA_ARRAY(arena, const char *, n ? 2 * n : 4);

		if (n)
			memcpy(item, list->item, n * sizeof(*item));
		list->item = item;
	}
	list->item[list->n++] = s;
}

static void push_new(struct strlist *list, struct arena *arena, const char *s)
{
	if (!allow_has(list, s))
		strlist_push(list, arena, s);
}

/*
 * What is left of a grant: itself when a row covers it, else the rows that lie
 * beneath it.
 */
static enum meet meet_path(const struct gate_axis *axis, const char *path,
			   struct arena *arena, struct strlist *out)
{
	enum meet met = MEET_NOTHING;

	if (allow_axis_covers(axis, path)) {
		push_new(out, arena, path);
		return MEET_ALL;
	}
	for (size_t i = 0; i < axis->only.n; i++) {
		if (!allow_covers(path, axis->only.item[i]))
			continue;
		push_new(out, arena, axis->only.item[i]);
		met = MEET_PART;
	}
	return met;
}

void policy_note_cap(struct policy *p, struct arena *arena, const char *key,
		     const char *what, enum meet met, const char *axis)
{
	const char *text;

	if (met == MEET_PART)
		text = arena_printf(arena,
				    "%s \"%s\": narrowed to what the leash "
				    "allows (%s)",
				    key, what, axis);
	else
		text = arena_printf(arena,
				    "%s \"%s\": dropped, the leash does not "
				    "allow it (%s)",
				    key, what, axis);
	strlist_push(&p->capped, arena, text);
}

static void meet_read(const struct strlist *asked,
		      const struct gate_leash *leash, struct arena *arena,
		      struct policy *p)
{
	for (size_t i = 0; i < asked->n; i++) {
		enum meet met = meet_path(&leash->fs_read, asked->item[i],
					  arena, &p->read);

		if (met != MEET_ALL)
			policy_note_cap(p, arena, "read", asked->item[i], met,
					"fs_read");
	}
}

/*
 * A write grant reads too, so both axes bound it; where only fs_write does
 * not object, writing is left.
 */
static void meet_write(const struct strlist *asked,
		       const struct gate_leash *leash, struct arena *arena,
		       struct policy *p)
{
	for (size_t i = 0; i < asked->n; i++) {
		struct strlist may = {NULL, 0};
		enum meet met = meet_path(&leash->fs_write, asked->item[i],
					  arena, &may);

		if (met != MEET_ALL)
			policy_note_cap(p, arena, "write", asked->item[i], met,
					"fs_write");
		for (size_t k = 0; k < may.n; k++) {
			met = meet_path(&leash->fs_read, may.item[k], arena,
					&p->write);
			if (met == MEET_ALL)
				continue;
			push_new(&p->write_only, arena, may.item[k]);
			strlist_push(&p->capped, arena,
				     arena_printf(arena,
						  "write \"%s\": written, not "
						  "read, by the leash "
						  "(fs_read)",
						  may.item[k]));
		}
	}
}

static void meet_leash(const struct gate_policy *asked,
		       const struct gate_leash *leash, struct arena *arena,
		       struct policy *p)
{
	if (!leash) {
		p->read = asked->read;
		p->write = asked->write;
		return;
	}
	meet_read(&asked->read, leash, arena, p);
	meet_write(&asked->write, leash, arena, p);
	policy_meet_net(leash, arena, p);
}

/* ---- public ---- */

bool policy_has_own_net(const struct policy *p)
{
	return p->net == POLICY_NET_LOOPBACK || p->net == POLICY_NET_PROXY;
}

static int check_paths(const struct strlist *paths, const char *key,
		       struct err *err)
{
	for (size_t i = 0; i < paths->n; i++)
		if (paths->item[i][0] != '/')
			return err_set(err, ERR_POLICY,
				       "%s: \"%s\" is not an absolute path",
				       key, paths->item[i]);
	return 0;
}

static int check_exec(const struct strlist *exec, struct err *err)
{
	for (size_t i = 0; i < exec->n; i++) {
		const char *row = exec->item[i];

		if (!row[0] || (row[0] != '/' && strchr(row, '/')))
			return err_set(err, ERR_POLICY,
				       "exec: \"%s\" is neither a bare name "
				       "nor an absolute path",
				       row);
	}
	return 0;
}

/* What is wrong whatever the leash says; fills what needs no leash. */
static int resolve_names(const struct gate_policy *asked, struct arena *arena,
			 struct policy *p, struct err *err)
{
	if (check_paths(&asked->read, "read", err) < 0 ||
	    check_paths(&asked->write, "write", err) < 0 ||
	    check_exec(&asked->exec, err) < 0)
		return -1;
	if (policy_read_profile(asked->profile, p, err) < 0 ||
	    policy_read_require(&asked->require, p, err) < 0 ||
	    policy_read_net(&asked->net, arena, p, err) < 0)
		return -1;
	for (size_t i = 0; i < asked->syscalls.n; i++)
		if (seccomp_check_name(asked->syscalls.item[i], err) < 0)
			return -1;
	for (size_t i = 0; i < asked->n_programs; i++)
		if (programs_check(&asked->programs[i], err) < 0)
			return -1;
	if (asked->user && !asked->user[0])
		return err_set(err, ERR_POLICY, "user: the name is empty");
	return 0;
}

int policy_resolve(const struct gate_policy *asked,
		   const struct gate_leash *leash, struct arena *arena,
		   struct policy *ret_policy, struct err *err)
{
	struct policy p = {
		.exec = asked->exec,
		.memory_bytes = asked->memory_bytes ? asked->memory_bytes
						    : DEFAULT_MEMORY_BYTES,
		.file_size_bytes = asked->file_size_bytes
					   ? asked->file_size_bytes
					   : DEFAULT_FILE_SIZE_BYTES,
		.processes =
			asked->processes ? asked->processes : DEFAULT_PROCESSES,
		.files = asked->files ? asked->files : DEFAULT_FILES,
		.cpu_seconds = asked->cpu_seconds,
		.tmp_shared = asked->tmp_shared,
		.isolate = asked->isolate,
		.syscalls = asked->syscalls,
		.user = asked->user,
	};

	if (resolve_names(asked, arena, &p, err) < 0)
		return -1;
	meet_leash(asked, leash, arena, &p);
	policy_set_udp(&p);
	*ret_policy = p;
	return 0;
}

int gate_policy_check(const struct gate_policy *p, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct policy scratch = {.net = POLICY_NET_NONE};

	return resolve_names(p, &arena, &scratch, err);
}

struct gate_policy gate_policy_copy(const struct gate_policy *from,
				    struct arena *arena)
{
	struct gate_program_rule *rule = ARENA_ARRAY(
		arena, struct gate_program_rule, from->n_programs + 1);
	struct gate_policy p = *from;

	p.read = arena_strlist(arena, &from->read);
	p.write = arena_strlist(arena, &from->write);
	p.exec = arena_strlist(arena, &from->exec);
	p.net = arena_strlist(arena, &from->net);
	p.require = arena_strlist(arena, &from->require);
	p.syscalls = arena_strlist(arena, &from->syscalls);
	p.closed = arena_strlist(arena, &from->closed);
	p.profile = arena_strdup(arena, from->profile);
	p.user = arena_strdup(arena, from->user);
	for (size_t i = 0; i < from->n_programs; i++)
		rule[i] = programs_copy_rule(&from->programs[i], arena);
	p.programs = rule;
	return p;
}

static struct strlist join(const struct strlist *a, const struct strlist *b,
			   struct arena *arena)
{
	struct strlist out = {
		.item = ARENA_ARRAY(arena, const char *, a->n + b->n + 1),
	};

	for (size_t i = 0; i < a->n + b->n; i++) {
		const char *s = i < a->n ? a->item[i] : b->item[i - a->n];

		if (!allow_has(&out, s))
			out.item[out.n++] = s;
	}
	return out;
}

/* Rules restrict, so both hold, also two of one name. */
static void join_programs(const struct gate_policy *base,
			  const struct gate_policy *more, struct arena *arena,
			  struct gate_policy *ret)
{
	size_t n = base->n_programs + more->n_programs;
	struct gate_program_rule *rule =
		ARENA_ARRAY(arena, struct gate_program_rule, n + 1);

	for (size_t i = 0; i < n; i++)
		rule[i] = i < base->n_programs
				  ? base->programs[i]
				  : more->programs[i - base->n_programs];
	ret->programs = rule;
	ret->n_programs = n;
}

void gate_policy_merge(const struct gate_policy *base,
		       const struct gate_policy *more, struct arena *arena,
		       struct gate_policy *ret)
{
	struct gate_policy p = *base;

	p.read = join(&base->read, &more->read, arena);
	p.write = join(&base->write, &more->write, arena);
	p.exec = join(&base->exec, &more->exec, arena);
	p.net = join(&base->net, &more->net, arena);
	p.require = join(&base->require, &more->require, arena);
	p.syscalls = join(&base->syscalls, &more->syscalls, arena);
	p.closed = join(&base->closed, &more->closed, arena);
	join_programs(base, more, arena, &p);
#define WIN(field) p.field = more->field ? more->field : base->field
	WIN(profile);
	WIN(memory_bytes);
	WIN(file_size_bytes);
	WIN(processes);
	WIN(files);
	WIN(cpu_seconds);
	WIN(tmp_shared);
	WIN(record_exec);
	WIN(isolate);
	WIN(user);
#undef WIN
	*ret = p;
}
