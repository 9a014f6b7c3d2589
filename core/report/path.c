#include "core/report/path.h"

#define DEEP_PARTS_MAX 3

enum part_kind {
	PART_MEMBER, /* .name */
	PART_INDEX,  /* [3] */
	PART_ALL,    /* .* */
	PART_DEEP,   /* .. before the next part */
	PART_FILTER, /* [key=value] */
};

struct part {
	enum part_kind kind;
	const char *name;  /* of a member, or the key of a filter */
	const char *value; /* of a filter */
	int64_t index;
};

struct path {
	struct part *part;
	size_t n;
};

struct reader {
	const char *text, *p;
	struct arena *arena;
	struct path *path;
	struct err *err;
};

static int fail(const struct reader *r, const char *what)
{
	return err_set(r->err, ERR_SYNTAX, "path \"%s\", column %zu: %s",
		       r->text, (size_t)(r->p - r->text) + 1, what);
}

static int add_part(struct reader *r, struct part part)
{
	if (r->path->n == PATH_PARTS_MAX)
		return fail(r, "too many parts");
	r->path->part[r->path->n++] = part;
	return 0;
}

/* Up to one of `stop`, or a JSON string, or one in single quotes. */
static int take_word(struct reader *r, const char *stop, const char **ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	bool quoted = *r->p == '\'';
	struct str raw;
	size_t n;

	if (*r->p == '"') {
		if (scan_value(str_of(r->p), NULL, &raw, r->err) < 0)
			return fail(r, "unfinished string");
		scan_string(raw, &text);
		*ret = arena_strndup(r->arena, buf_cstr(&text), text.n);
		r->p = raw.p + raw.n;
		return 0;
	}
	r->p += quoted;
	n = strcspn(r->p, quoted ? "'" : stop);
	if (quoted && !r->p[n]) {
		r->p--;
		return fail(r, "unfinished string");
	}
	if (!quoted && !n)
		return fail(r, "a name is missing");
	*ret = arena_strndup(r->arena, r->p, n);
	r->p += n + quoted;
	return 0;
}

static int take_bracket(struct reader *r)
{
	struct part part = {.kind = PART_MEMBER};
	bool quoted = r->p[1] == '"' || r->p[1] == '\'';

	r->p++;
	if (take_word(r, "=]", &part.name) < 0)
		return -1;
	if (*r->p == '=') {
		r->p++;
		part.kind = PART_FILTER;
		if (take_word(r, "]", &part.value) < 0)
			return -1;
	} else if (!quoted) {
		part.kind = strcmp(part.name, "*") ? PART_INDEX : PART_ALL;
		if (part.kind == PART_INDEX &&
		    !str_int64(str_of(part.name), &part.index))
			return fail(r, "[ ] holds an index, *, a quoted name "
				       "or key=value");
	}
	if (*r->p != ']')
		return fail(r, "']' expected");
	r->p++;
	return add_part(r, part);
}

static int take_name(struct reader *r)
{
	struct part part = {.kind = PART_MEMBER};

	if (take_word(r, ".[", &part.name) < 0)
		return -1;
	if (!strcmp(part.name, "*"))
		part.kind = PART_ALL;
	return add_part(r, part);
}

/* Each of them walks all that is below, so a few are a lot. */
static int take_deep(struct reader *r)
{
	size_t before = 0;

	for (size_t i = 0; i < r->path->n; i++)
		before += r->path->part[i].kind == PART_DEEP;
	if (before == DEEP_PARTS_MAX)
		return fail(r, "too many '..'");
	r->p++;
	return add_part(r, (struct part){.kind = PART_DEEP});
}

static int take_part(struct reader *r)
{
	if (*r->p == '[')
		return take_bracket(r);
	if (*r->p != '.')
		return fail(r, "'.' or '[' expected");
	r->p++;
	if (*r->p == '.') {
		if (take_deep(r) < 0)
			return -1;
		if (*r->p == '[')
			return take_bracket(r);
	}
	return take_name(r);
}

int path_parse(const char *text, struct arena *arena, struct path **ret,
	       struct err *err)
{
	struct path *path = ARENA_NEW(arena, struct path);
	struct reader r = {text, text, arena, path, err};

	path->part = ARENA_ARRAY(arena, struct part, PATH_PARTS_MAX);
	if (*r.p == '$') {
		r.p++;
	} else {
		/* without "$" a path begins at each step */
		path->n = 2;
		path->part[0] =
			(struct part){PART_MEMBER, "step_results", NULL, 0};
		path->part[1] = (struct part){.kind = PART_ALL};
		if (*r.p != '[' && *r.p != '.' && take_name(&r) < 0)
			return -1;
	}
	while (*r.p)
		if (take_part(&r) < 0)
			return -1;
	if (path->n == 0)
		return fail(&r, "this is the whole report");
	*ret = path;
	return 0;
}

static bool selects(const struct part *part, const struct jdoc *parent,
		    const struct jdoc *child, size_t position)
{
	bool array = parent->type == SCAN_ARRAY;
	const struct jdoc *member;

	switch (part->kind) {
	case PART_MEMBER:
		return !array && str_is(child->key, part->name);
	case PART_INDEX:
		/* -1 is the last of n */
		return array &&
		       (part->index >= 0 ? position == (size_t)part->index
					 : parent->n - position ==
						   0 - (uint64_t)part->index);
	case PART_FILTER:
		member = array ? jdoc_get(child, part->name) : NULL;
		if (array && !member && !strcmp(part->name, "name"))
			member = jdoc_get(child, "step_name");
		return member && member->type != SCAN_STRING
			       ? str_is(member->raw, part->value)
			       : jdoc_is(member, part->value);
	default:
		return true;
	}
}

struct selection {
	void (*found)(void *arg, struct jdoc *j);
	void *arg;
};

static size_t select_below(const struct selection *s, const struct part *part,
			   size_t n, struct jdoc *j)
{
	size_t hits = 0, position = 0;
	bool deep = n && part->kind == PART_DEEP;
	const struct part *own = deep ? part + 1 : part;

	if (n == 0) {
		s->found(s->arg, j);
		return 1;
	}
	/* the JSON inside of a text */
	if (j->type == SCAN_STRING && j->first)
		j = j->first;
	for (struct jdoc *c = j->first; c; c = c->next, position++) {
		if (selects(own, j, c, position))
			hits += select_below(s, own + 1, n - 1 - deep, c);
		if (deep)
			hits += select_below(s, part, n, c);
	}
	return hits;
}

size_t path_select(const struct path *p, struct jdoc *report,
		   void (*found)(void *arg, struct jdoc *j), void *arg)
{
	const struct selection s = {found, arg};

	return select_below(&s, p->part, p->n, report);
}
