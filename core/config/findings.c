#include "core/config/findings.h"

#include <stdarg.h>
#include <stdlib.h>

#include "core/base/limits.h"
#include "core/base/mem.h"

/* A place for one more; at the bound, errors take that of a warning. */
static struct finding *findings_new(struct findings *f, bool warning)
{
	size_t i = f->n;

	if (f->n < LIMIT_CONFIG_ERRORS) {
		f->item =
			mem_grow(f->item, f->n + 1, &f->cap, sizeof(*f->item));
		return &f->item[f->n++];
	}
	f->dropped++;
	while (!warning && i-- > 0)
		if (f->item[i].warning)
			return &f->item[i];
	return NULL;
}

void findings_add(struct findings *f, bool warning, const struct err *err)
{
	struct finding *new = findings_new(f, warning);

	f->has_error |= !warning;
	if (new)
		*new = (struct finding){.warning = warning, .err = *err};
}

void findings_add_note(struct findings *f, const struct err *err)
{
	struct finding *new = findings_new(f, true);

	if (new)
		*new = (struct finding){true, true, *err};
}

static bool is_before(const struct err *a, const struct err *b)
{
	return a->line != b->line ? a->line < b->line : a->col < b->col;
}

/* By insertion: it keeps the order of equals, and there are few. */
void findings_sort(struct findings *f)
{
	for (size_t i = 1; i < f->n; i++) {
		struct finding moving = f->item[i];
		size_t j = i;

		for (; j && is_before(&moving.err, &f->item[j - 1].err); j--)
			f->item[j] = f->item[j - 1];
		f->item[j] = moving;
	}
}

const char *finding_severity(const struct finding *f)
{
	return f->note ? "note" : f->warning ? "warning" : "error";
}

void findings_release(struct findings *f)
{
	free(f->item);
	*f = (struct findings){0};
}

void findings_addf(struct findings *f, bool warning, uint32_t line,
		   uint32_t col, const char *fmt, ...)
{
	struct err err = {.kind = ERR_CONFIG, .line = line, .col = col};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
	va_end(ap);
	findings_add(f, warning, &err);
}

void findings_place(const char *path, const struct err *err, struct buf *out)
{
	buf_adds(out, path);
	if (err->line)
		buf_addf(out, ":%u:%u", err->line, err->col);
	buf_addf(out, ": %s", err->msg);
}
