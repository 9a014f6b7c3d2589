#include "core/config/references.h"

#include <assert.h>
#include <string.h>

#include "core/base/text.h"
#include "core/config/keys.h"
#include "core/config/paths.h"
#include "core/config/ref.h"

/* Of a string that a message shows, bytes. */
#define SHOWN_BYTES 60
/* An input as conductor writes it, where no task has a name for references. */
#define WORKFLOW_INPUT "${workflow.input."

/* ---- those of a routine ---- */

struct visit {
	references_each *each;
	void *arg;
};

static void visit_text(const struct visit *v, struct str s)
{
	AUTO(arena_release) struct arena scratch = ARENA_INIT;
	struct ref_string parts;

	if (ref_read(s, &scratch, &parts, ERR_IGNORED) < 0)
		return;
	for (size_t i = 0; i < parts.n; i++) {
		if (!parts.part[i].text.p)
			v->each(v->arg, &parts.part[i].ref);
	}
}

static void visit_value(const struct visit *v, const struct toml_value *value)
{
	if (value->type == TOML_STRING)
		visit_text(v, value->string);
	for (size_t i = 0; value->type == TOML_ARRAY && i < value->array.n; i++)
		visit_value(v, &value->array.item[i]);
	for (size_t i = 0; value->type == TOML_TABLE && i < value->table.n; i++)
		visit_value(v, &value->table.member[i].value);
}

void references_of_step(const struct step *s, references_each *each, void *arg)
{
	const struct strlist *args = s->server ? &s->server->args : &s->args;
	const char *const texts[] = {s->stdin_text, s->message, s->foreach};
	const struct visit v = {each, arg};

	for (size_t k = 0; k < args->n; k++)
		visit_text(&v, str_of(args->item[k]));
	if (s->params)
		visit_value(&v, s->params);
	for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
		if (texts[k])
			visit_text(&v, str_of(texts[k]));
	}
	for (size_t k = 0; s->when && k < s->when->table.n; k++)
		visit_text(&v, str_of(s->when->table.member[k].key));
}

/* Names of inputs, and the arena of these. */
struct names {
	struct strlist list;
	struct arena *arena;
};

static void add_input(void *arg, const struct ref *ref)
{
	AUTO(arena_release) struct arena scratch = ARENA_INIT;
	struct names *names = arg;
	struct str name;

	if (ref->root != REF_INPUT)
		return;
	name = ref_first_key(ref, &scratch);
	list_add_new(&names->list, names->arena,
		     name.p ? arena_strndup(names->arena, name.p, name.n)
			    : REFERENCES_ALL);
}

struct strlist references_inputs(const struct routine *r, struct arena *arena)
{
	struct names names = {{NULL, 0}, arena};

	for (size_t i = 0; i < r->n_steps; i++)
		references_of_step(&r->steps[i], add_input, &names);
	return names.list;
}

/* ---- what looks like one ---- */

/* Where findings go, and the routine whose steps may be meant; NULL: none. */
struct scope {
	struct findings *findings;
	const struct toml_value *routine;
	const struct toml_value *table; /* the step or server */
};

/* The nth step of a routine; NULL: there are no more. */
static const struct toml_value *step_of(const struct toml_value *routine,
					size_t nth)
{
	const struct toml_value *steps = toml_get(routine, "steps");

	return steps && steps->type == TOML_ARRAY && nth < steps->array.n
		       ? &steps->array.item[nth]
		       : NULL;
}

static bool is_step(const struct toml_value *routine, struct str name)
{
	const struct toml_value *step, *its;

	for (size_t i = 0; routine && (step = step_of(routine, i)); i++) {
		its = toml_get(step, "name");
		if (its && its->type == TOML_STRING &&
		    str_eq(its->string, name))
			return true;
	}
	return false;
}

/* Where a string stands, and what is taken for a reference there. */
enum place {
	PLACE_OTHER,  /* nothing is replaced */
	PLACE_ARGS,   /* filters of jq and scripts have names after a $, too */
	PLACE_PARAMS, /* text for a tool */
	PLACE_ENV,    /* values for a program */
};

static bool is_name(char c)
{
	return text_is_alpha(c) || text_is_digit(c) || c == '_' || c == '-';
}

static bool is_in(char c, const char *set)
{
	return c && strchr(set, c);
}

