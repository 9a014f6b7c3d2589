/*
 * Tools, resources and prompts of a server as tables for people.
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
#include "core/cli/content_show.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"
#include "core/client/tool_check.h"
#include "core/config/paths.h"
#include "core/mcp/wire/content.h"
#include "core/mcp/wire/uri_template.h"
#include "core/schema/describe.h"

/* Longest text of one line in a list. */
#define LINE_CHARS 100

const struct option options_tools[] = {
#include "core/cli/target_options.def"
	{0}};
/* NOLINTBEGIN(readability-duplicate-include): rows, included once a table */
const struct option options_prompts[] = {
#include "core/cli/target_options.def"
	{0}};
const struct option options_resources[] = {
#include "core/cli/target_options.def"
	{0}};
/* NOLINTEND(readability-duplicate-include) */

/* ---- texts ---- */

static struct str member(struct str object, const char *name)
{
	struct str v;

	return scan_get_some(object, name, &v) ? v : (struct str){NULL, 0};
}

/* A string of the server on one line; false when there is none. */
static bool add_text(const struct target *t, struct str json, size_t max,
		     struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str s;

	if (!json.p || !scan_string(json, &text))
		return false;
	s = str_trim(buf_str(&text));
	if (max && str_find(s, '\n') < s.n) {
		s.n = str_find(s, '\n');
		max = max < s.n ? max : s.n + 3;
	}
	if (!s.n)
		return false;
	if (max && s.n > max) {
		s = str_first(s, max);
		target_show(t, s, false, out);
		buf_adds(out, "…");
	} else {
		target_show(t, s, !max, out);
	}
	return true;
}

/* Indent all lines of a text. */
static void add_indented(struct str text, const char *indent, struct buf *out)
{
	while (text.p) {
		struct str line = str_cut(&text, '\n');

		buf_adds(out, line.n ? indent : "");
		buf_add_str(out, line);
		buf_addc(out, '\n');
	}
}

/* Name, and the title where it says something else (TL-7). */
static void add_head(const struct target *t, const struct listing_item *item,
		     struct buf *out)
{
	AUTO(buf_release) struct buf title = BUF_INIT(BUF_UNBOUNDED);
	struct str annotations = member(item->json, "annotations"), name;

	target_show(t, item->name, false, out);
	name = member(item->json, "title");
	if (!name.p && annotations.p)
		name = member(annotations, "title");
	if (!name.p)
		name = member(item->json, "name");
	if (name.p && !scan_is(name, "") &&
	    add_text(t, name, LINE_CHARS, &title) &&
	    !str_eq(buf_str(&title), item->name))
		buf_addf(out, " — %s", buf_cstr(&title));
	buf_addc(out, '\n');
}

/* ---- arguments of a tool ---- */

static void add_types(const struct schema_property *p, struct buf *out)
{
	bool any = false;

	for (unsigned bit = 1; bit <= SCHEMA_TYPE_OBJECT; bit <<= 1) {
		if (!(p->types & bit))
			continue;
		/* every integer is a number */
		if (bit == SCHEMA_TYPE_INTEGER &&
		    (p->types & SCHEMA_TYPE_NUMBER))
			continue;
		buf_addf(out, "%s%s", any ? "|" : "",
			 schema_type_name((enum schema_type)bit));
		any = true;
	}
	if (!any)
		buf_adds(out, "any");
}

static void add_choices(const struct target *t, const struct schema_property *p,
			struct buf *out)
{
	for (size_t i = 0; i < p->n_choices && i < 20; i++) {
		buf_adds(out, i ? ", " : "; ");
		target_show(t, p->choice[i].value, false, out);
	}
	if (p->n_choices > 20)
		buf_addf(out, ", … (%zu)", p->n_choices);
}

static size_t width_of(const struct schema_property *p, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i].name.n > width && p[i].name.n <= 24)
			width = p[i].name.n;
	return width;
}

