/*
 * Offers of a server: tools, resources and prompts as tables for people, and
 * one prompt, resource or completion.
 *
 * Everything in them is a server's text: one line each, with control
 * characters made visible, also in a pipe.
 */
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/base/outfile.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/merged_tools.h"
#include "core/cli/put.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"
#include "core/cli/tool_forms.h"
#include "core/cli/tool_text.h"
#include "core/client/tool_check.h"
#include "core/config/paths.h"
#include "core/mcp/wire/merged_name.h"
#include "core/mcp/wire/content.h"
#include "core/mcp/wire/uri_template.h"

const struct option options_tools[] = {
	{"search", 0, "WORDS",
	 "of all servers: only tools that have all of these words"},
	{"live", 0, NULL, "of all servers: ask them, as `sync` does"},
	{"as", 0, TOOL_FORMS, "print definitions for a language model"},
	{.letter = OPTIONS_TARGET},
};
const struct option options_prompts[] = {{.letter = OPTIONS_TARGET}};
const struct option options_resources[] = {{.letter = OPTIONS_TARGET}};

/* ---- one entry ---- */

static void add_arguments(const struct target *t, struct str list,
			  struct buf *out)
{
	for (struct scan_iter it = scan_over(list); scan_next(&it);) {
		struct str name = scan_some(it.value, "name");

		if (!name.p || scan_type(name) != SCAN_STRING)
			continue;
		buf_adds(out, "    ");
		text_line(t->scrub, name, TEXT_LINE_CHARS, out);
		if (scan_true(it.value, "required"))
			buf_adds(out, "  required");
		buf_adds(out, "  ");
		if (!text_line(t->scrub, scan_some(it.value, "description"),
			       TEXT_LINE_CHARS, out))
			out->n -= 2;
		buf_addc(out, '\n');
	}
}

static void add_denial(struct target *t, const struct listing_item *item,
		       struct buf *out)
{
	bool asks;
	const char *why = target_denial(t, item->json, &asks);

	if (!why)
		return;
	buf_adds(out, asks ? "  asks: " : "  denied: ");
	target_show(t, str_of(why), false, out);
	buf_addc(out, '\n');
}

/* Show an entry of a list: name, title, description, arguments. */
static void show_item(struct target *t, enum listing_kind kind,
		      const struct listing_item *item, struct buf *out)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf mime = BUF_INIT(BUF_UNBOUNDED);
	struct str json = item->json;

	text_head(t->scrub, item, out);
	if (text_line(t->scrub, scan_some(json, "description"), TEXT_LINE_CHARS,
		      &line))
		buf_addf(out, "  %s\n", buf_cstr(&line));
	if (kind == LISTING_TOOLS)
		add_denial(t, item, out);
	if (kind == LISTING_TOOLS)
		text_arguments(t->scrub, tool_input_schema(json), false, out);
	else if (kind == LISTING_PROMPTS)
		add_arguments(t, scan_some(json, "arguments"), out);
	else if (text_line(t->scrub, scan_some(json, "mimeType"),
			   TEXT_LINE_CHARS, &mime))
		buf_addf(out, "    %s\n", buf_cstr(&mime));
}

/* ---- whole lists ---- */

/* "denied":{"NAME":"why"}, or "asks", where a tool is; entries stay as they
   came. */
static void write_denials(struct target *t, const struct listing *l, bool asks,
			  struct jw *w)
{
	bool is_begun = false, is_asked;

	for (size_t i = 0; l->kind == LISTING_TOOLS && i < l->n; i++) {
		const char *why = target_denial(t, l->item[i].json, &is_asked);

		if (!why || is_asked != asks)
			continue;
		if (!is_begun)
			jw_kv_object(w, asks ? "asks" : "denied");
		is_begun = true;
		jw_key_str(w, l->item[i].name);
		jw_cstr(w, why);
	}
	if (is_begun)
		jw_end(w);
}

