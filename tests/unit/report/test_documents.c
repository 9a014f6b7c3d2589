/*
 * Documents printed, selected from and compared, as transcripts in
 * tests/unit/report/transcripts:
 *
 *	old JSON	a document, %0A stands for that byte
 *	new JSON	another
 *	WORDS		a row of `commands`
 *	! WORDS		a line that it gave
 */
#include "tests/unit/test.h"

#include "core/report/canon.h"
#include "core/report/diff_print.h"
#include "core/report/path.h"
#include "tests/unit/transcript.h"

struct world {
	struct arena arena;
	struct str text[2]; /* of the documents */
	struct jdoc *doc[2];
	struct rules rules; /* that were applied */
	struct buf got;
};

static struct jdoc *parse(struct world *w, struct str text)
{
	struct err err = ERR_INIT;
	struct jdoc *doc = NULL;

	if (jdoc_parse(text, &w->arena, &doc, &err) < 0)
		fail_msg("%s", err.msg);
	return doc;
}

static void set(struct world *w, int side, const char *arg)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	add_decoded(&text, arg);
	w->text[side] = arena_str(&w->arena, buf_str(&text));
	w->doc[side] = parse(w, w->text[side]);
}

static void run_old(struct world *w, const char *arg)
{
	set(w, 0, arg);
}

static void run_new(struct world *w, const char *arg)
{
	set(w, 1, arg);
}

static void ignore(UNUSED void *arg, struct jdoc *j)
{
	j->ignored = true;
}

static void mark(struct world *w, const char *path, struct jdoc *doc)
{
	struct err err = ERR_INIT;
	struct path *p;

	if (path_parse(path, &w->arena, &p, &err) == 0) {
		buf_addf(&w->got, "! %zu\n", path_select(p, doc, ignore, NULL));
		return;
	}
	assert_int_equal(err.kind, ERR_SYNTAX);
	buf_addf(&w->got, "! %s\n", err.msg);
}

/* select PATH: count the nodes of the old document */
static void run_select(struct world *w, const char *arg)
{
	mark(w, arg, parse(w, w->text[0]));
}

/* ignore 0 PATH: in the old document; 1: in the new one */
static void run_ignore(struct world *w, const char *arg)
{
	mark(w, arg + 2, w->doc[*arg - '0']);
}

/* canon: the old document; printed once more it is the same */
static void run_canon(struct world *w, UNUSED const char *arg)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf again = BUF_INIT(BUF_UNBOUNDED);

	canon_print(w->doc[0], 0, &out);
	canon_print(parse(w, arena_str(&w->arena, buf_str(&out))), 0, &again);
	assert_string_equal(buf_cstr(&again), buf_cstr(&out));
	add_lines(&w->got, "! ", buf_str(&out));
}

static void run_equal(struct world *w, UNUSED const char *arg)
{
	bool is = canon_equal(w->doc[0], w->doc[1]);

	assert_int_equal(canon_equal(w->doc[1], w->doc[0]), is);
	buf_adds(&w->got, is ? "! yes\n" : "! no\n");
}

/* rules JSON: applied to both documents; how many values each selects */
static void run_rules(struct world *w, const char *arg)
{
	struct err err = ERR_INIT;

	w->rules = (struct rules){NULL, 0};
	if (rules_load(&w->rules, parse(w, str_of(arg)), &w->arena, &err) < 0) {
		add_lines(&w->got, "! ", str_of(err.msg));
		return;
	}
	for (int side = 0; side < 2; side++)
		rules_apply(&w->rules, w->doc[side], &w->arena);
	buf_adds(&w->got, "!");
	for (size_t i = 0; i < w->rules.n; i++)
		buf_addf(&w->got, " %zu", w->rules.item[i].hits);
	buf_addc(&w->got, '\n');
}

static void print_diff(struct world *w, const char *format)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct diff d;

	diff_reports(w->doc[0], w->doc[1], &w->rules, &w->arena, &d);
	diff_print(&d, diff_format_find(format), &out);
	add_lines(&w->got, "! ", buf_str(&out));
}

static void run_text(struct world *w, UNUSED const char *arg)
{
	print_diff(w, "text");
}

static void run_json(struct world *w, UNUSED const char *arg)
{
	print_diff(w, "json");
}

/* print FORMAT */
static void run_print(struct world *w, const char *arg)
{
	print_diff(w, arg);
}

/* paths: those of the differences, and how much of the old document each
   selects */
static void run_paths(struct world *w, UNUSED const char *arg)
{
	struct diff d;

	diff_reports(w->doc[0], w->doc[1], &w->rules, &w->arena, &d);
	for (size_t i = 0; i < d.n; i++) {
		AUTO(buf_release) struct buf path = BUF_INIT(BUF_UNBOUNDED);

		diff_path(d.shown[i], NULL, &path);
		add_lines(&w->got, "! ", buf_str(&path));
		run_select(w, buf_cstr(&path));
	}
}