static size_t name_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_name(s.p[n]))
		n++;
	return n;
}

/*
 * The root of references that a word stands for; NULL: none. Outside of texts
 * for tools some of them are words of other programs.
 *
 * may_be_near  a word with a mistake in it counts, too
 */
static const char *root_meant(struct str word, enum place place,
			      bool may_be_near)
{
	static const char *const roots[] = {"input", "steps", "item",
					    "index", "run",   "previous"};
	size_t n = place == PLACE_PARAMS ? ARRAY_LEN(roots) : 2;

	if (str_is(word, "inputs"))
		return roots[0];
	for (size_t i = 0; i < n; i++)
		if (str_is(word, roots[i]))
			return roots[i];
	return may_be_near ? str_nearest(word, roots, ARRAY_LEN(roots)) : NULL;
}

/*
 * The root that lacks before the name of a step, or is written otherwise there:
 * "list.output", "prev.list.output"; NULL: no step has that name.
 */
static const char *root_of_step(const struct toml_value *routine,
				struct str word, struct str behind)
{
	static const char previous[] = "previous";
	struct str name = str_skip(behind, 1);

	if (is_step(routine, word))
		return "steps.";
	if (!is_step(routine, (struct str){name.p, name_length(name)}))
		return NULL;
	return word.n >= 4 && word.n < sizeof(previous) &&
			       memcmp(previous, word.p, word.n) == 0
		       ? previous
		       : "steps";
}

static size_t members(const struct toml_value *v)
{
	return v && v->type == TOML_TABLE ? v->table.n : 0;
}

static bool has_key(const struct toml_value *table, struct str name)
{
	size_t i = 0, n = members(table);

	while (i < n && !str_is(name, table->table.member[i].key))
		i++;
	return i < n;
}

/* A parameter of the routine, and no variable of the program. */
static bool is_parameter(const struct scope *in, struct str name)
{
	return has_key(toml_get(in->routine, "params"), name) &&
	       !has_key(toml_get(in->table, "env"), name);
}

/* Text that looks like a reference. */
struct lookalike {
	struct str all;	  /* as it is written; n = 0: nothing does */
	const char *root; /* as it should be written */
	bool is_near;	  /* the root is written otherwise */
	struct str path;  /* behind the root */
};

/*
 * Find one at the beginning of s: "$input.x", "${input.x}", "{{ input.x }}",
 * "{{inptu.x}}", and "$item" as all of `whole`.
 */
static struct lookalike lookalike(const struct scope *in, struct str s,
				  struct str whole, enum place place)
{
	struct lookalike none = {.root = NULL}, l = none;
	struct str rest, word;
	bool may_be_near;
	size_t open;

	if (!is_in(s.p[0], "${"))
		return none;
	open = str_starts(s, "{{") || str_starts(s, "${") ? 2 : 1;
	if (s.p[0] != '$' && open == 1)
		return none;
	rest = str_skip(s, open);
	while (open == 2 && rest.n && rest.p[0] == ' ')
		rest = str_skip(rest, 1);
	word = (struct str){rest.p, name_length(rest)};
	rest = str_skip(rest, word.n);
	may_be_near = place != PLACE_OTHER && rest.n &&
		      is_in(rest.p[0], ".[") && (open == 2 || s.p == whole.p);
	l.root = root_meant(word, place, may_be_near);
	if (!l.root && may_be_near)
		l.root = root_of_step(in->routine, word, rest);
	if (!l.root && place != PLACE_OTHER && str_starts(s, "${") &&
	    str_starts(rest, "}") && is_parameter(in, word))
		l.root = "input.";
	if (!l.root)
		return none;
	l.is_near = !str_is(word, l.root);
	if (!rest.n) {
		l.all.n = s.p == whole.p && open == 1 ? s.n : 0;
	} else if (is_in(rest.p[0], open == 2 ? ".[} " : ".[")) {
		/* the word is the name of a step or parameter */
		l.path.p = str_ends(str_of(l.root), ".") ? word.p : rest.p;
		while (rest.n &&
		       (is_name(rest.p[0]) || is_in(rest.p[0], ".[]\"")))
			rest = str_skip(rest, 1);
		l.path.n = (size_t)(rest.p - l.path.p);
		while (open == 2 && rest.n && is_in(rest.p[0], " }"))
			rest = str_skip(rest, 1);
		l.all.n = s.n - rest.n;
	}
	l.all.p = s.p;
	return l;
}

