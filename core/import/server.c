#include "core/import/server.h"

#include <ctype.h>
#include <stdarg.h>
#include <strings.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/edit.h"
#include "core/import/env_file.h"
#include "core/import/launch.h"
#include "core/import/tree.h"
#include "core/import/words.h"
#include "core/secret/literal.h"
#include "core/secret/secret.h"

/* Parts of a definition that are one text each, whatever clients call them. */
enum part { PROGRAM, CWD, URL, TYPE, ABOUT, TEXTS };

struct taking {
	const struct import_source *src;
	struct arena *arena;
	struct import_server *s;
	const char *text[TEXTS]; /* as written */
	const char *timeout;
	bool is_off;
	struct strlist args;
	struct pairs env, headers;
	struct strlist tools, deny_tools;
	bool has_tools; /* a list of the only tools, maybe of none */
};

static void say(struct taking *t, struct strlist *to, const char *fmt, ...)
	PRINTF(3, 4);
static void say(struct taking *t, struct strlist *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	list_add_new(to, t->arena, arena_vprintf(t->arena, fmt, ap));
	va_end(ap);
}

#define LOSE(t, ...) say(t, &(t)->s->lost, __VA_ARGS__)
#define NOTE(t, ...) say(t, &(t)->s->notes, __VA_ARGS__)

/* ---- keys of the configuration ---- */

static struct toml_value of_text(const char *text)
{
	return (struct toml_value){.type = TOML_STRING, .string = str_of(text)};
}

/* { env = "NAME" } and its like */
static struct toml_value of_reference(struct taking *t, const char *kind,
				      const char *text)
{
	struct toml_value v = {.type = TOML_TABLE};

	(void)tree_add(&v, kind, of_text(text), t->arena);
	return v;
}

/* table  "env", "headers", …; NULL: none */
static void put(struct taking *t, const char *table, const char *key,
		struct toml_value value)
{
	struct toml_value *to = &t->s->table;

	if (table)
		to = tree_table(to, table, t->arena);
	(void)tree_add(to, key, value, t->arena);
}

static void put_list(struct taking *t, const char *table, const char *key,
		     const struct strlist *texts)
{
	struct toml_value v = {.type = TOML_ARRAY};

	for (size_t i = 0; i < texts->n; i++)
		tree_append(&v, of_text(texts->item[i]), t->arena);
	put(t, table, key, v);
}

/* Say why a text has no value now, or that it keeps the one of now. */
static bool has_value(struct taking *t, const struct word *w, const char *what)
{
	if (w->why)
		LOSE(t, "%s %s", what, w->why);
	else if (!w->now)
		LOSE(t,
		     "%s needs the variable %s, which is not set; set it and "
		     "import again",
		     what, w->missing);
	else if (w->has_any)
		NOTE(t, "%s has the value that its variables have now", what);
	return !w->why && w->now;
}

/* ---- keys of clients ---- */

/* Row of a key: its names, and how a value of it is taken. */
struct key {
	const char *names;
	void (*take)(struct taking *t, const struct key *k, const char *name,
		     const struct toml_value *v);
	enum part part;	    /* of take_text() and take_program() */
	const char *target; /* name of a header, or key of `auth`; NULL: that
			       of the member, or a table of such keys */
	const char *before, *after; /* text around each value */
};

static void take_all(struct taking *t, const struct toml_value *table,
		     bool is_nested);

static const char *around(struct taking *t, const struct key *k,
			  const char *text)
{
	return arena_printf(t->arena, "%s%s%s", k->before, text, k->after);
}

static void take_text(struct taking *t, const struct key *k, const char *name,
		      const struct toml_value *v)
{
	const char *text = words_text(v, t->arena), **field = &t->text[k->part];

	if (text && !*field)
		*field = text;
	else
		LOSE(t, "%s %s", name,
		     text ? "says a second time what another key says"
			  : "is no text");
}

static void take_args(struct taking *t, const struct key *k, const char *name,
		      const struct toml_value *v)
{
	const struct strlist all = words_list(v, t->arena);

	(void)k;
	if (v->type != TOML_ARRAY || all.n != v->array.n)
		LOSE(t, "%s is not a list of texts alone", name);
	for (size_t i = 0; i < all.n; i++)
		list_add(&t->args, t->arena, all.item[i]);
}

/* args_json of a database: a list in a text. */
static void take_args_json(struct taking *t, const struct key *k,
			   const char *name, const struct toml_value *v)
{
	struct toml_value list;

	if (v->type == TOML_STRING &&
	    tree_read(v->string, TREE_JSON, t->arena, &list, ERR_IGNORED) == 0)
		take_args(t, k, name, &list);
	else
		LOSE(t, "%s is not JSON", name);
}

