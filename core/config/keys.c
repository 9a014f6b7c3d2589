#include "core/config/keys.h"

#include <string.h>

#include "core/base/arena.h"
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
#define ROW(section_, key, type_, field_, def_, help_, ...) \
	{.section = SECTION_##section_,                     \
	 .name = #key,                                      \
	 .type = KEY_##type_,                               \
	 .field = #field_,                                  \
	 .offset = FIELD(section_, field_),                 \
	 .def = def_,                                       \
	 .help = help_,                                     \
	 __VA_ARGS__},
#define KEY(section, key, type, field, def, min_, max_, help) \
	ROW(section, key, type, field, def, help, .min = min_, .max = max_)
#define WORD(section, key, field, def, words_, help) \
	ROW(section, key, WORD, field, def, help, .words = words_)
#include "core/config/keys.def"
#define HAS_WORDS(type)                                        \
	(KEY_##type == KEY_WORD || KEY_##type == KEY_CHOICE || \
	 KEY_##type == KEY_WORDS)
#define SERVER(key, field, type, def, help, ...) \
	ROW(server, key, type, field, def, help, __VA_ARGS__)
#define SERVER_OPTION(key, option_, field, type, def, takes_, help, ...)   \
	ROW(server, key, type, field, def, help,                           \
	    .words = HAS_WORDS(type) ? (takes_) : NULL, .option = option_, \
	    __VA_ARGS__)
#define SERVER_REMOTE(...) SERVER_OPTION(__VA_ARGS__, .of = "url")
#define SERVER_HEADERS(key, option_, letter, field, takes, help, more_help, \
		       ...)                                                 \
	ROW(server, key, HEADERS, field, NULL, help, .option = option_,     \
	    __VA_ARGS__)
#include "core/config/servers.def"
#define SANDBOX(key, option_, field, type, def, takes_, help, ...)         \
	ROW(sandbox, key, type, field, def, help,                          \
	    .words = HAS_WORDS(type) ? (takes_) : NULL, .option = option_, \
	    __VA_ARGS__)
#define SANDBOX_TABLE(key, field, type, help, ...) \
	ROW(sandbox, key, type, field, NULL, help, __VA_ARGS__)
#define AUTH_ROW(key, option_, type, def, help, ...) \
	ROW(auth, key, type, key, def, help, .option = option_, __VA_ARGS__)
#define AUTH_TEXT(key, option, type, takes, help, ...) \
	AUTH_ROW(key, option, type, NULL, help, __VA_ARGS__)
#define AUTH_OWN AUTH_TEXT
#define AUTH_FLAG(key, option, help, ...) \
	AUTH_ROW(key, option, BOOL, "false", help, __VA_ARGS__)
#define AUTH_SECRET(key, option, help, ...) \
	AUTH_ROW(key, option, REFERENCE, NULL, help, __VA_ARGS__)
#define AUTH_WORD(key, option, def, words_, help, ...) \
	AUTH_ROW(key, option, WORD, def, help, .words = words_, __VA_ARGS__)
#include "core/auth/auth.def"
#define PROGRAM_RULE(key, field, type, help) \
	ROW(sandbox_program, key, type, field, NULL, help, .more = NULL)
#include "gate/sandbox.def"
};

const struct section key_sections[N_SECTIONS] = {
#define SECTION(ident, type, title, help) {#ident, title, help},
#include "core/config/keys.def"
};

static const struct foreign_key foreign[] = {
#define FOREIGN(table) {SECTION_top, #table, NULL},
#define FOREIGN_KEY(section, key, instead) {SECTION_##section, #key, instead},
#include "core/config/keys.def"
};

