#include "core/install/bundle.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/install/kinds.h"

/* Bytes of one text, and of all that are filled in; variables in them. */
#define TEXT_BYTES (64 * 1024)
#define ALL_BYTES (1024 * 1024)
#define VARIABLES_MAX 256
/* Of a key, a variable, a version. */
#define NAME_BYTES 64

struct reading {
	struct arena *arena;
	const char *tree, *home;
	const struct strlist *values;
	struct str user_config; /* object; n = 0: none */
	struct bundle *b;
	size_t n_bytes, n_variables; /* filled in so far */
	bool is_over;		     /* more than the bounds above */
};

/* Decoded text; NULL: it is none. */
static const char *text_of(struct str json, struct arena *arena)
{
	struct str text;

	if (!json.p || scan_type(json) != SCAN_STRING)
		return NULL;
	text = scan_decoded(json, TEXT_BYTES, arena);
	return arena_strndup(arena, text.p, text.n);
}

/* Letters, digits and those characters, and no more than NAME_BYTES. */
static bool is_name(const char *text, const char *others)
{
	if (!text || !*text || strlen(text) > NAME_BYTES)
		return false;
	for (; *text; text++)
		if (!text_is_alnum(*text) && !strchr(others, *text))
			return false;
	return true;
}

/* ---- values of user_config ---- */

/* The value that the person gave; NULL: none. */
static const char *given(const struct reading *r, const char *key)
{
	const size_t n = strlen(key);

	for (size_t i = 0; i < r->values->n; i++)
		if (strncmp(r->values->item[i], key, n) == 0 &&
		    r->values->item[i][n] == '=')
			return r->values->item[i] + n + 1;
	return NULL;
}

static struct str declared(const struct reading *r, const char *key)
{
	for (struct scan_iter it = scan_over(r->user_config); scan_next(&it);) {
		const char *name = text_of(it.key, r->arena);

		if (name && strcmp(name, key) == 0)
			return it.value;
	}
	return (struct str){NULL, 0};
}

static bool is_secret(const struct reading *r, const char *key)
{
	return str_is(scan_some(declared(r, key), "sensitive"), "true");
}

/* A plain value as text: a string, a number, true or false. */
static const char *plain(struct str json, struct arena *arena)
{
	const char *text = text_of(json, arena);

	return text || !json.p || scan_type(json) == SCAN_OBJECT ||
			       scan_type(json) == SCAN_ARRAY ||
			       scan_type(json) == SCAN_NULL
		       ? text
		       : arena_strndup(arena, json.p, json.n);
}

/* Values of a key: none, one, or those of a list. */
static struct strlist values_of(const struct reading *r, const char *key)
{
	const char *own = given(r, key);
	struct str value = scan_some(declared(r, key), "default");
	struct strlist all = {NULL, 0};

	if (own) {
		list_add(&all, r->arena, own);
	} else if (value.p && scan_type(value) == SCAN_ARRAY) {
		for (struct scan_iter it = scan_over(value); scan_next(&it);)
			if (plain(it.value, r->arena))
				list_add(&all, r->arena,
					 plain(it.value, r->arena));
	} else if (plain(value, r->arena)) {
		list_add(&all, r->arena, plain(value, r->arena));
	}
	return all;
}

static const char *first_value(const struct reading *r, const char *key)
{
	const struct strlist all = values_of(r, key);

	return all.n ? all.item[0] : NULL;
}

/* ---- variables in texts ---- */

#define USER_CONFIG "user_config."

/* The key of a text that is one "${user_config.KEY}" and nothing else; NULL. */
static const char *only_key(const char *text, struct arena *arena)
{
	static const char begin[] = "${" USER_CONFIG;
	const size_t n = strlen(text);

	if (strncmp(text, begin, sizeof(begin) - 1) != 0 ||
	    text[n - 1] != '}' || strchr(text, '}') != text + n - 1)
		return NULL;
	return arena_strndup(arena, text + sizeof(begin) - 1,
			     n - sizeof(begin));
}

static const char *constant(const struct reading *r, const char *name)
{
	const struct {
		const char *name, *value;
	} all[] = {{"__dirname", r->tree},
		   {"HOME", r->home},
		   {"/", "/"},
		   {"pathSeparator", "/"}};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].value;
	return NULL;
}

