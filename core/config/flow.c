#include "core/config/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema/schema.h"

/* Keys behind "$steps.NAME"; the first ones are there however it ended. */
static const char *const step_keys[] = {
	"state",
	"reason",
	"error",
	"output",
	"data",
	"content",
	"structuredContent",
	"json",
	"items",
};
#define N_ALWAYS 3

static const char *const run_keys[] = {"generation", "date", "time", "routine"};

/* Purpose of the value of a reference. */
enum use {
	USE_ARGUMENT,  /* of a program */
	USE_VALUE,     /* other things that the step runs with */
	USE_CONDITION, /* whether the step runs */
	USE_LIST,      /* `foreach` */
};

struct walk {
	const struct routine *routine;
	struct arena *arena;
	struct findings *findings; /* NULL: nothing is said */
	struct flow_step *all;
	const struct step *step; /* whose references are looked at */
	size_t index;		 /* of it */
};

/* ---- what is wrong ---- */

/* at  has a line and a column */
#define say(w, at, ...)                                                 \
	do {                                                            \
		if ((w)->findings)                                      \
			findings_addf((w)->findings, false, (at)->line, \
				      (at)->col, __VA_ARGS__);          \
	} while (0)

/* "; did you mean \"NAME\"?", or "; there are a, b". */
static const char *hint(const struct walk *w, struct str word,
			const char *const *known, size_t n)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *near = str_nearest(word, known, n);

	if (near)
		return arena_printf(w->arena, "; did you mean \"%s\"?", near);
	buf_adds(&out, n ? "; there are: " : "");
	for (size_t i = 0; i < n; i++)
		buf_addf(&out, "%s%s", i ? ", " : "", known[i]);
	return arena_strdup(w->arena, buf_cstr(&out));
}

/* ---- steps that are waited for ---- */

/* Index of a step; n_steps: there is none of that name. */
static size_t find_step(const struct routine *r, struct str name)
{
	size_t i = 0;

	while (i < r->n_steps &&
	       !(r->steps[i].name && str_is(name, r->steps[i].name)))
		i++;
	return i;
}

static void unknown_step(const struct walk *w, const struct toml_value *at,
			 struct str name)
{
	struct strlist names = {NULL, 0};

	for (size_t i = 0; i < w->routine->n_steps; i++)
		if (w->routine->steps[i].name)
			list_add(&names, w->arena, w->routine->steps[i].name);
	say(w, at, "routine %s has no step \"%.*s\"%s", w->routine->name,
	    STR_ARG(name), hint(w, name, names.item, names.n));
}

static bool is_by_needs(const struct routine *r)
{
	return r->order && strcmp(r->order, "needs") == 0;
}

/* Does one step run behind another, whatever they need? */
static bool is_behind(const struct walk *w, size_t other)
{
	const struct step *steps = w->routine->steps;

	if (!steps[w->index].after != !steps[other].after)
		return steps[w->index].after;
	return other < w->index;
}

static void add_wait(const struct walk *w, size_t other, bool must_be_ok)
{
	struct flow_step *s = &w->all[w->index];

	for (size_t i = 0; i < s->n_waits; i++) {
		if (s->wait[i].step != other)
			continue;
		s->wait[i].must_be_ok |= must_be_ok;
		return;
	}
	s->wait = arena_grow(w->arena, s->wait, s->n_waits, sizeof(*s->wait));
	s->wait[s->n_waits++] = (struct flow_wait){other, must_be_ok};
}

static void wait_for(const struct walk *w, const struct toml_value *at,
		     struct str name, bool must_be_ok)
{
	size_t other = find_step(w->routine, name);

	if (other == w->routine->n_steps)
		unknown_step(w, at, name);
	else if (other == w->index)
		say(w, at, "step \"%.*s\" refers to itself", STR_ARG(name));
	else if (w->routine->steps[other].after && !w->step->after)
		say(w, at,
		    "step \"%.*s\" has `after`, so it runs when all others "
		    "have ended",
		    STR_ARG(name));
	else if (!is_by_needs(w->routine) && !is_behind(w, other))
		say(w, at,
		    "step \"%.*s\" comes later; put it before this one, or "
		    "write order = \"needs\" in the routine",
		    STR_ARG(name));
	else
		add_wait(w, other, must_be_ok);
}

/* ---- references ---- */

static void check_key(const struct walk *w, const struct toml_value *at,
		      const struct ref *ref, struct str key,
		      const char *const *known, size_t n)
{
	if (!key.p)
		say(w, at, "$%.*s is followed by a key%s", STR_ARG(ref->head),
		    hint(w, STR(""), known, n));
	else if (str_index(key, known, n) == n)
		say(w, at, "$%.*s has no \"%.*s\"%s", STR_ARG(ref->head),
		    STR_ARG(key), hint(w, key, known, n));
}