/* Is it a program with its arguments, and no path with a blank in it? A line of
   a shell is not split. */
static bool is_line(struct taking *t, const char *text)
{
	const size_t first = strcspn(text, " \t");

	if (!text[first] || strpbrk(text, "\\|<>;&"))
		return false;
	return !memchr(text, '/', first) ||
	       (t->src->is_file && !t->src->is_file(t->src->arg, text));
}

/* The program, or program and arguments in one, or { path, args, env }. */
static void take_program(struct taking *t, const struct key *k,
			 const char *name, const struct toml_value *v)
{
	struct strlist words = words_list(v, t->arena);

	if (v->type == TOML_TABLE) {
		take_all(t, v, true);
		return;
	}
	if (!words.n) {
		LOSE(t, "%s is no text", name);
		return;
	}
	if (v->type == TOML_ARRAY && words.n != v->array.n)
		LOSE(t, "%s is not a list of texts alone", name);
	if (v->type == TOML_STRING && is_line(t, words.item[0]))
		(void)!secret_split_words(str_of(words.item[0]), t->arena,
					  &words, ERR_IGNORED);
	t->text[k->part] = words.item[0];
	for (size_t i = 1; i < words.n; i++)
		list_add(&t->args, t->arena, words.item[i]);
}

/* Texts by names: of a table, of a list of names, or of one header. */
static void take_pairs(struct taking *t, const struct key *k, const char *name,
		       const struct toml_value *v, struct pairs *to)
{
	const bool is_table = v->type == TOML_TABLE,
		   is_list = v->type == TOML_ARRAY && *k->before;
	const size_t n = is_table ? v->table.n : is_list ? v->array.n : 1;

	for (size_t i = 0; i < n; i++) {
		const struct toml_value *item =
			is_table  ? &v->table.member[i].value
			: is_list ? &v->array.item[i]
				  : v;
		const struct toml_value *of = toml_get(item, "name");
		const char *text = words_text(of ? of : item, t->arena);
		const char *to_name = k->target	 ? k->target
				      : is_table ? v->table.member[i].key
						 : text;

		if (!text || (!is_table && !is_list && !k->target)) {
			LOSE(t, "%s%s%s is no text", name, is_table ? "." : "",
			     is_table ? to_name : "");
			continue;
		}
		pairs_set(to, t->arena, to_name, around(t, k, text), true);
		if (is_list)
			NOTE(t,
			     "%s is taken from the variable of that name; the "
			     "client may have kept it elsewhere",
			     text);
	}
}

static void take_env(struct taking *t, const struct key *k, const char *name,
		     const struct toml_value *v)
{
	const size_t lost = t->s->lost.n;

	take_pairs(t, k, name, v, &t->env);
	if (v->type != TOML_TABLE)
		t->s->has_unread |= t->s->lost.n > lost;
	/* null sets nothing */
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		t->s->has_unread |=
			v->table.member[i].value.type != TOML_NULL &&
			!words_text(&v->table.member[i].value, t->arena);
}

static void take_headers(struct taking *t, const struct key *k,
			 const char *name, const struct toml_value *v)
{
	take_pairs(t, k, name, v, &t->headers);
}

static const char *in_folder(struct taking *t, const char *path)
{
	if (strchr("/$", *path))
		return path;
	if (strncmp(path, "./", 2) == 0)
		path += 2;
	return strcmp(path, ".") == 0
		       ? t->src->folder
		       : arena_printf(t->arena, "%s/%s", t->src->folder, path);
}

/* Lines NAME=VALUE of a file; those of `env` count more. */
static void take_env_file(struct taking *t, const struct key *k,
			  const char *name, const struct toml_value *v)
{
	const char *raw = words_text(v, t->arena);
	const struct word w = words_read(t->src, raw ? raw : "");
	struct str text = {NULL, 0};
	struct pairs file = {NULL, 0};
	struct env_line line;

	(void)k;
	t->s->env_file = raw;
	if (!w.why && *w.text)
		text = t->src->read(t->src->arg, in_folder(t, w.text));
	if (!text.p) {
		LOSE(t, "%s cannot be read", name);
		t->s->has_unread = true;
	}
	env_file_begin(&text);
	for (size_t i = 1; env_file_next(&text, &line); i++) {
		const char *n =
			arena_strndup(t->arena, line.name.p, line.name.n);

		if (line.is_clear && *n)
			pairs_set(&file, t->arena, n,
				  arena_strndup(t->arena, line.value.p,
						line.value.n),
				  true);
		if (line.is_clear)
			continue;
		LOSE(t,
		     "line %zu of %s is read in different ways by clients; "
		     "write NAME=VALUE",
		     i, name);
		t->s->has_unread = true;
		if (*n)
			list_add(&t->s->variables, t->arena, n);
	}
	for (size_t i = 0; i < file.n; i++)
		pairs_set(&t->env, t->arena, file.item[i].name,
			  file.item[i].value, false);
}

