#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/list_show.h"

const struct option options_resources[] = {TARGET_OPTIONS, {0}};

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

static int show(struct target *t, struct err *err)
{
	struct listing l, templates;
	int r;

	listing_init(&templates, LISTING_TEMPLATES);
	r = target_list(t, LISTING_RESOURCES, &l, err);
	if (r == 0)
		r = try_templates(t, &templates, err);
	if (r == 0)
		r = list_print(t, &l, &templates, err);
	listing_release(&templates);
	listing_release(&l);
	return r;
}

int cmd_resources(const struct args *args, struct err *err)
{
	struct target t;
	int status;

	status = target_open(&t, args, err);
	if (status == 0)
		status = show(&t, err);
	return target_close(&t, status, err);
}
