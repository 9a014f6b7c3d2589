#include "core/server/brief.h"

#include "core/base/limits.h"
#include "core/base/scan.h"
#include "core/server/date.h"

#define DEFAULT_FILE "~/deadlines.txt"
/* Wrong lines that are shown one by one. */
#define PROBLEMS_SHOWN 100

const struct field brief_deadlines_input[] = {
	{0, FIELD_STRING, false, 0, "file",
	 "Text file with one \"YYYY-MM-DD title\" a line; lines that start "
	 "with # are comments. Default, without items: " DEFAULT_FILE},
	{0, FIELD_OBJECTS, false, LIMIT_BRIEF_ITEMS, "items",
	 "Deadlines given right here, beside those of the file."},
	{1, FIELD_STRING, true, 0, "title", "What is due."},
	{1, FIELD_DATE, true, 0, "date", "When, as YYYY-MM-DD."},
	{0, FIELD_DATE, false, 0, "today",
	 "The day to count from; default: today, local time."},
	FIELD_END,
};

const struct field brief_deadlines_output[] = {
	{0, FIELD_DATE, true, 0, "today", "The day that was counted from."},
	{0, FIELD_STRING, false, 0, "file", "The file, if one was to be read."},
	{0, FIELD_BOOLEAN, false, 0, "exists",
	 "Whether such a file was found."},
	{0, FIELD_INTEGER, true, 0, "coming", "Deadlines today or later."},
	{0, FIELD_INTEGER, true, 0, "past", "Deadlines before today."},
	{0, FIELD_OBJECTS, true, 0, "items",
	 "What is to come, the nearest first, then what is past, the newest "
	 "first."},
	{1, FIELD_STRING, true, 0, "title", "What is due."},
	{1, FIELD_DATE, true, 0, "date", "When."},
	{1, FIELD_INTEGER, true, 0, "days_left", "Negative when past."},
	{0, FIELD_OBJECTS, true, 0, "problems",
	 "Lines that are not deadlines."},
	{1, FIELD_INTEGER, true, 0, "line", "Number of the line, from 1."},
	{1, FIELD_STRING, true, 0, "message", "What is wrong with it."},
	FIELD_END,
};

struct deadline {
	struct str title;
	int32_t day;  /* since 1970 */
	size_t order; /* as it was given */
};

struct deadlines {
	struct deadline *item; /* in the arena */
	size_t n;
	int32_t today;
	struct buf problems;	  /* owned; JSON objects */
	struct jw jw;		  /* into problems */
	struct buf problems_text; /* owned; the same for people */
	size_t n_problems;
};

static void problem(struct deadlines *d, size_t line, const char *what)
{
	if (d->n_problems++ >= PROBLEMS_SHOWN)
		return;
	jw_object(&d->jw);
	jw_kv_int(&d->jw, "line", (int64_t)line);
	jw_kv_cstr(&d->jw, "message", what);
	jw_end(&d->jw);
	buf_addf(&d->problems_text, "\nline %zu: %s", line, what);
}

/* False when the list is full. */
static bool add(struct deadlines *d, struct str title, int32_t day)
{
	if (d->n == LIMIT_BRIEF_ITEMS)
		return false;
	d->item[d->n] = (struct deadline){title, day, d->n};
	d->n++;
	return true;
}

static bool add_line(struct deadlines *d, struct str line, size_t number)
{
	size_t n = line.n < DATE_TEXT_BYTES ? line.n : DATE_TEXT_BYTES - 1;
	struct str rest = {line.p + n, line.n - n}, title = str_trim(rest);
	int32_t day;

	if (!date_parse((struct str){line.p, n}, &day) ||
	    (title.n && title.p == rest.p))
		problem(d, number,
			"it must begin with a date that exists, written as "
			"2026-01-31");
	else if (!title.n)
		problem(d, number, "title missing behind the date");
	else if (!add(d, title, day)) {
		problem(d, number,
			"the list is full; this and what follows "
			"is left out");
		return false;
	}
	return true;
}

static void add_file(struct deadlines *d, struct str text)
{
	size_t number = 0;

	while (text.n) {
		struct str line = str_trim(str_cut(&text, '\n'));

		number++;
		if (!line.n || line.p[0] == '#')
			continue;
		if (!add_line(d, line, number))
			return;
	}
}

/* The items of the arguments; they passed fields_check(). */
static void add_items(struct deadlines *d, struct str args, struct arena *arena)
{
	struct scan_iter it;
	struct str items;
	int32_t day;

	if (!scan_get(args, "items", &items))
		return;
	scan_iter_init(&it, items);
	while (scan_next(&it)) {
		const char *title = fields_string(it.value, "title", arena);
		const char *date = fields_string(it.value, "date", arena);

		if (date_parse(str_of(date), &day))
			(void)add(d, str_of(title), day);
	}
}

