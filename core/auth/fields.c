#include "core/auth/fields.h"

#include "core/base/err.h"
#include "core/base/log.h"

bool fields_object(struct str text, struct str *ret)
{
	static const struct scan_limits limits = {.depth = 16,
						  .members = 10000};
	struct err err = ERR_INIT;

	return scan_document(text, &limits, ret, &err) == 0 &&
	       scan_type(*ret) == SCAN_OBJECT;
}

static const char *text_of(struct str value, struct arena *arena)
{
	AUTO(buf_wipe) struct buf b = BUF_INIT(BUF_UNBOUNDED);

	if (!scan_string(value, &b) || !b.n || memchr(b.p, '\0', b.n))
		return NULL;
	return arena_strndup(arena, b.p, b.n);
}

const char *fields_text(struct str object, const char *name,
			struct arena *arena)
{
	struct str value;

	return scan_get(object, name, &value) ? text_of(value, arena) : NULL;
}

bool fields_true(struct str object, const char *name)
{
	struct str value;

	return scan_get(object, name, &value) && scan_type(value) == SCAN_TRUE;
}

/* "3600", "3600.0", also within quotes: the whole seconds. */
bool fields_seconds(struct str object, const char *name, int64_t *ret)
{
	struct str value;

	if (!scan_get(object, name, &value))
		return false;
	if (scan_type(value) == SCAN_STRING)
		value = (struct str){value.p + 1, value.n - 2};
	else if (scan_type(value) != SCAN_NUMBER)
		return false;
	return str_int64(str_cut(&value, '.'), ret);
}

bool fields_list(struct str object, const char *name, struct arena *arena,
		 struct strlist *ret)
{
	struct scan_iter it;
	struct str value;

	*ret = (struct strlist){NULL, 0};
	if (!scan_get(object, name, &value) || scan_type(value) != SCAN_ARRAY)
		return false;
	ret->item = ARENA_ARRAY(arena, const char *, scan_count(value) + 1);
	scan_iter_init(&it, value);
	while (scan_next(&it)) {
		ret->item[ret->n] = text_of(it.value, arena);
		ret->n += ret->item[ret->n] != NULL;
	}
	return true;
}

const char *fields_quote(struct buf *out, struct str said, size_t max)
{
	AUTO(buf_release) struct buf cut = BUF_INIT(BUF_UNBOUNDED);

	buf_clear(out);
	buf_add_cut(&cut, str_trim(said), max);
	log_visible(out, buf_str(&cut), false);
	return buf_cstr(out);
}