static void add_property(const struct target *t,
			 const struct schema_property *p, size_t width,
			 bool whole, struct buf *out)
{
	size_t before;

	buf_adds(out, "    ");
	before = out->n;
	target_show(t, p->name, false, out);
	while (out->n < before + width)
		buf_addc(out, ' ');
	buf_adds(out, "  ");
	add_types(p, out);
	if (p->is_required)
		buf_adds(out, ", required");
	if (p->fallback.p) {
		buf_adds(out, ", default ");
		target_show(t, str_first(p->fallback, 200), false, out);
	}
	add_choices(t, p, out);
	buf_addc(out, '\n');
	if (!whole || !p->description.n)
		return;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	target_show(t, str_trim(p->description), true, &text);
	add_indented(buf_str(&text), "        ", out);
}

static void add_properties(const struct target *t, struct str schema,
			   bool whole, struct buf *out)
{
	AUTO(schema_freep) struct schema *s = NULL;
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct schema_property *property;
	struct err err = ERR_INIT;
	size_t n, width;

	if (schema_compile(schema, NULL, &s, &err) < 0) {
		buf_adds(out, "    (the schema is unusable: ");
		target_show(t, str_of(err.msg), false, out);
		buf_adds(out, ")\n");
		return;
	}
	n = schema_properties(s, &arena, &property);
	width = width_of(property, n);
	for (size_t i = 0; i < n; i++)
		add_property(t, &property[i], width, whole, out);
}

/* ---- arguments of a prompt ---- */

static bool is_true(struct str json)
{
	return json.p && scan_type(json) == SCAN_TRUE;
}

static void add_arguments(const struct target *t, struct str list,
			  struct buf *out)
{
	struct scan_iter it;

	scan_iter_init(&it, list);
	while (scan_next(&it)) {
		struct str name = member(it.value, "name");

		if (!name.p || scan_type(name) != SCAN_STRING)
			continue;
		buf_adds(out, "    ");
		add_text(t, name, LINE_CHARS, out);
		buf_adds(out, is_true(member(it.value, "required"))
				      ? "  required"
				      : "");
		buf_adds(out, "  ");
		if (!add_text(t, member(it.value, "description"), LINE_CHARS,
			      out))
			out->n -= 2;
		buf_addc(out, '\n');
	}
}

static void add_type(const struct target *t, struct str json, struct buf *out)
{
	AUTO(buf_release) struct buf mime = BUF_INIT(BUF_UNBOUNDED);

	if (add_text(t, member(json, "mimeType"), LINE_CHARS, &mime))
		buf_addf(out, "    %s\n", buf_cstr(&mime));
}

/* Show an entry of a list: name, title, description, arguments. */
static void show_item(const struct target *t, enum listing_kind kind,
		      const struct listing_item *item, struct buf *out)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct str json = item->json;

	add_head(t, item, out);
	if (add_text(t, member(json, "description"), LINE_CHARS, &line))
		buf_addf(out, "  %s\n", buf_cstr(&line));
	switch (kind) {
	case LISTING_TOOLS:
		if (tool_input_schema(json).p)
			add_properties(t, tool_input_schema(json), false, out);
		break;
	case LISTING_PROMPTS:
		if (member(json, "arguments").p)
			add_arguments(t, member(json, "arguments"), out);
		break;
	case LISTING_RESOURCES:
	case LISTING_TEMPLATES:
		add_type(t, json, out);
		break;
	}
}

static const struct hint {
	const char *key, *if_true, *if_false;
} hints[] = {
	{"readOnlyHint", "read-only", "not read-only"},
	{"destructiveHint", "destructive", "not destructive"},
	{"idempotentHint", "idempotent", "not idempotent"},
	{"openWorldHint", "open world", "closed world"},
};

/* A hint in words; of an unknown one its key and value. */
static void add_hint(const struct target *t, struct str key, struct str value,
		     struct buf *out)
{
	bool is_set = scan_type(value) == SCAN_TRUE;

