/*
 * resources/read of a URI, or of a template that is filled in here.
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
#include "core/mcp/wire/content.h"
#include "core/mcp/wire/uri_template.h"
#include "core/config/paths.h"

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

static int print_all(struct reading *r, struct str result, struct err *err)
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
	return print_all(r, result, err);
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
