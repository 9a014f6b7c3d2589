#include "core/config/keys.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/config/routine.h"

/* The struct of each section, so that offsetof() can find it by name. */
struct section_types {
#define SECTION(ident, type, title, help) type *ident;
#include "core/config/keys.def"
};

#define FIELD(section, field) \
	offsetof(__typeof__(*((struct section_types *)NULL)->section), field)

static const struct key keys[] = {
#define KEY(section, key, type, field, def, min, max, help) \
	{SECTION_##section,                                 \
	 #key,                                              \
	 KEY_##type,                                        \
	 FIELD(section, field),                             \
	 def,                                               \
	 min,                                               \
	 max,                                               \
	 NULL,                                              \
	 help},
#define WORD(section, key, field, def, words, help) \
	{SECTION_##section,                         \
	 #key,                                      \
	 KEY_WORD,                                  \
	 FIELD(section, field),                     \
	 def,                                       \
	 0,                                         \
	 0,                                         \
	 words,                                     \
	 help},
#include "core/config/keys.def"
};

static const struct section sections[] = {
#define SECTION(ident, type, title, help) {title, help},
#include "core/config/keys.def"
};

static const char *const foreign[] = {
#define FOREIGN(table) #table,
#include "core/config/keys.def"
};

static const char *const type_texts[] = {
#define KEY_TYPE(name, text) text,
#include "core/config/key_types.def"
#undef KEY_TYPE
};

/* Each name as an object, so that an alias can point to its target's. */
#define STEP_TYPE(ident, name, section, help) \
	static const char name_of_##ident[] = name;
#include "core/config/step_types.def"

static const struct step_kind kinds[] = {
#define STEP_TYPE(ident, name, section, help) \
	{name, name_of_##ident, SECTION_##section, help},
#define STEP_ALIAS(ident, name, target, section, help) \
	{name, name_of_##target, SECTION_##section, help},
#include "core/config/step_types.def"
};

static const struct {
	const char *name, *instead;
} foreign_kinds[] = {
#define STEP_FOREIGN(name, instead) {name, instead},
#include "core/config/step_types.def"
};

const struct key *keys_all(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(keys);
	return keys;
}

const struct section *key_section(enum key_section section)
{
	return &sections[section];
}

const struct key *key_find(enum key_section section, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].section == section && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

const char *key_nearest(enum key_section a, enum key_section b,
			const char *name)
{
	const char *names[ARRAY_LEN(keys)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].section == a || keys[i].section == b)
			names[n++] = keys[i].name;
	return str_nearest(str_of(name), names, n);
}

const char *key_type_text(enum key_type type)
{
	return type_texts[type];
}

bool key_is_foreign(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (!strcmp(foreign[i], name))
			return true;
	return false;
}

const struct step_kind *step_kinds(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(kinds);
	return kinds;
}

const struct step_kind *step_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

const char *step_kind_nearest(const char *name)
{
	const char *names[ARRAY_LEN(kinds)];

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		names[i] = kinds[i].name;
	return str_nearest(str_of(name), names, ARRAY_LEN(kinds));
}

const char *step_kind_instead(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign_kinds); i++)
		if (!strcmp(foreign_kinds[i].name, name))
			return foreign_kinds[i].instead;
	return NULL;
}

/* ---- the reference ---- */

/* `|` would end a cell of a Markdown table. */
static void add_cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

static void add_words(struct buf *out, const char *words)
{
	struct str rest = str_of(words);

	for (bool first = true; rest.p; first = false) {
		struct str word = str_cut(&rest, '|');

		buf_addf(out, "%s`\"%.*s\"`", first ? "" : ", ", STR_ARG(word));
	}
}

static void add_row(struct buf *out, const struct key *k)
{
	buf_addf(out, "| `%s` | ", k->name);
	if (k->words)
		add_words(out, k->words);
	else
		add_cell(out, type_texts[k->type]);
	buf_addf(out, " | %s | ", k->def ? k->def : "");
	add_cell(out, k->help);
	buf_adds(out, " |\n");
}

static void add_section(struct buf *out, enum key_section section)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (keys[i].section != section)
			continue;
		if (!any)
			buf_addf(out,
				 "\n### %s\n\n%s.\n\n"
				 "| key | takes | default | meaning |\n"
				 "|---|---|---|---|\n",
				 sections[section].title,
				 sections[section].help);
		any = true;
		add_row(out, &keys[i]);
	}
}

void keys_print_markdown(struct buf *out)
{
	buf_adds(out, "## Step types\n\n| type | does |\n|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		buf_addf(out, "| `%s` | %s |\n", kinds[i].name, kinds[i].help);
	buf_adds(out,
		 "\nA step of another type of modulex is skipped, with the "
		 "reason `unsupported`:\n\n| type | instead |\n|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(foreign_kinds); i++)
		buf_addf(out, "| `%s` | %s |\n", foreign_kinds[i].name,
			 foreign_kinds[i].instead);
	buf_adds(out, "\n## Keys\n");
	for (int s = 0; s < N_SECTIONS; s++)
		add_section(out, (enum key_section)s);
	buf_adds(out, "\nKnown and ignored, for files of modulex:");
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		buf_addf(out, "%s `[%s]`", i ? "," : "", foreign[i]);
	buf_adds(out, ".\n");
}
