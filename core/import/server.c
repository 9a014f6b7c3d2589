#include "core/import/server.h"

#include <ctype.h>
#include <strings.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/import/launch.h"
#include "core/import/tree.h"
#include "core/import/words.h"
#include "core/secret/literal.h"
#include "core/secret/secret.h"

void server_add(struct import_server *s, struct arena *arena,
		struct import_row row)
{
	s->row = arena_grow(arena, s->row, s->n, sizeof(*s->row));
	s->row[s->n++] = row;
}

const struct import_row *server_row(const struct import_server *s,
				    const char *table, const char *key)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->row[i].table, table) == 0 &&
		    strcmp(s->row[i].key, key) == 0)
			return &s->row[i];
	return NULL;
}

/* ---- a definition while it is read ---- */

/* Variables and headers as they are written, in order. */
struct pairs {
	struct strlist name, value;
};

struct taking {
	const struct import_source *src;
	struct arena *arena;
	struct import_server *s;
	struct launch launch; /* as written, then translated */
	const char *cwd, *url, *type, *timeout;
	struct pairs env, headers;
};

static void lose(struct taking *t, const char *what, const char *why)
{
	list_add(&t->s->lost, t->arena,
		 arena_printf(t->arena, "%s %s", what, why));
}

static void note(struct taking *t, const char *what, const char *why)
{
	list_add_new(&t->s->notes, t->arena,
		     arena_printf(t->arena, "%s %s", what, why));
}

static void add(struct taking *t, const char *table, const char *key,
		enum import_kind kind, const char *text)
{
	server_add(t->s, t->arena,
		   (struct import_row){.table = table,
				       .key = key,
				       .kind = kind,
				       .text = text});
}

/* A later one of a name replaces the earlier one. */
static void set_pair(struct taking *t, struct pairs *p, const char *name,
		     const char *value)
{
	for (size_t i = 0; i < p->name.n; i++)
		if (strcmp(p->name.item[i], name) == 0) {
			p->value.item[i] = value;
			return;
		}
	list_add(&p->name, t->arena, name);
	list_add(&p->value, t->arena, value);
}

static void take_pairs(struct taking *t, struct pairs *p, const char *key,
		       const struct toml_value *v)
{
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++) {
		const struct toml_member *m = &v->table.member[i];
		const char *text = words_text(&m->value, t->arena);

		if (text)
			set_pair(t, p, m->key, text);
		else
			lose(t, arena_printf(t->arena, "%s.%s", key, m->key),
			     "is no text");
	}
	if (v->type != TOML_TABLE)
		lose(t, key, "is no table");
}

/* ---- keys, by their many names ---- */

static void take_text(struct taking *t, const char **field, const char *key,
		      const struct toml_value *v)
{
	const char *text = words_text(v, t->arena);

	if (text && !*field)
		*field = text;
	else
		lose(t, key,
		     *field ? "says a second time what another key says"
			    : "is no text");
}

static void take_args(struct taking *t, const char *key,
		      const struct toml_value *v)
{
	const struct strlist all = words_list(v, t->arena);

	if (v->type != TOML_ARRAY || all.n != v->array.n)
		lose(t, key, "is not a list of texts alone");
	for (size_t i = 0; i < all.n; i++)
		list_add(&t->launch.args, t->arena, all.item[i]);
}

/* The program, or program and arguments in one, or { path, args, env }. */
static void take_command(struct taking *t, const char *key,
			 const struct toml_value *v)
{
	struct strlist words = words_list(v, t->arena);

	if (v->type == TOML_TABLE) {
		const struct toml_value *path = toml_get(v, "path");
		const struct toml_value *args = toml_get(v, "args");
		const struct toml_value *env = toml_get(v, "env");

		if (path)
			take_text(t, &t->launch.program, key, path);
		if (args)
			take_args(t, key, args);
		if (env)
			take_pairs(t, &t->env, "env", env);
		return;
	}
	if (!words.n) {
		lose(t, key, "is no text");
		return;
	}
	if (v->type == TOML_STRING && !strchr(words.item[0], '/') &&
	    !strchr(words.item[0], '\\'))
		(void)!secret_split_words(str_of(words.item[0]), t->arena,
					  &words, ERR_IGNORED);
	t->launch.program = words.item[0];
	for (size_t i = 1; i < words.n; i++)
		list_add(&t->launch.args, t->arena, words.item[i]);
}

