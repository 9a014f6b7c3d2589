#include "core/config/keys.h"

#include <string.h>
#include <strings.h>

#include "core/base/arena.h"
#include "core/base/jw.h"
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
#define WORDS(section, key, field, words_, help) \
	ROW(section, key, WORDS, field, NULL, help, .words = words_)
#include "core/config/keys.def"
#define HAS_WORDS(type)                                        \
	(KEY_##type == KEY_WORD || KEY_##type == KEY_CHOICE || \
	 KEY_##type == KEY_WORDS || KEY_##type == KEY_AUDIT)
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

static const struct spelling spellings[] = {
#define SPELLING(section, key, whose, way, own, says) \
	{SECTION_##section, #key, whose, own, says, SPELLING_##way},
#include "core/config/spellings.def"
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
} foreign_kinds[] =
	{
#define STEP_FOREIGN(name, instead) {name, instead},
#include "core/config/step_types.def"
},
  other_kinds[] = {
#define STEP_OTHER(name, instead) {name, instead},
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

const struct key *key_find(enum key_section a, enum key_section b,
			   const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if ((keys[i].section == a || keys[i].section == b) &&
		    !strcmp(keys[i].name, name))
			return &keys[i];
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
	case KEY_AUDIT:
	case KEY_RATE:
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

const struct spelling *spelling_find(enum key_section section, const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
		if (spellings[i].section == section &&
		    !strcmp(spellings[i].key, key))
			return &spellings[i];
	return NULL;
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

const char *step_kind_instead(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign_kinds); i++)
		if (!strcmp(foreign_kinds[i].name, name))
			return foreign_kinds[i].instead;
	return NULL;
}

const char *step_kind_of_others(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(other_kinds); i++)
		if (!strcasecmp(other_kinds[i].name, name))
			return other_kinds[i].instead;
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

static void add_section(struct buf *out, enum key_section section)
{
	const struct key *k = key_next(section, NULL);

	if (k)
		buf_addf(out,
			 "\n### %s\n\n%s.\n\n"
			 "| key | takes | default | meaning |\n"
			 "|---|---|---|---|\n",
			 key_sections[section].title,
			 key_sections[section].help);
	for (; k; k = key_next(section, k))
		add_row(out, k);
}

static void add_spellings(struct buf *out)
{
	buf_adds(out,
		 "\n## Spellings of others\n\nOne that differs is an error "
		 "of `check`.\n\n"
		 "| of | key | whose | here | meaning |\n"
		 "|---|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
		buf_addf(out, "| %s | `%s` | %s | %s`%s` | ",
			 key_sections[spellings[i].section].name,
			 spellings[i].key, spellings[i].whose,
			 spellings[i].way == SPELLING_differs ? "differs: "
							      : "",
			 spellings[i].own);
		add_cell(out,
			 *spellings[i].says ? spellings[i].says : "the same");
		buf_adds(out, " |\n");
	}
}

void keys_print_markdown(struct buf *out)
{
	buf_adds(out, "## Step types\n\n| type | does |\n|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		buf_addf(out, "| `%s` | %s |\n", kinds[i].name, kinds[i].help);
	buf_adds(out,
		 "\nOf modulex, `git-status`, `git-unpushed`, `deadline-calc` "
		 "and `countdown-calc` are done by `matins brief`. A step of "
		 "another type, and one of these without repos or dates, is "
		 "skipped, with the reason `unsupported`:\n\n"
		 "| type | instead |\n|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(foreign_kinds); i++)
		buf_addf(out, "| `%s` | %s |\n", foreign_kinds[i].name,
			 foreign_kinds[i].instead);
	add_spellings(out);
	buf_adds(out, "\n## Keys\n");
	for (enum key_section s = 0; s < N_SECTIONS; s++)
		add_section(out, s);
	buf_adds(out, "\nTables of modulex, which only steps of its types "
		      "read:");
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

/* ---- the schema: one key ---- */

static void add_words(struct buf *out, const char *words)
{
	struct str rest = str_of(words);

	buf_addc(out, '[');
	while (rest.p) {
		jw_quote(out, str_cut(&rest, '|'));
		buf_adds(out, rest.p ? "," : "]");
	}
}

/* From 'type':'string' to "type":"string". */
static void add_members(struct buf *out, const char *members, const char *words)
{
	for (; *members; members++)
		if (*members == '@')
			add_words(out, words);
		else
			buf_addc(out, *members == '\'' ? '"' : *members);
}

static void add_bounds(struct buf *out, const struct key *k)
{
	if (k->type != KEY_COUNT || !k->max)
		return;
	buf_addf(out, ",\"minimum\":%llu,\"maximum\":%llu",
		 (unsigned long long)k->min, (unsigned long long)k->max);
}

static void add_default(struct buf *out, const struct key *k)
{
	if (!k->def)
		return;
	buf_adds(out, ",\"default\":");
	if (k->type == KEY_BOOL || k->type == KEY_COUNT)
		buf_adds(out, k->def);
	else
		jw_quote(out, str_of(k->def));
}

/* The value of a key, or what another program writes there. */
static void add_forms(struct buf *out, const struct key *k)
{
	buf_adds(out, "\"anyOf\":[{");
	add_members(out, types[k->type].schema, k->words);
	buf_adds(out, k->type == KEY_PROGRAM ? "},{\"type\":\"array\"}]"
					     : "},{\"const\":\"stdio\"}]");
}

static void write_key(struct jw *w, const struct key *k)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf help = BUF_INIT(BUF_UNBOUNDED);

	buf_addf(&help, "%s%s%s", k->help, k->more ? "; " : "",
		 k->more ? k->more : "");
	buf_adds(&text, "{\"description\":");
	jw_quote(&text, buf_str(&help));
	add_default(&text, k);
	buf_addc(&text, ',');
	/* a bound of the key stands for that of its type */
	if (k->type == KEY_COUNT && k->max)
		buf_adds(&text, "\"type\":\"integer\"");
	else if (spelling_find(k->section, k->name))
		add_forms(&text, k);
	else
		add_members(&text, types[k->type].schema, k->words);
	add_bounds(&text, k);
	buf_addc(&text, '}');
	jw_key(w, k->name);
	jw_raw(w, buf_str(&text));
}

/* ---- the schema: one table ---- */

static void write_keys(struct jw *w, enum key_section section)
{
	for (const struct key *k = NULL; (k = key_next(section, k));)
		if (k->type != KEY_TYPE) /* write_hints() has the words */
			write_key(w, k);
}

static void write_foreign(struct jw *w, enum key_section section)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
		const char *instead = foreign[i].instead;

		if (foreign[i].section != section)
			continue;
		buf_addf(&text, "ignored: %s",
			 instead ? instead : "a table of modulex");
		jw_kv_object(w, foreign[i].name);
		jw_kv_str(w, "description", buf_str(&text));
		jw_end(w);
	}
}

/* Keys that others have for ours. */
static void write_spellings(struct jw *w, enum key_section section)
{
	for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (spellings[i].section != section ||
		    spellings[i].way == SPELLING_differs ||
		    key_find(section, section, spellings[i].key))
			continue;
		buf_addf(&text, "`%s`, as %s has it", spellings[i].own,
			 spellings[i].whose);
		jw_kv_object(w, spellings[i].key);
		jw_kv_str(w, "description", buf_str(&text));
		jw_end(w);
	}
}

/* Conditions that no row has. */
static void write_conditions(struct jw *w, enum key_section section)
{
	switch (section) {
	case SECTION_server:
		jw_kv_raw(w, "oneOf",
			  STR("[{\"required\":[\"command\"]},"
			      "{\"required\":[\"url\"]}]"));
		break;
	case SECTION_reference:
		jw_kv_int(w, "minProperties", 1);
		jw_kv_int(w, "maxProperties", 1);
		break;
	case SECTION_caveats:
		jw_kv_array(w, "required");
		for (const struct key *k = NULL; (k = key_next(section, k));)
			jw_cstr(w, k->name);
		jw_end(w);
		break;
	default:
		break;
	}
}

/* The members of a table's schema. */
static void write_table(struct jw *w, enum key_section section)
{
	jw_kv_cstr(w, "description", key_sections[section].help);
	jw_kv_cstr(w, "type", "object");
	write_conditions(w, section);
	jw_kv_object(w, "properties");
	write_keys(w, section);
	write_foreign(w, section);
	write_spellings(w, section);
	jw_end(w);
	jw_kv_bool(w, "additionalProperties", false);
}

/* ---- the schema: steps ---- */

/* Keys that a step of any type may have: for an editor that completes them. */
static void write_hints(struct jw *w)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct strlist known = {NULL, 0};

	write_keys(w, SECTION_step);
	write_spellings(w, SECTION_step);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		for (const struct key *k = NULL;
		     (k = key_next(kinds[i].section, k));) {
			if (list_has(&known, k->name))
				continue;
			list_add(&known, &arena, k->name);
			jw_kv_object(w, k->name);
			jw_kv_cstr(w, "description", k->help);
			jw_end(w);
		}
	jw_kv_object(w, "type");
	jw_kv_cstr(w, "description", "step type");
	jw_kv_array(w, "enum");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		jw_cstr(w, kinds[i].name);
	/* types of modulex are skipped, whatever their keys */
	for (size_t i = 0; i < ARRAY_LEN(foreign_kinds); i++)
		jw_cstr(w, foreign_kinds[i].name);
	jw_end(w);
	jw_end(w);
}

/* If the step is of this type, it has these keys and no other. */
static void write_kind(struct jw *w, const struct step_kind *kind)
{
	jw_object(w);
	jw_kv_object(w, "if");
	jw_kv_object(w, "properties");
	jw_kv_object(w, "type");
	jw_kv_cstr(w, "const", kind->name);
	jw_end(w);
	jw_end(w);
	jw_end(w);
	jw_kv_object(w, "then");
	jw_kv_cstr(w, "description", kind->help);
	jw_kv_object(w, "properties");
	for (const struct key *k = NULL; (k = key_next(SECTION_step, k));)
		jw_kv_bool(w, k->name, true);
	write_spellings(w, SECTION_step);
	write_keys(w, kind->section);
	jw_end(w);
	jw_kv_bool(w, "additionalProperties", false);
	jw_end(w);
	jw_end(w);
}

static void write_step(struct jw *w)
{
	jw_kv_cstr(w, "description", key_sections[SECTION_step].help);
	jw_kv_cstr(w, "type", "object");
	jw_kv_raw(w, "required", STR("[\"type\"]"));
	jw_kv_raw(w, "anyOf",
		  STR("[{\"required\":[\"name\"]},{\"required\":[\"id\"]},"
		      "{\"required\":[\"taskReferenceName\"]}]"));
	jw_kv_object(w, "properties");
	write_hints(w);
	jw_end(w);
	jw_kv_array(w, "allOf");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		write_kind(w, &kinds[i]);
	jw_end(w);
}

static bool is_of_kind(enum key_section section)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].section == section)
			return true;
	return false;
}

/* ---- the schema: the whole ---- */

void keys_print_schema(struct buf *out)
{
	struct jw w;

	jw_init(&w, out, true);
	jw_object(&w);
	jw_kv_cstr(&w, "$schema", "http://json-schema.org/draft-07/schema#");
	jw_kv_cstr(&w, "title", "configuration of matins");
	write_table(&w, SECTION_top);
	jw_kv_object(&w, "definitions");
	for (enum key_section s = SECTION_top + 1; s < N_SECTIONS; s++) {
		if (is_of_kind(s))
			continue;
		jw_kv_object(&w, key_sections[s].name);
		if (s == SECTION_step)
			write_step(&w);
		else
			write_table(&w, s);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '\n');
}
