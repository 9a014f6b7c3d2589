#include "core/cli/tool_say.h"

#include "core/base/log.h"

int tool_say(const struct tool_findings *f, bool strict, struct err *err)
{
	const struct strlist *v = &f->violations;

	if (f->unusable)
		log_warning("%s", f->unusable);
	for (size_t i = 0; i < f->hints.n; i++)
		log_warning("%s", f->hints.item[i]);
	for (size_t i = 0; i < v->n; i++) {
		if (!strict)
			log_warning("%s", v->item[i]);
		else if (i)
			log_error("%s", v->item[i]);
	}
	if (f->n_more)
		log_warning("and %zu more", f->n_more);
	if (!strict || !v->n)
		return 0;
	return err_set(err, ERR_SYNTAX, "%s", v->item[0]);
}
