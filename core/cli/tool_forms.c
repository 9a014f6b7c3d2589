#include "core/cli/tool_forms.h"

#include "core/base/scan.h"
#include "core/cli/args.h"
#include "core/cli/tool_text.h"
#include "core/client/tool_check.h"

struct tool_form {
	const char *name;
	void (*add)(struct jw *w, const char *name, struct str item);
	bool is_json;
};

/* ---- members ---- */

/* Description of a tool, else its title. */
static struct str description_of(struct str item)
{
	struct str text = scan_text(item, "description");

	return text.p ? text : tool_title(item);
}

static void add_head(struct jw *w, const char *name, struct str item)
{
	struct str description = description_of(item);

	jw_kv_cstr(w, "name", name);
	if (description.p)
		jw_kv_raw(w, "description", description);
}

/* Add a schema of an object: models demand its type, and some its properties.
 */
static void add_schema(struct jw *w, const char *key, struct str item)
{
	struct str schema = tool_input_schema(item), v;

	jw_kv_object(w, key);
	jw_kv_cstr(w, "type", "object");
	if (!schema.p || !scan_get(schema, "properties", &v)) {
		jw_kv_object(w, "properties");
		jw_end(w);
	}
	jw_members(w, schema, "type");
	jw_end(w);
}

/* ---- forms ---- */

static void add_anthropic(struct jw *w, const char *name, struct str item)
{
	jw_object(w);
	add_head(w, name, item);
	add_schema(w, "input_schema", item);
	jw_end(w);
}

static void add_openai(struct jw *w, const char *name, struct str item)
{
	jw_object(w);
	jw_kv_cstr(w, "type", "function");
	jw_kv_object(w, "function");
	add_head(w, name, item);
	add_schema(w, "parameters", item);
	jw_end(w);
	jw_end(w);
}

/* The object of the server under the merged name. */
static void add_plain(struct jw *w, const char *name, struct str item)
{
	jw_object(w);
	jw_kv_cstr(w, "name", name);
	jw_members(w, item, "name");
	jw_end(w);
}

static void add_prompt(struct jw *w, const char *name, struct str item)
{
	AUTO(buf_release) struct buf arguments = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(w->out, "%s## %s\n", w->out->n ? "\n" : "", name);
	/* behind blanks no line begins a section */
	if (text_line(NULL, description_of(item), 0, &text)) {
		buf_addc(w->out, '\n');
		text_indented(buf_str(&text), "    ", w->out);
	}
	text_arguments(NULL, tool_input_schema(item), true, &arguments);
	if (arguments.n)
		buf_addf(w->out, "\nArguments:\n%s", buf_cstr(&arguments));
}

static const struct tool_form forms[] = {
	{"prompt", add_prompt, false},
	{"anthropic", add_anthropic, true},
	{"openai", add_openai, true},
	{"json", add_plain, true},
};

int tool_form_find(const char *name, const struct tool_form **ret,
		   struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		*ret = &forms[i];
		if (strcmp(name, forms[i].name) == 0)
			return 0;
	}
	return args_bad("as", name, "one of " TOOL_FORMS, err);
}

bool tool_form_is_json(const struct tool_form *form)
{
	return form->is_json;
}

void tool_form_begin(const struct tool_form *form, struct jw *w,
		     struct buf *out)
{
	jw_init(w, out, false);
	if (form->is_json)
		jw_array(w);
}

void tool_form_add(const struct tool_form *form, struct jw *w, const char *name,
		   struct str item)
{
	form->add(w, name, item);
}

void tool_form_end(const struct tool_form *form, struct jw *w)
{
	if (form->is_json)
		jw_end(w);
}
