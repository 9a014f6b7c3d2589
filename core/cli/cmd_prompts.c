#include "core/cli/command.h"
#include "core/cli/list_show.h"

const struct option options_prompts[] = {TARGET_OPTIONS, {0}};

static int show(struct target *t, struct err *err)
{
	struct listing l;
	int r;

	r = target_list(t, LISTING_PROMPTS, &l, err);
	if (r == 0)
		r = list_print(t, &l, NULL, err);
	listing_release(&l);
	return r;
}

int cmd_prompts(const struct args *args, struct err *err)
{
	struct target t;
	int status;

	status = target_open(&t, args, err);
	if (status == 0)
		status = show(&t, err);
	return target_close(&t, status, err);
}
