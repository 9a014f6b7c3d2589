#include "core/run/fill.h"

#include "core/base/buf.h"
#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/base/text.h"

/* A text that JSON holds is copied once, however long it is. */
struct filling {
	const struct values *v;
	struct arena *arena;
	struct fill_params *ret;
	struct buf json, pointer;
};

/* ---- strings ---- */

/* An input of the command line may be wanted as text. */
static void note_input(struct filling *f, const struct ref *ref, size_t at)
{
	struct fill_params *a = f->ret;
	struct str text = values_text(f->v, ref);

	if (!text.p)
		return;
	a->item = arena_grow(f->arena, a->item, a->n, sizeof(*a->item));
	a->item[a->n++] = (struct fill_input){
		.pointer = arena_str(f->arena, buf_str(&f->pointer)),
		.text = text,
		.at = at,
		.n = f->json.n - at,
	};
}

static int write_part(struct filling *f, const struct ref_part *part,
		      struct err *err)
{
	AUTO(buf_release) struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	struct str value;
	int r;

	if (part->text.p) {
		jw_quote(&quoted, part->text);
		buf_add(&f->json, quoted.p + 1, quoted.n - 2);
		return 0;
	}
	r = values_find(f->v, &part->ref, f->arena, &value, err);
	if (r == 0)
		ref_add_quoted(value, &f->json);
	return r < 0 ? -1 : 0;
}

static int write_whole(struct filling *f, const struct ref *ref,
		       struct err *err)
{
	size_t at = f->json.n;
	struct str value;

	if (values_find(f->v, ref, f->arena, &value, err) < 0)
		return -1;
	/* a message is one line; numbers and escapes stay as written */
	scan_compact(value, &f->json);
	note_input(f, ref, at);
	return 0;
}

static int write_string(struct filling *f, struct str s, struct err *err)
{
	struct ref_string parts;

	if (ref_read(s, f->arena, &parts, err) < 0)
		return -1;
	if (parts.is_whole)
		return write_whole(f, &parts.part[0].ref, err);
	buf_addc(&f->json, '"');
	for (size_t i = 0; i < parts.n; i++)
		if (write_part(f, &parts.part[i], err) < 0)
			return -1;
	buf_addc(&f->json, '"');
	return 0;
}

/* ---- values ---- */

static int write_value(struct filling *f, const struct toml_value *v,
		       struct err *err);

static int write_array(struct filling *f, const struct toml_value *v,
		       struct err *err)
{
	size_t n = f->pointer.n;

	buf_addc(&f->json, '[');
	for (size_t i = 0; i < v->array.n; i++) {
		if (i)
			buf_addc(&f->json, ',');
		buf_addf(&f->pointer, "/%zu", i);
		if (write_value(f, &v->array.item[i], err) < 0)
			return -1;
		f->pointer.n = n;
	}
	buf_addc(&f->json, ']');
	return 0;
}

static int write_table(struct filling *f, const struct toml_value *v,
		       struct err *err)
{
	size_t n = f->pointer.n;

	buf_addc(&f->json, '{');
	for (size_t i = 0; i < v->table.n; i++) {
		const struct toml_member *m = &v->table.member[i];

		if (i)
			buf_addc(&f->json, ',');
		jw_quote(&f->json, str_of(m->key));
		buf_addc(&f->json, ':');
		buf_addc(&f->pointer, '/');
		text_add_pointer(&f->pointer, str_of(m->key));
		if (write_value(f, &m->value, err) < 0)
			return -1;
		f->pointer.n = n;
	}
	buf_addc(&f->json, '}');
	return 0;
}

static int write_value(struct filling *f, const struct toml_value *v,
		       struct err *err)
{
	if (v->type == TOML_ARRAY)
		return write_array(f, v, err);
	if (v->type == TOML_TABLE)
		return write_table(f, v, err);
	if (v->type == TOML_STRING)
		return write_string(f, v->string, err);
	toml_to_json(v, &f->json);
	return 0;
}

int fill_params(const struct toml_value *params, const struct values *v,
		struct arena *arena, struct fill_params *ret, struct err *err)
{
	struct filling f = {
		.v = v,
		.arena = arena,
		.ret = ret,
		.json = BUF_INIT(BUF_UNBOUNDED),
		.pointer = BUF_INIT(BUF_UNBOUNDED),
	};
	int got;

	*ret = (struct fill_params){.n = 0};
	if (!params)
		return 0;
	got = write_value(&f, params, err);
	if (got == 0) {
		ret->json.n = f.json.n;
		ret->json.p = arena_adopt(arena, buf_steal(&f.json));
	}
	buf_release(&f.json);
	buf_release(&f.pointer);
	return got;
}

int fill_text(struct str text, const struct values *v, struct arena *arena,
	      struct str *ret, bool *ret_from_data, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct ref_string parts;
	struct str value;
	size_t n;
	int r;

	if (ref_read(text, arena, &parts, err) < 0)
		return -1;
	for (size_t i = 0; i < parts.n; i++) {
		const struct ref_part *part = &parts.part[i];

		value = part->text;
		if (!value.p)
			value = values_text(v, &part->ref);
		if (value.p) {
			buf_add_str(&out, value);
			continue;
		}
		r = values_find(v, &part->ref, arena, &value, err);
		if (r < 0)
			return -1;
		if (r == 0)
			ref_add_text(value, &out);
	}
	if (ret_from_data)
		*ret_from_data = parts.n && !parts.part[0].text.p &&
				 parts.part[0].ref.root != REF_INPUT;
	n = out.n;
	*ret = n ? (struct str){arena_adopt(arena, buf_steal(&out)), n}
		 : STR("");
	return 0;
}

/* ---- inputs as the text that was written ---- */

struct str fill_as_text(const struct fill_params *a,
			const struct strlist *pointers, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t from = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct fill_input *in = &a->item[i];

		if (a->json.p[in->at] == '"' ||
		    !list_has(pointers, arena_strndup(arena, in->pointer.p,
						      in->pointer.n)))
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
