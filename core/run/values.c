#include "core/run/values.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/base/scan.h"

/* Of an output that a message shows. */
#define SHOWN_BYTES 60

/* ---- inputs ---- */

const struct input *values_input(const struct values *v, struct str name)
{
	for (size_t i = v->n_inputs; i-- > 0;)
		if (str_eq(v->input[i].name, name))
			return &v->input[i];
	return NULL;
}

struct str values_text(const struct values *v, const struct ref *ref)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct input *input;

	if (ref->root != REF_INPUT || ref_behind(ref).path.n)
		return (struct str){NULL, 0};
	input = values_input(v, ref_first_key(ref, &arena));
	return input ? input->text : (struct str){NULL, 0};
}

/* A text of no type is JSON where it is JSON, else a string. */
static void add_typed(const struct input *input, struct buf *out)
{
	struct str value = input->json;

	if (!input->text.p ||
	    scan_document(input->text, NULL, &value, ERR_IGNORED) == 0)
		scan_compact(value, out);
	else
		jw_quote(out, input->text);
}

static void add_inputs(const struct values *v, struct buf *out)
{
	const char *comma = "";

	buf_addc(out, '{');
	for (size_t i = 0; i < v->n_inputs; i++) {
		const struct input *input = &v->input[i];

		if (values_input(v, input->name) != input)
			continue;
		buf_adds(out, comma);
		jw_quote(out, input->name);
		buf_addc(out, ':');
		add_typed(input, out);
		comma = ",";
	}
	buf_addc(out, '}');
}

/* One of them, or all as an object. */
static int input_json(const struct values *v, const struct ref *ref,
		      struct arena *arena, struct str *ret, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str name = ref_first_key(ref, arena);
	const struct input *input = values_input(v, name);

	if (!name.p)
		add_inputs(v, &out);
	else if (input)
		add_typed(input, &out);
	else if (v->is_optional)
		buf_adds(&out, "null");
	else
		return err_set(err, ERR_USAGE,
			       "step %s needs a value for $input.%.*s: add -p "
			       "%.*s=VALUE",
			       v->step, STR_ARG(name), STR_ARG(name));
	*ret = arena_buf(arena, &out);
	return 0;
}

/* ---- results of steps ---- */

typedef bool get_part(const struct report_step *s, struct arena *arena,
		      struct str *ret);

static struct str quoted(struct str text, struct arena *arena)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	jw_quote(&out, text);
	return arena_buf(arena, &out);
}

static bool get_state(const struct report_step *s, struct arena *arena,
		      struct str *ret)
{
	*ret = quoted(str_of(REPORT_STATES[s->state].word), arena);
	return true;
}

/* null of a step that is ok, so that a condition can ask for it. */
static bool get_reason(const struct report_step *s, struct arena *arena,
		       struct str *ret)
{
	*ret = s->reason == REASON_NONE
		       ? STR("null")
		       : quoted(str_of(report_reason_name(s->reason)), arena);
	return true;
}

static bool get_error(const struct report_step *s, struct arena *arena,
		      struct str *ret)
{
	*ret = s->error.n ? quoted(s->error, arena) : STR("null");
	return true;
}

static bool get_output(const struct report_step *s, struct arena *arena,
		       struct str *ret)
{
	AUTO(buf_release) struct buf body = BUF_INIT(BUF_UNBOUNDED);

	if (s->state == STATE_SKIPPED)
		return false;
	report_step_output(&body, s);
	*ret = quoted(buf_str(&body), arena);
	return true;
}

static bool get_json(const struct report_step *s, struct arena *arena,
		     struct str *ret)
{
	struct buf body = BUF_INIT(BUF_UNBOUNDED);
	struct str text;

	report_step_output(&body, s);
	text = arena_buf(arena, &body);
	return text.n && scan_document(text, NULL, ret, ERR_IGNORED) == 0;
}

/* Of a report that was loaded they stand in the data. */
static bool get_member(const struct report_step *s, struct str own,
		       const char *name, struct str *ret)
{
	*ret = own;
	return ret->n || (s->data.n && scan_get(s->data, name, ret));
}

static bool get_content(const struct report_step *s, struct arena *arena UNUSED,
			struct str *ret)
{
	return get_member(s, s->answer.content, "content", ret);
}

static bool get_structured(const struct report_step *s,
			   struct arena *arena UNUSED, struct str *ret)
{
	return get_member(s, s->answer.structured, "structuredContent", ret);
}

static bool get_data(const struct report_step *s, struct arena *arena,
		     struct str *ret)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (!report_step_has_data(s))
		return false;
	jw_init(&w, &out, false);
	report_step_data(&w, s);
	*ret = arena_buf(arena, &out);
	return true;
}

static bool get_items(const struct report_step *s, struct arena *arena UNUSED,
		      struct str *ret)
{
	return s->data.n && scan_get(s->data, "items", ret);
}

static const struct {
	const char *key;
	get_part *get;
} parts[] = {
	{"state", get_state},	  {"reason", get_reason},
	{"error", get_error},	  {"output", get_output},
	{"content", get_content}, {"structuredContent", get_structured},
	{"json", get_json},	  {"data", get_data},
	{"items", get_items},
};

static int no_part(const struct report_step *s, const struct ref *ref,
		   struct str key, struct arena *arena, struct err *err)
{
	AUTO(buf_release) struct buf there = BUF_INIT(BUF_UNBOUNDED);
	struct str value;