/* Coming before past; nearest to today first; then as it was given. */
static int compare(const void *a, const void *b, void *arg)
{
	const struct deadline *x = a, *y = b;
	const struct deadlines *d = arg;
	bool x_past = x->day < d->today, y_past = y->day < d->today;

	if (x_past != y_past)
		return x_past - y_past;
	if (x->day != y->day)
		return (x->day > y->day) == !x_past ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

static void write_item(const struct deadlines *d, const struct deadline *x,
		       struct jw *w, struct buf *text)
{
	char date[DATE_TEXT_BYTES];
	int32_t left = x->day - d->today;

	date_format(x->day, date);
	jw_object(w);
	jw_kv_str(w, "title", x->title);
	jw_kv_cstr(w, "date", date);
	jw_kv_int(w, "days_left", left);
	jw_end(w);
	buf_addf(text, "%s%s ", text->n ? "\n" : "", date);
	buf_add_str(text, x->title);
	buf_adds(text, ": ");
	brief_when(text, left);
}

static void write_all(struct deadlines *d, const char *file, bool exists,
		      struct tool_result *ret)
{
	char date[DATE_TEXT_BYTES];
	size_t past = 0;
	struct jw w;

	for (size_t i = 0; i < d->n; i++)
		past += d->item[i].day < d->today;
	date_format(d->today, date);
	jw_init(&w, &ret->structured, false);
	jw_object(&w);
	jw_kv_cstr(&w, "today", date);
	if (file) {
		jw_kv_cstr(&w, "file", file);
		jw_kv_bool(&w, "exists", exists);
	}
	jw_kv_int(&w, "coming", (int64_t)(d->n - past));
	jw_kv_int(&w, "past", (int64_t)past);
	jw_kv_array(&w, "items");
	for (size_t i = 0; i < d->n; i++)
		write_item(d, &d->item[i], &w, &ret->text);
	jw_end(&w);
	jw_kv_raw(&w, "problems", buf_str(&d->problems));
	jw_end(&w);
}

/* got: of brief_read() */
static void tell_missing(const char *file, int got, struct buf *text)
{
	buf_adds(text, text->n ? "\n" : "");
	buf_addf(text,
		 got == BRIEF_HIDDEN ? "%s is not granted, or not there."
				     : "There is no %s here.",
		 file);
	buf_addf(text,
		 " To begin, write one with lines such as \"2026-01-31 Tax "
		 "return\"; it must be granted: sandbox = { read = [\"%s\"] } "
		 "in a routine, --read %s with matins call",
		 file, file);
}

static void explain(const struct deadlines *d, const char *file, int got,
		    struct tool_result *ret)
{
	if (file && got)
		tell_missing(file, got, &ret->text);
	else if (!d->n && !d->n_problems)
		buf_adds(&ret->text, "no deadlines");
	if (!d->n_problems)
		return;
	/* a deadline that is misspelt is one that would be missed */
	ret->is_error = true;
	buf_addf(&ret->text, "%s%s has lines that are not deadlines:",
		 ret->text.n ? "\n" : "", file);
	buf_add_str(&ret->text, buf_str(&d->problems_text));
	if (d->n_problems > PROBLEMS_SHOWN)
		buf_addf(&ret->text, "\nand %zu more",
			 d->n_problems - PROBLEMS_SHOWN);
}

void brief_deadlines(struct str args, const struct tool_env *env,
		     struct arena *arena, struct tool_result *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_BRIEF_FILE_BYTES);
	struct deadlines d = {.problems = BUF_INIT(BUF_UNBOUNDED),
			      .problems_text = BUF_INIT(BUF_UNBOUNDED)};
	const char *file = fields_string(args, "file", arena);
	const bool is_named = file != NULL;
	struct err err = ERR_INIT;
	struct str items;
	int got = 0;

	if (!file && !scan_get(args, "items", &items))
		file = DEFAULT_FILE;
	if (file)
		got = brief_read(file, env, &text, &err);
	if (got < 0) {
		tool_result_fail(ret, "%s", err.msg);
		return;
	}
	if (is_named && got == BRIEF_HIDDEN) {
		brief_fail_hidden(file, env, arena, ret);
		return;
	}
	d.item = ARENA_ARRAY(arena, struct deadline, LIMIT_BRIEF_ITEMS);
	d.today = brief_today(fields_string(args, "today", arena), env);
	jw_init(&d.jw, &d.problems, false);
	jw_array(&d.jw);
	add_items(&d, args, arena);
	add_file(&d, buf_str(&text));
	jw_end(&d.jw);
	qsort_r(d.item, d.n, sizeof(*d.item), compare, &d);
	write_all(&d, file, !got, ret);
	explain(&d, file, got, ret);
	buf_release(&d.problems);
	buf_release(&d.problems_text);
}
