#include "core/config/notify.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset; /* in struct notify_words */
} words[] = {
#define ROW(name)                                          \
	{                                                  \
#name, offsetof(struct notify_words, name) \
	}
	ROW(title), ROW(notice), ROW(routine), ROW(run), ROW(state), ROW(host),
};

/* Split a text at its next {{word}}; false: there is none. */
static bool next_word(struct str *rest, struct str *ret_before,
		      struct str *ret_word)
{
	const char *begin = memmem(rest->p, rest->n, "{{", 2), *end;

	if (!begin)
		return false;
	end = memmem(begin, rest->n - (size_t)(begin - rest->p), "}}", 2);
	if (!end)
		return false;
	*ret_before = (struct str){rest->p, (size_t)(begin - rest->p)};
	*ret_word =
		str_trim((struct str){begin + 2, (size_t)(end - begin) - 2});
	*rest = str_skip(*rest, (size_t)(end + 2 - rest->p));
	return true;
}

/* -1: it stands for nothing. */
static int find_word(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(word, words[i].name))
			return (int)i;
	return -1;
}

const char *notify_fill(const char *text, const struct notify_words *values,
			struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str rest = str_of(text), whole = rest, before, word;

	while (next_word(&rest, &before, &word)) {
		int i = find_word(word);

		buf_add_str(&out, before);
		if (i >= 0)
			buf_adds(&out,
				 *(const char *const *)((const char *)values +
							words[i].offset));
		else
			buf_add(&out, before.p + before.n,
				(size_t)(rest.p - before.p) - before.n);
		whole = rest;
	}
	buf_add_str(&out, whole);
	return arena_strndup(arena, buf_cstr(&out), out.n);
}

const char *notify_unknown(const char *text, struct arena *arena)
{
	struct str rest = str_of(text), before, word;

	while (next_word(&rest, &before, &word))
		if (find_word(word) < 0)
			return arena_strndup(arena, word.p, word.n);
	return NULL;
}

int notify_url(const char *text, struct arena *arena, struct url *ret,
	       struct err *err)
{
	if (url_parse(str_of(text), arena, ret, err) < 0)
		return -1;
	if (!str_starts(ret->scheme, "http"))
		return err_set(err, ERR_SYNTAX,
			       "a notice goes to https:// (or http:// of this "
			       "machine), not to %.*s://",
			       STR_ARG(ret->scheme));
	if (ret->is_tls || url_is_loopback(ret))
		return 0;
	return err_set(err, ERR_SYNTAX,
		       "plain http is for this machine only: what is sent to "
		       "%.*s could be read on the way; write https://",
		       STR_ARG(ret->host));
}