/* args_json of a database: a list in a text. */
static void take_args_json(struct taking *t, const char *key,
			   const struct toml_value *v)
{
	struct toml_value list;

	if (v->type != TOML_STRING ||
	    tree_read(v->string, TREE_JSON, t->arena, &list, ERR_IGNORED) < 0)
		lose(t, key, "is not JSON");
	else
		take_args(t, key, &list);
}

/* The path of a relative one. */
static const char *in_folder(struct taking *t, const char *path)
{
	if (strncmp(path, "./", 2) == 0)
		path += 2;
	return strcmp(path, ".") == 0
		       ? t->src->folder
		       : arena_printf(t->arena, "%s/%s", t->src->folder, path);
}

/* Lines NAME=VALUE of a file; those of `env` count more. */
static void take_env_file(struct taking *t, const char *key,
			  const struct toml_value *v)
{
	const char *raw = words_text(v, t->arena), *why = NULL;
	const char *path = raw ? words_translate(t->src, raw, &why) : NULL;
	const struct pairs own = t->env;
	struct str text = {NULL, 0};

	if (path && !why)
		text = t->src->read(t->src->arg,
				    *path == '/' ? path : in_folder(t, path));
	if (!text.p) {
		lose(t, key, "cannot be read");
		return;
	}
	t->env = (struct pairs){{NULL, 0}, {NULL, 0}};
	while (text.n) {
		struct str line = str_trim(str_cut(&text, '\n')), value = line;
		struct str name = str_trim(str_cut(&value, '='));

		value = str_trim(value);
		if (!line.n || *line.p == '#' || !value.p)
			continue;
		if (str_starts(name, "export "))
			name = str_trim(str_skip(name, 7));
		if (value.n > 1 && strchr("\"'", *value.p) &&
		    value.p[value.n - 1] == *value.p)
			value = (struct str){value.p + 1, value.n - 2};
		set_pair(t, &t->env, arena_strndup(t->arena, name.p, name.n),
			 arena_strndup(t->arena, value.p, value.n));
	}
	for (size_t i = 0; i < own.name.n; i++)
		set_pair(t, &t->env, own.name.item[i], own.value.item[i]);
}

/* Names of variables that the client fetches: "NAME", { name = "NAME" }. */
static void take_env_names(struct taking *t, const char *key,
			   const struct toml_value *v)
{
	for (size_t i = 0; v->type == TOML_ARRAY && i < v->array.n; i++) {
		const struct toml_value *item = &v->array.item[i];
		const struct toml_value *of = toml_get(item, "name");
		const char *name = words_text(of ? of : item, t->arena);

		if (!name) {
			lose(t, key, "names no variable");
			continue;
		}
		set_pair(t, &t->env, name,
			 arena_printf(t->arena, "${%s}", name));
		note(t, name,
		     "is taken from the variable of that name; the "
		     "client may have kept it elsewhere");
	}
}

static void take_header_names(struct taking *t, const char *key,
			      const struct toml_value *v)
{
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++) {
		const struct toml_member *m = &v->table.member[i];
		const char *name = words_text(&m->value, t->arena);

		if (name)
			set_pair(t, &t->headers, m->key,
				 arena_printf(t->arena, "${%s}", name));
		else
			lose(t, key, "names no variable");
	}
}

static void take_bearer(struct taking *t, const char *key,
			const struct toml_value *v)
{
	const char *text = words_text(v, t->arena);
	const bool is_name = str_ends(str_of(key), "_env_var") ||
			     str_ends(str_of(key), "Env");

	if (text)
		set_pair(t, &t->headers, "Authorization",
			 arena_printf(t->arena,
				      is_name ? "Bearer ${%s}" : "Bearer %s",
				      text));
	else
		lose(t, key, "is no text");
}