/* Without an earlier run the step fails, so that there never is one. */
static void note_first_run(const struct walk *w, const struct toml_value *at,
			   const struct ref *ref)
{
	const struct toml_value *when = w->step->when;
	struct err note;

	for (size_t i = 0; when && i < when->table.n; i++)
		if (str_starts(str_of(when->table.member[i].key), "$previous"))
			return;
	err_at(&note, ERR_CONFIG, at->line, at->col,
	       "$%.*s is there once a whole run was ok, and without it the "
	       "step fails; when = { \"$%.*s%.*s\" = true } skips it until "
	       "then",
	       STR_ARG(ref->head), STR_ARG(ref->head), STR_ARG(ref->path));
	findings_add_note(w->findings, &note);
}

static void use_step(const struct walk *w, const struct toml_value *at,
		     const struct ref *ref, enum use use)
{
	struct str key = ref_first_key(ref, w->arena);
	bool is_always = str_index(key, step_keys, N_ALWAYS) < N_ALWAYS;

	check_key(w, at, ref, key, step_keys, ARRAY_LEN(step_keys));
	if (ref->root == REF_STEPS)
		wait_for(w, at, ref->step,
			 use != USE_CONDITION && !is_always && !w->step->after);
	else if (find_step(w->routine, ref->step) == w->routine->n_steps)
		unknown_step(w, at, ref->step);
	else if (w->findings && use != USE_CONDITION && !w->step->after)
		note_first_run(w, at, ref);
}

/* Does the routine declare its parameters, and not that one? */
static void use_input(const struct walk *w, const struct toml_value *at,
		      const struct ref *ref)
{
	const struct toml_value *params = w->routine->params;
	struct str name = ref_first_key(ref, w->arena);
	struct strlist names = {NULL, 0};

	if (!params || !w->findings)
		return;
	for (size_t i = 0; i < params->table.n; i++)
		list_add(&names, w->arena, params->table.member[i].key);
	if (name.p && str_index(name, names.item, names.n) == names.n)
		say(w, at, "routine %s has no parameter \"%.*s\"%s",
		    w->routine->name, STR_ARG(name),
		    hint(w, name, names.item, names.n));
}

static void use_ref(const struct walk *w, const struct toml_value *at,
		    const struct ref *ref, enum use use)
{
	struct flow_step *s = &w->all[w->index];

	s->has_late_args |= use == USE_ARGUMENT && ref->root != REF_INPUT;
	s->is_late |= use == USE_VALUE && ref->root != REF_INPUT;
	s->has_results |= use <= USE_VALUE &&
			  (ref->root == REF_STEPS ||
			   ref->root == REF_PREVIOUS || ref->root == REF_ITEM);
	switch (ref->root) {
	case REF_INPUT:
		use_input(w, at, ref);
		break;
	case REF_STEPS:
	case REF_PREVIOUS:
		use_step(w, at, ref, use);
		break;
	case REF_RUN:
		check_key(w, at, ref, ref_first_key(ref, w->arena), run_keys,
			  ARRAY_LEN(run_keys));
		break;
	case REF_ITEM:
	case REF_INDEX:
		if (w->step->foreach && use <= USE_VALUE)
			break;
		if (w->step->foreach)
			say(w, at,
			    "$%.*s is not there yet: `when` and `foreach` are "
			    "looked at before the first element",
			    STR_ARG(ref->head));
		else
			say(w, at,
			    "$%.*s is there in a step with `foreach` only; for "
			    "that "
			    "text write \"$$%.*s\"",
			    STR_ARG(ref->head), STR_ARG(ref->head));
		break;
	default:
		break;
	}
}

static void use_string(const struct walk *w, const struct toml_value *at,
		       struct str s, enum use use)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct ref_string parts;

	if (ref_read(s, &arena, &parts, &err) < 0) {
		say(w, at, "%s", err.msg);
		return;
	}
	if (use == USE_LIST && !parts.is_whole)
		say(w, at,
		    "`foreach` is a reference to an array, such as "
		    "\"$steps.NAME.json\"");
	if (use == USE_CONDITION && !parts.is_whole)
		say(w, at,
		    "\"%.*s\" in `when` is a reference to the value that is "
		    "judged, such as \"$steps.NAME.state\"",
		    STR_ARG(s));
	for (size_t i = 0; i < parts.n; i++)
		if (!parts.part[i].text.p)
			use_ref(w, at, &parts.part[i].ref, use);
}

static void use_value(const struct walk *w, const struct toml_value *v,
		      enum use use)
{
	if (v->type == TOML_STRING)
		use_string(w, v, v->string, use);
	for (size_t i = 0; v->type == TOML_ARRAY && i < v->array.n; i++)
		use_value(w, &v->array.item[i], use);
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		use_value(w, &v->table.member[i].value, use);
}

