#include "core/cli/wrapped.h"

#include "core/base/fd.h"
#include "core/base/sha256.h"
#include "core/secret/literal.h"

/* Bytes of a list: 65 for each start that was ever written into the file. */
#define LIST_BYTES_MAX (1024 * 1024)

static void digest(const struct strlist *words, char out[SHA256_HEX_BYTES])
{
	AUTO(buf_wipe) struct buf all = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < words->n; i++)
		buf_add(&all, words->item[i], strlen(words->item[i]) + 1);
	sha256_hex(buf_str(&all), out);
}

bool wrapped_has(const char *path, const struct strlist *words)
{
	AUTO(buf_release) struct buf list = BUF_INIT(LIST_BYTES_MAX);
	char hex[SHA256_HEX_BYTES];
	struct str rest;

	if (fd_read_regular(path, &list, ERR_IGNORED) < 0)
		return false;
	digest(words, hex);
	rest = buf_str(&list);
	while (rest.n)
		if (str_is(str_cut(&rest, '\n'), hex))
			return true;
	return false;
}

void wrapped_add(struct buf *list, const struct strlist *words)
{
	char hex[SHA256_HEX_BYTES];

	digest(words, hex);
	buf_addf(list, "%s\n", hex);
}

int wrapped_write(const char *path, const struct buf *list, struct err *err)
{
	AUTO(buf_release) struct buf all = BUF_INIT(LIST_BYTES_MAX);

	/* a list that cannot be read begins again: its starts are said */
	if (fd_read_regular(path, &all, ERR_IGNORED) < 0)
		buf_clear(&all);
	if (buf_add_str(&all, buf_str(list)) == BUF_FULL) {
		buf_clear(&all);
		if (buf_add_str(&all, buf_str(list)) == BUF_FULL)
			return err_set(err, ERR_LIMIT, "%s: too many starts",
				       path);
	}
	return fd_replace_file(path, buf_str(&all), 0600, true, err);
}

void wrapped_policy(const struct strlist *words, const struct import_server *of,
		    struct buf *ret)
{
	AUTO(buf_wipe) struct buf all = BUF_INIT(BUF_UNBOUNDED);
	bool has_option = false;

	for (size_t i = 2; i < words->n && strcmp(words->item[i], "--") != 0;
	     i++) {
		const char *word = words->item[i];
		const char *value = i + 1 < words->n ? words->item[i + 1] : "";
		const bool is_env = strcmp(word, "--env") == 0;

		if (is_env && strcmp(value, "--") != 0 &&
		    list_has(&of->variables, value)) {
			i++;
			continue;
		}
		has_option |= *word == '-';
		buf_addf(&all, "%s%s", all.n ? " " : "", word);
		/* the value of a variable may be a credential */
		if (is_env && strcmp(value, "--") != 0) {
			buf_addf(&all, " %.*s", (int)strcspn(value, "="),
				 value);
			i++;
		}
	}
	if (has_option)
		literal_mask(buf_str(&all), ret);
}
