#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/param_options.h"
#include "core/cli/put.h"
#include "core/cli/unattended.h"
#include "core/doctor/doctor.h"

const struct option options_doctor[] = {
	{"deep", 0, NULL, "start each server, too: handshake and tools"},
	PARAM_OPTIONS,
	{"stale", 0, "AGE", "fail if a routine has not finished for this long"},
	{"unattended", 0, NULL,
	 "check as a timer or cron starts it, without a person"},
	{"approve", 0, "NAME", "with --unattended: as of run"},
	{"yes", 'y', NULL, "with --unattended: as of run"},
	{"json", 0, NULL, "print one JSON document"},
	{0},
};

/* Open the configuration; without one the machine is still checked. */
static int open_file(const struct args *args, struct config_file *file,
		     struct doctor_options *o, struct err *err)
{
	const char *routine = args->positional[0];
	const struct config_options options = {
		.routine = routine,
		.passive = !o->deep,
	};

	if (open_config(args, options, file, err) == 0) {
		o->file = file;
		return routine ? find_routine(&file->config, routine,
					      &o->routine, err)
			       : 0;
	}
	if (err->kind != ERR_UNKNOWN || routine || args_has(args, "config"))
		return -1;
	log_note("%s", err->msg);
	return 0;
}

/* 1: a check failed. */
int cmd_doctor(const struct args *args, struct err *err)
{
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *stale = args_get(args, "stale");
	const bool json = args_has(args, "json");
	struct unattended u;
	int r;
	struct doctor d = {.arena = &arena};
	struct doctor_options o = {
		.deep = args_has(args, "deep"),
		.unattended = args_has(args, "unattended"),
		.approved = args_all(args, "approve", &arena),
		.confirmed = args_has(args, "yes"),
		.wall_ns = clock_system()->wall_ns(clock_system()),
	};

	if (stale &&
	    (!str_duration_ms(str_of(stale), &o.stale_ms) || !o.stale_ms))
		return args_bad("stale", stale,
				"a duration; use for example 26h", err);
	if (param_options_read(args, &arena, &o.given, err) < 0)
		return -1;
	if (o.unattended)
		unattended_begin(&u, &arena);
	r = open_file(args, &file, &o, err);
	if (r == 0)
		r = doctor_look(&o, &d, err);
	if (o.unattended)
		unattended_end(&u);
	if (r < 0)
		return -1;
	if (json)
		doctor_print_json(&d, &out);
	else
		doctor_print_text(&d, &o, &out);
	if (put(buf_str(&out), json ? PUT_JSON : PUT_TEXT, err) < 0)
		return -1;
	return doctor_failed(&d);
}
