/*
 * `matins do`: the tool of an action, with options that are made of its
 * parameters.
 */
#include "core/cli/cmd_do.h"

#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/cli/call.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/tool_args.h"
#include "core/client/tool_check.h"
#include "core/config/paths.h"
#include "core/schema/describe.h"

const struct option options_do[] = {
	{"json", 0, NULL,
	 "print one JSON document: success, code, message, "
	 "output, structured"},
	{"yes", 'y', NULL, "agree to a tool that `confirm` names"},
	{"ask", 0, NULL, "ask for required parameters that are missing"},
	{"timeout", 0, "DURATION", "time for the answer to one request (60s)"},
	{0},
};

/* ---- the action as a tool ---- */

/* Write {"name":…,"description":…,"inputSchema":{…}} of its parameters. */
static void write_tool(const struct action *a, struct buf *out)
{
	struct jw w = jw_begin(out);

	jw_kv_cstr(&w, "name", a->name);
	jw_kv_opt(&w, "description", a->description);
	jw_kv_object(&w, "inputSchema");
	jw_kv_cstr(&w, "type", "object");
	jw_kv_object(&w, "properties");
	for (size_t i = 0; a->params && i < a->params->table.n; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		toml_to_json(&a->params->table.member[i].value, &text);
		jw_key(&w, a->params->table.member[i].key);
		jw_raw(&w, buf_str(&text));
	}
	jw_end(&w);
	jw_kv_bool(&w, "additionalProperties", false);
	jw_kv_list(&w, "required", &a->required);
	jw_end(&w);
	jw_end(&w);
}

static size_t read_params(const struct action *a, struct arena *arena,
			  struct schema_property **ret)
{
	AUTO(buf_release) struct buf tool = BUF_INIT(BUF_UNBOUNDED);
	AUTO(schema_freep) struct schema *s = NULL;
	struct str schema;

	write_tool(a, &tool);
	schema = tool_input_schema(arena_str(arena, buf_str(&tool)));
	return schema_compile(schema, NULL, &s, ERR_IGNORED) == 0
		       ? schema_properties(s, arena, ret)
		       : 0;
}

/* ---- options ---- */

static bool is_flag(const struct schema_property *p)
{
	return p->types == SCHEMA_TYPE_BOOLEAN;
}

/* "maxResults", "max_results" to "max-results", unless commands have that. */
static const char *plain_name(const struct schema_property *p,
			      struct arena *arena)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < p->name.n; i++) {
		const char c = p->name.p[i];
		const bool is_upper = c >= 'A' && c <= 'Z';

		if (is_upper && i && p->name.p[i - 1] >= 'a')
			buf_addc(&name, '-');
		buf_addc(&name, is_upper	   ? (char)(c + 32)
				: text_is_alnum(c) ? c
						   : '-');
	}
	if (args_find(options_do, buf_str(&name), '\0'))
		return arena_printf(arena, "param-%s", buf_cstr(&name));
	return arena_strdup(arena, buf_cstr(&name));
}

/* Names of the options, in the order of the parameters: no two are one. */
static const char **option_names(const struct schema_property *p, size_t n,
				 struct arena *arena)
{
	const char **names = ARENA_ARRAY(arena, const char *, n + 1);
	struct strlist taken = {NULL, 0};

	for (size_t i = 0; i < n; i++) {
		const char *plain = plain_name(&p[i], arena), *no;
		const char *name = plain;

		for (int k = 2;; k++) {
			no = arena_printf(arena, "no-%s", name);
			if (!list_has(&taken, name) &&
			    !(is_flag(&p[i]) && list_has(&taken, no)))
				break;
			name = arena_printf(arena, "%s-%d", plain, k);
		}
		list_add(&taken, arena, name);
		if (is_flag(&p[i]))
			list_add(&taken, arena, no);
		names[i] = name;
	}
	return names;
}

/* Words of a choice, for --help and completion; else the type. */
static const char *value_name(const struct schema_property *p,
			      struct arena *arena)
{
	AUTO(buf_release) struct buf words = BUF_INIT(BUF_UNBOUNDED);
	const unsigned types = p->types & ~(unsigned)SCHEMA_TYPE_NULL;

