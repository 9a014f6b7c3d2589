#include "core/mcp/wire/elicit.h"

#include "core/base/jw.h"
#include "core/base/scan.h"
#include "core/schema/schema.h"

/* Ceilings of shown texts and of an address, bytes of JSON text. */
#define SHOWN_BYTES (16 * 1024)
#define URL_BYTES (8 * 1024)

int elicit_check(const struct elicit_field *f, struct str value,
		 struct err *err)
{
	static const struct schema_options options = {.assert_formats = true};
	AUTO(schema_freep) struct schema *s = NULL;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result result;
	int rc;

	if (schema_compile(f->schema, &options, &s, err) < 0)
		return err_wrap(err, "%.*s", STR_ARG(f->name));
	rc = schema_validate(s, value, &arena, &result, err);
	if (rc < 0)
		return err_wrap(err, "%.*s", STR_ARG(f->name));
	if (rc == SCHEMA_VALID)
		return 0;
	result.item[0].instance.n = 0; /* the name is said already */
	schema_violation_print(&result.item[0], &line);
	return err_set(err, ERR_SYNTAX, "%.*s: %s", STR_ARG(f->name),
		       buf_cstr(&line));
}

/* ---- reading ---- */

static struct str text_of(struct str object, const char *name,
			  struct arena *arena)
{
	return scan_decoded(scan_some(object, name), SHOWN_BYTES, arena);
}

/* Find the n-th element of an array, or {NULL, 0}. */
static struct str element(struct str array, size_t n)
{
	for (struct scan_iter it = scan_over(array); scan_next(&it);)
		if (n-- == 0)
			return it.value;
	return (struct str){NULL, 0};
}

/* Read enum with enumNames, or a list of {const, title} (EL-5). */
static int read_choices(struct str schema, const char *titled,
			struct arena *arena, struct elicit_field *f,
			struct err *err)
{
	struct str plain = scan_some(schema, "enum");
	struct str list = plain.p ? plain : scan_some(schema, titled);
	struct str names = scan_some(schema, "enumNames");
	size_t n = list.p ? scan_count(list) : 0;
	struct elicit_choice *choice;

	if (!list.p)
		return 0;
	if (!n || n > ELICIT_CHOICES_MAX || scan_type(list) != SCAN_ARRAY)
		return err_set(err, ERR_PEER,
			       "property \"%.*s\" needs 1 to %d choices",
			       STR_ARG(f->name), ELICIT_CHOICES_MAX);
	choice = ARENA_ARRAY(arena, struct elicit_choice, n);
	f->choices = choice;
	for (struct scan_iter it = scan_over(list); scan_next(&it);) {
		struct str value =
			plain.p ? it.value : scan_some(it.value, "const");
		struct str title = plain.p ? element(names, f->n_choices)
					   : scan_some(it.value, "title");

		if (!value.p || scan_type(value) != SCAN_STRING)
			return err_set(err, ERR_PEER,
				       "property \"%.*s\": a choice is not a "
				       "string",
				       STR_ARG(f->name));
		if (!title.p || scan_type(title) != SCAN_STRING)
			title = value;
		choice[f->n_choices++] = (struct elicit_choice){
			.value = value,
			.title = scan_decoded(title, SIZE_MAX, arena)};
	}
	return 0;
}

static int read_type(struct str schema, struct arena *arena,
		     struct elicit_field *f, struct err *err)
{
	struct str type = scan_some(schema, "type"),
		   items = scan_some(schema, "items");
	static const struct {
		const char *word, *least, *most;
		enum elicit_type type;
	} types[] = {
		{"string", "minLength", "maxLength", ELICIT_STRING},
		{"number", "minimum", "maximum", ELICIT_NUMBER},
		{"integer", "minimum", "maximum", ELICIT_INTEGER},
		{"boolean", "-", "-", ELICIT_BOOLEAN},
		{"array", "minItems", "maxItems", ELICIT_CHOICES},
	};
	size_t i = 0;

	/* an enum may leave its type out */
	if (!type.p &&
	    (scan_some(schema, "enum").p || scan_some(schema, "oneOf").p))
		type = STR("\"string\"");
	while (type.p && i < ARRAY_LEN(types) && !scan_is(type, types[i].word))
		i++;
	if (!type.p || i == ARRAY_LEN(types))
		return err_set(err, ERR_PEER,
			       "property \"%.*s\" has no type that can be "
			       "asked for",
			       STR_ARG(f->name));
	f->type = types[i].type;
	f->least = scan_some(schema, types[i].least);
	f->most = scan_some(schema, types[i].most);
	if (f->type == ELICIT_CHOICES) {
		if (items.p && read_choices(items, "anyOf", arena, f, err) < 0)
			return -1;
		return f->n_choices ? 0
				    : err_set(err, ERR_PEER,
					      "property \"%.*s\": a list "
					      "without choices",
					      STR_ARG(f->name));
	}
	if (f->type == ELICIT_STRING &&
	    read_choices(schema, "oneOf", arena, f, err) < 0)
		return -1;
	if (f->n_choices)
		f->type = ELICIT_CHOICE;
	return 0;
}

