#include "core/auth/owner.h"

#include "core/base/sha256.h"
#include "core/base/text.h"

/* Of a query that is a digest already nothing changes. */
static const char *kept_url(const char *url, struct arena *arena)
{
	static const char mark[] = "sha256=";
	const char *query = strchr(url, '?');
	char hex[SHA256_HEX_BYTES];

	if (!query || strncmp(query + 1, mark, sizeof(mark) - 1) == 0)
		return url;
	sha256_hex(str_of(query), hex);
	return arena_printf(arena, "%.*s?%s%s", (int)(query - url), url, mark,
			    hex);
}

const char *owner_text(const struct owner *o, const char *client,
		       struct arena *arena)
{
	if (!o->grant)
		return kept_url(o->url, arena);
	return arena_printf(arena, "%s %s %zu %s%s%s", kept_url(o->url, arena),
			    o->grant, strlen(client), client,
			    o->name ? "=" : "", o->name ? o->name : "");
}

bool owner_is_last(const char *text)
{
	return str_starts(str_of(text), OWNER_LAST);
}

const char *owner_shown(const struct owner *o, struct arena *arena)
{
	return o->name ? o->name
		       : arena_printf(arena, "%.*s", (int)strcspn(o->url, "?"),
				      o->url);
}

const char *owner_command(const struct owner *o, const char *verb,
			  struct arena *arena)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	bool has_query = !o->name && strchr(o->url, '?');

	buf_addf(&out, "matins auth %s%s ", verb,
		 !o->name    ? " --url"
		 : o->config ? o->config
			     : "");
	text_add_word(&out, owner_shown(o, arena));
	return arena_printf(arena, "%s%s", buf_cstr(&out),
			    has_query ? "?..." : "");
}

bool owner_read(const char *text, struct arena *arena, struct owner *ret)
{
	size_t skip = owner_is_last(text) ? sizeof(OWNER_LAST) - 1 : 0;
	struct str rest = str_of(text + skip), url = str_cut(&rest, ' ');
	struct str grant = str_cut(&rest, ' '), bytes = str_cut(&rest, ' ');
	uint64_t n;

	*ret = (struct owner){.url = arena_str(arena, url).p,
			      .takes_old = true};
	if (!str_uint64(bytes, &n) || n > rest.n)
		return false;
	ret->grant = arena_str(arena, grant).p;
	ret->client = n ? arena_strndup(arena, rest.p, n) : NULL;
	if (n < rest.n)
		ret->name = arena_strdup(arena, rest.p + n + 1);
	ret->takes_old = false;
	return true;
}