	for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
		if (!str_is(key, hints[i].key))
			continue;
		buf_adds(out, is_set ? hints[i].if_true : hints[i].if_false);
		return;
	}
	target_show(t, key, false, out);
	buf_addf(out, " %.*s", STR_ARG(value));
}

static void add_hints(const struct target *t, struct str annotations,
		      struct buf *out)
{
	struct scan_iter it;
	bool any = false;

	scan_iter_init(&it, annotations);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (scan_type(it.value) != SCAN_TRUE &&
		    scan_type(it.value) != SCAN_FALSE)
			continue;
		scan_string(it.key, &key);
		buf_adds(out, any ? ", " : "  hints from the server: ");
		add_hint(t, buf_str(&key), it.value, out);
		any = true;
	}
	buf_adds(out, any ? "\n" : "");
}

/* Show the whole entry of one tool. */
static void show_tool(const struct target *t, const struct listing_item *item,
		      struct buf *out)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str json = item->json, output = member(json, "outputSchema");

	add_head(t, item, out);
	if (add_text(t, member(json, "description"), 0, &text))
		add_indented(buf_str(&text), "  ", out);
	buf_adds(out, "\n  takes\n");
	if (tool_input_schema(json).p)
		add_properties(t, tool_input_schema(json), true, out);
	if (output.p) {
		buf_adds(out, "\n  gives\n");
		add_properties(t, output, true, out);
	}
	if (member(json, "annotations").p) {
		buf_addc(out, '\n');
		add_hints(t, member(json, "annotations"), out);
	}
}

/* ---- whole lists ---- */

static void write_members(const struct listing *l, struct jw *w)
{
	jw_kv_array(w, listing_member(l->kind));
	for (size_t i = 0; i < l->n; i++)
		jw_raw(w, l->item[i].json);
	jw_end(w);
}

static int print_json(struct target *t, const struct listing *l,
		      const struct listing *more, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_object(&w);
	write_members(l, &w);
	if (more)
		write_members(more, &w);
	jw_end(&w);
	return target_put_json(t, buf_str(&out), err);
}

static void show_all(const struct target *t, const struct listing *l,
		     struct buf *out)
{
	for (size_t i = 0; i < l->n; i++)
		show_item(t, l->kind, &l->item[i], out);
}

/* more  another listing of the same document; NULL for none */
static int print_lists(struct target *t, const struct listing *l,
		       const struct listing *more, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (t->json)
		return print_json(t, l, more, err);
	show_all(t, l, &out);
	if (more)
		show_all(t, more, &out);
	if (!out.n)
		log_note("%s lists none", t->name);
	live_clear(&t->live);
	return target_write(buf_str(&out), err);
}

/* ---- the commands ---- */

static int show_one(struct target *t, const struct listing *l, const char *name,
		    struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct listing_item *item = listing_find(l, str_of(name));

	if (!item)
		return target_unknown(t, l, name, err);
	if (t->json)
		return target_put_json(t, item->json, err);
	show_tool(t, item, &out);
	return target_write(buf_str(&out), err);
}

/* Servers with resources need not know of templates. */
static int try_templates(struct target *t, struct listing *l, struct err *err)
{
	enum log_level before = log_level();
	int r;

	if (before < LOG_DEBUG)
		log_set_level(LOG_ERROR);
	r = target_try_list(t, LISTING_TEMPLATES, l, err);
	log_set_level(before);
	return r < 0 ? -1 : 0;
}

static int show_kind(struct target *t, enum listing_kind kind, const char *name,
		     struct err *err)
{
	bool has_more = kind == LISTING_RESOURCES;
	struct listing l, templates;
	int r;

	listing_init(&templates, LISTING_TEMPLATES);
	r = target_list(t, kind, &l, err);
	if (r == 0 && has_more)
		r = try_templates(t, &templates, err);
	if (r == 0 && name)
		r = show_one(t, &l, name, err);
	else if (r == 0)
		r = print_lists(t, &l, has_more ? &templates : NULL, err);
	listing_release(&templates);
	listing_release(&l);
	return r;
}

