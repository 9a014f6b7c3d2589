#include "tests/unit/test.h"

#include "core/report/markdown.h"

/* A fence, so that any text behind it is Markdown; and its HTML. */
#define FENCE "~~~\n~~~\n"
#define FENCE_HTML "<pre>\n</pre>\n"

/* Append the HTML of what stands behind a fence. */
static void render(struct str text, struct buf *out)
{
	struct buf all = BUF_INIT(BUF_UNBOUNDED);

	buf_adds(&all, FENCE);
	buf_add_str(&all, text);
	assert_true(markdown_html(buf_str(&all), out));
	assert_true(str_starts(buf_str(out), FENCE_HTML));
	buf_release(&all);
}

static void check(const char *text, const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render(str_of(text), &out);
	if (strcmp(buf_cstr(&out) + strlen(FENCE_HTML), wanted) != 0)
		fail_msg("%s\ngives  %s\nwanted %s", text, buf_cstr(&out),
			 wanted);
	buf_release(&out);
}

#define P "<p dir=\"auto\">"
#define A "<a rel=\"noopener noreferrer nofollow\" href=\""

TEST(markdown, blocks, become_elements)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{"", ""},
		{"a\nb\n\nc", P "a\nb</p>\n" P "c</p>\n"},
		{"# One #\n## Two\n#### Four\n#no",
		 "<h4>One</h4>\n"
		 "<h5>Two</h5>\n"
		 "<h6>Four</h6>\n" P "#no</p>\n"},
		{"a\n\n***\n", P "a</p>\n<hr>\n"},
		{"- a\n- b\n\n1. c\n2) d",
		 "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"
		 "<ol>\n<li>c</li>\n</ol>\n"
		 "<ol start=\"2\">\n<li>d</li>\n</ol>\n"},
		{"- a\n  - b\n", "<ul>\n<li>a\n<ul>\n<li>b</li>\n"
				 "</ul>\n</li>\n</ul>\n"},
		{"> a\n> > b", "<blockquote>\n" P "a</p>\n<blockquote>\n" P
			       "b</p>\n</blockquote>\n</blockquote>\n"},
		{"```c\n# <x>\n````\nb",
		 "<pre>\n# &lt;x&gt;</pre>\n" P "b</p>\n"},
		{"```a``` b", P "<code>a</code> b</p>\n"},
		{"~~~\nopen", "<pre>\nopen</pre>\n"},
		{"| a | b |\n|---|--:|\n| 1 | 2\\|3 |\n\nend",
		 "<div class=\"wide\"><table>\n<thead><tr>"
		 "<th scope=\"col\">a</th><th scope=\"col\" class=\"n\">b</th>"
		 "</tr></thead>\n<tbody>\n<tr><td>1</td>"
		 "<td class=\"n\">2|3</td></tr>\n</tbody></table></div>\n" P
		 "end</p>\n"},
		{"a|b|c\n-|-|-\n1|2\n",
		 "<div class=\"wide\"><table>\n<thead><tr>"
		 "<th scope=\"col\">a</th><th scope=\"col\">b</th>"
		 "<th scope=\"col\">c</th></tr></thead>\n<tbody>\n"
		 "<tr><td>1</td><td>2</td><td></td></tr>\n"
		 "</tbody></table></div>\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check(rows[i].text, rows[i].wanted);
}

TEST(markdown, inline_text, is_marked)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{"**a** *b* _c_ d_e_f", P "<strong>a</strong> <em>b</em> "
					  "<em>c</em> d_e_f</p>\n"},
		{"*hello* and **bold**",
		 P "<em>hello</em> and <strong>bold</strong></p>\n"},
		{"*ab c** d", P "<em>ab c</em>* d</p>\n"},
		{"***a***", P "<em><strong>a</strong></em></p>\n"},
		{"2 * 3 * 4 **", P "2 * 3 * 4 **</p>\n"},
		{"`a*b*` ``c`d``",
		 P "<code>a*b*</code> <code>c`d</code></p>\n"},
		{"`open", P "`open</p>\n"},
		{"\\*a\\* \\x", P "*a* \\x</p>\n"},
		{"[a *b*](https://x.y/?a=1&b=\"2\")",
		 P A "https://x.y/?a=1&amp;b=&quot;2&quot;\">a "
		     "<em>b</em></a></p>\n"},
		{"see https://x.y/z, and <http://b.c>",
		 P "see " A "https://x.y/z\">https://x.y/z</a>, and " A
		   "http://b.c\">http://b.c</a></p>\n"},
		{"![a<b](https://x.y/z.png)", P "[image: a&lt;b]</p>\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check(rows[i].text, rows[i].wanted);
}