/* ---- conditions ---- */

static void check_condition(const struct walk *w, const struct toml_value *v)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(schema_freep) struct schema *schema = NULL;
	struct err err = ERR_INIT;

	if (v->type == TOML_BOOLEAN || !w->findings)
		return;
	if (v->type != TOML_TABLE) {
		say(w, v,
		    "a condition is a JSON Schema such as { minimum = 1 }, "
		    "true, or false; a value is compared by { const = VALUE }");
		return;
	}
	toml_to_json(v, &text);
	if (schema_compile(buf_str(&text), NULL, &schema, &err) < 0)
		say(w, v, "schema of a condition: %s", err.msg);
}

static void use_when(const struct walk *w, const struct toml_value *when)
{
	for (size_t i = 0; when && i < when->table.n; i++) {
		const struct toml_member *m = &when->table.member[i];
		const struct toml_value at = {.line = m->line, .col = m->col};

		use_string(w, &at, str_of(m->key), USE_CONDITION);
		check_condition(w, &m->value);
	}
}

/* Keys behind "$" in `expect`; the last three are those of a program. */
static const char *const result_keys[] = {
	"content", "structuredContent", "isError", "json", "output", "data",
};

static void check_path(const struct walk *w, const struct toml_value *at,
		       const char *path)
{
	bool is_mcp = strcmp(w->step->type, "mcp-client") == 0;
	const char *const *keys = result_keys + (is_mcp ? 0 : 3);
	size_t n = ARRAY_LEN(result_keys) - (is_mcp ? 0 : 3);
	struct err err = ERR_INIT;
	struct ref ref;
	struct str key;

	if (ref_read_self(str_of(path), &ref, &err) < 0) {
		say(w, at, "%s", err.msg);
		return;
	}
	key = ref_first_key(&ref, w->arena);
	if (ref.path.n && str_index(key, keys, n) == n)
		say(w, at, "the result has no \"%.*s\"%s",
		    STR_ARG(key.p ? key : ref.path), hint(w, key, keys, n));
}

/* Keys of `expect` and `save`. */
static void use_paths(const struct walk *w, const struct toml_value *table)
{
	for (size_t i = 0; table && i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct toml_value at = {.line = m->line, .col = m->col};

		check_path(w, &at, m->key);
	}
}

static void use_expect(const struct walk *w, const struct toml_value *expect)
{
	use_paths(w, expect);
	for (size_t i = 0; expect && i < expect->table.n; i++)
		check_condition(w, &expect->table.member[i].value);
}

/* ---- retry ---- */

static void check_retry(const struct walk *w)
{
	const struct toml_value *on,
		*retry = toml_get(w->step->written, "retry");

	if (!retry || !w->findings)
		return;
	on = toml_get(retry, "on");
	if (!w->step->retry.on.n && !w->step->tool && !w->step->routine)
		findings_addf(w->findings, true, retry->line, retry->col,
			      "`retry` without `on` tries a program again only "
			      "when it could not be started; write on = "
			      "[\"exit:1\"] for this status, \"exit_status\" "
			      "for every one, \"timeout\" when it ran too "
			      "long");
	for (size_t i = 0; on && on->type == TOML_ARRAY && i < on->array.n;
	     i++) {
		const struct toml_value *v = &on->array.item[i];

		if (v->type == TOML_STRING && !retry_is_cause(v->string))
			say(w, v,
			    "\"%.*s\" is no cause of another attempt: write a "
			    "reason such as \"deadline_call\", \"timeout\", "
			    "\"transport\", \"exit:75\", \"rpc:-32000\" or "
			    "\"http:502\"",
			    STR_ARG(v->string));
	}
}

static void check_cache(const struct walk *w)
{
	if (w->step->cache_ms &&
	    (w->step->routine || w->step->message || w->step->is_sync))
		say(w, toml_get(w->step->written, "cache"),
		    "`cache` is for steps that run a program or call a tool; "
		    "in a routine that is a step, write it in its steps");
}

/* ---- one step ---- */

static void use_needs(const struct walk *w)
{
	const struct toml_value *list = toml_get(w->step->written, "needs");

	for (size_t i = 0; i < w->step->needs.n; i++)
		wait_for(w, list, str_of(w->step->needs.item[i]), true);
}

