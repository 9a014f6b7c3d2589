#include "core/auth/words.h"

#include "core/base/log.h"

/* Scopes of one authorization: far more than a server may want. */
#define SCOPES_MAX 1000
const char *quote_peer(struct buf *out, struct str said, size_t max)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);

	buf_clear(out);
	buf_add_cut(&cut, str_trim(said), max);
	log_visible(out, buf_str(&cut), false);
	return buf_cstr(out);
}

const char *words_union(const char *a, const char *b, struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest[] = {str_of(a ? a : ""), str_of(b ? b : "")}, word;
	size_t words = 0;

	for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
		while (rest[i].n && words++ < SCOPES_MAX) {
			word = str_cut(&rest[i], ' ');
			if (!word.n || str_has_word(buf_cstr(&out), word))
				continue;
			if (out.n)
				buf_addc(&out, ' ');
			buf_add_str(&out, word);
		}
	}
	return out.n ? arena_strndup(arena, out.p, out.n) : NULL;
}
