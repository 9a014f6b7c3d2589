#include "core/cli/put.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/report/render.h"

static int on_terminal(struct str bytes, enum put_form form, struct err *err)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	if (form == PUT_JSON)
		log_visible_json(&shown, bytes);
	else
		log_visible(&shown, bytes, true);
	return fd_write_all(STDOUT_FILENO, shown.p, shown.n) < 0
		       ? err_sys(err, errno, "stdout")
		       : 0;
}

int put(struct str bytes, enum put_form form, struct err *err)
{
	if (isatty(STDOUT_FILENO))
		return on_terminal(bytes, form, err);
	return fd_write_all(STDOUT_FILENO, bytes.p, bytes.n) < 0
		       ? err_sys(err, errno, "stdout")
		       : 0;
}

/* Print a content that is made while it is written. */
static int put_print(const struct fd_text *text, enum put_form form,
		     struct err *err)
{
	AUTO(buf_release) struct buf whole = BUF_INIT(BUF_UNBOUNDED);

	if (isatty(STDOUT_FILENO)) {
		text->print(text->arg, &whole);
		return on_terminal(buf_str(&whole), form, err);
	}
	return fd_print(STDOUT_FILENO, text) < 0 ? err_sys(err, errno, "stdout")
						 : 0;
}

/* ---- reports ---- */

int print_options_read(const struct args *args, struct print_options *ret,
		       struct err *err)
{
	static const char *const forms[] = {"json", "data", "md", "html"};
	const char *output = args_get(args, "output");

	*ret = (struct print_options){.form = "text", .output = OUTFILE_INIT};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (!args_has(args, forms[i]))
			continue;
		if (strcmp(ret->form, "text"))
			return err_set(err, ERR_USAGE,
				       "use --%s or --%s, not both", ret->form,
				       forms[i]);
		ret->form = forms[i];
	}
	ret->pretty = args_has(args, "pretty");
	ret->view = args_get(args, "view");
	if (ret->view && strcmp(ret->view, "full") &&
	    strcmp(ret->view, "golden"))
		return args_bad("view", ret->view, "full or golden", err);
	ret->to_file = output && strcmp(output, "-") != 0;
	return ret->to_file ? outfile_open(&ret->output, output,
					   OUTFILE_REPLACE, err)
			    : 0;
}

void print_options_release(struct print_options *o)
{
	outfile_release(&o->output);
}

/* Argument of print_it(). */
struct printed {
	const struct report *report;
	const char *form;
	struct render_options options;
};

static void print_it(const void *arg, struct buf *out)
{
	const struct printed *p = arg;

	render_find(p->form)->print(p->report, &p->options, out);
}

int print_report(const struct report *r, struct print_options *o,
		 struct err *err)
{
	const struct printed printed = {
		.report = r,
		.form = o->form,
		.options = {.view = o->view && strcmp(o->view, "golden") == 0
					    ? VIEW_GOLDEN
					    : VIEW_FULL,
			    .pretty = o->pretty,
			    .single = o->single},
	};
	const bool is_json =
		!strcmp(o->form, "json") || !strcmp(o->form, "data");
	const struct fd_text text = {print_it, &printed};

	if (o->to_file)
		return outfile_write(&o->output, &text, err);
	return put_print(&text, is_json ? PUT_JSON : PUT_TEXT, err);
}