/* Arguments of a server are those of all its steps. */
static void use_server_args(const struct walk *w)
{
	const struct server *s = w->step->server;
	const struct toml_value at = {.line = s->line, .col = s->col};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct ref_string parts;

	for (size_t i = 0; i < s->args.n; i++) {
		if (ref_read(str_of(s->args.item[i]), &arena, &parts,
			     ERR_IGNORED) < 0)
			continue;
		for (size_t k = 0; k < parts.n; k++)
			if (parts.part[k].text.p)
				continue;
			else if (parts.part[k].ref.root == REF_INPUT)
				use_input(w, &at, &parts.part[k].ref);
			else
				say(w, s,
				    "server \"%s\": \"%s\": its steps share "
				    "the arguments, in which only $input can "
				    "stand",
				    s->name, s->args.item[i]);
	}
}

static void walk_step(const struct walk *w)
{
	const struct toml_value *args =
		w->step->server ? NULL : toml_get(w->step->written, "args");

	if (w->step->instead || !w->step->written ||
	    w->step->written->type != TOML_TABLE)
		return;
	use_needs(w);
	use_when(w, w->step->when);
	use_expect(w, w->step->expect);
	use_paths(w, w->step->save);
	check_retry(w);
	check_cache(w);
	if (args)
		use_value(w, args, USE_ARGUMENT);
	if (w->step->params)
		use_value(w, w->step->params, USE_VALUE);
	if (w->step->stdin_text)
		use_value(w, toml_get(w->step->written, "stdin"), USE_VALUE);
	if (w->step->message)
		use_value(w, toml_get(w->step->written, "message"), USE_VALUE);
	if (w->step->foreach)
		use_value(w, toml_get(w->step->written, "foreach"), USE_LIST);
	if (w->step->server)
		use_server_args(w);
}

/* A question that no step waits for: each other step runs, whatever is said. */
static void check_question(const struct walk *w)
{
	const struct step *s = w->step;

	if (!s->name || !s->message || !w->findings ||
	    (w->index + 1 == w->routine->n_steps && !is_by_needs(w->routine)) ||
	    w->routine->n_steps == 1)
		return;
	for (size_t i = 0; i < w->routine->n_steps; i++)
		for (size_t k = 0; k < w->all[i].n_waits; k++)
			if (w->all[i].wait[k].step == w->index)
				return;
	findings_addf(w->findings, true, s->line, s->col,
		      "step \"%s\" holds nothing back: write needs = "
		      "[\"%s\"] in each step that may run only after a yes",
		      s->name, s->name);
}

/* ---- circles ---- */

enum mark { NEW, OPEN, DONE };

/* Follow what a step waits for; false: a circle was found, and is in `names`
   from its last step to its first one. */
static bool is_free(const struct walk *w, size_t i, enum mark *marks,
		    struct strlist *names)
{
	const struct flow_step *s = &w->all[i];

	if (marks[i] != NEW)
		return marks[i] == DONE;
	marks[i] = OPEN;
	for (size_t k = 0; k < s->n_waits; k++) {
		size_t other = s->wait[k].step;

		if (is_free(w, other, marks, names))
			continue;
		/* behind its first step the way into the circle begins */
		if (names->n < 2 ||
		    strcmp(names->item[0], names->item[names->n - 1]) != 0) {
			if (!names->n)
				list_add(names, w->arena,
					 w->routine->steps[other].name);
			list_add(names, w->arena, w->routine->steps[i].name);
		}
		return false;
	}
	marks[i] = DONE;
	return true;
}

static void find_circle(const struct walk *w)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	enum mark *marks =
		ARENA_ARRAY(w->arena, enum mark, w->routine->n_steps);
	struct strlist names = {NULL, 0};
	size_t i = 0;

	while (i < w->routine->n_steps && is_free(w, i, marks, &names))
		i++;
	if (i == w->routine->n_steps || !names.n)
		return;
	for (size_t k = names.n; k-- > 0;)
		buf_addf(&line, "%s%s", names.item[k],
			 !k		    ? ""
			 : k == names.n - 1 ? " needs "
					    : ", which needs ");
	i = find_step(w->routine, str_of(names.item[0]));
	say(w, &w->routine->steps[i], "steps wait for each other: %s",
	    buf_cstr(&line));
	/* nothing may wait for ever */
	for (i = 0; i < w->routine->n_steps; i++)
		w->all[i].n_waits = 0;
}

struct flow_step *flow_make(const struct routine *r, struct arena *arena,
			    struct findings *findings)
{
	struct walk w = {
		.routine = r,
		.arena = arena,
		.findings = findings,
		.all = ARENA_ARRAY(arena, struct flow_step, r->n_steps),
	};

	for (; w.index < r->n_steps; w.index++) {
		w.step = &r->steps[w.index];
		walk_step(&w);
	}
	for (w.index = 0; w.index < r->n_steps; w.index++) {
		w.step = &r->steps[w.index];
		check_question(&w);
	}
	find_circle(&w);
	return w.all;
}
