#include "core/import/wrap.h"

#include <stdlib.h>

#include "core/base/scan.h"
#include "core/config/edit.h"
#include "core/import/words.h"

/* ---- servers of a file ---- */

static void add_server(void *arg, const char *name,
		       const struct toml_value *table)
{
	struct wrap *w = arg;
	struct arena *arena = w->src->arena;

	w->server = arena_grow(arena, w->server, w->n, sizeof(*w->server));
	w->server[w->n++] = (struct wrap_server){
		.name = name,
		.table = table,
		.words = server_words(w->src, table),
		.folder = w->src->folder,
		.is_project = w->src->is_project,
		.within = w->src->within,
	};
}

void wrap_open(struct wrap *w)
{
	(void)client_servers(w->src, &w->root, w->format, add_server, w);
}

/* ---- edits ---- */

struct edit {
	size_t at, drop;
	const char *put;
};

struct edits {
	const struct wrap *of;
	struct arena *arena;
	struct edit *item;
	size_t n;
};

static void add_edit(struct edits *e, size_t at, size_t drop,
		     const struct buf *put)
{
	e->item = arena_grow(e->arena, e->item, e->n, sizeof(*e->item));
	e->item[e->n++] =
		(struct edit){at, drop, arena_strdup(e->arena, buf_cstr(put))};
}

/* A string of TOML is one of JSON and of YAML, too. */
static void add_words(struct buf *out, const struct strlist *words,
		      const char *behind, const char *behind_last)
{
	for (size_t i = 0; i < words->n; i++) {
		edit_add_string(out, words->item[i]);
		buf_adds(out, i + 1 < words->n ? behind : behind_last);
	}
}

/* Length of the string that begins a text. */
static size_t string_length(struct str text, enum tree_format format,
			    bool is_flow)
{
	const char quote = text.n ? text.p[0] : '\0';
	size_t n = 1;

	if (quote == '"' || quote == '\'') {
		while (n < text.n && text.p[n] != quote)
			n += 1 + (quote == '"' && text.p[n] == '\\');
		return n < text.n ? n + 1 : text.n;
	}
	n = str_find(text, '\n');
	for (size_t i = 0; format == TREE_YAML && i < n; i++)
		if (str_starts(str_skip(text, i), " #") ||
		    (is_flow && strchr(",}]", text.p[i])))
			n = i;
	while (n && strchr(" \t\r", text.p[n - 1]))
		n--;
	return n;
}

/* The text of the line up to an offset, and the blanks that it begins with. */
static struct str line_before(struct str text, size_t at, struct str *blanks)
{
	const char *end = memrchr(text.p, '\n', at);
	const size_t from = end ? (size_t)(end + 1 - text.p) : 0;
	struct str line = {text.p + from, at - from};

	*blanks = line;
	blanks->n = 0;
	while (blanks->n < line.n && strchr(" \t", line.p[blanks->n]))
		blanks->n++;
	return line;
}

/* Put words before the first element of a list. */
static void edit_list(struct edits *e, const struct toml_value *list,
		      const struct strlist *words)
{
	AUTO(buf_release) struct buf put = BUF_INIT(BUF_UNBOUNDED);
	const struct str text = e->of->text;
	const size_t at = tree_offset(text, list->line, list->col);
	size_t first = at + 1;
	struct str blanks;

	if (list->array.n)
		first = tree_offset(text, list->array.item[0].line,
				    list->array.item[0].col);
	if (at < text.n && text.p[at] == '[') {
		add_words(&put, words, ", ", list->array.n ? ", " : "");
	} else {
		AUTO(buf_release) struct buf behind = BUF_INIT(BUF_UNBOUNDED);
		const struct str before = line_before(text, at, &blanks);

		buf_addf(&behind, "\n%.*s- ", STR_ARG(before));
		add_words(&put, words, buf_cstr(&behind), buf_cstr(&behind));
	}
	add_edit(e, first, 0, &put);
}

