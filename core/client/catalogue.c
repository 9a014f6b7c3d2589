#include "core/client/catalogue.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/fd.h"
#include "core/base/jdoc.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/sha256.h"
#include "core/config/state_file.h"
#include "core/mcp/wire/merged_name.h"
#include "core/report/canon.h"

#define SCHEMA "matins-catalogue/1"
/* One file; a server that offers more is not remembered. */
#define FILE_BYTES ((size_t)64 * 1024 * 1024)

/* Texts of an entry, in the order of the file. */
#define ENTRY_TEXTS(X) \
	X(first_seen)  \
	X(last_seen)   \
	X(updated)     \
	X(deprecated)  \
	X(renamed_to)  \
	X(news)

/* Texts of a server. */
#define SERVER_TEXTS(X) \
	X(synced)       \
	X(failed)       \
	X(error)        \
	X(error_kind)

/* ---- the file ---- */

/* state_dir  NULL: the path is NULL, too */
static char *path_of(const char *state_dir, const char *config,
		     const char *server)
{
	AUTO(mem_freep) char *key = mem_printf("%s\n%s", config, server);
	char hex[SHA256_HEX_BYTES];

	sha256_hex(str_of(key), hex);
	return state_dir ? mem_printf("%s/catalogue/%s.json", state_dir, hex)
			 : NULL;
}

/* Decode a string without copying one that has no escapes. */
static struct str decoded(struct str json, struct arena *arena)
{
	if (json.n < 2 || json.p[0] != '"')
		return STR("");
	if (!memchr(json.p, '\\', json.n))
		return (struct str){json.p + 1, json.n - 2};
	return scan_decoded(json, SIZE_MAX, arena);
}

static const char *text_of(struct str json, struct arena *arena)
{
	struct str s = decoded(json, arena);

	return s.n ? arena_strndup(arena, s.p, s.n) : NULL;
}

/* Take the text behind a byte; false: another one stands there. */
static bool take(struct str *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = str_skip(*s, 1);
	return true;
}

/* Prove the value that s begins with, and take it. */
static bool take_value(struct str *s, struct str *ret)
{
	if (scan_value(*s, NULL, ret, ERR_IGNORED) < 0)
		return false;
	*s = str_skip(*s, (size_t)(ret->p + ret->n - s->p));
	return true;
}

/* Read {"name":…,…,"item":…}; the object at its end is not proved. */
static bool read_entry(struct str line, struct arena *arena,
		       struct catalogue_entry *e)
{
	struct str key, value;

