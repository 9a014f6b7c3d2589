#include "core/doctor/doctor_checks.h"

#include <stdarg.h>

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
		.remedy = arena_strdup(d->arena, remedy),
	};
	va_end(ap);
}

const char *doctor_program_remedy(const struct err *err)
{
	switch (err->kind) {
	case ERR_NOT_FOUND:
		return "install it, or write its whole path as command";
	case ERR_LEASH:
		return "add it to `exec` of the leash";
	case ERR_PROTECTION:
		return "see the protections below, or take it out of `require`";
	default:
		return "mend the file or the `sandbox` table";
	}
}

const char *doctor_row(struct doctor *d, const struct routine *routine,
		       const struct step *step)
{
	if (!routine->name)
		return arena_printf(d->arena, "servers.%s", step->name);
	return arena_printf(d->arena, "%s/%s", routine->name, step->name);
}
