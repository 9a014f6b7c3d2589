#include "tests/unit/test.h"

#include "core/config/keys.h"
#include "core/config/routine.h"

/* NULL when the section has no such key. */
static const struct key *find(enum key_section section, const char *name)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++)
		if (keys[i].section == section && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

TEST(find, section_and_name, row)
{
	const struct key *k = find(SECTION_step, "timeout");

	assert_non_null(k);
	assert_int_equal(k->type, KEY_DURATION_MS);
	assert_int_equal(k->offset, offsetof(struct step, timeout_ms));
	assert_string_equal(k->def, "30s");
	assert_null(find(SECTION_step, "tool"));
	assert_non_null(find(SECTION_step_mcp, "tool"));
	assert_null(find(SECTION_sandbox, "timeout"));
}

/* Keys that are promised for later must not be taken silently now. */
TEST(find, keys_to_come, null)
{
	static const char *const later[] = {"output", "schema", "loop"};

	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		for (int s = 0; s < N_SECTIONS; s++)
			assert_null(find((enum key_section)s, later[i]));
}

TEST(all, rows, are_complete)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		const struct key *k = &keys[i];

		assert_true(*k->help);
		assert_true(k->min <= k->max);
		assert_true((k->type == KEY_WORD || k->type == KEY_CHOICE ||
			     k->type == KEY_WORDS || k->type == KEY_AUDIT) ==
			    (k->words != NULL));
		assert_ptr_equal(find(k->section, k->name), k);
		assert_true(*key_type_text(k->type));
		assert_true(*key_sections[k->section].title);
	}
}

TEST(step_kinds, alias, has_canonical_name)
{
	size_t n;
	const struct step_kind *kinds = step_kinds(&n), *alias = kinds;

	while (strcmp(alias->name, "mcp-query") != 0)
		assert_true(++alias < kinds + n);
	assert_string_equal(kinds[0].name, kinds[0].canonical);
	assert_string_equal(alias->canonical, "mcp-client");
	assert_true(alias->section != kinds[0].section);
}

TEST(step_kinds, of_modulex, have_a_pointer)
{
	assert_non_null(strstr(step_kind_instead("git-status"), "\"repos\""));
	assert_null(step_kind_instead("script"));
	assert_null(step_kind_instead("mcp-query"));
	assert_null(step_kind_instead("git-statu"));
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
