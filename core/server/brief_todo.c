#include "core/server/brief.h"

#include <ctype.h>

#include "core/base/date.h"
#include "core/base/limits.h"
#include "core/base/scan.h"

#define DEFAULT_FILE "~/todo.txt"
/* Items in the text for people; all are in the structured result. */
#define TEXT_ITEMS 30
/* Nesting of check boxes that is followed. */
#define DEPTH_MAX 16

const struct field brief_todo_input[] = {
	{0, FIELD_STRING, false, 0, "file",
	 "A todo.txt file, or Markdown with check boxes (- [ ] and - [x]). "
	 "Default: " DEFAULT_FILE},
	{0, FIELD_DATE, false, 0, "today",
	 "The day to count from; default: today, local time."},
	FIELD_END,
};

const struct field brief_todo_output[] = {
	{0, FIELD_DATE, true, 0, "today", "The day that was counted from."},
	{0, FIELD_STRING, true, 0, "file", "The file that was to be read."},
	{0, FIELD_BOOLEAN, true, 0, "exists", "Whether such a file was found."},
	{0, FIELD_STRING, false, 0, "format", "\"todo.txt\" or \"markdown\"."},
	{0, FIELD_INTEGER, true, 0, "open", "Items that are not done."},
	{0, FIELD_INTEGER, true, 0, "done", "Items that are done."},
	{0, FIELD_INTEGER, true, 0, "overdue", "Open items due before today."},
	{0, FIELD_INTEGER, true, 0, "due_today", "Open items due today."},
	{0, FIELD_BOOLEAN, true, 0, "truncated",
	 "Whether open items were left out of the list for their number."},
	{0, FIELD_OBJECTS, true, 0, "items",
	 "Open items by due date (overdue ones first), priority, and place in "
	 "the file."},
	{1, FIELD_STRING, true, 0, "text", "What is to be done."},
	{1, FIELD_INTEGER, true, 0, "line", "Number of the line, from 1."},
	{1, FIELD_STRING, false, 0, "priority", "A (highest) to Z."},
	{1, FIELD_DATE, false, 0, "due", "When it is due."},
	{1, FIELD_INTEGER, false, 0, "days_left", "Negative when overdue."},
	{1, FIELD_STRINGS, true, 0, "projects", "Words behind a +."},
	{1, FIELD_STRINGS, true, 0, "contexts", "Words behind an @."},
	{1, FIELD_STRING, false, 0, "parent", "Text of the item it is under."},
	FIELD_END,
};

struct item {
	struct str text;   /* without priority, dates and due: */
	struct str parent; /* n = 0 when it is not nested */
	size_t line;	   /* 1-based */
	char priority;	   /* 'A' to 'Z', 0 without */
	bool has_due;
	int32_t due; /* days since 1970 */
};

struct todo {
	struct arena *arena; /* of the texts */
	struct item *item;   /* open ones, in the arena */
	size_t n;
	size_t open, done, overdue, due_today;
	int32_t today;
	/* open check boxes above the current line, outermost first */
	struct {
		size_t indent;
		struct str text;
	} above[DEPTH_MAX];
	size_t n_above;
};

/* ---- one item ---- */

/* "(A) " and, behind it, the day it was written down: both optional. */
static struct str read_head(struct str s, struct item *item)
{
	struct str rest = s;
	int32_t day;

	if (s.n >= 4 && s.p[0] == '(' && s.p[1] >= 'A' && s.p[1] <= 'Z' &&
	    s.p[2] == ')' && s.p[3] == ' ') {
		item->priority = s.p[1];
		rest = str_skip(s, 4);
	}
	s = rest;
	if (date_parse(str_cut(&rest, ' '), &day))
		return str_trim(rest);
	return str_trim(s);
}

/* Words joined by one space, without due:. */
static void read_item(struct todo *t, struct str s, struct item *item)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	int32_t day;

	s = read_head(s, item);
	while (s.n) {
		struct str word = str_trim(str_cut(&s, ' ')), value = word;

		if (!word.n)
			continue;
		if (str_is(str_cut(&value, ':'), "due") &&
		    date_parse(value, &day)) {
			item->has_due = true;
			item->due = day;
			continue;
		}
		buf_addf(&text, "%s", text.n ? " " : "");
		buf_add_str(&text, word);
	}
	item->text = arena_str(t->arena, buf_str(&text));
}