	for (size_t i = 0; i < p->n_choices && i < 20; i++) {
		buf_adds(&words, i ? "|" : "");
		if (!scan_string(p->choice[i].value, &words))
			buf_add_str(&words, p->choice[i].value);
	}
	if (words.n && words.p[0] >= 'a' && !memchr(words.p, ' ', words.n))
		return arena_strdup(arena, buf_cstr(&words));
	/* text wherever a string may stand, as schema_property_type() has it */
	return types & SCHEMA_TYPE_STRING ? "TEXT"
	       : types && !(types & ~(unsigned)(SCHEMA_TYPE_INTEGER |
						SCHEMA_TYPE_NUMBER))
		       ? "N"
	       : types && types != SCHEMA_TYPE_ARRAY ? "JSON"
						     : "VALUE";
}

static const char *help_of(const struct schema_property *p, struct arena *arena)
{
	struct str text =
		str_trim(p->description.n ? p->description : p->title);

	text = str_first(str_first(text, str_find(text, '\n')), 200);
	return arena_printf(arena, "%.*s%s%s%s%.*s%s", STR_ARG(text),
			    text.n && p->is_required ? "; " : "",
			    p->is_required ? "required" : "",
			    p->fallback.p ? " (default " : "",
			    p->fallback.p ? (int)p->fallback.n : 0,
			    p->fallback.p ? p->fallback.p : "",
			    p->fallback.p ? ")" : "");
}

static const struct option *make_options(const struct action *a,
					 struct arena *arena)
{
	struct schema_property *p = NULL;
	const size_t n = read_params(a, arena, &p);
	const char **names = option_names(p, n, arena);
	struct option *rows = ARENA_ARRAY(arena, struct option,
					  2 * n + ARRAY_LEN(options_do));
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const bool is_second =
			strcmp(names[i], plain_name(&p[i], arena)) != 0;
		const char *help = help_of(&p[i], arena);

		/* "--" ends the options: `call --args` can give this one */
		if (!*names[i])
			continue;
		rows[at++] = (struct option){
			names[i], 0,
			is_flag(&p[i]) ? NULL : value_name(&p[i], arena),
			is_second ? arena_printf(arena, "%.*s; %s",
						 STR_ARG(p[i].name), help)
				  : help};
		if (is_flag(&p[i]))
			rows[at++] = (struct option){
				arena_printf(arena, "no-%s", names[i]), 0, NULL,
				"the contrary"};
	}
	memcpy(rows + at, options_do, sizeof(options_do));
	return rows;
}

/* The value of -c, and the first word that is none: the action. */
static const char *find_words(int argc, char **argv, const char **ret_config)
{
	const char *name = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *word = argv[i];

		if (strncmp(word, "--config=", 9) == 0)
			*ret_config = word + 9;
		else if (strncmp(word, "-c", 2) == 0 && word[2])
			*ret_config = word + 2;
		else if ((!strcmp(word, "-c") || !strcmp(word, "--config")) &&
			 i + 1 < argc)
			*ret_config = argv[++i];
		else if (word[0] != '-' && !name)
			name = word;
	}
	return name;
}

/* errors  ERR_UNKNOWN  with the nearest action */
static int find_action(const struct config *c, const char *name,
		       const struct action **ret, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char **names =
		ARENA_ARRAY(&arena, const char *, c->n_actions + 1);

	*ret = config_action(c, name);
	if (*ret)
		return 0;
	for (size_t i = 0; i < c->n_actions; i++)
		names[i] = c->actions[i].name;
	return err_set(err, ERR_UNKNOWN,
		       "%s has no action %s%s`matins do` lists them", c->path,
		       name,
		       args_meant_or(str_of(name), names, c->n_actions).text);
}

int do_options(int argc, char **argv, struct arena *arena, struct command *own,
	       struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	struct config_options options = {.names_only = true,
					 .passive = true,
					 .lax = true,
					 .quiet = true,
					 .optional = true};
	const char *name = NULL;
	const struct action *a;

	name = find_words(argc, argv, &options.path);
	if (options.path)
		options.path = path_home(options.path, arena);
	if (!name || config_open(&options, &file, err) < 0)
		return name ? -1 : 0;
	if (!file.path)
		return err_set(err, ERR_UNKNOWN,
			       "there is no configuration, and no action %s",
			       name);
	if (find_action(&file.config, name, &a, err) < 0)
		return -1;
	own->name = arena_printf(arena, "do %s", a->name);
	own->synopsis = "";
	own->options = make_options(a, arena);
	if (a->description)
		own->help = arena_strdup(arena, a->description);
	return 0;
}