static const struct {
	const char *text, *schema;
} types[] = {
#define KEY_TYPE(name, reader, as, text, schema) {text, schema},
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

const struct key *key_next(enum key_section section, const struct key *key)
{
	for (key = key ? key + 1 : keys; key < keys + ARRAY_LEN(keys); key++)
		if (key->section == section)
			return key;
	return NULL;
}

struct strlist key_values(const struct key *k, const void *object,
			  struct arena *arena)
{
	const void *field = (const char *)object + k->offset;
	const struct gate_program_rules *rules = field;
	struct str rest = str_of(k->words), word = {NULL, 0};
	struct strlist list = {NULL, 0};
	const char *text = NULL;
	uint64_t n;

	switch (k->type) {
	case KEY_WORD:
	case KEY_STRING:
	case KEY_PATH:
	case KEY_PROGRAM:
	case KEY_URL:
	case KEY_REVISION:
		text = *(const char *const *)field;
		break;
	case KEY_SIZE_BYTES:
	case KEY_COUNT:
	case KEY_SECONDS:
	case KEY_DURATION_MS:
		n = *(const uint64_t *)field;
		if (n)
			text = arena_printf(arena, "%llu",
					    (unsigned long long)n);
		break;
	case KEY_CHOICE:
		n = *(const unsigned *)field;
		for (uint64_t i = 0; n && i <= n; i++)
			word = str_cut(&rest, '|');
		if (n)
			text = arena_strndup(arena, word.p, word.n);
		break;
	case KEY_BOOL:
		text = *(const bool *)field ? "true" : NULL;
		break;
	case KEY_PROGRAM_RULES:
		for (size_t i = 0; i < rules->n; i++)
			list_add(&list, arena, rules->item[i].name);
		break;
	default:
		return *(const struct strlist *)field;
	}
	if (text)
		list_add(&list, arena, text);
	return list;
}

/* ---- what a value must be ---- */

struct scale {
	uint64_t factor;
	const char *suffix;
};

/* A bound in the largest unit that shows it whole. */
static void add_bound(struct buf *out, enum key_type type, uint64_t v)
{
	static const struct scale times[] = {
		{3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}, {0}};
	static const struct scale seconds[] = {
		{3600, "h"}, {60, "m"}, {1, "s"}, {0}};
	static const struct scale plain[] = {{1, ""}, {0}};
	const struct scale *s = type == KEY_DURATION_MS ? times
				: type == KEY_SECONDS	? seconds
							: plain;
	char size[STR_SIZE_BYTES];

	if (type == KEY_SIZE_BYTES) {
		buf_adds(out, str_size_text(v, size));
		return;
	}
	while (s[1].factor && (!v || v % s->factor))
		s++;
	buf_addf(out, "%llu%s", (unsigned long long)(v / s->factor), s->suffix);
}

bool key_holds(const struct key *k, uint64_t number, struct buf *bounds)
{
	if (number >= k->min && number <= k->max)
		return true;
	buf_adds(bounds, "at least ");
	add_bound(bounds, k->type, k->min);
	if (k->max < INT64_MAX) {
		buf_adds(bounds, " and at most ");
		add_bound(bounds, k->type, k->max);
	}
	return false;
}

int key_word(const struct key *k, struct str word)
{
	struct str rest = str_of(k->words);

	for (int i = 0; rest.p; i++)
		if (str_eq(str_cut(&rest, '|'), word))
			return i;
	return -1;
}

void key_add_words(const struct key *k, const char *quote, struct buf *out)
{
	struct str rest = str_of(k->words);

	for (bool first = true; rest.p; first = false) {
		struct str word = str_cut(&rest, '|');

		buf_addf(out, "%s%s%.*s%s",
			 first	  ? ""
			 : rest.p ? ", "
				  : " or ",
			 quote, STR_ARG(word), quote);
	}
}

/* ---- looking things up ---- */

const char *key_type_text(enum key_type type)
{
	return types[type].text;
}

const char *key_type_schema(enum key_type type)
{
	return types[type].schema;
}

const struct step_kind *step_kinds(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(kinds);
	return kinds;
}

const struct foreign_key *key_foreign(enum key_section section,
				      const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (foreign[i].section == section &&
		    !strcmp(foreign[i].name, name))
			return &foreign[i];
	return NULL;
}

const struct foreign_key *keys_foreign(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(foreign);
	return foreign;
}

const char *step_kind_foreign(size_t nth)
{
	return nth < ARRAY_LEN(foreign_kinds) ? foreign_kinds[nth].name : NULL;
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

static void add_row(struct buf *out, const struct key *k)
{
	struct str rest = str_of(k->words);

	buf_addf(out, "| `%s` | ", k->name);
	if (!k->words)
		add_cell(out, types[k->type].text);
	while (rest.n) {
		struct str word = str_cut(&rest, '|');

		buf_addf(out, "`\"%.*s\"`%s", STR_ARG(word),
			 rest.n ? ", " : "");
	}
	buf_addf(out, " | %s | ", k->def ? k->def : "");
	add_cell(out, k->help);
	buf_adds(out, k->more ? "; " : "");
	add_cell(out, k->more ? k->more : "");
	buf_adds(out, " |\n");
}

static void add_section(struct buf *out, size_t section)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (keys[i].section != section)
			continue;
		if (!n++)
			buf_addf(out,
				 "\n### %s\n\n%s.\n\n"
				 "| key | takes | default | meaning |\n"
				 "|---|---|---|---|\n",
				 key_sections[section].title,
				 key_sections[section].help);
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
	for (size_t s = 0; s < N_SECTIONS; s++)
		add_section(out, s);
	buf_adds(out, "\nKnown and ignored, for files of modulex:");
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (!foreign[i].instead)
			buf_addf(out, "%s `[%s]`", i ? "," : "",
				 foreign[i].name);
	buf_adds(out, ". Of a server, for files of other MCP clients:\n\n"
		      "| key | instead |\n|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (foreign[i].instead)
			buf_addf(out, "| `%s` | %s |\n", foreign[i].name,
				 foreign[i].instead);
}