static int list(const struct args *args, enum listing_kind kind,
		struct err *err)
{
	struct target t;
	int status = target_open(&t, args, err);

	if (status == 0)
		status = show_kind(&t, kind, args->positional[0], err);
	return target_close(&t, status, err);
}

int cmd_tools(const struct args *args, struct err *err)
{
	return list(args, LISTING_TOOLS, err);
}

int cmd_prompts(const struct args *args, struct err *err)
{
	return list(args, LISTING_PROMPTS, err);
}

int cmd_resources(const struct args *args, struct err *err)
{
	return list(args, LISTING_RESOURCES, err);
}

/* ---- prompt ---- */

const struct option options_prompt[] = {
	{"args", 0, "JSON|@FILE|-", "all arguments as one JSON object"},
	{"no-list", 0, NULL, "do not ask for the list of prompts first"},
	{"save", 0, "DIR", "write images and other bytes to files there"},
#include "core/cli/target_options.def"
	{0},
};

/* ---- arguments ---- */

static int all_strings(struct str values, struct err *err)
{
	struct scan_iter it;

	scan_iter_init(&it, values);
	while (scan_next(&it))
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
	struct scan_iter it;
	struct str list, v;

	*names = (struct strlist){NULL, 0};
	if (!scan_get_some(prompt, "arguments", &list))
		return;
	names->item = ARENA_ARRAY(arena, const char *, scan_count(list) + 1);
	scan_iter_init(&it, list);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

		if (!scan_get(it.value, "name", &v) || !scan_string(v, &name))
			continue;
		names->item[names->n++] = arena_strdup(arena, buf_cstr(&name));
		if (scan_get(it.value, "required", &v) &&
		    scan_type(v) == SCAN_TRUE &&
		    !(values.p && scan_get(values, buf_cstr(&name), &v)))
			buf_addf(missing, "%s%s", missing->n ? ", " : "",
				 buf_cstr(&name));
	}
}

static void hint_names(const struct strlist *names, struct str values)
{
	struct scan_iter it;

	scan_iter_init(&it, values);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
		bool known = false;

		scan_string(it.key, &key);
		for (size_t i = 0; i < names->n; i++)
			known |= str_is(buf_str(&key), names->item[i]);
		if (!known)
			log_warning(
				"the prompt has no argument %s%s",
				buf_cstr(&key),
				args_meant(buf_str(&key), names->item, names->n)
					.text);
	}
}

static int check_prompt(struct target *t, const struct listing *l,
			const char *name, struct str values, struct err *err)
{
	AUTO(buf_release) struct buf missing = BUF_INIT(BUF_UNBOUNDED);
	const struct listing_item *item = listing_find(l, str_of(name));
	struct strlist names;

	if (!item)
		return target_unknown(t, l, name, err);
	look_at(item->json, values, &names, &missing, &t->arena);
	if (values.p)
		hint_names(&names, values);
	if (missing.n)
		return err_set(err, ERR_SYNTAX,
			       "prompt %s needs a value for %s: add NAME=TEXT",
			       name, buf_cstr(&missing));
	return 0;
}

static int check_listed(struct target *t, const char *name, struct str values,
			struct err *err)
{
	struct listing l;
	int r = target_try_list(t, LISTING_PROMPTS, &l, err);

	if (r == 0)
		r = check_prompt(t, &l, name, values, err);
	else if (r > 0)
		r = 0; /* the server names missing arguments */
	listing_release(&l);
	return r;
}

/* ---- the answer ---- */

/* Print a message; older servers send a list of blocks. */
static int print_message(struct target *t, struct str message,
			 struct content_files *files, struct err *err)
{
	AUTO(buf_release) struct buf role = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf head = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf list = BUF_INIT(BUF_UNBOUNDED);
	struct str v, content;

