#include "core/base/jdoc.h"

/* Walks a text that scan_document() has proved, so nothing is checked. */
struct builder {
	const char *p;
	struct arena *arena;
	struct buf scratch;
	size_t nodes;
};

static void skip_space(struct builder *b)
{
	while (*b->p == ' ' || *b->p == '\t' || *b->p == '\n' || *b->p == '\r')
		b->p++;
}

/* A string or another value that has no others in it. */
static struct str take_scalar(struct builder *b, const char *end)
{
	const char *begin = b->p;

	b->p = scan_after(begin, end);
	return (struct str){begin, (size_t)(b->p - begin)};
}

static struct str decode(struct builder *b, struct str raw)
{
	if (!memchr(raw.p, '\\', raw.n))
		return (struct str){raw.p + 1, raw.n - 2};
	buf_clear(&b->scratch);
	scan_string(raw, &b->scratch);
	return arena_str(b->arena, buf_str(&b->scratch));
}

/* NULL when there are too many values; then the walk is over. */
static struct jdoc *take_value(struct builder *b, const char *end);

/* False as well. Depth is bounded by the scan that proved the text. */
static bool take_members(struct builder *b, struct jdoc *j, const char *end)
{
	char close = j->type == SCAN_OBJECT ? '}' : ']';
	struct jdoc **tail = &j->first;

	b->p++; /* the bracket */
	skip_space(b);
	while (*b->p != close) {
		struct str key = {NULL, 0};

		if (j->type == SCAN_OBJECT) {
			key = decode(b, take_scalar(b, end));
			skip_space(b);
			b->p++; /* the colon */
			skip_space(b);
		}
		*tail = take_value(b, end);
		if (!*tail)
			return false;
		(*tail)->key = key;
		tail = &(*tail)->next;
		j->n++;
		skip_space(b);
		if (*b->p == ',')
			b->p++;
		skip_space(b);
	}
	b->p++;
	return true;
}

static struct jdoc *take_value(struct builder *b, const char *end)
{
	const char *begin = b->p;
	struct jdoc *j;

	if (b->nodes == JDOC_NODES_MAX)
		return NULL;
	b->nodes++;
	j = ARENA_NEW(b->arena, struct jdoc);
	j->type = scan_type((struct str){begin, (size_t)(end - begin)});
	if (j->type != SCAN_OBJECT && j->type != SCAN_ARRAY)
		(void)take_scalar(b, end);
	else if (!take_members(b, j, end))
		return NULL;
	j->raw = (struct str){begin, (size_t)(b->p - begin)};
	return j;
}

int jdoc_parse(struct str text, struct arena *arena, struct jdoc **ret,
	       struct err *err)
{
	struct builder b = {.arena = arena, .scratch = BUF_INIT(BUF_UNBOUNDED)};
	struct jdoc *root;
	struct str value;

	if (scan_document(text, NULL, &value, err) < 0)
		return -1;
	b.p = value.p;
	root = take_value(&b, value.p + value.n);
	buf_release(&b.scratch);
	if (!root)
		return err_set(err, ERR_LIMIT, "more than %d values",
			       JDOC_NODES_MAX);
	*ret = root;
	return 0;
}

struct jdoc *jdoc_get(const struct jdoc *object, const char *key)
{
	struct jdoc *found = NULL;

	if (!object || object->type != SCAN_OBJECT)
		return NULL;
	for (struct jdoc *m = object->first; m; m = m->next)
		if (str_is(m->key, key))
			found = m;
	return found;
}

bool jdoc_is(const struct jdoc *j, const char *text)
{
	return j && scan_is(j->raw, text);
}

const char *jdoc_text(const struct jdoc *j, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *copy = NULL;

	if (j && scan_string(j->raw, &text))
		copy = arena_strndup(arena, buf_cstr(&text), text.n);
	return copy;
}

struct sort_entry {
	struct jdoc *member;
	size_t position;
};

int jdoc_key_order(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	if (order)
		return order;
	return a.n == b.n ? 0 : a.n < b.n ? -1 : 1;
}

static int by_key(const void *va, const void *vb)
{
	const struct sort_entry *a = va, *b = vb;
	int order = jdoc_key_order(a->member->key, b->member->key);

	return order ? order : a->position < b->position ? -1 : 1;
}

struct jdoc **jdoc_members(const struct jdoc *j, bool sorted,
			   struct arena *arena)
{
	struct jdoc **list = ARENA_ARRAY(arena, struct jdoc *, j->n + 1);
	struct sort_entry *entry;
	size_t i = 0;

	if (!sorted || j->type != SCAN_OBJECT) {
		for (struct jdoc *m = j->first; m; m = m->next)
			list[i++] = m;
		return list;
	}
	entry = ARENA_ARRAY(arena, struct sort_entry, j->n + 1);
	for (struct jdoc *m = j->first; m; m = m->next, i++)
		entry[i] = (struct sort_entry){m, i};
	qsort(entry, j->n, sizeof(*entry), by_key);
	for (i = 0; i < j->n; i++)
		list[i] = entry[i].member;
	return list;
}
