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

static const struct value_reader READERS[] = {{"literal", read_literal}};

TEST_VALUES(READERS, "tests/unit/secret/values/literals.transcript");
