#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/cli/open.h"
#include "core/doctor/doctor.h"

const struct option options_doctor[] = {
	{"deep", 0, NULL, "start each server, too: handshake and tools"},
	{"stale", 0, "AGE", "fail if a routine has not finished for this long"},
	{"json", 0, NULL, "print one JSON document"},
	{0},
};

static int open_config(const struct args *args, struct config_file *file,
		       bool *ret_found, struct err *err)
{
	struct config_options options = {
		.path = args_get(args, "config"),
		.lax = args_has(args, "lax"),
		.routine = args->n_positional ? args->positional[0] : NULL,
		.passive = !args_has(args, "deep"),
	};

	*ret_found = config_open(&options, file, err) == 0;
	if (*ret_found)
		return 0;
	/* without a configuration the machine is still checked */
	if (err->kind == ERR_UNKNOWN && !options.path && !options.routine) {
		log_note("%s", err->msg);
		return 0;
	}
	return -1;
}

/* 1: a check failed. */
static int print(const struct doctor *d, const struct doctor_options *o,
		 bool json, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (json)
		doctor_print_json(d, &out);
	else
		doctor_print_text(d, o, &out);
	if (put(buf_str(&out), json ? PUT_JSON : PUT_TEXT, err) < 0)
		return -1;
	return doctor_failed(d);
}

int cmd_doctor(const struct args *args, struct err *err)
{
	const char *stale = args_get(args, "stale");
	struct arena arena = ARENA_INIT;
	struct doctor d = {.arena = &arena};
	struct doctor_options o = {
		.deep = args_has(args, "deep"),
		.wall_ns = clock_system()->wall_ns(clock_system()),
	};
	struct config_file file;
	bool found = false;
	int r = 0;

	if (stale &&
	    (!str_duration_ms(str_of(stale), &o.stale_ms) || !o.stale_ms))
		return args_bad("stale", stale,
				"a duration; use for example 26h", err);
	r = open_config(args, &file, &found, err);
	if (r == 0 && found)
		o.file = &file;
	if (r == 0 && found && args->n_positional)
		r = find_routine(&file.config, args->positional[0], &o.routine,
				 err);
	if (r == 0)
		r = doctor_look(&o, &d, err);
	if (r == 0)
		r = print(&d, &o, args_has(args, "json"), err);
	config_release(&file);
	arena_release(&arena);
	return r;
}