static void take_timeout(struct taking *t, const struct key *k,
			 const char *name, const struct toml_value *v)
{
	const double unit = *k->after || t->src->in_seconds ? 1000 : 1;
	const double ms = unit * (v->type == TOML_INTEGER ? (double)v->integer
				  : v->type == TOML_FLOAT ? v->real
							  : 0);

	if (unit <= 1 && ms >= 1 && ms < 1000)
		NOTE(t,
		     "%s is taken as milliseconds; where the client counts "
		     "seconds, write timeout = \"%.0fs\"",
		     name, ms);
	if (ms >= 1 && ms <= 86400000)
		t->timeout =
			unit > 1 ? arena_printf(t->arena, "%.0fs", ms / unit)
				 : arena_printf(t->arena, "%.0fms", ms);
	else
		LOSE(t, "%s is no time of up to a day", name);
}

/* A boolean; of a database, which has none, 0 or 1. */
static void take_switch(struct taking *t, const struct key *k, const char *name,
			const struct toml_value *v)
{
	const char *text = words_text(v, t->arena);
	const bool is_on = text && str_has_word("true 1", str_of(text));

	(void)k;
	if (!is_on && !(text && str_has_word("false 0", str_of(text))))
		LOSE(t, "%s is neither true nor false", name);
	else
		t->is_off = is_on == (strcmp(name, "disabled") == 0);
}

static void take_login(struct taking *t, const struct key *k, const char *name,
		       const struct toml_value *v)
{
	const struct strlist words = words_list(v, t->arena);
	const char *text = list_join(&words, " ", t->arena);
	const struct word w = words_read(t->src, around(t, k, text));
	const bool is_secret =
		k->target && strcmp(k->target, "client_secret") == 0;

	if (v->type == TOML_TABLE)
		take_all(t, v, true);
	else if (!k->target && strcmp(text, "oauth") != 0)
		LOSE(t, "%s of the login has no counterpart", name);
	else if (k->target && (w.why || (w.variable && !is_secret)))
		LOSE(t, "%s has a variable", name);
	else if (k->target)
		put(t, "auth", k->target,
		    is_secret ? of_reference(t, w.variable ? "env" : "secret",
					     w.variable ? w.variable : w.text)
			      : of_text(w.text));
}

/*
 * A list of the only tools, or of those that are refused. Behind a name may
 * stand arguments in brackets, which no pattern tells apart.
 */
static void take_tools(struct taking *t, const struct key *k, const char *name,
		       const struct toml_value *v)
{
	const struct strlist all = words_list(v, t->arena);
	const bool is_deny = strcmp(k->target, "deny_tools") == 0;
	struct strlist *to = is_deny ? &t->deny_tools : &t->tools;

	if (v->type != TOML_ARRAY || all.n != v->array.n) {
		LOSE(t, "%s is not a list of texts alone", name);
		return;
	}
	if (!is_deny && t->has_tools) {
		LOSE(t, "%s says a second time what another key says", name);
		return;
	}
	/* goose writes an empty list where every tool is meant */
	t->has_tools |=
		!is_deny && (all.n || strcmp(name, "available_tools") != 0);
	for (size_t i = 0; i < all.n; i++) {
		struct str rest = str_of(all.item[i]);
		const struct str tool = str_trim(str_cut(&rest, '('));

		if (rest.p)
			LOSE(t,
			     "%s: the arguments of \"%s\"; the whole tool is "
			     "meant here",
			     name, all.item[i]);
		if (tool.n)
			list_add_new(to, t->arena,
				     arena_strndup(t->arena, tool.p, tool.n));
	}
}

static void put_tools(struct taking *t)
{
	if (t->tools.n)
		put_list(t, NULL, "tools", &t->tools);
	else if (t->has_tools)
		list_add_new(&t->deny_tools, t->arena, "*");
	if (t->deny_tools.n)
		put_list(t, NULL, "deny_tools", &t->deny_tools);
}

/* A word that says no more than the name or place of the server. */
static void take_nothing(struct taking *t, const struct key *k,
			 const char *name, const struct toml_value *v)
{
	const char *text = words_text(v, t->arena);

	(void)k;
	if (!text ||
	    (strcmp(text, t->s->name) != 0 && strcmp(text, "custom") != 0))
		LOSE(t, "%s = \"%s\" has no counterpart", name,
		     text ? text : "…");
}