/* Say that an input of conductor has no value; s  "${workflow.input.x}…" */
static void refuse_workflow(const struct scope *in, const struct toml_value *v,
			    struct str s)
{
	struct str name = str_skip(s, strlen(WORKFLOW_INPUT));

	name.n = name_length(name);
	findings_addf(
		in->findings, false, v->line, v->col,
		"\"%s%.*s}\" has no value here: write \"$input.%.*s\" as a "
		"whole string, or {{input.%.*s}} in a text",
		WORKFLOW_INPUT, STR_ARG(name), STR_ARG(name), STR_ARG(name));
}

static void warn(const struct scope *in, const struct toml_value *v,
		 struct str shown, const char *text)
{
	size_t n = 0;

	while (n < shown.n && n < SHOWN_BYTES && shown.p[n] >= ' ' &&
	       shown.p[n] < 0x7f)
		n++;
	shown = str_trim((struct str){shown.p, n});
	findings_addf(in->findings, true, v->line, v->col, "\"%.*s\" %s",
		      STR_ARG(shown), text);
}

/* A home folder where paths of the file are not replaced. */
static bool is_home(const struct scope *in, const struct toml_value *v)
{
	if (!path_needs_shell(v->string))
		return false;
	warn(in, v, v->string,
	     str_starts(v->string, "~")
		     ? "is passed on as it is: no shell reads it, and `~` is "
		       "replaced in paths of this file only; write the whole "
		       "path, unless the program knows `~`"
		     : "is passed on as it is: no shell reads it; write the "
		       "whole path");
	return true;
}

/* A value of `env`: nothing in it is replaced. */
static bool check_variable(const struct scope *in, const struct toml_value *v)
{
	struct str s = v->string;
	bool has_variable = false;

	for (size_t i = 0; i + 2 < s.n && !has_variable; i++)
		has_variable = str_starts(str_skip(s, i), "${") &&
			       name_length(str_skip(s, i + 2));
	if (has_variable)
		warn(in, v, s,
		     "is passed on as it is: a variable of yours is NAME = { "
		     "env = \"NAME\" }");
	return has_variable || is_home(in, v);
}

/* A reference, or one that is not well-formed, which core/config/flow.c says.
 */
static bool is_reference(struct str s)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct ref_string parts;

	return ref_read(s, &arena, &parts, ERR_IGNORED) < 0 || parts.has_refs;
}

static void warn_lookalike(const struct scope *in, const struct toml_value *v,
			   const struct lookalike *l, enum place place)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str path = str_first(l->path, SHOWN_BYTES);

	if (place == PLACE_OTHER)
		buf_adds(&text,
			 "is not replaced here: references stand in `args`, "
			 "`params`, `with`, `stdin`, `message`, `when` and "
			 "`foreach`");
	else
		buf_addf(&text,
			 "is passed on as it is: a reference is \"$%s%.*s\" "
			 "as a whole string, or {{%s%.*s}} in a text",
			 l->root, STR_ARG(path), l->root, STR_ARG(path));
	warn(in, v, l->all, buf_cstr(&text));
}

/* Behind a sign that makes a text of it, it is none. */
static void check_lookalikes(const struct scope *in, const struct toml_value *v,
			     enum place place, bool has_refs)
{
	struct str s = v->string;

	for (struct str rest = s; rest.n;) {
		size_t n = str_starts(rest, "{{{{")		     ? 4
			   : str_starts(rest, "$$") && rest.p == s.p ? 2
								     : 0;
		struct lookalike l = {.root = NULL};

		if (!n && place != PLACE_OTHER &&
		    str_starts(rest, WORKFLOW_INPUT)) {
			refuse_workflow(in, v, rest);
			return;
		}
		if (!n)
			l = lookalike(in, rest, s, place);
		if (l.all.n && (l.is_near || !has_refs)) {
			warn_lookalike(in, v, &l, place);
			n = l.all.n;
		}
		rest = str_skip(rest, n ? n : 1);
	}
}

static void check_string(const struct scope *in, const struct toml_value *v,
			 enum place place)
{
	struct str s = v->string;
	bool has_refs;

