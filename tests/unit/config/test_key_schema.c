/*
 * The schema of the configuration: it is one, says of files what the loader
 * says, and of rows of data:
 *
 *	judge TOML	the violations; ~ is a newline
 *	places TOML	where they are
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include <glob.h>

#include "core/base/fd.h"
#include "core/config/keys.h"
#include "core/config/routine.h"
#include "core/schema/schema.h"

static struct schema *compile(void)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct schema_options draft_7 = {.draft = SCHEMA_DRAFT_7};
	struct schema *s = NULL;
	struct err err = ERR_INIT;

	keys_print_schema(&text);
	if (schema_compile(buf_str(&text), &draft_7, &s, &err) < 0)
		fail_msg("%s", err.msg);
	/* also for those who read it as the newer draft */
	{
		AUTO(buf_release) struct buf newer = BUF_INIT(BUF_UNBOUNDED);
		AUTO(schema_freep) struct schema *again = NULL;
		const char *rest = strchr(buf_cstr(&text), ',');

		buf_addf(&newer, "{%s", rest + 1);
		if (schema_compile(buf_str(&newer), NULL, &again, &err) < 0)
			fail_msg("%s", err.msg);
	}
	return s;
}

static void judge_value(const struct schema *s, const struct toml_value *v,
			bool places_only, struct arena *arena, struct buf *out)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	struct schema_result found = {.n = 0};
	struct err err = ERR_INIT;

	toml_to_json(v, &json);
	assert_true(schema_validate(s, buf_str(&json), arena, &found, &err) >=
		    0);
	for (size_t i = 0; i < found.n; i++) {
		buf_adds(out, i ? "; " : "");
		if (places_only)
			buf_add_str(out, found.item[i].instance);
		else
			schema_violation_print(&found.item[i], out);
	}
}

static int judge_row(struct value_row *r, bool places_only)
{
	AUTO(schema_freep) struct schema *s = compile();
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct toml_value root;

	for (const char *c = r->part[0]; *c; c++)
		buf_addc(&text, *c == '~' ? '\n' : *c);
	if (toml_parse(&r->arena, buf_str(&text), &root, &r->err) < 0)
		return -1;
	judge_value(s, &root, places_only, &r->arena, &r->out);
	return 0;
}

static int judge(struct value_row *r)
{
	return judge_row(r, false);
}

static int places(struct value_row *r)
{
	return judge_row(r, true);
}

/* What the loader takes without a word is valid. */
static bool is_same_verdict(const struct schema *s, const char *path)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf found = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct findings findings = {.n = 0};
	struct toml_value root;
	struct config config;
	bool is_right;

	if (fd_read_file(path, &text, ERR_IGNORED) < 0 ||
	    toml_parse(&arena, buf_str(&text), &root, ERR_IGNORED) < 0)
		return false;
	/* before the loader brings the tree into our spelling */
	judge_value(s, &root, false, &arena, &found);
	is_right = routine_load(&root, false, false, &arena, &config,
				&findings) == 0;
	findings_release(&findings);
	if (is_right && found.n)
		fail_msg("%s: %s", path, buf_cstr(&found));
	return is_right;
}

TEST(schema, files_that_load, are_valid)
{
	static const char *const patterns[] = {
		"routines/*.toml", "golden/*/routine.toml", "tests/*/*.toml",
		"tests/fuzz/corpus/*/*.toml"};
	AUTO(schema_freep) struct schema *s = compile();
	glob_t files = {.gl_pathc = 0};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc; i++)
		n += is_same_verdict(s, files.gl_pathv[i]);
	globfree(&files);
	assert_true(n > 30);
}

static const struct value_reader READERS[] = {{"judge", judge},
					      {"places", places}};

TEST_VALUES(READERS, "tests/unit/config/values/key_schema.transcript");
