/*
 * Calls of the tools of `matins brief` as data, in
 * tests/unit/server/transcripts/brief.calls; %0A stands for that byte:
 *
 *	write FILE BYTES	a file in the home, which is /proc, too
 *	call TOOL ARGUMENTS	good, error: the kind of its result
 *	is TEXT			the text for people; has, lacks: a part of it
 *	json PART		in the structured result; no PART: not there
 */
#include "tests/unit/server/brief_fixture.h"

#include "tests/unit/transcript.h"

static void play_line(const char *verb, const char *rest)
{
	if (!strcmp(verb, "good"))
		assert_false(result.is_error);
	else if (!strcmp(verb, "error"))
		assert_true(result.is_error);
	else if (!strcmp(verb, "is"))
		assert_string_equal(TEXT(), rest);
	else if (!strcmp(verb, "has"))
		assert_has(TEXT(), rest);
	else if (!strcmp(verb, "lacks"))
		assert_has_not(TEXT(), rest);
	else if (!strcmp(verb, "json"))
		assert_has(STRUCTURED(), rest);
	else if (!strcmp(verb, "no"))
		assert_has_not(STRUCTURED(), rest);
	else
		fail_msg("no verb %s", verb);
}

static void play(UNUSED const char *file, UNUSED const char *name,
		 const char *text)
{
	struct str lines = str_of(text);

	while (lines.n) {
		AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);
		AUTO(mem_freep) char *verb = NULL, *first = NULL;
		struct str rest = str_cut(&lines, '\n');
		struct str word = str_cut(&rest, ' '), value = rest;

		if (!word.n || word.p[0] == '#')
			continue;
		verb = mem_strndup(word.p, word.n);
		word = str_cut(&value, ' ');
		first = mem_strndup(word.p, word.n);
		if (!strcmp(verb, "write")) {
			add_decoded_part(&b, value, 0);
			write_file(first, buf_cstr(&b), b.n);
		} else if (!strcmp(verb, "call")) {
			add_decoded_part(&b, value, 0);
			call(first, buf_cstr(&b));
		} else {
			add_decoded_part(&b, rest, 0);
			play_line(verb, buf_cstr(&b));
		}
	}
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/server/transcripts/brief.calls");

TEST_FILE(fixture_set_up, fixture_tear_down);
