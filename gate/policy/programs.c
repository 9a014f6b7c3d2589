#include "gate/policy/programs.h"

#include <assert.h>
#include <string.h>

#include "core/base/sha256.h"
#include "gate/policy/programs_inner.h"

/* ---- exact arguments and beginnings ---- */

/* The first argument that is not as listed; n of the list when all are. */
static size_t first_other(const struct strlist *want,
			  const struct strlist *argv)
{
	size_t i = 0;

	while (i < want->n && i + 1 < argv->n &&
	       strcmp(want->item[i], argv->item[i + 1]) == 0)
		i++;
	return i;
}

static int judge_args(const struct gate_program_rule *rule,
		      const struct programs_call *c, struct err *err)
{
	bool exact = rule->has_args;
	const struct strlist *want = exact ? &rule->args : &rule->prefix;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t i = first_other(want, &c->argv);
	bool is_more = i + 1 < c->argv.n;

	if (i == want->n && (!exact || (!is_more && !c->is_cut)))
		return 0;
	buf_addf(&text, "%s; allowed %s ",
		 is_more     ? "is another than allowed"
		 : c->is_cut ? "there are more arguments than allowed"
			     : "arguments are missing",
		 exact ? "is exactly" : "are arguments that begin with");
	programs_add_list(&text, want);
	return programs_refuse(rule, is_more ? c->argv.item[i + 1] : NULL,
			       i + 1, buf_cstr(&text), err);
}

/* ---- one rule ---- */

bool programs_means(const struct programs *set, size_t i, const char *asked,
		    const char *path)
{
	const char *name = set->rule[i].name;
	const char *file = set->path ? set->path[i] : NULL;

	if (file && path && strcmp(file, path) == 0)
		return true;
	if ((asked && strcmp(name, asked) == 0) ||
	    (path && strcmp(name, path) == 0))
		return true;
	return !strchr(name, '/') &&
	       ((asked && programs_is_version(asked, name)) ||
		(path && programs_is_version(path, name)));
}

static int judge_rule(const struct gate_program_rule *rule,
		      const struct programs_call *c, struct err *err)
{
	const char *const name[3] = {c->path, c->asked, rule->name};
	const struct launcher *l = programs_judged(name);
	const struct tool *t = programs_tool(name);

	if ((rule->has_args || rule->prefix.n) && judge_args(rule, c, err) < 0)
		return -1;
	if (rule->deny.n && programs_judge_deny(rule, l, c, err) < 0)
		return -1;
	if (!rule->package)
		return 0;
	assert(t); /* by the rule's own name: programs_check() */
	return programs_judge_package(rule, t, c, err);
}

static bool is_file_of(const struct programs *set, size_t i,
		       const struct programs_file *file)
{
	return set->file && file->ino && set->file[i].ino == file->ino &&
	       set->file[i].dev == file->dev;
}

static int judge_all(const struct programs *set, const struct programs_call *c,
		     struct err *err)
{
	for (size_t i = 0; i < set->n; i++)
		if ((programs_means(set, i, c->asked, c->path) ||
		     is_file_of(set, i, &c->file)) &&
		    judge_rule(&set->rule[i], c, err) < 0)
			return -1;
	return 0;
}

static int judge_start(const struct programs *set,
		       const struct programs_start *s,
		       const struct programs_call *c, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct programs_call all = {
		.asked = s->asked, .path = s->path, .is_cut = c->is_cut};

	all.argv.item =
		ARENA_ARRAY(&arena, const char *, s->prefix.n + c->argv.n + 1);
	for (size_t i = 0; i < set->n; i++)
		if (s->is_unclear && programs_means(set, i, s->asked, s->path))
			return err_set(err, ERR_POLICY,
				       "the rule for %s: what env makes of the "
				       "first line of %s cannot be told; write "
				       "it without quotes and variables",
				       set->rule[i].name, s->file);
	for (size_t i = 0; i < s->prefix.n; i++)
		all.argv.item[all.argv.n++] = s->prefix.item[i];
	for (size_t i = 1; i < c->argv.n; i++)
		all.argv.item[all.argv.n++] = c->argv.item[i];
	if (judge_all(set, &all, err) < 0)
		return err_wrap(err, "%s", s->file);
	return 0;
}