	if (!scan_get_some(message, "role", &v) || !scan_string(v, &role))
		buf_adds(&role, "?");
	target_show(t, buf_str(&role), false, &head);
	buf_adds(&head, ":\n");
	if (!scan_get_some(message, "content", &content))
		content = STR("[]");
	if (scan_type(content) != SCAN_ARRAY) {
		buf_addf(&list, "[%.*s]", STR_ARG(content));
		content = buf_str(&list);
	}
	content_save_all(files, content, false);
	live_clear(&t->live);
	if (target_write(buf_str(&head), err) < 0)
		return -1;
	return content_print(t, content, false, err);
}

static int print_messages(struct target *t, struct str messages,
			  struct content_files *files, struct err *err)
{
	struct scan_iter it;

	scan_iter_init(&it, messages);
	while (scan_next(&it))
		if (print_message(t, it.value, files, err) < 0)
			return -1;
	return content_files_report(files, false, err);
}

static int print_prompt(struct target *t, struct str result,
			struct content_files *files, struct err *err)
{
	struct scan_iter it;
	struct str messages, content;

	if (!scan_get_some(result, "messages", &messages) ||
	    scan_type(messages) != SCAN_ARRAY)
		return err_set(
			err, ERR_PEER,
			"the server's answer lacks the array \"messages\"");
	if (!t->json)
		return print_messages(t, messages, files, err);
	scan_iter_init(&it, messages);
	while (scan_next(&it))
		if (scan_get_some(it.value, "content", &content))
			content_save(files, content, false);
	if (content_files_report(files, true, err) < 0)
		return -1;
	return target_put_json(t, result, err);
}

static int get_prompt(struct target *t, const struct args *args,
		      struct str values, struct content_files *files,
		      struct err *err)
{
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	const char *name = args->positional[0];
	struct client_call call = {.method = "prompts/get"};
	struct str result;
	struct jw w;
	int r;

	if (!args_has(args, "no-list") &&
	    check_listed(t, name, values, err) < 0)
		return -1;
	jw_init(&w, &params, false);
	jw_object(&w);
	jw_kv_cstr(&w, "name", name);
	if (values.p)
		jw_kv_raw(&w, "arguments", values);
	jw_end(&w);
	call.params = buf_str(&params);
	r = target_result(t, &call, name, &t->arena, &result, err);
	if (r == 0)
		r = print_prompt(t, result, files, err);
	return r == 0 ? files->failed : r;
}

int cmd_prompt(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct str none = {NULL, 0};
	struct content_files files;
	struct target t;
	struct str values;
	int status;

	if (tool_args_read(args->positional + 1, args->n_positional - 1,
			   args_get(args, "args"), none, &arena, &values,
			   err) < 0 ||
	    (values.p && all_strings(values, err) < 0) ||
	    content_files_open(&files, args_get(args, "save"), err) < 0)
		return -1;
	status = target_open(&t, args, err);
	if (status == 0)
		status = content_files_check(&files, &t, err);
	if (status == 0)
		status = get_prompt(&t, args, values, &files, err);
	content_files_release(&files);
	return target_close(&t, status, err);
}

/* ---- read ---- */

const struct option options_read[] = {
	{"args", 0, "JSON|@FILE|-", "values of a template as one JSON object"},
	{"output", 'o', "FILE", "write the contents to a file"},
	{"save", 0, "DIR", "write binary contents to files there"},
#include "core/cli/target_options.def"
	{0},
};

struct reading {
	const struct args *args;
	struct target *t;
	struct content_files files; /* files of --save */
	bool to_file;
	struct outfile output; /* file of -o, when to_file */
};

/* ---- which ---- */

static bool is_listed(const struct strlist *l, struct str name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_is(name, l->item[i]))
			return true;
	return false;
}

/* A value that the template does not know is a mistake. */
static int check_names(struct str template, struct str values,
		       struct arena *arena, struct err *err)
{
	struct strlist names = uri_template_names(template, arena);
	struct scan_iter it;