/* Replace the program, and put the others before the arguments. */
static void edit_program(struct edits *e, const struct wrap_server *s)
{
	AUTO(buf_release) struct buf put = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *v = &server_member(s->table, false)->value;
	const struct toml_member *args = server_member(s->table, true);
	const struct str text = e->of->text;
	const size_t at = tree_offset(text, v->line, v->col);
	struct strlist words = {NULL, 0}, given = {NULL, 0};
	struct str blanks, line = line_before(text, at, &blanks);
	const bool is_flow = memchr(line.p, '{', line.n),
		   is_json = e->of->format == TREE_JSON;

	if (args)
		given = words_list(&args->value, e->arena);
	/* no list: the proof will miss these words */
	if (args && args->value.type != TOML_ARRAY)
		return;
	edit_add_string(&put, s->before.item[0]);
	for (size_t i = 1; i < s->before.n; i++)
		list_add(&words, e->arena, s->before.item[i]);
	for (size_t i = 0; i < s->words.n - given.n; i++)
		list_add(&words, e->arena, s->words.item[i]);
	if (!args) {
		if (is_flow || (is_json && line.p[blanks.n] != '"'))
			buf_adds(&put, ", ");
		else
			buf_addf(&put, "%s\n%.*s", is_json ? "," : "",
				 STR_ARG(blanks));
		buf_adds(&put, is_json			    ? "\"args\": ["
			       : e->of->format == TREE_TOML ? "args = ["
							    : "args: [");
		add_words(&put, &words, ", ", "]");
	}
	add_edit(e, at,
		 string_length(str_skip(text, at), e->of->format, is_flow),
		 &put);
	if (args)
		edit_list(e, &args->value, &words);
}

/* ---- one entry for several ---- */

/* A name that no server of the table has. */
static const char *entry_name(const struct wrap_server *s, struct arena *arena)
{
	const char *name = "matins";

	for (unsigned i = 2; toml_get(s->within, name); i++)
		name = arena_printf(arena, "matins-%u", i);
	return name;
}

/* The entry that starts by the words, of the form of the one it replaces. */
static struct toml_value entry_of(const struct wrap_server *s,
				  struct arena *arena)
{
	static const char *const kept[] = {"type", "source"};
	struct toml_value entry = {.type = TOML_TABLE};
	struct toml_value all = {.type = TOML_ARRAY};
	const struct toml_member *program = server_member(s->table, false);
	const struct toml_member *args = server_member(s->table, true);
	const bool is_list = program->value.type == TOML_ARRAY;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const struct toml_value *v = toml_get(s->table, kept[i]);

		if (v && v->type == TOML_STRING)
			(void)tree_add(&entry, kept[i], *v, arena);
	}
	for (size_t i = 0; i < s->before.n; i++) {
		const struct toml_value word = {
			.type = TOML_STRING,
			.string = str_of(s->before.item[i])};

		if (i || is_list)
			tree_append(&all, word, arena);
		else
			(void)tree_add(&entry, program->key, word, arena);
	}
	(void)tree_add(&entry,
		       is_list ? program->key
		       : args  ? args->key
			       : "args",
		       all, arena);
	return entry;
}

/* Offset of the name of a member, in a text without comments. */
static size_t name_offset(struct str text, size_t value)
{
	size_t at = value, n;

	while (at && text.p[at - 1] != '"')
		at--;
	at -= at > 0;
	do { /* a quote behind an odd number of backslashes is in the name */
		while (at && text.p[at - 1] != '"')
			at--;
		at -= at > 0;
		for (n = 0; n < at && text.p[at - 1 - n] == '\\'; n++)
			;
	} while (n % 2 && at);
	return at;
}

/*
 * Take a member out with the comma before it, or put its entry there.
 *
 * plain  the text without comments, each byte in its place
 */
static void edit_member(struct edits *e, const struct wrap_server *s,
			struct str plain)
{
	AUTO(buf_release) struct buf put = BUF_INIT(BUF_UNBOUNDED);
	const size_t value = tree_offset(plain, s->table->line, s->table->col);
	size_t from = name_offset(plain, value);
	struct toml_value entry;
	struct str all;

	/* what is no value: the proof finds it unchanged */
	if (scan_value(str_skip(plain, value), NULL, &all, ERR_IGNORED) < 0)
		return;
	if (s->before.n) {
		entry = entry_of(s, e->arena);
		edit_add_string(&put, entry_name(s, e->arena));
		buf_adds(&put, ": ");
		toml_to_json(&entry, &put);
	} else {
		while (from && plain.p[--from] != ',')
			;
	}
	add_edit(e, from, (size_t)(all.p + all.n - plain.p) - from, &put);
}

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* ---- the proof ---- */

/* Drop what starts a server: nothing else may differ. */
static void drop_words(struct toml_value *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->table.n; i++)
		if (!server_starts(table->table.member[i].key))
			table->table.member[n++] = table->table.member[i];
	table->table.n = n;
}