/* KEY() of texts by name, TEXT() of a part, OF() of a target. */
#define KEY(names, take, before, after)                 \
	{                                               \
		names, take, TEXTS, NULL, before, after \
	}
#define TEXT(names, take, part)                 \
	{                                       \
		names, take, part, NULL, "", "" \
	}
#define OF(names, take, target, before, after)            \
	{                                                 \
		names, take, TEXTS, target, before, after \
	}

static const struct key keys[] = {
	TEXT("command cmd path", take_program, PROGRAM),
	KEY("args", take_args, "", ""),
	KEY("args_json", take_args_json, "", ""),
	TEXT("cwd", take_text, CWD),
	KEY("env envs", take_env, "", ""),
	KEY("env_keys env_vars", take_env, "${", "}"),
	KEY("envFile", take_env_file, "", ""),
	TEXT("url serverUrl httpUrl baseUrl uri", take_text, URL),
	TEXT("type transport transportType", take_text, TYPE),
	KEY("headers http_headers httpHeaders", take_headers, "", ""),
	KEY("env_http_headers", take_headers, "${", "}"),
	OF("bearerToken", take_headers, "Authorization", "Bearer ", ""),
	OF("bearer_token_env_var bearerTokenEnv", take_headers, "Authorization",
	   "Bearer ${", "}"),
	KEY("oauth auth", take_login, "", ""),
	OF("clientId client_id CLIENT_ID oauthClientId", take_login,
	   "client_id", "", ""),
	OF("clientSecret client_secret CLIENT_SECRET oauthClientSecret",
	   take_login, "client_secret", "", ""),
	OF("oauthClientSecretEnv", take_login, "client_secret", "${", "}"),
	OF("scopes scope oauthScope", take_login, "scope", "", ""),
	OF("redirectUri redirect_uri oauthRedirectUrl", take_login,
	   "redirect_uri", "", ""),
	KEY("timeout", take_timeout, "", ""),
	KEY("tool_timeout_sec", take_timeout, "", "s"),
	KEY("enabled disabled", take_switch, "", ""),
	OF("tools includeTools enabled_tools allowedTools allowed_tools "
	   "available_tools",
	   take_tools, "tools", "", ""),
	OF("excludeTools disabled_tools disabledTools blockedTools "
	   "blocked_tools deny_tools",
	   take_tools, "deny_tools", "", ""),
	TEXT("description note", take_text, ABOUT),
	KEY("name source", take_nothing, "", ""),
};

/* Find the row of a key; NULL: there is none. */
static const struct key *find_key(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_LEN(keys) &&
	       !str_has_word(keys[i].names, str_of(name)))
		i++;
	return i < ARRAY_LEN(keys) ? &keys[i] : NULL;
}

/* Does a value say what is so without it? */
static bool is_empty(const struct toml_value *v)
{
	return v->type == TOML_NULL ||
	       (v->type == TOML_STRING && !v->string.n) ||
	       (v->type == TOML_ARRAY && !v->array.n) ||
	       (v->type == TOML_TABLE && !v->table.n);
}

/* Some clients merge, and others do not. */
static void lose_merge(struct taking *t)
{
	LOSE(t, "<< brings keys of another place, which are not read; write "
		"them out");
	t->s->has_merge = t->s->has_unread = true;
}

static void take_all(struct taking *t, const struct toml_value *table,
		     bool is_nested)
{
	for (size_t i = 0; table->type == TOML_TABLE && i < table->table.n;
	     i++) {
		const struct toml_member *m = &table->table.member[i];
		const bool is_switch = m->value.type == TOML_BOOLEAN;
		const struct key *k = find_key(m->key);

		if (strcmp(m->key, "<<") == 0) {
			lose_merge(t);
			continue;
		}
		/* an empty list of the only tools leaves none */
		if ((is_empty(&m->value) && !(k && k->take == take_tools &&
					      m->value.type == TOML_ARRAY)) ||
		    (is_nested && is_switch))
			continue;
		if (k)
			k->take(t, k, m->key, &m->value);
		else if (!is_switch || m->value.boolean)
			LOSE(t, "the key \"%s\" has no counterpart", m->key);
	}
}

/* ---- keys of a program ---- */

/*
 * Emit a variable of the program: a reference, a credential, or a text. Within
 * a text the variables have their values of now.
 */