static void take_timeout(struct taking *t, const char *key,
			 const struct toml_value *v)
{
	const bool in_seconds =
		t->src->in_seconds || str_ends(str_of(key), "_sec");
	double ms = v->type == TOML_INTEGER ? (double)v->integer
		    : v->type == TOML_FLOAT ? v->real
					    : 0;

	ms *= in_seconds ? 1000 : 1;
	if (ms < 1 || ms > 86400000) {
		lose(t, key, "is no time of up to a day");
		return;
	}
	t->timeout = in_seconds ? arena_printf(t->arena, "%.0fs", ms / 1000)
				: arena_printf(t->arena, "%.0fms", ms);
}

static void take_switch(struct taking *t, const char *key,
			const struct toml_value *v)
{
	const bool is_off = strcmp(key, "disabled") == 0;

	if (v->type != TOML_BOOLEAN)
		lose(t, key, "is neither true nor false");
	else if (v->boolean == is_off)
		note(t, "the server",
		     "is switched off in the client; here a "
		     "server starts only when a step or "
		     "command names it");
}

/* A login: { clientId, … } or single keys. */
static void take_login(struct taking *t, const char *key,
		       const struct toml_value *v)
{
	static const struct {
		const char *names, *key;
		enum import_kind kind;
	} rows[] = {
		{"clientId client_id CLIENT_ID oauthClientId", "client_id",
		 IMPORT_TEXT},
		{"clientSecret client_secret CLIENT_SECRET oauthClientSecret",
		 "client_secret", IMPORT_SECRET},
		{"oauthClientSecretEnv", "client_secret", IMPORT_VARIABLE},
		{"scopes scope oauthScope", "scope", IMPORT_TEXT},
		{"redirectUri redirect_uri oauthRedirectUrl", "redirect_uri",
		 IMPORT_TEXT},
	};
	const struct strlist words = words_list(v, t->arena);
	const char *text = list_join(&words, " ", t->arena), *name, *why;

	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		take_login(t, v->table.member[i].key,
			   &v->table.member[i].value);
	if (v->type == TOML_TABLE || v->type == TOML_BOOLEAN ||
	    str_is(str_of(text), "oauth"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!str_has_word(rows[i].names, str_of(key)))
			continue;
		text = words_translate(t->src, text, &why);
		name = words_variable(text, t->arena);
		if (why || (name && rows[i].kind == IMPORT_TEXT))
			lose(t, key, "has a variable");
		else
			add(t, "auth", rows[i].key,
			    name ? IMPORT_VARIABLE : rows[i].kind,
			    name ? name : text);
		return;
	}
	lose(t, key, "of the login has no counterpart");
}

static void take_program(struct taking *t, const char *key,
			 const struct toml_value *v)
{
	if (strcmp(key, "cwd") == 0)
		take_text(t, &t->cwd, key, v);
	else if (str_has_word("type transport transportType", str_of(key)))
		take_text(t, &t->type, key, v);
	else if (str_has_word("description note", str_of(key)))
		take_text(t, &t->s->about, key, v);
	else
		take_text(t, &t->url, key, v);
}

static void take_env(struct taking *t, const char *key,
		     const struct toml_value *v)
{
	take_pairs(t, strncmp(key, "env", 3) == 0 ? &t->env : &t->headers, key,
		   v);
}

/* Are these words of a client that say no more than its file does? */
static void take_nothing(struct taking *t, const char *key,
			 const struct toml_value *v)
{
	const char *text = words_text(v, t->arena);

	if (!text ||
	    (strcmp(text, t->s->name) != 0 && !str_is(str_of(text), "custom")))
		lose(t,
		     arena_printf(t->arena, "%s = \"%s\"", key,
				  text ? text : "…"),
		     "has no counterpart");
}

static const struct {
	const char *names;
	void (*take)(struct taking *t, const char *key,
		     const struct toml_value *v);
} keys[] = {
	{"command cmd", take_command},
	{"args", take_args},
	{"args_json", take_args_json},
	{"env envs headers http_headers httpHeaders", take_env},
	{"envFile", take_env_file},
	{"env_keys env_vars", take_env_names},
	{"env_http_headers", take_header_names},
	{"bearer_token_env_var bearerTokenEnv bearerToken", take_bearer},
	{"timeout tool_timeout_sec", take_timeout},
	{"enabled disabled", take_switch},
	{"oauth auth oauthClientId oauthClientSecret oauthClientSecretEnv "
	 "oauthScope oauthRedirectUrl scopes",
	 take_login},
	{"cwd type transport transportType description note url serverUrl "
	 "httpUrl baseUrl uri",
	 take_program},
	{"name source", take_nothing},
};

