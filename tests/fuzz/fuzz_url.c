/*
 * URLs: what is taken reads the same when it is read again, and so does what
 * a reference becomes. The first line is a base, the rest a reference, and
 * both are forms.
 */
#include <stdint.h>

#include "core/base/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct url *u, struct arena *arena)
{
	AUTO(buf_release) struct buf origin = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;
	struct url again;

	if (url_parse(u->text, arena, &again, &err) < 0 ||
	    !str_eq(again.text, u->text) || !url_same_origin(&again, u) ||
	    url_is_loopback(&again) != url_is_loopback(u))
		abort();
	url_origin(u, &origin);
	if (!str_starts(u->text, buf_cstr(&origin)) || !u->host.n ||
	    !str_starts(u->path, "/"))
		abort();
}

static void check_form(struct str form)
{
	AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf written = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf back = BUF_INIT(BUF_UNBOUNDED);

	if (!url_form_get(form, "a", &value))
		return;
	url_form_add(&written, "a", buf_str(&value));
	if (!url_form_get(buf_str(&written), "a", &back) ||
	    !str_eq(buf_str(&back), buf_str(&value)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str rest = {(const char *)data, size};
	struct str first = str_cut(&rest, '\n');
	struct err err = ERR_INIT;
	struct url base, u;

	check_form(first);
	if (url_parse(first, &arena, &base, &err) < 0)
		return 0;
	check_same(&base, &arena);
	if (url_resolve(&base, rest, &arena, &u, &err) == 0)
		check_same(&u, &arena);
	return 0;
}
