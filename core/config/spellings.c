#include "core/config/spellings.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/jw.h"
#include "core/base/text.h"
#include "core/config/edit.h"
#include "core/config/findings.h"
#include "core/config/keys.h"
#include "core/config/ref.h"
#include "core/toml/toml.h"

/*
 * ---- step types of modulex ----
 *
 * Step types of modulex that a tool of `matins brief` does: git-status,
 * git-unpushed, deadline-calc and countdown-calc. Pure.
 */

static size_t items(const struct toml_value *v)
{
	return v && v->type == TOML_ARRAY ? v->array.n : 0;
}

/* Append a text of modulex, where no reference begins. */
static void add_plain(struct buf *out, struct str s, struct arena *arena)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (s.n && s.p[0] == '$')
		buf_addc(&text, '$');
	for (size_t i = 0; i < s.n; i++) {
		bool opens = str_starts(str_skip(s, i), "{{");

		buf_adds(&text, opens ? "{{{{" : "");
		if (opens)
			i++;
		else
			buf_addc(&text, s.p[i]);
	}
	edit_add_string(out, arena_strdup(arena, buf_cstr(&text)));
}

/* Append a string or date of a table as `KEY = "TEXT"`; nothing for another
   value. */
static void add_text(struct buf *out, const char *key,
		     const struct toml_value *v, struct arena *arena)
{
	if (!v || (v->type != TOML_STRING && v->type != TOML_DATETIME))
		return;
	buf_addf(out, "%s%s = ", str_ends(buf_str(out), "{") ? "" : ", ", key);
	add_plain(out, v->string, arena);
}

/* Append folders as a list: those of the step, else those of [shared].
   grants  as they are, for `sandbox` */
static void add_repos(const struct toml_value *root,
		      const struct toml_value *step, struct arena *arena,
		      struct buf *out, struct buf *grants)
{
	const struct toml_value *list = toml_get(step, "repos");

	if (!items(list))
		list = toml_get(toml_get(root, "shared"), "repos");
	for (size_t i = 0; i < items(list); i++) {
		struct str s = list->array.item[i].type == TOML_STRING
				       ? list->array.item[i].string
				       : STR("");

		buf_adds(out, i ? ", " : "");
		add_plain(out, s, arena);
		buf_adds(grants, i ? ", " : "");
		edit_add_string(grants, arena_strndup(arena, s.p, s.n));
	}
}

/* Warn of what the tool has no place for. */
static void say_unused(const struct toml_value *v, const char *table,
		       const char *date, struct findings *findings)
{
	static const char used[] = "label notes start_date total_work_days";

	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++) {
		const struct toml_member *m = &v->table.member[i];

		if (str_has_word(used, str_of(m->key)) || !strcmp(m->key, date))
			continue;
		findings_addf(findings, true, m->line, m->col,
			      "\"%s\" of [[%s]] is not used: of each are shown "
			      "label, notes, days until %s, and days of work "
			      "since start_date",
			      m->key, table, date);
	}
}

/* Append dates as a list of tables: a countdown is one with a first day. */
static void add_dates(const struct toml_value *list, const char *date,
		      struct arena *arena, struct buf *out)
{
	for (size_t i = 0; i < items(list); i++) {
		const struct toml_value *v = &list->array.item[i];
		const struct toml_value *days = toml_get(v, "total_work_days");

		buf_adds(out, i ? ", {" : "{");
		add_text(out, "title", toml_get(v, "label"), arena);
		add_text(out, "notes", toml_get(v, "notes"), arena);
		add_text(out, "since", toml_get(v, "start_date"), arena);
		if (days && days->type == TOML_INTEGER)
			buf_addf(out, ", work_days = %lld",
				 (long long)days->integer);
		add_text(out, "date", toml_get(v, date), arena);
		buf_addc(out, '}');
	}
}

