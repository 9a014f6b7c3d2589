/*
 * The vocabulary of the configuration: step types and keys, from the tables.
 */
#include <string.h>

#include "core/cli/command.h"
#include "core/cli/put.h"
#include "core/config/keys.h"

const struct option options_steps[] = {
	{"json", 0, NULL, "print one JSON document"},
	{"md", 0, NULL, "print the reference of all keys as Markdown"},
	{0},
};

static void print_keys(enum key_section section, struct buf *out)
{
	int width = 0;

	for (const struct key *k = NULL; (k = key_next(section, k));)
		if ((int)strlen(k->name) > width)
			width = (int)strlen(k->name);
	for (const struct key *k = NULL; (k = key_next(section, k));)
		buf_addf(out, "  %-*s  %s%s%s%s\n", width, k->name, k->help,
			 k->def ? " (" : "", k->def ? k->def : "",
			 k->def ? ")" : "");
}

static void print_text(struct buf *out)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);

	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "%s: %s\n", kinds[i].name, kinds[i].help);
		print_keys(kinds[i].section, out);
		buf_addc(out, '\n');
	}
	buf_adds(out, "every type:\n");
	print_keys(SECTION_step, out);
	buf_adds(out, "\nsandbox:\n");
	print_keys(SECTION_sandbox, out);
	buf_adds(out, "\nAll keys: `matins steps --md`\n");
}

static void print_json_keys(struct jw *w, enum key_section section)
{
	for (const struct key *k = NULL; (k = key_next(section, k));) {
		jw_object(w);
		jw_kv_cstr(w, "name", k->name);
		/* values that a user writes, without the examples */
		jw_kv_cstr(w, "takes",
			   k->words ? k->words : key_type_text(k->type));
		jw_kv_opt(w, "default", k->def);
		jw_kv_cstr(w, "help", k->help);
		jw_end(w);
	}
}

static void print_json(struct jw *w)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);

	jw_kv_array(w, "steps");
	for (size_t i = 0; i < n; i++) {
		jw_object(w);
		jw_kv_cstr(w, "type", kinds[i].name);
		jw_kv_cstr(w, "help", kinds[i].help);
		jw_kv_array(w, "keys");
		print_json_keys(w, SECTION_step);
		print_json_keys(w, kinds[i].section);
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
}

int cmd_steps(const struct args *args, struct err *err)
{
	AUTO(page_release) struct page page;

	page_open(&page, args);
	if (page.is_json) {
		print_json(&page.w);
	} else if (args_has(args, "md")) {
		keys_print_markdown(&page.out);
	} else {
		print_text(&page.out);
	}
	return page_put(&page, err);
}
