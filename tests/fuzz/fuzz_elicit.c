/*
 * A question of a server and what a person types: the first line is the
 * question's params, the second the values as JSON, the third is typed into
 * every field. What goes back is a JSON object that fits the question.
 */
#include <stdint.h>

#include "core/base/scan.h"
#include "core/mcp/wire/elicit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void check_typed(const struct elicit *e, struct str text)
{
	for (size_t i = 0; i < e->n_fields; i++) {
		AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		struct str v;

		if (elicit_typed(&e->fields[i], text, &out, &err) < 0) {
			expect(out.n == 0);
			continue;
		}
		expect(scan_document(buf_str(&out), NULL, &v, &err) == 0);
		expect(elicit_check(&e->fields[i], v, &err) == 0);
	}
}

/* What is accepted has every required member, and each fits. */
static void check_content(const struct elicit *e, struct str content)
{
	for (size_t i = 0; i < e->n_fields; i++) {
		const struct elicit_field *f = &e->fields[i];
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
		struct err err = ERR_INIT;
		struct str v;

		buf_add_str(&name, f->name);
		if (memchr(f->name.p, '\0', f->name.n))
			continue; /* scan_get() takes C strings */
		if (scan_get(content, buf_cstr(&name), &v))
			expect(elicit_check(f, v, &err) == 0);
		else
			expect(!f->required);
	}
}

static void check_answer(const struct elicit *e, enum elicit_action action,
			 struct str values, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct str why, v, content;
	enum elicit_action got =
		elicit_answer(e, action, values, arena, &out, &why);

	expect(scan_document(buf_str(&out), NULL, &v, &err) == 0);
	expect(scan_type(v) == SCAN_OBJECT);
	expect(got == action || (got == ELICIT_CANCEL && why.p));
	if (!scan_get(v, "content", &content)) {
		expect(got != ELICIT_ACCEPT || e->url.p || !e->n_fields);
		return;
	}
	expect(got == ELICIT_ACCEPT && !e->url.p);
	check_content(e, content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str in = {(const char *)data, size}, question, values;
	struct err err = ERR_INIT;
	struct elicit e;

	if (scan_document(str_cut(&in, '\n'), NULL, &question, &err) < 0 ||
	    elicit_read(question, &arena, &e, &err) < 0)
		return 0;
	if (scan_document(str_cut(&in, '\n'), NULL, &values, &err) < 0 ||
	    scan_type(values) != SCAN_OBJECT)
		values = (struct str){NULL, 0};
	check_answer(&e, ELICIT_ACCEPT, values, &arena);
	check_answer(&e, ELICIT_DECLINE, values, &arena);
	check_answer(&e, ELICIT_CANCEL, values, &arena);
	check_typed(&e, str_cut(&in, '\n'));
	return 0;
}
