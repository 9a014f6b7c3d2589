#include "core/import/words.h"

#include <ctype.h>

#include "core/secret/literal.h"

const char *words_text(const struct toml_value *v, struct arena *arena)
{
	switch (v->type) {
	case TOML_STRING:
		return memchr(v->string.p, '\0', v->string.n)
			       ? NULL
			       : arena_strndup(arena, v->string.p, v->string.n);
	case TOML_INTEGER:
		return arena_printf(arena, "%lld", (long long)v->integer);
	case TOML_FLOAT:
		return arena_printf(arena, "%.15g", v->real);
	case TOML_BOOLEAN:
		return v->boolean ? "true" : "false";
	default:
		return NULL;
	}
}

struct strlist words_list(const struct toml_value *v, struct arena *arena)
{
	const bool is_array = v->type == TOML_ARRAY;
	struct strlist all = {NULL, 0};

	for (size_t i = 0; i < (is_array ? v->array.n : 1); i++) {
		const char *text =
			words_text(is_array ? &v->array.item[i] : v, arena);

		if (text)
			list_add(&all, arena, text);
	}
	return all;
}

/* ---- names of variables ---- */

static bool is_name(struct str s)
{
	if (!s.p || !s.n || isdigit((unsigned char)s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!isascii(s.p[i]) ||
		    !(isalnum((unsigned char)s.p[i]) || s.p[i] == '_'))
			return false;
	return true;
}

const char *words_name(const char *a, const char *b, struct arena *arena)
{
	char *name = arena_printf(arena, "%s%s%s", a, *a ? "_" : "", b);

	for (char *p = name; *p; p++)
		*p = isascii(*p) && isalnum((unsigned char)*p)
			     ? (char)toupper((unsigned char)*p)
			     : '_';
	return isdigit((unsigned char)*name) ? arena_printf(arena, "_%s", name)
					     : name;
}

const char *words_variable(const char *text, struct arena *arena)
{
	const struct str s = str_of(text);
	struct str inside;

	if (s.n < 4 || !str_starts(s, "${") || s.p[s.n - 1] != '}')
		return NULL;
	inside = (struct str){s.p + 2, s.n - 3};
	return is_name(inside) ? arena_strndup(arena, inside.p, inside.n)
			       : NULL;
}

/* ---- translation ---- */

static const struct toml_value *find_input(const struct import_source *src,
					   struct str id)
{
	const struct toml_value *all = src->inputs;

	for (size_t i = 0; all && all->type == TOML_ARRAY && i < all->array.n;
	     i++) {
		const struct toml_value *v =
			toml_get(&all->array.item[i], "id");

		if (v && v->type == TOML_STRING && str_eq(v->string, id))
			return &all->array.item[i];
	}
	return NULL;
}

/* An input is a variable, and its default the variable's. */
static void add_input(const struct import_source *src, struct str id,
		      struct buf *out)
{
	const struct toml_value *input = find_input(src, id);
	const struct toml_value *v = toml_get(input, "default");
	const struct toml_value *hidden = toml_get(input, "password");
	const char *name = words_name("", arena_strndup(src->arena, id.p, id.n),
				      src->arena);
	const char *value = v ? words_text(v, src->arena) : NULL;

	buf_addf(out, "${%s", name);
	if (value && *value && !strpbrk(value, "}") &&
	    !(hidden && hidden->type == TOML_BOOLEAN && hidden->boolean))
		buf_addf(out, ":-%s", value);
	buf_addc(out, '}');
}

/* Text between the braces; false: it has no counterpart. */
static bool add_placeholder(const struct import_source *src, struct str inside,
			    struct buf *out)
{
	const char *slash = strrchr(src->folder, '/');
	struct str rest = inside, name = str_cut(&rest, ':');

	if (str_is(name, "workspaceFolder") || str_is(inside, "cwd"))
		buf_adds(out, src->folder);
	else if (str_is(inside, "workspaceFolderBasename"))
		buf_adds(out, slash ? slash + 1 : src->folder);
	else if (str_is(inside, "userHome"))
		buf_adds(out, src->home);
	else if (str_is(inside, "pathSeparator") || str_is(inside, "/"))
		buf_addc(out, '/');
	else if (str_is(name, "input") && rest.n)
		add_input(src, rest, out);
	else if (str_is(name, "env") && is_name(rest))
		buf_addf(out, "${%.*s}", STR_ARG(rest));
	else if (is_name(name) && (!rest.p || (rest.n && rest.p[0] == '-')))
		buf_addf(out, "${%.*s}", STR_ARG(inside));
	else
		return false;
	return true;
}

const char *words_translate(const struct import_source *src, const char *raw,
			    const char **ret_why)
{
	AUTO(buf_wipe) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str text = str_of(raw);

	*ret_why = NULL;
	if (str_starts(text, "$env:") && is_name(str_skip(text, 5)))
		return arena_printf(src->arena, "${%s}", raw + 5);
	if (text.n > 1 && text.p[0] == '$' && is_name(str_skip(text, 1)))
		return arena_printf(src->arena, "${%s}", raw + 1);
	if (str_is(text, "~") || str_starts(text, "~/")) {
		buf_adds(&out, src->home);
		text = str_skip(text, 1);
	}
	while (text.p && text.n) {
		const char *open = memmem(text.p, text.n, "${", 2);
		const size_t plain = open ? (size_t)(open - text.p) : text.n;
		struct str inside;

		buf_add(&out, text.p, plain);
		text = str_skip(text, plain);
		if (!text.n)
			break;
		text = str_skip(text, 2);
		if (str_find(text, '}') == text.n) {
			*ret_why = "has a ${ without }";
			return raw;
		}
		inside = str_cut(&text, '}');
		if (!add_placeholder(src, inside, &out)) {
			*ret_why = arena_printf(src->arena,
						"has ${%.*s}, which only the "
						"client knows",
						STR_ARG(inside));
			return raw;
		}
	}
	return arena_strdup(src->arena, buf_cstr(&out));
}

/* ---- values of now ---- */

struct words_expanded words_expand(const struct import_source *src,
				   const char *text)
{
	AUTO(buf_wipe) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct words_expanded e = {.text = NULL};
	struct str rest = str_of(text);

	while (rest.n) {
		const char *open = memmem(rest.p, rest.n, "${", 2);
		const size_t plain = open ? (size_t)(open - rest.p) : rest.n;
		struct str fallback, name;
		const char *value;

		buf_add(&out, rest.p, plain);
		rest = str_skip(rest, plain);
		if (!rest.n)
			break;
		rest = str_skip(rest, 2);
		fallback = str_cut(&rest, '}');
		name = str_cut(&fallback, ':');
		e.has_any = true;
		e.missing = arena_strndup(src->arena, name.p, name.n);
		value = src->variable(src->arg, e.missing);
		if ((!value || !*value) && fallback.n) {
			buf_add(&out, fallback.p + 1, fallback.n - 1);
			continue;
		}
		if (!value)
			return e;
		e.has_secret |=
			literal_looks_like(e.missing, str_of(value)) != NULL;
		buf_adds(&out, value);
	}
	e.text = arena_strdup(src->arena, buf_cstr(&out));
	return e;
}