static bool is_required(struct str schema, struct str name)
{
	struct str list = scan_some(schema, "required");
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (struct scan_iter it = scan_over(list); scan_next(&it);) {
		buf_clear(&text);
		if (scan_string(it.value, &text) &&
		    str_eq(buf_str(&text), name))
			return true;
	}
	return false;
}

static int read_fields(struct str schema, struct arena *arena, struct elicit *e,
		       struct err *err)
{
	struct str properties = scan_some(schema, "properties");
	size_t n = properties.p ? scan_count(properties) : 0;
	struct elicit_field *field;

	if (n > ELICIT_FIELDS_MAX)
		return err_set(err, ERR_PEER,
			       "%zu properties are asked for; at most %d are "
			       "answered",
			       n, ELICIT_FIELDS_MAX);
	field = ARENA_ARRAY(arena, struct elicit_field, n + 1);
	e->fields = field;
	for (struct scan_iter it = scan_over(properties); scan_next(&it);) {
		struct str name = scan_decoded(it.key, SIZE_MAX, arena);
		struct elicit_field *f = field;

		/* of two members of one name the last counts (RW-15) */
		while (f < field + e->n_fields && !str_eq(f->name, name))
			f++;
		e->n_fields += f == field + e->n_fields;
		*f = (struct elicit_field){
			.key = it.key,
			.name = name,
			.title = text_of(it.value, "title", arena),
			.description = text_of(it.value, "description", arena),
			.format = text_of(it.value, "format", arena),
			.required = is_required(schema, name),
			.schema = it.value,
			.def = scan_some(it.value, "default"),
		};
		if (read_type(it.value, arena, f, err) < 0)
			return -1;
		if (f->def.p && elicit_check(f, f->def, ERR_IGNORED) < 0)
			f->def = (struct str){NULL, 0};
	}
	return 0;
}

/*
 * An address is https, or http on this machine. Control characters and spaces
 * are refused, too: a URL is shown (EL-15).
 */
static bool is_good_url(struct str url)
{
	static const char *const hosts[] = {"http://localhost",
					    "http://127.0.0.1", "http://[::1]"};

	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7f)
			return false;
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		size_t n = strlen(hosts[i]);

		if (str_starts(url, hosts[i]) &&
		    (url.n == n || strchr(":/?#", url.p[n])))
			return true;
	}
	return str_starts(url, "https://") && url.n > 8;
}

static int read_url(struct str params, struct arena *arena, struct elicit *e,
		    struct err *err)
{
	struct str url = scan_text(params, "url");

	if (!url.p || url.n > URL_BYTES)
		return err_set(err, ERR_PEER,
			       "elicitation: the mode url without a url");
	e->url = scan_decoded(url, SIZE_MAX, arena);
	e->id = text_of(params, "elicitationId", arena);
	if (!is_good_url(e->url))
		return err_set(err, ERR_PEER,
			       "elicitation: an address that is neither https "
			       "nor on this machine");
	return 0;
}

int elicit_read(struct str params, struct arena *arena, struct elicit *ret,
		struct err *err)
{
	struct str mode = scan_some(params, "mode");
	struct str schema = scan_some(params, "requestedSchema");
	struct elicit e = {.message = text_of(params, "message", arena),
			   .id = STR("")};
	int r;

	if (mode.p && scan_is(mode, "url"))
		r = read_url(params, arena, &e, err);
	else if (mode.p && !scan_is(mode, "form"))
		r = err_set(err, ERR_PEER, "elicitation: an unknown mode");
	else if (schema.p && scan_type(schema) != SCAN_OBJECT)
		r = err_set(err, ERR_PEER,
			    "elicitation: requestedSchema is not an object");
	else
		r = read_fields(schema.p ? schema : STR("{}"), arena, &e, err);
	if (r < 0)
		return -1;
	*ret = e;
	return 0;
}

/* ---- typed text ---- */

static const char *const actions[] = {"accept", "decline", "cancel"};

bool elicit_action_find(const char *word, enum elicit_action *ret)
{
	return str_choose(word, actions, ARRAY_LEN(actions), ret);
}

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
	static const char *const words[][2] = {
		{"true", "true"},   {"yes", "true"}, {"y", "true"},
		{"false", "false"}, {"no", "false"}, {"n", "false"},
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(text, words[i][0]))
			buf_adds(out, words[i][1]);
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

/* Say which required value is missing, or was given under a near name. */
static int missing(const struct elicit *e, const struct elicit_field *f,
		   struct str values, struct err *why)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	const char *names[1];

	buf_add_str(&name, f->name);
	names[0] = buf_cstr(&name);
	for (struct scan_iter it = scan_over(values); scan_next(&it);) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
		size_t i = 0;

		scan_string(it.key, &key);
		while (i < e->n_fields &&
		       !str_eq(e->fields[i].name, buf_str(&key)))
			i++;
		if (i == e->n_fields && str_nearest(buf_str(&key), names, 1))
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
		struct str v = scan_named(values, f->name);

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
	w = jw_begin(out);
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