/* Links of other schemes stay text; tags are never of the text. */
TEST(markdown, hostile_text, stays_text)
{
	static const char *const texts[] = {
		"[a](javascript:alert(1))",    "[a](JaVaScRiPt:alert(1))",
		"[a](data:text/html,x)",       "[a](vbscript:x)",
		"[a](file:///etc/passwd)",     "[a](//evil.example/)",
		"[a](\x01javascript:x)",       "[a](mailto: x y)",
		"[a][b]\n\n[b]: javascript:x", "<a href=\"javascript:x\">a</a>",
		"<script>alert(1)</script>",   "<javascript:alert(1)>",
		"</div></section><h1>x</h1>",  "<img src=x onerror=alert(1)>",
		"<!-- x --> ]]> &lt;b&gt;",    "**<b>** `<i>` | <u> |",
	};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		static const char *const bad[] = {
			"<a ", "<script", "<img",   "<h1",	 "<b>",
			"<i>", "<u>",	  "</div>", "</section", "<!--"};

		buf_clear(&out);
		render(str_of(texts[i]), &out);
		for (size_t k = 0; k < ARRAY_LEN(bad); k++)
			if (strstr(buf_cstr(&out), bad[k]))
				fail_msg("%s gives %s", texts[i],
					 buf_cstr(&out));
	}
	buf_release(&out);
}

TEST(markdown, deep_nesting, ends)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED), out = BUF_INIT(SIZE_MAX);

	for (size_t i = 0; i < 48; i++)
		buf_adds(&text, i % 2 ? "> " : "- ");
	for (size_t i = 0; i < 20000; i++)
		buf_adds(&text, "**_`");
	render(buf_str(&text), &out);
	assert_true(out.n < 10 * text.n);
	buf_clear(&text);
	buf_clear(&out);
	for (size_t i = 0; i < 120000; i++)
		buf_addc(&text, i == 1 ? 'a' : '*');
	render(buf_str(&text), &out);
	assert_true(out.n < text.n + 100);
	buf_release(&text);
	buf_release(&out);
}

/* Texts that would take the library minutes are shown as they are. */
TEST(markdown, too_much, is_no_markdown)
{
	static const struct {
		const char *unit;
		size_t n, most;
		const char *after;
	} rows[] = {
		{"![[]()", 2049, 2048, ""},
		{"[", 5000, 4096, ""},
		{"b <?", 5000, 4096, ""},
		{"(a\n|-|-|\n", 3000, 64, ""},
		{"|x", 65, 62, "\n|-|\n"},
		{"a line\n", 20000, 18000, ""},
		{"- ", 49, 48, "x"},
		{">", 20000, 48, "x"},
		{"|\n", 60000, 30000, "|x|y|z|"},
	};
	struct buf text = BUF_INIT(BUF_UNBOUNDED), out = BUF_INIT(SIZE_MAX);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (size_t more = 0; more < 2; more++) {
			size_t n = more ? rows[i].n : rows[i].most;

			buf_clear(&text);
			buf_clear(&out);
			buf_adds(&text, FENCE);
			while (n-- > 0)
				buf_adds(&text, rows[i].unit);
			buf_adds(&text, rows[i].after);
			assert_int_equal(markdown_html(buf_str(&text), &out),
					 !more);
			assert_int_equal(out.n > 0, !more);
		}
	}
	buf_release(&text);
	buf_release(&out);
}

TEST(markdown, guess, is_careful)
{
	static const char *const yes[] = {
		"# Today\n\n- a\n- b", "see [x](https://y.z)",
		"```\nx\n```",	       "|a|b|\n|-|-|",
		"## A\n\n**b** is c",  "- **a**: b\n- **c**: d"};
	static const char *const no[] = {
		"",
		"plain words",
		"- a\n- b",
		"# a comment\nkey = 1\n# more\nkey = 2",
		"a * b ** c",
		"total 8\n-rw-r--r-- 1 root root 5 x",
		"a | b\nc | d",
		"1. one",
		"/dev/sda1 10G 5G 50%"};

	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!markdown_html(str_of(yes[i]), &out))
			fail_msg("not taken for Markdown: %s", yes[i]);
	buf_clear(&out);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (markdown_html(str_of(no[i]), &out) || out.n)
			fail_msg("taken for Markdown: %s", no[i]);
	buf_release(&out);
}
