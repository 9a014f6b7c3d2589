/*
 * Graph of a routine: which steps each one waits for, as text or for another
 * program.
 */
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/config/graph.h"

const struct option options_graph[] = {
	{"format", 0, "text|dot|mermaid", "print it in this form"},
	{"json", 0, NULL, "print one JSON document"},
	{0},
};

static int find_format(const struct args *args, const struct graph_format **ret,
		       struct err *err)
{
	const char *name = args_get(args, "format");

	if (name && args_has(args, "json"))
		return err_set(err, ERR_USAGE,
			       "graph: use only one of --json and --format");
	for (*ret = graph_formats; (*ret)->name; (*ret)++)
		if (!name || strcmp((*ret)->name, name) == 0)
			return 0;
	return args_bad("format", name, "text, dot or mermaid", err);
}

/* errors  ERR_CONFIG  the first mistake in its references and order */
static int read_flow(struct config_file *file, const struct routine *r,
		     const struct flow_step **ret, struct err *err)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct findings *f = &file->findings;

	findings_release(f);
	*ret = flow_make(r, &file->arena, f);
	findings_sort(f);
	if (!f->has_error)
		return 0;
	findings_place(file->path, &f->item[0].err, &text);
	return err_at(err, ERR_CONFIG, f->item[0].err.line, f->item[0].err.col,
		      "%s", buf_cstr(&text));
}

int cmd_graph(const struct args *args, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(page_release) struct page page;
	const struct config_options options = {
		.names_only = true,
		.passive = true,
	};
	const struct graph_format *format = graph_formats;
	const struct flow_step *flow;
	const struct routine *r;

	page_open(&page, args);
	if (find_format(args, &format, err) < 0 ||
	    open_config(args, options, &file, err) < 0 ||
	    find_routine(&file.config, args->positional[0], &r, err) < 0 ||
	    read_flow(&file, r, &flow, err) < 0)
		return -1;
	if (page.is_json)
		graph_print_json(r, flow, &page.w);
	else
		format->print(r, flow, &page.out);
	return page_put(&page, err);
}