/* Count an item that is not done, and keep it while there is room. */
static void add_open(struct todo *t, const struct item *item)
{
	t->open++;
	t->overdue += item->has_due && item->due < t->today;
	t->due_today += item->has_due && item->due == t->today;
	if (t->n < LIMIT_BRIEF_ITEMS)
		t->item[t->n++] = *item;
}

/* ---- todo.txt; format: github.com/todotxt/todo.txt ---- */

static void todotxt_line(struct todo *t, struct str line, size_t number)
{
	struct item item = {.line = number};

	line = str_trim(line);
	if (!line.n)
		return;
	if (str_starts(line, "x ")) {
		t->done++;
		return;
	}
	read_item(t, line, &item);
	add_open(t, &item);
}

/* ---- Markdown ---- */

struct box {
	size_t indent; /* columns, a tab is 4 */
	bool done;
	struct str rest;
};

/* A bullet or a number, at the start of s; its length with the space. */
static size_t marker(struct str s)
{
	bool is_bullet = s.n && memchr("-*+", s.p[0], 3);
	size_t n = is_bullet;

	while (!is_bullet && n < s.n && isdigit((unsigned char)s.p[n]))
		n++;
	if (!is_bullet && n && n < s.n && (s.p[n] == '.' || s.p[n] == ')'))
		n++;
	else if (!is_bullet)
		return 0;
	return n && n < s.n && s.p[n] == ' ' ? n + 1 : 0;
}

/* "  - [x] text" */
static bool read_box(struct str line, struct box *ret)
{
	struct box b = {0};
	size_t i = 0, n;
	struct str s;

	for (; i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'); i++)
		b.indent += line.p[i] == '\t' ? 4 : 1;
	s = str_skip(line, i);
	n = marker(s);
	if (!n)
		return false;
	s = str_trim(str_skip(s, n));
	if (s.n < 3 || s.p[0] != '[' || s.p[2] != ']' ||
	    (s.n > 3 && s.p[3] != ' ' && s.p[3] != '\t'))
		return false;
	if (s.p[1] != ' ' && s.p[1] != 'x' && s.p[1] != 'X')
		return false;
	b.done = s.p[1] != ' ';
	b.rest = str_trim(str_skip(s, 3));
	*ret = b;
	return true;
}

static void markdown_line(struct todo *t, struct str line, size_t number)
{
	struct item item = {.line = number};
	struct box b;

	if (!read_box(line, &b))
		return;
	while (t->n_above && t->above[t->n_above - 1].indent >= b.indent)
		t->n_above--;
	if (t->n_above)
		item.parent = t->above[t->n_above - 1].text;
	read_item(t, b.rest, &item);
	if (b.done)
		t->done++;
	else
		add_open(t, &item);
	if (t->n_above < DEPTH_MAX) {
		t->above[t->n_above].indent = b.indent;
		t->above[t->n_above++].text = item.text;
	}
}

static bool is_markdown(const char *file, struct str text)
{
	struct box b;

	if (str_ends(str_of(file), ".md") ||
	    str_ends(str_of(file), ".markdown"))
		return true;
	while (text.n)
		if (read_box(str_cut(&text, '\n'), &b))
			return true;
	return false;
}

static void read_all(struct todo *t, struct str text, bool markdown)
{
	bool in_code = false;
	size_t number = 0;

	while (text.n) {
		struct str line = str_cut(&text, '\n');
		struct str mark = str_trim(line);

		number++;
		if (!markdown)
			todotxt_line(t, line, number);
		/* within a block of code boxes are text */
		else if (str_starts(mark, "```") || str_starts(mark, "~~~"))
			in_code = !in_code;
		else if (!in_code)
			markdown_line(t, line, number);
	}
}

/* ---- the answer ---- */

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	char xp = x->priority ? x->priority : 'Z' + 1;
	char yp = y->priority ? y->priority : 'Z' + 1;

	if (x->has_due != y->has_due)
		return y->has_due - x->has_due;
	if (x->has_due && x->due != y->due)
		return x->due < y->due ? -1 : 1;
	if (xp != yp)
		return xp - yp;
	return x->line < y->line ? -1 : 1;
}