/* ---- calling ---- */

struct doing {
	const struct args *args;
	const struct action *action;
	struct arena arena;
	struct str tool; /* the action as a tool */
	struct str json; /* arguments */
};

/* Words as `call` takes them, of the options that were given. */
static void collect(struct doing *d, struct strlist *words)
{
	struct schema_property *p = NULL;
	const size_t n = read_params(d->action, &d->arena, &p);
	const char **names = option_names(p, n, &d->arena);

	for (size_t i = 0; i < n; i++) {
		const char *name = names[i];
		const char *key =
			arena_strndup(&d->arena, p[i].name.p, p[i].name.n);
		const char *no = arena_printf(&d->arena, "no-%s", name);
		struct strlist all = args_all(d->args, name, &d->arena);

		for (size_t k = 0; k < all.n && !is_flag(&p[i]); k++)
			list_addf(words, &d->arena, "%s=%s", key, all.item[k]);
		if (is_flag(&p[i]) &&
		    (args_has(d->args, name) || args_has(d->args, no)))
			list_addf(words, &d->arena, "%s:=%s", key,
				  args_has(d->args, no) ? "false" : "true");
	}
}

/* Read and judge the parameters; those that are missing have their defaults. */
static int read_arguments(struct doing *d, struct err *err)
{
	AUTO(tool_check_release) struct tool_check check = {.tool = {NULL, 0}};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct strlist words = {NULL, 0};
	struct schema_property *p = NULL;
	const size_t n = read_params(d->action, &d->arena, &p);
	struct args args = {0};
	struct tool_findings found;
	struct str given;
	struct jw w;

	list_add(&words, &d->arena, d->action->name);
	collect(d, &words);
	args.positional = (char **)words.item;
	args.n_positional = words.n;
	if (tool_args_read(&args, NULL, tool_input_schema(d->tool), &d->arena,
			   &given, err) < 0)
		return -1;
	w = jw_begin(&out);
	jw_members(&w, given, NULL);
	for (size_t i = 0; i < n; i++)
		if (p[i].fallback.p &&
		    !(given.p && scan_named(given, p[i].name).p)) {
			jw_key_str(&w, p[i].name);
			jw_raw(&w, p[i].fallback);
		}
	jw_end(&w);
	d->json = arena_str(&d->arena, buf_str(&out));
	tool_check_init(&check, d->tool);
	if (tool_check_arguments(&check, d->json, "parameters", &d->arena,
				 &found) ||
	    (args_has(d->args, "ask") && found.missing))
		return 0;
	return err_set(err, ERR_USAGE, "%s: %s", d->action->name,
		       found.violations.n
			       ? list_join(&found.violations, "; ", &d->arena)
			       : found.unusable);
}

static int call(struct doing *d, struct call_outcome *o, struct err *err)
{
	const char *const passed[] = {"config", "lax", "json",
				      "yes",	"ask", "timeout"};
	struct args_option given[ARRAY_LEN(passed) + 2] = {
		{"server", d->action->server_name},
		{"args", arena_strndup(&d->arena, d->json.p, d->json.n)},
	};
	char *words[] = {(char *)d->action->tool, NULL};
	struct args args = {.given = given,
			    .n_given = 2,
			    .positional = words,
			    .n_positional = 1};

	for (size_t i = 0; i < ARRAY_LEN(passed); i++)
		if (args_has(d->args, passed[i]))
			given[args.n_given++] = (struct args_option){
				passed[i], args_get(d->args, passed[i])};
	return call_tool(&args, o, err);
}

/* ---- the outcome ---- */