/* false, "", [] and {} say what is so without them. */
static bool is_empty(const struct toml_value *v)
{
	return (v->type == TOML_STRING && !v->string.n) ||
	       (v->type == TOML_ARRAY && !v->array.n) ||
	       (v->type == TOML_TABLE && !v->table.n);
}

static void take_key(struct taking *t, const char *key,
		     const struct toml_value *v)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (str_has_word(keys[i].names, str_of(key))) {
			keys[i].take(t, key, v);
			return;
		}
	if (v->type != TOML_BOOLEAN || v->boolean)
		lose(t, arena_printf(t->arena, "the key \"%s\"", key),
		     "has no counterpart");
}

/* ---- rows of a program ---- */

/*
 * Emit a variable of the program: a reference, a credential, or a text. Within
 * a text the variables have their values of now.
 */
static void put_variable(struct taking *t, const char *name, const char *raw)
{
	const char *what = arena_printf(t->arena, "env.%s", name), *why;
	const char *text = words_translate(t->src, raw, &why), *variable;
	const struct str s = str_of(raw);
	struct words_expanded e;

	if (str_starts(s, "${file:") && s.p[s.n - 1] == '}') {
		add(t, "env", name, IMPORT_FILE,
		    arena_strndup(t->arena, raw + 7, s.n - 8));
		return;
	}
	if (why || !*name || strpbrk(name, " \t\r\n=\x7f")) {
		lose(t, what, why ? why : "is no name of a variable");
		return;
	}
	variable = words_variable(text, t->arena);
	if (variable) {
		add(t, "env", name, IMPORT_VARIABLE, variable);
		return;
	}
	e = words_expand(t->src, text);
	if (!e.text) {
		lose(t, what,
		     arena_printf(t->arena,
				  "needs the variable %s, which is not set; "
				  "set it and import again",
				  e.missing));
		return;
	}
	if (e.has_any)
		note(t, what, "has the value that its variables have now");
	add(t, "env", name,
	    e.has_secret || literal_looks_like(name, str_of(e.text))
		    ? IMPORT_SECRET
		    : IMPORT_TEXT,
	    e.text);
}

/* Hide a credential among the arguments: no argument can be a reference. */
static const char *hide_argument(struct taking *t, const char *text)
{
	const char *equals = text[0] == '-' ? strchr(text, '=') : NULL;

	add(t, "", "", IMPORT_ASIDE, equals ? equals + 1 : text);
	lose(t, "an argument",
	     "is a credential, which matins hands over as a variable alone: "
	     "env = { NAME = { file = … } } with the NAME that the server "
	     "reads; *** stands in its place");
	return equals ? arena_printf(t->arena, "%.*s***",
				     (int)(equals + 1 - text), text)
		      : "***";
}

/* -e NAME=VALUE of a container: the value becomes a variable of the program. */
static const char *hand_over(struct taking *t, const char *text)
{
	const char *equals = strchr(text, '=');
	const char *name =
		arena_strndup(t->arena, text, (size_t)(equals - text));

	set_pair(t, &t->env, name, equals + 1);
	return name;
}

