/*
 * A table by the rows of keys.def: defaults, then each member through the
 * reader of its key, and what is said of a key that is not known.
 */
#include <assert.h>

#include "core/base/log.h"
#include "core/config/load.h"

static void (*const readers[])(struct loader *l, const struct key *k,
			       const struct toml_member *m, void *object) = {
#define KEY_TYPE(name, text) read_##name,
#include "core/config/key_types.def"
#undef KEY_TYPE
};

static bool belongs(const struct key *k, enum key_section section,
		    enum key_section more)
{
	return k->section == section || k->section == more;
}

/* The texts in the table are ours: they read as what they say. */
static void set_default(const struct key *k, void *object)
{
	void *field = load_field(k, object);
	struct str def = str_of(k->def);
	bool ok = true;

	switch (k->type) {
	case KEY_BOOL:
		*(bool *)field = str_is(def, "true");
		break;
	case KEY_COUNT:
		ok = str_uint64(def, field);
		break;
	case KEY_DURATION_MS:
		ok = str_duration_ms(def, field);
		break;
	case KEY_SIZE_BYTES:
		ok = str_size_bytes(def, field);
		break;
	case KEY_STRING:
	case KEY_WORD:
		*(const char **)field = k->def;
		break;
	default: /* "auto" and the like: nothing is pinned */
		break;
	}
	assert(ok);
	(void)ok;
}

void load_defaults(enum key_section section, enum key_section more,
		   void *object)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	/* unset until all policies are merged; the gate fills them in */
	if (section == SECTION_sandbox)
		return;
	for (size_t i = 0; i < n; i++)
		if (keys[i].def && belongs(&keys[i], section, more))
			set_default(&keys[i], object);
}

/* Which step types know the key; NULL when none does. */
static const char *types_with_key(struct loader *l, const char *name)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);
	const char *text = NULL;

	for (size_t i = 0; i < n; i++)
		if (key_find(kinds[i].section, name))
			text = text ? arena_printf(l->arena, "%s or %s", text,
						   kinds[i].name)
				    : kinds[i].name;
	return text;
}

static void unknown_key(struct loader *l, const struct toml_member *m,
			enum key_section section, enum key_section more)
{
	const char *near = key_nearest(section, more, m->key);
	const char *types =
		section == SECTION_step ? types_with_key(l, m->key) : NULL;
	struct buf key = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&key, str_of(m->key), false);
	if (types)
		findings_addf(
			l->findings, l->lax, m->line, m->col,
			"key \"%s\" does not fit this step; it is for type %s",
			buf_cstr(&key), types);
	else if (section == SECTION_step && !strcmp(m->key, "url"))
		findings_addf(l->findings, l->lax, m->line, m->col,
			      "a step has no \"url\"; write it in "
			      "[servers.NAME], and "
			      "server = \"NAME\" here");
	else if (near)
		findings_addf(l->findings, l->lax, m->line, m->col,
			      "unknown key \"%s\"; did you mean \"%s\"?",
			      buf_cstr(&key), near);
	else
		findings_addf(l->findings, l->lax, m->line, m->col,
			      "unknown key \"%s\" in %s; `matins steps --md` "
			      "lists the keys",
			      buf_cstr(&key), key_section(section)->title);
	buf_release(&key);
}

static bool is_foreign(struct loader *l, const struct toml_member *m,
		       enum key_section section)
{
	struct err err;

	if (section != SECTION_top || !key_is_foreign(m->key))
		return false;
	err_at(&err, ERR_CONFIG, m->line, m->col,
	       "[%s] is a table of modulex; it is ignored", m->key);
	findings_add_note(l->findings, &err);
	return true;
}

void load_table(struct loader *l, const struct toml_value *table,
		enum key_section section, enum key_section more, void *object)
{
	load_defaults(section, more, object);
	for (size_t i = 0; i < table->table.n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct key *k = key_find(section, m->key);

		if (!k)
			k = key_find(more, m->key);
		if (k)
			readers[k->type](l, k, m, object);
		else if (!is_foreign(l, m, section))
			unknown_key(l, m, section, more);
	}
}
