#include "core/mcp/wire/listing.h"

#include "core/base/jw.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/http_fields.h"

#define WARNINGS_MAX 64
/* Ceiling of a name in a warning, bytes of JSON text. */
#define NAME_SHOWN 200

static const struct kind {
	const char *method, *member, *name;
} kinds[] = {
#define X(id, method, member, name) {method, member, name},
	LISTINGS(X)
#undef X
};

void listing_init(struct listing *l, enum listing_kind kind)
{
	*l = (struct listing){
		.kind = kind,
		.arena = ARENA_INIT,
		.params = BUF_INIT(BUF_UNBOUNDED),
	};
}

void listing_release(struct listing *l)
{
	free(l->slots);
	buf_release(&l->params);
	arena_release(&l->arena);
	listing_init(l, l->kind);
}

const char *listing_method(enum listing_kind kind)
{
	return kinds[kind].method;
}

const char *listing_member(enum listing_kind kind)
{
	return kinds[kind].member;
}

struct str listing_params(struct listing *l)
{
	struct jw w;

	if (!l->cursor.p)
		return (struct str){NULL, 0};
	buf_clear(&l->params);
	w = jw_begin(&l->params);
	jw_kv_raw(&w, "cursor", l->cursor);
	jw_end(&w);
	return buf_str(&l->params);
}

static int warn(struct listing *l, const char *text)
{
	if (l->warnings.n == WARNINGS_MAX)
		l->warnings_dropped++;
	else
		list_add(&l->warnings, &l->arena, text);
	return LISTING_DONE;
}

/* ---- by name ---- */

/* FNV-1a, 64 bits. */
static uint64_t hash(struct str s)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(1099511628211);
	return h;
}

/* Find the slot of a name, or where it would be. */
static size_t *slot_of(const struct listing *l, struct str name)
{
	size_t at = hash(name) & (l->n_slots - 1);

	while (l->slots[at] && !str_eq(l->item[l->slots[at] - 1].name, name))
		at = (at + 1) & (l->n_slots - 1);
	return &l->slots[at];
}

static void grow_slots(struct listing *l)
{
	if (l->n_slots > 2 * l->n)
		return;
	l->n_slots = l->n_slots ? l->n_slots * 2 : 64;
	free(l->slots);
	l->slots = mem_zalloc(l->n_slots * sizeof(*l->slots));
	for (size_t i = 0; i < l->n; i++)
		*slot_of(l, l->item[i].name) = i + 1;
}

const struct listing_item *listing_find(const struct listing *l,
					struct str name)
{
	size_t *slot = l->n_slots ? slot_of(l, name) : NULL;

	return slot && *slot ? &l->item[*slot - 1] : NULL;
}

/* ---- pages ---- */

/* A tool with bad headers must not be called over HTTP (XH-2, XH-3). */
static bool has_bad_headers(struct listing *l, struct str name, struct str json)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct http_params params;
	struct err why = ERR_INIT;
	struct str shown = str_first(name, NAME_SHOWN);

	if (!l->checks_headers || l->kind != LISTING_TOOLS ||
	    http_params_read(json, &arena, &params, &why) == 0)
		return false;
	(void)warn(l, arena_printf(&l->arena, "%.*s is left out: %s",
				   STR_ARG(shown), why.msg));
	return true;
}

static void add_item(struct listing *l, struct str json)
{
	const struct kind *k = &kinds[l->kind];
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct str shown;
	size_t *slot;

	if (!scan_string(scan_some(json, k->name), &name) || !name.n) {
		(void)warn(l, arena_printf(&l->arena,
					   "an entry of %s without \"%s\" is "
					   "left out",
					   k->member, k->name));
		return;
	}
	grow_slots(l);
	slot = slot_of(l, buf_str(&name));
	if (*slot) {
		shown = str_first(buf_str(&name), NAME_SHOWN);
		(void)warn(l, arena_printf(&l->arena,
					   "%.*s: the name is used twice; the "
					   "first one counts",
					   STR_ARG(shown)));
		return;
	}
	if (has_bad_headers(l, buf_str(&name), json))
		return;
	l->item = arena_grow(&l->arena, l->item, l->n, sizeof(*l->item));
	l->item[l->n] = (struct listing_item){
		.name = arena_str(&l->arena, buf_str(&name)),
		.json = arena_str(&l->arena, json),
	};
	*slot = ++l->n;
}

static int next_page(struct listing *l, struct str result)
{
	struct str cursor = scan_some(result, "nextCursor");

	l->cursor = (struct str){NULL, 0};
	if (!cursor.p)
		return LISTING_DONE;
	if (scan_type(cursor) != SCAN_STRING)
		return warn(l, "nextCursor is not a string; further pages are "
			       "missing");
	if (cursor.n > LIMIT_CURSOR_BYTES)
		return warn(l, "nextCursor is longer than 64 KiB; further "
			       "pages are missing");
	if (l->pages == LISTING_PAGES_MAX)
		return warn(l, "more than 1000 pages; the rest is missing");
	/* cursors are any strings, also "" (PAG-4) */
	for (size_t i = 0; i < l->cursors.n; i++)
		if (str_is(cursor, l->cursors.item[i]))
			/* the page that it leads to has been read (PAG-6) */
			return warn(l, "the server repeats a cursor; the "
				       "listing ends here");
	l->cursor = arena_str(&l->arena, cursor);
	list_add(&l->cursors, &l->arena, l->cursor.p);
	return LISTING_MORE;
}

int listing_add(struct listing *l, struct str result, struct err *err)
{
	const struct kind *k = &kinds[l->kind];
	struct str list = scan_some(result, k->member);

	if (!list.p || scan_type(list) != SCAN_ARRAY) {
		/* nothing at all may be written as an empty object (RW-57) */
		if (scan_type(result) == SCAN_ARRAY && !scan_count(result))
			return LISTING_DONE;
		return err_set(err, ERR_PEER,
			       "the server's answer to %s has no array \"%s\"",
			       k->method, k->member);
	}
	l->pages++;
	for (struct scan_iter it = scan_over(list); scan_next(&it);) {
		if (l->n == LISTING_ITEMS_MAX)
			return err_set(err, ERR_LIMIT,
				       "more than %d entries of %s",
				       LISTING_ITEMS_MAX, k->member);
		add_item(l, it.value);
	}
	return next_page(l, result);
}

bool listing_restart(struct listing *l)
{
	bool checks_headers = l->checks_headers;

	if (!l->cursor.p || l->restarted)
		return false;
	listing_release(l);
	l->checks_headers = checks_headers;
	l->restarted = true;
	return true;
}