/* Add the folders of ours to `read` of a sandbox that the step has. */
static void join_read(struct toml_member *sandbox,
		      const struct toml_value *ours, struct arena *arena)
{
	const struct toml_value *old = toml_get(&sandbox->value, "read");
	const struct toml_value *more = toml_get(ours, "read");
	size_t n =
		sandbox->value.type == TOML_TABLE ? sandbox->value.table.n : 0;
	struct toml_member *all = ARENA_ARRAY(arena, struct toml_member, n + 1);
	struct toml_value *item =
		ARENA_ARRAY(arena, struct toml_value, items(old) + items(more));
	struct toml_member read = *sandbox;

	/* a value that is no table or list is told where it is read */
	if (sandbox->value.type != TOML_TABLE ||
	    (old && old->type != TOML_ARRAY))
		return;
	if (old)
		memcpy(item, old->array.item, items(old) * sizeof(*item));
	memcpy(item + items(old), more->array.item,
	       items(more) * sizeof(*item));
	read.key = "read";
	read.value = *more;
	read.value.array.item = item;
	read.value.array.n = items(old) + items(more);
	for (size_t i = 0; i < sandbox->value.table.n; i++)
		if (&sandbox->value.table.member[i].value == old)
			n = i;
		else
			all[i] = sandbox->value.table.member[i];
	all[n] = read;
	sandbox->value.table.n += !old;
	sandbox->value.table.member = all;
}

static void place(struct toml_value *v, const struct toml_value *at)
{
	v->line = at->line;
	v->col = at->col;
	for (size_t i = 0; v->type == TOML_ARRAY && i < v->array.n; i++)
		place(&v->array.item[i], at);
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++) {
		v->table.member[i].line = at->line;
		v->table.member[i].col = at->col;
		place(&v->table.member[i].value, at);
	}
}

/* Add the keys of any step that are written; it needs no credential. */
static void keep_members(const struct toml_value *step, struct arena *arena,
			 struct toml_value *own)
{
	size_t n = own->table.n;
	struct toml_member *all =
		ARENA_ARRAY(arena, struct toml_member, n + step->table.n);

	memcpy(all, own->table.member, n * sizeof(*all));
	own->table.member = all;
	for (size_t i = 0; i < step->table.n; i++) {
		const struct toml_member *m = &step->table.member[i];

		if (key_find(SECTION_step, SECTION_step, m->key) &&
		    strcmp(m->key, "env") != 0 && !toml_get(own, m->key))
			all[own->table.n++] = *m;
	}
}

/* One that is written has our folders, too, and ours, the last member, goes. */
static void join_sandbox(const struct toml_value *step, struct toml_value *own,
			 struct arena *arena)
{
	const struct toml_value *ours = toml_get(own, "sandbox");

	for (size_t i = 0; i < step->table.n; i++)
		if (!strcmp(step->table.member[i].key, "sandbox")) {
			join_read(&step->table.member[i], ours, arena);
			own->table.n--;
		}
}

static const struct native {
	const char *type, *tool, *param;
	const char *table, *date; /* NULL: it looks at repositories */
} natives[] = {
	{"git-status", "repos", "paths", NULL, NULL},
	{"git-unpushed", "repos", "paths", NULL, NULL},
	{"deadline-calc", "deadlines", "items", "deadlines", "date"},
	{"countdown-calc", "deadlines", "items", "countdowns", "end_date"},
};

static const struct native *find(const struct toml_value *type)
{
	for (size_t i = 0; i < ARRAY_LEN(natives); i++)
		if (type && type->type == TOML_STRING &&
		    str_is(type->string, natives[i].type))
			return &natives[i];
	return NULL;
}

/*
 * Make such a step one of type mcp-client, with what [shared], [[deadlines]] or
 * [[countdowns]] say as its params and grants. One without anything to look at
 * stays as it is, as does any other step. Keys
 * of modulex that the tool has no place for are warnings.
 */
static void native_apply(const struct toml_value *root, struct toml_value *step,
			 struct arena *arena, struct findings *findings)
{
	AUTO(buf_release) struct buf list = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf grants = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct toml_value *type = toml_get(step, "type");
	const struct native *x = find(type);
	const struct toml_value *dates =
		x && x->table ? toml_get(root, x->table) : NULL;
	struct toml_value own;