/* Name of a tool for a model: of a named server the merged one. */
static void model_name(const struct target *t, struct str tool,
		       char out[MERGED_NAME_BYTES + 1])
{
	struct str own;

	merged_name(t->server ? str_of(t->server) : STR("x"), tool, out);
	if (!t->server && merged_name_tool(str_of(out), STR("x"), &own))
		memmove(out, own.p, own.n + 1);
}

/* Print definitions of all tools that may be called, or of one. */
static int print_form(struct target *t, const struct listing *l,
		      const struct listing_item *only, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct tool_form *form;
	bool asks;
	char name[MERGED_NAME_BYTES + 1];
	struct jw w;

	if (tool_form_find(args_get(t->args, "as"), &form, err) < 0)
		return -1;
	tool_form_begin(form, &w, &out);
	for (size_t i = 0; i < l->n; i++) {
		const struct listing_item *item = &l->item[i];

		if ((only && item != only) ||
		    target_denial(t, item->json, &asks))
			continue;
		model_name(t, item->name, name);
		tool_form_add(form, &w, name, item->json);
	}
	tool_form_end(form, &w);
	return target_put(t, buf_str(&out),
			  tool_form_is_json(form) ? PUT_JSON : PUT_TEXT, err);
}

static int print_lists(struct target *t, const struct listing *list, size_t n,
		       struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	if (args_has(t->args, "as"))
		return print_form(t, &list[0], NULL, err);

	if (t->json) {
		w = jw_begin(&out);
		for (size_t k = 0; k < n; k++) {
			jw_kv_array(&w, listing_member(list[k].kind));
			for (size_t i = 0; i < list[k].n; i++)
				jw_raw(&w, list[k].item[i].json);
			jw_end(&w);
		}
		write_denials(t, &list[0], false, &w);
		write_denials(t, &list[0], true, &w);
		jw_end(&w);
		return target_put(t, buf_str(&out), PUT_JSON, err);
	}
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < list[k].n; i++)
			show_item(t, list[k].kind, &list[k].item[i], &out);
	if (!out.n)
		log_note("%s lists none", t->name);
	return target_write(t, buf_str(&out), err);
}

static int show_one(struct target *t, const struct listing *l, const char *name,
		    struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct listing_item *item = listing_find(l, str_of(name));

	if (!item)
		return target_unknown(t, l, name, err);
	if (args_has(t->args, "as"))
		return print_form(t, l, item, err);
	if (t->json)
		return target_put(t, item->json, PUT_JSON, err);
	text_tool(t->scrub, item, &out);
	add_denial(t, item, &out);
	return target_write(t, buf_str(&out), err);
}

/* Servers with resources need not know of templates. */
static int try_templates(struct target *t, struct listing *l, struct err *err)
{
	enum log_level before = log_level();
	int r;

	if (before < LOG_DEBUG)
		log_set_level(LOG_ERROR);
	r = target_list(t, LISTING_TEMPLATES, false, l, err);
	log_set_level(before);
	return r < 0 ? -1 : 0;
}

/* Print the lists of a kind; resources and templates are one document. */
static int show_kind(struct target *t, void *arg, struct err *err)
{
	const enum listing_kind *kind = arg;
	const char *name = t->args->positional[0];
	const size_t n = *kind == LISTING_RESOURCES ? 2 : 1;
	struct listing list[2];
	int r;

	listing_init(&list[1], LISTING_TEMPLATES);
	r = target_list(t, *kind, true, &list[0], err);
	if (r == 0 && n > 1)
		r = try_templates(t, &list[1], err);
	if (r == 0)
		r = name ? show_one(t, &list[0], name, err)
			 : print_lists(t, list, n, err);
	listing_release(&list[1]);
	listing_release(&list[0]);
	return r;
}

int cmd_tools(const struct args *args, struct err *err)
{
	enum listing_kind kind = LISTING_TOOLS;
	const struct tool_form *form;

	if (!target_is_named(args))
		return merged_tools_list(args, err);
	if (args_has(args, "search") || args_has(args, "live"))
		return err_set(err, ERR_USAGE,
			       "tools: --search and --live are about all "
			       "servers; name none");
	if (args->n_positional > 1)
		return err_set(err, ERR_USAGE,
			       "tools: of one server, name one tool, or none");
	if (args_has(args, "as") &&
	    tool_form_find(args_get(args, "as"), &form, err) < 0)
		return -1;
	return target_run(args, TARGET_START, show_kind, &kind, err);
}

