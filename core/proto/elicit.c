#include "core/proto/elicit.h"

#include <string.h>

#include "core/base/jw.h"
#include "core/base/scan.h"

/* Texts that are shown, bytes of JSON text. */
#define SHOWN_BYTES (16 * 1024)
#define URL_BYTES (8 * 1024)

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

/* ---- reading ---- */

/* A text member, decoded; "" when absent. */
static struct str text_of(struct str object, const char *name,
			  struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str v;

	if (!scan_get_some(object, name, &v) ||
	    !scan_string_cut(v, SHOWN_BYTES, &text))
		return STR("");
	return arena_str(arena, buf_str(&text));
}

static struct str decoded(struct str json, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	scan_string(json, &text);
	return arena_str(arena, buf_str(&text));
}

static struct str some(struct str object, const char *name)
{
	struct str v;

	return scan_get_some(object, name, &v) ? v : (struct str){NULL, 0};
}

/* The n-th element of an array, or {NULL, 0}. */
static struct str element(struct str array, size_t n)
{
	struct scan_iter it;

	scan_iter_init(&it, array);
	while (scan_next(&it))
		if (n-- == 0)
			return it.value;
	return (struct str){NULL, 0};
}

static void add_choice(struct elicit_choice *c, struct str value,
		       struct str title, struct arena *arena)
{
	c->value = value;
	c->title = decoded(title.p && scan_type(title) == SCAN_STRING ? title
								      : value,
			   arena);
}

/* enum with enumNames, or a list of {const, title} (EL-5). */
static int read_choices(struct str schema, const char *titled,
			struct arena *arena, struct elicit_field *f,
			struct err *err)
{
	struct str plain = some(schema, "enum");
	struct str list = plain.p ? plain : some(schema, titled);
	struct str names = some(schema, "enumNames");
	size_t n = list.p ? scan_count(list) : 0;
	struct elicit_choice *choice;
	struct scan_iter it;

	if (!list.p)
		return 0;
	if (!n || n > ELICIT_CHOICES_MAX || scan_type(list) != SCAN_ARRAY)
		return err_set(err, ERR_PEER,
			       "property \"%.*s\": 1 to %d choices are due",
			       STR_ARG(f->name), ELICIT_CHOICES_MAX);
	choice = ARENA_ARRAY(arena, struct elicit_choice, n);
	f->choices = choice;
	scan_iter_init(&it, list);
	while (scan_next(&it)) {
		struct str value = plain.p ? it.value : some(it.value, "const");
		struct str title =
			plain.p ? (names.p ? element(names, f->n_choices)
					   : names)
				: some(it.value, "title");

		if (!value.p || scan_type(value) != SCAN_STRING)
			return err_set(err, ERR_PEER,
				       "property \"%.*s\": a choice is no "
				       "string",
				       STR_ARG(f->name));
		add_choice(&choice[f->n_choices++], value, title, arena);
	}
	return 0;
}

static int read_type(struct str schema, struct arena *arena,
		     struct elicit_field *f, struct err *err)
{
	struct str type = some(schema, "type"), items = some(schema, "items");
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
	if (!type.p && (some(schema, "enum").p || some(schema, "oneOf").p))
		type = STR("\"string\"");
	while (type.p && i < ARRAY_LEN(types) && !scan_is(type, types[i].word))
		i++;
	if (!type.p || i == ARRAY_LEN(types))
		return err_set(err, ERR_PEER,
			       "property \"%.*s\" is of no type that can be "
			       "asked for",
			       STR_ARG(f->name));
	f->type = types[i].type;
	f->least = some(schema, types[i].least);
	f->most = some(schema, types[i].most);
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
	struct str list = some(schema, "required");
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;

	if (!list.p)
		return false;
	scan_iter_init(&it, list);
	while (scan_next(&it)) {
		buf_clear(&text);
		if (scan_string(it.value, &text) &&
		    str_eq(buf_str(&text), name))
			return true;
	}
	return false;
}

/* A new one, or that of the same name: the last counts (RW-15). */
static struct elicit_field *field_of(struct elicit *e,
				     struct elicit_field *field,
				     struct str name)
{
	for (size_t i = 0; i < e->n_fields; i++)
		if (str_eq(field[i].name, name))
			return &field[i];
	return &field[e->n_fields++];
}

static int read_fields(struct str schema, struct arena *arena, struct elicit *e,
		       struct err *err)
{
	struct str properties = some(schema, "properties");
	size_t n = properties.p ? scan_count(properties) : 0;
	struct elicit_field *field;
	struct scan_iter it;

