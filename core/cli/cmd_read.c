/*
 * resources/read of a URI, or of a template that is filled in here.
 */
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/content_show.h"
#include "core/cli/target.h"
#include "core/cli/tool_args.h"
#include "core/proto/content.h"
#include "core/proto/uri_template.h"

const struct option options_read[] = {
	{"args", 0, "JSON|@FILE|-", "values of a template as one JSON object"},
	{"output", 'o', "FILE", "write what was read to a file"},
	{"save", 0, "DIR", "write binary contents to files there"},
	TARGET_OPTIONS,
	{0},
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
		const char *near;

		scan_string(it.key, &key);
		if (is_listed(&names, buf_str(&key)))
			continue;
		near = str_nearest(buf_str(&key), names.item, names.n);
		return err_set(err, ERR_USAGE, "the template has no %s%s%s%s",
			       buf_cstr(&key), near ? "; did you mean " : "",
			       near ? near : "", near ? "?" : "");
	}
	return 0;
}

static void warn_unfilled(struct str uri, struct arena *arena)
{
	struct strlist names = {0};

	if (uri_template_is(uri))
		names = uri_template_names(uri, arena);
	if (names.n)
		log_warning("this is a template, sent as it is: values are "
			    "given as %s=TEXT",
			    names.item[0]);
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
			       "read: %s is no template, and takes no values",
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

/* ---- what came ---- */

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

static int print_bytes(struct target *t, const struct args *args,
		       struct buf *out, bool binary, struct err *err)
{
	const char *file = args_get(args, "output");

	live_clear(&t->live);
	if (file && strcmp(file, "-"))
		return fd_write_file(file, buf_str(out), err);
	if (!isatty(STDOUT_FILENO))
		return target_write(buf_str(out), err);
	if (binary && !file)
		return err_set(err, ERR_UNKNOWN,
			       "these are no texts but bytes, which are not "
			       "for a terminal: -o FILE, or --save DIR");
	return binary ? target_write(buf_str(out), err)
		      : target_put_text(t, buf_str(out), err);
}

static int print_saved(struct target *t, struct str contents, const char *dir,
		       struct err *err)
{
	struct content_files files;
	struct scan_iter it;
	int r;

	r = content_files_open(&files, dir, LIMIT_MESSAGE_BYTES_MAX, err);
	scan_iter_init(&it, contents);
	while (r == 0 && scan_next(&it)) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct content_block b;

		content_save(&files, it.value, true);
		content_read_item(it.value, &b);
		if (!t->json && b.text.p && scan_string(b.text, &text))
			r = target_put_text(t, buf_str(&text), err);
	}
	if (r == 0 && !t->json)
		r = target_write(buf_str(&files.said), err);
	else if (r == 0 && files.said.n)
		log_note("saved %.*s", (int)files.said.n - 1,
			 buf_cstr(&files.said));
	if (r == 0)
		r = files.failed;
	content_files_release(&files);
	return r;
}

static int print_all(struct target *t, const struct args *args,
		     struct str result, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *dir = args_get(args, "save");
	struct scan_iter it;
	struct str contents;
	bool binary = false;
	int r = 0;

	if (!scan_get_some(result, "contents", &contents) ||
	    scan_type(contents) != SCAN_ARRAY)
		return err_set(err, ERR_PEER,
			       "the server's answer has no array \"contents\"");
	if (dir)
		r = print_saved(t, contents, dir, err);
	if (r < 0)
		return r;
	if (t->json)
		return target_put_json(t, result, err) < 0 ? -1 : r;
	if (dir)
		return r;
	scan_iter_init(&it, contents);
	while (scan_next(&it))
		if (add_item(t, it.value, &binary, &out, err) < 0)
			return -1;
	return print_bytes(t, args, &out, binary, err);
}

static int read_one(struct target *t, const struct args *args, struct str uri,
		    struct err *err)
{
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
	return print_all(t, args, result, err);
}

int cmd_read(const struct command *cmd, int argc, char **argv, struct err *err)
{
	AUTO(args_release) struct args args = {0};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct target t;
	struct str uri;
	int status;

	if (args_parse(cmd, argc, argv, &args, err) < 0)
		return -1;
	if (args.help) {
		target_help();
		return 0;
	}
	if (!args.n_positional)
		return err_set(err, ERR_USAGE,
			       "read: name a URI, or a template with its "
			       "values; `matins resources` lists them");
	if (find_uri(&args, &arena, &uri, err) < 0)
		return -1;
	status = target_open(&t, &args, err);
	if (status == 0)
		status = read_one(&t, &args, uri, err);
	return target_close(&t, status, err);
}