	if (!take(&line, '{') || !str_ends(line, "}"))
		return false;
	line.n--;
	while (take_value(&line, &key) && take(&line, ':')) {
		if (scan_is(key, "item")) {
			e->item = line;
			return e->name.n && e->first_seen && e->last_seen;
		}
		if (!take_value(&line, &value) || !take(&line, ','))
			return false;
		if (scan_is(key, "name"))
			e->name = decoded(value, arena);
#define X(member)                  \
	if (scan_is(key, #member)) \
		e->member = text_of(value, arena);
		ENTRY_TEXTS(X)
#undef X
	}
	return false;
}

/* Read the members before the lists. line  up to the "[" of the first one */
static bool read_head(struct str line, struct catalogue *c)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str file, schema;

	buf_add_str(&text, line);
	buf_adds(&text, "]}");
	if (scan_document(buf_str(&text), NULL, &file, ERR_IGNORED) < 0 ||
	    !scan_get(file, "schema", &schema) || !scan_is(schema, SCHEMA))
		return false;
	for (struct scan_iter it = scan_over(file); scan_next(&it);) {
#define X(member)                     \
	if (scan_is(it.key, #member)) \
		c->member = text_of(arena_str(&c->arena, it.value), &c->arena);
		SERVER_TEXTS(X)
#undef X
	}
	return true;
}

bool catalogue_parse(struct catalogue *ret)
{
	struct catalogue_list *l = ret->list;
	struct str rest = buf_str(&ret->text);

	if (!read_head(str_cut(&rest, '\n'), ret))
		return false;
	while (rest.p) {
		struct catalogue_entry e = {.name = {NULL, 0}};
		struct str line = str_cut(&rest, '\n');

		if (take(&line, ']') && ++l == ret->list + CATALOGUE_LISTS)
			break;
		(void)take(&line, ',');
		if (!read_entry(line, &ret->arena, &e))
			continue;
		l->entry = arena_grow(&ret->arena, l->entry, l->n, sizeof(e));
		l->entry[l->n++] = e;
	}
	return true;
}

bool catalogue_read_heads(const char *state_dir, const char *config,
			  const char *server, struct catalogue *ret)
{
	AUTO(mem_freep) char *path = path_of(state_dir, config, server);

	*ret = (struct catalogue){.arena = ARENA_INIT,
				  .text = BUF_INIT(FILE_BYTES)};
	return path && fd_read_regular(path, &ret->text, ERR_IGNORED) == 0 &&
	       catalogue_parse(ret);
}

static struct str string_or_none(struct str value)
{
	return scan_type(value) == SCAN_STRING ? value : (struct str){NULL, 0};
}

bool catalogue_prove(struct catalogue_entry *e)
{
	struct str title = {NULL, 0}, hints = {NULL, 0};
	struct scan_members members;
	struct scan_iter it;

	if (scan_members(e->item, &e->item, &members, ERR_IGNORED) < 0 ||
	    scan_type(e->item) != SCAN_OBJECT)
		return false;
	e->description = title;
	scan_iter_noted(&it, e->item, &members);
	while (scan_next(&it)) {
		if (scan_is(it.key, "title"))
			title = string_or_none(it.value);
		else if (scan_is(it.key, "description"))
			e->description = string_or_none(it.value);
		else if (scan_is(it.key, "annotations"))
			hints = it.value;
	}
	e->title = title.p || !hints.p ? title : scan_text(hints, "title");
	return true;
}

bool catalogue_read(const char *state_dir, const char *config,
		    const char *server, struct catalogue *ret)
{
	bool is_there = catalogue_read_heads(state_dir, config, server, ret);

	for (size_t k = 0; k < CATALOGUE_LISTS; k++) {
		struct catalogue_list *l = &ret->list[k];
		size_t n = 0;

		for (size_t i = 0; i < l->n; i++)
			if (catalogue_prove(&l->entry[i]))
				l->entry[n++] = l->entry[i];
		l->n = n;
	}
	return is_there;
}

void catalogue_release(struct catalogue *c)
{
	buf_release(&c->text);
	arena_release(&c->arena);
}

/* An entry a line, which can be read without the others. */
static void write_list(struct jw *w, const struct catalogue_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		AUTO(buf_release) struct buf item = BUF_INIT(BUF_UNBOUNDED);
		const struct catalogue_entry *e = &l->entry[i];

		jw_object(w);
		jw_kv_str(w, "name", e->name);
#define X(member) jw_kv_opt(w, #member, e->member);
		ENTRY_TEXTS(X)
#undef X
		jw_key(w, "item");
		scan_compact(e->item, &item);
		jw_raw(w, buf_str(&item));
		jw_end(w);
		buf_addc(w->out, '\n');
	}
}

bool catalogue_write(const char *state_dir, const char *config,
		     const char *server, const struct catalogue *c)
{
	AUTO(mem_freep) char *path = path_of(state_dir, config, server);
	const struct state_file f = {path, SCHEMA, FILE_BYTES};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&out);

	if (!path)
		return false;
	jw_kv_cstr(&w, "schema", SCHEMA);
	jw_kv_cstr(&w, "config", config);
	jw_kv_cstr(&w, "server", server);
#define X(member) jw_kv_opt(&w, #member, c->member);
	SERVER_TEXTS(X)
#undef X
	for (int k = 0; k < CATALOGUE_LISTS; k++) {
		jw_kv_array(&w, listing_member(k));
		buf_addc(&out, '\n');
		write_list(&w, &c->list[k]);
		jw_end(&w);
	}
	jw_end(&w);
	buf_addc(&out, '\n');
	return state_file_write(&f, buf_str(&out));
}

int catalogue_hold(const char *state_dir)
{
	AUTO(mem_freep) char *folder = mem_printf("%s/catalogue", state_dir);

	return state_file_hold(folder);
}

/* ---- reading ---- */

const struct catalogue_entry *catalogue_find(const struct catalogue *c,
					     enum listing_kind kind,
					     struct str name)
{
	const struct catalogue_list *l = &c->list[kind];

	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->entry[i].name, name))
			return &l->entry[i];
	return NULL;
}

