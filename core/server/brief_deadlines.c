#include "core/server/brief.h"

#include "core/base/date.h"
#include "core/base/limits.h"
#include "core/base/scan.h"

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
	{1, FIELD_STRING, false, 0, "notes", "Words for the text beside it."},
	{1, FIELD_DATE, false, 0, "since",
	 "First day of the work: days from Monday to Friday are counted, up to "
	 "the day before today."},
	{1, FIELD_INTEGER, false, 0, "work_days",
	 "How many such days there are in all."},
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
	{1, FIELD_INTEGER, false, 0, "work_day",
	 "Days of work since the first, where that is given and it is not "
	 "past."},
	{0, FIELD_OBJECTS, true, 0, "problems",
	 "Lines that are not deadlines."},
	{1, FIELD_INTEGER, true, 0, "line", "Number of the line, from 1."},
	{1, FIELD_STRING, true, 0, "message", "What is wrong with it."},
	FIELD_END,
};

struct deadline {
	struct str title;
	int32_t day;	      /* since 1970 */
	size_t order;	      /* as it was given */
	const char *notes;    /* NULL: not given */
	const char *since;    /* date; NULL: not given */
	struct str work_days; /* number; n = 0: not given */
};

struct deadlines {
	struct deadline *item; /* in the arena */
	size_t n;
	int32_t today;
	struct brief_notes problems;
	size_t n_problems;
};

static void problem(struct deadlines *d, size_t line, const char *what)
{
	struct jw *w = &d->problems.jw;

	if (d->n_problems++ >= PROBLEMS_SHOWN)
		return;
	jw_object(w);
	jw_kv_int(w, "line", (int64_t)line);
	jw_kv_cstr(w, "message", what);
	jw_end(w);
	buf_addf(&d->problems.text, "\nline %zu: %s", line, what);
}

/* False when the list is full. */
static bool add(struct deadlines *d, struct str title, int32_t day)
{
	if (d->n == LIMIT_BRIEF_ITEMS)
		return false;
	d->item[d->n] =
		(struct deadline){.title = title, .day = day, .order = d->n};
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
	struct deadline *item;
	struct str items;
	int32_t day;

	if (!scan_get(args, "items", &items))
		return;
	for (struct scan_iter it = scan_over(items); scan_next(&it);) {
		const char *title = fields_string(it.value, "title", arena);
		const char *date = fields_string(it.value, "date", arena);

		if (!date_parse(str_of(date), &day) ||
		    !add(d, str_of(title), day))
			continue;
		item = &d->item[d->n - 1];
		item->notes = fields_string(it.value, "notes", arena);
		item->since = fields_string(it.value, "since", arena);
		(void)!scan_get(it.value, "work_days", &item->work_days);
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

/* Days from Monday to Friday from one day up to another, without that one. */
static int32_t work_days(int32_t since, int32_t until)
{
	int32_t n = until > since ? (until - since) / 7 * 5 : 0;

	/* 1970-01-01 was a Thursday */
	for (int32_t left = until > since ? (until - since) % 7 : 0; left;
	     left--)
		n += ((until - left) % 7 + 11) % 7 % 6 != 0;
	return n;
}

/* How far the work has come, of one to come with a first day. */
static void write_work(const struct deadlines *d, const struct deadline *x,
		       struct jw *w, struct buf *text)
{
	int32_t since, n;

	if (x->day < d->today || !x->since ||
	    !date_parse(str_of(x->since), &since))
		return;
	n = work_days(since, d->today);
	jw_kv_int(w, "work_day", n);
	buf_addf(text, ", work day %d", n);
	if (x->work_days.n)
		buf_addf(text, " of %.*s", STR_ARG(x->work_days));
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
	buf_addf(text, "%s%s ", text->n ? "\n" : "", date);
	buf_add_str(text, x->title);
	buf_adds(text, ": ");
	brief_when(text, left);
	write_work(d, x, w, text);
	if (x->notes && *x->notes)
		buf_addf(text, " — %s", x->notes);
	jw_end(w);
}

static void write_all(struct deadlines *d, const char *file, bool exists,
		      struct tool_result *ret)
{
	size_t past = 0;
	struct jw w;

	for (size_t i = 0; i < d->n; i++)
		past += d->item[i].day < d->today;
	w = jw_begin(&ret->structured);
	brief_kv_date(&w, "today", d->today);
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
	brief_notes_end(&d->problems, "problems", &w);
	jw_end(&w);
}

/* got: of brief_read() */
static void explain(const struct deadlines *d, const char *file, int got,
		    struct tool_result *ret)
{
	struct buf *text = &ret->text;

	if (file && got) {
		buf_adds(text, text->n ? "\n" : "");
		brief_tell_missing(
			file, got,
			"lines such as \"2026-01-31 Tax return\"; it", text);
	} else if (!d->n && !d->n_problems) {
		buf_adds(text, "no deadlines");
	}
	if (!d->n_problems)
		return;
	/* a deadline that is misspelt is one that would be missed */
	ret->is_error = true;
	buf_addf(text,
		 "%s%s has lines that are not deadlines:", text->n ? "\n" : "",
		 file);
	buf_add_str(text, buf_str(&d->problems.text));
	if (d->n_problems > PROBLEMS_SHOWN)
		buf_addf(text, "\nand %zu more",
			 d->n_problems - PROBLEMS_SHOWN);
}

void brief_deadlines(struct str args, const struct tool_env *env,
		     struct arena *arena, struct tool_result *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_BRIEF_FILE_BYTES);
	const char *named = fields_string(args, "file", arena), *file = named;
	struct deadlines d = {0};
	struct str items;
	int got = 0;

	if (!file && !scan_get(args, "items", &items))
		file = DEFAULT_FILE;
	if (file)
		got = brief_read_list(file, named, env, &text, ret);
	if (got < 0)
		return;
	brief_notes_begin(&d.problems);
	d.item = ARENA_ARRAY(arena, struct deadline, LIMIT_BRIEF_ITEMS);
	d.today = brief_today(fields_string(args, "today", arena), env);
	add_items(&d, args, arena);
	add_file(&d, buf_str(&text));
	qsort_r(d.item, d.n, sizeof(*d.item), compare, &d);
	write_all(&d, file, !got, ret);
	explain(&d, file, got, ret);
	brief_notes_release(&d.problems);
}
