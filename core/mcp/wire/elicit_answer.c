/* Answers: typed text as a value, and values as a result. */
#include <string.h>

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/mcp/wire/elicit.h"

static const char *const actions[] = {"accept", "decline", "cancel"};

bool elicit_action_find(const char *word, enum elicit_action *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i], word) == 0) {
			*ret = (enum elicit_action)i;
			return true;
		}
	}
	return false;
}

/* ---- typed text ---- */

static void typed_choice(const struct elicit_field *f, struct str text,
			 struct buf *out)
{
	for (size_t i = 0; i < f->n_choices; i++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		scan_string(f->choices[i].value, &value);
		if (!str_eq(f->choices[i].title, text) &&
		    !str_eq(buf_str(&value), text))
			continue;
		buf_add_str(out, f->choices[i].value);
		return;
	}
	jw_quote(out, text);
}

static void typed_choices(const struct elicit_field *f, struct str text,
			  struct buf *out)
{
	const char *sep = "[";

	while (text.n) {
		struct str one = str_trim(str_cut(&text, ','));

		if (!one.n)
			continue;
		buf_adds(out, sep);
		typed_choice(f, one, out);
		sep = ",";
	}
	buf_adds(out, *sep == '[' ? "[]" : "]");
}

static void typed_boolean(struct str text, struct buf *out)
{
	static const char *const yes[] = {"true", "yes", "y"};
	static const char *const no[] = {"false", "no", "n"};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (str_is(text, yes[i]))
			buf_adds(out, "true");
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (str_is(text, no[i]))
			buf_adds(out, "false");
}

int elicit_typed(const struct elicit_field *f, struct str text, struct buf *out,
		 struct err *err)
{
	AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);
	struct str proved;

	switch (f->type) {
	case ELICIT_STRING:
		jw_quote(&value, text);
		break;
	case ELICIT_CHOICE:
		typed_choice(f, str_trim(text), &value);
		break;
	case ELICIT_CHOICES:
		typed_choices(f, text, &value);
		break;
	case ELICIT_BOOLEAN:
		typed_boolean(str_trim(text), &value);
		break;
	case ELICIT_NUMBER:
	case ELICIT_INTEGER:
		buf_add_str(&value, str_trim(text));
		break;
	}
	if (scan_document(buf_str(&value), NULL, &proved, err) < 0)
		return err_set(
			err, ERR_SYNTAX, "%.*s: must be %s", STR_ARG(f->name),
			f->type == ELICIT_BOOLEAN ? "yes or no" : "a number");
	if (elicit_check(f, proved, err) < 0)
		return -1;
	buf_add_str(out, proved);
	return 0;
}

/* ---- the answer ---- */

/* Compare the texts of two JSON strings. */
static bool is_same(struct str a, struct str b)
{
	AUTO(buf_release) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf y = BUF_INIT(BUF_UNBOUNDED);

	return scan_string(a, &x) && scan_string(b, &y) &&
	       str_eq(buf_str(&x), buf_str(&y));
}

static struct str given(const struct elicit_field *f, struct str values)
{
	struct scan_iter it;
	struct str v = {NULL, 0};

	if (!values.p)
		return v;
	scan_iter_init(&it, values);
	while (scan_next(&it))
		if (is_same(it.key, f->key))
			v = it.value;
	return v;
}

static bool is_field(const struct elicit *e, struct str key)
{
	for (size_t i = 0; i < e->n_fields; i++)
		if (is_same(key, e->fields[i].key))
			return true;
	return false;
}

/* Say which required value is missing, or was given under a near name. */
static int missing(const struct elicit *e, const struct elicit_field *f,
		   struct str values, struct err *why)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	const char *names[1];
	struct scan_iter it;

	buf_add_str(&name, f->name);
	names[0] = buf_cstr(&name);
	if (values.p)
		scan_iter_init(&it, values);
	while (values.p && scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		scan_string(it.key, &key);
		if (!is_field(e, it.key) &&
		    str_nearest(buf_str(&key), names, 1))
			return err_set(why, ERR_SYNTAX,
				       "%s: no value was given, but one for "
				       "%s, which was not asked for",
				       names[0], buf_cstr(&key));
	}
	return err_set(why, ERR_SYNTAX,
		       "%s: no value was given, and the server names no "
		       "default",
		       names[0]);
}

/* Write the content; -1 and *why when a value does not fit. */
static int write_content(const struct elicit *e, struct str values,
			 struct jw *w, struct err *why)
{
	jw_kv_object(w, "content");
	for (size_t i = 0; i < e->n_fields; i++) {
		const struct elicit_field *f = &e->fields[i];
		struct str v = given(f, values);

		if (v.p && elicit_check(f, v, why) < 0)
			return -1;
		if (!v.p)
			v = f->def;
		if (!v.p && f->required)
			return missing(e, f, values, why);
		if (!v.p)
			continue;
		jw_key_str(w, f->name);
		jw_raw(w, v);
	}
	jw_end(w);
	return 0;
}

enum elicit_action elicit_answer(const struct elicit *e,
				 enum elicit_action action, struct str values,
				 struct arena *arena, struct buf *out,
				 struct str *ret_why)
{
	size_t from = out->n;
	struct err why = ERR_INIT;
	struct jw w;

	*ret_why = (struct str){NULL, 0};
	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_cstr(&w, "action", actions[action]);
	/* consent to an address has no content (EL-12) */
	if (action == ELICIT_ACCEPT && !e->url.p &&
	    write_content(e, values, &w, &why) < 0) {
		*ret_why = str_of(arena_strdup(arena, why.msg));
		out->n = from;
		buf_adds(out, "{\"action\":\"cancel\"}");
		return ELICIT_CANCEL;
	}
	jw_end(&w);
	return action;
}