int cmd_prompts(const struct args *args, struct err *err)
{
	enum listing_kind kind = LISTING_PROMPTS;

	return target_run(args, TARGET_START, show_kind, &kind, err);
}

int cmd_resources(const struct args *args, struct err *err)
{
	enum listing_kind kind = LISTING_RESOURCES;

	return target_run(args, TARGET_START, show_kind, &kind, err);
}

/* ---- one request ---- */

/* Request a method with the params of a buffer. */
static int ask(struct target *t, const char *method, const struct buf *params,
	       const char *what, struct str *ret, struct err *err)
{
	struct client_call call = {
		.method = method,
		.params = buf_str(params),
	};

	return target_result(t, &call, what, ret, err);
}

/* The array of a result that must be there. */
static int read_array(struct str result, const char *name, struct str *ret,
		      struct err *err)
{
	if (scan_get_some(result, name, ret) && scan_type(*ret) == SCAN_ARRAY)
		return 0;
	return err_set(err, ERR_PEER,
		       "the server's answer lacks the array \"%s\"", name);
}

/*
 * ---- prompt ----
 *
 * Arguments are strings, and those that are required are asked for before
 * anything is sent (PRM-2, PRM-4).
 */

const struct option options_prompt[] = {
	{"args", 0, "JSON|@FILE|-", "all arguments as one JSON object"},
	{"no-list", 0, NULL, "do not ask for the list of prompts first"},
	{"save", 0, "DIR", "write images and other bytes to files there"},
	{.letter = OPTIONS_TARGET},
};

static int all_strings(struct str values, struct err *err)
{
	for (struct scan_iter it = scan_over(values); scan_next(&it);)
		if (scan_type(it.value) != SCAN_STRING)
			return err_set(err, ERR_USAGE,
				       "argument %.*s must be a string, like "
				       "all arguments of prompts",
				       STR_ARG(it.key));
	return 0;
}

/* The names of all arguments of a prompt, and those that are missing. */
static void look_at(struct str prompt, struct str values, struct strlist *names,
		    struct buf *missing, struct arena *arena)
{
	struct str v;

	*names = (struct strlist){NULL, 0};
	for (struct scan_iter it = scan_over(scan_some(prompt, "arguments"));
	     scan_next(&it);) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

		if (!scan_get(it.value, "name", &v) || !scan_string(v, &name))
			continue;
		list_add(names, arena, arena_strdup(arena, buf_cstr(&name)));
		if (scan_true(it.value, "required") &&
		    !(values.p && scan_get(values, buf_cstr(&name), &v)))
			buf_addf(missing, "%s%s", missing->n ? ", " : "",
				 buf_cstr(&name));
	}
}

/* Walk to the next key of `it` that is not among the names. */
static bool next_unknown(struct scan_iter *it, const struct strlist *names,
			 struct buf *key)
{
	while (scan_next(it)) {
		bool is_known = false;

		buf_clear(key);
		scan_string(it->key, key);
		for (size_t i = 0; i < names->n; i++)
			is_known |= str_is(buf_str(key), names->item[i]);
		if (!is_known)
			return true;
	}
	return false;
}

static int check_prompt(struct target *t, const struct listing *l,
			struct str values, struct err *err)
{
	AUTO(buf_release) struct buf missing = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	const char *name = t->args->positional[0];
	const struct listing_item *item = listing_find(l, str_of(name));
	struct strlist names;
	struct scan_iter it;

	if (!item)
		return target_unknown(t, l, name, err);
	look_at(item->json, values, &names, &missing, &t->arena);
	scan_iter_init(&it, values);
	while (next_unknown(&it, &names, &key))
		log_warning(
			"the prompt has no argument %s%s", buf_cstr(&key),
			args_meant(buf_str(&key), names.item, names.n).text);
	if (missing.n)
		return err_set(err, ERR_SYNTAX,
			       "prompt %s needs a value for %s: add NAME=TEXT",
			       name, buf_cstr(&missing));
	return 0;
}

