
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/cli/routine_find.h"
#include "core/doctor/doctor.h"

/* A longer name does not push the others to the right. */
#define NAME_COLUMN 24

const struct option options_doctor[] = {
	{"deep", 0, NULL, "start each server, too: handshake and tools"},
	{"stale", 0, "AGE", "fail if a routine has not finished for this long"},
	{"json", 0, NULL, "print one JSON document"},
	{0},
};

static const char *closing(const struct doctor *d,
			   const struct doctor_options *o)
{
	if (doctor_failed(d))
		return "a check failed: see FAILED above";
	if (!o->file)
		return "no configuration: only this machine was checked";
	return o->routine ? "all checks of this routine passed"
			  : "all checks passed";
}

/* Names are aligned within their area, as long as they are short. */
static int widest(const struct doctor *d, size_t first)
{
	size_t width = 0;

	for (size_t i = first;
	     i < d->n && !strcmp(d->check[i].area, d->check[first].area); i++) {
		size_t n = strlen(d->check[i].name);

		if (n > width && n <= NAME_COLUMN)
			width = n;
	}
	return (int)width;
}

/* Report whether the row above has the same remedy: one cause fails many rows.
 */
static bool is_repeated(const struct doctor *d, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (*d->check[i].remedy)
			return !strcmp(d->check[i].remedy, d->check[at].remedy);
	return false;
}

static int print_text(const struct doctor *d, const struct doctor_options *o,
		      struct err *err)
{
	static const char *const marks[] = {"ok     ", "warning", "FAILED "};
	int width = 0;
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *area = "";

	for (size_t i = 0; i < d->n; i++) {
		const struct check *c = &d->check[i];

		if (strcmp(area, c->area)) {
			buf_addf(&out, "%s%s\n", *area ? "\n" : "", c->area);
			area = c->area;
			width = widest(d, i);
		}
		buf_addf(&out, "  %s %-*s  ", marks[c->level], width, c->name);
		log_visible(&out, str_of(c->text), false);
		if (*c->remedy)
			buf_addf(&out, "\n          -> %s",
				 is_repeated(d, i) ? "as above" : c->remedy);
		buf_addc(&out, '\n');
	}
	buf_addf(&out, "\n%s\n", closing(d, o));
	return put(buf_str(&out), PUT_TEXT, err);
}

static int print_json(const struct doctor *d, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_object(&w);
	jw_kv_bool(&w, "ok", !doctor_failed(d));
	jw_kv_array(&w, "checks");
	for (size_t i = 0; i < d->n; i++) {
		jw_object(&w);
		jw_kv_cstr(&w, "area", d->check[i].area);
		jw_kv_cstr(&w, "name", d->check[i].name);
		jw_kv_cstr(&w, "level", check_level_name(d->check[i].level));
		jw_kv_cstr(&w, "text", d->check[i].text);
		if (*d->check[i].remedy)
			jw_kv_cstr(&w, "remedy", d->check[i].remedy);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(&out, '\n');
	return put(buf_str(&out), PUT_JSON, err);
}

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
		r = args_has(args, "json") ? print_json(&d, err)
					   : print_text(&d, &o, err);
	if (r == 0)
		r = doctor_failed(&d) ? 1 : 0;
	config_release(&file);
	arena_release(&arena);
	return r;
}