	assert(s.p);
	if (place == PLACE_ENV && check_variable(in, v))
		return;
	if (place == PLACE_ENV)
		place = PLACE_OTHER;
	has_refs = place != PLACE_OTHER && is_reference(s);
	/* "${NAME}" as a whole string */
	if (!has_refs && place != PLACE_OTHER && str_starts(s, "${") &&
	    s.n > 3 && s.p[s.n - 1] == '}' &&
	    name_length(str_skip(s, 2)) == s.n - 3 &&
	    !is_parameter(in, (struct str){s.p + 2, s.n - 3})) {
		warn(in, v, s,
		     "is passed on as it is: variables are replaced in paths, "
		     "URLs and headers only");
		return;
	}
	check_lookalikes(in, v, place, has_refs);
}

static bool is_string(const struct toml_value *v, const char *text)
{
	return v && v->type == TOML_STRING && str_is(v->string, text);
}

static void check_value(const struct scope *in, const struct toml_value *v,
			enum place place)
{
	if (v->type == TOML_STRING)
		check_string(in, v, place);
	for (size_t i = 0; v->type == TOML_ARRAY && i < v->array.n; i++) {
		const struct toml_value *item = &v->array.item[i];

		/* behind -c a shell reads it */
		if (place != PLACE_ARGS || item->type != TOML_STRING ||
		    (i && is_string(item - 1, "-c")) || !is_home(in, item))
			check_value(in, item, place);
	}
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		check_value(in, &v->table.member[i].value, place);
}

/* Values that stand in the file, and references to credentials. */
static void check_env(const struct scope *in, const struct toml_value *env)
{
	for (size_t i = 0; i < members(env); i++) {
		const struct toml_value *v = &env->table.member[i].value;

		check_value(in, v,
			    v->type == TOML_STRING ? PLACE_ENV : PLACE_OTHER);
	}
}

/* Keys whose strings may be references, beside `args`. */
static const char *const with_references[] = {"params", "foreach", "stdin",
					      "with",	"message", NULL};

static bool is_any_of(const char *key, const char *const *names)
{
	while (*names && strcmp(key, *names) != 0)
		names++;
	return *names;
}

/* A step, or a server. */
static void check_table(const struct scope *in, const struct toml_value *table)
{
	for (size_t i = 0; i < members(table); i++) {
		const struct toml_member *m = &table->table.member[i];
		enum place place = PLACE_OTHER;

		if (!strcmp(m->key, "args"))
			place = PLACE_ARGS;
		else if (is_any_of(m->key, with_references))
			place = PLACE_PARAMS;
		if (!strcmp(m->key, "env"))
			check_env(in, &m->value);
		else if (strcmp(m->key, "when") != 0 ||
			 m->value.type == TOML_TABLE)
			check_value(in, &m->value, place);
	}
}

/* A step of another type than ours is skipped: anything may stand there. */
static bool is_ours(const struct toml_value *step)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);

	for (size_t i = 0; i < n; i++)
		if (is_string(toml_get(step, "type"), kinds[i].name))
			return true;
	return false;
}

static bool uses_server(const struct toml_value *routine, const char *name)
{
	const struct toml_value *step;

	for (size_t i = 0; (step = step_of(routine, i)); i++)
		if (is_string(toml_get(step, "server"), name))
			return true;
	return false;
}

void references_check(const struct toml_value *root, const char *routine,
		      struct findings *findings)
{
	const struct toml_value *servers[] = {toml_get(root, "servers"),
					      toml_get(root, "mcp_servers")};
	const struct toml_value *routines = toml_get(root, "routines"), *step;
	const struct toml_value *one =
		routine ? toml_get(routines, routine) : NULL;

	for (size_t i = 0; i < members(routines); i++) {
		const struct toml_value *r = &routines->table.member[i].value;

		if (one && one != r)
			continue;
		for (size_t k = 0; (step = step_of(r, k)); k++)
			if (is_ours(step))
				check_table(&(struct scope){findings, r, step},
					    step);
	}
	for (size_t s = 0; s < ARRAY_LEN(servers); s++)
		for (size_t i = 0; i < members(servers[s]); i++) {
			const struct toml_member *m =
				&servers[s]->table.member[i];

			if (!one || uses_server(one, m->key))
				check_table(&(struct scope){findings, one,
							    &m->value},
					    &m->value);
		}
}