/* Without a list the server names missing arguments. */
static int check_listed(struct target *t, struct str values, struct err *err)
{
	struct listing l;
	int r = target_list(t, LISTING_PROMPTS, false, &l, err);

	if (r == 0)
		r = check_prompt(t, &l, values, err);
	listing_release(&l);
	return r < 0 ? -1 : 0;
}

/* Print a message; older servers send a list of blocks. */
static int print_message(struct target *t, struct str message, struct err *err)
{
	AUTO(buf_release) struct buf role = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf list = BUF_INIT(BUF_UNBOUNDED);
	struct str content = scan_some(message, "content");

	if (!scan_string(scan_some(message, "role"), &role))
		buf_adds(&role, "?");
	target_show(t, buf_str(&role), false, &head);
	buf_adds(&head, ":\n");
	if (!content.p)
		content = STR("[]");
	if (scan_type(content) != SCAN_ARRAY) {
		buf_addf(&list, "[%.*s]", STR_ARG(content));
		content = buf_str(&list);
	}
	target_save_all(t, content);
	if (target_write(t, buf_str(&head), err) < 0)
		return -1;
	return target_put_content(t, content, false, err);
}

static int print_prompt(struct target *t, struct str result, struct err *err)
{
	struct str messages;

	if (read_array(result, "messages", &messages, err) < 0)
		return -1;
	for (struct scan_iter it = scan_over(messages); scan_next(&it);) {
		if (!t->json && print_message(t, it.value, err) < 0)
			return -1;
		if (t->json && scan_some(it.value, "content").p)
			target_save(t, scan_some(it.value, "content"), false);
	}
	if (target_say_saved(t, t->json, err) < 0)
		return -1;
	return t->json ? target_put(t, result, PUT_JSON, err) : 0;
}

/* arg  struct str: the arguments */
static int get_prompt(struct target *t, void *arg, struct err *err)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	const char *name = t->args->positional[0];
	const struct str *values = arg;
	struct str result;
	struct jw w;

	if (!args_has(t->args, "no-list") && check_listed(t, *values, err) < 0)
		return -1;
	w = jw_begin(&params);
	jw_kv_cstr(&w, "name", name);
	if (values->p)
		jw_kv_raw(&w, "arguments", *values);
	jw_end(&w);
	if (ask(t, "prompts/get", &params, name, &result, err) < 0 ||
	    print_prompt(t, result, err) < 0)
		return -1;
	return t->files.failed;
}

int cmd_prompt(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str values;

	if (tool_args_read(args, NULL, (struct str){NULL, 0}, &arena, &values,
			   err) < 0 ||
	    (values.p && all_strings(values, err) < 0))
		return -1;
	return target_run(args, TARGET_START, get_prompt, &values, err);
}

/* ---- read: a resource by its URI, or by a template filled in here ---- */

const struct option options_read[] = {
	{"args", 0, "JSON|@FILE|-", "values of a template as one JSON object"},
	{"output", 'o', "FILE", "write the contents to a file"},
	{"save", 0, "DIR", "write binary contents to files there"},
	{.letter = OPTIONS_TARGET},
};

struct reading {
	struct str uri;
	struct outfile output; /* file of -o; its path is NULL without */
};

static void warn_unfilled(struct str uri, struct arena *arena)
{
	struct strlist names = {0};

	if (uri_template_is(uri))
		names = uri_template_names(uri, arena);
	if (names.n)
		log_warning("%.*s is a template and is sent unchanged; to fill "
			    "it in, add %s=TEXT",
			    STR_ARG(uri), names.item[0]);
}

/* A value that the template does not know is a mistake. */
static int fill_template(struct str template, struct str values,
			 struct arena *arena, struct str *ret, struct err *err)
{
	AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	struct strlist names = uri_template_names(template, arena);
	struct scan_iter it;