/* The words of the text that begin with `sign`, as an array of strings. */
static void write_tags(struct jw *w, const char *key, struct str text,
		       char sign)
{
	jw_kv_array(w, key);
	while (text.n) {
		struct str word = str_cut(&text, ' ');

		if (word.n > 1 && word.p[0] == sign)
			jw_str(w, str_skip(word, 1));
	}
	jw_end(w);
}

static void write_item(const struct todo *t, const struct item *item,
		       struct jw *w)
{
	jw_object(w);
	jw_kv_str(w, "text", item->text);
	jw_kv_int(w, "line", (int64_t)item->line);
	if (item->priority)
		jw_kv_str(w, "priority", (struct str){&item->priority, 1});
	if (item->has_due) {
		brief_kv_date(w, "due", item->due);
		jw_kv_int(w, "days_left", item->due - t->today);
	}
	write_tags(w, "projects", item->text, '+');
	write_tags(w, "contexts", item->text, '@');
	if (item->parent.n)
		jw_kv_str(w, "parent", item->parent);
	jw_end(w);
}

static void tell_item(const struct todo *t, const struct item *item,
		      struct buf *text)
{
	buf_addc(text, '\n');
	if (item->priority)
		buf_addf(text, "(%c) ", item->priority);
	if (item->parent.n) {
		buf_add_str(text, item->parent);
		buf_adds(text, ": ");
	}
	buf_add_str(text, item->text);
	if (!item->has_due)
		return;
	buf_adds(text, item->due < t->today ? " (overdue, due " : " (due ");
	brief_when(text, item->due - t->today);
	buf_addc(text, ')');
}

static void tell(const struct todo *t, struct buf *text)
{
	buf_addf(text, "%zu open", t->open);
	if (t->overdue)
		buf_addf(text, ", %zu overdue", t->overdue);
	if (t->due_today)
		buf_addf(text, ", %zu due today", t->due_today);
	buf_addf(text, ", %zu done", t->done);
	for (size_t i = 0; i < t->n && i < TEXT_ITEMS; i++)
		tell_item(t, &t->item[i], text);
	if (t->open > TEXT_ITEMS)
		buf_addf(text, "\nand %zu more", t->open - TEXT_ITEMS);
}

static void write_all(const struct todo *t, const char *file, bool exists,
		      bool markdown, struct buf *out)
{
	struct jw w = jw_begin(out);

	brief_kv_date(&w, "today", t->today);
	jw_kv_cstr(&w, "file", file);
	jw_kv_bool(&w, "exists", exists);
	if (exists)
		jw_kv_cstr(&w, "format", markdown ? "markdown" : "todo.txt");
	jw_kv_int(&w, "open", (int64_t)t->open);
	jw_kv_int(&w, "done", (int64_t)t->done);
	jw_kv_int(&w, "overdue", (int64_t)t->overdue);
	jw_kv_int(&w, "due_today", (int64_t)t->due_today);
	jw_kv_bool(&w, "truncated", t->open > t->n);
	jw_kv_array(&w, "items");
	for (size_t i = 0; i < t->n; i++)
		write_item(t, &t->item[i], &w);
	jw_end(&w);
	jw_end(&w);
}

void brief_todo(struct str args, const struct tool_env *env,
		struct arena *arena, struct tool_result *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_BRIEF_FILE_BYTES);
	const char *named = fields_string(args, "file", arena);
	const char *file = named ? named : DEFAULT_FILE;
	struct todo t = {.arena = arena};
	int got = brief_read_list(file, named, env, &text, ret);
	bool markdown;

	if (got < 0)
		return;
	t.item = ARENA_ARRAY(arena, struct item, LIMIT_BRIEF_ITEMS);
	t.today = brief_today(fields_string(args, "today", arena), env);
	markdown = is_markdown(file, buf_str(&text));
	read_all(&t, buf_str(&text), markdown);
	qsort(t.item, t.n, sizeof(*t.item), compare);
	write_all(&t, file, !got, markdown, &ret->structured);
	if (!got)
		tell(&t, &ret->text);
	else
		brief_tell_missing(file, got,
				   "a line for each task, such as \"(A) Call "
				   "the bank due:2026-01-31 +home @phone\" "
				   "(todo.txt), or with Markdown check boxes, "
				   "\"- [ ] Call the bank\". It",
				   &ret->text);
}
