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

/* May a server or a program have made it? */
static bool is_data(const struct values *v, const struct ref_part *part)
{
	switch (part->text.p ? REF_RUN : part->ref.root) {
	case REF_RUN:
		return false;
	case REF_INPUT:
		return v->is_data;
	case REF_ITEM:
	case REF_INDEX:
		return !v->owns_item;
	default:
		return true;
	}
}

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
	f->ret->has_data |= is_data(f->v, part);
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
	if (parts.is_whole) {
		f->ret->has_data |= is_data(f->v, &parts.part[0]);
		return write_whole(f, &parts.part[0].ref, err);
	}
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
	if (got == 0)
		ret->json = arena_buf(arena, &f.json);
	buf_release(&f.json);
	buf_release(&f.pointer);
	return got;
}

static int add_part(struct buf *out, const struct ref_part *part,
		    const struct values *v, struct arena *arena,
		    struct err *err)
{
	struct str value = part->text;
	int r;

	if (!value.p)
		value = values_text(v, &part->ref);
	if (value.p) {
		buf_add_str(out, value);
		return 0;
	}
	r = values_find(v, &part->ref, arena, &value, err);
	if (r == 0)
		ref_add_text(value, out);
	return r < 0 ? -1 : 0;
}

int fill_text(struct str text, const struct values *v, struct arena *arena,
	      struct str *ret, enum fill_data *ret_data, struct err *err)
{
	AUTO(arena_release) struct arena scratch = ARENA_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	enum fill_data data = FILL_NONE;
	struct ref_string parts;

	if (ref_read(text, &scratch, &parts, err) < 0)
		return -1;
	*ret_data = FILL_NONE;
	*ret = parts.n ? parts.part[0].text : STR("");
	if (parts.n <= 1 && !parts.has_refs)
		return 0;
	for (size_t i = 0; i < parts.n; i++) {
		bool is_first = !out.n;

		if (add_part(&out, &parts.part[i], v, arena, err) < 0)
			return -1;
		if (!is_data(v, &parts.part[i]))
			continue;
		if (is_first && out.n)
			data = FILL_FIRST;
		else if (data == FILL_NONE)
			data = FILL_INSIDE;
	}
	*ret_data = data;
	*ret = out.n ? arena_buf(arena, &out) : STR("");
	return 0;
}

bool fill_has_data(struct str text, const struct values *v, struct arena *arena)
{
	struct ref_string parts;
	bool found = false;

	if (ref_read(text, arena, &parts, ERR_IGNORED) < 0)
		return false;
	for (size_t i = 0; i < parts.n; i++)
		found |= is_data(v, &parts.part[i]);
	return found;
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