int programs_judge(const struct programs *set, const struct programs_call *c,
		   struct err *err)
{
	if (judge_all(set, c, err) < 0)
		return -1;
	for (size_t i = 0; i < set->n_starts; i++)
		if (c->path && strcmp(set->start[i].file, c->path) == 0 &&
		    judge_start(set, &set->start[i], c, err) < 0)
			return -1;
	return 0;
}

/* ---- rules by themselves ---- */

static int check_deny(const struct gate_program_rule *rule, struct err *err)
{
	const char *const name[3] = {rule->name, NULL, NULL};

	for (size_t i = 0; i < rule->deny.n; i++) {
		const char *word = rule->deny.item[i];

		if (!*word || (word[0] == '@' && strcmp(word, "@eval") != 0))
			return err_set(err, ERR_POLICY,
				       "programs.%s: deny \"%s\" is no option "
				       "and no set of options; the only set is "
				       "\"@eval\"",
				       rule->name, word);
		if (word[0] == '@' && !programs_judged(name))
			return err_set(
				err, ERR_POLICY,
				"programs.%s: what \"@eval\" is for this "
				"program is not known; list its options "
				"in `deny`",
				rule->name);
	}
	return 0;
}

static int check_sha256(const struct gate_program_rule *rule, struct err *err)
{
	const char *s = rule->sha256;

	if (!s || (strlen(s) == SHA256_HEX_BYTES - 1 &&
		   strspn(s, "0123456789abcdef") == SHA256_HEX_BYTES - 1))
		return 0;
	return err_set(err, ERR_POLICY,
		       "programs.%s: sha256 takes 64 digits of 0-9 and a-f, as "
		       "`sha256sum` prints them",
		       rule->name);
}

int programs_check(const struct gate_program_rule *rule, struct err *err)
{
	if (!rule->name[0] || (rule->name[0] != '/' && strchr(rule->name, '/')))
		return err_set(err, ERR_POLICY,
			       "programs: \"%s\" is neither a bare name nor an "
			       "absolute path",
			       rule->name);
	if (rule->has_args && rule->prefix.n)
		return err_set(err, ERR_POLICY,
			       "programs.%s: `args` says all arguments, "
			       "`prefix` the first; keep one",
			       rule->name);
	if (!rule->has_args && !rule->prefix.n && !rule->deny.n &&
	    !rule->package && !rule->sha256)
		return err_set(err, ERR_POLICY,
			       "programs.%s rules nothing; it takes args, "
			       "prefix, deny, package or sha256",
			       rule->name);
	if (check_deny(rule, err) < 0 || programs_check_package(rule, err) < 0)
		return -1;
	return check_sha256(rule, err);
}

/* ---- copies ---- */

static struct programs_start copy_start(const struct programs_start *s,
					struct arena *arena)
{
	return (struct programs_start){
		.file = arena_strdup(arena, s->file),
		.asked = arena_strdup(arena, s->asked),
		.path = arena_strdup(arena, s->path),
		.prefix = arena_strlist(arena, &s->prefix),
		.is_unclear = s->is_unclear,
	};
}

struct programs programs_copy(const struct programs *set, struct arena *arena)
{
	struct gate_program_rule *rule =
		ARENA_ARRAY(arena, struct gate_program_rule, set->n + 1);
	struct programs_start *start =
		ARENA_ARRAY(arena, struct programs_start, set->n_starts + 1);
	const char **path = ARENA_ARRAY(arena, const char *, set->n + 1);
	struct programs_file *file =
		ARENA_ARRAY(arena, struct programs_file, set->n + 1);

	for (size_t i = 0; i < set->n; i++) {
		if (set->file)
			file[i] = set->file[i];
		rule[i] = programs_copy_rule(&set->rule[i], arena);
		path[i] = set->path ? arena_strdup(arena, set->path[i]) : NULL;
	}
	for (size_t i = 0; i < set->n_starts; i++)
		start[i] = copy_start(&set->start[i], arena);
	return (struct programs){rule,	 path,	file,
				 set->n, start, set->n_starts};
}