static void put_variable(struct taking *t, const struct pair *p)
{
	const char *what = arena_printf(t->arena, "env.%s", p->name);
	const struct word w = words_read(t->src, p->value);
	const struct str s = str_of(p->value);

	if (!*p->name || strpbrk(p->name, " \t\r\n=\x7f"))
		LOSE(t, "%s is no name of a variable", what);
	else if (str_starts(s, "${file:") && s.p[s.n - 1] == '}')
		put(t, "env", p->name,
		    of_reference(t, "file",
				 arena_strndup(t->arena, s.p + 7, s.n - 8)));
	else if (w.variable)
		put(t, "env", p->name, of_reference(t, "env", w.variable));
	else if (has_value(t, &w, what))
		put(t, "env", p->name,
		    w.has_secret || literal_looks_like(p->name, str_of(w.now))
			    ? of_reference(t, "secret", w.now)
			    : of_text(w.now));
}

/* Keep a credential that no key can refer to; returns the variable for it. */
static const char *set_aside(struct taking *t, const char *name,
			     const char *secret)
{
	put(t, "", name, of_reference(t, "secret", secret));
	return arena_printf(t->arena, "${%s}", name);
}

/* name  bytes of the "--name=" that it begins with; 0: without */
static const char *hide_argument(struct taking *t, const char *text,
				 size_t name)
{
	(void)set_aside(t, "", text + name);
	LOSE(t, "an argument is a credential, which matins hands over as a "
		"variable alone: env = { NAME = { file = … } } with the NAME "
		"that the server reads; *** stands in its place");
	return arena_printf(t->arena, "%.*s***", (int)name, text);
}

static const char *put_argument(struct taking *t, const struct launch *l,
				size_t i)
{
	const char *raw = l->args.item[i],
		   *before = i ? l->args.item[i - 1] : "",
		   *what = arena_printf(t->arena, "argument %zu", i + 1);
	const struct word w = words_read(t->src, raw);
	struct str value = str_of(raw);
	const struct str name = str_cut(&value, '=');
	/* a variable before the "=" is no name of an option */
	const bool is_option =
		*raw == '-' && value.p && str_find(name, '$') == name.n;

	/* -e NAME=VALUE of a container: a variable of the program */
	if (!w.why && value.p && launch_is_container(l) &&
	    str_has_word("-e --env", str_of(before))) {
		what = arena_strndup(t->arena, name.p, name.n);
		pairs_set(&t->env, t->arena, what, value.p, true);
		return what;
	}
	if (!has_value(t, &w, what))
		return raw;
	return w.has_secret || literal_argument(str_of(before), str_of(w.now))
		       ? hide_argument(t, w.now, is_option ? name.n + 1 : 0)
		       : w.now;
}

/* Relative words mean the folder of the project. No folder is granted here: a
   file of others names it. */
static void put_folder(struct taking *t, bool is_relative)
{
	const struct word w =
		words_read(t->src, t->text[CWD] ? t->text[CWD] : ".");
	const char *cwd = in_folder(t, w.text);

	if (!t->text[CWD] && !is_relative)
		return;
	if (w.why) {
		LOSE(t, "cwd %s", w.why);
		return;
	}
	put(t, NULL, "cwd", of_text(cwd));
}

static void put_program(struct taking *t, struct launch *l)
{
	const struct word w = words_read(t->src, l->program);
	bool is_relative = *w.text == '.';

	if (w.why) {
		LOSE(t, "the program %s", w.why);
		return;
	}
	put(t, NULL, "command", of_text(w.text));
	for (size_t i = 0; i < l->args.n; i++) {
		l->args.item[i] = put_argument(t, l, i);
		is_relative |= *l->args.item[i] == '.';
	}
	if (l->args.n)
		put_list(t, NULL, "args", &l->args);
	put_folder(t, is_relative);
	for (size_t i = 0; i < t->env.n; i++)
		put_variable(t, &t->env.item[i]);
	for (size_t i = 0; i < t->headers.n; i++)
		LOSE(t, "headers.%s is for a url; a program is sent none",
		     t->headers.item[i].name);
	t->s->is_usable = true;
	if (launch_is_container(l))
		NOTE(t, "a container runs outside of the sandbox; to allow "
			"it, write sandbox.unix = [\"/run/docker.sock\"]");
}

/* ---- keys of a URL ---- */

/* Put a variable in the place of a credential that no key can refer to. */
static const char *put_aside(struct taking *t, const char *what,
			     const char *secret)
{
	const char *name = words_name(t->s->name, what, t->arena);

	NOTE(t, "%s has a credential; set the variable %s to it", what, name);
	return set_aside(t, name, secret);
}

