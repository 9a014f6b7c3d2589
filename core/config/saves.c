#include "core/config/saves.h"

#include <limits.h>
#include <string.h>

#include "core/base/place.h"
#include "core/base/text.h"
#include "core/config/nest.h"
#include "core/config/paths.h"

/* Parts of a name, files of a routine. */
#define PARTS_MAX 16
#define FILES_MAX 1000

/* ---- one name ---- */

const char *saves_name_refused(struct str name)
{
	size_t n = 0;

	if (!name.n)
		return "it is empty";
	if (name.p[0] == '/' || name.p[0] == '~')
		return "names are those of files in the folder `out`";
	if (name.p[0] == '$' || memmem(name.p, name.n, "{{", 2))
		return "no reference has a value in a name";
	if (text_has_control(name))
		return "a control character is in it";
	for (struct str rest = name; rest.p; n++) {
		struct str part = str_cut(&rest, '/');

		if (!part.n || str_is(part, "."))
			return "a part of it is empty";
		if (str_is(part, ".."))
			return "\"..\" leads out of the folder `out`";
		if (part.n > NAME_MAX)
			return "a part of it is over 255 bytes";
	}
	return n > PARTS_MAX ? "it has more than 16 parts" : NULL;
}

/* ---- one step ---- */

#define say(f, m, ...) findings_addf(f, false, (m)->line, (m)->col, __VA_ARGS__)

/* Is the file of one the other's, or a folder of it? */
static bool is_same_place(struct str a, struct str b)
{
	return a.n && a.n <= b.n && memcmp(a.p, b.p, a.n) == 0 &&
	       (a.n == b.n || b.p[a.n] == '/');
}

/* The step that has this place among the first `n` and the first files of the
   next one; NULL: none has. */
static const char *find_other(const struct routine *r, size_t n, size_t n_files,
			      struct str name)
{
	for (size_t i = 0; i <= n; i++) {
		const struct toml_value *save = r->steps[i].save;
		size_t end = !save ? 0 : i < n ? save->table.n : n_files;

		for (size_t k = 0; k < end; k++) {
			const struct toml_value *v =
				&save->table.member[k].value;

			if (v->type == TOML_STRING &&
			    (is_same_place(v->string, name) ||
			     is_same_place(name, v->string)))
				return r->steps[i].name ? r->steps[i].name : "";
		}
	}
	return NULL;
}

/* Bytes are saved by naming their block: "$.content[0].data" is Base64. */
static bool is_base64(struct str path)
{
	return str_starts(path, "$.content[") &&
	       (str_ends(path, "].data") || str_ends(path, "].resource.blob"));
}

static void check_file(const struct routine *r, size_t step, size_t nth,
		       struct findings *f)
{
	const struct toml_member *m = &r->steps[step].save->table.member[nth];
	const char *why, *other;

	if (m->value.type != TOML_STRING) {
		say(f, m,
		    "\"save\": %s must be the name of a file, such as "
		    "\"chart.png\"",
		    m->key);
		return;
	}
	if (is_base64(str_of(m->key)))
		findings_addf(f, true, m->line, m->col,
			      "\"save\": \"%s\" is Base64 text; for the bytes "
			      "name the block, such as \"$.content[0]\"",
			      m->key);
	why = saves_name_refused(m->value.string);
	if (str_starts(m->value.string, "$."))
		say(f, m,
		    "\"save\": \"%.*s\" is a path into the result; write it "
		    "first: { \"%.*s\" = \"%s\" }",
		    STR_ARG(m->value.string), STR_ARG(m->value.string), m->key);
	else if (why)
		say(f, m,
		    "\"save\": \"%.*s\" cannot be a file: %s; write a name "
		    "such as \"chart.png\" or \"charts/1.png\"",
		    STR_ARG(m->value.string), why);
	other = find_other(r, step, nth, m->value.string);
	if (other)
		say(f, m,
		    "\"save\": step \"%s\" saves a file in the place of "
		    "\"%.*s\", too; write another name",
		    other, STR_ARG(m->value.string));
}

static void check_step(const struct routine *r, size_t step, struct findings *f)
{
	const struct step *s = &r->steps[step];
	const struct toml_member *m = &s->save->table.member[0];

	if (!s->save->table.n)
		return;
	if (!r->out)
		say(f, m,
		    "\"save\" needs a folder: write out = \"FOLDER\" in "
		    "[routines.%s]",
		    r->name);
	if (s->foreach)
		say(f, m,
		    "\"save\" in a step with \"foreach\" would write the same "
		    "file for each element; save what a later step makes of "
		    "\"$steps.%s.items\"",
		    s->name ? s->name : "NAME");
	if (s->message)
		say(f, m, "an approval has no result that could be saved");
	for (size_t i = 0; i < s->save->table.n; i++)
		check_file(r, step, i, f);
}

