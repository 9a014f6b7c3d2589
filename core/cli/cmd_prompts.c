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

int cmd_prompts(const struct command *cmd, int argc, char **argv,
		struct err *err)
{
	AUTO(args_release) struct args args = {0};
	struct target t;
	int status;

	if (args_parse(cmd, argc, argv, &args, err) < 0)
		return -1;
	if (args.help) {
		target_help();
		return 0;
	}
	if (args.n_positional)
		return err_set(err, ERR_USAGE,
			       "prompts: takes no %s; `matins prompt NAME` "
			       "gets one",
			       args.positional[0]);
	status = target_open(&t, &args, err);
	if (status == 0)
		status = show(&t, err);
	return target_close(&t, status, err);
}