static void translate_args(struct taking *t)
{
	struct strlist *args = &t->launch.args;

	for (size_t i = 0; i < args->n; i++) {
		const char *before = i ? args->item[i - 1] : "", *why;
		const char *text = words_translate(t->src, args->item[i], &why);
		const struct words_expanded e = words_expand(t->src, text);
		const bool is_given = (strcmp(before, "-e") == 0 ||
				       strcmp(before, "--env") == 0) &&
				      launch_is_container(&t->launch) &&
				      strchr(text, '=');

		if (why || (!is_given && !e.text)) {
			lose(t, arena_printf(t->arena, "argument %zu", i + 1),
			     why ? why
				 : arena_printf(t->arena,
						"needs the variable %s, which "
						"is not set; set it and import "
						"again",
						e.missing));
			continue;
		}
		if (is_given) {
			args->item[i] = hand_over(t, text);
			continue;
		}
		if (e.has_any)
			note(t, arena_printf(t->arena, "argument %zu", i + 1),
			     "has the value that its variables have now");
		args->item[i] = e.has_secret || literal_argument(str_of(before),
								 str_of(e.text))
					? hide_argument(t, e.text)
					: e.text;
	}
}

/* A program starts in a folder that it may read. */
static void put_folder(struct taking *t)
{
	struct strlist read = {NULL, 0};

	add(t, "", "cwd", IMPORT_TEXT, t->cwd);
	list_add(&read, t->arena, t->cwd);
	if (strcmp(t->cwd, t->src->home) != 0)
		server_add(t->s, t->arena,
			   (struct import_row){.table = "sandbox",
					       .key = "read",
					       .kind = IMPORT_LIST,
					       .list = read});
}

static void put_program(struct taking *t)
{
	const char *why,
		*program = words_translate(t->src, t->launch.program, &why);
	bool is_relative = str_starts(str_of(program), ".");

	if (why) {
		lose(t, "the program", why);
		return;
	}
	translate_args(t);
	add(t, "", "command", IMPORT_TEXT, program);
	for (size_t i = 0; i < t->launch.args.n; i++)
		is_relative |= str_starts(str_of(t->launch.args.item[i]), ".");
	if (t->launch.args.n)
		server_add(t->s, t->arena,
			   (struct import_row){.table = "",
					       .key = "args",
					       .kind = IMPORT_LIST,
					       .list = t->launch.args});
	if (t->cwd)
		t->cwd = words_translate(t->src, t->cwd, &why);
	if (why)
		lose(t, "cwd", why);
	else if (t->cwd && !strchr("/$", *t->cwd))
		t->cwd = in_folder(t, t->cwd);
	else if (!t->cwd && is_relative)
		t->cwd = t->src->folder;
	if (t->cwd && !why)
		put_folder(t);
	for (size_t i = 0; i < t->env.name.n; i++)
		put_variable(t, t->env.name.item[i], t->env.value.item[i]);
	t->s->is_usable = true;
	if (launch_is_container(&t->launch))
		note(t, "a container",
		     "runs outside of the sandbox; to allow "
		     "it, write sandbox.unix = "
		     "[\"/run/docker.sock\"]");
}

/* ---- rows of a URL ---- */