static void put_header(struct taking *t, const struct pair *p)
{
	const char *what = arena_printf(t->arena, "headers.%s", p->name);
	const struct word w = words_read(t->src, p->value);
	const bool has_variable = strstr(w.text, "${"),
		   is_token = strcasecmp(p->name, "Authorization") == 0 &&
			      strncasecmp(w.text, "Bearer ", 7) == 0;
	const struct word token =
		words_read(t->src, is_token ? w.text + 7 : "");
	struct str ignored;

	if (w.why || !http_is_token(str_of(p->name)) ||
	    text_has_control(str_of(w.text)))
		LOSE(t, "%s %s", what, w.why ? w.why : "is no header of HTTP");
	else if (is_token && (token.variable || !has_variable))
		put(t, NULL, "token",
		    of_reference(t, token.variable ? "env" : "secret",
				 token.variable ? token.variable : token.text));
	else if (has_variable ? !literal_find(str_of(w.text), &ignored)
			      : !literal_looks_like(p->name, str_of(w.text)))
		put(t, "headers", p->name, of_text(w.text));
	else if (has_value(t, &w, what))
		put(t, "headers", p->name, of_reference(t, "secret", w.now));
}

/* Put a variable in the place of each credential of a URL. */
static const char *hide_in_url(struct taking *t, const char *url)
{
	AUTO(buf_wipe) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_of(url), secret;

	for (unsigned i = 1; literal_find(rest, &secret); i++) {
		/* the rest of a value of a query, as of "abc%2Fdef" */
		while (secret.p[secret.n] &&
		       !strchr("&#/?@", secret.p[secret.n]))
			secret.n++;
		buf_add(&out, rest.p, (size_t)(secret.p - rest.p));
		if (secret.n)
			buf_adds(&out,
				 put_aside(t,
					   i > 1 ? arena_printf(t->arena,
								"url %u", i)
						 : "url",
					   arena_strndup(t->arena, secret.p,
							 secret.n)));
		rest = str_skip(rest, (size_t)(secret.p + secret.n - rest.p));
	}
	buf_add_str(&out, rest);
	return arena_strdup(t->arena, buf_cstr(&out));
}

#define FOR_PROGRAM "%s%s is for a program; nothing is started for a url"

static void put_url(struct taking *t)
{
	const struct word w = words_read(t->src, t->text[URL]);
	const char *url = w.text;

	if (w.why || text_has_control(str_of(url)) || strchr(url, ' ') ||
	    !launch_is_url(url)) {
		LOSE(t, "the url %s",
		     w.why ? w.why : "is none of HTTP or WebSocket");
		return;
	}
	put(t, NULL, "url", of_text(hide_in_url(t, url)));
	if (t->text[TYPE] && strcasecmp(t->text[TYPE], "sse") == 0)
		put(t, NULL, "transport", of_text("sse"));
	for (size_t i = 0; i < t->headers.n; i++)
		put_header(t, &t->headers.item[i]);
	if (t->text[CWD])
		LOSE(t, FOR_PROGRAM, "cwd", "");
	if (t->args.n)
		LOSE(t, FOR_PROGRAM, "args", "");
	for (size_t i = 0; i < t->env.n; i++)
		LOSE(t, FOR_PROGRAM, "env.", t->env.item[i].name);
	for (size_t i = 1; i < t->s->asked.n; i += 2)
		LOSE(t, "%s %s of `matins exec` is for a program",
		     t->s->asked.item[i - 1], t->s->asked.item[i]);
	t->s->is_usable = true;
}

/* ---- all of it ---- */

struct toml_member *server_member(const struct toml_value *table, bool is_args)
{
	struct toml_member *found = NULL;

	for (size_t i = 0; table->type == TOML_TABLE && i < table->table.n;
	     i++) {
		struct toml_member *m = &table->table.member[i];
		const struct key *k = find_key(m->key);
		const bool is_program = k && k->take == take_program &&
					m->value.type != TOML_NULL;

		if (is_program && m->value.type == TOML_TABLE)
			found = server_member(&m->value, is_args);
		else if (is_args ? k && k->take == take_args : is_program)
			found = m;
	}
	return found;
}

struct starts {
	size_t programs, args, texts, urls;
};

static void count_starts(const struct toml_value *table, struct starts *n)
{
	for (size_t i = 0; table->type == TOML_TABLE && i < table->table.n;
	     i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct key *k = find_key(m->key);
		struct starts in = {0};

		if (!k)
			continue;
		if (k->take == take_program && m->value.type != TOML_NULL) {
			count_starts(&m->value, &in);
			n->programs += in.programs > 1 ? in.programs : 1;
			n->args += in.args;
			n->texts += in.texts;
			n->urls += in.urls;
		}
		n->args += k->take == take_args;
		n->texts += k->take == take_args_json;
		n->urls += k->take == take_text && k->part == URL &&
			   !is_empty(&m->value);
	}
}