	if (x && x->table)
		add_dates(dates, x->date, arena, &list);
	else if (x)
		add_repos(root, step, arena, &list, &grants);
	if (!list.n)
		return;
	buf_addf(&text,
		 "type = 'mcp-client'\ncommand = 'matins'\nargs = ['brief']\n"
		 "tool = '%s'\nparams = { %s = [%s] }\n"
		 "sandbox = { read = [%s] }",
		 x->tool, x->param, buf_cstr(&list), buf_cstr(&grants));
	if (toml_parse(arena, buf_str(&text), &own, ERR_IGNORED) < 0)
		return;
	for (size_t i = 0; i < items(dates); i++)
		say_unused(&dates->array.item[i], x->table, x->date, findings);
	place(&own, type);
	join_sandbox(step, &own, arena);
	keep_members(step, arena, &own);
	own.line = step->line;
	own.col = step->col;
	*step = own;
}

/* A name behind a $, and the reference that it is here, without a path and
   with one. */
struct word {
	struct str from;
	const char *whole, *below;
};

struct speller {
	struct arena *arena;
	struct findings *findings;
	bool lax;
	struct word *words; /* of a routine */
	size_t n_words;
	const struct toml_value *behind; /* the step behind, or NULL */
	struct toml_value *table;	 /* as it is written */
	struct toml_value out;
	const struct toml_member *output;
	bool is_task;
};

/* ---- what becomes of a member ---- */

/* False: the member stays as it is. */
typedef bool way(struct speller *s, const struct spelling *row,
		 const struct toml_member *m);

static void add(struct speller *s, const struct toml_member *m, const char *key,
		struct toml_value value)
{
	if (toml_get(s->table, key) != &m->value &&
	    (toml_get(s->table, key) || toml_get(&s->out, key)))
		findings_addf(s->findings, false, m->line, m->col,
			      "\"%s\" and \"%s\" say the same; keep one",
			      m->key, key);
	else
		s->out.table.member[s->out.table.n++] =
			(struct toml_member){key, m->line, m->col, value};
}

static bool way_same(struct speller *s, const struct spelling *row,
		     const struct toml_member *m)
{
	add(s, m, row->own, m->value);
	return true;
}

/* A single string is a list of one. */
static bool way_list(struct speller *s, const struct spelling *row,
		     const struct toml_member *m)
{
	struct toml_value list = {.type = TOML_ARRAY,
				  .line = m->value.line,
				  .col = m->value.col,
				  .array = {(struct toml_value *)&m->value, 1}};

	add(s, m, row->own, m->value.type == TOML_STRING ? list : m->value);
	return true;
}

static bool way_task(struct speller *s, const struct spelling *row,
		     const struct toml_member *m)
{
	s->is_task = true;
	return way_same(s, row, m);
}

static bool way_output(struct speller *s, const struct spelling *row,
		       const struct toml_member *m)
{
	s->output = m;
	return row != NULL;
}

static bool way_differs(struct speller *s, const struct spelling *row,
			const struct toml_member *m)
{
	findings_addf(s->findings, s->lax, m->line, m->col,
		      "\"%s\" (%s) is not understood here: %s", m->key,
		      row->whose, row->says);
	return true;
}

static bool way_words(struct speller *s, const struct spelling *row,
		      const struct toml_member *m)
{
	const struct toml_value *type = toml_get(s->table, "type");
	struct toml_value args = m->value;

	if (args.type != TOML_ARRAY || !args.array.n)
		return false;
	if (row->section == SECTION_step &&
	    (!type || type->type != TOML_STRING ||
	     !str_starts(type->string, "mcp")))
		return way_differs(s, row, m);
	add(s, m, "command", *args.array.item++);
	if (--args.array.n)
		add(s, m, "args", args);
	return true;
}

static bool way_stdio(struct speller *s, const struct spelling *row,
		      const struct toml_member *m)
{
	return m->value.type == TOML_STRING &&
	       str_is(m->value.string, "stdio") && toml_get(s->table, row->own);
}

static bool is_same(const struct toml_value *a, const struct toml_value *b)
{
	return a && a->type == TOML_STRING && b->type == TOML_STRING &&
	       str_eq(a->string, b->string);
}

static bool way_next(struct speller *s, const struct spelling *row,
		     const struct toml_member *m)
{
	return is_same(toml_get(s->behind, "name"), &m->value) ||
	       way_differs(s, row, m);
}