size_t catalogue_count(const struct catalogue *c, enum listing_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < c->list[kind].n; i++)
		n += !c->list[kind].entry[i].deprecated;
	return n;
}

struct strlist catalogue_tools(const char *state_dir, const char *config,
			       const char *server, struct arena *arena)
{
	AUTO(catalogue_release) struct catalogue c;
	const struct catalogue_list *l = &c.list[LISTING_TOOLS];
	struct strlist names = {NULL, 0};

	(void)catalogue_read_heads(state_dir, config, server, &c);
	for (size_t i = 0; i < l->n; i++)
		if (!l->entry[i].deprecated &&
		    tool_name_is_word(l->entry[i].name))
			list_add(&names, arena,
				 arena_strndup(arena, l->entry[i].name.p,
					       l->entry[i].name.n));
	return names;
}

/* ---- merging ---- */

/* Members that a model or a person is told, but the name and the title. */
static const char *const told[] = {
	"description", "inputSchema", "outputSchema",
	"annotations", "arguments",   "mimeType",
};

static bool is_same_member(const struct jdoc *a, const struct jdoc *b,
			   const char *name)
{
	const struct jdoc *x = jdoc_get(a, name), *y = jdoc_get(b, name);

	return x && y ? canon_equal(x, y) : x == y;
}

/* Say two objects the same of what they offer? */
static bool is_same(struct str a, struct str b)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct jdoc *x, *y;
	bool same = true;

	if (str_eq(a, b))
		return true;
	if (jdoc_parse(a, &arena, &x, ERR_IGNORED) < 0 ||
	    jdoc_parse(b, &arena, &y, ERR_IGNORED) < 0)
		return false;
	for (size_t i = 0; same && i < ARRAY_LEN(told); i++)
		same = is_same_member(x, y, told[i]);
	return same && is_same_member(x, y, "title");
}

static void note(struct catalogue *c, struct catalogue_changes *changes,
		 enum catalogue_what what, enum listing_kind kind,
		 struct str name)
{
	changes->item = arena_grow(&c->arena, changes->item, changes->n,
				   sizeof(*changes->item));
	changes->item[changes->n++] =
		(struct catalogue_change){what, kind, name, NULL};
}

/* Make the entry of what is listed; old: of an earlier list, or NULL. */
static struct catalogue_entry merged(struct catalogue *c,
				     const struct catalogue_entry *old,
				     const struct listing_item *item,
				     const struct scrub *scrub, const char *now)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	struct catalogue_entry e = {.name = item->name,
				    .item = item->json,
				    .first_seen = now,
				    .last_seen = now};

	if (!scrub_is_empty(scrub)) {
		scrub_json(scrub, item->json, &clean);
		e.item = arena_str(&c->arena, buf_str(&clean));
	}
	if (old) {
		e.first_seen = old->first_seen;
		e.updated = is_same(old->item, e.item) ? old->updated : now;
	}
	e.news = !old || old->deprecated ? "added"
		 : old->news		 ? old->news
		 : e.updated == now	 ? "updated"
					 : NULL;
	return e;
}

/* The digest of what an entry says. */
struct told {
	unsigned char sum[SHA256_BYTES];
	size_t at; /* the entry */
};

static int compare_told(const void *a, const void *b)
{
	const struct told *x = a, *y = b;
	const int r = memcmp(x->sum, y->sum, sizeof(x->sum));

	return r ? r : (x->at > y->at) - (x->at < y->at);
}

/* Sum the told members; false: there is no description that tells it from
   others. */
static bool sum_told(struct str item, unsigned char ret[SHA256_BYTES])
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct sha256 sum;
	struct jdoc *doc;

	if (!scan_some(item, "description").p ||
	    jdoc_parse(item, &arena, &doc, ERR_IGNORED) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(told); i++) {
		const struct jdoc *member = jdoc_get(doc, told[i]);

		if (member)
			canon_compact(member, &text);
		buf_addc(&text, '\n');
	}
	sha256_init(&sum);
	sha256_add(&sum, text.p, text.n);
	sha256_end(&sum, ret);
	return true;
}

