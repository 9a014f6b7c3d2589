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

/* ---- translation ---- */

/* Text while it is translated. */
struct translation {
	const struct import_source *src;
	struct word *w;
	struct buf text, now; /* credentials may be in both */
};

static void add_both(struct translation *t, struct str s)
{
	buf_add_str(&t->text, s);
	buf_add_str(&t->now, s);
}

/* fallback  {NULL, 0}: none */
static void add_variable(struct translation *t, struct str name,
			 struct str fallback)
{
	struct word *w = t->w;
	const char *set = arena_strndup(t->src->arena, name.p, name.n);
	const char *value = t->src->variable(t->src->arg, set);

	buf_addf(&t->text, "${%s%s", set, fallback.p ? ":-" : "");
	buf_add_str(&t->text, fallback);
	buf_addc(&t->text, '}');
	w->variable = set;
	w->has_any = true;
	if ((!value || !*value) && fallback.p) {
		buf_add_str(&t->now, fallback);
	} else if (value) {
		w->has_secret |= literal_looks_like(set, str_of(value)) != NULL;
		buf_adds(&t->now, value);
	} else if (!w->missing) {
		w->missing = set;
	}
}

/* An input of VS Code is a variable, and its default the variable's. */
static void add_input(struct translation *t, struct str id)
{
	struct arena *arena = t->src->arena;
	const struct toml_value *all = t->src->inputs, *input = NULL, *v;
	const char *value;
	bool is_password;

	for (size_t i = 0; all && all->type == TOML_ARRAY && i < all->array.n;
	     i++) {
		v = toml_get(&all->array.item[i], "id");
		if (v && v->type == TOML_STRING && str_eq(v->string, id))
			input = &all->array.item[i];
	}
	v = toml_get(input, "password");
	is_password = v && v->type == TOML_BOOLEAN && v->boolean;
	t->w->has_secret |= is_password;
	v = is_password ? NULL : toml_get(input, "default");
	value = v ? words_text(v, arena) : NULL;
	if (value && (!*value || strchr(value, '}')))
		value = NULL;
	add_variable(
		t,
		str_of(words_name("", arena_strndup(arena, id.p, id.n), arena)),
		str_of(value));
}

/* Text between the braces; false: it has no counterpart. */
static bool add_placeholder(struct translation *t, struct str inside)
{
	const struct str folder = str_of(t->src->folder),
			 slash = str_of(strrchr(folder.p, '/'));
	struct str rest = inside, name = str_cut(&rest, ':');

	if (str_is(name, "workspaceFolder") || str_is(inside, "cwd"))
		add_both(t, folder);
	else if (str_is(inside, "workspaceFolderBasename"))
		add_both(t, slash.n ? str_skip(slash, 1) : folder);
	else if (str_is(inside, "userHome"))
		add_both(t, str_of(t->src->home));
	else if (str_is(inside, "pathSeparator") || str_is(inside, "/"))
		add_both(t, STR("/"));
	else if (str_is(name, "input") && rest.n)
		add_input(t, rest);
	else if (str_is(name, "env") && is_name(rest))
		add_variable(t, rest, (struct str){NULL, 0});
	else if (is_name(name) && (!rest.p || (rest.n && rest.p[0] == '-')))
		add_variable(t, name, rest.p ? str_skip(rest, 1) : rest);
	else
		return false;
	return true;
}

static void translate(struct translation *t, struct str rest)
{
	const size_t mark = str_starts(rest, "$env:") ? 5 : 1;

	if (rest.n > mark && rest.p[0] == '$' &&
	    is_name(str_skip(rest, mark))) {
		add_variable(t, str_skip(rest, mark), (struct str){NULL, 0});
		return;
	}
	if (str_is(rest, "~") || str_starts(rest, "~/")) {
		add_both(t, str_of(t->src->home));
		rest = str_skip(rest, 1);
	}
	while (rest.p && rest.n) {
		const char *open = memmem(rest.p, rest.n, "${", 2);
		const size_t plain = open ? (size_t)(open - rest.p) : rest.n;
		struct str inside;

		add_both(t, (struct str){rest.p, plain});
		rest = str_skip(rest, plain);
		if (!open)
			break;
		if (str_find(rest, '}') == rest.n) {
			t->w->why = "has a ${ without }";
			return;
		}
		rest = str_skip(rest, 2);
		inside = str_cut(&rest, '}');
		if (!add_placeholder(t, inside)) {
			t->w->why = arena_printf(t->src->arena,
						 "has ${%.*s}, which only the "
						 "client knows",
						 STR_ARG(inside));
			return;
		}
	}
	/* does the last one stand alone, without another value? */
	if (t->w->variable && t->text.n != strlen(t->w->variable) + 3)
		t->w->variable = NULL;
}

struct word words_read(const struct import_source *src, const char *raw)
{
	struct word w = {.text = raw};
	struct translation t = {src, &w, BUF_INIT(BUF_UNBOUNDED),
				BUF_INIT(BUF_UNBOUNDED)};

	translate(&t, str_of(raw));
	if (!w.why)
		w.text = arena_strdup(src->arena, buf_cstr(&t.text));
	if (!w.why && !w.missing)
		w.now = arena_strdup(src->arena, buf_cstr(&t.now));
	buf_wipe(&t.text);
	buf_wipe(&t.now);
	return w;
}