static const char *code_of(int status, const struct err *err)
{
	if (status >= 0)
		return status == 0   ? "SUCCESS"
		       : status == 2 ? "TOOL_ERROR"
				     : "CONNECTION_ERROR";
	switch (err->kind) {
	case ERR_USAGE:
	case ERR_SYNTAX:
		return "INVALID_PARAMS";
	case ERR_UNKNOWN_TOOL:
		return "TOOL_ERROR";
	/* of the action, and of the server that it names */
	case ERR_UNKNOWN:
	case ERR_CONFIG:
	case ERR_UNKNOWN_SERVER:
	case ERR_NOT_FOUND:
		return "SERVER_NOT_FOUND";
	case ERR_TOOL_POLICY:
	case ERR_DISABLED:
	case ERR_PIN:
	case ERR_LEASH:
	case ERR_POLICY:
	case ERR_PROTECTION:
	case ERR_NOT_ALLOWED:
		return "DENIED";
	default:
		return "CONNECTION_ERROR";
	}
}

/* Print the document of --json. returns  the status */
static int print_outcome(int status, const struct call_outcome *o,
			 const struct err *why, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *code = code_of(status, why);
	struct jw w = jw_begin(&out);

	jw_kv_bool(&w, "success", status == 0);
	jw_kv_cstr(&w, "code", code);
	jw_kv_str(&w, "message",
		  status < 0	? str_of(why->msg)
		  : status == 2 ? str_trim(buf_str(&o->output))
				: STR(""));
	jw_kv_str(&w, "output", buf_str(&o->output));
	jw_kv_raw(&w, "structured",
		  o->structured.n ? buf_str(&o->structured) : STR("null"));
	jw_end(&w);
	buf_addc(&out, '\n');
	if (put(buf_str(&out), PUT_JSON, err) < 0)
		return -1;
	return status >= 0			 ? status
	       : !strcmp(code, "TOOL_ERROR")	 ? 2
	       : !strcmp(code, "INVALID_PARAMS") ? 64
						 : 1;
}

int do_failed(int argc, char **argv, struct err *err)
{
	const struct call_outcome none = {.action = NULL};
	const struct err why = *err;
	const char *config;

	if (!cli_json_errors || !find_words(argc, argv, &config))
		return -1;
	return print_outcome(-1, &none, &why, err);
}

static int do_action(struct doing *d, struct err *err)
{
	struct call_outcome o = {.action = d->action,
				 .output = BUF_INIT(BUF_UNBOUNDED),
				 .structured = BUF_INIT(BUF_UNBOUNDED)};
	AUTO(buf_release) struct buf tool = BUF_INIT(BUF_UNBOUNDED);
	struct err why = ERR_INIT;
	int status;

	write_tool(d->action, &tool);
	d->tool = arena_str(&d->arena, buf_str(&tool));
	status = read_arguments(d, &why);
	if (status == 0)
		status = call(d, &o, &why);
	if (args_has(d->args, "json"))
		status = print_outcome(status, &o, &why, err);
	else if (status < 0)
		*err = why;
	buf_release(&o.output);
	buf_release(&o.structured);
	return status;
}

/* ---- the command ---- */

static void add_line(const struct action *a, struct buf *out)
{
	buf_addf(out, "%-20s", a->name);
	if (a->description) {
		buf_adds(out, "  ");
		log_visible(out, str_of(a->description), false);
	}
	buf_addc(out, '\n');
}

static int list_actions(const struct args *args, const struct config *c,
			struct err *err)
{
	AUTO(page_release) struct page page;

	page_open(&page, args);
	if (page.is_json)
		jw_kv_array(&page.w, "actions");
	for (size_t i = 0; i < c->n_actions; i++) {
		AUTO(buf_release) struct buf tool = BUF_INIT(BUF_UNBOUNDED);
		const struct action *a = &c->actions[i];

		write_tool(a, &tool);
		if (page.is_json)
			jw_raw(&page.w, buf_str(&tool));
		else
			add_line(a, &page.out);
	}
	if (page.is_json)
		jw_end(&page.w);
	return page_put(&page, err);
}

int cmd_do(const struct args *args, struct err *err)
{
	const struct config_options options = {
		.names_only = true, .passive = true, .quiet = true};
	AUTO(config_release) struct config_file file = {.path = NULL};
	struct doing d = {.args = args};
	int r;

	if (open_config(args, options, &file, err) < 0)
		return -1;
	if (!args->n_positional)
		return list_actions(args, &file.config, err);
	r = find_action(&file.config, args->positional[0], &d.action, err);
	if (r == 0)
		r = do_action(&d, err);
	arena_release(&d.arena);
	return r;
}