const char *server_conflict(const struct toml_value *table)
{
	struct starts n = {0};

	count_starts(table, &n);
	return n.programs > 1 ? "has two programs"
	       : n.args + n.texts > 1
		       ? "has two programs: its arguments stand there twice"
	       : n.programs && n.texts
		       ? "has its arguments in a text of JSON, which cannot "
			 "be edited"
	       : n.programs && n.urls ? "has a program and a url"
				      : NULL;
}

const char *server_odd_args(const struct toml_value *table)
{
	const struct toml_member *args = server_member(table, true);

	return args && args->value.type != TOML_ARRAY ? args->key : NULL;
}

bool server_starts(const char *name)
{
	const struct key *k = find_key(name);

	return k && (k->take == take_program || k->take == take_args);
}

struct strlist server_words(const struct import_source *src,
			    const struct toml_value *table)
{
	struct import_server s = {.name = ""};
	struct taking t = {.src = src, .arena = src->arena, .s = &s};
	struct strlist words = {NULL, 0};
	const struct toml_member *m = server_member(table, false);

	if (!m)
		return words;
	take_program(&t, find_key(m->key), m->key, &m->value);
	m = server_member(table, true);
	if (m)
		take_args(&t, NULL, m->key, &m->value);
	if (t.text[PROGRAM])
		list_add(&words, src->arena, t.text[PROGRAM]);
	for (size_t i = 0; i < t.args.n; i++)
		list_add(&words, src->arena, t.args.item[i]);
	return words;
}

struct toml_value *server_secret(const struct import_server *s, size_t nth,
				 const char **ret_key)
{
	for (size_t i = 0; i < s->table.table.n; i++) {
		struct toml_member *m = &s->table.table.member[i];
		const bool is_one = toml_get(&m->value, "secret");
		const size_t n = is_one ? 1
				 : m->value.type == TOML_TABLE
					 ? m->value.table.n
					 : 0;

		for (size_t k = 0; k < n; k++) {
			if (!is_one)
				m = &s->table.table.member[i]
					     .value.table.member[k];
			if (!toml_get(&m->value, "secret") || nth--)
				continue;
			*ret_key = m->key;
			return &m->value;
		}
	}
	return NULL;
}

/* Make a name that [servers.NAME] takes. */
static const char *fitting_name(struct taking *t, const char *name)
{
	const struct str s = str_first(str_of(name), 100);
	AUTO(buf_release) struct buf seen = BUF_INIT(BUF_UNBOUNDED);
	char *fit = arena_strndup(t->arena, s.p, s.n);

	for (char *p = fit; *p; p++)
		if ((unsigned char)*p < 0x20 || strchr("\x7f/,", *p) ||
		    (p == fit && strchr("-.", *p)))
			*p = '_';
	/* bidirectional controls, and bytes that are no UTF-8 */
	log_visible(&seen, str_of(fit), false);
	if (!*fit || strcmp(fit, buf_cstr(&seen)) != 0)
		fit = arena_strdup(
			t->arena,
			words_name("server", buf_cstr(&seen), t->arena));
	if (strcmp(fit, name) != 0)
		NOTE(t, "the name had characters that a server's name cannot "
			"have");
	return fit;
}

/* Let matins speak to the URL of mcp-remote itself. */
static void unbridge(struct taking *t, struct launch *l)
{
	struct pairs headers = {NULL, 0};
	struct strlist left = {NULL, 0};
	const char *url = launch_bridge(l, &t->env, t->arena, &headers, &left);

	if (!url)
		return;
	for (size_t i = 0; i < headers.n; i++)
		pairs_set(&t->headers, t->arena, headers.item[i].name,
			  headers.item[i].value, true);
	for (size_t i = 0; i < left.n; i++)
		LOSE(t, "%s of mcp-remote has no counterpart", left.item[i]);
	t->env.n = t->args.n = 0;
	t->text[URL] = url;
	l->program = NULL;
	NOTE(t, "mcp-remote is not needed; matins speaks to the URL itself");
}

/* Options of a policy, whose values are no credentials. */
static const char policy_options[] =
	"--read --write --preset --net --unix --exec --require --syscalls "
	"--profile --memory --processes --files --cpu --file-size --tmp "
	"--isolate --user --policy";

/* Take an option of `matins exec`. No policy of a file of others counts: paths
   are asked for, and the key of another one is said. */
