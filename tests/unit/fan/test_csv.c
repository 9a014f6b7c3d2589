#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "core/fan/csv.h"

/* Fields with "|" behind each, quoted ones with "'", records with "/". */
static const char *records(const char *text, size_t chunk, struct arena *arena)
{
	AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t at = 0, n = strlen(text);
	struct csv_record r;

	for (;;) {
		ssize_t used =
			csv_read(buf_str(&in), at == n, arena, &r, ERR_IGNORED);

		if (used < 0)
			return "wrong";
		for (size_t i = 0; used && i < r.n; i++)
			buf_addf(&out, "%.*s%s|", STR_ARG(r.field[i].text),
				 r.field[i].is_quoted ? "'" : "");
		if (used)
			buf_adds(&out, "/");
		buf_drop(&in, (size_t)used);
		if (!used && at == n)
			return arena_strdup(arena, buf_cstr(&out));
		if (used)
			continue;
		buf_add(&in, text + at, at + chunk < n ? chunk : n - at);
		at += at + chunk < n ? chunk : n - at;
	}
}

TEST(csv, texts, are_the_same_records_however_they_come)
{
	static const struct {
		const char *text, *records;
	} rows[] = {
		{"a,b\n1,2\n", "a|b|/1|2|/"},
		{"a,b\r\n1,2", "a|b|/1|2|/"},
		{"a,\n,b\n", "a||/|b|/"},
		{"\"a\nb\",\"\"\n", "a\nb'|'|/"},
		{"\"say \"\"no\"\"\"\n", "say \"no\"'|/"},
		{"a\n\nb\n", "a|/"
			     "/"
			     "b|/"},
		{"\"a,b\"\r\n", "a,b'|/"},
		{"a\"b\n", "wrong"},
		{"\"a\"b\n", "wrong"},
		{"\"a", "wrong"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t chunk = 1; chunk < 9; chunk++) {
			AUTO(arena_release) struct arena arena = ARENA_INIT;

			assert_string_equal(
				records(rows[i].text, chunk, &arena),
				rows[i].records);
		}
}
