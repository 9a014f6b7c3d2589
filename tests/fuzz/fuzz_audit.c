/*
 * Lines of an audit that others could write: each is judged, and one that is
 * sealed here is whole, follows its own, and is changed by any other byte.
 */
#include "core/base/arena.h"
#include "core/base/jw.h"
#include "core/report/audit_chain.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_own(struct str text)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);
	struct audit_chain chain = {.n = 0}, again;

	buf_adds(&line, "{\"args\":");
	jw_quote(&line, text);
	audit_seal(&line, "");
	if (audit_take(&chain, buf_str(&line)) != AUDIT_WHOLE)
		abort();
	again = chain;
	if (audit_take(&again, buf_str(&line)) != AUDIT_APART)
		abort();
	line.p[3] ^= 1; /* of the name of the member */
	chain = (struct audit_chain){.n = 0};
	if (audit_take(&chain, buf_str(&line)) != AUDIT_CHANGED)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size};
	struct audit_chain chain = {.n = 0};

	while (rest.p)
		(void)!audit_take(&chain, str_cut(&rest, '\n'));
	if (str_is_utf8((struct str){(const char *)data, size}))
		check_own((struct str){(const char *)data, size});
	return 0;
}