static bool is_added(const struct catalogue_entry *e)
{
	return e->news && strcmp(e->news, "added") == 0;
}

/* Sums of the entries that are added, in order; returns their number. */
static size_t sum_new(struct catalogue *c, const struct catalogue_list *l,
		      struct told **ret)
{
	size_t n = 0;

	*ret = ARENA_ARRAY(&c->arena, struct told, l->n + 1);
	for (size_t i = 0; i < l->n; i++) {
		(*ret)[n].at = i;
		n += is_added(&l->entry[i]) &&
		     sum_told(l->entry[i].item, (*ret)[n].sum);
	}
	qsort(*ret, n, sizeof(**ret), compare_told);
	return n;
}

/* Find the first new entry that says what an item says; NULL: none does. */
static const struct told *find_told(const struct told *all, size_t n,
				    struct str item)
{
	struct told key = {.at = 0};
	size_t from = 0, to = n;

	if (!sum_told(item, key.sum))
		return NULL;
	while (from < to) {
		const size_t at = from + (to - from) / 2;

		if (compare_told(&all[at], &key) < 0)
			from = at + 1;
		else
			to = at;
	}
	return from < n && memcmp(all[from].sum, key.sum, SHA256_BYTES) == 0
		       ? &all[from]
		       : NULL;
}

/* Name what came in the place of entries that are gone: it says the same. */
static void find_renamed(struct catalogue *c, enum listing_kind kind,
			 struct catalogue_changes *changes)
{
	const struct catalogue_list *l = &c->list[kind];
	struct catalogue_entry *e = l->entry;
	struct told *all = NULL;
	size_t n = 0;

	/* changes come in the order of the entries */
	for (size_t i = 0; i < changes->n; i++) {
		struct catalogue_change *gone = &changes->item[i];
		const struct told *found;

		if (gone->what != CATALOGUE_DEPRECATED || gone->kind != kind)
			continue;
		if (!all)
			n = sum_new(c, l, &all);
		while (!str_eq(e->name, gone->name))
			e++;
		found = n && !e->renamed_to ? find_told(all, n, e->item) : NULL;
		if (found) {
			const struct str name = l->entry[found->at].name;

			e->renamed_to =
				arena_strndup(&c->arena, name.p, name.n);
		}
		gone->renamed_to = e->renamed_to;
	}
}

static struct catalogue_entry *add(struct catalogue_list *l,
				   struct catalogue_entry e)
{
	l->entry[l->n] = e;
	return &l->entry[l->n++];
}

void catalogue_merge(struct catalogue *c, const struct listing *l,
		     const struct scrub *scrub, const char *now, bool is_whole,
		     struct catalogue_changes *changes)
{
	struct catalogue_list *old = &c->list[l->kind], all = {NULL, 0};
	const struct catalogue_entry **before = ARENA_ARRAY(
		&c->arena, const struct catalogue_entry *, l->n + 1);
	const struct listing_item *item;

	all.entry = ARENA_ARRAY(&c->arena, struct catalogue_entry,
				old->n + l->n + 1);
	for (size_t i = 0; i < old->n; i++)
		if ((item = listing_find(l, old->entry[i].name)))
			before[item - l->item] = &old->entry[i];
	for (size_t i = 0; i < l->n; i++) {
		const struct catalogue_entry *was = before[i], *e;

		if (scrub && scrub_finds(scrub, l->item[i].name))
			continue;
		e = add(&all, merged(c, was, &l->item[i], scrub, now));
		if (!was || was->deprecated || e->updated == now ||
		    (is_whole && e->news))
			note(c, changes,
			     is_added(e) ? CATALOGUE_ADDED : CATALOGUE_UPDATED,
			     l->kind, e->name);
	}
	for (size_t i = 0; i < old->n; i++) {
		struct catalogue_entry *e;

		if (listing_find(l, old->entry[i].name))
			continue;
		e = add(&all, old->entry[i]);
		if (!is_whole || e->deprecated)
			continue;
		e->deprecated = now;
		e->news = NULL;
		note(c, changes, CATALOGUE_DEPRECATED, l->kind, e->name);
	}
	*old = all;
	find_renamed(c, l->kind, changes);
	for (size_t i = 0; is_whole && i < all.n; i++)
		all.entry[i].news = NULL;
}