/* ---- routines that are steps ---- */

static size_t count_files(const struct routine *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_steps; i++)
		n += r->steps[i].save ? r->steps[i].save->table.n : 0;
	return n;
}

/*
 * Find routines that would save the same files again: run for each element, or
 * by two steps.
 *
 * by  of each routine the step that runs it, counted from 1; 0: none yet
 */
static void check_nested(const struct config *c, const struct routine *r,
			 size_t step, size_t *by, struct findings *f)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct step *s = &r->steps[step];
	const bool *reached = nest_reached(c, s->routine, &arena);

	for (size_t i = 0; i < c->n_routines; i++) {
		const char *name = c->routines[i].name;

		if (!reached[i] || !count_files(&c->routines[i]))
			continue;
		if (s->foreach)
			say(f, s,
			    "routine \"%s\" saves files, and would save the "
			    "same ones for each element",
			    name);
		else if (by[i])
			say(f, s,
			    "routine \"%s\" saves files, and step \"%s\" runs "
			    "it, too: it would save the same ones again",
			    name, r->steps[by[i] - 1].name);
		by[i] = step + 1;
	}
}

/* A file that a run saves: where, and for which routine. */
struct saved {
	const char *path, *routine;
};

static size_t list_files(const struct config *c, const struct routine *r,
			 struct arena *arena, struct saved *ret)
{
	size_t n = 0;

	for (size_t i = 0; r->out && i < r->n_steps; i++) {
		const struct toml_value *save = r->steps[i].save;

		for (size_t k = 0; save && k < save->table.n; k++) {
			const struct toml_value *v =
				&save->table.member[k].value;

			if (v->type == TOML_STRING)
				ret[n++] = (struct saved){
					arena_printf(arena, "%s/%.*s",
						     path_resolve(r->out,
								  c->dir,
								  arena),
						     STR_ARG(v->string)),
					r->name,
				};
		}
	}
	return n;
}

/* Find a place that two routines of one run would save in. */
static void check_together(const struct config *c, const struct routine *r,
			   struct findings *f)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const bool *reached = nest_reached(c, r->name, &arena);
	size_t n = 0, total = 0;
	struct saved *all;

	for (size_t i = 0; i < c->n_routines; i++)
		total += reached[i] ? count_files(&c->routines[i]) : 0;
	all = ARENA_ARRAY(&arena, struct saved, total);
	for (size_t i = 0; total <= FILES_MAX && i < c->n_routines; i++)
		if (reached[i])
			n += list_files(c, &c->routines[i], &arena, all + n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			struct str a = str_of(all[k].path);
			struct str b = str_of(all[i].path);

			if (all[i].routine == all[k].routine ||
			    (!is_same_place(a, b) && !is_same_place(b, a)))
				continue;
			say(f, r,
			    "routine \"%s\" runs \"%s\" and \"%s\", which "
			    "save files in one place, %s; give one of these "
			    "another `out`",
			    r->name, all[k].routine, all[i].routine,
			    all[i].path);
			return;
		}
}

void saves_check(const struct config *c, const struct routine *r,
		 struct findings *findings)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	size_t *by = ARENA_ARRAY(&arena, size_t, c->n_routines);
	bool runs_others = false;

	if (r->out && (strstr(r->out, "{{") || strstr(r->out, "/$")))
		say(findings, r,
		    "\"out\" of routine \"%s\": no reference has a value in "
		    "it; write the folder as it is",
		    r->name);
	if (count_files(r) > FILES_MAX) {
		say(findings, r, "routine \"%s\" saves more than %d files",
		    r->name, FILES_MAX);
		return;
	}
	for (size_t i = 0; i < r->n_steps; i++) {
		if (r->steps[i].save)
			check_step(r, i, findings);
		if (r->steps[i].routine)
			check_nested(c, r, i, by, findings);
		runs_others |= r->steps[i].routine != NULL;
	}
	if (runs_others)
		check_together(c, r, findings);
}

bool saves_will_make(const struct config *c, const char *path)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < c->n_routines; i++) {
		const char *out = c->routines[i].out;

		/* the folder may stand behind the path, as written still */
		if (out &&
		    place_covers(path_resolve(out, c->dir, &arena), path))
			return true;
	}
	return false;
}
