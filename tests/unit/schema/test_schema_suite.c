/*
 * The public JSON Schema test suite, from the Debian package
 * libtest-json-schema-acceptance-perl: all required tests of draft 2020-12
 * and draft-07 pass; of the optional ones the number is told.
 */
#include "tests/unit/test.h"
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/jdoc.h"
#include "core/schema/schema.h"

#define PACKAGE "libtest-json-schema-acceptance-perl"
#define FOLDER "auto/share/dist/Test-JSON-Schema-Acceptance"
#define REMOTE "http://localhost:1234/"

struct count {
	unsigned passed, total;
};

struct suite {
	struct arena arena;
	struct schema_docs docs;
	struct schema_options options;
	struct count required, optional;
};

static const char *folder(void)
{
	static const char *const roots[] = {
		"/usr/share/perl5", "/usr/share/perl", "/usr/local/share/perl5",
		"/usr/local/share/perl"};
	static char path[256];
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		snprintf(path, sizeof(path), "%s/" FOLDER, roots[i]);
		if (stat(path, &st) == 0)
			return path;
	}
	return NULL;
}

static struct str read_file(const char *path, struct arena *arena)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	FILE *f = fopen(path, "rb");
	struct str copy;
	size_t n;

	assert_non_null(f);
	do {
		char *room = buf_room(&text, 65536);

		assert_non_null(room);
		n = fread(room, 1, 65536, f);
		text.n += n;
		text.p[text.n] = '\0';
	} while (n);
	fclose(f);
	copy = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

/* fn(path, name beneath the first folder) for each file, sorted. */
static void each_file(const char *dir, const char *name, struct suite *s,
		      void (*fn)(struct suite *s, const char *path,
				 const char *name))
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char *path =
			arena_printf(&s->arena, "%s/%s", dir, list[i]->d_name);
		char *inner = arena_printf(&s->arena, "%s%s%s", name,
					   *name ? "/" : "", list[i]->d_name);
		struct stat st;

		assert_int_equal(stat(path, &st), 0);
		if (list[i]->d_name[0] != '.' && S_ISDIR(st.st_mode))
			each_file(path, inner, s, fn);
		else if (str_ends(str_of(path), ".json"))
			fn(s, path, inner);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void add_remote(struct suite *s, const char *path, const char *name)
{
	char *uri = arena_printf(&s->arena, REMOTE "%s", name);
	struct err err = ERR_INIT;

	assert_int_equal(schema_add(&s->docs, str_of(uri),
				    read_file(path, &s->arena), &err),
			 0);
}

static void complain(struct suite *s, const char *name,
		     const struct jdoc *group, const struct jdoc *test,
		     const char *why)
{
	printf("# %s: %s: %s: %s\n", name,
	       jdoc_text(jdoc_get(group, "description"), &s->arena),
	       jdoc_text(jdoc_get(test, "description"), &s->arena), why);
}

static void run_group(struct suite *s, const char *name,
		      const struct jdoc *group, struct count *count)
{
	AUTO(schema_freep) struct schema *schema = NULL;
	struct err err = ERR_INIT;
	int rc = schema_compile(jdoc_get(group, "schema")->raw, &s->options,
				&schema, &err);

	for (const struct jdoc *test = jdoc_get(group, "tests")->first; test;
	     test = test->next) {
		bool is_valid = jdoc_get(test, "valid")->type == SCAN_TRUE;
		struct schema_result result;
		int verdict = rc;

		if (rc == 0)
			verdict = schema_validate(schema,
						  jdoc_get(test, "data")->raw,
						  &s->arena, &result, &err);
		count->total++;
		if (verdict == (is_valid ? SCHEMA_VALID : SCHEMA_VIOLATED))
			count->passed++;
		else
			complain(s, name, group, test,
				 verdict < 0 ? err.msg
				 : is_valid  ? result.item[0].text.p
					     : "is taken for valid");
	}
}

static void run_file(struct suite *s, const char *path, const char *name)
{
	static const char *const formats[] = {
		"optional/format/date.json", "optional/format/date-time.json",
		"optional/format/email.json", "optional/format/uri.json"};
	bool is_optional = str_starts(str_of(name), "optional/");
	struct err err = ERR_INIT;
	struct jdoc *groups;

	s->options.assert_formats = false;
	/* formats that are not known are annotations */
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		s->options.assert_formats |= strcmp(name, formats[i]) == 0;
	assert_int_equal(jdoc_parse(read_file(path, &s->arena), &s->arena,
				    &groups, &err),
			 0);
	for (const struct jdoc *g = groups->first; g; g = g->next)
		run_group(s, name, g,
			  is_optional ? &s->optional : &s->required);
}

static void run_draft(enum schema_draft draft, const char *tests,
		      const char *label, unsigned at_least)
{
	struct suite s = {.options = {.draft = draft}};
	char path[512];

	if (!folder()) {
		printf("# SKIP install " PACKAGE "\n");
		skip();
	}
	s.docs.arena = &s.arena;
	s.options.docs = &s.docs;
	snprintf(path, sizeof(path), "%s/remotes", folder());
	each_file(path, "", &s, add_remote);
	snprintf(path, sizeof(path), "%s/tests/%s", folder(), tests);
	each_file(path, "", &s, run_file);
	printf("# NOTE JSON Schema suite, %s: %u of %u required, "
	       "%u of %u optional\n",
	       label, s.required.passed, s.required.total, s.optional.passed,
	       s.optional.total);
	arena_release(&s.arena);
	assert_int_equal(s.required.passed, s.required.total);
	assert_true(s.required.total >= at_least);
}

TEST(suite, draft_2020_12, required_tests_pass)
{
	run_draft(SCHEMA_2020_12, "draft2020-12", "draft 2020-12", 1000);
}

TEST(suite, draft_7, required_tests_pass)
{
	run_draft(SCHEMA_DRAFT_7, "draft7", "draft 7", 800);
}
