#include "core/run/plan_inputs.h"

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/config/references.h"

int plan_input_value(const struct plan_given *given, const struct step *step,
		     struct str name, struct str *ret, struct err *err)
{
	for (size_t i = given->params.n; i-- > 0;) {
		struct str value = str_of(given->params.item[i]);

		if (!str_eq(str_cut(&value, '='), name))
			continue;
		*ret = value.p ? value : STR("");
		return 0;
	}
	if (given->is_optional) {
		*ret = STR("null");
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "step %s needs a value for $input.%.*s: add -p "
		       "%.*s=VALUE",
		       step->name, STR_ARG(name), STR_ARG(name));
}

/* ---- the first reading ---- */

struct reading {
	const struct plan_given *given;
	const struct step *step;
	struct arena *arena;
	struct plan_inputs *ret;
	struct buf json, pointer;
	size_t cap;
};

static void add_input(struct reading *r, struct str text, size_t at)
{
	struct plan_inputs *a = r->ret;
	struct plan_input *more;

	if (a->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 4;
		more = ARENA_ARRAY(r->arena, struct plan_input, r->cap);
		for (size_t i = 0; i < a->n; i++)
			more[i] = a->item[i];
		a->item = more;
	}
	a->item[a->n++] = (struct plan_input){
		.pointer = arena_str(r->arena, buf_str(&r->pointer)),
		.text = text,
		.at = at,
		.n = r->json.n - at,
	};
}

static void write_input(struct reading *r, struct str text)
{
	struct err ignored = ERR_INIT;
	size_t at = r->json.n;
	struct str value;

	if (scan_document(text, NULL, &value, &ignored) == 0)
		scan_compact(value, &r->json);
	else
		jw_quote(&r->json, text);
	add_input(r, text, at);
}

static int write_value(struct reading *r, const struct toml_value *v,
		       struct err *err);

static int write_array(struct reading *r, const struct toml_value *v,
		       struct err *err)
{
	size_t n = r->pointer.n;

	buf_addc(&r->json, '[');
	for (size_t i = 0; i < v->array.n; i++) {
		if (i)
			buf_addc(&r->json, ',');
		buf_addf(&r->pointer, "/%zu", i);
		if (write_value(r, &v->array.item[i], err) < 0)
			return -1;
		r->pointer.n = n;
	}
	buf_addc(&r->json, ']');
	return 0;
}

static void add_token(struct buf *pointer, const char *key)
{
	buf_addc(pointer, '/');
	for (; *key; key++) {
		if (*key == '~' || *key == '/')
			buf_adds(pointer, *key == '~' ? "~0" : "~1");
		else
			buf_addc(pointer, *key);
	}
}

static int write_table(struct reading *r, const struct toml_value *v,
		       struct err *err)
{
	size_t n = r->pointer.n;

	buf_addc(&r->json, '{');
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *m = &v->table.member[i];

		if (i)
			buf_addc(&r->json, ',');
		jw_quote(&r->json, str_of(m->key));
		buf_addc(&r->json, ':');
		add_token(&r->pointer, m->key);
		if (write_value(r, &m->value, err) < 0)
			return -1;
		r->pointer.n = n;
	}
	buf_addc(&r->json, '}');
	return 0;
}

static int write_value(struct reading *r, const struct toml_value *v,
		       struct err *err)
{
	struct str name = {NULL, 0}, text;

	if (v->type == TOML_ARRAY)
		return write_array(r, v, err);
	if (v->type == TOML_TABLE)
		return write_table(r, v, err);
	if (v->type == TOML_STRING)
		name = reference_input(v->string);
	if (!name.p) {
		toml_to_json(v, &r->json);
		return 0;
	}
	if (plan_input_value(r->given, r->step, name, &text, err) < 0)
		return -1;
	write_input(r, text);
	return 0;
}

int plan_inputs_read(const struct plan_given *given, const struct step *step,
		     struct arena *arena, struct plan_inputs *ret,
		     struct err *err)
{
	struct reading r = {
		.given = given,
		.step = step,
		.arena = arena,
		.ret = ret,
		.json = BUF_INIT(BUF_UNBOUNDED),
		.pointer = BUF_INIT(BUF_UNBOUNDED),
	};
	int got;

	*ret = (struct plan_inputs){.n = 0};
	if (!step->params)
		return 0;
	got = write_value(&r, step->params, err);
	if (got == 0)
		ret->json = arena_str(arena, buf_str(&r.json));
	buf_release(&r.json);
	buf_release(&r.pointer);
	return got;
}

/* ---- the second one ---- */

static bool is_in(const struct strlist *pointers, struct str pointer)
{
	for (size_t i = 0; i < pointers->n; i++)
		if (str_is(pointer, pointers->item[i]))
			return true;
	return false;
}

struct str plan_inputs_as_text(const struct plan_inputs *a,
			       const struct strlist *pointers,
			       struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t from = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct plan_input *in = &a->item[i];

		if (a->json.p[in->at] == '"' || !is_in(pointers, in->pointer))
			continue;
		buf_add(&out, a->json.p + from, in->at - from);
		jw_quote(&out, in->text);
		from = in->at + in->n;
	}
	if (!from)
		return (struct str){NULL, 0};
	buf_add(&out, a->json.p + from, a->json.n - from);
	return arena_str(arena, buf_str(&out));
}
