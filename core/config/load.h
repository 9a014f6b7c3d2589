/*
 * Parts of the loader; users of a configuration include routine.h.
 *
 *	routine.c	 the whole: tables read, servers linked, looked up
 *	load_table.c	 a table by the rows of keys.def
 *	load_sections.c	 sandbox and its programs, auth, golden, caveats
 *	load_servers.c	 servers
 *	load_routines.c	 routines and their steps
 *	values.c	 single values
 *	values_list.c	 lists
 *	values_table.c	 tables whose keys are free
 */
#ifndef CORE_CONFIG_LOAD_H
#define CORE_CONFIG_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config/keys.h"
#include "core/config/routine.h"

struct loader {
	struct arena *arena;	   /* of the model */
	struct config *config;	   /* being filled */
	struct findings *findings; /* collected */
	bool lax;
	const char *routine, *server; /* being read, or NULL */
	const char **unset;	      /* of the server or step, or NULL */
	struct expansion **tail;      /* where the next one is hung */
};

#define load_error(l, ...) findings_addf((l)->findings, false, __VA_ARGS__)
#define load_warning(l, ...) findings_addf((l)->findings, true, __VA_ARGS__)
/* Add an error: a value of another type than the key's. */
void load_wrong_type(struct loader *l, const struct key *k,
		     const struct toml_value *v);

/*
 * Read a table into the struct of its section: defaults first, then every
 * member through the reader of its key. Keys that neither section knows are
 * errors (lax: warnings).
 */
void load_table(struct loader *l, const struct toml_value *table,
		enum key_section section, enum key_section more, void *object);

/* Set the defaults of the keys of one or two sections. */
void load_defaults(enum key_section section, enum key_section more,
		   void *object);

/* Read the keys of a sandbox, and have the gate check their values. */
void load_sandbox(struct loader *l, const struct toml_value *table,
		  struct gate_policy *p);

/*
 * A name that ends up in options, lists and file names: not empty, no
 * control characters, slashes or commas, no dash or dot in front.
 */
void load_check_name(struct loader *l, const char *what, const char *name,
		     uint32_t line, uint32_t col);

/* A program whose name is a key: `~/` and ${VAR} in it are replaced later. */
void load_expand_program(struct loader *l, const struct key *k,
			 const struct toml_member *m, const char **slot);

/* The field of a key in the struct of its section. */
void *load_field(const struct key *k, void *object) MUST_USE;
/* Test for a table; another type is an error. */
bool load_is_table(struct loader *l, const struct key *k,
		   const struct toml_value *v) MUST_USE;
/* A string as a C string, in the arena. */
const char *load_cstr(struct loader *l, const struct toml_value *v) MUST_USE;
/* Test for a string without NUL; anything else is an error. */
bool load_is_usable(struct loader *l, const struct key *k,
		    const struct toml_value *v) MUST_USE;
/* Likewise, and not empty. */
bool load_is_filled(struct loader *l, const struct key *k,
		    const struct toml_value *v) MUST_USE;
/* Note that `~/` and ${VAR} in the slot are to be replaced later. */
void load_expand(struct loader *l, const struct key *k,
		 enum expansion_kind kind, const struct toml_value *v,
		 const char **slot);

/* One reader for each key type; `object` is the struct of the section. */
#define KEY_TYPE(name, text)                                    \
	void read_##name(struct loader *l, const struct key *k, \
			 const struct toml_member *m, void *object);
#include "core/config/key_types.def"
#undef KEY_TYPE

#endif
