/*
 * Reports that are read back: load, print, canonical form, golden, diff.
 *
 * The first line may be an ignore rule (it begins with '$'); the rest is the
 * document. Beside not crashing, what was printed must read back the same, and
 * no text of a step may look like a heading or the summary of the report.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/report/golden.h"
#include "core/report/render.h"
#include "tests/unit/report/diff_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str print(const struct report *r, const char *form,
			struct arena *arena)
{
	const struct render_options o = {.view = VIEW_FULL, .pretty = true};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str copy;

	render_find(form)->print(r, &o, &out);
	copy = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return copy;
}

/* Lines that begin with `mark`. */
static size_t count_lines(struct str text, const char *mark)
{
	size_t n = 0;

	while (text.n) {
		struct str line = str_cut(&text, '\n');

		/* the last line is the summary, which has the routine's name */
		n += text.n && str_starts(line, mark);
	}
	return n;
}

static size_t count_words(struct str text, const char *word)
{
	size_t n = 0, bytes = strlen(word);
	const char *at;

	while ((at = memmem(text.p, text.n, word, bytes))) {
		n++;
		text.n -= (size_t)(at + bytes - text.p);
		text.p = at + bytes;
	}
	return n;
}

/* Elements of a page are those of the report; links lead into it, or to the
   web. */
static void page_is_ours(struct str page, size_t sections)
{
	static const char *const links[] = {
		"<a class=\"skip-link\" href=\"#steps\">", "<a href=\"#s",
		"<a rel=\"noopener noreferrer nofollow\" href=\"http",
		"<a rel=\"noopener noreferrer nofollow\" href=\"mailto:"};
	size_t n = 0;

	must(count_words(page, "<details class=\"step\"") == sections);
	must(count_words(page, "<summary><h3>") == sections);
	must(count_words(page, "<h3>") ==
	     sections + count_words(page, "<article "));
	must(count_words(page, "<h2>") == count_words(page, "<section "));
	must(count_words(page, "<section ") <= 3);
	must(count_words(page, "<h1>") == 1);
	must(count_words(page, "<header ") == 1);
	must(count_words(page, "<main>") == 1);
	must(count_words(page, "<footer ") == 1);
	must(count_words(page, "</body>") == 1);
	must(count_words(page, "<script") == 0);
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		n += count_words(page, links[i]);
	must(count_words(page, "<a ") == n);
}

static size_t count_sections(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_steps; i++)
		n += r->steps[i].reason != REASON_ONLY_FILTER;
	return n;
}

/* Lines in the first column, and elements of a page, are those of the report.
 */
static void nothing_is_forged(const struct report *r, struct arena *arena)
{
	static const char *const own[] = {
		"# ",	       "## ",		"ERROR: ",     "refused: ",
		"note: ",      "**note:** ",	"(skipped: ",  "(no output)",
		"left out: ",  "---",		"**ERROR:** ", "**refused:** ",
		"*(skipped: ", "*(no output)*", "*left out: ", "- ",
		"> ",	       "saved: ",
	};
	static const char *const forms[] = {"text", "md"};
	size_t sections = count_sections(r);

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct str text = print(r, forms[i], arena), rest = text;

		must(count_lines(text, "# ") == 1);
		must(count_lines(text, "## ") == sections);
		must(count_lines(text, "---") == 1);
		while (rest.p) {
			struct str line = str_cut(&rest, '\n');
			bool is_own = !line.n || line.p[0] == ' ' ||
				      /* the summary is the last line */
				      (rest.p && !rest.n);

			for (size_t k = 0; k < ARRAY_LEN(own); k++)
				is_own |= str_starts(line, own[k]);
			must(is_own);
		}
	}
	page_is_ours(print(r, "html", arena), sections);
}

static void load_and_print(struct str text, struct arena *arena)
{
	static const char *const forms[] = {"json", "md", "text", "html",
					    "data"};
	struct err err = ERR_INIT;
	struct report r, again;

	if (report_load(text, arena, &r, &err) < 0)
		return;
	must(report_load(print(&r, "json", arena), arena, &again, &err) == 0);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		must(str_eq(print(&r, forms[i], arena),
			    print(&again, forms[i], arena)));
	nothing_is_forged(&r, arena);
}

static void canonical_is_stable(struct str text, struct arena *arena)
{
	struct err err = ERR_INIT;
	struct jdoc *doc, *again;
	struct str canon;

	if (jdoc_parse(text, arena, &doc, &err) < 0)
		return;
	canon = canonical(doc, arena);
	must(jdoc_parse(canon, arena, &again, &err) == 0);
	must(str_eq(canon, canonical(again, arena)));
	must(canon_equal(doc, again));
}

static void golden_is_itself(struct str text, const struct rules *rules,
			     struct arena *arena)
{
	struct buf file = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct golden a, b;
	struct diff d;

	if (golden_make(text, rules, arena, &a, &err) < 0)
		return;
	golden_print(&a, &file);
	must(golden_load(buf_str(&file), arena, &b, &err) == 0);
	must(golden_compare(&b, &a, arena, &d, &err) == 0);
	must(d.n == 0);
	buf_release(&file);
}

static void other_is_compared(struct str text, struct arena *arena)
{
	static const char base[] =
		"{\"schema\":\"matins-report/1\",\"routine\":\"r\","
		"\"step_results\":[{\"step_name\":\"a\",\"output\":\"x\\ny\","
		"\"data\":{\"schema\":\"mcp-client/1\",\"content\":["
		"{\"type\":\"text\",\"text\":\"x\\ny\"}],\"isError\":false,"
		"\"structuredContent\":{\"n\":1}}},"
		"{\"step_name\":\"b\",\"data\":[1,{\"c\":null}]}]}";

	(void)diff_properties(
		&(struct documents){str_of(base), text, STR(""), arena});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct arena arena = ARENA_INIT;
	struct rules rules = {NULL, 0};
	const char *rule;

	if (size > 65536)
		return 0;
	if (size && data[0] == '$') {
		struct str line = str_cut(&text, '\n');

		rule = arena_strndup(&arena, line.p, line.n);
		(void)!rules_ignore(&rules, &(struct strlist){&rule, 1}, &arena,
				    ERR_IGNORED);
	}
	load_and_print(text, &arena);
	canonical_is_stable(text, &arena);
	golden_is_itself(text, &rules, &arena);
	other_is_compared(text, &arena);
	arena_release(&arena);
	return 0;
}
