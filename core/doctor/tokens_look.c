#include "core/doctor/tokens_look.h"

#include <inttypes.h>

#include "core/auth/store.h"

/* "2 encrypted by a key in a file beside them" and so on. */
static const char *places(const struct store_facts *facts, struct arena *arena)
{
	static const char *const where[STORE_KEY_COUNT] = {
		[STORE_KEY_SERVICE] = "the desktop's secret service",
		[STORE_KEY_KEYRING] =
			"the kernel's keyring, which forgets it at a reboot "
			"or after days without use",
		[STORE_KEY_FILE] = "a file beside them",
	};
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < STORE_KEY_COUNT; i++)
		if (facts->files[i])
			buf_addf(&out, "%s%zu encrypted by a key in %s",
				 out.n ? ", " : "", facts->files[i], where[i]);
	return arena_strdup(arena, out.n ? buf_cstr(&out) : "none is kept yet");
}

bool tokens_look(const char *dir, struct arena *arena, struct check *ret)
{
	struct store_facts facts;
	struct err err = ERR_INIT;
	struct check c = {.area = "tokens", .name = dir, .remedy = ""};
	int r = store_look(dir, &facts, &err);

	if (r > 0)
		return false;
	if (r < 0) {
		c.level = CHECK_FAILED;
		c.text = arena_strdup(arena, err.msg);
		c.remedy = "mend that, or name another folder as token_store";
	} else if (facts.n_broken) {
		c.level = CHECK_WARNING;
		c.text = arena_printf(arena, "%zu cannot be used: %s",
				      facts.n_broken, facts.broken);
		c.remedy = "remove it and log in again: matins auth login";
	} else {
		c.text = places(&facts, arena);
		c.level =
			facts.files[STORE_KEY_FILE] ? CHECK_WARNING : CHECK_OK;
		if (c.level != CHECK_OK)
			c.remedy = "keep backups from that folder; where there "
				   "is a keyring, store_key = \"keyring\" or "
				   "\"secret-service\" and a new login take "
				   "the key out of it";
	}
	*ret = c;
	return true;
}