void catalogue_keep(const char *state_dir, const char *config,
		    const char *server, const struct listing *l,
		    const struct scrub *scrub, const char *now)
{
	AUTO(fd_closep) int held = -1;
	bool has_news = true;

	/* most lists have no news, for which nobody has to wait */
	for (int i = 0; has_news && i < 2; i++) {
		AUTO(catalogue_release) struct catalogue c;
		struct catalogue_changes changes = {NULL, 0};

		(void)catalogue_read(state_dir, config, server, &c);
		catalogue_merge(&c, l, scrub, now, false, &changes);
		has_news = changes.n && state_dir;
		if (has_news && held >= 0)
			(void)!catalogue_write(state_dir, config, server, &c);
		else if (has_news)
			held = catalogue_hold(state_dir);
		has_news &= held >= 0;
	}
}

bool catalogue_note(const char *state_dir, const char *config,
		    const char *server, const struct err *why, const char *now)
{
	AUTO(catalogue_release) struct catalogue c;
	AUTO(fd_closep) int held = -1;

	(void)catalogue_read_heads(state_dir, config, server, &c);
	if (!why && !c.error)
		return true;
	held = state_dir ? catalogue_hold(state_dir) : -1;
	if (held < 0)
		return false;
	catalogue_release(&c);
	(void)catalogue_read(state_dir, config, server, &c);
	c.failed = why ? now : NULL;
	c.error = why ? why->msg : NULL;
	c.error_kind = why ? err_word(why->kind) : NULL;
	return catalogue_write(state_dir, config, server, &c);
}

/* ---- searching ---- */

/* Find a word that begins with this byte; case of the others does not count. */
static bool has_from(struct str text, struct str word, int first)
{
	const char *end = text.p + text.n - word.n + 1, *at = text.p;

	while (at < end && (at = memchr(at, first, (size_t)(end - at)))) {
		/* the last byte differs mostly, and in more than its case */
		if (!((at[word.n - 1] ^ word.p[word.n - 1]) & ~0x20) &&
		    strncasecmp(at, word.p, word.n) == 0)
			return true;
		at++;
	}
	return false;
}

/* Case of ASCII letters does not count. */
static bool has(struct str text, struct str word)
{
	const int low = tolower((unsigned char)word.p[0]);
	const int up = toupper((unsigned char)word.p[0]);

	return word.n <= text.n && (has_from(text, word, low) ||
				    (up != low && has_from(text, word, up)));
}

/* Can the text of an item have a word in another spelling? */
static bool may_spell(struct str item, struct str word)
{
	static const char marks[] = "\"\\/";
	bool has_mark = false;

	for (size_t i = 0; i < word.n; i++)
		has_mark |= strchr(marks, word.p[i]) != NULL;
	/* most items have no backslash, and memmem() is slow */
	item = str_skip(item, str_find(item, '\\'));
	return item.n && (has_mark || memmem(item.p, item.n, "\\u", 2));
}

bool catalogue_may_fit(struct str server, const struct catalogue_entry *e,
		       struct str words)
{
	while (words.p) {
		struct str word = str_cut(&words, ' ');

		if (word.n && !has(e->item, word) && !has(server, word) &&
		    !may_spell(e->item, word))
			return false;
	}
	return true;
}

unsigned catalogue_score(struct str server, const struct catalogue_entry *e,
			 struct str words)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct {
		struct str text;
		unsigned worth;
	} places[] = {
		{e->name, 8},
		{decoded(e->title, &arena), 4},
		{server, 2},
		{decoded(e->description, &arena), 1},
	};
	unsigned score = 1;

	while (words.p) {
		struct str word = str_cut(&words, ' ');
		unsigned found = 0;

		for (size_t i = 0; word.n && i < ARRAY_LEN(places); i++)
			found += has(places[i].text, word) * places[i].worth;
		if (word.n && !found)
			return 0;
		score += found + 8 * (word.n == e->name.n && found >= 8);
	}
	return score;
}