	scan_iter_init(&it, values);
	while (scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		scan_string(it.key, &key);
		if (is_listed(&names, buf_str(&key)))
			continue;
		return err_set(
			err, ERR_USAGE, "the template has no variable %s%s",
			buf_cstr(&key),
			args_meant(buf_str(&key), names.item, names.n).text);
	}
	return 0;
}

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

static int find_uri(const struct args *args, struct arena *arena,
		    struct str *ret, struct err *err)
{
	AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);
	struct str given = str_of(args->positional[0]), values;
	const struct str none = {NULL, 0};

	if (tool_args_read(args->positional + 1, args->n_positional - 1,
			   args_get(args, "args"), none, arena, &values,
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
	if (check_names(given, values, arena, err) < 0)
		return -1;
	if (uri_template_expand(given, values, &uri, err) < 0) {
		err->kind = ERR_USAGE;
		return -1;
	}
	*ret = arena_str(arena, buf_str(&uri));
	return 0;
}

/* ---- the answer ---- */

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

static int print_bytes(struct reading *r, struct buf *out, bool binary,
		       struct err *err)
{
	struct target *t = r->t;

	live_clear(&t->live);
	if (r->to_file) {
		/* a stream without a reader must not outlive SIGTERM */
		loop_give_signals_back();
		return outfile_write_str(&r->output, buf_str(out), err);
	}
	if (!isatty(STDOUT_FILENO))
		return target_write(buf_str(out), err);
	if (binary && !args_has(r->args, "output"))
		return err_set(err, ERR_OUTPUT,
			       "binary contents are not printed on a terminal; "
			       "use -o FILE or --save DIR");
	return binary ? target_write(buf_str(out), err)
		      : target_put_text(t, buf_str(out), err);
}

static int print_saved(struct reading *r, struct str contents, struct err *err)
{
	struct content_files *files = &r->files;
	struct target *t = r->t;
	struct scan_iter it;
	int got = 0;

	scan_iter_init(&it, contents);
	while (got == 0 && scan_next(&it)) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct content_block b;

		content_save(files, it.value, true);
		content_read_item(it.value, &b);
		if (!t->json && b.text.p && scan_string(b.text, &text))
			got = target_put_text(t, buf_str(&text), err);
	}
	if (got == 0)
		got = content_files_report(files, t->json, err);
	return got == 0 ? files->failed : got;
}

static int print_contents(struct reading *r, struct str result, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	struct str contents;
	bool binary = false;
	int got = 0;

	if (!scan_get_some(result, "contents", &contents) ||
	    scan_type(contents) != SCAN_ARRAY)
		return err_set(
			err, ERR_PEER,
			"the server's answer lacks the array \"contents\"");
	if (r->files.dir)
		got = print_saved(r, contents, err);
	if (got < 0)
		return got;
	if (r->t->json)
		return target_put_json(r->t, result, err) < 0 ? -1 : got;
	if (r->files.dir)
		return got;
	scan_iter_init(&it, contents);
	while (scan_next(&it))
		if (add_item(r->t, it.value, &binary, &out, err) < 0)
			return -1;
	return print_bytes(r, &out, binary, err);
}

static int read_one(struct reading *r, struct str uri, struct err *err)
{
	struct target *t = r->t;
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct client_call call = {.method = "resources/read"};
	struct str result;
	struct jw w;

	jw_init(&w, &params, false);
	jw_object(&w);
	jw_kv_str(&w, "uri", uri);
	jw_end(&w);
	call.params = buf_str(&params);
	if (target_result(t, &call, "reading", &t->arena, &result, err) < 0)
		return -1;
	return print_contents(r, result, err);
}

/* Open the outputs before the server starts: it might write there. */
static int open_outputs(struct reading *r, struct err *err)
{
	const char *file = args_get(r->args, "output");

	r->to_file = file && strcmp(file, "-") != 0;
	if (r->to_file &&
	    outfile_open(&r->output, file, OUTFILE_REPLACE, err) < 0)
		return -1;
	return content_files_open(&r->files, args_get(r->args, "save"), err);
}

