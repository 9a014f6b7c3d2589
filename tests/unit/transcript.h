/*
 * Transcripts: tests as lines of data. What is played writes a transcript of
 * what really happened, which must be the one in the file.
 */
#ifndef TESTS_UNIT_TRANSCRIPT_H
#define TESTS_UNIT_TRANSCRIPT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/base/str.h"

static int hex_value(char c)
{
	const char *digits = "0123456789ABCDEF", *at = strchr(digits, c);

	return c && at ? (int)(at - digits) : -1;
}

/*
 * Bytes as they are written in a transcript: %0A is a byte, "%{3:ab%}" is
 * "ababab", and in it %# the number of the repetition, from 0.
 */
static UNUSED void add_decoded_part(struct buf *b, struct str s, int number)
{
	for (size_t i = 0; i < s.n; i++) {
		const char *p = s.p + i;

		if (*p != '%' || i + 1 == s.n) {
			buf_addc(b, *p);
		} else if (p[1] == '{') {
			const char *text = strchr(p, ':') + 1;
			size_t n = (size_t)(strstr(text, "%}") - text);
			long times = strtol(p + 2, NULL, 10);

			for (int k = 0; k < (int)times; k++)
				add_decoded_part(b, (struct str){text, n}, k);
			i = (size_t)(text + n + 1 - s.p);
		} else if (p[1] == '#') {
			buf_addf(b, "%d", number);
			i++;
		} else {
			buf_addc(b, (char)(hex_value(p[1]) * 16 +
					   hex_value(p[2])));
			i += 2;
		}
	}
}

static UNUSED void add_decoded(struct buf *b, const char *s)
{
	add_decoded_part(b, str_of(s), 0);
}

/* Bytes of the UTF-8 character at p, or 0. */
static size_t utf8_length(const char *p, size_t n)
{
	for (size_t i = 1; i <= 4 && i <= n; i++)
		if (str_is_utf8((struct str){p, i}))
			return i;
	return 0;
}

static void add_encoded(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n;) {
		size_t n = utf8_length(s.p + i, s.n - i);
		unsigned char c = (unsigned char)s.p[i];

		if (n == 0 || c < ' ' || c == 0x7f || c == '%') {
			buf_addf(b, "%%%02X", c);
			n = 1;
		} else {
			buf_add(b, s.p + i, n);
		}
		i += n;
	}
}

/* Each line of a text, with a mark before it. */
static UNUSED void add_lines(struct buf *b, const char *mark, struct str text)
{
	while (text.n) {
		buf_adds(b, mark);
		add_encoded(b, str_cut(&text, '\n'));
		buf_addc(b, '\n');
	}
}

/* Print the first line that differs. */
static UNUSED void transcript_compare(const char *want, const char *got)
{
	for (int n = 1; *want || *got; n++) {
		size_t w = strcspn(want, "\n"), g = strcspn(got, "\n");

		if (w != g || memcmp(want, got, w) != 0)
			fail_msg("line %d of the transcript\nexpected: %.*s\n"
				 "happened: %.*s",
				 n, (int)w, want, (int)g, got);
		want += w + (want[w] != 0);
		got += g + (got[g] != 0);
	}
}

/* With ACCEPT=1 in the environment: add what happened to FILE.new. */
static UNUSED void transcript_accept(const char *file, const char *name,
				     const char *text)
{
	AUTO(mem_freep) char *path = mem_printf("%s.new", file);
	FILE *f;

	if (!getenv("ACCEPT"))
		return;
	f = fopen(path, "a");

	assert_non_null(f);
	fprintf(f, "== %s\n%s", name, text);
	fclose(f);
}

/* A word of a transcript, and its function; the file that plays defines the
   world. */
struct world;
struct transcript_command {
	const char *word;
	void (*run)(struct world *w, const char *arg);
};

/* Run the command that a line begins with; the rest of the line is its arg. */
static UNUSED void transcript_run(const struct transcript_command *commands,
				  size_t n, struct world *w, const char *line)
{
	struct str rest = str_of(line), word = str_cut(&rest, ' ');

	for (size_t i = 0; i < n; i++) {
		if (!str_is(word, commands[i].word))
			continue;
		commands[i].run(w, rest.p ? rest.p : "");
		return;
	}
	fail_msg("no such command: %s", line);
}

#endif
