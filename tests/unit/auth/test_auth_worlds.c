/*
 * Authorizations as data, in tests/unit/auth/transcripts:
 *
 *	begin SCENARIO	another world, as tests/helpers/authority.py reads it
 *	nobody		no browser can be opened
 *	set KEY VALUE	an option of the client
 *	call 200	a request and its status; -1: it failed
 *	says WORDS	they are in the error; kind WORD: its kind
 *	count N LINE	so many requests begin with this, or with "*" have it
 *	some LINE	one or more do
 *	pages N		were opened in the browser; requests N: were sent
 *	range public	the server's address counts as a public one
 *
 * "{base}" is where the server is, and "{ }" a blank at the end of a line.
 */
#include "tests/unit/auth/auth_fixture.h"

static void set_option(struct auth_options *o, const char *key,
		       const char *value)
{
	const struct {
		const char *key, **value;
	} texts[] = {
		{"client_id", &o->client_id},
		{"client_secret", &o->client_secret},
		{"client_metadata_url", &o->client_metadata_url},
		{"issuer", &o->issuer},
	};

	if (!strcmp(key, "grant")) {
		assert_true(auth_grant_find(value, &o->grant));
		return;
	}
	if (!strcmp(key, "accept_issuer_slash")) {
		o->accept_issuer_slash = !strcmp(value, "yes");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!strcmp(key, texts[i].key)) {
			*texts[i].value = value;
			return;
		}
	fail_msg("no option %s", key);
}

/* The number that a line of the script is about; -1: none. */
static long measure(struct world *w, const char *verb, const char *rest)
{
	if (!strcmp(verb, "call"))
		return world_call(w);
	if (!strcmp(verb, "pages"))
		return w->pages;
	if (!strcmp(verb, "requests"))
		return w->requests;
	fail_msg("no verb %s %s", verb, rest);
	return -1;
}

/* The text with what "{base}" and "{ }" stand for. */
static char *filled_in(const struct world *w, struct arena *arena,
		       const char *text)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	for (; *text; text++) {
		if (str_starts(str_of(text), "{base}")) {
			buf_adds(&b, w->base);
			text += strlen("{base}") - 1;
		} else if (str_starts(str_of(text), "{ }")) {
			buf_addc(&b, ' ');
			text += strlen("{ }") - 1;
		} else {
			buf_addc(&b, *text);
		}
	}
	return arena_strdup(arena, buf_cstr(&b));
}

static void play_line(struct world *w, const char *verb, char *rest)
{
	char *word = rest ? strchr(rest, ' ') : NULL;
	long n;

	if (!strcmp(verb, "nobody")) {
		w->context.person.open = NULL;
	} else if (!strcmp(verb, "range")) {
		assert_string_equal(rest, "public");
		w->range = ADDRESS_PUBLIC;
	} else if (!strcmp(verb, "says")) {
		world_expect(w, rest);
	} else if (!strcmp(verb, "kind")) {
		assert_string_equal(err_word(w->err.kind), rest);
	} else if (!strcmp(verb, "set")) {
		*word++ = '\0';
		set_option(&w->options, rest, word);
	} else if (!strcmp(verb, "some")) {
		if (!world_count(w, rest))
			fail_msg("no request has: %s", rest);
	} else {
		n = !strcmp(verb, "count") ? (long)world_count(w, word + 1)
					   : measure(w, verb, rest);
		if (n != strtol(rest, NULL, 10))
			fail_msg("%s %s: it is %ld, %s", verb, rest, n,
				 w->err.msg);
	}
}

static void play(UNUSED const char *file, UNUSED const char *name,
		 const char *text)
{
	AUTO(mem_freep) char *lines = mem_strdup(text);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct world *w = NULL;
	char *left = NULL;

	for (char *line = strtok_r(lines, "\n", &left); line;
	     line = strtok_r(NULL, "\n", &left)) {
		char *rest = strchr(line, ' ');

		if (*line == '#')
			continue;
		if (rest)
			*rest++ = '\0';
		if (strcmp(line, "begin") != 0) {
			if (rest)
				rest = filled_in(w, &arena, rest);
			play_line(w, line, rest);
			continue;
		}
		if (w)
			world_end(w);
		w = world_begin(rest);
	}
	world_end(w);
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/auth/transcripts/*.transcript");

TEST_FILE(authority_start, authority_stop);
