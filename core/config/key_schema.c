#include "core/config/key_schema.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/jw.h"
#include "core/config/keys.h"

/* ---- one key ---- */

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
	else
		add_members(&text, key_type_schema(k->type), k->words);
	add_bounds(&text, k);
	buf_addc(&text, '}');
	jw_key(w, k->name);
	jw_raw(w, buf_str(&text));
}

/* ---- one table ---- */

static void write_keys(struct jw *w, enum key_section section)
{
	for (const struct key *k = NULL; (k = key_next(section, k));)
		if (k->type != KEY_TYPE) /* write_hints() has the words */
			write_key(w, k);
}

static void write_foreign(struct jw *w, enum key_section section)
{
	size_t n;
	const struct foreign_key *all = keys_foreign(&n);

	for (size_t i = 0; i < n; i++) {
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (all[i].section != section)
			continue;
		buf_addf(&text, "ignored: %s",
			 all[i].instead ? all[i].instead
					: "a table of modulex");
		jw_kv_object(w, all[i].name);
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
	jw_end(w);
	jw_kv_bool(w, "additionalProperties", false);
}

/* ---- steps ---- */

/* Keys that a step of any type may have: for an editor that completes them. */
static void write_hints(struct jw *w)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct strlist known = {NULL, 0};
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);
	const char *name;

	write_keys(w, SECTION_step);
	for (size_t i = 0; i < n; i++)
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
	for (size_t i = 0; i < n; i++)
		jw_cstr(w, kinds[i].name);
	/* types of modulex are skipped, whatever their keys */
	for (size_t i = 0; (name = step_kind_foreign(i)); i++)
		jw_cstr(w, name);
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
	write_keys(w, kind->section);
	jw_end(w);
	jw_kv_bool(w, "additionalProperties", false);
	jw_end(w);
	jw_end(w);
}

static void write_step(struct jw *w)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);

	jw_kv_cstr(w, "description", key_sections[SECTION_step].help);
	jw_kv_cstr(w, "type", "object");
	jw_kv_raw(w, "required", STR("[\"name\",\"type\"]"));
	jw_kv_object(w, "properties");
	write_hints(w);
	jw_end(w);
	jw_kv_array(w, "allOf");
	for (size_t i = 0; i < n; i++)
		write_kind(w, &kinds[i]);
	jw_end(w);
}

static bool is_of_kind(enum key_section section)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);

	for (size_t i = 0; i < n; i++)
		if (kinds[i].section == section)
			return true;
	return false;
}

/* ---- the whole ---- */

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
