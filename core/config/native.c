#include "core/config/native.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/config/edit.h"
#include "core/config/keys.h"

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

	/* what is no table or list is told where it is read */
	if (sandbox->value.type != TOML_TABLE ||
	    (old && old->type != TOML_ARRAY))
		return;
	if (items(old))
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

void native_apply(const struct toml_value *root, struct toml_value *step,
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
