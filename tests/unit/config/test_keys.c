#include "tests/unit/test.h"

#include "core/config/keys.h"
#include "core/config/routine.h"

TEST(find, section_and_name, row)
{
	const struct key *k = key_find(SECTION_step, "timeout");

	assert_non_null(k);
	assert_int_equal(k->type, KEY_DURATION_MS);
	assert_int_equal(k->offset, offsetof(struct step, timeout_ms));
	assert_string_equal(k->def, "30s");
	assert_null(key_find(SECTION_step, "tool"));
	assert_non_null(key_find(SECTION_step_mcp, "tool"));
	assert_null(key_find(SECTION_sandbox, "timeout"));
	assert_null(key_find(SECTION_step, "Timeout"));
	assert_null(key_find(SECTION_step, ""));
}

TEST(nearest, typo, key_of_these_sections)
{
	assert_string_equal(
		key_nearest(SECTION_step, SECTION_step_mcp, "tiemout"),
		"timeout");
	assert_string_equal(
		key_nearest(SECTION_step, SECTION_step_mcp, "toool"), "tool");
	assert_null(key_nearest(SECTION_step, SECTION_step_plain, "toool"));
	assert_null(key_nearest(SECTION_step, SECTION_step_mcp, "zzzzzz"));
}

/* Keys that are promised for later must not be taken silently now. */
TEST(find, keys_to_come, null)
{
	static const char *const later[] = {"needs",   "when",	 "retry",
					    "foreach", "output", "schema",
					    "expect"};

	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		for (int s = 0; s < N_SECTIONS; s++)
			assert_null(key_find((enum key_section)s, later[i]));
}

TEST(all, rows, are_complete)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		const struct key *k = &keys[i];

		assert_true(*k->help);
		assert_true(k->min <= k->max);
		assert_true((k->type == KEY_WORD || k->type == KEY_CHOICE) ==
			    (k->words != NULL));
		assert_ptr_equal(key_find(k->section, k->name), k);
		assert_true(*key_type_text(k->type));
		assert_true(*key_section(k->section)->title);
	}
}

TEST(step_kinds, alias, has_canonical_name)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n);

	assert_int_equal(n, 4);
	assert_string_equal(kinds[0].name, kinds[0].canonical);
	assert_string_equal(step_kind_find("mcp-query")->canonical,
			    "mcp-client");
	assert_non_null(
		key_find(step_kind_find("mcp-query")->section, "arguments"));
	assert_null(
		key_find(step_kind_find("mcp-client")->section, "arguments"));
	assert_null(step_kind_find("mcp_client"));
	assert_string_equal(step_kind_nearest("mcp_client"), "mcp-client");
	assert_null(step_kind_nearest("llm"));
}

TEST(foreign, tables_of_modulex, known)
{
	assert_true(key_is_foreign("identity"));
	assert_true(key_is_foreign("countdowns"));
	assert_false(key_is_foreign("servers"));
	assert_false(key_is_foreign("boards"));
}

TEST(step_kinds, of_modulex, have_a_pointer)
{
	assert_non_null(strstr(step_kind_instead("git-status"), "\"repos\""));
	assert_null(step_kind_instead("script"));
	assert_null(step_kind_instead("mcp-query"));
	assert_null(step_kind_instead("git-statu"));
	assert_null(step_kind_find("git-status"));
}

TEST(markdown, of_every_key, has_a_row)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t n;
	const struct key *keys = keys_all(&n);

	keys_print_markdown(&out);
	for (size_t i = 0; i < n; i++) {
		char row[64];

		snprintf(row, sizeof(row), "\n| `%s` | ", keys[i].name);
		if (!strstr(out.p, row))
			fail_msg("no row for %s", keys[i].name);
	}
	assert_non_null(strstr(out.p, "`\"run\"`, `\"wait\"`"));
	buf_release(&out);
}