	/* state, reason and error of the step are no part of a result */
	for (size_t i = ref->root == REF_SELF ? 3 : 0; i < ARRAY_LEN(parts);
	     i++)
		if (parts[i].get(s, arena, &value))
			buf_addf(&there, "%s%s", there.n ? ", " : "",
				 parts[i].key);
	if (str_is(key, "json") && get_output(s, arena, &value))
		return err_set(err, ERR_UNKNOWN,
			       "%.*s has no \"json\", because its output is "
			       "not JSON: %.*s; it has: %s",
			       STR_ARG(ref->head),
			       STR_ARG(str_first(value, SHOWN_BYTES)),
			       buf_cstr(&there));
	return err_set(err, ERR_UNKNOWN, "%.*s has no \"%.*s\"; it has: %s",
		       STR_ARG(ref->head), STR_ARG(key), buf_cstr(&there));
}

int values_of_result(const struct report_step *s, const struct ref *ref,
		     struct arena *arena, struct str *ret, struct err *err)
{
	struct str key = ref_first_key(ref, arena);
	struct ref behind = ref_behind(ref);
	struct str value;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (str_is(key, parts[i].key))
			return parts[i].get(s, arena, &value)
				       ? ref_follow(&behind, value, ret, err)
				       : no_part(s, ref, key, arena, err);
	/* "$", "$.isError" of the CallToolResult itself */
	if (ref->root == REF_SELF && (!key.p || str_is(key, "isError")) &&
	    get_data(s, arena, &value))
		return ref_follow(ref, value, ret, err);
	return no_part(s, ref, key, arena, err);
}

/* The output as JSON, which is read once however often it is referred to; it is
   none where p is NULL. */
static struct str read_once(struct values_read *read,
			    const struct report_step *s)
{
	struct values_output *o = read->first;

	while (o && o->of != s)
		o = o->next;
	if (o)
		return o->json;
	o = ARENA_NEW(&read->arena, struct values_output);
	o->of = s;
	o->next = read->first;
	read->first = o;
	if (!get_json(s, &read->arena, &o->json))
		o->json.p = NULL;
	return o->json;
}

/* Say why there is none. */
static int no_result(const struct values *v, const struct ref *ref,
		     struct err *err)
{
	const char *text =
		ref->root == REF_STEPS ? " has no result; run that step as well"
		: v->has_no_record ? ": no record of runs can be opened here, "
				     "see the warning"
				   : ": there is no earlier run of the whole "
				     "routine that was ok";

	err_set(err, ERR_UNKNOWN, "%.*s%s", STR_ARG(ref->head), text);
	if (ref->root == REF_STEPS || v->has_no_record || v->is_judged)
		return -1;
	return err_set(err, ERR_UNKNOWN,
		       "%.*s%s; until then when = { \"$%.*s%.*s\" = true } "
		       "skips this step",
		       STR_ARG(ref->head), text, STR_ARG(ref->head),
		       STR_ARG(ref->path));
}

static int step_json(const struct values *v, const struct ref *ref,
		     struct arena *arena, struct str *ret, struct err *err)
{
	const struct report_step *s =
		v->find ? v->find(v->arg, ref->root, ref->step) : NULL;
	struct ref behind = ref_behind(ref);
	struct str json = {NULL, 0};

	if (!s)
		return no_result(v, ref, err);
	if (v->read && str_is(ref_first_key(ref, arena), "json"))
		json = read_once(v->read, s);
	return json.p ? ref_follow(&behind, json, ret, err)
		      : values_of_result(s, ref, arena, ret, err);
}

/* ---- all of them ---- */

static int find(const struct values *v, const struct ref *ref,
		struct arena *arena, struct str *ret, struct err *err)
{
	struct ref behind = ref_behind(ref);

	switch (ref->root) {
	case REF_INPUT:
		return input_json(v, ref, arena, ret, err) < 0
			       ? -1
			       : ref_follow(&behind, *ret, ret, err);
	case REF_RUN:
		return ref_follow(ref, v->run ? v->run(v->arg) : STR("{}"), ret,
				  err);
	case REF_ITEM:
		return ref_follow(ref, v->item.p ? v->item : STR("null"), ret,
				  err);
	case REF_INDEX:
		*ret = str_of(arena_printf(arena, "%zu", v->index));
		return ref_follow(ref, *ret, ret, err);
	default:
		return step_json(v, ref, arena, ret, err);
	}
}

/* The reason or error of a step that is ok. */
static bool is_no_failure(const struct ref *ref, struct str value,
			  struct arena *arena)
{
	struct str key;

	if ((ref->root != REF_STEPS && ref->root != REF_PREVIOUS) ||
	    scan_type(value) != SCAN_NULL)
		return false;
	key = ref_first_key(ref, arena);
	return str_is(key, "reason") || str_is(key, "error");
}

/* As find(), but what nothing is known of is absent. */
static int find_leniently(const struct values *v, const struct ref *ref,
			  struct arena *arena, struct str *ret, struct err *err)
{
	struct err why = ERR_INIT;

	if (find(v, ref, arena, ret, &why) == 0)
		return 0;
	if (why.kind == ERR_UNKNOWN) {
		*ret = STR("null");
		return VALUES_ABSENT;
	}
	*err = why;
	return -1;
}

int values_find(const struct values *v, const struct ref *ref,
		struct arena *arena, struct str *ret, struct err *err)
{
	int r = v->is_lenient ? find_leniently(v, ref, arena, ret, err)
			      : find(v, ref, arena, ret, err);

	return r == 0 && is_no_failure(ref, *ret, arena) ? VALUES_ABSENT : r;
}