static void take_option(struct taking *t, const char *option, const char *value)
{
	const bool is_path = str_has_word("--read --write", str_of(option));
	char *key = arena_strdup(t->arena, option);
	struct str rest = str_of(value);
	const struct str name = str_cut(&rest, '=');

	for (char *p = key; *p; p++)
		if (*p == '-')
			*p = '_';
	if (is_path && *value && !strchr("$~", *value)) {
		list_add(&t->s->asked, t->arena, option);
		list_add(&t->s->asked, t->arena, in_folder(t, value));
	} else if (strcmp(option, "--env") == 0 && rest.p) {
		pairs_set(&t->env, t->arena,
			  arena_strndup(t->arena, name.p, name.n), rest.p,
			  true);
	} else if (strcmp(option, "--env") == 0) {
		size_t i = 0;

		while (i < t->env.n && strcmp(t->env.item[i].name, value) != 0)
			i++;
		if (i == t->env.n)
			LOSE(t,
			     "--env %s of `matins exec` hands over a variable "
			     "of the client: env.%s = { env = \"%s\" } where "
			     "it is meant",
			     value, value, value);
	} else if (str_has_word(policy_options, str_of(option))) {
		LOSE(t,
		     "%s %s of `matins exec`: a file of others grants "
		     "nothing; where it is meant, write sandbox.%s",
		     option, value, key + 2);
	} else {
		LOSE(t, "%s of `matins exec` has no counterpart",
		     strncmp(option, "--", 2) == 0 ? option
						   : "a word before \"--\"");
	}
}

/* Leave `matins exec` out: the program behind it is confined by its table. */
static void unconfine(struct taking *t, struct launch *l)
{
	const struct strlist all = l->args;
	size_t i = 1, end = 1;

	while (end < all.n && strcmp(all.item[end], "--") != 0)
		end++;
	if (t->src->keeps_exec || !launch_is_wrapped(l) || end + 1 >= all.n)
		return;
	while (i < end) {
		const char *option = all.item[i++], *value = "";
		const char *equals = strchr(option, '=');

		if (equals)
			value = equals + 1;
		else if (i < end && all.item[i][0] != '-')
			value = all.item[i++];
		take_option(t,
			    equals ? arena_strndup(t->arena, option,
						   (size_t)(equals - option))
				   : option,
			    value);
	}
	l->program = all.item[end + 1];
	l->args = (struct strlist){all.item + end + 2, all.n - end - 2};
	NOTE(t, "`matins exec` is left out: its program is confined by the "
		"table");
}

void server_read(const struct import_source *src, const char *name,
		 const struct toml_value *table, struct import_server *ret)
{
	struct taking t = {.src = src, .arena = src->arena, .s = ret};
	const char *type;
	struct launch l;

	*ret = (struct import_server){.from = src->path,
				      .folder = src->folder,
				      .table = {.type = TOML_TABLE}};
	ret->name = fitting_name(&t, name);
	ret->starts_in = src->is_project ? src->folder : NULL;
	if (tree_count(table) > IMPORT_VALUES_MAX) {
		LOSE(&t, "the server has more than %d values",
		     IMPORT_VALUES_MAX);
		return;
	}
	if (strcmp(name, "<<") == 0)
		lose_merge(&t);
	else
		take_all(&t, table, false);
	for (size_t i = 0; i < t.env.n; i++)
		list_add(&ret->variables, t.arena, t.env.item[i].name);
	type = t.text[TYPE] ? t.text[TYPE] : "";
	l = (struct launch){t.text[PROGRAM], t.args};
	launch_unwrap(&l, t.arena, &ret->notes);
	unconfine(&t, &l);
	if (l.program && !t.text[URL])
		unbridge(&t, &l);
	if (t.text[URL] && l.program) {
		const bool is_program = strcmp(type, "stdio") == 0;

		LOSE(&t,
		     "the %s stands beside the other, and a server has one of "
		     "them",
		     is_program ? "url" : "program");
		*(is_program ? &t.text[URL] : &l.program) = NULL;
	}
	if (t.text[URL])
		put_url(&t);
	else if (l.program && *l.program)
		put_program(&t, &l);
	else
		LOSE(&t, "the server has neither a program nor a url%s%s%s",
		     *type ? " (type \"" : "", type, *type ? "\")" : "");
	if (t.timeout)
		put(&t, NULL, "timeout", of_text(t.timeout));
	put_tools(&t);
	if (t.is_off)
		put(&t, NULL, "enabled",
		    (struct toml_value){.type = TOML_BOOLEAN});
	ret->about = t.text[ABOUT];
}