static void put(struct reading *r, struct buf *out, const char *p, size_t n)
{
	r->n_bytes += n;
	r->is_over |= out->n + n > TEXT_BYTES || r->n_bytes > ALL_BYTES;
	if (!r->is_over)
		buf_add(out, p, n);
}

/*
 * Append a text with its variables filled in.
 * is_whole  false: but for values that the person gave
 * returns  0; 1: a value is missing, *ret_missing is its key
 */
static int fill(struct reading *r, bool is_whole, const char *text,
		struct buf *out, const char **ret_missing)
{
	const char *at, *end, *name, *key, *value;

	for (; !r->is_over && (at = strstr(text, "${")) &&
	       (end = strchr(at, '}'));
	     text = end + 1) {
		r->is_over |= ++r->n_variables > VARIABLES_MAX;
		put(r, out, text, (size_t)(at - text));
		name = arena_strndup(r->arena, at + 2, (size_t)(end - at - 2));
		key = strncmp(name, USER_CONFIG, strlen(USER_CONFIG)) == 0
			      ? name + strlen(USER_CONFIG)
			      : NULL;
		value = key && is_secret(r, key) ? NULL
			: key			 ? first_value(r, key)
						 : constant(r, name);
		if (!value) {
			*ret_missing = key ? key : name;
			return 1;
		}
		if (key && given(r, key))
			put(r, out, value, is_whole ? strlen(value) : 0);
		else if (key && strstr(value, "${") &&
			 !strstr(value, USER_CONFIG)) {
			/* a default has variables of its own */
			if (fill(r, is_whole, value, out, ret_missing))
				return 1;
		} else {
			put(r, out, value, strlen(value));
		}
	}
	put(r, out, text, strlen(text));
	return 0;
}

