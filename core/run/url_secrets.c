#include "core/run/url_secrets.h"

#include "core/base/uri.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* From so many bytes on letters and digits together are no word. */
#define CHANCE_BYTES 20

bool url_secrets_names(struct str name)
{
	static const char *const words[] = {
		"key",	"token",     "secret", "pass",	  "auth",
		"code", "signature", "sig",    "session", "credential",
	};

	for (size_t w = 0; w < ARRAY_LEN(words); w++) {
		size_t n = strlen(words[w]);

		for (size_t i = 0; i + n <= name.n; i++)
			if (strncasecmp(name.p + i, words[w], n) == 0)
				return true;
	}
	return false;
}

static bool is_by_chance(struct str value)
{
	bool letter = false, digit = false;

	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		letter |= isalpha(c) != 0;
		digit |= isdigit(c) != 0;
	}
	return value.n >= CHANCE_BYTES && letter && digit;
}

static void add_decoded(struct str value, struct scrub *scrub)
{
	AUTO(buf_wipe) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	while (value.n) {
		int byte = uri_percent(value);
		size_t n = byte < 0 ? 1 : 3;

		buf_addc(&out, byte < 0 ? value.p[0] : (char)byte);
		value = (struct str){value.p + n, value.n - n};
	}
	(void)scrub_add(scrub, buf_str(&out));
}

bool url_secrets_any(const struct url *url)
{
	struct str rest = url->query;

	while (rest.n) {
		struct str value = str_cut(&rest, '&');
		struct str name = str_cut(&value, '=');

		if (url_secrets_names(name) || is_by_chance(value))
			return true;
	}
	return false;
}

void url_secrets_add(const struct url *url, struct scrub *scrub)
{
	struct str rest = url->query;

	while (rest.n) {
		struct str value = str_cut(&rest, '&');
		struct str name = str_cut(&value, '=');

		if (!url_secrets_names(name) && !is_by_chance(value))
			continue;
		(void)scrub_add(scrub, value);
		add_decoded(value, scrub);
	}
}