/* Put a variable in the place of a credential that no key can refer to. */
static const char *set_aside(struct taking *t, const char *what,
			     const char *secret)
{
	const char *name = words_name(t->s->name, what, t->arena);

	add(t, "", name, IMPORT_ASIDE, secret);
	note(t, what,
	     arena_printf(t->arena,
			  "has a credential; set the variable %s to it", name));
	return arena_printf(t->arena, "${%s}", name);
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/* token = …: true when the header is a bearer token that a key can have. */
static bool put_token(struct taking *t, const char *name, const char *text)
{
	const char *token = text + 7, *variable;

	if (strcasecmp(name, "Authorization") != 0 ||
	    strncasecmp(text, "Bearer ", 7) != 0 ||
	    server_row(t->s, "", "token") || server_row(t->s, "", "api_key"))
		return false;
	variable = words_variable(token, t->arena);
	if (!variable && strstr(token, "${"))
		return false;
	add(t, "", "token", variable ? IMPORT_VARIABLE : IMPORT_SECRET,
	    variable ? variable : token);
	return true;
}

static void put_header(struct taking *t, const char *name, const char *raw)
{
	const char *what = arena_printf(t->arena, "headers.%s", name), *why;
	const char *text = words_translate(t->src, raw, &why);
	const bool has_variable = strstr(text, "${");
	struct str ignored;

	if (why || !http_is_token(str_of(name)) || has_control(text)) {
		lose(t, what, why ? why : "is no header of HTTP");
		return;
	}
	if (put_token(t, name, text))
		return;
	if (has_variable ? !literal_find(str_of(text), &ignored)
			 : !literal_looks_like(name, str_of(text))) {
		add(t, "headers", name, IMPORT_TEXT, text);
	} else if (!has_variable && !server_row(t->s, "", "token") &&
		   !server_row(t->s, "", "api_key")) {
		add(t, "", "api_key", IMPORT_SECRET, text);
		add(t, "", "api_key_header", IMPORT_TEXT, name);
	} else {
		add(t, "headers", name, IMPORT_TEXT, set_aside(t, name, text));
	}
}

static void put_url(struct taking *t)
{
	const char *why, *url = words_translate(t->src, t->url, &why);
	struct str secret;

	if (why || has_control(url) || strchr(url, ' ') ||
	    !launch_is_url(url)) {
		lose(t, "the url", why ? why : "is none of HTTP or WebSocket");
		return;
	}
	if (literal_find(str_of(url), &secret) && secret.n)
		url = arena_printf(
			t->arena, "%.*s%s%s", (int)(secret.p - url), url,
			set_aside(t, "url",
				  arena_strndup(t->arena, secret.p, secret.n)),
			secret.p + secret.n);
	add(t, "", "url", IMPORT_TEXT, url);
	if (t->type && strcasecmp(t->type, "sse") == 0)
		add(t, "", "transport", IMPORT_TEXT, "sse");
	for (size_t i = 0; i < t->headers.name.n; i++)
		put_header(t, t->headers.name.item[i],
			   t->headers.value.item[i]);
	for (size_t i = 0; i < t->env.name.n; i++)
		lose(t, arena_printf(t->arena, "env.%s", t->env.name.item[i]),
		     "is for a program; nothing is started for a url");
	t->s->is_usable = true;
}

/* ---- all of it ---- */

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
		note(t, "the name",
		     "had characters that a server's name "
		     "cannot have");
	return fit;
}

static void put_rows(struct taking *t)
{
	const char *url, *type = t->type ? t->type : "";

	launch_unwrap(&t->launch, t->arena, &t->s->notes);
	url = t->launch.program && !t->url ? launch_bridge(&t->launch, t->arena)
					   : NULL;
	for (size_t i = 0; url && i + 1 < t->launch.headers.n; i += 2)
		set_pair(t, &t->headers, t->launch.headers.item[i],
			 launch_fill(t->launch.headers.item[i + 1],
				     &t->env.name, &t->env.value, t->arena));
	for (size_t i = 0; url && i < t->launch.left.n; i++)
		lose(t, t->launch.left.item[i],
		     "of mcp-remote has no counterpart");
	if (url) {
		t->env = (struct pairs){{NULL, 0}, {NULL, 0}};
		t->url = url;
		t->launch.program = NULL;
		note(t, "mcp-remote",
		     "is not needed; matins speaks to the URL "
		     "itself");
	}
	if (t->url && t->launch.program) {
		const bool is_program = strcmp(type, "stdio") == 0;

		lose(t, is_program ? "the url" : "the program",
		     "stands beside the other, and a server has one of them");
		*(is_program ? &t->url : &t->launch.program) = NULL;
	}
	if (t->url)
		put_url(t);
	else if (t->launch.program && *t->launch.program)
		put_program(t);
	else
		lose(t, "the server",
		     arena_printf(t->arena,
				  "has neither a program nor a url%s%s%s",
				  *type ? " (type \"" : "", type,
				  *type ? "\")" : ""));
	if (t->timeout)
		add(t, "", "timeout", IMPORT_TEXT, t->timeout);
}

void server_read(const struct import_source *src, const char *name,
		 const struct toml_value *table, struct import_server *ret)
{
	struct taking t = {.src = src, .arena = src->arena, .s = ret};

	*ret = (struct import_server){.from = src->path};
	ret->name = fitting_name(&t, name);
	for (size_t i = 0; table->type == TOML_TABLE && i < table->table.n;
	     i++) {
		const struct toml_member *m = &table->table.member[i];

		if (!is_empty(&m->value))
			take_key(&t, m->key, &m->value);
	}
	put_rows(&t);
}
