#include "tests/unit/test.h"

#include "tests/unit/report/render_sample.h"

TEST(html, every_kind_of_step, has_each_kind_of_step)
{
	static const char *const parts[] = {
		"<!DOCTYPE html>\n",
		"<meta charset=\"utf-8\">",
		"width=device-width",
		"<title>morning — Sun 22 Nov 2026, 07:00 — 2 ok, 1 failed, 1 "
		"skipped "
		"(6.0 s, run 7)</title>",
		"prefers-color-scheme: dark",
		"<h1><span>morning:</span> 1 of 4 failed</h1>",
		"<p>2 ok, 1 failed, 1 skipped · Sun 22 Nov 2026, 07:00 · 6.0 s "
		"· run 7</p>",
		"<a href=\"#s2\">issues</a> <span class=\"state "
		"bad\">failed</span>",
		"<p class=\"error\">exited with status 3</p>",
		"<section class=\"glance\">",
		"<h3>briefing</h3>",
		"<div id=\"s1\">",
		"<pre>\n3 meetings</pre>",
		"<pre>\nkept</pre>",
		"(skipped: $TOKEN is not set)",
		"(no output)",
		"<footer class=\"bad\">morning: 3 ran, 1 skipped, 1 failed",
		"</html>\n",
	};
	struct render_options o = {.view = VIEW_FULL};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *at;

	render_find("html")->print(&sample, &o, &out);
	at = buf_cstr(&out);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *next = strstr(at, parts[i]);

		if (next)
			at = next + 1;
		else
			fail_msg("not there, or too early: %s", parts[i]);
	}
	buf_release(&out);
}

/* One file: nothing is loaded, nothing runs. */
TEST(html, page, is_self_contained)
{
	static const char *const foreign[] = {"<script", "<link",  "src=",
					      "http:",	 "https:", "url(",
					      "@import"};
	struct render_options o = {.view = VIEW_FULL};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render_find("html")->print(&sample, &o, &out);
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		assert_null(strstr(buf_cstr(&out), foreign[i]));
	buf_release(&out);
}

TEST(html, hostile_output, has_no_markup_of_its_own)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	sample_says("html", HOSTILE, &out);
	assert_null(strstr(buf_cstr(&out), "<script"));
	assert_non_null(strstr(buf_cstr(&out), "&lt;script&gt;"));
	for (size_t i = 0; i < out.n; i++)
		assert_true(out.p[i] == '\n' || (unsigned char)out.p[i] >= ' ');
	sample_says("html", STR("</pre>\"'&"), &out);
	assert_non_null(strstr(buf_cstr(&out), "&lt;/pre&gt;&quot;&#39;&amp;"));
	buf_release(&out);
}

TEST(html, hostile_names, are_escaped)
{
	struct report_step step = {.name = "<b>\x1b", .type = "script"};
	const struct report r = {
		.routine = "</title><script>", .steps = &step, .n_steps = 1};
	const struct render_options o = {.view = VIEW_FULL};
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	render_find("html")->print(&r, &o, &out);
	assert_null(strstr(buf_cstr(&out), "<script"));
	assert_null(strstr(buf_cstr(&out), "<b>"));
	assert_null(strchr(buf_cstr(&out), '\x1b'));
	buf_release(&out);
}

/* Pictures of known kinds alone, in pure Base64. */
TEST(html, media, is_shown_where_it_is_harmless)
{
	static const struct {
		const char *block, *wanted;
	} rows[] = {
		{"\"image\",\"mimeType\":\"image/png\",\"data\":\"AAA=\"",
		 "<img alt=\"image of s\" src=\"data:image/png;base64,AAA=\">"},
		{"\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AAAA\"",
		 "<audio controls aria-label=\"sound of s\" "
		 "src=\"data:audio/wav;base64,AAAA\"></audio>"},
		{"\"image\",\"mimeType\":\"image/svg+xml\",\"data\":\"AAAA\"",
		 NULL},
		{"\"image\",\"mimeType\":\"audio/wav\",\"data\":\"AAAA\"",
		 NULL},
		{"\"image\",\"mimeType\":\"image/png\",\"data\":\"\"", NULL},
		{"\"image\",\"mimeType\":\"image/png\",\"data\":\"A\\\"B\"",
		 NULL},
		{"\"image\",\"mimeType\":\"image/png\",\"data\":\"A>B\"", NULL},
		{"\"image\",\"mimeType\":\"image/png\",\"data\":7", NULL},
		{"\"image\",\"data\":\"AAAA\"", NULL},
		{"\"resource\",\"resource\":{\"uri\":\"a:<b\",\"text\":"
		 "\"one\\n<two>\"}",
		 "<details class=\"facts\" open><summary>a:&lt;b</summary>\n"
		 "<pre>\none\n&lt;two&gt;</pre>\n</details>"},
		{"\"resource\",\"resource\":{\"text\":\"# T\\n\\n- x\"}",
		 "<summary></summary>"},
		{"\"resource\",\"resource\":{\"blob\":\"AAA=\",\"mimeType\":"
		 "\"image/png\"}",
		 "<img alt=\"image of s\" src=\"data:image/png;base64,AAA=\">"},
		{"\"resource\",\"resource\":{\"blob\":\"AAA=\",\"mimeType\":"
		 "\"text/html\"}",
		 NULL},
		{"\"resource\",\"resource\":[\"base64\"]", NULL},
	};
	const struct render_options o = {.view = VIEW_FULL};
	struct buf out = BUF_INIT(BUF_UNBOUNDED), json = BUF_INIT(SIZE_MAX);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct report_step step = {.name = "s"};
		const struct report r = {
			.routine = "r", .steps = &step, .n_steps = 1};

		buf_clear(&out);
		buf_clear(&json);
		buf_addf(&json, "[{\"type\":%s}]", rows[i].block);
		step.answer.content = buf_str(&json);
		render_find("html")->print(&r, &o, &out);
		if (rows[i].wanted ? !strstr(buf_cstr(&out), rows[i].wanted)
				   : strstr(buf_cstr(&out), "base64") != NULL)
			fail_msg("%s: %s", rows[i].block, buf_cstr(&out));
	}
	buf_release(&out);
	buf_release(&json);
}