static const struct transcript_command commands[] = {
	{"old", run_old},	{"new", run_new},     {"select", run_select},
	{"ignore", run_ignore}, {"canon", run_canon}, {"equal", run_equal},
	{"text", run_text},	{"json", run_json},   {"paths", run_paths},
	{"rules", run_rules},	{"print", run_print},
};

static void play(const char *file, const char *name, const char *text)
{
	struct world w = {.got = BUF_INIT(BUF_UNBOUNDED)};
	AUTO(mem_freep) char *lines = mem_strdup(text);
	char *left = NULL;

	for (char *line = strtok_r(lines, "\n", &left); line;
	     line = strtok_r(NULL, "\n", &left)) {
		if (*line == '!')
			continue;
		buf_addf(&w.got, "%s\n", line);
		if (*line != '#')
			transcript_run(commands, ARRAY_LEN(commands), &w, line);
	}
	if (strstr(text, "\n\n"))
		buf_addc(&w.got, '\n');
	transcript_accept(file, name, buf_cstr(&w.got));
	transcript_compare(text, buf_cstr(&w.got));
	buf_release(&w.got);
	arena_release(&w.arena);
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/report/transcripts/*.transcript");

/* ---- what no page would hold ---- */

/* The differences of two texts, which are written as in a transcript. */
static struct diff diff_of(struct world *w, const char *old, const char *new)
{
	AUTO(buf_release) struct buf a = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
	struct diff d;

	add_decoded(&a, old);
	add_decoded(&b, new);
	diff_reports(parse(w, arena_str(&w->arena, buf_str(&a))),
		     parse(w, arena_str(&w->arena, buf_str(&b))), NULL,
		     &w->arena, &d);
	return d;
}

TEST(diff, more_than_is_kept, is_counted)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct world w = {0};
	struct diff d;

	d = diff_of(&w, "[0%{1007:,1%}]", "[0%{1007:,2%}]");
	assert_int_equal(d.n, DIFF_SHOWN_MAX + 7);
	diff_print(&d, diff_format_find("text"), &out);
	assert_non_null(strstr(buf_cstr(&out),
			       "\n1007 differences: 1000 value; 7 more not "
			       "shown\n"));
	arena_release(&w.arena);
}

/* A long text that changed at its end shows its end. */
TEST(diff, long_values, are_cut_around_the_difference)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct world w = {0};
	struct diff d;

	d = diff_of(&w, "\"%{5000:é%}old\"", "\"%{5000:é%}new\"");
	diff_print(&d, diff_format_find("text"), &out);
	assert_true(out.n < 300);
	assert_non_null(strstr(buf_cstr(&out), "éold\"\n"));
	assert_non_null(strstr(buf_cstr(&out), "  + …é"));
	assert_true(str_is_utf8(buf_str(&out)));
	buf_clear(&out);
	diff_print(&d, diff_format_find("json"), &out);
	assert_true(out.n < 3 * DIFF_VALUE_BYTES);
	assert_non_null(strstr(buf_cstr(&out), "\"old_bytes\":10005,"));
	assert_true(str_is_utf8(buf_str(&out)));
	arena_release(&w.arena);
}

TEST(lines, nothing_in_common, is_bounded)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct world w = {0};
	struct diff d;
	size_t n = 0;

	d = diff_of(&w, "{\"a\":\"%{5000:old %#\\n%}\"}",
		    "{\"a\":\"%{5000:new %#\\n%}\","
		    "\"b\":\"%{5000:new %#\\n%}\"}");
	diff_print(&d, diff_format_find("text"), &out);
	assert_non_null(strstr(buf_cstr(&out), "… 9900 more lines\n"));
	for (const char *p = buf_cstr(&out); (p = strstr(p, "\n  - ")); p++)
		n++;
	assert_int_equal(n, 100);
	assert_non_null(
		strstr(buf_cstr(&out), "  + new 99\n  … 4901 more lines\n"));
	arena_release(&w.arena);
}

TEST(path, too_many_parts, are_an_error)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct arena arena = ARENA_INIT;
	struct path *path;

	buf_adds(&text, "$");
	for (int i = 0; i < PATH_PARTS_MAX; i++)
		buf_adds(&text, ".a");
	assert_int_equal(path_parse(buf_cstr(&text), &arena, &path, &err), 0);
	buf_adds(&text, ".a");
	assert_int_equal(path_parse(buf_cstr(&text), &arena, &path, &err), -1);
	arena_release(&arena);
}
