#include "core/cli/report_print.h"

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/cli/put.h"
#include "core/report/render.h"

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
