/* What is made of a description: forms, and values with their defaults. */
#include "core/base/jw.h"
#include "core/schema/equal.h"
#include "core/schema/walk.h"

/* ---- forms ---- */

static int not_flat(struct err *err, const struct schema_property *p,
		    const char *why)
{
	return err_set(err, ERR_PEER,
		       "a form cannot ask for the property \"%.*s\": %s",
		       STR_ARG(str_first(p->name, 100)), why);
}

int schema_check_form(const struct schema *s, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct schema_property *list;
	size_t n = schema_properties(s, &arena, &list);

	if (node_types(s->root) != SCHEMA_TYPE_OBJECT)
		return err_set(err, ERR_PEER,
			       "a form must be of type \"object\"");
	for (size_t i = 0; i < n; i++) {
		if (list[i].types & SCHEMA_TYPE_OBJECT)
			return not_flat(err, &list[i], "it is an object");
		if (list[i].types & SCHEMA_TYPE_ARRAY && !list[i].is_list)
			return not_flat(err, &list[i],
					"it is an array of other things than "
					"choices");
		if (!list[i].types)
			return not_flat(err, &list[i], "it has no type");
	}
	return 0;
}

/* ---- defaults ---- */

/* What a caller may be made to write: defaults within defaults are not. */
#define DEFAULTS_MAX (16 * 1024 * 1024)

static bool write_value(const struct node *node, const struct jdoc *value,
			unsigned depth, struct buf *out);

static void add_key(struct buf *out, struct str key, bool *any)
{
	buf_adds(out, *any ? "," : "");
	*any = true;
	jw_quote(out, key);
	buf_addc(out, ':');
}

struct fallback {
	const struct jdoc *value;
};

static void visit_default(struct walk *w, const struct node *node)
{
	struct fallback *f = w->data;

	if (!f->value)
		f->value = jdoc_get(node->value, "default");
}

static const struct node *listed(const struct named *list, size_t n,
				 struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i].name, key))
			return list[i].node;
	return NULL;
}

static bool write_object(const struct node *node, const struct jdoc *value,
			 unsigned depth, struct buf *out)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	struct named *list;
	size_t n = list_properties(node, &own, &list);
	bool any = false;

	buf_addc(out, '{');
	for (const struct jdoc *m = value->first; m; m = m->next) {
		const struct node *inner = listed(list, n, m->key);

		add_key(out, m->key, &any);
		if (!inner)
			buf_add_str(out, m->raw);
		else if (!write_value(inner, m, depth + 1, out))
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		struct fallback f = {NULL};

		if (value_member(value, list[i].name))
			continue;
		walk_applied(list[i].node, false, visit_default, &f);
		if (!f.value)
			continue;
		add_key(out, list[i].name, &any);
		buf_add_str(out, f.value->raw);
	}
	buf_addc(out, '}');
	return out->n < DEFAULTS_MAX + value->raw.n;
}

static bool write_value(const struct node *node, const struct jdoc *value,
			unsigned depth, struct buf *out)
{
	if (value->type != SCAN_OBJECT || depth > WALK_DEPTH_MAX) {
		buf_add_str(out, value->raw);
		return true;
	}
	return write_object(node, value, depth, out);
}

int schema_defaults(const struct schema *s, struct str value, struct buf *out,
		    struct err *err)
{
	AUTO(arena_release) struct arena own = ARENA_INIT;
	struct jdoc *tree;

	if (!value.n)
		value = STR("{}");
	if (jdoc_parse(value, &own, &tree, err) < 0)
		return -1;
	if (!write_value(s->root, tree, 0, out))
		return err_set(err, ERR_LIMIT, "the defaults are too long");
	return 0;
}
