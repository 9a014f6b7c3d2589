#include "core/run/inputs.h"

#include <stdarg.h>

#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/config/params.h"
#include "core/config/references.h"
#include "core/run/advice_command.h"

/* ---- as they are given ---- */

/* errors  ERR_USAGE */
static int read_json(struct str text, struct str *ret, struct err *err)
{
	if (scan_document(text, NULL, ret, err) == 0)
		return 0;
	err->kind = ERR_USAGE;
	return -1;
}

static int read_word(const char *word, struct input *ret, struct err *err)
{
	struct str text = str_of(word), name = str_cut(&text, '=');

	if (!text.p || !name.n || str_is(name, ":"))
		return err_set(err, ERR_USAGE,
			       "-p %s: write NAME=VALUE, or NAME:=JSON", word);
	*ret = (struct input){.name = name, .text = text, .is_given = true};
	if (!str_ends(name, ":"))
		return 0;
	ret->name.n--;
	ret->text = (struct str){NULL, 0};
	return read_json(text, &ret->json, err) == 0
		       ? 0
		       : err_wrap(err, "-p %s is not JSON", word);
}

static int read_given(const struct inputs_given *given, struct arena *arena,
		      struct values *ret, struct err *err)
{
	struct str object = STR("{}");

	if (given->object.n && read_json(given->object, &object, err) < 0)
		return err_wrap(err, "the object of parameters");
	if (scan_type(object) != SCAN_OBJECT)
		return err_set(err, ERR_USAGE,
			       "parameters are a JSON object: {\"NAME\": "
			       "VALUE, ...}");
	ret->input = ARENA_ARRAY(arena, struct input,
				 scan_count(object) + given->params.n);
	for (struct scan_iter it = scan_over(object); scan_next(&it);)
		ret->input[ret->n_inputs++] = (struct input){
			.name = scan_decoded(it.key, SIZE_MAX, arena),
			.json = it.value,
			.is_given = true,
		};
	for (size_t i = 0; i < given->params.n; i++)
		if (read_word(given->params.item[i],
			      &ret->input[ret->n_inputs++], err) < 0)
			return -1;
	return 0;
}

/* ---- as they are declared ---- */

/* Values as the routine declares them, and mistakes in them, a line each. */
struct reading {
	const struct params *params;
	const struct inputs_given *asked;
	struct strlist used; /* by the steps; of a part of the routine */
	struct values given;
	struct arena *arena;
	struct buf wrong;
};

PRINTF(3, 4)
static void wrong(struct reading *r, struct str name, const char *fmt, ...)
{
	va_list ap;

	buf_addf(&r->wrong, "%s%.*s: ", r->wrong.n ? "\n" : "", STR_ARG(name));
	va_start(ap, fmt);
	buf_adds(&r->wrong, arena_vprintf(r->arena, fmt, ap));
	va_end(ap);
}

/*
 * The value of a text by the type that is declared: a string as it is, another
 * type as JSON, of several types JSON where it is JSON of one of them.
 */
static struct str typed(struct str text, unsigned types, struct arena *arena)
{
	AUTO(buf_release) struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	const bool is_one = (types & (types - 1)) == 0;
	struct str json;

	if (types != SCHEMA_TYPE_STRING &&
	    scan_document(text, NULL, &json, ERR_IGNORED) == 0 &&
	    (is_one || types & schema_types_of(json)))
		return json;
	jw_quote(&quoted, text);
	return arena_str(arena, buf_str(&quoted));
}

/* Advice for a text that is no JSON. */
static const char *json_hint(struct str json, unsigned types)
{
	if (types & SCHEMA_TYPE_STRING || json.p[0] != '"')
		return "";
	return types & SCHEMA_TYPE_ARRAY    ? "; write it as '[\"a\", \"b\"]'"
	       : types & SCHEMA_TYPE_OBJECT ? "; write it as '{\"a\": \"b\"}'"
					    : "";
}

static void judge(struct reading *r, const struct input *value, unsigned types)
{
	const struct strlist found =
		params_judge(r->params, value->name, value->json, r->arena);

	for (size_t i = 0; i < found.n; i++)
		wrong(r, value->name, "%s%s", found.item[i],
		      json_hint(value->json, types));
}

