/*
 * prompts/get: arguments are strings, and those that are required are asked
 * for before anything is sent (PRM-2, PRM-4).
 */
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/content_show.h"
#include "core/cli/tool_args.h"

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

static int print_all(struct target *t, struct str result,
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
		r = print_all(t, result, files, err);
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
