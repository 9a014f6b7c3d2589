#include "tests/unit/test.h"

#include "core/report/markdown.h"

static void check(const char *text, const char *wanted)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	markdown_html(str_of(text), &out);
	if (strcmp(buf_cstr(&out), wanted) != 0)
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
		 "<ol>\n<li>c</li>\n<li>d</li>\n</ol>\n"},
		{"- a\n  - b\n", "<ul>\n<li>" P "a</p>\n<ul>\n<li>b</li>\n"
				 "</ul>\n</li>\n</ul>\n"},
		{"> a\n> > b", "<blockquote>\n" P "a</p>\n<blockquote>\n" P
			       "b</p>\n</blockquote>\n</blockquote>\n"},
		{"```c\n# <x>\n````\nb",
		 "<pre>\n# &lt;x&gt;\n</pre>\n" P "b</p>\n"},
		{"```a``` b", P "<code>a</code> b</p>\n"},
		{"~~~\nopen", "<pre>\nopen\n</pre>\n"},
		{"| a | b |\n|---|--:|\n| 1 | 2\\|3 |\nend",
		 "<div class=\"wide\"><table>\n<tr><th>a</th>"
		 "<th class=\"n\">b</th></tr>\n<tr><td>1</td>"
		 "<td class=\"n\">2|3</td></tr>\n</table></div>\n" P
		 "end</p>\n"},
		{"a|b|c\n-|-|-\n|\n1|2\n",
		 "<div class=\"wide\"><table>\n<tr><th>a</th><th>b</th>"
		 "<th>c</th></tr>\n<tr><td></td></tr>\n"
		 "<tr><td>1</td><td>2</td></tr>\n</table></div>\n"},
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
		{"*ab c** d", P "*ab c** d</p>\n"},
		{"***a***", P "<strong><em>a</em></strong></p>\n"},
		{"2 * 3 * 4 **", P "2 * 3 * 4 **</p>\n"},
		{"`a*b*` ``c`d``",
		 P "<code>a*b*</code> <code>c`d</code></p>\n"},
		{"`open", P "`open</p>\n"},
		{"\\*a\\* \\x", P "*a* \\x</p>\n"},
		{"[a *b*](https://x.y/?a=1&b=\"2\")",
		 P A "https://x.y/?a=1&amp;b=&quot;2&quot;\">a *b*</a></p>\n"},
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
		"[a](\x01javascript:x)",       "[a](https://x y)",
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
		markdown_html(str_of(texts[i]), &out);
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

	for (size_t i = 0; i < 20000; i++)
		buf_adds(&text, i % 2 ? "> " : "- ");
	for (size_t i = 0; i < 20000; i++)
		buf_adds(&text, "**_[`");
	markdown_html(buf_str(&text), &out);
	assert_true(out.n < 10 * text.n);
	buf_clear(&text);
	buf_clear(&out);
	/* one run of a mark is looked at once */
	for (size_t i = 0; i < 250000; i++)
		buf_addc(&text, i == 1 ? 'a' : '*');
	markdown_html(buf_str(&text), &out);
	assert_true(out.n < text.n + 100);
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

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!markdown_is_likely(str_of(yes[i])))
			fail_msg("not taken for Markdown: %s", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (markdown_is_likely(str_of(no[i])))
			fail_msg("taken for Markdown: %s", no[i]);
}