static bool is_needed(const struct reading *r, const char *name)
{
	return !r->asked->is_optional &&
	       (!r->asked->is_partial || list_has(&r->used, REFERENCES_ALL) ||
		list_has(&r->used, name));
}

static void read_one(struct reading *r, const struct schema_property *p,
		     struct values *ret)
{
	const struct input *given = values_input(&r->given, p->name);
	struct input value = {.name = p->name,
			      .json = p->fallback,
			      .is_given = given != NULL};

	if (given && given->text.p && !str_is_utf8(given->text)) {
		wrong(r, p->name, "is not UTF-8");
		return;
	}
	if (given)
		value.json = given->text.p
				     ? typed(given->text, p->types, r->arena)
				     : given->json;
	if (value.json.p) {
		if (given)
			judge(r, &value, p->types);
		ret->input[ret->n_inputs++] = value;
	} else if (is_needed(r,
			     arena_strndup(r->arena, p->name.p, p->name.n))) {
		wrong(r, p->name, "is missing%s%.*s%s%s",
		      p->description.n ? " (" : "", STR_ARG(p->description),
		      p->description.n ? ")" : "",
		      r->asked->object.n
			      ? ""
			      : arena_printf(r->arena, ": add -p %.*s=VALUE",
					     STR_ARG(p->name)));
	}
}

static void refuse_others(struct reading *r)
{
	const struct strlist names = params_names(r->params, r->arena);

	for (size_t i = 0; i < r->given.n_inputs; i++) {
		struct str name = r->given.input[i].name;
		const char *near = str_nearest(name, names.item, names.n);
		size_t k = 0;

		while (k < names.n && !str_is(name, names.item[k]))
			k++;
		if (k == names.n && near)
			wrong(r, name,
			      "there is no such parameter; did you mean %s?",
			      near);
		else if (k == names.n)
			wrong(r, name,
			      "there is no such parameter; there are: %s",
			      names.n ? list_join(&names, ", ", r->arena)
				      : "none");
	}
}

static void read_declared(struct reading *r, struct values *ret)
{
	ret->input = ARENA_ARRAY(r->arena, struct input, r->params->n);
	ret->n_inputs = 0;
	for (size_t i = 0; i < r->params->n; i++)
		read_one(r, &r->params->item[i], ret);
	refuse_others(r);
}

/* Read and judge by parameters that were read; wrong ones are in *wrong. */
static int read_all(const struct routine *routine, struct reading *r,
		    struct values *ret, struct err *err)
{
	if (read_given(r->asked, r->arena, &r->given, err) < 0)
		return -1;
	if (r->asked->is_partial)
		r->used = references_inputs(routine, r->arena);
	if (r->params->schema) {
		read_declared(r, ret);
		return 0;
	}
	ret->input = r->given.input;
	ret->n_inputs = r->given.n_inputs;
	return 0;
}

int inputs_read(const struct config *config, const struct routine *routine,
		const struct inputs_given *given, struct arena *arena,
		struct values *ret, struct err *err)
{
	AUTO(params_release) struct params params;
	struct reading r = {.params = &params,
			    .asked = given,
			    .arena = arena,
			    .wrong = BUF_INIT(BUF_UNBOUNDED)};
	int rc;

	if (params_read(routine, arena, &params, err) < 0 ||
	    read_all(routine, &r, ret, err) < 0)
		return -1;
	rc = r.wrong.n ? err_set(err, ERR_USAGE,
				 "parameters of routine %s, which `%s` "
				 "shows:\n%s",
				 routine->name,
				 advice_about(config, "list", routine->name,
					      arena),
				 buf_cstr(&r.wrong))
		       : 0;
	buf_release(&r.wrong);
	return rc;
}

int inputs_judge(const struct routine *routine, const struct params *params,
		 const struct inputs_given *given, struct arena *arena,
		 struct values *ret, struct err *err)
{
	struct reading r = {.params = params,
			    .asked = given,
			    .arena = arena,
			    .wrong = BUF_INIT(BUF_UNBOUNDED)};
	int rc = read_all(routine, &r, ret, err);

	if (rc == 0 && r.wrong.n)
		rc = err_set(err, ERR_USAGE, "%s", buf_cstr(&r.wrong));
	buf_release(&r.wrong);
	return rc;
}
