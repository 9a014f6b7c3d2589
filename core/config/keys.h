/*
 * The table of configuration keys, keys.def, as data.
 *
 * The loader, the messages about wrong keys, `matins steps` and
 * routines/README.md are all printed or driven from here. A new key is a row
 * in keys.def and a field of the struct; the rows of servers stand in
 * servers.def, of `auth` in core/auth/auth.def, of `sandbox` in
 * gate/sandbox.def, and their fields are made from them.
 */
#ifndef CORE_CONFIG_KEYS_H
#define CORE_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

enum key_section {
#define SECTION(ident, type, title, help) SECTION_##ident,
#include "core/config/keys.def"
	N_SECTIONS,
};

enum key_type {
#define KEY_TYPE(name, reader, as, text, schema) KEY_##name,
#include "core/config/key_types.def"
#undef KEY_TYPE
	N_KEY_TYPES,
};

struct arena;

struct key {
	enum key_section section;
	const char *name;
	enum key_type type;
	const char *field; /* in the struct of the section */
	size_t offset;	   /* of the field */
	const char *def;   /* default as a user would write it, or NULL */
	uint64_t min, max; /* in the unit of the field; max 0: any */
	const char *words; /* of KEY_WORD, KEY_CHOICE: "a|b|c" */
	const char *help;

	/* Of servers, `auth` and `sandbox`; their .def files explain each. */
	const char *option, *more, *of, *grants, *weakens, *said;
	bool bounds;
};

struct section {
	const char *name;  /* short: "server" */
	const char *title; /* as a user writes it: "[servers.NAME]" */
	const char *help;
};

struct step_kind {
	const char *name;	  /* as written in `type` */
	const char *canonical;	  /* without aliases */
	enum key_section section; /* of its own keys */
	const char *help;
};

/* All keys; *ret_n of them. Static. */
const struct key *keys_all(size_t *ret_n) MUST_USE;
/*
 * Walk the keys of a section in their order: the one behind `key`, the first
 * one behind NULL; NULL behind the last one.
 */
const struct key *key_next(enum key_section section, const struct key *key)
	MUST_USE;
/* The key of this name that one of two sections has; NULL: neither. */
const struct key *key_find(enum key_section a, enum key_section b,
			   const char *name) MUST_USE;
/*
 * Values of a key with .grants or .weakens as texts: the items of a list of
 * strings, the names of rules, of a single value one; none where the key is
 * unset. In `arena`.
 *
 * object  struct of the section
 */
struct strlist key_values(const struct key *k, const void *object,
			  struct arena *arena) MUST_USE;
extern const struct section key_sections[N_SECTIONS];
/* A key that is known and ignored. */
struct foreign_key {
	enum key_section section;
	const char *name;
	const char *instead; /* words for people; NULL: a table of modulex */
};
/* NULL: not one of them. */
const struct foreign_key *key_foreign(enum key_section section,
				      const char *name) MUST_USE;
/* Fate of a key of others, as spellings.def has it. */
enum spelling_way {
	SPELLING_same,
	SPELLING_list,
	SPELLING_words,
	SPELLING_stdio,
	SPELLING_output,
	SPELLING_next,
	SPELLING_task,
	SPELLING_differs,
};

struct spelling {
	enum key_section section;
	const char *key;
	const char *whose; /* names of programs */
	const char *own;   /* key that is meant, or that does it otherwise */
	const char *says;  /* meaning, or advice what to write; may be empty */
	enum spelling_way way;
};

/* The row of a key of others; NULL: there is none. */
const struct spelling *spelling_find(enum key_section section, const char *key)
	MUST_USE;
/* Text that fits behind "must be". */
const char *key_type_text(enum key_type type) MUST_USE;
/*
 * Report whether a number is within the bounds of its key; if not, append the
 * bounds: "at least 1B and at most 1GiB".
 */
bool key_holds(const struct key *k, uint64_t number, struct buf *bounds)
	MUST_USE;
/* Index of a word among those of the key; -1: another word. */
int key_word(const struct key *k, struct str word) MUST_USE;
/* Append the words of a key: "a, b or c", each between two of `quote`. */
void key_add_words(const struct key *k, const char *quote, struct buf *out);

/* All step types and their aliases; static. */
const struct step_kind *step_kinds(size_t *ret_n) MUST_USE;
/* Advice in place of a step type of modulex; NULL for any other type. */
const char *step_kind_instead(const char *name) MUST_USE;
/* Advice for a step type of conductor or dagu; NULL for any other type. */
const char *step_kind_of_others(const char *name) MUST_USE;

/* The reference of all keys and step types as Markdown. */
void keys_print_markdown(struct buf *out);
/*
 * Append the configuration as a JSON Schema for editors, indented, with a
 * newline: each section of keys.def a definition, each step type one of the
 * forms of a step. Made of what draft-07 and 2020-12 share, because editors of
 * TOML know the older one.
 */
void keys_print_schema(struct buf *out);

#endif
