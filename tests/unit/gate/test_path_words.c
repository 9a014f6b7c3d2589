/*
 * Words of texts that may be paths. Rows are in values/path_words.transcript:
 *
 *	words TEXT	each with where it starts: "~/" HOME, "/" the root, and
 *			a "*" behind the folder of a pattern
 *
 * %0A is the end of a line, %7C a bar.
 */
#include "tests/unit/test.h"

#include "core/base/buf.h"
#include "gate/policy/path_words.h"
#include "tests/unit/values.h"

static int do_words(struct value_row *r)
{
	struct str text = value_bytes(r, r->part[0]);
	struct path_word w;

	while (path_word_next(&text, &w))
		buf_addf(&r->out, "%s%s%.*s%s", r->out.n ? " " : "",
			 w.from == PATH_FROM_HOME ? "~/" : "", STR_ARG(w.path),
			 w.is_pattern ? "*" : "");
	return 0;
}

static const struct value_reader READERS[] = {{"words", do_words}};

TEST_VALUES(READERS, "tests/unit/gate/values/path_words.transcript");
