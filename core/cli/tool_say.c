#include "core/cli/tool_say.h"

#include "core/base/log.h"

int tool_say(const struct tool_findings *f, enum tool_rigour rigour,
	     struct err *err)
{
	const struct strlist *v = &f->violations;
	const char *first = NULL;

	if (rigour == TOOL_CHECK)
		first = f->missing;
	else if (rigour == TOOL_STRICT && v->n)
		first = v->item[0];
	else if (rigour == TOOL_STRICT)
		first = f->unusable;
	if (f->unusable && first != f->unusable && !f->is_told)
		log_warning("%s", f->unusable);
	for (size_t i = 0; i < f->hints.n; i++)
		log_warning("%s", f->hints.item[i]);
	for (size_t i = 0; i < v->n; i++) {
		if (!first)
			log_warning("%s", v->item[i]);
		else if (v->item[i] != first)
			log_error("%s", v->item[i]);
	}
	if (f->n_more)
		log_warning("and %zu more", f->n_more);
	if (!first)
		return 0;
	return err_set(err, ERR_SYNTAX, "%s%s", first,
		       rigour == TOOL_CHECK ? "; the tool was not called "
					      "(--no-check calls it anyway)"
					    : "");
}