	scan_iter_init(&it, values);
	if (next_unknown(&it, &names, &key))
		return err_set(
			err, ERR_USAGE, "the template has no variable %s%s",
			buf_cstr(&key),
			args_meant(buf_str(&key), names.item, names.n).text);
	if (uri_template_expand(template, values, &uri, err) < 0) {
		err->kind = ERR_USAGE;
		return -1;
	}
	*ret = arena_str(arena, buf_str(&uri));
	return 0;
}

static int find_uri(const struct args *args, struct arena *arena,
		    struct str *ret, struct err *err)
{
	struct str given = str_of(args->positional[0]), values;

	if (tool_args_read(args, NULL, (struct str){NULL, 0}, arena, &values,
			   err) < 0)
		return -1;
	*ret = given;
	if (!values.p) {
		warn_unfilled(given, arena);
		return 0; /* byte for byte (RES-3) */
	}
	if (!uri_template_is(given))
		return err_set(err, ERR_USAGE,
			       "read: %s is not a template and takes no values",
			       args->positional[0]);
	return fill_template(given, values, arena, ret, err);
}

static int add_item(struct target *t, struct str json, bool *ret_binary,
		    struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	struct content_block b;

	content_read_item(json, &b);
	if (b.is_odd)
		return err_set(err, ERR_PEER, "an item of the resource has %s",
			       b.text.p ? "both text and blob"
					: "neither text nor blob");
	if (b.text.p) {
		scan_string(b.text, &bytes);
	} else {
		*ret_binary = true;
		if (content_bytes(b.data, LIMIT_MESSAGE_BYTES_MAX, &bytes,
				  err) < 0)
			return -1;
	}
	scrub_apply(t->scrub, buf_str(&bytes), out);
	return 0;
}

static int print_bytes(struct target *t, struct outfile *output,
		       struct str bytes, bool binary, struct err *err)
{
	live_clear(&t->live);
	if (output->path) {
		/* a stream without a reader must not outlive SIGTERM */
		loop_give_signals_back();
		return outfile_write_str(output, bytes, err);
	}
	if (!isatty(STDOUT_FILENO))
		return target_write(t, bytes, err);
	if (binary && !args_has(t->args, "output"))
		return err_set(err, ERR_OUTPUT,
			       "binary contents are not printed on a terminal; "
			       "use -o FILE or --save DIR");
	return binary ? target_write(t, bytes, err)
		      : target_put(t, bytes, PUT_TEXT, err);
}

static int print_saved(struct target *t, struct str contents, struct err *err)
{
	for (struct scan_iter it = scan_over(contents); scan_next(&it);) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct content_block b;

		target_save(t, it.value, true);
		content_read_item(it.value, &b);
		if (!t->json && b.text.p && scan_string(b.text, &text) &&
		    target_put(t, buf_str(&text), PUT_TEXT, err) < 0)
			return -1;
	}
	if (target_say_saved(t, t->json, err) < 0)
		return -1;
	return t->files.failed;
}

static int print_contents(struct target *t, struct outfile *output,
			  struct str result, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str contents;
	bool binary = false;
	int got = 0;

	if (read_array(result, "contents", &contents, err) < 0)
		return -1;
	if (t->files.dir)
		got = print_saved(t, contents, err);
	if (got < 0)
		return got;
	if (t->json)
		return target_put(t, result, PUT_JSON, err) < 0 ? -1 : got;
	if (t->files.dir)
		return got;
	for (struct scan_iter it = scan_over(contents); scan_next(&it);)
		if (add_item(t, it.value, &binary, &out, err) < 0)
			return -1;
	return print_bytes(t, output, buf_str(&out), binary, err);
}

static int read_resource(struct target *t, void *arg, struct err *err)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct reading *r = arg;
	struct str result;
	struct jw w;

	if (path_check_links(r->output.path, &r->output.folder,
			     &t->policy.write, err) < 0)
		return -1;
	w = jw_begin(&params);
	jw_kv_str(&w, "uri", r->uri);
	jw_end(&w);
	if (ask(t, "resources/read", &params, "reading", &result, err) < 0)
		return -1;
	return print_contents(t, &r->output, result, err);
}