static way *const ways[] = {
	[SPELLING_same] = way_same,	[SPELLING_list] = way_list,
	[SPELLING_words] = way_words,	[SPELLING_stdio] = way_stdio,
	[SPELLING_output] = way_output, [SPELLING_next] = way_next,
	[SPELLING_task] = way_task,	[SPELLING_differs] = way_differs,
};

/* ---- tables ---- */

static void spell_table(struct speller *s, struct toml_value *table,
			enum key_section section)
{
	size_t n = table->type == TOML_TABLE ? table->table.n : 0, i = 0;

	s->output = NULL;
	s->is_task = false;
	while (i < n && !spelling_find(section, table->table.member[i].key))
		i++;
	if (i == n)
		return;
	s->table = table;
	s->out = *table;
	/* a list of words is two members */
	s->out.table.member = ARENA_ARRAY(s->arena, struct toml_member, n + 1);
	s->out.table.n = 0;
	for (i = 0; i < n; i++) {
		const struct toml_member *m = &table->table.member[i];
		const struct spelling *row = spelling_find(section, m->key);

		if (!row || !ways[row->way](s, row, m))
			s->out.table.member[s->out.table.n++] = *m;
	}
	*table = s->out;
}

/* ---- names behind a $ ---- */

static size_t name_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && (text_is_alpha(s.p[n]) || text_is_digit(s.p[n]) ||
			   s.p[n] == '_'))
		n++;
	return n;
}

static void add_word(struct speller *s, struct str from, const char *whole,
		     const char *below)
{
	s->words =
		arena_grow(s->arena, s->words, s->n_words, sizeof(*s->words));
	s->words[s->n_words++] = (struct word){from, whole, below};
}

static const char *given(struct speller *s, struct str step, const char *key)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&out, "steps[");
	jw_quote(&out, step);
	buf_addf(&out, "].%s", key);
	return arena_strdup(s->arena, buf_cstr(&out));
}

/* Test for a name that is free, and that no reference begins with. */
static bool is_free(const struct speller *s, const struct toml_value *v)
{
	struct ref_string parts;

	if (v->type != TOML_STRING || !v->string.n ||
	    text_is_digit(v->string.p[0]) ||
	    name_length(v->string) < v->string.n ||
	    ref_read(
		    str_of(arena_printf(s->arena, "$%.*s", STR_ARG(v->string))),
		    s->arena, &parts, ERR_IGNORED) < 0 ||
	    parts.has_refs)
		return false;
	for (size_t i = 0; i < s->n_words; i++)
		if (str_eq(s->words[i].from, v->string))
			return false;
	return true;
}

/* The words that a step brings, which has our keys now. */
static void add_words(struct speller *s, const struct toml_value *step)
{
	const struct toml_value *name = toml_get(step, "name");
	const struct toml_member *m = s->output;

	if (m && !is_free(s, &m->value))
		findings_addf(s->findings, false, m->line, m->col,
			      "\"output\" is a name that no other step gives, "
			      "of letters, digits and _, and not one that "
			      "references begin with, such as \"input\"");
	else if (m && name && name->type == TOML_STRING)
		add_word(s, m->value.string, given(s, name->string, "output"),
			 given(s, name->string, "json"));
	if (!s->is_task || !name || name->type != TOML_STRING)
		return;
	add_word(s, STR("workflow.input"), "input", "input");
	add_word(s,
		 str_of(arena_printf(s->arena, "%.*s.output",
				     STR_ARG(name->string))),
		 given(s, name->string, "json"),
		 given(s, name->string, "json"));
}

/* The word of ours that a text begins with, the longest; NULL: none. */
static const struct word *word_at(const struct speller *s, struct str text)
{
	const struct word *w = NULL;

	for (size_t i = 0; i < s->n_words; i++) {
		struct str from = s->words[i].from, at = text;

		at.n = from.n < text.n ? from.n : text.n;
		if (str_eq(at, from) && !name_length(str_skip(text, at.n)) &&
		    (!w || from.n > w->from.n))
			w = &s->words[i];
	}
	return w;
}

/* Length of a path of names and numbers. */
static size_t path_length(struct str s)
{
	size_t n = 0, part;

	for (; n < s.n && (s.p[n] == '.' || s.p[n] == '['); n += part) {
		bool has_end = s.p[n] == '[';

		part = 1 + name_length(str_skip(s, n + 1));
		if (part == 1 ||
		    (has_end && !str_starts(str_skip(s, n + part), "]")))
			break;
		part += has_end;
	}
	return n;
}

