#include "core/doctor/doctor.h"

#include "core/base/jw.h"
#include "core/base/log.h"

/* A longer name does not push the others to the right. */
#define NAME_COLUMN 24

bool doctor_failed(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->check[i].level == CHECK_FAILED)
			return true;
	return false;
}

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

void doctor_print_text(const struct doctor *d, const struct doctor_options *o,
		       struct buf *out)
{
	static const char *const marks[] = {"ok     ", "warning", "FAILED "};
	int width = 0;
	const char *area = "";

	for (size_t i = 0; i < d->n; i++) {
		const struct check *c = &d->check[i];

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
	buf_addf(out, "\n%s\n", closing(d, o));
}

void doctor_print_json(const struct doctor *d, struct buf *out)
{
	static const char *const levels[] = {"ok", "warning", "failed"};
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
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