static bool has_words(const struct wrap_server *s,
		      const struct wrap_server *old)
{
	const size_t n = old->before.n;

	if (s->words.n != n + old->words.n || strcmp(s->name, old->name) != 0)
		return false;
	for (size_t i = 0; i < s->words.n; i++)
		if (strcmp(s->words.item[i], i < n ? old->before.item[i]
						   : old->words.item[i - n]) !=
		    0)
			return false;
	return true;
}

/* Do to the tree what the edit does to the text; a member that goes without
   an entry keeps its place, so that others do, and has no key. */
static void put_entry(const struct wrap_server *s,
		      const struct toml_value *within,
		      const struct toml_value *table, struct arena *arena)
{
	for (size_t i = 0; i < within->table.n; i++) {
		struct toml_member *m = &within->table.member[i];

		if (&m->value != table)
			continue;
		m->key = s->before.n ? entry_name(s, arena) : NULL;
		if (s->before.n)
			m->value = entry_of(s, arena);
	}
}

static void drop_gone(struct toml_value *within)
{
	size_t n = 0;

	for (size_t i = 0; i < within->table.n; i++)
		if (within->table.member[i].key)
			within->table.member[n++] = within->table.member[i];
	within->table.n = n;
}

/* Compare the servers of a new text, and do to those of the old one what is
   done to them. */
static bool has_servers(const struct wrap *old, const struct wrap *was,
			const struct wrap *is)
{
	size_t k = 0;

	for (size_t i = 0; i < old->n; i++) {
		const struct wrap_server *s = &old->server[i];
		const struct wrap_server *before = &was->server[i];

		if (s->goes) {
			put_entry(s, before->within, before->table,
				  old->src->arena);
			k += s->before.n != 0;
			continue;
		}
		if (k == is->n || !has_words(&is->server[k], s))
			return false;
		if (s->before.n) {
			drop_words((struct toml_value *)is->server[k].table);
			drop_words((struct toml_value *)before->table);
		}
		k++;
	}
	for (size_t i = 0; i < old->n; i++)
		if (old->server[i].goes)
			drop_gone((struct toml_value *)was->server[i].within);
	return k == is->n;
}

static bool is_as_meant(const struct wrap *old, struct str text)
{
	AUTO(buf_wipe) struct buf x = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf y = BUF_INIT(BUF_UNBOUNDED);
	struct wrap was = *old, is = {old->src, old->format, text, {0}, 0, 0};

	was.server = NULL;
	was.n = 0;
	if (tree_read(old->text, old->format, old->src->arena, &was.root,
		      ERR_IGNORED) < 0 ||
	    tree_read(text, old->format, old->src->arena, &is.root,
		      ERR_IGNORED) < 0)
		return false;
	wrap_open(&was);
	wrap_open(&is);
	if (was.n != old->n || !has_servers(old, &was, &is))
		return false;
	toml_to_json(&was.root, &x);
	toml_to_json(&is.root, &y);
	return str_eq(buf_str(&x), buf_str(&y));
}

int wrap_text(const struct wrap *w, struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	struct edits e = {w, w->src->arena, NULL, 0};
	size_t at = 0;

	if (tree_is_database(w->text))
		return err_set(err, ERR_CONFIG,
			       "%s is a database, which cannot be edited; let "
			       "`matins import` read it",
			       w->src->path);
	if (w->format == TREE_JSON &&
	    tree_strip_comments(w->text, &plain, err) < 0)
		return -1;
	for (size_t i = 0; i < w->n; i++) {
		const struct wrap_server *s = &w->server[i];
		const struct toml_member *m = server_member(s->table, false);

		if (s->goes && s->within && w->format == TREE_JSON)
			edit_member(&e, s, buf_str(&plain));
		else if (s->before.n && m->value.type == TOML_ARRAY)
			edit_list(&e, &m->value, &s->before);
		else if (s->before.n)
			edit_program(&e, s);
	}
	if (e.n)
		qsort(e.item, e.n, sizeof(*e.item), by_place);
	for (size_t i = 0; i < e.n; i++) {
		if (e.item[i].at < at || e.item[i].at > w->text.n)
			break;
		buf_add(out, w->text.p + at, e.item[i].at - at);
		buf_adds(out, e.item[i].put);
		at = e.item[i].at + e.item[i].drop;
	}
	buf_add_str(out, str_skip(w->text, at));
	return is_as_meant(w, buf_str(out))
		       ? 0
		       : err_set(err, ERR_CONFIG,
				 "%s has a form that cannot be edited; write "
				 "each server in its plain form, or let "
				 "`matins import` read it",
				 w->src->path);
}