/*
 * Append the reference for the $ and the word that the rest begins with; false:
 * it is no word of ours.
 */
static bool add_reference(const struct speller *s, struct str all,
			  struct str *rest, struct buf *out)
{
	bool has_brace = rest->n > 1 && rest->p[1] == '{', is_whole;
	struct str inner = str_skip(*rest, 1 + has_brace), path;
	const struct word *w = word_at(s, inner);

	if (!w)
		return false;
	path = str_skip(inner, w->from.n);
	path.n = path_length(path);
	inner = str_skip(inner, w->from.n + path.n);
	if (has_brace && !str_starts(inner, "}"))
		return false;
	is_whole = rest->p == all.p && inner.n == has_brace;
	*rest = str_skip(inner, has_brace);
	buf_addf(out, "%s%s%.*s%s", is_whole ? "$" : "{{",
		 path.n ? w->below : w->whole, STR_ARG(path),
		 is_whole ? "" : "}}");
	return true;
}

static void reword(const struct speller *s, struct toml_value *v)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct ref_string own;

	/* a whole string in our spelling stays */
	if (v->type == TOML_STRING && !str_starts(v->string, "$$") &&
	    !(ref_read(v->string, s->arena, &own, ERR_IGNORED) == 0 &&
	      own.is_whole)) {
		for (struct str rest = v->string; rest.n;) {
			if (rest.p[0] == '$' &&
			    add_reference(s, v->string, &rest, &out))
				continue;
			buf_addc(&out, rest.p[0]);
			rest = str_skip(rest, 1);
		}
		v->string = arena_str(s->arena, buf_str(&out));
	}
	for (size_t i = 0; v->type == TOML_ARRAY && i < v->array.n; i++)
		reword(s, &v->array.item[i]);
	for (size_t i = 0; v->type == TOML_TABLE && i < v->table.n; i++)
		reword(s, &v->table.member[i].value);
}

static void reword_step(const struct speller *s, const struct toml_value *step)
{
	static const char *const keys[] = {"args",  "params",  "with",
					   "stdin", "message", "foreach"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct toml_value *v = toml_get(step, keys[i]);

		if (v)
			reword(s, (struct toml_value *)v);
	}
}

/* ---- the whole ---- */

static void spell_routine(struct speller *s, const struct toml_value *root,
			  struct toml_value *routine)
{
	const struct toml_value *steps;
	size_t n;

	spell_table(s, routine, SECTION_routine);
	steps = toml_get(routine, "steps");
	n = steps && steps->type == TOML_ARRAY ? steps->array.n : 0;
	s->n_words = 0;
	s->behind = NULL;
	/* the last one first: the step behind has its name then */
	for (size_t i = n; i-- > 0; s->behind = &steps->array.item[i]) {
		spell_table(s, &steps->array.item[i], SECTION_step);
		add_words(s, &steps->array.item[i]);
		native_apply(root, &steps->array.item[i], s->arena,
			     s->findings);
	}
	/* also within a text, then */
	if (s->n_words)
		add_word(s, STR("input"), "input", "input");
	for (size_t i = 0; s->n_words && i < n; i++)
		reword_step(s, &steps->array.item[i]);
}

void spellings_apply(const struct toml_value *root, bool lax,
		     struct arena *arena, struct findings *findings)
{
	static const char *const tables[] = {"servers", "mcp_servers",
					     "routines"};
	struct speller s = {.arena = arena, .findings = findings, .lax = lax};

	for (size_t k = 0; k < ARRAY_LEN(tables); k++) {
		const struct toml_value *v = toml_get(root, tables[k]);
		size_t n = v && v->type == TOML_TABLE ? v->table.n : 0;

		for (size_t i = 0; i < n && *tables[k] != 'r'; i++)
			spell_table(&s, &v->table.member[i].value,
				    SECTION_server);
		for (size_t i = 0; i < n && *tables[k] == 'r'; i++)
			spell_routine(&s, root, &v->table.member[i].value);
	}
}
