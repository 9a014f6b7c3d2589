#include "core/cli/command.h"
#include "core/cli/list_show.h"

const struct option options_tools[] = {TARGET_OPTIONS, {0}};

static int show_one(struct target *t, const struct listing *l, const char *name,
		    struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct listing_item *item = listing_find(l, str_of(name));

	if (!item)
		return list_unknown(t, l, "tool", name, err);
	if (t->json)
		return target_put_json(t, item->json, err);
	list_show_tool(t, item, &out);
	return target_write(buf_str(&out), err);
}

static int show(struct target *t, const struct args *args, struct err *err)
{
	struct listing l;
	int r;

	r = target_list(t, LISTING_TOOLS, &l, err);
	if (r == 0 && args->n_positional)
		r = show_one(t, &l, args->positional[0], err);
	else if (r == 0)
		r = list_print(t, &l, NULL, err);
	listing_release(&l);
	return r;
}

int cmd_tools(const struct args *args, struct err *err)
{
	struct target t;
	int status;

	status = target_open(&t, args, err);
	if (status == 0)
		status = show(&t, args, err);
	return target_close(&t, status, err);
}
