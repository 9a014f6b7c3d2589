/*
 * Description of the object that a schema demands, for its authors: command
 * lines that type `k=v` arguments, help texts, completion.
 *
 * References and allOf are followed, and the alternatives of anyOf and oneOf
 * taken together, some levels deep. It is a description, not a verdict: whether
 * a value is right is for schema_validate().
 */
#ifndef CORE_SCHEMA_DESCRIBE_H
#define CORE_SCHEMA_DESCRIBE_H

#include "core/schema/schema.h"

/* Bits of the types of a value. "number" includes integers. */
enum schema_type {
	SCHEMA_TYPE_UNKNOWN = 0, /* any */
#define TYPE(id, name, bit, phrase) SCHEMA_TYPE_##id = (bit),
#include "core/schema/types.def"
#undef TYPE
};

struct node;

struct schema_choice {
	struct str value; /* JSON */
	struct str title; /* for people; "" when there is none */
};

struct schema_property {
	struct str name; /* decoded */
	unsigned types;	 /* bits; 0 when nothing is said */
	bool is_required;
	struct str title;	/* decoded, as description and format; "" */
	struct str description; /* "" when there is none */
	struct str format;
	struct str fallback;	      /* JSON of "default"; p is NULL without */
	struct str minimum, maximum;  /* likewise */
	struct str min_items;	      /* likewise */
	struct schema_choice *choice; /* enum, const, or oneOf of const */
	size_t n_choices;
	bool is_list;		 /* the choices are of the elements */
	const struct node *node; /* of the functions below; of the schema */
};

/*
 * The properties of the object that the schema describes, in the order of
 * the document; in `arena`. At most 1000.
 */
size_t schema_properties(const struct schema *s, struct arena *arena,
			 struct schema_property **ret) MUST_USE;

/* The properties of a property that is an object, while its schema is there. */
size_t schema_members(const struct schema_property *p, struct arena *arena,
		      struct schema_property **ret) MUST_USE;
/* The elements of one that is an array, without a name; false: nothing is said.
 */
bool schema_elements(const struct schema_property *p, struct arena *arena,
		     struct schema_property *ret) MUST_USE;

/* One of them; false when the schema does not name it. */
bool schema_property(const struct schema *s, struct str name,
		     struct arena *arena, struct schema_property *ret) MUST_USE;

/*
 * The type that an argument written as `name=text` should take: the only
 * one beside null; of several, string when it is among them and the text is
 * left as it is. SCHEMA_TYPE_UNKNOWN when the schema does not say.
 */
enum schema_type schema_property_type(const struct schema *s, struct str name)
	MUST_USE;

/*
 * Follow references "#/…" from a schema to the one that is meant, as far as
 * they lead. Texts that core/base/scan.h proved.
 *
 * root  the whole document
 */
struct str schema_deref(struct str root, struct str schema, struct arena *arena)
	MUST_USE;

/* Bits of the types that a proved JSON value has: a number may be an integer.
 */
unsigned schema_types_of(struct str value) MUST_USE;

/* "a string", "an integer"; for one bit. Static. */
const char *schema_type_phrase(enum schema_type type) MUST_USE;
/*
 * Names of the properties that a subschema and its references speak of, as C
 * strings in `arena`.
 */
size_t node_property_names(const struct node *node, struct arena *arena,
			   const char *const **ret) MUST_USE;

/* Schemas that the value of a keyword is, or holds. */
enum schema_below {
	SCHEMA_BELOW_NONE,
	SCHEMA_BELOW_ONE,  /* a schema, or an array of them */
	SCHEMA_BELOW_EACH, /* an object with a schema under each name */
};

/*
 * Find a keyword of any draft; false: there is none of this name.
 *
 * ret_near  then the nearest one, static; NULL where none is near
 */
bool schema_keyword(struct str name, enum schema_below *ret,
		    const char **ret_near) MUST_USE;

/* "string", "integer"; for one bit. Static. */
const char *schema_type_name(enum schema_type type) MUST_USE;

#endif