	if (n > ELICIT_FIELDS_MAX)
		return err_set(err, ERR_PEER,
			       "%zu properties are asked for; at most %d are "
			       "answered",
			       n, ELICIT_FIELDS_MAX);
	field = ARENA_ARRAY(arena, struct elicit_field, n + 1);
	e->fields = field;
	scan_iter_init(&it, properties.p ? properties : STR("{}"));
	while (scan_next(&it)) {
		struct str name = decoded(it.key, arena);
		struct elicit_field *f = field_of(e, field, name);

		*f = (struct elicit_field){.key = it.key, .name = name};
		f->title = text_of(it.value, "title", arena);
		f->description = text_of(it.value, "description", arena);
		f->format = text_of(it.value, "format", arena);
		f->required = is_required(schema, f->name);
		f->def = some(it.value, "default");
		if (read_type(it.value, arena, f, err) < 0)
			return -1;
		if (f->def.p && elicit_check(f, f->def, NULL) < 0)
			f->def = (struct str){NULL, 0};
	}
	return 0;
}

static bool is_loopback(struct str rest)
{
	static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		size_t n = strlen(hosts[i]);

		if (str_starts(rest, hosts[i]) &&
		    (rest.n == n || strchr(":/?#", rest.p[n])))
			return true;
	}
	return false;
}

/* EL-15. No control characters and no spaces either: it is shown. */
static bool is_good_url(struct str url)
{
	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7f)
			return false;
	if (str_starts(url, "https://"))
		return url.n > 8;
	return str_starts(url, "http://") &&
	       is_loopback((struct str){url.p + 7, url.n - 7});
}

static int read_url(struct str params, struct arena *arena, struct elicit *e,
		    struct err *err)
{
	struct str url = some(params, "url");

	if (!url.p || scan_type(url) != SCAN_STRING || url.n > URL_BYTES)
		return err_set(err, ERR_PEER,
			       "elicitation: the mode url without a url");
	e->url = decoded(url, arena);
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
	struct str mode = some(params, "mode");
	struct str schema = some(params, "requestedSchema");
	struct elicit e = {.message = text_of(params, "message", arena),
			   .id = STR("")};
	int r;

	if (mode.p && scan_is(mode, "url"))
		r = read_url(params, arena, &e, err);
	else if (mode.p && !scan_is(mode, "form"))
		r = err_set(err, ERR_PEER, "elicitation: an unknown mode");
	else if (schema.p && scan_type(schema) != SCAN_OBJECT)
		r = err_set(err, ERR_PEER,
			    "elicitation: requestedSchema is no object");
	else
		r = read_fields(schema.p ? schema : STR("{}"), arena, &e, err);
	if (r < 0)
		return -1;
	*ret = e;
	return 0;
}

/* ---- checking ---- */

static size_t characters(struct str json)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t n = 0;

	scan_string(json, &text);
	for (size_t i = 0; i < text.n; i++)
		n += (text.p[i] & 0xc0) != 0x80;
	return n;
}

/* Only for comparing with bounds: never written anywhere. */
static double number_of(struct str json)
{
	char text[64];

	if (!json.p || scan_type(json) != SCAN_NUMBER || json.n >= sizeof(text))
		return 0;
	memcpy(text, json.p, json.n);
	text[json.n] = '\0';
	return strtod(text, NULL);
}

static int bad(const struct elicit_field *f, struct err *err, const char *what)
{
	if (!err)
		return -1;
	return err_set(err, ERR_SYNTAX, "%.*s: %s", STR_ARG(f->name), what);
}

static int check_bounds(const struct elicit_field *f, double n,
			const char *what, struct err *err)
{
	if ((!f->least.p || n >= number_of(f->least)) &&
	    (!f->most.p || n <= number_of(f->most)))
		return 0;
	if (!err)
		return -1;
	return err_set(err, ERR_SYNTAX, "%.*s: %s is not within %.*s to %.*s",
		       STR_ARG(f->name), what,
		       STR_ARG(f->least.p ? f->least : STR("any")),
		       STR_ARG(f->most.p ? f->most : STR("any")));
}

static bool same_string(struct str a, struct str b)
{
	AUTO(buf_release) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf y = BUF_INIT(BUF_UNBOUNDED);

	return scan_string(a, &x) && scan_string(b, &y) &&
	       str_eq(buf_str(&x), buf_str(&y));
}

static int check_choice(const struct elicit_field *f, struct str value,
			struct err *err)
{
	AUTO(buf_release) struct buf list = BUF_INIT(SHOWN_BYTES);