/* The file is looked up before the server starts, which might write there. */
int cmd_read(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct reading r = {.output = OUTFILE_INIT};
	int status;

	if (find_uri(args, &arena, &r.uri, err) < 0 ||
	    open_output(args, &r.output, err) < 0)
		return -1;
	status = target_run(args, TARGET_START, read_resource, &r, err);
	outfile_release(&r.output);
	return status;
}

/*
 * ---- complete ----
 *
 * completion/complete: what could stand for an argument of a prompt or of a
 * resource template (COM-1 to COM-4).
 */

const struct option options_complete[] = {
	{"context", 0, "NAME=TEXT", "an argument that is already set"},
	{.letter = OPTIONS_TARGET},
};

/* A server gives this many at most (COM-2). */
#define VALUES_MAX 100

static int write_ref(struct jw *w, const char *text, struct err *err)
{
	static const struct {
		const char *prefix, *type, *member;
	} refs[] = {
		{"prompt:", "ref/prompt", "name"},
		{"resource:", "ref/resource", "uri"},
	};

	for (size_t i = 0; i < ARRAY_LEN(refs); i++) {
		size_t n = strlen(refs[i].prefix);

		if (strncmp(text, refs[i].prefix, n) || !text[n])
			continue;
		jw_kv_object(w, "ref");
		jw_kv_cstr(w, "type", refs[i].type);
		jw_kv_cstr(w, refs[i].member, text + n);
		jw_end(w);
		return 0;
	}
	return err_set(
		err, ERR_USAGE,
		"complete: \"%s\" is neither prompt:NAME nor resource:TEMPLATE",
		text);
}

static int write_context(struct jw *w, const struct args *args,
			 struct arena *arena, struct err *err)
{
	const struct str none = {NULL, 0};
	struct str values;

	if (tool_args_read(args, "context", none, arena, &values, err) < 0)
		return err_wrap(err, "--context");
	if (!values.p)
		return 0;
	jw_kv_object(w, "context");
	jw_kv_raw(w, "arguments", values);
	jw_end(w);
	return 0;
}

static int write_params(const struct args *args, struct buf *out,
			struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jw w = jw_begin(out);

	if (write_ref(&w, args->positional[0], err) < 0)
		return -1;
	jw_kv_object(&w, "argument");
	jw_kv_cstr(&w, "name", args->positional[1]);
	jw_kv_cstr(&w, "value",
		   args->n_positional > 2 ? args->positional[2] : "");
	jw_end(&w);
	if (write_context(&w, args, &arena, err) < 0)
		return -1;
	jw_end(&w);
	return 0;
}

static int print_values(struct target *t, struct str values, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t n = 0;

	for (struct scan_iter it = scan_over(values); scan_next(&it);) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (!scan_string(it.value, &text))
			continue;
		if (n++ == VALUES_MAX) {
			log_warning("%s sent more than %d values; showing the "
				    "first ones",
				    t->name, VALUES_MAX);
			break;
		}
		target_show(t, buf_str(&text), false, &out);
		buf_addc(&out, '\n');
	}
	return target_write(t, buf_str(&out), err);
}

/* arg  struct buf: the params */
static int complete(struct target *t, void *arg, struct err *err)
{
	struct str result, completion, values;

	if (ask(t, "completion/complete", arg, "completing", &result, err) < 0)
		return -1;
	if (!scan_get_some(result, "completion", &completion) ||
	    !scan_get_some(completion, "values", &values) ||
	    scan_type(values) != SCAN_ARRAY)
		return err_set(err, ERR_PEER,
			       "the server's answer lacks completion.values");
	if (t->json)
		return target_put(t, result, PUT_JSON, err);
	if (print_values(t, values, err) < 0)
		return -1;
	if (scan_true(completion, "hasMore"))
		log_note("the server has more values");
	return 0;
}

int cmd_complete(const struct args *args, struct err *err)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);

	if (write_params(args, &params, err) < 0)
		return -1;
	return target_run(args, TARGET_START, complete, &params, err);
}
