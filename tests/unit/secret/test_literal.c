#include "tests/unit/test.h"

#include "core/secret/literal.h"
#include "tests/unit/values.h"

/* literal NAME | VALUE */
static int read_literal(struct value_row *r)
{
	const char *like =
		literal_looks_like(r->part[0], value_bytes(r, r->part[1]));

	buf_adds(&r->out, like ? like : "plain");
	return 0;
}

/* argument BEFORE | ARGUMENT */
static int read_argument(struct value_row *r)
{
	const char *like = literal_argument(str_of(r->part[0]),
					    value_bytes(r, r->part[1]));

	buf_adds(&r->out, like ? like : "plain");
	return 0;
}

/* mask TEXT: an end of a line comes out as a bar */
static int read_mask(struct value_row *r)
{
	literal_mask(value_bytes(r, r->part[0]), &r->out);
	for (size_t i = 0; i < r->out.n; i++)
		if (r->out.p[i] == '\n')
			r->out.p[i] = '|';
	return 0;
}

static const struct value_reader READERS[] = {{"literal", read_literal},
					      {"argument", read_argument},
					      {"mask", read_mask}};

TEST_VALUES(READERS, "tests/unit/secret/values/literals.transcript");
