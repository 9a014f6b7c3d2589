/*
 * The chain of the audit, as rows of data.
 *
 *	chain LINES    words that become lines; marks behind a word: "!" a byte
 *		       is changed, "-" the line is taken out, "~" its end is
 *		       torn, "?" it has no hash
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/report/audit_chain.h"

/* Append a sealed line for a word, and keep its hash as the next `prev`. */
static void seal(struct str word, char prev[SHA256_HEX_BYTES], struct buf *out)
{
	struct str hash;

	buf_addf(out, "{\"word\":\"%.*s\"", STR_ARG(word));
	audit_seal(out, prev);
	hash = audit_hash(buf_str(out));
	assert_int_equal(hash.n, SHA256_HEX_BYTES - 1);
	memcpy(prev, hash.p, hash.n);
	prev[hash.n] = '\0';
}

static int read_chain(struct value_row *r)
{
	static const char *const names[] = {"whole", "torn", "changed",
					    "apart"};
	const struct strlist words = value_words(r->part[0], &r->arena);
	struct audit_chain chain = {.n = 0};
	char prev[SHA256_HEX_BYTES] = "";

	for (size_t i = 0; i < words.n; i++) {
		AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
		struct str word = str_of(words.item[i]);
		char mark = word.p[word.n - 1];

		seal(word, prev, &line);
		if (mark == '-')
			continue;
		if (mark == '!')
			line.p[2] = 'W';
		if (mark == '~')
			line.n -= 9;
		if (mark == '?') {
			buf_clear(&line);
			buf_adds(&line, "{\"word\":1}");
		}
		buf_addf(&r->out, "%s%s", r->out.n ? " " : "",
			 names[audit_take(&chain, buf_str(&line))]);
	}
	return 0;
}

static const struct value_reader READERS[] = {{"chain", read_chain}};
TEST_VALUES(READERS, "tests/unit/report/values/audit.transcript");