/* Does a path lie in the tree, or among the files of the system? */
static bool is_near(const struct reading *r, const char *path)
{
	const char *const places[] = {r->tree, "/usr", "/bin", "/lib",
				      "/lib64"};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const size_t n = strlen(places[i]);

		if (strncmp(path, places[i], n) == 0 &&
		    (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

/* Does one word name a file outside of the tree? */
static bool is_outside(const struct reading *r, struct str word)
{
	const char *path = arena_strndup(r->arena, word.p, word.n);
	struct str rest = word;

	if (*path == '~' || (*path == '/' && !is_near(r, path)))
		return true;
	while (rest.n)
		if (str_is(str_cut(&rest, '/'), ".."))
			return true;
	return false;
}

/*
 * Does a text name a file outside of the tree, for which the bundle, and no
 * person, asks? Words of it stand alone or between these characters; the
 * address of a host is none.
 */
static bool leads_out(const struct reading *r, const char *text)
{
	static const char between[] = "=,:; \t\n";
	const char *at = text;

	for (;;) {
		const struct str word = {at, strcspn(at, between)};
		const char *end = at + word.n;
		bool is_url = strncmp(end, "://", 3) == 0;

		if (is_url && (str_is(word, "http") || str_is(word, "https")))
			end += 3 + strcspn(end + 3, between);
		else if (is_url || is_outside(r, word))
			return true;
		if (!*end)
			return strstr(text, "${");
		at = end + 1;
	}
}

/* Filled in; NULL: *ret_missing has no value, or names what leads out. */
static const char *filled(struct reading *r, const char *text,
			  const char **ret_missing)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf own = BUF_INIT(BUF_UNBOUNDED);

	*ret_missing = NULL;
	if (fill(r, true, text, &out, ret_missing) ||
	    fill(r, false, text, &own, ret_missing))
		return NULL;
	return leads_out(r, buf_cstr(&own))
		       ? NULL
		       : arena_strdup(r->arena, buf_cstr(&out));
}

/* ---- program, arguments, environment ---- */

static bool is_required(const struct reading *r, const char *key)
{
	return str_is(scan_some(declared(r, key), "required"), "true");
}

/* Say that an argument or a variable is left out; missing  NULL: it would name
   a file outside of the bundle. */
static void note_left_out(struct reading *r, const char *missing,
			  const char *where, const char *text)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	const char *note;

	log_visible(&shown, str_first(str_of(text), NAME_BYTES), false);
	if (!missing)
		note = arena_printf(r->arena,
				    "%s names a file or variable outside of "
				    "the bundle and is left out: \"%s\"; a "
				    "value of user_config can be given by "
				    "--set KEY=VALUE, all else in the table",
				    where, buf_cstr(&shown));
	else if (is_secret(r, missing))
		note = arena_printf(r->arena,
				    "the credential %s is left out: if you "
				    "have one, add env.%s = { file = "
				    "\"PATH\" } to the table",
				    missing, where);
	else if (!declared(r, missing).p)
		note = arena_printf(r->arena,
				    "%s has a variable that is not known here, "
				    "and is left out: \"%s\"",
				    where, buf_cstr(&shown));
	else
		note = arena_printf(r->arena,
				    "its %s has no value, so %s is left out%s; "
				    "give it by --set %s=VALUE",
				    missing, where,
				    is_required(r, missing) ? ", which it needs"
							    : "",
				    missing);
	list_add(&r->b->notes, r->arena, note);
}

static int add_argument(struct reading *r, const char *text, struct err *err)
{
	const char *key = only_key(text, r->arena), *missing, *word;
	struct strlist all = {NULL, 0};

	if (key && !given(r, key) && !is_secret(r, key))
		all = values_of(r, key);
	if (all.n > 1) { /* a list becomes as many arguments */
		for (size_t i = 0; i < all.n; i++) {
			word = filled(r, all.item[i], &missing);
			if (word)
				list_add(&r->b->words, r->arena, word);
			else
				note_left_out(r, missing, "an argument",
					      all.item[i]);
		}
		return 0;
	}
	word = filled(r, text, &missing);
	if (word) {
		list_add(&r->b->words, r->arena, word);
		return 0;
	}
	if (missing && is_secret(r, missing))
		return err_set(err, ERR_CONFIG,
			       "manifest.json: the credential %s is to be an "
			       "argument, which every user of this machine can "
			       "read; install it by `add custom` with a "
			       "variable",
			       missing);
	note_left_out(r, missing, "an argument", text);
	return 0;
}

static void add_variable(struct reading *r, const char *name, const char *text)
{
	const char *key = only_key(text, r->arena), *missing, *value;
	struct bundle_variable *v = &r->b->env[r->b->n_env];

	value = filled(r, text, &missing);
	if (!value && key && is_secret(r, key) &&
	    (is_required(r, key) || given(r, key))) {
		*v = (struct bundle_variable){name, NULL, key};
		r->b->n_env++;
	} else if (value) {
		*v = (struct bundle_variable){name, value, NULL};
		r->b->n_env++;
	} else {
		note_left_out(r, missing, name, text);
	}
}

static int read_env(struct reading *r, struct str env, struct err *err)
{
	r->b->n_env = 0;
	r->b->env = ARENA_ARRAY(r->arena, struct bundle_variable,
				scan_count(env) + 1);
	for (struct scan_iter it = scan_over(env); scan_next(&it);) {
		const char *name = text_of(it.key, r->arena);
		const char *text = text_of(it.value, r->arena);

		if (!is_name(name, "_") || !text)
			return err_set(err, ERR_SYNTAX,
				       "manifest.json: a variable of "
				       "server.mcp_config.env has a bad name, "
				       "or is no text");
		add_variable(r, name, text);
	}
	return 0;
}

static int read_args(struct reading *r, struct str args, struct err *err)
{
	for (struct scan_iter it = scan_over(args); scan_next(&it);) {
		const char *text = text_of(it.value, r->arena);

		if (!text)
			return err_set(err, ERR_SYNTAX,
				       "manifest.json: an argument of "
				       "server.mcp_config.args is no text");
		if (add_argument(r, text, err) < 0)
			return -1;
	}
	return 0;
}

/* A member of mcp_config, for this platform. */
static struct str config_member(struct str server, const char *name)
{
	struct str config = scan_some(server, "mcp_config");
	struct str own =
		scan_some(scan_some(config, "platform_overrides"), "linux");
	struct str value = scan_some(own, name);

	return value.p ? value : scan_some(config, name);
}

static bool is_of_tree(const struct reading *r, const char *path)
{
	const size_t n = strlen(r->tree);

	return path && strncmp(path, r->tree, n) == 0 && path[n] == '/' &&
	       install_is_inside(path + n + 1);
}

static int read_server(struct reading *r, struct str server, struct err *err)
{
	static const char *const types[] = {"node", "python", "binary"};
	static const char *const programs[] = {"node", "python3", NULL};
	const char *type = text_of(scan_some(server, "type"), r->arena);
	const char *entry = text_of(scan_some(server, "entry_point"), r->arena);
	const char *command =
		text_of(config_member(server, "command"), r->arena);
	struct str args = config_member(server, "args");
	size_t k = type ? str_index(str_of(type), types, ARRAY_LEN(types))
			: ARRAY_LEN(types);
	const char *missing;

	if (k == ARRAY_LEN(types))
		return err_set(err, ERR_SYNTAX,
			       "manifest.json: server.type must be \"node\", "
			       "\"python\" or \"binary\"");
	if (!entry || !install_is_inside(entry))
		return err_set(err, ERR_SYNTAX,
			       "manifest.json: server.entry_point must be a "
			       "file of the bundle");
	entry = arena_printf(r->arena, "%s/%s", r->tree, entry);
	if (command)
		command = filled(r, command, &missing);
	else
		command = programs[k] ? programs[k] : entry;
	/* a program of PATH, or of the tree */
	if (!is_name(command, "._+-") && !is_of_tree(r, command))
		return err_set(err, ERR_SYNTAX,
			       "manifest.json: server.mcp_config.command must "
			       "be the bare name of a program, or a file of "
			       "the bundle");
	/* as programs for other systems call it */
	list_add(&r->b->words, r->arena,
		 strcmp(command, "python") == 0 ? "python3" : command);
	if (args.p) {
		if (read_args(r, args, err) < 0)
			return -1;
	} else if (programs[k]) {
		list_add(&r->b->words, r->arena, entry);
	}
	return read_env(r, config_member(server, "env"), err);
}

static int judge_platform(struct str manifest, struct err *err)
{
	struct str all =
		scan_some(scan_some(manifest, "compatibility"), "platforms");
	bool is_ours = !all.p || !scan_count(all);

	for (struct scan_iter it = scan_over(all); scan_next(&it);)
		is_ours |= str_is(it.value, "\"linux\"");
	return is_ours ? 0
		       : err_set(err, ERR_CONFIG,
				 "manifest.json: the bundle is not for Linux");
}

/* Names of files are made of them. */
static int judge_keys(const struct reading *r, struct err *err)
{
	for (struct scan_iter it = scan_over(r->user_config); scan_next(&it);) {
		const char *key = text_of(it.key, r->arena);

		if (!is_name(key, "_-"))
			return err_set(err, ERR_SYNTAX,
				       "manifest.json: a key of user_config "
				       "is of other characters than letters, "
				       "digits, \"_\" and \"-\", or too "
				       "long");
	}
	return 0;
}

static int judge_values(const struct reading *r, struct err *err)
{
	for (size_t i = 0; i < r->values->n; i++) {
		struct str rest = str_of(r->values->item[i]);
		struct str name = str_cut(&rest, '=');
		const char *key = arena_strndup(r->arena, name.p, name.n);

		if (!rest.p || !declared(r, key).p)
			return err_set(err, ERR_USAGE,
				       "add bundle: --set KEY=VALUE, with a "
				       "key of its user_config, not \"%s\"",
				       key);
		if (is_secret(r, key))
			return err_set(err, ERR_USAGE,
				       "add bundle: %s is a credential: write "
				       "it into its file after the "
				       "installation, never on a command line",
				       key);
	}
	return 0;
}

int bundle_read(struct str manifest, const char *tree, const char *home,
		const struct strlist *values, struct arena *arena,
		struct bundle *ret, struct err *err)
{
	struct reading r = {.arena = arena,
			    .tree = tree,
			    .home = home,
			    .values = values,
			    .b = ret};
	struct str doc;

	*ret = (struct bundle){.name = NULL};
	if (scan_document(manifest, NULL, &doc, err) < 0)
		return err_wrap(err, "manifest.json");
	ret->name = text_of(scan_some(doc, "name"), arena);
	ret->version = text_of(scan_some(doc, "version"), arena);
	if (!ret->name || !is_name(ret->version, "._+-"))
		return err_set(err, ERR_SYNTAX,
			       "manifest.json: `name` and `version` must be "
			       "there, and a version has letters, digits, "
			       "\".\", \"+\", \"-\" and \"_\"");
	r.user_config = scan_some(doc, "user_config");
	if (judge_platform(doc, err) < 0 || judge_keys(&r, err) < 0 ||
	    judge_values(&r, err) < 0 ||
	    read_server(&r, scan_some(doc, "server"), err) < 0)
		return -1;
	return r.is_over ? err_set(err, ERR_LIMIT,
				   "manifest.json: its arguments and variables "
				   "are too large when filled in")
			 : 0;
}
