#include "core/base/http_token.h"

static bool is_token_byte(unsigned char c)
{
	return c > ' ' && c <= '~' && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

size_t http_token_len(struct str text)
{
	size_t n = 0;

	while (n < text.n && is_token_byte((unsigned char)text.p[n]))
		n++;
	return n;
}

bool http_is_token(struct str text)
{
	return text.n > 0 && http_token_len(text) == text.n;
}
