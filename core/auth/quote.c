#include "core/auth/quote.h"

#include "core/base/log.h"

const char *quote_peer(struct buf *out, struct str said, size_t max)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);

	buf_clear(out);
	buf_add_cut(&cut, str_trim(said), max);
	log_visible(out, buf_str(&cut), false);
	return buf_cstr(out);
}
