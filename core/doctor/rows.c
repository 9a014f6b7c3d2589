#include "core/doctor/rows.h"

#include "core/base/log.h"

/* A longer name does not push the others to the right. */
#define NAME_COLUMN 24

PRINTF(6, 7)
void doctor_add(struct doctor *d, const char *area, const char *name,
		enum check_level level, const char *remedy, const char *fmt,
		...)
{
	va_list ap;

	d->check = arena_grow(d->arena, d->check, d->n, sizeof(*d->check));
	va_start(ap, fmt);
	d->check[d->n++] = (struct check){
		.area = area,
		.name = arena_strdup(d->arena, name),
		.level = level,
		.text = arena_vprintf(d->arena, fmt, ap),
		.remedy = arena_strdup(d->arena, level ? remedy : ""),
	};
	va_end(ap);
}

void doctor_add_program(struct doctor *d, const char *area, const char *name,
			const char *program, int r, const struct err *err)
{
	if (r == 0)
		doctor_add(d, area, name, CHECK_OK, "",
			   "%s is there; it was not run", program);
	else
		doctor_add(d, area, name, CHECK_FAILED,
			   err->kind == ERR_NOT_FOUND
				   /* of a package the sentence says how */
				   ? strstr(err->msg, " install ")
					     ? "run that command"
					     : "install it, or write its whole "
					       "path "
					       "as command"
				   : err->kind == ERR_LEASH
					     ? "add it to `exec` of the leash"
				     : err->kind == ERR_PROTECTION
					     ? "see the protections below, or "
					       "take it "
					       "out of "
					       "`require`"
					     : "mend the file or the `sandbox` "
					       "table",
			   "%s", err->msg);
}

const char *doctor_row_name(struct doctor *d, const struct plan *plan,
			    const struct step *step)
{
	const char *routine = plan->routine->name;

	return arena_printf(d->arena, routine ? "%s/%s" : "%s.%s",
			    routine ? routine : "servers", step->name);
}

bool doctor_is_met(const struct plan *plan, size_t at, bool calls)
{
	const struct server *server = plan->steps[at].step->server;

	for (size_t i = 0; server && i < at; i++)
		if (plan->steps[i].step->server == server &&
		    plan->steps[i].reason == REASON_NONE &&
		    (plan->steps[i].step->tool || !calls))
			return true;
	return false;
}

/* ---- printed ---- */

bool doctor_failed(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->check[i].level == CHECK_FAILED)
			return true;
	return false;
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

void doctor_print_text(const struct doctor *d, const struct doctor_options *o,
		       struct buf *out)
{
	static const char *const marks[] = {"ok     ", "warning", "FAILED "};
	const bool is_quiet = log_level() == LOG_ERROR;
	int width = 0;
	const char *area = "";

	for (size_t i = 0; i < d->n; i++) {
		const struct check *c = &d->check[i];

		if (is_quiet && c->level != CHECK_FAILED)
			continue;
		if (strcmp(area, c->area)) {
			buf_addf(out, "%s%s\n", *area ? "\n" : "", c->area);
			area = c->area;
			width = widest(d, i);
		}
		buf_addf(out, "  %s %-*s  ", marks[c->level], width, c->name);
		log_visible(out, str_of(c->text), false);
		if (*c->remedy)
			buf_addf(out, "\n          -> %s",
				 is_repeated(d, i) ? "as above" : c->remedy);
		buf_addc(out, '\n');
	}
	if (is_quiet)
		return;
	buf_addf(out, "\n%s\n",
		 doctor_failed(d) ? "a check failed: see FAILED above"
		 : !o->file ? "no configuration: only this machine was checked"
		 : o->routine ? "all checks of this routine passed"
			      : "all checks passed");
}

void doctor_print_json(const struct doctor *d, struct buf *out)
{
	static const char *const levels[] = {"ok", "warning", "failed"};
	struct jw w = jw_begin(out);

	jw_kv_bool(&w, "ok", !doctor_failed(d));
	jw_kv_array(&w, "checks");
	for (size_t i = 0; i < d->n; i++) {
		jw_object(&w);
		jw_kv_cstr(&w, "area", d->check[i].area);
		jw_kv_cstr(&w, "name", d->check[i].name);
		jw_kv_cstr(&w, "level", levels[d->check[i].level]);
		jw_kv_cstr(&w, "text", d->check[i].text);
		if (*d->check[i].remedy)
			jw_kv_cstr(&w, "remedy", d->check[i].remedy);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}
