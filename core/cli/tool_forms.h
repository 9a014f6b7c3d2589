/*
 * Definitions of tools as the interfaces of language models take them: for the
 * member `tools` of a request, or for the text of a prompt.
 *
 *	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
 *	const struct tool_form *form;
 *	struct jw w;
 *
 *	if (tool_form_find(name, &form, err) < 0)
 *		return -1;
 *	tool_form_begin(form, &w, &out);
 *	tool_form_add(form, &w, "mcp__notes__search", item);
 *	tool_form_end(form, &w);
 */
#ifndef CORE_CLI_TOOL_FORMS_H
#define CORE_CLI_TOOL_FORMS_H

#include "core/base/err.h"
#include "core/base/jw.h"

/* Words of --as; an option's value. */
#define TOOL_FORMS "prompt|anthropic|openai|json"

struct tool_form;

/* errors  ERR_USAGE */
int tool_form_find(const char *name, const struct tool_form **ret,
		   struct err *err) MUST_USE;
/* Is it JSON? */
bool tool_form_is_json(const struct tool_form *form) MUST_USE;
void tool_form_begin(const struct tool_form *form, struct jw *w,
		     struct buf *out);
/*
 * name  of the tool, within the rules of models
 * item  object of tools/list, without secrets
 */
void tool_form_add(const struct tool_form *form, struct jw *w, const char *name,
		   struct str item);
void tool_form_end(const struct tool_form *form, struct jw *w);

#endif