	for (size_t i = 0; i < f->n_choices; i++)
		if (same_string(f->choices[i].value, value))
			return 0;
	for (size_t i = 0; i < f->n_choices && i < 12; i++)
		buf_addf(&list, "%s%.*s", i ? ", " : "",
			 STR_ARG(f->choices[i].value));
	if (!err)
		return -1;
	return err_set(err, ERR_SYNTAX, "%.*s: must be one of %s%s",
		       STR_ARG(f->name), buf_cstr(&list),
		       f->n_choices > 12 ? ", …" : "");
}

static int check_choices(const struct elicit_field *f, struct str value,
			 struct err *err)
{
	struct scan_iter it;

	if (scan_type(value) != SCAN_ARRAY)
		return bad(f, err, "must be a list of choices");
	scan_iter_init(&it, value);
	while (scan_next(&it))
		if (check_choice(f, it.value, err) < 0)
			return -1;
	return check_bounds(f, (double)scan_count(value),
			    "the number of choices", err);
}

/* The forms that a question may name; others are the server's to check. */
static bool is_format(struct str format, struct str text)
{
	if (str_is(format, "email"))
		return str_find(text, '@') > 0 &&
		       str_find(text, '@') + 1 < text.n &&
		       str_find(text, ' ') == text.n;
	if (str_is(format, "uri"))
		return str_find(text, ':') > 0 &&
		       str_find(text, ':') + 1 < text.n &&
		       str_find(text, ' ') == text.n;
	if (str_is(format, "date") || str_is(format, "date-time")) {
		for (size_t i = 0; i < 10; i++)
			if (text.n < 10 ||
			    (i == 4 || i == 7
				     ? text.p[i] != '-'
				     : text.p[i] < '0' || text.p[i] > '9'))
				return false;
		return str_is(format, "date")
			       ? text.n == 10
			       : text.n > 15 && strchr("Tt ", text.p[10]);
	}
	return true;
}

static int check_string(const struct elicit_field *f, struct str value,
			struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!scan_string(value, &text))
		return bad(f, err, "must be a text");
	if (!is_format(f->format, buf_str(&text))) {
		if (!err)
			return -1;
		return err_set(err, ERR_SYNTAX,
			       "%.*s: must be of the form %.*s",
			       STR_ARG(f->name), STR_ARG(f->format));
	}
	return check_bounds(f, (double)characters(value), "its length", err);
}

static bool is_integer(struct str value)
{
	int64_t n;
	double d = number_of(value);

	return scan_int64(value, &n) ||
	       (d > -9e15 && d < 9e15 && d == (double)(int64_t)d);
}

int elicit_check(const struct elicit_field *f, struct str value,
		 struct err *err)
{
	enum scan_type type = scan_type(value);

	switch (f->type) {
	case ELICIT_STRING:
		return check_string(f, value, err);
	case ELICIT_CHOICE:
		return check_choice(f, value, err);
	case ELICIT_CHOICES:
		return check_choices(f, value, err);
	case ELICIT_BOOLEAN:
		return type == SCAN_TRUE || type == SCAN_FALSE
			       ? 0
			       : bad(f, err, "must be true or false");
	case ELICIT_INTEGER:
		if (type != SCAN_NUMBER || !is_integer(value))
			return bad(f, err, "must be a whole number");
		break;
	case ELICIT_NUMBER:
		if (type != SCAN_NUMBER)
			return bad(f, err, "must be a number");
		break;
	}
	return check_bounds(f, number_of(value), "it", err);
}

/* ---- what a person types ---- */

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
		return bad(f, err,
			   f->type == ELICIT_BOOLEAN ? "must be yes or no"
						     : "must be a number");
	if (elicit_check(f, proved, err) < 0)
		return -1;
	buf_add_str(out, proved);
	return 0;
}

/* ---- the answer ---- */

static struct str given(const struct elicit_field *f, struct str values)
{
	struct scan_iter it;
	struct str v = {NULL, 0};

	if (!values.p)
		return v;
	scan_iter_init(&it, values);
	while (scan_next(&it))
		if (same_string(it.key, f->key))
			v = it.value;
	return v;
}

static bool is_field(const struct elicit *e, struct str key)
{
	for (size_t i = 0; i < e->n_fields; i++)
		if (same_string(key, e->fields[i].key))
			return true;
	return false;
}

/* A required value that is missing, or was given under a name that is near. */
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

/* The content; -1 and *why when it cannot be accepted. */
static int write_content(const struct elicit *e, struct str values,
			 struct jw *w, struct err *why)
{
	jw_key(w, "content");
	jw_object(w);
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
