/*
 * Operations on every field of a policy, by the rows of sandbox.def: the C
 * type of a field picks the function.
 */
#include "core/base/digest.h"
#include "gate/policy/programs.h"

/* ---- merge ---- */

static struct strlist merge_list(struct strlist base, struct strlist more,
				 struct arena *arena)
{
	struct strlist out = {NULL, 0};

	for (size_t i = 0; i < base.n; i++)
		list_add_new(&out, arena, base.item[i]);
	for (size_t i = 0; i < more.n; i++)
		list_add_new(&out, arena, more.item[i]);
	return out;
}

/* Rules restrict, so both hold, also two of one name. */
static struct gate_program_rules merge_rules(struct gate_program_rules base,
					     struct gate_program_rules more,
					     struct arena *arena)
{
	size_t n = base.n + more.n;
	struct gate_program_rule *rule =
		ARENA_ARRAY(arena, struct gate_program_rule, n + 1);

	for (size_t i = 0; i < n; i++)
		rule[i] = i < base.n ? base.item[i] : more.item[i - base.n];
	return (struct gate_program_rules){rule, n};
}

static const char *merge_text(const char *base, const char *more,
			      struct arena *arena)
{
	(void)arena;
	return more ? more : base;
}

static uint64_t merge_number(uint64_t base, uint64_t more, struct arena *arena)
{
	(void)arena;
	return more ? more : base;
}

#define MERGE(field) \
	_Generic(p.field,                                                  \
		struct strlist: merge_list,                                \
		struct gate_program_rules: merge_rules,                    \
		const char *: merge_text,                                  \
		default: merge_number)(base->field, more->field, arena)

void gate_policy_merge(const struct gate_policy *base,
		       const struct gate_policy *more, struct arena *arena,
		       struct gate_policy *ret)
{
	struct gate_policy p;

#define SANDBOX(key, option, field, ...) p.field = MERGE(field);
#define SANDBOX_TABLE(key, field, ...) p.field = MERGE(field);
#define SANDBOX_FIELD(field, type) p.field = MERGE(field);
#include "gate/sandbox.def"
	*ret = p;
}

/* ---- copy ---- */

static struct strlist copy_list(struct arena *arena, struct strlist from)
{
	return arena_strlist(arena, &from);
}

static uint64_t copy_number(struct arena *arena, uint64_t from)
{
	(void)arena;
	return from;
}

static struct gate_program_rule copy_rule(const struct gate_program_rule *from,
					  struct arena *arena)
{
	struct gate_program_rule r = *from;

	r.name = arena_strdup(arena, from->name);
#define PROGRAM_RULE(key, field, type, help) \
	r.field = _Generic(r.field,                   \
		struct strlist: copy_list,            \
		const char *: arena_strdup)(arena, from->field);
#include "gate/sandbox.def"
	return r;
}

static struct gate_program_rules copy_rules(struct arena *arena,
					    struct gate_program_rules from)
{
	struct gate_program_rule *rule =
		ARENA_ARRAY(arena, struct gate_program_rule, from.n + 1);

	for (size_t i = 0; i < from.n; i++)
		rule[i] = copy_rule(&from.item[i], arena);
	return (struct gate_program_rules){rule, from.n};
}

#define COPY(field) \
	_Generic(p.field,                               \
		struct strlist: copy_list,              \
		struct gate_program_rules: copy_rules,  \
		const char *: arena_strdup,             \
		default: copy_number)(arena, from->field)

struct gate_policy gate_policy_copy(const struct gate_policy *from,
				    struct arena *arena)
{
	struct gate_policy p;

#define SANDBOX(key, option, field, ...) p.field = COPY(field);
#define SANDBOX_TABLE(key, field, ...) p.field = COPY(field);
#define SANDBOX_FIELD(field, type) p.field = COPY(field);
#include "gate/sandbox.def"
	return p;
}

struct programs programs_copy(const struct programs *set, struct arena *arena)
{
	struct gate_program_rule *rule =
		ARENA_ARRAY(arena, struct gate_program_rule, set->n);
	struct programs_start *start =
		ARENA_ARRAY(arena, struct programs_start, set->n_starts);
	const char **path = ARENA_ARRAY(arena, const char *, set->n);
	struct programs_file *file =
		ARENA_ARRAY(arena, struct programs_file, set->n);

	for (size_t i = 0; i < set->n; i++) {
		if (set->file)
			file[i] = set->file[i];
		rule[i] = copy_rule(&set->rule[i], arena);
		path[i] = set->path ? arena_strdup(arena, set->path[i]) : NULL;
	}
	for (size_t i = 0; i < set->n_starts; i++) {
		start[i] = set->start[i];
		start[i].file = arena_strdup(arena, start[i].file);
		start[i].asked = arena_strdup(arena, start[i].asked);
		start[i].path = arena_strdup(arena, start[i].path);
		start[i].prefix = arena_strlist(arena, &start[i].prefix);
	}
	return (struct programs){rule,	 path,	file,
				 set->n, start, set->n_starts};
}

/* ---- digest ---- */

static void add_list(struct sha256 *sum, struct strlist list)
{
	digest_list(sum, &list);
}

static void add_rules(struct sha256 *sum, struct gate_program_rules rules)
{
	digest_number(sum, rules.n);
	for (size_t i = 0; i < rules.n; i++) {
		const struct gate_program_rule *r = &rules.item[i];

		digest_text(sum, r->name);
		digest_number(sum, r->has_args);
#define PROGRAM_RULE(key, field, type, help) \
	_Generic(r->field,                           \
		struct strlist: add_list,            \
		const char *: digest_text)(sum, r->field);
#include "gate/sandbox.def"
	}
}

#define ADD(field) \
	_Generic(p->field,                             \
		struct strlist: add_list,              \
		struct gate_program_rules: add_rules,  \
		const char *: digest_text,             \
		default: digest_number)(sum, p->field);

void gate_policy_digest(const struct gate_policy *p, struct sha256 *sum)
{
#define SANDBOX(key, option, field, ...) ADD(field)
#define SANDBOX_TABLE(key, field, ...) ADD(field)
#define SANDBOX_FIELD(field, type) ADD(field)
#include "gate/sandbox.def"
}
