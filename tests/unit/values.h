/*
 * Rows of data: a line names what is read, its parts with " | " between them
 * ('' is an empty one), and behind it stands what came of it, "=" and the
 * value, or "!", the kind of the error and its text.
 *
 *	static int read_sum(struct value_row *r)
 *	{
 *		buf_addf(&r->out, "%d", atoi(r->part[0]) + atoi(r->part[1]));
 *		return 0;
 *	}
 *
 *	static const struct value_reader READERS[] = {{"sum", read_sum}};
 *	TEST_VALUES(READERS, "tests/unit/ROOM/values/sums.transcript");
 *
 *	sum 1 | 2
 *	= 3
 */
#ifndef TESTS_UNIT_VALUES_H
#define TESTS_UNIT_VALUES_H

#include "tests/unit/transcript.h"

#include "core/base/arena.h"
#include "core/base/err.h"

enum { VALUE_PARTS = 4 };

struct value_row {
	const char *part[VALUE_PARTS]; /* "" behind the last */
	struct arena arena;
	struct buf out;
	struct err err;
};

/* 0, or -1 and an error. */
struct value_reader {
	const char *name;
	int (*read)(struct value_row *r);
};

/* A part with its %0A as bytes. */
static UNUSED struct str value_bytes(struct value_row *r, const char *part)
{
	AUTO(buf_release) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	add_decoded(&b, part);
	return arena_str(&r->arena, buf_str(&b));
}

static UNUSED int value_is(struct value_row *r, bool yes)
{
	buf_adds(&r->out, yes ? "yes" : "no");
	return 0;
}

/* "a b" as [a, b]; "" as []; a word '' is empty. */
static UNUSED struct strlist value_words(const char *text, struct arena *arena)
{
	struct str rest = str_of(text);
	struct strlist list = {ARENA_ARRAY(arena, const char *, rest.n + 1), 0};

	while (rest.n) {
		struct str word = str_cut(&rest, ' ');

		list.item[list.n++] =
			str_is(word, "''")
				? ""
				: arena_strndup(arena, word.p, word.n);
	}
	return list;
}

static void values_read(const struct value_reader *reader, size_t n, char *line,
			struct buf *got)
{
	static const char *const kinds[] = {
#define ERR_KIND(name, status, word) [ERR_##name] = (word),
#include "core/base/err_kinds.def"
#undef ERR_KIND
	};
	struct value_row r = {.out = BUF_INIT(BUF_UNBOUNDED)};
	char *rest = line + strcspn(line, " "), *end;
	size_t i = 0;

	if (*rest)
		*rest++ = '\0';
	for (int k = 0; k < VALUE_PARTS; k++, rest = end) {
		end = strstr(rest, " | ");
		if (end) {
			*end = '\0';
			end += 3;
		} else {
			end = rest + strlen(rest);
		}
		r.part[k] = strcmp(rest, "''") == 0 ? "" : rest;
	}
	while (i < n && strcmp(reader[i].name, line) != 0)
		i++;
	if (i == n)
		fail_msg("no line begins with \"%s\"", line);
	if (reader[i].read(&r) < 0)
		buf_addf(got, "! %s %s", kinds[r.err.kind], r.err.msg);
	else
		buf_addc(got, '=');
	if (r.out.n)
		buf_addc(got, ' ');
	buf_add_str(got, buf_str(&r.out));
	buf_addc(got, '\n');
	buf_release(&r.out);
	arena_release(&r.arena);
}

/* Read each row of a text, and compare what comes of it. */
static void values_play(const struct value_reader *reader, size_t n,
			const char *file, const char *name, const char *text)
{
	AUTO(mem_freep) char *lines = mem_strdup(text);
	AUTO(buf_release) struct buf got = BUF_INIT(BUF_UNBOUNDED);

	for (char *next, *line = lines; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (*line == '=' || *line == '!')
			continue;
		buf_addf(&got, "%s\n", line);
		if (*line && *line != '#')
			values_read(reader, n, line, &got);
	}
	transcript_accept(file, name, buf_cstr(&got));
	transcript_compare(text, buf_cstr(&got));
}

/* The tests of files of rows, for a table of readers. */
#define TEST_VALUES(readers, files)                                         \
	static void play_values(const char *file, const char *name,         \
				const char *text)                           \
	{                                                                   \
		values_play(readers, ARRAY_LEN(readers), file, name, text); \
	}                                                                   \
	FIXTURE(of_values, NULL, NULL);                                     \
	TEST_SCRIPTS(of_values, play_values, files)

#endif