static int read_it(struct reading *r, struct str uri, struct err *err)
{
	int status;

	if (open_outputs(r, err) < 0)
		return -1;
	status = target_open(r->t, r->args, err);
	if (status == 0)
		status = path_check_links(r->output.path, &r->output.folder,
					  &r->t->policy.write, err);
	if (status == 0)
		status = content_files_check(&r->files, r->t, err);
	if (status == 0)
		status = read_one(r, uri, err);
	return target_close(r->t, status, err);
}

int cmd_read(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct target t;
	struct reading r = {.args = args,
			    .t = &t,
			    .files = CONTENT_FILES_INIT,
			    .output = OUTFILE_INIT};
	struct str uri;
	int status;

	if (find_uri(args, &arena, &uri, err) < 0)
		return -1;
	status = read_it(&r, uri, err);
	content_files_release(&r.files);
	outfile_release(&r.output);
	return status;
}

/* ---- complete ---- */

const struct option options_complete[] = {
	{"context", 0, "NAME=TEXT", "an argument that is already set"},
#include "core/cli/target_options.def"
	{0},
};

/* A server gives this many at most (COM-2). */
#define VALUES_MAX 100

/* ---- asking ---- */

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
	struct strlist given = args_all(args, "context", arena);
	char **words = ARENA_ARRAY(arena, char *, given.n + 1);
	const struct str none = {NULL, 0};
	struct str values;

	if (!given.n)
		return 0;
	for (size_t i = 0; i < given.n; i++)
		words[i] = arena_strdup(arena, given.item[i]);
	if (tool_args_read(words, given.n, NULL, none, arena, &values, err) < 0)
		return err_wrap(err, "--context");
	jw_kv_object(w, "context");
	jw_kv_raw(w, "arguments", values);
	jw_end(w);
	return 0;
}

static int write_params(const struct args *args, struct arena *arena,
			struct buf *out, struct err *err)
{
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	if (write_ref(&w, args->positional[0], err) < 0)
		return -1;
	jw_kv_object(&w, "argument");
	jw_kv_cstr(&w, "name", args->positional[1]);
	jw_kv_cstr(&w, "value",
		   args->n_positional > 2 ? args->positional[2] : "");
	jw_end(&w);
	if (write_context(&w, args, arena, err) < 0)
		return -1;
	jw_end(&w);
	return 0;
}

/* ---- the answer ---- */

static int print_values(struct target *t, struct str values, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct scan_iter it;
	size_t n = 0;

	scan_iter_init(&it, values);
	while (scan_next(&it)) {
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
	live_clear(&t->live);
	return target_write(buf_str(&out), err);
}

static int print_completion(struct target *t, struct str result,
			    struct err *err)
{
	struct str completion, values, v;

	if (!scan_get_some(result, "completion", &completion) ||
	    !scan_get_some(completion, "values", &values) ||
	    scan_type(values) != SCAN_ARRAY)
		return err_set(err, ERR_PEER,
			       "the server's answer lacks completion.values");
	if (t->json)
		return target_put_json(t, result, err);
	if (print_values(t, values, err) < 0)
		return -1;
	if (scan_get(completion, "hasMore", &v) && scan_type(v) == SCAN_TRUE)
		log_note("the server has more values");
	return 0;
}

static int complete(struct target *t, struct str params, struct err *err)
{
	struct client_call call = {
		.method = "completion/complete",
		.params = params,
	};
	struct str result;

	if (target_result(t, &call, "completing", &t->arena, &result, err) < 0)
		return -1;
	return print_completion(t, result, err);
}

int cmd_complete(const struct args *args, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf params = BUF_INIT(BUF_UNBOUNDED);
	struct target t;
	int status;

	if (write_params(args, &arena, &params, err) < 0)
		return -1;
	status = target_open(&t, args, err);
	if (status == 0)
		status = complete(&t, buf_str(&params), err);
	return target_close(&t, status, err);
}
